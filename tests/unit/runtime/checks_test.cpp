// What is run again: training on one batch, other padding, sequences alone.
#include "runtime/check/fit.h"
#include "runtime/check/padding_check.h"
#include "tests/unit/runtime/bench.h"

namespace rcn::test {

TEST_CASE("Adam: two steps worked out by hand") {
  Adam adam(0.1);
  ParamValues values{{"w", at::tensor({1.0})}, {"idle", at::tensor({2.0})}};
  auto step = [&](double gradient) { adam.step(values, {{"w", at::tensor({gradient}), {}, {}}, {"idle", {}, {}, {}}}); };
  step(4.0);
  CHECK(values.at("w").item<double>() == doctest::Approx(0.9));
  step(2.0);
  // m = 0.56, v = 0.019984; 0.56 / 0.19 / sqrt(0.019984 / 0.001999) = 0.932180
  CHECK(values.at("w").item<double>() == doctest::Approx(0.9 - 0.0932180));
  CHECK(values.at("idle").item<double>() == 2.0);
}

namespace {

const std::vector<Span> kNoCalls;

struct Made {
  Bench bench;
  Dim time;
  Tensor x;

  Made(const std::vector<std::int64_t>& lengths, const std::vector<double>& values)
      : bench(static_cast<std::int64_t>(lengths.size())), time(bench.spatial("time", lengths)) {
    x = bench.make({bench.batch, time}, values);
  }
  Produced produced() const { return {"x", x, x, {}, kNoCalls}; }
};

}  // namespace

TEST_CASE("padding check: only valid frames count") {
  Recorded recorded;
  Made was({3, 1}, {1, 2, 3, 4, 0, 0});
  recorded.add(was.produced(), was.bench.run.lengths);
  auto differs = [&](const std::vector<std::int64_t>& lengths, const std::vector<double>& values,
                     std::optional<std::int64_t> only) {
    Made is(lengths, values);
    Recorded::Comparison comparison(recorded, only);
    comparison.add(is.produced(), is.bench.run.lengths);
    CHECK(comparison.compared() == 1);
    return comparison.first() ? comparison.first()->what : "";
  };
  CHECK(differs({3, 1}, {1, 2, 3, 4, 9, kNan}, {}) == "");
  CHECK(differs({3, 1}, {1, 2, 3, 4.00001, 9, kNan}, {}) == "");
  CHECK(differs({3, 1}, {1, 2, 3, 5, 0, 0}, {}) == "5 at batch=1, time=0, otherwise 4");
  CHECK(differs({3, 1}, {1, kNan, 3, 4, 0, 0}, {}) == "nan at batch=0, time=1, otherwise 2");
  CHECK(differs({1}, {4}, 1) == "");
  CHECK(differs({3}, {1, 2, 3}, 0) == "");
  CHECK(differs({1}, {1}, 1) == "1 at batch=0, time=0, otherwise 4");
  CHECK(differs({2}, {4, 4}, 1) == "other lengths of `time`");
}

TEST_CASE("batches: other padding, and a sequence alone") {
  Bench b(2);
  Dim time = b.spatial("time", {3, 1}), classes = b.feature("classes", 4);
  ExternInput floats{"x", "x", {{b.batch, time}, DType::float32, nullptr}, true, {}, {}};
  ExternInput labels{"y", "y", {{time, b.batch}, DType::int32, classes}, true, {}, {}};
  Batch batch;
  batch.size = 2;
  batch.lengths[time->id] = {at::tensor({3, 1}, at::kLong), {b.batch->id}};
  batch.values["x"] = at::arange(6, at::TensorOptions(at::kFloat)).reshape({2, 3});
  batch.values["y"] = at::tensor({0, 1, 2, 3, 3, 0}, at::kInt).reshape({3, 2});
  auto values = [&](const Batch& of, const ExternInput& input) {
    at::Tensor flat = batch_values(of, input, b.run.lengths).to(at::kDouble).contiguous().view({-1});
    return std::vector<double>(flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
  };

  Batch poisoned = batch;
  poisoned.poison = 1e3;
  set_lengths(poisoned, {floats, labels}, b.run.lengths);
  CHECK((values(poisoned, floats) == std::vector<double>{0, 1, 2, 3, 1e3, 1e3}));
  CHECK((values(poisoned, labels) == std::vector<double>{0, 1, 2, 0, 3, 1}));  // another class

  Batch alone = batch;
  alone.only = 1;
  set_lengths(alone, {floats, labels}, b.run.lengths);
  CHECK(b.run.lengths.extent(time) == 1);
  CHECK((values(alone, floats) == std::vector<double>{3}));
  CHECK((values(alone, labels) == std::vector<double>{1}));
}

TEST_CASE("noise: another run gets the numbers of the first") {
  DimTable dims;
  RunState run(dims.batch()), alone(dims.batch());
  Dim f = dims.declare("f", DimKind::feature, 2);
  Noise noise;
  noise.record(run);
  noise.replay(alone, 1);
  run.random_for("dropout");
  run.drawn(at::tensor({1.0, 2.0, 3.0, 4.0}).reshape({2, 2}), {dims.batch(), f});
  alone.random_for("dropout");
  at::Tensor replayed = alone.drawn(at::zeros({1, 2}), {dims.batch(), f});
  CHECK(replayed.equal(at::tensor({3.0, 4.0}).reshape({1, 2})));
  alone.random_for("dropout");  // which the first run has not drawn
  CHECK(alone.drawn(at::zeros({1, 2}), {dims.batch(), f}).sum().item<double>() == 0);
}

TEST_CASE("double precision holds for as long as it lives") {
  {
    DoublePrecision precise;
    CHECK((scalar_type(DType::float32) == at::kDouble));
    CHECK((scalar_type(DType::int32) == at::kInt));
  }
  CHECK((scalar_type(DType::float32) == at::kFloat));
}

}  // namespace rcn::test
