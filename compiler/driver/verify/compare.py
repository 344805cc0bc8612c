"""Compares two results (see `referee`): what RETURNN computes and what the eager run does.

Names, dims, lengths and dtypes must be equal; values count on valid frames only. The order of a tensor's axes does not
count: axes are paired by dim name (or, where one side has no names, by kind and size).
"""

import numpy

from inputs import mask_of_axis

OUTPUT_TOLERANCE = 1e-4
GRADIENT_TOLERANCE = 1e-3
FLOOR = 1e-2
"""Errors are relative to the largest value, but to no less than this: outputs that are zero but for rounding."""

GRADIENT_FLOOR = 1e-3
"""The same for gradients, as a part of the largest gradient of all parameters (and no less than 1e-6 in all)."""


def compare(
    expected,
    actual,
    output_tolerance=OUTPUT_TOLERANCE,
    gradient_tolerance=GRADIENT_TOLERANCE,
    floor=FLOOR,
    dim_names=True,
    ignore=(),
):
    """How two results differ; parts that one of them lacks as a whole (no "gradients" key) are not compared.

    :param dict expected: RETURNN's
    :param dict actual: the eager run's
    :param float output_tolerance: also for losses, errors and the objective
    :param bool dim_names: False where a side has no names for dims: pairs axes by kind, lengths and size
    :param ignore: names of outputs and losses that do not count. The tensor of a loss, listed as an output on one side
        only, never does.
    :return: list of lines, empty if equal
    """
    lines = []
    marks = {name for result in (expected, actual) for part in ("losses", "errors") for name in result.get(part, {})}
    for name, left, right in _pairs(expected, actual, "outputs", ignore, lines, optional=marks):
        lines += [f"outputs: {name}: {line}" for line in _tensors(left, right, output_tolerance, floor, dim_names)]
    for part in ("losses", "errors"):
        for name, left, right in _pairs(expected, actual, part, ignore, lines):
            for key in ("sum", "mean"):
                line = _values(left[key], right[key], output_tolerance, floor)
                lines += [f"{part}: {name}: {key}: {line}"] if line else []
    for part in ("objective", "constraints"):
        if part in expected and part in actual:
            line = _values(expected[part], actual[part], output_tolerance, floor)
            lines += [f"{part}: {line}"] if line else []
    found = [*expected.get("gradients", {}).values(), *(_valid(t) for t in expected.get("input_gradients", {}).values())]
    grad_floor = max(GRADIENT_FLOOR * max(map(_largest, found), default=0.0), 1e-6)
    for name, left, right in _pairs(expected, actual, "gradients", (), lines):
        if numpy.shape(left) != numpy.shape(right):
            lines.append(f"gradients: {name}: shape {numpy.shape(left)} != {numpy.shape(right)}")
            continue
        line = _values(left, right, gradient_tolerance, grad_floor)
        lines += [f"gradients: {name}: {line}"] if line else []
    read = expected.get("input_gradients", {}).keys() | actual.get("input_gradients", {}).keys()  # one may read less
    for name, left, right in _pairs(expected, actual, "input_gradients", (), lines, optional=read):
        lines += [f"input_gradients: {name}: {line}" for line in _tensors(left, right, gradient_tolerance, grad_floor, dim_names)]
    return lines


def differences(left, right, tolerance=OUTPUT_TOLERANCE, floor=FLOOR, dim_names=True):
    """How two tensors differ (see `referee`): a list of lines, empty if they are equal."""
    return _tensors(left, right, tolerance, floor, dim_names)


def largest_difference(left, right):
    """(index, value in `left`, value in `right`) where two tensors whose axes are the same differ most."""
    left, right = _cut(left), _cut(right)
    a, b = numpy.asarray(left["values"]), numpy.asarray(right["values"])
    with numpy.errstate(invalid="ignore", over="ignore"):
        size = numpy.abs(a.astype("float64") - b.astype("float64"))
    one_sided = numpy.isnan(size) & ~(numpy.isnan(a.astype("float64")) & numpy.isnan(b.astype("float64")))
    size = numpy.where(one_sided & (a != b), numpy.inf, numpy.nan_to_num(size, nan=0.0, posinf=numpy.inf))
    size = numpy.where(valid_mask(left), size, -1.0)
    index = tuple(int(i) for i in numpy.unravel_index(int(size.argmax()), size.shape)) if size.ndim else ()
    return index, a[index], b[index]


