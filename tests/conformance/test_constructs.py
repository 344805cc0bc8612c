"""Loops, branches, search and unusual dims through the referee."""

import unittest

import numpy

from compare import compare
from example_nets import config
from inputs import random_inputs, random_parameters
from referee import Network

LOOP = """
network = {
    "w": var("w", [feat, hidden]),
    "r": var("r", [hidden.copy(match_priority=1), hidden]),
    "h0": {"class": "constant", "value": 0.0, "shape": [batch_dim, hidden], "shape_deps": ["data"]},
    "loop": {"class": "rec", "from": "data", "axis": time, "name_scope": "", "unit": {
        "x": {"class": "copy", "from": "data:source"},
        "xw": {"class": "dot", "from": ["x", "base:w"], "reduce": feat},
        "hr": {"class": "dot", "from": ["prev:h", "base:r"], "reduce": hidden},
        "sum": {"class": "combine", "kind": "add", "from": ["xw", "hr"]},
        "h": {"class": "activation", "activation": "tanh", "from": "sum", "initial_output": "base:h0",
              "need_last": True},
        "output": {"class": "copy", "from": "h"}}},
    "last": {"class": "rec_last_output", "rec_layer": "loop", "sub_layer_name": "h", "is_output_layer": True},
    "output": {"class": "copy", "from": "loop"},
    ".order": {"class": "constant", "value": 0, "shape_deps": ["w", "loop"], "is_output_layer": True},
}
"""

COND = """
network = {
    "w": var("w", [feat]),
    "v": var("v", [feat]),
    "train": {"class": "train_flag"},
    "if": {"class": "cond", "from": [], "condition": "train", "name_scope": "",
           "true_layer": {"class": "subnetwork", "from": [], "subnetwork": {
               "output": {"class": "dot", "from": ["base:data", "base:w"], "reduce": feat}}},
           "false_layer": {"class": "subnetwork", "from": [], "subnetwork": {
               "output": {"class": "dot", "from": ["base:data", "base:v"], "reduce": feat}}}},
    "total": {"class": "copy", "from": "if", "loss": "as_is"},
}
"""

SEARCH = """
out_time = Dim(None, name="out_time", kind=Dim.Types.Spatial)
network = {
    "w": var("w", [classes, hidden]),
    "v": var("v", [hidden, classes]),
    "bos": {"class": "constant", "value": 1, "shape": [batch_dim], "sparse_dim": classes, "dtype": "int32",
            "shape_deps": ["data"]},
    "longest": {"class": "constant", "value": 4, "dtype": "int32"},
    "loop": {"class": "rec", "from": [], "axis": out_time, "max_seq_len_via": "longest", "include_eos": True,
             "name_scope": "", "unit": {
        "embedded": {"class": "gather", "from": "base:w", "axis": classes, "position": "prev:label"},
        "logits": {"class": "dot", "from": ["embedded", "base:v"], "reduce": hidden},
        "scores": {"class": "softmax_over_spatial", "from": "logits", "axis": classes, "log_space": True,
                   "use_time_mask": False},
        "label": {"class": "choice", "from": "scores", "input_type": "log_prob", "target": None, "beam_size": 2,
                  "search": True, "length_normalization": False, "initial_output": "base:bos"},
        "end": {"class": "compare", "kind": "equal", "from": "label", "value": 0},
        "output": {"class": "copy", "from": "label"}}},
    "output": {"class": "decide", "from": "loop/output", "length_normalization": False},
    "beam": {"class": "choice_get_beam_scores", "from": "loop/output", "is_output_layer": True},
}
"""

TWO_TIMES = """
time2 = Dim(None, name="time", kind=Dim.Types.Spatial)
extern_data["memory"] = {"dim_tags": [batch_dim, time2, feat], "dtype": "float32", "available_for_inference": True}
network = {
    "output": {"class": "dot", "from": ["data", "data:memory"], "reduce": feat},
    "range": {"class": "range_in_axis", "from": "data", "axis": time, "is_output_layer": True},
}
"""

ODD_INPUTS = """
from returnn.tensor import Tensor

count = Dim(Tensor("count", dims=(), dtype="int32"), name="count", kind=Dim.Types.Spatial)
inner = Dim(Tensor("inner", dims=(batch_dim, time), dtype="int32"), name="inner", kind=Dim.Types.Spatial)
extern_data = {
    "data": {"dim_tags": [time, feat, batch_dim], "dtype": "float32", "available_for_inference": True},
    "shared": {"dim_tags": [count, feat], "dtype": "float32", "available_for_inference": True},
    "nested": {"dim_tags": [batch_dim, time, inner], "dtype": "float32", "available_for_inference": True},
}
network = {
    "output": {"class": "reduce", "mode": "sum", "from": "data", "axis": time},
    "copied": {"class": "copy", "from": "data:shared", "is_output_layer": True},
    "nested": {"class": "copy", "from": "data:nested", "is_output_layer": True},
}
"""

