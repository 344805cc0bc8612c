"""Inputs and parameters from files that others write: TensorFlow, RETURNN, NumPy's and Python's own modules."""

import ctypes
import ctypes.util
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest
import wave

import h5py
import numpy

from eager import write_npz

# isort: split
from returnn_process import tf  # first: it sets what TensorFlow reads at import

# isort: split
from returnn.datasets.hdf import HDFDataset, SimpleHDFWriter

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RCNC = pathlib.Path(os.environ.get("RCNC", ROOT / "build" / "rcnc")).resolve()

LINEAR = """\
import nn
dim f: feature = 2
dim g: feature = 3
extern a: float32[batch, f]
network {
    lin = nn.Linear(f, g)
    fn main() { output y = lin(a) }
}
"""
WEIGHT = numpy.arange(6, dtype="float32").reshape(2, 3)
BIAS = numpy.array([0.5, -0.5, 0.25], "float32")
A = numpy.array([[1, 2], [3, -4]], "float32")


def run(make):
    """Runs the operation of TensorFlow that `make` makes."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        session.run(make())


class FilesTest(unittest.TestCase):
    """The current folder of each run is `self.folder`, empty at first."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def rcnc(self, model, *args):
        (self.folder / "model.rcn").write_text(model)
        command = [RCNC, "--eager", "model.rcn", *map(str, args)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)

    def result(self, model, *args, stderr=""):
        """What the run says in JSON."""
        done = self.rcnc(model, "--json", *args)
        self.assertEqual((done.returncode, done.stderr), (0, stderr))
        return json.loads(done.stdout)

    def values(self, model, *args, output="y", stderr=""):
        return self.result(model, *args, stderr=stderr)["outputs"][output]["values"]

    def error(self, model, *args):
        """The first line of the message of a run that has to fail."""
        done = self.rcnc(model, *args)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr.splitlines()[0]


