// More or fewer frames along an axis: pad, slice and resize.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

#include <algorithm>
#include <cmath>

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
  if (axis == out) return l.result(l.raw(0).layer, l.raw(0).missing);
  Option value = number_option(OpCall::to_operand(l.node().attr("value")), l.out().dtype);
  OptionTuple padding{{l.node().integer("left"), l.node().integer("right")}};
  l.result_of(l.source(0, united({axis}, l.lengths().length_dims(axis))), "pad",
              {{"axes", OptionList{axis}},
               {"padding", OptionList{padding}},
               {"out_dims", OptionList{out}},
               {"handle_dynamic_dims", axis->dynamic()},
               {"value", value},
               {"mode", "constant"}});
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
  require_at_least(call, 4, 1);
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

LayerRef gathered_slice(Lowering& l, const Lowering::Source& source, Dim axis, Dim out) {
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
  TensorType type = source.type;
  type.dims = with_replaced(type.dims, axis, {out});
  return l.layer("gather", {{"from", source.layer}, {"position", position}, {"axis", axis}, {"clip_to_valid", false}},
                 type);
}

void lower_slice(Lowering& l) {
  Dim axis = l.node().dim("axis"), out = l.node().dim("out_dim");
  const Value &start = l.node().attr("start"), &end = l.node().attr("end");
  std::int64_t step = l.node().integer("step");
  if (axis == out) return l.result(l.raw(0).layer, l.raw(0).missing);
  bool uniform = axis->size || cuts_uniformly(start, end, step);
  std::vector<Dim> needed{axis};
  if (!uniform) needed = united(needed, l.lengths().length_dims(axis));
  Lowering::Source source = l.source(0, needed);
  if (!uniform) return l.result(gathered_slice(l, source, axis, out), source.missing);
  Option first = start.is_none() ? Option(0) : Option(start.get<std::int64_t>()), last = end.is_none() ? Option() : Option(end.get<std::int64_t>());
  if (axis->size) {
    Range r = clamped(start, end, *axis->size);
    first = r.start;
    last = r.end == *axis->size ? Option() : Option(r.end);
  }
  l.result_of(source, "slice",
              {{"axis", axis}, {"slice_start", first}, {"slice_end", last}, {"slice_step", step}, {"out_dim", out}});
}

// ---- resize

constexpr std::size_t kFactor = 1, kResizeAxis = 2, kOutDim = 3, kKind = 4, kFillValue = 5;

// The new length is `ceil(length * factor)` in float32, as RETURNN computes it.
Dim resized_dim(OpCall& call, Dim axis) {
  const Value& factor = call.arg(kFactor);
  if (factor.is<std::int64_t>())
    return call.out_dim(kOutDim, call.dims().mul(axis, call.dims().constant(factor.get<std::int64_t>())));
  if (factor.is<double>() && axis->size) {
    float size = std::ceil(static_cast<float>(*axis->size) * static_cast<float>(factor.get<double>()));
    return static_out_dim(call, kOutDim, "resized", axis->kind, static_cast<std::int64_t>(size));
  }
  return call.out_dim_fresh(kOutDim, "resized", axis->kind, call.context().lengths.length_dims(axis));
}

void infer_resize(OpCall& call) {
  Dim axis = call.arg(kResizeAxis).dim();
  const TensorType& type = axis_type(call, 0, kResizeAxis);
  require_length_dims(call, 0, axis);
  require_one_of(call, kKind, {"nn", "nearest_neighbor", "linear", "cubic", "fill"});
  std::string kind = call.arg(kKind).str();
  if (kind == "linear" || kind == "cubic") require_dtype(call, 0, Wanted::floats);
  const Value& factor = call.arg(kFactor);
  auto wrong = [&](std::size_t i, const std::string& wanted) {
    call.fail_argument(i, wanted, factor.is_tensor() && i == kFactor ? "a tensor" : to_text(call.arg(i)));
  };
  if (factor.is_tensor()) {
    require_exact_dims(call, kFactor, {});
    require_dtype(call, kFactor, Wanted::numbers);
  } else if (!(factor.as_double() > 0)) {
    wrong(kFactor, "above 0");
  }
  if (kind == "fill" && !factor.is<std::int64_t>()) wrong(kFactor, "an int where `kind` is \"fill\"");
  if ((kind == "fill") == call.arg(kFillValue).is_none())
    wrong(kFillValue, kind == "fill" ? "a number where `kind` is \"fill\"" : "`none` where `kind` is not \"fill\"");
  Value fill = kind == "fill" ? pad_value(call, kFillValue, type) : Value(None{});
  Dim out = resized_dim(call, axis);
  call.input(call.operand(0));
  call.input(call.operand(kFactor));
  call.attr("axis", axis);
  call.attr("out_dim", out);
  call.attr("kind", kind == "nearest_neighbor" ? "nn" : kind);
  call.attr("fill_value", fill);
  call.output({with_replaced(type.dims, axis, {out}), type.dtype, type.sparse_dim});
  require_distinct(call, call.node().outputs[0].dims);
  call.also_return(out);
}

