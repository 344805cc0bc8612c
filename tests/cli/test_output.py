"""Where results go: files, standard output, and what may go wrong with either."""

import json
import os
import shutil
import signal
import stat
import subprocess
import unittest

from support import BROKEN, INTERRUPTED, MODEL, MODEL_ERROR, NOBODY, OK, RCNC, USAGE, CliTest, eager_there


FUSED = """\
import nn
dim f: feature = 2
extern data: float32[batch, f]

fn twice(v: [..., f]) -> [..., f] {
    x = nn.square(v)
    return (x + v) * 0.5
}
network {
    fn main() {
        output y = twice(nn.exp(data) * 2.0)
    }
}
"""


class Files(CliTest):
    def setUp(self):
        super().setUp()
        self.write("model.rcn", MODEL)

    def test_holds_what_stdout_would(self):
        self.assertEqual(self.output_of("model.rcn", "-o", "model.py"), "")
        self.assertEqual((self.folder / "model.py").read_text(), self.output_of("model.rcn"))
        self.assertEqual(self.files(), ["model.py", "model.rcn"])

    def test_is_written_when_its_content_changes_only(self):
        target = self.folder / "model.py"
        self.output_of("model.rcn", "-o", "model.py")
        os.utime(target, ns=(10**18, 10**18))
        before = target.stat()
        self.output_of("model.rcn", "-o", "model.py")
        after = target.stat()
        self.assertEqual((before.st_mtime_ns, before.st_ino), (after.st_mtime_ns, after.st_ino))
        self.output_of("model.rcn", "-o", "model.py", "-D", "size=9")
        self.assertNotEqual(target.stat().st_mtime_ns, 10**18)
        self.assertIn("Dim(9, ", target.read_text())

    def test_is_replaced_whole(self):
        """Atomically: who has the old file open reads the old text to its end."""
        target = self.write("model.py", "old\n" * 10000)
        with open(target) as reader:
            self.output_of("model.rcn", "-o", "model.py")
            self.assertEqual(reader.read(), "old\n" * 10000)
        self.assertIn("network", target.read_text())

    def test_is_untouched_after_an_error(self):
        self.write("broken.rcn", BROKEN)
        self.error_of(MODEL_ERROR, "broken.rcn", "-o", "new.py")
        target = self.write("old.py", "old\n")
        self.error_of(MODEL_ERROR, "broken.rcn", "-o", "old.py")
        self.assertEqual(target.read_text(), "old\n")
        self.assertEqual(self.files(), ["broken.rcn", "model.rcn", "old.py"])

    def test_source_map(self):
        """Where a layer comes from, the calls around it, and what went into it."""
        self.write("fused.rcn", FUSED)
        self.output_of("fused.rcn", "-o", "fused.py", "--source-map", "fused.json")
        layers = json.loads((self.folder / "fused.json").read_text())["layers"]
        self.assertEqual(set(layers), {"mul", "twice.mul", "y", "output"})
        own, part, call = ({"file": "fused.rcn", "line": line, "column": column} for line, column in ((7, 13), (6, 9), (11, 20)))
        self.assertEqual(layers["twice.mul"], {**own, "calls": [call], "parts": [part]})
        self.assertIn("# fused.rcn:7, fused.rcn:6\n", (self.folder / "fused.py").read_text())

    def test_keeps_its_mode(self):
        target = self.write("model.py", "old\n")
        target.chmod(0o640)
        self.output_of("model.rcn", "-o", "model.py")
        self.assertEqual(stat.S_IMODE(target.stat().st_mode), 0o640)

    def test_new_files_obey_the_umask(self):
        self.output_of("model.rcn", "-o", "model.py", umask=0o027)
        self.assertEqual(stat.S_IMODE((self.folder / "model.py").stat().st_mode), 0o640)

    def test_a_link_stays_one(self):
        (self.folder / "real").mkdir()
        (self.folder / "link.py").symlink_to("real/model.py")
        self.write("real/model.py", "old\n")
        self.output_of("model.rcn", "-o", "link.py")
        self.assertTrue((self.folder / "link.py").is_symlink())
        self.assertIn("network", (self.folder / "real" / "model.py").read_text())

    def test_folder_that_is_not_there(self):
        self.assertIn("absent/model.py", self.error_of(MODEL_ERROR, "model.rcn", "-o", "absent/model.py"))
        self.assertEqual(self.files(), ["model.rcn"])

    def test_folder_that_may_not_be_written(self):
        shutil.copy(RCNC, self.folder / "rcnc")
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)
        options = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        error = self.error_of(MODEL_ERROR, "model.rcn", "-o", "model.py", binary=self.folder / "rcnc", **options)
        self.assertIn("model.py", error)
        self.assertIn("ermission denied", error)
        self.assertEqual(self.files(), ["model.rcn", "rcnc"])

    def test_full_disk(self):
        self.assertIn("No space left", self.error_of(MODEL_ERROR, "model.rcn", "-o", "/dev/full"))
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))

    def test_device(self):
        self.assertEqual(self.output_of("model.rcn", "-o", "/dev/stdout"), self.output_of("model.rcn"))


