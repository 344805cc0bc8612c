"""No sample without a test."""

import unittest

import test_convolutional
import test_samples
import test_searching
from support import HERE, SAMPLES


class Coverage(unittest.TestCase):
    def test_every_sample_is_tested(self):
        modules = [test_convolutional, test_samples, test_searching]
        names = {module.__name__ for module in modules} | {"test_coverage", "test_training"}
        self.assertEqual(names, {path.stem for path in HERE.glob("test_*.py")})
        tested = {value.name for module in modules for value in vars(module).values() if hasattr(value, "small")}
        models = [path for path in SAMPLES.glob("*.rcn") if "\nnetwork {" in path.read_text(encoding="utf-8")]
        self.assertEqual(tested - {None}, {path.stem for path in models})


if __name__ == "__main__":
    unittest.main()
