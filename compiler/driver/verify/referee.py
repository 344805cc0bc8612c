"""RETURNN as the referee: what a network dict computes, in the terms in which `compare` compares.

    network = Network("model.config.py")
    network.set_params({"lin/weight": w, "lin/bias": b})
    result = network.run({"data": x, "data/length/time": [7, 5, 2]}, train=False)

A *result* is a dict of plain data:

    {"outputs": {NAME: {"values": array, padded; batch first, the other axes as RETURNN has them,
                        "dims": [DIM, ...], "lengths": {DIM: array}, "length_dims": {DIM: [DIM, ...]},
                        "dtype": "float32", "sparse_dim": DIM or None, "sparse_size": int or None}},
     "losses": {NAME: {"sum": over valid frames, unscaled, "mean": RETURNN's normalised score}},
     "errors": the same for losses that are only reported,
     "objective": what the optimiser minimises (scaled losses and constraints), "constraints": its L2 part,
     "gradients": {PARAM: array} of the objective, zeros where it does not depend on the parameter,
     "input_gradients": {EXTERN: like an output} of the objective, for externs of floats,
     "layers": {NAME: like an output} of the layers that have a tensor, where some were asked for}

The batch dim is called "batch". "lengths" has an entry for each dynamic dim; "length_dims" names the axes of
that entry. Of different dims of one name the second is called NAME#2. Layers whose names begin with "." are none of the
user's outputs and left out. RETURNN's search puts the hypotheses into the batch; here they are a dim "beam" behind it.
"""

import numpy

from structure import graph_differences, structure_differences
from tf_network import TfNetwork, plain_name


class Network:
    """One model, constructed by RETURNN. Any number may live at a time; each has its own graph and session."""

    def __init__(self, source, kind="python", loader=None, search=False, seed=42, needed=()):
        """
        :param source: the config part (dims, extern_data, network, behavior_version, backend), a path or its text
        :param str kind: "python", "json" (tagged; with `loader`, the Python text of the loader) or "plain" (JSON)
        :param bool search: the search flag to construct it with; `run` can ask for the other one later
        :param int seed: of RETURNN and TensorFlow
        :param needed: names of layers that are to be constructed, where the dict has them and no output needs them
        """
        self._arguments = dict(source=source, kind=kind, loader=loader, seed=seed, needed=needed)
        self._first = TfNetwork(search=search, **self._arguments)
        self._built = {search: self._first}
        self._values = {}

    def params(self):
        """[{"name" (without "/param"), "shape", "dtype", "trainable"}] of all parameters, sorted by name."""
        built = self._first
        trainable = {plain_name(v) for v in built.trainable}
        return [
            {
                "name": name,
                "shape": tuple(v.shape.as_list()),
                "dtype": v.dtype.base_dtype.name,
                "trainable": name in trainable,
            }
            for name, v in sorted(built.variables.items())
        ]

    def externs(self):
        """name -> {"dims": [{"name", "kind", "size", "length_dims"}], "dtype", "sparse_dim", "sparse_size"}."""
        return {
            name: {
                "dims": [
                    {"name": d.name, "kind": d.kind, "size": d.size, "length_dims": d.length_dims} for d in extern.dims
                ],
                "dtype": extern.dtype,
                "sparse_dim": extern.sparse_dim,
                "sparse_size": extern.sparse_size,
            }
            for name, extern in self._first.externs.items()
        }

    def dims(self, inputs=None):
        """output name -> [{"name", "kind", "size", "entity"}] of its axes; with inputs also "lengths" where dynamic."""
        outputs = self._first.outputs
        described = {name: [dict(dim) for dim in output.described] for name, output in outputs.items()}
        if inputs is not None:
            ran = self.run(inputs, want_grads=False)["outputs"]
            for name, dims in described.items():
                for dim, key in zip(dims, ran[name]["dims"]):
                    if dim["kind"] == "dynamic":
                        dim["lengths"] = ran[name]["lengths"][key]
        return described

    def set_params(self, values):
        """Sets every parameter.

        :param dict[str,array] values: names with or without "/param"
        :raises ValueError: lists what is missing, left over or has another shape; nothing is set then
        """
        given = {plain_name(name): numpy.asarray(value) for name, value in values.items()}
        shapes = {item["name"]: item["shape"] for item in self.params()}
        problems = [f"missing: {name} {shapes[name]}" for name in sorted(set(shapes) - set(given))]
        problems += [f"left over: {name} {given[name].shape}" for name in sorted(set(given) - set(shapes))]
        problems += [
            f"shape: {name} is {given[name].shape}, the network has {shapes[name]}"
            for name in sorted(set(given) & set(shapes))
            if given[name].shape != shapes[name]
        ]
        if problems:
            raise ValueError("parameters: " + "; ".join(problems))
        self._values = given
        for built in self._built.values():
            built.assign(given)

    def get_params(self):
        """name -> current value, for example after `run(updates=True)`."""
        return self._first.read()

    def run(self, inputs, train=False, search=None, want_outputs=True, want_grads=True, updates=False, layers=()):
        """One step on one batch.

        :param dict[str,array] inputs: `NAME` (padded, axes in the order declared) and `NAME/length/DIM` (without it
            every sequence is full)
        :param bool train: RETURNN's train flag (dropout, batch norm, ...)
        :param bool|None search: the search flag, by default as constructed; the other one constructs the model once
            more. The search network has the train flag off, as in RETURNN's engine.
        :param layers: names of layers whose tensors are wanted, too
        :param bool updates: also do what RETURNN does behind a training step (running statistics); see `get_params`
        :return: a result (see the module)
        :raises ValueError: inputs that do not fit the externs
        """
        built = self._network(self._first.search if search is None else search)
        if train and built.search:
            raise ValueError("the search network has the train flag off")
        fetches = {
            "losses": built.losses,
            "errors": built.errors,
            "objective": built.objective,
            "constraints": built.constraints,
        }
        tensors = {"outputs": built.outputs if want_outputs else {}}
        if layers:
            found = {name: built.layer(name) for name in layers}
            tensors["layers"] = {name: layer for name, layer in found.items() if layer is not None}
        if want_grads:
            tensors["input_gradients"] = built.input_gradients()
        for part, outputs in tensors.items():
            fetches[part] = {name: (output.values, output.lengths) for name, output in outputs.items()}
        if want_grads:
            fetches["gradients"] = built.gradients()
        if updates:
            fetches["updates"] = built.update_ops
        got = built.run(fetches, inputs, train)
        result = {
            "losses": _floats(got["losses"]),
            "errors": _floats(got["errors"]),
            "objective": float(got["objective"]),
            "constraints": float(got["constraints"]),
            "gradients": got.get("gradients", {}),
        }
        for part, outputs in tensors.items():
            result[part] = {name: _tensor(output, *got[part][name]) for name, output in outputs.items()}
        return result

    def close(self):
        """Frees the sessions."""
        for built in self._built.values():
            built.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def _network(self, search):
        if search not in self._built:
            self._built[search] = TfNetwork(search=search, **self._arguments)
            self._built[search].assign(self._values)
        return self._built[search]


