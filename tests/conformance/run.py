"""Compares RETURNN and the eager run on every conformance case.

    python run.py --rcnc build/rcnc [NAME ...]

A case is a model in cases/. For each one the emitted dict in RETURNN and `rcnc --eager` get the same parameters and
inputs, and must agree: outputs, losses, gradients, dims, lengths, dtypes, parameter names. Then, in both,

  unmoved   loops of which RETURNN moves nothing out (optimize_move_layers_out False) give the same
  poison    other values in the padding (1e3; NaN; other legal indices) change no valid frame
  alone     a sequence alone gives what it gives in the batch
  permuted  the axes of the inputs in another order in memory change nothing
  empty     with a sequence of length zero in every dim both agree again
  float64   with every float32 of the case a float64 both agree again (--float64)

Comment lines at the top of a case say more:

  # control: TEXT -> OTHER     the emitted config with TEXT replaced must differ from the eager run (proves that the
                               comparison sees such a mistake)
  # args: -D rate=0.0          further arguments of rcnc for both backends
  # train                      compare with the train flag on as well
  # assigns                    a step in training leaves the same parameters in both
  # further-lengths: DIM N N N  compare with these as well, inf and nan in gradients included, in place of an `empty` run
  # lengths: DIM N N N          these in place of random ones, one for each sequence of the batch
  # not-empty: REASON           no `empty` run
  # not-float64: REASON         no `float64` run
  # float32-inside: REASON      in the `float64` run values agree as those of float32 do
  # batch-mates                outputs mix sequences on purpose: no `alone` runs for those named behind it
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import traceback

import numpy

from compare import compare, sequence_of
from eager import Eager
from inputs import poisoned, random_inputs, random_parameters, single
from referee import Network
from widen import wide_library, widened

HERE = pathlib.Path(__file__).resolve().parent
FLOAT64_TOLERANCE = 1e-8  # nothing on the way is computed in float32
NOT_OUTPUTS = ("gradients", "input_gradients", "losses", "errors", "objective")
LOOP = re.compile(r'("class": "rec",\s*"from": \[\],)')


class Case:
    """A model file and what its head says about it."""

    def __init__(self, path):
        self.path = path
        self.name = path.stem
        self.text = path.read_text(encoding="utf-8")
        head = [line[1:].strip() for line in self.text.splitlines() if line.startswith("#")]
        self.controls = [tuple(line[len("control:"):].strip().split(" -> ")) for line in head if line.startswith("control:")]
        self.args = [word for line in head if line.startswith("args:") for word in line[len("args:"):].split()]
        self.train, self.assigns = "train" in head, "assigns" in head
        self.not_empty = any(line.startswith(("not-empty:", "further-lengths:")) for line in head)
        self.float32_inside = any(line.startswith("float32-inside:") for line in head)
        self.not_float64 = any(line.startswith("not-float64:") for line in head)
        self.batch_mates = {name for line in head if line.startswith("batch-mates:") for name in line.split(":")[1].split()}
        self.ranges, self.lengths, self.further_lengths = {}, {}, {}
        for line in head:
            if line.startswith("lengths:"):
                name, *values = line.split(":")[1].split()
                self.lengths[name] = numpy.array([int(value) for value in values])
            if line.startswith("further-lengths:"):
                name, *values = line.split(":")[1].split()
                self.further_lengths[name] = [int(value) for value in values]
            if line.startswith("range:"):
                name, low, high = line.split(":")[1].split()
                self.ranges[name] = (int(low), int(high))

        # Dims of inputs and those of a fixed size keep their names in RETURNN; what it calls those of loops depends on what
        # it constructs first.
        inputs = " ".join(re.findall(r"(?m)^extern [^:]*:[^\[]*\[([^\]]*)\]", self.text))
        named = re.findall(r"(?m)^\s*dim ([A-Za-z_]\w*):(.*)", self.text)
        self.declared = {"batch"} | {name for name, rest in named if "=" in rest or re.search(rf"\b{name}\b", inputs)}

    def permuted_text(self):
        """The same model with the dims of every extern declared in reverse order."""

        def reverse(match):
            dims = [d.strip() for d in match.group(2).split(",")]
            return match.group(1) + "[" + ", ".join(reversed(dims)) + "]"

        return re.sub(r"(?m)^(extern .*:.*?)\[([^\]]*)\]\s*$", reverse, self.text)


class Runner:
    """Runs cases with one binary."""

    def __init__(self, rcnc, folder):
        self.rcnc = rcnc
        self.folder = pathlib.Path(folder)
        self.eager = Eager([rcnc])

    def emit(self, model, args=()):
        """The Python config of a model; raises with the compiler's messages."""
        done = subprocess.run([self.rcnc, str(model), *args], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"rcnc failed with {done.returncode}:\n{done.stderr}")
        return done.stdout

    def run(self, case):
        """All checks of a case: a list of differences, empty if it passes."""
        text = self.emit(case.path, case.args)
        lines = []
        with Network(text) as network:
            externs = network.externs()
            params = random_parameters(network.params(), seed=3)
            inputs = random_inputs(externs, seed=7, lengths=case.lengths, ranges=case.ranges)
            network.set_params(params)

            def both(values, model=case.path, grads=True, train=False):
                theirs = network.run(values, train=train, want_grads=grads)
                ours = self.eager.run(model, values, params, train=train, want_grads=grads, options=case.args)
                return named_alike(theirs, case.declared), named_alike(ours, case.declared)

            def note(what, differences):
                lines.extend(f"{what}: {line}" for line in differences)

            theirs, ours = both(inputs)
            note("eager", compare(theirs, ours, ignore=["output"]))
            if case.train:
                note("train", compare(*both(inputs, train=True), ignore=["output"]))
            if case.further_lengths:
                others = random_inputs(externs, seed=7, lengths=case.further_lengths, ranges=case.ranges)
                note(f"lengths {case.further_lengths}", compare(*both(others), ignore=["output"]))
            if not case.not_empty and (empty := emptied(inputs, externs)):
                others = random_inputs(externs, seed=7, lengths=empty, ranges=case.ranges)
                note(f"empty {spread_text(empty)}", compare(*both(others), ignore=["output"]))
            unmoved = LOOP.sub(r'\1 "optimize_move_layers_out": False,', text)
            if unmoved != text:
                with Network(unmoved) as other:
                    other.set_params(params)
                    note("unmoved", compare(theirs, named_alike(other.run(inputs), case.declared)))
            for label, value, grads in (("poison 1e3", 1e3, True), ("poison nan", numpy.nan, False)):
                bad = poisoned(inputs, externs, value, seed=5)
                their_bad, our_bad = both(bad, grads=grads)
                parts = () if grads else NOT_OUTPUTS
                note(f"{label}, RETURNN", compare(without(theirs, *parts), without(their_bad, *parts)))
                note(f"{label}, eager", compare(without(ours, *parts), without(our_bad, *parts)))
            for i in range(min(batch_size(inputs, externs), 3)):
                alone = single(inputs, externs, i)
                their_one, our_one = both(alone, grads=False)
                skip = sorted(case.batch_mates | {"output"})
                note(f"sequence {i} alone, RETURNN", compare(without(sequence_of(theirs, i), *NOT_OUTPUTS), without(their_one, *NOT_OUTPUTS), ignore=skip))
                note(f"sequence {i} alone, eager", compare(without(sequence_of(ours, i), *NOT_OUTPUTS), without(our_one, *NOT_OUTPUTS), ignore=skip))
            if case.assigns:
                lines += self._assigned(case, network, inputs, params)
            lines += self._permuted(case, inputs, params, theirs)
            lines += self._controls(case, text, inputs, params, ours)
        return lines

    def _assigned(self, case, network, inputs, params):
        """What a step leaves in the parameters, with the train flag off and on."""
        lines = []
        for train in (False, True):
            network.set_params(params)
            network.run(inputs, train=train, want_grads=False, updates=True)
            theirs = network.get_params()
            ours = self.eager.run(case.path, inputs, params, train=train, want_grads=False, options=case.args)
            expected = {**params, **ours.get("assigned", {})}
            for name, value in expected.items():
                error = float(numpy.max(numpy.abs(numpy.asarray(theirs[name]) - numpy.asarray(value))))
                if not error <= 1e-5 * max(1.0, float(numpy.max(numpy.abs(value)))):
                    lines.append(f"parameter {name} after a step, train flag {train}: differs by {error}")
        if not ours.get("assigned"):
            lines.append("the eager run assigns nothing in training")
        network.set_params(params)
        return lines

    def _permuted(self, case, inputs, params, expected):
        model = self.folder / f"{case.name}_permuted.rcn"
        model.write_text(case.permuted_text(), encoding="utf-8")
        values = {name: array if "/length/" in name else numpy.transpose(array) for name, array in inputs.items()}
        ours = named_alike(self.eager.run(model, values, params, options=case.args), case.declared)
        lines = [f"permuted, eager: {line}" for line in compare(expected, ours, ignore=["output"])]
        with Network(self.emit(model, case.args)) as network:
            network.set_params(params)
            theirs = named_alike(network.run(values), case.declared)
            lines += [f"permuted, RETURNN: {line}" for line in compare(expected, theirs)]
        return lines

    def run_float64(self, case):
        """The same for the case with float64 in place of float32."""
        if case.not_float64:
            return []
        model = self.folder / f"{case.name}_float64.rcn"
        model.write_text(widened(case.text), encoding="utf-8")
        (self.folder / "wide.rcn").write_text(wide_library(), encoding="utf-8")
        with Network(self.emit(model, case.args)) as network:
            params = random_parameters(network.params(), seed=3)
            inputs = random_inputs(network.externs(), seed=7, lengths=case.lengths, ranges=case.ranges)
            network.set_params(params)
            theirs = named_alike(network.run(inputs), case.declared)
        ours = named_alike(self.eager.run(model, inputs, params, options=case.args), case.declared)
        lines = compare(theirs, ours, ignore=["output"])
        if not lines and not case.float32_inside:  # losses are float32
            names = theirs["outputs"].keys() & ours["outputs"].keys()
            wide = [{"outputs": {name: result["outputs"][name] for name in names}} for result in (theirs, ours)]
            lines = compare(*wide, FLOAT64_TOLERANCE, ignore=["output"])
        return [f"float64: {line}" for line in lines]

    def _controls(self, case, text, inputs, params, ours):
        lines = []
        for wanted, other in case.controls:
            wrong = text.replace(wanted, other)
            if wrong == text:
                lines.append(f"control: the emitted config does not contain {wanted!r}")
                continue
            with Network(wrong) as network:
                network.set_params(params)
                if not compare(named_alike(network.run(inputs), case.declared), ours, ignore=["output"]):
                    lines.append(f"control: {wanted!r} -> {other!r} was not noticed")
        return lines


