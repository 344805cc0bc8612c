"""The distribution of random operations, in RETURNN and in the eager run.

    python random_ops.py --rcnc build/rcnc
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy

from eager import Eager
from referee import Network

RATE = 0.25
MODEL = f"""\
import nn
dim time: spatial
dim input: feature = 200
extern data: float32[batch, time, input]
network {{
    fn main() {{
        output per_feature = nn.dropout(data, {RATE}, axis=input)
        output independent = nn.dropout(data, {RATE}, axis=data.dims)
        output always = nn.dropout(data, {RATE}, axis=data.dims, on_forward=true)
        ones = nn.ones([batch, input])
        loop t over time {{
            stack step_feature = nn.dropout(data[t], {RATE}, axis=input)
            stack step_constant = nn.dropout(ones, {RATE}, axis=input)
            stack step_independent = nn.dropout(ones, {RATE}, axis=ones.dims)
        }}
        output step_feature
        output step_constant
        output step_independent
    }}
}}
"""


def check_dropout(name, kept, shared):
    """What is wrong with dropped-out ones of the shape [batch, time, input]: a list of lines."""
    lines = []
    scale = 1 / (1 - RATE)
    if not numpy.all(numpy.isclose(kept, 0) | numpy.isclose(kept, scale)):
        lines.append(f"{name}: values other than 0 and {scale}")
    masks = kept.reshape(-1, kept.shape[-1]) == 0
    same = bool(numpy.all(masks == masks[0]))
    if same != shared:
        lines.append(f"{name}: the mask of all frames is {'one' if same else 'not one'}")
    draws = masks[0] if shared else masks.ravel()
    error = abs(draws.mean() - RATE) / numpy.sqrt(RATE * (1 - RATE) / draws.size)
    if error > 5:
        lines.append(f"{name}: {draws.mean():.3f} dropped in place of {RATE}, {error:.1f} standard deviations off")
    return lines


def check_steps(name, output, shared):
    """The same of masks that each step of a loop draws: of all sequences together if `shared`."""
    dims = output["dims"]
    kept = numpy.transpose(numpy.asarray(output["values"]), [dims.index(d) for d in ("time", "batch", "input")])
    lines = []
    for t in range(kept.shape[0]):
        lines += check_dropout(f"{name}, step {t}", kept[t : t + 1], shared)
    for t in range(1, kept.shape[0]):
        if numpy.array_equal(kept[t], kept[t - 1]):
            lines.append(f"{name}: steps {t - 1} and {t} have one mask")
    return lines


def check(backend, run):
    """run(train) gives a result."""
    lines = []
    on, off = run(True)["outputs"], run(False)["outputs"]
    for name, shared in (("per_feature", True), ("independent", False), ("always", False)):
        lines += check_dropout(name, numpy.asarray(on[name]["values"]), shared)
    for name, shared in (("step_feature", True), ("step_constant", True), ("step_independent", False)):
        lines += check_steps(name, on[name], shared)
    for name in ("per_feature", "independent", "step_feature", "step_constant", "step_independent"):
        if not numpy.all(numpy.asarray(off[name]["values"]) == 1):
            lines.append(f"{name}: not the identity with the train flag off")
    lines += check_dropout("always, train flag off", numpy.asarray(off["always"]["values"]), False)
    if numpy.array_equal(on["independent"]["values"], on["always"]["values"]):
        lines.append("two dropouts of one tensor share their mask")
    return [f"{backend}: {line}" for line in lines]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rcnc", required=True)
    rcnc = str(pathlib.Path(parser.parse_args().rcnc).resolve())
    inputs = {"data": numpy.ones((4, 25, 200), "float32"), "data/length/time": numpy.full(4, 25, "int32")}
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "dropout.rcn"
        model.write_text(MODEL, encoding="utf-8")
        text = subprocess.run([rcnc, str(model)], capture_output=True, text=True, check=True).stdout
        lines = []
        for moved in (True, False):
            with Network(f"{text}\noptimize_move_layers_out = {moved}\n") as network:
                lines += check(f"RETURNN, optimize_move_layers_out {moved}", lambda train: network.run(inputs, train=train, want_grads=False))
        eager = Eager([rcnc])
        lines += check("eager", lambda train: eager.run(model, inputs, {}, train=train, want_grads=False))
    for line in lines:
        print(line)
    print("0 passed, 1 failed" if lines else "1 passed, 0 failed")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
