"""One RETURNN network in a TensorFlow graph and session of its own."""

import contextlib
import dataclasses
from typing import List, Optional

import numpy

from returnn_process import load_config, make_session, tf  # first: it sets what TensorFlow reads at import

# isort: split
from returnn.tf.network import LayerNotFound, TFNetwork
from returnn.tf.util.basic import CollectionKeys, get_global_train_flag_placeholder

from feeding import externs_of, feed_dict
from structure import structure_of, variables_of
from tensor_meta import batch_first, describe_dim, kind_of, lengths_of, names_of


@dataclasses.dataclass
class Output:
    """Fetches of one output layer; axes of `values` as RETURNN has them, `order` puts the batch first."""

    values: object
    order: List[int]
    dims: List[str]  # after `order`
    described: List[dict]  # after `order`
    lengths: dict  # DIM -> TensorFlow tensor
    length_dims: dict  # DIM -> names of the dims that its lengths depend on
    dtype: str
    sparse_dim: Optional[str]
    sparse_size: Optional[int]
    beam: Optional[int]  # hypotheses of each sequence, which lie in the batch, batch-major; None: no search


class UnknownLengths(ValueError):
    """RETURNN has a dynamic dim without lengths."""


class TfNetwork:
    """A constructed network and what can be fetched from it.

    The train flag is dynamic, except with the search flag, where it is False, as in RETURNN's engine.
    """

    def __init__(self, source, kind, loader=None, search=False, seed=42, needed=()):
        config = load_config(source, kind, loader)
        self.search = search
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.compat.v1.set_random_seed(seed)
            self.train_flag = None if search else get_global_train_flag_placeholder()
            self.network = TFNetwork(
                config=config,
                rnd_seed=seed,
                train_flag=False if search else self.train_flag,
                eval_flag=True,
                search_flag=search,
            )
            self.externs = externs_of(self.network.extern_data)
            layers = config.typed_value("network")
            self.network.construct_from_dict(layers)
            for name in needed:  # also where nothing else makes RETURNN construct it
                if name in layers and name not in self.network.layers:
                    self.network.construct_layer(layers, name)
            self.outputs = {
                name: _output(name, layer.output)
                for name, layer in sorted(self.network.layers.items())
                if layer.is_output_layer() and "/" not in name and not name.startswith(".")
            }
            self.trainable = self.network.get_trainable_params()
            # before the objective, which adds flattened layers
            self.structure = structure_of(self.network, self.graph, self.trainable)
            objective = self.network.get_objective()
            self.objective = _scalar(objective)
            self.constraints = _scalar(self.network.get_total_constraints())
            self.losses, self.errors = _losses(self.network.losses_dict)
            self.variables = _variables(self.network)
            self.update_ops = self.network.get_post_control_dependencies()
            self._gradients = self._input_gradients = None
            step = self.network.global_train_step_var  # in no collection of TensorFlow's
            self.operations = len(self.graph.get_operations())  # those of the network; gradients come later
            self.session = make_session(self.graph)
            self.session.run([tf.compat.v1.global_variables_initializer(), step.initializer])

    def gradients(self):
        """variable name -> gradient of the objective; zeros where it does not depend on the parameter."""
        if self._gradients is None:
            with self.graph.as_default():
                floats = [v for v in self.trainable if v.dtype.is_floating]
                self._gradients = {
                    plain_name(v): tf.zeros_like(v) if grad is None else tf.convert_to_tensor(grad)
                    for v, grad in zip(floats, tf.gradients(self.objective, floats))
                }
        return self._gradients

    def input_gradients(self):
        """extern name -> Output with the gradient of the objective, for externs of floats that the network reads."""
        if self._input_gradients is None:
            with self.graph.as_default():
                read = sorted(self.network.used_data_keys & set(self.externs))
                data = {name: self.network.extern_data.data[name] for name in read}
                data = {name: d for name, d in data.items() if d.raw_tensor.dtype.is_floating}
                found = tf.gradients(self.objective, [d.raw_tensor for d in data.values()])
                self._input_gradients = {
                    name: dataclasses.replace(
                        _output(name, d), values=tf.zeros_like(d.raw_tensor) if grad is None else tf.convert_to_tensor(grad)
                    )
                    for (name, d), grad in zip(data.items(), found)
                }
        return self._input_gradients

    def layer(self, name):
        """Fetches of a layer of the network's own dict, or of what a loop or branch in it hands out (`loop/h`).

        None where there is no such layer, or RETURNN does not know the lengths of its dims.
        """
        if name.split("/")[0] not in self.network.layers:
            return None
        try:
            with self.graph.as_default():
                return _output(name, self.network.get_layer(name).output)
        except (LayerNotFound, UnknownLengths):
            return None

    def assign(self, values):
        """Sets variables: plain name -> array of the right shape."""
        feed = {}
        for name, value in values.items():
            variable = self.variables[name]
            feed[variable.initializer.inputs[1]] = numpy.asarray(value, dtype=variable.dtype.as_numpy_dtype)
        with _no_new_ops(self.graph):
            self.session.run([self.variables[name].initializer for name in values], feed)

    def read(self, names=None):
        """Values of variables by plain name."""
        chosen = {name: self.variables[name] for name in (self.variables if names is None else names)}
        return self.session.run(chosen)

    def run(self, fetches, inputs, train):
        """`session.run` of any nested structure of fetches on named inputs."""
        feed, batch = feed_dict(self.externs, inputs, needed=self.network.used_data_keys & set(self.externs))
        batch_info = self.network.extern_data.get_batch_info(allow_none=True)
        if batch is not None and batch_info and isinstance(batch_info.dim, tf.Tensor):
            feed[batch_info.dim] = batch
        if self.train_flag is not None:
            feed[self.train_flag] = train
        if isinstance(self.network.epoch_step, tf.Tensor):
            feed[self.network.epoch_step] = 0
        return self.session.run(fetches, feed)

    def close(self):
        """Frees the session; the object is of no use afterwards."""
        self.session.close()


