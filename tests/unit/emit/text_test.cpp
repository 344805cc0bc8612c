// Numbers, strings, dim names and the layout of brackets.
#include <doctest/doctest.h>

#include <bit>
#include <charconv>
#include <limits>
#include <random>

#include "compiler/base/number_text.h"
#include "compiler/emit/dim_names.h"
#include "compiler/emit/layout.h"
#include "compiler/emit/quote.h"

using namespace rcn;

TEST_CASE("numbers are written as Python does") {
  double inf = std::numeric_limits<double>::infinity();
  const std::pair<double, const char*> cases[] = {{0.05, "0.05"},
                                                  {100.0, "100.0"},
                                                  {1e-06, "1e-06"},
                                                  {1e22, "1e+22"},
                                                  {1.0 / 3, "0.3333333333333333"},
                                                  {0.0, "0.0"},
                                                  {-0.0, "-0.0"},
                                                  {1.0, "1.0"},
                                                  {-1.5, "-1.5"},
                                                  {0.1 + 0.2, "0.30000000000000004"},
                                                  {0.0001, "0.0001"},
                                                  {0.00012345, "0.00012345"},
                                                  {0.00001, "1e-05"},
                                                  {1.25e-5, "1.25e-05"},
                                                  {1e15, "1000000000000000.0"},
                                                  {1e16, "1e+16"},
                                                  {123456789012345680.0, "1.2345678901234568e+17"},
                                                  {9007199254740993.0, "9007199254740992.0"},
                                                  {5e-324, "5e-324"},
                                                  {1.7976931348623157e308, "1.7976931348623157e+308"},
                                                  {2.2250738585072014e-308, "2.2250738585072014e-308"},
                                                  {12.5, "12.5"},
                                                  {1e100, "1e+100"},
                                                  {-1e-7, "-1e-07"},
                                                  {inf, "inf"},
                                                  {-inf, "-inf"},
                                                  {std::numeric_limits<double>::quiet_NaN(), "nan"}};
  for (const auto& [value, text] : cases) CHECK(number_text(value) == text);
  CHECK(number_text(std::int64_t{100}) == "100");
  CHECK(number_text(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
}

TEST_CASE("numbers read back as the same value") {
  std::mt19937_64 bits(1);
  for (int i = 0; i < 20000; ++i) {
    double value = std::bit_cast<double>(bits());
    if (value != value) continue;
    std::string text = number_text(value);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    CHECK(back == value);
    CHECK(text.find_first_of(".en") != std::string::npos);
  }
}

TEST_CASE("strings") {
  std::string text = "a\"'\\\n\t\r\x01\x7f é😀";
  CHECK(python_quoted(text) == "\"a\\\"'\\\\\\n\\t\\r\\x01\\x7f é😀\"");
  CHECK(json_quoted(text) == "\"a\\\"'\\\\\\n\\t\\r\\u0001\\u007f é😀\"");
  CHECK(python_quoted(std::string_view("\0x", 2)) == "\"\\x00x\"");
}

TEST_CASE("dim names") {
  DimTable t;
  Dim time = t.declare("time", DimKind::spatial, std::nullopt), model = t.declare("model", DimKind::feature, 8);
  Dim two = t.constant(2), three = t.constant(3);
  auto name = [](Dim d) { return dim_names({d})[0]; };
  CHECK(name(time) == "time_dim");
  CHECK(name(t.declare("out_dim", DimKind::spatial, 3)) == "out_dim");
  CHECK(name(t.declare("batch", DimKind::spatial, 3)) == "batch_dim_1");
  CHECK(name(t.batch()) == "batch_dim");
  CHECK(name(t.single_step()) == "single_step_dim");
  CHECK(name(t.declare("größe 2", DimKind::spatial, 3)) == "gr__e_2_dim");
  CHECK(name(t.declare("2d", DimKind::spatial, 3)) == "dim_2d_dim");
  CHECK(name(t.declare("", DimKind::spatial, 3)) == "dim__dim");
  CHECK(name(t.mul(model, two)) == "model_times_2_dim");
  CHECK(name(t.add(time, three)) == "time_plus_3_dim");
  CHECK(name(t.sub(time, three)) == "time_minus_3_dim");
  CHECK(name(t.sub(t.add(two, model), time)) == "dim_2_plus_model_minus_time_dim");
  CHECK(name(t.ceildiv(t.add(time, three), two)) == "time_plus_3_ceildiv_2_dim");
  CHECK(name(t.floordiv(t.mul(time, model), three)) == "time_times_model_div_3_dim");
  Dim long_one = time;
  for (int i = 0; i < 20; ++i) long_one = t.add(t.add(long_one, model), time);
  CHECK(name(long_one).size() <= 64);
}

TEST_CASE("dim names: repeats") {
  DimTable t;
  std::vector<Dim> dims;
  for (const char* name : {"t", "t", "t_dim_1", "t"}) dims.push_back(t.declare(name, DimKind::spatial, 1));
  CHECK(dim_names(dims) == std::vector<std::string>{"t_dim", "t_dim_1", "t_dim_1_dim", "t_dim_2"});
}

TEST_CASE("layout: what fits stays on one line") {
  LayoutStyle style{24, 2, true};
  auto list = [](std::vector<std::string> words) {
    std::vector<Node> items;
    for (std::string& word : words) items.push_back(Node::leaf(std::move(word)));
    return Node::group("[", std::move(items), "]");
  };
  Node tuple = Node::group("(", {Node::leaf("a_rather_long_leaf_in_it")}, ",)");
  Node short_one = list({"1", "2"}), long_one = list({"long_word", "longer_word"});
  short_one.comment = "# a";
  long_one.comment = "# b";
  std::string out;
  render(Node::group("x = {", {short_one, long_one, tuple, list({})}, "}"), 0, style, out);
  CHECK(out ==
        "x = {\n"
        "  [1, 2],  # a\n"
        "  [  # b\n"
        "    long_word,\n"
        "    longer_word,\n"
        "  ],\n"
        "  (\n"
        "    a_rather_long_leaf_in_it,\n"
        "  ),\n"
        "  [],\n"
        "}");
  style.trailing_comma = false;
  out.clear();
  render(list({"a", "b"}), 0, style, out);
  CHECK(out == "[\n  a,\n  b\n]");
  out.clear();
  short_one.broken = true;
  render(Node::group("[", {Node::group("(", {short_one}, ")")}, "]"), 0, style, out);
  CHECK(out == "[\n  (\n    [  # a\n      1,\n      2\n    ]\n  )\n]");
}
