// Indices: gather, boolean_mask, one_hot, set_sparse_dim.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

namespace rcn {

namespace {

// ---- gather

void infer_gather(OpCall& call) {
  Dim axis = call.arg(2).dim();
  const TensorType& x = axis_type(call, 0, 2);
  bool clip = call.arg(3).get<bool>();
  std::vector<Dim> rest = without(x.dims, {axis}), placed;
  if (call.arg(1).is_tensor()) {
    require_dtype(call, 1, Wanted::ints);
    const TensorType& position = single_type(call, 1);
    if (position.sparse_dim && position.sparse_dim != axis) require_sparse(call, 1, axis);
    placed = without(position.dims, rest);
    if (clip) require_length_dims(call, 0, axis);
  } else {
    std::int64_t index = call.arg(1).get<std::int64_t>();
    if (index < 0 || (axis->size && index >= *axis->size))
      call.fail_at(call.arg_span(1), Diag::index_range, {std::to_string(index), to_string(axis), axis->size ? "size " + std::to_string(*axis->size) : "a length for each sequence"});
  }
  std::vector<Dim> dims = with_replaced(x.dims, axis, placed);
  require_distinct(call, dims);
  call.input(call.operand(0));
  call.input(call.operand(1));
  call.attr("axis", axis);
  call.attr("clip_to_valid", clip);
  call.output({dims, x.dtype, x.sparse_dim});
}

// RETURNN's own clipping asks positions to have the dims that lengths have; ours adds them.
LayerRef clipped(Lowering& l, LayerRef position, std::vector<Dim> dims, Dim axis) {
  DType dtype = l.type(1).dtype;
  std::string cast = dtype == DType::int32 ? "source(1)" : "tf.cast(source(1), '" + std::string(to_string(dtype)) + "')";
  std::string last = axis->size ? std::to_string(*axis->size - 1) : "tf.maximum(" + cast + " - 1, 0)";
  std::vector<LayerRef> from{position};
  if (!axis->size) {
    from.push_back(l.length(axis));
    dims = united(l.lengths().length_dims(axis), dims);
  }
  return l.eval(from, "tf.minimum(tf.maximum(source(0), 0), " + last + ")", type_of(dims, dtype), "position", !axis->size);
}

void lower_gather(Lowering& l) {
  Dim axis = l.node().dim("axis");
  bool clip = l.node().boolean("clip_to_valid");
  std::vector<Dim> needed{axis};
  if (clip) needed = united(needed, l.lengths().length_dims(axis));
  LayerRef source = l.with_dims(0, needed);
  std::vector<Dim> real = without(l.type(0).dims, l.absent(0, needed));
  Option position;
  if (l.is_tensor(1)) {
    std::vector<Dim> dims = l.raw(1).layer_type.dims;
    position = clip ? clipped(l, l.raw(1).layer, dims, axis) : l.safe_indices(1);
    real = united(without(real, {axis}), dims);
  } else {
    position = number_option(l.node().inputs[1], DType::int32);
    real = without(real, {axis});
  }
  TensorType type = l.out();
  std::vector<Dim> missing = without(type.dims, real);
  type.dims = without(type.dims, missing);
  l.result(l.layer("gather", {{"from", source}, {"position", position}, {"axis", axis}, {"clip_to_valid", false}}, type), missing);
}

// ---- scatter_nd

void infer_scatter_nd(OpCall& call) {
  Dim axis = call.arg(2).dim(), out = call.arg(3).dim();
  const TensorType &x = axis_type(call, 0, 2), &position = axis_type(call, 1, 2);
  require_dtype(call, 0, Wanted::numbers);
  require_dtype(call, 1, Wanted::ints);
  require_length_dims(call, 1, axis);
  reject_batch(call, out, 3);
  call.require_length(out, 3);
  std::vector<Dim> dims = with_replaced(position.dims, axis, {out}), more = without(x.dims, position.dims);
  dims.insert(dims.end(), more.begin(), more.end());
  require_distinct(call, dims);
  call.input(call.operand(0));
  call.input(call.operand(1));
  call.attr("axis", axis);
  call.attr("out_dim", out);
  call.attr("filter_invalid_indices", call.arg(4));
  call.output({dims, x.dtype, nullptr});
}

// RETURNN's layer adds what is in the padding too, and its own filter is for floats only.
void lower_scatter_nd(Lowering& l) {
  Dim axis = l.node().dim("axis"), out = l.node().dim("out_dim");
  bool filters = l.node().boolean("filter_invalid_indices");
  TensorType positions = type_of(l.type(1).dims, l.type(1).dtype),
             all = type_of(united(l.type(0).dims, l.type(1).dims), l.out().dtype);
  l.guard(1, std::int64_t{0});
  LayerRef position = l.dense(l.full(1), l.type(1)), source = l.dense(l.source(0, {axis}).layer, l.raw(0).layer_type);
  std::vector<Dim> missing = without(l.absent(0, {axis}), positions.dims);
  all.dims = without(all.dims, missing);
  std::vector<LayerRef> from{position};
  std::string good;
  if (filters) {
    std::string size = out->size ? std::to_string(*out->size) : "tf.cast(source(1), source(0).dtype)";
    good = "(source(0) >= 0) & (source(0) < " + size + ")";
    if (!out->size) from.push_back(l.length(out));
    positions.dims = united(positions.dims, l.lengths().length_dims(out));
  }
  if (contains(l.padded(positions), axis)) {
    from.push_back(l.valid(axis));
    good += (filters ? " & source(" : "source(") + std::to_string(from.size() - 1) + ")";
    if (!filters) good += " & (source(0) >= 0)";
  }
  if (!good.empty()) {
    TensorType mask = type_of(positions.dims, DType::bool_);
    LayerRef counts = l.eval(from, good, mask, "counts", true);
    position = l.eval({position, counts}, "tf.where(source(1), source(0), tf.zeros_like(source(0)))", positions,
                      "position", true);
    source = l.eval({source, counts}, "tf.where(source(1), source(0), tf.zeros_like(source(0)))", all, "source", true);
  }
  TensorType type = l.out();
  type.dims = without(type.dims, missing);
  l.result(l.layer("scatter_nd",
                   {{"from", source},
                    {"position", position},
                    {"position_axis", axis},
                    {"out_spatial_dim", out},
                    {"filter_invalid_indices", false}},
                   type),
           missing);
}

// ---- boolean_mask

void infer_boolean_mask(OpCall& call) {
  Dim axis = call.arg(2).dim();
  const TensorType& x = axis_type(call, 0, 2);
  const TensorType& mask = axis_type(call, 1, 2);
  require_dtype(call, 1, Wanted::bools);
  for (std::size_t i : {0, 1})
    if (const Tensor tensor = *as_tensor(call.operand(i)); tensor->traits.undecided()) {
      call.context().diagnostics.report(Diag::frames_of_hypotheses, call.arg_span(i), {op_text(call.info())})
          .help(Diag::help_text, {"`nn.decide` takes the best hypothesis of each sequence"});
      throw EvalError{};
    }
  require_length_dims(call, 1, axis);
  if (std::vector<Dim> more = without(mask.dims, x.dims); !more.empty()) {
    call.context().diagnostics.report(Diag::dims_not_covered, call.span(), {op_text(call.info())})
        .note(Diag::note_operand_dims, call.arg_span(0), {dims_quoted(x.dims), dims_quoted(more)})
        .note(Diag::note_operand_dims, call.arg_span(1), {dims_quoted(mask.dims), dims_quoted(without(x.dims, mask.dims))});
    throw EvalError{};
  }
  Dim out = call.out_dim_fresh(3, "masked", axis->kind == DimKind::feature ? DimKind::feature : DimKind::spatial, without(mask.dims, {axis}));
  call.input(call.operand(0));
  call.input(call.operand(1));
  call.attr("axis", axis);
  call.attr("out_dim", out);
  call.output({with_replaced(x.dims, axis, {out}), x.dtype, x.sparse_dim});
  require_distinct(call, call.node().outputs[0].dims);
  call.also_return(out);
}

// Frame j of the result is the first one up to which j + 1 are true. (RETURNN's own masking knows [batch, time] only, and
// another meaning in loops.)
void lower_boolean_mask(Lowering& l) {
  Dim axis = l.node().dim("axis"), out = l.node().dim("out_dim");
  std::vector<Dim> all = l.type(1).dims, over = without(all, {axis});
  TensorType ints = type_of(all, DType::int32);
  LayerRef is = l.cast(l.full(1), ints, "is");
  if (!l.padded(ints).empty()) is = l.masked(is, ints, axis, std::int64_t{0});
  LayerRef count = l.layer("cumsum", {{"from", is}, {"axis", axis}}, ints, "count");
  LayerRef total = l.reduce(is, ints, "sum", {axis}, DType::int32, "length");
  LayerRef frames = l.sequence_dim(out, total);
  std::vector<Dim> dims = united(over, {out});
  LayerRef wanted = l.eval({frames, total}, "source(0) + 1 + 0 * source(1)", type_of(dims, DType::int32), "wanted", true);
  LayerRef found = l.layer("search_sorted", {{"sorted_sequence", count}, {"values", wanted}, {"axis", axis}, {"side", "left"}},
                           type_of(dims, DType::int32), "found");
  LayerRef position = l.eval({found, l.longest(axis)}, "tf.minimum(source(0), tf.maximum(source(1) - 1, 0))", type_of(dims, DType::int32), "position");
  std::vector<Dim> missing = l.absent(0, all);
  TensorType type = l.out();
  type.dims = without(type.dims, missing);
  l.result(l.layer("gather", {{"from", l.with_dims(0, all)}, {"position", position}, {"axis", axis}, {"clip_to_valid", false}}, type), missing);
}

// ---- one_hot

void infer_one_hot(OpCall& call) {
  const TensorType& type = single_type(call, 0);
  if (!type.sparse_dim) {
    call.context().diagnostics.report(Diag::sparse_needed, call.arg_span(0), {"source", "a dim", "it is " + std::string(to_string(type.dtype)) + " without a sparse dim"})
        .help(Diag::help_text, {"`nn.set_sparse_dim(x, dim)` declares what ints are indices of"});
    throw EvalError{};
  }
  if (!call.context().lengths.defined(type.sparse_dim)) call.fail_at(call.arg_span(0), Diag::dim_without_length, {to_string(type.sparse_dim)});
  std::vector<Dim> dims = type.dims;
  dims.push_back(type.sparse_dim);
  require_distinct(call, dims);
  call.input(call.operand(0));
  call.attr("dtype", call.arg(1));
  call.attr("axis", type.sparse_dim);
  call.output({dims, call.arg(1).get<DType>(), nullptr});
}

void lower_one_hot(Lowering& l) {
  Dim axis = l.node().dim("axis");
  const GraphTensor& x = l.raw(0);
  LayerRef classes = l.range(axis), indices = x.layer;
  if (x.type.dtype != DType::int32) indices = l.cast(indices, type_of(x.layer_type.dims, DType::int32, x.type.sparse_dim), "indices");
  TensorType type = l.out();
  type.dims = united(x.layer_type.dims, {axis});
  bool is_bool = type.dtype == DType::bool_;
  LayerRef hot = l.layer("compare", {{"from", OptionList{indices, classes}}, {"kind", "equal"}, {"allow_broadcast_all_sources", true}},
                         type_of(type.dims, DType::bool_), is_bool ? "" : "is");
  l.result(is_bool ? hot : l.cast(hot, type, ""), x.missing);
}

// ---- set_sparse_dim

void infer_set_sparse_dim(OpCall& call) {
  require_dtype(call, 0, Wanted::ints);
  TensorType type = call.type(0);
  if (type.sparse_dim == call.arg(1).dim()) return call.static_result(call.arg(0));
  call.input(call.operand(0));
  call.attr("sparse_dim", call.arg(1));
  type.sparse_dim = call.arg(1).dim();
  call.output(type);
}

void lower_set_sparse_dim(Lowering& l) {
  const GraphTensor& x = l.raw(0);
  TensorType type = x.layer_type;
  type.sparse_dim = l.out().sparse_dim;
  l.result(l.layer("reinterpret_data", {{"from", x.layer}, {"set_sparse", true}, {"set_sparse_dim", type.sparse_dim}}, type), x.missing);
}

constexpr OpParam kGather[] = {{"source", arg::tensor}, {"position", arg::tensor | arg::integer, true}, {"axis", arg::dim, true}, {"clip_to_valid", arg::boolean, true, "false"}};
constexpr OpParam kScatter[] = {{"source", arg::tensor},
                                {"position", arg::tensor, true},
                                {"position_axis", arg::dim, true},
                                {"out_spatial_dim", arg::dim, true},
                                {"filter_invalid_indices", arg::boolean, true, "false"}};
constexpr OpParam kMask[] = {{"source", arg::tensor}, {"mask", arg::tensor, true}, {"in_spatial_dim", arg::dim, true}, {"out_spatial_dim", arg::dim | arg::none, true, "none"}};
constexpr OpParam kOneHot[] = {{"source", arg::tensor}, {"dtype", arg::dtype, true, "float32"}};
constexpr OpParam kSparse[] = {{"source", arg::tensor}, {"sparse_dim", arg::dim}};

constexpr OpDef kOps[] = {
    {{"gather", kGather, "Tensor",
      "`source` at `position` of `axis`. Dims that both have are matched; the other dims of `position` take the place "
      "of `axis`. With "
      "`clip_to_valid`, positions are first limited to the sequence; without it, one outside is an error.",
      infer_gather},
     lower_gather},
    {{"scatter_nd", kScatter, "Tensor",
      "The inverse of `gather`: entry i of `position_axis` is added to the entry `position[i]` of `out_spatial_dim`, "
      "which has a length and takes "
      "the place of that axis; the others are 0. The result has the dims of `position`, then those that `source` has "
      "more. Indices outside "
      "of the sequence are an error, or left out with `filter_invalid_indices`.",
      infer_scatter_nd},
     lower_scatter_nd},
    {{"boolean_mask", kMask, "(Tensor, Dim)",
      "The frames of `in_spatial_dim` where `mask`, a bool tensor over it, is true, in their order, along a new dim; "
      "its lengths are "
      "how many these are.",
      infer_boolean_mask},
     lower_boolean_mask},
    {{"one_hot", kOneHot, "Tensor", "1 at the index, 0 elsewhere, along the sparse dim of `source`, which comes last.",
      infer_one_hot},
     lower_one_hot},
    {{"set_sparse_dim", kSparse, "Tensor", "The same ints as indices over `sparse_dim`.", infer_set_sparse_dim},
     lower_set_sparse_dim},
};

}  // namespace

std::span<const OpDef> index_ops() { return kOps; }

}  // namespace rcn
