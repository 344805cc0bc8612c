// Along one axis, in its order: running sums, the greatest entries, places in what is sorted.
#include "compiler/ops/graph_backend.h"
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

#include <algorithm>

namespace rcn {

namespace {

// ---- cumsum

void infer_cumsum(OpCall& call) {
  const TensorType& type = single_type(call, 0);
  Dim axis = call.arg(1).dim();
  call.require_dim(0, axis, 1);
  reject_batch(call, axis, 1);
  require_dtype(call, 0, Wanted::numbers);
  if (call.given(2)) joined_dtype(call, {0, 2}, Operation::arithmetic);
  if (call.arg(3).get<bool>()) require_length_dims(call, 0, axis);  // sums from each sequence's own end
  call.input(call.operand(0));
  call.attr("axis", axis);
  call.attr("summand", call.arg(2));
  call.attr("reverse", call.arg(3));
  call.output({type.dims, type.dtype, nullptr});
}

void lower_cumsum(Lowering& l) {
  Dim axis = l.node().dim("axis");
  bool reverse = l.node().boolean("reverse"), masks = reverse && axis->dynamic();
  std::vector<Dim> needed{axis};
  if (masks) needed = united(needed, l.lengths().length_dims(axis));
  Lowering::Source source = l.source(0, needed);
  source.layer = l.dense(source.layer, source.type);
  source.type.sparse_dim = nullptr;
  if (const Value& summand = l.node().attr("summand"); !summand.is_none())
    source.layer =
        l.eval({source.layer}, "source(0) + " + python_number(OpCall::to_operand(summand), source.type.dtype),
               source.type, "summand");
  if (masks) source.layer = l.masked(source.layer, source.type, axis, std::int64_t{0});
  l.result_of(source, "cumsum", {{"axis", axis}, {"reverse", reverse}});
}

// ---- top_k

void infer_top_k(OpCall& call) {
  const TensorType& type = single_type(call, 0);
  require_dtype(call, 0, Wanted::numbers);
  std::vector<Dim> axes = call.dims_arg(1);
  if (axes.empty())
    call.fail_argument(1, "at least one dim", "0 dims");
  std::int64_t size = 1;
  for (Dim axis : axes) {
    call.require_dim(0, axis, 1);
    reject_batch(call, axis, 1);
    require_no_dependents(call, 0, axis, 1);
    require_length_dims(call, 0, axis);
    if (axes.size() > 1) require_static(call, axis, 1);
    if (axis->size && __builtin_mul_overflow(size, *axis->size, &size))
      call.fail(Diag::static_overflow, {op_text(call.info())});
  }
  require_at_least(call, 2, 0);
  bool dynamic = axes[0]->dynamic();
  Dim out = nullptr;
  if (call.arg(2).is_tensor()) {
    require_dtype(call, 2, Wanted::ints);
    require_exact_dims(call, 2, {});
    out = call.out_dim_fresh(3, "k", DimKind::spatial, {});
  } else {
    std::int64_t k = call.arg(2).get<std::int64_t>();
    if (!dynamic && k > size)
      call.fail_argument(2, "at most " + std::to_string(size) + ", the number of entries", std::to_string(k));
    out = static_out_dim(call, 3, "k", DimKind::spatial, k);
  }
  call.input(call.operand(0));
  call.input(call.operand(2));
  call.attr("axes", dims_value(axes));
  call.attr("k_dim", out);
  call.attr("sorted", call.arg(4));
  std::vector<Dim> dims = without(type.dims, axes);
  dims.push_back(out);
  require_distinct(call, dims);
  call.output({dims, type.dtype, nullptr});
  for (Dim axis : axes) call.output({dims, DType::int32, axis});
  call.also_return(out);
}

// Entries that a sequence does not have get the index 0.
LayerRef own_indices(Lowering& l, LayerRef indices, TensorType type, Dim axis) {
  type.dtype = DType::int32;
  type.sparse_dim = axis;
  return l.eval({indices, l.length(axis)}, "tf.where(source(0) < source(1), source(0), tf.zeros_like(source(0)))", type,
                "indices");
}

// RETURNN fails where a sequence has fewer than `k` frames, unless a longer one is in the batch, and masks no tensor
// with more dims than the lengths have. So behind the frames come `k` of the lowest number, and all sequences are as
// long.
Lowering::Source with_enough_frames(Lowering& l, Lowering::Source source, Dim axis, Dim out) {
  Operand lowest = least_number(source.type.dtype);
  TensorType behind = source.type;
  behind.dims = with_replaced(behind.dims, axis, {out});
  LayerRef k = l.is_tensor(1) ? l.raw(1).layer : l.length(out);
  if (out->dynamic()) l.sequence_dim(out, k);
  Dim padded = l.dims().declare("padded", axis->kind, std::nullopt),
      searched = l.dims().declare("searched", axis->kind, std::nullopt);
  LayerRef all = l.sequence_dim(searched, l.eval({l.longest(axis), k}, "source(0) + tf.cast(source(1), tf.int32)",
                                                 type_of({}, DType::int32), "length"));
  OptionList parts{OptionTuple{{l.masked(source.layer, source.type, axis, lowest), axis}},
                   OptionTuple{{l.constant(lowest, behind, "behind"), out}}};
  source.type.dims = with_replaced(source.type.dims, axis, {padded});
  source.layer =
      l.layer("concat", {{"from", parts}, {"allow_broadcast", false}, {"out_dim", padded}}, source.type, "padded");
  source.layer = l.layer("copy", {{"from", source.layer}, {"extra_deps", OptionList{all}}}, source.type, "source");
  source.type.dims = with_replaced(source.type.dims, padded, {searched});
  source.layer = l.layer("reinterpret_data", {{"from", source.layer}, {"set_dim_tags", dim_tags(padded, searched)}},
                         source.type, "searched");
  return source;
}

void lower_top_k(Lowering& l) {
  std::vector<Dim> axes = l.node().dims("axes"), needed = axes;
  Dim out = l.node().dim("k_dim"), axis = axes[0];
  for (Dim d : axes) needed = united(needed, l.lengths().length_dims(d));
  Lowering::Source source = l.source(0, needed);
  source.layer = l.dense(source.layer, source.type);
  source.type.sparse_dim = nullptr;
  if (axis->dynamic()) source = with_enough_frames(l, source, axis, out);
  TensorType type = l.out();
  type.dims = without(type.dims, source.missing);
  Option k = l.is_tensor(1) ? Option(l.raw(1).layer) : Option(*out->size);
  std::vector<Dim> searched = axis->dynamic() ? without(source.type.dims, type.dims) : axes;
  Option over = axes.size() == 1 ? Option(searched[0]) : Option(dims_option(axes));
  LayerRef best = l.layer(
      "top_k",
      {{"from", source.layer}, {"axis", over}, {"k", k}, {"k_dim", out}, {"sorted", l.node().boolean("sorted")}}, type);
  l.result(best, source.missing);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    LayerRef indices{best.layer, axes.size() == 1 ? "indices" : "indices" + std::to_string(i)};
    l.result(axis->dynamic() ? own_indices(l, indices, type, axis) : indices, source.missing);
  }
}

// ---- search_sorted

void infer_search_sorted(OpCall& call) {
  const TensorType &sequence = axis_type(call, 0, 2), &values = single_type(call, 1);
  Dim axis = call.arg(2).dim();
  require_dtype(call, 0, Wanted::numbers);
  joined_dtype(call, {0, 1}, Operation::comparison);
  require_length_dims(call, 0, axis);
  require_one_of(call, 3, {"left", "right"});
  if (std::vector<Dim> more = without(without(sequence.dims, {axis}), values.dims); !more.empty()) {
    call.context()
        .diagnostics.report(Diag::dims_not_covered, call.span(), {op_text(call.info())})
        .note(Diag::note_operand_dims, call.arg_span(1), {dims_quoted(values.dims), dims_quoted(more)})
        .help(Diag::help_text, {"`nn.expand_dims(values, dims)` is `values` with more dims"});
    throw EvalError{};
  }
  call.input(call.operand(0));
  call.input(call.operand(1));
  call.attr("axis", axis);
  call.attr("side", call.arg(3));
  call.output({values.dims, DType::int32, nullptr});
}

// RETURNN's layer wants the values to have one dim that the sequence has not; else the entries that come before a value
// are counted.
void lower_search_sorted(Lowering& l) {
  Dim axis = l.node().dim("axis");
  bool left = l.node().str("side") == "left";
  Lowering::Source sequence = l.source(0, l.type(0).dims), values = l.source(1, without(l.type(0).dims, {axis}));
  sequence.layer = l.dense(sequence.layer, sequence.type);
  sequence.type.sparse_dim = nullptr;
  values.layer = l.dense(values.layer, values.type);
  values.type.sparse_dim = nullptr;
  TensorType type = type_of(values.type.dims, DType::int32);
  if (without(type.dims, sequence.type.dims).size() != 1) {
    TensorType all = type_of(united({axis}, type.dims), DType::bool_);
    LayerRef before = l.layer("compare",
                              {{"from", OptionList{sequence.layer, values.layer}},
                               {"kind", left ? "less" : "less_equal"},
                               {"allow_broadcast_all_sources", true}},
                              all, "before");
    all.dtype = DType::int32;
    return l.result(l.reduce(l.cast(before, all), all, "sum", {axis}, DType::int32, ""), values.missing);
  }
  bool dynamic = axis->dynamic();  // then what is above all entries would be found behind the padding
  LayerRef found = l.layer(
      "search_sorted",
      {{"sorted_sequence", sequence.layer}, {"values", values.layer}, {"axis", axis}, {"side", l.node().str("side")}},
      type, dynamic ? "found" : "");
  l.result(dynamic ? l.eval({found, l.length(axis)}, "tf.minimum(source(0), source(1))", type) : found, values.missing);
}

constexpr OpParam kCumsum[] = {{"source", arg::tensor},
                               {"axis", arg::dim, true},
                               {"additional_left_summand_per_element", arg::number | arg::none, true, "none"},
                               {"reverse", arg::boolean, true, "false"}};
constexpr OpParam kTopK[] = {{"source", arg::tensor},
                             {"axis", arg::axes, true},
                             {"k", arg::integer | arg::tensor, true},
                             {"k_dim", arg::dim | arg::none, true, "none"},
                             {"sorted", arg::boolean, true, "true"}};
constexpr OpParam kSearch[] = {{"sorted_sequence", arg::tensor},
                               {"values", arg::tensor},
                               {"axis", arg::dim, true},
                               {"side", arg::str, true, "\"left\""}};

constexpr OpDef kOps[] = {
    {{"cumsum", kCumsum, "Tensor",
      "At each place the sum of all entries of `axis` up to it, or from it to the end of the sequence with `reverse`; "
      "`additional_left_summand_per_element` is first added to each entry. The dims are those of `source`.",
      infer_cumsum},
     lower_cumsum},
    {{"top_k", kTopK, "(Tensor, Tensor, Dim)",
      "The `k` greatest entries of `axis` in descending order (in any order if not `sorted`), their indices over "
      "`axis`, and the dim "
      "`k_dim` that takes the place of `axis` and comes last. Of equals the first one comes first. Entries that a "
      "sequence does not "
      "have are the lowest number, with the index 0. `k` is an int or a scalar tensor. Of several static axes "
      "together, with one "
      "tensor of indices for each: `(values, indices0, indices1, k_dim)`.",
      infer_top_k},
     lower_top_k},
    {{"search_sorted", kSearch, "Tensor",
      "How many entries of `axis` come before each of `values` in `sorted_sequence`, which ascends along `axis`: those "
      "that are less "
      "(`side` left), or not greater (right). `values` has all other dims of the sequence. int32, with the dims of "
      "`values`.",
      infer_search_sorted},
     lower_search_sorted},
};

}  // namespace

std::span<const OpDef> order_ops() { return kOps; }

}  // namespace rcn
