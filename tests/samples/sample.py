"""What is tested of every sample: RETURNN constructs what it compiles to, computes what the eager run does, and learns.

NAME.params beside this file pins the parameters of a sample. To refresh it, and review the diff:

    rcnc params samples/NAME.rcn > tests/samples/NAME.params
"""

import functools
import json
import re
import time

import numpy

from learning import losses_of_steps
from support import HERE, RCNC, SAMPLES, parameters_of, rcnc

# isort: split
from compare import compare, valid_mask
from eager import Eager, result_of
from inputs import random_inputs, random_parameters
from referee import Network, equal_networks, network_differences
from returnn_process import load_config

ALIAS = "output"
"""The layer that RETURNN wants besides the outputs of the model: a copy of the first one."""


class Sample:
    """The tests of one sample. What runs in RETURNN runs with the options `small`; parameters are those without."""

    name = None
    small = ()
    lengths = None
    """By dim, where those of `random_inputs` will not do."""

    seed = 3
    """Of the random parameters."""

    without_gradient = ()
    """Parameters that do not show in the losses with the options `small`."""

    plain = True
    """Whether there is a plain JSON form."""

    learning_rate = 0.01
    """Of the training steps on one batch."""

    constructed = ()
    """Options with fewer layers than in full size, where RETURNN would take long to construct all of them."""

    given = {}
    """Inputs that cannot be random."""

    modes = ()
    """Those that the sample declares besides train, eval and search."""

    without_targets = ()
    """Those of them that need no targets."""

    searches = False
    """Whether search gives other outputs than the other modes, or is no mode of the sample."""

    @classmethod
    def setUpClass(cls):
        cls.path = SAMPLES / f"{cls.name}.rcn"
        cls.options = [word for option in cls.small for word in ("-D", option)]
        cls.network = Network(rcnc(cls.path, *cls.options))
        cls.addClassCleanup(cls.network.close)
        cls.params = random_parameters(cls.network.params(), seed=cls.seed)
        cls.network.set_params(cls.params)
        cls.inputs = random_inputs(cls.network.externs(), seed=7, lengths=cls.lengths)
        cls.inputs |= cls.given
        inputs = cls.named(cls.inputs)
        cls.eager = functools.partial(Eager([RCNC]).run, cls.path, inputs, cls.params, options=cls.options)

    @classmethod
    def named(cls, inputs):
        """Inputs by the names that the program has for them, not by their keys in RETURNN."""
        keys = re.findall(r'(?m)^extern (\w+)\(key="(\w+)"', cls.path.read_text(encoding="utf-8"))
        names = {key: name for name, key in keys}
        found = {}
        for key, value in inputs.items():
            first, *rest = key.split("/", 1)
            found["/".join([names.get(first, first), *rest])] = value
        return found

    def params_of(self, network):
        """Those of the parameters that a network of another mode has."""
        return {item["name"]: self.params[item["name"]] for item in network.params()}

    def test_modes(self):
        """All modes compile; in eval and search nothing depends on the train flag, search needs no targets."""
        self.assertEqual(rcnc(self.path, "--mode", "train"), rcnc(self.path))
        expected = outputs_of(self.network.run(self.inputs, want_grads=False))
        dropped = outputs_of(self.network.run(self.inputs, train=True, want_grads=False))
        self.assertNotEqual(compare(expected, dropped), [])  # so that the train flag would show below
        for mode in ("eval", "search"):
            if mode == "search" and self.searches:
                continue
            rcnc(self.path, "--mode", mode)
            text = rcnc(self.path, "--mode", mode, *self.options)
            for word in ('"class": "dropout"', "train_flag"):
                self.assertNotIn(word, text)
            with self.subTest(mode), Network(text) as network:
                network.set_params(self.params_of(network))
                for train in (False, True):
                    result = network.run(self.inputs, train=train, want_grads=False)
                    self.assertEqual(compare(expected, outputs_of(result)), [])
                if mode == "search":
                    inputs = available_for_inference(text, self.inputs)
                    result = network.run(inputs, search=True, want_grads=False)
                    self.assertEqual(compare(expected, outputs_of(result)), [])

    def test_own_modes(self):
        """RETURNN and the eager run agree in the modes that the sample declares."""
        for mode in self.modes:
            with self.subTest(mode):
                self.assertTrue(self.agreed("--mode", mode, targets=mode not in self.without_targets)[0]["outputs"])

    def test_forms_and_parameters(self):
        """The tagged JSON is the Python form, in full size or nearly; RETURNN's parameters are the pinned ones."""
        options = [word for option in self.constructed for word in ("-D", option)]
        text, tagged, loader = rcnc(self.path, *options), rcnc(self.path, "--json", *options), rcnc("--print-loader")
        start = time.monotonic()
        with Network(text) as python:
            middle = time.monotonic()
            with Network(tagged, "json", loader) as other:
                end = time.monotonic()
                self.assertTrue(equal_networks(python, other))
                self.assertEqual(network_differences(python, other, exact=True), [])
            found = {item.pop("name"): item for item in python.params()}
        print(f"{self.name}: RETURNN constructs it in {middle - start:.1f} s, in {end - middle:.1f} s from JSON")
        pinned = (HERE / f"{self.name}.params").read_text(encoding="utf-8")
        self.assertEqual(rcnc("params", self.path), pinned)
        self.assertEqual(found, parameters_of(rcnc("params", self.path, *options)))

    def test_dims(self):
        """Each dim of an output: name, kind, size, lengths, the variable of the config that holds it."""
        declared = dict(re.findall(r"(?m)^ *dim (\w+): +(spatial|feature)", self.path.read_text(encoding="utf-8")))
        variables = load_config(rcnc(self.path, *self.options), "python").typed_dict
        outputs = self.eager(want_grads=False)["outputs"]
        theirs = self.network.dims(self.inputs)
        self.assertTrue(outputs)
        self.assertLessEqual(set(outputs), set(theirs))
        for name, output in outputs.items():
            dims = theirs[name]
            self.assertEqual([dim["name"] for dim in dims], output["dims"], name)
            for dim, size in zip(dims, output["values"].shape):
                if dim["name"] == "batch":
                    self.assertEqual(dim["kind"], "batch")
                    continue
                dynamic = dim["name"] in output["lengths"]
                self.assertEqual((dim["kind"], dim["size"]), ("dynamic", None) if dynamic else ("static", size))
                words = re.findall(r"\w+", dim["name"])
                self.assertEqual(dim["entity"], next(declared[word] for word in words if word in declared))
                if dynamic:
                    self.assertEqual(dim["lengths"].tolist(), output["lengths"][dim["name"]].tolist())
                found = [v for name, v in variables.items() if name.endswith("_dim") and v.name == dim["name"]]
                self.assertEqual([(v.dimension, v.kind.name) for v in found], [(dim["size"], dim["entity"])])

    def test_training_step(self):
        """RETURNN and the eager run agree on outputs, losses and gradients. These are finite, no gradient is zero."""
        result, ours = self.network.run(self.inputs), self.eager()
        self.assertEqual(set(result) - set(ours), set())
        self.assertEqual(compare(result, ours, ignore=[ALIAS]), [])
        for train, run in ((False, result), (True, self.network.run(self.inputs, train=True))):
            with self.subTest(train=train):
                self.assertTrue(numpy.isfinite(run["objective"]))
                self.assertTrue(run["losses"])
                trainable = {item["name"] for item in self.network.params() if item["trainable"]}
                self.assertEqual(set(run["gradients"]), trainable)
                for name, gradient in run["gradients"].items():
                    self.assertTrue(numpy.isfinite(gradient).all(), name)
                    self.assertEqual(gradient.any(), name not in self.without_gradient, name)

    def test_learns(self):
        """Twenty training steps on one batch."""
        before, after = losses_of_steps(self.network, self.inputs, learning_rate=self.learning_rate)
        print(f"{self.name}: {before:.3f} before, {after:.3f} after 20 steps")
        self.assertLess(after, 0.8 * before)

    def test_eager_run(self):
        """On random data, in full size and with dropout, all that the eager run says is finite."""
        arguments = self.path.with_suffix(".args")
        for flag in ("--eval", "--train"):
            options = [f"@{arguments}"] if arguments.exists() else []
            result = result_of(json.loads(rcnc("--eager", self.path, *options, "--json", flag)), {})
            self.assertTrue(result["outputs"])
            for name, output in result["outputs"].items():
                self.assertTrue(numpy.isfinite(output["values"][valid_mask(output)]).all(), name)
            for part in ("losses", "errors"):
                for name, value in result[part].items():
                    self.assertTrue(numpy.isfinite([value["sum"], value["mean"]]).all(), name)

    def test_plain_json(self):
        """RETURNN reads the plain JSON form with no Python at all and computes the same."""
        if not self.plain:
            self.skipTest("has no plain JSON form")
        with Network(rcnc(self.path, "--json=plain", *self.options), "plain") as network:
            network.set_params(self.params)
            result = network.run(self.inputs)
        self.assertEqual(compare(self.network.run(self.inputs), result, dim_names=False), [])


    def agreed(self, *options, targets=True):
        """What RETURNN and the eager run both compute under further options, and the network."""
        options = [*self.options, *options]
        text = rcnc(self.path, *options)
        inputs = self.inputs if targets else available_for_inference(text, self.inputs)
        with Network(text) as network:
            params = self.params_of(network)
            network.set_params(params)
            result = network.run(inputs, search='"search": True' in text, want_grads=False)
        ours = Eager([RCNC]).run(self.path, self.named(inputs), params, want_grads=False, options=options)
        self.assertEqual(compare(result, ours, ignore=[ALIAS], dim_names=False), [])
        return result, text


