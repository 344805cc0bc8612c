#include "compiler/graph/readers.h"

#include <algorithm>
#include <string_view>

namespace rcn {

namespace {

constexpr std::string_view kWaits = "control_dependencies";

}  // namespace

std::vector<std::size_t> count_readers(const Graph& graph, const LiveLayers& layers) {
  std::vector<std::size_t> readers(graph.layers.size(), 0);
  auto note = [&](const Option& option) { for_each_layer(option, [&](const LayerRef& ref) { ++readers[ref.layer->id]; }); };
  for (const std::vector<Layer*>& dict : layers.dicts)
    for (const Layer* layer : dict)
      for (const auto& [key, option] : layer->options)
        if (key != kWaits) note(option);
  for (const auto& [key, option] : graph.entries) note(option);
  return readers;
}

void take_out(LiveLayers& layers, const std::unordered_map<const Layer*, const Layer*>& into) {
  auto redirect = [&](Option& option) {
    change_parts<LayerRef>(option, [&](LayerRef& ref) {
      for (auto it = into.find(ref.layer); it != into.end(); it = into.find(ref.layer)) ref.layer = it->second;
    });
    OptionList once;
    for (const Option& item : std::get<OptionList>(option.data)) {
      const Layer* layer = std::get<LayerRef>(item.data).layer;
      bool known = std::any_of(once.begin(), once.end(), [&](const Option& other) { return std::get<LayerRef>(other.data).layer == layer; });
      if (!known) once.push_back(item);
    }
    option = std::move(once);
  };
  if (into.empty()) return;
  for (std::vector<Layer*>& dict : layers.dicts) {
    std::erase_if(dict, [&](const Layer* layer) { return into.contains(layer); });
    for (Layer* layer : dict)
      for (auto& [key, option] : layer->options)
        if (key == kWaits && !layer->opaque) redirect(option);
  }
}

}  // namespace rcn
