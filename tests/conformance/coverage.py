"""Every operation and every public declaration of the library is used by a conformance case.

    python coverage.py --rcnc build/rcnc

An operation counts as used where a case, or the library (all of which the cases use), calls it.
"""

import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "neg": "-",
    "equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
    "logical_and": " and ", "logical_or": " or ",
}
"""Operations that are written as operators."""

ELSEWHERE = {
    "train_flag": "what `train` reads; dropout.rcn runs with the flag on and off",
    "init.": "initial values are no tensors: the runtime's tests compare their distributions",
}


def declarations(path):
    """Public functions and modules of a library file: `nn.Linear`."""
    module = path.parent.name
    return [f"{module}.{name}" for name in re.findall(r"(?m)^(?:fn|module) ([A-Za-z]\w*)\(", path.read_text(encoding="utf-8"))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rcnc", required=True)
    rcnc = parser.parse_args().rcnc
    operations = subprocess.run([rcnc, "--print-operations"], capture_output=True, text=True, check=True).stdout.split()
    models = [*sorted((HERE / "cases").glob("*.rcn")), HERE / "random_ops.py"]
    cases = "\n".join(p.read_text(encoding="utf-8") for p in models)
    files = sorted((ROOT / "stdlib").rglob("*.rcn"))
    library = "\n".join(p.read_text(encoding="utf-8") for p in files)
    declared = [name for path in files for name in declarations(path)]
    missing = []
    for name in declared:
        if not re.search(rf"\b{re.escape(name)}\b", cases + library):
            missing.append(f"library: {name}")
    for name in operations:
        if any(name.startswith(prefix) for prefix in ELSEWHERE):
            continue
        used = SIGNS.get(name) and SIGNS[name] in cases
        if not used and not re.search(rf"\bnn\.{re.escape(name)}\b", cases + library):
            missing.append(f"operation: {name}")
    for line in missing:
        print(f"no conformance case uses {line}")
    total = len(operations) + len(declared)
    print(f"{total - len(missing)} passed, {len(missing)} failed")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
