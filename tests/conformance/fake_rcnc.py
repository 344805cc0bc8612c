"""Stands in for `rcnc --eager` in the tests of `eager`: the linear model of `example_nets`, computed by numpy.

`--no-save` leaves out the .npz, so that values come from JSON; a model named "broken", "silent" or "slow" misbehaves.
"""

import argparse
import json
import sys
import time

import numpy


def main():
    parser = argparse.ArgumentParser()
    for flag in ("--json", "--grad", "--train", "--eval", "--no-save"):
        parser.add_argument(flag, action="store_true")
    for option in ("--eager", "--params", "--save"):
        parser.add_argument(option)
    parser.add_argument("--data", action="append")
    parser.add_argument("-D", action="append")
    args = parser.parse_args()
    if args.eager == "broken":
        sys.exit("broken:1:1: error: no such thing [E0001]")
    if args.eager == "silent":
        return
    if args.eager == "slow":
        time.sleep(60)
    params = numpy.load(args.params)
    name, place = args.data[0].split("=", 1)
    path, key = place.rsplit(":", 1)
    data = numpy.load(path)
    lengths = data[key + "/length/time"]
    values = data[key] @ params["lin/weight"] + params["lin/bias"]
    output = {
        "dims": ["batch", "time", "hidden"],
        "lengths": {"time": lengths.tolist()},
        "dtype": "float32",
        "sparse_dim": None,
        "values": [sequence[:length].tolist() for sequence, length in zip(values, lengths)],
    }
    document = {"outputs": {"output": output}, "losses": {}, "errors": {}, "objective": 0, "printed": {}}
    if args.grad:
        document["gradients"] = {name: numpy.zeros_like(params[name]).tolist() for name in params.files}
    if not args.no_save:
        output.pop("values")
        numpy.savez(args.save, **{"output": values, "output/length/time": lengths})
    json.dump(document, sys.stdout)


if __name__ == "__main__":
    main()
