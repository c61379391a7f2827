#!/usr/bin/env python3
"""Tests of ./kata in copies of this repository, which build nothing: hints, names, command lines, stubs."""

from __future__ import annotations

import json
import os
import re
import shutil
import unittest
from collections.abc import Sequence

from paths import ROOT

import kata
from arguments import Parser
from checkout import FIRST, STEP, Checkout
from fault import Fault
from names import pick_chapter, pick_step
from repository import Repository


class Front(Checkout):
    def test_a_short_name_of_a_step_selects_its_hints(self) -> None:
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
        self.assertIn("'s' may be stencil, scan or sort\n", self.refused("test", "s"))
        self.assertIn("'t' may be 03_tiled or 04_tiled_by_output\n", self.refused("hint", "conv", "t"))
        self.assertIn("03_tiled", self.refused("hint", "convolution", "17"))
        self.assertIn("'' is not a step", self.refused("hint", "convolution", ""))

    def test_command_lines_that_mean_nothing_are_refused(self) -> None:
        self.assertIn("usage: ./kata hint CHAPTER STEP", self.refused("hint", "convolution"))
        self.assertIn("usage: ./kata test", self.refused("test", "convolution", "03", "now"))
        self.assertIn("there is no command 'tests'", self.refused("tests"))
        self.assertIn("--fast; usage: ./kata tour [CHAPTER...]", self.refused("tour", "--fast"))
        self.assertIn("--image: expected one argument", self.refused("tour", "--image"))
        self.assertIn("there is no file nowhere.ppm", self.refused("tour", "--image", "nowhere.ppm"))
        self.assertIn("is not a chapter", self.refused("tour", "fourier"))
        self.assertIn(
            "there is no file nowhere.txt", self.refused("tour", "--text", "nowhere.txt", "--device", "h100")
        )
        self.assertIn(
            "the timed problem, not a file",
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
        self.assertIn("'fourier' is not a chapter", self.refused("tour", "--device=h100", "fourier"))
        self.assertIn("'fourier' is not a chapter", self.refused("tour", "--device", "h200", "fourier"))

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
                pick_chapter(repository, chapter)
            except Fault:
                return str(chapter)
            try:
                for name in step:
                    pick_step(repository, [chapter, name])
            except Fault:
                return str(name)
        return None

    def test_nothing_of_an_open_step_is_explained_or_drawn(self) -> None:
        for command in ("explain", "see"):
            self.assertIn("03_tiled.cu is still to be written", self.refused(command, "conv", "3", status=1))
            self.assertIn(f"usage: ./kata {command} CHAPTER STEP", self.refused(command, "conv"))
            self.assertIn("is not a step of convolution", self.refused(command, "conv", "17"))
            (self.root / STEP).unlink()
            self.assertIn("03_tiled.cu is missing", self.refused(command, "conv", "3", status=1))
            self.kata("reset", "conv", "3")

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
                self.assertIn(f"{FIRST} is missing; to get its stub back: ./kata reset grids 01", said)
            self.assertIn("is there again", self.kata("reset", "grids", "1").stdout)
            self.assertEqual((self.root / FIRST).read_text(), stub)
        (self.root / FIRST).unlink()
        shutil.rmtree(self.root / ".git")
        self.assertIn(
            "is missing, and this is no git checkout", self.refused("reset", "grids", "1", status=1)
        )

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

    def test_without_git_there_is_a_stub_only_while_nothing_is_written(self) -> None:
        shutil.rmtree(self.root / ".git")
        self.kata("hint", "conv", "3")
        self.write(STEP)
        self.assertIn("this is no git checkout", self.refused("reset", "conv", "3", status=1))
        said = self.kata("hint", "conv", "3").stdout  # the hint needs no stub
        self.assertTrue(said.startswith("Hint 1 of 3"), said)
        (self.root / "chapters/convolution/hints.md").unlink()
        self.assertIn("this is no git checkout", self.refused("hint", "conv", "3", status=1))

    def test_diff_shows_what_differs(self) -> None:
        said = self.kata("diff", "conv", "3", status=1).stdout
        self.assertIn("-    kata::open();", said)
        self.write(STEP)
        self.assertIn("is the solution, to the letter", self.kata("diff", "conv", "3").stdout)

    def test_help_names_every_command(self) -> None:
        said = self.kata("help").stdout
        commands = "tour test next skip status watch hint explain see predict hunt "
        commands += "debug check diff reset grade evaluate book mcp setup new mistake stubs"
        for command in commands.split():
            self.assertIn(f"\n./kata {command}", "\n" + said)
            own = self.kata(command, "--help").stdout
            self.assertRegex(own, rf"\Ausage: (\./)?kata {command}")
            if command != "grade":  # argparse formats its help
                self.assertLessEqual(max(map(len, own.splitlines())), 80, own)
        self.assertEqual(self.kata().stdout, said)
        self.assertLessEqual(max(map(len, said.splitlines())), 80, said)

    def test_without_the_library_there_is_one_line_instead_of_a_server(self) -> None:
        (self.root / "mcp.py").touch()  # no package, and nothing in it
        done = self.run_kata("mcp", env={**os.environ, "PYTHONPATH": str(self.root)})
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, r"\Akata: .*pip install 'mcp>=2,<3'\n\Z")

    def test_a_new_step_is_begun_in_both_trees(self) -> None:
        last, number = self.last_step()
        said = self.kata("new", "conv", f"{number}_another").stdout
        for tree in ("solutions", "chapters"):
            self.assertIn(f"  {tree}/convolution/{number}_another.cu\n", said)
        self.assertIn(f"What belongs into {last}", self.kata("hint", "conv", "another").stdout)
        self.assertRegex(self.kata("stubs").stdout, r"\A\d+ stubs fit their solutions\n\Z")

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
            f'const kata::Step steps[] = {{\n    {{.name = "01_a"}},\n    {{.name = "90_another",\n     '
            f'.before = "{last}"}},\n}};\nint other[] = {{\n}};\n',
        )

    def test_a_mistake_is_listed_and_written_to_a_file(self) -> None:
        listed = self.kata("mistake", "conv", "3").stdout
        name = listed.split()[0]
        for option in ("-o", "--output"):
            self.kata("mistake", "conv", "3", name, option, str(self.root / f"mistake{option}.cu"))
            written = (self.root / f"mistake{option}.cu").read_text()
            self.assertEqual(written, self.kata("mistake", "conv", "3", name).stdout)


if __name__ == "__main__":
    unittest.main()