// Frame r of the result lies at r * length / new length of the sequence. RETURNN's layer takes the longest length for
// it, and padding for what comes behind the last frame.
class Resized {
 public:
  Resized(Lowering& l, Dim axis, Dim out) : l_(l), axis_(axis), over_(united(l.lengths().length_dims(axis), {out})) {
    const Operand& factor = l.node().inputs[1];
    if (!std::get_if<std::int64_t>(&factor) && out->dynamic()) make_lengths(out);
    from_.push_back(l.range(out));
    if (const std::int64_t* n = std::get_if<std::int64_t>(&factor)) {
      place_ = "source(0)";
      steps_ = std::to_string(*n);
    } else {  // in int64, as the product may be large
      length_ = size(axis);
      place_ = "tf.cast(source(0), tf.int64) * tf.cast(" + length_ + ", tf.int64)";
      steps_ = "tf.cast(tf.maximum(" + size(out) + ", 1), tf.int64)";
    }
    place_from_ = from_;
    if (length_.empty()) length_ = size(axis);
  }

  // The frame `offset` behind the place, or the nearest that the sequence has.
  LayerRef frame(const Lowering::Source& source, std::int64_t offset, std::string_view suffix) {
    std::string at = "tf.cast((" + place_ + ") // " + steps_ + ", tf.int32) + " + std::to_string(offset);
    std::string text = "tf.maximum(tf.minimum(" + at + ", " + length_ + " - 1), 0)";
    LayerRef position = l_.eval(from_, text, type_of(over_, DType::int32), "position", true);
    return l_.layer("gather",
                    {{"from", source.layer}, {"position", position}, {"axis", axis_}, {"clip_to_valid", false}},
                    type(source), suffix);
  }
  // How far behind that frame the place is, from 0 to 1.
  LayerRef rest(DType dtype) {
    std::string to = ", '" + std::string(to_string(dtype)) + "')";
    std::vector<Dim> dims = place_from_.size() == 1 ? std::vector<Dim>{over_.back()} : over_;
    return l_.eval(place_from_, "tf.cast((" + place_ + ") % " + steps_ + to + " / tf.cast(" + steps_ + to,
                   type_of(dims, dtype), "rest", true);
  }
  TensorType type(const Lowering::Source& source) const {
    TensorType type = source.type;
    type.dims = with_replaced(type.dims, axis_, {over_.back()});
    return type;
  }

 private:
  void make_lengths(Dim out) {
    std::vector<LayerRef> from{l_.length(axis_)};
    if (l_.is_tensor(1)) from.push_back(l_.raw(1).layer);
    bool ints = l_.is_tensor(1) && is_int(l_.type(1).dtype);
    std::string by = l_.is_tensor(1) ? "tf.cast(source(1), tf." + std::string(ints ? "int32" : "float32") + ")"
                                     : python_number(l_.node().inputs[1], DType::float32);
    std::string text =
        ints ? "source(0) * " + by : "tf.cast(tf.math.ceil(tf.cast(source(0), tf.float32) * " + by + "), tf.int32)";
    l_.sequence_dim(out, l_.eval(from, "tf.maximum(" + text + ", 0)",
                                 type_of(l_.lengths().length_dims(axis_), DType::int32), "length"));
  }
  std::string size(Dim d) {
    if (d->size) return std::to_string(*d->size);
    from_.push_back(l_.length(d));
    return "source(" + std::to_string(from_.size() - 1) + ")";
  }

  Lowering& l_;
  Dim axis_;
  std::vector<Dim> over_;
  std::vector<LayerRef> from_, place_from_;
  std::string length_, place_, steps_;
};

