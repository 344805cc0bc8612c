#include "compiler/emit/emit.h"

namespace rcn {

std::string_view loader_text() {
  return R"python(#!rnn.py
"""Turns a network that rcnc wrote as tagged JSON (`--json`) into what its Python form gives.

As a config file behind the JSON on RETURNN's command line (`rnn.py net.json rcnc_loader.py train.config`), or from a
Python config, which also spares RETURNN's slow reading of long JSON files:

    from rcnc_loader import load_config
    globals().update(load_config("net.json"))
"""


def load_config(source):
    """
    :param str|os.PathLike|dict[str] source: a path, JSON text (it begins with "{"), or what JSON text decodes to
    :return: config values: backend, behavior_version, extern_data, network (those that the source has)
    :rtype: dict[str]
    """
    import json
    import sys
    from returnn.tensor import Dim, batch_dim, single_step_dim

    if isinstance(source, dict):
        values = dict(source)
    elif isinstance(source, str) and source.lstrip().startswith("{"):
        values = json.loads(source)
    else:
        with open(source, encoding="utf8") as file:
            values = json.load(file)

    # RETURNN constructs the body of a loop or branch by recursion.
    sys.setrecursionlimit(max(sys.getrecursionlimit(), values.pop("rcnc_recursion_limit", 0)))

    dims = {"batch_dim": batch_dim, "single_step_dim": single_step_dim}
    for name, dim in values.pop("rcnc_dims").items():
        if dim:
            dims[name] = Dim(dim["size"], name=dim["name"], kind=getattr(Dim.Types, dim["kind"].capitalize()))

    def decode(value):
        if isinstance(value, list):
            return [decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "$dim" in value:
            dim = dims[value["$dim"]]
            return dim.copy(match_priority=value["match_priority"]) if "match_priority" in value else dim
        if "$set" in value:
            return {decode(item) for item in value["$set"]}
        if "$tuple" in value:
            return tuple(decode(item) for item in value["$tuple"])
        if "$map" in value:
            return {decode(key): decode(item) for key, item in value["$map"]}
        # A key of the network's own that begins with "$" was written with one more.
        return {key[1:] if key.startswith("$$") else key: decode(item) for key, item in value.items()}

    return {key: decode(value) if key in ("extern_data", "network") else value for key, value in values.items()}


if "rcnc_dims" in globals():  # RETURNN's config namespace, behind the JSON
    _keys = ("rcnc_dims", "rcnc_recursion_limit", "extern_data", "network")
    globals().update(load_config({key: globals()[key] for key in _keys if key in globals()}))
    globals().pop("rcnc_recursion_limit", None)
    del rcnc_dims, load_config, _keys
)python";
}

}  // namespace rcn
