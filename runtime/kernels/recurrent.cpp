// Recurrent units over whole sequences.
#include "runtime/kernels/families.h"
#include "runtime/kernels/lstm.h"

namespace rcn {

namespace {

std::vector<Tensor> lstm(KernelCall& call) {
  Dim in_dim = call.node.dim("in_dim"), out_dim = call.node.dim("out_dim"), spatial = call.node.dim("spatial_dim");
  std::int64_t hidden = call.lengths.extent(out_dim);
  bool single_step = spatial->marker;

  // [spatial, others..., in]
  Named x = call.cleared_for_grad(call.tensor(0));
  Axes others = without(x.axes, single_step ? Axes{in_dim} : Axes{spatial, in_dim});
  Axes order = others;
  if (!single_step) order.insert(order.begin(), spatial);
  order.push_back(in_dim);
  std::vector<std::int64_t> shape = call.lengths.shape(others);
  std::int64_t n = 1;
  for (std::int64_t s : shape) n *= s;
  std::int64_t steps = single_step ? 1 : call.lengths.extent(spatial);
  at::Tensor rows = aligned(x, order).reshape({steps * n, call.lengths.extent(in_dim)});

  // The recurrent weight is [out, gates], the other [in, gates]; the dim of the gates is whichever is left.
  auto matrix = [](const Named& w, Dim first) { return w.index(first) == 0 ? w.value : w.value.t(); };
  at::Tensor w_re = matrix(call.tensor(1), out_dim), w = matrix(call.tensor(2), in_dim);
  at::Tensor gates = at::addmm(call.tensor(3).value, rows, w).reshape({steps, n, 4 * hidden});

  Axes state_axes = others;
  state_axes.push_back(out_dim);
  auto state = [&](std::size_t input) {
    if (call.node.inputs.size() <= input) return at::zeros({n, hidden}, gates.options());
    std::vector<std::int64_t> sizes = call.lengths.shape(state_axes);
    return call.operand(input, state_axes, gates.scalar_type()).expand(sizes).reshape({n, hidden});
  };

  Axes frame_axes = others;
  if (!single_step) frame_axes.insert(frame_axes.begin(), spatial);
  at::Tensor padding = call.lengths.padding(frame_axes);
  if (padding.defined()) padding = padding.expand(call.lengths.shape(frame_axes)).reshape({steps, n});
  bool backwards = call.node.integer("direction") < 0;
  LstmResult result = lstm_recursion(gates, w_re, state(4), state(5), padding, backwards);

  Axes y_axes = state_axes;
  at::Tensor y = result.y;
  if (!single_step) y_axes.insert(y_axes.begin(), spatial);
  y = y.reshape(call.lengths.shape(y_axes));
  std::vector<std::int64_t> state_shape = call.lengths.shape(state_axes);
  return {call.result({y, y_axes}, 0), call.result({result.h.reshape(state_shape), state_axes}, 1),
          call.result({result.c.reshape(state_shape), state_axes}, 2)};
}

const KernelEntry kTable[] = {{"lstm", lstm}};

}  // namespace

std::span<const KernelEntry> recurrent_kernels() { return kTable; }

}  // namespace rcn
