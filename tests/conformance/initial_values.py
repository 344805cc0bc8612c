"""The first values of parameters, in RETURNN and in the eager run: variance by the fans, bounds, orthogonality.

    python initial_values.py --rcnc build/rcnc
"""

import argparse
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy

from referee import Network

SHAPES = {"vector": [400], "matrix": [40, 60], "cube": [5, 20, 30], "four": [3, 5, 12, 20]}
TRUNCATED = 0.7737413  # variance of a standard normal distribution that is cut off at two standard deviations


def fans(shape):
    """(fan_in, fan_out)."""
    if len(shape) == 1:
        return shape[0], shape[0]
    field = math.prod(shape[:-2])
    return field * shape[-2], field * shape[-1]


# initializer: (mean, variance, largest deviation from the mean or None) of the fans
EXPECTED = {
    "glorot()": lambda i, o: (0, 2 / (i + o), math.sqrt(6 / (i + o))),
    "he()": lambda i, o: (0, 2 / i, None),
    "he_uniform()": lambda i, o: (0, 2 / i, math.sqrt(6 / i)),
    "normal(0.5, 0.2)": lambda i, o: (0.5, 0.04, None),
    "truncated_normal(mean=-1.0, stddev=0.5)": lambda i, o: (-1, 0.25 * TRUNCATED, 1.0),
    "uniform(-0.2, 0.6)": lambda i, o: (0.2, 0.64 / 12, 0.4),
    "uniform(0.3)": lambda i, o: (0, 0.36 / 12, 0.3),
    'variance_scaling(3.0, "fan_out", "uniform")': lambda i, o: (0, 3 / o, math.sqrt(9 / o)),
    'variance_scaling(1.5, "fan_avg", "untruncated_normal")': lambda i, o: (0, 3 / (i + o), None),
    "variance_scaling(0.5)": lambda i, o: (0, 0.5 / i, 2 * math.sqrt(0.5 / i / TRUNCATED)),
}


def model():
    dims = sorted({size for shape in SHAPES.values() for size in shape})
    lines = ["import nn", *(f"dim d{size}: spatial = {size}" for size in dims), "extern data: float32[batch]", "network {"]
    for n, init in enumerate([*EXPECTED, "orthogonal()"]):
        for name, shape in SHAPES.items():
            if init != "orthogonal()" or len(shape) > 1:
                lines.append(f"    param {name}_{n}: [{', '.join(f'd{size}' for size in shape)}] = nn.init.{init}")
    params = [line.split()[1].rstrip(":") for line in lines if line.startswith("    param ")]
    uses = [f'        output of_{name} = nn.reduce({name}, mode="sum", axis={name}.dims)' for name in params]
    return "\n".join([*lines, "    fn main() {", *uses, "        output still = data * 1.0", "    }", "}", ""])


def check(backend, params):
    """What is wrong with the values, a list of lines."""
    wrong = []
    for n, (init, expected) in enumerate(EXPECTED.items()):
        for name, shape in SHAPES.items():
            values = numpy.asarray(params[f"{name}_{n}"], dtype="float64")
            mean, variance, bound = expected(*fans(shape))
            count = math.prod(shape)
            found = [values.mean(), ((values - mean) ** 2).mean()]
            text = f"{backend}: {init} of {shape}: mean {found[0]:.4f} ({mean}), variance {found[1]:.5f} ({variance:.5f})"
            good = values.shape == tuple(shape)
            good = good and abs(found[0] - mean) < 5 * math.sqrt(variance / count) and abs(found[1] / variance - 1) < 5 * math.sqrt(2 / count)
            if bound is not None:
                furthest = numpy.abs(values - mean).max()
                text += f", furthest {furthest:.4f} ({bound:.4f})"
                good = good and 0.95 * bound < furthest < bound * (1 + 1e-5)
            wrong += [] if good else [text]
    for name, shape in SHAPES.items():
        if len(shape) == 1:
            continue
        matrix = numpy.asarray(params[f"{name}_{len(EXPECTED)}"], dtype="float64").reshape(-1, shape[-1])
        product = matrix.T @ matrix if matrix.shape[0] >= shape[-1] else matrix @ matrix.T
        if not numpy.allclose(product, numpy.eye(len(product)), atol=1e-5):
            wrong.append(f"{backend}: orthogonal() of {shape} is not")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rcnc", required=True)
    rcnc = str(pathlib.Path(parser.parse_args().rcnc).resolve())
    with tempfile.TemporaryDirectory() as folder:
        path, values = pathlib.Path(folder) / "model.rcn", pathlib.Path(folder) / "params.npz"
        path.write_text(model(), encoding="utf-8")
        with Network(subprocess.run([rcnc, str(path)], capture_output=True, text=True, check=True).stdout) as network:
            lines = check("RETURNN", network.get_params())
        subprocess.run([rcnc, "--eager", str(path), "--save-params", str(values)], capture_output=True, check=True)
        lines += check("eager", {name.removesuffix("/param"): value for name, value in numpy.load(values).items()})
    for line in lines:
        print(line)
    print("0 passed, 1 failed" if lines else "1 passed, 0 failed")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