class Parameters(FilesTest):
    data = ("--data", "a=" + json.dumps(A.tolist()))
    model = LINEAR

    def save(self, arrays, prefix="model.7"):
        """A checkpoint of TensorFlow."""
        self.save_slices({name: (array, "") for name, array in sorted(arrays.items())}, prefix)

    def save_slices(self, arrays, prefix="model.7"):
        def make():
            tensors = [tf.constant(array) for array, _ in arrays.values()]
            slices = [text for _, text in arrays.values()]
            path = str(self.folder / prefix)
            return tf.raw_ops.SaveV2(prefix=path, tensor_names=list(arrays), shape_and_slices=slices, tensors=tensors)

        run(make)

    def check(self, *args, stderr=""):
        y = self.values(self.model, *self.data, *args, stderr=stderr)
        numpy.testing.assert_allclose(y, A @ WEIGHT + BIAS)

    def test_checkpoint(self):
        self.save({"lin/weight/param": WEIGHT, "lin/bias/param": BIAS})
        for name in ("model.7", "model.7.index", "model.7.meta", "model.7.data-00000-of-00001"):
            self.check("--params", name)

    def test_state_of_the_optimizer(self):
        """The optimizer's variables are none of the model, and are not missed in it either."""
        arrays = {"lin/weight/param": WEIGHT, "lin/bias/param": BIAS, "global_step": numpy.int64(3)}
        arrays |= {f"{name}/{slot}": array for name, array in arrays.items() for slot in ("Adam", "Adam_1")}
        arrays |= {"optimize/beta1_power": numpy.float32(0.9), "note": numpy.array(b"text")}
        self.save(arrays)
        note = "note: ignored in `model.7`, as no parameters of a model: `global_step`, `global_step/Adam`, "
        self.check("--params", "model.7", stderr=note + "`global_step/Adam_1` and 6 more\n")
        self.check("--params", "model.7", "-q")

    def test_all_dtypes(self):
        """Each is read as what it is; parameters have few of them, arrays as inputs all."""
        dtypes = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
        dtypes += ["float16", "float32", "float64"]
        wide = {"uint16": "int32", "uint32": "int64", "uint64": "int64"}
        self.save({dtype: numpy.array([[1, 0], [3, 100]]).astype(dtype) for dtype in dtypes})
        for dtype in dtypes:
            declared = wide.get(dtype, dtype)
            model = f"dim f: feature = 2\nextern a: {declared}[batch, f]\nnetwork {{ fn main() {{ output y = a }} }}\n"
            expected = numpy.array([[1, 0], [3, 100]]).astype(dtype)
            self.assertEqual(self.values(model, "--data", f"a=model.7:{dtype}"), expected.tolist(), dtype)

    def test_bfloat16(self):
        self.save({"lin/weight/param": WEIGHT.astype(tf.bfloat16.as_numpy_dtype), "lin/bias/param": BIAS})
        self.check("--params", "model.7")

    def test_many_variables(self):
        """More than one block of the index, and names that share beginnings."""
        keys = [f"layer/{i:05}/a/rather/long/name/of/a/variable/param" for i in range(2000)]
        self.save({key: numpy.float32([i, -i]) for i, key in enumerate(keys)})
        model = "dim f: feature = 2\nextern a: float32[f]\nnetwork { fn main() { output y = a } }\n"
        for i in (0, 1, 777, 1999):
            self.assertEqual(self.values(model, "--data", f"a=model.7:{keys[i]}"), [i, -i])

    def test_shards(self):
        self.save({"lin/weight/param": WEIGHT}, "part_1")
        self.save({"lin/bias/param": BIAS}, "part_2")
        prefixes = [str(self.folder / prefix) for prefix in ("part_1", "part_2")]
        both = str(self.folder / "both")
        run(lambda: tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=prefixes, destination_prefix=both))
        self.assertTrue((self.folder / "both.data-00001-of-00002").exists())
        self.check("--params", "both")

    def test_damaged_checkpoints(self):
        self.save({"lin/weight/param": WEIGHT, "lin/bias/param": BIAS})
        index, data = self.folder / "model.7.index", self.folder / "model.7.data-00000-of-00001"
        whole_index, whole_data = index.read_bytes(), data.read_bytes()

        def error():
            return self.error(self.model, *self.data, "--params", "model.7")

        data.write_bytes(whole_data[:-1])
        text = "`model.7.data-00000-of-00001`: the file is cut off: it ends before `lin/weight/param` does"
        self.assertEqual(error(), f"error: {text} [E0710]")
        data.unlink()
        self.assertEqual(error(), "error: `model.7.data-00000-of-00001`: No such file or directory [E0710]")
        data.write_bytes(whole_data)
        foreign = "error: `model.7.index`: this is no index of a checkpoint, or it is cut off [E0710]"
        for content in (whole_index[:-1], whole_index[:20], b"", b"x" * 1000):
            index.write_bytes(content)
            self.assertEqual(error(), foreign)
        for at in (3, 10, 40, 70):
            index.write_bytes(whole_index[:at] + bytes([whole_index[at] ^ 0x55]) + whole_index[at + 1 :])
            self.assertRegex(error(), "^error: `model.7.index`: (it is damaged|this is no index of a checkpoint)")

    def test_partitioned_variables(self):
        self.save_slices({"lin/bias/param": (BIAS, ""), "lin/weight/param": (WEIGHT, "4 3 0,2:-")})
        done = self.rcnc(self.model, *self.data, "--params", "model.7")
        self.assertEqual(done.returncode, 1)
        self.assertIn("`lin/weight/param` is a partitioned variable; such are not read", done.stderr)

    def test_safetensors(self):
        header = {"__metadata__": {"format": "pt"}}
        data = b""
        for name, array in (("lin/weight", WEIGHT), ("lin/bias/param", BIAS.astype("float64"))):
            offsets = [len(data), len(data) + array.nbytes]
            dtype = {"float32": "F32", "float64": "F64"}[array.dtype.name]
            header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": offsets}
            data += array.tobytes()
        text = json.dumps(header).encode()
        (self.folder / "p.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
        self.check("--params", "p.safetensors")

    def test_saved(self):
        """Saved parameters are those of the run, and are read back; the bytes are the same each time."""
        write_npz(self.folder / "first.npz", {"lin/weight": WEIGHT, "lin/bias": BIAS})
        self.check("--params", "first.npz", "--save-params", "second.safetensors")
        self.check("--params", "second.safetensors", "--save-params", "third.npz")
        self.check("--params", "third.npz", "--save-params", "fourth.safetensors")
        self.assertEqual(*((self.folder / f"{n}.safetensors").read_bytes() for n in ("second", "fourth")))
        content = (self.folder / "second.safetensors").read_bytes()
        (length,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8 : 8 + length])
        self.assertEqual(length % 8, 0)
        for name, array in (("lin/weight", WEIGHT), ("lin/bias", BIAS)):
            begin, end = header[name]["data_offsets"]
            found = numpy.frombuffer(content[8 + length + begin : 8 + length + end], "float32")
            numpy.testing.assert_array_equal(found.reshape(header[name]["shape"]), array)