def valid_mask(tensor):
    """Array of bool of the shape of an output's values: False in the padding.

    Where lengths depend on dims that the tensor does not have, a frame counts if it does for one of their entries (one
    of the sequences).
    """
    names, shape = list(tensor["dims"]), list(tensor["values"].shape)
    lengths = {name: numpy.asarray(value) for name, value in tensor["lengths"].items() if name in names}
    for name, value in lengths.items():
        for dim, size in zip(length_dims_of(tensor, name), value.shape):
            if dim not in names:
                names.append(dim)
                shape.append(size)
    mask = numpy.ones(shape, dtype=bool)
    for axis, name in enumerate(names):
        if name in tensor["lengths"]:
            value = numpy.asarray(tensor["lengths"][name])
            mask &= mask_of_axis(shape, axis, names, value, length_dims_of(tensor, name))
    return mask.any(axis=tuple(range(len(tensor["dims"]), len(names))))


def length_dims_of(tensor, name):
    """The dims over which the lengths of a dynamic dim are given: as said, else batch or none."""
    given = tensor.get("length_dims", {}).get(name)
    return given if given is not None else ["batch"][: numpy.ndim(tensor["lengths"][name])]


def sequence_of(result, index):
    """The outputs of sequence `index` alone, as a result with only "outputs"; those without batch dim stay whole."""
    outputs = {}
    for name, tensor in result["outputs"].items():
        tensor = outputs[name] = dict(tensor)
        if "batch" not in tensor["dims"]:
            continue
        tensor["values"] = tensor["values"].take([index], axis=tensor["dims"].index("batch"))
        tensor["lengths"] = {
            dim: numpy.asarray(value).take([index], axis=length_dims_of(tensor, dim).index("batch"))
            if "batch" in length_dims_of(tensor, dim)
            else value
            for dim, value in tensor["lengths"].items()
        }
    return {"outputs": outputs}


def _pairs(expected, actual, part, ignore, lines, optional=()):
    """(name, left, right) of what both have; notes names that one lacks."""
    if part not in expected or part not in actual:
        return
    left, right = expected[part], actual[part]
    for name in sorted((set(left) | set(right)) - set(ignore)):
        if name in left and name in right:
            yield name, left[name], right[name]
        elif name not in optional:
            lines.append(f"{part}: {name} only in the {'first' if name in left else 'second'}")


def _tensors(left, right, tolerance, floor, dim_names):
    lines = [] if left["dtype"] == right["dtype"] else [f"dtype {left['dtype']} != {right['dtype']}"]
    lines += _sparse(left, right, dim_names)
    order, problem = _pair_axes(left, right, dim_names)
    if problem:
        return lines + [problem]
    left, right = _cut(left), _cut(_transposed(right, order))
    for axis, (name, other) in enumerate(zip(left["dims"], right["dims"])):
        if (name in left["lengths"]) != (other in right["lengths"]):
            lines.append(f"dim {name} is dynamic in the {'first' if name in left['lengths'] else 'second'} only")
        elif name in left["lengths"]:
            a, b = (_lengths_over(tensor, key) for tensor, key in ((left, name), (right, other)))
            if not _equal_lengths(a, b, _counting(left, {*length_dims_of(left, name), *length_dims_of(right, other)})):
                lines.append(f"lengths of {name} {numpy.squeeze(a).tolist()} != {numpy.squeeze(b).tolist()}")
        elif left["values"].shape[axis] != right["values"].shape[axis]:
            lines.append(f"size of {name} {left['values'].shape[axis]} != {right['values'].shape[axis]}")
    if lines:
        return lines
    if left["values"].shape != right["values"].shape:
        return [f"padded shape {left['values'].shape} != {right['values'].shape} is less than the lengths"]
    line = _values(left["values"], right["values"], tolerance, floor, valid_mask(left))
    return [line] if line else []


def _sparse(left, right, dim_names):
    """Differences of the sparse dims: names and sizes as far as both sides tell them."""
    lines = []
    if (left.get("sparse_dim") is None) != (right.get("sparse_dim") is None) or (
        dim_names and left.get("sparse_dim") != right.get("sparse_dim")
    ):
        lines.append(f"sparse_dim {left.get('sparse_dim')} != {right.get('sparse_dim')}")
    sizes = left.get("sparse_size"), right.get("sparse_size")
    if None not in sizes and sizes[0] != sizes[1]:
        lines.append(f"sparse size {sizes[0]} != {sizes[1]}")
    return lines


def _pair_axes(left, right, dim_names):
    """For each axis of `left` the one of `right`, or a problem. What occurs twice is paired in order."""
    keys = left["dims"] if dim_names else _signatures(left)
    others = right["dims"] if dim_names else _signatures(right)
    if sorted(map(repr, keys)) != sorted(map(repr, others)):
        return None, f"dims {keys} != {others}"
    used, order = set(), []
    for key in keys:
        axis = next(i for i, other in enumerate(others) if other == key and i not in used)
        used.add(axis)
        order.append(axis)
    return order, None


