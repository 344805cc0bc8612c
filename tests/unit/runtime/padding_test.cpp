// Nothing in the padding, nan included, reaches a valid frame or a gradient; the order of axes in memory does not
// matter.
#include <cmath>
#include <optional>

#include "tests/unit/runtime/bench.h"

namespace rcn::test {

namespace {

struct Outcome {
  std::vector<double> values;
  std::vector<double> gradients;
};

// Runs `program` on each layout; all must give what the clean one gives.
template <class Program>
void check_independent(std::int64_t batch, Program program) {
  std::optional<Outcome> first;
  for (const Layout& layout : kLayouts) {
    CAPTURE(layout.poison);
    CAPTURE(layout.reversed);
    Bench b(batch, layout);
    std::vector<Tensor> results = program(b);
    Outcome outcome;
    for (const Tensor& t : results) {
      std::vector<double> v = b.values(t);
      outcome.values.insert(outcome.values.end(), v.begin(), v.end());
    }
    outcome.gradients = b.gradients(results);
    if (!first) {
      for (double g : outcome.gradients) CHECK(std::isfinite(g));
      first = outcome;
    } else {
      check_close(outcome.values, first->values, 1e-9);
      check_close(outcome.gradients, first->gradients, 1e-9);
    }
  }
}

struct Dims {
  explicit Dims(Bench& b)
      : time(b.spatial("time", {3, 0, 2})),
        other(b.spatial("other", {1, 4, 2})),
        f(b.feature("f", 3)),
        g(b.feature("g", 2)) {}
  Dim time, other, f, g;
};

TensorType wide(Axes axes) { return type(std::move(axes), DType::float64); }

}  // namespace

TEST_CASE("linear, layer_norm and broadcasts of parameters") {
  check_independent(3, [](Bench& b) {
    Dims d(b);
    Axes axes{b.batch, d.time, d.f};
    Tensor x = b.leaf(axes, b.noise(axes, "x")), w = b.leaf({d.f, d.g}, b.noise({d.f, d.g}, "w")),
           bias = b.leaf({d.g}, {1, 2});
    Tensor scale = b.leaf({d.f}, {1, 2, 3}), shift = b.leaf({d.f}, {0, 1, 2}), one = b.leaf({}, {0.5});
    Tensor y = b.call1("layer_norm", {x, scale, shift}, {{"in_dim", d.f}, {"eps", 1e-6}}, wide(axes));
    y = b.call1("mul", {y, scale}, {}, wide(axes));
    y = b.call1("add", {y, one}, {}, wide(axes));
    // Infinite gradients where the padding is 0.
    Tensor s = b.call1("sqrt", {b.call1("abs", {x}, {}, wide(axes))}, {}, wide(axes));
    y = b.call1("add", {y, s}, {}, wide(axes));
    return std::vector<Tensor>{b.call1("linear", {y, w, bias}, {{"in_dim", d.f}, {"out_dim", d.g}, {"with_bias", true}},
                                       wide({b.batch, d.time, d.g}))};
  });
}

TEST_CASE("lookup of sparse values") {
  check_independent(3, [](Bench& b) {
    Dims d(b);
    Tensor labels = b.make({b.batch, d.time}, {0, 1, 2, 9, 9, 9, 2, 2, 9}, DType::int32, d.f);
    Tensor w = b.leaf({d.f, d.g}, b.noise({d.f, d.g}, "w")), bias = b.leaf({d.g}, {1, 2});
    return std::vector<Tensor>{b.call1("linear", {labels, w, bias},
                                       {{"in_dim", d.f}, {"out_dim", d.g}, {"with_bias", true}},
                                       wide({b.batch, d.time, d.g}))};
  });
}

TEST_CASE("attention: dot, softmax, dot") {
  check_independent(3, [](Bench& b) {
    Dims d(b);
    Axes q_axes{b.batch, d.time, d.f}, k_axes{b.batch, d.other, d.f};
    Tensor q = b.leaf(q_axes, b.noise(q_axes, "q")), k = b.leaf(k_axes, b.noise(k_axes, "k"));
    Tensor e = b.call1("dot", {q, k}, {{"axes", dim_list({d.f})}}, wide({b.batch, d.time, d.other}));
    Tensor a = b.call1("softmax", {e}, {{"axis", d.other}}, wide({b.batch, d.time, d.other}));
    Tensor log = b.call1("log_softmax", {e}, {{"axis", d.other}}, wide({b.batch, d.time, d.other}));
    Tensor c = b.call1("dot", {a, k}, {{"axes", dim_list({d.other})}}, wide({b.batch, d.time, d.f}));
    return std::vector<Tensor>{a, log, c};
  });
}

TEST_CASE("reductions of every mode") {
  for (const char* mode : {"sum", "mean", "max", "min", "logsumexp"}) {
    CAPTURE(mode);
    check_independent(3, [&](Bench& b) {
      Dims d(b);
      Axes axes{b.batch, d.time, d.f};
      Tensor x = b.leaf(axes, b.noise(axes, "x"));
      auto reduce = [&](Axes over, Axes rest) {
        return b.call1("reduce", {x}, {{"mode", mode}, {"axes", dim_list(over)}}, wide(rest));
      };
      std::vector<Tensor> results{reduce({b.batch, d.time}, {d.f}), reduce({d.f}, {b.batch, d.time}),
                                  reduce({b.batch, d.time, d.f}, {}), reduce({b.batch}, {d.time, d.f})};
      if (std::string(mode) == "sum" || std::string(mode) == "mean")
        results.push_back(reduce({d.time}, {b.batch, d.f}));
      return results;
    });
  }
}

TEST_CASE("gather, slice, pad, concat, split_dims, expand_dims") {
  check_independent(3, [](Bench& b) {
    Dims d(b);
    Axes axes{b.batch, d.time, d.f}, more{b.batch, d.other, d.f};
    Tensor x = b.leaf(axes, b.noise(axes, "x")), y = b.leaf(more, b.noise(more, "y")), v = b.leaf({d.f}, {1, 2, 3});
    Dim joined = b.dims.add(d.time, d.other), out = b.fresh("out"), longer = b.dims.add(d.time, b.dims.constant(2)),
        chunks = b.dims.ceildiv(d.time, d.g);
    std::vector<Tensor> results;
    results.push_back(b.call1("concat", {x, y}, {{"axes", dim_list({d.time, d.other})}, {"out_dim", joined}},
                              wide({b.batch, joined, d.f})));
    results.push_back(b.call1("slice", {x},
                              {{"axis", d.time}, {"start", -2}, {"end", None{}}, {"step", 1}, {"out_dim", out}},
                              wide({b.batch, out, d.f})));
    results.push_back(b.call1("pad", {x},
                              {{"axis", d.time}, {"left", 0}, {"right", 2}, {"value", 5.0}, {"out_dim", longer}},
                              wide({b.batch, longer, d.f})));
    results.push_back(
        b.call1("split_dims", {x},
                {{"axis", d.time}, {"dims", dim_list({chunks, d.g})}, {"pad_to_multiples", true}, {"pad_value", 0.0}},
                wide({b.batch, chunks, d.g, d.f})));
    results.push_back(
        b.call1("expand_dims", {v}, {{"dims", dim_list({b.batch, d.time})}}, wide({b.batch, d.time, d.f})));
    Tensor position = b.make({b.batch, d.other}, {2, 9, 9, 9, 0, 1, 1, 0, 2, 2, 9, 9}, DType::int32);
    results.push_back(
        b.call1("gather", {v, position}, {{"axis", d.f}, {"clip_to_valid", false}}, wide({b.batch, d.other})));
    return results;
  });
}

TEST_CASE("gradients agree with finite differences") {
  // One program with all kinds of mixing, on one leaf at a time.
  auto program = [](Bench& b, const std::vector<double>& shift) {
    Dims d(b);
    Axes axes{b.batch, d.time, d.f};
    std::vector<double> values = b.noise(axes, "x");
    for (std::size_t i = 0; i < shift.size(); ++i) values[i] += shift[i];
    Tensor x = b.leaf(axes, values), w = b.make({d.f, d.f}, b.noise({d.f, d.f}, "w"), DType::float64);
    Tensor y = b.call1("linear", {x, w}, {{"in_dim", d.f}, {"out_dim", d.f}, {"with_bias", false}}, wide(axes));
    y = b.call1("safe_log", {b.call1("softmax", {y}, {{"axis", d.time}}, wide(axes))}, {{"eps", 1e-7}}, wide(axes));
    Tensor m = b.call1("reduce", {y}, {{"mode", "mean"}, {"axes", dim_list({d.time})}}, wide({b.batch, d.f}));
    Tensor dot = b.call1("dot", {y, m}, {{"axes", dim_list({d.f})}}, wide({b.batch, d.time}));
    return std::vector<Tensor>{y, m, dot};
  };
  auto objective = [&](const std::vector<double>& shift) {
    Bench b(3);
    double total = 0;
    for (const Tensor& t : program(b, shift)) {
      std::vector<double> v = b.values(t);
      for (std::size_t i = 0; i < v.size(); ++i) total += v[i] * std::cos(static_cast<double>(i + 1));
    }
    return total;
  };
  Bench b(3);
  std::vector<double> actual = b.gradients(program(b, {}));
  for (std::size_t i = 0; i < actual.size(); ++i) {
    std::vector<double> shift(actual.size(), 0.0);
    shift[i] = 1e-5;
    double high = objective(shift);
    shift[i] = -1e-5;
    CHECK(actual[i] == doctest::Approx((high - objective(shift)) / 2e-5).epsilon(1e-5).scale(1));
  }
}

}  // namespace rcn::test
