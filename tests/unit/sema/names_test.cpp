// What names stand for, and what is said of those that stand for nothing.
#include <doctest/doctest.h>

#include "tests/unit/sema/checked.h"

using namespace rcn::test;

static void check(const char* text, const char* messages) { CHECK(Checked(text).messages() == messages); }

TEST_CASE("unknown names, and what was probably meant") {
  check(
      "import nn\n"
      "dim time: spatial\n"
      "module A(n: int) {\n"
      "    lin = nn.Linear(time, time)\n"
      "    fn call(x) { return lni(x) + tme + relu(x) + undefined + print(n) }\n"
      "}",

      "m.rcn:5:25: error: unknown name `lni` [E0232]\n"
      "help: did you mean `lin`?\n"
      "m.rcn:5:34: error: unknown name `tme` [E0232]\n"
      "help: did you mean `time`?\n"
      "m.rcn:5:40: error: unknown name `relu` [E0232]\n"
      "help: did you mean `nn.relu`?\n"
      "m.rcn:5:50: error: unknown name `undefined` [E0232]\n"
      "m.rcn:5:62: error: unknown name `print` [E0232]\n"
      "help: `rcnc --eager --print NAME` shows a value\n");
}

TEST_CASE("lookup order: locals, members, file, builtins") {
  check(
      "import nn\n"
      "limit = 3\n"
      "module A(n: int) {\n"
      "    scale = n * limit\n"
      "    fn helper(x) { return x * scale }\n"
      "    fn call(x) {\n"
      "        limit = 4\n"
      "        len = limit\n"
      "        for i, (a, b) in enumerate(x) { c = i + a + b }\n"
      "        ys = [k + c for k in x if k != limit]\n"
      "        f = fn(q, *, r=2) => q + r + len\n"
      "        dim d: spatial\n"
      "        loop t over d with h = x { h = h + t; stack zs = h }\n"
      "        return helper(zs) + h + f(1), ys\n"
      "    }\n"
      "}",

      "m.rcn:1:8: warning: `nn` is imported and never used [E0210]\n");
}

TEST_CASE("a comprehension and a lambda keep their names") {
  check(
      "import nn\n"
      "xs = [i for i in [1, 2]]\n"
      "ys = i\n"
      "f = fn(a) => a\n"
      "zs = a",

      "m.rcn:1:8: warning: `nn` is imported and never used [E0210]\n"
      "m.rcn:3:6: error: unknown name `i` [E0232]\n"
      "m.rcn:5:6: error: unknown name `a` [E0232]\n");
}

TEST_CASE("names that hide members") {
  check(
      "import nn\n"
      "module A(size: int) {\n"
      "    lin = nn.Linear(size, size)\n"
      "    for i in [1, 2] { extra = i }\n"
      "    fn helper(x) { return x }\n"
      "    fn call(size, x) {\n"
      "        lin = x\n"
      "        helper = 3\n"
      "        for i in [1] { x += i }\n"
      "        lin += 1\n"
      "        return [extra for extra in x], fn(lin) => lin\n"
      "    }\n"
      "}",

      "m.rcn:6:13: error: `size` hides a member of the module [E0235]\n"
      "help: give it another name; members change only in the body of their module\n"
      "m.rcn:2:10: note: `size` is declared here\n"
      "m.rcn:7:9: error: `lin` hides a member of the module [E0235]\n"
      "help: give it another name; members change only in the body of their module\n"
      "m.rcn:3:5: note: `lin` is declared here\n"
      "m.rcn:8:9: error: `helper` hides a member of the module [E0235]\n"
      "help: give it another name; members change only in the body of their module\n"
      "m.rcn:5:8: note: `helper` is declared here\n"
      "m.rcn:11:27: error: `extra` hides a member of the module [E0235]\n"
      "help: give it another name; members change only in the body of their module\n"
      "m.rcn:4:23: note: `extra` is declared here\n"
      "m.rcn:11:43: error: `lin` hides a member of the module [E0235]\n"
      "help: give it another name; members change only in the body of their module\n"
      "m.rcn:3:5: note: `lin` is declared here\n");
}

TEST_CASE("things that are used before they are declared") {
  check(
      "a = b + 1\n"
      "b = 2\n"
      "fn f() { return c }\n"
      "c = d.size\n"
      "dim d: spatial = 3",

      "m.rcn:1:5: error: `b` is used before it is declared [E0233]\n"
      "help: constants, dims and options stand in order\n"
      "m.rcn:2:1: note: `b` is declared here\n"
      "m.rcn:4:5: error: `d` is used before it is declared [E0233]\n"
      "help: constants, dims and options stand in order\n"
      "m.rcn:5:5: note: `d` is declared here\n");
}

