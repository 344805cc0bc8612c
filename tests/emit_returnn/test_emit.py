"""Emitted texts in RETURNN: `test_emit.py EMIT_MODELS [unittest arguments]`, with the program of emit_models.cpp."""

import importlib.util
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy

from network import Config, Dim, Network, batch_dim, config_of, recursion_limit, single_step_dim

EMIT_MODELS = None
MODELS = ("tagger", "mlp", "hybrid", "ctc", "shapes", "pointwise", "inputs")


def emit(*words, **kwargs):
    return subprocess.run([EMIT_MODELS, *words], check=True, stdout=subprocess.PIPE, **kwargs).stdout.decode("utf8")


def load_config(source):
    namespace = {"__name__": "loader"}
    exec(compile(emit("loader"), "<loader>", "exec"), namespace)
    return namespace["load_config"](source)


def config_in_form(model, form):
    if form == "json":
        config = config_of()
        config.update(load_config(emit(model, "json")))
        return config
    return config_of(emit(model, form))


def values_of(config, keys=("backend", "behavior_version", "extern_data", "network")):
    return {key: normal(config.typed_dict[key]) for key in keys}


def normal(value):
    """Values to compare, with dims by what they are."""
    if isinstance(value, Dim):
        return ("dim", value.name, str(value.kind), value.dimension, value.match_priority)
    if isinstance(value, dict):
        return [(normal(k), normal(v)) for k, v in value.items()]
    if isinstance(value, (set, frozenset)):
        return ("set", sorted(map(normal, value)))
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [normal(item) for item in value])
    if isinstance(value, float):
        return "nan" if math.isnan(value) else ("float", value.hex())
    return (type(value).__name__, value)


# The dims of dynamic size besides the first input's, in the axes after the batch.
OTHER_LENGTHS = {("ctc", "classes"), ("nested", "memory"), ("inputs", "other"), ("inputs", "channels_first")}


def inputs_of(model, network):
    rnd = numpy.random.RandomState(3)
    inputs, lengths = {}, {}
    for key, data in sorted(network.network.extern_data.data.items()):
        size, length = (3, [2, 3, 1]) if (model, key) in OTHER_LENGTHS else (7, [7, 3, 5])
        shape = [3 if d.is_batch_dim() else d.dimension or size for d in data.dims]
        if data.sparse:
            inputs[key] = rnd.randint(0, data.dim, shape).astype(data.dtype)
        else:
            inputs[key] = rnd.normal(0.0, 1.0, shape).astype(data.dtype)
        axes = [i for i, d in enumerate(data.dims) if d.dimension is None and not d.is_batch_dim()]
        if not axes:
            continue
        lengths[key] = length
        frames = numpy.moveaxis(inputs[key], [data.batch_dim_axis, axes[0]], [0, 1])
        for i, n in enumerate(length if not data.sparse else []):
            frames[i, n:] *= 7.0  # padding that would show
    return inputs, lengths


