"""One comparison of RETURNN and the eager run, for `rcnc verify`."""

import json
import pathlib

import numpy

from compare import compare, differences, largest_difference
from eager import Eager, EagerError, write_npz
from inputs import random_parameters
from pairing import inputs_for, paired
from referee import Network
from returnn_process import load_config

SEED = 42
"""Of random parameters."""

MARKS = (("outputs", "output"), ("losses", "loss"), ("errors", "error"))


class Refused(Exception):
    """What keeps the two from being compared: a message for the user."""


class Verification:
    """Both runs of a job, and what differs.

    :param pathlib.Path folder: of the job, and for files of its own
    :param say: is told what is done now
    """

    def __init__(self, folder, job, say):
        self.folder, self.job, self.say = folder, job, say
        self.operations = json.loads((folder / "operations.json").read_text(encoding="utf-8"))
        self.places = json.loads((folder / "source_map.json").read_text(encoding="utf-8"))["layers"]
        self.against = job["against"]
        self.config = f"`{self.against}`" if self.against else "the network dict"

    def run(self):
        """(lines to print, whether all is equal)."""
        self.say("RETURNN constructs the network")
        with self._network() as network:
            if self.against and not self.job["rename_map"]:
                self._check_parameters(network)
            self.say("eager run")
            ours, record = self._eager(network)
            self.say("RETURNN runs the network")
            theirs = self._returnn(network, record, ours)
        return self._report(theirs, ours, record)

    # ---- the runs

    def _network(self):
        search = any(entry["operation"] == "decide" for entry in self.operations)
        try:
            emitted = str(self.folder / "network.py")
            if not self.against:
                return Network(emitted, search=search)
            layers = load_config(emitted, "python").typed_value("network")
            outputs = [name for name, layer in layers.items() if layer.get("is_output_layer")]
            return Network(self.against, search=search, needed=outputs)
        except OSError as error:
            raise Refused(f"cannot read {self.config}: {error.strerror}") from error
        except Exception as error:  # whatever a config, RETURNN or TensorFlow raises
            raise Refused(f"RETURNN cannot construct {self.config}: {last_line(error)}") from error

    def _check_parameters(self, network):
        theirs, ours = {item["name"] for item in network.params()}, set(self.job["parameters"])
        lines = [f"missing: `{name}`" for name in sorted(ours - theirs)]
        lines += [f"left over: `{name}`" for name in sorted(theirs - ours)]
        if lines:
            lines.append("help: `--rename-map FILE` says what its parameters are in the model")
            raise Refused("\n".join([f"{self.config} has other parameters than the model", *lines]))

    def _eager(self, network):
        options = list(self.job["options"])
        if not self.job["params"]:
            write_npz(self.folder / "params.npz", random_parameters(network.params(), SEED))
            options += ["--params", str(self.folder / "params.npz")]
        try:
            return Eager([self.job["eager"]], timeout=None).record(self.job["model"], self.folder, options)
        except EagerError as error:
            text = error.stderr.replace(f"`{self.folder / 'params.npz'}`", self.config)
            raise Refused("the eager run failed\n" + text.rstrip()) from error

    def _returnn(self, network, record, ours):
        def name_of(item):
            return item["in_file"] if self.against and item["in_file"] else item["name"]

        layers = {entry["layer"] for entry in self.operations} | set(ours["outputs"])
        try:
            network.set_params({name_of(item): item["values"] for item in record["parameters"]})
            inputs = inputs_for(network.externs(), record["inputs"])
            return network.run(inputs, train=self.job["train"], want_grads=False, layers=sorted(layers))
        except LookupError as error:
            raise Refused(f"{self.config} has other inputs: {error}") from error
        except Exception as error:
            raise Refused(f"RETURNN cannot run {self.config}: {last_line(error)}") from error

    # ---- what differs

    def _report(self, theirs, ours, record):
        names = self._names(theirs, ours) if self.against else []
        marks = self._marks(theirs, ours)
        first, count = None, 0
        if marks or names or not self.against:
            first, count = self._first(theirs, record)
        if not names and not marks and not first:
            parts = [plural(len(ours[part]), word) for part, word in MARKS if ours[part]]
            return ["equal  " + ", ".join(parts + ([] if self.against else [plural(count, "operation")]))], True
        lines = names + (first or []) + [line for mark in marks for line in mark]
        if not first and not names:
            unnamed = f"note: no layer of {self.config} is called as that of an operation, so these were not compared"
            alike = "note: no operation differs that has a layer of its own"
            lines.append(unnamed if self.against and count == 0 else alike)
        return lines, False

    def _names(self, theirs, ours):
        """Outputs, losses and errors that one side lacks. RETURNN's losses bring errors of their own."""
        lines = []
        for part, word in MARKS:
            lacking = [name for name in ours[part] if _found(theirs, ours, part, name) is None]
            lines += [f"missing  {word} `{name}` is not in {self.config}" for name in lacking]
            known = set(ours[part]) | set(ours["losses"])
            if part == "outputs":  # RETURNN has losses among them
                known |= {"output"} | set(theirs["losses"]) | set(theirs["errors"])
            lines += [f"left over  {word} `{name}` is not in the model" for name in sorted(set(theirs[part]) - known)]
        return lines

    def _marks(self, theirs, ours):
        """For each output, loss and error that differs a list of lines."""
        result = []
        for name, tensor in ours["outputs"].items():
            other = _found(theirs, ours, "outputs", name)
            lines = [] if other is None else self._difference(other, tensor)
            if lines:
                result.append([f"different  output `{name}`{self._at(name)}", *lines])
        for part, word in MARKS[1:]:
            for name in ours[part]:
                if name in theirs[part]:
                    one = {part: {name: theirs[part][name]}}
                    lines = compare(one, {part: {name: ours[part][name]}}, self.job["tolerance"])
                    if lines:
                        result.append([f"different  {word} `{name}`{self._at(name)}"])
                        result[-1] += [
                            f"  {key}: RETURNN {theirs[part][name][key]:.9g}, eager {ours[part][name][key]:.9g}"
                            for key in ("sum", "mean")
                        ]
        return result

    def _first(self, theirs, record):
        """Lines about the first operation that differs, or None; and how many were compared."""
        made = {(item["number"], item["result"]): item for item in record["operations"]}
        drawn, count = None, 0
        for entry in self.operations:
            item, layer = made.get((entry["number"], entry["result"])), theirs.get("layers", {}).get(entry["layer"])
            if item is None or layer is None:
                continue
            if item["operation"] != entry["operation"]:
                raise AssertionError(f"operation {entry['number']} is {entry['operation']} and {item['operation']}")
            drawn = drawn or (entry if entry["random"] else None)
            tensor = dict(item["tensor"], values=item["values"])
            tensor.setdefault("sparse_dim", None)
            if self.against and paired(layer, tensor, entry["lacks_dims"]) is None:
                continue  # another layer that is called the same
            count += 1
            lines = self._difference(layer, tensor, entry["lacks_dims"])
            if not lines:
                continue
            what = entry["operation"] + (f", {entry['result']}" if entry["result"] else "")
            head = [f"different  {what}  {place_of(entry)}"] + source_line(entry)
            head += [f"  layer    {entry['layer']}, class {entry['class']}"]
            calls = [f"  called from {place_of(call)}" for call in entry["calls"] if not of_library(call)]
            notes = []
            if drawn:
                notes = [f"  note: `{drawn['layer']}` at {place_of(drawn)} draws random numbers, RETURNN others"]
            return head + lines + calls + notes, count
        return None, count

    def _difference(self, theirs, ours, lacks_dims=False):
        """Lines about how two tensors differ, none if they do not."""
        both = paired(theirs, ours, lacks_dims)
        if both is None:
            return [f"  RETURNN  {described(theirs)}", f"  eager    {described(ours)}"]
        problems = differences(*both, self.job["tolerance"])
        if not problems:
            return []
        lines = [f"  RETURNN  {described(both[0])}", f"  eager    {described(both[1])}"]
        left, right = both
        if len(problems) > 1 or not problems[0].startswith(("relative error", "values", tuple("0123456789"))):
            return lines + [f"  {line}" for line in problems]
        index, a, b = largest_difference(left, right)
        at = ", ".join(f"{dim}={i}" for dim, i in zip(left["dims"], index))
        by = f"{abs(float(a) - float(b)):.3g}"
        return lines + [f"  largest difference {by}{' at ' + at if at else ''}: RETURNN {a:.9g}, eager {b:.9g}"]

    def _at(self, name):
        place = self.places.get(name)
        return f"  {place_of(place)}" if place else ""


