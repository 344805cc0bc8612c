// What plain JSON refuses, and why. What it says is compared with the Python form in tests/emit_returnn.
#include <doctest/doctest.h>

#include "tests/unit/emit/models.h"

using namespace rcn;

namespace {

struct Plain : test::Model {
  Dim batch = dims.batch(), time = dynamic("time"), in = feature("in", 9), out = feature("out", 5);
  const Layer* x = data("data", {batch, time, in});

  const Layer* copy(const Layer* y) { return mark("output", "copy", {{"from", y}}, y->type); }

  // The messages; the text too has to be empty then.
  std::vector<std::string> refusals() {
    finish();
    EmitOptions options;
    options.form = OutputForm::json_plain;
    DiagnosticSink diagnostics;
    std::string result = text(options, diagnostics);
    CHECK(result.empty() == diagnostics.has_errors());
    std::vector<std::string> messages;
    for (const Diagnostic& item : diagnostics.items()) {
      messages.push_back(format_message(item.kind, item.args));
      if (item.kind != Diag::plain_extern && item.kind != Diag::plain_entry) CHECK(item.span.valid());
    }
    return messages;
  }
  std::string refusal() {
    std::vector<std::string> messages = refusals();
    CHECK(messages.size() == 1);
    return messages.empty() ? "" : messages[0];
  }
};

}  // namespace

TEST_CASE("plain json: a class without a rule, once") {
  Plain m;
  const Layer* y = m.add("dot", "dot", {{"from", m.x}, {"reduce", m.in}}, m.x->type);
  m.copy(m.add("act", "activation", {{"from", m.linear("ff", y, m.in, m.out)}, {"activation", "tanh"}},
               {{m.batch, m.time, m.out}}));
  CHECK(m.refusal() == "plain JSON has no form for a RETURNN layer of class `dot` (`dot`)");
}

TEST_CASE("plain json: an option without a rule") {
  Plain m;
  m.copy(m.add("act", "activation", {{"from", m.x}, {"activation", "tanh"}, {"odd", 1}}, m.x->type));
  CHECK(m.refusal() == "plain JSON cannot say `odd` of the `activation` layer `act`: the option has no plain form");
}

TEST_CASE("plain json: values that JSON has no word for") {
  for (auto [value, reason] : {std::pair<Option, std::string>{OptionList{OptionSet{}}, "it holds a set"},
                               {OptionDict{{"k", OptionMap{}}}, "it holds a dict whose keys are no strings"}}) {
    Plain m;
    m.copy(m.add("act", "activation", {{"from", m.x}, {"activation", "tanh"}, {"opts", value}}, m.x->type));
    CHECK(m.refusal() == "plain JSON cannot say `opts` of the `activation` layer `act`: " + reason);
  }
  Plain m;
  m.copy(m.add("act", "activation", {{"from", m.x}, {"activation", "tanh"}, {"opts", OptionDict{{"d", m.time}}}},
               m.x->type));
  CHECK(m.refusal() == "plain JSON cannot say `opts` of the `activation` layer `act`: it holds the dim `time`");
}

TEST_CASE("plain json: the body of a loop") {
  Plain m;
  m.copy(m.add("loop", "rec",
               {{"from", m.x}, {"in_dim", m.in}, {"out_dim", m.out}, {"axis", m.time}, {"unit", OptionDict{}}},
               {{m.batch, m.time, m.out}}));
  CHECK(m.refusal() == "plain JSON cannot say `unit` of the `rec` layer `loop`: it is a network of its own");
}

TEST_CASE("plain json: regions, in one message each") {
  for (auto [name, count] : {std::pair("loops", 2u), std::pair("nested", 1u)}) {
    EmitOptions options;
    options.form = OutputForm::json_plain;
    DiagnosticSink diagnostics;
    CHECK(test::make_model(name)->text(options, diagnostics).empty());
    REQUIRE(diagnostics.size() == count);
    const Diagnostic& first = diagnostics.items()[0];
    CHECK(first.span.valid());
    CHECK(format_message(first.kind, first.args) ==
          "plain JSON cannot say `unit` of the `rec` layer `loop`: it is a network of its own");
  }
}

