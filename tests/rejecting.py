#!/usr/bin/env python3
"""What the suites say of a mistake that names the test which rejects it: it must be that test, and the first that does.

rejecting.py BUILD
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else ROOT / "build"
SUITE = BUILD / "grids-cpu"
MODULE = BUILD / "wrong.grids.01_vector_add.no_guard.cpu.so"
REASON = "out of bounds"
# Both reject a kernel whose threads add beyond the end. This one finds nothing in it: its threads are as many as elements.
FIRST = "vectors of every length around the block are added"
ANOTHER = "the order of the blocks does not matter to a sum"
ACCEPTS = "a vector of more blocks than a block may have threads is added"


@unittest.skipUnless(SUITE.exists() and MODULE.exists(), "needs the CPU back end, and a mistake that is built")
class Rejecting(unittest.TestCase):
    def judged(self, test, *options, reason=REASON):
        """Whether it is rejected as its source says, and what is told."""
        with tempfile.TemporaryDirectory(prefix="kata-rejecting-") as folder:
            source = pathlib.Path(folder, "01_vector_add.no_guard.grids.cu")
            source.write_text(f"// Rejected: {reason}\n" + (f"// Rejected by: {test}\n" if test else ""), encoding="utf-8")
            os.utime(source, (0, 0))  # or the module would be older
            command = [SUITE, "--step", MODULE, "--source", source, "--rivals", BUILD / "solutions.grids.", "--reporter", "step", "--abort", "--rejected"]
            done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=100)
        return done.returncode == 0, done.stdout + done.stderr

    def test_only_the_test_that_is_named_is_run(self):
        for test in FIRST, ANOTHER:
            rejected, said = self.judged(test)
            self.assertTrue(rejected, said)
            self.assertIn("1..1\n", said)
            self.assertIn(f"not ok 1 - {test}\n", said)

    def test_a_test_that_accepts_it_does_not_reject_it(self):
        rejected, said = self.judged(ACCEPTS)
        self.assertFalse(rejected)
        self.assertIn(f'accepted, but must be rejected by the test "{ACCEPTS}": {REASON}', said)

    def test_neither_does_one_that_there_is_not(self):
        self.assertFalse(self.judged("no such test")[0])

    def test_nor_one_that_says_something_else(self):
        rejected, said = self.judged(FIRST, reason="race")
        self.assertFalse(rejected)
        self.assertIn('rejected, but not because of "race"', said)

    def test_of_all_tests_it_must_be_the_first(self):
        self.assertTrue(self.judged(FIRST, "--every-test")[0])
        self.assertTrue(self.judged(None, "--every-test")[0])
        rejected, said = self.judged(ANOTHER, "--every-test")
        self.assertFalse(rejected)
        self.assertIn(f'rejected by the test "{FIRST}", and not first by "{ANOTHER}"', said)

    def test_who_names_none_is_held_against_all(self):
        rejected, said = self.judged(None)
        self.assertTrue(rejected)
        self.assertNotIn("1..1\n", said)


if __name__ == "__main__":
    unittest.main()
