// What people write who come from other languages, and what they are told.
#include <doctest/doctest.h>

#include "tests/unit/syntax/parsed.h"

using namespace rcn::test;

static void check(const char* text, const char* messages) { CHECK(Parsed(text).messages() == messages); }

TEST_CASE("Python's literals") {
  check("y = True and None or not False",

        "m.rcn:1:5: error: there is no `True` in this language [E0122]\n"
        "help: write `true`\n"
        "m.rcn:1:14: error: there is no `None` in this language [E0122]\n"
        "help: write `none`\n"
        "m.rcn:1:26: error: there is no `False` in this language [E0122]\n"
        "help: write `false`\n");
}

TEST_CASE("Python's declarations") {
  check(
      "def f(x) {\n"
      "    return x\n"
      "}\n"
      "class A(n) {\n"
      "    fn call(x) { return x }\n"
      "}",

      "m.rcn:1:1: error: there is no `def` in this language [E0122]\n"
      "help: write `fn name(parameters) { ... }`\n"
      "m.rcn:4:1: error: there is no `class` in this language [E0122]\n"
      "help: write `module Name(parameters) { ... }`\n");
}

TEST_CASE("words of Python that have no counterpart") {
  check(
      "while true {\n"
      "    x = 1\n"
      "}\n"
      "pass\n"
      "y = 2\n"
      "raise x\n"
      "f = lambda x: x + 1\n"
      "z = self.w\n"
      "try { }\n"
      "yield 3",

      "m.rcn:1:1: error: there is no `while` in this language [E0122]\n"
      "help: write `for x in list { ... }`, or `loop t over dim { ... }` for a loop over tensors\n"
      "m.rcn:4:1: error: there is no `pass` in this language [E0122]\n"
      "help: an empty block is `{ }`\n"
      "m.rcn:6:1: error: there is no `raise` in this language [E0122]\n"
      "help: write `assert condition, \"message\"`\n"
      "m.rcn:7:5: error: there is no `lambda` in this language [E0122]\n"
      "help: write `fn(x) => ...`\n"
      "m.rcn:8:5: error: there is no `self` in this language [E0122]\n"
      "help: members are read by their name alone\n"
      "m.rcn:9:1: error: there is no `try` in this language [E0122]\n"
      "help: there are no exceptions\n"
      "m.rcn:10:1: error: there is no `yield` in this language [E0122]\n"
      "help: collect frames with `stack y = ...` in a `loop`, or build a list\n");
}

TEST_CASE("reserved words as names") {
  check(
      "class = 4\n"
      "f(def=2)\n"
      "fn loop(x) { return x }\n"
      "x.None\n"
      "for in xs { }\n"
      "fn f(from) { }",

      "m.rcn:1:1: error: `class` is a reserved word and cannot be a name [E0121]\n"
      "help: choose another name\n"
      "m.rcn:2:3: error: `def` is a reserved word and cannot be a name [E0121]\n"
      "help: choose another name\n"
      "m.rcn:3:4: error: `loop` is a reserved word and cannot be a name [E0121]\n"
      "help: choose another name\n"
      "m.rcn:4:3: error: `None` is a reserved word and cannot be a name [E0121]\n"
      "help: choose another name\n"
      "m.rcn:5:5: error: `in` is a reserved word and cannot be a name [E0121]\n"
      "help: choose another name\n"
      "m.rcn:6:6: error: `from` is a reserved word and cannot be a name [E0121]\n"
      "help: choose another name\n");
}

