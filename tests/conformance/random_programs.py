"""Random programs with control flow over tensors: RETURNN against the eager run.

    python random_programs.py --rcnc build/rcnc [--count N] [--seed S] [--only I] [--jobs N]

Loops, branches and masked parts are nested at random (`program_gen`). Several programs are functions of one model, so
that one TensorFlow graph and one eager process serve them. Outputs, lengths and gradients must agree, with the train
flag off and on, with other values in the padding, and with `optimize_move_layers_out` on in one half of the models. A
program that fails is made smaller while it still fails, and printed.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import io
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import traceback

import numpy

from compare import compare
from eager import Eager, EagerError
from inputs import poisoned, random_inputs, random_parameters
from program_gen import DECLARATIONS, Generator, anchors, members
from program_tree import lines_of, size_of, smaller
from run import named_alike

SEED, COUNT, GROUP = 1, 200, 8
SHRINK_SECONDS = 60


def source_of(programs):
    """The model of some programs: number -> statements."""
    lines = ["network {"]
    for i, program in programs.items():
        lines += ["    " + line for line in members(i)]
        lines += [f"    fn p{i}() {{", *lines_of(program, "        "), *("        " + line for line in anchors(i)), "    }"]
    lines += ["    fn main() {", *(f"        p{i}()" for i in programs), "    }", "}"]
    return DECLARATIONS + "\n".join(lines) + "\n"


def random_batches(externs, seed):
    """(label, inputs, train flag) of each run."""
    batches = []
    for k, (lengths, keys) in enumerate((([5, 1, 3], [2, 4, 1]), ([2, 4, 0], [3, 0, 2]))):
        lengths = {"time": lengths, "keys": keys}
        inputs = random_inputs(externs, seed + k, lengths=lengths)
        if "pos" in inputs:
            inputs["pos"] = numpy.abs(inputs["pos"]) + 0.3
        zeros = poisoned(inputs, externs, 0)
        batches.append((f"lengths {lengths}", zeros if k == 0 else poisoned(inputs, externs, 1e3, seed), k == 1))
        if k == 0:
            batches.append((f"lengths {lengths}, padding 1e3", poisoned(inputs, externs, 1e3, seed), False))
    return batches


def described(error):
    """(what and where an exception is, the same with its message) of the innermost cause."""
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__
    frame = traceback.extract_tb(error.__traceback__)[-1]
    kind = f"RETURNN {type(error).__name__} in {pathlib.Path(frame.filename).name}:{frame.lineno}"
    return kind, f"{kind}: {frame.line}\n{str(error)[:1000]}"


class Check:
    """Compares models in a folder of its own."""

    def __init__(self, rcnc, folder, seed):
        self.rcnc, self.folder, self.seed = rcnc, pathlib.Path(folder), seed
        self.eager = Eager([rcnc])
        self.files = 0
        self.seconds = collections.Counter()

    def compiled(self, text):
        """(path, config text or None, message)"""
        self.files += 1
        path = self.folder / f"model{self.files}.rcn"
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([self.rcnc, str(path), "--no-comments"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return path, None, done.stderr.replace(str(path), "model.rcn")
        return path, done.stdout, ""

    def differences(self, programs, moved):
        """[(kind, program number or None, line)] of what is wrong with a model."""
        path, config, message = self.compiled(source_of(programs))
        if config is None:
            kind = "compile " + message[message.find("[") :][:7] if "[" in message else "compile"
            return [(kind, None, message)]
        from referee import Network  # takes seconds

        start = time.monotonic()
        try:
            with contextlib.redirect_stdout(io.StringIO()), Network(f"{config}\noptimize_move_layers_out = {moved}\n") as network:
                params = random_parameters(network.params(), self.seed)
                network.set_params(params)
                found = []
                for label, inputs, train in random_batches(network.externs(), self.seed):
                    # Eagerly first: a program that is made smaller may not end any more, which RETURNN does not notice.
                    self.seconds["returnn"] += time.monotonic() - start
                    start = time.monotonic()
                    ours = self.eager.run(path, inputs, params, train=train)
                    self.seconds["eager"] += time.monotonic() - start
                    start = time.monotonic()
                    theirs = network.run(inputs, train=train)
                    for i in programs:
                        left, right = part_of(theirs, i), part_of(ours, i)
                        for line in compare(named_alike(left, {"batch", "time", "keys"}), named_alike(right, {"batch", "time", "keys"})):
                            kind = line.split(":")[0] + (" not finite" if "nan or infinite" in line else "")
                            found.append((kind, i, f"{label}, train flag {train}: {line}"))
                return found
        except EagerError as error:
            return [("eager", None, error.stderr)]
        except Exception as error:  # RETURNN's and TensorFlow's are of any kind
            kind, text = described(error)
            return [(kind, None, text)]


def part_of(result, i):
    """The part of program `i` of a result."""
    own = lambda name: name.startswith(f"p{i}_")
    params = {f"lin{i}/weight", f"lin{i}/bias", f"table{i}", f"w{i}", f"scale{i}", f"gain{i}"}
    return {
        "outputs": {k: v for k, v in result["outputs"].items() if own(k)},
        "losses": {k: v for k, v in result["losses"].items() if own(k)},
        "gradients": {k: v for k, v in result["gradients"].items() if k in params},
    }


def shrunk(check, i, program, moved, kind):
    """The smallest program found within the time that fails in the same way."""
    until = time.monotonic() + SHRINK_SECONDS
    seen = set()
    progress = True
    while progress and time.monotonic() < until:
        progress = False
        for candidate in smaller(program):
            text = "\n".join(lines_of(candidate, ""))
            if text in seen or size_of(candidate) >= size_of(program):
                continue
            seen.add(text)
            if time.monotonic() > until:
                break
            found = check.differences({i: candidate}, moved)
            if any(k == kind for k, _, _ in found):
                program, progress = candidate, True
                break
    return program


def moved_of(i):
    """Whether RETURNN moves layers out of the loops of a program."""
    return i // GROUP % 2 == 0


def program_of(seed, i):
    """The statements of one program."""
    return Generator(i, random.Random(f"{seed} {i}")).program()


def run_group(rcnc, seed, numbers, shrink, moved):
    """Checks some programs: (number of passed ones, reports, seconds)."""
    reports = []
    with tempfile.TemporaryDirectory() as folder:
        check = Check(rcnc, folder, seed)
        programs = {i: program_of(seed, i) for i in numbers}
        found = check.differences(programs, moved)
        whole = [f for f in found if f[1] is None]
        if not whole:
            failed = sorted({i for _, i, _ in found})
        else:
            failed = list(programs)
        bad = 0
        for i in failed:
            alone = check.differences({i: programs[i]}, moved)
            if not alone and whole:
                continue
            bad += 1
            program, lines = programs[i], alone or [f for f in found if f[1] == i]
            if alone and shrink:
                program = shrunk(check, i, program, moved, alone[0][0])
                lines = check.differences({i: program}, moved)
            reports.append((i, alone[0][0] if alone else "in company", moved, lines, lines_of(program, "    ")))
        if whole and not bad:
            bad = 1
            reports.append((numbers[0], "together", moved, whole, []))
        return len(programs) - bad, reports, dict(check.seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rcnc", required=True)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", type=int, nargs="*", help="the numbers of some programs, each alone")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--print", action="store_true", help="print the model and do nothing else")
    arguments = parser.parse_args()
    rcnc = str(pathlib.Path(arguments.rcnc).resolve())
    seed = arguments.seed
    numbers = list(range(arguments.count)) if arguments.only is None else arguments.only
    if arguments.print:
        print(source_of({i: program_of(seed, i) for i in numbers}))
        return 0
    size = GROUP if arguments.only is None else 1
    groups = [numbers[k : k + size] for k in range(0, len(numbers), size)]
    print(f"{len(numbers)} programs, seed {seed}", flush=True)
    passed = failed = 0
    start = time.monotonic()
    seconds = collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        jobs = [
            pool.submit(run_group, rcnc, seed, group, not arguments.no_shrink, moved_of(group[0])) for group in groups
        ]
        for job in concurrent.futures.as_completed(jobs):
            good, reports, spent = job.result()
            passed += good
            failed += len(reports)
            seconds.update(spent)
            for i, kind, moved, lines, text in reports:
                print(f"FAIL program {i}: {kind}, optimize_move_layers_out {moved}")
                print("\n".join("    " + line[2].replace("\n", "\n      ") for line in lines[:4]))
                print("\n".join(text))
                print(f"  python {sys.argv[0]} --rcnc {arguments.rcnc} --seed {seed} --only {i}", flush=True)
    print(f"{passed} passed, {failed} failed in {time.monotonic() - start:.0f} s, {dict(seconds)}")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
