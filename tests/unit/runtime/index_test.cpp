// Picking and joining frames, each sequence by its own length.
#include "tests/unit/runtime/bench.h"

namespace rcn::test {

TEST_CASE("gather: dims in both are batch dims, the others take the place of the axis (C05)") {
  for (const Layout& layout : kLayouts) {
    Bench b(2, layout);
    Dim time = b.spatial("time", {3, 2}), head = b.feature("head", 2), round = b.feature("round", 2);
    Tensor x = b.make({b.batch, head, time}, {0, 1, 2, 10, 11, 12, 100, 101, 9, 110, 111, 9}, DType::float64);
    Tensor position = b.make({b.batch, round}, {2, 0, 1, 1}, DType::int32);
    Tensor y = b.call1("gather", {x, position}, {{"axis", time}, {"clip_to_valid", false}},
                       type({b.batch, head, round}, DType::float64));
    CHECK(b.values(y) == std::vector<double>{2, 0, 12, 10, 101, 101, 111, 111});
    Tensor first = b.call1("gather", {x, std::int64_t{1}}, {{"axis", time}, {"clip_to_valid", false}},
                           type({b.batch, head}, DType::float64));
    CHECK(b.values(first) == std::vector<double>{1, 11, 101, 111});
    CHECK_THROWS_AS(b.call1("gather", {x, std::int64_t{2}}, {{"axis", time}, {"clip_to_valid", false}},
                            type({b.batch, head}, DType::float64)),
                    EvalError);
    CHECK(b.error() == "position 2 at batch=1 is out of range: `time` has length 2 there");
    Tensor clipped = b.call1("gather", {x, std::int64_t{5}}, {{"axis", time}, {"clip_to_valid", true}},
                             type({b.batch, head}, DType::float64));
    CHECK(b.values(clipped) == std::vector<double>{2, 12, 101, 111});
  }
}

TEST_CASE("gather: positions in the padding do not matter") {
  for (const Layout& layout : kLayouts) {
    Bench b(2, layout);
    Dim f = b.feature("f", 3), time = b.spatial("time", {2, 1});
    Tensor x = b.make({f}, {5, 6, 7}), position = b.make({b.batch, time}, {2, 0, 1, -4}, DType::int32);
    Tensor y = b.call1("gather", {x, position}, {{"axis", f}, {"clip_to_valid", false}}, type({b.batch, time}));
    CHECK(b.values(y) == std::vector<double>{7, 5, 6, 0});
  }
}

TEST_CASE("slice: Python's meaning for each sequence") {
  for (const Layout& layout : kLayouts) {
    auto sliced = [&](Value start, Value end, std::int64_t step, std::vector<std::int64_t> expected_lengths) {
      Bench b(3, layout);
      Dim time = b.spatial("time", {4, 2, 0}), out = b.fresh("out");
      Tensor x = b.make({b.batch, time}, {1, 2, 3, 4, 5, 6, 9, 9, 9, 9, 9, 9});
      Tensor y =
          b.call1("slice", {x}, {{"axis", time}, {"start", start}, {"end", end}, {"step", step}, {"out_dim", out}},
                  type({b.batch, out}));
      at::Tensor lengths = b.run.lengths.of(out).value;
      for (std::size_t i = 0; i < 3; ++i)
        CHECK(lengths[static_cast<std::int64_t>(i)].item<std::int64_t>() == expected_lengths[i]);
      return b.values(y);
    };
    CHECK(sliced(1, None{}, 1, {3, 1, 0}) == std::vector<double>{2, 3, 4, 6, 0, 0, 0, 0, 0});
    CHECK(sliced(None{}, -1, 1, {3, 1, 0}) == std::vector<double>{1, 2, 3, 5, 0, 0, 0, 0, 0});
    CHECK(sliced(-1, None{}, 1, {1, 1, 0}) == std::vector<double>{4, 6, 0});
    CHECK(sliced(0, 3, 1, {3, 2, 0}) == std::vector<double>{1, 2, 3, 5, 6, 0, 0, 0, 0});
    CHECK(sliced(None{}, None{}, 2, {2, 1, 0}) == std::vector<double>{1, 3, 5, 0, 0, 0});
    CHECK(sliced(None{}, None{}, -1, {4, 2, 0}) == std::vector<double>{4, 3, 2, 1, 6, 5, 0, 0, 0, 0, 0, 0});
    CHECK(sliced(3, 1, -1, {2, 0, 0}) == std::vector<double>{4, 3, 0, 0, 0, 0});
  }
}

TEST_CASE("pad: right padding stands behind each sequence's end") {
  for (const Layout& layout : kLayouts) {
    Bench b(3, layout);
    Dim time = b.spatial("time", {3, 1, 0});
    Dim out = b.dims.add(b.dims.add(b.dims.constant(1), time), b.dims.constant(2));
    Tensor x = b.make({b.batch, time}, {1, 2, 3, 4, 9, 9, 9, 9, 9});
    Tensor y = b.call1("pad", {x}, {{"axis", time}, {"left", 1}, {"right", 2}, {"value", -1.0}, {"out_dim", out}},
                       type({b.batch, out}));
    CHECK(b.values(y) == std::vector<double>{-1, 1, 2, 3, -1, -1, -1, 4, -1, -1, 0, 0, -1, -1, -1, 0, 0, 0});
  }
}

TEST_CASE("concat: valid frames are joined, padding never inside") {
  for (const Layout& layout : kLayouts) {
    Bench b(3, layout);
    Dim s = b.spatial("s", {2, 1, 0}), t = b.spatial("t", {1, 3, 2}), u = b.feature("u", 1);
    Dim out = b.dims.add(b.dims.add(s, u), t);
    Tensor x = b.make({b.batch, s}, {1, 2, 3, 9, 9, 9}), y = b.make({b.batch, t}, {11, 99, 99, 12, 13, 14, 15, 16, 99}),
           z = b.make({u, b.batch}, {7, 7, 7});
    Tensor joined =
        b.call1("concat", {x, z, y}, {{"axes", dim_list({s, u, t})}, {"out_dim", out}}, type({b.batch, out}));
    CHECK(b.values(joined) == std::vector<double>{1, 2, 7, 11, 0, 3, 7, 12, 13, 14, 7, 15, 16, 0, 0});
    Dim ff = b.dims.mul(u, b.dims.constant(2));
    CHECK(b.values(b.call1("concat", {z, z}, {{"axes", dim_list({u, u})}, {"out_dim", ff}}, type({ff, b.batch}))) ==
          std::vector<double>{7, 7, 7, 7, 7, 7});
  }
}

TEST_CASE("split_dims of a dynamic axis") {
  for (const Layout& layout : kLayouts) {
    Bench b(2, layout);
    Dim time = b.spatial("time", {5, 2}), two = b.feature("two", 2);
    Dim chunks = b.dims.ceildiv(time, two);
    Tensor x = b.make({b.batch, time}, {1, 2, 3, 4, 5, 6, 7, 9, 9, 9});
    Tensor y = b.call1(
        "split_dims", {x},
        {{"axis", time}, {"dims", dim_list({chunks, two})}, {"pad_to_multiples", true}, {"pad_value", std::int64_t{0}}},
        type({b.batch, chunks, two}));
    CHECK(b.values(y) == std::vector<double>{1, 2, 3, 4, 5, 0, 6, 7, 0, 0, 0, 0});
    Dim exact = b.dims.floordiv(time, two);
    CHECK_THROWS_AS(
        b.call1("split_dims", {x},
                {{"axis", time}, {"dims", dim_list({exact, two})}, {"pad_to_multiples", false}, {"pad_value", 0}},
                type({b.batch, exact, two})),
        EvalError);
    CHECK(b.error() == "`time` has length 5 at batch=0, which is no multiple of 2");
  }
}

TEST_CASE("replace_dim: a claim of equal lengths is checked (N17)") {
  Bench b;
  Dim s = b.spatial("s", {3, 2}), t = b.spatial("t", {3, 2}), u = b.spatial("u", {3, 1});
  Tensor x = b.make({b.batch, s}, {1, 2, 3, 4, 5, 0});
  Tensor y = b.call1("replace_dim", {x}, {{"in_dim", s}, {"out_dim", t}}, type({b.batch, t}));
  CHECK(b.values(y) == std::vector<double>{1, 2, 3, 4, 5, 0});
  CHECK_THROWS_AS(b.call1("replace_dim", {x}, {{"in_dim", s}, {"out_dim", u}}, type({b.batch, u})), EvalError);
  CHECK(b.error() == "`s` and `u` are declared equal but have different lengths at batch=1: 2 and 1");
}

TEST_CASE("split, stack, squeeze, expand_dims, one_hot, length, dim_value") {
  for (bool reversed : {false, true}) {
    Bench b(2, {reversed, 0});
    Dim time = b.spatial("time", {2, 1}), f = b.feature("f", 3), one = b.feature("one", 1), two = b.feature("two", 2);
    Tensor x = b.make({b.batch, f}, {1, 2, 3, 4, 5, 6});
    auto parts = b.call("split", {x}, {{"axis", f}, {"out_dims", dim_list({one, two})}},
                        {type({b.batch, one}), type({b.batch, two})});
    CHECK(b.values(parts[0]) == std::vector<double>{1, 4});
    CHECK(b.values(parts[1]) == std::vector<double>{2, 3, 5, 6});
    CHECK(b.values(b.call1("squeeze", {parts[0]}, {{"axes", dim_list({one})}}, type({b.batch}))) ==
          std::vector<double>{1, 4});
    Tensor y = b.make({f, b.batch}, {-1, -2, -3, -4, -5, -6});
    CHECK(b.values(b.call1("stack", {x, y}, {{"out_dim", two}}, type({two, b.batch, f}))) ==
          std::vector<double>{1, 2, 3, 4, 5, 6, -1, -3, -5, -2, -4, -6});
    Tensor wide = b.call1("expand_dims", {x}, {{"dims", dim_list({time})}}, type({time, b.batch, f}));
    CHECK(b.values(wide) == std::vector<double>{1, 2, 3, 1, 2, 3, 4, 5, 6, 0, 0, 0});
    Tensor labels = b.make({b.batch, time}, {2, 0, 1, 0}, DType::int32, f);
    CHECK(b.values(b.call1("one_hot", {labels}, {{"axis", f}}, type({b.batch, time, f}))) ==
          std::vector<double>{0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0});
    CHECK(b.values(b.call1("length", {}, {{"dim", time}}, type({b.batch}, DType::int32))) == std::vector<double>{2, 1});
    CHECK(b.values(b.call1("dim_value", {}, {{"dim", time}}, type({}, DType::int32))) == std::vector<double>{2});
    CHECK(b.values(b.call1("dim_value", {}, {{"dim", b.batch}}, type({}, DType::int32))) == std::vector<double>{2});
  }
}

TEST_CASE("lengths of derived dims") {
  Bench b(3);
  Dim time = b.spatial("time", {7, 2, 0});
  auto lengths = [&](Dim d) {
    at::Tensor l = b.run.lengths.of(d).value;
    return std::vector<std::int64_t>(l.data_ptr<std::int64_t>(), l.data_ptr<std::int64_t>() + l.numel());
  };
  Dim three = b.dims.constant(3);
  CHECK(lengths(b.dims.sub(time, three)) == std::vector<std::int64_t>{4, 0, 0});
  CHECK(lengths(b.dims.ceildiv(time, three)) == std::vector<std::int64_t>{3, 1, 0});
  CHECK(lengths(b.dims.floordiv(time, three)) == std::vector<std::int64_t>{2, 0, 0});
  CHECK(lengths(b.dims.add(b.dims.mul(time, three), b.dims.constant(1))) == std::vector<std::int64_t>{22, 7, 1});
  CHECK(b.run.lengths.extent(b.dims.mul(time, three)) == 21);
}

}  // namespace rcn::test