class Renamed(FilesTest):
    """Parameters under other names, and files that lack some."""

    model = """\
import nn
dim f: feature = 2
extern a: float32[batch, f]
network {
    first = nn.Linear(f, f)
    second = nn.Linear(f, f, with_bias=false)
    fn main() { output y = second(first(a)) }
}
"""
    first, second = numpy.float32([[1, 2], [3, 4]]), numpy.float32([[0, 1], [-1, 0]])

    def setUp(self):
        super().setUp()
        arrays = {"enc.0.w": self.first, "enc.0.b/param": BIAS[:2], "enc.1.w/param": self.second}
        write_npz(self.folder / "p.npz", arrays)
        self.args = ["--data", "a=" + json.dumps(A.tolist()), "--params", "p.npz"]

    def check(self, text, *args, stderr=""):
        (self.folder / "names").write_text(text)
        y = self.values(self.model, *self.args, "--rename-map", "names", *args, stderr=stderr)
        numpy.testing.assert_allclose(y, (A @ self.first + BIAS[:2]) @ self.second)

    def test_lines(self):
        first = "# old and new\n\nenc.0.w first/weight\nenc.0.b/param\tfirst/bias\n"
        self.check(first + "enc.1.w second/weight/param # last\n")

    def test_json(self):
        names = {"enc.0.w": "first/weight", "enc.0.b": "first/bias/param", "enc.1.w": "second/weight"}
        self.check(json.dumps(names))

    def test_globs(self):
        arrays = {"x.first.weight": self.first, "x.first.bias/param": BIAS[:2], "x.second.weight": self.second}
        write_npz(self.folder / "p.npz", arrays)
        self.check("x.*.weight */weight\nx.*.bias */bias\n")
        self.check('{"x.*.weight": "*/weight", "x.first.bias": "first/bias"}')

    def test_order(self):
        """A whole name comes before globs, and of these the first."""
        arrays = {"x/first/weight": self.first, "x/first/bias": BIAS[:2], "x/last": self.second}
        write_npz(self.folder / "p.npz", arrays)
        self.check("x/* *\nx/last second/weight\n")
        arrays["x/weight"] = arrays.pop("x/last")
        write_npz(self.folder / "p.npz", arrays)
        self.check("x/first/* first/*\nx/* second/*\n")

    def test_all_problems_at_once(self):
        (self.folder / "names").write_text("enc.0.w first/wieght\nenc.0.b first/bias\nenc.3.w second/weight\n")
        done = self.rcnc(self.model, *self.args, "--rename-map", "names")
        self.assertEqual(done.returncode, 1)
        lines = [line for line in done.stderr.splitlines() if "note:" in line or "error:" in line]
        self.assertEqual(
            lines,
            [
                "error: the parameters in `p.npz` are not those of the network [E0711]",
                "note: `enc.3.w` of `names` fits no name in the file; did you mean `enc.0.w`?",
                "model.rcn:5:13: note: missing: `first/weight` [f=2, f=2]; did you mean `first/wieght`?",
                "model.rcn:6:14: note: missing: `second/weight` [f=2, f=2]",
                "note: left over: `enc.1.w/param` is no parameter that the network uses",
                "note: left over: `enc.0.w`, here `first/wieght`, is no parameter that the network uses;"
                " did you mean `first/weight`?",
            ],
        )

    def test_two_of_one_name(self):
        (self.folder / "names").write_text("enc.0.w second/weight\nenc.1.w second/weight\nenc.0.b first/bias\n")
        done = self.rcnc(self.model, *self.args, "--rename-map", "names")
        self.assertIn("`enc.0.w` and `enc.1.w/param` are both renamed to `second/weight`", done.stderr)

    def test_bad_maps(self):
        for text, message in (
            ("a b c\n", "line 1 should be `OLD NEW`, two names"),
            ("\na\n", "line 2 should be `OLD NEW`, two names"),
            ("a* b\n", "`a*` and `b`: there is one `*` in both, or none"),
            ("a** b**\n", "`a**` and `b**`: there is one `*` in both, or none"),
            ("a b\na c\n", "`a` is renamed twice"),
            ('{"a": 1}', "the new name of `a` is no text"),
            ('{"a": ', "it begins like JSON and is none, at byte 7"),
        ):
            (self.folder / "names").write_text(text)
            error = self.error(self.model, *self.args, "--rename-map", "names")
            self.assertEqual(error, f"error: `names`: {message} [E0710]")

    def test_partial(self):
        write_npz(self.folder / "p.npz", {"second/weight": self.second})
        note = "note: not in `p.npz`, at their first values: `first/weight`, `first/bias`\n"
        args = [*self.args, "--params-partial", "--save-params", "all.npz"]
        y = self.values(self.model, *args, stderr=note)
        self.assertEqual(y, self.values(self.model, *args, "-q"))
        self.assertEqual(y, self.values(self.model, *self.args[:2], "--params", "all.npz"))
        write_npz(self.folder / "p.npz", {"second/weight": self.second, "other": BIAS})
        self.assertEqual(self.rcnc(self.model, *args).returncode, 1)


