"""Inputs and parameters for a model: random ones, and variants of inputs that must not change a result.

*Inputs* are a dict of arrays, `NAME` (padded) and `NAME/length/DIM`. *Externs* describe them, as `Network.externs`
does: name -> {"dims": [{"name", "kind": "batch" | "dynamic" | "static", "size", "length_dims"}], "dtype",
"sparse_size"}.
"""

import re
import zlib

import numpy

_POSITIVE = re.compile(r"(scale|gamma|variance|std|stddev)$")


QUIET = 0.02
"""Factor of the quiet frames of random inputs: only where the variance is small does a wrong epsilon show."""


def random_inputs(externs, seed, batch=3, longest=7, lengths=None, ranges=None):
    """Padded inputs whose sequences have different lengths; the padding is zero. About a quarter of the frames of
    float inputs is quiet.

    :param int longest: of a dynamic dim; the sequences get different lengths from there down, in random order
    :param dict[str,array]|None lengths: by DIM, in place of random ones
    :param dict[str,tuple[int,int]]|None ranges: by NAME, first and last value of an int input that is not sparse
        (default 0 .. 9)
    """
    rng = numpy.random.default_rng(seed)
    lengths = dict(lengths or {})
    inputs = {}
    for name, extern in sorted(externs.items()):
        sizes = {dim["name"]: dim["size"] for dim in extern["dims"] if dim["kind"] == "static"}
        sizes["batch"] = batch
        for dim in extern["dims"]:
            if dim["kind"] == "dynamic":
                value = _lengths(dim, lengths, sizes, longest, rng)
                sizes[dim["name"]] = int(value.max())
                inputs[f"{name}/length/{dim['name']}"] = value
        shape = [sizes[dim["name"]] for dim in extern["dims"]]
        inputs[name] = _random_values(extern, shape, rng, (ranges or {}).get(name, (0, 9)))
    return poisoned(inputs, externs, 0)


def poisoned(inputs, externs, value=1e3, seed=0):
    """The same inputs with other padding: `value` in float inputs (nan is fine), other legal values in all others.

    :param float value: 0 means zeros everywhere
    """
    rng = numpy.random.default_rng(seed)
    result = dict(inputs)
    for name, extern in externs.items():
        array = numpy.array(inputs[name])
        padding = ~frame_mask(inputs, name, extern)
        if value == 0 or array.dtype.kind == "f":
            array[padding] = value
        elif padding.any() and not padding.all():
            legal = array[~padding] if extern.get("sparse_size") is None else numpy.arange(extern["sparse_size"])
            array[padding] = rng.choice(legal, size=int(padding.sum()))
        result[name] = array
    return result


def single(inputs, externs, index):
    """Sequence `index` alone: batch size 1, cut to its own lengths. Inputs without batch dim stay as they are."""
    result = {}
    for name, extern in externs.items():
        kept = {"batch": [index]}  # indices by dim; those without an entry stay whole
        for dim in sorted(extern["dims"], key=lambda dim: len(dim["length_dims"])):
            key = f"{name}/length/{dim['name']}"
            if dim["kind"] == "dynamic" and key in inputs:
                result[key] = _take(inputs[key], dim["length_dims"], kept)
                kept[dim["name"]] = range(int(result[key].max(initial=0)))
        result[name] = _take(inputs[name], [dim["name"] for dim in extern["dims"]], kept)
    return result


def frame_mask(inputs, name, extern):
    """Array of bool of the shape of `inputs[name]`: False in the padding."""
    shape = numpy.shape(inputs[name])
    names = [dim["name"] for dim in extern["dims"]]
    mask = numpy.ones(shape, dtype=bool)
    for axis, dim in enumerate(extern["dims"]):
        key = f"{name}/length/{dim['name']}"
        if dim["kind"] == "dynamic" and key in inputs:
            mask &= mask_of_axis(shape, axis, names, numpy.asarray(inputs[key]), dim["length_dims"])
    return mask


def mask_of_axis(shape, axis, names, lengths, length_dims):
    """Array of bool that broadcasts to `shape`: whether an index on `axis` is below its length.

    :param names: dims of the tensor, in the order of its axes
    :param numpy.ndarray lengths: over `length_dims`; of those that the tensor does not have the longest counts
    """
    for position in reversed(range(len(length_dims))):
        if length_dims[position] not in names:
            lengths = lengths.max(axis=position)
    present = [names.index(dim) for dim in length_dims if dim in names]
    lengths = lengths.transpose(numpy.argsort(present))
    spread = [shape[i] if i in present else 1 for i in range(len(shape))]
    index = numpy.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return index < lengths.reshape(spread)


def random_parameters(params, seed):
    """Values that show every mistake: scaled by fan-in, no zero biases, scales and variances positive around 1.

    A value depends on the seed and the parameter's name only.

    :param params: [{"name", "shape", "dtype"}], as `Network.params` gives
    :return: dict name -> array
    """
    return {item["name"]: _random_parameter(item, seed) for item in params}


def _random_parameter(item, seed):
    name, shape, dtype = item["name"].removesuffix("/param"), tuple(item["shape"]), numpy.dtype(item["dtype"])
    rng = numpy.random.default_rng([seed, zlib.crc32(name.encode())])
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        return rng.integers(1, 4, size=shape).astype(dtype)
    if _POSITIVE.search(name):
        return rng.uniform(0.7, 1.4, size=shape).astype(dtype)
    if len(shape) >= 2:
        fan_in = max(int(numpy.prod(shape[:-1])), 1)
        return (rng.standard_normal(shape) / numpy.sqrt(fan_in)).astype(dtype)
    return (rng.uniform(0.1, 0.3, size=shape) * rng.choice([-1, 1], size=shape)).astype(dtype)


def _take(array, names, kept):
    """`array`, with axes called `names`, at the indices that `kept` has for some of them."""
    array = numpy.asarray(array)
    for axis, name in enumerate(names):
        if name in kept:
            array = array.take(kept[name], axis=axis)
    return array


def _lengths(dim, lengths, sizes, longest, rng):
    """Lengths of a dim over its length dims; the same ones wherever the dim occurs."""
    if dim["name"] not in lengths:
        shape = [sizes[name] for name in dim["length_dims"]]
        count = int(numpy.prod(shape))
        values = numpy.maximum(longest - numpy.arange(count) * max(1, longest // max(count, 1)), 1)
        lengths[dim["name"]] = rng.permutation(values).reshape(shape)
    return numpy.asarray(lengths[dim["name"]], dtype="int32")


def _random_values(extern, shape, rng, bounds):
    if extern.get("sparse_size") is not None:
        return rng.integers(0, extern["sparse_size"], size=shape).astype(extern["dtype"])
    dtype = numpy.dtype(extern["dtype"])
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        return rng.integers(bounds[0], bounds[1] + 1, size=shape).astype(dtype)
    values = rng.standard_normal(shape)
    if len(shape) > 2:
        values *= rng.choice([1, 1, 1, QUIET], size=shape[:-1] + [1])
    return values.astype(dtype)
