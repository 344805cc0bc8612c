"""What eager runs show of themselves: `--trace`, `--summary`, `--save` of chosen tensors, `--fit` with files."""

import json
import re
import unittest
import zipfile

from support import MODEL_ERROR, OK, USAGE, CliTest, eager_there

MODEL = """\
import nn

dim time: spatial
dim f: feature = 64

extern data: float32[batch, time, f]

network {
    lin = nn.Linear(f, f)

    fn main() {
        hidden = nn.relu(lin(data))
        output y = hidden * 2.0
        loss l = nn.reduce(y * y, mode="mean", axis=[time, f])
    }
}
"""


@unittest.skipUnless(eager_there(), "there is no rcnc-eager")
class Watching(CliTest):
    def setUp(self):
        super().setUp()
        self.write("model.rcn", MODEL)

    def eager(self, *args):
        return self.run_rcnc("--eager", "model.rcn", *args)

    def test_times_in_the_trace(self):
        lines = self.output_of("--eager", "model.rcn", "--trace").splitlines()
        linear = next(line for line in lines if " lin.linear " in line)
        self.assertRegex(linear, r"  nan=0  +inf=0  +time=\d+(\.\d+)?(us|ms|s)$")
        parameter = next(line for line in lines if " lin/weight " in line)
        self.assertTrue(parameter.endswith("time=-"), parameter)

    def test_trace_as_json(self):
        done = self.eager("--trace", "--trace-format", "json", "--json")
        self.assertEqual(done.returncode, OK)
        json.loads(done.stdout)  # the results alone
        lines = [json.loads(line) for line in done.stderr.splitlines()]
        linear = next(line for line in lines if line["name"] == "lin.linear")
        self.assertGreater(linear["time"], 0)
        self.assertEqual([d["name"] for d in linear["dims"]][-1], "f")

    def test_summary(self):
        text = self.output_of("--eager", "model.rcn", "--summary")
        self.assertRegex(text, r"(?m)^summary  \d+ operations in \S+, slowest lines:$")
        line = re.search(r"(?m)^model\.rcn:12 +(\d+) +(\S+) +(\S+)%  (.*)$", text)
        self.assertEqual(line[1], "2")
        self.assertEqual(sorted(line[4].split(", ")), ["linear", "relu"])
        self.assertIn("parameters  2 with 4,160 entries (16.2 KiB), 4,160 of them trainable\n", text)
        peak = float(re.search(r"(?m)^peak memory of tensors  (\S+) KiB$", text)[1])
        self.assertGreater(peak, 3 * 7 * 64 * 4 / 1024)  # at least one tensor of the batch
        without = self.output_of("--eager", "model.rcn")
        self.assertTrue(text.startswith(without))

    def test_summary_of_what_was_trained(self):
        self.assertIn("peak memory", self.output_of("--eager", "model.rcn", "--fit", "2", "--grad", "--check-padding", "--summary"))

    def test_saves_what_is_chosen(self):
        self.output_of("--eager", "model.rcn", "--save", "a.npz:hidden,lin/*", "--save", "b.npz")
        names = {name: zipfile.ZipFile(self.folder / name).namelist() for name in ("a.npz", "b.npz")}
        self.assertIn("y.npy", names["b.npz"])
        self.assertEqual(
            [name for name in names["a.npz"] if name not in names["b.npz"]],
            ["lin/weight.npy", "lin/bias.npy", "lin.linear.npy", "lin.linear/length/time.npy", "hidden.npy", "hidden/length/time.npy"],
        )

    def test_saves_what_was_learnt(self):
        text = self.output_of("--eager", "model.rcn", "--fit", "30", "--lr", "0.01", "--save-params", "learnt.npz")
        first, last = re.search(r"(?m)^fit  the objective falls from (\S+) to (\S+)$", text).groups()
        self.assertLess(float(last), 0.5 * float(first))
        again = self.output_of("--eager", "model.rcn", "--params", "learnt.npz")
        objective = lambda output: re.search(r"(?m)^loss .*$", output)[0]
        self.assertEqual(objective(again), objective(text))

    def test_nothing_is_saved_of_what_does_not_learn(self):
        done = self.eager("--fit", "3", "--lr", "1e-12", "--save-params", "learnt.npz")
        self.assertEqual(done.returncode, MODEL_ERROR)
        self.assertIn("does not fall", done.stderr)
        self.assertEqual(self.files(), ["model.rcn"])

    def test_usage(self):
        for args, text in [
            (["--trace-format", "json"], "--trace-format needs --trace"),
            (["--lr", "0.1"], "--lr needs --fit"),
            (["--fit", "0"], "--fit"),
            (["--trace", "--trace-format", "xml"], "--trace-format"),
        ]:
            done = self.eager(*args)
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
