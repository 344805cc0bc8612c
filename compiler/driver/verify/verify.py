"""What `rcnc verify` runs in the Python of its user: RETURNN against the eager run.

    verify.py FOLDER/job.json

The folder has the network dict (network.py), which layer is which operation (operations.json), where each layer comes
from (source_map.json), and what the user wants (job.json). Exit codes are those of rcnc.
"""

import contextlib
import importlib.util
import io
import json
import pathlib
import sys

EQUAL, DIFFERENT, USAGE = 0, 1, 2

def main(path):
    job = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    missing = [name for name in ("numpy", "tensorflow", "returnn") if importlib.util.find_spec(name) is None]
    if missing:
        return no_returnn(job["python"], missing, pathlib.Path(path).parent)
    with progress(job["quiet"]) as say:
        say("loading RETURNN")
        from verification import Refused, Verification  # needs all three

        try:
            verification = Verification(pathlib.Path(path).parent, job, say)
            lines, equal = verification.run()
        except Refused as error:
            say("")
            print(f"rcnc: error: {error}", file=sys.stderr)
            return DIFFERENT
        say("")
    print("\n".join(lines))
    return EQUAL if equal else DIFFERENT


def no_returnn(python, missing, folder):
    """Says how to get it."""
    pins = (folder / "requirements.txt").read_text(encoding="utf-8").split("\n\n")[0].splitlines()
    pins = [pin for pin in pins if not pin.startswith("#")]
    print(
        f"rcnc: error: verify needs RETURNN, and the Python `{python}` lacks {', '.join(missing)}\n"
        f"help: {python} -m pip install {' '.join(pins)}\n"
        "help: or name a Python that has it, with `--python PYTHON` or in $RCNC_PYTHON",
        file=sys.stderr,
    )
    return USAGE


@contextlib.contextmanager
def progress(quiet):
    """A function that shows what is done now, on a terminal only. What libraries say meanwhile is kept back."""
    terminal = sys.stderr if sys.stderr.isatty() and not quiet else None

    def say(text):
        if terminal:
            terminal.write("\r\x1b[K" + (f"verify: {text} ..." if text else ""))
            terminal.flush()

    with contextlib.redirect_stdout(io.StringIO()):
        yield say


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
