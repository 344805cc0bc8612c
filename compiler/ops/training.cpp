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
  if (!(p >= 0 && p < 1)) call.fail_at(call.arg_span(1), Diag::op_argument_value, {op_text(call.info()), "dropout", "at least 0 and below 1", to_text(call.arg(1))});
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

// RETURNN keeps one mask for two dropouts of one layer with the same rate, so each gets a layer of its own to read.
void lower_dropout(Lowering& l) {
  std::vector<Dim> axes = l.node().dims("axes"), missing = l.absent(0, axes);
  TensorType type = l.out();
  type.dims = without(type.dims, missing);
  LayerRef source = l.with_dims(0, axes);
  bool all = std::all_of(type.dims.begin(), type.dims.end(), [&](Dim d) { return contains(axes, d); });
  OptionDict options{{"dropout", l.node().real("dropout")}};
  auto dropout = [&](LayerRef from, const TensorType& t, bool all_axes, std::string_view suffix) {
    LayerRef own = l.layer("copy", {{"from", from}}, t, "input");
    options.insert(options.begin(), {"from", own});
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

void infer_train_flag(OpCall& call) {
  if (const bool* fixed = std::get_if<bool>(&call.context().train)) return call.static_result(*fixed);
  call.output({{}, DType::bool_, nullptr});
}

void lower_train_flag(Lowering& l) { l.result(l.layer("train_flag", {}, l.out())); }

constexpr OpParam kDropout[] = {{"source", arg::tensor}, {"dropout", arg::real}, {"axis", arg::axes, true}, {"on_forward", arg::boolean, true, "false"}};
constexpr OpParam kSource[] = {{"source", arg::tensor}};

constexpr OpDef kOps[] = {
    {{"dropout", kDropout, "Tensor",
      "Each value is 0 with probability `dropout`, else divided by `1 - dropout`. The noise is independent along `axis` and the same "
      "along all other dims. Active only where the train flag is, or always with `on_forward`; the dims are those of `source`.",
      infer_dropout},
     lower_dropout},
    {{"stop_gradient", kSource, "Tensor", "`source`, through which no gradient flows back.", infer_stop_gradient}, lower_stop_gradient},
    {{"train_flag", {}, "Tensor", "The train flag of the module: static where it is fixed, else a scalar bool tensor.", infer_train_flag},
     lower_train_flag},
};

}  // namespace

std::span<const OpDef> training_ops() { return kOps; }

}  // namespace rcn