class SeveralModels(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.rcn", MODEL)
        self.write("b.rcn", MODEL.replace("option size: int = 4", "option size: int = 5"))
        self.write("broken.rcn", BROKEN)
        (self.folder / "out").mkdir()

    def test_go_to_a_folder(self):
        self.output_of("a.rcn", "b.rcn", "-o", "out")
        self.assertEqual((self.folder / "out" / "a.py").read_text(), self.output_of("a.rcn"))
        self.assertEqual((self.folder / "out" / "b.py").read_text(), self.output_of("b.rcn"))

    def test_one_that_fails_does_not_stop_the_others(self):
        self.error_of(MODEL_ERROR, "a.rcn", "broken.rcn", "b.rcn", "-o", "out")
        self.assertEqual(sorted(os.listdir(self.folder / "out")), ["a.py", "b.py"])

    def test_need_a_folder(self):
        self.assertIn("-o", self.error_of(USAGE, "a.rcn", "b.rcn"))

    def test_of_one_name_do_not_overwrite_each_other(self):
        self.write("other/a.rcn", MODEL)
        self.assertIn("a.py", self.error_of(USAGE, "a.rcn", "other/a.rcn", "-o", "out"))
        self.assertEqual(os.listdir(self.folder / "out"), [])


class Streams(CliTest):
    def setUp(self):
        super().setUp()
        self.write("model.rcn", MODEL)

    def test_full_disk(self):
        with open("/dev/full", "w") as full:
            self.assertIn("No space left", self.error_of(MODEL_ERROR, "model.rcn", stdout=full))

    def test_closed_stdout(self):
        result = subprocess.run(["sh", "-c", '"$0" model.rcn >&-', RCNC], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, MODEL_ERROR)
        self.assertIn("error", result.stderr)

    def test_reader_that_goes_away(self):
        read, write = os.pipe()
        os.close(read)
        result = self.run_rcnc("model.rcn", stdout=write)
        os.close(write)
        self.assertIn(result.returncode, (-signal.SIGPIPE, MODEL_ERROR))
        self.assertNotIn("internal", result.stderr)

    def test_stdin(self):
        text = self.output_of("model.rcn", "--no-comments")
        self.assertEqual(self.output_of("-", "--no-comments", input=MODEL.encode()), text)
        self.assertEqual(self.output_of("/dev/stdin", "--no-comments", input=MODEL.encode()), text)
        self.assertIn("<stdin>:16:", self.error_of(MODEL_ERROR, "-", input=BROKEN.encode()))

    def test_stdin_name(self):
        args = ("-", "--stdin-name", "models/mine.rcn")
        self.assertIn("models/mine.rcn:16:", self.error_of(MODEL_ERROR, *args, input=BROKEN.encode()))
        self.assertEqual(self.output_of("-", "--stdin-name", "model.rcn", input=MODEL.encode()), self.output_of("model.rcn"))

    def test_imports_of_stdin_start_from_its_name(self):
        self.write("models/sizes.rcn", "width = 7\n")
        model = MODEL.replace("import nn\n", 'import nn\nimport "sizes.rcn" as sizes\n', 1).replace("= 3\n", "= sizes.width\n", 1)
        self.assertIn("Dim(7, ", self.output_of("-", "--stdin-name", "models/mine.rcn", input=model.encode()))

    def test_interrupt(self):
        process = subprocess.Popen([RCNC, "-", "-o", "model.py"], cwd=self.folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        with process:
            process.stdin.write(MODEL[:100].encode())
            process.stdin.flush()
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(0.3)
            process.send_signal(signal.SIGINT)
            self.assertIn(process.wait(10), (INTERRUPTED, -signal.SIGINT))
        self.assertEqual(self.files(), ["model.rcn"])

    @unittest.skipUnless(eager_there(), "there is no rcnc-eager")
    def test_verify_asked_to_end_leaves_nothing(self):
        self.write("python", "#!/bin/sh\necho started >&2\nexec sleep 60\n")
        (self.folder / "python").chmod(0o755)
        (self.folder / "temporary").mkdir()
        environment = {**os.environ, "TMPDIR": str(self.folder / "temporary")}
        command = [RCNC, "verify", "model.rcn", "--python", "./python"]
        with subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, env=environment) as process:
            self.assertEqual(process.stderr.readline(), b"started\n")
            self.assertEqual(len(list((self.folder / "temporary").iterdir())), 1)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(10), -signal.SIGTERM)
        self.assertEqual(list((self.folder / "temporary").iterdir()), [])


