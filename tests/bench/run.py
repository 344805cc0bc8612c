#!/usr/bin/env python3
"""Measures rcnc and prints Markdown tables; docs/bench.md has the numbers of one run.

    tests/bench/run.py [--rcnc build/rcnc] [--returnn PYTHON] [--antlr build/tests/antlr_alone]
                       [--torch build/tests/conformer_torch] [--quick]

Every time is that of a whole process, cold. The commands take turns, so that what else the machine does hits all
alike. Load makes times longer, never shorter: ratios and goals are of minima.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import models

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


def spawn(command, log):
    """Runs a command without its output, standard error to the file `log`: (seconds, resource usage)."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    start = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - start
    if status:
        sys.exit(f"{' '.join(command)} failed:\n{pathlib.Path(log).read_text()}")
    return seconds, usage


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


def table(header, rows):
    """Prints Markdown."""
    print("| " + " | ".join(header) + " |")
    print("| --- |" + " ---: |" * (len(header) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def ms(seconds):
    return f"{seconds * 1000:.1f}"


def mib(kib, floor):
    return f"{kib / 1024:.0f}" if kib > floor else f"at most {kib / 1024:.0f}"


def antlr_time(program, model):
    """The seconds that ANTLR alone takes to parse the file."""
    done = subprocess.run([program, str(model.path), "15"], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[0]) / 1000


def write_safetensors(path, name, shape, values):
    """One float32 array."""
    entry = {"dtype": "F32", "shape": shape, "data_offsets": [0, 4 * len(values)]}
    header = json.dumps({name: entry}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack(f"<{len(values)}f", *values))


def eager_rows(rcnc, by_hand, folder, rounds):
    """The Conformer run eagerly beside the same network by hand, on the same parameters and data: rows of a table."""
    data, params, log = folder / "data.safetensors", folder / "params.safetensors", str(folder / "log")
    generator = random.Random(1)
    write_safetensors(data, "data", [2, 200, 80], [generator.gauss(0, 1) for _ in range(2 * 200 * 80)])
    model = [rcnc, "--eager", str(ROOT / "samples" / "conformer_ctc.rcn"), "-D", "aux_layers=[]", "--data", f"data={data}:data", "--time", "target_time=10,10"]
    spawn([*model, "--save-params", str(params)], log)
    rows = []
    for threads in (1, 2):
        whole = {"rcnc": [], "by hand": []}
        forward = {"rcnc": [], "by hand": []}
        for _ in range(rounds):
            start = time.perf_counter()
            ours = subprocess.run([*model, "--params", str(params), "--threads", str(threads), "--summary"], capture_output=True, text=True, check=True).stdout
            whole["rcnc"].append(time.perf_counter() - start)
            start = time.perf_counter()
            theirs = subprocess.run([by_hand, str(params), str(data), "0", str(threads)], capture_output=True, text=True, check=True).stdout.split()
            whole["by hand"].append(time.perf_counter() - start)
            forward["by hand"].append(float(theirs[0]))
            amount, unit = re.search(r"operations in ([0-9.]+)(ms|s)", ours).groups()
            forward["rcnc"].append(float(amount) * (0.001 if unit == "ms" else 1))
            found = re.search(r"output  log_probs .*min (\S+) +mean (\S+) +max (\S+)", ours).groups()
            if any(abs(float(a) - float(b)) > 1e-3 for a, b in zip(found, theirs[2:])):
                sys.exit(f"the Conformer by hand computes something else: {theirs[2:]}, not {found}")
        for name in whole:
            rows.append([f"{name}, {threads} thread{'s'[: threads - 1]}", f"{min(whole[name]):.2f}", f"{min(forward[name]):.3f}"])
    return rows


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
    arguments.add_argument("--torch", metavar="PROGRAM", help="the built target conformer_torch: measures eager runs too")
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
            rows = eager_rows(rcnc, os.path.abspath(args.torch), folder, 3 if args.quick else 10)
            table(["12-layer Conformer, 2 x 200 frames", "start to output, s", "operations, s"], rows)


if __name__ == "__main__":
    main()
