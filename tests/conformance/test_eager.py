"""The driver of the eager mode, with a stand-in for the binary."""

import math
import pathlib
import sys
import tempfile
import unittest

import numpy

from compare import compare
from eager import Eager, EagerError, padded_array, read_npz, result_of, write_npz
from example_nets import LINEAR, config
from inputs import random_inputs, random_parameters
from referee import Network

FAKE = [sys.executable, str(pathlib.Path(__file__).with_name("fake_rcnc.py"))]


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.net = Network(config(LINEAR))
        cls.params = random_parameters(cls.net.params(), 1)
        cls.net.set_params(cls.params)
        cls.inputs = random_inputs({"data": cls.net.externs()["data"]}, 1)
        cls.expected = cls.net.run(cls.inputs)

    def test_saved_arrays(self):
        result = Eager(FAKE).run("model.rcn", self.inputs, self.params)
        self.assertEqual(compare(self.expected, result), [])
        self.assertIn("gradients", result)

    def test_values_in_json(self):
        result = Eager(FAKE).run("model.rcn", self.inputs, self.params, want_grads=False, options=["--no-save"])
        self.assertEqual(compare(self.expected, result), [])
        self.assertNotIn("gradients", result)

    def test_wrong_parameters_show(self):
        wrong = {**self.params, "lin/bias": self.params["lin/bias"] * 1.01}
        lines = compare(self.expected, Eager(FAKE).run("model.rcn", self.inputs, wrong))
        self.assertEqual(len(lines), 1, lines)

    def test_errors(self):
        for model, message in (("broken", "E0001"), ("silent", "no JSON"), ("slow", "no answer within")):
            with self.assertRaisesRegex(EagerError, message):
                Eager(FAKE, timeout=2 if model == "slow" else 60).run(model, self.inputs, self.params)


class Parsing(unittest.TestCase):
    def test_ragged_and_odd_numbers(self):
        array = padded_array([[[1.5, None]], [["inf", "-inf"], [0, 1]], []], 3, "float32")
        self.assertEqual(array.shape, (3, 2, 2))
        self.assertTrue(math.isnan(array[0, 0, 1]))
        self.assertEqual(array[1].tolist(), [[math.inf, -math.inf], [0, 1]])
        self.assertFalse(array[2].any())

    def test_scalars_integers_and_empty(self):
        self.assertEqual(padded_array(3, 0, "int32"), 3)
        self.assertEqual(padded_array([[1, 2], [16777217]], 2, "int64").tolist(), [[1, 2], [16777217, 0]])
        self.assertEqual(padded_array([[], []], 2, "bool").shape, (2, 0))

    def test_result(self):
        result = result_of(
            {
                "outputs": {"best": {"dims": ["batch"], "dtype": "int32", "sparse_dim": "classes", "values": [3, 1]}},
                "losses": {"ce": {"sum": 4, "mean": None}},
                "objective": 4,
                "gradients": {"w/param": [[1, 2]], "scale": 0.5},
            },
            {},
        )
        best = result["outputs"]["best"]
        self.assertEqual((best["values"].tolist(), best["sparse_dim"], best["lengths"]), ([3, 1], "classes", {}))
        self.assertTrue(math.isnan(result["losses"]["ce"]["mean"]))
        self.assertEqual(result["errors"], {})
        self.assertNotIn("constraints", result)
        self.assertEqual({name: g.shape for name, g in result["gradients"].items()}, {"w": (1, 2), "scale": ()})

    def test_npz_takes_every_name(self):
        arrays = {"file": numpy.arange(3), "x/length/time": numpy.asarray(2), "a.b": numpy.zeros((0, 2), "float32")}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.npz")
            write_npz(path, arrays)
            read = read_npz(path)
        self.assertEqual(sorted(read), sorted(arrays))
        self.assertTrue(all(numpy.array_equal(read[name], arrays[name]) for name in arrays))


if __name__ == "__main__":
    unittest.main()
