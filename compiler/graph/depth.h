// How deep RETURNN's recursion goes when it constructs a layer.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/graph/passes.h"

namespace rcn {

struct Depths {
  std::vector<std::size_t> own;      // by Layer::id: the layer itself and the longest chain in its bodies
  std::vector<std::size_t> chain;    // by Layer::id: the longest chain of its dict that ends with it
  std::vector<std::size_t> longest;  // by Region::id: the longest chain of the dict
};

// A dict in a layer is constructed on top of what is pending. What the layers in it read of a dict around counts for
// their owner there. The value of the step before is no part of a chain.
Depths measure_depths(const Graph& graph, const LiveLayers& layers);

}  // namespace rcn
