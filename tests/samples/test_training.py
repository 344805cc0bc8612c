"""Samples learn their tasks in RETURNN, with samples/NAME.config as a user runs it."""

import os
import pathlib
import shutil
import tempfile
import unittest
from unittest import mock

import h5py
import numpy

from support import RCNC, SAMPLES, rcnc

# isort: split
import returnn_process  # noqa: F401 (it silences the log of RETURNN)

# isort: split
from compare import compare
from eager import Eager
from returnn.datasets import init_dataset
from training import train

EPOCHS = 6
LARGEST_LOSS = 0.05
"""Of the dev set per frame, after the last epoch."""

LARGEST_ERROR = 0.02
"""The part of frames with a wrong label, of the eval set. "R" alone is more than that."""


class Trained:
    """The files of a sample that was trained, and that then said what it says for the eval set."""

    name = None
    forward_mode = "train"

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        model, written = SAMPLES / f"{cls.name}.rcn", cls.folder / f"{cls.name}.py"
        config = shutil.copy(SAMPLES / f"{cls.name}.config", cls.folder)
        options = {"random_seed": 1}
        # As "python -m returnn" does, Python looks in the current folder.
        with mock.patch.dict(os.environ, PYTHONPATH=str(cls.folder), PYTHONDONTWRITEBYTECODE="1"):
            rcnc(model, "-o", written)
            cls.scores = train(config, cls.folder, options)
            rcnc(model, "--mode", cls.forward_mode, "-o", written)
            train(config, cls.folder, {**options, "task": "forward"})

    def forwarded(self):
        """The first output of each sequence, over its frames, and their lengths."""
        with h5py.File(self.folder / f"{self.name}.hdf", "r") as file:
            lengths = file["seqLengths"][:, 0].tolist()
            return numpy.split(file["inputs"][:], numpy.cumsum(lengths)[:-1]), lengths


class Tagger(Trained, unittest.TestCase):
    name = "tagger"

    def test_learns(self):
        self.assertEqual(sorted(self.scores), list(range(1, EPOCHS + 1)))
        first, last = (self.scores[epoch]["scores"] for epoch in (1, EPOCHS))
        self.assertEqual(self.scores[1]["learning_rate"], 0.01)
        self.assertLess(last["train_score"], first["train_score"])
        self.assertLess(last["dev_score"], LARGEST_LOSS)
        self.assertLess(last["dev_error"], LARGEST_ERROR)

    def test_forwards(self):
        logits, lengths = self.forwarded()
        data, classes = self.eval_set(len(lengths))
        self.assertEqual([len(sequence) for sequence in data], lengths)
        wrong = sum(int((a.argmax(axis=-1) != b).sum()) for a, b in zip(logits, classes))
        self.assertLess(wrong / sum(lengths), LARGEST_ERROR)
        self.assertGreater(sum(int(b.sum()) for b in classes) / sum(lengths), LARGEST_ERROR)

    def test_eager_run_of_the_checkpoint(self):
        logits, lengths = (part[:4] for part in self.forwarded())
        data, classes = self.eval_set(4)
        inputs = {"data": padded(data), "data/length/time": lengths}
        inputs |= {"targets": padded(classes), "targets/length/time": lengths}
        checkpoint = self.folder / f"network.{EPOCHS:03}"
        result = Eager([RCNC]).run(SAMPLES / "tagger.rcn", inputs, checkpoint, want_grads=False)
        forwarded = {**result["outputs"]["logits"], "values": padded(logits)}
        self.assertEqual(compare({"outputs": {"logits": forwarded}}, {"outputs": result["outputs"]}), [])

    @staticmethod
    def eval_set(count):
        """Data and classes of the first sequences of the config's eval set."""
        dataset = init_dataset({"class": "Task12AXDataset", "num_seqs": 100, "fixed_random_seed": 2})
        dataset.init_seq_order(epoch=1)
        dataset.load_seqs(0, count)
        return tuple([dataset.get_data(i, key) for i in range(count)] for key in ("data", "classes"))


class AttentionCopy(Trained, unittest.TestCase):
    name = "attention_copy"
    forward_mode = "search"

    def test_search_is_right(self):
        """Of sequences that training did not see, most are said without any mistake."""
        said, lengths = self.forwarded()
        options = {"class": "CopyTaskDataset", "nsymbols": 10, "minlen": 1, "maxlen": 12}
        dataset = init_dataset({**options, "num_seqs": 200, "fixed_random_seed": 2})
        dataset.init_seq_order(epoch=1)
        dataset.load_seqs(0, len(said))
        self.assertEqual(len(said), 200)
        wanted = [dataset.get_data(i, "classes").tolist() for i in range(len(said))]
        self.assertGreater(numpy.mean([a.tolist() == b for a, b in zip(said, wanted)]), 0.95)
        self.assertEqual([len(sequence) for sequence in said], lengths)
        self.assertLess(self.scores[max(self.scores)]["scores"]["dev_error"], 0.02)


def padded(sequences):
    """One array, [batch, time, ...], zero where a sequence is short."""
    array = numpy.zeros((len(sequences), max(map(len, sequences)), *sequences[0].shape[1:]), sequences[0].dtype)
    for row, sequence in zip(array, sequences):
        row[: len(sequence)] = sequence
    return array


if __name__ == "__main__":
    unittest.main()
