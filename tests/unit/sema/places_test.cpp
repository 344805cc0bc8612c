// Which statement may stand where.
#include <doctest/doctest.h>

#include "tests/unit/sema/checked.h"

using namespace rcn::test;

static void check(const char* text, const char* messages) { CHECK(Checked(text).messages() == messages); }

TEST_CASE("declarations of a file") {
  check(
      "import nn\n"
      "fn f() {\n"
      "    import nn\n"
      "    from nn import relu\n"
      "    option n: int = 3\n"
      "    extern d: float32[batch]\n"
      "    module A() { }\n"
      "    network { fn main() { } }\n"
      "    fn g() { }\n"
      "}\n"
      "if f() { import nn }\n"
      "x = nn.relu(1)",

      "m.rcn:3:5: error: `import` cannot stand in a function [E0211]\n"
      "help: it stands at the top of a file\n"
      "m.rcn:4:5: error: `from` cannot stand in a function [E0211]\n"
      "help: it stands at the top of a file\n"
      "m.rcn:5:5: error: `option` cannot stand in a function [E0211]\n"
      "help: it stands at the top of a file; a module takes parameters instead\n"
      "m.rcn:6:5: error: `extern` cannot stand in a function [E0211]\n"
      "help: it stands at the top of a file; a function takes tensors as parameters instead\n"
      "m.rcn:7:5: error: `module` cannot stand in a function [E0211]\n"
      "help: it stands at the top of a file; modules do not nest: hand over what the inner one needs as parameters\n"
      "m.rcn:8:5: error: `network` cannot stand in a function [E0211]\n"
      "help: it stands at the top of a file\n"
      "m.rcn:9:5: error: `fn` cannot stand in a function [E0211]\n"
      "help: it stands in a file, a `module` or the `network`; inside a function write `name = fn(x) => ...`\n"
      "m.rcn:11:10: error: `import` cannot stand in an `if` or `for` [E0211]\n"
      "help: it stands at the top of a file\n");
}

TEST_CASE("a library has no options and externs") {
  check(
      "option n: int = 3\n"
      "extern d: float32[batch]",

      "m.rcn:1:1: error: `option` stands only in a file with a `network` [E0212]\n"
      "help: in a library file assign a constant, or take a parameter\n"
      "m.rcn:2:1: error: `extern` stands only in a file with a `network` [E0212]\n"
      "help: in a library file take the tensor as a parameter of a function\n");
}

TEST_CASE("declarations of a module") {
  check(
      "param w: [batch] = 0.0\n"
      "flag x = true\n"
      "mode m { }\n"
      "fn f() {\n"
      "    param w: [batch] = 0.0\n"
      "    flag x = true\n"
      "    mode m { train = true }\n"
      "}\n"
      "module A() {\n"
      "    mode m { }\n"
      "    param ok: [batch] = 0.0\n"
      "    if true { param fine: [batch] = 0.0 }\n"
      "}",

      "m.rcn:1:1: error: `param` cannot stand in a file outside of modules and functions [E0211]\n"
      "help: it stands in the body of a `module` or of the `network`\n"
      "m.rcn:2:1: error: `flag` cannot stand in a file outside of modules and functions [E0211]\n"
      "help: it stands in the body of a `module` or of the `network`\n"
      "m.rcn:3:1: error: `mode` cannot stand in a file outside of modules and functions [E0211]\n"
      "help: it stands in the body of the `network`\n"
      "m.rcn:5:5: error: `param` cannot stand in a function [E0211]\n"
      "help: it stands in the body of a `module` or of the `network`\n"
      "m.rcn:6:5: error: `flag` cannot stand in a function [E0211]\n"
      "help: it stands in the body of a `module` or of the `network`\n"
      "m.rcn:7:5: error: `mode` cannot stand in a function [E0211]\n"
      "help: it stands in the body of the `network`\n"
      "m.rcn:10:5: error: `mode` cannot stand in the body of a `module` [E0211]\n"
      "help: it stands in the body of the `network`\n");
}

