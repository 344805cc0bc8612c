"""What random operations draw, in RETURNN and in the eager run: means, bounds, independence; SpecAugment's spans.

    python random_numbers.py --rcnc build/rcnc
"""

import sys

import numpy

import draws

MODEL = """\
import nn
import asr
dim time: spatial
dim input: feature = 40
dim labels: feature = 4
extern data: float32[batch, time, input]
extern said: index(labels)[batch, time]
network {
    fn main() {
        output uniform = nn.random_uniform([batch, time, input], minval=-1.0, maxval=3.0)
        output ints = nn.random_uniform([batch, time, input], int32, minval=2, maxval=6)
        output normal = nn.random_normal([batch, time, input], mean=1.0, stddev=2.0)
        output truncated = nn.random_truncated_normal([batch, time, input], stddev=2.0)
        output often = nn.random_bernoulli([batch, time, input], p=0.25)
        output label = nn.random_label([batch, time, input], labels)
        output again = nn.random_uniform([batch, time, input], minval=-1.0, maxval=3.0)
        output switched = nn.switchout(said, 0.5)
        output always_switched = nn.switchout(said, 0.5, on_forward=true)
        loop t over time with before = nn.constant(0, dims=[batch], sparse_dim=labels) {
            probs = 0.6 * nn.one_hot(before) + 0.1
            chosen = nn.scheduled_sampling(target=said[t], estimated=nn.log(probs), estimated_type="log-probs", axis=labels, prob=0.8)
            stack sampled = chosen
            stack sampled_before = before
            before = chosen
        }
        output sampled
        output sampled_before
        output deep = nn.stochastic_depth(fn() => data, 0.25, [batch, time])
        loop t over time { stack steps = nn.random_uniform([batch, input], minval=-1.0, maxval=3.0) }
        output steps
        output spans = asr.random_mask_v2(data, mask_axis=time, broadcast_axis=input, min_num=2, max_num=3, max_dims=4)
        output augmented = asr.specaugment_v2(data, spatial_dim=time, feature_dim=input)
        output only_train = asr.specaugment_v2(data, spatial_dim=time, feature_dim=input, global_train_step_dependent=false)
        output sized = asr.specaugment_v2(data, spatial_dim=time, feature_dim=input, global_train_step_dependent=false, only_on_train=false,
                                          max_consecutive_spatial_dims=2, max_consecutive_feature_dims=1, num_spatial_mask_factor=20)
        kept, _ = asr.random_frame_drop(data, time, 0.5, 2)
        output kept
    }
}
"""
LENGTHS = [60, 40, 1]


def by(output, *dims):
    """The values with the axes in this order."""
    return numpy.transpose(numpy.asarray(output["values"]), [output["dims"].index(d) for d in dims])


class Checks:
    def __init__(self, backend):
        self.backend, self.lines = backend, []

    def true(self, what, condition):
        if not condition:
            self.lines.append(f"{self.backend}: {what}")

    def mean(self, what, values, mean, deviation):
        """`mean` within five standard deviations of the mean of draws that deviate so much."""
        error = abs(float(numpy.mean(values)) - mean) / (deviation / numpy.sqrt(values.size))
        self.true(f"{what}: the mean is {numpy.mean(values):.4f} in place of {mean}, {error:.1f} standard deviations off", error < 5)


def spans_of(hidden):
    """The lengths of the runs of true values."""
    edges = numpy.flatnonzero(numpy.diff(numpy.concatenate([[0], hidden.astype(int), [0]])))
    return edges[1::2] - edges[::2]


