// Tensors from static values.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

namespace rcn {

namespace {

const OpInfo& constant_info();

// What the numbers of a value are: bool, int or float; lists are searched.
struct Content {
  bool bools = false, ints = false, floats = false;
};

const List* items_of(const Value& value) {
  return value.is_list() ? &value.list() : value.is_tuple() ? &value.tuple().items : nullptr;
}

std::string list_text(const Value& value) {
  const List* items = items_of(value);
  return items ? "a list of " + std::to_string(items->size()) : kind_text(value);
}

void read_content(OpCall& call, const Value& value, const std::vector<Dim>& dims, std::size_t depth, Content& content) {
  auto wrong = [&](const std::string& what) {
    call.fail_at(call.arg_span(0), Diag::value_shape, {"value", dims.empty() ? "[]" : dims_text(dims), what});
  };
  if (depth < dims.size()) {
    const List* items = items_of(value);
    if (!items) wrong(list_text(value) + " where `" + to_string(dims[depth]) + "` needs a list");
    if (static_cast<std::int64_t>(items->size()) != *dims[depth]->size)
      wrong(list_text(value) + " for `" + to_string(dims[depth]) + "`, which has size " + std::to_string(*dims[depth]->size));
    for (const Value& item : *items) read_content(call, item, dims, depth + 1, content);
    return;
  }
  if (value.is<bool>()) {
    content.bools = true;
  } else if (value.is<std::int64_t>()) {
    content.ints = true;
  } else if (value.is<double>()) {
    content.floats = true;
  } else {
    wrong(list_text(value) + " where a number is needed");
  }
}

void make_constant(OpCall& call, Value value, std::vector<Dim> dims, DType dtype, Dim sparse_dim) {
  call.node().op = &constant_info();
  call.attr("value", std::move(value));
  call.output({std::move(dims), dtype, sparse_dim});
}

void infer_constant(OpCall& call) {
  const Value& value = call.arg(0);
  std::vector<Dim> dims = call.dims_arg(1);
  require_lengths(call, 1);
  if (items_of(value))
    for (Dim d : dims) require_static(call, d, 1);
  Content content;
  if (items_of(value)) {
    read_content(call, value, dims, 0, content);
  } else {
    read_content(call, value, {}, 0, content);
  }
  if (content.bools && (content.ints || content.floats)) call.fail_at(call.arg_span(0), Diag::static_mixed, {op_text(call.info())});
  Dim sparse = call.given(3) ? call.arg(3).dim() : nullptr;
  DType dtype = content.bools ? DType::bool_ : content.floats ? DType::float32 : DType::int32;
  if (call.given(2)) {
    DType wanted = call.arg(2).get<DType>();
    if ((content.floats && !is_float(wanted)) || (content.bools != (wanted == DType::bool_)))
      call.fail_argument(0, "of dtype " + std::string(to_string(wanted)), kind_text(value));
    dtype = wanted;
  }
  require_fits(call, 0, dtype);
  if (sparse && !is_int(dtype)) call.fail_at(call.arg_span(3), Diag::dtype_needed, {op_text(call.info()), "value", "int", std::string(to_string(dtype))});
  make_constant(call, value, dims, dtype, sparse);
}

Value number_of(DType dtype, int n) {
  if (dtype == DType::bool_) return n != 0;
  if (is_float(dtype)) return static_cast<double>(n);
  return n;
}

template <int n>
void infer_filled(OpCall& call) {
  require_lengths(call, 0);
  DType dtype = call.arg(1).get<DType>();
  make_constant(call, number_of(dtype, n), call.dims_arg(0), dtype, nullptr);
}

template <int n>
void infer_filled_like(OpCall& call) {
  const TensorType& type = call.type(0);
  make_constant(call, number_of(type.dtype, n), single_type(call, 0).dims, type.dtype, type.sparse_dim);
}

void infer_full(OpCall& call) {
  require_lengths(call, 0);
  const Value& value = call.arg(1);
  DType dtype = value.is<bool>() ? DType::bool_ : value.is<double>() ? DType::float32 : DType::int32;
  if (call.given(2)) {
    DType wanted = call.arg(2).get<DType>();
    if ((is_int(wanted) && dtype == DType::float32) || (wanted == DType::bool_) != (dtype == DType::bool_))
      call.fail_argument(1, "of dtype " + std::string(to_string(wanted)), kind_text(value));
    dtype = wanted;
  }
  require_fits(call, 1, dtype);
  make_constant(call, value, call.dims_arg(0), dtype, nullptr);
}

// Lists: a zero tensor of the shape plus a literal; RETURNN's own constant takes arrays from Python objects only.
void lower_constant(Lowering& l) {
  const Value& value = l.node().attr("value");
  TensorType type = l.out();
  if (value.is_number()) l.bounds({value.as_double(), value.as_double()});
  if (!items_of(value)) return l.result(l.constant(OpCall::to_operand(value), type, ""));
  TensorType plain = type_of(type.dims, type.dtype);
  Value zero = type.dtype == DType::bool_ ? Value(false) : is_float(type.dtype) ? Value(-0.0) : Value(0);
  LayerRef zeros = l.constant(OpCall::to_operand(zero), plain, "shape");
  std::string literal = "tf.constant(" + python_nested(value, type.dtype) + ", dtype='" + std::string(to_string(type.dtype)) + "')";
  std::string text = type.dtype == DType::bool_ ? "tf.logical_or(source(0), " + literal + ")" : "source(0) + " + literal;
  l.result(l.eval({zeros}, text, type));
}

constexpr OpParam kConstant[] = {{"value", arg::number | arg::boolean | arg::list}, {"dims", arg::dims, true, "[]"},
                                 {"dtype", arg::dtype | arg::none, true, "none"}, {"sparse_dim", arg::dim | arg::none, true, "none"}};
constexpr OpParam kFilled[] = {{"dims", arg::dims}, {"dtype", arg::dtype, true, "float32"}};
constexpr OpParam kFull[] = {{"dims", arg::dims}, {"value", arg::number | arg::boolean}, {"dtype", arg::dtype | arg::none, true, "none"}};
constexpr OpParam kLike[] = {{"source", arg::tensor}};

constexpr OpDef kOps[] = {
    {{"constant", kConstant, "Tensor",
      "A tensor of a number, bool or nested lists of them, row major over `dims`. Without `dtype`: int32, float32 or bool. "
      "With `sparse_dim`, ints are indices over it.",
      infer_constant},
     lower_constant},
    {{"zeros", kFilled, "Tensor", "Zeros (`false` for bool) of the given dims.", infer_filled<0>}, lower_constant},
    {{"ones", kFilled, "Tensor", "Ones (`true` for bool) of the given dims.", infer_filled<1>}, lower_constant},
    {{"full", kFull, "Tensor", "One value of the given dims. Without `dtype`: int32, float32 or bool.", infer_full}, lower_constant},
    {{"zeros_like", kLike, "Tensor", "Zeros with the dims, dtype and sparse dim of `source`.", infer_filled_like<0>}, lower_constant},
    {{"ones_like", kLike, "Tensor", "Ones with the dims, dtype and sparse dim of `source`.", infer_filled_like<1>}, lower_constant},
};

const OpInfo& constant_info() { return kOps[0].info; }

}  // namespace

std::span<const OpDef> constant_ops() { return kOps; }

}  // namespace rcn
