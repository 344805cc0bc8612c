"""Loads emitted configs in RETURNN and runs them."""

import contextlib
import io
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # other summation orders, other last digits

import numpy
import tensorflow as tf
from returnn.config import Config, set_global_config
from returnn.log import log
from returnn.tensor import Dim, batch_dim, single_step_dim
from returnn.tf.native_op import OpMaker
from returnn.tf.network import TFNetwork
from returnn.tf.util.basic import get_global_train_flag_placeholder
from returnn.util.basic import BackendEngine, BehaviorVersion

log.initialize(verbosity=[0])
OpMaker.with_cuda = False  # a CUDA compiler may be installed where TensorFlow knows no GPU
BackendEngine.select_engine(engine=BackendEngine.TensorFlowNetDict)


def config_of(*sources):
    """
    :param str|os.PathLike sources: paths, or texts (with a line break), in the order of RETURNN's command line
    :return: the config, made the global one
    """
    set_global_config(None)
    BehaviorVersion._reset()
    for dim in (batch_dim, single_step_dim):
        dim.reset_batch_ctx()
    config = Config()
    set_global_config(config)
    for source in sources:
        config.load_file(io.StringIO(source) if "\n" in str(source) else str(source))
    return config


class Network:
    """A constructed network in a graph and session of its own."""

    def __init__(self, config):
        BehaviorVersion.set(config.int("behavior_version", None))
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.compat.v1.set_random_seed(1)
            self.train_flag = get_global_train_flag_placeholder()
            self.network = TFNetwork(config=config, rnd_seed=1, train_flag=self.train_flag, eval_flag=True)
            self.network.construct_from_dict(config.typed_value("network"))
            self.layers = {
                name: layer
                for name, layer in self.network.layers.items()
                if name != "data" and not name.startswith("data:")
            }
            self.session = tf.compat.v1.Session(graph=self.graph)

    def parameters(self):
        """name -> shape"""
        return {p.name: tuple(p.shape.as_list()) for p in self.network.get_params_list()}

    def dims(self):
        """layer -> the dims of its output (names, kinds, sizes), its sparse dim and dtype"""
        return {
            name: ([_dim_of(d) for d in layer.output.dims], _dim_of(layer.output.sparse_dim), layer.output.dtype)
            for name, layer in self.layers.items()
        }

    def run(self, inputs, lengths, seed=1):
        """
        :param dict[str,numpy.ndarray] inputs: batch first
        :param dict[str,list[int]] lengths: of those with a time axis
        :return: (values of output layers, valid frames only; losses and errors; gradients by parameter)
        """
        with self.graph.as_default():
            params = self.network.get_params_list()
            rnd = numpy.random.RandomState(seed)
            for p in sorted(params, key=lambda p: p.name):
                shape = p.shape.as_list()
                p.load(rnd.normal(0.0, 1.0 / numpy.sqrt(shape[0]), shape).astype("float32"), self.session)
            feed = {self.train_flag: False}
            for key, data in self.network.extern_data.data.items():
                feed[data.placeholder] = inputs[key]
                if key in lengths:
                    feed[next(iter(data.size_placeholder.values()))] = lengths[key]
            feed[self.network.extern_data.get_batch_info().dim] = 3

            fetches = {}
            for name, layer in self.layers.items():
                if (layer.is_output_layer() or name == "output") and not layer.loss and not name.startswith("."):
                    fetches[name] = _valid(layer.output)
            losses = {}
            self.network.maybe_construct_objective()
            for name, holder in self.network.losses_dict.items():
                losses[name] = [v for v in (holder.get_loss_value(), holder.get_error_value()) if v is not None]
            objective = self.network.get_objective()
            gradients = {}
            if isinstance(objective, tf.Tensor):
                for p, g in zip(params, tf.gradients(objective, params)):
                    gradients[p.name] = g if g is not None else tf.zeros(p.shape)
            return self.session.run((fetches, losses, gradients), feed)


def _dim_of(dim):
    return dim and (dim.name, str(dim.kind), dim.dimension)


def _valid(output):
    """The values, those beyond a length as 0; axes in an order that is the same in all forms."""
    output = output.copy_masked(0.0 if output.dtype.startswith("float") else 0)
    dims = output.dims
    order = sorted(range(len(dims)), key=lambda i: (not dims[i].is_batch_dim(), -(dims[i].dimension or 10**9), i))
    return tf.transpose(output.placeholder, order)


@contextlib.contextmanager
def recursion_limit(limit):
    """Python's own is 1000; the test runner adds frames."""
    import sys

    old = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        yield
    finally:
        sys.setrecursionlimit(old)
