"""What RETURNN says about a layer that it cannot construct leads back to the model's line."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RCNC = pathlib.Path(os.environ.get("RCNC", ROOT / "build" / "rcnc")).resolve()

MODEL = """\
import nn
dim time: spatial
dim input: feature = 3
extern data: float32[batch, time, input]
module Part() {
    fn call(x: [batch, time, input]) {
        y = nn.make_layer({"class": "activation", "from": x, "activation": "tanhh"}, dims=[batch, time, input], dtype=float32)
        return y * 2.0
    }
}
network {
    first = Part()
    fn main() {
        loop t over time { stack h = nn.tanh(data[t]) }
        output y = first(h)
    }
}
"""
BAD_LINE = 1 + next(i for i, line in enumerate(MODEL.splitlines()) if "make_layer" in line)

CONSTRUCT = """\
import sys
from returnn.config import Config, global_config_ctx
from returnn.log import log
from returnn.tf.network import TFNetwork
log.initialize(verbosity=[5])
config = Config()
config.load_file(sys.argv[1])
with global_config_ctx(config):
    TFNetwork(config=config, train_flag=False).construct_from_dict(config.typed_dict["network"])
"""


class Traceback(unittest.TestCase):
    def test_leads_back_to_the_line(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "model.rcn").write_text(MODEL, encoding="utf-8")
            subprocess.run([RCNC, "model.rcn", "-o", "model.py", "--source-map", "model.json"], cwd=folder, check=True)
            config = (folder / "model.py").read_text(encoding="utf-8")
            done = subprocess.run([sys.executable, "-c", CONSTRUCT, "model.py"], cwd=folder, capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            layer = re.search(r"Exception creating layer \S*/'([^']+)'", done.stdout + done.stderr)
            self.assertIsNotNone(layer, done.stderr[-2000:])
            named = layer.group(1)
            self.assertIn("tanhh", done.stderr)

            entry = re.search(rf'^ *"{re.escape(named)}": .*$(?:\n.*){{0,2}}', config, re.MULTILINE).group(0)
            self.assertIn(f"# model.rcn:{BAD_LINE}", entry)
            place = json.loads((folder / "model.json").read_text(encoding="utf-8"))["layers"][named]
            self.assertEqual((place["file"], place["line"]), ("model.rcn", BAD_LINE))


if __name__ == "__main__":
    unittest.main()
