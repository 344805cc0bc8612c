#include "compiler/emit/plain.h"

#include <string>
#include <unordered_set>
#include <utility>

#include "compiler/emit/plain_externs.h"
#include "compiler/emit/plain_layer.h"

namespace rcn {

namespace {

class PlainLowering {
 public:
  PlainLowering(const Graph& graph, const LiveLayers& layers, DiagnosticSink& diagnostics)
      : graph_(graph), layers_(layers), diagnostics_(diagnostics) {
    context_.tensors.resize(graph.layers.size());
    for (const Layer* layer : layers) names_.insert(layer->name);
    for (const auto& [key, value] : graph.entries) names_.insert(key);
  }

  std::optional<Document> run() {
    std::size_t errors = diagnostics_.error_count();
    for (const Extern& source : graph_.externs) {
      std::string fault = plain_extern_fault(source, graph_.externs);
      if (fault.empty()) {
        document_.extern_data.emplace_back(source.key, plain_extern_entry(source));
      } else {
        diagnostics_.report(Diag::plain_extern, source.span, {source.name, fault});
      }
    }
    for (const Layer* layer : layers_) {
      if (layer->source) {
        add_extern(*layer);
      } else {
        add_layer(*layer);
      }
    }
    add_entries();
    if (diagnostics_.error_count() > errors) return std::nullopt;
    return std::move(document_);
  }

 private:
  std::string free_name(const std::string& wanted) {
    std::string name = wanted;
    for (std::size_t i = 1; !names_.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
    return name;
  }

  // Where a dim is that of another data key already, a layer that takes the lengths over stands for the extern.
  void add_extern(const Layer& layer) {
    const Extern& source = *layer.source;
    context_.tensors[layer.id] = plain_extern_tensor(source);
    const Extern* base = plain_lengths_base(source, graph_.externs);
    if (!base) return;
    std::string name = free_name(source.key + ".as." + base->key);
    OptionDict options = {
        {"class", "reinterpret_data"}, {"from", "data:" + source.key}, {"size_base", "data:" + base->key}};
    document_.network.push_back({name, std::move(options), source.span});
    context_.spelled.emplace(&layer, std::move(name));
  }

  void add_entries() {
    std::vector<NetworkEntry> entries;
    for (const auto& [key, value] : graph_.entries) {
      std::string fault;
      if (std::optional<Option> plain = plain_value(context_, value, fault)) {
        entries.push_back({key, std::move(*plain), {}});
      } else {
        diagnostics_.report(Diag::plain_entry, Span{}, {key, fault});
      }
    }
    document_.network.insert(document_.network.begin(), entries.begin(), entries.end());
  }

  void add_layer(const Layer& layer) {
    // What a layer without a plain form is taken for: those that read it are not to blame.
    PlainTensor& tensor = context_.tensors[layer.id];
    tensor = {layer.type.dims, layer.type.sparse_dim, nullptr, nullptr};
    tensor.time = tensor.only_dynamic();
    if (!tensor.dims.empty() && tensor.dims.back()->size) tensor.feature = tensor.dims.back();

    const PlainRule* rule = plain_rule(layer.cls);
    if (!rule) {
      diagnostics_.report(Diag::plain_class, layer.span, {layer.cls, layer.name});
      return;
    }
    PlainLayer lowering(layer, *rule, context_, diagnostics_);
    std::string marked_name = layer.name + ".marked";
    while (names_.contains(marked_name)) marked_name += "_1";
    if (!lowering.lower(marked_name)) return;
    tensor = std::move(lowering.result);
    if (lowering.marked) {
      names_.insert(marked_name);
      document_.network.push_back(std::move(*lowering.marked));
    }
    document_.network.push_back({layer.name, std::move(lowering.options), layer.span});
  }

  const Graph& graph_;
  const LiveLayers& layers_;
  DiagnosticSink& diagnostics_;
  PlainContext context_;
  std::unordered_set<std::string> names_;
  Document document_;
};

}  // namespace

std::optional<Document> lower_to_plain(const Graph& graph, const LiveLayers& layers, DiagnosticSink& diagnostics) {
  return PlainLowering(graph, layers, diagnostics).run();
}

}  // namespace rcn
