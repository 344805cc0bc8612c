// Several tensors along one dim: concat, split, stack.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

#include <algorithm>

namespace rcn {

namespace {

// The dims of each but its axis must be the same set.
void require_same_dims(OpCall& call, std::size_t arg, const std::vector<Tensor>& tensors, const std::vector<Dim>& axes) {
  auto rest = [&](std::size_t i) { return axes.empty() ? tensors[i]->type.dims : without(tensors[i]->type.dims, {axes[i]}); };
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    std::vector<Dim> a = rest(0), b = rest(i);
    if (without(a, b).empty() && without(b, a).empty()) continue;
    call.context()
        .diagnostics.report(Diag::dims_not_same, call.arg_span(arg), {op_text(call.info())})
        .note(Diag::note_more, Span{}, {"the first has " + dims_quoted(a) + (axes.empty() ? "" : " besides its axis")})
        .note(Diag::note_more, Span{}, {"number " + std::to_string(i + 1) + " has " + dims_quoted(b) + "; missing: " + dims_quoted(without(a, b)) +
                                            ", too many: " + dims_quoted(without(b, a))})
        .help(Diag::help_text, {"`nn.expand_dims(x, dims)` is `x` with more dims"});
    throw EvalError{};
  }
}

TensorType common_type(OpCall& call, std::size_t arg, const std::vector<Tensor>& tensors) {
  TensorType type = tensors[0]->type;
  for (const Tensor& t : tensors) {
    for (Dim d : t->type.dims)
      if (std::count(t->type.dims.begin(), t->type.dims.end(), d) > 1)
        call.fail_at(call.arg_span(arg), Diag::dims_twice, {op_text(call.info()), to_string(d)});
    if (t->type.dtype != type.dtype) {
      call.context()
          .diagnostics.report(Diag::dtype_mismatch, call.arg_span(arg),
                              {op_text(call.info()), std::string(to_string(type.dtype)), std::string(to_string(t->type.dtype))})
          .help(Diag::help_text, {"convert one of them with `nn.cast`"});
      throw EvalError{};
    }
    if (t->type.sparse_dim != type.sparse_dim) type.sparse_dim = nullptr;
  }
  return type;
}

// All sources with the same dims in their layers; dims that all lack stay absent.
std::vector<Dim> absent_in_all(Lowering& l, std::size_t count) {
  std::vector<Dim> result = l.raw(0).missing;
  for (std::size_t i = 1; i < count; ++i) std::erase_if(result, [&](Dim d) { return !contains(l.raw(i).missing, d); });
  return result;
}

LayerRef source_with(Lowering& l, std::size_t i, const std::vector<Dim>& absent, TensorType& type) {
  std::vector<Dim> wanted = without(l.type(i).dims, absent);
  type = l.type(i);
  type.dims = wanted;
  LayerRef ref = l.with_dims(i, wanted);
  return l.out().sparse_dim ? ref : l.dense(ref, type);
}

// ---- concat

void infer_concat(OpCall& call) {
  std::vector<Tensor> tensors;
  std::vector<Dim> axes;
  const List& items = call.arg(0).list();
  for (const Value& item : items) {
    bool pair = item.is_tuple() && item.tuple().items.size() == 2 && item.tuple().items[0].is_tensor() && item.tuple().items[1].is_dim();
    if (!pair) call.fail_at(call.arg_span(0), Diag::concat_source, {kind_text(item)});
    tensors.push_back(item.tuple().items[0].tensor());
    axes.push_back(item.tuple().items[1].dim());
  }
  if (tensors.empty()) call.fail_at(call.arg_span(0), Diag::source_empty, {op_text(call.info())});
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::vector<Dim>& dims = tensors[i]->type.dims;
    if (!contains(dims, axes[i])) call.fail_at(call.arg_span(0), Diag::dim_not_in_tensor, {to_string(axes[i]), dims_quoted(dims)});
    if (axes[i]->kind == DimKind::batch) call.fail_at(call.arg_span(0), Diag::dim_is_batch, {to_string(axes[i]), "an axis", op_text(call.info())});
    for (Dim needed : call.context().lengths.length_dims(axes[i]))
      if (!contains(dims, needed)) {
        call.context().diagnostics.report(Diag::lengths_missing, call.arg_span(0), {to_string(axes[i]), to_string(needed)})
            .help(Diag::help_text, {"`nn.expand_dims(x, [" + to_string(needed) + "])` is the tensor with that dim"});
        throw EvalError{};
      }
    for (Dim d : dims)
      if (contains(call.context().lengths.length_dims(d), axes[i]))
        call.fail_at(call.arg_span(0), Diag::lengths_depend, {to_string(d), to_string(axes[i])});
  }
  TensorType type = common_type(call, 0, tensors);
  require_same_dims(call, 0, tensors, axes);
  Dim computed = axes[0];
  for (std::size_t i = 1; i < axes.size(); ++i) computed = call.dims().add(computed, axes[i]);
  Dim out = call.out_dim(1, computed);
  type.dims = with_replaced(type.dims, axes[0], {out});
  require_distinct(call, type.dims);
  for (const Tensor& t : tensors) call.input(t);
  call.attr("axes", dims_value(axes));
  call.attr("out_dim", out);
  call.output(type);
  call.also_return(out);
}

