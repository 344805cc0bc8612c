"""The Conformer with all of its twelve layers: the eager run computes what RETURNN does. Takes minutes."""

import unittest

from support import RCNC, SAMPLES, rcnc

# isort: split
from compare import compare
from eager import Eager
from inputs import random_inputs, random_parameters
from referee import Network
from sample import ALIAS

MODEL = SAMPLES / "conformer_ctc.rcn"
LENGTHS = {"time": [60, 37, 48], "target_time": [6, 3, 4]}


class TwelveLayers(unittest.TestCase):
    def assert_agreed(self, *options, want_grads):
        with Network(rcnc(MODEL, *options)) as network:
            params = random_parameters(network.params(), seed=3)
            network.set_params(params)
            inputs = random_inputs(network.externs(), seed=7, lengths=LENGTHS)
            theirs = network.run(inputs, want_grads=want_grads)
        inputs = {name.replace("classes", "targets"): value for name, value in inputs.items()}
        ours = Eager([RCNC], timeout=900).run(MODEL, inputs, params, want_grads=want_grads, options=options)
        self.assertEqual(set(theirs["losses"]), {"ctc", "ctc_4", "ctc_8"})
        self.assertEqual(bool(theirs.get("gradients")), want_grads)
        self.assertEqual(compare(theirs, ours, ignore=[ALIAS]), [])

    def test_outputs(self):
        """In full size."""
        self.assert_agreed(want_grads=False)

    def test_gradients(self):
        """Of narrower layers: the eager run prints gradients as text."""
        self.assert_agreed("-D", "model_size=64", "-D", "num_labels=50", want_grads=True)


if __name__ == "__main__":
    unittest.main()
