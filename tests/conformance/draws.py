"""Runs one model of random operations in RETURNN, with and without loops of which layers move out, and in the eager run."""

import argparse
import pathlib
import subprocess
import tempfile

from eager import Eager
from referee import Network


def main(model, inputs, check):
    """Prints the lines of all check(backend, run), and gives the exit code.

    run(train, seed) gives outputs: `seed` is of the eager run, RETURNN draws other numbers in every run.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--rcnc", required=True)
    rcnc = str(pathlib.Path(parser.parse_args().rcnc).resolve())
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.rcn"
        path.write_text(model, encoding="utf-8")
        text = subprocess.run([rcnc, str(path)], capture_output=True, text=True, check=True).stdout
        lines = []
        for moved in (True, False):
            with Network(f"{text}\noptimize_move_layers_out = {moved}\n") as network:

                def returnn(train, seed="1"):
                    return network.run(inputs, train=train, want_grads=False)["outputs"]

                lines += check(f"RETURNN, optimize_move_layers_out {moved}", returnn)

        def eager(train, seed="1"):
            return Eager([rcnc]).run(path, inputs, {}, train=train, want_grads=False, options=["--seed", seed])["outputs"]

        lines += check("eager", eager)
    for line in lines:
        print(line)
    print("0 passed, 1 failed" if lines else "1 passed, 0 failed")
    return 1 if lines else 0
