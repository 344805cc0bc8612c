"""How long RETURNN takes to construct a network: `construct.py FILE` prints seconds, the best of several, as last line.

Runs in RETURNN's Python. Only the construction of the layers counts: no import, no session.
"""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "conformance"))

from returnn_process import load_config, tf  # first: it sets what TensorFlow reads at import

# isort: split
from returnn.tf.network import TFNetwork
from returnn.tf.util.basic import get_global_train_flag_placeholder

ENOUGH = 3.0  # seconds, all tries together


def construct(path):
    """Seconds of one construction."""
    config = load_config(path, "python")
    with tf.Graph().as_default():
        train_flag = get_global_train_flag_placeholder()
        start = time.perf_counter()
        network = TFNetwork(config=config, train_flag=train_flag, eval_flag=True)
        network.construct_from_dict(config.typed_value("network"))
        return time.perf_counter() - start


def main():
    times = []
    while sum(times) < ENOUGH and len(times) < 5:
        times.append(construct(sys.argv[1]))
    print(min(times))


if __name__ == "__main__":
    main()
