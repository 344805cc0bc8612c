"""rcnc neither links libtorch nor loads it while it compiles: no_torch.py RCNC MODEL."""

import os
import re
import subprocess
import sys

TORCH = re.compile(r"\blib(torch|c10|openblas|mkl)\w*\.so|rcnc-eager")


def lines_with_torch(command, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, **options)
    if result.returncode:
        sys.exit(f"{command} failed:\n{result.stdout}")
    return [line for line in result.stdout.splitlines() if TORCH.search(line)]


def main():
    rcnc, model = sys.argv[1:]
    found = {
        "linked": lines_with_torch(["ldd", rcnc]),
        "loaded": lines_with_torch([rcnc, model], env={**os.environ, "LD_DEBUG": "files"}),
    }
    for how, lines in found.items():
        for line in lines:
            print(f"{how}: {line}")
    sys.exit(1 if any(found.values()) else 0)


if __name__ == "__main__":
    main()
