// Arguments to parameters: positions, keywords, defaults and types.
#include <doctest/doctest.h>

#include "tests/unit/ops/fixture.h"

using namespace rcn;

TEST_CASE("positions, keywords and defaults") {
  OpFixture f;
  const OpInfo& info = *f.table.find("init.variance_scaling");
  std::vector<OpArgument> arguments{{Symbol(), Span{1, 2, 3}, 3, {}}, {Symbol("distribution"), Span{1, 5, 9}, "uniform", Span{1, 4, 5}}};
  auto bound = bind_op(info, arguments, Span{1, 0, 10}, f.diagnostics);
  REQUIRE(bound);
  CHECK(bound->values[0].get<double>() == 3.0);  // an int for a float
  CHECK(bound->values[1].str() == "fan_in");
  CHECK(bound->values[2].str() == "uniform");
  CHECK(bound->spans[0] == Span{1, 2, 3});
  CHECK(bound->spans[1] == Span{1, 0, 10});
}

TEST_CASE("default texts") {
  auto value = [](std::string_view text, ArgTypes types) { return default_value({"p", types, false, text}); };
  CHECK(value("none", arg::none).is_none());
  CHECK(value("true", arg::boolean).get<bool>());
  CHECK(value("-1", arg::integer).get<std::int64_t>() == -1);
  CHECK(value("1", arg::real).get<double>() == 1.0);
  CHECK(value("1e-6", arg::real).get<double>() == 1e-6);
  CHECK(value("\"fan_in\"", arg::str).str() == "fan_in");
  CHECK(value("int32", arg::dtype).get<DType>() == DType::int32);
  CHECK(value("[]", arg::dims).list().empty());
  CHECK_THROWS(value("what", arg::str));
}

TEST_CASE("faults of arguments") {
  OpFixture f;
  Tensor x = f.extern_tensor("data", {f.batch, f.time, f.input});
  CHECK(f.error("reduce", {x}, {{"mode", "sum"}, {"axes", f.time}}) == "E0401 `nn.reduce` has no parameter `axes`\ndid you mean `axis`?");
  CHECK(f.error("relu", {x}, {{"inplace", true}}) == "E0401 `nn.relu` has no parameter `inplace`\nit has `source`");
  CHECK(f.error("reduce", {x}, {{"mode", "sum"}}) == "E0402 `nn.reduce` needs the argument `axis`");
  CHECK(f.error("relu", {x}, {{"source", x}}) == "E0403 `source` of `nn.relu` is given twice\nfirst here");
  CHECK(f.error("cast", {x, "float32"}) == "E0404 `dtype` of `nn.cast` must be a dtype, not a string");
  CHECK(f.error("split", {x}, {{"axis", f.input}, {"out_dims", list_of({f.input, 2})}}) ==
        "E0404 `out_dims` of `nn.split` must be a list of dims, not a list that holds an int");
  CHECK(f.error("reduce", {x, "sum", f.time}) == "E0405 `nn.reduce` takes at most 1 positional arguments, but 3 are given\n`mode` is given by keyword");
  CHECK(f.error("stop_gradient", {3}) == "E0406 `source` of `nn.stop_gradient` must be a tensor, but `3` is a static number\n`nn.constant(3)` makes a tensor of it");
  CHECK(f.error("dropout", {x, x}, {{"axis", f.input}}).starts_with("E0404 `dropout` of `nn.dropout` must be a float, not a tensor `float32[batch, time, input=3]`"));
}

TEST_CASE("a poisoned argument is silent") {
  OpFixture f;
  std::vector<OpArgument> arguments{{Symbol(), {}, Value(Poison{}), {}}};
  CHECK_FALSE(bind_op(*f.table.find("relu"), arguments, {}, f.diagnostics));
  CHECK(f.diagnostics.size() == 0);
}

TEST_CASE("accepted types as text") {
  CHECK(accepted_text(arg::operand) == "a tensor, a number or a bool");
  CHECK(accepted_text(arg::axes) == "a dim or a list of dims");
  CHECK(accepted_text(arg::dtype | arg::none) == "a dtype or `none`");
  CHECK(op_text(OpInfo{"add", {}, "", "", nullptr}) == "+");
}

TEST_CASE("lengths of dims") {
  OpFixture f;
  Dim x = f.no_length("x"), sum = f.dims.add(f.time, x);
  CHECK(f.lengths.defined(f.batch));
  CHECK(f.lengths.defined(f.input));
  CHECK_FALSE(f.lengths.defined(x));
  CHECK_FALSE(f.lengths.defined(sum));
  f.lengths.define(x, {f.time2});
  CHECK(f.lengths.defined(sum));
  CHECK(f.lengths.length_dims(sum) == std::vector<Dim>{f.batch, f.time2});
  CHECK(f.lengths.length_dims(f.input).empty());
  CHECK(f.lengths.length_dims(f.batch).empty());
}
