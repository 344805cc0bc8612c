"""The samples without a search of their own."""

import pathlib
import tempfile
import unittest

import numpy

from sample import Sample, outputs_of
from support import RCNC, SAMPLES, parameters_of, rcnc

# isort: split
from compare import compare, valid_mask
from eager import Eager
from referee import Network


class Tagger(Sample, unittest.TestCase):
    name = "tagger"


class Mlp(Sample, unittest.TestCase):
    name = "mlp"
    small = ("num_layers=2", "layer_size=8")
    learning_rate = 0.03


class BlstmHybrid(Sample, unittest.TestCase):
    name = "blstm_hybrid"
    small = ("num_layers=2", "lstm_size=8", "num_classes=11")


class BlstmCtc(Sample, unittest.TestCase):
    name = "blstm_ctc"
    small = ("num_layers=2", "lstm_size=8")
    lengths = {"time": [7, 4, 6], "target_time": [3, 1, 2]}  # so long that there is an alignment


class LanguageModel(Sample, unittest.TestCase):
    name = "language_model"
    small = ("num_layers=2", "lstm_size=8")
    plain = False  # nn.dot of the output and the embedding


class LstmLm(Sample, unittest.TestCase):
    name = "lstm_lm"
    small = ("num_layers=2", "lstm_size=8", "embed_size=6", "vocab_size=11")
    modes = ("score",)
    learning_rate = 0.05  # half of the recurrent weights are dropped
    plain = False

    def test_scores(self):
        """The sum over the words of a sentence is what the error says in the other modes."""
        scores = self.agreed("--mode", "score")[0]["outputs"]["scores"]
        total = scores["values"][valid_mask(scores)].sum()
        self.assertAlmostEqual(-total, self.network.run(self.inputs)["errors"]["sentence"]["sum"], 4)

    def test_noise(self):
        """With noise RETURNN gives other gradients, in training only, and still learns."""
        with Network(rcnc(self.path, *self.options, "-D", "weight_noise=0.05", "-D", "weight_drop=0.0")) as network:
            network.set_params(self.params)
            self.assertEqual(compare(network.run(self.inputs), self.network.run(self.inputs)), [])
            noisy = [network.run(self.inputs, train=True)["gradients"]["lm/layers/0/param_W_re"] for _ in range(2)]
            self.assertTrue((noisy[0] != noisy[1]).all())


class TransformerLm(Sample, unittest.TestCase):
    """Its search mode goes frame by frame: test_modes says that this is equal."""

    name = "transformer_lm"
    small = ("model_size=8", "ff_size=12", "vocab_size=11")
    plain = False


class ExplicitLstm(Sample, unittest.TestCase):
    name = "explicit_lstm"
    plain = False

    def test_equals_the_module(self):
        """The same outputs and gradients by nn.LSTM, which has the same parameters."""
        self.assertEqual(rcnc("params", self.path, "-D", "explicit=false"), rcnc("params", self.path))
        with Network(rcnc(self.path, "-D", "explicit=false")) as network:
            network.set_params(self.params)
            self.assertEqual(compare(network.run(self.inputs), self.network.run(self.inputs)), [])


class SpecAugment(Sample, unittest.TestCase):
    name = "specaugment"
    small = ("hidden_size=8", "num_classes=11")
    plain = False

    def test_spans(self):
        """What is hidden of ones in the first steps: up to two spans of frames and two of features a sequence."""
        inputs = {"data": numpy.ones((256, 200, 80), "float32"), "data/length/time": numpy.full(256, 200, "int32")}
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "model.rcn"
            model.write_text(
                'import "specaugment.rcn" as sample\n'
                "extern data: float32[batch, sample.time, sample.input]\n"
                "network {\n    fn main() {\n"
                "        output x = sample.specaugment(data, spatial_dim=sample.time, feature_dim=sample.input)\n"
                "    }\n}\n",
                encoding="utf-8",
            )
            with Network(rcnc("-I", SAMPLES, model)) as network:
                theirs = network.run(inputs, train=True, want_grads=False)
            ours = Eager([RCNC]).run(model, inputs, {}, train=True, want_grads=False, options=["-I", SAMPLES])
        for result in (theirs, ours):
            hidden = result["outputs"]["x"]["values"] == 0
            for axis, widest, least, most in ((2, 20, 8, 12), (1, 16, 6, 10)):
                where = hidden.all(axis=axis)
                beginnings = where[:, 0] + (where[:, 1:] & ~where[:, :-1]).sum(axis=1)
                self.assertEqual(set(beginnings), {0, 1, 2})
                self.assertLessEqual(where.sum(axis=1).max(), 2 * widest)
                self.assertTrue(least < where.sum(axis=1).mean() < most, where.sum(axis=1).mean())
            rows, columns = hidden.all(axis=2)[:, :, None], hidden.all(axis=1)[:, None]
            numpy.testing.assert_array_equal(hidden, rows | columns)


class MixtureOfExperts(Sample, unittest.TestCase):
    name = "mixture_of_experts"
    small = (
        *("num_blocks=2", "num_experts=4", "model_size=8", "ff_size=10", "adapter_size=6"),
        *("num_senones=11", "num_phones=5"),
    )
    lengths = {"time": [7, 4, 6], "phone_time": [3, 1, 2]}
    modes = ("all_experts",)
    plain = False

    def test_stages(self):
        """What is trained in each stage; RETURNN and the eager run agree in both."""
        trained = {}
        for stage in ("adapt", "full"):
            self.agreed("-D", f"stage={stage}")
            found = parameters_of(rcnc("params", self.path, *self.options, "-D", f"stage={stage}"))
            names = [name.removeprefix("encoder/") for name, item in found.items() if item["trainable"]]
            trained[stage] = {name.split("/")[0] for name in names}
        self.assertEqual(trained["adapt"], {"adapters", "shared", "heads"})
        self.assertEqual(trained["full"], trained["adapt"] | {"lstm", "blocks"})

    def test_all_experts(self):
        """With all of its experts the mixture gives something else."""
        every, _ = self.agreed("--mode", "all_experts")
        self.assertNotEqual(compare(outputs_of(self.network.run(self.inputs, want_grads=False)), outputs_of(every)), [])


class Adaptive(Sample, unittest.TestCase):
    name = "adaptive"
    plain = False

    def test_short_batches_are_not_pooled(self):
        """What counts is the longest sequence of the batch."""
        for limit, pooled in ((6, True), (7, False)):
            options = ["-D", f"long={limit}", "--mode", "eval"]
            with Network(rcnc(self.path, *options)) as network:
                network.set_params(self.params)
                result = outputs_of(network.run(self.inputs, want_grads=False))
            same = compare(outputs_of(self.network.run(self.inputs, want_grads=False)), result) == []
            self.assertEqual(same, pooled)


if __name__ == "__main__":
    unittest.main()
