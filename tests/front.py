#!/usr/bin/env python3
"""Tests of ./kata without building anything, in copies of this repository: hints, stubs put back, and its
refusals."""

from __future__ import annotations

import compileall
import contextlib
import fcntl
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from paths import ROOT  # isort: split

import compilers
import kata
import loop
import verdicts
from arguments import Parser
from build import Build
from fault import Fault
from repository import Module, Repository

FIRST = "chapters/grids/01_vector_add.cu"
STEP = "chapters/convolution/03_tiled.cu"


# In place of Meson: tests the step whose name comes last; the word after "verdict:" in it is the result.
MESON_OF_A_WATCH = """
import json, pathlib, re, sys
root = pathlib.Path(__file__).parent
step = next((root / "chapters").glob(f"*/{sys.argv[-1]}.cu"))
result = re.search("verdict: (\\\\w+)", step.read_text())[1]
kind = {"OK": "right", "SLOW": "slow"}.get(result, "wrong")
told = {"test": "it", "kind": kind, "text": f"it is {result}", "gains": ["loads 10, 1/2 of the 20"]}
record = {
    "name": f"{step.parent.name} / {step.stem}", "result": "FAIL" if kind == "slow" else result,
    "stdout": f"# {json.dumps(told)}\\n",
    "stderr": "" if result == "OK" else f"not ok: it\\n  it is {result}", "returncode": 0,
    "command": ["suite", "--step", f"chapters.{step.parent.name}.{step.stem}.cpu.so", "--source", step.name],
}
(root / "build/meson-logs/testlog.json").write_text(json.dumps(record))
"""
# In place of a suite: the counts are after "counts:" in a step.
SUITE_OF_A_WATCH = """
import json, pathlib, re, sys
tree, chapter, step = pathlib.Path(sys.argv[2]).name.split(".")[:3]
text = (pathlib.Path(__file__).parents[1] / tree / chapter / f"{step}.cu").read_text()
found = re.search("counts: (\\\\d+)", text)
counts = {"sectors": int(found[1]) if found else 100, "work": 7}
pathlib.Path(sys.argv[4]).write_text(json.dumps({"fault": None, "all": counts}))
"""


