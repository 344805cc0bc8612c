"""The samples that search."""

import unittest

import numpy

from learning import losses_of_steps
from sample import Searching
from support import parameters_of, rcnc

# isort: split
from referee import Network


class WithEnd(Searching):
    """Search leaves out the symbol that ends each sequence, unless the sequence has reached the greatest length."""

    end_label = 0

    def greatest_lengths(self):
        raise NotImplementedError

    def wanted(self, labels, lengths):
        wanted = numpy.full((len(labels), labels.shape[1] + 1), self.end_label, dtype="int32")
        for i, length in enumerate(lengths):
            wanted[i, :length] = labels[i, :length]
        ends = numpy.where(lengths < self.greatest_lengths(), lengths + 1, lengths)
        return wanted[:, : ends.max()], ends


class AttentionCopy(WithEnd, unittest.TestCase):
    """The network itself puts the end behind the labels that it is told."""

    name = "attention_copy"
    end_label = 10

    def greatest_lengths(self):
        return 2 * self.inputs["data/length/time"] + 2

    def told(self, labels, lengths):
        return labels, lengths


class Transformer(WithEnd, unittest.TestCase):
    name = "transformer"
    small = ("num_layers=2", "model_size=8", "ff_size=12", "num_heads=2", "vocab_size=11")
    constructed = ("num_layers=2",)
    seed = 5  # with which greedy search does not end at once: RETURNN cannot stack no frames

    def greatest_lengths(self):
        return 2 * self.inputs["data/length/time"]


class LstmAttention(WithEnd, unittest.TestCase):
    name = "lstm_attention"
    small = (
        *("max_layers=3", "pool_sizes=[3,2]", "lstm_size=6", "key_size=5", "embed_size=7", "readout_size=8"),
        *("num_labels=11",),
    )
    seed = 6
    lengths = {"time": [38, 23, 30], "target_time": [4, 2, 3]}  # so long that CTC has an alignment

    def greatest_lengths(self):
        return -(-self.inputs["data/length/time"] // 6)

    def test_growth(self):
        """RETURNN constructs each stage of pretraining; its parameters are among those of the next one."""
        stages = []
        for stage in (0, 1):
            options = (*self.options, "-D", f"stage={stage}")
            with Network(rcnc(self.path, *options)) as network:
                stages.append(parameters_of(rcnc("params", self.path, *options)))
                self.assertEqual({item["name"] for item in network.params()}, set(stages[-1]))
                before, after = losses_of_steps(network, self.inputs)
                self.assertLess(after, before)
        self.assertLess(stages[0].items(), stages[1].items())
        self.assertEqual(stages[1], parameters_of(rcnc("params", self.path, *self.options)))


class Transducer(Searching, unittest.TestCase):
    name = "transducer"
    small = ("enc_size=8",)
    best = "alignment"
    length_key = "classes/length/time"

    def told(self, labels, lengths):
        return labels, lengths

    def wanted(self, labels, lengths):
        self.assertEqual(lengths.tolist(), self.inputs["data/length/time"].tolist())
        return labels, lengths

    def test_output_without_blanks(self):
        outputs = self.searched(4)
        said, alignment = outputs["said"], outputs["alignment"]
        lengths, found = self.inputs["data/length/time"], next(iter(said["lengths"].values()))
        for i, length in enumerate(lengths):
            labels = [label for label in alignment["values"][i, :length].tolist() if label != 30]
            self.assertEqual(said["values"][i, : found[i]].tolist(), labels)


if __name__ == "__main__":
    unittest.main()