RANDOM = """
network = {
    "output": {"class": "random", "distribution": "uniform", "minval": 0.0, "maxval": 1.0, "shape": [batch_dim, feat],
               "shape_deps": ["data"], "dtype": "float32", "name_scope": "/random"},
}
"""


def ran(network, **options):
    net = Network(config(network))
    params = random_parameters(net.params(), 1)
    net.set_params(params)
    inputs = random_inputs(net.externs(), 1)
    return net, params, inputs, net.run(inputs, **options)


class Constructs(unittest.TestCase):
    def test_loop(self):
        _, params, inputs, result = ran(LOOP)
        self.assertEqual(list(result["outputs"]), ["last", "output"])  # no ".order"
        for i, length in enumerate(inputs["data/length/time"]):
            h = numpy.zeros(4)
            for t in range(length):
                h = numpy.tanh(inputs["data"][i, t] @ params["w"] + h @ params["r"])
                numpy.testing.assert_allclose(result["outputs"]["output"]["values"][i, t], h, atol=1e-5)
            numpy.testing.assert_allclose(result["outputs"]["last"]["values"][i], h, atol=1e-5)

    def test_branches_of_the_train_flag(self):
        net, params, inputs, result = ran(COND)
        for train, used, unused in ((False, "v", "w"), (True, "w", "v")):
            result = net.run(inputs, train=train)
            expected = inputs["data"] @ params[used]
            numpy.testing.assert_allclose(result["outputs"]["total"]["values"], expected, atol=1e-5)
            self.assertTrue(result["gradients"][used].any())
            self.assertFalse(result["gradients"][unused].any())

    def test_search(self):
        net, params, inputs, result = ran(SEARCH)
        self.assertEqual(compare(result, net.run(inputs, search=True)), [])
        with self.assertRaises(ValueError):
            net.run(inputs, train=True, search=True)
        self.assertEqual(result["outputs"]["beam"]["dims"], ["batch", "beam"])
        self.assertEqual(result["outputs"]["beam"]["values"].shape, (3, 2))
        best = result["outputs"]["output"]
        self.assertEqual((best["dims"], best["sparse_dim"]), (["batch", "out_time"], "classes"))
        logits = params["w"] @ params["v"]
        table = logits - numpy.log(numpy.exp(logits).sum(axis=-1, keepdims=True))
        for i, length in enumerate(best["lengths"]["out_time"]):
            score, previous = 0.0, 1
            for label in best["values"][i, :length]:
                score, previous = score + table[previous, label], label
            self.assertAlmostEqual(result["outputs"]["beam"]["values"][i].max(), score, places=5)

    def test_dims_of_one_name(self):
        outputs = ran(TWO_TIMES)[3]["outputs"]
        self.assertEqual(outputs["output"]["dims"], ["batch", "time", "time#2"])
        self.assertEqual(sorted(outputs["output"]["lengths"]), ["time", "time#2"])
        self.assertEqual(outputs["range"]["dims"], ["time"])
        self.assertEqual(outputs["range"]["length_dims"], {"time": ["batch"]})

    def test_inputs_in_any_order_and_nested_lengths(self):
        _, _, inputs, result = ran(ODD_INPUTS)
        lengths = inputs["data/length/time"]
        sums = [inputs["data"][:length, :, i].sum(axis=0) for i, length in enumerate(lengths)]
        numpy.testing.assert_allclose(result["outputs"]["output"]["values"], sums, atol=1e-5)
        self.assertEqual(
            result["outputs"]["copied"]["lengths"]["count"].tolist(), inputs["shared/length/count"].tolist()
        )
        self.assertEqual(result["outputs"]["copied"]["length_dims"], {"count": []})
        nested = result["outputs"]["nested"]
        self.assertEqual(nested["length_dims"]["inner"], ["batch", "time"])
        self.assertTrue(numpy.array_equal(nested["lengths"]["inner"], inputs["nested/length/inner"]))

    def test_random_state_is_no_parameter(self):
        net, params, inputs, result = ran(RANDOM)
        self.assertEqual(params, {})
        self.assertNotEqual(compare(result, net.run(inputs)), [])


if __name__ == "__main__":
    unittest.main()
