"""Modes on the command line: --mode, --modes, --set and `rcnc flags`."""

import json
import os
import unittest

from support import MODEL_ERROR, USAGE, CliTest, eager_there

MODEL = """\
import nn

option freeze: bool = true

dim f: feature = 4
extern data: float32[batch, f]

module Part() {
    linear = nn.Linear(f, f)
    flag skip = false

    fn call(x: [..., f]) -> [..., f] { return x if skip else nn.dropout(linear(x), 0.99999999, axis=f) }
}

network {
    first = Part()
    rest = [Part()]
    extra = nn.Linear(f, f)

    mode tune {
        train = dynamic
        if freeze { first.train = locked(false) }
    }

    fn main() {
        x = rest[0](first(data))
        if search { x = extra(x) }
        output x
    }
}
"""


def dropouts(text):
    return text.count('"class": "dropout"')


class ModesTest(CliTest):
    def setUp(self):
        super().setUp()
        self.write("model.rcn", MODEL)


class Mode(ModesTest):
    def test_of_the_model(self):
        self.assertEqual(dropouts(self.output_of("model.rcn")), 2)
        self.assertEqual(dropouts(self.output_of("model.rcn", "--mode", "tune")), 1)
        self.assertEqual(dropouts(self.output_of("model.rcn", "--mode", "tune", "-D", "freeze=false")), 2)
        self.assertIn("`tune`", self.error_of(MODEL_ERROR, "model.rcn", "--mode", "nothing"))

    def test_set(self):
        self.assertEqual(dropouts(self.output_of("model.rcn", "--set", "train=false")), 0)
        self.assertEqual(dropouts(self.output_of("model.rcn", "--set", "rest.0.train=false")), 1)
        for path in ("rest.0", "rest/0"):
            text = self.output_of("model.rcn", "--mode", "tune", "--set", f"{path}.train=true")
            self.assertIn('"dropout_on_forward": True', text)
        both = self.output_of("model.rcn", "--set", "train=false", "--set", "first.train=dynamic")
        self.assertEqual(dropouts(both), 1)
        self.assertNotIn("linear", self.output_of("model.rcn", "--set", "skip=true"))

    def test_wrong_settings(self):
        for wrong in ("train", "train=", "=true", ".train=true", "first.=true", "train=1", "train=locked(true)"):
            self.assertIn(wrong, self.error_of(USAGE, "model.rcn", "--set", wrong))
        error = self.error_of(MODEL_ERROR, "model.rcn", "--mode", "tune", "--set", "first.train=true")
        self.assertIn("--set:1:1: error:", error)
        self.assertIn("model.rcn:22:21: note: locked here", error)
        for wrong, meant in (("frist.train=true", "`first`"), ("rest.train=true", "`rest.0`"), ("first.skp=true", "`skip`")):
            self.assertIn("did you mean " + meant, self.error_of(MODEL_ERROR, "model.rcn", "--set", wrong))

    @unittest.skipUnless(eager_there(), "there is no rcnc-eager")
    def test_eager(self):
        def values(*args):
            return json.loads(self.output_of("--eager", "model.rcn", "--json", *args))["outputs"]["x"]["values"]

        plain = values("--mode", "eval")
        self.assertNotEqual(plain, values("--mode", "eval", "--set", "skip=true"))
        self.assertEqual(plain, values())
        self.assertEqual(plain, values("--mode", "eval", "--train"))
        self.assertTrue(all(v == 0 for row in values("--set", "rest.0.train=true") for v in row))
        self.assertTrue(all(v == 0 for row in values("--mode", "tune", "--train") for v in row))
        self.error_of(USAGE, "--eager", "model.rcn", "--modes", "train,eval")
        self.error_of(MODEL_ERROR, "--eager", "model.rcn", "--set", "a.b=true")


