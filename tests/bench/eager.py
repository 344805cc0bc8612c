"""Eager runs beside the same operations by hand on the same libtorch."""

import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import time

import models
from processes import spawn, table

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def report(rcnc, by_hand, folder, rounds):
    """Prints all tables. `by_hand`: the folder of the programs; `folder`: for files."""
    conformer = Conformer(rcnc, by_hand / "conformer_torch", folder)
    rows = conformer.speed(rounds)
    table(["12-layer Conformer, 2 x 200 frames", "start to output, s", "operations, s"], rows)
    table(["12-layer Conformer, 6,000 frames (60 s)", "start to output, s", "peak memory, MiB"], conformer.memory(rounds))
    table(["each of many small operations", "µs"], small_operations(rcnc, by_hand / "chain_torch", folder, rounds))


def write_safetensors(path, name, shape, values):
    """One float32 array."""
    entry = {"dtype": "F32", "shape": shape, "data_offsets": [0, 4 * len(values)]}
    header = json.dumps({name: entry}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack(f"<{len(values)}f", *values))


class Conformer:
    """The twelve layers of the sample, and the same network by hand, on the same parameters."""

    def __init__(self, rcnc, by_hand, folder):
        self.folder, self.by_hand, self.log = folder, str(by_hand), str(folder / "log")
        self.params = folder / "params.safetensors"
        self.model = [rcnc, "--eager", str(ROOT / "samples" / "conformer_ctc.rcn"), "-D", "aux_layers=[]"]
        spawn([*self.model, "--save-params", str(self.params)], self.log)

    def commands(self, batch, frames, threads):
        """Ours and that by hand, on data of that size."""
        data = self.folder / f"data_{batch}_{frames}.safetensors"
        if not data.exists():
            generator = random.Random(1)
            write_safetensors(data, "data", [batch, frames, 80], [generator.gauss(0, 1) for _ in range(batch * frames * 80)])
        lengths = ",".join(["10"] * batch)
        options = ["--data", f"data={data}:data", "--time", f"target_time={lengths}", "--threads", str(threads)]
        ours = [*self.model, "--params", str(self.params), *options]
        return {"rcnc": ours, "by hand": [self.by_hand, str(self.params), str(data), "0", str(threads)]}

    def speed(self, rounds):
        rows = []
        for threads in (1, 2):
            commands = self.commands(2, 200, threads)
            whole, forward = {name: [] for name in commands}, {name: [] for name in commands}
            for _ in range(rounds):
                found = {}
                for name, command in commands.items():
                    start = time.perf_counter()
                    extra = ["--summary"] if name == "rcnc" else []
                    done = subprocess.run([*command, *extra], capture_output=True, text=True, check=True)
                    whole[name].append(time.perf_counter() - start)
                    found[name] = done.stdout
                amount, unit = re.search(r"operations in ([0-9.]+)(ms|s)", found["rcnc"]).groups()
                forward["rcnc"].append(float(amount) * (0.001 if unit == "ms" else 1))
                theirs = found["by hand"].split()
                forward["by hand"].append(float(theirs[0]))
                values = re.search(r"output  log_probs .*min (\S+) +mean (\S+) +max (\S+)", found["rcnc"]).groups()
                if any(abs(float(a) - float(b)) > 1e-3 for a, b in zip(values, theirs[2:])):
                    sys.exit(f"the Conformer by hand computes something else: {theirs[2:]}, not {values}")
            for name in commands:
                title = f"{name}, {threads} thread{'s'[: threads - 1]}"
                rows.append([title, f"{min(whole[name]):.2f}", f"{min(forward[name]):.3f}"])
        return rows

    def memory(self, rounds):
        rows = []
        for name, command in self.commands(1, 6000, 2).items():
            runs = [spawn(command, self.log) for _ in range(rounds)]
            peak = max(usage.ru_maxrss for _, usage in runs) / 1024
            rows.append([name, f"{min(seconds for seconds, _ in runs):.2f}", f"{peak:.0f}"])
        return rows


def small_operations(rcnc, by_hand, folder, rounds):
    """What one of 100,000 operations on 40 numbers takes, in microseconds of a thread: rows of a table."""
    log, seconds = str(folder / "log"), []
    for count in (1000, 101000):
        path = folder / f"chain{count}.rcn"
        path.write_text(models.chain(count))
        command = [rcnc, "--eager", str(path), "--batch", "1", "--time", "time=1", "--threads", "1"]
        runs = [spawn(command, log)[1] for _ in range(rounds)]
        seconds.append(min(usage.ru_utime + usage.ru_stime for usage in runs))
    ours = (seconds[1] - seconds[0]) / 100000
    theirs = min(float(subprocess.run([by_hand, "100000"], capture_output=True, text=True, check=True).stdout.split()[0]) for _ in range(rounds)) / 100000
    return [[name, f"{value * 1e6:.2f}"] for name, value in (("rcnc", ours), ("by hand", theirs), ("rcnc beyond that", ours - theirs))]
