"""The samples with convolutions."""

import itertools
import unittest

import numpy

from sample import Sample, Searching


class ConformerCtc(Sample, unittest.TestCase):
    name = "conformer_ctc"
    small = ("num_layers=2", "model_size=8", "num_heads=2", "num_labels=5", "channel_sizes=[2,3,3]", "aux_layers=[1]")
    constructed = ("num_layers=3", "aux_layers=[1]")
    lengths = {"time": [38, 23, 30], "target_time": [4, 2, 3]}  # a sixth of it so long that there is an alignment
    plain = False
    searches = True

    def test_greedy_search(self):
        """The best label of each frame, without repetitions and blanks."""
        best = self.agreed("--mode", "search", targets=False)[0]["outputs"]["best"]
        log_probs = self.network.run(self.inputs, want_grads=False)["outputs"]["log_probs"]
        for i, frames in enumerate(next(iter(log_probs["lengths"].values()))):
            labels = [label for label, _ in itertools.groupby(log_probs["values"][i, :frames].argmax(axis=-1))]
            found = best["values"][i, : next(iter(best["lengths"].values()))[i]]
            self.assertEqual(found.tolist(), [label for label in labels if label != 5])


class ConformerTransducer(Searching, unittest.TestCase):
    name = "conformer_transducer"
    small = ("num_layers=2", "num_heads=2", "enc_size=8", "lstm_size=6", "embed_size=5", "joint_size=8", "num_labels=5")
    constructed = ("num_layers=3",)
    learning_rate = 0.05
    lengths = {"time": [38, 23, 30], "target_time": [4, 2, 3]}

    def test_search(self):
        """The labels are those of the alignment without blanks."""
        for beam_size in (1, 8):
            outputs = self.searched(beam_size)
            said, alignment = outputs["said"], outputs["alignment"]
            lengths, frames = (next(iter(output["lengths"].values())) for output in (said, alignment))
            self.assertEqual(frames.tolist(), [7, 4, 5])
            for i, length in enumerate(lengths):
                labels = alignment["values"][i, : frames[i]]
                self.assertEqual(said["values"][i, :length].tolist(), labels[labels != 5].tolist())


class Wav2vec(Sample, unittest.TestCase):
    """With all frames hidden and two frames a sequence nothing is random in evaluation."""

    name = "wav2vec"
    small = (
        *("num_layers=1", "num_heads=2", "model_size=8", "ff_size=10", "conv_size=6", "kernels=[3,2]", "strides=[2,2]"),
        *("num_entries=5", "code_size=4", "target_size=6", "num_negatives=3", "mask_prob=1.0", "mask_length=2"),
    )
    lengths = {"samples": [9, 10, 11]}
    modes = ("features",)
    without_gradient = ("projection/weight", "projection/bias")
    plain = False


class Tacotron2(Sample, unittest.TestCase):
    name = "tacotron2"
    small = (
        *("embed_size=6", "enc_size=5", "att_size=7", "location_size=3", "location_width=3", "dec_size=8"),
        *("post_size=8", "prenet_dropout=0.0", "max_steps=5"),
    )
    modes = without_targets = ("synthesis",)
    seed = 9  # with which some sequences end before the most steps
    learning_rate = 0.05
    searches = True
    plain = False

    def test_last_step(self):
        """Synthesis has two frames for each step, and stops where the model says so, or at the most steps."""
        outputs = self.agreed("--mode", "synthesis", targets=False)[0]["outputs"]
        steps, frames = outputs["attention"]["lengths"]["steps"], outputs["audio"]["lengths"]["mel_time"]
        self.assertEqual(frames.tolist(), (2 * steps).tolist())
        self.assertTrue(steps.min() < steps.max() == 5, steps)


class NarTts(Sample, unittest.TestCase):
    name = "nar_tts"
    small = ("embed_size=6", "speaker_size=5", "hidden_size=6", "dec_size=7", "num_speakers=4")
    learning_rate = 0.1  # half of most layers is dropped
    lengths = {"text_time": [4, 2, 3], "speech_time": [8, 5, 6]}
    given = {"durations": numpy.array([[1, 3, 2, 2], [4, 1, 0, 0], [2, 2, 2, 0]], "int32")}  # sums: speech_time
    modes = without_targets = ("synthesis",)
    searches = True
    plain = False


if __name__ == "__main__":
    unittest.main()
