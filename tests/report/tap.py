# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of this folder and prints TAP: tap.py PACKAGE_FOLDER."""
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])


class Tap(unittest.TestResult):
    """A line for each test; why one failed follows as comments."""

    def line(self, test, ok, why=""):
        name = test.id().split(".", 1)[1].replace("test_", "").replace("_", " ")
        print(f"{'' if ok else 'not '}ok {self.testsRun} - {name}")
        for line in why.splitlines():
            print(f"# {line}")

    def addSuccess(self, test):
        self.line(test, True)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line(test, False, self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.line(test, False, self.errors[-1][1])


tests = unittest.defaultTestLoader.discover(os.path.dirname(os.path.abspath(__file__)))
result = Tap()
tests.run(result)
print(f"1..{result.testsRun}")
sys.exit(not result.wasSuccessful() or result.testsRun < 20)