TEST_CASE("plain json: a body that needs a higher recursion limit") {
  EmitOptions options;
  options.form = OutputForm::json_plain;
  DiagnosticSink diagnostics;
  CHECK(test::make_model("deep-10-181")->text(options, diagnostics).empty());
  REQUIRE(diagnostics.size() == 1);
  const Diagnostic& first = diagnostics.items()[0];
  CHECK(format_message(first.kind, first.args) ==
        "plain JSON cannot raise Python's recursion limit, which RETURNN needs for the body of the `rec` layer `loop`: "
        "it holds chains of more than 180 layers");
}

TEST_CASE("plain json: implicit dims") {
  Plain m;
  m.copy(m.add("act", "activation", {{"from", m.x}, {"activation", "log_softmax"}}, m.x->type));
  CHECK(m.refusal() ==
        "plain JSON cannot say `activation` of the `activation` layer `act`: `log_softmax` works on the dim that is "
        "marked as feature");
  Plain n;
  n.copy(n.add("softmax", "softmax_over_spatial", {{"from", n.x}}, n.x->type));
  CHECK(n.refusal() ==
        "plain JSON cannot say `axis` of the `softmax_over_spatial` layer `softmax`: it is left to RETURNN, which "
        "would take the dim that is marked");
  Plain o;
  o.copy(o.add("copies", "copy", {{"from", OptionList{o.x, o.x}}}, o.x->type));
  CHECK(o.refusal() ==
        "plain JSON cannot say `from` of the `copy` layer `copies`: several tensors are joined over an implicit dim");
}

TEST_CASE("plain json: axes that no string names") {
  Plain m;
  Dim a = m.feature("a", 4), b = m.feature("b", 4), c = m.feature("c", 6);
  const Layer* y = m.data("y", {m.batch, a, b, c});
  m.copy(m.add("sum", "reduce", {{"mode", "sum"}, {"from", y}, {"axis", a}}, {{m.batch, b, c}}));
  CHECK(m.refusal() == "plain JSON cannot name the dim `a` of `data:y`: `b` has the same size");
  Plain n;
  Dim other = n.dynamic("other");
  const Layer* z = n.data("z", {n.batch, other, n.dynamic("third"), n.in});
  n.copy(n.add("sum", "reduce", {{"mode", "sum"}, {"from", z}, {"axis", z->type.dims[2]}}, {{n.batch, other, n.in}}));
  CHECK(n.refusal() == "plain JSON cannot name the dim `third` of `data:z`: there are several dims of dynamic size");
}

TEST_CASE("plain json: dims of one size are one dim there") {
  Plain m;
  Dim same = m.feature("same", 9);
  const Layer* y = m.data("y", {m.batch, same});
  m.copy(m.add("sum", "combine", {{"kind", "add"}, {"from", OptionList{m.x, y}}, {"allow_broadcast_all_sources", true}},
               {{m.batch, m.time, m.in, same}}));
  CHECK(m.refusal() == "plain JSON cannot tell the dims `in` and `same` in `sum` apart: both have size 9");
  Plain n;
  Dim other = n.dynamic("other");
  const Layer* z = n.data("z", {n.batch, other});
  n.copy(n.add("sum", "combine", {{"kind", "add"}, {"from", OptionList{n.x, z}}, {"allow_broadcast_all_sources", true}},
               {{n.batch, n.time, n.in, other}}));
  CHECK(n.refusal() == "plain JSON cannot tell the dims `time` and `other` in `sum` apart: both are of dynamic size");
  Plain o;
  Dim one = o.feature("one", 1);
  const Layer* w = o.data("w", {o.batch, one});
  o.copy(o.add("sum", "combine", {{"kind", "add"}, {"from", OptionList{o.x, w}}, {"allow_broadcast_all_sources", true}},
               {{o.batch, o.time, o.in, one}}));
  CHECK(o.refusal() ==
        "plain JSON cannot tell the dims `one` and `time` in `sum` apart: a dim of size 1 matches any other there");
}

TEST_CASE("plain json: broadcasting that nothing allows") {
  Plain m;
  const Layer* a = m.variable("a", {m.in});
  const Layer* b = m.variable("b", {m.out});
  m.copy(m.add("sum", "eval", {{"eval", "source(0) + source(1)"}, {"from", OptionList{a, b}}}, {{m.in, m.out}}));
  CHECK(m.refusal() == "plain JSON cannot say `from` of the `eval` layer `sum`: no tensor has all dims of the result");
}

