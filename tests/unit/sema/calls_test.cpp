// Arguments, parameters, options: what is given and what is taken.
#include <doctest/doctest.h>

#include "tests/unit/sema/checked.h"

using namespace rcn::test;

static void check(const char* text, const char* messages) { CHECK(Checked(text).messages() == messages); }

TEST_CASE("arguments of our own functions and modules") {
  check(
      "import nn\n"
      "fn f(x, y, *, scale=1, axis) { return x + y + scale + axis }\n"
      "module A(n: int, *, bias: bool = true) {\n"
      "    fn helper(x) { return x }\n"
      "    fn call(x) { return helper(x, y=1) }\n"
      "}\n"
      "a = f(1, 2, axis=3)\n"
      "b = f(1, 2, 3, axis=4)\n"
      "c = f(1, axs=4, y=2)\n"
      "d = f(1, 2, x=3, axis=4)\n"
      "e = f(1)\n"
      "g = A(1, bais=true)\n"
      "h = A()\n"
      "i = A(n=1, bias=false)",

      "m.rcn:1:8: warning: `nn` is imported and never used [E0210]\n"
      "m.rcn:5:35: error: `helper` has no parameter `y` [E0243]\n"
      "help: its parameters are `x`\n"
      "m.rcn:4:8: note: `helper` is declared here\n"
      "m.rcn:8:13: error: `f` takes at most 2 arguments by position [E0244]\n"
      "help: `scale` and `axis` are given by name\n"
      "m.rcn:2:4: note: `f` is declared here\n"
      "m.rcn:9:10: error: `f` has no parameter `axs` [E0243]\n"
      "help: did you mean `axis`?\n"
      "m.rcn:2:4: note: `f` is declared here\n"
      "m.rcn:10:13: error: `x` is given by position and by name [E0246]\n"
      "m.rcn:11:5: error: the call of `f` does not give `y` and `axis` [E0245]\n"
      "m.rcn:2:4: note: `f` is declared here\n"
      "m.rcn:12:10: error: `A` has no parameter `bais` [E0243]\n"
      "help: did you mean `bias`?\n"
      "m.rcn:3:8: note: `A` is declared here\n"
      "m.rcn:13:5: error: the call of `A` does not give `n` [E0245]\n"
      "m.rcn:3:8: note: `A` is declared here\n");
}

TEST_CASE("arguments of the standard library") {
  check(
      "import nn\n"
      "from nn import dropout as drop\n"
      "x = nn.dropout(1, 2, axes=3)\n"
      "y = drop(1, q=2)\n"
      "z = nn.relu(1, anything=2)\n"
      "w = nn.Linear(1, 2, with_bais=false)",

      "m.rcn:3:22: error: `nn.dropout` has no parameter `axes` [E0243]\n"
      "help: did you mean `axis`?\n"
      "m.rcn:4:13: error: `nn.dropout` has no parameter `q` [E0243]\n"
      "help: its parameters are `x`, `p` and `axis`\n"
      "m.rcn:6:21: error: `nn.Linear` has no parameter `with_bais` [E0243]\n"
      "help: did you mean `with_bias`?\n");
}

TEST_CASE("what is only known when it runs") {
  check(
      "import nn\n"
      "fn f(g, x) { return g(x, any=1) }\n"
      "module A(make: Function) {\n"
      "    layer = make(1, b=2)\n"
      "    fn call(x) { return layer(x, c=3), x.method(d=4), [layer][0](e=5) }\n"
      "}",

      "m.rcn:1:8: warning: `nn` is imported and never used [E0210]\n");
}

TEST_CASE("builtins") {
  check(
      "network {\n"
      "    params(\"**\", weight_deacy=1.0)\n"
      "    fn main() {\n"
      "        dim d: spatial\n"
      "        loop t over d { end(t == 3, include_eso=true); stack x = t }\n"
      "    }\n"
      "}",

      "m.rcn:2:18: error: `params` has no parameter `weight_deacy` [E0243]\n"
      "help: did you mean `weight_decay`?\n"
      "m.rcn:5:37: error: `end` has no parameter `include_eso` [E0243]\n"
      "help: did you mean `include_eos`?\n");
}

