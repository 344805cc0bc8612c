"""Training by RETURNN's own engine, in a process of its own.

As a program (`python training.py CONFIG [++KEY VALUE ...]`) it is RETURNN's, without CUDA.
"""

import math
import os
import pathlib
import subprocess
import sys

import numpy


class TrainingError(Exception):
    """RETURNN failed; the message ends with the last lines of its log."""


def train(config, folder, options=None, timeout=600):
    """Trains as a full config file says.

    :param str|os.PathLike config: a RETURNN config with datasets, task "train", num_epochs, ...
    :param str|os.PathLike folder: working directory, empty (RETURNN goes on from a model that it finds there)
    :param dict[str,object]|None options: config values that override the file's
    :return: epoch -> {"learning_rate": float, "scores": {name such as "train_score" or "dev_error_ce": float}}
    :raises TrainingError: it failed or left no scores
    """
    folder = pathlib.Path(folder)
    scores = folder / "learning_rates"
    overrides = {"learning_rate_file": scores, "model": folder / "network", **(options or {})}
    command = [sys.executable, str(pathlib.Path(__file__).resolve()), str(pathlib.Path(config).resolve())]
    for key, value in overrides.items():
        command += ["++" + key, str(value)]
    environment = dict(os.environ, TF_ENABLE_ONEDNN_OPTS="0", TF_CPP_MIN_LOG_LEVEL="3", NO_COLOR="1")
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode != 0 or not scores.exists():
        raise TrainingError(f"exit code {done.returncode}\n" + "\n".join(done.stdout.splitlines()[-40:]))
    return read_scores(scores.read_text(encoding="utf-8"))


def read_scores(text):
    """What RETURNN's learning rate file says, in the form that `train` returns.

    :param str text: Python text that RETURNN wrote, `{1: EpochData(learningRate=..., error={...}), ...}`
    """

    def epoch_data(learning_rate=None, learningRate=None, error=None, **_other):
        rate = learning_rate if learning_rate is not None else learningRate
        numbers = {name: value for name, value in (error or {}).items() if not name.startswith(":meta:")}
        return {"learning_rate": rate, "scores": numbers}

    names = {"EpochData": epoch_data, "nan": math.nan, "inf": math.inf, "np": numpy, "__builtins__": {}}
    return eval(text, names)


def _main():
    from returnn.__main__ import main
    from returnn.tf.native_op import OpMaker

    OpMaker.with_cuda = False
    main(sys.argv)


if __name__ == "__main__":
    _main()
