#include "compiler/graph/edit.h"

#include <algorithm>
#include <functional>

namespace rcn {

Layer& GraphEdit::made(const Layer& place, const Region* region, std::string cls, OptionDict options, TensorType type, std::string base) {
  const NameScope* scope = place.region == region ? place.scope : region->scope;
  return graph_.add(std::move(cls), std::move(options), std::move(type), scope, std::move(base), place.span, region);
}

Layer& GraphEdit::insert_before(const Layer& place, const Region* region, std::string cls, OptionDict options, TensorType type, std::string base) {
  Layer& layer = made(place, region, std::move(cls), std::move(options), std::move(type), std::move(base));
  before_[&place].push_back(&layer);
  return layer;
}

Layer& GraphEdit::insert_behind(const Layer& place, const Region* region, std::string cls, OptionDict options, TensorType type, std::string base) {
  Layer& layer = made(place, region, std::move(cls), std::move(options), std::move(type), std::move(base));
  behind_[&place].push_back(&layer);
  return layer;
}

GraphEdit::Clone GraphEdit::clone(const Layer& owner, const LiveLayers& live, const std::unordered_map<Dim, Dim>& dims) {
  Clone result;
  std::unordered_map<const Region*, Region*> regions;
  auto region_of = [&](const Region* region) -> Region* {
    auto it = regions.find(region);
    return it == regions.end() ? nullptr : it->second;
  };
  auto add_regions = [&](const Layer& layer) {
    for_each_region(layer, [&](const Region& region) {
      const Region* parent = region_of(region.parent);
      Region& copy = graph_.add_region(parent ? parent : region.parent);
      copy.scope = region.scope;
      regions.emplace(&region, &copy);
    });
  };
  std::vector<const Layer*> originals = layers_inside(owner, live);
  originals.push_back(&owner);
  // Owners stand behind the layers of their dicts, the regions have to be there before.
  for (auto it = originals.rbegin(); it != originals.rend(); ++it) add_regions(**it);

  for (const Layer* layer : originals) {
    const Region* region = region_of(layer->region);
    Layer& copy = insert_behind(owner, region ? region : layer->region, layer->cls, layer->options, layer->type, layer->base);
    std::uint32_t id = copy.id;
    const Region* place = copy.region;
    copy = *layer;
    copy.id = id;
    copy.region = place;
    result.layers.emplace(layer, &copy);
    for_each_region(*layer, [&](const Region& inner) { regions.at(&inner)->owner = &copy; });
  }
  result.owner = result.layers.at(&owner);
  for (auto& [original, copy] : regions)
    if (auto it = result.layers.find(original->anchor); it != result.layers.end()) copy->anchor = it->second;

  auto renamed = [&](Dim d) {
    auto it = dims.find(d);
    return it == dims.end() ? d : it->second;
  };
  for (auto& [original, copy] : result.layers) {
    for (Dim& d : copy->type.dims) d = renamed(d);
    for (auto& [key, option] : copy->options) {
      change_parts<LayerRef>(option, [&](LayerRef& ref) {
        if (auto it = result.layers.find(ref.layer); it != result.layers.end()) ref.layer = it->second;
      });
      change_parts<RegionRef>(option, [&](RegionRef& ref) { ref.region = regions.at(ref.region); });
      change_parts<DimRef>(option, [&](DimRef& ref) { ref.dim = renamed(ref.dim); });
    }
  }
  return result;
}

void GraphEdit::renumber() {
  std::vector<Layer*> order;
  order.reserve(graph_.layers.size());
  std::function<void(Layer*)> place = [&](Layer* layer) {
    if (auto it = before_.find(layer); it != before_.end())
      for (Layer* inserted : it->second) place(inserted);
    order.push_back(layer);
    if (auto it = behind_.find(layer); it != behind_.end())
      for (Layer* inserted : it->second) place(inserted);
  };
  std::unordered_map<const Layer*, bool> inserted;
  for (const auto* lists : {&before_, &behind_})
    for (const auto& [unused, list] : *lists)
      for (const Layer* layer : list) inserted.emplace(layer, true);
  std::vector<Layer*> old;
  for (Layer& layer : graph_.layers)
    if (!inserted.contains(&layer)) old.push_back(&layer);
  std::sort(old.begin(), old.end(), [](const Layer* a, const Layer* b) { return a->id < b->id; });
  for (Layer* layer : old) place(layer);
  for (std::size_t i = 0; i < order.size(); ++i) order[i]->id = static_cast<std::uint32_t>(i);
  before_.clear();
  behind_.clear();
}

std::vector<const Layer*> layers_inside(const Layer& owner, const LiveLayers& live) {
  std::vector<const Layer*> result;
  std::vector<const Layer*> open{&owner};
  while (!open.empty()) {
    const Layer* layer = open.back();
    open.pop_back();
    for_each_region(*layer, [&](const Region& region) {
      if (region.id >= live.dicts.size()) return;
      for (const Layer* inner : live.in(&region)) {
        result.push_back(inner);
        open.push_back(inner);
      }
    });
  }
  std::sort(result.begin(), result.end(), [](const Layer* a, const Layer* b) { return a->id < b->id; });
  return result;
}

}  // namespace rcn
