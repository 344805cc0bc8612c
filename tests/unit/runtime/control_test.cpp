// Loops, branches, masked parts and histories: the backend called with hand-made bodies.
#include <cmath>

#include "tests/unit/runtime/bench.h"

namespace rcn::test {

namespace {

struct Control : Bench {
  explicit Control(std::int64_t batch_size = 3) : Bench(batch_size) {}
  DimLengths known;
  Inputs inputs{{}, batch, known, run.lengths, sink};
  Params params{1, false};
  EagerBackend backend{run, inputs, params, sink, true};

  Tensor op(std::string_view name, std::vector<Operand> operands, TensorType output,
            std::vector<std::pair<std::string_view, Value>> attrs = {}) {
    return ops(name, std::move(operands), {std::move(output)}, std::move(attrs)).at(0);
  }
  std::vector<Tensor> ops(std::string_view name, std::vector<Operand> operands, std::vector<TensorType> outputs,
                          std::vector<std::pair<std::string_view, Value>> attrs = {}) {
    OpInfo info{name, {}, "", "", nullptr};
    OpNode node;
    node.op = &info;
    node.inputs = std::move(operands);
    node.outputs = std::move(outputs);
    node.attrs = std::move(attrs);
    return backend.apply(node);
  }
  Tensor doubles(const std::vector<double>& values) { return make({batch}, values, DType::float64); }
  Tensor ints(const std::vector<double>& values) { return make({batch}, values, DType::int32); }
  Tensor bools(const std::vector<double>& values) { return make({batch}, values, DType::bool_); }
  TensorType wide() const { return type({batch}, DType::float64); }