class Modes(ModesTest):
    def setUp(self):
        super().setUp()
        (self.folder / "out").mkdir()

    def written(self):
        return sorted(os.listdir(self.folder / "out"))

    def test_a_file_for_each(self):
        self.output_of("model.rcn", "--modes", "train,eval,tune", "-o", "out")
        self.assertEqual(self.written(), ["model.eval.py", "model.train.py", "model.tune.py"])
        for mode in ("train", "eval", "tune"):
            text = (self.folder / "out" / f"model.{mode}.py").read_text()
            self.assertEqual(text, self.output_of("model.rcn", "--mode", mode))
        self.output_of("model.rcn", "--modes", "eval", "-o", "out", "--json", "--set", "skip=true")
        self.assertEqual((self.folder / "out" / "model.eval.json").read_text(),
                         self.output_of("model.rcn", "--mode", "eval", "--json", "--set", "skip=true"))

    def test_several_models(self):
        self.write("other.rcn", MODEL)
        self.write("broken.rcn", MODEL.replace("if search { x = extra(x) }", "if search { x = extra(x, x) }"))
        models = ("model.rcn", "broken.rcn", "other.rcn")
        error = self.error_of(MODEL_ERROR, *models, "--modes", "train,search", "-o", "out")
        self.assertIn("in the mode `search`", error)
        self.assertEqual(error.count("[E0801]"), 2)  # `search` of the others has parameters that `train` has not
        self.assertEqual(self.written(), [])
        self.error_of(MODEL_ERROR, *models, "--modes", "train,nothing", "-o", "out")
        self.error_of(MODEL_ERROR, "model.rcn", "other.rcn", "--mode", "nothing", "-o", "out")
        self.error_of(MODEL_ERROR, "model.rcn", "other.rcn", "-D", "nothing=1", "-o", "out")
        self.assertEqual(self.written(), [])

        self.error_of(MODEL_ERROR, *models, "--modes", "search,train", "-o", "out")
        self.assertEqual(self.written(), ["model.search.py", "model.train.py", "other.search.py", "other.train.py"])

    def test_nothing_is_written_after_an_error_in_any(self):
        self.assertIn("`nothing`", self.error_of(MODEL_ERROR, "model.rcn", "--modes", "train,nothing", "-o", "out"))
        error = self.error_of(MODEL_ERROR, "model.rcn", "--modes", "train,search", "-o", "out")
        for name in ("extra/weight", "extra/bias"):
            self.assertIn(f"`{name}`: not in the mode `train`", error)
        self.assertEqual(self.written(), [])
        self.output_of("model.rcn", "--modes", "search,train", "-o", "out")
        self.assertEqual(self.written(), ["model.search.py", "model.train.py"])

    def test_check(self):
        self.output_of("check", "model.rcn", "--modes", "search,train")
        self.error_of(MODEL_ERROR, "check", "model.rcn", "--modes", "train,search")

    def test_usage(self):
        self.assertIn("-o", self.error_of(USAGE, "model.rcn", "--modes", "train,eval"))
        for wrong in ("", "train,", ",train", "train,eval,train"):
            self.error_of(USAGE, "model.rcn", "--modes", wrong, "-o", "out")
        self.error_of(USAGE, "model.rcn", "--modes", "train", "--mode", "eval", "-o", "out")
        for command in ("flags", "params"):
            self.error_of(USAGE, command, "model.rcn", "--modes", "train,eval")
        self.assertEqual(self.written(), [])


class Flags(ModesTest):
    def rows(self, *args):
        return [line.split("  ") for line in self.output_of("flags", "model.rcn", *args).splitlines()]

    def row(self, path, *args):
        return next([cell.strip() for cell in row if cell] for row in self.rows(*args) if row[0] == path)

    def test_all_instances(self):
        paths = [row[0] for row in self.rows()]
        self.assertEqual(paths, ["module", "network", "first", "first/linear", "rest/0", "rest/0/linear", "extra"])
        self.assertEqual(self.row("first"), ["first", "Part", "dynamic (mode train)", "false (default)", "skip=false (default)"])

    def test_what_set_them(self):
        args = ("--mode", "tune", "--set", "train=false", "--set", "rest.0.skip=true")
        self.assertEqual(self.row("first/linear", *args)[2], "false (model.rcn:22:21, locked; passed by: --set)")
        self.assertEqual(self.row("extra", *args)[2], "false (--set)")
        self.assertEqual(self.row("rest/0", *args)[4], "skip=true (--set)")
        self.assertEqual(self.row("extra", "--mode", "tune")[2], "dynamic (model.rcn:21:9)")
        self.assertEqual(self.row("network", "--mode", "search")[2], "true (mode search)")

    def test_main_does_not_run(self):
        self.write("model.rcn", MODEL.replace("if search {", "loop t over nothing_of_the_kind(x) {}\n        if search {"))
        self.error_of(MODEL_ERROR, "flags", "model.rcn")  # unknown names are found all the same
        self.write("model.rcn", MODEL.replace("if search {", "loop t over f { x = 1 }\n        if search {"))
        self.assertEqual(len(self.rows()), 7)

    def test_errors(self):
        self.error_of(MODEL_ERROR, "flags", "model.rcn", "--mode", "nothing")
        self.error_of(MODEL_ERROR, "flags", "model.rcn", "--set", "nothing.train=true")
        self.error_of(USAGE, "flags", "model.rcn", "model.rcn")
        self.error_of(USAGE, "flags")
