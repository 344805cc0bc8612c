"""What the tests of the command line share: models, a folder of their own for each test, and runs of the binary."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RCNC = pathlib.Path(os.environ.get("RCNC", ROOT / "build" / "rcnc")).resolve()

OK, MODEL_ERROR, USAGE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130
NOBODY = 65534
"""A user without rights, for what root may do and others may not."""

MODEL = """\
import nn

option size: int = 4
option rate: float = 0.5

dim time: spatial
dim input: feature = 3
dim hidden: feature = size

extern data: float32[batch, time, input]

network {
    linear = nn.Linear(input, hidden)

    fn main() {
        x = nn.dropout(linear(data), 0.1, axis=hidden)
        output y = nn.tanh(x) * rate
    }
}
"""

BROKEN = MODEL.replace("linear(data)", "liner(data)")
"""One error, in line 16."""


def eager_there():
    """Whether models can be run: where there is a tensor library."""
    return (RCNC.parent / "rcnc-eager").exists()


def errors(count):
    """A model with as many errors, each of a cause of its own."""
    return MODEL + "".join(f"x{i} = unknown_{i}\n" for i in range(count))


class CliTest(unittest.TestCase):
    """The current folder of each run is `self.folder`, empty at first."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def files(self):
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file())

    def run_rcnc(self, *args, cwd=None, env=None, binary=RCNC, **options):
        """The finished process; stdout and stderr are text unless they were given."""
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **(env or {})}
        result = subprocess.run([binary, *args], cwd=cwd or self.folder, env=env, timeout=60, **options)
        for name in ("stdout", "stderr"):
            if isinstance(getattr(result, name), bytes):
                setattr(result, name, getattr(result, name).decode())
        return result

    def output_of(self, *args, **options):
        """stdout of a run that has to succeed without a word."""
        result = self.run_rcnc(*args, **options)
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        return result.stdout

    def error_of(self, code, *args, **options):
        """stderr of a run that has to fail with this exit code and no result."""
        result = self.run_rcnc(*args, **options)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn("error", result.stderr)
        self.assertNotIn("internal error", result.stderr)
        if result.stdout is not None:
            self.assertEqual(result.stdout, "")
        return result.stderr
