#include "compiler/graph/graph.h"

namespace rcn {

const Option* Layer::option(std::string_view key) const {
  for (const auto& [k, value] : options)
    if (k == key) return &value;
  return nullptr;
}

Graph::Graph() { scopes.push_back({0, nullptr, ""}); }

Layer& Graph::add(std::string cls, OptionDict options, TensorType type, const NameScope* scope, std::string base,
                  Span span) {
  Layer& layer = layers.emplace_back();
  layer.id = static_cast<std::uint32_t>(layers.size() - 1);
  layer.cls = std::move(cls);
  layer.options = std::move(options);
  layer.type = std::move(type);
  layer.scope = scope;
  layer.base = std::move(base);
  layer.span = span;
  return layer;
}

const NameScope* Graph::add_scope(const NameScope* parent, std::string base) {
  scopes.push_back({static_cast<std::uint32_t>(scopes.size()), parent, std::move(base)});
  return &scopes.back();
}

}  // namespace rcn