class SameBytes(CliTest):
    """Output is a function of the source and the options, and of nothing else."""

    FORMS = ([], ["--json"], ["--emit", "dims"], ["--sort-keys"])

    def setUp(self):
        super().setUp()
        for folder in ("here", "there/deep"):
            self.write(f"{folder}/model.rcn", MODEL)

    def test_again(self):
        for form in self.FORMS:
            self.assertEqual(len({self.output_of("model.rcn", *form, cwd=self.folder / "here") for _ in range(5)}), 1)

    def test_folders(self):
        for form in self.FORMS:
            texts = {self.output_of("model.rcn", *form, cwd=self.folder / folder) for folder in ("here", "there/deep")}
            self.assertEqual(len(texts), 1)

    def test_no_absolute_path(self):
        for form in self.FORMS:
            texts = {self.output_of(self.folder / folder / "model.rcn", *form) for folder in ("here", "there/deep")}
            self.assertEqual(len(texts), 1)
            self.assertNotIn(str(self.folder), texts.pop())

    def test_environment(self):
        environments = [
            {},
            {"LC_ALL": "C"},
            {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "LC_NUMERIC": "de_DE.UTF-8"},
            {"LC_ALL": "no_SUCH"},
            {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"},
            {"PYTHONHASHSEED": "2", "HOME": "/nowhere", "COLUMNS": "40", "TERM": "xterm-256color"},
        ]
        for form in self.FORMS:
            texts = {self.output_of("model.rcn", *form, cwd=self.folder / "here", env=env) for env in environments}
            self.assertEqual(len(texts), 1)

    def test_messages(self):
        self.write("here/broken.rcn", BROKEN)
        environments = [{}, {"LC_ALL": "C"}, {"LC_ALL": "de_DE.UTF-8"}, {"NO_COLOR": "1"}]
        texts = {self.error_of(MODEL_ERROR, "broken.rcn", cwd=self.folder / "here", env=env) for env in environments}
        self.assertEqual(len(texts), 1)


class Eager(CliTest):
    def test_without_its_program(self):
        shutil.copy(RCNC, self.folder / "rcnc")
        self.write("model.rcn", MODEL)
        for args in (["--eager", "model.rcn"], ["run", "model.rcn"]):
            error = self.error_of(USAGE, *args, binary=self.folder / "rcnc")
            self.assertIn("rcnc-eager", error)

    @unittest.skipUnless(RCNC.with_name("rcnc-eager").exists(), "rcnc-eager was not built")
    def test_exit_codes_come_through(self):
        self.write("model.rcn", MODEL)
        self.write("broken.rcn", BROKEN)
        self.assertEqual(self.run_rcnc("--eager", "model.rcn").returncode, OK)
        self.assertIn("broken.rcn:16:", self.error_of(MODEL_ERROR, "--eager", "broken.rcn"))
        self.error_of(MODEL_ERROR, "--eager", "absent.rcn")