// Cubic convolution (Keys 1981) with A = -0.75; the distance in steps of 1 / 1024, as in TensorFlow's table.
std::string cubic_text() {
  auto near = [](const std::string& x) { return "((1.25 * " + x + " - 2.25) * " + x + " * " + x + " + 1.0)"; };
  auto far = [](const std::string& x) { return "(((-0.75 * " + x + " + 3.75) * " + x + " - 6.0) * " + x + " + 3.0)"; };
  std::string w = "(tf.round(source(4) * 1024.0) / 1024.0)";
  return "source(0) * " + far("(1.0 + " + w + ")") + " + source(1) * " + near(w) + " + source(2) * " +
         near("(1.0 - " + w + ")") + " + source(3) * " + far("(2.0 - " + w + ")");
}

void lower_resize(Lowering& l) {
  Dim axis = l.node().dim("axis"), out = l.node().dim("out_dim");
  const std::string& kind = l.node().str("kind");
  Lowering::Source source = l.source(0, united({axis}, l.lengths().length_dims(axis)));
  Resized resized(l, axis, out);
  TensorType type = resized.type(source);
  if (kind == "nn") return l.result(resized.frame(source, 0, ""), source.missing);
  if (kind == "fill") {
    LayerRef frames = resized.frame(source, 0, "frames");
    std::string every = python_number(l.node().inputs[1], DType::int32);
    LayerRef kept =
        l.eval({l.range(out)}, "tf.equal(source(0) % " + every + ", 0)", type_of({out}, DType::bool_), "kept");
    LayerRef fill =
        l.constant(OpCall::to_operand(l.node().attr("fill_value")), type_of({}, type.dtype, type.sparse_dim), "fill");
    return l.result(l.layer("switch", {{"condition", kept}, {"true_from", frames}, {"false_from", fill}}, type),
                    source.missing);
  }
  std::vector<LayerRef> from;
  bool cubic = kind == "cubic";
  for (std::int64_t offset = cubic ? -1 : 0; offset <= (cubic ? 2 : 1); ++offset)
    from.push_back(resized.frame(source, offset, "frames"));
  from.push_back(resized.rest(type.dtype));
  l.result(l.eval(from, cubic ? cubic_text() : "source(0) + (source(1) - source(0)) * source(2)", type),
           source.missing);
}

constexpr OpParam kPad[] = {{"source", arg::tensor}, {"axis", arg::dim, true}, {"left", arg::integer, true, "0"}, {"right", arg::integer, true, "0"},
                            {"value", arg::number, true, "0"}, {"out_dim", arg::dim | arg::none, true, "none"}};
constexpr OpParam kSlice[] = {{"source", arg::tensor}, {"axis", arg::dim, true}, {"start", arg::integer | arg::none, true, "none"},
                              {"end", arg::integer | arg::none, true, "none"}, {"step", arg::integer, true, "1"}, {"out_dim", arg::dim | arg::none, true, "none"}};

constexpr OpParam kResize[] = {{"source", arg::tensor},
                               {"factor", arg::number | arg::tensor, true},
                               {"axis", arg::dim, true},
                               {"out_dim", arg::dim | arg::none, true, "none"},
                               {"kind", arg::str, true, "\"nn\""},
                               {"fill_value", arg::number | arg::none, true, "none"}};

constexpr OpDef kOps[] = {
    {{"pad", kPad, "(Tensor, Dim)",
      "`left` frames of `value` before and `right` behind; the new dim is `left + axis + right`. Behind means directly "
      "behind each "
      "sequence's own end.",
      infer_pad},
     lower_pad},
    {{"slice", kSlice, "(Tensor, Dim)",
      "`[start:end:step]` of each sequence, as in Python: negative numbers count from the sequence's own end, and what "
      "lies outside "
      "is left out. The dim is `(-start) + axis - rest`; on a dynamic axis with `end >= 0`, `start < 0` or `step > 1`, "
      "a new one.",
      infer_slice},
     lower_slice},
    {{"resize", kResize, "(Tensor, Dim)",
      "Each sequence with `factor` times as many frames: `factor * axis` for an int, else (a float or a scalar tensor) "
      "`ceil(length * factor)` of them. Frame r is at `r * length / new length`: the frame at or before it (`kind` "
      "nn), a mix of the "
      "two around it (linear) or of four (cubic); frames behind the last one are like it. `fill` puts `factor - 1` "
      "frames of `fill_value` behind each.",
      infer_resize},
     lower_resize},
};

}  // namespace

std::span<const OpDef> extent_ops() { return kOps; }

}  // namespace rcn
