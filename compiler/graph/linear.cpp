#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/dims/dim_list.h"
#include "compiler/graph/readers.h"

namespace rcn {

namespace {

bool is_parameter(const LayerRef& ref, const std::vector<Dim>& dims) {
  const Layer& layer = *ref.layer;
  return layer.cls == "variable" && layer.type.dims == dims && layer.type.dtype == DType::float32 && !layer.type.sparse_dim;
}

std::optional<std::pair<LayerRef, LayerRef>> two_sources(const Layer& layer) {
  const auto* from = std::get_if<OptionList>(&layer.option("from")->data);
  if (!from || from->size() != 2) return std::nullopt;
  return std::pair{std::get<LayerRef>((*from)[0].data), std::get<LayerRef>((*from)[1].data)};
}

// `x` times a parameter [in, out], over `in`.
struct Product {
  LayerRef x, weight;
  Dim in = nullptr, out = nullptr;
};

std::optional<Product> product(const Layer& layer) {
  if (layer.cls != "dot" || layer.opaque || layer.named) return std::nullopt;
  auto sources = two_sources(layer);
  const Option* reduce = layer.option("reduce");
  const auto* in = reduce ? std::get_if<DimRef>(&reduce->data) : nullptr;
  if (!sources || !in) return std::nullopt;
  auto [x, weight] = *sources;
  const TensorType& type = x.layer->type;
  if (weight.layer->type.dims.size() != 2) return std::nullopt;
  Product result{x, weight, in->dim, weight.layer->type.dims[1]};
  std::vector<Dim> others = without(type.dims, {result.in});
  bool fits = x.kind == RefKind::value && x.sub.empty() && type.dtype == DType::float32 && !type.sparse_dim && type.has(result.in) &&
              !contains(others, result.out) && !contains(others, result.in);
  if (!fits || !is_parameter(weight, {result.in, result.out})) return std::nullopt;
  return result;
}

}  // namespace

void use_linear(const Graph& graph, LiveLayers& layers) {
  std::vector<std::size_t> readers = count_readers(graph, layers);
  std::unordered_map<const Layer*, const Layer*> into;
  for (const std::vector<Layer*>& dict : layers.dicts) {
    if (dict.empty() || in_loop(dict.front()->region)) continue;
    for (Layer* layer : dict) {
      if (layer->cls != "combine" || !layer->elementwise || layer->options.size() != 2 || !two_sources(*layer)) continue;
      if (const auto* kind = std::get_if<std::string>(&layer->option("kind")->data); !kind || *kind != "add") continue;
      auto [first, second] = *two_sources(*layer);
      if (first.layer->cls != "dot") std::swap(first, second);
      std::optional<Product> made = product(*first.layer);
      bool alone = first.sub.empty() && first.kind == RefKind::value && readers[first.layer->id] == 1 && first.layer->region == layer->region;
      if (!made || !alone || !is_parameter(second, {made->out})) continue;
      OptionDict map{{"W", OptionDict{{"layer_output", made->weight}}}, {"b", OptionDict{{"layer_output", second}}}};
      layer->cls = "linear";
      layer->elementwise = false;
      layer->options = {{"from", made->x}, {"in_dim", made->in}, {"out_dim", made->out}, {"with_bias", true}, {"activation", Option()},
                        {"reuse_params", OptionDict{{"map", std::move(map)}}}};
      layer->parts.push_back(first.layer->span);
      into.emplace(first.layer, layer);
    }
  }
  take_out(layers, into);
}

}  // namespace rcn