def check(backend, run):
    """`run` as draws.main gives it."""
    c = Checks(backend)
    on, off, again = run(True), run(False), run(True, seed="2")
    c.true("two runs draw the same", not numpy.array_equal(on["uniform"]["values"], again["uniform"]["values"]))
    names = ("batch", "time", "input")
    frames = numpy.arange(60)[None, :] < numpy.array(LENGTHS)[:, None]
    drawn = {name: by(on[name], *names)[frames] for name in ("uniform", "ints", "normal", "truncated", "often", "label", "again")}
    drawn["steps"] = by(on["steps"], *names)[frames]
    for name in ("uniform", "again", "steps"):
        x = drawn[name]
        c.true(f"{name} leaves its bounds", x.min() >= -1 and x.max() < 3)
        c.mean(name, x, 1.0, 4 / numpy.sqrt(12))
        c.mean(f"{name}, squares", (x - 1) ** 2, 16 / 12, 16 / numpy.sqrt(180))
    c.true("two draws are equal", not numpy.array_equal(drawn["uniform"], drawn["again"]))
    c.true("two steps are equal", not numpy.array_equal(drawn["steps"][0], drawn["steps"][1]))
    c.true("ints leave their bounds", set(numpy.unique(drawn["ints"])) == {2, 3, 4, 5})
    c.mean("ints", drawn["ints"], 3.5, numpy.sqrt(1.25))
    c.true("labels leave their bounds", set(numpy.unique(drawn["label"])) == {0, 1, 2, 3})
    c.mean("normal", drawn["normal"], 1.0, 2.0)
    c.mean("normal, squares", (drawn["normal"] - 1) ** 2, 4.0, 4 * numpy.sqrt(2))
    c.true("truncated goes beyond two deviations", numpy.abs(drawn["truncated"]).max() <= 4)
    c.mean("truncated, squares", drawn["truncated"] ** 2, 4 * 0.7737413, 4 * 0.9)
    c.true("bernoulli gives other values than 0 and 1", set(numpy.unique(drawn["often"])) == {0, 1})
    c.mean("bernoulli", drawn["often"], 0.25, numpy.sqrt(0.25 * 0.75))

    switched = by(on["switched"], "batch", "time")[frames]  # all said was 0
    c.mean("switchout", switched != 0, 0.375, numpy.sqrt(0.375 * 0.625))
    c.true("switchout with the train flag off", numpy.all(by(off["switched"], "batch", "time")[frames] == 0))
    c.mean("switchout on_forward", by(off["always_switched"], "batch", "time")[frames] != 0, 0.375, numpy.sqrt(0.375 * 0.625))
    sampled, before = by(on["sampled"], "batch", "time"), by(on["sampled_before"], "batch", "time")
    c.true("the label of the step before is another one", numpy.array_equal(sampled[:, :-1][frames[:, 1:]], before[:, 1:][frames[:, 1:]]))
    sampled, before = sampled[frames], before[frames]  # all said was 0
    stays = numpy.where(before == 0, 0.2 + 0.8 * 0.7, 0.2 + 0.8 * 0.1)
    c.mean("scheduled sampling, labels that are 0", (sampled == 0) - stays + 0.5, 0.5, numpy.sqrt(numpy.mean(stays * (1 - stays))))
    repeated = (sampled == before)[before != 0]
    c.mean("scheduled sampling, labels again", repeated, 0.56, numpy.sqrt(0.56 * 0.44))
    c.true("scheduled sampling with the train flag off", numpy.all(by(off["sampled"], "batch", "time")[frames] == 0))
    deep = by(on["deep"], *names)[frames]
    c.true("stochastic depth is not the same for all of a frame", numpy.all(deep == deep[:, :1]))
    c.mean("stochastic depth", deep[:, 0] == 0, 0.25, numpy.sqrt(0.25 * 0.75))
    c.true("stochastic depth has another scale", numpy.allclose(deep[deep != 0], 4 / 3))

    spans = by(on["spans"], *names)
    for i, length in enumerate(LENGTHS):
        hidden = spans[i, :length] == 0
        c.true("spans are not the same for all features", numpy.all(hidden == hidden[:, :1]))
        runs = spans_of(hidden[:, 0])
        c.true(f"sequence {i}: {hidden[:, 0].sum()} frames are hidden, in runs of {runs}",
               min(2, length) <= hidden[:, 0].sum() <= 12 and len(runs) <= 3)
    augmented = by(on["augmented"], *names)
    for i, length in enumerate(LENGTHS):
        hidden = augmented[i, :length] == 0
        times, features = hidden.all(axis=1), hidden.all(axis=0)
        c.true(f"sequence {i}: SpecAugment hides more than rows and columns",
               numpy.array_equal(hidden, times[:, None] | features[None, :]) or times.all())
        c.true(f"sequence {i}: SpecAugment hides {features.sum()} features", times.all() or features.sum() <= 16)
    for result in (on, off):
        sized = by(result["sized"], *names)
        for i, length in enumerate(LENGTHS):
            hidden = sized[i, :length] == 0
            times, features = hidden.all(axis=1), hidden.all(axis=0)
            most = max(length // 20, 2) * 4
            c.true(f"sequence {i}: {times.sum()} frames in runs of {spans_of(times)} and {features.sum()} features are hidden",
                   min(2, length) <= times.sum() <= 2 * most and (times.all() or 2 <= features.sum() <= 5))
    for name in ("augmented", "only_train"):
        c.true(f"{name} changes something with the train flag off", numpy.all(by(off[name], *names)[frames] == 1))
    c.true("the spans of all steps hide nothing", numpy.any(by(on["only_train"], *names)[frames] == 0))
    kept = [numpy.asarray(v) for v in on["kept"]["lengths"].values()][0]
    c.true(f"frames kept: {kept}", kept[2] == 1 and 2 <= kept[1] <= 36 and 8 <= kept[0] <= 52)
    return c.lines


if __name__ == "__main__":
    lengths = numpy.array(LENGTHS, "int32")
    inputs = {
        "data": numpy.ones((3, 60, 40), "float32"), "data/length/time": lengths,
        "said": numpy.zeros((3, 60), "int32"), "said/length/time": lengths,
    }
    sys.exit(draws.main(MODEL, inputs, check))
