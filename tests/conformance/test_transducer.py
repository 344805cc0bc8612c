"""The full sum of a transducer against the sum over all alignments, one by one."""

import itertools
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy

from eager import Eager
from referee import Network

HERE = pathlib.Path(__file__).resolve().parent
RCNC = pathlib.Path(os.environ.get("RCNC", HERE.parent.parent / "build" / "rcnc")).resolve()
MODEL = """
import nn
dim time: spatial
dim label_time: spatial
dim labels: feature = 3
with_blank = labels + 1
extern targets: index(labels)[batch, label_time]
extern log_probs: float32[batch, time, 1 + label_time, with_blank]
network {
    fn main() {
        output y = nn.transducer_time_sync_full_sum_neg_log_prob(
            log_probs, labels=targets, input_spatial_dim=time, labels_spatial_dim=label_time, prev_labels_spatial_dim=1 + label_time,
            blank_index=BLANK)
    }
}
"""


def full_sum(log_probs, labels, blank):
    """-log of the sum over all choices of the frames that give a label."""
    frames, total = log_probs.shape[0], -numpy.inf
    for said in itertools.combinations(range(frames), len(labels)):
        count, score = 0, 0.0
        for t in range(frames):
            label = labels[count] if t in said else blank
            score += log_probs[t, count, label]
            count += t in said
        total = numpy.logaddexp(total, score)
    return -total


class Transducer(unittest.TestCase):
    def test_all_alignments(self):
        rng = numpy.random.default_rng(1)
        time, label_time = numpy.array([6, 4, 3], "int32"), numpy.array([3, 0, 3], "int32")
        scores = rng.normal(size=(3, 6, 4, 4)).astype("float32")
        inputs = {
            "log_probs": scores - numpy.log(numpy.exp(scores).sum(-1, keepdims=True)),
            "log_probs/length/time": time, "targets/length/label_time": label_time,
            "targets": rng.integers(0, 3, size=(3, 3)).astype("int32"),
        }
        for blank in (3, 1):
            expected = [
                full_sum(inputs["log_probs"][i, : time[i]], inputs["targets"][i, : label_time[i]], blank) for i in range(3)
            ]
            with tempfile.TemporaryDirectory() as folder:
                model = pathlib.Path(folder) / "model.rcn"
                model.write_text(MODEL.replace("BLANK", str(blank)), encoding="utf-8")
                text = subprocess.run([RCNC, model], capture_output=True, text=True, check=True).stdout
                with Network(text) as network:
                    theirs = network.run(inputs, want_grads=False)
                ours = Eager([RCNC]).run(model, inputs, {}, want_grads=False)
            for result in (theirs, ours):
                numpy.testing.assert_allclose(result["outputs"]["y"]["values"], expected, rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
