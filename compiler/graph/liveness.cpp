#include <vector>

#include "compiler/graph/passes.h"

namespace rcn {

LiveLayers drop_dead(Graph& graph) {
  std::vector<bool> live(graph.layers.size(), false);
  std::vector<const Layer*> pending;
  auto need = [&](const Layer* layer) {
    if (live[layer->id]) return;
    live[layer->id] = true;
    pending.push_back(layer);
  };
  for (const Layer& layer : graph.layers)
    if (layer.root) need(&layer);
  for (const auto& [key, value] : graph.entries) for_each_layer(value, [&](const LayerRef& ref) { need(ref.layer); });
  while (!pending.empty()) {
    const Layer* layer = pending.back();
    pending.pop_back();
    for (const auto& [key, value] : layer->options)
      for_each_layer(value, [&](const LayerRef& ref) { need(ref.layer); });
  }

  LiveLayers result;
  for (Layer& layer : graph.layers)
    if (live[layer.id]) result.push_back(&layer);
  return result;
}

}  // namespace rcn
