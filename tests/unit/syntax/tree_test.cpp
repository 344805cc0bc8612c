// Texts to trees.
#include <doctest/doctest.h>

#include "tests/unit/models/models.h"
#include "tests/unit/syntax/dump.h"
#include "tests/unit/syntax/parsed.h"

using namespace rcn;
using namespace rcn::test;

namespace {

std::string statement(const std::string& text) {
  Parsed p(text);
  CHECK(p.messages() == "");
  REQUIRE(p.file.body.size() == 1);
  return dump(*p.file.body[0], false);
}

std::string expr(const std::string& text) {
  Parsed p("x = " + text);
  CHECK(p.messages() == "");
  REQUIRE(p.file.body.size() == 1);
  return dump(*ast::as<ast::AssignStmt>(*p.file.body[0]).value);
}

}  // namespace

TEST_CASE("precedence is Python's") {
  CHECK(expr("-x ** 2") == expr("-(x ** 2)"));
  CHECK(expr("x ** -y ** 2") == expr("x ** (-(y ** 2))"));
  CHECK(expr("not a == b") == expr("not (a == b)"));
  CHECK(expr("a + b * c - d") == expr("a + (b * c) - d"));
  CHECK(expr("a or b and not c") == expr("a or (b and (not c))"));
  CHECK(expr("a if b else c if d else e") == expr("a if b else (c if d else e)"));
  CHECK(expr("a + b < c == d") == expr("(a + b) < c == d"));
  CHECK(expr("fn(x) => x if c else y") == expr("fn(x) => (x if c else y)"));
  CHECK(expr("-f(x).y[0]") == expr("-(((f(x)).y)[0])"));
  CHECK(expr("a - b - c") == "(binary (name a) [(#1 (name b)) (#1 (name c))])");
}

TEST_CASE("chains are flat") {
  CHECK(expr("a < b < c") == "(compare (name a) [(#2 (name b)) (#2 (name c))])");
  CHECK(expr("a not in b") == "(compare (name a) [(#7 (name b))])");
  CHECK(expr("a and b and c") == "(logical #0 [(name a) (name b) (name c)])");
  std::string chain = "a";
  for (int i = 0; i < 20000; ++i) chain += " + a";
  Parsed p("x = " + chain);
  CHECK(p.messages() == "");
}

TEST_CASE("literals") {
  CHECK(expr("1_000") == "(int 1000)");
  CHECK(expr("0x1F") == "(int 31)");
  CHECK(expr("1e-6") == expr("0.000001"));
  CHECK(expr("9223372036854775807") == "(int 9223372036854775807)");
  CHECK(expr("-9223372036854775808") == "(int -9223372036854775808)");
  CHECK(expr("-3") == "(negate (int 3))");
  CHECK(expr("1e-999") == expr("0.0"));
  CHECK(expr("\"a\\n\\\"\\u00e9\\ud83d\\ude00\\/\"") == "(string \"a\n\"\xC3\xA9\xF0\x9F\x98\x80/\")");
  CHECK(expr("\"größe\"") == "(string \"größe\")");
  CHECK(expr("true") == "(bool true)");
  CHECK(expr("none") == "(none)");
}

TEST_CASE("containers, calls, members") {
  CHECK(expr("()") == "(tuple [])");
  CHECK(expr("(a)") == "(name a)");
  CHECK(expr("(a,)") == "(tuple [(name a)])");
  CHECK(expr("a, b") == expr("(a, b)"));
  CHECK(expr("[a, b,]") == "(list [(name a) (name b)])");
  CHECK(expr("{}") == "(record [])");
  CHECK(expr("{h: h, \"from\": 2,}") == "(record [(h (name h)) (from (int 2))])");
  CHECK(expr("f(a, b=c)") == "(call (name f) [(- (name a)) (b (name c))])");
  CHECK(expr("x[1:]") == "(slice (name x) (int 1) null null)");
  CHECK(expr("x[::2]") == "(slice (name x) null null (int 2))");
  CHECK(expr("x[:]") == "(slice (name x) null null null)");
  CHECK(expr("x.y.z") == "(member (member (name x) y) z)");
  CHECK(expr("[x + i for i, (j, k) in xs if i != 2]") ==
        "(comprehension (binary (name x) [(#0 (name i))]) (- [(i [] null) (- [(j [] null) (k [] null)] null)] null) "
        "(name xs) "
        "(compare (name i) [(#1 (int 2))]))");
  CHECK(expr("fn(a, *, b: int = 3) => a") ==
        "(lambda [(a null null false \"\") (b (false false [int] null false []) (int 3) true \"\")] (name a))");
}

