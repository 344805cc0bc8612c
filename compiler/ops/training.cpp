// What differs between training and not: dropout, gradients, the train flag.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

#include <algorithm>

namespace rcn {

namespace {

// Dims to draw noise for; of a parameter with a dim twice, `w.dims` names it twice.
std::vector<Dim> noise_axes(OpCall& call, std::size_t i) {
  const Value& value = call.arg(i);
  std::vector<Dim> result;
  if (value.is_dim()) {
    result.push_back(value.dim());
  } else {
    for (const Value& item : value.list())
      if (!contains(result, item.dim())) result.push_back(item.dim());
  }
  for (Dim d : result) call.require_dim(0, d, i);
  return result;
}

void infer_dropout(OpCall& call) {
  double p = call.arg(1).as_double();
  if (!(p >= 0 && p < 1)) call.fail_argument(1, "at least 0 and below 1", to_text(call.arg(1)));
  std::vector<Dim> axes = noise_axes(call, 2);
  require_dtype(call, 0, Wanted::floats);
  bool on_forward = call.arg(3).get<bool>();
  const auto& train = call.context().train;
  const bool* fixed = std::get_if<bool>(&train);
  if (p == 0 || (fixed && !*fixed && !on_forward)) return call.static_result(call.arg(0));
  call.input(call.operand(0));
  call.attr("dropout", p);
  call.attr("axes", dims_value(axes));
  call.attr("always", on_forward || (fixed && *fixed));
  call.output({call.type(0).dims, call.type(0).dtype, nullptr});
}

// RETURNN keeps one mask for two dropouts of one layer with the same rate, so the second gets a layer of its own to read.
void lower_dropout(Lowering& l) {
  std::vector<Dim> axes = l.node().dims("axes"), missing = l.absent(0, axes);
  TensorType type = l.out();
  type.dims = without(type.dims, missing);
  l.zeros(l.raw(0).zero_padding);
  LayerRef source = l.with_dims(0, axes);
  bool all = std::all_of(type.dims.begin(), type.dims.end(), [&](Dim d) { return contains(axes, d); });
  OptionDict options{{"dropout", l.node().real("dropout")}};
  auto dropout = [&](LayerRef from, const TensorType& t, bool all_axes, std::string_view suffix) {
    if (l.in_loop() || l.dropped_before(from)) from = l.layer("copy", {{"from", from}}, t, "input");
    options.insert(options.begin(), {"from", from});
    if (all_axes) {
      options.emplace_back("dropout_noise_shape", OptionDict{{"*", Option()}});
    } else {
      options.emplace_back("dropout_axis", axes.size() == 1 ? Option(axes[0]) : Option(dims_option(axes)));
    }
    options.emplace_back("dropout_on_forward", l.node().boolean("always"));
    return l.layer("dropout", options, t, suffix);
  };
  if (!l.in_loop()) return l.result(dropout(source, type, all, {}), missing);
  // Each step draws anew, also what RETURNN moves out of the loop.
  if (all) return l.result(dropout(l.varying(source, type), type, true, {}), missing);
  // RETURNN's layer draws a mask of static dims once for the whole loop.
  TensorType noise = type_of(axes, type.dtype);
  double rate = l.node().real("dropout");
  LayerRef ones = l.varying(l.constant(1.0, noise, "ones"), noise);
  LayerRef mask = l.eval({ones}, "tf.where(tf.random.uniform(tf.shape(source(0))) >= " + python_float(rate) + ", source(0) / " +
                                     python_float(1 - rate) + ", 0.0 * source(0))", noise, "mask");
  if (!l.node().boolean("always")) {
    LayerRef train = l.layer("train_flag", {}, type_of({}, DType::bool_), "train");
    mask = l.layer("switch", {{"condition", train}, {"true_from", mask}, {"false_from", ones}}, noise, "mask_if_train");
  }
  l.result(l.layer("combine", {{"from", OptionList{source, mask}}, {"kind", "mul"}}, type), missing);
}

void infer_stop_gradient(OpCall& call) {
  call.input(call.operand(0));
  call.output(call.type(0));
}

void lower_stop_gradient(Lowering& l) {
  l.bounds(l.bounds(0));
  TensorType type = l.raw(0).layer_type;
  OptionDict out{{"sparse_dim", type.sparse_dim ? Option(type.sparse_dim) : Option()}};
  l.result(l.layer("eval", {{"from", l.raw(0).layer}, {"eval", "tf.stop_gradient(source(0))"}, {"out_type", out}}, type), l.raw(0).missing);
}

// ---- scaled_gradient

void infer_scaled_gradient(OpCall& call) {
  const TensorType& type = call.type(0);
  require_dtype(call, 0, Wanted::floats);
  for (std::size_t i : {1, 2}) {
    if (!call.arg(i).is_tensor()) continue;
    if (!without(call.type(i).dims, type.dims).empty()) require_exact_dims(call, i, type.dims);
    joined_dtype(call, {0, i}, Operation::arithmetic);
  }
  for (std::size_t i : {3, 4}) {
    if (!call.given(i)) continue;
    single_type(call, 0);
    call.require_dim(0, call.arg(i).dim(), i);
  }
  call.input(call.operand(0));
  call.input(call.operand(1));
  bool shifts = call.given(2);
  if (shifts) call.input(call.operand(2));
  call.attr("sum_axis", call.arg(3));
  call.attr("clip_axis", call.arg(4));
  call.output(type);
}

// A shift would give a gradient to the padding.
void lower_scaled_gradient(Lowering& l) {
  bool shifts = l.node().inputs.size() > 2, clips = !l.node().attr("clip_axis").is_none();
  Lowering::Source source = l.source(0, shifts || clips ? l.type(0).dims : std::vector<Dim>{});
  auto factor = [&](std::size_t i) {
    return l.is_tensor(i) ? Option(l.raw(i).layer) : number_option(l.node().inputs[i], DType::float64);
  };
  auto axis = [&](std::string_view name) {
    const Value& v = l.node().attr(name);
    return v.is_none() ? Option() : Option(v.dim());
  };
  Option shift;
  if (shifts) {
    TensorType type = source.type;
    LayerRef inside = l.constant(l.is_tensor(2) ? Operand(1.0) : l.node().inputs[2], type, "shift");
    for (Dim d : l.padded(type)) inside = l.masked(inside, type, d, 0.0, "shift_masked");
    shift = l.is_tensor(2) ? l.eval({inside, l.raw(2).layer}, "source(0) * source(1)", type, "shift_inside") : inside;
  }
  l.bounds(l.bounds(0));
  l.result_of(source, "scaled_grad",
              {{"scale", factor(1)},
               {"shift", shift},
               {"scale_shift_by_sum_over_axis", axis("sum_axis")},
               {"clip_max_axis", axis("clip_axis")}});
}

void infer_global_train_step(OpCall& call) { call.output({{}, DType::int64, nullptr}); }

void lower_global_train_step(Lowering& l) { l.result(l.layer("global_train_step", {}, l.out())); }

void infer_train_flag(OpCall& call) {
  if (const bool* fixed = std::get_if<bool>(&call.context().train)) return call.static_result(*fixed);
  call.output({{}, DType::bool_, nullptr});
}

void lower_train_flag(Lowering& l) { l.result(l.layer("train_flag", {}, l.out())); }

constexpr OpParam kDropout[] = {{"source", arg::tensor}, {"dropout", arg::real}, {"axis", arg::axes, true}, {"on_forward", arg::boolean, true, "false"}};
constexpr OpParam kScaled[] = {{"source", arg::tensor},
                               {"scale", arg::number | arg::tensor, true},
                               {"shift", arg::number | arg::tensor | arg::none, true, "none"},
                               {"scale_shift_by_sum_over_axis", arg::dim | arg::none, true, "none"},
                               {"clip_max_axis", arg::dim | arg::none, true, "none"}};
constexpr OpParam kSource[] = {{"source", arg::tensor}};

constexpr OpDef kOps[] = {
    {{"dropout", kDropout, "Tensor",
      "Each value is 0 with probability `dropout`, else divided by `1 - dropout`. The noise is independent along "
      "`axis` and the same "
      "along all other dims. Active only where the train flag is, or always with `on_forward`; the dims are those of "
      "`source`.",
      infer_dropout},
     lower_dropout},
    {{"stop_gradient", kSource, "Tensor", "`source`, through which no gradient flows back.", infer_stop_gradient},
     lower_stop_gradient},
    {{"scaled_gradient", kScaled, "Tensor",
      "`source`, whose gradient g comes back as `g * scale + shift`, or with `scale_shift_by_sum_over_axis` as `g * "
      "scale + shift * sum(|g|)`, limited to "
      "`±max(|g|)` over `clip_max_axis`. `scale` and `shift` are numbers or tensors without other dims. A negative "
      "scale reverses the gradient.",
      infer_scaled_gradient},
     lower_scaled_gradient},
    {{"global_train_step",
      {},
      "Tensor",
      "The number of training steps so far, a scalar int64; in an eager run that of `--step`.",
      infer_global_train_step},
     lower_global_train_step},
    {{"train_flag",
      {},
      "Tensor",
      "The train flag of the module: static where it is fixed, else a scalar bool tensor.",
      infer_train_flag},
     lower_train_flag},
};

}  // namespace

std::span<const OpDef> training_ops() { return kOps; }

}  // namespace rcn
