// What is known of numbers, and the guards that are left out for it.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "compiler/ops/bounds.h"
#include "compiler/ops/lowering.h"
#include "tests/unit/ops/fixture.h"

using namespace rcn;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const Bounds any{}, natural{0, inf};

// How many layers give the padding a value.
std::size_t masks(const OpFixture& f) {
  std::size_t count = 0;
  for (const Layer& layer : f.graph.layers) count += layer.cls == "seq_len_mask" || layer.cls == "switch";
  return count;
}

}  // namespace

TEST_CASE("bounds of sums, products and powers") {
  CHECK(Bounds{1, 2} + Bounds{-1, inf} == Bounds{0, inf});
  CHECK(any - any == any);
  CHECK(Bounds{-2, 3} * Bounds{-1, 4} == Bounds{-8, 12});
  CHECK(natural * Bounds{0, 0} == Bounds{0, 0});
  CHECK(natural * natural == natural);
  CHECK(Bounds{1, 2} / Bounds{2, 4} == Bounds{0.25, 1});
  CHECK(Bounds{1, 2} / natural == any);
  CHECK(square(any) == natural);
  CHECK(square(Bounds{-3, -2}) == Bounds{4, 9});
  CHECK(united(Bounds{0, 1}, Bounds{3, 4}) == Bounds{0, 4});
  CHECK(greater(any, Bounds{1, 1}) == Bounds{1, inf});
  CHECK(smaller(any, Bounds{1, 1}) == Bounds{-inf, 1});
  CHECK(known(std::nan(""), 2) == Bounds{-inf, 2});
}

TEST_CASE("where a function is finite depends on the dtype") {
  CHECK(inside({1e-6, inf}, Domain::positive, DType::float32));
  CHECK_FALSE(inside({1e-6, inf}, Domain::positive, DType::float16));
  CHECK_FALSE(inside(natural, Domain::positive, DType::float64));
  CHECK(inside({-inf, -1}, Domain::not_zero, DType::int32));
  CHECK_FALSE(inside({-1, 1}, Domain::not_zero, DType::int32));
  CHECK(inside(natural, Domain::above_minus_one, DType::float32));
  CHECK(inside({-inf, 100}, Domain::not_large, DType::float64));
  CHECK_FALSE(inside({-inf, 100}, Domain::not_large, DType::float32));
  CHECK(inside(any, Domain::all, DType::float16));
}

TEST_CASE("a guard stands where padding may leave the domain, once for each dim that has padding") {
  OpFixture f;
  Tensor x = f.extern_tensor("data", {f.batch, f.time, f.input});
  f.tensor("exp", {x});
  CHECK(masks(f) == 1);
  f.tensor("truediv", {1.0, x});
  CHECK(masks(f) == 2);
  Dim other = f.dynamic("other");
  Tensor y = f.extern_tensor("other", {f.batch, f.time, other});
  f.tensor("log", {y});
  CHECK(masks(f) == 4);
  CHECK_FALSE(graph_tensor(f.tensor("rsqrt", {y})).wild_padding);
}

TEST_CASE("no guard where numbers are known to be in the domain, or nothing is padding") {
  OpFixture f;
  Tensor x = f.extern_tensor("data", {f.batch, f.time, f.input});
  f.tensor("exp", {f.tensor("neg", {f.tensor("abs", {x})})});
  f.tensor("exp", {f.tensor("log_softmax", {x}, {{"axis", f.input}})});
  f.tensor("log1p", {f.tensor("exp", {f.tensor("minimum", {x, 3.0})})});
  f.tensor(
      "rsqrt",
      {f.tensor("add", {f.tensor("reduce", {f.tensor("mul", {x, x})}, {{"mode", "mean"}, {"axis", f.input}}), 1e-6})});
  f.tensor("truediv", {x, f.tensor("add", {f.tensor("sigmoid", {x}), 0.1})});
  f.tensor("truediv", {x, f.param("p", {f.input})});
  f.tensor("pow", {x, std::int64_t{2}});
  f.tensor("pow", {0.5, f.tensor("relu", {x})});
  f.tensor("log", {f.tensor("clip_by_value", {x, 1e-3, 1.0})});
  f.tensor("log", {f.tensor("reduce", {f.tensor("square", {x})}, {{"mode", "sum"}, {"axis", f.time}})});
  CHECK(masks(f) == 0);
}
