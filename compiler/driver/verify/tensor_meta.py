"""What a RETURNN tensor says about itself: its dims, their lengths, its dtype and sparse dim."""


def kind_of(dim):
    """ "batch", "dynamic" or "static"."""
    if dim.is_batch_dim():
        return "batch"
    return "static" if dim.dimension is not None else "dynamic"


def name_of(dim):
    """The name a dim was declared with; "batch" for the batch dim, with or without a beam."""
    if dim.is_batch_dim():
        return "batch"
    return dim.name or dim.description or "unnamed"


def names_of(dims):
    """Names of a tensor's dims. Different dims of one name get "#2", "#3" behind it; one dim twice keeps its name."""
    names, seen = [], {}
    for dim in dims:
        same = seen.setdefault(name_of(dim), [])
        if dim not in same:
            same.append(dim)
        number = same.index(dim) + 1
        names.append(name_of(dim) if number == 1 else f"{name_of(dim)}#{number}")
    return names


def batch_first(dims):
    """Permutation of the axes that puts the batch dim first and keeps the order of the others."""
    return sorted(range(len(dims)), key=lambda axis: (not dims[axis].is_batch_dim(), axis))


def lengths_of(tensor, dim):
    """RETURNN tensor of the lengths of a dynamic dim of `tensor`, or None where RETURNN knows none."""
    if dim.dyn_size_ext is None or dim.dyn_size_ext.raw_tensor is None:
        dim.complete_dyn_size()
    if dim.dyn_size_ext is not None and dim.dyn_size_ext.raw_tensor is not None:
        return dim.dyn_size_ext
    other = dim.get_dyn_size_ext_for_batch_ctx(tensor.batch, tensor.control_flow_ctx) if tensor.batch else None
    return other if other is not None and other.raw_tensor is not None else None


def describe_dim(dim):
    """dict: name, kind, size (static dims only), entity (RETURNN's batch, spatial or feature)."""
    kind = kind_of(dim)
    return {
        "name": name_of(dim),
        "kind": kind,
        "size": dim.dimension if kind == "static" else None,
        "entity": dim.kind.name if dim.kind else None,
    }
