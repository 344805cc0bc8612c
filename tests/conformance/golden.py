"""What returnn_common computed for its modules and functions: the emitted network in RETURNN and the eager run give the same.

    python golden.py --rcnc build/rcnc [NAME ...]

returnn_common/NAME.rcn is the model, NAME.npz what returnn_common 04ed372 computed on RETURNN 68fcd101a and TensorFlow
2.11.1: `in/NAME`, `len/DIM`, `param/VARIABLE`, `out/NAME` (axes in the order batch, dynamic, static), `outlen/NAME`, and,
for the objective sum(out/NAME * gradw/NAME), `grad/VARIABLE` and `gradin/NAME`. An extern `gradw_NAME` of the model gets `gradw/NAME`; an
output `NAME_` is `NAME` (where the model calls something else so).

leaks.json lists where returnn_common's numbers depend on padding or on the other sequences of the batch: then only the
sequences named there are comparable, and no gradient is. Comment lines at the top of a model say more:

  # prefix: lstm/        of the parameters in the model
  # args: --mode search  further arguments of rcnc for both backends
  # train                with the train flag on
  # wrong: NAME ...      returnn_common gives something else than it says: we must not
  # shapes               dims and lengths only: the numbers are random
  # beams: 3             returnn_common gave all hypotheses, the best first: that one is compared
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile

import numpy

from compare import valid_mask
from eager import Eager
from referee import Network
from run import Runner, report

HERE = pathlib.Path(__file__).resolve().parent / "returnn_common"
LEAKS = json.loads((HERE / "leaks.json").read_text(encoding="utf-8"))
OUTPUTS, GRADIENTS = 1e-4, 1e-3  # tolerances; of gradients relative to the largest value


class Case:
    def __init__(self, path):
        self.path, self.name = path, path.stem
        text = path.read_text(encoding="utf-8")
        self.dims = re.findall(r"(?m)^dim (\w+):", text)
        head = [line[1:].strip() for line in text.splitlines() if line.startswith("#")]
        self.prefix = next((line.split(":")[1].strip() for line in head if line.startswith("prefix:")), "")
        self.args = [word for line in head if line.startswith("args:") for word in line[len("args:"):].split()]
        self.wrong = {name for line in head if line.startswith("wrong:") for name in line.split(":")[1].split()}
        self.train, self.shapes = "train" in head, "shapes" in head
        self.beams = next((int(line.split(":")[1]) for line in head if line.startswith("beams:")), 1)
        self.golden = dict(numpy.load(path.with_suffix(".npz")))
        self.params = {self.prefix + key[len("param/"):]: value for key, value in self.golden.items() if key.startswith("param/")}

    def inputs(self, externs):
        """The arrays of the model's inputs, with their lengths."""
        result = {}
        for name, extern in externs.items():
            output = name.removeprefix("gradw_") if name.startswith("gradw_") else None
            result[name] = self.golden[f"gradw/{output}" if output else f"in/{name}"]
            for axis, dim in enumerate(extern["dims"]):
                if dim["kind"] == "batch" or dim["size"] is not None:
                    continue
                lengths = self.golden.get(f"len/{dim['name']}")
                if lengths is None:
                    lengths = self.golden[f"outlen/{output}"]
                    result[name] = result[name].take(range(lengths.max()), axis)
                result[f"{name}/length/{dim['name']}"] = lengths
        return result


def check(case, backend, result, trainable):
    """Differences of a backend's result from what returnn_common gave."""
    lines = []
    wanted = {key[len("out/"):] for key in case.golden if key.startswith("out/")}
    outputs = {name.removesuffix("_"): output for name, output in result["outputs"].items() if name != "output"}
    if wanted - set(outputs):
        lines.append(f"{backend}: no output {sorted(wanted - set(outputs))}")
    for name in sorted(wanted & set(outputs)):
        found = check_output(case, name, outputs[name])
        if name in case.wrong:
            found = [] if found else ["the same as returnn_common, which is wrong"]
        lines += [f"{backend}: {name}: {line}" for line in found]
    if case.name in LEAKS or case.shapes:
        return lines
    for key, expected in case.golden.items():
        if not key.startswith("grad/"):
            continue
        name = case.prefix + key[len("grad/"):].removesuffix("/param")
        if name not in trainable:
            continue
        found = result["gradients"].get(name)
        found = numpy.zeros_like(expected) if found is None else numpy.asarray(found)
        error, size = numpy.max(numpy.abs(found - expected), initial=0), numpy.max(numpy.abs(expected), initial=1e-3)
        if not error <= GRADIENTS * size:
            lines.append(f"{backend}: gradient of {name} differs by {error}, its largest value is {size}")
    for key, expected in case.golden.items():
        name = key.removeprefix("gradin/")
        if name == key or name not in result["input_gradients"] or case.wrong:
            continue
        found = result["input_gradients"][name]
        counts = valid_mask(found)
        error = numpy.abs(numpy.asarray(found["values"]) - expected)[counts]
        size = numpy.max(numpy.abs(expected[counts]), initial=1e-3)
        if not numpy.max(error, initial=0) <= GRADIENTS * size:
            lines.append(f"{backend}: gradient of the input {name} differs by {numpy.max(error)}, its largest value is {size}")
    return lines


