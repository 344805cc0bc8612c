"""Tests of the command line: runs the test_*.py beside this file (unittest). The binary is $RCNC or build/rcnc.

    run.py [NAME...]     NAME: test_output, test_output.Files, test_output.Files.test_is_written_whole
"""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent

if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromNames(sys.argv[1:]) if sys.argv[1:] else loader.discover(str(HERE))
    result = unittest.TextTestRunner().run(suite)
    sys.exit(0 if result.wasSuccessful() and result.testsRun else 1)
