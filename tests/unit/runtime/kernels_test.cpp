// Kernels against values computed by hand, in every memory order and with anything in the padding.
#include "tests/unit/runtime/bench.h"

namespace rcn::test {

TEST_CASE("dot: padding of the reduced axis does not count (C07)") {
  for (const Layout& layout : kLayouts) {
    Bench b(2, layout);
    Dim time = b.spatial("time", {2, 3});
    Tensor x = b.make({b.batch, time}, {1, 2, 100, 1, 2, 3}), y = b.make({b.batch, time}, {1, 1, 100, 1, 1, 1});
    CHECK(b.values(b.call1("dot", {x, y}, {{"axes", dim_list({time})}}, type({b.batch}))) == std::vector<double>{3, 6});
  }
}

TEST_CASE("dot: a weight with one dim twice is reduced over its first occurrence (C03)") {
  Bench b;
  Dim d = b.feature("d", 2);
  Tensor x = b.make({d}, {1, 1}), w = b.make({d, d}, {1, 2, 0, 1});
  CHECK(b.values(b.call1("dot", {x, w}, {{"axes", dim_list({d})}}, type({d}))) == std::vector<double>{1, 3});
  CHECK(b.values(b.call1("dot", {w, x}, {{"axes", dim_list({d})}}, type({d}))) == std::vector<double>{1, 3});
  CHECK(b.values(b.call1("linear", {x, w}, {{"in_dim", d}, {"out_dim", d}, {"with_bias", false}}, type({d}))) ==
        std::vector<double>{1, 3});
}

TEST_CASE("dot: batch dims, outer dims and several reduced dims") {
  for (bool reversed : {false, true}) {
    Bench b(2, {reversed, 0});
    Dim m = b.feature("m", 2), n = b.feature("n", 3), k = b.feature("k", 2), l = b.feature("l", 2);
    Axes a_axes{b.batch, m, k, l}, b_axes{l, b.batch, n, k};
    std::vector<double> av = b.noise(a_axes, "a"), bv = b.noise(b_axes, "b");
    Tensor result = b.call1("dot", {b.make(a_axes, av, DType::float64), b.make(b_axes, bv, DType::float64)},
                            {{"axes", dim_list({k, l})}}, type({b.batch, m, n}, DType::float64));
    std::vector<double> expected;
    for (std::size_t bi = 0; bi < 2; ++bi)
      for (std::size_t mi = 0; mi < 2; ++mi)
        for (std::size_t ni = 0; ni < 3; ++ni) {
          double sum = 0;
          for (std::size_t ki = 0; ki < 2; ++ki)
            for (std::size_t li = 0; li < 2; ++li)
              sum += av[((bi * 2 + mi) * 2 + ki) * 2 + li] * bv[((li * 2 + bi) * 3 + ni) * 2 + ki];
          expected.push_back(sum);
        }
    check_close(b.values(result), expected, 1e-12);
  }
}

TEST_CASE("merge_dims: the order is that of the list, not that of memory (C11)") {
  for (bool reversed : {false, true}) {
    Bench b(1, {reversed, 0});
    Dim f = b.feature("f", 3), s = b.feature("s", 2);
    Tensor x = b.make({f, s}, {0, 1, 10, 11, 20, 21});
    Dim fs = b.dims.mul(f, s), sf = b.dims.mul(s, f);
    CHECK(b.values(b.call1("merge_dims", {x}, {{"axes", dim_list({f, s})}, {"out_dim", fs}}, type({fs}))) ==
          std::vector<double>{0, 1, 10, 11, 20, 21});
    CHECK(b.values(b.call1("merge_dims", {x}, {{"axes", dim_list({s, f})}, {"out_dim", sf}}, type({sf}))) ==
          std::vector<double>{0, 10, 20, 1, 11, 21});
    Tensor merged = b.call1("merge_dims", {x}, {{"axes", dim_list({s, f})}, {"out_dim", sf}}, type({sf}));
    CHECK(b.values(b.call1("split_dims", {merged},
                           {{"axis", sf}, {"dims", dim_list({s, f})}, {"pad_to_multiples", false}}, type({s, f}))) ==
          std::vector<double>{0, 10, 20, 1, 11, 21});
  }
}

TEST_CASE("range_over_dim has the one dim, and broadcasts by it (N11)") {
  for (bool reversed : {false, true}) {
    Bench b(4, {reversed, 0});
    Dim time = b.feature("time", 3), d = b.feature("d", 2);
    Tensor range = b.call1("range_over_dim", {}, {{"dim", time}}, type({time}, DType::int32));
    CHECK(range->type.dims == Axes{time});
    CHECK(b.values(range) == std::vector<double>{0, 1, 2});
    Tensor x = b.make({b.batch, time, d}, std::vector<double>(24, 10), DType::int32);
    std::vector<double> expected;
    for (int i = 0; i < 4; ++i) expected.insert(expected.end(), {10, 10, 11, 11, 12, 12});
    CHECK(b.values(b.call1("add", {x, range}, {}, type({b.batch, time, d}, DType::int32))) == expected);
  }
}

TEST_CASE("dropout: identity while the flag is off, 0 or 2x while it is on, the same for the same seed (C43)") {
  for (bool reversed : {false, true}) {
    Bench b(2, {reversed, 0});
    Dim f = b.feature("f", 50);
    Axes axes{b.batch, f};
    std::vector<double> xv = b.noise(axes, "x");
    Tensor x = b.make(axes, xv, DType::float64);
    auto drop = [&](const Axes& noise_axes) {
      return b.values(b.call1("dropout", {x}, {{"dropout", 0.5}, {"axes", dim_list(noise_axes)}, {"always", false}},
                              type(axes, DType::float64)));
    };
    CHECK(drop(axes) == xv);
    b.run.train = true;
    b.run.seed = 5;
    std::vector<double> first = drop(axes), second = drop(axes);
    int zeros = 0;
    for (std::size_t i = 0; i < xv.size(); ++i) {
      CHECK((first[i] == 0 || first[i] == 2 * xv[i]));
      zeros += first[i] == 0;
    }
    CHECK(zeros > 25);
    CHECK(zeros < 75);
    CHECK(first != second);
    b.run.draws.clear();
    CHECK(drop(axes) == first);
    static std::vector<double> of_other_order;
    if (of_other_order.empty()) of_other_order = first;
    CHECK(first == of_other_order);
    std::vector<double> shared = drop({f});
    for (std::size_t i = 0; i < 50; ++i) CHECK((shared[i] == 0) == (shared[i + 50] == 0));
  }
}

TEST_CASE("reductions over dynamic axes look at valid frames only") {
  for (const Layout& layout : kLayouts) {
    CAPTURE(layout.poison);
    Bench b(3, layout);
    Dim time = b.spatial("time", {3, 1, 0}), f = b.feature("f", 2);
    Tensor x = b.make({b.batch, time, f}, {1, -2, 3, 4, 5, -6, 7, -8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, DType::float32);
    auto reduce = [&](const char* mode, const Axes& axes, const Axes& rest, DType dtype = DType::float32) {
      return b.values(b.call1("reduce", {x}, {{"mode", mode}, {"axes", dim_list(axes)}}, type(rest, dtype)));
    };
    double lowest = std::numeric_limits<float>::lowest(), highest = std::numeric_limits<float>::max();
    CHECK(reduce("sum", {time}, {b.batch, f}) == std::vector<double>{9, -4, 7, -8, 0, 0});
    check_close(reduce("mean", {time}, {b.batch, f}), {3, -4.0 / 3, 7, -8, 0, 0});
    CHECK(reduce("max", {time}, {b.batch, f}) == std::vector<double>{5, 4, 7, -8, lowest, lowest});
    CHECK(reduce("min", {time}, {b.batch, f}) == std::vector<double>{1, -6, 7, -8, highest, highest});
    CHECK(reduce("argmax", {time}, {b.batch, f}, DType::int32) == std::vector<double>{2, 1, 0, 0, 0, 0});
    CHECK(reduce("argmin", {time}, {b.batch, f}, DType::int32) == std::vector<double>{0, 2, 0, 0, 0, 0});
    check_close(reduce("logsumexp", {time}, {b.batch, f}), {5.1429316284, 4.0025208504, 7, -8, lowest, lowest});
    check_close(reduce("mean", {b.batch, time}, {f}), {4, -3});
    CHECK(reduce("sum", {b.batch, time, f}, {}) == std::vector<double>{4});
    check_close(reduce("mean", {b.batch}, {time, f}), {4, -5, 3, 4, 5, -6});
    CHECK(reduce("max", {f}, {b.batch, time}) == std::vector<double>{1, 4, 5, 7, 0, 0, 0, 0, 0});
    Tensor positive = b.call1("greater", {x, 0.0}, {}, type({b.batch, time, f}, DType::bool_));
    CHECK(b.values(b.call1("reduce", {positive}, {{"mode", "all"}, {"axes", dim_list({time})}},
                           type({b.batch, f}, DType::bool_))) == std::vector<double>{1, 0, 1, 0, 1, 1});
    CHECK(b.values(b.call1("reduce", {positive}, {{"mode", "any"}, {"axes", dim_list({time})}},
                           type({b.batch, f}, DType::bool_))) == std::vector<double>{1, 1, 1, 0, 0, 0});
  }
}

TEST_CASE("softmax over a dynamic axis gives nothing to the padding") {
  for (const Layout& layout : kLayouts) {
    Bench b(3, layout);
    Dim time = b.spatial("time", {2, 3, 0});
    Tensor x = b.make({b.batch, time}, {0, 0, 5, 1, 1, 1, 9, 9, 9});
    Tensor y = b.call1("softmax", {x}, {{"axis", time}}, type({b.batch, time}));
    check_close(b.values(y), {0.5, 0.5, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3, 0, 0, 0});
    CHECK(eager(y).value.ne(eager(y).value).sum().item<int>() == 0);  // no nan in the padding either
    Tensor log = b.call1("log_softmax", {x}, {{"axis", time}}, type({b.batch, time}));
    check_close(b.values(log), {-0.6931472, -0.6931472, 0, -1.0986123, -1.0986123, -1.0986123, 0, 0, 0});
  }
}

TEST_CASE("elementwise functions") {
  Bench b;
  Dim f = b.feature("f", 4);
  Tensor x = b.make({f}, {-1.5, -0.5, 0.5, 2.5}, DType::float64);
  auto unary = [&](const char* name) { return b.values(b.call1(name, {x}, {}, type({f}, DType::float64))); };
  CHECK(unary("rint") == std::vector<double>{-2, 0, 0, 2});
  CHECK(unary("relu") == std::vector<double>{0, 0, 0.5, 2.5});
  check_close(unary("gelu"), {-0.1002108, -0.1542688, 0.3457312, 2.4844758}, 1e-6);
  check_close(unary("softplus"), {0.2014133, 0.4740770, 0.9740770, 2.5788894}, 1e-6);
  check_close(unary("swish"), {-0.2736381, -0.1887703, 0.3112297, 2.3103546}, 1e-6);
  auto binary = [&](const char* name, Operand a, Operand c, DType dtype) {
    return b.values(b.call1(name, {a, c}, {}, type({f}, dtype)));
  };
  Tensor i = b.make({f}, {-7, -1, 7, 8}, DType::int32);
  CHECK(binary("floordiv", i, std::int64_t{2}, DType::int32) == std::vector<double>{-4, -1, 3, 4});
  CHECK(binary("mod", i, std::int64_t{3}, DType::int32) == std::vector<double>{2, 2, 1, 2});
  CHECK(binary("maximum", i, std::int64_t{0}, DType::int32) == std::vector<double>{0, 0, 7, 8});
  CHECK(binary("sub", std::int64_t{1}, i, DType::int32) == std::vector<double>{8, 2, -6, -7});
  CHECK(binary("less", i, std::int64_t{0}, DType::bool_) == std::vector<double>{1, 1, 0, 0});
  CHECK(b.values(b.call1("cast", {x}, {}, type({f}, DType::int32))) == std::vector<double>{-1, 0, 0, 2});
  Tensor negative = b.call1("less", {i, std::int64_t{0}}, {}, type({f}, DType::bool_));
  CHECK(b.values(b.call1("where", {negative, std::int64_t{1}, std::int64_t{0}}, {}, type({f}, DType::int32))) ==
        std::vector<double>{1, 1, 0, 0});
  CHECK_THROWS_AS(binary("mod", i, std::int64_t{0}, DType::int32), EvalError);
  CHECK(b.error() == "division by zero at f=0");
}

TEST_CASE("division by zero is no error in the padding") {
  Bench b;
  Dim time = b.spatial("time", {2, 1});
  Tensor x = b.make({b.batch, time}, {4, 6, 8, 0}, DType::int32),
         y = b.make({b.batch, time}, {2, 3, 4, 0}, DType::int32);
  CHECK(b.values(b.call1("floordiv", {x, y}, {}, type({b.batch, time}, DType::int32))) ==
        std::vector<double>{2, 2, 2, 0});
}

TEST_CASE("float16 is computed in float32 and stored as float16") {
  Bench b;
  Dim f = b.feature("f", 2);
  Tensor x = b.make({f}, {1, 2}, DType::float16), w = b.make({f, f}, {1, 2, 3, 4}, DType::float16);
  Tensor y =
      b.call1("linear", {x, w}, {{"in_dim", f}, {"out_dim", f}, {"with_bias", false}}, type({f}, DType::float16));
  CHECK((eager(y).value.scalar_type() == at::kHalf));
  CHECK(b.values(y) == std::vector<double>{7, 10});
}

}  // namespace rcn::test