class FormsTest(unittest.TestCase):
    """The three forms of one network are one network."""

    def test_forms(self):
        for model in MODELS:
            with self.subTest(model):
                results = {}
                for form in ("python", "json", "plain"):
                    network = Network(config_in_form(model, form))
                    results[form] = network, network.run(*inputs_of(model, network))
                self.compare_meta(results["python"][0], results["json"][0], results["plain"][0])
                for form in ("json", "plain"):
                    self.compare_values(results["python"][1], results[form][1])

    def compare_meta(self, python, tagged, plain):
        self.assertEqual(python.dims(), tagged.dims())
        self.assertEqual(python.parameters(), tagged.parameters())
        self.assertEqual(python.parameters(), plain.parameters())
        helper = re.compile(r"\.(as\..*|marked|direct)(_\d+)?$")
        self.assertEqual(set(python.layers), {name for name in plain.layers if not helper.search(name)})
        for name, (dims, sparse, dtype) in python.dims().items():
            plain_dims, plain_sparse, plain_dtype = plain.dims()[name]
            self.assertEqual(sorted(str(d[2]) for d in dims), sorted(str(d[2]) for d in plain_dims), name)
            self.assertEqual(dtype, plain_dtype, name)
            if not name.endswith("weight"):
                self.assertEqual(sparse and sparse[2], plain_sparse and plain_sparse[2], name)

    def compare_values(self, a, b):
        self.assertTrue(a[0])
        for x, y in zip(a, b):  # outputs, losses, gradients
            self.assertEqual(set(x), set(y))
            for name in x:
                numpy.testing.assert_allclose(x[name], y[name], rtol=1e-5, atol=1e-6, err_msg=name)
        for gradient in a[2].values():
            self.assertTrue(numpy.isfinite(gradient).all())

    def test_wrong_axis_shows(self):
        """The comparison is sharp enough to see one wrong axis string."""
        text = emit("shapes", "plain")
        wrong = text.replace('"from": "mixed", "axis": "T"}', '"from": "mixed", "axis": "F"}')
        self.assertNotEqual(text, wrong)
        network, other = Network(config_of(text)), Network(config_of(wrong))
        a, b = (n.run(*inputs_of("shapes", n)) for n in (network, other))
        with self.assertRaises(AssertionError):
            self.compare_values(a, b)

    def test_losses(self):
        network = Network(config_in_form("tagger", "plain"))
        inputs, lengths = inputs_of("tagger", network)
        outputs, losses, gradients = network.run(inputs, lengths)
        picked = numpy.take_along_axis(outputs["output"], inputs["classes"][..., None], axis=-1)[..., 0]
        valid = numpy.arange(7)[None] < numpy.array(lengths["data"])[:, None]
        numpy.testing.assert_allclose(losses["ce"], [-(picked * valid).sum()], rtol=1e-5)
        wrong = (outputs["output"].argmax(-1) != inputs["classes"]) & valid
        numpy.testing.assert_allclose(losses["fer"], [wrong.sum()], rtol=1e-5)
        self.assertTrue(all(numpy.abs(g).max() > 0 for g in gradients.values()))


def set_optimize(value, optimize):
    """In all loops."""
    if isinstance(value, dict):
        if value.get("class") == "rec":
            value["optimize_move_layers_out"] = optimize
        for item in value.values():
            set_optimize(item, optimize)