TEST_CASE("what stands in functions") {
  check(
      "module A(d) {\n"
      "    loop t over d { }\n"
      "    return 1\n"
      "    loss l = d\n"
      "    fn call(x) {\n"
      "        loop t over d {\n"
      "            return 1\n"
      "            loss l = x\n"
      "            if x { error e = x }\n"
      "            stack xs = x\n"
      "            masked x { stack ys = x; end(x); output o = x; masked x { x = 1 } }\n"
      "            end(x)\n"
      "            if x { end(x); stack zs = x }\n"
      "            loop u over d { stack us = x }\n"
      "        }\n"
      "        masked x { }\n"
      "        stack ws = x\n"
      "        end(x)\n"
      "        if x { loss fine = x }\n"
      "        return x\n"
      "    }\n"
      "}",

      "m.rcn:2:5: error: `loop` cannot stand in the body of a `module` [E0211]\n"
      "help: it stands in a function; over static values write `for x in list`\n"
      "m.rcn:3:5: error: `return` cannot stand in the body of a `module` [E0211]\n"
      "help: it stands in a function, outside of `loop` and `masked`\n"
      "m.rcn:4:5: error: `loss` cannot stand in the body of a `module` [E0211]\n"
      "help: it stands in a function, outside of `loop` and `masked`\n"
      "m.rcn:7:13: error: `return` cannot stand in the body of a `loop` [E0211]\n"
      "help: it stands in a function, outside of `loop` and `masked`\n"
      "m.rcn:8:13: error: `loss` cannot stand in the body of a `loop` [E0211]\n"
      "help: it stands in a function, outside of `loop` and `masked`\n"
      "help: collect the value with `stack` and mark it after the loop\n"
      "m.rcn:9:20: error: `error` cannot stand in the body of a `loop` [E0211]\n"
      "help: it stands in a function, outside of `loop` and `masked`\n"
      "help: collect the value with `stack` and mark it after the loop\n"
      "m.rcn:11:24: error: `stack` cannot stand in the body of a `masked` [E0211]\n"
      "help: it stands in the body of a `loop`, outside of `masked`\n"
      "m.rcn:11:38: error: `end` cannot stand in the body of a `masked` [E0211]\n"
      "help: it stands in the body of a `loop`, outside of `masked`\n"
      "m.rcn:11:46: error: `output` cannot stand in the body of a `masked` [E0211]\n"
      "help: it stands in a function, outside of `loop` and `masked`\n"
      "help: collect the value with `stack` and mark it after the loop\n"
      "m.rcn:16:9: error: `masked` cannot stand in a function [E0211]\n"
      "help: it stands in the body of a `loop`; elsewhere `nn.where(condition, a, b)` chooses element by element\n"
      "m.rcn:17:9: error: `stack` cannot stand in a function [E0211]\n"
      "help: it stands in the body of a `loop`, outside of `masked`\n"
      "m.rcn:18:9: error: `end` cannot stand in a function [E0211]\n"
      "help: it stands in the body of a `loop`, outside of `masked`\n");
}

TEST_CASE("statements without effect") {
  check(
      "fn f(x) {\n"
      "    x\n"
      "    x + 1\n"
      "    - x\n"
      "    (x, 1)\n"
      "    x.y\n"
      "    \"text\"\n"
      "    f(x)\n"
      "    for i in x { break }\n"
      "    for i in x { continue }\n"
      "}",

      "m.rcn:2:5: error: has no effect [E0219]\n"
      "help: to go on with the line above, end that line with the operator or use parentheses\n"
      "m.rcn:3:5: error: has no effect [E0219]\n"
      "help: to go on with the line above, end that line with the operator or use parentheses\n"
      "m.rcn:4:5: error: has no effect [E0219]\n"
      "help: to go on with the line above, end that line with the operator or use parentheses\n"
      "m.rcn:5:5: error: has no effect [E0219]\n"
      "help: to go on with the line above, end that line with the operator or use parentheses\n"
      "m.rcn:6:5: error: has no effect [E0219]\n"
      "help: to go on with the line above, end that line with the operator or use parentheses\n"
      "m.rcn:7:5: error: has no effect [E0219]\n"
      "help: to go on with the line above, end that line with the operator or use parentheses\n"
      "m.rcn:9:18: error: there is no `break` [E0220]\n"
      "help: filter the list before the `for`; a `loop` ends with `end(condition)`\n"
      "m.rcn:10:18: error: there is no `continue` [E0220]\n"
      "help: put the rest of the body in an `if`\n");
}

TEST_CASE("assignments to members") {
  check(
      "module A(b) {\n"
      "    b.train = true\n"
      "    fn call(x) {\n"
      "        b.y = 3\n"
      "        a, x.z = b\n"
      "    }\n"
      "}",

      "m.rcn:2:5: error: `train` cannot be assigned from here [E0217]\n"
      "help: members are assigned in the body of their own module only, flags in a `mode`\n"
      "m.rcn:4:9: error: `y` cannot be assigned from here [E0217]\n"
      "help: members are assigned in the body of their own module only, flags in a `mode`\n"
      "m.rcn:5:12: error: `z` cannot be assigned from here [E0217]\n"
      "help: members are assigned in the body of their own module only, flags in a `mode`\n");
}

TEST_CASE("types after several names") {
  check(
      "fn f(x) {\n"
      "    a: int = 3\n"
      "    b, c: int = x\n"
      "    return a + b + c\n"
      "}",

      "m.rcn:3:11: error: a type stands after a single name only [E0218]\n"
      "help: assign first and give each its type in a line of its own\n");
}

TEST_CASE("networks") {
  check(
      "network { fn mian() { } }\n"
      "network { fn main(x) { } }",

      "m.rcn:1:1: error: the `network` has no function `main` [E0214]\n"
      "help: write `fn main() { ... }` in it\n"
      "m.rcn:2:1: error: a second `network` [E0213]\n"
      "m.rcn:1:1: note: first here\n"
      "m.rcn:2:19: error: `main` has no parameters [E0215]\n"
      "help: what comes from outside is declared with `extern` or `option`\n");
}