@unittest.skipUnless(shutil.which("git"), "needs git")
class Front(unittest.TestCase):
    stubs: ClassVar[pathlib.Path]
    root: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="kata-front-")
        cls.addClassCleanup(scratch.cleanup)
        cls.stubs = pathlib.Path(scratch.name) / "stubs"
        first = cls()
        first.root = cls.stubs
        first.make_repository()
        # Done here once, because otherwise each ./kata of each test would compile each module again.
        compileall.compile_dir(cls.stubs / "common/front", quiet=1)

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="kata-front-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name) / "a folder with spaces"
        shutil.copytree(self.stubs, self.root, symlinks=True)

    def make_repository(self) -> None:
        self.root.mkdir()
        shutil.copy(ROOT / "kata", self.root)
        for name in (
            ".ci",
            "chapters",
            "solutions",
            "tests/wrong",
            "common/front",
            "common/estimate/devices",
        ):
            shutil.copytree(ROOT / name, self.root / name, symlinks=True)
        for step in self.root.glob("chapters/*/*.cu*"):  # whatever is written in this checkout
            self.make_stub(step)
        self.git("init", "-q", "--template=")
        self.commit("stubs")
        self.git("gc", "-q", "--prune=now")  # one file instead of hundreds, because each test copies them

    def make_stub(self, step: pathlib.Path) -> None:
        """Writes the solution with its bodies open, by which git and the front recognize a stub."""
        solution = self.root / "solutions" / step.relative_to(self.root / "chapters")
        if not solution.exists():
            step.unlink()  # kept by a reset
            return
        lines, inside = [], False
        for line in solution.read_text().splitlines(keepends=True):
            if "// kata: end" in line:
                inside = False
            if not inside:
                lines.append(line)
            if "// kata: begin" in line:
                inside = True
                lines += [f"    // What belongs into {step.name}.\n", "    kata::open();\n"]
        step.write_text("".join(lines))

    def git(self, *arguments: str) -> None:
        # The user may have no name in git, and a configuration of their own.
        identity = ["-c", "user.name=tests", "-c", "user.email=tests@localhost", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", self.root, *identity, *arguments], check=True, stdout=subprocess.DEVNULL)

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def kata(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        command: list[str | pathlib.Path] = [sys.executable, self.root / "common/front/kata.py", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def refused(self, *arguments: str, status: int = 2) -> str:
        """Returns the one line of a refused command."""
        done = self.kata(*arguments, status=status)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Akata: .*\n\Z")
        return done.stderr

    def write(self, step: str) -> None:
        """Writes a step as a student does: the solution."""
        shutil.copy(self.root / step.replace("chapters/", "solutions/", 1), self.root / step)

    def test_a_hint_is_of_the_step_that_a_short_name_means(self) -> None:
        said = self.kata("hint", "conv", "3").stdout
        self.assertTrue(said.startswith(STEP + ":"), said)
        self.assertIn("What belongs into 03_tiled.cu.", said)
        for chapter, step in (
            ("convolution", "03"),
            ("convolution", "03_tiled"),
            ("c", "03_tiled.cu"),
            ("conv", "tiled"),
        ):
            self.assertEqual(self.kata("hint", chapter, step).stdout, said)
        self.assertEqual(self.kata("hint", "chapters/convolution/03_tiled.cu").stdout, said)

    def test_each_hint_says_more(self) -> None:
        first = self.kata("hint", "conv", "3").stdout
        self.assertIn("What belongs into 03_tiled.cu.", first)
        self.assertIn("\nHint 1 of 3, question:\n", first)
        self.assertTrue(
            first.endswith("\nThe next one says more: ./kata hint convolution 03 --more\n"), first
        )
        second = self.kata("hint", "conv", "3", "--more").stdout
        self.assertTrue(second.startswith("Hint 2 of 3, approach:\n"), second)
        self.assertTrue(second.endswith(": ./kata hint convolution 03 --more --more\n"), second)
        third = self.kata("hint", "--more", "conv", "3", "--more").stdout
        self.assertTrue(third.startswith("Hint 3 of 3, nearly the code:\n\n    __shared__ "), third)
        self.assertNotIn("```", third)
        self.assertNotIn("The next one", third)
        self.assertIn("has 3 hints", self.refused("hint", "conv", "3", "--more", "--more", "--more"))

    def test_a_step_that_has_no_hints_yet_has_what_stands_in_its_stub(self) -> None:
        (self.root / "chapters/convolution/hints.md").write_text("# Hints\n")
        said = self.kata("hint", "conv", "3").stdout
        self.assertIn("What belongs into 03_tiled.cu.", said)
        self.assertNotIn("Hint 1", said)
        self.assertIn("has no hint for 03_tiled", self.refused("hint", "conv", "3", "--more", status=1))

    def test_a_hint_outlives_the_stub(self) -> None:
        said = self.kata("hint", "convolution", "03").stdout
        self.write(STEP)
        self.assertEqual(self.kata("hint", "convolution", "03").stdout, said)
        self.commit("my own")
        self.assertEqual(self.kata("hint", "convolution", "03").stdout, said)

    def test_names_that_mean_nothing_or_too_much_are_refused(self) -> None:
        self.assertIn("there are: grids reduction histogram", self.refused("hint", "fourier", "01"))
        self.assertIn("'g' may be grids or gemm\n", self.refused("hint", "g", "01"))
        self.assertIn("'s' may be stencil or scan\n", self.refused("test", "s"))
        self.assertIn("'t' may be 03_tiled or 04_tiled_by_output\n", self.refused("hint", "conv", "t"))
        self.assertIn("03_tiled", self.refused("hint", "convolution", "17"))
        self.assertIn("'' is no step", self.refused("hint", "convolution", ""))

    def test_command_lines_that_mean_nothing_are_refused(self) -> None:
        self.assertIn("usage: ./kata hint CHAPTER STEP", self.refused("hint", "convolution"))
        self.assertIn("usage: ./kata test", self.refused("test", "convolution", "03", "now"))
        self.assertIn("there is no command 'tests'", self.refused("tests"))
        self.assertIn("--fast; usage: ./kata tour [CHAPTER...]", self.refused("tour", "--fast"))
        self.assertIn("--image: expected one argument", self.refused("tour", "--image"))
        self.assertIn("there is no file nowhere.ppm", self.refused("tour", "--image", "nowhere.ppm"))
        self.assertIn("is no chapter", self.refused("tour", "fourier"))
        self.assertIn(
            "there is no file nowhere.txt", self.refused("tour", "--text", "nowhere.txt", "--device", "h100")
        )
        self.assertIn(
            "nothing of a file",
            self.refused("tour", "--text", str(self.root / "chapters/CUDA.md"), "--device", "h100"),
        )
        self.assertIn("is not NN_name", self.refused("new", "convolution", "tiled"))
        self.assertIn("there are: divergent_barrier", self.refused("mistake", "conv", "3", "nothing"))

    def test_a_gpu_may_be_named_in_short_and_without_a_name_all_are_listed(self) -> None:
        for command in (["tour"], ["explain", "conv", "3"]):
            for given in (["--device", "Voodoo"], ["--device=Voodoo"]):
                self.assertIn(
                    "no description of a GPU 'Voodoo'; there are: H100_80GB_HBM3",
                    self.refused(*command, *given),
                )
            self.assertIn(
                "no description of a GPU ''; there are: H100_80GB_HBM3", self.refused(*command, "--device=")
            )
            self.assertIn("'h' may be H100_80GB_HBM3 or H200\n", self.refused(*command, "--device", "h"))
            for given in (["--device"], ["--device", "list"]):
                self.assertIn("\n  H200             NVIDIA H200\n", self.kata(*command, *given).stdout)
        self.assertIn("NVIDIA H200", self.kata("explain", "--device").stdout)
        # A folder with a longer name is still a chapter.
        self.assertIn("'fourier' is no chapter", self.refused("tour", "--device=h100", "fourier"))
        self.assertIn("'fourier' is no chapter", self.refused("tour", "--device", "h200", "fourier"))

    def test_what_the_notebook_runs_is_there(self) -> None:
        notebook = json.loads((ROOT / "chapters/colab.ipynb").read_text())
        self.assertEqual(notebook["nbformat"], 4)
        ids = [cell["id"] for cell in notebook["cells"]]
        self.assertEqual(len(ids), len(set(ids)))
        cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
        commands = [
            line.split()[1:] for cell in cells for line in cell.splitlines() if line.startswith("!./kata ")
        ]
        self.assertEqual({command[0] for command in commands}, {"setup", "test", "hint", "tour"})
        self.assertEqual([self.unknown(command) for command in commands], [None] * len(commands))
        self.assertEqual(self.unknown(["tests", "grids"]), "tests")
        self.assertEqual(self.unknown(["tour", "grids", "--minee"]), "--minee")
        self.assertEqual(self.unknown(["test", "grids", "17"]), "17")
        # The file that it writes is the step, except for the bodies.
        outside = re.compile(r"(// kata: begin\n).*?(\n *// kata: end)", re.DOTALL)
        written = [
            cell.removeprefix("%%writefile ").split("\n", 1)
            for cell in cells
            if cell.startswith("%%writefile ")
        ]
        self.assertEqual([name for name, _ in written], [FIRST])
        solution = (ROOT / FIRST.replace("chapters", "solutions")).read_text()
        self.assertEqual(outside.sub(r"\1\2", written[0][1] + "\n"), outside.sub(r"\1\2", solution))

    def unknown(self, words: Sequence[str]) -> str | None:
        """Returns the first word of a command line that means nothing; None if all words mean something."""
        command = kata.COMMANDS.get(words[0])
        if command is None:
            return words[0]
        parser = Parser(prog="", usage="")
        command.arguments(parser)
        try:
            given = vars(parser.parse_args(words[1:]))
        except Fault as fault:
            return next((word for word in words if word in str(fault)), "?")
        repository = Repository(ROOT)
        names = given.get("step") or given.get("chapters") or []
        for chapter, *step in [names[:2]] if names else []:
            try:
                kata.pick_chapter(repository, chapter)
            except Fault:
                return str(chapter)
            try:
                for name in step:
                    kata.pick_step(repository, [chapter, name])
            except Fault:
                return str(name)
        return None

    def tested(self, **results: str) -> None:
        """Records results of tests, as ./kata test keeps them: grids_01="OK"."""
        record = verdicts.Record(Repository(self.root))
        record.file.parent.mkdir(exist_ok=True)
        found = []
        for name, result in results.items():
            chapter, number = name.split("_")
            step = next(step for step in Repository(self.root).steps(chapter) if step.startswith(number))
            found.append(verdicts.Verdict(name, Module("chapters", chapter, step, "cpu"), result, ""))
        record.keep(found)

    def test_of_an_open_step_nothing_is_explained_or_drawn(self) -> None:
        for command in ("explain", "see"):
            self.assertIn("03_tiled.cu is still to be written", self.refused(command, "conv", "3", status=1))
            self.assertIn(f"usage: ./kata {command} CHAPTER STEP", self.refused(command, "conv"))
            self.assertIn("is no step of convolution", self.refused(command, "conv", "17"))
            (self.root / STEP).unlink()
            self.assertIn("03_tiled.cu is missing", self.refused(command, "conv", "3", status=1))
            self.kata("reset", "conv", "3")

    def test_next_is_the_first_open_step(self) -> None:
        self.assertTrue(self.kata("next").stdout.startswith(FIRST))
        self.write(FIRST)
        self.tested(grids_01="OK")
        said = self.kata("next").stdout
        self.assertTrue(said.startswith("chapters/grids/02_color_to_grayscale.cu"), said)
        self.assertIn("Then: ./kata test grids 02", said)

    def done(self, places: Sequence[tuple[str, str]]) -> None:
        """Writes these steps, and records that they are right."""
        for chapter, step in places:
            self.write(f"chapters/{chapter}/{step}.cu")
        self.tested(**{f"{chapter}_{step[:2]}": "OK" for chapter, step in places})

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
        self.assertIn(
            f"{FIRST} is skipped. What takes it up again: a change to it, or ./kata skip grids 01\n", said
        )
        self.assertIn(f"\nNext: {second};", said)
        self.assertTrue(self.kata("next").stdout.startswith(second))
        self.assertEqual(self.status()[0]["grids 01"], "skipped")
        said = self.kata("status").stdout
        self.assertIn("\ngrids        s  o  o  .", said)
        self.assertIn("s skipped: 1", said)
        self.assertIn(
            f"{FIRST} is skipped no longer.\nNext: {FIRST};", self.kata("skip", "grids", "1").stdout
        )
        self.kata("skip", "grids", "1")
        self.write(FIRST)
        self.assertEqual(self.status()[0]["grids 01"], "untested")
        self.kata("skip", "grids", "1")
        self.tested(grids_01="FAIL")
        self.assertEqual(self.status()[0]["grids 01"], "skipped")
        self.tested(grids_01="OK")
        self.assertEqual(self.status()[0]["grids 01"], "done")
        self.assertIn("there is nothing to skip", self.refused("skip", "grids", "1", status=1))
        self.kata("skip", "grids", "2")
        self.done(
            [place for place in Repository(self.root).all_places() if place[1] != "02_color_to_grayscale"]
        )
        self.assertIn("Every step but those skipped is written and right.", self.kata("next").stdout)
        (self.root / FIRST).unlink()
        self.assertIn("is missing", self.refused("skip", "grids", "1", status=1))

    def test_next_stays_with_a_step_that_is_not_right(self) -> None:
        self.write(FIRST)
        untested = (
            f"{FIRST} is written, and has not been tested as it stands.\nWhat the tests say: ./kata test "
            f"grids 01\n"
        )
        self.assertTrue(self.kata("next").stdout.startswith(untested))
        self.tested(grids_01="FAIL")
        said = self.kata("next").stdout
        self.assertTrue(
            said.startswith(f"{FIRST} is not right yet.\nWhat the tests say: ./kata test grids 01\n"), said
        )
        self.assertIn("./kata hint grids 01", said)
        self.tested(grids_01="OK")
        self.assertNotIn(FIRST, self.kata("next").stdout)
        with open(self.root / FIRST, "a") as step:
            step.write("// and a change\n")
        self.assertTrue(self.kata("next").stdout.startswith(untested))

    def status(self) -> tuple[dict[str, str], dict[str, str]]:
        """Returns the state of each step, by its short name, and the next step."""
        said = json.loads(self.kata("status", "--json").stdout)
        return {f"{one['chapter']} {one['step'][:2]}": one["state"] for one in said["steps"]}, said["next"]

    def judged(self, **why: str) -> None:
        """Records failures of steps: grids_01="out of bounds"."""
        record, found = verdicts.Record(Repository(self.root)), []
        record.file.parent.mkdir(exist_ok=True)
        for name, said in why.items():
            chapter, number = name.split("_")
            step = next(step for step in Repository(self.root).steps(chapter) if step.startswith(number))
            records: tuple[verdicts.TestRecord, ...] = tuple(
                {
                    "kind": "slow" if line.startswith("slow: ") else "wrong",
                    "text": f"{line.removeprefix('slow: ')}\nmore of it",
                }
                for line in said.split("|")
            )
            found.append(
                verdicts.Verdict(
                    name, Module("chapters", chapter, step, "cpu"), "FAIL", "a reason", records=records
                )
            )
        record.keep(found)

    def test_the_board_knows_the_state_of_each_step_without_running_anything(self) -> None:
        for step in (
            "01_global_atomics",
            "02_privatized_global",
            "03_privatized_shared",
            "04_coarsened_contiguous",
            "05_coarsened_interleaved",
        ):
            self.write(f"chapters/histogram/{step}.cu")
        self.tested(histogram_01="OK", histogram_05="OK")
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
            self.assertIn(f"\n{chapter:10}   {'  '.join(marks.ljust(steps, '.'))}\n", said)
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
        self.tested(grids_01="OK")
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
        complete. Ninja and Meson are ours, and the verdict is the word after "verdict:" in the step."""
        logs = self.root / "build/meson-logs"
        logs.mkdir(parents=True, exist_ok=True)
        (self.root / "build/build.ninja").touch()
        targets = self.modules_of_steps()
        targets += [*self.modules_of_mistakes(), *(f"{p.name}-cpu" for p in self.root.glob("chapters/*/"))]
        (self.root / "targets").write_text("".join(f"{target}: cpp_LINKER\n" for target in targets))
        self.fake(
            "ninja",
            f"case \"$*\" in *targets*) cat '{self.root}/targets' ;; *build.ninja) ;; *) {ninja} ;; esac",
        )
        (self.root / "meson.py").write_text(MESON_OF_A_WATCH)
        path = self.fake("meson", f"exec '{sys.executable}' '{self.root}/meson.py' \"$@\"")
        for chapter in ("grids", "convolution"):
            program = self.root / f"build/{chapter}-cpu"
            program.write_text(f"#!{sys.executable}\n{SUITE_OF_A_WATCH}")
            program.chmod(0o755)
        for target in targets:
            if target.endswith(".so"):
                (self.root / "build" / target).touch()
        command: list[str | pathlib.Path] = [
            sys.executable,
            "-u",
            self.root / "common/front/kata.py",
            "watch",
            *arguments,
        ]
        process = subprocess.Popen(
            command,
            env=path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
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
        self.tested(grids_01="OK")
        (begun,) = self.watching()
        self.assertIn("Waiting for chapters/grids/02_color_to_grayscale.cu to be saved", begun)
        for step in self.root.glob("chapters/*/[0-9]*.cu"):
            self.write(str(step.relative_to(self.root)))
        steps = [
            path.relative_to(self.root / "chapters") for path in self.root.glob("chapters/*/[0-9][0-9]_*.cu")
        ]
        self.tested(**{f"{step.parent}_{step.name[:2]}": "OK" for step in steps})
        self.assertIn("Every step is written and right", self.kata("watch").stdout)
        self.assertIn("is no step of grids", self.refused("watch", "grids", "17"))
        self.assertIn("usage: ./kata watch CHAPTER STEP", self.refused("watch", "grids"))

    def test_what_cannot_be_debugged_is_said_in_a_line(self) -> None:
        self.assertIn(
            "still to be written, so there is nothing to stop in",
            self.refused("debug", "grids", "1", status=1),
        )
        self.assertIn("is no step of grids", self.refused("debug", "grids", "17", "--solution"))
        self.write(FIRST)
        command: list[str | pathlib.Path] = [
            sys.executable,
            self.root / "common/front/kata.py",
            "debug",
            "grids",
            "1",
        ]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": str(self.root / "fake")},
            check=False,
        )
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, r"\Akata: gdb is not installed; .*\n\Z")
        (self.root / FIRST).write_text("// __global__ void no() {}\nvoid vector_add() {}\n")
        self.fake("gdb", "exit 9")
        done = subprocess.run(
            command, capture_output=True, text=True, env=self.fake("gdb", "exit 9"), check=False
        )
        self.assertEqual(
            (done.returncode, done.stderr),
            (1, f"kata: {FIRST} has no kernel, no function with __global__ in front of it\n"),
        )

    def test_predict_asks_nobody_who_cannot_answer(self) -> None:
        self.write(FIRST)
        done = self.kata("predict", "grids", "1")
        self.assertEqual(
            (done.stdout, done.stderr),
            ("predict asks a question and waits for your answer: run it in a terminal.\n", ""),
        )
        self.assertIn("is no step of grids", self.refused("predict", "grids", "17"))

    def test_a_checkout_that_cannot_be_written_says_how_to_build_elsewhere(self) -> None:
        build = Build(Repository(self.root))
        with (
            unittest.mock.patch("os.access", return_value=False),
            self.assertRaisesRegex(
                Fault,
                r"\A.* cannot be written, and the build needs that; what builds elsewhere: "
                r"KATA_BUILD=~/kata-build ./kata …\Z",
            ),
        ):
            build.configure()
        elsewhere = self.root / "else" / "where"
        with unittest.mock.patch.dict(os.environ, {"KATA_BUILD": str(elsewhere)}):
            self.assertEqual(Build(Repository(self.root)).folder, elsewhere)
            self.assertEqual(verdicts.Record(Repository(self.root)).file, elsewhere / "verdicts.json")
            elsewhere.mkdir(parents=True)
            (elsewhere / "build.ninja").touch()
            compiler = (
                "FAILED: chapters.grids.01_vector_add.cpu.so \nc++\n"
                "../../chapters/grids/01_vector_add.cu:7:3: error: no x\n"
            )
            (self.root / "said").write_text(compiler)
            path = self.fake("ninja", f"cat '{self.root}/said'; exit 1")["PATH"]
            with (
                unittest.mock.patch.dict(os.environ, {"PATH": path}),
                contextlib.redirect_stdout(io.StringIO()) as said,
            ):
                Build(Repository(self.root)).compile(["x"])
            self.assertIn(f"\n{FIRST}:7:3: error: no x\n", said.getvalue())

    def test_a_git_that_refuses_another_owner_is_told_what_to_do(self) -> None:
        self.write(STEP)
        path = self.fake(
            "git", "echo \"fatal: detected dubious ownership in repository at 'x'\" >&2; exit 128"
        )
        command: list[str | pathlib.Path] = [
            sys.executable,
            self.root / "common/front/kata.py",
            "reset",
            "conv",
            "3",
        ]
        done = subprocess.run(command, capture_output=True, text=True, env=path, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(
            done.stderr,
            r"\Akata: .*another owner; what allows it: git config --global --add safe.directory '.*'\n\Z",
        )

    def test_a_meson_that_is_in_the_way_is_named(self) -> None:
        good = self.root / "good"
        good.mkdir()
        (good / "meson").write_text("#!/bin/sh\necho 1.7.0\n")
        (good / "meson").chmod(0o755)
        for script, says in (("echo 0.61.2", "is 0.61.2"), ("exit 1", "does not run")):
            path = self.fake("meson", script)
            path["PATH"] = f"{self.root}/fake:{good}:{os.environ['PATH']}"
            done = subprocess.run(
                ["bash", self.root / ".ci/setup.sh"], capture_output=True, text=True, env=path, check=False
            )
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertEqual(
                done.stderr,
                f"kata: {self.root}/fake/meson comes first in PATH, and {says}; needed: Meson 1.1 or "
                f"newer, as {good}/meson is; "
                f"put {good} first in PATH, or remove the former\n",
            )

    def test_a_python_that_is_too_old_is_named_with_what_is_needed(self) -> None:
        path = self.fake("python3", '[ "$1" = --version ] && echo Python 3.6.9')
        described = f". '{self.root}/.ci/setup.sh'; describe python3"
        done = subprocess.run(
            ["bash", "-c", described], capture_output=True, text=True, env=path, check=False
        )
        self.assertEqual(done.stdout, f"  Python 3.9 or newer; found: {self.root}/fake/python3 3.6.9\n")

    def test_a_record_that_cannot_be_read_is_none(self) -> None:
        self.write(FIRST)
        self.tested(grids_01="OK")
        for damage in ("[]", "{", "", '{"grids/01_vector_add": ["OK"]}'):
            (self.root / "build/verdicts.json").write_text(damage)
            self.assertIn("has not been tested", self.kata("next").stdout)

    def test_there_is_an_end(self) -> None:
        for step in self.root.glob("chapters/*/*.cu"):
            self.write(str(step.relative_to(self.root)))
        steps = [
            path.relative_to(self.root / "chapters") for path in self.root.glob("chapters/*/[0-9][0-9]_*.cu")
        ]
        self.tested(**{f"{step.parent}_{step.name[:2]}": "OK" for step in steps})
        self.assertIn("Every step is written and right", self.kata("next").stdout)

    def test_a_call_in_a_comment_or_a_string_leaves_no_step_open(self) -> None:
        self.write(FIRST)
        with open(self.root / FIRST, "a") as step:
            step.write('// kata::open();\n/* kata::open(); */\nconst char* text = "kata::open();";\n')
        self.tested(grids_01="OK")
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

    def test_reset_brings_the_stub_back_and_keeps_what_was_written(self) -> None:
        stub = (self.root / STEP).read_text()
        self.assertIn("is a stub already", self.kata("reset", "conv", "3").stdout)
        for kept in (".mine", ".mine2", ".mine3"):
            self.write(STEP)
            written = (self.root / STEP).read_text()
            if kept == ".mine2":
                self.commit("committed, too")
            self.assertIn(STEP + kept, self.kata("reset", "conv", "3").stdout)
            self.assertEqual((self.root / STEP).read_text(), stub)
            self.assertEqual((self.root / (STEP + kept)).read_text(), written)

    def test_a_deleted_step_is_still_one_and_comes_back(self) -> None:
        stub = (self.root / FIRST).read_text()
        for committed in (False, True):
            (self.root / FIRST).unlink()
            if committed:
                self.commit("deleted")
            for arguments in (("test", "grids", "1"), ("test", FIRST), ("diff", "grids", "1"), ("next",)):
                said = self.refused(*arguments, status=1)
                self.assertIn(f"{FIRST} is missing; what brings its stub back: ./kata reset grids 01", said)
            self.assertIn("is there again", self.kata("reset", "grids", "1").stdout)
            self.assertEqual((self.root / FIRST).read_text(), stub)
        (self.root / FIRST).unlink()
        shutil.rmtree(self.root / ".git")
        self.assertIn(
            "is missing, and this is no git checkout", self.refused("reset", "grids", "1", status=1)
        )

    def test_a_chapter_says_which_step_is_missing(self) -> None:
        logs = self.root / "build" / "meson-logs"
        logs.mkdir(parents=True)
        (self.root / "build" / "build.ninja").touch()
        (self.root / FIRST).unlink()
        self.fake("ninja", "exit 0")
        path = self.fake("meson", f"cd '{logs}'; touch testlog.json testlog-steps.json")
        for arguments in (("test", "grids"), ("test",)):
            command: list[str | pathlib.Path] = [
                sys.executable,
                self.root / "common/front/kata.py",
                *arguments,
            ]
            done = subprocess.run(command, capture_output=True, text=True, env=path, check=False)
            self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)
            self.assertEqual(done.stdout.count("is missing"), 1)
            self.assertIn(f"\nFAIL  {FIRST} is missing; what brings", done.stdout)

    def test_what_a_student_wrote_is_built_tested_and_shown_before_all_else(self) -> None:
        targets = self.modules_of_steps()
        targets += [*self.modules_of_mistakes(), *(f"{p.name}-cpu" for p in self.root.glob("chapters/*/"))]
        (self.root / "targets").write_text("".join(f"{target}: cpp_LINKER\n" for target in targets))
        logs = self.root / "build" / "meson-logs"
        logs.mkdir(parents=True)
        (self.root / "build/build.ninja").touch()
        calls = self.root / "calls"
        own, solution = "chapters.grids.01_vector_add.cpu.so", "solutions.grids.01_vector_add.cpu.so"

        def record(module: str) -> str:
            command = ["grids-cpu", "--step", module, "--source", "01_vector_add.cu"]
            return json.dumps(
                {
                    "name": "grids / 01",
                    "result": "FAIL",
                    "stdout": "",
                    "stderr": module,
                    "returncode": 0,
                    "command": command,
                }
            )

        self.fake(
            "ninja",
            f"case \"$*\" in *targets*) cat '{self.root}/targets' ;; *) echo \"ninja $*\" >>'{calls}' "
            f";; esac",
        )
        path = self.fake(
            "meson",
            f"echo \"meson $*\" >>'{calls}'\ncase \"$*\" in *testlog-steps*) echo '{record(own)}' "
            f">'{logs}/testlog-steps.json' ;;"
            f" *) echo '{record(solution)}' >'{logs}/testlog.json' ;; esac",
        )
        command: list[str | pathlib.Path] = [sys.executable, self.root / "common/front/kata.py", "test"]
        done = subprocess.run(command, capture_output=True, text=True, env=path, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)
        mine, others = done.stdout.split("\nNow the solutions")
        self.assertIn(f"FAIL  {FIRST}\n  {own}\n", mine)
        self.assertIn(f"FAIL  solutions/grids/01_vector_add.cu\n  {solution}\n", others)
        first, steps, rest, _ = [line for line in calls.read_text().splitlines() if "build.ninja" not in line]
        self.assertIn(f" {own} ", first)
        self.assertIn(" gemm-cpu", first)
        self.assertNotIn(" wrong.", first)
        self.assertIn(" --suite=grids ", steps)
        self.assertTrue(rest.endswith(" -k 0"), rest)
        self.assertTrue(self.kata("next").stdout.startswith(FIRST))

    def test_two_that_work_in_one_build_wait_for_each_other(self) -> None:
        folder = self.root / "build"
        folder.mkdir()
        (folder / "build.ninja").touch()
        self.fake("ninja", "exit 0")
        path = self.fake("meson", "exit 0")
        command: list[str | pathlib.Path] = [
            sys.executable,
            self.root / "common/front/kata.py",
            "test",
            "grids",
        ]
        with open(folder / "kata.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            waiting = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=path
            )
            assert waiting.stderr
            self.assertEqual(
                waiting.stderr.readline(), f"Waiting for another ./kata, which is at work in {folder}\n"
            )
            self.assertIsNone(waiting.poll())
        said, told = waiting.communicate(timeout=60)
        self.assertNotIn("Waiting", said + told)
        self.assertEqual(waiting.returncode, 1, said + told)

    def test_a_step_in_work_is_no_stub(self) -> None:
        stub = (self.root / STEP).read_text()
        half = stub.replace("    kata::open();\n", "    work();\n", 1)
        self.assertIn("kata::open", half)
        (self.root / STEP).write_text(half)
        self.kata("reset", "conv", "3")
        self.assertEqual((self.root / STEP).read_text(), stub)

    def test_work_above_an_open_call_is_put_back_and_is_no_hint(self) -> None:
        hint, stub = self.kata("hint", "conv", "3").stdout, (self.root / STEP).read_text()
        for begun in ("    // my own thoughts\n", "    int begun = 0;\n"):
            (self.root / STEP).write_text(stub.replace("    kata::open();\n", begun + "    kata::open();\n"))
            self.assertEqual(self.kata("hint", "conv", "3").stdout, hint)
            self.assertIn("is a stub again", self.kata("reset", "conv", "3").stdout)
            self.assertEqual((self.root / STEP).read_text(), stub)
        (self.root / STEP).write_text(stub.replace("    kata::open();\n", begun + "    kata::open();\n"))
        self.commit("work in progress")
        self.assertEqual(self.kata("hint", "conv", "3").stdout, hint)
        self.kata("reset", "conv", "3")
        self.assertEqual((self.root / STEP).read_text(), stub)

    def test_a_newer_stub_is_the_one_that_counts(self) -> None:
        newer = (
            (self.root / STEP)
            .read_text()
            .replace("// What belongs into", "// In better words, what belongs into")
        )
        # The stub of a body with a value.
        newer = newer.replace("    kata::open();\n", "    kata::open();\n    return 0;\n")
        (self.root / STEP).write_text(newer)
        self.commit("a better stub")
        self.write(STEP)
        self.assertIn("In better words", self.kata("hint", "conv", "3").stdout)
        self.kata("reset", "conv", "3")
        self.assertEqual((self.root / STEP).read_text(), newer)

    def last_step(self) -> tuple[str, str]:
        """Returns the last step of the chapter, and the number of one more."""
        last = max(path.stem for path in (self.root / "chapters/convolution").glob("[0-9]*.cu"))
        return last, f"{int(last[:2]) + 1:02}"

    def test_a_stub_that_git_has_not_seen_has_its_hint(self) -> None:
        number = self.last_step()[1]
        step = self.root / f"chapters/convolution/{number}_new.cu"
        step.write_text((self.root / STEP).read_text())
        self.assertIn("What belongs into 03_tiled.cu.", self.kata("hint", "conv", number).stdout)

    def test_a_chapter_may_have_digits(self) -> None:
        shutil.copytree(self.root / "chapters/gemm", self.root / "chapters/gemm2d", symlinks=True)
        self.assertIn("chapters/gemm2d/01_naive.cu", self.kata("hint", "gemm2d", "1").stdout)

    def test_a_checkout_of_another_owner_is_one(self) -> None:
        self.write(STEP)
        strange = {**os.environ, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
        git = subprocess.run(
            ["git", "-C", self.root, "log"], capture_output=True, text=True, env=strange, check=False
        )
        if "dubious ownership" not in git.stderr:
            self.skipTest("this git checks no owner, or is configured not to")
        command: list[str | pathlib.Path] = [
            sys.executable,
            self.root / "common/front/kata.py",
            "hint",
            "conv",
            "3",
        ]
        said = subprocess.run(command, capture_output=True, text=True, env=strange, check=False)
        self.assertIn("What belongs into 03_tiled.cu.", said.stdout, said.stderr)

    def test_without_git_there_is_a_stub_only_while_nothing_is_written(self) -> None:
        shutil.rmtree(self.root / ".git")
        self.kata("hint", "conv", "3")
        self.write(STEP)
        self.assertIn("this is no git checkout", self.refused("reset", "conv", "3", status=1))
        said = self.kata("hint", "conv", "3").stdout  # the hint needs no stub
        self.assertTrue(said.startswith("Hint 1 of 3"), said)
        (self.root / "chapters/convolution/hints.md").unlink()
        self.assertIn("this is no git checkout", self.refused("hint", "conv", "3", status=1))

    def test_a_git_that_is_not_installed_is_named(self) -> None:
        self.write(STEP)
        (self.root / "fake").mkdir()
        command: list[str | pathlib.Path] = [
            sys.executable,
            self.root / "common/front/kata.py",
            "reset",
            "conv",
            "3",
        ]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": str(self.root / "fake")},
            check=False,
        )
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(
            done.stderr,
            f"kata: {STEP} has been written, and what brings its stub back is git, which is not installed\n",
        )

    def test_diff_shows_what_differs(self) -> None:
        said = self.kata("diff", "conv", "3", status=1).stdout
        self.assertIn("-    kata::open();", said)
        self.write(STEP)
        self.assertIn("is the solution, to the letter", self.kata("diff", "conv", "3").stdout)

    def test_help_names_every_command(self) -> None:
        said = self.kata("help").stdout
        for command in (
            "tour",
            "test",
            "next",
            "skip",
            "status",
            "watch",
            "hint",
            "explain",
            "see",
            "predict",
            "debug",
            "diff",
            "reset",
            "grade",
            "book",
            "setup",
            "new",
            "mistake",
            "stubs",
        ):
            self.assertIn(f"\n./kata {command}", "\n" + said)
            own = self.kata(command, "--help").stdout
            self.assertRegex(own, rf"\Ausage: (\./)?kata {command}")
            if command != "grade":  # argparse formats its help
                self.assertLessEqual(max(map(len, own.splitlines())), 80, own)
        self.assertEqual(self.kata().stdout, said)
        self.assertLessEqual(max(map(len, said.splitlines())), 80, said)

    def test_a_new_step_is_begun_in_both_trees(self) -> None:
        last, number = self.last_step()
        said = self.kata("new", "conv", f"{number}_another").stdout
        for tree in ("solutions", "chapters"):
            self.assertIn(f"  {tree}/convolution/{number}_another.cu\n", said)
        self.assertIn(f"What belongs into {last}", self.kata("hint", "conv", "another").stdout)
        self.assertRegex(self.kata("stubs").stdout, r"\A\d+ stubs are as their solutions are\n\Z")

    def test_a_new_step_has_a_row_where_steps_are_data(self) -> None:
        rows = self.root / "tests/histogram.steps.cpp"
        rows.parent.mkdir(exist_ok=True)
        rows.write_text('const kata::Step steps[] = {\n    {.name = "01_a"},\n};\nint other[] = {\n};\n')
        last = Repository(self.root).steps("histogram", "solutions")[-1]
        self.assertIn(
            "  tests/histogram.steps.cpp: its row", self.kata("new", "histogram", "90_another").stdout
        )
        self.assertEqual(
            rows.read_text(),
            f'const kata::Step steps[] = {{\n    {{.name = "01_a"}},\n    {{.name = "90_another", '
            f'.before = "{last}"}},\n}};\nint other[] = {{\n}};\n',
        )

    def test_a_mistake_is_listed_and_written_to_a_file(self) -> None:
        listed = self.kata("mistake", "conv", "3").stdout
        name = listed.split()[0]
        for option in ("-o", "--output"):
            self.kata("mistake", "conv", "3", name, option, str(self.root / f"mistake{option}.cu"))
            written = (self.root / f"mistake{option}.cu").read_text()
            self.assertEqual(written, self.kata("mistake", "conv", "3", name).stdout)

    def shim(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Runs ./kata itself."""
        return subprocess.run(
            [self.root / "kata", *arguments],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            **options,
            check=False,
        )

    def fake(self, name: str, script: str) -> dict[str, str]:
        """Makes a program that comes first in PATH. Returns the environment with this PATH."""
        folder = self.root / "fake"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
        return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}

    def test_an_old_python_that_comes_first_is_passed_over(self) -> None:
        path = self.fake("python3", "exit 1")
        path["PYTHON"] = str(self.root / "fake" / "python3")
        # The Python that runs this test is new enough, and is found in the usual place if it is the system's.
        if not re.match(r"/usr/bin/python3", sys.executable):
            self.skipTest("needs the Python of the system")
        self.assertEqual(self.shim("next", env=path).stdout, self.kata("next").stdout)

    def test_the_shim_hands_over_the_command_line_and_the_status(self) -> None:
        self.assertEqual(self.shim("hint", "conv", "3").stdout, self.kata("hint", "conv", "3").stdout)
        self.assertEqual(self.shim("no such command").returncode, 2)

    def test_what_a_configured_build_misses_is_said_as_on_a_first_run(self) -> None:
        (self.root / "build").mkdir()
        (self.root / "build" / "build.ninja").touch()
        (self.root / ".ci" / "setup.sh").write_text(
            "echo 'kata: not installed: what is missing' >&2\nexit 3\n"
        )
        for there in ("meson", "ninja"):
            path = self.fake(there, "exit 0")
            (self.root / "fake" / "bash").symlink_to(str(shutil.which("bash")))
            command: list[str | pathlib.Path] = [
                sys.executable,
                self.root / "common/front/kata.py",
                "test",
                "conv",
            ]
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                env={**path, "PATH": str(self.root / "fake")},
                check=False,
            )
            self.assertEqual(
                (done.returncode, done.stderr), (3, "kata: not installed: what is missing\n"), done.stdout
            )
            shutil.rmtree(self.root / "fake")

    def started(self, *arguments: str) -> tuple[subprocess.Popen[str], int]:
        """Starts kata, with a Meson of ours that waits for a process of its own."""
        (self.root / "build").mkdir()
        # A build with fewer modules than there are files, so that Meson runs.
        (self.root / "build" / "build.ninja").write_text(
            "rule cpp_LINKER\n  command = true\nbuild grids-cpu: cpp_LINKER\n"
        )
        pid = self.root / "pid"
        path = self.fake("meson", f"sleep 60 &\necho $! >'{pid}.new'; mv '{pid}.new' '{pid}'; wait")
        process = subprocess.Popen(
            [self.root / "kata", *arguments],
            env=path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        end = time.monotonic() + 30
        while not pid.exists() and time.monotonic() < end:
            time.sleep(0.02)
        return process, int(pid.read_text())

    def test_ctrl_c_ends_all_of_it_at_once(self) -> None:
        for number, status, said in ((signal.SIGINT, 130, "\nkata: stopped\n"), (signal.SIGTERM, 143, "")):
            with self.subTest(number.name):
                process, other = self.started("test")
                before = time.monotonic()
                process.send_signal(number)
                _, errors = process.communicate(timeout=20)
                self.assertEqual((process.returncode, errors), (status, said))
                self.assertLess(time.monotonic() - before, 5)
                self.assertTrue(self.has_ended(other))
                shutil.rmtree(self.root / "build")
                (self.root / "pid").unlink()

    def has_ended(self, pid: int) -> bool:
        """True if the process has ended; a zombie has, too, because its adoptive parent may not reap it."""
        end = time.monotonic() + 5
        while time.monotonic() < end:
            try:
                # The fields of /proc after the name, which may hold any character; ps would be another
                # package.
                state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            except (FileNotFoundError, ProcessLookupError):
                return True
            if state in ("Z", "X"):
                return True
            time.sleep(0.05)
        return False

    def test_a_book_without_its_generator_says_what_to_install(self) -> None:
        command: list[str | pathlib.Path] = [sys.executable, self.root / "common/front/kata.py", "book"]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": str(self.root / "fake")},
            check=False,
        )
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, r"\Akata: .*pip install 'mkdocs-material.*\n\Z")

    def test_what_cannot_be_written_is_said_in_a_line(self) -> None:
        if not os.path.exists("/dev/full"):
            self.skipTest("needs /dev/full")
        with open("/dev/full", "w") as full:
            command: list[str | pathlib.Path] = [sys.executable, self.root / "common/front/kata.py", "next"]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Akata: .*No space left.*\n\Z")

    def test_a_full_disk_is_said_before_anything_is_built(self) -> None:
        build = Build(Repository(self.root))
        with (
            unittest.mock.patch(
                "shutil.disk_usage", return_value=shutil.disk_usage(self.root)._replace(free=3 << 20)
            ),
            self.assertRaisesRegex(
                Fault, r"\Athe disk of .* has only 3 MB left: the build needs 64 MB or more\Z"
            ),
        ):
            build.configure()
        self.assertFalse(build.folder.exists())

    def test_a_file_that_cannot_be_written_is_named(self) -> None:
        said = self.refused(
            "mistake", "conv", "3", "divergent_barrier", "-o", str(self.root / "none/x.cu"), status=1
        )
        self.assertEqual(said, "kata: none/x.cu: No such file or directory\n")

    def built(self, ninja: str, legal: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs `./kata test conv 3` with this output of Ninja's."""
        with open(self.root / STEP, "a") as step:
            step.write("// Not the stub any more, which needs no build.\n")
        (self.root / "build").mkdir(exist_ok=True)
        (self.root / "build/build.ninja").write_text(
            f"# {'chapters.convolution.03_tiled.cpu.legal' if legal else ''}\n"
        )
        steps = self.modules_of_steps()
        names = [f"{line}: cpp_LINKER" for line in [*steps, *self.modules_of_mistakes(), "convolution-cpu"]]
        (self.root / "targets").write_text("\n".join(names) + "\n")
        (self.root / "said").write_text(ninja)
        path = self.fake(
            "ninja",
            f"case \"$*\" in *targets*) cat '{self.root}/targets' ;; *build.ninja*) ;; *) cat "
            f"'{self.root}/said'; exit 1 ;; esac",
        )
        self.fake("meson", "exit 0")
        command: list[str | pathlib.Path] = [
            sys.executable,
            self.root / "common/front/kata.py",
            "test",
            "conv",
            "3",
        ]
        return subprocess.run(command, capture_output=True, text=True, env=path, check=False)

    def modules_of_steps(self) -> list[str]:
        return sorted(
            module.file
            for module in Repository(self.root).modules(["cpu"])
            if module.tree in ("chapters", "solutions")
        )

    def modules_of_mistakes(self) -> Iterator[str]:
        listed = subprocess.run(
            [sys.executable, self.root / "common/front/repository.py", "for-meson"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for line in listed.splitlines():
            file, names, _, needs = line.split("|")
            if needs.endswith("a"):
                continue  # no CPU back end builds it
            if file.endswith(".mistakes"):
                chapter = pathlib.PurePath(file).parent.name
                yield from (
                    f"{name.split('/')[0]}.{chapter}.{name.split('/')[1]}.cpu.so" for name in names.split()
                )

    def test_of_what_does_not_compile_the_first_errors_are_shown_and_nothing_else(self) -> None:
        compiler = (
            "[1/3] Compiling C++ object a\nFAILED: chapters.convolution.03_tiled.cpu.so.p/a.cpp.o \nc++ "
            "-c a.cpp\n"
            "../chapters/convolution/03_tiled.cu:7:3: error: no x\n    7 |   x;\n      |   ^\n"
            "[2/3] Generating b\nFAILED: chapters.convolution.03_tiled.cpu.legal \npython legality.py\n"
            "../chapters/convolution/03_tiled.cu:8:3: error: 'f' is a host function\nninja: build "
            "stopped: subcommand failed.\n"
        )
        done = self.built(compiler)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual(
            done.stdout,
            "\nchapters/convolution/03_tiled.cu does not compile:\n"
            "chapters/convolution/03_tiled.cu:7:3: error: no x\n"
            "    7 |   x;\n      |   ^\nchapters/convolution/03_tiled.cu:8:3: error: 'f' is a host "
            "function\n",
        )

    def test_a_build_without_clang_says_once_what_it_does_not_check(self) -> None:
        failed = "FAILED: chapters.convolution.03_tiled.cpu.so \nc++\nundefined\n"
        self.assertEqual(
            self.built(failed, legal=False).stdout.count(
                "Without clang++, what nvcc refuses is found in part only"
            ),
            1,
        )
        self.assertNotIn("clang", self.built(failed).stdout)


class Compilers(unittest.TestCase):
    """The lines that are shown of a compiler's output."""

    STEP = "../chapters/scan/03_brent_kung.cu"

    def shown(self, said: str) -> list[str]:
        return compilers.shown(said.splitlines())

    def test_a_compiler_that_the_system_ends_is_said_to_lack_memory(self) -> None:
        for said in (
            "c++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n",
            "cc1plus: out of memory allocating 65536 bytes after a total of 4096 bytes\n",
            "clang: error: unable to execute command: Killed\n",
        ):
            self.assertEqual(self.shown(said), [compilers.OUT_OF_MEMORY])

    def test_an_error_of_a_template_is_shown_at_the_line_that_asked_for_it(self) -> None:
        said = (
            "In file included from ../chapters/scan/03_brent_kung.cu:7:\n"
            "/usr/include/c++/12/bits/stl_algo.h: In instantiation of 'void std::sort(T, T)':\n"
            f"{self.STEP}:30:14:   required from here\n"
            "/usr/include/c++/12/bits/stl_algo.h:1938:1: error: no match for 'operator-'\n"
            " 1938 |   a - b\n      |   ^\n"
            "/usr/include/c++/12/bits/stl_iterator.h:618:5: note: candidate: 'auto std::operator-'\n  "
            "618 | operator-\n"
            + "/usr/include/c++/12/bits/stl_iterator.h:618:5: note:   template argument deduction failed\n"
            * 40
        )
        self.assertEqual(self.shown(said), [f"{self.STEP}:30: error: no match for 'operator-'"])

    def test_why_a_template_does_not_fit_is_told(self) -> None:
        error = (
            f"{self.STEP}:4:5: error: no matching function for call to 'look_back(int*&)'\n    4 | "
            f"look_back(s);\n"
        )
        candidate = (
            f"{self.STEP}:3:6: note: candidate: 'template<class T> T look_back(int*)'\n    3 | T "
            f"look_back(int*);\n"
        )
        failed = f"{self.STEP}:3:6: note:   template argument deduction/substitution failed:\n"
        why = f"{self.STEP}:4:5: note:   couldn't deduce template parameter 'T'\n    4 | look_back(s);\n"
        self.assertEqual(self.shown(error + candidate + failed + why), (error + candidate + why).splitlines())

    def test_notes_that_point_into_the_step_stay(self) -> None:
        said = (
            f"\033[01m\033[K{self.STEP}:9:5:\033[m\033[K error: no matching function for call to "
            f"'f(int)'\n    9 |     f(1);\n      |     ~^~~\n"
            f"{self.STEP}:3:6: note: candidate: 'void f(int, int)'\n    3 | void f(int, int);\n"
            "/usr/include/x.h:3:6: note: candidate: 'void f()'\n    3 | void f();\n"
        )
        self.assertEqual(self.shown(said)[0].split(" error")[0], f"{self.STEP}:9:5:")
        self.assertEqual(len(self.shown(said)), 5)
        self.assertNotIn("x.h", "".join(self.shown(said)))

    def test_after_three_errors_the_rest_are_left_out(self) -> None:
        said = "\n".join(f"{self.STEP}:{line}:1: error: no x{line}" for line in (4, 5, 5, 6, 7, 8))
        self.assertEqual([line.split(": ")[-1] for line in self.shown(said)], ["no x4", "no x5", "no x6"])

    def test_what_nvcc_says_is_read_as_well(self) -> None:
        said = (
            f'{self.STEP}(18): error: identifier "x" is undefined\n      x = 3;\n      ^\n\n'
            'Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"\n\n'
            '../common/kata.hpp(40): error: no operator\n          detected during instantiation of "f<int>" '
            f'at line 30 of {self.STEP}\n\n2 errors detected in the compilation of "a.cu".\n'
        )
        self.assertEqual(
            self.shown(said),
            [
                f'{self.STEP}(18): error: identifier "x" is undefined',
                "      x = 3;",
                "      ^",
                f"{self.STEP}:30: error: no operator",
            ],
        )

    def test_a_shared_array_of_two_types_is_told_in_the_words_of_the_step(self) -> None:
        said = (
            f"{self.STEP}: In instantiation of ‘void f() [with T = double]’:\n{self.STEP}:59:22:   "
            f"required from here\n"
            f"{self.STEP}:16:15: error: conflicting declaration ‘double simt_planes_s []’\n   16 | "
            f"extern __shared__ T planes_s[];\n"
            f"      |                     ^~~~~~~~\n{self.STEP}:16:15: note: previous declaration as "
            f"‘float simt_planes_s []’\n"
        )
        first, *source = self.shown(said)
        self.assertTrue(
            first.startswith(
                f'{self.STEP}:16:15: error: extern __shared__ "planes_s" has another type in each instance'
            )
        )
        self.assertIn("planes_s_bytes[]", first)
        self.assertEqual(len(source), 2)
        self.assertNotIn("simt_", "".join([first, *source]))

    def test_where_newcomers_stumble_it_is_said_what_is_to_be_written(self) -> None:
        for said, words in (
            (
                "there are no arguments to ‘__synchthreads’ that depend on a template parameter, so a "
                "declaration of "
                "‘__synchthreads’ must be available [-fpermissive]",
                "'__synchthreads' was not declared; did you mean '__syncthreads'?",
            ),
            (
                "there are no arguments to ‘f’ that depend on a template parameter, so a declaration of "
                "‘f’ must be available [-fpermissive]",
                "'f' was not declared",
            ),
            (
                "use of deleted function ‘T __shfl_down(T, unsigned int, int) [with T = int]’",
                "CUDA has no '__shfl_down' any more: write __shfl_down_sync(mask, …), where each bit of "
                "the mask is a lane that "
                "takes part, ~0u for all",
            ),
            ("use of deleted function ‘Buffer::Buffer(const Buffer&)’",) * 2,
            (
                "invalid conversion from ‘int’ to ‘const void*’ [-fpermissive]",
                "invalid conversion from ‘int’ to ‘const void*’; an address is wanted here: that of a "
                "variable x is &x",
            ),
            (
                "cannot convert ‘float*’ to ‘void**’",
                "cannot convert ‘float*’ to ‘void**’; an address is wanted here: that of a variable x is &x",
            ),
            ("invalid conversion from ‘const void*’ to ‘void*’",) * 2,
        ):
            note = f"{self.STEP}:9:5: note: (if you use ‘-fpermissive’, G++ will accept your code, …)"
            self.assertEqual(
                self.shown(f"{self.STEP}:9:5: error: {said}\n{note}"), [f"{self.STEP}:9:5: error: {words}"]
            )

    def test_a_launch_with_other_arguments_says_which(self) -> None:
        kernel = "const float*, float*, int, stencil::Coefficients<float, 2> "
        for given, words in (
            (
                "const double*&, float*&, int&, stencil::Coefficients<float, 2>&",
                "of 4 arguments argument 1 is 'const double*', where the kernel has 'const float*'",
            ),
            (
                "float*&, const float*&, long int, stencil::Coefficients<float, 2>&",
                "of 4 arguments argument 2 is 'const float*', where the kernel has 'float*'",
            ),
            (
                "const float*&, int&, float*&, stencil::Coefficients<float, 2>&",
                "of 4 arguments argument 2 is 'int', where the kernel has 'float*'; argument 3 is "
                "'float*', where the kernel has 'int': are the two exchanged?",
            ),
            (
                "const float*&, float*&, int&",
                "the kernel has 4 parameters, and 3 arguments are given: it takes (const float*, "
                "float*, int, stencil::Coefficients<float, 2>)",
            ),
        ):
            said = f"{self.STEP}:9:5: error: no match for call to ‘(simt::Configured<{kernel}>) ({given})’"
            self.assertEqual(
                self.shown(said), [f"{self.STEP}:9:5: error: the launch does not fit the kernel: {words}"]
            )
        other = f"{self.STEP}:9:5: error: no match for call to ‘(Functor<int>) (int&)’"
        self.assertEqual(self.shown(other), [other])

    def test_a_dim3_of_a_dim3_is_told_from_one_of_something_else(self) -> None:
        said = f"{self.STEP}:9:5: error: no matching function for call to ‘dim3::dim3({{}})’"
        wrong, other = said.format("const dim3&, const dim3&"), said.format("const char*")
        self.assertIn("does a variable of type dim3 have the name of a constant?", self.shown(wrong)[0])
        self.assertEqual(self.shown(other), [other])

    def test_a_launch_that_fits_no_kernel_is_shown_where_it_stands_and_once(self) -> None:
        asked = (
            "../common/simt/cuda.hpp:276:21:   required from ‘simt::configured<…>’\n"
            f"{self.STEP}:52:65:   required from ‘void convolve(const float*) [with int r = 7]’\n"
            "../chapters/convolution/fixed_radius.cuh:16:32:   recursively required from ‘void "
            "convolve_with() [with int last = 6]’\n"
            "../chapters/convolution/fixed_radius.cuh:20:18:   required from here\n"
        )
        said = (
            "In file included from ../chapters/convolution/fixed_radius.cuh:4,\n"
            f"                 from {self.STEP}:10:\n"
            f"../common/simt/cuda.hpp: In instantiation of ‘simt::configured<…>’:\n{asked}"
            "../common/simt/cuda.hpp:266:36: error: static assertion failed: no kernel of this name "
            "takes arguments of these types\n"
            "  266 |   static_assert(\n      |   ~~~~\n../common/simt/cuda.hpp:266:36: note: "
            "‘std::is_invocable_v<…>’ evaluates to false\n"
            f"{asked}../common/simt/cuda.hpp:269:59: error: no match for call to ‘(const "
            f"convolve<7>::<lambda(auto:14 ...)>) ()’\n"
            f"{self.STEP}:52:22: note: in expansion of macro ‘SIMT_KERNEL’\n"
        )
        self.assertEqual(
            self.shown(said),
            [f"{self.STEP}:52: error: no kernel of this name takes arguments of these types"],
        )

    def test_what_is_warned_of_in_each_instance_is_shown_once(self) -> None:
        warning = (
            f"{self.STEP}:7:9: warning: variable ‘in_s’ set but not used\n    7 |   float in_s[4];\n      | "
            f"        ^~~~"
        )
        asked = f"{self.STEP}:9:5:   required from here"
        instances = [
            f"{self.STEP}: In instantiation of ‘void f() [with int R = {r}]’:\n{asked}\n{warning}"
            for r in range(8)
        ]
        other = f"{self.STEP}:8:9: warning: unused variable ‘x’\n    8 |   int x;"
        self.assertEqual(
            self.shown("\n".join([*instances, other])), [*warning.splitlines(), *other.splitlines()]
        )

    def test_what_names_no_error_is_shown_as_it_is(self) -> None:
        self.assertEqual(
            self.shown("ld: cannot find -lx\ncollect2: fatal\n"), ["ld: cannot find -lx", "collect2: fatal"]
        )


if __name__ == "__main__":
    unittest.main()
