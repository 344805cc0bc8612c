#include "compiler/graph/graph.h"

#include <functional>

namespace rcn {

const Option* Layer::option(std::string_view key) const {
  for (const auto& [k, value] : options)
    if (k == key) return &value;
  return nullptr;
}

std::optional<std::size_t> levels_out(const Region* inner, const Region* outer) {
  std::size_t levels = 0;
  for (; inner; inner = inner->parent, ++levels)
    if (inner == outer) return levels;
  return std::nullopt;
}

bool draws(const Layer& layer) {
  const Option* eval = layer.option("eval");
  const auto* text = eval ? std::get_if<std::string>(&eval->data) : nullptr;
  return layer.cls == "random" || layer.cls == "choice" || layer.cls == "dropout" || (text && text->find("tf.random.") != std::string::npos);
}

namespace {

bool is_loop(const Region& region) { return region.owner && region.owner->cls == "rec"; }

}  // namespace

bool in_loop(const Region* region) {
  for (; region; region = region->parent)
    if (is_loop(*region)) return true;
  return false;
}

bool only_output(const Region& region) {
  for (const Region* around = region.parent; around; around = around->parent)
    if (is_loop(*around)) return true;
  return is_loop(region) && region.parent && region.parent->parent;
}

const Layer* seen_in(const Region* region, const Layer* layer) {
  while (layer && layer->region != region) layer = layer->region->owner;
  return layer;
}

Graph::Graph() {
  scopes.push_back({0, nullptr, ""});
  regions.push_back({0, nullptr, nullptr, &scopes.front()});
}

Region& Graph::add_region(const Region* parent) {
  scopes.push_back({static_cast<std::uint32_t>(scopes.size()), nullptr, "", {}, nullptr});
  regions.push_back({static_cast<std::uint32_t>(regions.size()), parent, nullptr, &scopes.back()});
  return regions.back();
}

Layer& Graph::add(std::string cls, OptionDict options, TensorType type, const NameScope* scope, std::string base,
                  Span span, const Region* region) {
  Layer& layer = layers.emplace_back();
  layer.id = static_cast<std::uint32_t>(layers.size() - 1);
  layer.cls = std::move(cls);
  layer.options = std::move(options);
  layer.type = std::move(type);
  layer.scope = scope;
  layer.base = std::move(base);
  layer.span = span;
  layer.region = region ? region : root_region();
  return layer;
}

void Graph::put_in_order(const Layer& first) {
  const std::uint32_t start = first.id;
  std::vector<Layer*> order;
  std::vector<bool> placed(layers.size() - start, false);
  std::function<void(Layer&)> place = [&](Layer& layer) {
    if (placed[layer.id - start]) return;
    placed[layer.id - start] = true;
    for (const auto& [key, option] : layer.options)
      for_each_layer(option, [&](const LayerRef& ref) {
        if (ref.kind != RefKind::previous && ref.layer->id >= start) place(layers[ref.layer->id]);
      });
    order.push_back(&layer);
  };
  for (std::size_t i = start; i < layers.size(); ++i) place(layers[i]);
  for (std::size_t i = 0; i < order.size(); ++i) order[i]->id = start + static_cast<std::uint32_t>(i);
}

const NameScope* Graph::add_scope(const NameScope* parent, std::string base, Span call, const NameScope* caller) {
  scopes.push_back({static_cast<std::uint32_t>(scopes.size()), parent, std::move(base), call, caller});
  return &scopes.back();
}

}  // namespace rcn
