// Brackets, blocks and statements that are not whole: one message for each cause, at the right place.
#include <doctest/doctest.h>

#include "tests/unit/syntax/parsed.h"

using namespace rcn::test;

static void check(const char* text, const char* messages) { CHECK(Parsed(text).messages() == messages); }

TEST_CASE("a block that is not closed") {
  check(
      "module A() {\n"
      "    fn call(x) {\n"
      "        if x {\n"
      "            y = 1\n"
      "        return y\n"
      "    }\n"
      "}",

      "m.rcn:7:2: error: missing `}` [E0130]\n"
      "m.rcn:3:14: note: the `{` was opened here\n");
}

TEST_CASE("a block that ends before a declaration") {
  check(
      "module A() {\n"
      "    fn call(x) {\n"
      "        return x\n"
      "\n"
      "    fn other(x) { return x }\n"
      "}\n"
      "module B() {\n"
      "    x = 1\n"
      "module C() { }",

      "m.rcn:3:17: error: missing `}` [E0130]\n"
      "m.rcn:2:16: note: the `{` was opened here\n"
      "m.rcn:8:10: error: missing `}` [E0130]\n"
      "m.rcn:7:12: note: the `{` was opened here\n");
}

TEST_CASE("a function call that is not closed") {
  check(
      "module A() {\n"
      "    fn call(x) {\n"
      "        y = f(x, g(\n"
      "        return y\n"
      "    }\n"
      "}\n"
      "z = f(a, b\n"
      "w = 3",

      "m.rcn:3:20: error: missing `)` [E0130]\n"
      "m.rcn:3:19: note: the `(` was opened here\n"
      "m.rcn:7:11: error: missing `)` [E0130]\n"
      "m.rcn:7:6: note: the `(` was opened here\n");
}

TEST_CASE("a bracket before the block") {
  check(
      "if f(x {\n"
      "    y = 1\n"
      "}",

      "m.rcn:1:7: error: missing `)` [E0130]\n"
      "m.rcn:1:5: note: the `(` was opened here\n");
}

TEST_CASE("a list that is not closed") {
  check(
      "xs = [1, 2, 3\n"
      "ys = [4]\n"
      "zs = {a: 1\n"
      "ws = 3",

      "m.rcn:1:14: error: missing `]` [E0130]\n"
      "m.rcn:1:6: note: the `[` was opened here\n"
      "m.rcn:3:11: error: missing `}` [E0130]\n"
      "m.rcn:3:6: note: the `{` was opened here\n");
}

TEST_CASE("brackets that do not match") {
  check(
      "a = (1, 2]\n"
      "b = [1, 2)\n"
      "c = f([1, 2)\n"
      "d = {a: f(1}",

      "m.rcn:1:10: error: expected `)`, found `]` [E0131]\n"
      "m.rcn:1:5: note: the `(` was opened here\n"
      "m.rcn:2:10: error: expected `]`, found `)` [E0131]\n"
      "m.rcn:2:5: note: the `[` was opened here\n"
      "m.rcn:3:12: error: missing `]` [E0130]\n"
      "m.rcn:3:7: note: the `[` was opened here\n"
      "m.rcn:4:12: error: missing `)` [E0130]\n"
      "m.rcn:4:10: note: the `(` was opened here\n");
}

TEST_CASE("brackets that close nothing") {
  check(
      "x = 1)\n"
      "y = 2]\n"
      "fn f() {\n"
      "    return 1\n"
      "}\n"
      "}\n"
      "z = 3",

      "m.rcn:1:6: error: `)` closes nothing [E0132]\n"
      "m.rcn:2:6: error: `]` closes nothing [E0132]\n"
      "m.rcn:6:1: error: `}` closes nothing [E0132]\n");
}

TEST_CASE("a brace on the next line") {
  check(
      "for i in xs\n"
      "{\n"
      "    f(i)\n"
      "}\n"
      "fn g(x)\n"
      "{\n"
      "    return x\n"
      "}",

      "m.rcn:2:1: error: the `{` of a block stands on the line of its header [E0129]\n"
      "help: put the `{` at the end of the line above\n"
      "m.rcn:6:1: error: the `{` of a block stands on the line of its header [E0129]\n"
      "help: put the `{` at the end of the line above\n");
}

TEST_CASE("an assignment in a condition") {
  check(
      "if a = 3 { }\n"
      "assert x = 3\n"
      "f(x.y = 3)\n"
      "a = b = c",

      "m.rcn:1:6: error: `=` assigns; it does not compare [E0138]\n"
      "help: to compare write `==`\n"
      "m.rcn:2:10: error: `=` assigns; it does not compare [E0138]\n"
      "help: to compare write `==`\n"
      "m.rcn:3:7: error: expected `,` or `)` after `y`, found `=` [E0134]\n"
      "help: to compare write `==`; an argument is given as `name=value`\n"
      "m.rcn:4:7: error: a statement assigns once [E0139]\n"
      "help: write one assignment a line; to compare write `==`\n");
}

