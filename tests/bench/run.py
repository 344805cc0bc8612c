#!/usr/bin/env python3
"""Measures rcnc and prints Markdown tables; docs/bench.md has the numbers of one run.

    tests/bench/run.py [--rcnc build/rcnc] [--returnn PYTHON] [--antlr build/tests/antlr_alone]
                       [--torch build/tests] [--quick]

Every time is that of a whole process, cold. The commands take turns, so that what else the machine does hits all
alike. Load makes times longer, never shorter: ratios and goals are of minima.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import eager
import models
from processes import spawn, table

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PYTHON = ["/usr/bin/python3", "-S", "-E", "-c"]
PATIENCE = 120  # seconds that RETURNN may take for one network

# Executes an emitted file with stand-ins for what it imports from RETURNN.
EXECUTE = """
import sys
class Dim:
    def __init__(self, *args, **kwargs): pass
    def copy(self, **kwargs): return self
    class Types: Batch = Spatial = Feature = None
stub = type(sys)("returnn.tensor")
stub.Dim, stub.batch_dim = Dim, Dim()
sys.modules["returnn"], sys.modules["returnn.tensor"] = type(sys)("returnn"), stub
exec(open(sys.argv[1]).read(), {})
"""

Model = collections.namedtuple("Model", "title path emitted options", defaults=[()])


class Measured:
    """What the runs of one command took."""

    def __init__(self):
        self.seconds = []
        self.cpu = []  # seconds, user and system
        self.kib = 0  # peak memory
        self.stages = collections.defaultdict(list)  # stage of `rcnc -v` -> seconds in each run

    @property
    def best(self):
        return min(self.seconds)


def measure(commands, rounds, log):
    """Runs all commands in turn, `rounds` times: name -> Measured."""
    result = {name: Measured() for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            measured = result[name]
            seconds, usage = spawn(command, log)
            measured.seconds.append(seconds)
            measured.cpu.append(usage.ru_utime + usage.ru_stime)
            measured.kib = max(measured.kib, usage.ru_maxrss)
            for stage, ms in re.findall(r"rcnc: ([a-z ]+): ([0-9.]+) ms", pathlib.Path(log).read_text()):
                measured.stages[stage].append(float(ms) / 1000)
    return result


def all_models(folder):
    """The samples and the generated models, the latter written to the folder."""
    generated = {
        "20-layer BLSTM": models.blstm(20),
        "chain of 1,000": models.chain(1000),
        "chain of 10,000": models.chain(10000),
        "10,000 lines": models.source(10000),
    }
    samples = [p for p in sorted((ROOT / "samples").glob("*.rcn")) if "\nnetwork {" in p.read_text()]
    result = [Model(p.stem, p, folder / f"{p.stem}.py") for p in samples]
    for number, (title, text) in enumerate(generated.items()):
        path = folder / f"generated{number}.rcn"
        path.write_text(text)
        result.append(Model(title, path, path.with_suffix(".py")))
    language_model = ROOT / "samples" / "transformer_lm.rcn"
    result.append(Model("96-block Transformer LM", language_model, folder / "blocks96.py", ("-D", "num_layers=96")))
    return result


def construct_time(python, model):
    """The milliseconds that RETURNN takes to construct the network, as text."""
    command = [python, str(ROOT / "tests/bench/construct.py"), str(model.emitted)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"over {PATIENCE * 1000}"
    return "failed" if done.returncode else f"{float(done.stdout.splitlines()[-1]) * 1000:.0f}"


def ms(seconds):
    return f"{seconds * 1000:.1f}"


def mib(kib, floor):
    return f"{kib / 1024:.0f}" if kib > floor else f"at most {kib / 1024:.0f}"


def antlr_time(program, model):
    """The seconds that ANTLR alone takes to parse the file."""
    done = subprocess.run([program, str(model.path), "15"], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[0]) / 1000


def report(listed, result, constructed, antlr, floor):
    """Prints all tables."""
    bare = result["bare"]

    def row(title, own):
        return [title, ms(own.best), ms(statistics.median(own.seconds)), ms(min(own.cpu)), mib(own.kib, floor)]

    rows = [[*row("bare interpreter", bare), *[""] * 4], [*row("`rcnc --version`", result["version"]), *[""] * 4]]
    for m in listed:
        own, executed = result[m.title], result["exec", m.title]
        ratios = [f"{own.best / bare.best:.2f}", ms(executed.best), f"{own.best / executed.best:.2f}"]
        rows.append([*row(m.title, own), *ratios, constructed.get(m.title, "")])
    header = ["process", "ms, minimum", "median", "CPU, ms", "MiB"]
    table([*header, "÷ bare", "emitted file, ms", "÷ emitted", "RETURNN, ms"], rows)

    stages = ["parse", "check", "evaluate", "graph passes", "emit"]
    table(
        ["model", *(f"{s}, ms" for s in stages)],
        [[m.title, *(ms(min(result["stages", m.title].stages[s])) for s in stages)] for m in listed],
    )

    short, long = result["chain of 1,000"], result["chain of 10,000"]
    goals = [
        ("tagger, of the bare interpreter", result["tagger"].best / bare.best, 1, "times"),
        ("20-layer BLSTM, of the bare interpreter", result["20-layer BLSTM"].best / bare.best, 1, "times"),
        *([("10,000 lines, of ANTLR alone", result["10,000 lines"].best / antlr, 1.5, "times")] if antlr else []),
        *(
            goal
            for title in ("conformer_ctc", "transformer")
            for goal in (
                (title, result[title].best * 1000, 20, "ms"),
                (title, result[title].kib / 1024, 64, "MiB"),
            )
        ),
        ("chain of 10,000", long.best * 1000, 100, "ms"),
        ("chain of 10,000", long.kib / 1024, 200, "MiB"),
        ("chain of 10,000, of the chain of 1,000", long.best / short.best, 12, "times"),
    ]
    table(
        ["goal", "measured", "at most", "met"],
        [[t, f"{v:.2f} {unit}", f"{most} {unit}", "yes" if v <= most else "no"] for t, v, most, unit in goals],
    )


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rcnc", default=str(ROOT / "build" / "rcnc"))
    arguments.add_argument("--returnn", metavar="PYTHON", help="a Python with RETURNN: measures its construction too")
    arguments.add_argument("--antlr", metavar="PROGRAM", help="the built target antlr_alone: measures ANTLR alone too")
    arguments.add_argument("--torch", metavar="FOLDER", help="where conformer_torch and chain_torch are: measures eager runs too")
    arguments.add_argument("--quick", action="store_true", help="few runs")
    args = arguments.parse_args()
    rcnc = os.path.abspath(args.rcnc)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        log = str(folder / "log")
        listed = all_models(folder)
        commands = {"bare": [*PYTHON, "pass"], "version": [rcnc, "--version"]}
        for m in listed:
            compile_it = [rcnc, str(m.path), *m.options]
            spawn([*compile_it, "-o", str(m.emitted)], log)
            commands[m.title] = compile_it
            commands["stages", m.title] = [*compile_it, "-v"]
            commands["exec", m.title] = [*PYTHON, EXECUTE, str(m.emitted)]
        # A child's peak begins with that of the process which starts it.
        floor = spawn(["/bin/true"], log)[1].ru_maxrss + 512
        result = measure(commands, 5 if args.quick else 30, log)
        constructed = {m.title: construct_time(args.returnn, m) for m in listed} if args.returnn else {}
        antlr = antlr_time(args.antlr, next(m for m in listed if m.title == "10,000 lines")) if args.antlr else None
        report(listed, result, constructed, antlr, floor)
        if args.torch:
            eager.report(rcnc, pathlib.Path(args.torch).resolve(), folder, 3 if args.quick else 10)


if __name__ == "__main__":
    main()
