"""The comparison reports what is wrong and nothing else: wrong networks in RETURNN, and results made by hand."""

import copy
import unittest

import numpy

from compare import compare, valid_mask
from example_nets import normed
from inputs import random_inputs, random_parameters
from referee import Network

WRONG = {
    "epsilon a little off": dict(epsilon=1e-5),
    "epsilon of another library": dict(epsilon=1e-3),
    "bias dropped": dict(biased="up.dot"),
    "axis swapped": dict(into="hidden2"),
    "other activation": dict(activation="sigmoid"),
    "similar activation": dict(activation="swish"),
}


def run(text, seed=3):
    with Network(text) as net:
        net.set_params(random_parameters(net.params(), seed))
        return net.run(random_inputs(net.externs(), seed))


class WrongNetworks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.right = run(normed())

    def test_equal(self):
        self.assertEqual(compare(self.right, run(normed())), [])

    def test_each_is_reported(self):
        for what, changes in WRONG.items():
            with self.subTest(what):
                wrong = run(normed(**changes))
                forward = compare(self.right, {"outputs": wrong["outputs"]})
                self.assertTrue(forward and forward[0].startswith("outputs: output: relative error"), forward)
                gradients = compare({"gradients": self.right["gradients"]}, {"gradients": wrong["gradients"]})
                self.assertTrue(gradients)

    def test_permuted_axes_are_equal(self):
        text = normed().replace(
            '"output": {"class": "reinterpret_data", "from": "square", "set_dim_tags": {hidden2: hidden2}}',
            '"output": {"class": "transpose", "from": "square", "perm": {batch_dim: hidden2, hidden2: batch_dim}}',
        )
        permuted = run(text)
        self.assertEqual(permuted["outputs"]["output"]["dims"], ["batch", "hidden2", "time"])
        self.assertEqual(compare(self.right, permuted), [])


def tensor(values, dims, lengths=None, **more):
    values = numpy.asarray(values)
    return {
        "values": values,
        "dims": dims,
        "lengths": {name: numpy.asarray(value) for name, value in (lengths or {}).items()},
        "dtype": values.dtype.name,
        "sparse_dim": None,
        "sparse_size": None,
        **more,
    }


def result(**outputs):
    return {"outputs": outputs}