TEST_CASE("arguments, fields, parameters and states twice") {
  check(
      "fn f(a, b, *, a) {\n"
      "    dim d: spatial\n"
      "    loop t over d with h = 1, h = 2 { stack hs = h }\n"
      "    g = fn(x, x) => x\n"
      "    return {k: 1, k: 2, \"k\": 3}, g(x=1, x=2), g(x=1, 2)\n"
      "}",

      "m.rcn:1:15: error: two parameters `a` [E0225]\n"
      "m.rcn:1:6: note: first here\n"
      "m.rcn:3:31: error: the loop has two states `h` [E0226]\n"
      "m.rcn:3:24: note: first here\n"
      "m.rcn:4:15: error: two parameters `x` [E0225]\n"
      "m.rcn:4:12: note: first here\n"
      "m.rcn:5:19: error: the record has two fields `k` [E0224]\n"
      "m.rcn:5:13: note: first here\n"
      "m.rcn:5:25: error: the record has two fields `k` [E0224]\n"
      "m.rcn:5:13: note: first here\n"
      "m.rcn:5:41: error: `x` is given twice [E0223]\n"
      "m.rcn:5:36: note: first here\n"
      "m.rcn:5:54: error: an argument without a name after one with a name [E0227]\n");
}

TEST_CASE("parameters without default") {
  check(
      "fn f(a=1, b, *, c=2, d) { }\n"
      "module A(a=1, b, c) { }",

      "m.rcn:1:11: error: `b` has no default but `a` before it has one [E0228]\n"
      "help: give it a default, put it first, or put `*` before it so that it is given by name\n"
      "m.rcn:2:15: error: `b` has no default but `a` before it has one [E0228]\n"
      "help: give it a default, put it first, or put `*` before it so that it is given by name\n"
      "m.rcn:2:18: error: `c` has no default but `a` before it has one [E0228]\n"
      "help: give it a default, put it first, or put `*` before it so that it is given by name\n");
}

TEST_CASE("options of declarations") {
  check(
      "extern data(keyy=\"x\", available_for_inference=false): float32[batch]\n"
      "extern other(range=[1, 5], range=[1, 6], 3): float32[batch]\n"
      "network {\n"
      "    param w(trainable=false, weight_decya=1.0): [batch] = 0.0\n"
      "    fn main() {\n"
      "        loss l(scale=0.3, wieght=2) = data\n"
      "        error e(use_flatten_frames=false) = data\n"
      "        output o(scale=2) = other\n"
      "    }\n"
      "}",

      "m.rcn:1:13: error: `extern` has no option `keyy` [E0221]\n"
      "help: did you mean `key`?\n"
      "m.rcn:2:28: error: `range` is given twice [E0223]\n"
      "m.rcn:2:14: note: first here\n"
      "m.rcn:2:42: error: options of `extern` are given by name [E0222]\n"
      "help: its options are `key`, `available_for_inference` and `range`\n"
      "m.rcn:4:30: error: `param` has no option `weight_decya` [E0221]\n"
      "help: did you mean `weight_decay`?\n"
      "m.rcn:6:27: error: `loss` has no option `wieght` [E0221]\n"
      "help: its options are `scale`, `use_normalized_loss`, `use_flatten_frames` and `custom_inv_norm_factor`\n"
      "m.rcn:8:18: error: `output` has no option `scale` [E0221]\n"
      "help: `output` has no options\n");
}

TEST_CASE("kinds of dims") {
  check(
      "dim a: spatail\n"
      "dim b: batch = 3",

      "m.rcn:1:8: error: there is no kind of dim `spatail` [E0229]\n"
      "help: did you mean `spatial`?\n"
      "m.rcn:2:8: error: there is no kind of dim `batch` [E0229]\n"
      "help: a dim is `spatial` or `feature`\n");
}