def _signatures(tensor):
    """What can be known of each axis without its name."""
    result = []
    for axis, name in enumerate(tensor["dims"]):
        if name == "batch":
            result.append("batch")
        elif name in tensor["lengths"]:
            result.append(("dynamic", tuple(numpy.asarray(tensor["lengths"][name]).ravel().tolist())))
        else:
            result.append(("static", tensor["values"].shape[axis]))
    return result


def _transposed(tensor, order):
    return dict(tensor, values=numpy.transpose(tensor["values"], order), dims=[tensor["dims"][i] for i in order])


def _lengths_over(tensor, name):
    """Lengths with the axes of the tensor, size 1 where they do not depend on one; the longest along what it lacks."""
    dims, over = tensor["dims"], length_dims_of(tensor, name)
    lengths = numpy.asarray(tensor["lengths"][name])
    lengths = lengths.max(axis=tuple(i for i, dim in enumerate(over) if dim not in dims), initial=0)
    over = [dim for dim in over if dim in dims]
    order = sorted(range(len(over)), key=lambda i: dims.index(over[i]))
    lengths = numpy.transpose(lengths, order)
    return lengths.reshape([lengths.shape[order.index(over.index(dim))] if dim in over else 1 for dim in dims])


def _counting(tensor, dims):
    """Bools that broadcast to the tensor: False for entries of the dims that are padding themselves."""
    shape, names = tensor["values"].shape, tensor["dims"]
    mask = numpy.ones([1] * len(shape), dtype=bool)
    for name in dims & set(names) & set(tensor["lengths"]):
        over = length_dims_of(tensor, name)
        own = [size if dim == name or dim in over else 1 for dim, size in zip(names, shape)]
        lengths = numpy.asarray(tensor["lengths"][name])
        mask = mask & mask_of_axis(own, names.index(name), names, lengths, over)
    return mask


def _equal_lengths(a, b, counting):
    """Equal where they count, also where one of them depends on fewer dims."""
    if a.ndim != b.ndim or any(m != n and 1 not in (m, n) for m, n in zip(a.shape, b.shape)):
        return False
    return bool(numpy.all((a == b) | ~counting))


def _cut(tensor):
    """Without padding that no sequence needs."""
    values, sizes = tensor["values"], {}
    for axis, name in enumerate(tensor["dims"]):
        if name in tensor["lengths"]:
            sizes[name] = min(values.shape[axis], int(numpy.max(tensor["lengths"][name], initial=0)))
            values = values.take(range(sizes[name]), axis=axis)
    lengths = {name: numpy.asarray(value) for name, value in tensor["lengths"].items()}
    for name, value in lengths.items():
        for axis, over in enumerate(length_dims_of(tensor, name)):
            if over in sizes:
                value = value.take(range(sizes[over]), axis=axis)
        lengths[name] = value
    return dict(tensor, values=values, lengths=lengths)


def _values(left, right, tolerance, floor, mask=None):
    """A line about the largest error of two arrays of one shape where `mask` holds, or None."""
    left, right = numpy.asarray(left), numpy.asarray(right)
    mask = numpy.ones(left.shape, dtype=bool) if mask is None else mask
    if not {left.dtype.kind, right.dtype.kind} <= {"f", "c"}:
        wrong = mask & (left != right)
        return _line(left, right, wrong, f"{int(wrong.sum())} of {int(mask.sum())} values differ")
    with numpy.errstate(invalid="ignore", over="ignore"):
        wide = "complex128" if "c" in (left.dtype.kind, right.dtype.kind) else "float64"
        a, b = left.astype(wide), right.astype(wide)
        finite = numpy.isfinite(a) & numpy.isfinite(b)
        same = (numpy.isnan(a) & numpy.isnan(b)) | (a == b)
        odd = mask & ~finite & ~same
        error = numpy.where(mask & finite, numpy.abs(a - b), 0.0) / max(_largest(a, mask), floor)
    if odd.any():
        return _line(left, right, odd, f"{int(odd.sum())} values are nan or infinite on one side only")
    worst = error == error.max(initial=0.0)
    message = f"relative error {error.max(initial=0.0):.2g} > {tolerance:g}"
    return _line(left, right, worst, message) if error.max(initial=0.0) > tolerance else None


def _valid(tensor):
    """The values of a tensor that count."""
    tensor = _cut(tensor)
    return numpy.asarray(tensor["values"])[valid_mask(tensor)]


def _largest(array, mask=True):
    values = numpy.abs(numpy.asarray(array)).astype("float64")
    return float(numpy.max(values, where=mask & numpy.isfinite(values), initial=0.0))


def _line(left, right, wrong, message):
    if not wrong.any():
        return None
    index = tuple(int(i) for i in numpy.argwhere(wrong)[0]) if wrong.ndim else ()
    return f"{message}, at {list(index)}: {left[index]} != {right[index]}"
