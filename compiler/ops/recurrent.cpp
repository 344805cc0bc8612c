// Recurrent layers over whole sequences, or one step of them.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

namespace rcn {

namespace {

enum LstmArg : std::size_t { kX, kWRe, kW, kB, kH, kC, kIn, kOut, kSpatial, kDirection };

void infer_lstm(OpCall& call) {
  Dim in = call.arg(kIn).dim(), out = call.arg(kOut).dim(), spatial = call.arg(kSpatial).dim();
  Dim batch = call.dims().batch(), gates = call.dims().mul(out, call.dims().constant(4));
  const TensorType& x = single_type(call, kX);
  call.require_dim(kX, in, kIn);
  require_static(call, in, kIn);
  require_static(call, out, kOut);
  std::vector<Dim> expected{batch, in};
  if (!spatial->marker) {
    axis_type(call, kX, kSpatial);
    expected.push_back(spatial);
  }
  require_exact_dims(call, kX, expected);
  require_exact_dims(call, kWRe, {out, gates});
  require_exact_dims(call, kW, {in, gates});
  require_exact_dims(call, kB, {gates});
  bool with_state = call.given(kH) || call.given(kC);
  std::vector<Dim> y = with_replaced(x.dims, in, {out}), state = without(y, {spatial});
  for (std::size_t i : {kH, kC}) {
    if (!with_state) continue;
    if (!call.given(i)) call.fail(Diag::op_argument_missing, {op_text(call.info()), std::string(call.info().params[i].name)});
    require_exact_dims(call, i, state);
  }
  require_distinct(call, y);
  require_dtype(call, kX, Wanted::float32);
  joined_dtype(call, {kX, kWRe, kW, kB}, Operation::arithmetic);
  if (with_state) joined_dtype(call, {kX, kH, kC}, Operation::arithmetic);
  std::int64_t direction = call.arg(kDirection).get<std::int64_t>();
  if (direction != 1 && direction != -1)
    call.fail_argument(kDirection, "1 or -1", std::to_string(direction));
  for (std::size_t i : {kX, kWRe, kW, kB}) call.input(call.operand(i));
  if (with_state) {
    call.input(call.operand(kH));
    call.input(call.operand(kC));
  }
  call.attr("in_dim", in);
  call.attr("out_dim", out);
  call.attr("spatial_dim", spatial);
  call.attr("direction", direction);
  call.attr("with_state", with_state);
  call.output({y, x.dtype, nullptr});
  call.output({state, x.dtype, nullptr});
  call.output({state, x.dtype, nullptr});
}

// RETURNN takes the matrices as they lie in memory: a computed one is brought into order.
LayerRef matrix(Lowering& l, std::size_t i, const std::vector<Dim>& order, std::string_view suffix) {
  const GraphTensor& w = l.raw(i);
  LayerRef ref = l.full(i);
  if (w.layer.layer->cls == "variable" && w.layer_type.dims == order) return ref;
  TensorType type = l.type(i);
  type.dims = order;
  return order.size() < 2 ? ref : l.layer("transpose", {{"from", ref}, {"perm", dims_option(order)}}, type, suffix);
}

void lower_lstm(Lowering& l) {
  Dim in = l.node().dim("in_dim"), out = l.node().dim("out_dim"), axis = l.node().dim("spatial_dim");
  Dim gates = l.dims().mul(out, l.dims().constant(4));
  bool step = axis->marker;
  LayerRef x = l.full(kX);
  TensorType x_type = l.type(kX), y_type = l.out();
  if (!step && l.raw(kX).wild_padding) x = l.masked(x, x_type, axis, 0.0);  // the state is multiplied by 0 there, not replaced
  if (step) {  // a sequence of one frame
    axis = l.dims().declare("step", DimKind::spatial, 1);
    x_type.dims.push_back(axis);
    y_type.dims.push_back(axis);
    x = l.layer("expand_dims", {{"from", x}, {"axis", "spatial"}, {"dim", axis}}, x_type, "input");
  }
  LayerRef bias = matrix(l, kB, {gates}, "b");
  if (!step) bias = l.behind_lstm_mask(bias, l.type(kB), axis, "b_source");
  OptionDict map = reuse_params({{"W", matrix(l, kW, {in, gates}, "w")}, {"W_re", matrix(l, kWRe, {out, gates}, "w_re")}, {"b", bias}});
  OptionDict options{{"from", x}, {"unit", "nativelstm2"}, {"axis", axis}, {"in_dim", in}, {"out_dim", out},
                     {"direction", l.node().integer("direction")}, {"name_scope", ""}, {"reuse_params", map}};
  if (l.node().boolean("with_state")) options.emplace_back("initial_state", OptionDict{{"h", l.full(kH)}, {"c", l.full(kC)}});
  if (!step) {  // once moved out of a loop it has no last states
    std::vector<LayerRef> reads{x};
    if (l.node().boolean("with_state")) reads.insert(reads.end(), {l.full(kH), l.full(kC)});
    l.stay_inside(options, reads);
  }
  LayerRef rec = l.layer("rec", std::move(options), y_type, step ? "step" : "");
  auto last = [&](const char* key) {
    OptionDict last_options{{"from", rec}, {"key", key}, {"out_dim", out}};
    if (!step) l.stay_inside(last_options, {rec});
    return l.layer("get_last_hidden_state", std::move(last_options), l.out(1), key);
  };
  LayerRef h = last("h");
  l.padding(false);
  l.result(step ? h : rec);
  l.result(h);
  l.result(last("c"));
}

constexpr OpParam kLstm[] = {{"source", arg::tensor}, {"w_re", arg::tensor}, {"w", arg::tensor}, {"b", arg::tensor},
                             {"h", arg::tensor | arg::none, false, "none"}, {"c", arg::tensor | arg::none, false, "none"},
                             {"in_dim", arg::dim, true}, {"out_dim", arg::dim, true}, {"spatial_dim", arg::dim, true},
                             {"direction", arg::integer, true, "1"}};

constexpr OpDef kOps[] = {
    {{"lstm", kLstm, "(Tensor, Tensor, Tensor)",
      "LSTM over `spatial_dim` (Hochreiter and Schmidhuber 1997; RETURNN's NativeLstm2): `z = x w + b + h w_re` in the blocks j, i, f, o "
      "of `out_dim * 4`; `c' = c * sigmoid(f) + tanh(j) * sigmoid(i)`, `h' = tanh(c') * sigmoid(o)`; no bias of the forget gate; in float32. "
      "`source: [batch, spatial_dim, in_dim]`, `w: [in_dim, 4 * out_dim]`, `w_re: [out_dim, 4 * out_dim]`. Gives the outputs of all frames and "
      "the last `h` and `c`, at each sequence's last frame, or its first with `direction=-1`. `nn.single_step_dim` makes one step.",
      infer_lstm},
     lower_lstm},
};

}  // namespace

std::span<const OpDef> recurrent_ops() { return kOps; }

}  // namespace rcn
