"""Which axis, input and dim of one side is which of the other, for `rcnc verify`."""

import numpy


def paired(theirs, ours, lacks_dims=False):
    """The two tensors with equal dims, in the order of the first one and with the names of the second one.

    Axes are paired by name, then by kind and size: what RETURNN calls a dim that the model does not declare is its own
    affair. None where that is not possible.

    :param bool lacks_dims: the first may lack dims of the second, along which it is the same
    """
    axes = _pairs(_axes(theirs), _axes(ours))
    rest = [axis for axis in range(len(ours["dims"])) if axis not in axes]
    if None in axes or (rest and not lacks_dims):
        return None
    names = {theirs["dims"][i]: ours["dims"][axis] for i, axis in enumerate(axes)}
    shape = numpy.shape(ours["values"])
    values = numpy.asarray(theirs["values"])
    values = numpy.broadcast_to(
        values.reshape(values.shape + (1,) * len(rest)), values.shape + tuple(shape[axis] for axis in rest)
    )
    lengths = {names.get(dim, dim): value for dim, value in theirs["lengths"].items()}
    length_dims = {names.get(dim, dim): [names.get(d, d) for d in over] for dim, over in theirs["length_dims"].items()}
    for dim in (ours["dims"][axis] for axis in rest):
        if dim in ours["lengths"]:
            lengths[dim] = ours["lengths"][dim]
            length_dims[dim] = ours["length_dims"].get(dim, [])
    order = axes + rest
    dims = [ours["dims"][axis] for axis in order]
    left = dict(theirs, values=values, dims=dims, lengths=lengths, length_dims=length_dims)
    if (left["sparse_dim"] is None) == (ours["sparse_dim"] is None):
        left["sparse_dim"] = ours["sparse_dim"]
    right = dict(ours, values=numpy.transpose(ours["values"], order), dims=left["dims"])
    return left, right


def inputs_for(externs, given):
    """What RETURNN is fed.

    :param externs: as `referee.Network.externs` gives them
    :param given: inputs of the eager run: "name", "key", "values" and "tensor"
    :return: `NAME` and `NAME/length/DIM` -> array
    :raises LookupError: names what does not fit
    """
    by_key = {item["key"]: item for item in given}
    inputs = {}
    for name, extern in externs.items():
        if name not in by_key:
            continue
        tensor, values = by_key[name]["tensor"], by_key[name]["values"]
        theirs = [(dim["name"], dim["kind"], dim["size"]) for dim in extern["dims"]]
        axes = _pairs(theirs, _axes(dict(tensor, values=values)))
        if None in axes or len(axes) != len(tensor["dims"]):
            raise LookupError(f"input `{name}` has the dims {tensor['dims']}, there {[dim[0] for dim in theirs]}")
        inputs[name] = numpy.transpose(values, axes)
        for dim, axis in zip(extern["dims"], axes):
            if dim["kind"] == "dynamic":
                lengths = tensor["lengths"][tensor["dims"][axis]]
                inputs[f"{name}/length/{dim['name']}"] = numpy.asarray(lengths, dtype="int32")
    return inputs


def _axes(tensor):
    """(name, kind, size) of each axis; no size of dynamic ones."""
    result = []
    for dim, size in zip(tensor["dims"], numpy.shape(tensor["values"])):
        kind = "batch" if dim == "batch" else "dynamic" if dim in tensor["lengths"] else "static"
        result.append((dim, kind, size if kind == "static" else None))
    return result


def _pairs(left, right):
    """For each axis of `left` that of `right`, or None: those of equal name first, then in order."""
    result, used = [None] * len(left), set()
    for key in (lambda axis: axis, lambda axis: axis[1:]):
        for i, axis in enumerate(left):
            if result[i] is None:
                fits = (k for k, other in enumerate(right) if k not in used and key(other) == key(axis))
                result[i] = next(fits, None)
                used.add(result[i])
    return result
