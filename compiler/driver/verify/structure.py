"""What a constructed network consists of, as plain data, and the difference of two."""

import collections

from tensor_meta import describe_dim


def structure_of(network, graph, trainable):
    """The layers, parameters and operations of a RETURNN TFNetwork in its TensorFlow graph.

    :param trainable: its trainable variables
    :return: dict: "layers": absolute name -> {"class", "dtype", "sparse_dim", "dims"}, "params": name -> {"shape",
        "dtype", "trainable"}, "operations": TensorFlow operation type -> {"count"}
    """
    trainable = {v.name for v in trainable}
    counts = collections.Counter(op.type for op in graph.get_operations())
    return {
        "layers": {layer.get_absolute_name(): _layer(layer) for layer in network.get_all_layers_deep()},
        "params": {
            v.name.rsplit(":", 1)[0]: {
                "shape": tuple(v.shape.as_list()),
                "dtype": v.dtype.base_dtype.name,
                "trainable": v.name in trainable,
            }
            for v in variables_of(network)
        },
        "operations": {name: {"count": count} for name, count in counts.items()},
    }


def variables_of(network):
    """The variables of all layers, each once; as `get_params_list` of RETURNN, which takes quadratic time."""
    layers = network.get_all_layers_deep()
    return list({v.name: v for layer in layers for _, v in sorted(layer.params.items())}.values())


def structure_differences(a, b, dim_names=True):
    """Lines that say how two results of `structure_of` differ; empty if they do not.

    :param bool dim_names: False where one side cannot name its dims (plain JSON): kinds and sizes only
    """
    lines = []
    for part in ("layers", "params", "operations"):
        for name in sorted(set(a[part]) | set(b[part])):
            left, right = a[part].get(name), b[part].get(name)
            if left is None or right is None:
                lines.append(f"{part}: {name} only in the {'second' if left is None else 'first'}")
                continue
            if not dim_names and part == "layers":
                left, right = _without_names(left), _without_names(right)
            for key in left:
                if left[key] != right[key]:
                    lines.append(f"{part}: {name}: {key} {left[key]} != {right[key]}")
    return lines


def graph_differences(a, b, count_a, count_b):
    """Differences of two TensorFlow graphs, node by node, constants included; stricter than `structure_differences`.

    :param int count_a: how many of the operations of `a`, in the order of their creation, count; `count_b` likewise
    """
    left, right = (
        {node.name: node for node in graph.as_graph_def().node[:count]} for graph, count in ((a, count_a), (b, count_b))
    )
    for node in [*left.values(), *right.values()]:
        node.attr.pop("_gradient_op_type", None)  # a number that TensorFlow counts up, such as of each swish
    lines = []
    for name in sorted(set(left) | set(right)):
        if name not in left or name not in right:
            lines.append(f"graph: {name} only in the {'first' if name in left else 'second'}")
        elif left[name] != right[name]:
            lines.append(f"graph: node {name} differs")
    return lines


def _layer(layer):
    output = layer.output
    return {
        "class": layer.layer_class,
        "dtype": output.dtype,
        "sparse_dim": None if output.sparse_dim is None else _dim(output.sparse_dim),
        "dims": [_dim(dim) for dim in output.dims],
    }


def _dim(dim):
    described = describe_dim(dim)
    return described["kind"], described["size"], described["name"]


def _without_names(layer):
    result = dict(layer, dims=[dim[:2] for dim in layer["dims"]])
    if layer["sparse_dim"]:
        result["sparse_dim"] = layer["sparse_dim"][:2]
    return result