def named_alike(result, declared):
    """The result with dims that the model does not declare (derived and fresh ones) named by their size: what RETURNN
    calls them is its own affair."""
    parts = {part: _named_alike(result[part], declared) for part in ("outputs", "input_gradients") if part in result}
    return {**result, **parts}


def _named_alike(tensors, declared):
    outputs = {}
    for name, output in tensors.items():
        shape = numpy.shape(output["values"])
        lengths = {dim: numpy.asarray(value) for dim, value in output.get("lengths", {}).items()}
        names = {}
        for axis, dim in enumerate(output["dims"]):
            key = "dynamic" if dim in lengths else f"size {shape[axis]}"
            names[dim] = dim if dim.split("#")[0] in declared else key
            while list(names.values()).count(names[dim]) > 1:
                names[dim] += " again"
        outputs[name] = {
            **output,
            "dims": [names[dim] for dim in output["dims"]],
            "lengths": {names.get(dim, dim): value for dim, value in lengths.items()},
            "length_dims": {
                names.get(dim, dim): [names.get(d, d) for d in over] for dim, over in output.get("length_dims", {}).items()
            },
        }
    return outputs


def emptied(inputs, externs):
    """The lengths of the dynamic dims over the batch, with 0 for one sequence of each; {} where each has such already."""
    lengths = {}
    for name, extern in externs.items():
        for dim in extern["dims"]:
            if dim["kind"] == "dynamic" and dim["length_dims"] == ["batch"]:
                lengths[dim["name"]] = numpy.array(inputs[f"{name}/length/{dim['name']}"])
    if all(0 in values for values in lengths.values()):
        return {}
    for i, values in enumerate(lengths.values()):
        if len(values) > 1 and 0 not in values:
            values[(int(values.argmax()) + 1 + i) % len(values)] = 0  # the longest stays, if there is another
    return lengths


