// More or fewer frames along an axis: pad and slice.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

#include <algorithm>

namespace rcn {

namespace {

// ---- pad

Value pad_value(OpCall& call, std::size_t i, const TensorType& type) {
  const Value& value = call.arg(i);
  if (type.dtype == DType::bool_ && value.is<std::int64_t>()) return value.get<std::int64_t>() != 0;
  if (value.is<double>() && is_int(type.dtype))
    call.fail_at(call.arg_span(i), Diag::dtype_float_number, {to_text(value), std::string(to_string(type.dtype))});
  require_fits(call, i, type.dtype);
  if (type.sparse_dim && type.sparse_dim->size && value.is<std::int64_t>() &&
      (value.get<std::int64_t>() < 0 || value.get<std::int64_t>() >= *type.sparse_dim->size))
    call.fail_at(call.arg_span(i), Diag::index_range, {to_text(value), to_string(type.sparse_dim), std::to_string(*type.sparse_dim->size)});
  return is_float(type.dtype) ? Value(value.as_double()) : value;
}

void infer_pad(OpCall& call) {
  Dim axis = call.arg(1).dim();
  const TensorType& type = axis_type(call, 0, 1);
  for (std::size_t i : {2, 3})
    if (call.arg(i).get<std::int64_t>() < 0) {
      call.context().diagnostics.report(Diag::op_argument_value, call.arg_span(i), {op_text(call.info()), std::string(call.info().params[i].name), "at least 0", to_text(call.arg(i))})
          .help(Diag::help_text, {"`nn.slice` takes frames away"});
      throw EvalError{};
    }
  std::int64_t left = call.arg(2).get<std::int64_t>(), right = call.arg(3).get<std::int64_t>();
  if (right > 0) require_length_dims(call, 0, axis);  // the padding stands behind each sequence's own end
  Value value = pad_value(call, 4, type);
  DimTable& dims = call.dims();
  Dim out = call.out_dim(5, dims.add(dims.add(dims.constant(left), axis), dims.constant(right)));
  call.input(call.operand(0));
  call.attr("axis", axis);
  call.attr("left", left);
  call.attr("right", right);
  call.attr("value", value);
  call.attr("out_dim", out);
  call.output({with_replaced(type.dims, axis, {out}), type.dtype, type.sparse_dim});
  require_distinct(call, call.node().outputs[0].dims);
  call.also_return(out);
}

void lower_pad(Lowering& l) {
  Dim axis = l.node().dim("axis"), out = l.node().dim("out_dim");
  std::vector<Dim> needed = united({axis}, l.lengths().length_dims(axis)), missing = l.absent(0, needed);
  if (axis == out) return l.result(l.raw(0).layer, l.raw(0).missing);
  TensorType type = l.out();
  type.dims = without(type.dims, missing);
  Option value = number_option(OpCall::to_operand(l.node().attr("value")), type.dtype);
  OptionTuple padding{{l.node().integer("left"), l.node().integer("right")}};
  l.result(l.layer("pad", {{"from", l.with_dims(0, needed)}, {"axes", OptionList{axis}}, {"padding", OptionList{padding}}, {"out_dims", OptionList{out}},
                           {"handle_dynamic_dims", axis->dynamic()}, {"value", value}, {"mode", "constant"}}, type), missing);
}

// ---- slice

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

struct Range {
  std::int64_t start, end;
};

// Python's meaning of a slice of `size` items.
Range clamped(const Value& start, const Value& end, std::int64_t size) {
  auto at = [&](const Value& v, std::int64_t otherwise) {
    if (v.is_none()) return otherwise;
    std::int64_t i = v.get<std::int64_t>();
    return std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size);
  };
  Range r{at(start, 0), at(end, size)};
  r.end = std::max(r.start, r.end);
  return r;
}

// Whether RETURNN's slice gives this for each sequence: it cuts the padded tensor.
bool cuts_uniformly(const Value& start, const Value& end, std::int64_t step) {
  bool from_front = start.is_none() || start.get<std::int64_t>() >= 0;
  return from_front && (end.is_none() || end.get<std::int64_t>() < 0) && step == 1;
}

Dim cut_dim(DimTable& dims, Dim axis, std::int64_t front, std::int64_t back) {
  return dims.sub(dims.add(dims.constant(-front), axis), dims.constant(back));
}

Dim sliced_dim(OpCall& call, Dim axis, const Value& start, const Value& end, std::int64_t step) {
  if (axis->size) {
    Range r = clamped(start, end, *axis->size);
    if (step == 1) return call.out_dim(5, cut_dim(call.dims(), axis, r.start, *axis->size - r.end));
    return static_out_dim(call, 5, "slice", axis->kind, ceil_div(r.end - r.start, step));
  }
  if (cuts_uniformly(start, end, step))
    return call.out_dim(5, cut_dim(call.dims(), axis, start.is_none() ? 0 : start.get<std::int64_t>(), end.is_none() ? 0 : -end.get<std::int64_t>()));
  return call.out_dim_fresh(5, "slice", axis->kind, call.context().lengths.length_dims(axis));
}

void infer_slice(OpCall& call) {
  Dim axis = call.arg(1).dim();
  const TensorType& type = axis_type(call, 0, 1);
  const Value &start = call.arg(2), &end = call.arg(3);
  std::int64_t step = call.arg(4).get<std::int64_t>();
  if (step < 1) call.fail_at(call.arg_span(4), Diag::op_argument_value, {op_text(call.info()), "step", "at least 1", to_text(call.arg(4))});
  if (!start.is_none() && start.get<std::int64_t>() < 0) require_length_dims(call, 0, axis);  // counts from each sequence's own end
  Dim out = sliced_dim(call, axis, start, end, step);
  call.input(call.operand(0));
  call.attr("axis", axis);
  call.attr("start", start);
  call.attr("end", end);
  call.attr("step", step);
  call.attr("out_dim", out);
  call.output({with_replaced(type.dims, axis, {out}), type.dtype, type.sparse_dim});
  require_distinct(call, call.node().outputs[0].dims);
  call.also_return(out);
}

// Where `source(0)` is the length: the index that `value` stands for, inside of the sequence.
std::string index_text(const Value& value, const std::string& otherwise) {
  if (value.is_none()) return otherwise;
  std::int64_t i = value.get<std::int64_t>();
  return i < 0 ? "tf.maximum(source(0) - " + std::to_string(-i) + ", 0)" : "tf.minimum(source(0), " + std::to_string(i) + ")";
}

LayerRef gathered_slice(Lowering& l, LayerRef source, const TensorType& type, Dim axis, Dim out) {
  const Value &start = l.node().attr("start"), &end = l.node().attr("end");
  std::string step = std::to_string(l.node().integer("step"));
  LayerRef length = l.length(axis);
  std::vector<Dim> over = l.lengths().length_dims(axis);
  std::string first = index_text(start, "0");
  std::string count = "-(-tf.maximum(" + index_text(end, "source(0)") + " - " + first + ", 0) // " + step + ")";
  LayerRef frames = l.sequence_dim(out, l.eval({length}, count, type_of(over, DType::int32), "length"));

  bool from_end = !start.is_none() && start.get<std::int64_t>() < 0;
  std::string offset = from_end ? "tf.maximum(source(2) - " + std::to_string(-start.get<std::int64_t>()) + ", 0)"
                       : start.is_none() ? "0" : std::to_string(start.get<std::int64_t>());
  std::vector<LayerRef> from{frames, l.longest(axis)};
  if (from_end) from.push_back(length);
  std::vector<Dim> position_dims = from_end ? united(over, {out}) : std::vector<Dim>{out};
  LayerRef position = l.eval(from, "tf.clip_by_value(source(0) * " + step + " + " + offset + ", 0, tf.maximum(source(1) - 1, 0))",
                             type_of(position_dims, DType::int32), "position", true);
  return l.layer("gather", {{"from", source}, {"position", position}, {"axis", axis}, {"clip_to_valid", false}}, type);
}

void lower_slice(Lowering& l) {
  Dim axis = l.node().dim("axis"), out = l.node().dim("out_dim");
  const Value &start = l.node().attr("start"), &end = l.node().attr("end");
  std::int64_t step = l.node().integer("step");
  if (axis == out) return l.result(l.raw(0).layer, l.raw(0).missing);
  bool uniform = axis->size || cuts_uniformly(start, end, step);
  std::vector<Dim> needed{axis};
  if (!uniform) needed = united(needed, l.lengths().length_dims(axis));
  LayerRef source = l.with_dims(0, needed);
  std::vector<Dim> missing = l.absent(0, needed);
  TensorType type = l.out();
  type.dims = without(type.dims, missing);
  if (!uniform) return l.result(gathered_slice(l, source, type, axis, out), missing);
  Option first = start.is_none() ? Option(0) : Option(start.get<std::int64_t>()), last = end.is_none() ? Option() : Option(end.get<std::int64_t>());
  if (axis->size) {
    Range r = clamped(start, end, *axis->size);
    first = r.start;
    last = r.end == *axis->size ? Option() : Option(r.end);
  }
  l.result(l.layer("slice", {{"from", source}, {"axis", axis}, {"slice_start", first}, {"slice_end", last}, {"slice_step", step}, {"out_dim", out}}, type), missing);
}

constexpr OpParam kPad[] = {{"source", arg::tensor}, {"axis", arg::dim, true}, {"left", arg::integer, true, "0"}, {"right", arg::integer, true, "0"},
                            {"value", arg::number, true, "0"}, {"out_dim", arg::dim | arg::none, true, "none"}};
constexpr OpParam kSlice[] = {{"source", arg::tensor}, {"axis", arg::dim, true}, {"start", arg::integer | arg::none, true, "none"},
                              {"end", arg::integer | arg::none, true, "none"}, {"step", arg::integer, true, "1"}, {"out_dim", arg::dim | arg::none, true, "none"}};

constexpr OpDef kOps[] = {
    {{"pad", kPad, "(Tensor, Dim)",
      "`left` frames of `value` before and `right` behind; the new dim is `left + axis + right`. Behind means directly behind each "
      "sequence's own end.",
      infer_pad},
     lower_pad},
    {{"slice", kSlice, "(Tensor, Dim)",
      "`[start:end:step]` of each sequence, as in Python: negative numbers count from the sequence's own end, and what lies outside "
      "is left out. The dim is `(-start) + axis - rest`; on a dynamic axis with `end >= 0`, `start < 0` or `step > 1`, a new one.",
      infer_slice},
     lower_slice},
};

}  // namespace

std::span<const OpDef> extent_ops() { return kOps; }

}  // namespace rcn
