"""Models with a bug each, and the command that finds it: runs what the head of each file says.

    run.py [NAME...]       RCNC: the binary; RCNC_TEST_PYTHON: a Python with RETURNN, for those that need one

Comment lines at the top of a model:

  # run: --eager --check-finite {}   the arguments; {} is the model
  # type: print h                    a line of standard input, for the debugger
  # exit: 0                          the exit code (default 1)
  # line: 12                         the first place in the model that is shown has this line
  # says: text                       a line of the output contains it; blanks do not count
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RCNC = pathlib.Path(os.environ.get("RCNC", ROOT / "build" / "rcnc")).resolve()
PYTHON = os.environ.get("RCNC_TEST_PYTHON", str(ROOT / "build" / "venv" / "bin" / "python"))


def head_of(path):
    """key -> values, in order."""
    result = {"run": [], "type": [], "exit": [], "line": [], "says": []}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        found = re.match(r"# (\w+): (.*)$", line)
        if found and found[1] in result:
            result[found[1]].append(found[2])
    return result


def check(path):
    """What is wrong: a list of lines, empty if the tool finds the bug."""
    head = head_of(path)
    if len(head["run"]) != 1 or not head["says"]:
        return ["the head needs one `run:` and a `says:`"]
    arguments = [word.replace("{}", path.name) for word in shlex.split(head["run"][0])]
    done = subprocess.run(
        [RCNC, *arguments],
        cwd=HERE,
        input="".join(line + "\n" for line in head["type"]),
        capture_output=True,
        text=True,
        env={**os.environ, "RCNC_PYTHON": PYTHON, "NO_COLOR": "1"},
        timeout=300,
    )
    output = done.stderr + done.stdout
    problems = []
    if done.returncode != int((head["exit"] or ["1"])[0]):
        problems.append(f"exit code {done.returncode}")
    for line in head["line"]:
        places = re.findall(re.escape(path.name) + r":(\d+)", output)
        if places[:1] != [line]:
            problems.append(f"the first place is in line {places[:1]}, not {line}")
    lines = [" ".join(line.split()) for line in output.splitlines()]
    for text in head["says"]:
        if not any(" ".join(text.split()) in line for line in lines):
            problems.append(f"does not say {text!r}")
    return problems + output.splitlines() if problems else []


def main():
    paths = sorted(HERE.glob("*.rcn"))
    if sys.argv[1:]:
        paths = [path for path in paths if path.stem in sys.argv[1:]]
    failed = 0
    for path in paths:
        problems = check(path)
        failed += bool(problems)
        print(f"{'FAIL' if problems else 'ok  '} {path.stem}", flush=True)
        for line in problems:
            print("     " + line)
    print(f"{len(paths) - failed} passed, {failed} failed")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
