"""Golden tests: runs rcnc on every case in this folder and compares stdout, stderr and exit code with what is kept.

    run.py [--update] [--jobs N] [NAME...]     NAME: part of a case's path; the binary is $RCNC or build/rcnc

A case is NAME.rcn, or a folder NAME with a main.rcn (and what that imports); beside it lie NAME.stdout, NAME.stderr
and NAME.exit. A case that succeeds has a .stdout, one that fails has a .stderr and a name that begins with `fail_`;
of the others, an absent file means no output and the exit code 0, or 1 where it fails. The command is
`rcnc MODEL.rcn`, run in the model's folder; a first line `# args: --json -D x=3` adds arguments before the model, or
around `{}` in place of it. NAME.stdin, where it is there, is its standard input. Times (`time=1.2ms`, `"time":1.2e-3`)
are kept as `*`. Files and folders whose name begins with `_` are no cases (cases may import them). Cases
with --eager are skipped where there is no rcnc-eager. --update writes the expectations anew.

A run of all cases also checks that each diagnostic code stands in the output of some case, or in uncovered.txt with
a reason.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RCNC = pathlib.Path(os.environ.get("RCNC", ROOT / "build" / "rcnc")).resolve()
TIMEOUT = 60
OWN_FILES = {"run.py", "uncovered.txt", "README.md"}
KINDS = ("stdout", "stderr", "exit")
TIMES = re.compile(rb'(\btime=)[0-9.]+(?:us|ms|s)$|("time":)[0-9.e-]+', re.MULTILINE)


@dataclasses.dataclass
class Case:
    model: pathlib.Path  # the file that rcnc gets
    base: pathlib.Path  # with a suffix added: the expectations

    @property
    def name(self):
        return self.base.relative_to(HERE).as_posix()

    @property
    def fails(self):
        return self.base.name.startswith("fail_")

    def file(self, kind):
        return self.base.with_name(f"{self.base.name}.{kind}")

    def args(self):
        with open(self.model, "rb") as file:
            first = file.readline().decode(errors="replace")
        match = re.match(r"#\s*args:(.*)", first.removeprefix("\ufeff"))
        args = shlex.split(match[1]) if match else []
        if "{}" not in args:
            args.append("{}")
        return [self.model.name if arg == "{}" else arg for arg in args]

    def run(self):
        """What the binary says: kind -> bytes, as the files hold it."""
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "dumb"}
        stdin = self.file("stdin").read_bytes() if self.file("stdin").exists() else b""
        result = subprocess.run(
            [RCNC, *self.args()], cwd=self.model.parent, env=env, input=stdin, capture_output=True, timeout=TIMEOUT
        )
        code = result.returncode
        usual = code == (1 if self.fails else 0)
        stdout = TIMES.sub(rb"\1\2*", result.stdout)
        return {"stdout": stdout, "stderr": result.stderr, "exit": b"" if usual else b"%d\n" % code}, code


def find_cases():
    """The cases below this folder in the order of their names, and the files that belong to none."""
    cases, strays = [], []

    def visit(folder):
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("_"))
        bases = set()
        for entry in entries:
            if entry.is_dir() and (entry / "main.rcn").is_file():
                cases.append(Case(entry / "main.rcn", entry))
                bases.add(entry.name)
            elif entry.is_dir():
                visit(entry)
            elif entry.suffix == ".rcn":
                cases.append(Case(entry, entry.with_suffix("")))
                bases.add(entry.stem)
        for entry in entries:
            own = folder == HERE and entry.name in OWN_FILES
            expectation = entry.suffix[1:] in (*KINDS, "stdin") and entry.stem in bases
            if entry.is_file() and entry.suffix != ".rcn" and not own and not expectation:
                strays.append(entry.relative_to(HERE).as_posix())

    visit(HERE)
    return cases, strays


def check(case, update):
    """What is wrong with the case: lines; after an update only what no update mends."""
    try:
        actual, code = case.run()
    except subprocess.TimeoutExpired:
        return [f"no end after {TIMEOUT} s"]
    problems = []
    if (code != 0) != case.fails:
        problems.append(f"exit code {code}: the name must begin with `fail_` if and only if the case fails")
    if code not in (0, 1, 2):
        problems.append(f"exit code {code}")
    needed = "stderr" if case.fails else "stdout"
    for kind in KINDS:
        file = case.file(kind)
        expected = file.read_bytes() if file.exists() else None
        if update and not problems:
            if actual[kind] or kind == needed:
                if actual[kind] != expected:
                    file.write_bytes(actual[kind])
            elif expected is not None:
                file.unlink()
        elif expected is None and (actual[kind] or kind == needed):
            problems.append(f"{file.name} is missing; the {kind} is:")
            problems += lines(actual[kind])
        elif expected is not None and expected != actual[kind]:
            problems += difflib.unified_diff(lines(expected), lines(actual[kind]), file.name, "actual", lineterm="")
        elif expected == b"" and kind != needed:
            problems.append(f"{file.name} is empty and should not be there")
    return problems


def lines(data):
    text = data.decode(errors="backslashreplace")
    result = text.replace("\r", "\\r").split("\n")
    if result[-1]:
        result.append("\\ no newline at the end")
    else:
        result.pop()
    return result


def check_diagnostics(cases):
    """Every code is defined once, and each error or warning stands in the output of some case or on the list of exceptions."""
    defined = collections.Counter()
    for file in sorted((ROOT / "compiler" / "diag" / "def").glob("*.def")):
        defined.update(re.findall(r'^DIAGNOSTIC\(\s*\w+,\s*\w+,\s*"(\w+)"', file.read_text(), re.MULTILINE))
    seen = set()
    for case in cases:
        for kind in ("stderr", "stdout"):  # the debugger's prompt writes to stdout
            if case.file(kind).exists():
                seen.update(re.findall(r"\[([EW]\d{4})\]", case.file(kind).read_text(errors="replace")))
    excepted = {}
    for line in (HERE / "uncovered.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            code, _, reason = line.partition(" ")
            excepted[code] = reason.strip()
    problems = [f"{code} is defined {count} times" for code, count in defined.items() if count > 1]
    problems += [f"{code} is in no case" for code in sorted(defined.keys() - seen - excepted.keys())]
    problems += [f"{code} is in a case, but not defined" for code in sorted(seen - defined.keys())]
    for code, reason in excepted.items():
        if code not in defined:
            problems.append(f"uncovered.txt: {code} is not defined")
        elif code in seen:
            problems.append(f"uncovered.txt: {code} is in a case by now")
        elif not reason:
            problems.append(f"uncovered.txt: {code} has no reason")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--update", action="store_true", help="write the expectations anew")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only cases whose path holds one of these")
    args = parser.parse_args()
    if not RCNC.is_file():
        sys.exit(f"there is no {RCNC}: build it, or name it in RCNC")

    cases, strays = find_cases()
    chosen = [case for case in cases if not args.names or any(name in case.name for name in args.names)]
    if not chosen and args.names:
        sys.exit("no case has such a name")
    has_eager = RCNC.with_name("rcnc-eager").exists()
    runnable = [case for case in chosen if has_eager or not {"--eager", "run"} & set(case.args())]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(zip((case.name for case in runnable), pool.map(lambda case: check(case, args.update), runnable)))
    if not args.names:
        results.append(("no other files", [f"{stray} belongs to no case" for stray in strays]))
        results.append(("every diagnostic has a case", check_diagnostics(cases)))

    failed = 0
    for name, problems in results:
        if problems:
            failed += 1
            print(f"FAILED {name}", *problems, "", sep="\n")
    skipped = len(chosen) - len(runnable)
    print(f"{len(results) - failed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
