"""`rcnc verify`: what agrees, what differs and where, and what it says without a RETURNN."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

from eager import write_npz

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RCNC = pathlib.Path(os.environ.get("RCNC", ROOT / "build" / "rcnc")).resolve()

MODEL = """\
import nn

dim time: spatial
dim f: feature = 4
dim classes: feature = 5

extern data: float32[batch, time, f]
extern targets(key="classes"): index(classes)[batch, time]

network {
    lin = nn.Linear(f, f)
    norm = nn.LayerNorm(f)
    out = nn.Linear(f, classes)

    fn main() {
        hidden = norm(nn.tanh(lin(nn.dropout(data, 0.1, axis=f))))
        loop t over time with h = nn.zeros([batch, f]) {
            h = 0.5 * h + hidden[t]
            stack hs = h
        }
        logits = out(hs)
        output logits
        output scores = nn.log_softmax(logits, axis=classes)
        loss ce = nn.cross_entropy(target=targets, estimated=logits, estimated_type="logits", axis=classes)
        error fer = nn.frame_error(target=targets, estimated=logits, axis=classes)
    }
}
"""

SEARCH = """\
import nn

dim time: spatial
dim f: feature = 4
dim labels: feature = 5

extern data: float32[batch, time, f]

network {
    embedding = nn.Embedding(labels, f)
    out = nn.Linear(f, labels)

    fn main() {
        context = nn.reduce(nn.tanh(data), mode="mean", axis=time)
        dim found: spatial
        loop i over found max 4 with label = nn.constant(0, dims=[batch], sparse_dim=labels) {
            logits = out(nn.tanh(embedding(label) + context))
            label = nn.choice(nn.log_softmax(logits, axis=labels), axis=labels, beam_size=3)
            end(label == 0, include_eos=false)
            stack labels_found = label
        }
        output best = nn.decide(labels_found)
        output score = nn.decide(nn.beam_scores(labels_found))
    }
}
"""

TEACHER = """\
import nn

dim time: spatial
dim f: feature = 4
dim words: feature = 5

extern targets(key="classes"): index(words)[batch, time]