class HandMade(unittest.TestCase):
    def setUp(self):
        values = numpy.arange(12, dtype="float32").reshape(2, 3, 2)
        self.tensor = tensor(values, ["batch", "time", "feat"], {"time": [3, 1]})
        self.other = copy.deepcopy(self.tensor)

    def differences(self, **options):
        return compare(result(y=self.tensor), result(y=self.other), **options)

    def test_valid_mask(self):
        self.assertEqual(valid_mask(self.tensor)[:, :, 0].tolist(), [[True] * 3, [True, False, False]])

    def test_lengths_over_two_dims(self):
        nested = tensor(
            numpy.zeros((3, 2, 2)),
            ["inner", "batch", "outer"],
            {"outer": [2, 1], "inner": [[3, 1], [2, 0]]},
            length_dims={"outer": ["batch"], "inner": ["batch", "outer"]},
        )
        mask = valid_mask(nested)
        self.assertEqual(mask.sum(axis=0).tolist(), [[3, 1], [2, 0]])
        self.other = copy.deepcopy(nested)
        self.tensor = dict(nested, lengths=dict(nested["lengths"], inner=nested["lengths"]["inner"].T))
        self.tensor["length_dims"] = {"outer": ["batch"], "inner": ["outer", "batch"]}
        self.assertEqual(self.differences(), [])

    def test_lengths_of_padding_do_not_count(self):
        left = tensor(numpy.zeros((1, 2, 3)), ["batch", "outer", "inner"], {"outer": [1], "inner": [[3, 2]]})
        left["length_dims"] = {"outer": ["batch"], "inner": ["batch", "outer"]}
        right = dict(left, lengths={"outer": [1], "inner": [[3, 0]]})
        self.assertEqual(compare({"outputs": {"x": left}}, {"outputs": {"x": right}}), [])
        once = dict(left, lengths={"outer": [1], "inner": [3]}, length_dims={"outer": ["batch"], "inner": ["batch"]})
        self.assertEqual(compare({"outputs": {"x": left}}, {"outputs": {"x": once}}), [])
        right["lengths"]["inner"] = [[2, 2]]
        self.assertTrue(compare({"outputs": {"x": left}}, {"outputs": {"x": right}}))

    def test_lengths_of_a_tensor_without_batch(self):
        no_batch = tensor(numpy.arange(4), ["time"], {"time": [2, 3]})
        self.assertEqual(valid_mask(no_batch).tolist(), [True, True, True, False])

    def test_a_frame_without_batch_is_one_of_some_sequence(self):
        values = tensor(numpy.zeros((2, 3)), ["time", "out"], {"time": [1, 2], "out": [3, 1]})
        self.assertEqual(valid_mask(values).tolist(), [[True, True, True], [True, False, False]])

    def test_padding_does_not_count(self):
        self.other["values"][1, 1:] = numpy.nan
        self.other["values"] = numpy.pad(self.other["values"], ((0, 0), (0, 4), (0, 0)), constant_values=9)
        self.assertEqual(self.differences(), [])

    def test_scalar_length_of_equal_sequences(self):
        self.tensor["lengths"]["time"] = numpy.asarray([3, 3])
        self.other["lengths"]["time"] = numpy.asarray(3)
        self.assertEqual(self.differences(), [])

    def test_value(self):
        self.other["values"][1, 0, 1] += 0.01
        self.assertEqual(len(self.differences()), 1)
        self.assertIn("at [1, 0, 1]: 7.0 != 7.01", self.differences()[0])
        self.assertEqual(self.differences(output_tolerance=1e-2), [])

    def test_error_is_relative_to_the_largest_valid_value(self):
        self.tensor["values"][1, 2] = 1e9  # padding
        self.other["values"][0, 0, 0] += 4e-4
        self.assertEqual(self.differences(), [])
        self.other["values"][0, 0, 0] += 4e-4
        self.assertEqual(len(self.differences()), 1)

    def test_nan_and_infinity_must_match(self):
        for value in (numpy.nan, numpy.inf):
            self.tensor["values"][0, 0, 0] = value
            self.assertIn("nan or infinite", self.differences()[0])
        self.other["values"][0, 0, 0] = -numpy.inf
        self.assertIn("inf != -inf", self.differences()[0])
        self.other["values"][0, 0, 0] = numpy.inf
        self.assertEqual(self.differences(), [])

    def test_metadata(self):
        for change, message in (
            (dict(dims=["batch", "time", "other"]), "dims ['batch', 'time', 'feat'] != ['batch', 'time', 'other']"),
            (dict(lengths={"time": numpy.asarray([3, 2])}), "lengths of time [3, 1] != [3, 2]"),
            (dict(lengths={}), "dim time is dynamic in the first only"),
            (dict(dtype="float64"), "dtype float32 != float64"),
            (dict(sparse_dim="feat"), "sparse_dim None != feat"),
            (dict(values=self.tensor["values"][:, :, :1]), "size of feat 2 != 1"),
            (dict(values=self.tensor["values"][:, :2]), "is less than the lengths"),
        ):
            with self.subTest(message):
                lines = compare(result(y=self.tensor), result(y=dict(self.tensor, **change)))
                self.assertEqual(len(lines), 1, lines)
                self.assertIn(message, lines[0])

    def test_integers_are_exact(self):
        self.tensor = tensor([[100000, 2]], ["batch", "feat"])
        self.other = tensor([[100001, 2]], ["batch", "feat"])
        self.assertIn("1 of 2 values differ, at [0, 0]: 100000 != 100001", self.differences()[0])

    def test_one_dim_twice_is_paired_in_order(self):
        self.tensor = tensor([[1.0, 2.0], [3.0, 4.0]], ["feat", "feat"])
        self.other = tensor([[1.0, 3.0], [2.0, 4.0]], ["feat", "feat"])
        self.assertEqual(len(self.differences()), 1)

    def test_without_names_axes_pair_by_size(self):
        self.other = dict(self.other, dims=["f", "t", "batch"], lengths={"t": [3, 1]})
        self.other["values"] = self.other["values"].transpose(2, 1, 0)
        self.assertEqual(self.differences(dim_names=False), [])
        self.assertEqual(len(self.differences()), 1)

    def test_names(self):
        self.assertEqual(compare(result(y=self.tensor), result()), ["outputs: y only in the first"])
        self.assertEqual(compare(result(y=self.tensor), result(), ignore=["y"]), [])
        loss = {"losses": {"y": {"sum": 1.0, "mean": 1.0}}}
        self.assertEqual(compare({**result(y=self.tensor), **loss}, {**result(), **loss}), [])

    def test_losses_and_gradients(self):
        left = {"losses": {"ce": {"sum": 10.0, "mean": 2.0}}, "objective": 10.0, "gradients": {"w": numpy.ones(3)}}
        right = {"losses": {"ce": {"sum": 10.1, "mean": 2.0}}, "objective": 11.0, "gradients": {"w": numpy.ones(3)}}
        lines = compare(left, right)
        self.assertEqual([line.split(": relative")[0] for line in lines], ["losses: ce: sum", "objective"])
        right = dict(left, gradients={"w": numpy.ones(3) * 1.002})
        self.assertEqual(len(compare(left, right)), 1)
        right = dict(left, gradients={"w": numpy.ones(4)})
        self.assertIn("shape (3,) != (4,)", compare(left, right)[0])
        self.assertEqual(compare({"losses": left["losses"]}, left), [])

    def test_gradient_noise_is_relative_to_all_gradients(self):
        left = {"gradients": {"big": numpy.ones(1), "zero": numpy.zeros(1)}}
        noise = {"gradients": {"big": numpy.ones(1), "zero": numpy.full(1, 1e-7)}}
        wrong = {"gradients": {"big": numpy.ones(1), "zero": numpy.full(1, 1e-3)}}
        self.assertEqual(compare(left, noise), [])
        self.assertEqual(len(compare(left, wrong)), 1)


if __name__ == "__main__":
    unittest.main()
