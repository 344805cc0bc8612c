"""What returnn_common computed for the same modules and functions, with the same inputs and parameters.

returnn_common/NAME.npz holds arrays of returnn_common 04ed372 on RETURNN 68fcd101a and TensorFlow 2.11.1: `in/NAME`,
`len/DIM`, `param/VARIABLE`, `out/NAME` (axes in the order batch, dynamic, static), `outlen/NAME`, and, for the objective
sum(out/NAME * gradw/NAME), `grad/VARIABLE`.
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy

from eager import Eager
from referee import Network

HERE = pathlib.Path(__file__).resolve().parent
RCNC = pathlib.Path(os.environ.get("RCNC", HERE.parent.parent / "build" / "rcnc")).resolve()

HEAD = "import nn\ndim time: spatial\ndim input: feature = {}\nextern data: float32[batch, time, input]\n"


class Golden(unittest.TestCase):
    def run_case(self, name, size, model, prefix="", sequences=None):
        """Compares all outputs and, where the model has a loss, all gradients of parameters.

        :param int size: of the feature dim of the input
        :param str model: the rest of the model; `gradw` may be an input
        :param str prefix: of the parameters in the model
        :param dict[str,list[int]] sequences: those of an output that returnn_common computes as if they were alone
        """
        golden = dict(numpy.load(HERE / "returnn_common" / f"{name}.npz"))
        lengths = golden["len/time"]
        inputs = {"data": golden["in/data"], "data/length/time": lengths}
        if "extern gradw" in model:
            inputs |= {"gradw": golden["gradw/y"], "gradw/length/time": lengths}
        params = {prefix + key[len("param/") :]: value for key, value in golden.items() if key.startswith("param/")}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / f"{name}.rcn"
            path.write_text(HEAD.format(size) + model, encoding="utf-8")
            text = subprocess.run([RCNC, path], capture_output=True, text=True, check=True).stdout
            with Network(text) as network:
                network.set_params({key.removesuffix("/param"): value for key, value in params.items()})
                theirs = network.run(inputs)
            ours = Eager([RCNC]).run(path, inputs, params)
        for backend, result in (("RETURNN", theirs), ("eager", ours)):
            for key in golden:
                with self.subTest(backend, key=key):
                    if key.startswith("out/") and key[len("out/") :] in result["outputs"]:
                        self.check_output(result["outputs"][key[len("out/") :]], golden, key[len("out/") :], sequences)
                    if key.startswith("grad/"):
                        gradient = result["gradients"][prefix + key[len("grad/") : -len("/param")]]
                        numpy.testing.assert_allclose(gradient, golden[key], rtol=1e-4, atol=1e-5)

    def check_output(self, output, golden, name, sequences):
        values, expected, lengths = output["values"], golden[f"out/{name}"], golden[f"outlen/{name}"]
        if "batch" not in output["dims"]:
            values = numpy.broadcast_to(values, expected.shape)
        else:
            self.assertEqual(output["dims"][0], "batch")
            found = [numpy.asarray(value).tolist() for value in output["lengths"].values()]
            self.assertEqual(found, [lengths.tolist()])
        for i, length in enumerate(lengths):
            if sequences is None or i in sequences[name]:
                numpy.testing.assert_allclose(values[i, :length], expected[i, :length], atol=1e-5)

    def test_pool1d(self):
        # Of windows that reach over an end returnn_common gives what the padding says; the longest sequence has none.
        alone = {"max_same": [0, 1], "max_same_s1": [0, 1], "avg_same": [0], "avg_same_s1": [0], "max_same_p2": [0]}
        lines, sequences = [], {}
        for mode in ("max", "avg"):
            for padding in ("same", "valid"):
                for suffix, strides in (("", ""), ("_s1", "strides=1, ")):
                    lines.append((f"{mode}_{padding}{suffix}", mode, 3, padding, strides))
        lines.append(("max_same_p2", "max", 2, "same", ""))
        text = "network { fn main() {\n"
        for name, mode, size, padding, strides in lines:
            text += f'{name}, _ = nn.pool1d(data, mode="{mode}", pool_size={size}, padding="{padding}", {strides}in_spatial_dim=time)\n'
            text += f"output {name}\n"
            sequences[name] = alone.get(name, [0, 1, 2])
        self.run_case("pool1d", 4, text + "} }\n", sequences=sequences)

    def test_positional_encoding(self):
        self.run_case("positional_encoding", 6, """
network { fn main() {
    output y = nn.positional_encoding(time, input)
    output added = data + y
} }
""")

    def test_boolean_mask(self):
        self.run_case("boolean_mask", 4, """
network { fn main() {
    y, _ = nn.boolean_mask(data, mask=nn.reduce(data, mode="mean", axis=input) >= 0, in_spatial_dim=time)
    output y
} }
""")

    def test_lstm_step(self):
        self.run_case("lstm_step_loop", 5, """
dim out: feature = 4
extern gradw: float32[batch, time, out]
network {
    lstm = nn.LSTM(input, out)
    fn main() {
        loop t over time with state = lstm.default_initial_state([batch]) {
            y, state = lstm(data[t], spatial_dim=nn.single_step_dim, state=state)
            stack ys = y
        }
        output y = ys
        loss l = nn.reduce(ys * gradw, mode="sum", axis=[batch, time, out])
    }
}
""", prefix="lstm/")

    def test_causal_self_attention_step(self):
        """The cell is written out: what returnn_common has as a module."""
        for whole in (False, True):
            self.run_case("causal_self_attention_loop", 5, CAUSAL.replace("WHOLE", str(whole).lower()), prefix="att/")


CAUSAL = """
dim out: feature = 3
dim heads: spatial = 2
dim key: feature = 4
dim value: feature = 6
key_per_head = key // heads
value_per_head = value // heads
qkv_dim = 2 * key + value
per_head = 2 * key_per_head + value_per_head
extern gradw: float32[batch, time, out]
module Attention() {
    qkv = nn.Linear(input, qkv_dim)
    proj = nn.Linear(value, out)
    fn default_initial_state(dims: list) -> record {
        return {k: nn.empty_history(dims + [heads, key_per_head]), v: nn.empty_history(dims + [heads, value_per_head])}
    }
    fn call(x: [..., spatial_dim, input], *, spatial_dim: Dim, state: record) -> [..., out], record {
        parts = nn.split_dims(qkv(x), axis=qkv_dim, dims=[heads, per_head])
        q, k, v = nn.split(parts, axis=per_head, out_dims=[key_per_head, key_per_head, value_per_head])
        k, keys, new_k = nn.cum_concat(k, spatial_dim=spatial_dim, state=state.k)
        v, _, new_v = nn.cum_concat(v, spatial_dim=spatial_dim, state=state.v, out_spatial_dim=keys)
        weights = nn.softmax(nn.dot(q * key_per_head.size ** -0.5, k, reduce=key_per_head), axis=keys)
        y, _ = nn.merge_dims(nn.dot(weights, v, reduce=keys), axes=[heads, value_per_head], out_dim=value)
        return proj(y), {k: new_k, v: new_v}
    }
}
network {
    att = Attention()
    fn main() {
        start = att.default_initial_state([batch])
        if WHOLE {
            ys, _ = att(data, spatial_dim=time, state=start)
        } else {
            loop t over time with state = start {
                y, state = att(data[t], spatial_dim=nn.single_step_dim, state=state)
                stack ys = y
            }
        }
        output y = ys
        loss l = nn.reduce(ys * gradw, mode="sum", axis=[batch, time, out])
    }
}
"""


if __name__ == "__main__":
    unittest.main()