class LoopsTest(unittest.TestCase):
    """Dicts in layers: loops and branches."""

    def run_model(self, model, form, optimize):
        config = config_in_form(model, form)
        set_optimize(config.typed_dict["network"], optimize)
        network = Network(config)
        inputs, lengths = inputs_of(model, network)
        return inputs, lengths, network.run(inputs, lengths)[0]

    def check(self, model, reference):
        for form in ("python", "json"):
            for optimize in (True, False):
                with self.subTest(model=model, form=form, optimize=optimize):
                    inputs, lengths, outputs = self.run_model(model, form, optimize)
                    for name, expected in reference(inputs, lengths).items():
                        numpy.testing.assert_allclose(outputs[name], expected, rtol=1e-5, atol=1e-5, err_msg=name)

    def test_loops(self):
        def reference(inputs, lengths):
            valid = (numpy.arange(7)[None] < numpy.array(lengths["data"])[:, None])[..., None]
            sums = numpy.cumsum(inputs["data"] * valid, axis=1)
            output = 2.0 * sums + sums[:, -1:]
            return {"sums": sums * valid, "doubled": 2.0 * sums * valid, "output": output * valid}

        self.check("loops", reference)

    def test_nested(self):
        def reference(inputs, lengths):
            output = numpy.zeros_like(inputs["data"])
            for b, (frames, steps) in enumerate(zip(lengths["data"], lengths["memory"])):
                h = numpy.zeros(9)
                for t in range(frames):
                    g, total = inputs["data"][b, t], 0.0
                    for s in range(steps):
                        g = inputs["memory"][b, s] + 0.5 * g + 0.25 * h + 0.1 * t
                        total = total + g
                    x = inputs["data"][b, t]
                    first, second = (total - 0.5 * h, x) if t % 2 == 0 else (x, total)
                    h = numpy.tanh(0.1 * (first + 2.0 * second))
                    output[b, t] = h
            return {"output": output}

        self.check("nested", reference)

    def test_branches(self):
        def reference(inputs, lengths):
            valid = (numpy.arange(7)[None] < numpy.array(lengths["data"])[:, None])[..., None]
            return {"output": 3.0 * inputs["data"] * valid, "second": 2.0 * inputs["data"] * valid}

        self.check("branches", reference)

    def test_forms(self):
        for model in ("loops", "nested", "branches"):
            python = values_of(config_of(emit(model, "python")))
            self.assertEqual(values_of(config_of(emit(model, "json"), emit("loader"))), python)
            parts = [emit(model, "python", part) for part in ("dims", "extern", "net")]
            self.assertEqual(values_of(config_of(*parts)), python)
            network = config_of(emit(model, "python", "sorted")).typed_dict["network"]
            self.assertSorted(network)

    def assertSorted(self, value):
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            self.assertEqual(list(value), sorted(value))
            for item in value.values():
                self.assertSorted(item)

    def test_deep(self):
        with recursion_limit(1000):
            self.assertNotIn(".order", emit("deep-60-50", "python"))
            Network(config_of(emit("deep-60-50", "python")))
            text = emit("deep-150-50", "python")
            self.assertIn(".order", text)
            Network(config_of(text))
            Network(config_of(emit("deep-300-150", "python")))
            self.assertEqual(sys.getrecursionlimit(), 1000)
            with self.assertRaises(RecursionError):
                Network(config_of(text[: text.index('    ".order"')] + "}\n"))

    def test_deep_body(self):
        self.assertNotIn("setrecursionlimit", emit("deep-10-180", "python"))
        text = emit("deep-130-300", "python")
        with recursion_limit(1000):
            config = config_of(text)
            self.assertEqual(sys.getrecursionlimit(), 100000)
            Network(config)
            names = set(config.typed_dict)
        with recursion_limit(1000):
            config = config_of(emit("deep-130-300", "json"), emit("loader"))
            self.assertEqual(sys.getrecursionlimit(), 100000)
            Network(config)
            self.assertFalse({name for name in set(config.typed_dict) - names if not name.startswith("__")})
        with recursion_limit(1000):
            load_config(emit("deep-130-300", "json"))
            self.assertEqual(sys.getrecursionlimit(), 100000)
        with recursion_limit(1000):
            with self.assertRaises(RecursionError):
                Network(config_of(text.replace("sys.setrecursionlimit", "str")))