// Joins valid frames. RETURNN's concat puts the padded tensors together, padding and all: from there, frame r of the
// result is r, moved on by the padding of each part that ends before it.
LayerRef joined_sequences(Lowering& l, LayerRef padded, Dim padded_dim, const std::vector<Dim>& axes, Dim out, const TensorType& type) {
  std::vector<LayerRef> from{l.range(out)};
  auto source = [&](LayerRef ref) {
    from.push_back(ref);
    return "source(" + std::to_string(from.size() - 1) + ")";
  };
  auto size = [&](Dim d, bool longest) { return d->size ? std::to_string(*d->size) : source(longest ? l.longest(d) : l.length(d)); };
  std::vector<Dim> position_dims{out};
  std::string position = "source(0)", total;
  Dim end = nullptr;  // where the part ends: the sum of the axes up to it
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::string longest = size(axes[i], true);
    total += (i ? " + " : "") + longest;
    end = end ? l.dims().add(end, axes[i]) : axes[i];
    if (i + 1 == axes.size() || axes[i]->size) continue;
    std::string length = size(axes[i], false);
    position += " + tf.cast(source(0) >= " + (end == axes[i] ? length : size(end, false)) + ", tf.int32) * (" + longest + " - " + length + ")";
    position_dims = united(l.lengths().length_dims(end), position_dims);
  }
  LayerRef frames = l.eval(from, "tf.minimum(" + position + ", " + total + " - 1)", type_of(position_dims, DType::int32), "position", true);
  return l.layer("gather", {{"from", padded}, {"position", frames}, {"axis", padded_dim}, {"clip_to_valid", false}}, type);
}

void lower_concat(Lowering& l) {
  std::vector<Dim> axes = l.node().dims("axes");
  Dim out = l.node().dim("out_dim");
  std::vector<Dim> absent = absent_in_all(l, axes.size());
  std::vector<LayerRef> sources;
  std::vector<TensorType> types(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) sources.push_back(source_with(l, i, without(absent, {axes[i]}), types[i]));
  TensorType type = l.out();
  std::vector<Dim> missing = without(absent, axes);
  type.dims = without(type.dims, missing);
  if (axes.size() == 1) return l.result(sources[0], missing);
  bool dynamic = std::any_of(axes.begin(), axes.end(), [](Dim d) { return d->dynamic(); });
  Dim made = dynamic ? l.dims().declare("padded", out->kind, std::nullopt) : out;
  OptionList from;
  for (std::size_t i = 0; i < axes.size(); ++i) from.emplace_back(OptionTuple{{sources[i], axes[i]}});
  TensorType padded = type;
  padded.dims = with_replaced(type.dims, out, {made});
  LayerRef joined = l.layer("concat", {{"from", from}, {"allow_broadcast", false}, {"out_dim", made}}, padded, dynamic ? "padded" : "");
  l.result(dynamic ? joined_sequences(l, joined, made, axes, out, type) : joined, missing);
}

// ---- split

