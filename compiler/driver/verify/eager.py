"""Runs a model with `rcnc --eager` and gives its answer in the form in which the referee gives RETURNN's."""

import json
import pathlib
import subprocess
import tempfile
import zipfile

import numpy


class EagerError(Exception):
    """The run failed: `code` is its exit code (None after a timeout), `stderr` what it said."""

    def __init__(self, code, stderr):
        super().__init__(f"exit code {code}\n{stderr}")
        self.code, self.stderr = code, stderr


class Eager:
    """The compiler's eager mode.

    :param list[str] command: the binary, with arguments that always come first
    :param float timeout: of one run, in seconds
    """

    def __init__(self, command, timeout=120):
        self.command = list(command)
        self.timeout = timeout

    def run(self, model, inputs, params, train=False, want_grads=True, options=()):
        """One step on one batch.

        :param str|os.PathLike model: the .rcn file
        :param dict[str,array] inputs: `NAME` (padded) and `NAME/length/DIM`
        :param dict[str,array]|str|os.PathLike params: by name, with or without "/param"; or a file of them
        :param options: further arguments, such as ["-D", "layers=2"]
        :return: a result as `referee.Network.run` gives; without "constraints" if the program does not tell them
        :raises EagerError: exit code other than 0, output that is no JSON, or a timeout
        """
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            if isinstance(params, dict):
                write_npz(folder / "params.npz", params)
                params = folder / "params.npz"
            write_npz(folder / "inputs.npz", inputs)
            arguments = ["--eager", str(model), "--params", str(params)]
            for name in sorted(inputs):
                if "/length/" not in name:
                    arguments += ["--data", f"{name}={folder / 'inputs.npz'}:{name}"]
            arguments += ["--save", str(folder / "outputs.npz"), "--json", "--train" if train else "--eval"]
            arguments += ["--grad"] if want_grads else []
            text = self._call(arguments + list(options))
            saved = folder / "outputs.npz"
            arrays = read_npz(saved) if saved.exists() else {}
        try:
            document = json.loads(text)
        except json.JSONDecodeError as error:
            raise EagerError(0, f"no JSON on stdout ({error}): {text[:200]!r}") from error
        return result_of(document, arrays)

    def record(self, model, folder, options=()):
        """One step on the batch that the options say, and what it was computed with.

        :param pathlib.Path folder: where the record is put
        :return: a result as `run` gives, and {"inputs": [...], "parameters": [...], "operations": [...]}, where
            "values" are arrays
        """
        arguments = ["--eager", str(model), "--json", "--save", str(folder / "outputs.npz"), "--record", str(folder)]
        text = self._call(arguments + list(options))
        result = result_of(json.loads(text), read_npz(folder / "outputs.npz"))
        record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
        arrays = read_npz(folder / "record.npz")
        for items in record.values():
            for item in items:
                item["values"] = arrays[item["values"]]
        return result, record

    def _call(self, arguments):
        try:
            done = subprocess.run(
                self.command + arguments, capture_output=True, text=True, timeout=self.timeout, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise EagerError(None, f"no answer within {self.timeout} s") from error
        if done.returncode != 0:
            raise EagerError(done.returncode, done.stderr)
        return done.stdout


def result_of(document, arrays):
    """A result, from the JSON object that the program printed and the arrays that it saved.

    :param dict[str,array] arrays: `NAME` (padded) and `NAME/length/DIM`, preferred where present
    """
    result = {
        "outputs": {name: _output(name, output, arrays) for name, output in document.get("outputs", {}).items()},
        "losses": document.get("losses", {}),
        "errors": document.get("errors", {}),
    }
    for key in ("losses", "errors"):
        result[key] = {name: {k: _number(v) for k, v in loss.items()} for name, loss in result[key].items()}
    for key in ("objective", "constraints"):
        if key in document:
            result[key] = _number(document[key])
    if "assigned" in document:
        result["assigned"] = {
            name.removesuffix("/param"): padded_array(values, depth_of(values), "float32")
            for name, values in document["assigned"].items()
        }
    if "gradients" in document:
        result["gradients"] = {
            name.removesuffix("/param"): padded_array(values, depth_of(values), "float32")
            for name, values in document["gradients"].items()
        }
    if "input_gradients" in document:
        result["input_gradients"] = {name: _output(name, value, {}) for name, value in document["input_gradients"].items()}
    return result


def _output(name, output, arrays):
    prefix = name + "/length/"
    lengths = {dim: numpy.asarray(value, dtype="int32") for dim, value in output.get("lengths", {}).items()}
    lengths |= {key[len(prefix) :]: value for key, value in arrays.items() if key.startswith(prefix)}
    if name in arrays:
        values = arrays[name]
    else:
        values = padded_array(output["values"], len(output["dims"]), output["dtype"])
        # of the longest sequence no frame need be there, where another dim leaves it none
        missing = [
            max(int(numpy.max(lengths[dim], initial=0)) - size, 0) if dim in lengths else 0
            for dim, size in zip(output["dims"], values.shape)
        ]
        values = numpy.pad(values, [(0, more) for more in missing])
    return {
        "values": values,
        "dims": output["dims"],
        "lengths": lengths,
        "length_dims": output.get("length_dims", {}),
        "dtype": output["dtype"],
        "sparse_dim": output.get("sparse_dim"),
        "sparse_size": output.get("sparse_size"),
    }


def padded_array(nested, rank, dtype):
    """Nested lists of any raggedness as an array of `rank` axes, zero where a list is short.

    JSON has no nan: null is read as nan, and "inf", "-inf", "nan" in any spelling that `float` reads.
    """
    dtype = object if dtype == "string" else numpy.dtype(dtype)
    array = numpy.zeros(_extent(nested, rank), dtype=dtype)

    def fill(part, index):
        if len(index) == rank:
            array[index] = _number(part) if array.dtype.kind == "f" else part
        else:
            for i, item in enumerate(part):
                fill(item, index + (i,))

    fill(nested, ())
    return array


def depth_of(nested):
    """How many axes nested lists have; an empty list counts as one."""
    depth = 0
    while isinstance(nested, list):
        depth += 1
        nested = nested[0] if nested else None
    return depth


def _extent(nested, rank):
    """Largest length at each of `rank` levels."""
    extent, level = [], [nested]
    for _ in range(rank):
        extent.append(max((len(part) for part in level), default=0))
        level = [item for part in level for item in part]
    return tuple(extent)


def _number(value):
    return float("nan") if value is None else float(value)


def write_npz(path, arrays):
    """An .npz file; unlike `numpy.savez` it takes every name."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(name + ".npy", "w") as file:
                numpy.lib.format.write_array(file, numpy.asarray(array), allow_pickle=False)


def read_npz(path):
    """name -> array."""
    with numpy.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
