"""Random inputs and parameters, and variants of inputs. Needs no RETURNN."""

import unittest

import numpy

from inputs import frame_mask, poisoned, random_inputs, random_parameters, single

BATCH = {"name": "batch", "kind": "batch", "size": None, "length_dims": []}
TIME = {"name": "time", "kind": "dynamic", "size": None, "length_dims": ["batch"]}
FEAT = {"name": "feat", "kind": "static", "size": 4, "length_dims": []}
INNER = {"name": "inner", "kind": "dynamic", "size": None, "length_dims": ["batch", "time"]}

EXTERNS = {
    "data": {"dims": [BATCH, TIME, FEAT], "dtype": "float32", "sparse_dim": None, "sparse_size": None},
    "labels": {"dims": [TIME, BATCH], "dtype": "int32", "sparse_dim": "classes", "sparse_size": 6},
    "counts": {"dims": [BATCH], "dtype": "int32", "sparse_dim": None, "sparse_size": None},
    "flags": {"dims": [BATCH, TIME], "dtype": "bool", "sparse_dim": None, "sparse_size": None},
    "nested": {"dims": [BATCH, TIME, INNER], "dtype": "float32", "sparse_dim": None, "sparse_size": None},
    "weights": {"dims": [FEAT], "dtype": "float32", "sparse_dim": None, "sparse_size": None},
}


class Inputs(unittest.TestCase):
    def setUp(self):
        self.inputs = random_inputs(EXTERNS, 1, ranges={"counts": (2, 3)})

    def test_shapes_and_lengths(self):
        lengths = self.inputs["data/length/time"]
        self.assertEqual(sorted(lengths.tolist()), [3, 5, 7])
        self.assertEqual(self.inputs["labels/length/time"].tolist(), lengths.tolist())
        self.assertEqual(self.inputs["data"].shape, (3, 7, 4))
        self.assertEqual(self.inputs["labels"].shape, (7, 3))
        self.assertEqual(self.inputs["nested/length/inner"].shape, (3, 7))
        self.assertEqual(self.inputs["nested"].dtype, numpy.float32)

    def test_seed(self):
        again = random_inputs(EXTERNS, 1, ranges={"counts": (2, 3)})
        self.assertTrue(all(numpy.array_equal(self.inputs[key], again[key]) for key in again))
        self.assertFalse(numpy.array_equal(self.inputs["data"], random_inputs(EXTERNS, 2)["data"]))

    def test_ranges(self):
        labels = numpy.concatenate([random_inputs(EXTERNS, seed)["labels"].ravel() for seed in range(20)])
        self.assertEqual((labels.min(), labels.max()), (0, 5))
        self.assertTrue(set(self.inputs["counts"].tolist()) <= {2, 3})

    def test_given_lengths(self):
        inputs = random_inputs(EXTERNS, 1, lengths={"time": [4, 0, 1]})
        self.assertEqual(inputs["data"].shape, (3, 4, 4))
        self.assertFalse(inputs["data"][1].any())

    def test_poison_stays_in_the_padding(self):
        for value in (1e3, float("nan")):
            changed = poisoned(self.inputs, EXTERNS, value)
            for name, extern in EXTERNS.items():
                mask = frame_mask(self.inputs, name, extern)
                self.assertTrue(numpy.array_equal(changed[name][mask], self.inputs[name][mask]))
                if extern["dtype"] == "float32":
                    self.assertTrue(numpy.array_equal(changed[name][~mask], numpy.full((~mask).sum(), value), True))
        self.assertTrue((changed["labels"] < 6).all())
        padding = ~frame_mask(self.inputs, "labels", EXTERNS["labels"])
        self.assertTrue(changed["labels"][padding].any())

    def test_single(self):
        for i in range(3):
            alone = single(self.inputs, EXTERNS, i)
            length = self.inputs["data/length/time"][i]
            self.assertEqual(alone["data/length/time"].tolist(), [length])
            self.assertTrue(numpy.array_equal(alone["data"], self.inputs["data"][i : i + 1, :length]))
            self.assertTrue(numpy.array_equal(alone["labels"], self.inputs["labels"][:length, i : i + 1]))
            self.assertEqual(alone["counts"].shape, (1,))
            self.assertTrue(numpy.array_equal(alone["weights"], self.inputs["weights"]))
            self.assertEqual(alone["nested/length/inner"].shape, (1, length))


class Parameters(unittest.TestCase):
    def test_kinds(self):
        params = [
            {"name": "ff/weight", "shape": (400, 300), "dtype": "float32"},
            {"name": "conv/filter", "shape": (5, 20, 30), "dtype": "float32"},
            {"name": "ff/bias/param", "shape": (300,), "dtype": "float32"},
            {"name": "norm/scale", "shape": (300,), "dtype": "float32"},
            {"name": "norm/running_variance/param", "shape": (1, 300), "dtype": "float32"},
            {"name": "step", "shape": (), "dtype": "int64"},
        ]
        values = random_parameters(params, 1)
        self.assertEqual(
            [(name, value.shape) for name, value in values.items()], [(p["name"], p["shape"]) for p in params]
        )
        self.assertAlmostEqual(values["ff/weight"].std(), 1 / 20, places=3)
        self.assertAlmostEqual(values["conv/filter"].std(), 0.1, places=2)
        bias = numpy.abs(values["ff/bias/param"])
        self.assertTrue(0.1 <= bias.min() and bias.max() <= 0.3)
        for name in ("norm/scale", "norm/running_variance/param"):
            self.assertTrue(0.5 < values[name].min() and values[name].max() < 1.5)

    def test_depend_on_name_and_seed_only(self):
        one = {"name": "a/weight/param", "shape": (2, 3), "dtype": "float32"}
        two = {"name": "b/weight/param", "shape": (2, 3), "dtype": "float32"}
        both, alone = random_parameters([two, one], 5), random_parameters([dict(one, name="a/weight")], 5)
        self.assertTrue(numpy.array_equal(both["a/weight/param"], alone["a/weight"]))
        self.assertFalse(numpy.array_equal(both["a/weight/param"], both["b/weight/param"]))
        self.assertFalse(numpy.array_equal(alone["a/weight"], random_parameters([one], 6)["a/weight/param"]))


if __name__ == "__main__":
    unittest.main()
