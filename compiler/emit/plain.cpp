#include "compiler/emit/plain.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "compiler/emit/plain_externs.h"
#include "compiler/emit/plain_layer.h"

namespace rcn {

namespace {

class PlainLowering {
 public:
  PlainLowering(const Graph& graph, const LiveLayers& layers, DiagnosticSink& diagnostics)
      : graph_(graph), layers_(layers), diagnostics_(diagnostics) {
    context_.region = graph.root_region();
    context_.tensors.resize(graph.layers.size());
    for (const Layer* layer : layers.root()) context_.names.insert(layer->name);
    for (const auto& [key, value] : graph.entries) context_.names.insert(key);
  }

  std::optional<Document> run() {
    std::size_t errors = diagnostics_.error_count();
    refuse_bodies();
    if (diagnostics_.error_count() > errors) return std::nullopt;
    for (const Extern& source : graph_.externs) {
      std::string fault = plain_extern_fault(source, graph_.externs);
      if (fault.empty()) {
        document_.extern_data.emplace_back(source.key, plain_extern_entry(source));
      } else {
        diagnostics_.report(Diag::plain_extern, source.span, {source.name, fault});
      }
    }
    for (const Layer* layer : layers_.root()) {
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
  void refuse_bodies() {
    if (const Region* deep = deep_body(graph_, layers_)) {
      diagnostics_.report(Diag::plain_deep, deep->owner->span,
                          {deep->owner->cls, deep->owner->name, std::to_string(kLongestBody)});
      return;
    }
    for (const Layer* layer : layers_.root()) {
      for (const auto& [key, value] : layer->options) {
        bool body = false;
        for_each_part<RegionRef>(value, [&](const RegionRef&) { body = true; });
        if (body)
          diagnostics_.report(Diag::plain_option, layer->span,
                              {key, layer->cls, layer->name, "it is a network of its own"});
      }
    }
  }

  // Where a dim is that of another data key already, a layer that takes the lengths over stands for the extern.
  void add_extern(const Layer& layer) {
    const Extern& source = *layer.source;
    context_.tensors[layer.id] = plain_extern_tensor(source);
    const Extern* base = plain_lengths_base(source, graph_.externs);
    if (!base) return;
    std::string name = context_.free_name(source.key + ".as." + base->key);
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
    if (!lowering.lower()) return;
    tensor = std::move(lowering.result);
    std::move(lowering.entries.begin(), lowering.entries.end(), std::back_inserter(document_.network));
  }

  const Graph& graph_;
  const LiveLayers& layers_;
  DiagnosticSink& diagnostics_;
  PlainContext context_;
  Document document_;
};

}  // namespace

std::optional<Document> lower_to_plain(const Graph& graph, const LiveLayers& layers, DiagnosticSink& diagnostics) {
  return PlainLowering(graph, layers, diagnostics).run();
}

}  // namespace rcn
