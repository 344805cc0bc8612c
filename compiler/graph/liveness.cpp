#include <algorithm>
#include <vector>

#include "compiler/graph/passes.h"

namespace rcn {

namespace {

bool before(const Layer* a, const Layer* b) { return a->id < b->id; }

class Liveness {
 public:
  explicit Liveness(Graph& graph) : graph_(graph), live_(graph.layers.size(), false), fixed_(graph.regions.size()) {
    for (const Layer& layer : graph.layers)
      if (layer.root || layer.fixed_name) fixed_[layer.region->id].push_back(&layer);
  }

  LiveLayers run() {
    need_roots(*graph_.root_region());
    for (const auto& [key, value] : graph_.entries) need_references(value, graph_.root_region());
    while (!pending_.empty()) {
      const Layer* layer = pending_.back();
      pending_.pop_back();
      if (layer->region->owner) need(layer->region->owner);
      for (const auto& [key, value] : layer->options) need_references(value, layer->region);
      for_each_region(*layer, [&](const Region& region) { need_roots(region); });
    }
    LiveLayers result;
    result.dicts.resize(graph_.regions.size());
    for (Layer& layer : graph_.layers)
      if (live_[layer.id]) result.dicts[layer.region->id].push_back(&layer);
    for (std::vector<Layer*>& dict : result.dicts)
      if (!std::is_sorted(dict.begin(), dict.end(), before)) std::sort(dict.begin(), dict.end(), before);
    return result;
  }

 private:
  void need(const Layer* layer) {
    if (live_[layer->id]) return;
    live_[layer->id] = true;
    pending_.push_back(layer);
  }

  void need_roots(const Region& region) {
    for (const Layer* layer : fixed_[region.id])
      if (layer->root) need(layer);
  }

  void need_references(const Option& option, const Region* region) {
    for_each_layer(option, [&](const LayerRef& ref) {
      need(ref.layer);
      if (ref.layer->region->owner && !levels_out(region, ref.layer->region)) need_namesakes(*ref.layer);
    });
  }

  // In the other branches of the owner that hands the layer out.
  void need_namesakes(const Layer& layer) {
    for_each_region(*layer.region->owner, [&](const Region& region) {
      for (const Layer* other : fixed_[region.id])
        if (other->fixed_name && other->name == layer.name) need(other);
    });
  }

  Graph& graph_;
  std::vector<bool> live_;
  std::vector<std::vector<const Layer*>> fixed_;  // by Region::id: roots and layers with fixed names
  std::vector<const Layer*> pending_;
};

}  // namespace

std::vector<Layer*> LiveLayers::all() const {
  std::vector<Layer*> result = root();
  auto middle = static_cast<std::ptrdiff_t>(result.size());
  for (std::size_t i = 1; i < dicts.size(); ++i) result.insert(result.end(), dicts[i].begin(), dicts[i].end());
  std::sort(result.begin() + middle, result.end(), before);
  std::inplace_merge(result.begin(), result.begin() + middle, result.end(), before);
  return result;
}

LiveLayers drop_dead(Graph& graph) { return Liveness(graph).run(); }

}  // namespace rcn
