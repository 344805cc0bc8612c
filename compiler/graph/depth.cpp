#include "compiler/graph/depth.h"

#include <algorithm>

namespace rcn {

namespace {

// How many layer dicts an option holds as plain values: those of a layer that the user wrote out.
std::size_t nested_layers(const Option& option) {
  std::size_t count = 0;
  if (const auto* dict = std::get_if<OptionDict>(&option.data)) {
    for (const auto& [key, value] : *dict) {
      if (key == "class") ++count;
      count += nested_layers(value);
    }
  }
  return count;
}

}  // namespace

Depths measure_depths(const Graph& graph, const LiveLayers& layers) {
  std::vector<std::size_t> below(graph.layers.size(), 0);
  Depths depths;
  depths.own.resize(graph.layers.size(), 0);
  depths.chain.resize(graph.layers.size(), 0);
  depths.longest.resize(graph.regions.size(), 0);

  for (const Layer* layer : layers.all()) {
    std::size_t own = layer->builtin ? 0 : 1, body = 0;
    for (const auto& [key, value] : layer->options) {
      own += nested_layers(value);
      for_each_layer(value, [&](const LayerRef& ref) {
        if (ref.kind == RefKind::previous) return;
        for (const Layer* reader = layer; reader; reader = reader->region->owner) {
          const Layer* read = seen_in(reader->region, ref.layer);
          if (read == reader) return;
          if (read) below[reader->id] = std::max(below[reader->id], depths.chain[read->id]);
        }
      });
    }
    for_each_region(*layer, [&](const Region& region) { body = std::max(body, depths.longest[region.id]); });
    depths.own[layer->id] = own + body;
    depths.chain[layer->id] = below[layer->id] + own + body;
    std::size_t& longest = depths.longest[layer->region->id];
    longest = std::max(longest, depths.chain[layer->id]);
  }
  return depths;
}

const Region* deep_body(const Graph& graph, const LiveLayers& layers) {
  Depths depths = measure_depths(graph, layers);
  for (const Region& region : graph.regions)
    if (region.parent && depths.longest[region.id] > kLongestBody) return &region;
  return nullptr;
}

}  // namespace rcn
