#!/usr/bin/env python3
"""Whether ./kata grade is fair to a class of which every student does something else. Builds a chapter: takes a minute."""

import contextlib
import csv
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common" / "front"))

import grade
from repository import Repository

CHAPTER = "grids"
STEPS = ["01_vector_add", "02_color_to_grayscale", "03_blur"]

ENDLESS = """#include "kata.hpp"
#include "grids.hpp"
extern "C" __attribute__((visibility("default"))) void vector_add(const float*, const float*, float*, int) {
    for (volatile int i = 0;; i = i + 1) {
    }
}
"""


# A name that is not UTF-8, as an archive of another system may hold.
LINKED = os.fsdecode(b"linked by Ren\xe9")
LEFT = pathlib.Path("/dev/shm/kata-grading-left")


def solution(step):
    return (ROOT / "solutions" / CHAPTER / f"{step}.cu").read_text()


def wrong(kernel):
    repository = Repository()
    return next(repository.kernel(CHAPTER, mistake) for mistake in repository.mistakes(CHAPTER) if mistake.kernel == kernel)


LAUNCH = r"(?m)^(?=    \w+<<<)"


def with_first(step, statement):
    """The solution, which does something else before its first launch."""
    text, launches = re.subn(LAUNCH, f"    {statement}\n", solution(step))
    assert launches == 1
    return text


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
                "02_color_to_grayscale": re.sub(LAUNCH, "    lunch", solution("02_color_to_grayscale")),
                "03_blur": wrong("03_blur.in_place"),
            },
            "quitting": {
                "01_vector_add": with_first("01_vector_add", "exit(0);"),
                "02_color_to_grayscale": with_first("02_color_to_grayscale", "abort();"),
                "03_blur": "#include <cstdio>\n" + with_first("03_blur", f'fclose(fopen("{LEFT}", "w"));'),
            },
            "skipping": {
                "01_vector_add": "#include <catch2/catch_test_macros.hpp>\n" + with_first("01_vector_add", 'SKIP("me");'),
                "02_color_to_grayscale": '#include "lib/types.hpp"\n' + solution("02_color_to_grayscale"),
                "03_blur": '#include "broken.hpp"\n' + solution("03_blur"),
            },
            "endless": {"01_vector_add": ENDLESS, "03_blur": solution("03_blur")},
            "unwritten": {step: '#include "kata.hpp"\nvoid nothing() {\n    kata::open();\n}\n' for step in STEPS},
        }
        for student, steps in students.items():
            chapter = folder / student / "chapters" / CHAPTER
            chapter.mkdir(parents=True)
            for step, text in steps.items():
                (chapter / f"{step}.cu").write_text(text)
        skipping = folder / "skipping" / "chapters" / CHAPTER
        (skipping / "lib").mkdir()
        (skipping / "lib" / "types.hpp").write_text("#pragma once\n")
        (skipping / "broken.hpp").write_text("inline int broken() { return undeclared; }\n")
        linked = folder / LINKED / "chapters" / CHAPTER
        linked.mkdir(parents=True)
        (linked / "01_vector_add.cu").symlink_to(outside)
        (linked / "02_color_to_grayscale.cu").write_text('#include "mine.hpp"\n' + solution("02_color_to_grayscale"))
        (linked / "mine.hpp").write_text("#pragma once\n")
        for header in ("grids.hpp", "grids.cuh"):
            (linked / header).write_text("#error not the one of this repository\n")
        (folder / "empty").mkdir()
        (folder / "README").write_text("a class\n")
        # The whole repository, in a folder of its own.
        (folder / "right" / "cuda-kata").mkdir()
        (folder / "right" / "chapters").rename(folder / "right" / "cuda-kata" / "chapters")
        scratch_of_grade = folder / "with a space"
        scratch_of_grade.mkdir()
        LEFT.unlink(missing_ok=True)
        cls.addClassCleanup(LEFT.unlink, missing_ok=True)

        sheet = folder / "grades.csv"
        names = [*students, LINKED, "empty"]
        given = [folder / name for name in ("README", *names)]
        cls.done = subprocess.run(
            [sys.executable, ROOT / "common/front/grade.py", *given, "--chapter", CHAPTER[:3], "--csv", sheet],
            capture_output=True,
            text=True,
            env={**os.environ, "TMPDIR": str(scratch_of_grade)},
        )
        with open(sheet, newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        cls.grades = {(row["student"], row["step"]): (row["verdict"], row["reason"]) for row in rows}
        cls.rows = len(rows)
        cls.names = [name.encode("utf-8", "backslashreplace").decode() for name in names]

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
        for student, number in (("endless", 2), (self.names[-2], 3), ("empty", 1), ("unwritten", 1), ("unwritten", 2)):
            self.assertEqual(self.verdict(student, number), ("OPEN", ""), student)
        # The sheet has everybody.
        self.assertIn("\nempty holds no chapters/ and no step\n", self.done.stdout)
        self.assertNotIn("empty: 0 of", self.done.stdout)

    def test_steps_and_headers_of_their_own_count_and_nothing_else(self):
        linked = self.names[-2]
        self.assertEqual(self.verdict(linked, 1), ("OPEN", ""))  # a link to somewhere else
        self.assertEqual(self.verdict(linked, 2), ("OK", ""))
        self.assertEqual(self.verdict("skipping", 2), ("OK", ""))  # a header in a folder, named like one in common/simt

    def test_who_skips_the_tests_has_not_passed(self):
        verdict, reason = self.verdict("skipping", 1)
        self.assertEqual(verdict, "FAIL")
        self.assertNotEqual(reason, "")

    def test_an_error_in_a_header_of_their_own_is_the_compilers_word(self):
        verdict, reason = self.verdict("skipping", 3)
        self.assertEqual(verdict, "FAIL")
        self.assertRegex(reason, r"^does not compile: .*undeclared.* was not declared")

    def test_what_is_no_folder_is_named_and_costs_nobody_anything(self):
        self.assertRegex(self.done.stdout, r"README is no folder: not graded")

    @unittest.skipUnless(grade.sandbox(ROOT)[0], "bubblewrap does not run here")
    def test_nothing_is_left_behind_for_the_next_student(self):
        self.assertNotIn("with all your rights", self.done.stdout)
        self.assertFalse(LEFT.exists())
        self.assertEqual(self.verdict("quitting", 3), ("OK", ""))


class Taking(unittest.TestCase):
    """What is made of what was handed in, without building it."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="kata-class-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.step = pathlib.Path(CHAPTER, "01_vector_add.cu")
        (cls.folder / "tree").mkdir()
        cls.tree = grade.Tree(cls.folder / "tree", [cls.step])

    def hand_in(self, name, **texts):
        """A student's folder, with the files `texts` in the chapter."""
        home = self.folder / name
        for file, text in {self.step.name: "mine", **texts}.items():
            path = home / "chapters" / CHAPTER / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return home

    def take(self, home):
        return self.tree.take(home, grade.chapters_in(home))

    def test_a_linked_folder_is_not_followed(self):
        mine = self.hand_in("mine")
        self.assertEqual(self.take(mine), {self.step: ""})
        for link, target in (("chapters", mine / "chapters"), (f"chapters/{CHAPTER}", mine / "chapters" / CHAPTER)):
            home = self.folder / f"link of {link.replace('/', ' ')}"
            (home / link).parent.mkdir(parents=True)
            (home / link).symlink_to(target)
            self.assertEqual(self.take(home), {})
        student = self.folder / "link to a student"
        student.symlink_to(mine)  # the teacher's
        self.assertEqual(self.take(student), {self.step: ""})

    def test_only_headers_that_hide_ours_are_left_out(self):
        names = ["types.hpp", "lib/data.hpp", "kata.hpp", "grids.hpp", "grids.cuh", "check/data.hpp"]
        self.take(self.hand_in("headers", **dict.fromkeys(names, "")))
        taken = [name for name in names if (self.tree.path / "chapters" / CHAPTER / name).exists()]
        self.assertEqual(taken, ["types.hpp", "lib/data.hpp", "grids.cuh"])
        ours = (ROOT / "solutions" / CHAPTER / "grids.cuh").read_text()  # and not what was handed in
        self.assertEqual((self.tree.path / "chapters" / CHAPTER / "grids.cuh").read_text(), ours)

    def test_what_cannot_be_read_costs_itself_only(self):
        home = self.hand_in("unreadable")
        denied = mock.patch.object(grade.shutil, "copyfile", side_effect=PermissionError(13, "Permission denied"))
        with denied, mock.patch.object(grade, "OF_CHAPTERS", []):
            self.assertEqual(self.take(home), {self.step: "cannot be read: Permission denied"})

    def test_what_was_not_handed_in_is_open(self):
        self.assertTrue(grade.bodies.is_open(grade.NOT_HANDED_IN))

    def test_names_tell_students_apart(self):
        homes = [pathlib.Path(home) for home in ("/t/x/alice", "/t/y/alice", "/t/y/bob", "/alice")]
        self.assertEqual(grade.names_of(homes), ["x/alice", "y/alice", "bob", "/alice"])

    def test_compiling_ends(self):
        (self.folder / "build.ninja").write_text("rule wait\n  command = cat; sleep 60\nbuild nothing: wait\n")
        before = time.monotonic()
        _, said = grade.run_for(["ninja", "-C", self.folder], 1, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertLess(time.monotonic() - before, 10)
        self.assertEqual(grade.compilers_word(self.step, said), ": not within 1 s")


class Verdict(unittest.TestCase):
    """On what Meson records of a step."""

    def complaint(self, stdout, result="OK", stderr="", returncode=0):
        record = {"result": result, "stdout": stdout, "stderr": stderr, "returncode": returncode}
        model = {"result": "OK", "stdout": "ok 1 - adds\nok 2 - times # SKIP no clock\n1..2\n"}
        return grade.complaint(record, model)

    def test_all_that_the_solution_passes_must_be_passed_once(self):
        self.assertEqual(self.complaint("ok 1 - adds\nok 2 - times # SKIP no clock\n1..2\n"), "")
        self.assertIn("skipped the test", self.complaint("ok 1 - adds # SKIP me\nok 2 - times\n"))
        self.assertIn("ended the program", self.complaint("ok 2 - times\n"))
        self.assertIn("2 results", self.complaint("ok 1 - adds\nok 1 - adds\n"))

    def test_what_meson_does_not_call_ok_is_not(self):
        self.assertIn("ERROR", self.complaint("ok 1 - adds\nBail out! now\n", "ERROR"))
        self.assertIn("FAIL", self.complaint("ok 1 - adds\nnot ok 77 - mine\n", "FAIL"))
        self.assertEqual(self.complaint("not ok 1 - adds\n", "FAIL", "not ok: adds\n  c[0] is 1\n"), "c[0] is 1")
        self.assertEqual(self.complaint("", "ERROR", returncode=3), "ended with status 3")
        self.assertEqual(grade.complaint(None, {}), "the tests gave no result")


class CommandLine(unittest.TestCase):
    def refused(self, *arguments):
        done = subprocess.run([sys.executable, ROOT / "common/front/grade.py", *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        return done.stderr.splitlines()[-1]

    def test_names_of_nothing_are_refused(self):
        self.assertIn("there is no folder", self.refused("/no/such/folder"))
        self.assertIn("there is no chapter fourier; there are:", self.refused("/", "--chapter", "fourier"))
        self.assertTrue(self.refused("/", "--chapter", "s").endswith("'s' may be stencil or scan"))
        self.assertIn("/no/such/sheet.csv", self.refused("/", "--csv", "/no/such/sheet.csv"))

    def test_a_folder_without_any_step_is_not_graded(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "src").mkdir()
            self.assertTrue(self.refused(folder).endswith(f"{folder} holds no chapters/ and no step"))

    def run_main(self, sheet, **replaced):
        """Grades two folders, with functions of grade.py replaced. Gives what is printed."""
        folders = [str(ROOT / "chapters"), str(ROOT / "solutions")]
        printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        tree = mock.MagicMock()
        tree.return_value.compile.return_value = (0, "")
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.multiple(grade, Tree=tree, **replaced))
            arguments = ["grade", *folders, "--chapter", CHAPTER, "--csv", sheet]
            stack.enter_context(mock.patch.object(sys, "argv", arguments))
            stack.enter_context(contextlib.redirect_stdout(printed))
            grade.main()
        printed.seek(0)
        return printed.read()

    def test_grades_are_kept_where_nothing_can_be_graded(self):
        with tempfile.NamedTemporaryFile("w+") as sheet:
            sheet.write("of last week\n")
            sheet.flush()
            with self.assertRaisesRegex(SystemExit, r"solutions/grids/03_blur\.cu: does not end"):
                self.run_main(sheet.name, judge=lambda *_: ("FAIL", "does not end"))
            self.assertEqual(pathlib.Path(sheet.name).read_text(), "of last week\n")

    def test_a_student_who_cannot_be_graded_keeps_nobody_else_from_it(self):
        passed = {pathlib.Path(CHAPTER, step): ("OK", "") for step in STEPS}
        with tempfile.NamedTemporaryFile("r") as sheet:
            one_fails = mock.Mock(side_effect=[ValueError("odd"), passed])
            printed = self.run_main(sheet.name, judge=lambda *_: ("OK", ""), grade=one_fails)
            self.assertIn("could not be graded: odd", sheet.read())
        self.assertIn("0 of 3 OK, 3 FAIL, 0 OPEN", printed)
        self.assertIn("3 of 3 OK, 0 FAIL, 0 OPEN", printed)


if __name__ == "__main__":
    unittest.main()