def network_differences(a, b, dim_names=True, exact=False):
    """How two constructed networks differ: layers with class, dims, dtype and sparse dim; parameters; operations.

    :param bool dim_names: False where one is plain JSON, which cannot name dims
    :param bool exact: compare the TensorFlow graphs node by node too, with all constants and names
    :return: list of lines, empty if equal
    """
    left, right = a._first, b._first
    lines = structure_differences(left.structure, right.structure, dim_names)
    return lines + (graph_differences(left.graph, right.graph, left.operations, right.operations) if exact else [])


def equal_networks(a, b, dim_names=True, exact=False):
    """Whether `network_differences` finds nothing."""
    return not network_differences(a, b, dim_names, exact)


def _tensor(output, values, lengths):
    """What was fetched of an output, as `compare` wants it."""
    tensor = {
        "values": numpy.transpose(values, output.order),
        "dims": output.dims,
        "lengths": lengths,
        "length_dims": output.length_dims,
        "dtype": output.dtype,
        "sparse_dim": output.sparse_dim,
        "sparse_size": output.sparse_size,
    }
    if output.beam is not None and "batch" in output.dims:
        _split_beam(tensor, output.beam)
    return tensor


def _split_beam(tensor, size):
    """Gives an output, and its lengths, the dim "beam"."""

    def split(array, dims):
        axis = dims.index("batch")
        shape = array.shape[:axis] + (-1, size) + array.shape[axis + 1 :]
        return array.reshape(shape), dims[: axis + 1] + ["beam"] + dims[axis + 1 :]

    lengths, length_dims = dict(tensor["lengths"]), dict(tensor["length_dims"])
    for dim, over in tensor["length_dims"].items():
        if "batch" in over:
            lengths[dim], length_dims[dim] = split(lengths[dim], over)
    tensor["values"], tensor["dims"] = split(tensor["values"], tensor["dims"])
    tensor.update(lengths=lengths, length_dims=length_dims)


def _floats(losses):
    """The same with Python floats. ValueError where RETURNN's score is no number (a loss over a dim without batch)."""
    for name, loss in losses.items():
        for key, value in loss.items():
            if numpy.ndim(value):
                raise ValueError(f"loss {name}: RETURNN's {key} is no scalar but has shape {numpy.shape(value)}")
    return {name: {key: float(value) for key, value in loss.items()} for name, loss in losses.items()}
