#include "compiler/driver/operation_map.h"

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "compiler/emit/source_map.h"
#include "compiler/ops/lowering.h"

namespace rcn {

namespace {

using Json = nlohmann::ordered_json;

// As RETURNN knows it in the network; empty for what is deeper inside of loops and branches.
std::string name_of(const LayerRef& ref) {
  const Region* region = ref.layer->region;
  std::string name = ref.layer->name;
  if (region->parent) {
    if (region->owner->region->parent) return {};
    name = region->owner->name + (name == "output" ? "" : "/" + name);
  }
  return ref.sub.empty() ? name : name + "/" + ref.sub;
}

}  // namespace

std::string OperationMap::json(const LiveLayers& layers, const SourceMap& sources) const {
  std::vector<Layer*> all = layers.all();
  std::unordered_set<const Layer*> live(all.begin(), all.end());
  Json list = Json::array();
  for (const NumberedTensor& made : made_) {
    const GraphTensor& tensor = graph_tensor(made.tensor);
    const LayerRef& ref = tensor.layer;
    if (ref.kind != RefKind::value || !live.contains(ref.layer) || !ref.layer->emitted()) continue;
    std::string name = name_of(ref);
    if (name.empty()) continue;
    Json entry{{"number", made.number},   {"operation", made.operation},  {"result", made.result},
               {"layer", name},           {"class", ref.layer->cls},      {"random", draws(*ref.layer)},
               {"lacks_dims", !tensor.missing.empty()}};
    if (made.span.valid()) entry.update(place_json(sources, made.span));
    Json calls = Json::array();
    for (auto call = made.calls.rbegin(); call != made.calls.rend(); ++call)
      if (call->valid()) calls.push_back(place_json(sources, *call));
    entry["calls"] = std::move(calls);
    list.push_back(std::move(entry));
  }
  return list.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace rcn
