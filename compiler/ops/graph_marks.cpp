// Losses, errors and outputs, and what is put into the dict as it is.
#include "compiler/ops/graph_backend.h"
#include "compiler/ops/rules.h"

namespace rcn {

// A loss is the sum over valid frames. RETURNN takes batch and time for that and adds up the rest, padding included: of
// several dynamic dims only the first is left to it.
LayerRef GraphBackend::loss_value(const Mark& mark, const GraphTensor& value) {
  TensorType type = value.type;
  if (mark.role == MarkRole::loss && !is_float(type.dtype)) {
    context_.diagnostics.report(Diag::loss_dtype, mark.span, {mark.name, std::string(to_string(type.dtype))})
        .help(Diag::help_text, {"an `error` may be of any dtype; `nn.cast(x, float32)` makes it a float"});
    throw EvalError{};
  }
  std::vector<Dim> dynamic;
  for (Dim d : type.dims) {
    if (d->size || d->kind == DimKind::batch) continue;
    dynamic.push_back(d);
    for (Dim needed : context_.lengths.length_dims(d)) {
      if (type.has(needed)) continue;
      context_.diagnostics.report(Diag::lengths_missing, mark.span, {to_string(d), to_string(needed)})
          .help(Diag::help_text, {"`nn.expand_dims(x, [" + to_string(needed) + "])` is the tensor with that dim"});
      throw EvalError{};
    }
  }
  LayerRef ref = expanded(value, value.missing, mark.name + "_expanded", mark.span);
  if (!is_float(type.dtype)) {
    type.dtype = DType::float32;
    type.sparse_dim = nullptr;
    ref = {&add_shared("cast", {{"from", ref}, {"dtype", "float32"}}, type, mark.name + "_value", mark.span), {}};
  }
  std::vector<Dim> summed;
  if (dynamic.size() > 1)
    for (Dim d : type.dims)
      if (d->kind != DimKind::batch && d != dynamic[0]) summed.push_back(d);
  if (!summed.empty()) {
    type.dims = without(type.dims, summed);
    ref = {&add_shared("reduce", {{"from", ref}, {"mode", "sum"}, {"axis", dims_option(summed)}, {"keep_dims", false}, {"use_time_mask", true}},
                        type, mark.name + "_sum", mark.span), {}};
  }
  if (!dynamic.empty() && (dynamic[0]->kind == DimKind::feature || type.dims.size() > 2))  // else RETURNN takes it for time
    ref = {&add_shared("reinterpret_data", {{"from", ref}, {"set_axes", OptionDict{{"T", dynamic[0]}}}}, type, mark.name + "_frames", mark.span), {}};
  return ref;
}

void GraphBackend::mark(const Mark& mark, const Tensor& value) {
  const GraphTensor& tensor = graph_tensor(value);
  OptionDict options;
  TensorType type = tensor.type;
  if (mark.role == MarkRole::output) {
    options = {{"from", expanded(tensor, tensor.missing, mark.name + "_expanded", mark.span)}, {"is_output_layer", true}};
  } else {
    LayerRef ref = loss_value(mark, tensor);
    OptionDict loss_opts;
    if (mark.role == MarkRole::error) {
      loss_opts.emplace_back("as_error", true);
    } else {
      loss_opts.emplace_back("scale", mark.scale);
    }
    loss_opts.emplace_back("use_normalized_loss", mark.use_normalized_loss);
    loss_opts.emplace_back("use_flatten_frames", mark.use_flatten_frames);
    if (mark.custom_inv_norm_factor) {
      const GraphTensor& factor = graph_tensor(mark.custom_inv_norm_factor);
      loss_opts.emplace_back("custom_inv_norm_factor", expanded(factor, factor.missing, mark.name + "_factor", mark.span));
    }
    options = {{"from", ref}, {"loss", "as_is"}, {"loss_opts", loss_opts}};
    type.dims = ref.layer->type.dims;
  }
  auto named = [&](const std::string& name) {
    Layer& layer = add_shared("copy", options, type, name, mark.span);
    layer.name = name;
    layer.fixed_name = true;
    layer.root = true;
  };
  named(mark.name);
  if (mark.first_output && mark.name != "output") named("output");
}

// ---- make_layer, network_entry

Option GraphBackend::option_of(const Value& value, Span span) {
  if (value.is_none()) return {};
  if (value.is<bool>()) return value.get<bool>();
  if (value.is<std::int64_t>()) return value.get<std::int64_t>();
  if (value.is<double>()) return value.get<double>();
  if (value.is_str()) return value.str();
  if (value.is_dim()) return value.dim();
  if (value.is<DType>()) return Option(to_string(value.get<DType>()));
  if (value.is_tensor()) {
    const GraphTensor& tensor = graph_tensor(value.tensor());
    return expanded(tensor, tensor.missing, "make_layer_expanded", span);
  }
  if (value.is_list()) {
    OptionList items;
    for (const Value& item : value.list()) items.push_back(option_of(item, span));
    return items;
  }
  if (value.is_tuple()) {
    OptionTuple tuple;
    for (const Value& item : value.tuple().items) tuple.items.push_back(option_of(item, span));
    return tuple;
  }
  if (value.is_record()) {
    OptionDict dict;
    for (const auto& [key, item] : value.record().fields) dict.emplace_back(key.str(), option_of(item, span));
    return dict;
  }
  context_.diagnostics.report(Diag::raw_value, span, {kind_text(value)});
  throw EvalError{};
}

std::vector<Tensor> GraphBackend::raw_layer(const Value& layer, const std::vector<TensorType>& outputs,
                                            const std::vector<std::string>& sub_layers, Span span) {
  OptionDict options;
  std::string cls;
  for (const auto& [key, value] : layer.record().fields) {
    if (key.str() != "class") {
      options.emplace_back(key.str(), option_of(value, span));
    } else if (value.is_str()) {
      cls = value.str();
    }
  }
  if (cls.empty()) {
    context_.diagnostics.report(Diag::raw_class, span);
    throw EvalError{};
  }
  Layer& made = add(cls, std::move(options), {{}, outputs.empty() ? DType::float32 : outputs[0].dtype, nullptr}, cls, span);
  made.opaque = true;
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    LayerRef ref{&made, i < sub_layers.size() ? sub_layers[i] : std::string()};
    if (ref.sub.empty()) made.type = outputs[i];
    carries(ref, outputs[i]);
    auto tensor = std::make_shared<GraphTensor>(outputs[i], ref, std::vector<Dim>{});
    tensor->wild_padding = true;  // nobody knows
    results.push_back(std::move(tensor));
  }
  return results;
}

void GraphBackend::raw_entry(const std::string& key, const Value& value, Span span) {
  graph_.entries.emplace_back(key, option_of(value, span));
}

}  // namespace rcn
