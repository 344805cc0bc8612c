"""Several networks in one process, the forms of a config, the comparison of networks, and training."""

import json
import pathlib
import tempfile
import unittest

from compare import compare
from example_nets import HEADER, LINEAR, REDUCE, config
from inputs import random_inputs, random_parameters
from referee import Network, equal_networks, network_differences
from training import TrainingError, read_scores, train

LOADER = """
import json
from returnn.tensor import Dim, batch_dim

def load_config(text):
    dims = {"batch": batch_dim}

    def value(item):
        if "dim" not in item:
            return item
        name = item["dim"]
        if name not in dims:
            kind = Dim.Types.Spatial if item.get("spatial") else Dim.Types.Feature
            dims[name] = Dim(item.get("size"), name=name, kind=kind)
        return dims[name]

    return json.loads(text, object_hook=value)
"""

TIME = {"dim": "time", "spatial": True}
FEAT, HIDDEN, CLASSES = ({"dim": name, "size": size} for name, size in (("feat", 3), ("hidden", 4), ("classes", 5)))


def variable(path, shape):
    return {"class": "variable", "shape": shape, "param_name": "param", "name_scope": "/" + path, "init": 0.0}


TAGGED = {
    "backend": "tensorflow-net-dict",
    "behavior_version": 30,
    "extern_data": {
        "data": {"dim_tags": [{"dim": "batch"}, TIME, FEAT], "dtype": "float32", "available_for_inference": True},
        "labels": {
            "dim_tags": [{"dim": "batch"}, TIME],
            "sparse_dim": CLASSES,
            "dtype": "int32",
            "available_for_inference": True,
        },
    },
    "network": {
        "lin.weight": variable("lin/weight", [FEAT, HIDDEN]),
        "lin.bias": variable("lin/bias", [HIDDEN]),
        "lin.dot": {"class": "dot", "from": ["data", "lin.weight"], "reduce": FEAT},
        "lin": {"class": "combine", "kind": "add", "from": ["lin.dot", "lin.bias"]},
        "output": {"class": "copy", "from": "lin"},
    },
}

PLAIN = {
    "backend": "tensorflow-net-dict",
    "behavior_version": 30,
    "extern_data": {"data": {"shape": [None, 3], "available_for_inference": True}},
    "network": {
        "w": variable("lin/weight", [3, 4]),
        "b": variable("lin/bias", [4]),
        "output": {
            "class": "linear",
            "from": "data",
            "n_out": 4,
            "activation": None,
            "reuse_params": {"map": {"W": {"layer_output": "w"}, "b": {"layer_output": "b"}}},
        },
    },
}

TRAINING = """
task = "train"
train = {"class": "Task12AXDataset", "num_seqs": 4}
dev = {"class": "Task12AXDataset", "num_seqs": 2, "fixed_random_seed": 1}
feat9 = Dim(9, name="feat9", kind=Dim.Types.Feature)
two = Dim(2, name="two", kind=Dim.Types.Feature)
extern_data = {
    "data": {"dim_tags": [batch_dim, time, feat9], "dtype": "float32", "available_for_inference": True},
    "classes": {"dim_tags": [batch_dim, time], "sparse_dim": two, "dtype": "int32"},
}
network = {
    "w": var("w", [feat9, two]),
    "logits": {"class": "dot", "from": ["data", "w"], "reduce": feat9},
    "ce": {"class": "sparse_softmax_cross_entropy_with_logits", "logits": "logits", "targets": "data:classes",
           "axis": two, "loss": "as_is"},
}
batch_size, max_seqs, num_epochs, learning_rate, optimizer = 1000, 2, 2, 0.01, {"class": "adam"}
"""