def check_output(case, name, output):
    values, expected = numpy.asarray(output["values"]), case.golden[f"out/{name}"]
    expected = expected[::case.beams] if case.beams > 1 else expected
    lengths = {dim: numpy.asarray(value) for dim, value in output["lengths"].items()}
    dims = output["dims"]
    def place(dim):  # two declared dynamic dims: as they are declared
        if dim not in lengths:
            return (0 if dim == "batch" else 2, 0)
        return (1, case.dims.index(dim) if dim in case.dims else len(case.dims))

    order = sorted(range(len(dims)), key=lambda i: place(dims[i]))
    values, dims = values.transpose(order), [dims[i] for i in order]
    if "batch" not in dims:  # the same for all sequences: returnn_common may have such a tensor once for each
        values = numpy.broadcast_to(values, expected.shape[: expected.ndim - values.ndim] + values.shape)
    frames = numpy.ones(values.shape, dtype=bool)
    for dim, size in lengths.items():
        golden = case.golden.get(f"outlen/{name}" if len(lengths) == 1 else f"outlen/{name}.{dim}")
        if golden is None or "batch" not in dims:
            continue
        golden = golden[::case.beams]
        if size.tolist() != golden.tolist():
            return [f"lengths of {dim} are {size.tolist()}, not {golden.tolist()}"]
        axis = dims.index(dim)
        expected = expected.take(range(values.shape[axis]), axis)  # no frame of any sequence lies behind that
        inside = numpy.arange(values.shape[axis])[None, :] < golden[:, None]
        frames &= inside.reshape([values.shape[i] if i in (0, axis) else 1 for i in range(values.ndim)])
    if values.shape != expected.shape:
        return [f"shape {values.shape}, not {expected.shape}"]
    if case.shapes:
        return []
    rows = LEAKS.get(case.name, {}).get(name)
    if rows is not None:
        frames &= numpy.isin(numpy.arange(expected.shape[0]), rows).reshape([-1] + [1] * (expected.ndim - 1))
    if not frames.any():
        return ["there is nothing to compare"]
    values, expected = values[frames].astype("float64"), expected[frames].astype("float64")
    error = numpy.max(numpy.abs(values - expected))
    return [] if error <= OUTPUTS * max(1.0, float(numpy.max(numpy.abs(expected)))) else [f"differs by {error}"]


def run(case, runner):
    text = runner.emit(case.path, case.args)
    lines = []
    with Network(text) as network:
        inputs = case.inputs(network.externs())
        wanted = {key.removesuffix("/param"): value for key, value in case.params.items()}
        shapes = {name: value.shape for name, value in wanted.items()}
        found = {param["name"]: param["shape"] for param in network.params()}
        if found != shapes:
            return [f"the parameters are {found}, not {shapes}"]
        trainable = {param["name"] for param in network.params() if param["trainable"]}
        network.set_params(wanted)
        lines += check(case, "RETURNN", network.run(inputs, train=case.train), trainable)
    ours = Eager([runner.rcnc]).run(case.path, inputs, case.params, train=case.train, options=case.args)
    lines += check(case, "eager", ours, trainable)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rcnc", required=True)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    paths = [p for p in sorted(HERE.glob("*.rcn")) if not arguments.names or p.stem in arguments.names]
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(str(pathlib.Path(arguments.rcnc).resolve()), folder)
        return report(paths, lambda path: run(Case(path), runner))


if __name__ == "__main__":
    sys.exit(main())
