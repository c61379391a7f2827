#!/usr/bin/env python3
"""Tests the hunts: hunting.py [TEST…]"""

from __future__ import annotations

import re
import unittest

from paths import ROOT

import hunt
from repository import Repository

REPOSITORY = Repository(ROOT)
# The tests' message for each kind.
SAID = {
    "race": r"race",
    "bounds": r"out of bounds|is there a guard before this line",
    "unset": r"unwritten memory|NaN",
    "wait": r"divergent barrier|still polls memory",
    "launch": r"launch refused|may have \(",
}


class Hunts(unittest.TestCase):
    def test_each_is_a_mistake_of_a_step_and_of_its_kind(self) -> None:
        chosen = hunt.chosen(REPOSITORY)
        self.assertGreaterEqual(len(chosen), 60)
        self.assertEqual(len(chosen), len({one.key for one in chosen}))
        for one in chosen:
            with self.subTest(one.key):
                self.assertIn((one.chapter, one.step), REPOSITORY.all_places())
                kernel = hunt.Kernel(REPOSITORY, one)
                rejected = kernel.mistake.says("Rejected") or ""
                if one.kind in SAID:
                    self.assertRegex(rejected, SAID[one.kind])
                else:
                    self.assertIn(one.kind, hunt.KINDS)
                    self.assertFalse(any(re.search(words, rejected) for words in SAID.values()), rejected)

    def test_the_kernel_is_shown_without_comments_and_with_the_lines_of_its_file(self) -> None:
        one = hunt.Hunt("reduction", "01_simple", "no_barrier", "race")
        kernel = hunt.Kernel(REPOSITORY, one)
        self.assertNotIn("//", kernel.text())
        written = REPOSITORY.kernel("reduction", kernel.mistake).splitlines()
        for line in kernel.text().splitlines():
            number, code = int(line[:4]), line[6:]
            self.assertTrue(written[number - 1].startswith(code))

    def test_a_missing_line_is_named_by_either_of_its_neighbours(self) -> None:
        one = hunt.Hunt("reduction", "01_simple", "no_barrier", "race")
        kernel = hunt.Kernel(REPOSITORY, one)
        self.assertEqual(len(kernel.lines()), 2)
        self.assertRegex(kernel.mended(), r"\A\+ +__syncthreads\(\);\n\Z")

    def test_a_line_that_is_replaced_is_the_only_one(self) -> None:
        one = hunt.Hunt("grids", "01_vector_add", "guard_off_by_one", "bounds")
        kernel = hunt.Kernel(REPOSITORY, one)
        (line,) = kernel.lines()
        self.assertIn("i <= n", kernel.wrong[line - 1])
        self.assertRegex(kernel.mended(), r"\A- +\d+ .*i <= n.*\n\+ +if \(i < n\).*\n\Z")


if __name__ == "__main__":
    unittest.main()