TEST_CASE("the underscore drops a value") {
  check(
      "fn f(x) {\n"
      "    a, _ = x\n"
      "    _, _ = x\n"
      "    return _\n"
      "}",

      "m.rcn:4:12: error: `_` drops a value and cannot be read [E0234]\n");
}

TEST_CASE("declarations twice") {
  check(
      "import nn\n"
      "fn f() { }\n"
      "fn f() { }\n"
      "dim nn: spatial\n"
      "x = 1\n"
      "x = 2\n"
      "dim x: spatial\n"
      "module A(n) {\n"
      "    param w: [n] = 0.0\n"
      "    fn w() { }\n"
      "    if n { param b: [n] = 0.0 } else { param b: [n] = 1.0 }\n"
      "    flag n = true\n"
      "}",

      "m.rcn:1:8: warning: `nn` is imported and never used [E0210]\n"
      "m.rcn:3:4: error: `f` is declared twice [E0231]\n"
      "m.rcn:2:4: note: first here\n"
      "m.rcn:4:5: error: `nn` is declared twice [E0231]\n"
      "m.rcn:1:8: note: first here\n"
      "m.rcn:7:5: error: `x` is declared twice [E0231]\n"
      "m.rcn:5:1: note: first here\n"
      "m.rcn:10:8: error: `w` is declared twice [E0231]\n"
      "m.rcn:9:11: note: first here\n"
      "m.rcn:12:10: error: `n` is declared twice [E0231]\n"
      "m.rcn:8:10: note: first here\n");
}

TEST_CASE("members of the standard library") {
  check(
      "import nn\n"
      "from nn import relu, rellu, init\n"
      "x = nn.Linaer(1, 2)\n"
      "y = nn.init.glorot() + nn.init.glorott() + init.zeros() + nn.inti.zeros()\n"
      "z = relu(nn._hidden)",

      "m.rcn:2:22: error: `nn` has no `rellu` [E0236]\n"
      "help: did you mean `relu`?\n"
      "m.rcn:3:8: error: `nn` has no `Linaer` [E0236]\n"
      "help: did you mean `Linear`?\n"
      "m.rcn:4:32: error: `nn.init` has no `glorott` [E0236]\n"
      "help: did you mean `glorot`?\n"
      "m.rcn:4:62: error: `nn` has no `inti` [E0236]\n"
      "m.rcn:5:13: error: `_hidden` is private to `nn` [E0237]\n"
      "help: names that begin with `_` belong to their file\n");
}

TEST_CASE("imports that nothing uses") {
  check(
      "import nn\n"
      "from nn import relu, softmax as s\n"
      "x = relu(1)",

      "m.rcn:1:8: warning: `nn` is imported and never used [E0210]\n"
      "m.rcn:2:22: warning: `s` is imported and never used [E0210]\n");
}

TEST_CASE("private members") {
  check(
      "import nn\n"
      "module A(n) {\n"
      "    _own = n\n"
      "    fn call(x) { return x._own + x._other + {_field: 1}._field }\n"
      "}",

      "m.rcn:1:8: warning: `nn` is imported and never used [E0210]\n"
      "m.rcn:4:36: error: `_other` is private, and nothing of that name is declared in this file [E0238]\n"
      "help: names that begin with `_` belong to their file\n");
}

TEST_CASE("externs outside of the network's functions") {
  check(
      "extern data: float32[batch]\n"
      "x = data\n"
      "fn f() { return data }\n"
      "module A() {\n"
      "    y = data\n"
      "    fn call() { return data }\n"
      "}\n"
      "network {\n"
      "    a = A()\n"
      "    z = data\n"
      "    fn main() { return data + f() + a() + x }\n"
      "}",

      "m.rcn:2:5: error: the extern `data` can be read in the functions of the `network` only [E0239]\n"
      "help: hand it over as an argument from a function of the `network`\n"
      "m.rcn:1:8: note: `data` is declared here\n"
      "m.rcn:3:17: error: the extern `data` can be read in the functions of the `network` only [E0239]\n"
      "help: hand it over as an argument from a function of the `network`\n"
      "m.rcn:1:8: note: `data` is declared here\n"
      "m.rcn:5:9: error: the extern `data` can be read in the functions of the `network` only [E0239]\n"
      "help: hand it over as an argument from a function of the `network`\n"
      "m.rcn:1:8: note: `data` is declared here\n"
      "m.rcn:6:24: error: the extern `data` can be read in the functions of the `network` only [E0239]\n"
      "help: hand it over as an argument from a function of the `network`\n"
      "m.rcn:1:8: note: `data` is declared here\n"
      "m.rcn:10:9: error: the extern `data` can be read in the functions of the `network` only [E0239]\n"
      "help: hand it over as an argument from a function of the `network`\n"
      "m.rcn:1:8: note: `data` is declared here\n");
}

