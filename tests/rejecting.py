#!/usr/bin/env python3
"""What the suites say of a mistake that names the test which rejects it: it must be that test, and the first that does.
And what they say where the tests run in parts, on all cores: the same as where they run one after the other.

rejecting.py BUILD
"""

import os
import pathlib
import re
import shutil
import signal
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


@unittest.skipUnless(SUITE.exists() and MODULE.exists(), "needs the CPU back end, and a mistake that is built")
class InParts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kata-parts-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def reported(self, module, *options):
        """Status, verdicts and what is said, without the plan, which comes first or last."""
        source = self.folder / "01_vector_add.cu"
        source.write_text("", encoding="utf-8")
        os.utime(source, (0, 0))  # or the module would be older
        command = [SUITE, "--step", module, "--source", source, "--rivals", BUILD / "solutions.grids.", "--reporter", "step"]
        done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=100)
        lines = done.stdout.splitlines()
        planned = sum(int(line[3:]) for line in lines if line.startswith("1.."))
        verdicts = [line for line in lines if re.match("(not )?ok ", line) and not line.endswith("# SKIP not run")]
        return done.returncode, verdicts, done.stderr, planned - sum(bool(re.match("(not )?ok ", line)) for line in lines)

    def require_same(self, module, *options):
        in_parts = self.reported(module, *options, "--in-parts")
        self.assertEqual(in_parts, self.reported(module, *options))
        return in_parts

    def ended_by(self, statement):
        """A step that does as much in its host code."""
        source, module = self.folder / "step.cpp", self.folder / "step.so"
        source.write_text(
            "#include <csignal>\n#include <cstdlib>\n"
            f'extern "C" void vector_add(const float*, const float*, float*, int) {{ {statement}; }}\n'
        )
        subprocess.run(["c++", "-shared", "-fPIC", "-o", module, source], check=True)
        return module

    def test_all_that_a_right_step_passes_is_reported_in_order(self):
        status, verdicts, said, missing = self.require_same(BUILD / "solutions.grids.01_vector_add.cpu.so", "--abort")
        self.assertEqual((status, said, missing), (0, "", 0))
        self.assertEqual([int(line.split()[1]) for line in verdicts], list(range(1, len(verdicts) + 1)))
        self.assertGreater(len(verdicts), 10)

    def test_of_a_wrong_step_the_first_failure_is_told_and_with_abort_no_other(self):
        _, verdicts, said, _ = self.require_same(MODULE, "--abort")
        self.assertEqual([line for line in verdicts if line.startswith("not ok")], verdicts[-1:])
        self.assertEqual(said.count("not ok: "), 1)
        self.assertGreater(self.require_same(MODULE)[2].count("not ok: "), 1)

    @unittest.skipUnless(shutil.which("c++"), "needs a compiler")
    def test_a_step_that_crashes_has_not_passed(self):
        status, verdicts, said, _ = self.require_same(self.ended_by("std::raise(SIGFPE)"), "--abort")
        self.assertEqual((status, len(verdicts)), (-signal.SIGFPE, 1))
        self.assertIn("the step crashes", said)

    @unittest.skipUnless(shutil.which("c++"), "needs a compiler")
    def test_nor_has_one_that_ends_the_program(self):
        _, _, said, missing = self.reported(self.ended_by("std::exit(0)"), "--abort", "--in-parts")
        self.assertIn("the step ended the program before its tests did", said)
        self.assertGreater(missing, 0)


if __name__ == "__main__":
    unittest.main()