AUDIO = """\
dim time: spatial
extern audio: float32[batch, time]
network { fn main() { output y = audio } }
"""


class Audio(FilesTest):
    def wav(self, name, samples, rate=16000, channels=1):
        """16 bits a sample."""
        (self.folder / name).parent.mkdir(exist_ok=True)
        with wave.open(str(self.folder / name), "wb") as file:
            file.setparams((channels, 2, rate, 0, "NONE", ""))
            file.writeframes(numpy.asarray(samples, "<i2").tobytes())

    def setUp(self):
        super().setUp()
        self.wav("a.wav", [0, 16384, -32768, 32767, 1])
        self.wav("b.wav", [1, 2, 3])
        # As the shortest decimals that are these float32.
        self.scaled = [[0, 0.5, -1, 0.9999695, 3.0517578e-05], [3.0517578e-05, 6.1035156e-05, 9.1552734e-05]]

    def test_one_file(self):
        self.assertEqual(self.values(AUDIO, "--data", "audio=a.wav"), self.scaled[:1])

    def test_batches(self):
        for text in ("a.wav,b.wav", "*.wav", "?.w[a]v"):
            output = self.result(AUDIO, "--data", f"audio={text}")["outputs"]["y"]
            self.assertEqual(output["values"], self.scaled)
            self.assertEqual((output["lengths"], output["dtype"]), ({"time": [5, 3]}, "float32"))
        self.assertEqual(self.values(AUDIO, "--data", "audio=b.wav,a.wav"), self.scaled[::-1])

    def test_flac(self):
        """Without any loss; the file is of libsndfile's own making, from a.wav."""
        library = ctypes.CDLL(ctypes.util.find_library("sndfile"))

        class Info(ctypes.Structure):
            _fields_ = [("frames", ctypes.c_int64)]
            _fields_ += [(name, ctypes.c_int) for name in ("rate", "channels", "format", "sections", "seekable")]

        library.sf_open.restype = ctypes.c_void_p
        info = Info(0, 16000, 1, 0x170000 | 0x0002, 0, 0)
        file = ctypes.c_void_p(library.sf_open(str(self.folder / "a.flac").encode(), 0x20, ctypes.byref(info)))
        samples = (ctypes.c_short * 5)(0, 16384, -32768, 32767, 1)
        self.assertEqual(library.sf_write_short(file, samples, ctypes.c_int64(5)), 5)
        library.sf_close(file)
        self.assertEqual((self.folder / "a.flac").read_bytes()[:4], b"fLaC")
        self.assertEqual(self.values(AUDIO, "--data", "audio=a.flac,b.wav"), self.scaled)

    def test_feature_dim_of_one(self):
        model = AUDIO.replace("time]", "sample, time]").replace("extern", "dim sample: feature = 1\nextern")
        self.assertEqual(self.values(model, "--data", "audio=b.wav"), [[self.scaled[1]]])

    def test_errors(self):
        self.wav("stereo.wav", [1, 2, 3, 4], channels=2)
        self.wav("other/slow.wav", [1, 2], rate=8000)
        self.wav("other/fast.wav", [1, 2], rate=44100)
        (self.folder / "text.wav").write_text("no recording at all, and long enough to look at")
        integer = AUDIO.replace("float32", "int32")
        feature = AUDIO.replace("time]", "f]").replace("time: spatial", "f: feature = 4")
        channels = "it has 2 channels, and only one is read; mix them first: `sox IN.wav -c 1 OUT.wav`"
        for model, text, message, options in (
            (AUDIO, "stereo.wav", f"`stereo.wav`: {channels}", []),
            (AUDIO, "other/*.wav", "`other/slow.wav`: its sample rate is 8000, that of `other/fast.wav` is 44100", []),
            (AUDIO, "a.wav", "`a.wav`: its sample rate is 16000, `--sample-rate` says 8000", ["--sample-rate", "8000"]),
            (AUDIO, "no*.wav", "`no*.wav`: no file fits", []),
            (AUDIO, "no.wav", "`no.wav`: No such file or directory", []),
            (AUDIO, "a.wav,no.wav", "`no.wav`: No such file or directory", []),
            (integer, "a.wav", "the data is of dtype float32, declared is int32", []),
            (feature, "a.wav", "`f` has size 4, the data 5", []),
            (feature, "a.wav,b.wav", "`f` has one size for all sequences, in the data 3 and 5", []),
        ):
            error = self.error(model, "--data", f"audio={text}", *options)
            self.assertEqual(error, f"model.rcn:2:8: error: input `audio`: {message} [E0714]")
        self.assertIn("`text.wav`: ", self.error(AUDIO, "--data", "audio=text.wav"))


