// Choice between values, and conversion: where, clip_by_value, cast.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

namespace rcn {

namespace {

// ---- where

DType where_dtype(OpCall& call) {
  if (call.arg(1).is_tensor() || call.arg(2).is_tensor()) return joined_dtype(call, {1, 2}, Operation::selection);
  const Value &a = call.arg(1), &b = call.arg(2);
  if (a.is<bool>() != b.is<bool>()) call.fail(Diag::static_mixed, {op_text(call.info())});
  if (a.is<bool>()) return DType::bool_;
  DType dtype = a.is<double>() || b.is<double>() ? DType::float32 : DType::int32;
  require_fits(call, 1, dtype);
  require_fits(call, 2, dtype);
  return dtype;
}

void infer_where(OpCall& call) {
  require_dtype(call, 0, Wanted::bools);
  DType dtype = where_dtype(call);
  auto sparse_of = [&](std::size_t i) { return call.arg(i).is_tensor() ? call.type(i).sparse_dim : nullptr; };
  bool agree = !call.arg(1).is_tensor() || !call.arg(2).is_tensor() || sparse_of(1) == sparse_of(2);
  for (std::size_t i : {0, 1, 2}) call.input(call.operand(i));
  call.output({joined_dims(call, {0, 1, 2}), dtype, agree ? (sparse_of(1) ? sparse_of(1) : sparse_of(2)) : nullptr});
}

// RETURNN's `switch` has no way to broadcast all of its sources: one of them gets all dims.
void lower_where(Lowering& l) {
  std::vector<Dim> real;
  std::size_t largest = 0;
  for (std::size_t i : {0, 1, 2}) {
    if (!l.is_tensor(i)) continue;
    real = united(real, l.raw(i).layer_type.dims);
    if (l.raw(i).layer_type.dims.size() > l.raw(largest).layer_type.dims.size()) largest = i;
  }
  for (std::size_t i : {0, 1, 2})  // the type rule made sure that one has all of them in its type
    if (l.is_tensor(i) && without(real, l.type(i).dims).empty() && !without(real, l.raw(largest).layer_type.dims).empty()) largest = i;

  Option from[3];
  for (std::size_t i : {0, 1, 2}) {
    if (!l.is_tensor(i)) {
      bool own = l.out().sparse_dim || !takes_numbers(l.out().dtype);
      from[i] = own ? Option(l.constant(l.node().inputs[i], type_of({}, l.out().dtype, l.out().sparse_dim), "number"))
                                   : number_option(l.node().inputs[i], l.out().dtype);
      continue;
    }
    LayerRef ref = i == largest ? l.with_dims(i, real) : l.raw(i).layer;
    if (i > 0 && l.sparse(i) && !l.out().sparse_dim) {
      TensorType type = l.raw(i).layer_type;
      if (i == largest) type.dims = united(type.dims, real);
      ref = l.dense(ref, type);
    }
    from[i] = ref;
  }
  TensorType type = l.out();
  std::vector<Dim> missing = without(type.dims, real);
  type.dims = without(type.dims, missing);
  l.bounds(united(l.bounds(1), l.bounds(2)));
  l.result(l.layer("switch", {{"condition", from[0]}, {"true_from", from[1]}, {"false_from", from[2]}}, type), missing);
}

// ---- clip_by_value

void infer_clip(OpCall& call) {
  DType dtype = joined_dtype(call, {0, 1, 2}, Operation::arithmetic);
  std::vector<Dim> dims = joined_dims(call, {0, 1, 2});
  for (std::size_t i : {1, 2})  // the bounds do not add dims to the source
    if (call.arg(i).is_tensor() && !without(call.type(i).dims, call.type(0).dims).empty())
      require_exact_dims(call, i, call.type(0).dims);
  for (std::size_t i : {0, 1, 2}) call.input(call.operand(i));
  call.output({call.type(0).dims, dtype, nullptr});
}

void lower_clip(Lowering& l) {
  std::vector<std::size_t> tensors{0};
  std::string text[2];
  for (std::size_t i : {1, 2}) {
    if (l.is_tensor(i)) {
      text[i - 1] = "source(" + std::to_string(tensors.size()) + ")";
      tensors.push_back(i);
    } else {
      text[i - 1] = python_number(l.node().inputs[i], l.out().dtype);
    }
  }
  l.bounds(smaller(greater(l.bounds(0), l.bounds(1)), l.bounds(2)));
  l.elementwise("eval", {{"eval", "tf.minimum(tf.maximum(source(0), " + text[0] + "), " + text[1] + ")"}}, tensors);
}

// ---- cast

void infer_cast(OpCall& call) {
  if (is_static(call.arg(0))) {
    call.context().diagnostics.report(Diag::op_argument_static, call.arg_span(0), {"nn.cast", "source", "a tensor", to_text(call.arg(0))})
        .help(Diag::help_text, {"a number takes the dtype of the tensor that it meets"});
    throw EvalError{};
  }
  DType dtype = call.arg(1).get<DType>();
  call.input(call.operand(0));
  call.attr("dtype", dtype);
  call.output({call.type(0).dims, dtype, is_int(dtype) ? call.type(0).sparse_dim : nullptr});
}

void lower_cast(Lowering& l) {
  TensorType type = l.raw(0).layer_type;
  if (is_float(l.out().dtype)) l.bounds(type.dtype == DType::bool_ ? Bounds{0, 1} : l.bounds(0));
  if (type.dtype == l.out().dtype) return l.result(l.raw(0).layer, l.raw(0).missing);
  LayerRef source = l.raw(0).layer;
  if (l.out().dtype == DType::bool_) source = l.dense(source, type);  // RETURNN's cast would keep the sparse dim
  type.dtype = l.out().dtype;
  type.sparse_dim = l.out().sparse_dim;
  l.result(l.cast(source, type, ""), l.raw(0).missing);
}

constexpr OpParam kWhere[] = {{"cond", arg::tensor}, {"true_", arg::operand}, {"false_", arg::operand}};
constexpr OpParam kClip[] = {{"source", arg::tensor}, {"clip_value_min", arg::operand}, {"clip_value_max", arg::operand}};
constexpr OpParam kCast[] = {{"source", arg::operand}, {"dtype", arg::dtype}};

constexpr OpDef kOps[] = {
    {{"where", kWhere, "Tensor",
      "`true_` where `cond` holds, else `false_`, elementwise; both are computed. One of the three has all dims of the others. "
      "Two ints give int32, with a float float32. The sparse dim is kept where the two agree or one is a number.",
      infer_where},
     lower_where},
    {{"clip_by_value", kClip, "Tensor", "`min(max(x, clip_value_min), clip_value_max)`, elementwise, with the dims of `source`.", infer_clip},
     lower_clip},
    {{"cast", kCast, "Tensor",
      "`source` in another dtype. Floats become ints towards zero, bools 0 and 1. The sparse dim stays on ints.", infer_cast},
     lower_cast},
};

}  // namespace

std::span<const OpDef> select_ops() { return kOps; }

}  // namespace rcn
