#!/usr/bin/env python3
"""Whether ./kata grade is fair to a class of which every student does something else. Builds a chapter: takes a minute."""

import csv
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHAPTER = "grids"
STEPS = ["01_vector_add", "02_color_to_grayscale", "03_blur"]

ENDLESS = """#include "kata.hpp"
#include "grids.hpp"
extern "C" __attribute__((visibility("default"))) void vector_add(const float*, const float*, float*, int) {
    for (volatile int i = 0;; i = i + 1) {
    }
}
"""


def solution(step):
    return (ROOT / "solutions" / CHAPTER / f"{step}.cu").read_text()


def wrong(kernel):
    return (ROOT / "tests" / "wrong" / CHAPTER / f"{kernel}.cu").read_text()


def with_first(step, statement):
    """The solution, which does something else before its first launch."""
    text = solution(step)
    assert "    launch(" in text
    return text.replace("    launch(", f"    {statement}\n    launch(", 1)


class Grading(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="kata-class-")
        cls.addClassCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        outside = folder / "not theirs.cu"
        outside.write_text(solution("01_vector_add"))
        students = {
            "right": {step: solution(step) for step in STEPS},
            "mistaken": {
                "01_vector_add": wrong("01_vector_add.whole_blocks_only"),
                "02_color_to_grayscale": solution("02_color_to_grayscale").replace("    launch(", "    lunch(", 1),
                "03_blur": wrong("03_blur.in_place"),
            },
            "quitting": {
                "01_vector_add": with_first("01_vector_add", "exit(0);"),
                "02_color_to_grayscale": with_first("02_color_to_grayscale", "abort();"),
                "03_blur": solution("03_blur"),
            },
            "endless": {"01_vector_add": ENDLESS, "03_blur": solution("03_blur")},
            "unwritten": {step: '#include "kata.hpp"\nvoid nothing() { kata::open(); }\n' for step in STEPS},
        }
        for student, steps in students.items():
            chapter = folder / student / "chapters" / CHAPTER
            chapter.mkdir(parents=True)
            for step, text in steps.items():
                (chapter / f"{step}.cu").write_text(text)
        linked = folder / "linked" / "chapters" / CHAPTER
        linked.mkdir(parents=True)
        (linked / "01_vector_add.cu").symlink_to(outside)
        (linked / "02_color_to_grayscale.cu").write_text('#include "mine.hpp"\n' + solution("02_color_to_grayscale"))
        (linked / "mine.hpp").write_text("#pragma once\n")
        (linked / "grids.hpp").write_text("#error not the one of this repository\n")
        (folder / "empty").mkdir()

        sheet = folder / "grades.csv"
        names = [*students, "linked", "empty"]
        cls.done = subprocess.run(
            [sys.executable, ROOT / "tests/grade.py", *(folder / name for name in names), "--chapter", CHAPTER, "--csv", sheet],
            capture_output=True,
            text=True,
        )
        with open(sheet, newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        cls.grades = {(row["student"], row["step"]): (row["verdict"], row["reason"]) for row in rows}
        cls.rows = len(rows)
        cls.names = names

    def verdict(self, student, number):
        return self.grades[student, STEPS[number - 1]]

    def test_everybody_gets_a_verdict_on_every_step(self):
        self.assertEqual(self.done.returncode, 0, self.done.stdout + self.done.stderr)
        self.assertEqual(self.rows, len(self.names) * len(STEPS))
        self.assertEqual(set(self.grades), {(name, step) for name in self.names for step in STEPS})

    def test_what_is_right_is_ok(self):
        for number in (1, 2, 3):
            self.assertEqual(self.verdict("right", number), ("OK", ""))
        self.assertIn("right: 3 of 3 OK, 0 FAIL, 0 OPEN", self.done.stdout)

    def test_what_is_wrong_fails_with_the_reason_of_the_test(self):
        verdict, reason = self.verdict("mistaken", 1)
        self.assertEqual(verdict, "FAIL")
        self.assertIn("never written", reason)
        verdict, reason = self.verdict("mistaken", 3)
        self.assertEqual(verdict, "FAIL")
        self.assertNotEqual(reason, "")

    def test_what_does_not_compile_fails_with_the_compilers_word(self):
        verdict, reason = self.verdict("mistaken", 2)
        self.assertEqual(verdict, "FAIL")
        self.assertRegex(reason, r"^does not compile: .*lunch.* was not declared")

    def test_who_ends_the_program_has_not_passed(self):
        self.assertEqual(self.verdict("quitting", 1), ("FAIL", "ended the program before the tests did"))
        self.assertEqual(self.verdict("quitting", 2)[0], "FAIL")
        self.assertNotEqual(self.verdict("quitting", 2)[1], "")

    def test_a_step_that_never_ends_costs_itself_only(self):
        verdict, reason = self.verdict("endless", 1)
        self.assertEqual(verdict, "FAIL")
        self.assertRegex(reason, "does not end|did not end|still running")
        self.assertEqual(self.verdict("endless", 3), ("OK", ""))

    def test_what_is_not_there_or_not_written_is_open(self):
        for student, number in (("endless", 2), ("linked", 3), ("empty", 1), ("unwritten", 1), ("unwritten", 2)):
            self.assertEqual(self.verdict(student, number), ("OPEN", ""), student)
        self.assertIn("no step in", self.done.stdout)

    def test_steps_and_headers_of_their_own_count_and_nothing_else(self):
        self.assertEqual(self.verdict("linked", 1), ("OPEN", ""))  # a link to somewhere else
        self.assertEqual(self.verdict("linked", 2), ("OK", ""))


class CommandLine(unittest.TestCase):
    def refused(self, *arguments):
        done = subprocess.run([sys.executable, ROOT / "tests/grade.py", *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        return done.stderr.splitlines()[-1]

    def test_names_of_nothing_are_refused(self):
        self.assertIn("there is no folder", self.refused("/no/such/folder"))
        self.assertIn("there is no chapter fourier; there are:", self.refused("/", "--chapter", "fourier"))
        self.assertIn("/no/such/sheet.csv", self.refused("/", "--csv", "/no/such/sheet.csv"))


if __name__ == "__main__":
    unittest.main()