class Examples(FilesTest):
    model = """\
dim time: spatial
dim label: spatial
dim classes: feature = 5
extern audio: float32[batch, time]
extern targets: index(classes)[batch, label]
network {
    fn main() {
        output y = audio
        output z = targets
    }
}
"""
    data = ("--data", "audio=example:audio", "--data", "targets=example:transcripts")

    def test_speech(self):
        outputs = self.result(self.model, *self.data)["outputs"]
        lengths = outputs["y"]["lengths"]["time"]
        self.assertEqual((len(lengths), lengths[0]), (3, 9600))
        self.assertTrue(all(0.25 * 16000 < length <= 9600 for length in lengths), lengths)
        for samples in outputs["y"]["values"]:
            samples = numpy.array(samples)
            self.assertAlmostEqual(abs(samples).max(), 0.5, delta=1e-6)
            self.assertLess(abs(samples.mean()), 0.01)
            self.assertEqual(samples[0], 0)
        for labels, length in zip(outputs["z"]["values"], lengths):
            self.assertTrue(all(0 <= label < 5 for label in labels), labels)
            self.assertTrue(all(a != b for a, b in zip(labels, labels[1:])), labels)
            self.assertAlmostEqual(len(labels), length / 1600, delta=0.7)

    def test_power_is_where_that_of_speech_is(self):
        """Of white noise an eighth is below 1 kHz."""
        low = total = 0
        for samples in self.values(self.model, *self.data, "--batch", 20):
            power = abs(numpy.fft.rfft(samples)) ** 2
            low += power[numpy.fft.rfftfreq(len(samples), 1 / 16000) < 1000].sum()
            total += power.sum()
        self.assertGreater(low, 0.5 * total)

    def test_it_is_the_same_each_time(self):
        first = self.result(self.model, *self.data)
        self.assertEqual(first, self.result(self.model, *self.data))
        self.assertNotEqual(first, self.result(self.model, *self.data, "--seed", 1))

    def test_batch_and_rate(self):
        outputs = self.result(self.model, *self.data, "--batch", 5, "--sample-rate", 8000)["outputs"]
        self.assertEqual(len(outputs["z"]["values"]), 5)
        self.assertEqual(outputs["y"]["lengths"]["time"][0], 4800)

    def test_range(self):
        model = self.model.replace("extern targets", "extern targets(range=[1, 3])")
        values = self.values(model, *self.data, "--batch", 20, output="z")
        self.assertEqual({label for labels in values for label in labels}, {1, 2, 3})

    def test_errors(self):
        error = self.error(self.model, "--data", "audio=example:music")
        self.assertIn("there is no example `music`; the examples are `audio` and `transcripts`", error)
        self.assertIn("the data is of dtype int64", self.error(self.model, "--data", "audio=example:transcripts"))


