"""Operations that give each sequence what it gets alone, against the layers of RETURNN that do not.

For one sequence alone, the operation and the layer agree. In a batch of sequences of different lengths the operation
still gives that, and the layer something else where it is said to leak: so the guard of the operation is needed.
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy

from inputs import poisoned, random_inputs, random_parameters, single
from referee import Network

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RCNC = pathlib.Path(os.environ.get("RCNC", ROOT / "build" / "rcnc")).resolve()

MODEL = """\
import nn
dim time: spatial
dim input: feature = 4
dim model: feature = 6
dim chunks: spatial
dim pair: spatial = 2
dim around: spatial = 3
extern data: float32[batch, time, input]
network {{
{members}
    fn main() {{
        output x = data * 1.0
        y = {call}
        output ours = y[0] if isinstance(y, tuple) else y
    }}
}}
"""

# name: members of the network, the call, the layer, whether it leaks
CASES = {
    "cumsum_reverse": ("", "nn.cumsum(data, axis=time, reverse=true)", {"class": "cumsum", "axis": "time", "reverse": True}, True),
    **{
        f"pad_{own_ends}": (
            "",
            "nn.pad(data, axis=time, right=2, value=1.5)",
            {"class": "pad", "axes": "time", "padding": (0, 2), "mode": "constant", "value": 1.5, "handle_dynamic_dims": own_ends},
            not own_ends,
        )
        for own_ends in (True, False)
    },
    "concat": (
        "",
        "nn.concat([(data, time), (data, time)])",
        {"class": "concat", "from": [("x", "time"), ("x", "time")]},
        True,
    ),
    "window": (
        "",
        "nn.window(data, spatial_dim=time, window_dim=around)",
        {"class": "window", "axis": "time", "window_size": 3},
        True,
    ),
    "shift_axis": (
        "",
        "nn.shift_axis(data, axis=time, amount=-1)",
        {"class": "shift_axis", "axis": "time", "amount": -1, "pad": True, "adjust_size_info": False},
        True,
    ),
    "split_dims": (
        "",
        "nn.split_dims(data, axis=time, dims=[chunks, pair], pad_to_multiples=true)",
        {"class": "split_dims", "axis": "time", "dims": (-1, 2), "pad_to_multiples": True},
        True,
    ),
    **{
        f"resize_{kind}_{factor}": (
            "",
            f'nn.resize(data, axis=time, factor={factor}, kind="{kind}")',
            {"class": "resize", "axis": "time", "factor": factor, "kind": kind},
            leaks,
        )
        for kind, factor, leaks in [
            ("nn", 2, False), ("nn", 0.55, True), ("linear", 3, True), ("linear", 0.6, True), ("cubic", 2, True), ("cubic", 1.6, True),
        ]
    },
    **{
        f"conv_{padding}_{size}_{stride}": (
            f'layer = nn.Conv1d(input, model, {size}, padding="{padding}", strides={stride})',
            "layer(data, in_spatial_dim=time)",
            {
                "class": "conv", "filter_size": [size], "padding": padding, "strides": stride, "in_spatial_dims": ["time"], "in_dim": "input",
                "out_dim": "model", "filter": "layer.filter", "bias": "layer.bias",
            },
            leaks,
        )
        for padding, size, stride, leaks in [("same", 3, 1, True), ("same", 3, 2, True), ("same", 5, 3, True), ("valid", 2, 1, False), ("valid", 2, 2, False)]
    },
    **{
        f"transposed_conv_{padding}_{size}_{stride}": (
            f'layer = nn.TransposedConv1d(input, model, {size}, padding="{padding}", strides={stride})',
            "layer(data, in_spatial_dim=time)",
            {
                "class": "transposed_conv", "filter_size": [size], "padding": padding, "strides": [stride], "in_spatial_dims": ["time"],
                "in_dim": "input", "out_dim": "model", "filter": "layer.filter", "bias": "layer.bias",
            },
            leaks,
        )
        for padding, size, stride, leaks in [("same", 4, 2, True), ("valid", 3, 2, True), ("valid", 2, 2, False)]
    },
    **{
        f"pool_{mode}_{padding}_{size}_{stride}": (
            "",
            f'nn.pool1d(data, mode="{mode}", pool_size={size}, padding="{padding}", strides={stride}, in_spatial_dim=time)',
            {"class": "pool", "mode": mode, "pool_size": [size], "padding": padding, "strides": stride, "in_spatial_dims": ["time"]},
            leaks,
        )
        for mode, padding, size, stride, leaks in [
            ("max", "same", 3, 1, True), ("avg", "same", 3, 1, True), ("max", "same", 4, 2, True), ("avg", "same", 3, 2, True),
            ("max", "same", 2, 2, True), ("max", "same", 3, 3, True),  # as between the layers of nn.BlstmEncoder
            ("max", "valid", 2, 2, False), ("avg", "valid", 2, 1, False),
        ]
    },
}

DIMS = {"time": "time_dim", "input": "input_dim", "model": "model_dim"}


def literal(value):
    """Python text, with names of dims in place of texts that are those."""
    if isinstance(value, list):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    if isinstance(value, tuple):
        return "(" + "".join(literal(item) + ", " for item in value) + ")"
    return DIMS.get(value, repr(value)) if isinstance(value, str) else repr(value)



def frames(output, index, length=None):
    """Sequence `index`: the valid frames, with the dynamic axis first and the others by size."""
    dims, values = output["dims"], numpy.asarray(output["values"])[index]
    order = sorted(range(1, len(dims)), key=lambda a: (dims[a] not in output["lengths"], values.shape[a - 1]))
    values = numpy.transpose(values, [a - 1 for a in order])
    dynamic = [dim for dim in dims if dim in output["lengths"]]
    return values[: int(numpy.asarray(output["lengths"][dynamic[0]]).reshape(-1)[index])] if dynamic else values


class NativeLayers(unittest.TestCase):
    def check(self, members, call, layer, leaks):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder, "model.rcn")
            model.write_text(MODEL.format(members=members, call=call), encoding="utf-8")
            done = subprocess.run([RCNC, model], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        options = {"from": "x", **layer, "is_output_layer": True}
        text = ", ".join(f'"{key}": {literal(value)}' for key, value in options.items())
        with Network(f'{done.stdout}\nnetwork["native"] = {{{text}}}\n') as network:
            externs = network.externs()
            network.set_params(random_parameters(network.params(), seed=3))
            inputs = poisoned(random_inputs(externs, seed=7, batch=4, lengths={"time": numpy.array([7, 5, 4, 2])}), externs)
            together = network.run(inputs, want_grads=False)["outputs"]
            leaked = False
            for i in range(4):
                alone = network.run(single(inputs, externs, i), want_grads=False)["outputs"]
                expected = frames(alone["native"], 0)
                for ours in (frames(alone["ours"], 0), frames(together["ours"], i)):
                    numpy.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)
                theirs = frames(together["native"], i)
                leaked = leaked or theirs.shape != expected.shape or not numpy.allclose(theirs, expected, rtol=1e-3, atol=1e-4)
        self.assertEqual(leaked, leaks)

    def test_layers(self):
        for name, case in CASES.items():
            with self.subTest(name):
                self.check(*case)


if __name__ == "__main__":
    unittest.main()