def plain_name(name):
    """A parameter's contract name: the variable's without TensorFlow's ":0" and without "/param".

    :param str|tf.Variable name:
    """
    if not isinstance(name, str):
        name = name.name.rsplit(":", 1)[0]
    return name[: -len("/param")] if name.endswith("/param") else name


def _further_dims(dims, names):
    """Dynamic dims that the dims of a tensor have lengths over, and the tensor lacks, with names: their padding is padding."""
    found = {}
    for dim in dims:
        for over in dim.dyn_size_ext.dims if dim.dyn_size_ext is not None else ():
            if kind_of(over) == "dynamic" and over not in dims and names_of([over])[0] not in names:
                found[names_of([over])[0]] = over
    return [(dim, name) for name, dim in found.items()]


def _output(name, tensor):
    order = batch_first(tensor.dims)
    names = names_of(tensor.dims)
    lengths, length_dims = {}, {}
    for dim, dim_name in zip(tensor.dims, names):
        if kind_of(dim) == "dynamic":
            ext = lengths_of(tensor, dim)
            if ext is None:
                raise UnknownLengths(f"output {name}: RETURNN has no lengths for dim {dim}")
            lengths[dim_name] = ext.raw_tensor
            length_dims[dim_name] = names_of(ext.dims)
    for dim, dim_name in _further_dims(tensor.dims, names):
        ext = lengths_of(tensor, dim)
        if ext is not None:
            lengths[dim_name] = ext.raw_tensor
            length_dims[dim_name] = names_of(ext.dims)
    sparse = tensor.sparse_dim
    return Output(
        values=tensor.raw_tensor,
        order=order,
        dims=[names[axis] for axis in order],
        described=[describe_dim(tensor.dims[axis]) for axis in order],
        lengths=lengths,
        length_dims=length_dims,
        dtype=tensor.dtype,
        sparse_dim=describe_dim(sparse)["name"] if sparse is not None else None,
        sparse_size=sparse.dimension if sparse is not None else None,
        beam=tensor.beam.beam_size if tensor.beam else None,
    )


def _losses(holders):
    """Two dicts, losses and errors: name -> {"sum": over valid frames, "mean": RETURNN's normalised score}."""
    losses, errors = {}, {}
    for name, holder in holders.items():
        norm = tf.cast(_scalar(holder.get_norm_factor()), tf.float32)
        for value, into in ((holder.get_loss_value(), losses), (holder.get_error_value(), errors)):
            if value is not None:
                into[name] = {"sum": value, "mean": value * norm}
    return losses, errors


def _variables(network):
    """plain name -> variable of everything that is a parameter; not the states of random generators."""
    states = {v.name for v in tf.compat.v1.get_collection(CollectionKeys.STATE_VARS)}
    return {
        plain_name(v): v
        for v in variables_of(network)
        if v.name not in states and not plain_name(v).endswith("random_generator/StateVar")
    }


def _scalar(value):
    return value if isinstance(value, tf.Tensor) else tf.constant(float(value))


@contextlib.contextmanager
def _no_new_ops(graph):
    before = graph.version
    yield
    assert graph.version == before, "assigning parameters added operations to the graph"