TEST_CASE("flags where they cannot be read") {
  check(
      "import nn\n"
      "x = train\n"
      "module A() {\n"
      "    flag frozen = false\n"
      "    y = 1 if train else 2\n"
      "    z = frozen\n"
      "    fn call(x) { return x if train or search or frozen else y }\n"
      "    g = fn(x) => x if train else z\n"
      "}",

      "m.rcn:1:8: warning: `nn` is imported and never used [E0210]\n"
      "m.rcn:2:5: error: the flag `train` cannot be read outside of functions [E0241]\n"
      "m.rcn:5:14: error: the flag `train` cannot be read in the body of a module [E0240]\n"
      "help: flags are read in functions, so that a model has the same parameters in all modes\n"
      "m.rcn:6:9: error: the flag `frozen` cannot be read in the body of a module [E0240]\n"
      "help: flags are read in functions, so that a model has the same parameters in all modes\n");
}

TEST_CASE("types") {
  check(
      "import nn\n"
      "from nn import LSTM\n"
      "dim d: feature = 3\n"
      "module A() { }\n"
      "fn f(a: A, b: nn.Linear, c: LSTM?, e: intt, g: float32, h: d, i: Tensor, j: nn.Linaer) { }",

      "m.rcn:5:39: error: `intt` is no type [E0247]\n"
      "help: did you mean `int`?\n"
      "m.rcn:5:48: error: `float32` is no type [E0247]\n"
      "help: a tensor without dims is `float32[]`, one with dims `float32[batch, time]`\n"
      "m.rcn:5:60: error: `d` is no type [E0247]\n"
      "m.rcn:3:5: note: `d` is declared here\n"
      "m.rcn:5:77: error: `nn` has no `Linaer` [E0236]\n"
      "help: did you mean `Linear`?\n");
}

TEST_CASE("tensor types") {
  check(
      "dim c: feature = 3\n"
      "extern a: float32[batch]\n"
      "extern b: index(c)[batch]\n"
      "extern e: flaot32[batch]\n"
      "extern f: index[batch]\n"
      "extern g: float32(c)[batch]\n"
      "extern h: list[int]\n"
      "extern i: float32[batch, tiem]\n"
      "network { fn main() { return a + b + e + f + g + h + i } }",

      "m.rcn:4:11: error: there is no dtype `flaot32` [E0248]\n"
      "help: did you mean `float32`?\n"
      "m.rcn:5:11: error: `index` needs the dim that it counts [E0250]\n"
      "help: write `index(classes)[dims]`, with the dim that it counts\n"
      "m.rcn:6:11: error: `float32` takes no parentheses in a type [E0249]\n"
      "help: class indices are `index(classes)[dims]`\n"
      "m.rcn:7:11: error: there is no dtype `list` [E0248]\n"
      "help: the type of a list says nothing of its items: `list`\n"
      "m.rcn:8:26: error: unknown name `tiem` [E0232]\n"
      "help: did you mean `Dim`?\n");
}

TEST_CASE("modes") {
  check(
      "import nn\n"
      "network {\n"
      "    flag fast = false\n"
      "    lin = nn.Linear(batch, batch)\n"
      "    layers = [lin]\n"
      "    mode train {\n"
      "        train = dynamic\n"
      "        fsat = true\n"
      "        fast = true\n"
      "        lin.freeze = true\n"
      "        lin.train = locked(false)\n"
      "        for l in layers[:1] { l.train = false }\n"
      "        other.train = false\n"
      "        x = 3\n"
      "        lin.flag: bool = true\n"
      "        nn.relu(3)\n"
      "        dim d: spatial\n"
      "    }\n"
      "    fn main() { }\n"
      "}",

      "m.rcn:8:9: error: no module declares a flag `fsat` [E0242]\n"
      "help: did you mean `fast`?\n"
      "m.rcn:13:9: error: unknown name `other` [E0232]\n"
      "m.rcn:14:9: error: no module declares a flag `x` [E0242]\n"
      "help: the flags are `train`, `search`, `fast` and `freeze`\n"
      "m.rcn:15:9: error: this does not stand in a `mode` [E0216]\n"
      "help: a `mode` holds `if`, `for` and `m.flag = value`\n"
      "m.rcn:15:19: error: a type stands after a single name only [E0218]\n"
      "help: assign first and give each its type in a line of its own\n"
      "m.rcn:16:9: error: this does not stand in a `mode` [E0216]\n"
      "help: a `mode` holds `if`, `for` and `m.flag = value`\n"
      "m.rcn:17:9: error: this does not stand in a `mode` [E0216]\n"
      "help: a `mode` holds `if`, `for` and `m.flag = value`\n");
}
