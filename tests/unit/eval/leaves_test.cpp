// Values as trees.
#include <doctest/doctest.h>

#include "compiler/eval/leaves.h"

using namespace rcn;

namespace {

Value record(std::vector<std::pair<const char*, Value>> fields) {
  Record r;
  for (auto& [name, value] : fields) r.fields.emplace_back(Symbol(name), std::move(value));
  return r;
}
Value list(std::vector<Value> items) { return List(std::move(items)); }
Value tuple(std::vector<Value> items) { return Tuple{std::move(items)}; }

Value tree() { return record({{"h", 1}, {"layers", list({record({{"c", 2}}), tuple({3, None{}})})}}); }

}  // namespace

TEST_CASE("leaves come in order, with their paths") {
  std::vector<std::string> paths;
  std::vector<std::string> values;
  for_each_leaf(tree(), "s", [&](const std::string& path, const Value& leaf) {
    paths.push_back(path);
    values.push_back(to_text(leaf));
  });
  CHECK(paths == std::vector<std::string>{"s.h", "s.layers[0].c", "s.layers[1][0]", "s.layers[1][1]"});
  CHECK(values == std::vector<std::string>{"1", "2", "3", "none"});
}

TEST_CASE("a mapped tree has the same form") {
  Value doubled = map_leaves(tree(), [](const Value& leaf) -> Value {
    return leaf.is<std::int64_t>() ? Value(leaf.get<std::int64_t>() * 2) : leaf;
  });
  CHECK(same_form(tree(), doubled));
  CHECK(to_text(doubled) == "{h: 2, layers: [{c: 4}, (6, none)]}");
}

TEST_CASE("forms") {
  CHECK(same_form(1, "a"));  // leaves may be anything
  CHECK(same_form(list({}), list({})));
  CHECK_FALSE(same_form(list({1}), tuple({1})));
  CHECK_FALSE(same_form(list({1}), list({1, 2})));
  CHECK_FALSE(same_form(record({{"a", 1}, {"b", 1}}), record({{"b", 1}, {"a", 1}})));
  CHECK_FALSE(same_form(record({{"a", 1}}), 1));
}

TEST_CASE("where forms differ") {
  Value a = record({{"x", 1}, {"y", list({1, record({{"p", 1}})})}});
  Value b = record({{"x", 1}, {"y", list({1, record({{"q", 1}})})}});
  FormDifference at = form_difference(a, b, "s");
  CHECK(at.path == "s.y[1]");
  CHECK(shown_text(*at.first) == "a record of `p`");
  CHECK(shown_text(*at.second) == "a record of `q`");
  CHECK(form_difference(list({1}), list({1, 2}), "s").path == "s");
  CHECK(form_difference(a, record({{"x", list({})}, {"y", 1}}), "s").path == "s.x");
}

TEST_CASE("types are equal in any order of their dims") {
  DimTable dims;
  Dim f = dims.declare("f", DimKind::feature, 3);
  TensorType a{{dims.batch(), f}, DType::float32, nullptr}, b{{f, dims.batch()}, DType::float32, nullptr};
  CHECK(same_type(a, b));
  b.dtype = DType::float64;
  CHECK_FALSE(same_type(a, b));
  TensorType c{{dims.batch()}, DType::int32, f}, d{{dims.batch()}, DType::int32, nullptr};
  CHECK_FALSE(same_type(c, d));
  TensorType history = a;
  history.history = true;
  CHECK_FALSE(same_type(a, history));
}
