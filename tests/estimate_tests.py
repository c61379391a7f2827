#!/usr/bin/env python3
"""Tests of tests/estimate.py: that it counts pairs and errors, and says no."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common" / "front"))

import estimate
import estimates


def row(kernel, measured, estimated, variant="0"):
    values = ["gemm", kernel, variant, str(measured), str(estimated), str(estimated / measured), "DRAM"]
    return dict(zip(estimate.HEADINGS, values))


class Judgement(unittest.TestCase):
    def test_factor(self):
        self.assertAlmostEqual(estimates.factor([row("a", 1, 2), row("b", 2, 1)]), 2)
        self.assertAlmostEqual(estimates.factor([row("a", 3, 3)]), 1)

    def test_pairs(self):
        far, wrong = estimate.pairs([row("a", 1, 2), row("b", 1.2, 1), row("c", 2, 1.5), row("d", 9, 1, "1")])
        self.assertEqual(far, 2)  # a and b are near each other, d is of another problem
        self.assertEqual([(fast["kernel"], slow["kernel"]) for fast, slow in wrong], [("a", "c")])

    def test_a_tie_is_no_order(self):
        self.assertEqual(len(estimate.pairs([row("a", 1, 2), row("b", 2, 2)])[1]), 1)

    def test_what_is_not_as_measured(self):
        rows = [row("a", 1, 2), row("b", 2, 3)]
        timed = [("gemm", "a", "0", "1"), ("gemm", "b", "0", "2")]
        page = "It is so: " + estimate.summary(rows).replace(" pairs", "\npairs")
        self.assertEqual(list(estimate.complaints_of(rows, timed, page)), [])
        self.assertIn("does not say", "".join(estimate.complaints_of(rows, timed, "")))
        self.assertIn("gemm b 0 is not in the table", "".join(estimate.complaints_of(rows, [timed[0], ("gemm", "b", "0", "2.1")], page)))
        self.assertIn("gemm b 0 is in the table, and nobody", "".join(estimate.complaints_of(rows, timed[:1], page)))


if __name__ == "__main__":
    unittest.main()
