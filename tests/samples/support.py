"""What the tests of the samples share: paths, runs of the binary, and the referee of tests/conformance."""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SAMPLES = ROOT / "samples"
RCNC = pathlib.Path(os.environ.get("RCNC", ROOT / "build" / "rcnc")).resolve()

sys.path.insert(0, str(HERE.parent / "conformance"))


def rcnc(*arguments):
    """Standard output of a run that succeeds and says nothing on standard error."""
    done = subprocess.run([RCNC, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"rcnc {' '.join(map(str, arguments))}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def parameters_of(listing):
    """name -> {"shape", "dtype", "trainable"}, of what `rcnc params` prints."""
    found = re.findall(r"(?m)^(\S+) +\[(.*?)\] +(\w+)(?: +(.*))?$", listing)
    return {
        name: {
            "shape": tuple(int(size) for size in re.findall(r"=(\d+)", dims)),
            "dtype": dtype,
            "trainable": "trainable" in rest.split(),
        }
        for name, dims, dtype, rest in found
    }