TEST_CASE("an operand that is missing") {
  check(
      "x = a +\n"
      "y = b\n"
      "z = (a +)\n"
      "w = a *\n"
      "fn f() { }",

      "m.rcn:1:7: error: an operand is missing after `+` [E0135]\n"
      "m.rcn:2:1: note: a line that ends with `+` goes on in the next line\n"
      "m.rcn:3:9: error: expected an expression after `+`, found `)` [E0134]\n"
      "m.rcn:4:7: error: an operand is missing after `*` [E0135]\n"
      "m.rcn:5:1: note: a line that ends with `*` goes on in the next line\n");
}

TEST_CASE("two statements on a line") {
  check(
      "x = a b\n"
      "y = f(a) g(b)\n"
      "fn f() { return x y; z = }",

      "m.rcn:1:7: error: expected the end of the statement after `a`, found `b` [E0134]\n"
      "m.rcn:2:10: error: expected the end of the statement after `)`, found `g` [E0134]\n"
      "m.rcn:3:19: error: expected the end of the statement after `x`, found `y` [E0134]\n"
      "m.rcn:3:25: error: expected an expression after `=`, found `}` [E0134]\n");
}

TEST_CASE("a missing comma") {
  check(
      "f(a b, c)\n"
      "xs = [1 2]\n"
      "r = {a: 1 b: 2}\n"
      "fn g(a b) { }",

      "m.rcn:1:5: error: expected `,` or `)` after `a`, found `b` [E0134]\n"
      "m.rcn:2:9: error: expected `,` or `]` after `1`, found `2` [E0134]\n"
      "m.rcn:3:11: error: expected `,` or `}` after `1`, found `b` [E0134]\n"
      "m.rcn:4:8: error: expected `,` or `)` after `a`, found `b` [E0134]\n");
}

TEST_CASE("a line that begins with an operator") {
  check(
      "x = a\n"
      "+ b\n"
      "* c\n"
      ".d()",

      "m.rcn:2:1: error: a statement cannot begin with `+` [E0136]\n"
      "help: to go on with the line above, end that line with the operator or use parentheses\n"
      "m.rcn:3:1: error: a statement cannot begin with `*` [E0136]\n"
      "help: to go on with the line above, end that line with the operator or use parentheses\n"
      "m.rcn:4:1: error: a statement cannot begin with `.` [E0136]\n"
      "help: to go on with the line above, end that line with the operator or use parentheses\n");
}

TEST_CASE("words from elsewhere at the beginning") {
  check(
      "let t = 3\n"
      "func f(x) { }\n"
      "struct A { }\n"
      "ouput x",

      "m.rcn:1:5: error: expected the end of the statement after `let`, found `t` [E0134]\n"
      "help: write `name = value`, or `name: type = value`\n"
      "m.rcn:2:6: error: expected the end of the statement after `func`, found `f` [E0134]\n"
      "help: write `fn name(parameters) { ... }`\n"
      "m.rcn:3:8: error: expected the end of the statement after `struct`, found `A` [E0134]\n"
      "help: write `module Name(parameters) { ... }`\n"
      "m.rcn:4:7: error: expected the end of the statement after `ouput`, found `x` [E0134]\n"
      "help: did you mean `output`?\n");
}

TEST_CASE("branches without a condition") {
  check(
      "elif y { }\n"
      "else { }\n"
      "if x { }\n"
      "y = 1\n"
      "else { }",

      "m.rcn:1:1: error: `elif` without `if` [E0137]\n"
      "help: it follows the `}` of an `if` block, with nothing between\n"
      "m.rcn:5:1: error: `else` without `if` [E0137]\n"
      "help: it follows the `}` of an `if` block, with nothing between\n");
}

TEST_CASE("declarations that lack a part") {
  check(
      "dim x\n"
      "param w: [d]\n"
      "extern y\n"
      "option n = 3\n"
      "module (x) { }\n"
      "fn f { }\n"
      "network x { }\n"
      "loop t in xs { }\n"
      "import\n"
      "from nn import\n"
      "stack = 3\n"
      "stack y",

      "m.rcn:1:6: error: expected `:` after `x`, found the end of the line [E0134]\n"
      "m.rcn:2:13: error: expected `=` after `]`, found the end of the line [E0134]\n"
      "help: a parameter has an initial value: `= 0.0`, `= nn.init.glorot()`\n"
      "m.rcn:3:9: error: expected `:` after `y`, found the end of the line [E0134]\n"
      "m.rcn:4:10: error: expected `:` after `n`, found `=` [E0134]\n"
      "m.rcn:5:8: error: expected a name after `module`, found `(` [E0134]\n"
      "m.rcn:6:6: error: expected `(` after `f`, found `{` [E0134]\n"
      "m.rcn:7:9: error: expected `{` after `network`, found `x` [E0134]\n"
      "m.rcn:8:8: error: expected `over` after `t`, found the word `in` [E0134]\n"
      "m.rcn:9:7: error: expected a name after `import`, found the end of the line [E0134]\n"
      "m.rcn:10:15: error: expected a name after `import`, found the end of the line [E0134]\n"
      "m.rcn:12:8: error: expected `=` after `y`, found the end of the file [E0134]\n");
}

