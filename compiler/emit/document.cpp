#include "compiler/emit/document.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "compiler/emit/dim_names.h"

namespace rcn {

namespace {

Option extern_entry(const Extern& source) {
  OptionDict entry;
  entry.emplace_back("dim_tags", dims_option(source.type.dims));
  entry.emplace_back("dtype", to_string(source.type.dtype));
  if (source.type.sparse_dim) entry.emplace_back("sparse_dim", source.type.sparse_dim);
  entry.emplace_back("available_for_inference", source.available_for_inference);
  return entry;
}

void sort_dict(OptionDict& dict);

void sort_inside(Option& option) {
  if (auto* dict = std::get_if<OptionDict>(&option.data)) sort_dict(*dict);
  if (auto* list = std::get_if<OptionList>(&option.data)) std::for_each(list->begin(), list->end(), sort_inside);
  if (auto* tuple = std::get_if<OptionTuple>(&option.data))
    std::for_each(tuple->items.begin(), tuple->items.end(), sort_inside);
}

void sort_dict(OptionDict& dict) {
  std::stable_sort(dict.begin(), dict.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [key, value] : dict) sort_inside(value);
}

void sort_entries(std::vector<NetworkEntry>& entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const NetworkEntry& a, const NetworkEntry& b) { return a.name < b.name; });
  for (NetworkEntry& entry : entries) sort_inside(entry.value);
}

// Puts spellings in place of references.
void spell(Option& option, const Region* region) {
  if (auto* ref = std::get_if<LayerRef>(&option.data)) {
    option = reference_text(*ref, region);
    return;
  }
  auto spell_all = [region](OptionList& items) {
    for (Option& item : items) spell(item, region);
  };
  if (auto* list = std::get_if<OptionList>(&option.data)) spell_all(*list);
  if (auto* tuple = std::get_if<OptionTuple>(&option.data)) spell_all(tuple->items);
  if (auto* set = std::get_if<OptionSet>(&option.data)) spell_all(set->items);
  if (auto* dict = std::get_if<OptionDict>(&option.data))
    for (auto& [key, value] : *dict) spell(value, region);
  if (auto* map = std::get_if<OptionMap>(&option.data)) {
    for (auto& [key, value] : map->items) {
      spell(key, region);
      spell(value, region);
    }
  }
}

OptionDict layer_dict(const Layer& layer) {
  OptionDict result;
  result.reserve(layer.options.size() + 1);
  result.emplace_back("class", layer.cls);
  for (const auto& [key, value] : layer.options) spell(result.emplace_back(key, value).second, layer.region);
  return result;
}

void add_layers(std::vector<NetworkEntry>& entries, const std::vector<Layer*>& layers) {
  for (const Layer* layer : layers)
    if (layer->emitted()) entries.push_back({layer->name, layer_dict(*layer), layer->span, layer->parts});
}

std::string prefix(const Region* from, const Region* to) {
  std::optional<std::size_t> levels = levels_out(from, to);
  if (!levels) throw std::logic_error("a reference into a dict that is not around it");
  std::string text;
  for (std::size_t i = 0; i < *levels; ++i) text += "base:";
  return text;
}

}  // namespace

std::string reference_text(const LayerRef& ref, const Region* region) {
  const Layer& layer = *ref.layer;
  std::string text;
  if (ref.kind == RefKind::name) {
    text = layer.name;
  } else if (levels_out(region, layer.region)) {
    text = prefix(region, layer.region) + (ref.kind == RefKind::previous ? "prev:" : "") + layer.name;
  } else {  // its owner hands it out, in a nested loop only under the owner's own name
    const Layer& owner = *layer.region->owner;
    text = prefix(region, owner.region) + owner.name;
    if (layer.name != "output") text += "/" + layer.name;
  }
  if (ref.kind == RefKind::target) text = "layer:" + text;
  return ref.sub.empty() ? text : text + "/" + ref.sub;
}

Document make_document(const Graph& graph, const LiveLayers& layers) {
  Document document;
  for (const Extern& source : graph.externs) document.extern_data.emplace_back(source.key, extern_entry(source));
  for (const auto& [key, value] : graph.entries)
    spell(document.network.emplace_back(NetworkEntry{key, value, {}}).value, graph.root_region());
  add_layers(document.network, layers.root());
  for (const Region& region : graph.regions)
    if (region.parent) add_layers(document.bodies[&region], layers.in(&region));
  document.deep = deep_body(graph, layers);

  std::vector<Dim> used;
  std::unordered_set<Dim> seen;
  auto use = [&](const Option& option) {
    for_each_dim(option, [&](const DimRef& ref) {
      if (seen.insert(ref.dim).second) used.push_back(ref.dim);
    });
  };
  for (const auto& [key, value] : document.extern_data) use(value);
  for (const NetworkEntry& entry : document.network) use(entry.value);
  for (const auto& [region, entries] : document.bodies)
    for (const NetworkEntry& entry : entries) use(entry.value);
  std::sort(used.begin(), used.end(), [](Dim a, Dim b) { return a->id < b->id; });

  std::vector<std::string> names = dim_names(used);
  for (std::size_t i = 0; i < used.size(); ++i) document.dims.push_back({used[i], std::move(names[i])});
  return document;
}

void sort_keys(Document& document) {
  sort_dict(document.extern_data);
  sort_entries(document.network);
  for (auto& [region, entries] : document.bodies) sort_entries(entries);
}

std::unordered_map<Dim, std::string> dim_ids(const Document& document) {
  std::unordered_map<Dim, std::string> result;
  for (const DimEntry& entry : document.dims) result.emplace(entry.dim, entry.id);
  return result;
}

}  // namespace rcn