TEST_CASE("a reserved word is told where it is declared as a name, not where it is used") {
  check(
      "dim in: feature = 3\n"
      "dim if: feature = 3\n"
      "fn f(for, not) {\n"
      "    y = [a for a in [in, for, if] if a == not]\n"
      "    z = g(in(2), in.size * if,\n"
      "          [b\n"
      "           for b in for\n"
      "           if b])\n"
      "    if in == 3 { return in }\n"
      "    for c in [in] { in.x(in[0]) }\n"
      "}",

      "m.rcn:1:5: error: `in` is a reserved word and cannot be a name [E0121]\n"
      "help: choose another name\n"
      "m.rcn:2:5: error: `if` is a reserved word and cannot be a name [E0121]\n"
      "help: choose another name\n"
      "m.rcn:3:6: error: `for` is a reserved word and cannot be a name [E0121]\n"
      "help: choose another name\n"
      "m.rcn:3:11: error: `not` is a reserved word and cannot be a name [E0121]\n"
      "help: choose another name\n");
}

TEST_CASE("words behind names that declare elsewhere") {
  check(
      "a = [\n"
      "    loss if x else error\n"
      "    for output in xs if not (output)]\n"
      "b = x +\n"
      "    loss if (x) else dim\n"
      "c = x and\n"
      "    dim in (1, 2)\n"
      "d = {loss: 1, dim: 2 if x else 3}\n"
      "f(loss=1, dim=not x)",

      "");
}

TEST_CASE("identity is equality") {
  check(
      "a = x is none\n"
      "b = x is not none",

      "m.rcn:1:7: error: there is no `is` in this language [E0122]\n"
      "help: compare with `==`; `x == none` is static\n"
      "m.rcn:2:7: error: there is no `is` in this language [E0122]\n"
      "help: compare with `==`; `x == none` is static\n");
}

TEST_CASE("operators of C") {
  check(
      "a = x && y || !z\n"
      "b = x & y | z\n"
      "c = x ^ 2\n"
      "d = x =< 3",

      "m.rcn:1:7: error: there is no operator `&&` [E0123]\n"
      "help: write `and`\n"
      "m.rcn:1:12: error: there is no operator `||` [E0123]\n"
      "help: write `or`\n"
      "m.rcn:1:15: error: there is no operator `!` [E0123]\n"
      "help: write `not`\n"
      "m.rcn:2:7: error: there is no operator `&` [E0123]\n"
      "help: write `and`\n"
      "m.rcn:2:11: error: there is no operator `|` [E0123]\n"
      "help: write `or`\n"
      "m.rcn:3:7: error: there is no operator `^` [E0123]\n"
      "help: a power is written `**`\n"
      "m.rcn:4:7: error: there is no operator `=<` [E0123]\n"
      "help: write `<=`\n");
}

TEST_CASE("increments") {
  check(
      "x++\n"
      "y--\n"
      "a = b - -c",

      "m.rcn:1:2: error: there is no operator `++` [E0125]\n"
      "help: write `x += 1`\n"
      "m.rcn:2:2: error: there is no operator `--` [E0125]\n"
      "help: write `y -= 1`\n");
}

TEST_CASE("walrus and decorators") {
  check(
      "if (n := 3) > 2 { }\n"
      "@jit\n"
      "fn f() { }",

      "m.rcn:1:7: error: there is no operator `:=` [E0123]\n"
      "help: assign in a statement of its own\n"
      "m.rcn:2:1: error: there is no `@` in this language [E0122]\n"
      "help: there are no decorators: call the function with the other one\n");
}

TEST_CASE("catch-all arguments") {
  check(
      "fn f(*args, **kwargs) { }\n"
      "g(*xs, y=1)",

      "m.rcn:1:6: error: there are no catch-all arguments [E0126]\n"
      "help: name each argument, pass a list, or hand over a function\n"
      "m.rcn:1:13: error: there are no catch-all arguments [E0126]\n"
      "help: name each argument, pass a list, or hand over a function\n"
      "m.rcn:2:3: error: there are no catch-all arguments [E0126]\n"
      "help: name each argument, pass a list, or hand over a function\n");
}

