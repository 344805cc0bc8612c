// Who reads a layer, and who waits for it.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "compiler/graph/passes.h"

namespace rcn {

// How often live layers and the entries of the dict refer to each layer, by Layer::id. What only waits for it
// (`control_dependencies`) does not count.
std::vector<std::size_t> count_readers(const Graph& graph, const LiveLayers& layers);

// Takes out layers that went into others; what waits for such a layer waits for the one that it went into.
void take_out(LiveLayers& layers, const std::unordered_map<const Layer*, const Layer*>& into);

}  // namespace rcn