TEST_CASE("what cannot be assigned to") {
  check(
      "f(x) = 3\n"
      "x[0] = 3\n"
      "a + b = 3\n"
      "() = 3\n"
      "x[0] += 1\n"
      "(a, b) += 1\n"
      "a.b = 3",

      "m.rcn:1:1: error: this cannot be assigned to [E0140]\n"
      "help: names, `_`, and tuples or lists of them stand left of `=`\n"
      "m.rcn:2:1: error: this cannot be assigned to [E0140]\n"
      "help: lists, records and tensors do not change in place: make a new value\n"
      "m.rcn:3:1: error: this cannot be assigned to [E0140]\n"
      "help: names, `_`, and tuples or lists of them stand left of `=`\n"
      "m.rcn:4:1: error: this cannot be assigned to [E0140]\n"
      "help: names, `_`, and tuples or lists of them stand left of `=`\n"
      "m.rcn:5:1: error: only a name can stand left of `+=` [E0141]\n"
      "help: lists, records and tensors do not change in place: make a new value\n"
      "m.rcn:6:1: error: only a name can stand left of `+=` [E0141]\n"
      "help: lists, records and tensors do not change in place: make a new value\n");
}

TEST_CASE("parameter lists") {
  check(
      "fn f(*, *, a) { }\n"
      "fn g(a, *) { }\n"
      "fn h(a=1 2) { }",

      "m.rcn:1:9: error: a second `*` in a parameter list [E0142]\n"
      "m.rcn:2:9: error: no parameter follows the `*` [E0143]\n"
      "help: parameters after `*` are given by name\n"
      "m.rcn:3:10: error: expected `,` or `)` after `1`, found `2` [E0134]\n");
}

TEST_CASE("types") {
  check(
      "x: [..., d, ...] = y\n"
      "x: list[int = y\n"
      "x: = 3",

      "m.rcn:1:13: error: a second `...` in a type [E0144]\n"
      "m.rcn:2:16: error: missing `]` [E0130]\n"
      "m.rcn:2:8: note: the `[` was opened here\n"
      "m.rcn:3:4: error: expected a name after `:`, found `=` [E0134]\n");
}

TEST_CASE("a header without a block") {
  check(
      "if x\n"
      "y = 1\n"
      "for i in xs\n"
      "z = 2",

      "m.rcn:1:5: error: expected `{` after `x`, found the end of the line [E0134]\n"
      "help: the block of an `if` stands in `{ }`\n"
      "m.rcn:3:12: error: expected `{` after `xs`, found the end of the line [E0134]\n");
}

TEST_CASE("a comprehension in parentheses") {
  check("y = sum(x for x in xs)",

        "m.rcn:1:11: error: expected `,` or `)` after `x`, found the word `for` [E0134]\n"
        "help: a comprehension stands in `[ ]`, its item first: `[f(x) for x in xs]`\n");
}

TEST_CASE("each statement has one message") {
  check(
      "fn f(x) {\n"
      "    a = = 1\n"
      "    b = 2\n"
      "    c = (3 4 5) + * 2 2\n"
      "    return x\n"
      "}\n"
      "d = + + +",

      "m.rcn:2:9: error: expected an expression after `=`, found `=` [E0134]\n"
      "m.rcn:4:12: error: expected `,` or `)` after `3`, found `4` [E0134]\n"
      "m.rcn:7:5: error: expected an expression after `=`, found `+` [E0134]\n"
      "help: there is no unary `+`, and `x++` is written `x += 1`\n");
}

TEST_CASE("unary plus") {
  check("x = +3",

        "m.rcn:1:5: error: expected an expression after `=`, found `+` [E0134]\n"
        "help: there is no unary `+`, and `x++` is written `x += 1`\n");
}

TEST_CASE("semicolons inside of parentheses") {
  check(
      "f(a; b)\n"
      "y = 2",

      "m.rcn:1:4: error: expected `,` or `)` after `a`, found `;` [E0134]\n");
}

TEST_CASE("a bracket too many, and where it may stand") {
  check(
      "fn f(x) {\n"
      "    if x {\n"
      "        y = 1\n"
      "    }\n"
      "    }\n"
      "    return 1\n"
      "}\n"
      "fn g() { return 2 }",

      "m.rcn:7:1: error: `}` closes nothing [E0132]\n"
      "m.rcn:1:9: note: by its indentation this block ends later: a `}` too many may stand in it\n");
}