TEST_CASE("blocks after a colon") {
  check(
      "def f(x):\n"
      "    if x:\n"
      "        return 1\n"
      "    else:\n"
      "        return 2\n"
      "for i in xs:\n"
      "    g(i)\n"
      "y = 3",

      "m.rcn:1:1: error: there is no `def` in this language [E0122]\n"
      "help: write `fn name(parameters) { ... }`\n"
      "m.rcn:1:9: error: a block stands in `{ }`, not after a colon [E0128]\n"
      "help: write `{` in place of `:` and `}` after the block\n"
      "m.rcn:2:9: error: a block stands in `{ }`, not after a colon [E0128]\n"
      "help: write `{` in place of `:` and `}` after the block\n"
      "m.rcn:4:9: error: a block stands in `{ }`, not after a colon [E0128]\n"
      "help: write `{` in place of `:` and `}` after the block\n"
      "m.rcn:6:12: error: a block stands in `{ }`, not after a colon [E0128]\n"
      "help: write `{` in place of `:` and `}` after the block\n");
}

TEST_CASE("else if") {
  check("if a { } else if b { } elsif c { }",

        "m.rcn:1:10: error: `else if` is written `elif` [E0127]\n"
        "help: write `elif`\n"
        "m.rcn:1:24: error: `elsif` is written `elif` [E0127]\n"
        "help: write `elif`\n");
}

TEST_CASE("comments of other languages") {
  check(
      "// one\n"
      "x = 3 // two words\n"
      "/* three\n"
      "   lines */\n"
      "y = f(a,\n"
      "    // not here\n"
      "    b)\n"
      "z = a // b",

      "m.rcn:1:1: error: `//` does not begin a comment [E0124]\n"
      "help: comments start with `#`; `//` is division without a rest\n"
      "m.rcn:2:14: error: expected the end of the statement after `two`, found `words` [E0134]\n"
      "help: `//` is division without a rest; comments start with `#`\n"
      "m.rcn:3:1: error: `/*` does not begin a comment [E0124]\n"
      "help: comments start with `#`\n"
      "m.rcn:6:5: error: `//` does not begin a comment [E0124]\n"
      "help: comments start with `#`; `//` is division without a rest\n");
}

TEST_CASE("strings") {
  check(
      "a = 'single'\n"
      "b = f\"x {y}\"\n"
      "c = r\"raw\"\n"
      "d = f'x'\n"
      "e = \"\"\"triple\"\"\"\n"
      "f = \"unknown \\q escape\"\n"
      "g = \"\\u12\" + \"\\ud800x\"",

      "m.rcn:1:5: error: strings stand in double quotes [E0111]\n"
      "help: write `\"...\"`\n"
      "m.rcn:2:5: error: there are no f-strings [E0113]\n"
      "help: join strings with `+`: `\"layer \" + str(i)`\n"
      "m.rcn:3:5: error: a string has no prefix `r` [E0114]\n"
      "help: a backslash in a string is written `\\\\`\n"
      "m.rcn:4:5: error: there are no f-strings [E0113]\n"
      "help: join strings with `+`: `\"layer \" + str(i)`\n"
      "m.rcn:5:5: error: there are no triple-quoted strings [E0112]\n"
      "help: lines that begin with `##` document what follows them; a string stands on one line\n"
      "m.rcn:6:14: error: unknown escape `\\q` in a string [E0108]\n"
      "help: the escapes are `\\\"` `\\\\` `\\/` `\\b` `\\f` `\\n` `\\r` `\\t` and `\\uXXXX`; a backslash itself is "
      "`\\\\`\n"
      "m.rcn:7:6: error: `\\u` needs four hexadecimal digits [E0109]\n"
      "m.rcn:7:15: error: `\\ud800` is half of a surrogate pair: a character beyond U+FFFF is written as two escapes "
      "[E0110]\n");
}

TEST_CASE("docstrings vanish") {
  check(
      "fn f() {\n"
      "    \"\"\"\n"
      "    What it does.\n"
      "    \"\"\"\n"
      "    return 1 2\n"
      "}",

      "m.rcn:2:5: error: there are no triple-quoted strings [E0112]\n"
      "help: lines that begin with `##` document what follows them; a string stands on one line\n"
      "m.rcn:5:14: error: expected the end of the statement after `1`, found `2` [E0134]\n");
}