class ManyNetworks(unittest.TestCase):
    def test_interleaved(self):
        first = Network(config(LINEAR))
        first.set_params(random_parameters(first.params(), 1))
        inputs = random_inputs(first.externs(), 1)
        before = first.run(inputs)
        with Network(config(REDUCE)) as second:
            second.run(inputs)
        self.assertEqual(compare(before, first.run(inputs)), [])
        again = Network(config(LINEAR))
        again.set_params(random_parameters(again.params(), 1))
        self.assertEqual(compare(before, again.run(inputs)), [])

    def test_behavior_versions(self):
        for version in (30, 21, 38):
            Network(config(LINEAR).replace("behavior_version = 30", f"behavior_version = {version}")).close()

    def test_after_a_failure(self):
        with self.assertRaises(Exception):
            Network(config(LINEAR.replace('"reduce": feat', '"reduce": classes')))
        Network(config(LINEAR)).close()

    def test_bad_sources(self):
        for source, kind, loader in (
            (HEADER, "python", None),
            (config(LINEAR), "yaml", None),
            (json.dumps(TAGGED), "json", None),
            (json.dumps(PLAIN), "plain", LOADER),
        ):
            with self.assertRaises(ValueError):
                Network(source, kind, loader)


class Forms(unittest.TestCase):
    def setUp(self):
        self.python = Network(config(LINEAR))
        self.params = random_parameters(self.python.params(), 1)
        self.python.set_params(self.params)
        self.inputs = random_inputs({"data": self.python.externs()["data"]}, 1)
        self.result = self.python.run(self.inputs)

    def test_path(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.config")
            path.write_text(config(LINEAR), encoding="utf-8")
            self.assertEqual(network_differences(self.python, Network(path), exact=True), [])

    def test_tagged_json(self):
        tagged = Network(json.dumps(TAGGED), "json", LOADER)
        self.assertEqual(network_differences(self.python, tagged, exact=True), [])
        tagged.set_params(self.params)
        self.assertEqual(compare(self.result, tagged.run(self.inputs)), [])

    def test_plain_json(self):
        plain = Network(json.dumps(PLAIN), "plain")
        plain.set_params(self.params)
        result = plain.run(self.inputs)
        self.assertEqual(compare(self.result, result, dim_names=False), [])
        self.assertNotEqual(compare(self.result, result), [])

    def test_differences(self):
        for old, new, part in (
            ('"kind": "add"', '"kind": "sub"', "operations: "),
            ("[feat, hidden]", "[feat, hidden], trainable=False", "params: lin/weight/param: trainable"),
            ('"lin.bias": var', '"lin.offset": var', "layers: lin.offset only in the second"),
            ('hidden", kind', 'other", kind', "layers: lin: dims"),
            ("Dim(4,", "Dim(6,", "params: lin/weight/param: shape (3, 4) != (3, 6)"),
        ):
            changed = (
                config(LINEAR)
                .replace(old, new)
                .replace('"lin.bias"]', f'"{"lin.offset" if "offset" in new else "lin.bias"}"]')
            )
            lines = network_differences(self.python, Network(changed))
            self.assertTrue(any(line.startswith(part) for line in lines), (part, lines))
        self.assertTrue(equal_networks(self.python, Network(config(LINEAR))))

    def test_exact_sees_constants(self):
        other = Network(config(LINEAR).replace('"init": 0.0', '"init": 1.0'))
        self.assertTrue(equal_networks(self.python, other))
        self.assertFalse(equal_networks(self.python, other, exact=True))


class Training(unittest.TestCase):
    def test_scores(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "train.config.py")
            path.write_text(HEADER + TRAINING, encoding="utf-8")
            scores = train(path, folder)
        self.assertEqual(sorted(scores), [1, 2])
        self.assertEqual(sorted(scores[1]["scores"]), ["dev_score", "train_score"])
        self.assertLess(scores[2]["scores"]["train_score"], scores[1]["scores"]["train_score"])

    def test_failure_shows_the_log(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "train.config.py")
            path.write_text(HEADER + TRAINING.replace('"data:classes"', '"data:nothing"'), encoding="utf-8")
            with self.assertRaisesRegex(TrainingError, "nothing"):
                train(path, folder)

    def test_read_scores(self):
        text = "{1: EpochData(learningRate=0.1, error={':meta:x': 1, 'dev_score': nan, 'train_score': np.float32(2)})}"
        read = read_scores(text)[1]
        self.assertEqual((read["learning_rate"], read["scores"]["train_score"]), (0.1, 2))
        self.assertNotEqual(read["scores"]["dev_score"], read["scores"]["dev_score"])
        self.assertEqual(len(read["scores"]), 2)


if __name__ == "__main__":
    unittest.main()
