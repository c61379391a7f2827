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


SAID = """estimated_milliseconds 3.2
bound latency
need 3.1 latency
need 1.6 DRAM
launch 1.5 1024 256 latency
launch 1.5 1024 256 latency
launch 0.2 1 32 blocks one after the other
"""


class Shown(unittest.TestCase):
    def test_what_a_suite_says(self):
        found = estimates.parse(SAID)
        self.assertEqual((found.milliseconds, found.needs[1], len(found.launches)), (3.2, (1.6, "DRAM"), 3))
        for said in ("fault no memory\n", "open 1\n", ""):
            with self.assertRaises(estimates.Fault):
                estimates.parse(said)

    def test_beside_the_solution(self):
        self.assertEqual(estimates.compared(3.1, 1), "about 3.1 times as slow as the solution")
        self.assertEqual(estimates.compared(1.05, 1), "about as fast as the solution")
        self.assertEqual(estimates.compared(1, 2), "about 2.0 times as fast as the solution")

    def test_lines(self):
        found = estimates.parse(SAID)
        lines = estimates.lines_of(found, found._replace(milliseconds=1.0), "a GPU")
        self.assertEqual(lines[0], "On a GPU, estimated: 3.200 ms, about 3.2 times as slow as the solution (1.000 ms)")
        self.assertEqual(lines[1], "  latency 97 %; DRAM 50 %")
        self.assertEqual(lines[2], "  2 launches of 1024 blocks of 256: 3.000 ms, bound by latency")
        self.assertEqual(len(lines), 4)
        self.assertEqual(len(estimates.lines_of(found._replace(launches=[]), None, "a GPU")), 2)


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

    def test_what_is_not_as_estimated(self):
        rows = [row("a", 1, 2), row("b", 2, 3)]
        self.assertEqual(list(estimate.not_as_estimated(rows, rows[:1])), [])
        self.assertIn("gemm b 0 is estimated otherwise", "".join(estimate.not_as_estimated(rows, [row("b", 2, 4)])))


if __name__ == "__main__":
    unittest.main()