class Searching(Sample):
    """A sample whose search is by nn.choice."""

    searches = True
    plain = False
    best = "best"
    """The output with the labels of the best hypothesis."""

    length_key = "classes/length/target_time"

    def searched(self, beam_size):
        """The outputs of the search mode, which needs no targets; RETURNN and the eager run agree."""
        result, text = self.agreed("--mode", "search", "-D", f"beam_size={beam_size}", targets=False)
        for word in ('"class": "dropout"', "train_flag"):
            self.assertNotIn(word, text)
        return result["outputs"]

    def scored(self, labels, lengths):
        """The scores of labels as the network gives them that was told these labels: [batch, time, classes]."""
        inputs = {**self.inputs, "classes": labels, self.length_key: lengths}
        logits = self.network.run(inputs, want_grads=False)["outputs"]["logits"]["values"]
        return logits - numpy.log(numpy.exp(logits).sum(axis=-1, keepdims=True))

    def wanted(self, labels, lengths):
        """What search has chosen, end included, and how much of it: arrays [batch, time] and [batch]."""
        raise NotImplementedError

    def told(self, labels, lengths):
        """The targets that make the network give the scores of what search has chosen, and their lengths."""
        return self.wanted(labels, lengths)

    def test_search(self):
        """One hypothesis is the greedy one; more find no worse scores per label (not always: for these parameters)."""
        totals = []
        for beam_size in (1, 8):
            output = self.searched(beam_size)[self.best]
            labels, lengths = output["values"], next(iter(output["lengths"].values()))
            wanted, ends = self.wanted(labels, lengths)
            scores = self.scored(*self.told(labels, lengths))
            total = []
            for i, end in enumerate(ends):
                told = wanted[i, :end]
                if beam_size == 1:
                    self.assertEqual(scores[i, :end].argmax(axis=-1).tolist(), told.tolist())
                total.append(scores[i, numpy.arange(end), told].mean())
            totals.append(total)
        self.assertTrue(numpy.less_equal(totals[0], numpy.add(totals[1], 1e-5)).all(), totals)


def outputs_of(result):
    """The outputs that a mode without losses has as well."""
    losses = {**result["losses"], **result["errors"]}
    return {"outputs": {name: output for name, output in result["outputs"].items() if name not in losses}}


def available_for_inference(text, inputs):
    """Those of the inputs that the config says are there without targets."""
    externs = load_config(text, "python").typed_dict["extern_data"]
    return {key: value for key, value in inputs.items() if externs[key.split("/")[0]]["available_for_inference"]}