class Datasets(FilesTest):
    """What RETURNN's writer writes, as RETURNN's own reader reads it."""

    model = """\
dim time: spatial
dim label: spatial
dim f: feature = 3
dim classes: feature = 5
extern features(key="data"): float32[batch, time, f]
extern targets(key="classes"): index(classes)[batch, label]
network {
    fn main() {
        output y = features
        output z = targets
    }
}
"""

    def setUp(self):
        super().setUp()
        self.path = self.folder / "set.hdf"
        random = numpy.random.RandomState(1)
        writer = SimpleHDFWriter(str(self.path), dim=3, extra_type={"classes": (5, 1, "int32")})
        for i, (frames, labels) in enumerate(((4, 2), (2, 3), (5, 1), (3, 3), (1, 1))):
            writer.insert_batch(
                random.randint(-9, 9, (1, frames, 3)).astype("float32") / 4,
                [frames],
                [f"seq-{i}"],
                {"classes": random.randint(0, 5, (1, labels)).astype("int32")},
            )
        writer.close()

    def expected(self, key, first=0, last=4):
        dataset = HDFDataset([str(self.path)], cache_byte_size=0)
        dataset.init_seq_order(epoch=1)
        dataset.load_seqs(0, 5)
        return [dataset.get_data(i, key).tolist() for i in range(first, last + 1)]

    def test_all_inputs(self):
        outputs = self.result(self.model, "--data", "set.hdf")["outputs"]
        self.assertEqual(outputs["y"]["values"], self.expected("data"))
        self.assertEqual(outputs["z"]["values"], self.expected("classes"))
        self.assertEqual(outputs["y"]["lengths"], {"time": [4, 2, 5, 3, 1]})

    def test_some_sequences(self):
        for text, first, last in (("1-3", 1, 3), ("4", 4, 4), ("0-4", 0, 4)):
            outputs = self.result(self.model, "--data", f"set.hdf:{text}")["outputs"]
            self.assertEqual(outputs["y"]["values"], self.expected("data", first, last))
            self.assertEqual(outputs["z"]["values"], self.expected("classes", first, last))

    def test_one_input(self):
        for text in ("targets=set.hdf:1-2", "targets=set.hdf:classes:1-2"):
            outputs = self.result(self.model, "--data", "features=set.hdf:1-2", "--data", text)["outputs"]
            self.assertEqual(outputs["z"]["values"], self.expected("classes", 1, 2))
            self.assertEqual(outputs["y"]["values"], self.expected("data", 1, 2))
        outputs = self.result(self.model, "--data", "set.hdf:0-1", "--data", "targets=[[1],[2,3]]")["outputs"]
        self.assertEqual(outputs["z"]["values"], [[1], [2, 3]])
        self.assertEqual(outputs["y"]["values"], self.expected("data", 0, 1))

    def test_other_order_of_dims(self):
        model = self.model.replace("[batch, time, f]", "[f, batch, time]")
        values = self.values(model, "--data", "set.hdf")
        expected = [[[frame[i] for frame in sequence] for sequence in self.expected("data")] for i in range(3)]
        self.assertEqual(values, expected)

    def test_unused_keys(self):
        model = self.model.replace('key="classes"', 'key="other"')
        note = "note: no input takes `classes` of `set.hdf`\n"
        y = self.values(model, "--data", "set.hdf", stderr=note)
        self.assertEqual(y, self.values(model, "--data", "set.hdf", "-q"))

    def test_sparse_inputs_and_other_dtypes(self):
        """Inputs of classes; targets before and after them in the order of names; one value for each sequence."""
        self.path.unlink()
        writer = SimpleHDFWriter(str(self.path), dim=4, ndim=1)
        for i, frames in enumerate((2, 3)):
            extra = {
                "aa": numpy.arange(frames * 2, dtype="float64").reshape(1, frames, 2),
                "zz": numpy.array([i + 7], dtype="int32"),
            }
            writer.insert_batch(numpy.full((1, frames), i + 1, "int16"), [frames], [f"seq-{i}"], extra)
        writer.close()
        model = """\
dim time: spatial
dim f: feature = 2
dim classes: feature = 4
extern data: index(classes)[batch, time]
extern aa: float64[batch, time, f]
extern zz: int32[batch]
network {
    fn main() {
        output x = data
        output y = aa
        output z = zz
    }
}
"""
        outputs = self.result(model, "--data", "set.hdf")["outputs"]
        self.assertEqual(outputs["x"]["values"], [[1, 1], [2, 2, 2]])
        self.assertEqual(outputs["y"]["values"], [[[0, 1], [2, 3]], [[0, 1], [2, 3], [4, 5]]])
        self.assertEqual(outputs["z"]["values"], [7, 8])

    def test_several_axes(self):
        """The writer flattens them, and stores their lengths under `sizes`."""
        self.path.unlink()
        writer = SimpleHDFWriter(str(self.path), dim=3, ndim=3)
        random = numpy.random.RandomState(2)
        a, b = (random.randint(-9, 9, (1, *shape, 3)).astype("float32") for shape in ((2, 3), (4, 1)))
        writer.insert_batch(a, {0: [2], 1: [3]}, ["a"])
        writer.insert_batch(b, {0: [4], 1: [1]}, ["b"])
        writer.close()
        model = """\
dim time: spatial
dim other: spatial
dim f: feature = 3
extern data: float32[batch, time, other, f]
network { fn main() { output y = data } }
"""
        values = self.values(model, "--data", "set.hdf")
        self.assertEqual(values, [a[0].tolist(), b[0].tolist()])

    def test_errors(self):
        whole = self.path.read_bytes()
        (self.folder / "cut.hdf").write_bytes(whole[: len(whole) // 2])
        (self.folder / "text.hdf").write_text("text")
        with h5py.File(self.folder / "foreign.hdf", "w") as file:
            file["inputs"] = numpy.zeros(3)
        with h5py.File(self.folder / "short.hdf", "w") as file:
            file["inputs"] = numpy.zeros((3, 3), "float32")
            file["seqLengths"] = numpy.array([[2, 2], [2, 2]], "int32")
        for text, message in (
            ("cut.hdf", "`cut.hdf`: the file is cut off or damaged"),
            ("text.hdf", "`text.hdf`: this is no HDF5 file"),
            ("no.hdf", "`no.hdf`: No such file or directory"),
            ("foreign.hdf", "`foreign.hdf`: this is no dataset of RETURNN: it has no `seqLengths`"),
        ):
            self.assertEqual(self.error(self.model, "--data", text), f"error: {message} [E0710]")
        place = "model.rcn:5:8: error: input `features`: "
        for text, message in (
            ("short.hdf", "`short.hdf`: it is damaged: `data` has fewer frames than its sequences"),
            ("set.hdf:3-5", "`set.hdf`: there is no sequence 5: it has 5, counted from 0"),
            ("features=set.hdf:nothing", "`set.hdf`: it has no `nothing`, only `data` and `classes`"),
            ("features=set.hdf:classes", "each sequence has 1 dims, declared are [time, f=3] beside `batch`"),
        ):
            self.assertEqual(self.error(self.model, "--data", text), f"{place}{message} [E0714]")
        sizes = "`set.hdf`: `classes` has 5 classes, `classes` has size 6"
        lengths = "`time` has lengths (2, 3, 1, 3, 1), in `features` (4, 2, 5, 3, 1)"
        for old, new, line, name, message in (
            ("classes: feature = 5", "classes: feature = 6", 6, "targets", sizes),
            ("f: feature = 3", "f: feature = 2", 5, "features", "`f` has size 2, the data 3"),
            ("float32", "int32", 5, "features", "the data is of dtype float32, declared is int32"),
            ("[batch, label]", "[batch, time]", 6, "targets", lengths),
        ):
            error = self.error(self.model.replace(old, new), "--data", "set.hdf")
            self.assertEqual(error, f"model.rcn:{line}:8: error: input `{name}`: {message} [E0714]")
        nothing = self.rcnc(AUDIO, "--data", "set.hdf").stderr
        self.assertIn("`set.hdf` has nothing for the model", nothing)
        self.assertIn("help: it has `data` and `classes`, the keys of the inputs are `audio`", nothing)


if __name__ == "__main__":
    unittest.main()