def _found(theirs, ours, part, name):
    """RETURNN's output, loss or error of a name, or None. Any layer may be an output; `output` is the first one."""
    if part != "outputs":
        return theirs[part].get(name)
    first = theirs["outputs"].get("output") if name == next(iter(ours["outputs"])) else None
    return theirs["outputs"].get(name, theirs.get("layers", {}).get(name, first))


def described(tensor):
    """`float32[batch=3, time=7, f=4]`."""
    dims = ", ".join(f"{dim}={size}" for dim, size in zip(tensor["dims"], numpy.shape(tensor["values"])))
    return f"{tensor['dtype']}[{dims}]"


def place_of(entry):
    return f"{entry['file']}:{entry['line']}:{entry['column']}" if "file" in entry else "-"


def of_library(entry):
    return entry["file"].startswith("stdlib/")


def source_line(entry):
    """The line of the source, where it is a file of the user's: a list of one line or none."""
    path = pathlib.Path(entry.get("file", ""))
    if "file" not in entry or of_library(entry) or not path.is_file():
        return []
    text = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return [f"{entry['line']:>7} | {text[entry['line'] - 1]}"]


def last_line(error):
    text = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {text[-1].strip() if text else ''}"


def plural(count, word):
    words = {"loss": "losses"}
    return f"{count} {word if count == 1 else words.get(word, word + 's')}"
