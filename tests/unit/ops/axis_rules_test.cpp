// Type rules of operations along an axis in its order: cumsum, top_k, search_sorted, resize.
#include <doctest/doctest.h>

#include "tests/unit/ops/fixture.h"

using namespace rcn;

namespace {

struct AxisRules : OpFixture {
  Tensor x = extern_tensor("data", {batch, time, input});
  Tensor labels = extern_tensor("classes", {batch, time}, DType::int32, classes);
  using Dims = std::vector<Dim>;

  Dim last_dim(const Value& result) { return result.tuple().items.back().dim(); }
};

}  // namespace

TEST_CASE("cumsum") {
  AxisRules f;
  CHECK(f.tensor("cumsum", {f.x}, {{"axis", f.time}})->type.dims == f.x->type.dims);
  CHECK(f.tensor("cumsum", {f.labels}, {{"axis", f.time}})->type ==
        TensorType{{f.batch, f.time}, DType::int32, nullptr});
  CHECK(f.error("cumsum", {f.x}, {{"axis", f.batch}}).starts_with("E0426"));
  CHECK(f.error("cumsum", {f.labels}, {{"axis", f.time}, {"additional_left_summand_per_element", 0.5}})
            .starts_with("E0431"));
  Tensor range = f.tensor("range_over_dim", {f.time});
  CHECK(f.tensor("cumsum", {range}, {{"axis", f.time}})->type.dims == AxisRules::Dims{f.time});
  CHECK(f.error("cumsum", {range}, {{"axis", f.time}, {"reverse", true}}).starts_with("E0424"));
}

TEST_CASE("top_k") {
  AxisRules f;
  Value best = f.call("top_k", {f.x}, {{"axis", f.time}, {"k", 2}});
  Dim k = f.last_dim(best);
  CHECK(k->size == 2);
  CHECK(best.tuple().items[0].tensor()->type.dims == AxisRules::Dims{f.batch, f.input, k});
  CHECK(best.tuple().items[1].tensor()->type == TensorType{{f.batch, f.input, k}, DType::int32, f.time});
  Value some = f.call("top_k", {f.x}, {{"axis", f.input}, {"k", f.tensor("constant", {2})}});
  CHECK(f.last_dim(some)->dynamic());
  CHECK(f.lengths.length_dims(f.last_dim(some)).empty());
  CHECK(
      f.error("top_k", {f.x}, {{"axis", f.input}, {"k", 4}}).starts_with("E0407 `k` of `nn.top_k` must be at most 3"));
  CHECK(f.error("top_k", {f.x}, {{"axis", f.input}, {"k", -1}}).starts_with("E0407"));
  CHECK(f.error("top_k", {f.x}, {{"axis", list_of({f.time, f.input})}, {"k", 1}}).starts_with("E0444"));
  CHECK(f.error("top_k", {f.x}, {{"axis", f.input}, {"k", f.labels}}).starts_with("E0"));
}

TEST_CASE("search_sorted") {
  AxisRules f;
  Tensor sums = f.tensor("cumsum", {f.labels}, {{"axis", f.time}});
  Tensor wanted = f.tensor("constant", {3});
  CHECK(f.error("search_sorted", {sums, wanted}, {{"axis", f.time}})
            .ends_with("`nn.expand_dims(values, dims)` is `values` with more dims"));
  Tensor each = f.tensor("expand_dims", {wanted, list_of({f.batch})});
  CHECK(f.tensor("search_sorted", {sums, each}, {{"axis", f.time}})->type ==
        TensorType{{f.batch}, DType::int32, nullptr});
  CHECK(f.error("search_sorted", {sums, each}, {{"axis", f.time}, {"side", "middle"}}).starts_with("E0407 `side`"));
  CHECK(f.error("search_sorted", {f.x, each}, {{"axis", f.time}}).starts_with("E0430"));
}

TEST_CASE("resize") {
  AxisRules f;
  auto dim = [&](Tensor t, Dim axis, Value factor) {
    return f.last_dim(f.call("resize", {t}, {{"axis", axis}, {"factor", factor}}));
  };
  CHECK(dim(f.x, f.time, 2) == f.dims.mul(f.dims.constant(2), f.time));
  CHECK(dim(f.x, f.time, 1.5)->form == DimForm::atom);
  CHECK(dim(f.x, f.input, 1.1)->size == 4);
  CHECK(dim(f.x, f.input, f.tensor("constant", {1.1}))->dynamic());
  CHECK(f.error("resize", {f.x}, {{"axis", f.time}, {"factor", 0}})
            .starts_with("E0407 `factor` of `nn.resize` must be above 0"));
  CHECK(f.error("resize", {f.x}, {{"axis", f.time}, {"factor", 1.5}, {"kind", "fill"}, {"fill_value", 0}})
            .starts_with("E0407 `factor`"));
  CHECK(
      f.error("resize", {f.x}, {{"axis", f.time}, {"factor", 2}, {"kind", "fill"}}).starts_with("E0407 `fill_value`"));
  CHECK(f.error("resize", {f.x}, {{"axis", f.time}, {"factor", 2}, {"fill_value", 1.0}})
            .starts_with("E0407 `fill_value`"));
  CHECK(f.error("resize", {f.labels}, {{"axis", f.time}, {"factor", 2}, {"kind", "linear"}}).starts_with("E0432"));
  CHECK(f.error("resize", {f.labels}, {{"axis", f.time}, {"factor", 2}, {"kind", "fill"}, {"fill_value", 5}})
            .starts_with("E04"));
}
