// What loops, branches and masked parts give, as types.
#include <doctest/doctest.h>

#include "compiler/eval/type_backend.h"

using namespace rcn;

namespace {

using Dims = std::vector<Dim>;

struct Types {
  DimTable dims;
  Dim batch = dims.batch();
  Dim time = dims.declare("time", DimKind::spatial, std::nullopt);
  Dim f = dims.declare("f", DimKind::feature, 3);
  TypeBackend backend;

  static TensorType type(Dims of, DType dtype = DType::float32) { return {std::move(of), dtype, nullptr}; }
  Tensor tensor(Dims of) { return TypeBackend::tensor(type(std::move(of))); }
};

}  // namespace

TEST_CASE("a frame lacks the axis") {
  Types x;
  CHECK(x.backend.frame(x.tensor({x.batch, x.time, x.f}), x.time, nullptr, {})->type.dims == Dims{x.batch, x.f});
}

TEST_CASE("a loop: last states have the dims of its lengths, stacked frames its axis in front") {
  Types x;
  LoopSpec spec;
  spec.axis = x.time;
  spec.length_dims = {x.batch};
  TensorType history = Types::type({x.batch});
  history.history = true;
  spec.state = {{"n", nullptr, Types::type({}), {}}, {"h", nullptr, Types::type({x.batch, x.f}), {}}, {"past", nullptr, history, {}}};
  spec.stacked_names = {"ys"};
  spec.stacked = {Types::type({x.batch, x.f})};
  LoopResult result = x.backend.loop(spec, [](const LoopStep&) -> LoopNext { throw "types need no body"; });
  CHECK(result.last[0]->type.dims == Dims{x.batch});
  CHECK(result.last[1]->type.dims == Dims{x.batch, x.f});
  CHECK(result.last[2] == nullptr);
  CHECK(result.stacked[0]->type.dims == Dims{x.time, x.batch, x.f});
}

TEST_CASE("branches give their common types, masked parts those from before") {
  Types x;
  CondSpec cond;
  cond.results = {Types::type({x.batch}), Types::type({x.f}, DType::int32)};
  std::vector<Tensor> both = x.backend.cond(cond, nullptr, nullptr);
  CHECK(both.size() == 2);
  CHECK(both[1]->type.dtype == DType::int32);
  MaskedSpec masked;
  masked.before = {x.tensor({x.batch, x.f})};
  CHECK(x.backend.masked(masked, nullptr).at(0)->type.dims == Dims{x.batch, x.f});
}

TEST_CASE("what stands outside is made at once") {
  Types x;
  bool made = false;
  x.backend.outside([&] { made = true; });
  CHECK(made);
}
