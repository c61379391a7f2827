#!/usr/bin/env python3
"""Tests of tests/contract.py: it names what does not fit in a repository."""

from __future__ import annotations

import unittest

import paths  # noqa: F401  it makes the modules below importable

import contract
from small_repository import HINTS, NO_GUARD, SOLUTION, STUB, STYLE, SmallRepository


class Contract(SmallRepository):
    def says(self, *words: str) -> None:
        complaints = "\n".join(self.complaints())
        for word in words:
            self.assertIn(word, complaints)

    def test_a_repository_that_fits_has_no_complaints(self) -> None:
        self.assertEqual(self.complaints(), [])

    def test_what_does_not_fit_is_named(self) -> None:
        self.write("chapters/sums/01_add.cu", STUB.replace("float* b", "float* c"))
        self.says("chapters/sums/01_add.cu: differs from solutions/sums/01_add.cu outside")
        self.write("chapters/sums/01_add.cu", STUB.replace("    // All of them.\n", ""))
        self.says("01_add.cu:13: this body has no hint")
        self.write("chapters/sums/01_add.cu", SOLUTION)
        self.says("01_add.cu:6: a stub's body is")
        self.write("solutions/sums/01_add.cu", STUB)
        self.says("solutions/sums/01_add.cu:6: a body that is still to be written")

    def test_files_without_a_counterpart_are_named(self) -> None:
        self.write("solutions/sums/02_more.cu", SOLUTION)
        self.write("chapters/sums/sums.cuh", "")
        self.write("solutions/sums/sums.cuh", "")
        self.write("tests/wrong/sums/07_gone.mistakes", "")
        self.write("tests/wrong/gone/01_gone.mistakes", "")
        self.says(
            "02_more.cu: has no counterpart",
            "sums.cuh: must be a symbolic link",
            "07_gone.mistakes: is not called STEP",
            "chapters/gone",
        )

    def test_a_style_names_its_step_and_what_is_different(self) -> None:
        self.write("tests/styles/sums/01_add.grid_stride.cu", STYLE)
        self.assertEqual(self.complaints(), [])
        self.write("tests/styles/sums/01_add.grid_stride.cu", '#include "sums.cuh"\n')
        self.write("tests/styles/sums/01_add.cu", STYLE)
        self.write("tests/styles/sums/02_gone.grid_stride.cu", STYLE)
        self.write("tests/styles/gone/01_gone.grid_stride.cu", STYLE)
        self.says(
            "styles/sums/01_add.grid_stride.cu: does not begin with a comment",
            "styles/sums/01_add.cu: is not called STEP.NAME.cu",
            "styles/sums/02_gone.grid_stride.cu: is not called STEP.NAME.cu",
            "chapters/gone",
        )

    def test_steps_are_numbered_without_gaps(self) -> None:
        self.write("solutions/sums/03_more.cu", SOLUTION)
        self.says("solutions/sums/03_more.cu: is step 2 of its chapter")

    def test_what_a_lesson_lacks_is_named(self) -> None:
        lesson = self.root / "chapters/sums/README.md"
        text = lesson.read_text()
        lesson.write_text(text.replace("| all |", "| … |"))
        self.says("chapters/sums/README.md:3: '…' is still to be written")
        lesson.write_text(text.replace("### 01 Add", "#### 01 Add"))
        self.says("chapters/sums/README.md: no section '### 01 …' is about 01_add")
        for title in ("### 00 Before, 01 add", "## 01 Add"):
            lesson.write_text(text.replace("### 01 Add", title))
            self.assertEqual(self.complaints(), [])
        self.write("chapters/sums/measured/README.md", "# What was measured\n")
        (self.root / "solutions/sums/measured").symlink_to("../../chapters/sums/measured")
        self.says("chapters/sums/README.md: does not link to measured/README.md")
        lesson.write_text(f"{text}\n[What was measured](measured/README.md)\n")
        self.assertEqual(self.complaints(), [])

    def test_each_step_has_three_hints_that_do_not_give_it_away(self) -> None:
        file, place = self.root / "chapters/sums/hints.md", "chapters/sums/hints.md, 01, "
        for old, new, said in (
            ("### Approach\n\nThe thread's", "The thread's", "must have for 01_add, in this order"),
            ("### Question", "### Riddle", "must have for 01_add, in this order"),
            ("## 01 Add", "## 02 Add", "hints.md: has hints for 02, and there is no such step"),
            (
                "The thread's number; beyond the end there is none.",
                "",
                f"{place}Approach: is still to be written",
            ),
            ("Which element is mine?", "…", f"{place}Question: is still to be written"),
            ("mine?", "mine.", f"{place}Question: has no question"),
            ("beyond", "beyond " + "and " * 20, f"{place}Approach: has a line of more than 80"),
            (
                "if (/* there is one */) b[i] = …;",
                "if (i < n)   b[i] = a[i];  // so",
                f"{place}Nearly the code: has a line of the solution: if (i < n) b[i] = a[i];",
            ),
        ):
            with self.subTest(said):
                file.write_text(HINTS.replace(old, new))
                self.says(said)
        file.write_text(HINTS.replace("```cuda", "```cuda\n__syncthreads();"))  # a word of CUDA
        self.assertEqual(self.complaints(), [])
        file.unlink()
        self.says("must have for 01_add")

    def test_a_function_of_cuda_that_no_page_explains_is_named(self) -> None:
        self.write("chapters/CUDA.md", "A barrier: `__syncthreads_or()`.\n")
        self.says(
            "solutions/sums/01_add.cu:6: this body has __syncthreads, which chapters/CUDA.md does not explain"
        )
        (self.root / "chapters/CUDA.md").unlink()
        self.says("this body has __syncthreads, which")
        self.write("chapters/CUDA.md", "A barrier: `__syncthreads()`.\n")
        self.write(
            "solutions/sums/01_add.cu",
            SOLUTION.replace("    if (i < n)", "    // and no __syncwarp()\n    if (i < n)"),
        )
        self.assertEqual(self.complaints(), [])

    def test_a_link_that_leads_nowhere_is_named(self) -> None:
        def links(*wanted: str) -> None:
            self.assertEqual(
                [c.replace(f"{self.root}/", "") for c in contract.check_links(self.repository)], list(wanted)
            )

        links()
        page = self.write(
            "chapters/TERMS.md",
            "## Brent–Kung, 2-D\n\n## `a_b()` and [c](sums/README.md)\n\n## Twice\n\n## Twice\n",
        )
        ways = (
            "[a](#brentkung-2-d) [b](#a_b-and-c) [c](#twice) [d](#twice-1) [e](sums/README.md#01-add) "
            "[f](../README.md)"
        )
        elsewhere = "[g](https://example.org/none#none) `[h](none)`\n```\n# None\n[i](none)\n```\n"
        text = page.read_text()
        page.write_text(f"{text}{ways} {elsewhere}")
        links()
        says = "chapters/TERMS.md: links to {}, and there is no such {}".format
        page.write_text(
            f"{text}[a](none.md) [b](#none) [c](#twice-2) [d](sums/README.md#02-more)\n```\n# None\n```\n"
        )
        links(
            says("none.md", "file"),
            says("#none", "heading"),
            says("#twice-2", "heading"),
            says("sums/README.md#02-more", "heading"),
        )

    def test_a_step_without_a_mistake_is_named(self) -> None:
        lacks = "tests/wrong/sums/01_add.mistakes: has no mistake that the tests"
        self.mistakes.write_text(NO_GUARD.replace("Rejected: out of bounds", "Timed against: 01_add"))
        self.says(lacks)
        self.mistakes.unlink()
        self.says(lacks)

    def test_mistakes_that_do_not_fit_are_named(self) -> None:
        self.mistakes.write_text(NO_GUARD.replace("i < n", "i <= n"))
        self.says("01_add.mistakes:4: no_guard: 0 places")
        self.mistakes.write_text(NO_GUARD.replace("// Rejected", "// Timed against: 09_gone\n// Rejected"))
        self.says("is timed against 09_gone")
        self.mistakes.write_text(NO_GUARD.replace("// Rejected", "// Same code as: 09_gone\n// Rejected"))
        self.says("has the same code as 09_gone")


if __name__ == "__main__":
    unittest.main()