TEST_CASE("strings without an end") {
  check(
      "a = \"open\n"
      "b = f(x, \"open)\n"
      "if a == \"open {\n"
      "    c = 1\n"
      "}\n"
      "d = don't\n"
      "e = 2",

      "m.rcn:1:5: error: the string does not end on its line [E0107]\n"
      "help: a string ends with `\"` on the same line\n"
      "m.rcn:2:10: error: the string does not end on its line [E0107]\n"
      "help: a string ends with `\"` on the same line\n"
      "m.rcn:3:9: error: the string does not end on its line [E0107]\n"
      "help: a string ends with `\"` on the same line\n"
      "m.rcn:6:8: error: unexpected character `'` [E0105]\n"
      "help: strings stand in `\"`\n");
}

TEST_CASE("numbers") {
  check(
      "a = 1.\n"
      "b = .5\n"
      "c = 1.e5\n"
      "d = 0x\n"
      "e = 0b101\n"
      "f = 1__0 + 1_\n"
      "g = 007\n"
      "h = 9223372036854775808\n"
      "i = 1e999\n"
      "j = 12abc\n"
      "k = 1e",

      "m.rcn:1:5: error: a float needs digits on both sides of the point [E0116]\n"
      "help: write `1.0`\n"
      "m.rcn:2:5: error: a float needs digits on both sides of the point [E0116]\n"
      "help: write `0.5`\n"
      "m.rcn:3:5: error: a float needs digits on both sides of the point [E0116]\n"
      "help: write `1.0e5`\n"
      "m.rcn:4:5: error: `0x` is no number [E0115]\n"
      "help: a hexadecimal number is `0x` and then digits `0` to `9` and `a` to `f`\n"
      "m.rcn:5:5: error: `0b101` is no number [E0115]\n"
      "help: numbers are decimal, or hexadecimal with `0x`\n"
      "m.rcn:6:5: error: in `1__0` a `_` does not stand between two digits [E0117]\n"
      "m.rcn:6:12: error: in `1_` a `_` does not stand between two digits [E0117]\n"
      "m.rcn:7:5: error: the number `007` begins with `0` [E0118]\n"
      "help: write `7`\n"
      "m.rcn:8:5: error: the int `9223372036854775808` is too large [E0119]\n"
      "help: ints have 64 bits; with a point (`9e18`) it is a float\n"
      "m.rcn:9:5: error: the float `1e999` is too large [E0120]\n"
      "help: infinity is written `float(\"inf\")`\n"
      "m.rcn:10:5: error: `12abc` is no number [E0115]\n"
      "help: a number is like `12`, `1_000`, `0x1F`, `0.5` or `1e-6`\n"
      "m.rcn:11:5: error: `1e` is no number [E0115]\n"
      "help: digits are missing after `e`\n");
}

TEST_CASE("characters") {
  check(
      "größe = 3\n"
      "a = “quoted”\n"
      "b = a × 2\n"
      "c = $x\n"
      "d = a b",

      "m.rcn:1:1: error: `größe` is no name: it has letters beyond ASCII [E0106]\n"
      "help: names consist of `A` to `Z`, `a` to `z`, `0` to `9` and `_`; comments and strings may have any character\n"
      "m.rcn:2:5: error: unexpected character `“` [E0105]\n"
      "help: strings stand in `\"`\n"
      "m.rcn:3:7: error: unexpected character `×` [E0105]\n"
      "m.rcn:4:5: error: unexpected character `$` [E0105]\n"
      "m.rcn:5:7: error: expected the end of the statement after `a`, found `b` [E0134]\n");
}

TEST_CASE("a backslash does not continue a line") {
  check(
      "x = a \\\n"
      "    + b",

      "m.rcn:1:7: error: unexpected character `\\` [E0105]\n"
      "help: a line goes on in the next one inside brackets, or after an operator or a comma\n");
}
