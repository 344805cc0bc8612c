#include "compiler/ops/lowering.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "compiler/base/number_text.h"
#include "compiler/ops/graph_backend.h"
#include "compiler/ops/rules.h"

namespace rcn {

GraphTensor::GraphTensor(TensorType t, LayerRef ref, std::vector<Dim> absent)
    : TensorData(std::move(t)), layer(std::move(ref)), layer_type(type), missing(std::move(absent)) {
  layer_type.dims = without(type.dims, missing);
}

const GraphTensor& graph_tensor(const Tensor& tensor) { return static_cast<const GraphTensor&>(*tensor); }

std::string python_float(double value) {
  if (std::isnan(value)) return "float('nan')";
  if (std::isinf(value)) return value > 0 ? "float('inf')" : "float('-inf')";
  std::string text = number_text(value);
  return text[0] == '-' ? "(" + text + ")" : text;
}

std::string python_number(const Operand& number, DType dtype) {
  if (const bool* b = std::get_if<bool>(&number)) return *b ? "True" : "False";
  if (const std::int64_t* i = std::get_if<std::int64_t>(&number)) {
    if (is_float(dtype)) return python_float(static_cast<double>(*i));
    return *i < 0 ? "(" + std::to_string(*i) + ")" : std::to_string(*i);
  }
  return python_float(std::get<double>(number));
}

std::string python_nested(const Value& value, DType dtype) {
  if (!value.is_list() && !value.is_tuple()) return python_number(OpCall::to_operand(value), dtype);
  std::string result;
  for (const Value& item : value.is_tuple() ? value.tuple().items : value.list())
    result += (result.empty() ? "" : ", ") + python_nested(item, dtype);
  return "[" + result + "]";
}

Option number_option(const Operand& number, DType dtype) {
  if (const bool* b = std::get_if<bool>(&number)) return *b;
  if (const std::int64_t* i = std::get_if<std::int64_t>(&number))
    return is_float(dtype) ? Option(static_cast<double>(*i)) : Option(*i);
  return std::get<double>(number);
}

bool takes_numbers(DType dtype) { return dtype == DType::float32 || dtype == DType::int32 || dtype == DType::bool_; }

OptionDict reuse_params(std::vector<std::pair<std::string, LayerRef>> map) {
  OptionDict entries;
  for (auto& [name, layer] : map) entries.emplace_back(name, OptionDict{{"layer_output", layer}});
  return {{"map", std::move(entries)}};
}

Lowering::Lowering(GraphBackend& backend, const OpNode& node) : backend_(backend), node_(node), inputs_(node.inputs) {
  base_ = node.base_name.empty() ? std::string(node.op->name) : node.base_name;
}

DimTable& Lowering::dims() { return backend_.context_.dims; }
const DimLengths& Lowering::lengths() { return backend_.context_.lengths; }

// ---- inputs

LayerRef Lowering::full(const GraphTensor& tensor) {
  return backend_.expanded(tensor, tensor.missing, base_ + "_expanded", node_.span);
}
LayerRef Lowering::full(std::size_t i) { return full(raw(i)); }
LayerRef Lowering::with_dims(std::size_t i, const std::vector<Dim>& dims) {
  return backend_.expanded(raw(i), dims, base_ + "_expanded", node_.span);
}
std::vector<Dim> Lowering::absent(std::size_t i, const std::vector<Dim>& dims) const { return without(raw(i).missing, dims); }

Lowering::Source Lowering::source(std::size_t i, const std::vector<Dim>& dims) {
  Source source{with_dims(i, dims), type(i), absent(i, dims)};
  source.type.dims = without(source.type.dims, source.missing);
  return source;
}

namespace {

Bounds bounds_of(const Operand& operand) {
  if (const Tensor* tensor = as_tensor(operand)) return graph_tensor(*tensor).bounds;
  if (const double* x = std::get_if<double>(&operand)) return known(*x, *x);
  if (const std::int64_t* n = std::get_if<std::int64_t>(&operand)) return {static_cast<double>(*n), static_cast<double>(*n)};
  return {0, 1};
}

}  // namespace

Bounds Lowering::bounds(std::size_t i) const { return bounds_of(inputs_[i]); }

void Lowering::stay_inside(OptionDict& options, const std::vector<LayerRef>& reads) {
  std::uint64_t varies = 0;
  for (const LayerRef& ref : reads) varies |= backend_.variation(ref);
  backend_.stay_inside(options, varies & backend_.open_loops(), node_.span);
}

void Lowering::made_history(Dim d) { backend_.histories_.insert(d); }

void Lowering::guard(std::size_t i, const Operand& value) {
  GraphTensor tensor = backend_.along_mask(raw(i), node_.span);
  std::vector<Dim> dims = padded(tensor.layer_type);
  auto guarded = std::make_shared<GraphTensor>(tensor);
  for (Dim d : dims) guarded->layer = masked(guarded->layer, guarded->layer_type, d, value);
  guarded->layer = backend_.guarded_value(guarded->layer, guarded->layer_type, value, base_ + "_guarded", node_.span);
  if (guarded->layer.layer == tensor.layer.layer) return;
  guarded->wild_padding = false;
  guarded->zero_padding.clear();
  guarded->bounds = united(tensor.bounds, bounds_of(value));
  inputs_[i] = std::move(guarded);
}

void Lowering::guard(std::size_t i, Domain domain) {
  DType dtype = type(i).dtype;
  if (inside(bounds(i), domain, dtype)) return;
  if (is_float(dtype)) {
    guard(i, inner_point(domain));
  } else {
    guard(i, static_cast<std::int64_t>(inner_point(domain)));
  }
}

std::vector<Dim> Lowering::ragged(const TensorType& type, const std::vector<Dim>& axes) {
  std::vector<Dim> result;
  for (Dim d : type.dims) {
    if (contains(axes, d) || !d->dynamic() || d->kind == DimKind::batch) continue;
    std::vector<Dim> over = lengths().length_dims(d);
    bool depends = std::any_of(over.begin(), over.end(), [&](Dim o) { return contains(axes, o); });
    if (depends && without(over, type.dims).empty()) result.push_back(d);
  }
  return result;
}

std::vector<Dim> Lowering::dims_for(std::size_t i, const std::vector<Dim>& axes) {
  std::vector<Dim> needed = axes;
  for (Dim axis : axes) needed = united(needed, lengths().length_dims(axis));
  for (Dim d : ragged(type(i), axes)) needed = united(needed, united({d}, lengths().length_dims(d)));
  return needed;
}

// ---- layers

LayerRef Lowering::layer(std::string cls, OptionDict options, TensorType type, std::string_view suffix) {
  std::string base = suffix.empty() ? base_ : base_ + "_" + std::string(suffix);
  if (shared_) return {&backend_.add_shared(std::move(cls), std::move(options), std::move(type), std::move(base), node_.span), {}};
  Layer& made = backend_.add(std::move(cls), std::move(options), std::move(type), std::move(base), node_.span);
  made.named = suffix.empty() && !node_.base_name.empty();
  return {&made, {}};
}

LayerRef Lowering::shared(const std::function<LayerRef()>& make) {
  shared_ = true;
  LayerRef result = make();
  shared_ = false;
  return result;
}

void Lowering::result(LayerRef layer, std::vector<Dim> missing) {
  auto tensor = std::make_shared<GraphTensor>(node_.outputs.at(results_.size()), std::move(layer), std::move(missing));
  bool dynamic = std::any_of(tensor->layer_type.dims.begin(), tensor->layer_type.dims.end(), [](Dim d) { return d->dynamic(); });
  bool wild = wild_.value_or(false);
  if (!wild_)
    for (const Operand& input : inputs_)
      if (const Tensor* t = as_tensor(input)) wild = wild || graph_tensor(*t).wild_padding;
  tensor->wild_padding = wild && dynamic && is_float(tensor->type.dtype);
  tensor->zero_padding = zeros_;
  tensor->bounds = bounds_;
  results_.push_back(std::move(tensor));
}

void Lowering::result_of(const Source& source, std::string cls, OptionDict options) {
  options.insert(options.begin(), {"from", source.layer});
  TensorType type = node_.outputs.at(results_.size());
  type.dims = without(type.dims, source.missing);
  result(layer(std::move(cls), std::move(options), std::move(type)), source.missing);
}

LayerRef Lowering::eval(const std::vector<LayerRef>& from, std::string text, TensorType type, std::string_view suffix, bool broadcast) {
  OptionDict options{{"from", from.size() == 1 ? Option(from[0]) : Option(OptionList(from.begin(), from.end()))},
                     {"eval", std::move(text)}, {"out_type", out_type(type)}};
  if (broadcast) options.emplace_back("allow_broadcast_all_sources", true);
  return layer("eval", std::move(options), std::move(type), suffix);
}

LayerRef Lowering::dense(LayerRef source, TensorType type) {
  if (!type.sparse_dim) return source;
  type.sparse_dim = nullptr;
  return layer("reinterpret_data", {{"from", source}, {"set_sparse", false}}, std::move(type), "dense");
}

LayerRef Lowering::cast(LayerRef source, TensorType type, std::string_view suffix) {
  Option dtype(to_string(type.dtype));
  return layer("cast", {{"from", source}, {"dtype", dtype}}, std::move(type), suffix);
}

LayerRef Lowering::constant(Operand value, TensorType type, std::string_view suffix) {
  OptionDict options{{"value", number_option(value, type.dtype)}, {"shape", dims_option(type.dims)}, {"dtype", to_string(type.dtype)}};
  if (type.sparse_dim) options.emplace_back("sparse_dim", type.sparse_dim);
  if (OptionList deps = backend_.shape_deps(type.dims, node_.span); !deps.empty()) options.emplace_back("shape_deps", std::move(deps));
  return layer("constant", std::move(options), std::move(type), suffix);
}

LayerRef Lowering::carrier(Dim d) { return backend_.carrier(d, node_.span); }
LayerRef Lowering::behind_lstm_mask(LayerRef source, const TensorType& type, Dim axis, std::string_view suffix) {
  return backend_.behind_lstm_mask(source, type, axis, base_ + "_" + std::string(suffix), node_.span);
}
LayerRef Lowering::length(Dim d) { return backend_.length(d, node_.span); }
LayerRef Lowering::longest(Dim d) { return backend_.longest(d, node_.span); }
LayerRef Lowering::range(Dim d) { return backend_.range(d, node_.span); }
LayerRef Lowering::valid(Dim d) { return backend_.valid(d, node_.span); }
std::size_t Lowering::loops() const { return backend_.loops(); }
LayerRef Lowering::varying(LayerRef source, const TensorType& type) { return backend_.varying(source, type, base_, node_.span); }
void Lowering::put_in_order(const LayerRef& first) { backend_.graph_.put_in_order(*first.layer); }
bool Lowering::dropped_before(const LayerRef& source) { return !backend_.dropped_.insert({source.layer, source.sub}).second; }
bool Lowering::may_be_permuted(LayerRef source) const { return backend_.permuted_.contains(source.layer); }
LayerRef Lowering::depending(LayerRef source, LayerRef on, const TensorType& type) { return backend_.depending(source, on, backend_.open_.size() - 1, type, base_ + "_depending", node_.span); }
LayerRef Lowering::batch_major(LayerRef source, const TensorType& type) { return backend_.batch_major(source, type, base_, node_.span); }
LayerRef Lowering::step() { return backend_.step(); }
LayerRef Lowering::search_live() { return backend_.search_live(node_.span); }
LayerRef Lowering::sequence_dim(Dim d, LayerRef lengths) {
  for (const Operand& input : node_.inputs)
    if (const Tensor* t = as_tensor(input); t && (*t)->traits.undecided()) backend_.refuse_lengths_of_hypotheses(node_.span);
  return backend_.sequence_dim(d, lengths, base_ + "_range", node_.span);
}

std::vector<Dim> Lowering::padded(const TensorType& type) const {
  std::vector<Dim> result;
  for (Dim d : type.dims) {
    if (!d->dynamic() || d->kind == DimKind::batch) continue;
    std::vector<Dim> over = backend_.context_.lengths.length_dims(d);
    // Without a dim of its lengths the layer has the same frames for all sequences: none is padding.
    if (!over.empty() && without(over, type.dims).empty()) result.push_back(d);
  }
  return result;
}

LayerRef Lowering::masked(LayerRef source, const TensorType& type, Dim d, const Operand& value, std::string_view suffix) {
  if (!takes_numbers(type.dtype)) {
    LayerRef other = constant(value, type_of({}, type.dtype, type.sparse_dim), std::string(suffix) + "_value");
    return layer("switch", {{"condition", valid(d)}, {"true_from", source}, {"false_from", other}}, type, suffix);
  }
  return layer("seq_len_mask", {{"from", source}, {"axis", d}, {"mask_value", number_option(value, type.dtype)}}, type, suffix);
}

LayerRef Lowering::reduce(LayerRef source, const TensorType& type, std::string_view mode, const std::vector<Dim>& axes,
                          DType dtype, std::string_view suffix, Dim sparse_dim) {
  auto one = [&](LayerRef from, const std::vector<Dim>& over, const TensorType& result, bool mask, std::string_view name) {
    Option axis = over.size() == 1 ? Option(over[0]) : Option(dims_option(over));
    return layer("reduce", {{"from", from}, {"mode", mode}, {"axis", axis}, {"keep_dims", false}, {"use_time_mask", mask}}, result, name);
  };
  bool dynamic = std::any_of(axes.begin(), axes.end(), [](Dim d) { return d->dynamic() && d->kind != DimKind::batch; });
  TensorType result = type_of(without(type.dims, axes), dtype, sparse_dim);
  auto batch = std::find_if(axes.begin(), axes.end(), [](Dim d) { return d->kind == DimKind::batch; });
  if (!dynamic || batch == axes.end()) return one(source, axes, result, dynamic, suffix);
  // With batch and time in one step RETURNN wants them in this order in memory.
  std::vector<Dim> inner = without(axes, {*batch});
  LayerRef frames = one(source, inner, type_of(without(type.dims, inner), dtype), true, std::string(suffix) + (suffix.empty() ? "frames" : "_frames"));
  return one(frames, {*batch}, result, false, suffix);
}

LayerRef Lowering::safe_indices(std::size_t i) {
  if (!raw(i).layer.layer->source) guard(i, std::int64_t{0});  // data is padded with zeros
  return raw(i).layer;
}

void Lowering::elementwise(std::string cls, OptionDict options, const std::vector<std::size_t>& inputs) {
  OptionList from;
  std::vector<Dim> real;
  bool any_sparse = false;
  for (std::size_t i : inputs) {
    from.emplace_back(raw(i).layer);
    real = united(real, raw(i).layer_type.dims);
    any_sparse = any_sparse || sparse(i);
  }
  bool covered = std::any_of(inputs.begin(), inputs.end(),
                             [&](std::size_t i) { return without(real, raw(i).layer_type.dims).empty(); });
  options.insert(options.begin(), {"from", from.size() == 1 ? from[0] : Option(from)});
  if (!covered) options.emplace_back("allow_broadcast_all_sources", true);
  if (any_sparse && cls != "compare") options.emplace_back("out_type", OptionDict{{"sparse_dim", Option()}});
  TensorType type = out();
  std::vector<Dim> missing = without(type.dims, real);
  type.dims = without(type.dims, missing);
  Layer& made = backend_.add(std::move(cls), std::move(options), std::move(type), base_, node_.span);
  made.named = !node_.base_name.empty();
  made.elementwise = true;
  result({&made, {}}, std::move(missing));
}

}  // namespace rcn
