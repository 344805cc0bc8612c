// Dims merged, split, added and dropped; no value changes.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

#include <algorithm>

namespace rcn {

namespace {

// ---- merge_dims

void infer_merge_dims(OpCall& call) {
  const TensorType& type = single_type(call, 0);
  std::vector<Dim> axes = call.dims_arg(1);
  if (axes.size() < 2)
    call.fail_argument(1, "two dims or more", std::to_string(axes.size()) + " dims");
  Dim merged = nullptr;
  bool single = true;  // all dims so far have size 1
  for (Dim axis : axes) {
    call.require_dim(0, axis, 1);
    reject_batch(call, axis, 1);
    require_no_dependents(call, 0, axis, 1);
    if (merged && axis->dynamic() && !single) {
      call.context().diagnostics.report(Diag::merge_no_prefix, call.arg_span(1), {to_string(axis), to_string(merged)})
          .help(Diag::help_text, {"a dynamic dim can only come first; a sum over all of them is `nn.reduce(x, mode=\"sum\", axis=[...])`"});
      throw EvalError{};
    }
    single = single && axis->size == 1;
    merged = merged ? call.dims().mul(merged, axis) : axis;
  }
  Dim out = call.out_dim(2, merged);
  std::vector<Dim> dims = with_replaced(type.dims, axes[0], {out});
  dims = without(dims, std::vector<Dim>(axes.begin() + 1, axes.end()));
  require_distinct(call, dims);
  call.input(call.operand(0));
  call.attr("axes", dims_value(axes));
  call.attr("out_dim", out);
  call.output({dims, type.dtype, type.sparse_dim});
  call.also_return(out);
}

void lower_merge_dims(Lowering& l) {
  std::vector<Dim> axes = l.node().dims("axes");
  l.result_of(l.source(0, axes), "merge_dims",
              {{"axes", dims_option(axes)}, {"keep_order", true}, {"out_dim", l.node().dim("out_dim")}});
}

// ---- split_dims

std::int64_t size_product(OpCall& call, const std::vector<Dim>& dims, std::size_t from) {
  std::int64_t product = 1;
  for (std::size_t i = from; i < dims.size(); ++i)
    if (__builtin_mul_overflow(product, *dims[i]->size, &product)) call.fail(Diag::static_overflow, {op_text(call.info())});
  return product;
}

void check_static_split(OpCall& call, Dim axis, const std::vector<Dim>& dims, bool pad) {
  for (Dim d : dims) require_static(call, d, 2);
  std::int64_t all = size_product(call, dims, 0), rest = size_product(call, dims, 1), size = *axis->size;
  bool fits = pad && rest > 0 ? all >= size && all - size < rest : all == size;
  if (!fits) call.fail_at(call.arg_span(2), Diag::size_product, {"dims", std::to_string(all), to_string(axis), std::to_string(size)});
}

// The length of the first part of a dynamic axis: by the dims themselves, or by their sizes where the user wrote it so.
Dim dynamic_part(OpCall& call, Dim axis, const std::vector<Dim>& dims, bool pad) {
  DimTable& table = call.dims();
  std::int64_t rest = size_product(call, dims, 1);
  Dim by_dims = nullptr;
  for (std::size_t i = 1; i < dims.size(); ++i) by_dims = by_dims ? table.mul(by_dims, dims[i]) : dims[i];
  auto quotient = [&](Dim by) { return pad ? table.ceildiv(axis, by) : table.floordiv(axis, by); };
  Dim first = quotient(by_dims), second = quotient(table.constant(rest));
  return dims[0] == second ? second : first;
}

void infer_split_dims(OpCall& call) {
  Dim axis = call.arg(1).dim();
  const TensorType& type = axis_type(call, 0, 1);
  std::vector<Dim> dims = call.dims_arg(2);
  bool pad = call.arg(3).get<bool>();
  if (dims.size() < 2) call.fail_argument(2, "two dims or more", std::to_string(dims.size()) + " dims");
  for (Dim d : dims) reject_batch(call, d, 2);
  if (axis->size) {
    check_static_split(call, axis, dims, pad);
  } else {
    bool shape = dims[0]->dynamic() && std::none_of(dims.begin() + 1, dims.end(), [](Dim d) { return d->dynamic(); });
    if (!shape || size_product(call, dims, 1) == 0) call.fail_at(call.arg_span(2), Diag::split_dynamic_dims, {to_string(axis)});
    Dim computed = dynamic_part(call, axis, dims, pad);
    if (dims[0] != computed) {
      DimLengths& lengths = call.context().lengths;
      if (dims[0]->form != DimForm::atom || lengths.defined(dims[0])) {
        call.context().diagnostics.report(Diag::split_dynamic_dims, call.arg_span(2), {to_string(axis)})
            .help(Diag::help_text, {"write `" + to_string(computed) + "` for `" + to_string(dims[0]) + "`"});
        throw EvalError{};
      }
      lengths.define(dims[0], lengths.length_dims(axis));
      call.node().new_dims.push_back({dims[0], computed, lengths.length_dims(axis)});
    }
    if (pad) require_length_dims(call, 0, axis);
  }
  std::vector<Dim> result = with_replaced(type.dims, axis, dims);
  require_distinct(call, result);
  call.input(call.operand(0));
  call.attr("axis", axis);
  call.attr("dims", dims_value(dims));
  call.attr("pad_to_multiples", pad);
  Value pad_value = call.arg(4);
  if (is_float(type.dtype)) pad_value = pad_value.as_double();
  if (type.dtype == DType::bool_) pad_value = pad_value.as_double() != 0;
  if (pad_value.is<double>() && is_int(type.dtype))
    call.fail_at(call.arg_span(4), Diag::dtype_float_number, {to_text(pad_value), std::string(to_string(type.dtype))});
  call.attr("pad_value", pad_value);
  call.output({result, type.dtype, type.sparse_dim});
}

// RETURNN fills behind the padded tensor only; the frames behind a shorter sequence's end are filled before.
void lower_split_dims(Lowering& l) {
  Dim axis = l.node().dim("axis");
  bool pad = l.node().boolean("pad_to_multiples");
  std::vector<Dim> needed{axis};
  if (pad) needed = united(needed, l.lengths().length_dims(axis));
  Lowering::Source source = l.source(0, needed);
  Operand value = OpCall::to_operand(l.node().attr("pad_value"));
  if (pad && axis->dynamic()) source.layer = l.masked(source.layer, source.type, axis, value);
  bool fill = pad || axis->dynamic();  // of a dynamic axis RETURNN does not split lengths that divide otherwise
  l.result_of(source, "split_dims",
              {{"axis", axis},
               {"dims", dims_option(l.node().dims("dims"))},
               {"pad_to_multiples", fill},
               {"pad_value", number_option(value, l.out().dtype)}});
}

// ---- expand_dims, squeeze

void infer_expand_dims(OpCall& call) {
  const TensorType& type = call.type(0);
  std::vector<Dim> added;
  for (const Value& item : call.arg(1).list()) {
    Dim d = item.dim();
    if (type.has(d) || contains(added, d)) continue;
    if (d->marker) call.fail_at(call.arg_span(1), Diag::dim_is_marker, {to_string(d)});
    call.require_length(d, 1);
    added.push_back(d);
  }
  if (added.empty()) return call.static_result(call.arg(0));
  call.input(call.operand(0));
  call.attr("dims", dims_value(added));
  std::vector<Dim> dims = added;
  dims.insert(dims.end(), type.dims.begin(), type.dims.end());
  call.output({dims, type.dtype, type.sparse_dim});
}

// No layer: what reads the result broadcasts, or expands it where it must.
void lower_expand_dims(Lowering& l) {
  std::vector<Dim> missing = l.node().dims("dims");
  const std::vector<Dim>& before = l.raw(0).missing;
  missing.insert(missing.end(), before.begin(), before.end());
  l.bounds(l.bounds(0));
  l.result(l.raw(0).layer, missing);
}

void infer_squeeze(OpCall& call) {
  const TensorType& type = single_type(call, 0);
  std::vector<Dim> axes = call.dims_arg(1);
  for (Dim axis : axes) {
    call.require_dim(0, axis, 1);
    if (axis->size != 1)
      call.fail_at(call.arg_span(1), Diag::size_one, {to_string(axis), axis->size ? "size " + std::to_string(*axis->size) : "a length for each sequence"});
    require_no_dependents(call, 0, axis, 1);
  }
  if (axes.empty()) return call.static_result(call.arg(0));
  call.input(call.operand(0));
  call.attr("axes", dims_value(axes));
  call.output({without(type.dims, axes), type.dtype, type.sparse_dim});
}

void lower_squeeze(Lowering& l) {
  std::vector<Dim> axes, missing = l.raw(0).missing;
  for (Dim axis : l.node().dims("axes"))
    if (!contains(missing, axis)) axes.push_back(axis);
  missing = without(missing, l.node().dims("axes"));
  l.bounds(l.bounds(0));
  if (axes.empty()) return l.result(l.raw(0).layer, missing);
  TensorType type = l.out();
  type.dims = without(type.dims, missing);
  l.result(l.layer("squeeze", {{"from", l.raw(0).layer}, {"axis", dims_option(axes)}}, type), missing);
}

constexpr OpParam kMerge[] = {{"source", arg::tensor}, {"axes", arg::dims, true}, {"out_dim", arg::dim | arg::none, true, "none"}};
constexpr OpParam kSplit[] = {{"source", arg::tensor}, {"axis", arg::dim, true}, {"dims", arg::dims, true},
                              {"pad_to_multiples", arg::boolean, true, "false"}, {"pad_value", arg::number, true, "0"}};
constexpr OpParam kExpand[] = {{"source", arg::tensor}, {"dims", arg::dims}};
constexpr OpParam kSqueeze[] = {{"source", arg::tensor}, {"axis", arg::axes, true}};

constexpr OpDef kOps[] = {
    {{"merge_dims", kMerge, "(Tensor, Dim)",
      "Two or more `axes` as one dim, their product in the given order, row major (the last one runs fastest), at the place of the "
      "first. A dynamic dim can only be merged as the first, or behind dims of size 1.",
      infer_merge_dims},
     lower_merge_dims},
    {{"split_dims", kSplit, "Tensor",
      "`axis` as several dims, row major; the inverse of `merge_dims`. Sizes multiply to that of `axis`. Of a dynamic axis the first "
      "dim is dynamic and gets `axis // rest`; with `pad_to_multiples` each sequence is filled up with `pad_value` to `ceildiv(axis, rest)`.",
      infer_split_dims},
     lower_split_dims},
    {{"expand_dims", kExpand, "Tensor",
      "`source` with those of `dims` that it does not have yet, in front; along them its value is the same. No data is repeated.",
      infer_expand_dims},
     lower_expand_dims},
    {{"squeeze", kSqueeze, "Tensor", "`source` without static dims of size 1.", infer_squeeze}, lower_squeeze},
};

}  // namespace

std::span<const OpDef> reshape_ops() { return kOps; }

}  // namespace rcn
