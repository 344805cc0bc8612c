"""From named input arrays to what a TensorFlow session is fed."""

import dataclasses
from typing import List, Optional

import numpy

from tensor_meta import kind_of, name_of


@dataclasses.dataclass
class ExternDim:
    """One axis of an extern. `length`: TensorFlow placeholder of a dynamic dim's lengths, over `length_dims`."""

    name: str
    kind: str  # "batch", "dynamic" or "static"
    size: Optional[int]  # of a static dim
    length: object = None
    length_dims: List[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Extern:
    """One input of a network; `dims` in the order of its array's axes."""

    name: str
    dims: List[ExternDim]
    dtype: str
    sparse_dim: Optional[str]
    sparse_size: Optional[int]
    placeholder: object


def externs_of(extern_data):
    """name -> Extern, of RETURNN's ExternData with placeholders."""
    return {name: _extern(name, data) for name, data in extern_data.data.items()}


def _extern(name, data):
    dims = []
    for dim in data.dims:
        kind = kind_of(dim)
        item = ExternDim(name_of(dim), kind, dim.dimension if kind == "static" else None)
        if kind == "dynamic":
            item.length = dim.dyn_size_ext.raw_tensor
            item.length_dims = [name_of(d) for d in dim.dyn_size_ext.dims]
        dims.append(item)
    sparse = data.sparse_dim
    return Extern(
        name,
        dims,
        data.dtype,
        sparse_dim=name_of(sparse) if sparse is not None else None,
        sparse_size=sparse.dimension if sparse is not None else None,
        placeholder=data.raw_tensor,
    )


def feed_dict(externs, inputs, needed=()):
    """What to feed, and the batch size.

    :param dict[str,Extern] externs:
    :param dict[str,numpy.ndarray] inputs: `NAME` (padded, axes in the extern's order) and `NAME/length/DIM`. Without
        lengths every sequence is full. Where an extern has one dynamic dim, any DIM will do (plain JSON has no names).
    :param needed: externs that must be there
    :return: (placeholder -> array, batch size or None)
    :raises ValueError: unknown or missing names, wrong shapes, dims of two sizes, lengths that contradict
    """
    unknown = sorted(key for key in inputs if key.split("/length/")[0] not in externs)
    missing = sorted(set(needed) - set(inputs))
    if unknown or missing:
        raise ValueError(f"inputs: unknown {unknown}, missing {missing}; the network has {sorted(externs)}")
    given_externs = {name: extern for name, extern in externs.items() if name in inputs}
    feed = {}
    sizes = _Once("size")
    lengths = _Once("lengths")
    for name, extern in given_externs.items():
        feed[extern.placeholder] = array = _array(extern, inputs[name])
        for dim, size in zip(extern.dims, array.shape):
            sizes.set(_dim_key(dim), int(size), f"dim {dim.name} of {name}")
    for name, extern in given_externs.items():
        given = _given_lengths(extern, inputs)
        for dim in extern.dims:
            if dim.kind == "dynamic" and dim.name in given:
                value = numpy.asarray(given[dim.name], dtype="int32")
                lengths.set(_dim_key(dim), value, f"dim {dim.name} of {name}")
                _check_lengths(extern, dim, value, sizes.values)
    for extern in given_externs.values():
        for dim in extern.dims:
            if dim.kind == "dynamic":
                full = numpy.full(_length_shape(extern, dim, sizes.values), sizes.values[_dim_key(dim)], dtype="int32")
                feed[dim.length] = lengths.values.get(_dim_key(dim), full)
    return feed, sizes.values.get("batch")


class _Once:
    """Values by dim; setting another one than before is an error that names both places."""

    def __init__(self, what):
        self.what, self.values, self.places = what, {}, {}

    def set(self, key, value, place):
        if key in self.values and not numpy.array_equal(self.values[key], value):
            raise ValueError(f"{self.what} {value} of {place}, but {self.values[key]} of {self.places[key]}")
        self.values[key] = value
        self.places[key] = place


def _dim_key(dim):
    """What makes two axes of externs the same dim: the placeholder of the lengths, else the name."""
    if dim.kind == "batch":
        return "batch"
    return id(dim.length) if dim.kind == "dynamic" else ("static", dim.name, dim.size)


def _array(extern, value):
    array = numpy.asarray(value)
    if array.ndim != len(extern.dims):
        names = [dim.name for dim in extern.dims]
        raise ValueError(f"{extern.name}: array of shape {array.shape} for dims {names}")
    for dim, size in zip(extern.dims, array.shape):
        if dim.kind == "static" and dim.size != size:
            raise ValueError(f"{extern.name}: size {size} of dim {dim.name}, which has {dim.size}")
    if extern.dtype == "string":
        return array.astype(object)
    if not numpy.can_cast(array.dtype, extern.dtype, casting="same_kind"):
        raise ValueError(f"{extern.name}: dtype {array.dtype} for {extern.dtype}")
    return array.astype(extern.dtype)


def _given_lengths(extern, inputs):
    """DIM -> lengths, as far as given."""
    prefix = extern.name + "/length/"
    given = {key[len(prefix) :]: value for key, value in inputs.items() if key.startswith(prefix)}
    dynamic = [dim.name for dim in extern.dims if dim.kind == "dynamic"]
    if len(dynamic) == 1 and len(given) == 1:
        return {dynamic[0]: next(iter(given.values()))}
    unknown = sorted(set(given) - set(dynamic))
    if unknown:
        raise ValueError(f"{extern.name}: lengths for {unknown}; its dynamic dims are {dynamic}")
    return given


def _length_shape(extern, dim, sizes):
    by_name = {other.name: _dim_key(other) for other in extern.dims}
    return tuple(sizes[by_name[name]] for name in dim.length_dims)


def _check_lengths(extern, dim, value, sizes):
    shape = _length_shape(extern, dim, sizes)
    if value.shape != shape:
        raise ValueError(f"{extern.name}: lengths of {dim.name} have shape {value.shape}, not {shape}")
    size = sizes[_dim_key(dim)]
    if value.size and (value.min() < 0 or value.max() > size):
        raise ValueError(f"{extern.name}: lengths {value.tolist()} of {dim.name} exceed the padded size {size}")
