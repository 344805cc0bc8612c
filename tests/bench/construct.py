"""How long RETURNN takes to construct networks: `construct.py FILE...` prints a JSON object, file -> seconds or error.

Runs in RETURNN's Python. Only the construction of the layers counts, the best of several; no import, no session.
"""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "conformance"))

from returnn_process import load_config, tf  # first: it sets what TensorFlow reads at import

# isort: split
from returnn.tf.network import TFNetwork
from returnn.tf.util.basic import get_global_train_flag_placeholder

ENOUGH = 3.0  # seconds for one network, all tries together


def construct(path):
    """Seconds of one construction."""
    config = load_config(path, "python")
    with tf.Graph().as_default():
        start = time.perf_counter()
        network = TFNetwork(config=config, train_flag=get_global_train_flag_placeholder(), eval_flag=True)
        network.construct_from_dict(config.typed_value("network"))
        return time.perf_counter() - start


def main():
    result = {}
    for path in sys.argv[1:]:
        try:
            times = []
            while sum(times) < ENOUGH and len(times) < 5:
                times.append(construct(path))
            result[path] = min(times)
        except Exception as error:  # one network that RETURNN cannot construct is a result, too
            result[path] = type(error).__name__
    print(json.dumps(result))


if __name__ == "__main__":
    main()
