// Places of breakpoints, and values as the debugger shows and reduces them.
#include <sstream>

#include "runtime/debug/breakpoints.h"
#include "runtime/debug/debug_view.h"
#include "tests/unit/runtime/bench.h"

namespace rcn::test {

namespace {

Breakpoint parsed(const std::string& where) {
  Breakpoint b;
  std::string error;
  bool good = parse_breakpoint(where, b, error);
  INFO(where, ": ", error);
  CHECK(good);
  return b;
}

std::string refused(const std::string& where) {
  Breakpoint b;
  std::string error;
  CHECK_FALSE(parse_breakpoint(where, b, error));
  return error;
}

double number(std::string_view name, const Tensor& t, Lengths& lengths) {
  std::optional<Value> value = reduced(name, t, lengths);
  REQUIRE(value.has_value());
  return value->as_double();
}

}  // namespace

TEST_CASE("places of breakpoints") {
  CHECK(parsed("12").kind == Breakpoint::Kind::line);
  CHECK(parsed("12").line == 12);
  CHECK(parsed("blocks/att.rcn:7").file == "blocks/att.rcn");
  CHECK(parsed("blocks/att.rcn:7").line == 7);
  CHECK(parsed("nan").kind == Breakpoint::Kind::nan);
  CHECK(parsed("first").kind == Breakpoint::Kind::first);
  CHECK(parsed("error").kind == Breakpoint::Kind::error);
  CHECK(parsed("nan/x").kind == Breakpoint::Kind::name);
  Breakpoint b = parsed(" decoder/att  if  max(energy) > 50 ");
  CHECK(b.glob == "decoder/att");
  CHECK(b.condition == "max(energy) > 50");
  CHECK(parsed("12 if x > 0").condition == "x > 0");

  CHECK(refused("").find("a place is a line") != std::string::npos);
  CHECK(refused("two words").find("a place is a line") != std::string::npos);
  CHECK(refused("if x > 0").find("a place is a line") != std::string::npos);
  CHECK(refused("0").find("a line is a number") != std::string::npos);
  CHECK(refused("model.rcn:x").find("a line is a number") != std::string::npos);
  CHECK(refused("99999999999").find("a line is a number") != std::string::npos);
  CHECK(refused("nan if x > 0").find("no condition") != std::string::npos);
  CHECK(refused("decoder if ").find("stands a condition") != std::string::npos);
}

TEST_CASE("names with slashes or dots, with and without the steps of loops") {
  Breakpoint b = parsed("encoder/layers.*/att*");
  CHECK(name_fits(b, "encoder.layers.0.att"));
  CHECK(name_fits(b, "encoder.layers.0.att.softmax"));
  CHECK(name_fits(b, "encoder/layers/3/att/weight"));
  CHECK_FALSE(name_fits(b, "encoder.layers.0.ff"));
  CHECK_FALSE(name_fits(b, "my_encoder.layers.0.att"));
  Breakpoint decoder = parsed("decoder/att");
  CHECK(name_fits(decoder, "loop[12].decoder.att"));
  CHECK(name_fits(decoder, "loop[0].inner[3].decoder.att"));
  CHECK_FALSE(name_fits(decoder, "loop[0].decoder.att.dot"));
  CHECK(name_fits(parsed("loop[2]/decoder/*"), "loop[2].decoder.att"));
  CHECK_FALSE(name_fits(parsed("loop[2]/decoder/*"), "loop[1].decoder.att"));
}

TEST_CASE("reductions see valid entries only") {
  for (const Layout& layout : kLayouts) {
    Bench bench(2, layout);
    Dim time = bench.spatial("time", {3, 1});
    Tensor x = bench.make({bench.batch, time}, {1, 2, 6, -3, 100, 100});
    Lengths& lengths = bench.run.lengths;
    CHECK(number("max", x, lengths) == 6);
    CHECK(number("min", x, lengths) == -3);
    CHECK(number("sum", x, lengths) == 6);
    CHECK(number("mean", x, lengths) == 1.5);
    CHECK_FALSE(reduced("any", x, lengths).has_value());
    CHECK(all_finite(x, lengths));
    CHECK_FALSE(has_nan(x, lengths));
    Tensor i = bench.make({bench.batch, time}, {1, 2, 4, 3, 9, 9}, DType::int32);
    CHECK(reduced("max", i, lengths)->get<std::int64_t>() == 4);
    CHECK(reduced("sum", i, lengths)->get<std::int64_t>() == 10);
    CHECK(reduced("mean", i, lengths)->get<double>() == 2.5);
    Tensor b = bench.make({bench.batch, time}, {0, 0, 0, 0, 1, 1}, DType::bool_);
    CHECK_FALSE(reduced("any", b, lengths)->get<bool>());
    CHECK_FALSE(reduced("all", b, lengths)->get<bool>());
    CHECK_FALSE(reduced("max", b, lengths).has_value());
  }
}

TEST_CASE("a float32 keeps its shortest form; without entries there is no largest one") {
  Bench bench;
  Dim none = bench.spatial("none", {0, 0});
  Tensor x = bench.make({}, {0.1});
  CHECK(reduced("max", x, bench.run.lengths)->get<double>() == 0.1);
  Tensor empty = bench.make({bench.batch, none}, {});
  CHECK_FALSE(reduced("max", empty, bench.run.lengths).has_value());
  CHECK_FALSE(reduced("mean", empty, bench.run.lengths).has_value());
  CHECK(number("sum", empty, bench.run.lengths) == 0);
}

TEST_CASE("what takes no part where a tensor is looked at counts, if it did where it was made") {
  Bench bench;
  Tensor x = bench.make({bench.batch}, {1, 5});
  Lengths::Inside inside(bench.run.lengths);
  inside.mask({at::tensor({1, 0}).to(at::kBool), {bench.batch}});
  CHECK(number("max", x, bench.run.lengths) == 5);
  Tensor y =
      std::make_shared<const EagerTensor>(x->type, static_cast<const Held&>(eager(x)), bench.run.lengths.region());
  CHECK(number("max", y, bench.run.lengths) == 1);
}

TEST_CASE("long tensors are shown by their first and last entries") {
  Bench bench;
  Dim wide = bench.feature("wide", 2500);
  std::vector<double> values(2500);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  std::ostringstream out;
  show_value(out, "x", Value(bench.make({wide}, values)), bench.run.lengths);
  CHECK(out.str() == "x  float32[wide=2500], min 0, mean 1249.5, max 2499\n[0, 1, 2, ..., 2497, 2498, 2499]\n");
}

}  // namespace rcn::test
