"""RETURNN and TensorFlow in this process: imported once, and their globals reset before each network.

Importing this module takes a few seconds. It sets environment variables that TensorFlow reads at import, so import
it before TensorFlow.
"""

import io
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # other summation orders, other last digits

import tensorflow as tf
from returnn.config import Config, set_global_config
from returnn.log import log
from returnn.tensor import batch_dim, single_step_dim
from returnn.tf.native_op import OpMaker
from returnn.util.basic import BackendEngine, BehaviorVersion

LOADER_FUNCTION = "load_config"
"""The function that the loader of tagged JSON defines: JSON text -> dict of config values."""

KINDS = ("python", "json", "plain")

log.initialize(verbosity=[0])
tf.get_logger().setLevel("ERROR")
OpMaker.with_cuda = False  # a CUDA compiler may be installed where TensorFlow knows no GPU
BackendEngine.select_engine(engine=BackendEngine.TensorFlowNetDict)


def load_config(source, kind, loader=None):
    """The RETURNN config that `source` says, made the global one, after everything global was reset.

    :param str|os.PathLike source: a path, or the text itself (a string with a line break or one that begins with "{")
    :param str kind: "python" (executed), "json" (tagged JSON, read by `loader`) or "plain" (JSON as RETURNN reads it)
    :param str|None loader: Python text that defines `LOADER_FUNCTION`; needed for "json", refused otherwise
    :raises ValueError: unknown kind, loader missing or not wanted, or a source that sets no network
    """
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r} is none of {', '.join(KINDS)}")
    if (loader is not None) != (kind == "json"):
        raise ValueError(f"kind {kind!r} {'needs a' if kind == 'json' else 'takes no'} loader")
    text = _text(source)
    reset_globals()
    config = Config()
    set_global_config(config)
    if kind == "python":
        config.load_file(io.StringIO("#!python\n" + text))
    elif kind == "plain":
        config.load_file(io.StringIO(text))
    else:
        namespace = {"__name__": "rcnc_loader"}
        exec(compile(loader, "<loader>", "exec"), namespace)
        config.update(namespace[LOADER_FUNCTION](text))
    if not config.has("network"):
        raise ValueError("the config sets no network")
    BehaviorVersion.set(config.int("behavior_version", None))
    return config


def reset_globals():
    """Forgets what an earlier network left behind in RETURNN: config, behaviour version, lengths of global dims."""
    set_global_config(None)
    BehaviorVersion._reset()
    for dim in (batch_dim, single_step_dim):
        dim.reset_batch_ctx()


def make_session(graph, optimize=False):
    """A session on one thread (reproducible sums).

    :param bool optimize: with TensorFlow's graph optimiser, as in training. Without it a first run takes less
        time, and a wrong rewrite of TensorFlow's is not taken for RETURNN's meaning.
    """
    config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.rewrite_options.disable_meta_optimizer = not optimize
    return tf.compat.v1.Session(graph=graph, config=config)


def _text(source):
    if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
        return source
    return pathlib.Path(source).read_text(encoding="utf-8")
