#include "runtime/kernels/lstm.h"

namespace rcn {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Written out by hand: the tape of autograd would cost a dozen nodes for each frame, and the weight gradients are one
// product over all frames here.
struct Recursion : torch::autograd::Function<Recursion> {
  static variable_list forward(AutogradContext* ctx, const Tensor& gates, const Tensor& w_re, const Tensor& h0,
                               const Tensor& c0, const Tensor& padding, bool backwards) {
    std::int64_t steps = gates.size(0), n = gates.size(1), hidden = h0.size(1);
    Tensor activated =
        gates.clone(at::MemoryFormat::Contiguous);  // [T, N, 4H], becomes j i f o after their activations
    Tensor hs = at::empty({steps + 1, n, hidden}, gates.options());  // by step of the run, not by frame
    Tensor cs = at::empty({steps + 1, n, hidden}, gates.options());
    Tensor y = at::empty({steps, n, hidden}, gates.options());
    hs[0].copy_(h0);
    cs[0].copy_(c0);
    for (std::int64_t step = 0; step < steps; ++step) {
      std::int64_t t = backwards ? steps - 1 - step : step;
      Tensor z = activated[t], h_prev = hs[step], c_prev = cs[step], h = hs[step + 1], c = cs[step + 1];
      z.addmm_(h_prev, w_re);
      z.narrow(1, 0, hidden).tanh_();
      z.narrow(1, hidden, 3 * hidden).sigmoid_();
      at::mul_out(c, c_prev, z.narrow(1, 2 * hidden, hidden));
      c.addcmul_(z.narrow(1, 0, hidden), z.narrow(1, hidden, hidden));
      at::tanh_out(h, c);
      h.mul_(z.narrow(1, 3 * hidden, hidden));
      if (padding.numel() > 0) {
        Tensor mask = padding[t].unsqueeze(1);
        y[t].copy_(h.masked_fill(mask, 0));
        h.copy_(at::where(mask, h_prev, h));
        c.copy_(at::where(mask, c_prev, c));
      } else {
        y[t].copy_(h);
      }
    }
    ctx->save_for_backward({activated, w_re, hs, cs, padding});
    ctx->saved_data["backwards"] = backwards;
    return {y, hs[steps].clone(), cs[steps].clone()};
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    auto saved = ctx->get_saved_variables();
    Tensor activated = saved[0], w_re = saved[1], hs = saved[2], cs = saved[3], padding = saved[4];
    bool backwards = ctx->saved_data["backwards"].toBool();
    std::int64_t steps = activated.size(0), hidden = w_re.size(0);
    Tensor dy = grads[0];
    Tensor dh = grads[1].defined() ? grads[1].clone() : at::zeros_like(hs[0]);
    Tensor dc = grads[2].defined() ? grads[2].clone() : at::zeros_like(cs[0]);
    Tensor dz = at::empty_like(activated);
    Tensor w_t = w_re.t();
    for (std::int64_t step = steps - 1; step >= 0; --step) {
      std::int64_t t = backwards ? steps - 1 - step : step;
      Tensor z = activated[t], d = dz[t];
      Tensor j = z.narrow(1, 0, hidden), i = z.narrow(1, hidden, hidden), f = z.narrow(1, 2 * hidden, hidden);
      Tensor o = z.narrow(1, 3 * hidden, hidden);
      // cs[step + 1] is c' on valid frames; in the padding all that is made of it is dropped.
      Tensor tanh_c = cs[step + 1].tanh();
      Tensor g = dy.defined() ? dh + dy[t] : dh;
      Tensor gc = dc + g * o * (1 - tanh_c * tanh_c);
      d.narrow(1, 0, hidden).copy_(gc * i * (1 - j * j));
      d.narrow(1, hidden, hidden).copy_(gc * j * i * (1 - i));
      d.narrow(1, 2 * hidden, hidden).copy_(gc * cs[step] * f * (1 - f));
      d.narrow(1, 3 * hidden, hidden).copy_(g * tanh_c * o * (1 - o));
      if (padding.numel() > 0) {
        Tensor mask = padding[t].unsqueeze(1);
        d.masked_fill_(mask, 0);
        dc = at::where(mask, dc, gc * f);
        dh = at::where(mask, dh, d.mm(w_t));
      } else {
        dc = gc * f;
        dh = d.mm(w_t);
      }
    }
    Tensor inputs = hs.narrow(0, 0, steps);
    if (backwards) inputs = inputs.flip(0);
    Tensor dw = steps == 0 ? at::zeros_like(w_re) : inputs.reshape({-1, hidden}).t().mm(dz.reshape({-1, 4 * hidden}));
    return {dz, dw, dh, dc, Tensor(), Tensor()};
  }
};

}  // namespace

LstmResult lstm_recursion(const Tensor& gates, const Tensor& w_re, const Tensor& h, const Tensor& c,
                          const Tensor& padding, bool backwards) {
  // Arguments of an autograd function must be defined.
  Tensor mask = padding.defined() ? padding : at::empty({0}, at::TensorOptions(at::kBool));
  variable_list result = Recursion::apply(gates, w_re, h, c, mask, backwards);
  return {result[0], result[1], result[2]};
}

}  // namespace rcn
