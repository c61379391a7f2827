#!/usr/bin/env python3
"""Checks the verdict that ./kata grade reads from a suite's report, and the points and rows of its sheet."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pathlib
import tempfile
import time
import unittest
import unittest.mock
from typing import cast

from paths import ROOT  # isort: split

import grade
from fault import Fault
from grading import report, sheet, walls
from students import NAMES, Scratch, write


class Reported(unittest.TestCase):
    """The report of a suite."""

    MODEL = ("adds", "times")

    @staticmethod
    def lines(*lines: str) -> bytes:
        return "\n".join([*lines, ""]).encode()

    def verdict(self, said: bytes, status: int = 0, stopped: str = "") -> report.Verdict:
        found = report.read(walls.Done(status, b"", "", said, stopped, 1.0))
        return found.verdict(self.MODEL)

    def test_all_that_the_solution_passes_must_be_passed_once(self) -> None:
        self.assertEqual(self.verdict(self.lines("1..2", "ok 1 - adds", "ok 2 - times")).name, "OK")
        self.assertEqual(
            self.verdict(
                self.lines("1..3", "ok 1 - adds", "ok 2 - times", "ok 3 - more # SKIP no clock")
            ).name,
            "OK",
        )
        for lines, why in (
            (("1..2", "ok 1 - adds", "ok 2 - times # SKIP me"), "skipped"),
            (("1..2", "ok 1 - adds"), "ended the program"),
            (("1..2", "ok 1 - adds", "ok 2 - adds"), "results of"),
            (("ok 1 - adds", "ok 2 - times"), "ended the program"),
            (("1..0 # SKIP open",), "results of"),
            (
                ("1..2", "ok 1 - adds", "not ok 2 - times", '# {"kind": "wrong", "text": "c[0] is 1"}'),
                "times: c\\[0\\] is 1",
            ),
            ((), "ended the program"),
        ):
            found = self.verdict(self.lines(*lines))
            self.assertEqual(found.name, "FAIL", lines)
            self.assertRegex(found.reason.replace("\n", " "), why)

    def test_a_right_step_that_needs_more_is_slow(self) -> None:
        claim = ("not ok 2 - times", '# {"kind": "slow", "text": "too many lines", "share": 0.25}')
        found = self.verdict(self.lines("1..2", "ok 1 - adds", *claim))
        self.assertEqual((found.name, found.share, found.reason), ("SLOW", 0.25, "too many lines"))
        self.assertEqual(self.verdict(self.lines("1..2", "not ok 1 - adds", *claim)).name, "FAIL")
        self.assertEqual(self.verdict(self.lines("1..2", "ok 1 - adds", *claim), status=-11).name, "FAIL")
        self.assertEqual(
            self.verdict(
                self.lines(
                    "1..2",
                    "ok 1 - adds",
                    "not ok 2 - times",
                    '# {"kind": "wrong", "text": "the host has done it"}',
                )
            ).name,
            "FAIL",
        )

    def test_the_way_it_ended_is_reported(self) -> None:
        self.assertEqual(self.verdict(b"", -11).reason, "crashed: SIGSEGV")
        self.assertEqual(self.verdict(b"", 3).reason, "ended the program before the tests did, with status 3")
        self.assertEqual(
            self.verdict(b"", -9, "does not end: it was stopped after 3 s").reason,
            "does not end: it was stopped after 3 s",
        )
        self.assertEqual(
            self.verdict(
                self.lines(
                    "1..2",
                    "not ok 1 - adds",
                    '# {"kind": "open", "text": "open: the body has not been written yet"}',
                )
            ).name,
            "OPEN",
        )


def found(verdict: str, share: float = 1.0) -> report.StepResult:
    return cast("report.StepResult", {"verdict": verdict, "share": share, "why": ""})


def result(**of_student: object) -> report.Result:
    return cast("report.Result", of_student)


class Points(Scratch):
    def file(self, text: str) -> str:
        path = self.folder / "points.json"
        path.write_text(text)
        return str(path)

    def test_a_step_has_its_own_points_or_its_chapters(self) -> None:
        points = sheet.Points(
            self.file('{"points": {"grids": 2, "grids/03_blur": 4}, "right": 0.5}'), [*NAMES, "scan/01"]
        )
        self.assertEqual(list(points.of.values()), [2, 2, 4, 1])
        self.assertEqual(points.earned(NAMES[2], found("SLOW", 0.5)), 3)
        self.assertEqual(
            [points.earned(NAMES[0], found(name)) for name in ("OK", "FAIL", "OPEN", "MISSING")], [2, 0, 0, 0]
        )
        own = sheet.Points(self.file('{"right": {"grids": 0.2, "grids/03_blur": 1}}'), [*NAMES, "scan/01"])
        self.assertEqual(list(own.right.values()), [0.2, 0.2, 1, 0.5])
        self.assertNotEqual(points.digest, own.digest)
        text = '{"points": {"grids/03": 4, "grids/04": 9}}'
        short = sheet.Points(self.file(text), NAMES, ["grids/04_wide"])
        self.assertEqual(short.of, dict(zip(NAMES, (1, 1, 4))))

    def test_what_a_slow_step_has_falls_with_what_it_needs(self) -> None:
        def earned(times: float, right: float = 0.5) -> float:
            return sheet.Points(
                self.file(json.dumps({"points": {"grids": 100}, "right": right})), NAMES
            ).earned(NAMES[0], found("SLOW", 1 / times))

        self.assertEqual([earned(times) for times in (1, 2, 5, 8, 100, 1000)], [100, 75, 60, 50, 4, 0.4])
        self.assertEqual([earned(times, 1) for times in (2, 4, 8)], [100, 100, 50])
        self.assertEqual([earned(times, 0) for times in (2, 4)], [50, 25])

    def test_what_is_no_table_of_points_is_refused(self) -> None:
        for text in (
            "",
            "[]",
            "{",
            '{"point": {}}',
            '{"points": {"grids/09": 1}}',
            '{"points": {"gridz": 1}}',
            '{"points": {"gridz/01": 1}}',
            '{"right": {"gridz": 1}}',
            '{"points": {"grids": -1}}',
            '{"points": {"grids": "1"}}',
            '{"points": 2}',
            '{"right": 2}',
            '{"right": "1"}',
            '{"right": {"grids/09": 1}}',
            '{"right": {"grids": true}}',
            '{"right": null}',
        ):
            with self.assertRaises(Fault, msg=text) as raised:
                sheet.Points(self.file(text), NAMES)
            self.assertEqual(raised.exception.status, 2)

    def test_another_file_is_not_taken_for_a_sheet(self) -> None:
        with self.assertRaisesRegex(Fault, "not a sheet"):
            sheet.Sheet(pathlib.Path(self.file("name,grade\nalice,1\n")), NAMES)

    def new_sheet(self, points: sheet.Points, **verdicts: str) -> sheet.Sheet:
        """Returns a sheet of students, with the verdict that each has for all steps."""
        table = sheet.Sheet(self.folder / "grades.csv", NAMES)
        for name, verdict in verdicts.items():
            steps = {step: found(verdict) for step in NAMES}
            of_student = result(steps=steps, notes=[], graded="", seconds=1)
            table.put(name, of_student, points, f"d-{points.digest}")
        table.write()
        return table

    def test_a_student_who_is_not_graded_again_keeps_the_earlier_points(self) -> None:
        points = sheet.Points(None, NAMES)
        table = self.new_sheet(points, x="OK")
        self.assertTrue(sheet.Sheet(table.path, NAMES).is_done("x", f"d-{points.digest}"))
        table.put("x", None, points, "")
        self.assertEqual((table.rows["x"]["points"], table.rows["x"]["state"]), ("3", "not graded"))
        self.assertFalse(table.is_done("x", f"d-{points.digest}"))
        others = sheet.Points(self.file('{"right": 0.25}'), NAMES)
        table = self.new_sheet(points, x="OK", y="FAIL")
        self.assertEqual((table.of_other_points(points), table.of_other_points(others)), (0, 2))

    def test_a_mean_needs_rows_of_the_same_total(self) -> None:
        table = self.new_sheet(sheet.Points(None, NAMES), x="OK", y="FAIL")
        self.assertTrue(table.summary().endswith("mean of those graded: 1.50 of 3 points"))
        table.rows["y"]["of"] = "8"
        self.assertTrue(
            table.summary().endswith("no mean, because the rows have different totals: 3, 8 points")
        )

    def test_a_sheet_of_other_chapters_is_refused_and_stays(self) -> None:
        table = self.new_sheet(sheet.Points(None, NAMES), x="OK")
        before = table.path.read_bytes()
        for steps in (["scan/01_kogge_stone"], [*NAMES, "scan/01_kogge_stone"], NAMES[:2]):
            with self.assertRaisesRegex(Fault, "one choice of chapters"):
                sheet.Sheet(table.path, steps)
        self.assertEqual(table.path.read_bytes(), before)

    def test_a_student_in_the_roster_has_a_row_and_keeps_an_existing_one(self) -> None:
        for text, wanted in (
            ("id,student\n1,Übung\n2,x\n", ["Übung", "x"]),
            ("x\n\ny, z\n", ["x", "y"]),
            ("\ufeffx;1\ny;2\n", ["x", "y"]),
            ("", []),
        ):
            self.assertEqual(list(sheet.roster(self.file(text))), wanted)
        points = sheet.Points(None, NAMES)
        table = self.new_sheet(points, x="OK")
        for name in ("x", "Übung"):
            table.put_absent(name, points)
        table.put_late("x", 7000, 1600)
        table.put_late("Übung", 1600, 7000)
        table.order(["y", "Übung"])
        table.write()
        rows = sheet.Sheet(table.path, NAMES).rows
        self.assertEqual(list(rows), ["Übung", "x"])
        self.assertEqual(
            [rows["x"][name] for name in ("points", "state", "hours late")], ["3", "graded", "1.50"]
        )
        self.assertEqual(
            [rows["Übung"][name] for name in ("points", "of", "MISSING", "state", "hours late")],
            ["0", "3", "3", "nothing handed in", "0"],
        )
        self.assertEqual(
            table.summary(),
            "grades.csv: 1 graded, 1 nothing handed in, 1 late, mean of those graded: 3.00 of 3 points",
        )
        table.put_unreadable("x", points, "why")
        table.put_late("x", 0, 1600)
        self.assertEqual([table.rows["x"][name] for name in ("points", "hours late")], ["", "unknown"])

    def test_what_a_killed_run_has_left_is_removed_and_what_is_used_stays(self) -> None:
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(tempfile, "tempdir", folder):
            left, used, young, foreign = (
                pathlib.Path(folder, f"kata-grade-{name}") for name in ("left", "used", "young", "foreign")
            )
            for path in (left, used, young):
                write(path / "lock", "")
            write(foreign / "notes", "")
            for path in (left, used, foreign):
                os.utime(path, (time.time() - 3600,) * 2)
            with grade.for_itself(used), grade.scratch_folder() as mine:
                self.assertEqual(
                    {path.name for path in pathlib.Path(folder).iterdir()},
                    {used.name, young.name, foreign.name, mine.name},
                )
            self.assertFalse(mine.exists())

    def test_a_student_who_is_not_graded_for_a_step_reads_the_reason(self) -> None:
        given, _ = grade.arguments_of(["--chapter", "gemm", str(ROOT)])
        with contextlib.redirect_stderr(io.StringIO()):
            left_out = grade.Grading(given).left_out
        line = "gemm/12_copy_engine is not graded: it needs a GPU of compute capability 9.0"
        self.assertIn(line, left_out)
        nothing = result(student="x", steps={}, notes=[], graded="", version="")
        self.assertIn(f"\n{line}.\n", sheet.feedback(nothing, sheet.Points(None, []), left_out))

    def test_no_cell_is_a_formula(self) -> None:
        self.assertEqual(
            [sheet.cell(text) for text in ("=1", "+1", "-1", "@x", "1", "\x1b[31m=1")],
            ["'=1", "'+1", "'-1", "'@x", "1", "'=1"],
        )


if __name__ == "__main__":
    unittest.main()
