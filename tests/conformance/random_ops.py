"""The distribution of random operations, in RETURNN and in the eager run.

    python random_ops.py --rcnc build/rcnc
"""

import sys

import numpy

import draws

RATE = 0.25
MODEL = f"""\
import nn
dim time: spatial
dim input: feature = 200
extern data: float32[batch, time, input]
network {{
    fn main() {{
        output per_feature = nn.dropout(data, {RATE}, axis=input)
        output independent = nn.dropout(data, {RATE}, axis=data.dims)
        output always = nn.dropout(data, {RATE}, axis=data.dims, on_forward=true)
        ones = nn.ones([batch, input])
        loop t over time {{
            stack step_feature = nn.dropout(data[t], {RATE}, axis=input)
            stack step_constant = nn.dropout(ones, {RATE}, axis=input)
            stack step_independent = nn.dropout(ones, {RATE}, axis=ones.dims)
        }}
        output step_feature
        output step_constant
        output step_independent
        shape = [batch, time, input]
        output uniform = nn.random_uniform(shape, minval=-1.0, maxval=3.0)
        output bound = nn.random(shape=shape, distribution="uniform", bound=2.0)
        output spread = nn.random(shape=shape, distribution="uniform", mean=1.0, stddev=0.5)
        output normal = nn.random_normal(shape, mean=1.0, stddev=2.0)
        output normal64 = nn.random_normal(shape, float64)
        output truncated = nn.random_truncated_normal(shape, mean=-1.0, stddev=0.5)
        output bernoulli = nn.random_bernoulli(shape, p=0.3)
        output dice = nn.random_uniform(shape, int32, minval=1, maxval=7)
        output small = nn.random_uniform(shape, int8, minval=-2, maxval=2)
        output label = nn.random_label(shape, input)
        output ends = nn.random_uniform(shape, int32, minval=nn.constant(2), maxval=nn.length(time) - 20)
        output again = nn.random_uniform(shape, minval=-1.0, maxval=3.0)
        loop t over time {{ stack step_uniform = nn.random_uniform([batch, input], minval=0.0, maxval=1.0) }}
        output step_uniform
    }}
}}
"""

DRAWN = {  # name: mean, standard deviation, least and greatest value
    "uniform": (1.0, 4 / 12**0.5, -1.0, 3.0),
    "bound": (0.0, 4 / 12**0.5, -2.0, 2.0),
    "spread": (1.0, 0.5, 1 - 0.5 * 3**0.5, 1 + 0.5 * 3**0.5),
    "normal": (1.0, 2.0, -numpy.inf, numpy.inf),
    "normal64": (0.0, 1.0, -numpy.inf, numpy.inf),
    "truncated": (-1.0, 0.5 * 0.87962566, -2.0, 0.0),
    "bernoulli": (0.3, 0.21**0.5, 0, 1),
    "dice": (3.5, (35 / 12) ** 0.5, 1, 6),
    "small": (-0.5, 1.25**0.5, -2, 1),
    "label": (99.5, ((200**2 - 1) / 12) ** 0.5, 0, 199),
    "ends": (3.0, (2 / 3) ** 0.5, 2, 4),
    "step_uniform": (0.5, 1 / 12**0.5, 0, 1),
}


def check_drawn(name, values):
    """Mean, deviation and ends of numbers drawn independently."""
    mean, deviation, least, greatest = DRAWN[name]
    values = numpy.asarray(values, dtype="float64")
    lines = []
    if values.min() < least or values.max() > greatest:
        lines.append(f"{name}: from {values.min()} to {values.max()}")
    error = abs(values.mean() - mean) / (deviation / numpy.sqrt(values.size))
    if error > 5:
        lines.append(f"{name}: the mean {values.mean():.3f} is {error:.1f} standard deviations off {mean}")
    if abs(values.std() - deviation) > 0.03 * deviation:
        lines.append(f"{name}: the standard deviation is {values.std():.3f} in place of {deviation:.3f}")
    frames = values.reshape(-1, values.shape[-1])
    if len(numpy.unique(frames, axis=0)) < len(frames):
        lines.append(f"{name}: two frames are drawn alike")
    return lines


def check_dropout(name, kept, shared):
    """What is wrong with dropped-out ones of the shape [batch, time, input]: a list of lines."""
    lines = []
    scale = 1 / (1 - RATE)
    if not numpy.all(numpy.isclose(kept, 0) | numpy.isclose(kept, scale)):
        lines.append(f"{name}: values other than 0 and {scale}")
    masks = kept.reshape(-1, kept.shape[-1]) == 0
    same = bool(numpy.all(masks == masks[0]))
    if same != shared:
        lines.append(f"{name}: the mask of all frames is {'one' if same else 'not one'}")
    draws = masks[0] if shared else masks.ravel()
    error = abs(draws.mean() - RATE) / numpy.sqrt(RATE * (1 - RATE) / draws.size)
    if error > 5:
        lines.append(f"{name}: {draws.mean():.3f} dropped in place of {RATE}, {error:.1f} standard deviations off")
    return lines


def check_steps(name, output, shared):
    """The same of masks that each step of a loop draws: of all sequences together if `shared`."""
    dims = output["dims"]
    kept = numpy.transpose(numpy.asarray(output["values"]), [dims.index(d) for d in ("time", "batch", "input")])
    lines = []
    for t in range(kept.shape[0]):
        lines += check_dropout(f"{name}, step {t}", kept[t : t + 1], shared)
    for t in range(1, kept.shape[0]):
        if numpy.array_equal(kept[t], kept[t - 1]):
            lines.append(f"{name}: steps {t - 1} and {t} have one mask")
    return lines


def check(backend, run):
    """`run` as draws.main gives it."""
    lines = []
    on, off = run(True), run(False)
    for name, shared in (("per_feature", True), ("independent", False), ("always", False)):
        lines += check_dropout(name, numpy.asarray(on[name]["values"]), shared)
    for name, shared in (("step_feature", True), ("step_constant", True), ("step_independent", False)):
        lines += check_steps(name, on[name], shared)
    for name in ("per_feature", "independent", "step_feature", "step_constant", "step_independent"):
        if not numpy.all(numpy.asarray(off[name]["values"]) == 1):
            lines.append(f"{name}: not the identity with the train flag off")
    lines += check_dropout("always, train flag off", numpy.asarray(off["always"]["values"]), False)
    for name in DRAWN:
        lines += check_drawn(name, on[name]["values"])
        if numpy.array_equal(on[name]["values"], off[name]["values"]) and backend != "eager":
            lines.append(f"{name}: two runs draw alike")
    if numpy.array_equal(on["uniform"]["values"], on["again"]["values"]):
        lines.append("two draws are alike")
    if numpy.array_equal(on["independent"]["values"], on["always"]["values"]):
        lines.append("two dropouts of one tensor share their mask")
    return [f"{backend}: {line}" for line in lines]


if __name__ == "__main__":
    inputs = {"data": numpy.ones((4, 25, 200), "float32"), "data/length/time": numpy.full(4, 25, "int32")}
    sys.exit(draws.main(MODEL, inputs, check))
