"""Small models as flat RETURNN configs, for the tests of the referee itself."""

HEADER = """
from returnn.tensor import Dim, batch_dim

backend = "tensorflow-net-dict"
behavior_version = 30

time = Dim(None, name="time", kind=Dim.Types.Spatial)
feat = Dim(3, name="feat", kind=Dim.Types.Feature)
hidden = Dim(4, name="hidden", kind=Dim.Types.Feature)
gates = Dim(16, name="gates", kind=Dim.Types.Feature)
classes = Dim(5, name="classes", kind=Dim.Types.Feature)

extern_data = {
    "data": {"dim_tags": [batch_dim, time, feat], "dtype": "float32", "available_for_inference": True},
    "labels": {"dim_tags": [batch_dim, time], "sparse_dim": classes, "dtype": "int32",
               "available_for_inference": True},
}

def var(path, shape, **options):
    scope = {"param_name": "param", "name_scope": "/" + path}
    return {"class": "variable", "shape": shape, **scope, "init": 0.0, **options}
"""

LINEAR = """
network = {
    "lin.weight": var("lin/weight", [feat, hidden]),
    "lin.bias": var("lin/bias", [hidden]),
    "lin.dot": {"class": "dot", "from": ["data", "lin.weight"], "reduce": feat},
    "lin": {"class": "combine", "kind": "add", "from": ["lin.dot", "lin.bias"]},
    "output": {"class": "copy", "from": "lin"},
}
"""

LSTM = """
network = {
    "lstm.W": var("lstm/W", [feat, gates]),
    "lstm.W_re": var("lstm/W_re", [hidden, gates]),
    "lstm.b": var("lstm/b", [gates]),
    "lstm": {"class": "rec", "from": "data", "in_dim": feat, "out_dim": hidden, "axis": time, "unit": "nativelstm2",
             "direction": 1, "name_scope": "/lstm", "reuse_params": {"map": {
                 "W": {"layer_output": "lstm.W"},
                 "W_re": {"layer_output": "lstm.W_re"},
                 "b": {"layer_output": "lstm.b"}}}},
    "output": {"class": "copy", "from": "lstm"},
    "total": {"class": "reduce", "mode": "sum", "from": "lstm", "axis": hidden, "loss": "as_is"},
}
"""

REDUCE = """
network = {
    "output": {"class": "reduce", "mode": "mean", "from": "data", "axis": time},
    "unmasked": {"class": "reduce", "mode": "sum", "from": "data", "axis": time, "use_time_mask": False,
                 "is_output_layer": True},
}
"""

LOSSES = """
network = {
    "w": var("w", [feat], L2=0.5),
    "frozen": var("frozen", [feat], trainable=False),
    "scaled": {"class": "dot", "from": ["data", "w"], "reduce": feat, "loss": "as_is", "loss_scale": 0.3},
    "mean": {"class": "dot", "from": ["data", "frozen"], "reduce": feat, "loss": "as_is",
             "loss_opts": {"use_normalized_loss": True}},
    "off": {"class": "compare", "kind": "greater", "from": ["scaled", "mean"], "loss": "as_is",
            "loss_opts": {"as_error": True}},
}
"""

EMBEDDING = """
network = {
    "table": var("table", [classes, hidden]),
    "output": {"class": "gather", "from": "table", "axis": classes, "position": "data:labels"},
    "best": {"class": "reduce", "mode": "argmax", "from": "output", "axis": hidden, "is_output_layer": True},
    "total": {"class": "reduce", "mode": "sum", "from": "output", "axis": hidden, "loss": "as_is"},
}
"""

DROPOUT = """
network = {
    "output": {"class": "dropout", "from": "data", "dropout": 0.5, "dropout_noise_shape": {"*": None}},
}
"""

BATCH_NORM = """
network = {
    "output": {"class": "batch_norm", "from": "data", "in_dim": feat, "name_scope": "/norm", "param_version": 2,
               "use_std": True, "use_shift": True, "momentum": 0.1, "epsilon": 1e-3, "masked_time": True},
}
"""

NO_MASK = """
network = {
    "output": {"class": "cumsum", "from": "data", "axis": time, "reverse": True},
}
"""

NORMED = """
hidden2 = Dim(4, name="hidden2", kind=Dim.Types.Feature)
network = {{
    "norm.scale": var("norm/scale", [feat]),
    "norm.bias": var("norm/bias", [feat]),
    "norm": {{"class": "layer_norm", "from": "data", "in_dim": feat, "epsilon": {epsilon}, "name_scope": "/norm_layer",
             "reuse_params": {{"map": {{
                 "scale": {{"layer_output": "norm.scale"}},
                 "bias": {{"layer_output": "norm.bias"}}}}}}}},
    "up.weight": var("up/weight", [feat, hidden]),
    "up.bias": var("up/bias", [hidden]),
    "up.dot": {{"class": "dot", "from": ["norm", "up.weight"], "reduce": feat}},
    "up": {{"class": "combine", "kind": "add", "from": ["up.dot", "up.bias"]}},
    "act": {{"class": "activation", "activation": "{activation}", "from": {biased!r}}},
    "square.weight": var("square/weight", [hidden, hidden2]),
    "renamed": {{"class": "reinterpret_data", "from": "act", "set_dim_tags": {{hidden: {into}}}}},
    "square": {{"class": "dot", "from": ["renamed", "square.weight"], "reduce": {into}}},
    "output": {{"class": "reinterpret_data", "from": "square", "set_dim_tags": {{{left}: hidden2}}}},
    "squared": {{"class": "activation", "activation": "square", "from": "output"}},
    "total": {{"class": "reduce", "mode": "sum", "from": "squared", "axis": hidden2, "loss": "as_is"}},
}}
"""


def config(network):
    """The whole config text around one of the networks above."""
    return HEADER + network


def normed(epsilon=1e-6, biased="up", activation="tanh", into="hidden"):
    """Layer norm, linear, activation, square matrix, loss; each argument can be made wrong.

    :param str biased: "up" with the bias, "up.dot" without
    :param str into: the dim of the matrix that is summed over, "hidden" or (wrong) "hidden2"
    """
    left = "hidden2" if into == "hidden" else "hidden"
    return config(NORMED.format(epsilon=epsilon, biased=biased, activation=activation, into=into, left=left))