def spread_text(lengths):
    return ", ".join(f"{name} {' '.join(map(str, values))}" for name, values in lengths.items())


def without(result, *parts):
    """A result without some of its parts, so that these are not compared."""
    return {key: value for key, value in result.items() if key not in parts}


def batch_size(inputs, externs):
    for name, extern in externs.items():
        for axis, dim in enumerate(extern["dims"]):
            if dim["kind"] == "batch":
                return inputs[name].shape[axis]
    return 0


def report(paths, run):
    """Prints the lines that run(path) gives for each failed case and the sum of all, and gives the exit code."""
    passed = failed = 0
    for path in paths:
        start = time.monotonic()
        try:
            lines = run(path)
        except Exception:  # one case must not hide the others
            lines = [traceback.format_exc(limit=4)]
        passed, failed = passed + (not lines), failed + bool(lines)
        print(f"{'FAIL' if lines else 'ok  '} {path.stem} ({time.monotonic() - start:.1f} s)", flush=True)
        for line in lines:
            print("     " + line.replace("\n", "\n     "))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rcnc", required=True)
    parser.add_argument("--float64", choices=["with", "without", "only"], default="with", help="the float64 runs")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    paths = sorted((HERE / "cases").glob("*.rcn"))
    if arguments.names:
        paths = [p for p in paths if p.stem in arguments.names]
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(str(pathlib.Path(arguments.rcnc).resolve()), folder)

        def run(path):
            case = Case(path)
            lines = [] if arguments.float64 == "only" else runner.run(case)
            return lines + ([] if arguments.float64 == "without" else runner.run_float64(case))

        return report(paths, run)


if __name__ == "__main__":
    sys.exit(main())
