"""Deep networks load under Python's default recursion limit, whatever stands in them."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from referee import Network

HERE = pathlib.Path(__file__).resolve().parent
RCNC = pathlib.Path(os.environ.get("RCNC", HERE.parent.parent / "build" / "rcnc")).resolve()

NORMS = """
import nn
dim time: spatial
dim model: feature = 3
extern data: float32[batch, time, model]
network {
    linears = [nn.Linear(model, model) for i in range(12)]
    norms = [nn.BatchNorm(model) for l in linears]
    fn main() {
        x = data
        for linear, norm in zip(linears, norms) {
            x = norm(linear(x))
            for i in range(30) { x = nn.tanh(x) }
        }
        output x
    }
}
"""


class Deep(unittest.TestCase):
    def test_updates_of_statistics(self):
        """What updates parameters is constructed behind what keeps the recursion short."""
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "model.rcn"
            model.write_text(NORMS, encoding="utf-8")
            text = subprocess.run([RCNC, model], capture_output=True, text=True, check=True).stdout
        self.assertLessEqual(sys.getrecursionlimit(), 1000)
        with Network(text) as network:
            self.assertEqual(len(network.params()), 12 * 6)


if __name__ == "__main__":
    unittest.main()
