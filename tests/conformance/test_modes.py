"""Modes: the static network for evaluation against the dynamic one, and what a frozen part does in training."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy

from compare import compare
from inputs import random_inputs, random_parameters
from referee import Network

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RCNC = pathlib.Path(os.environ.get("RCNC", ROOT / "build" / "rcnc")).resolve()

MODEL = """\
import nn
dim time: spatial
dim input: feature = 200
extern data: float32[batch, time, input]
module Part() {
    linear = nn.Linear(input, input)
    fn call(x: [..., input]) -> [..., input] { return nn.dropout(linear(x), 0.5, axis=x.dims) }
}
network {
    encoder = Part()
    decoder = Part()
    mode finetune { encoder.train = locked(false); train = dynamic }
    fn main() {
        output x = encoder(data)
        output y = decoder(x)
        loss z = nn.sin(y)
    }
}
"""


class Modes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder, "model.rcn")
            model.write_text(MODEL, encoding="utf-8")
            subprocess.run([RCNC, model, "--modes", "train,eval,finetune", "-o", folder], check=True)
            cls.texts = {m: pathlib.Path(folder, f"model.{m}.py").read_text(encoding="utf-8") for m in ("train", "eval", "finetune")}

    def network(self, mode):
        network = Network(self.texts[mode])
        self.addCleanup(network.close)
        network.set_params(random_parameters(network.params(), 1))
        return network, random_inputs(network.externs(), 1)

    def test_static_evaluation(self):
        self.assertIn('"class": "dropout"', self.texts["train"])
        for word in ("train_flag", "dropout", "cond"):
            self.assertNotIn(word, self.texts["eval"])
        dynamic, inputs = self.network("train")
        static, _ = self.network("eval")
        expected = dynamic.run(inputs, want_grads=True)
        self.assertEqual(compare(expected, static.run(inputs, want_grads=True)), [])
        # without a train flag, also where RETURNN trains
        self.assertEqual(compare(expected, static.run(inputs, train=True, want_grads=True)), [])

    def test_frozen_part(self):
        network, inputs = self.network("finetune")
        off, on = network.run(inputs)["outputs"], network.run(inputs, train=True)["outputs"]
        numpy.testing.assert_array_equal(off["x"]["values"], on["x"]["values"])
        values = numpy.concatenate([sequence[:length] for sequence, length in zip(on["y"]["values"], on["y"]["lengths"]["time"])])
        self.assertLess(abs(numpy.mean(values == 0) - 0.5), 0.1)
        self.assertGreater(numpy.mean(off["y"]["values"] != 0), 0.5)


if __name__ == "__main__":
    unittest.main()