TEST_CASE("statements") {
  CHECK(statement("import nn") == "(import (\"nn\" false) -)");
  CHECK(statement("import \"a/b.rcn\" as c") == "(import (\"a/b.rcn\" true) c)");
  CHECK(statement("from nn . init import glorot as g, zeros") ==
        "(from_import (\"nn.init\" false) [(glorot g) (zeros zeros)])");
  CHECK(statement("dim t: spatial") == "(dim t spatial null \"\")");
  CHECK(statement("extern y(key=\"k\"): index(c)[batch, t]?") ==
        "(extern y [(key (string \"k\"))] (true true [index] (name c) false [(name batch) (name t)]) \"\")");
  CHECK(statement("loop t over d max n with h = e, s: [d] = {} { }") ==
        "(loop t (name d) (name n) [(h null (name e)) (s (false true [] null false [(name d)]) (record []))] [])");
  CHECK(statement("loss ctc[i](scale=1) = e") == "(mark #0 ctc (name i) [(scale (int 1))] (name e))");
  CHECK(statement("output x") == "(mark #2 x null [] null)");
  CHECK(statement("if a { b = 1 } elif c { } else { d() }") ==
        "(if [((name a) [(assign (b [] null) null (int 1) \"\")]) ((name c) [])] true [(expr (call (name d) []))])");
  CHECK(statement("x, [y, (z, _)] = f()") ==
        "(assign (- [(x [] null) (- [(y [] null) (- [(z [] null) (_ [] null)] null)] null)] null) null (call (name f) "
        "[]) \"\")");
  CHECK(statement("x: float32[..., d + 1] = y") ==
        "(assign (x [] null) (false true [float32] null true [(binary (name d) [(#0 (int 1))])]) (name y) \"\")");
}

TEST_CASE("newlines") {
  CHECK(statement("x = a +\n  b") == statement("x = a + b"));
  CHECK(statement("x = f(a,\n\n  b\n)") == statement("x = f(a, b)"));
  CHECK(statement("x = [a\n, b]") == statement("x = [a, b]"));
  CHECK(statement("if a {\n}\nelse {\n}") == statement("if a { } else { }"));
  CHECK(statement("if a { } # why\n# not\n else { }") == statement("if a { } else { }"));
  CHECK(statement("fn f(x)\n  -> Tensor { return x }") == statement("fn f(x) -> Tensor { return x }"));
  CHECK(statement("x = {a: 1,\n b: 2\n}") == statement("x = {a: 1, b: 2}"));
  CHECK(statement("x = c if d else {a: 1}") == statement("x = c if d else\n {a: 1}"));
  CHECK(Parsed("x = f(y)\n(a, b)\n-z").file.body.size() == 3);
  CHECK(Parsed(";;x = 1;; y = 2;\n\n;").file.body.size() == 2);
  CHECK(Parsed("if {a: 1} == {a: 1} { w = {} } else { }\nif x in {a: 1}.keys { }").messages() == "");
  CHECK(Parsed("").file.body.empty());
  CHECK(Parsed("\xEF\xBB\xBFx = 1\r\ny = 2\r\n").file.body.size() == 2);
}

TEST_CASE("doc comments belong to what follows") {
  Parsed p(
      "## The file.\n## More.\n\n## A module.\n##\n##   indented\nmodule A(\n    ## how many\n    n: int,\n    m: int) "
      "{\n    ## one\n    param w: [n] = 0.0  ## no\n"
      "    fn f() { }\n}\n## lost\n\nx = 1\n### not\ny = 2\n");
  CHECK(p.messages() == "");
  CHECK(p.file.doc == "The file.\nMore.");
  REQUIRE(p.file.body.size() == 3);
  auto& a = ast::as<ast::ModuleStmt>(*p.file.body[0]);
  CHECK(a.doc == "A module.\n\n  indented");
  CHECK(a.params[0].doc == "how many");
  CHECK(a.params[1].doc == "");
  CHECK(ast::as<ast::ParamStmt>(*a.body[0]).doc == "one");
  CHECK(ast::as<ast::FnStmt>(*a.body[1]).doc == "");
  CHECK(ast::as<ast::AssignStmt>(*p.file.body[1]).doc == "");
  CHECK(ast::as<ast::AssignStmt>(*p.file.body[2]).doc == "");
  CHECK(Parsed("## About it.\nimport nn\n").file.doc == "About it.");
  CHECK(Parsed("## Of the module.\nmodule A() { }\n").file.doc == "");
}

TEST_CASE("spans cover the construct") {
  Parsed p("x = (a + b) * f(c)[0]  # rest\n");
  auto& s = ast::as<ast::AssignStmt>(*p.file.body[0]);
  CHECK(p.sources.text(s.span) == "x = (a + b) * f(c)[0]");
  CHECK(p.sources.text(s.value->span) == "(a + b) * f(c)[0]");
  auto& product = ast::as<ast::BinaryExpr>(*s.value);
  CHECK(p.sources.text(product.first->span) == "a + b");
  CHECK(p.sources.text(product.rest[0].op_span) == "*");
  CHECK(p.sources.text(product.rest[0].operand->span) == "f(c)[0]");
  CHECK(p.sources.text(ast::as<ast::IndexExpr>(*product.rest[0].operand).object->span) == "f(c)");
}

TEST_CASE("all models parse, by the fast prediction") {
  for (const ModelText& m : kModels) {
    CAPTURE(m.name);
    Parsed p{std::string(m.text)};
    CHECK(p.messages() == "");
    CHECK(p.stats.fallbacks == 0);
    CHECK(p.file.body.size() > 5);
  }
  Parsed hard{std::string(kHard.text)};
  CHECK(hard.messages() == "");
  CHECK(hard.stats.fallbacks == 0);
  CHECK(hard.file.body.size() == 42);
}