network {
    embedding = nn.Embedding(words, f)
    attention = nn.CausalSelfAttention(f, f, num_heads=2, key_dim_total=f, value_dim_total=f)

    fn main() {
        before, _ = nn.prev_target_seq(targets, spatial_dim=time, bos_idx=0, out_one_longer=false)
        y, _ = attention(embedding(before), axis=time)
        output y
    }
}
"""


class Verify(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "tmp").mkdir()
        self.write("model.rcn", MODEL)

    def tearDown(self):
        self.assertEqual(list((self.folder / "tmp").iterdir()), [], "temporary files are left")

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def call(self, *arguments, **environment):
        return subprocess.run(
            [RCNC, *arguments],
            cwd=self.folder,
            env={**os.environ, "RCNC_PYTHON": sys.executable, "TMPDIR": str(self.folder / "tmp"), **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )

    def verify(self, *arguments, code, **environment):
        done = self.call("verify", *arguments, **environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr if code == 2 or not done.stdout else done.stdout

    def edited(self, old, new):
        text = self.call("model.rcn").stdout
        self.assertIn(old, text)
        self.write("other.config", text.replace(old, new))

    def test_what_agrees(self):
        text = self.verify("model.rcn", "--batch", "2", "--time", "time=4,3", code=0)
        self.assertRegex(text, r"^equal  2 outputs, 1 loss, 1 error, 12 operations\n$")
        done = self.call("verify", "model.rcn", "--batch", "2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))  # progress is for terminals

    def test_given_inputs_and_parameters(self):
        self.call("--eager", "model.rcn", "--save-params", "p.npz")
        write_npz(self.folder / "x.npz", {"data": numpy.ones((1, 3, 4), dtype="float32")})
        options = ["--params", "p.npz", "--data", "data=x.npz", "--data", "targets=[[1,2,4]]"]
        self.verify("model.rcn", *options, code=0)

    def test_a_search(self):
        self.write("search.rcn", SEARCH)
        self.verify("search.rcn", "--mode", "search", code=0)

    def test_padding_of_a_history(self):
        self.write("teacher.rcn", TEACHER)  # whose frames have as many frames as came before, also those of the padding
        self.verify("teacher.rcn", "--batch", "3", "--time", "time=7,3,5", code=0)

    def test_the_first_operation_that_differs(self):
        for old, new, place, operation in [
            ('"epsilon": 1e-06', '"epsilon": 0.01', "model.rcn:16:18", "layer_norm"),
            ('"activation": "tanh"', '"activation": "sigmoid"', "model.rcn:16:23", "tanh"),
            ("0.5 * source(0)", "0.25 * source(0)", "model.rcn:17:9", "loop, stacked hs"),
        ]:
            with self.subTest(new):
                self.edited(old, new)
                text = self.verify("model.rcn", "--against", "other.config", code=1)
                self.assertEqual(text.splitlines()[0], f"different  {operation}  {place}", text)
                self.assertRegex(text, r"\n  largest difference \S+ at batch=\d, time=\d, f=\d: RETURNN \S+, eager \S+\n")
                self.assertRegex(text, r"\ndifferent  output `scores`  model.rcn:\d+:")
                self.assertRegex(text, r"\ndifferent  loss `ce`  model.rcn:\d+:")

    def test_the_emitted_dict_agrees_with_itself(self):
        self.write("other.config", self.call("model.rcn").stdout)
        text = self.verify("model.rcn", "--against", "other.config", code=0)
        self.assertEqual(text, "equal  2 outputs, 1 loss, 1 error\n")

    def test_an_output_that_returnn_would_not_construct(self):
        self.edited('"is_output_layer": True', '"is_output_layer": False')
        text = (self.folder / "other.config").read_text().replace('"output": {"class": "copy", "from": "logits"', '"output": {"class": "copy", "from": "data"')
        self.write("other.config", text)
        self.verify("model.rcn", "--against", "other.config", code=0)

    def test_names_that_one_side_lacks(self):
        self.edited('"scores": {', '"other": {')
        text = self.verify("model.rcn", "--against", "other.config", code=1)
        self.assertIn("missing  output `scores` is not in `other.config`\n", text)
        self.assertIn("left over  output `other` is not in the model\n", text)

    def test_parameters_that_one_side_lacks(self):
        self.edited('"name_scope": "/lin/bias"', '"name_scope": "/lin/offset"')
        text = self.verify("model.rcn", "--against", "other.config", code=1)
        self.assertIn("missing: `lin/bias`\nleft over: `lin/offset`\n", text)
        self.write("names", "lin/offset lin/bias\n")
        self.verify("model.rcn", "--against", "other.config", "--rename-map", "names", code=0)

    def test_without_returnn(self):
        text = self.verify("model.rcn", "--python", "./python", code=2)
        self.assertIn("cannot start the Python `./python`", text)
        self.write("bare", f"#!/bin/sh\nexec {sys.executable} -S -I \"$@\"\n")  # without site-packages
        (self.folder / "bare").chmod(0o755)
        text = self.verify("model.rcn", code=2, RCNC_PYTHON="./bare")
        self.assertIn("verify needs RETURNN, and the Python `./bare` lacks", text)
        self.assertRegex(text, r"help: ./bare -m pip install returnn==\S+ tensorflow-cpu==\S+ ")

    def test_errors(self):
        self.write("broken.rcn", MODEL.replace("norm(nn", "norn(nn"))
        self.assertIn("broken.rcn:16:18: error", self.verify("broken.rcn", code=1))
        self.assertIn("cannot read `none.config`", self.verify("model.rcn", "--against", "none.config", code=1))
        self.assertIn("does not go with verify", self.verify("model.rcn", "--trace", code=2))
        self.assertIn("the eager run failed", self.verify("model.rcn", "--data", "data=[[1]]", code=1))


if __name__ == "__main__":
    unittest.main()
