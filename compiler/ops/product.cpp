// Products that sum over dims: dot and linear.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

#include <algorithm>

namespace rcn {

namespace {

// ---- dot

void require_in_both(OpCall& call, Dim axis) {
  call.require_dim(0, axis, 2);
  call.require_dim(1, axis, 2);
}

void infer_dot(OpCall& call) {
  std::vector<Dim> axes = call.dims_arg(2);
  if (axes.empty()) call.fail_argument(2, "at least one dim", "an empty list");
  for (Dim axis : axes) {
    require_in_both(call, axis);
    bool first = without(call.context().lengths.length_dims(axis), call.type(0).dims).empty();
    if (!first) require_length_dims(call, 1, axis);  // one of the two must tell where sequences end
    for (std::size_t i : {0, 1})
      for (Dim d : call.type(i).dims)
        if (!contains(axes, d) && axis->kind != DimKind::batch && contains(call.context().lengths.length_dims(d), axis))
          call.fail_at(call.arg_span(2), Diag::lengths_depend, {to_string(d), to_string(axis)});
  }
  DType dtype = joined_dtype(call, {0, 1}, Operation::arithmetic);
  std::vector<Dim> dims = united(without(call.type(0).dims, axes), without(call.type(1).dims, axes));
  bool parameters = call.type(0).dims.size() == 2 && call.type(1).dims.size() == 2;  // [d, d] and [d, d]
  if (!parameters) require_distinct(call, dims);
  call.input(call.operand(0));
  call.input(call.operand(1));
  call.attr("axes", dims_value(axes));
  call.output({dims, dtype, nullptr});
}

// An operand of a product over axes: with these in its layer, no sparse dim, and no inf or nan in their padding, which
// RETURNN takes away from one operand only.
struct Factor {
  LayerRef layer;
  TensorType type;
  std::vector<Dim> zero;  // axes in whose padding it is 0
};

Factor factor(Lowering& l, std::size_t i, const std::vector<Dim>& axes) {
  std::vector<Dim> needed = l.dims_for(i, axes);
  Factor f{{}, l.raw(i).layer_type, l.raw(i).zero_padding};
  f.type.dims = without(l.type(i).dims, l.absent(i, needed));
  f.layer = l.dense(l.with_dims(i, needed), f.type);
  f.type.sparse_dim = nullptr;
  if (!l.raw(i).wild_padding) return f;
  std::vector<Dim> padded = l.padded(f.type);
  for (Dim axis : axes) {
    if (!contains(padded, axis) || contains(f.zero, axis)) continue;
    f.layer = l.masked(f.layer, f.type, axis, 0.0, "masked");
    f.zero.push_back(axis);
  }
  return f;
}

void lower_dot(Lowering& l) {
  std::vector<Dim> axes = l.node().dims("axes");
  Factor a = factor(l, 0, axes), b = factor(l, 1, axes);
  TensorType out = l.out();
  std::vector<Dim> missing = without(out.dims, united(a.type.dims, b.type.dims));
  out.dims = without(out.dims, missing);
  bool over_batch = std::any_of(axes.begin(), axes.end(), [](Dim d) { return d->kind == DimKind::batch; });
  if (!over_batch) {
    Option reduce = axes.size() == 1 ? Option(axes[0]) : Option(dims_option(axes));
    bool mask = std::any_of(axes.begin(), axes.end(), [&](Dim d) { return d->dynamic() && !contains(a.zero, d) && !contains(b.zero, d); });
    return l.result(l.layer("dot", {{"from", OptionList{a.layer, b.layer}}, {"reduce", reduce}, {"use_mask", mask}}, out), missing);
  }
  // RETURNN's dot has no batch axis to sum over.
  TensorType product = type_of(united(a.type.dims, b.type.dims), out.dtype);
  OptionDict options{{"from", OptionList{a.layer, b.layer}}, {"kind", "mul"}};
  if (!without(product.dims, a.type.dims).empty() && !without(product.dims, b.type.dims).empty()) options.emplace_back("allow_broadcast_all_sources", true);
  LayerRef ref = l.layer("combine", std::move(options), product, "product");
  Operand zero = is_float(out.dtype) ? Operand(0.0) : Operand(std::int64_t{0});
  for (Dim d : l.ragged(product, axes)) ref = l.masked(ref, product, d, zero);
  l.result(l.reduce(ref, product, "sum", axes, out.dtype, ""), missing);
}

// ---- linear

void infer_linear(OpCall& call) {
  Dim in = call.arg(3).dim(), out = call.arg(4).dim();
  const TensorType& x = single_type(call, 0);
  bool lookup = x.sparse_dim == in && !x.has(in);
  if (!lookup) call.require_dim(0, in, 3);
  reject_batch(call, in, 3);
  require_exact_dims(call, 1, {in, out});
  bool with_bias = call.given(2);
  if (with_bias) require_exact_dims(call, 2, {out});
  require_dtype(call, 1, Wanted::floats);
  if (lookup) {
    require_dtype(call, 0, Wanted::ints);
    if (with_bias) joined_dtype(call, {1, 2}, Operation::arithmetic);
  } else if (with_bias) {
    joined_dtype(call, {0, 1, 2}, Operation::arithmetic);
  } else {
    joined_dtype(call, {0, 1}, Operation::arithmetic);
  }
  std::vector<Dim> dims = lookup ? x.dims : without(x.dims, {in});
  dims.push_back(out);
  require_distinct(call, dims);
  call.input(call.operand(0));
  call.input(call.operand(1));
  if (with_bias) call.input(call.operand(2));
  call.attr("in_dim", in);
  call.attr("out_dim", out);
  call.attr("with_bias", with_bias);
  call.output({dims, call.type(1).dtype, nullptr});
}

bool is_variable(const GraphTensor& tensor, const std::vector<Dim>& order) {
  return tensor.layer.layer->cls == "variable" && tensor.layer.sub.empty() && tensor.layer_type.dims == order;
}

// One `linear` layer where the weight is a parameter with its dims in order: RETURNN takes the matrix as it lies in
// memory. With a computed weight, or [out, in], a product and a sum. (`shape` in the map would transpose square ones.)
void lower_linear(Lowering& l) {
  Dim in = l.node().dim("in_dim"), out_dim = l.node().dim("out_dim");
  bool with_bias = l.node().boolean("with_bias"), lookup = !l.type(0).has(in);
  std::vector<Dim> needed = lookup ? std::vector<Dim>{} : std::vector<Dim>{in};
  LayerRef x = lookup ? l.safe_indices(0) : l.with_dims(0, needed);
  std::vector<Dim> missing = l.absent(0, needed);
  TensorType out = l.out();
  out.dims = without(out.dims, missing);
  LayerRef bias = with_bias ? l.full(2) : LayerRef{};
  // TensorFlow adds up the sparse gradient of RETURNN's lookup wrongly in a loop in a loop; that of a gather is dense.
  // And the lookup is in float32.
  bool gathered = lookup && (l.loops() > 1 || out.dtype != DType::float32) && in != out_dim;
  if (is_variable(l.raw(1), {in, out_dim}) && !gathered) {
    std::vector<std::pair<std::string, LayerRef>> map{{"W", l.raw(1).layer}};
    if (with_bias) map.emplace_back("b", bias);
    return l.result(l.layer("linear", {{"from", x}, {"in_dim", in}, {"out_dim", out_dim}, {"with_bias", with_bias},
                                       {"activation", Option()}, {"reuse_params", reuse_params(std::move(map))}}, out), missing);
  }
  LayerRef weight = l.full(1);
  std::string suffix = with_bias ? "product" : "";
  LayerRef product = lookup ? l.layer("gather", {{"from", weight}, {"position", x}, {"axis", in}, {"clip_to_valid", false}}, out, suffix)
                            : l.layer("dot", {{"from", OptionList{x, weight}}, {"reduce", in}, {"use_mask", true}}, out, suffix);
  if (with_bias) product = l.layer("combine", {{"from", OptionList{product, bias}}, {"kind", "add"}}, out);
  l.result(product, missing);
}

constexpr OpParam kDot[] = {{"a", arg::tensor}, {"b", arg::tensor}, {"reduce", arg::axes, true}};
constexpr OpParam kLinear[] = {{"source", arg::tensor}, {"weight", arg::tensor}, {"bias", arg::tensor | arg::none, false, "none"},
                               {"in_dim", arg::dim, true}, {"out_dim", arg::dim, true}};

constexpr OpDef kOps[] = {
    {{"dot", kDot, "Tensor",
      "The sum over `reduce` of `a * b`. Both have the reduced dims; other dims that both have are not summed. The result has the dims "
      "of `a` without the reduced ones, then those of `b` that `a` has not. Of a parameter that has the dim twice, the first is "
      "reduced. Frames outside of a sequence do not count.",
      infer_dot},
     lower_dot},
    {{"linear", kLinear, "Tensor",
      "`dot(source, weight, reduce=in_dim) + bias` with `weight: [in_dim, out_dim]` and `bias: [out_dim]`; for a sparse source over "
      "`in_dim`, the rows of `weight`. The result has the dims of `source` without `in_dim`, then `out_dim`; the two may be one dim.",
      infer_linear},
     lower_linear},
};

}  // namespace

std::span<const OpDef> product_ops() { return kOps; }

}  // namespace rcn
