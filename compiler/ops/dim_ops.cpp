// Dims as values: ranges, lengths, and tensors under another dim.
#include "compiler/ops/graph_backend.h"
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

#include <stdexcept>

namespace rcn {

namespace {

// ---- range_over_dim, length, dim_value

void infer_range(OpCall& call) {
  Dim dim = call.arg(0).dim();
  reject_batch(call, dim, 0);
  if (dim->marker) call.fail_at(call.arg_span(0), Diag::dim_is_marker, {to_string(dim)});
  call.require_length(dim, 0);
  DType dtype = call.arg(1).get<DType>();
  bool sparse = call.arg(2).get<bool>();
  if (dtype == DType::bool_ || (sparse && !is_int(dtype)))
    call.fail_argument(1, sparse ? "an int dtype" : "a dtype of numbers", "`" + std::string(to_string(dtype)) + "`");
  call.attr("dim", dim);
  call.attr("dtype", dtype);
  call.output({{dim}, dtype, sparse ? dim : nullptr});
}

void lower_range(Lowering& l) {
  Dim dim = l.node().dim("dim");
  TensorType type = l.out();
  if (type.dtype == DType::int32 && !type.sparse_dim) return l.result(l.range(dim));
  if (is_float(type.dtype)) return l.result(l.cast(l.range(dim), type, ""));
  l.result(l.layer("range_in_axis", {{"from", l.carrier(dim)}, {"axis", dim}, {"dtype", to_string(type.dtype)}, {"sparse", type.sparse_dim != nullptr}}, type));
}

void infer_length(OpCall& call) {
  Dim dim = call.arg(0).dim();
  if (dim->marker) call.fail_at(call.arg_span(0), Diag::dim_is_marker, {to_string(dim)});
  if (dim->size) return call.static_result(*dim->size);
  call.require_length(dim, 0);
  DType dtype = call.arg(1).get<DType>();
  if (dtype == DType::bool_) call.fail_argument(1, "a dtype of numbers", "`bool`");
  call.attr("dim", dim);
  call.attr("dtype", dtype);
  call.output({call.context().lengths.length_dims(dim), dtype, nullptr});
}

void lower_length(Lowering& l) {
  LayerRef length = l.length(l.node().dim("dim"));
  l.result(l.out().dtype == DType::int32 ? length : l.cast(length, l.out(), ""));
}

void infer_dim_value(OpCall& call) {
  Dim dim = call.arg(0).dim();
  if (dim->marker) call.fail_at(call.arg_span(0), Diag::dim_is_marker, {to_string(dim)});
  if (dim->size) return call.static_result(*dim->size);
  call.require_length(dim, 0);
  call.attr("dim", dim);
  call.output({{}, DType::int32, nullptr});
}

void lower_dim_value(Lowering& l) { l.result(l.longest(l.node().dim("dim"))); }

// ---- range_from_length

void infer_range_from_length(OpCall& call) {
  const TensorType& type = single_type(call, 0);
  require_dtype(call, 0, Wanted::ints);
  DType dtype = call.arg(1).get<DType>();
  bool sparse = call.arg(2).get<bool>();
  if (dtype == DType::bool_ || (sparse && !is_int(dtype)))
    call.fail_argument(1, sparse ? "an int dtype" : "a dtype of numbers", "`" + std::string(to_string(dtype)) + "`");
  Dim out = call.out_dim_fresh(3, "range", DimKind::spatial, type.dims);
  call.input(call.operand(0));
  call.attr("dim", out);
  call.output({{out}, dtype, sparse ? out : nullptr});
  call.also_return(out);
}

void lower_range_from_length(Lowering& l) {
  TensorType lengths = type_of(l.type(0).dims, DType::int32);
  LayerRef source = l.dense(l.full(0), l.type(0));
  if (l.type(0).dtype != DType::int32) source = l.cast(source, lengths, "int32");
  Dim dim = l.node().dim("dim");
  l.sequence_dim(dim, l.eval({source}, "tf.maximum(source(0), 0)", lengths, "length"));
  lower_range(l);
}

// ---- replace_dim

// A dim without a length gets that of in_dim; one with a length is a claim.
Dim renamed_dim(OpCall& call, Dim in) {
  if (!call.given(2)) {
    Dim fresh = call.dims().declare("new_" + to_string(in), in->kind, in->size);
    if (in->dynamic()) {
      std::vector<Dim> over = call.context().lengths.length_dims(in);
      call.context().lengths.define(fresh, over);
      call.node().new_dims.push_back({fresh, in, over});
    }
    return fresh;
  }
  Dim out = call.arg(2).dim();
  reject_batch(call, out, 2);
  bool claim = (in->size && out->size == in->size) || (in->dynamic() && out->dynamic() && call.context().lengths.defined(out) && !out->marker);
  if (!claim) call.out_dim(2, in);  // gives the length, or reports what does not fit
  return out;
}

void infer_replace_dim(OpCall& call) {
  Dim in = call.arg(1).dim();
  const TensorType& type = axis_type(call, 0, 1);
  Dim out = renamed_dim(call, in);
  if (out == in) {
    call.static_result(Tuple{{call.arg(0), in}});
    return;
  }
  std::vector<Dim> dims = with_replaced(type.dims, in, {out});
  require_distinct(call, dims);
  call.input(call.operand(0));
  call.attr("in_dim", in);
  call.attr("out_dim", out);
  call.output({dims, type.dtype, type.sparse_dim});
  call.also_return(out);
}

// A dim that gets its length here is given its name behind the lowering, for all operations alike.
void lower_replace_dim(Lowering& l) {
  Dim in = l.node().dim("in_dim"), out = l.node().dim("out_dim");
  const GraphTensor& x = l.raw(0);
  if (in == out) return l.result(x.layer, x.missing);
  if (contains(x.missing, in)) return l.result(x.layer, with_replaced(x.missing, in, {out}));
  LayerRef source = x.layer;
  if (out->dynamic()) {  // RETURNN would make a new length for a dim that no layer has defined yet
    source = l.layer("copy", {{"from", source}, {"extra_deps", OptionList{l.carrier(out)}}}, x.layer_type, "source");
  }
  TensorType type = l.out();
  type.dims = without(type.dims, x.missing);
  l.result(l.layer("reinterpret_data", {{"from", source}, {"set_dim_tags", dim_tags(in, out)}}, type), x.missing);
}

// ---- remaining_dims

void infer_remaining_dims(OpCall& call) {
  std::vector<Dim> gone = call.dims_arg(1);
  for (Dim d : gone) call.require_dim(0, d, 1);
  call.static_result(dims_value(without(call.type(0).dims, gone)));
}

void lower_nothing(Lowering& l) { throw std::logic_error("`" + std::string(l.node().op->name) + "` is static and makes no layer"); }

constexpr OpParam kRange[] = {{"dim", arg::dim}, {"dtype", arg::dtype, true, "int32"}, {"sparse", arg::boolean, true, "false"}};
constexpr OpParam kFromLength[] = {{"source", arg::tensor},
                                   {"dtype", arg::dtype, true, "int32"},
                                   {"sparse", arg::boolean, true, "false"},
                                   {"out_spatial_dim", arg::dim | arg::none, true, "none"}};
constexpr OpParam kLength[] = {{"dim", arg::dim}, {"dtype", arg::dtype, true, "int32"}};
constexpr OpParam kDimValue[] = {{"dim", arg::dim}};
constexpr OpParam kReplace[] = {{"source", arg::tensor}, {"in_dim", arg::dim, true}, {"out_dim", arg::dim | arg::none, true, "none"}};
constexpr OpParam kRemaining[] = {{"source", arg::tensor}, {"remove", arg::axes}};

constexpr OpDef kOps[] = {
    {{"range_over_dim", kRange, "Tensor",
      "`0, 1, ..., n - 1` along `dim`, and no other dims; `sparse` makes them indices over it.", infer_range},
     lower_range},
    {{"length", kLength, "Tensor",
      "The length of each sequence of `dim`, an int where it is static; of `batch` the number of sequences.",
      infer_length},
     lower_length},
    {{"dim_value", kDimValue, "Tensor",
      "The longest length of `dim`, a scalar int32, an int where it is static; of `batch` the number of sequences.",
      infer_dim_value},
     lower_dim_value},
    {{"range_from_length", kFromLength, "(Tensor, Dim)",
      "A new dim whose lengths are `source`, an int for each sequence (below 0 counts as 0), and `range_over_dim` of "
      "it.",
      infer_range_from_length},
     lower_range_from_length},
    {{"replace_dim", kReplace, "(Tensor, Dim)",
      "`source` with `out_dim` for `in_dim`. An `out_dim` without a length gets that of `in_dim`; one with a length is "
      "a claim that both "
      "are equal, which eager runs check. Without `out_dim`, a new one.",
      infer_replace_dim},
     lower_replace_dim},
    {{"remaining_dims", kRemaining, "list", "The dims of `source` without those of `remove`.", infer_remaining_dims},
     lower_nothing},
};

}  // namespace

std::span<const OpDef> dim_ops() { return kOps; }

}  // namespace rcn
