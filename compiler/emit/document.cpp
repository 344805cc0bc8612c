#include "compiler/emit/document.h"

#include <algorithm>
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

}  // namespace

OptionDict layer_dict(const Layer& layer) {
  OptionDict result;
  result.reserve(layer.options.size() + 1);
  result.emplace_back("class", layer.cls);
  result.insert(result.end(), layer.options.begin(), layer.options.end());
  return result;
}

std::string reference_text(const LayerRef& ref) {
  return ref.sub.empty() ? ref.layer->name : ref.layer->name + "/" + ref.sub;
}

Document make_document(const Graph& graph, const LiveLayers& layers) {
  Document document;
  for (const Extern& source : graph.externs) document.extern_data.emplace_back(source.key, extern_entry(source));
  for (const auto& [key, value] : graph.entries) document.network.push_back({key, value, {}});
  for (const Layer* layer : layers)
    if (!layer->source) document.network.push_back({layer->name, layer_dict(*layer), layer->span});

  std::vector<Dim> used;
  std::unordered_set<Dim> seen;
  auto use = [&](const Option& option) {
    for_each_dim(option, [&](const DimRef& ref) {
      if (seen.insert(ref.dim).second) used.push_back(ref.dim);
    });
  };
  for (const auto& [key, value] : document.extern_data) use(value);
  for (const NetworkEntry& entry : document.network) use(entry.value);
  std::sort(used.begin(), used.end(), [](Dim a, Dim b) { return a->id < b->id; });

  std::vector<std::string> names = dim_names(used);
  for (std::size_t i = 0; i < used.size(); ++i) document.dims.push_back({used[i], std::move(names[i])});
  return document;
}

void sort_keys(Document& document) {
  sort_dict(document.extern_data);
  std::stable_sort(document.network.begin(), document.network.end(),
                   [](const NetworkEntry& a, const NetworkEntry& b) { return a.name < b.name; });
  for (NetworkEntry& entry : document.network) sort_inside(entry.value);
}

std::unordered_map<Dim, std::string> dim_ids(const Document& document) {
  std::unordered_map<Dim, std::string> result;
  for (const DimEntry& entry : document.dims) result.emplace(entry.dim, entry.id);
  return result;
}

}  // namespace rcn
