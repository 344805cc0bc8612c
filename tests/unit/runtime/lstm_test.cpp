// The LSTM against the recursion written out, in values and gradients.
#include "tests/unit/runtime/bench.h"

namespace rcn::test {

namespace {

struct Lstm {
  Dim in, out, gates, time;
  std::vector<Tensor> result;
};

Lstm run_lstm(Bench& b, std::vector<std::int64_t> lengths, Axes others, std::int64_t in_size, std::int64_t hidden,
              int direction, bool with_state) {
  Lstm l;
  l.in = b.feature("in", in_size);
  l.out = b.feature("out", hidden);
  l.gates = b.dims.mul(b.dims.constant(4), l.out);
  l.time = b.spatial("time", lengths);
  others.insert(others.begin(), b.batch);
  Axes x_axes = others, state = others, y_axes = others;
  x_axes.push_back(l.time);
  x_axes.push_back(l.in);
  state.push_back(l.out);
  y_axes.push_back(l.time);
  y_axes.push_back(l.out);
  std::vector<Operand> inputs{
      b.leaf(x_axes, b.noise(x_axes, "x")), b.leaf({l.out, l.gates}, b.noise({l.out, l.gates}, "w_re")),
      b.leaf({l.in, l.gates}, b.noise({l.in, l.gates}, "w")), b.leaf({l.gates}, b.noise({l.gates}, "b"))};
  if (with_state) {
    inputs.emplace_back(b.leaf(state, b.noise(state, "h")));
    inputs.emplace_back(b.leaf(state, b.noise(state, "c")));
  }
  l.result = b.call("lstm", inputs,
                    {{"in_dim", l.in},
                     {"out_dim", l.out},
                     {"spatial_dim", l.time},
                     {"direction", direction},
                     {"with_state", with_state}},
                    {type(y_axes, DType::float64), type(state, DType::float64), type(state, DType::float64)});
  return l;
}

// One sequence at a time, frame by frame, on the leaves of the bench; [b][n] rows for one further dim of size `inner`.
std::vector<at::Tensor> naive(Bench& b, const std::vector<std::int64_t>& lengths, std::int64_t inner, int direction,
                              bool with_state) {
  const at::Tensor &x = b.leaves[0], &w_re = b.leaves[1], &w = b.leaves[2], &bias = b.leaves[3];
  std::int64_t hidden = w_re.size(0);
  std::vector<at::Tensor> ys, hs, cs;
  for (std::size_t bi = 0; bi < lengths.size(); ++bi)
    for (std::int64_t k = 0; k < inner; ++k) {
      at::Tensor h = at::zeros({hidden}, x.options().requires_grad(false)), c = h;
      at::Tensor rows = x[static_cast<std::int64_t>(bi)];
      if (inner > 1) rows = rows[k];
      if (with_state) {
        h = b.leaves[4][static_cast<std::int64_t>(bi)];
        c = b.leaves[5][static_cast<std::int64_t>(bi)];
        if (inner > 1) {
          h = h[k];
          c = c[k];
        }
      }
      std::vector<at::Tensor> y(static_cast<std::size_t>(x.size(-2)), at::zeros_like(h.detach()));
      for (std::int64_t step = 0; step < lengths[bi]; ++step) {
        std::int64_t t = direction > 0 ? step : lengths[bi] - 1 - step;
        at::Tensor z = rows[t].matmul(w) + bias + h.matmul(w_re);
        auto part = [&](std::int64_t i) { return z.narrow(0, i * hidden, hidden); };
        c = part(2).sigmoid() * c + part(0).tanh() * part(1).sigmoid();
        h = part(3).sigmoid() * c.tanh();
        y[static_cast<std::size_t>(t)] = h;
      }
      ys.push_back(at::stack(y));
      hs.push_back(h);
      cs.push_back(c);
    }
  return {at::stack(ys), at::stack(hs), at::stack(cs)};
}

std::vector<double> flat(const at::Tensor& t) {
  at::Tensor f = t.detach().to(at::kDouble).contiguous().reshape({-1});
  return {f.data_ptr<double>(), f.data_ptr<double>() + f.numel()};
}

}  // namespace

TEST_CASE("lstm: zero weights, no forget bias (C26), and the output state is fed back (N01)") {
  for (double recurrent : {0.0, 1.0}) {
    Bench b(1);
    Dim in = b.feature("in", 1), out = b.feature("out", 1), gates = b.dims.mul(b.dims.constant(4), out),
        time = b.spatial("time", {3});
    Tensor x = b.make({b.batch, time, in}, {1, 2, 3}), w = b.make({in, gates}, {0, 0, 0, 0}),
           w_re = b.make({out, gates}, {recurrent, 0, 0, 0});
    Tensor bias = b.make({gates}, {0, 0, 0, 0}), h = b.make({b.batch, out}, {0}), c = b.make({b.batch, out}, {1});
    std::vector<TensorType> outputs{type({b.batch, time, out}), type({b.batch, out}), type({b.batch, out})};
    auto whole = b.call(
        "lstm", {x, w_re, w, bias, h, c},
        {{"in_dim", in}, {"out_dim", out}, {"spatial_dim", time}, {"direction", 1}, {"with_state", true}}, outputs);
    std::vector<double> expected = recurrent == 0 ? std::vector<double>{0.231059, 0.122459, 0.062177}
                                                  : std::vector<double>{0.231059, 0.174154, 0.130865};
    check_close(b.values(whole[0]), expected, 1e-5);
    check_close(b.values(whole[2]), {recurrent == 0 ? 0.125 : 0.267965}, 1e-5);
    // Step by step.
    Dim one = b.dims.single_step();
    for (int t = 0; t < 3; ++t) {
      Tensor frame = b.make({b.batch, in}, {1.0 + t});
      auto step =
          b.call("lstm", {frame, w_re, w, bias, h, c},
                 {{"in_dim", in}, {"out_dim", out}, {"spatial_dim", one}, {"direction", 1}, {"with_state", true}},
                 {type({b.batch, out}), type({b.batch, out}), type({b.batch, out})});
      h = step[1];
      c = step[2];
      check_close(b.values(step[0]), {expected[static_cast<std::size_t>(t)]}, 1e-5);
    }
    CHECK(b.values(h) == b.values(whole[1]));
    CHECK(b.values(c) == b.values(whole[2]));
  }
}

TEST_CASE("lstm: values and gradients, both directions, zero length, any padding and memory order") {
  for (const Layout& layout : kLayouts)
    for (int direction : {1, -1})
      for (bool with_state : {false, true})
        for (bool extra : {false, true}) {
          CAPTURE(layout.poison);
          CAPTURE(direction);
          CAPTURE(with_state);
          std::vector<std::int64_t> lengths{4, 0, 2};
          Bench b(3, layout);
          Axes others;
          if (extra) others.push_back(b.feature("extra", 2));
          Lstm l = run_lstm(b, lengths, others, 3, 2, direction, with_state);
          std::vector<at::Tensor> expected = naive(b, lengths, extra ? 2 : 1, direction, with_state);
          for (std::size_t i = 0; i < 3; ++i) check_close(b.values(l.result[i]), flat(expected[i]), 1e-9);

          std::vector<double> actual = b.gradients(l.result);
          at::Tensor total = at::zeros({}, at::TensorOptions(at::kDouble));
          for (const at::Tensor& e : expected)
            total =
                total + (e.reshape({-1}) * at::arange(1, e.numel() + 1, at::TensorOptions(at::kDouble)).cos()).sum();
          std::vector<double> wanted;
          for (const at::Tensor& g : torch::autograd::grad({total}, b.leaves, {}, true, false, true)) {
            std::vector<double> part = flat(g);
            wanted.insert(wanted.end(), part.begin(), part.end());
          }
          check_close(actual, wanted, 1e-9);
        }
}

}  // namespace rcn::test