TEST_CASE("plain json: a loss has to know the padding") {
  Plain m;
  const Layer* table = m.variable("table", {m.out, m.in});
  const Layer* word = m.data("word", {m.batch, m.time}, m.out);
  const Layer* y = m.add("gather", "gather", {{"from", table}, {"position", word}, {"axis", m.out}, {"loss", "as_is"}},
                         {{m.batch, m.time, m.in}});
  m.copy(y);
  CHECK(m.refusal() ==
        "plain JSON cannot say which dim the `gather` layer `gather` works on: the loss has to leave out the padding "
        "of `time`, which is not sure to be the time dim");
}

TEST_CASE("plain json: externs") {
  Plain m;
  Dim u = m.dynamic("u");
  m.data("many", {m.batch, m.time, u});
  m.data("square", {m.batch, m.in, m.in});
  m.data("lonely", {m.dynamic("v")});
  m.copy(m.x);
  CHECK(
      m.refusals() ==
      std::vector<std::string>{
          "plain JSON cannot say the extern `many`: it has several dims of dynamic size and shares `time` with `data`",
          "plain JSON cannot say the extern `square`: it has the dim `in` twice",
          "plain JSON cannot say the extern `lonely`: `v` has no length without a batch dim"});
}

TEST_CASE("plain json: entries") {
  Plain m;
  m.copy(m.x);
  m.graph.entries = {{"raw", OptionDict{{"class", "copy"}, {"axis", m.time}}}};
  CHECK(m.refusal() == "plain JSON cannot say the network entry `raw`: it holds the dim `time`");
}

TEST_CASE("plain json: marks") {
  Plain m;
  const Layer* moved =
      m.add("marks", "reinterpret_data", {{"from", m.x}, {"set_axes", OptionDict{{"T", m.time}}}}, m.x->type);
  m.copy(
      m.add("dims", "reinterpret_data", {{"from", moved}, {"set_dim_tags", OptionMap{{{m.time, m.time}}}}}, m.x->type));
  CHECK(m.refusal() ==
        "plain JSON cannot say `set_dim_tags` of the `reinterpret_data` layer `dims`: the option has no plain form");
}

TEST_CASE("plain json: what names frames stands behind an eval, which stops RETURNN's packing of frames") {
  auto network = [](OptionDict dropout) {
    Plain m;
    dropout.insert(dropout.begin(), {{"from", m.x}, {"dropout", 0.5}});
    for (auto& [key, value] : dropout)
      if (key == "dropout_axis") value = std::get<bool>(value.data) ? dims_option({m.batch, m.in}) : Option(m.in);
    m.copy(m.add("drop", "dropout", std::move(dropout), m.x->type));
    m.finish();
    EmitOptions options;
    options.form = OutputForm::json_plain;
    std::string result = m.text(options);
    return result.substr(result.find("\"network\""));
  };
  CHECK(network({{"dropout_axis", true}}) ==
        "\"network\": {\n"
        " \"drop.direct\": {\"class\": \"dropout\", \"from\": \"data:data\", \"dropout\": 0.5, \"dropout_axis\": "
        "[\"B\", \"F\"]},\n"
        " \"drop\": {\"class\": \"eval\", \"from\": \"drop.direct\", \"eval\": \"source(0)\"},\n"
        " \"output\": {\"class\": \"copy\", \"from\": \"drop\"}\n"
        "}\n}\n");
  CHECK(network({{"dropout_axis", false}}) ==
        "\"network\": {\n"
        " \"drop\": {\"class\": \"dropout\", \"from\": \"data:data\", \"dropout\": 0.5, \"dropout_axis\": \"F\"},\n"
        " \"output\": {\"class\": \"copy\", \"from\": \"drop\"}\n"
        "}\n}\n");
}

TEST_CASE("plain json: dims alone") {
  Plain m;
  m.copy(m.x);
  m.finish();
  EmitOptions options;
  options.form = OutputForm::json_plain;
  options.part = EmitPart::dims;
  DiagnosticSink diagnostics;
  CHECK(m.text(options, diagnostics).empty());
  CHECK(diagnostics.error_count() == 1);
}

TEST_CASE("plain json: every problem is reported, in one go") {
  Plain m;
  const Layer* a = m.add("a", "dot", {{"from", m.x}}, m.x->type);
  const Layer* b = m.add("b", "conv", {{"from", a}}, m.x->type);
  m.copy(b);
  CHECK(m.refusals().size() == 2);
}
