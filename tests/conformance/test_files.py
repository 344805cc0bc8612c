"""Parameters from files that others write."""

import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import numpy

from eager import write_npz

# isort: split
from returnn_process import tf  # first: it sets what TensorFlow reads at import

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


if __name__ == "__main__":
    unittest.main()
