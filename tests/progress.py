#!/usr/bin/env python3
"""Tests of ./kata next, status and watch: what comes next, and what has been done. Nothing is built."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import unittest
from collections.abc import Sequence

import paths  # noqa: F401  it makes the modules below importable

import loop
import verdicts
from checkout import FIRST, STEP, Checkout
from repository import Module, Repository


class Progress(Checkout):
    def test_next_is_the_first_open_step(self) -> None:
        self.assertTrue(self.kata("next").stdout.startswith(FIRST))
        self.write(FIRST)
        self.keep_results(grids_01="OK")
        said = self.kata("next").stdout
        self.assertTrue(said.startswith("chapters/grids/02_color_to_grayscale.cu"), said)
        self.assertIn("Then: ./kata test grids 02", said)

    def test_next_follows_the_course_and_offers_what_goes_further(self) -> None:
        repository = Repository(self.root)
        course = repository.course()
        said = self.kata("next").stdout
        self.assertIn(f"Step 1 of {len(course)} in the course. Its lesson: chapters/grids/README.md\n", said)
        offer = "Further in grids, if you like (04 05 07): ./kata next grids"
        for number, (chapter, step) in enumerate(course[:12], 1):
            said = self.kata("next").stdout
            self.assertTrue(said.startswith(f"chapters/{chapter}/{step}.cu:"), said)
            self.assertIn(f"\nStep {number} of", said)
            self.done([(chapter, step)])
            first, *offered = loop.what_comes_next(repository, chapter, step).splitlines()
            self.assertIn("Next: chapters/{}/{}.cu;".format(*course[number]), first)
            if chapter == "grids":
                self.assertEqual(offered, [offer] if number == 3 else [])
        said = self.kata("next", "gr").stdout
        self.assertTrue(said.startswith("chapters/grids/04_wide_grayscale.cu:"), said)
        self.assertIn("\nThis step goes further than the course. Back to the course: ./kata next\n", said)
        # From a step that goes further to the next one of the chapter, then back to the course.
        for beginning, wanted in ("04", "Further: chapters/grids/05"), ("05", "Further: chapters/grids/07"):
            step = next(step for step in repository.steps("grids") if step.startswith(beginning))
            self.done([("grids", step)])
            self.assertTrue(loop.what_comes_next(repository, "grids", step).startswith(wanted))
        self.done([("grids", "07_wide_vector_add")])
        self.assertTrue(
            loop.what_comes_next(repository, "grids", "07_wide_vector_add").startswith("Next: chapters/hist")
        )
        # The last one of grids needs gemm 07.
        self.assertEqual(loop.what_comes_next(repository, *course[2]).count("\n"), 0)
        self.assertIn("course. It needs what gemm 07 teaches. Back", self.kata("next", "grids").stdout)

    def test_behind_the_course_is_all_that_goes_further(self) -> None:
        repository = Repository(self.root)
        course, further = repository.course(), repository.further()
        places = [(chapter, s) for chapter in repository.chapters() for s in repository.steps(chapter)]
        self.assertEqual(sorted(course + further), sorted(places))
        named = [f"{chapter} {step[:2]}" for chapter, step in further]
        self.assertEqual(named[:4], ["grids 04", "grids 05", "grids 07", "reduction 06"])
        self.assertEqual(named[named.index("grids 06") - 1], "gemm 07")
        self.done(course)
        self.assertIn("\nThis step goes further than the course.\nIts lesson", self.kata("next").stdout)
        said = self.kata("status").stdout
        self.assertIn(f"\nThe course: {len(course)} of {len(course)} steps done.", said)
        self.assertIn("\nFurther: chapters/grids/04_wide_grayscale.cu;", said)
        said = loop.what_comes_next(repository, *course[-1])
        self.assertTrue(said.startswith("The course is done.\nFurther: chapters/grids/04_wide_"), said)
        self.assertIn("\nFurther in gemm, if you like (05 06 07", said)
        self.done([place for place in further if place[0] == "stencil"])
        self.assertEqual(
            self.kata("next", "stencil").stdout,
            "Every step of stencil is written and right. What each gains: ./kata tour stencil --mine\n",
        )

    def test_a_step_is_skipped_until_it_is_written_in_or_skipped_once_more(self) -> None:
        shutil.rmtree(self.root / "build", ignore_errors=True)  # nothing needs to be built for it
        second = "chapters/grids/02_color_to_grayscale.cu"
        said = self.kata("skip", "grids", "1").stdout
        self.assertIn(f"{FIRST} is skipped. To take it up again: change it, or ./kata skip grids 01\n", said)
        self.assertIn(f"\nNext: {second};", said)
        self.assertTrue(self.kata("next").stdout.startswith(second))
        self.assertEqual(self.status()[0]["grids 01"], "skipped")
        said = self.kata("status").stdout
        self.assertRegex(said, r"\ngrids +s  o  o  \.")
        self.assertIn("s skipped: 1", said)
        self.assertIn(
            f"{FIRST} is skipped no longer.\nNext: {FIRST};", self.kata("skip", "grids", "1").stdout
        )
        self.kata("skip", "grids", "1")
        self.write(FIRST)
        self.assertEqual(self.status()[0]["grids 01"], "untested")
        self.kata("skip", "grids", "1")
        self.keep_results(grids_01="FAIL")
        self.assertEqual(self.status()[0]["grids 01"], "skipped")
        self.keep_results(grids_01="OK")
        self.assertEqual(self.status()[0]["grids 01"], "done")
        self.assertIn("there is nothing to skip", self.refused("skip", "grids", "1", status=1))
        self.kata("skip", "grids", "2")
        self.done(
            [place for place in Repository(self.root).all_places() if place[1] != "02_color_to_grayscale"]
        )
        self.assertIn("Every step, except those skipped, is written and right.", self.kata("next").stdout)
        (self.root / FIRST).unlink()
        self.assertIn("is missing", self.refused("skip", "grids", "1", status=1))

    def test_next_stays_with_a_step_that_is_not_right(self) -> None:
        self.write(FIRST)
        untested = (
            f"{FIRST} is written, and has not been tested as it stands.\nWhat the tests say: ./kata test "
            f"grids 01\n"
        )
        self.assertTrue(self.kata("next").stdout.startswith(untested))
        self.keep_results(grids_01="FAIL")
        said = self.kata("next").stdout
        self.assertTrue(
            said.startswith(f"{FIRST} is not right yet.\nWhat the tests say: ./kata test grids 01\n"), said
        )
        self.assertIn("./kata hint grids 01", said)
        self.keep_results(grids_01="OK")
        self.assertNotIn(FIRST, self.kata("next").stdout)
        with open(self.root / FIRST, "a") as step:
            step.write("// and a change\n")
        self.assertTrue(self.kata("next").stdout.startswith(untested))

    def judged(self, **why: str) -> None:
        """Records failures of steps: grids_01="out of bounds"."""
        record, found = verdicts.Record(Repository(self.root)), []
        record.file.parent.mkdir(exist_ok=True)
        for name, said in why.items():
            records: tuple[verdicts.TestRecord, ...] = tuple(
                {
                    "kind": "slow" if line.startswith("slow: ") else "wrong",
                    "text": f"{line.removeprefix('slow: ')}\nmore of it",
                }
                for line in said.split("|")
            )
            found.append(verdicts.Verdict(name, self.module(name), "FAIL", "a reason", records=records))
        record.keep(found)

    def test_the_board_knows_the_state_of_each_step_without_running_anything(self) -> None:
        for step in Repository(self.root).steps("histogram")[:5]:
            self.write(f"chapters/histogram/{step}.cu")
        self.keep_results(histogram_01="OK", histogram_05="OK")
        self.judged(
            histogram_02="out of bounds",
            histogram_03="slow: its accesses are not coalesced",
            histogram_04="slow: slow|elements differ",
        )
        with open(self.root / "chapters/histogram/05_coarsened_interleaved.cu", "a") as file:
            file.write("// and a change\n")
        (self.root / "chapters/scan/01_kogge_stone.cu").unlink()
        states, following = self.status()
        self.assertEqual(
            {name: state for name, state in states.items() if state not in ("open", "elsewhere")},
            {
                "histogram 01": "done",
                "histogram 02": "wrong",
                "histogram 03": "slow",
                "histogram 04": "wrong",
                "histogram 05": "untested",
                "scan 01": "missing",
            },
        )
        self.assertEqual(len(states), len(list(self.root.glob("solutions/*/*.cu"))))
        self.assertEqual(following["file"], FIRST)
        said = self.kata("status").stdout
        for chapter, marks in ("histogram", "+x~x?"), ("scan", "!.ooooo"):
            steps = len(list(self.root.glob(f"solutions/{chapter}/*.cu")))
            row = re.escape("  ".join(marks.ljust(steps, ".")))
            self.assertRegex(said, rf"\n{chapter} +{row}\n")
        self.assertIn("+ done: 1   ~ right, not yet fast: 1   x wrong: 2", said)
        if any(state == "elsewhere" for state in states.values()):
            self.assertIn("\ngemm 12 13 14 15: needs a GPU of compute capability 9.0\n", said)
        self.assertIn("\nhistogram 02: out of bounds\n", said)
        self.assertIn(f"\nNext: {FIRST}; what is to be written:\n  ./kata hint grids 01\n", said)
        self.assertLessEqual(max(map(len, said.splitlines())), 80, said)

    def test_the_board_and_next_say_the_same(self) -> None:
        self.write(FIRST)
        self.judged(grids_01="slow: it is slow")
        self.assertEqual(self.status()[1]["state"], "slow")
        self.assertTrue(self.kata("next").stdout.startswith(f"{FIRST} is right, not yet fast.\n"))
        self.keep_results(grids_01="OK")
        self.assertEqual(self.status()[1]["step"], "02_color_to_grayscale")
        self.assertTrue(self.kata("next").stdout.startswith("chapters/grids/02"))

    def test_a_step_that_one_back_end_fails_is_not_done(self) -> None:
        self.write(FIRST)
        for order in (1, -1):
            record = verdicts.Record(Repository(self.root))
            record.file.parent.mkdir(exist_ok=True)
            found = [
                verdicts.Verdict("a", Module("chapters", "grids", "01_vector_add", "cpu"), "OK", ""),
                verdicts.Verdict(
                    "a",
                    Module("chapters", "grids", "01_vector_add", "gpu"),
                    "FAIL",
                    "not ok: a\n  slow",
                    records=({"kind": "slow", "text": "slow"},),
                ),
            ]
            record.keep(found[::order])
            self.assertEqual(self.status()[0]["grids 01"], "slow")
        self.assertRegex(
            verdicts.of_a_chapter(found, set()),
            r"\AOK .*\nSLOW .*\n\nSLOW .*[^$]*\n2 tests: 1 OK, 1 SLOW; SLOW is right, not yet fast\n\Z",
        )

    def watching(
        self, *arguments: str, saves: Sequence[tuple[str, str]] = (), ninja: str = "exit 0"
    ) -> list[str]:
        """Returns the output of ./kata watch while files are saved, each once the output before it is
        complete."""
        command = [sys.executable, "-u", str(self.root / "common/front/kata.py"), "watch", *arguments]
        idle, heard = subprocess.DEVNULL, subprocess.PIPE
        process = subprocess.Popen(
            command, env=self.fake_build(ninja), stdin=idle, stdout=heard, stderr=subprocess.STDOUT, text=True
        )
        assert process.stdout
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        parts = [self.until_it_waits(process)]
        for step, text in saves:
            (self.root / step).write_text(text)
            parts.append(self.until_it_waits(process))
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        self.assertEqual((process.wait(timeout=20), rest), (0, "\n"))
        return parts

    def until_it_waits(self, process: subprocess.Popen[str]) -> str:
        said = ""
        assert process.stdout
        for line in process.stdout:
            said += line
            if line.rstrip().endswith("Ctrl-C ends.") or line.startswith("Every step is written"):
                return said
        raise AssertionError(f"it ended and said {said}")

    def test_watch_runs_what_is_saved_and_stays_with_it(self) -> None:
        second = "chapters/grids/02_color_to_grayscale.cu"
        begun, wrong, slow, right, elsewhere = self.watching(
            "grids",
            "1",
            saves=(
                (FIRST, "// verdict: FAIL\n// counts: 50\n"),
                (FIRST, "// verdict: SLOW\n// counts: 400\n"),
                (FIRST, "// verdict: OK\n// counts: 200\n"),
                (STEP, "// verdict: FAIL\n"),
            ),
        )
        self.assertIn("What belongs into 01_vector_add.cu.", begun)
        self.assertIn("Step 1 of 30 in the course. Its lesson: chapters/grids/README.md\n", begun)
        self.assertIn(f"Waiting for {FIRST} to be saved", begun)
        self.assertNotIn("FAIL", begun)
        self.assertIn(f"FAIL  {FIRST}\n  not ok: it\n    it is FAIL\n", wrong)
        self.assertNotIn("sectors of global memory", wrong)  # with fewer than the right ones that follow
        self.assertIn(f"SLOW  {FIRST}\n  not ok: it\n", slow)
        self.assertRegex(slow, r"yours +solution\n +sectors of global memory +400 +100  4.0 x\n")
        self.assertRegex(right, r"before +yours +solution\n +sectors of global memory +400 +200\+ +100\n")
        self.assertIn(
            f"OK    {FIRST}\n      It gains: loads 10, 1/2 of the 20.\n      Next: {second};", right
        )
        self.assertNotIn("What belongs into 02_color_to_grayscale.cu.", right)
        self.assertIn(f"Waiting for {FIRST} to be saved", right)
        self.assertIn(f"FAIL  {STEP}\n", elsewhere)
        self.assertIn(f"Waiting for {STEP} to be saved", elsewhere)
        for part in (begun, wrong, slow, right):
            tables = [
                line for line in part.splitlines() if "in __global__" not in line and "void " not in line
            ]
            self.assertLessEqual(max(map(len, tables)), 100, part)
        self.assertEqual(self.status()[0]["grids 01"], "done")

    def test_watch_shows_what_the_compiler_says_and_waits_on(self) -> None:
        ninja = f"grep -q broken '{self.root}/{FIRST}' || exit 0; cat '{self.root}/said'; exit 1"
        (self.root / "said").write_text(
            "FAILED: chapters.grids.01_vector_add.cpu.so.p/a.cpp.o \nc++ -c a.cpp\n"
            "../chapters/grids/01_vector_add.cu:7:3: error: no x\n"
        )
        _, broken, mended = self.watching(
            "grids", "1", saves=((FIRST, "broken"), (FIRST, "// verdict: FAIL\n")), ninja=ninja
        )
        self.assertIn(f"\n{FIRST} does not compile:\n{FIRST}:7:3: error: no x\n", broken)
        self.assertNotIn("yours", broken)
        self.assertIn(f"FAIL  {FIRST}\n", mended)

    def test_watch_begins_where_next_does_and_ends_where_all_is_done(self) -> None:
        self.write(FIRST)
        self.keep_results(grids_01="OK")
        (begun,) = self.watching()
        self.assertIn("Waiting for chapters/grids/02_color_to_grayscale.cu to be saved", begun)
        for step in self.root.glob("chapters/*/[0-9]*.cu"):
            self.write(str(step.relative_to(self.root)))
        steps = [
            path.relative_to(self.root / "chapters") for path in self.root.glob("chapters/*/[0-9][0-9]_*.cu")
        ]
        self.keep_results(**{f"{step.parent}_{step.name[:2]}": "OK" for step in steps})
        self.assertIn("Every step is written and right", self.kata("watch").stdout)
        self.assertIn("is not a step of grids", self.refused("watch", "grids", "17"))
        self.assertIn("usage: ./kata watch CHAPTER STEP", self.refused("watch", "grids"))

    def test_a_record_that_cannot_be_read_is_none(self) -> None:
        self.write(FIRST)
        self.keep_results(grids_01="OK")
        for damage in ("[]", "{", "", '{"grids/01_vector_add": ["OK"]}'):
            (self.root / "build/verdicts.json").write_text(damage)
            self.assertIn("has not been tested", self.kata("next").stdout)

    def test_there_is_an_end(self) -> None:
        for step in self.root.glob("chapters/*/*.cu"):
            self.write(str(step.relative_to(self.root)))
        steps = [
            path.relative_to(self.root / "chapters") for path in self.root.glob("chapters/*/[0-9][0-9]_*.cu")
        ]
        self.keep_results(**{f"{step.parent}_{step.name[:2]}": "OK" for step in steps})
        self.assertIn("Every step is written and right", self.kata("next").stdout)

    def test_a_call_in_a_comment_or_a_string_leaves_no_step_open(self) -> None:
        self.write(FIRST)
        with open(self.root / FIRST, "a") as step:
            step.write('// kata::open();\n/* kata::open(); */\nconst char* text = "kata::open();";\n')
        self.keep_results(grids_01="OK")
        self.assertNotIn(FIRST, self.kata("next").stdout)

    def test_a_call_that_begins_a_line_leaves_a_step_open(self) -> None:
        for line in ("kata::open();", "\t kata::open();  // not yet", "kata::open(); return 0;"):
            self.write(FIRST)
            with open(self.root / FIRST, "a") as step:
                step.write(f"{line}\n")
            self.assertIn(FIRST, self.kata("next").stdout)

    def test_a_long_step_is_open_like_a_short_one(self) -> None:
        with open(self.root / FIRST, "a") as step:
            step.write("int x;  // what a pipe cannot hold at once\n" * 10000)
        self.assertTrue(self.kata("next").stdout.startswith(FIRST))


if __name__ == "__main__":
    unittest.main()
