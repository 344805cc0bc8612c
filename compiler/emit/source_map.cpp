#include "compiler/emit/source_map.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace rcn {

namespace {

using Json = nlohmann::ordered_json;

// `true_layer` of a branch; a loop has one dict only.
std::string branch_of(const Layer& owner, const Region* region) {
  std::string result;
  for (const auto& [key, value] : owner.options) {
    if (!key.ends_with("_layer")) continue;
    for_each_part<RegionRef>(value, [&, &k = key](const RegionRef& ref) {
      if (ref.region == region) result = k;
    });
  }
  return result;
}

std::string prefix_of(const Region* region) {
  if (!region->parent) return "";
  std::string branch = branch_of(*region->owner, region);
  return prefix_of(region->owner->region) + region->owner->name + "/" + (branch.empty() ? "" : branch + "/");
}

}  // namespace

Json place_json(const SourceMap& sources, Span span) {
  LineColumn at = sources.locate(span.file, span.begin);
  return {{"file", std::string(sources.name(span.file))}, {"line", at.line}, {"column", at.column}};
}

std::string source_map(const LiveLayers& layers, const SourceMap& sources) {
  Json map = Json::object();
  for (const Layer* layer : layers.all()) {
    if (!layer->emitted() || !layer->span.valid()) continue;
    const Json own = place_json(sources, layer->span);
    Json entry = own;
    Json calls = Json::array();
    for (const NameScope* scope = layer->scope; scope; scope = scope->caller)
      if (scope->call.valid() && !sources.name(scope->call.file).starts_with("stdlib/")) calls.push_back(place_json(sources, scope->call));
    entry["calls"] = std::move(calls);
    Json parts = Json::array();
    for (Span part : layer->parts) {
      Json at = place_json(sources, part);
      if (at != own && std::find(parts.begin(), parts.end(), at) == parts.end()) parts.push_back(std::move(at));
    }
    if (!parts.empty()) entry["parts"] = std::move(parts);
    map[prefix_of(layer->region) + layer->name] = std::move(entry);
  }
  return Json{{"layers", std::move(map)}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rcn