class ConfigTest(unittest.TestCase):
    """The ways in which a config gets to RETURNN."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.expected = values_of(config_in_form("tagger", "python"))

    def write(self, name, text):
        path = pathlib.Path(self.folder.name, name)
        path.write_text(text, encoding="utf8")
        return path

    def test_file_names(self):
        text = emit("tagger", "python")
        for name in ("net.py", "net.config", "net"):
            self.assertEqual(values_of(config_of(self.write(name, text))), self.expected)

    def test_names_left(self):
        base = "#!rnn.py\nuse_tensorflow = True\nnum_epochs = 3\n"
        before = set(config_of(base).typed_dict)
        python = set(config_of(base, emit("tagger", "python")).typed_dict) - before
        ours = {"backend", "behavior_version", "extern_data", "network"}
        self.assertEqual({n for n in python - ours if not n.endswith("_dim")}, {"Dim"})
        tagged = set(config_of(base, emit("tagger", "json"), emit("loader")).typed_dict) - before
        self.assertEqual({n for n in tagged if not n.startswith("__")}, ours)

    def test_star_import(self):
        path = self.write("tagger_net.py", emit("tagger", "python"))
        main = f"#!rnn.py\nimport sys\nsys.path.insert(0, {str(path.parent)!r})\nfrom tagger_net import *\n"
        self.assertEqual(values_of(config_of(main)), self.expected)

    def test_loader_behind_json(self):
        files = self.write("net.json", emit("tagger", "json")), self.write("rcnc_loader.py", emit("loader"))
        self.assertEqual(values_of(config_of(*files)), self.expected)
        self.assertEqual(values_of(config_of("#!rnn.py\nx = 1\n", *files, "#!rnn.py\nx = 2\n")), self.expected)

    def test_loader_imported(self):
        path = self.write("net.json", emit("tagger", "json"))
        spec = importlib.util.spec_from_file_location("rcnc_loader", self.write("rcnc_loader.py", emit("loader")))
        loader = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loader)
        for source in (path, str(path), path.read_text(), json.loads(path.read_text())):
            values = loader.load_config(source)
            self.assertEqual({key: normal(value) for key, value in values.items()}, self.expected)

    def test_parts(self):
        parts = [emit("tagger", "python", part) for part in ("dims", "extern", "net")]
        self.assertEqual(values_of(config_of(*parts)), self.expected)
        Network(config_of(*parts))
        parts = [emit("tagger", "json", part) for part in ("net", "dims", "extern")]
        self.assertEqual(values_of(config_of(*parts, emit("loader"))), self.expected)
        parts = [emit("tagger", "plain", part) for part in ("net", "extern")]
        self.assertEqual(values_of(config_of(*parts)), values_of(config_of(emit("tagger", "plain"))))

    def test_sorted(self):
        config = config_of(emit("hybrid", "python", "sorted"))
        network = config.typed_dict["network"]
        self.assertEqual(list(network), sorted(network))
        self.assertTrue(all(list(layer) == sorted(layer) for layer in network.values()))
        self.assertEqual(network.keys(), config_of(emit("hybrid", "python")).typed_dict["network"].keys())

    def test_values(self):
        python = config_of(emit("odd", "python")).typed_dict
        tagged = load_config(emit("odd", "json"))
        for key in ("extern_data", "network"):
            self.assertEqual(normal(python[key]), normal(tagged[key]))
        output = python["network"]["output"]
        self.assertEqual(
            " ".join(map(repr, output["numbers"])),
            "0.05 100.0 100 1e-06 1e+22 0.3333333333333333 -0.0 5e-324 1.2345678901234568e+17 -9007199254740993",
        )
        self.assertEqual(output["text"], "a \"b\" 'c' \\ // /* \t\n\x01 \u00e9 \U0001f600")
        self.assertEqual([d.match_priority for d in output["square"]], [1, 0])
        self.assertEqual(len(output["set"]), 3)
        self.assertIs(output["step"], single_step_dim)
        self.assertIn(batch_dim, output["set"])
        # RETURNN strips comments from JSON before it reads it.
        read = config_of(emit("odd", "json"), emit("loader")).typed_dict
        self.assertEqual(normal(read["network"]), normal(python["network"]))

    def test_bytes(self):
        for form in ("python", "json", "plain"):
            text = emit("hybrid", form)
            env = dict(os.environ, LC_ALL="de_DE.UTF-8", LANG="de_DE.UTF-8", TZ="Asia/Tokyo")
            self.assertEqual(text, emit("hybrid", form, cwd=self.folder.name, env=env))


class ChainTest(unittest.TestCase):
    """Deep networks load under Python's default recursion limit."""

    def construct(self, text):
        with recursion_limit(1000):
            return Network(config_of(text))

    def test_short(self):
        self.assertNotIn(".order", emit("chain-2", "python"))
        self.assertNotIn(".order", emit("chain-100", "python"))
        self.construct(emit("chain-118", "python"))

    def test_long(self):
        for length, form in ((121, "python"), (300, "python"), (3000, "python"), (300, "plain")):
            text = emit(f"chain-{length}", form)
            self.assertIn(".order", text)
            self.assertEqual(sum(1 for name in self.construct(text).layers if name.startswith("add")), length)

    def test_several_anchors(self):
        text = emit("chain-8000", "python")
        self.assertIn('".order.001"', text)

    def test_without_anchor(self):
        text = emit("chain-300", "python")
        with self.assertRaises(RecursionError):
            self.construct(text[: text.index('    ".order"')] + "}\n")


if __name__ == "__main__":
    EMIT_MODELS = os.path.abspath(sys.argv.pop(1))
    unittest.main()