  std::vector<double> lengths_of(Dim d) {
    at::Tensor flat = run.lengths.of(d).value.to(at::kDouble).reshape({-1});
    return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
  }
};

// Over `axis`, with one state `h` [batch] that is also stacked.
LoopSpec over(Control& c, Dim axis, bool axis_known, Tensor initial) {
  LoopSpec spec;
  spec.name = "loop";
  spec.axis = axis;
  spec.axis_known = axis_known;
  spec.length_dims = {c.batch};
  spec.state = {{"h", std::move(initial), c.wide(), {}}};
  spec.stacked_names = {"hs"};
  spec.stacked = {c.wide()};
  return spec;
}

// A loop that counts, from 0, and ends where the count is `ends`.
LoopResult count_until(Control& c, Dim out, const Tensor& ends, bool include_eos, const Tensor& max) {
  LoopSpec spec = over(c, out, false, c.doubles({0, 0, 0}));
  spec.max = max;
  spec.has_end = ends != nullptr;
  spec.include_eos = include_eos;
  return c.backend.loop(spec, [&](const LoopStep& s) {
    Tensor h = c.op("add", {s.state[0], std::int64_t{1}}, c.wide());
    Tensor end = ends ? c.op("equal", {h, ends}, type({c.batch}, DType::bool_)) : nullptr;
    return LoopNext{{h}, {h}, end};
  });
}

}  // namespace

TEST_CASE("loop: each sequence has the state of its own last frame") {
  Control c;
  Dim time = c.spatial("time", {2, 0, 3});
  Tensor x = c.make({c.batch, time}, {1, 2, kNan, kNan, kNan, kNan, 3, 4, 5}, DType::float64);
  LoopSpec spec = over(c, time, true, c.doubles({10, 20, 30}));
  LoopResult r = c.backend.loop(spec, [&](const LoopStep& s) {
    Tensor h = c.op("add", {s.state[0], c.backend.frame(x, time, s.index, {})}, c.wide());
    return LoopNext{{h}, {h}, nullptr};
  });
  check_close(c.values(r.last[0]), {13, 20, 42});
  CHECK((r.stacked[0]->type.dims == std::vector<Dim>{time, c.batch}));
  check_close(c.values(r.stacked[0]), {11, 13, 0, 0, 0, 0, 33, 37, 42});
}

TEST_CASE("loop: the last state has the dims of the lengths") {
  Control c;
  Dim time = c.spatial("time", {2, 0, 3});
  LoopSpec spec;
  spec.name = "loop";
  spec.axis = time;
  spec.length_dims = {c.batch};
  TensorType scalar = type({}, DType::float64);
  spec.state = {{"n", c.make({}, {0}, DType::float64), scalar, {}}};
  LoopResult r = c.backend.loop(spec, [&](const LoopStep& s) {
    return LoopNext{{c.op("add", {s.state[0], std::int64_t{1}}, scalar)}, {}, nullptr};
  });
  CHECK((r.last[0]->type.dims == std::vector<Dim>{c.batch}));
  check_close(c.values(r.last[0]), {2, 0, 3});
}

TEST_CASE("loop: no frame at all") {
  Control c(2);
  Dim time = c.spatial("time", {0, 0}), made = c.fresh("made");
  LoopSpec spec = over(c, time, true, c.doubles({1, 2}));
  spec.stacked = {type({c.batch, made}, DType::float64)};
  LoopResult r = c.backend.loop(spec, [&](const LoopStep&) -> LoopNext { throw std::logic_error("ran"); });
  check_close(c.values(r.last[0]), {1, 2});
  CHECK(eager(r.stacked[0]).value.numel() == 0);
}

TEST_CASE("loop: lengths by `end`, with and without the end frame") {
  for (bool include : {true, false}) {
    CAPTURE(include);
    Control c;
    Dim out = c.fresh("out");
    LoopResult r = count_until(c, out, c.doubles({2, 1, 3}), include, nullptr);
    std::vector<double> lengths = include ? std::vector<double>{2, 1, 3} : std::vector<double>{1, 0, 2};
    check_close(c.lengths_of(out), lengths);
    check_close(c.values(r.last[0]), lengths);
    CHECK(eager(r.stacked[0]).value.size(0) == (include ? 3 : 2));
    check_close(c.values(r.stacked[0]),
                include ? std::vector<double>{1, 2, 0, 1, 0, 0, 1, 2, 3} : std::vector<double>{1, 0, 0, 0, 1, 2});
  }
}

TEST_CASE("loop: lengths by `max`") {
  {
    Control c;
    Dim out = c.fresh("out");
    LoopResult r = count_until(c, out, nullptr, true, c.ints({2, 0, 3}));
    check_close(c.lengths_of(out), {2, 0, 3});
    check_close(c.values(r.last[0]), {2, 0, 3});
  }
  {
    Control c;
    Dim out = c.fresh("out");
    count_until(c, out, c.doubles({1, 9, 2}), true, c.make({}, {2}, DType::int32));
    check_close(c.lengths_of(out), {1, 2, 2});
  }
  {
    Control c;
    Dim out = c.fresh("out");
    LoopSpec spec = over(c, out, false, c.doubles({0, 0, 0}));
    spec.length_dims.clear();
    spec.max = c.make({}, {4}, DType::int32);
    LoopResult r = c.backend.loop(spec, [&](const LoopStep& s) {
      Tensor h = c.op("add", {s.state[0], std::int64_t{1}}, c.wide());
      return LoopNext{{h}, {h}, nullptr};
    });
    CHECK(c.run.lengths.of(out).axes.empty());
    CHECK(c.run.lengths.extent(out) == 4);
    check_close(c.values(r.last[0]), {4, 4, 4});
  }
}

TEST_CASE("loop: one that never ends stops at the limit") {
  Control c;
  c.run.loop_frames = 20;
  CHECK_THROWS_AS(count_until(c, c.fresh("out"), c.doubles({2, -1, 3}), true, nullptr), EvalError);
  CHECK(c.error() == "the loop has not ended at batch=1 after 20 frames (limit `loop_frames`)");
  CHECK(c.run.scope.empty());
  CHECK(c.run.lengths.region() == 0);
}

TEST_CASE("loop: gradients; nan of ended sequences stays away") {
  // h' = w * h + log(x[t]), the last state summed.
  Control c(2);
  Dim time = c.spatial("time", {1, 3});
  Tensor x = c.leaf({c.batch, time}, {2, 1, 1, 3, 4, 5}), w = c.leaf({}, {0.5}), h0 = c.leaf({c.batch}, {1, 2});
  LoopSpec spec = over(c, time, true, h0);
  LoopResult r = c.backend.loop(spec, [&](const LoopStep& s) {
    Tensor frame =
        c.op("log", {c.op("sub", {c.backend.frame(x, time, s.index, {}), std::int64_t{1}}, c.wide())}, c.wide());
    Tensor h = c.op("add", {c.op("mul", {s.state[0], w}, c.wide()), frame}, c.wide());
    return LoopNext{{h}, {h}, nullptr};
  });
  double l2 = std::log(2), l3 = std::log(3);
  check_close(c.values(r.last[0]), {0.5, 0.25 + 0.25 * l2 + 0.5 * l3 + std::log(4)});
  // Of sum(k cos(k) ...): weights cos(1), cos(2) of the two sequences.
  double a = std::cos(1), b = std::cos(2);
  double dw = a * 1 + b * (3 * 0.25 * 2 + 2 * 0.5 * l2 + l3);
  check_close(c.gradients({r.last[0]}), {a / 1, 0, 0, b * 0.25 / 2, b * 0.5 / 3, b / 4, dw, a * 0.5, b * 0.125});
  for (double g : c.gradients({r.stacked[0]})) CHECK(std::isfinite(g));
}

TEST_CASE("loop: the uncounted end frame gets no gradient from its padding") {
  Control c(2);
  Dim out = c.fresh("out");
  Tensor w = c.leaf({}, {1});
  LoopSpec spec = over(c, out, false, c.doubles({3, 2}));
  spec.has_end = true;
  spec.include_eos = false;
  // Counts down; ends at 0, where the logarithm's gradient is infinite.
  LoopResult r = c.backend.loop(spec, [&](const LoopStep& s) {
    Tensor h = c.op("mul", {c.op("sub", {s.state[0], std::int64_t{1}}, c.wide()), w}, c.wide());
    return LoopNext{{h}, {h}, c.op("equal", {h, std::int64_t{0}}, type({c.batch}, DType::bool_))};
  });
  check_close(c.lengths_of(out), {2, 1});
  Tensor logs = c.op("log", {r.stacked[0]}, r.stacked[0]->type);
  for (double g : c.gradients({logs})) CHECK(std::isfinite(g));
}

TEST_CASE("loop: dims of the body") {
  Control c(2);
  Dim time = c.spatial("time", {3, 1}), same = c.fresh("same"), grows = c.fresh("grows");
  LoopSpec spec;
  spec.name = "loop";
  spec.axis = time;
  spec.length_dims = {c.batch};
  spec.stacked_names = {"a", "b"};
  spec.stacked = {type({c.batch, same}, DType::float64), type({grows, c.batch}, DType::float64)};
  LoopResult r = c.backend.loop(spec, [&](const LoopStep& s) {
    std::int64_t t = eager(s.index).value.item<std::int64_t>();
    c.run.lengths.define(same, {at::tensor(at::ArrayRef<std::int64_t>{2, 1}, at::kLong), {c.batch}});
    c.run.lengths.define(grows, {at::scalar_tensor(t + 1, at::kLong), {}});
    Tensor one = c.make({}, {static_cast<double>(t + 1)}, DType::float64);
    auto filled = [&](const TensorType& to) { return c.op("expand_dims", {one}, to, {{"dims", dim_list(to.dims)}}); };
    return LoopNext{{}, {filled(spec.stacked[0]), filled(spec.stacked[1])}, nullptr};
  });
  check_close(c.lengths_of(same), {2, 1});
  CHECK((c.run.lengths.of(grows).axes == Axes{time}));
  check_close(c.lengths_of(grows), {1, 2, 3});
  CHECK((eager(r.stacked[1]).value.sizes() == at::IntArrayRef{3, 3, 2}));
  Tensor counts = c.op("reduce", {r.stacked[1]}, type({time, c.batch}, DType::float64),
                       {{"mode", "sum"}, {"axes", dim_list({grows})}});
  check_close(c.values(counts), {1, 4, 9, 1, 0, 0});

  // In another loop a frame sees the lengths of its step.
  LoopSpec again = over(c, time, true, c.doubles({0, 0}));
  LoopResult sums = c.backend.loop(again, [&](const LoopStep& s) {
    Tensor frame = c.backend.frame(r.stacked[1], time, s.index, {});
    Tensor mean = c.op("reduce", {c.op("add", {frame, std::int64_t{1}}, frame->type)}, c.wide(),
                       {{"mode", "mean"}, {"axes", dim_list({grows})}});
    return LoopNext{{mean}, {mean}, nullptr};
  });
  check_close(c.values(sums.stacked[0]), {2, 3, 4, 2, 0, 0});
}

TEST_CASE("loop: loops in loops, and a dim of the inner one") {
  Control c(2);
  Dim time = c.spatial("time", {3, 2}), inner = c.fresh("inner");
  LoopSpec outer;
  outer.name = "outer";
  outer.axis = time;
  outer.length_dims = {c.batch};
  outer.state = {{"n", c.make({c.batch}, {0, 1}, DType::int32), type({c.batch}, DType::int32), {}}};
  outer.stacked_names = {"all"};
  outer.stacked = {type({inner, c.batch}, DType::float64)};
  std::vector<std::string> names;
  c.backend.observer = [&](const Produced& p) { names.push_back(p.name); };
  LoopResult r = c.backend.loop(outer, [&](const LoopStep& s) {
    Tensor n = c.op("add", {s.state[0], std::int64_t{1}}, type({c.batch}, DType::int32));
    c.backend.enter_scope("count", true, {});
    LoopSpec spec = over(c, inner, false, c.doubles({0, 0}));
    spec.name = "inner";
    spec.max = n;
    LoopResult counted = c.backend.loop(spec, [&](const LoopStep& i) {
      Tensor h = c.op("add", {i.state[0], std::int64_t{1}}, c.wide());
      return LoopNext{{h}, {h}, nullptr};
    });
    c.backend.leave_scope();
    return LoopNext{{n}, {counted.stacked[0]}, nullptr};
  });
  CHECK((c.run.lengths.of(inner).axes == Axes{time, c.batch}));
  check_close(c.lengths_of(inner), {1, 2, 2, 3, 3, 0});
  CHECK((eager(r.stacked[0]).value.sizes() == at::IntArrayRef{3, 3, 2}));
  CHECK(std::find(names.begin(), names.end(), "outer[0].add") != names.end());
  CHECK(std::find(names.begin(), names.end(), "outer[1].count.inner[0].add") != names.end());
  CHECK(names.back() == "outer.all");
}

TEST_CASE("cond: only the branch taken runs") {
  Control c(2);
  CondSpec spec;
  spec.results = {c.wide()};
  int ran = 0;
  for (double taken : {1.0, 0.0}) {
    spec.condition = c.make({}, {taken}, DType::bool_);
    auto branch = [&](double value, int number) {
      return [&c, &ran, value, number] {
        ran = ran * 10 + number;
        return std::vector<Tensor>{c.doubles({value, value})};
      };
    };
    std::vector<Tensor> results = c.backend.cond(spec, branch(1, 1), branch(2, 2));
    check_close(c.values(results[0]), taken != 0 ? std::vector<double>{1, 1} : std::vector<double>{2, 2});
  }
  CHECK(ran == 12);
}

TEST_CASE("masked: what takes no part neither changes, fails nor gets gradients") {
  Control c;
  Dim classes = c.feature("classes", 2), f = c.feature("f", 2);
  Tensor x = c.leaf({c.batch}, {4, 0, kNan}), w = c.leaf({classes, f}, {1, 2, 3, 4}),
         before = c.leaf({c.batch}, {7, 8, 9});
  Tensor labels = c.make({c.batch}, {1, 99, -5}, DType::int32, classes), divisor = c.ints({2, 0, 0});
  MaskedSpec spec{"masked", c.bools({1, 0, 0}), {"y"}, {before}, {}};
  auto body = [&] {
    Tensor row = c.op("linear", {labels, w}, type({c.batch, f}, DType::float64),
                      {{"in_dim", classes}, {"out_dim", f}, {"with_bias", false}});
    Tensor sum = c.op("reduce", {row}, c.wide(), {{"mode", "sum"}, {"axes", dim_list({f})}});
    Tensor half =
        c.op("cast", {c.op("floordiv", {c.ints({5, 5, 5}), divisor}, type({c.batch}, DType::int32))}, c.wide());
    Tensor y = c.op("mul", {c.op("sqrt", {x}, c.wide()), sum}, c.wide());
    c.backend.check(c.op("greater", {x, std::int64_t{1}}, type({c.batch}, DType::bool_)), "x > 1", {});
    return std::vector<Tensor>{c.op("add", {y, half}, c.wide())};
  };
  std::vector<Tensor> results = c.backend.masked(spec, body);
  check_close(c.values(results[0]), {2 * 7 + 2, 8, 9});
  double a = std::cos(1);
  check_close(c.gradients(results), {a * 7 / 4, 0, 0, 0, 0, a * 2, a * 2, 0, std::cos(2), std::cos(3)});

  // All false: the body does not run. All true: no mask at all.
  spec.mask = c.bools({0, 0, 0});
  Tensor kept = c.backend.masked(spec, []() -> std::vector<Tensor> { throw std::logic_error("ran"); })[0];
  CHECK(kept != before);  // with traits of its own
  CHECK(eager(kept).value.is_same(eager(before).value));
  spec.mask = c.make({}, {1}, DType::bool_);
  CHECK_THROWS_AS(c.backend.masked(spec, body), EvalError);
  CHECK(c.error() == "index 99 at batch=1 is out of range: `classes` has size 2");
}

TEST_CASE("masked in masked, and in a loop") {
  Control c;
  Dim time = c.spatial("time", {1, 2, 2});
  Tensor x = c.leaf({c.batch, time}, {1, kNan, 2, 0, 3, 4}), zero = c.doubles({0, 0, 0});
  Tensor outer = c.make({c.batch, time}, {1, 1, 1, 0, 1, 1}, DType::bool_),
         inner = c.make({c.batch, time}, {1, 1, 0, 1, 1, 1}, DType::bool_);
  LoopSpec spec = over(c, time, true, zero);
  LoopResult r = c.backend.loop(spec, [&](const LoopStep& s) {
    Tensor h = s.state[0], frame = c.backend.frame(x, time, s.index, {});
    MaskedSpec all{"m", c.backend.frame(outer, time, s.index, {}), {"h"}, {h}, {}};
    h = c.backend.masked(all, [&] {
      Tensor more = c.op("add", {h, std::int64_t{1}}, c.wide());
      MaskedSpec some{"m", c.backend.frame(inner, time, s.index, {}), {"h"}, {more}, {}};
      return c.backend.masked(some, [&] {
        Tensor mean =
            c.op("reduce", {frame}, type({}, DType::float64), {{"mode", "sum"}, {"axes", dim_list({c.batch})}});
        Tensor y = c.op("add", {more, c.op("log", {frame}, c.wide())}, c.wide());
        return std::vector<Tensor>{c.op("add", {y, mean}, c.wide())};
      });
    })[0];
    return LoopNext{{h}, {h}, nullptr};
  });
  double l3 = std::log(3), l4 = std::log(4);
  // Frame 0: 1, 2 and 3; the second only adds 1. Frame 1: only the third takes part in all.
  check_close(c.values(r.last[0]), {1 + 4, 1, 1 + 4 + l3 + 1 + 4 + l4});
  double a = std::cos(1), b = std::cos(3);
  check_close(c.gradients({r.last[0]}), {a + a + b, 0, 0, 0, b / 3 + a + b, b / 4 + b});
}

TEST_CASE("lengths made under a mask are right after it") {
  Control c(2);
  Dim a = c.spatial("a", {2, 3}), b = c.spatial("b", {1, 1}), sum = c.dims.add(a, b);
  {
    Lengths::Inside inside(c.run.lengths);
    inside.mask({at::tensor(at::ArrayRef<std::int64_t>{1, 0}, at::kLong).to(at::kBool), {c.batch}});
    check_close(c.lengths_of(sum), {3, 4});
    CHECK(c.run.lengths.count_valid({c.batch, sum}) == 3);
    CHECK(c.run.lengths.count_valid({sum}) == 4);
  }
  CHECK(c.run.lengths.count_valid({c.batch, sum}) == 7);
}

TEST_CASE("outside of a loop there are no masks and no steps") {
  Control c(2);
  Dim time = c.spatial("time", {1, 2});
  std::vector<std::string> names;
  c.backend.observer = [&](const Produced& p) { names.push_back(p.name); };
  c.backend.enter_scope("model", true, {});
  LoopSpec spec = over(c, time, true, c.doubles({0, 0}));
  c.backend.loop(spec, [&](const LoopStep& s) {
    c.backend.outside([&] {
      CHECK(c.run.lengths.region() == 0);
      c.op("neg", {c.doubles({1, 1})}, c.wide());
    });
    return LoopNext{{s.state[0]}, {s.state[0]}, nullptr};
  });
  CHECK(names.at(0) == "model.neg");
}

TEST_CASE("cum_concat: step by step and over a whole sequence are the same") {
  Control c(2);
  Dim time = c.spatial("time", {3, 2}), f = c.feature("f", 2), out = c.fresh("out");
  Tensor x = c.leaf({c.batch, time, f}, {1, 2, 3, 4, 5, 6, -1, 2, 0, 1, kNan, kNan});
  TensorType frame_type = type({c.batch, f}, DType::float64), history = frame_type;
  history.history = true;
  Tensor empty = c.op("empty_history", {}, history);
  // Causal attention of each frame to all before, with itself as query and key.
  auto attention = [&](const Tensor& query, const Tensor& keys) {
    Axes axes = without(query->type.dims, {f}), energy_axes = axes;
    energy_axes.push_back(out);
    TensorType energy_type = type(energy_axes, DType::float64);
    Tensor energy = c.op("dot", {query, keys}, energy_type, {{"axes", dim_list({f})}});
    Tensor weights = c.op("softmax", {energy}, energy_type, {{"axis", out}});
    return c.op("dot", {weights, keys}, query->type, {{"axes", dim_list({out})}});
  };

  LoopSpec spec;
  spec.name = "loop";
  spec.axis = time;
  spec.length_dims = {c.batch};
  spec.state = {{"keys", empty, history, {}}};
  spec.stacked_names = {"y"};
  spec.stacked = {frame_type};
  LoopResult r = c.backend.loop(spec, [&](const LoopStep& s) {
    Tensor frame = c.backend.frame(x, time, s.index, {});
    std::vector<Tensor> next =
        c.ops("cum_concat", {frame, s.state[0]}, {type({out, c.batch, f}, DType::float64), history},
              {{"spatial_dim", c.dims.single_step()}, {"out_spatial_dim", out}});
    CHECK(c.run.lengths.extent(out) == eager(s.index).value.item<std::int64_t>() + 1);
    return LoopNext{{next[1]}, {attention(frame, next[0])}, nullptr};
  });
  CHECK(r.last[0] == nullptr);
  std::vector<double> values = c.values(r.stacked[0]), grads = c.gradients({r.stacked[0]});
  check_close({values.begin(), values.begin() + 2}, {1, 2});

  std::vector<Tensor> whole = c.ops("cum_concat", {x, empty}, {type({c.batch, out, f}, DType::float64), history},
                                    {{"spatial_dim", time}, {"out_spatial_dim", out}});
  CHECK((c.run.lengths.of(out).axes == Axes{time}));
  check_close(c.lengths_of(out), {1, 2, 3});
  Tensor y = attention(x, whole[0]);
  Tensor same_order = retyped(y, r.stacked[0]->type);
  check_close(c.values(same_order), values);
  check_close(c.gradients({same_order}), grads);
}

TEST_CASE("assigned parameters are for the next run") {
  Control c(2);
  Dim f = c.feature("f", 2), g = c.feature("g", 1);
  Parameter p;
  p.path = "norm/mean";
  p.type = type({f, g});
  p.initial = Value(0.0);
  Tensor current = c.backend.parameter(p);
  c.backend.assign(p, current, c.make({g, f}, {1, 2}), {});
  CHECK(c.params.all().at(0).next.sum().item<double>() == 3);
  CHECK((c.params.all().at(0).next.sizes() == at::IntArrayRef{2, 1}));
  CHECK(eager(current).value.sum().item<double>() == 0);
}

}  // namespace rcn::test
