// Which line of which file each emitted layer comes from (`--source-map`).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "compiler/base/source.h"
#include "compiler/graph/passes.h"

namespace rcn {

// File, line and column (both from 1).
nlohmann::ordered_json place_json(const SourceMap& sources, Span span);

// JSON: the path of each layer (`encoder.linear`, in a loop `loop/encoder.linear`, in a branch `if/true_layer/y`) with file,
// line and column (both from 1), and the calls that led there, innermost first.
std::string source_map(const LiveLayers& layers, const SourceMap& sources);

}  // namespace rcn