void infer_split(OpCall& call) {
  Dim axis = call.arg(1).dim();
  const TensorType& type = axis_type(call, 0, 1);
  std::vector<Dim> parts;
  for (const Value& part : call.arg(2).list()) parts.push_back(part.dim());  // the same dim may come twice
  if (axis->dynamic()) {
    call.context().diagnostics.report(Diag::split_is_dynamic, call.arg_span(1), {to_string(axis)})
        .help(Diag::help_text, {"`nn.slice(x, axis=" + to_string(axis) + ", start=..., end=...)` takes a part of each sequence"});
    throw EvalError{};
  }
  std::int64_t sum = 0;
  for (Dim part : parts) {
    require_static(call, part, 2);
    sum += *part->size;
  }
  if (sum != *axis->size)
    call.fail_at(call.arg_span(2), Diag::size_sum, {"out_dims", std::to_string(sum), to_string(axis), std::to_string(*axis->size)});
  call.input(call.operand(0));
  call.attr("axis", axis);
  call.attr("out_dims", dims_value(parts));
  for (Dim part : parts) {
    call.output({with_replaced(type.dims, axis, {part}), type.dtype, type.sparse_dim});
    require_distinct(call, call.node().outputs.back().dims);
  }
}

void lower_split(Lowering& l) {
  Dim axis = l.node().dim("axis");
  std::vector<Dim> parts = l.node().dims("out_dims"), missing = l.absent(0, {axis});
  TensorType type = l.type(0);
  type.dims = without(type.dims, missing);
  LayerRef split = l.layer("split", {{"from", l.with_dims(0, {axis})}, {"axis", axis}, {"out_dims", dims_option(parts)}}, type);
  for (std::size_t i = 0; i < parts.size(); ++i) l.result({split.layer, std::to_string(i)}, missing);
}

// ---- stack

void infer_stack(OpCall& call) {
  std::vector<Tensor> tensors;
  for (const Value& item : call.arg(0).list()) {
    if (!item.is_tensor()) call.fail_at(call.arg_span(0), Diag::op_argument_type, {op_text(call.info()), "sources", "a list of tensors", "a list that holds " + kind_text(item)});
    tensors.push_back(item.tensor());
  }
  if (tensors.empty()) call.fail_at(call.arg_span(0), Diag::source_empty, {op_text(call.info())});
  TensorType type = common_type(call, 0, tensors);
  require_same_dims(call, 0, tensors, {});
  Dim out = static_out_dim(call, 1, "stack", DimKind::spatial, static_cast<std::int64_t>(tensors.size()));
  type.dims.insert(type.dims.begin(), out);
  require_distinct(call, type.dims);
  for (const Tensor& t : tensors) call.input(t);
  call.attr("out_dim", out);
  call.output(type);
  call.also_return(out);
}

void lower_stack(Lowering& l) {
  std::size_t count = l.node().inputs.size();
  std::vector<Dim> absent = absent_in_all(l, count);
  OptionList from;
  for (std::size_t i = 0; i < count; ++i) {
    TensorType type;
    from.emplace_back(source_with(l, i, absent, type));
  }
  TensorType type = l.out();
  type.dims = without(type.dims, absent);
  l.result(l.layer("stack", {{"from", from}, {"out_spatial_dim", l.node().dim("out_dim")}}, type), absent);
}

constexpr OpParam kConcat[] = {{"sources", arg::list}, {"out_dim", arg::dim | arg::none, true, "none"}};
constexpr OpParam kSplit[] = {{"source", arg::tensor}, {"axis", arg::dim, true}, {"out_dims", arg::dims, true}};
constexpr OpParam kStack[] = {{"sources", arg::list}, {"out_spatial_dim", arg::dim | arg::none, true, "none"}};

constexpr OpDef kOps[] = {
    {{"concat", kConcat, "(Tensor, Dim)",
      "Joins pairs `(tensor, dim)`, each along its dim, to the dim `d1 + d2 + ...`. The other dims are the same set. Of sequences, the "
      "valid frames are joined, and padding never lies in between. The result has the dims of the first, with the new dim for its own.",
      infer_concat},
     lower_concat},
    {{"split", kSplit, "tuple", "Cuts the static `axis` into parts with the dims `out_dims`, whose sizes add up to it; one tensor for each.", infer_split},
     lower_split},
    {{"stack", kStack, "(Tensor, Dim)", "Tensors with the same dims along a new static dim, which comes first.", infer_stack}, lower_stack},
};

}  // namespace

std::span<const OpDef> join_ops() { return kOps; }

}  // namespace rcn
