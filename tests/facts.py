#!/usr/bin/env python3
"""Tests of common/front: the facts that it reads from a repository, and the faults that it must refuse;
without building anything."""

import ast
import contextlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock
from collections.abc import Callable, Iterator
from typing import cast

from paths import ROOT  # isort: split

import author
import board
import bodies
import build
import contract
import hints
import impostors
import ladder
import loop
import mistakes
import mutants
import repository
import verdicts
from fault import Fault
from repository import Module, Repository

SOLUTION = """// 01 Add: a thread an element.
// Mirrors nothing.
#include "sums.cuh"

__global__ void add(const float* a, float* b, int n) {
    // kata: begin
    const int i = threadIdx.x;

    if (i < n) b[i] = a[i];
    __syncthreads();
    __syncthreads();
    // kata: end
}

int sum(int n) {
    // kata: begin
    return n;
    // kata: end
}
"""
STUB = """// 01 Add: a thread an element.
// Mirrors nothing.
#include "sums.cuh"

__global__ void add(const float* a, float* b, int n) {
    // kata: begin
    // A thread an element.
    kata::open();
    // kata: end
}

int sum(int n) {
    // kata: begin
    // All of them.
    kata::open();
    return 0;
    // kata: end
}
"""
NO_GUARD = """== no_guard
// Threads beyond the end write, too.
// Rejected: out of bounds
-     if (i < n) b[i] = a[i];
+     b[i] = a[i];
"""


HINTS = """# Hints

## 01 Add

### Question

Which element is mine?

### Approach

The thread's number; beyond the end there is none.

### Nearly the code

```cuda
if (/* there is one */) b[i] = …;
```
"""


STYLE = "// A grid-stride loop.\n" + SOLUTION


class Scratch(unittest.TestCase):
    """A repository of one chapter with one step."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="kata-facts-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.repository = Repository(self.root)
        self.write("solutions/sums/01_add.cu", SOLUTION)
        self.write("chapters/sums/01_add.cu", STUB)
        self.write(
            "chapters/sums/README.md",
            "| step | what |\n| --- | --- |\n| [01 add](01_add.cu) | all |\n\n| other |\n\n### 01 Add\n",
        )
        (self.root / "solutions/sums/README.md").symlink_to("../../chapters/sums/README.md")
        self.write("chapters/sums/hints.md", HINTS)
        (self.root / "solutions/sums/hints.md").symlink_to("../../chapters/sums/hints.md")
        self.write("README.md", "| [sums](chapters/sums/README.md) | 1 | fast |\n")
        self.write("chapters/CUDA.md", "A barrier: `__syncthreads()`.\n")
        self.mistakes = self.write("tests/wrong/sums/01_add.mistakes", NO_GUARD)

    def write(self, path: str, text: str) -> pathlib.Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def complaints(self) -> list[str]:
        return list(contract.check_folders(self.repository))


class Mistakes(Scratch):
    def made(self, text: str) -> list[str]:
        self.mistakes.write_text(text, encoding="utf-8")
        return [self.repository.kernel("sums", mistake) for mistake in self.repository.mistakes("sums")]

    def refused(self, text: str, *words: str) -> None:
        with self.assertRaises(Fault) as caught:
            self.made(text)
        for word in ("01_add.mistakes:", *words):
            self.assertIn(word, str(caught.exception))

    def test_a_kernel_is_the_solution_with_the_edit_below_its_reason(self) -> None:
        (kernel,) = self.made("// Some words on the file.\n\n" + NO_GUARD)
        wanted = (
            SOLUTION.split("\n", 2)[2]
            .replace("if (i < n) ", "")
            .replace("    // kata: begin\n", "")
            .replace("    // kata: end\n", "")
        )
        self.assertEqual(
            kernel, "// Threads beyond the end write, too.\n// Rejected: out of bounds\n" + wanted
        )

    def test_lines_may_be_added_removed_and_blank(self) -> None:
        (kernel,) = self.made(
            "== late\n// Why.\n// Rejected: race\n-     const int i = threadIdx.x;\n-\n@\n"
            "-     __syncthreads();\n-     __syncthreads();\n+     __syncthreads();\n+\n+     int i;\n"
        )
        self.assertIn(
            "int n) {\n    if (i < n) b[i] = a[i];\n    __syncthreads();\n\n    int i;\n}\n", kernel
        )

    def test_another_step_is_handed_in_as_this_one(self) -> None:
        self.write("solutions/sums/02_all.cu", SOLUTION.replace("a[i]", "2 * a[i]"))
        (kernel,) = self.made("== body of 02_all\n// The other step.\n// Rejected: does not gain\n")
        self.assertIn("b[i] = 2 * a[i]", kernel)

    def test_what_is_timed_and_not_rejected_is_a_variant(self) -> None:
        self.made(
            NO_GUARD
            + "\n"
            + NO_GUARD.replace("no_guard", "fast").replace("Rejected: out of bounds", "Timed against: 01_add")
        )
        self.assertEqual(
            [mistake.tree for mistake in self.repository.mistakes("sums")], ["wrong", "variants"]
        )
        module = "variants.sums.01_add.fast.cpu.so"
        self.assertEqual(
            self.repository.timed("sums", "cpu"),
            [f"01_add.fast {module} 01_add solutions.sums.01_add.cpu.so"],
        )

    def test_an_edit_of_what_the_solution_no_longer_says_is_refused(self) -> None:
        gone = NO_GUARD.replace("- ", "-     int j;\n- ")
        self.refused("\n" + gone, ":5:", "no_guard", "0 places", "solutions/sums/01_add.cu", "int j;")

    def test_an_edit_of_what_the_solution_says_twice_is_refused(self) -> None:
        self.refused(
            NO_GUARD.replace("-     if (i < n) b[i] = a[i];", "-     __syncthreads();"),
            ":4:",
            "2 places",
            "__syncthreads();",
        )

    def test_two_edits_of_one_line_are_refused(self) -> None:
        self.refused(NO_GUARD + "@\n-\n-     if (i < n) b[i] = a[i];\n", "two edits of the same line")

    def test_a_mistake_without_a_difference_is_refused(self) -> None:
        self.refused(NO_GUARD.split("- ")[0], ":1:", "changes nothing")
        self.refused(NO_GUARD.replace("+     b[i]", "+     if (i < n) b[i]"), ":4:", "changes nothing")

    def test_a_name_is_given_once(self) -> None:
        self.refused(f"{NO_GUARD}\n{NO_GUARD}", ":7:", "no_guard", "line 1")

    def test_a_mistake_says_what_it_is_and_what_the_tests_must_say(self) -> None:
        self.refused(NO_GUARD.replace("// Rejected: out of bounds\n", ""), "neither '// Rejected: …'")
        self.refused(NO_GUARD.replace("out of bounds", ""), "neither '// Rejected: …'")
        self.refused(
            NO_GUARD.replace("// Threads beyond the end write, too.\n", ""), "does not say what is wrong"
        )

    def test_what_is_no_line_of_a_mistake_is_refused(self) -> None:
        self.refused(NO_GUARD.replace("+     b", "      b"), ":5:", "begins with none of")
        self.refused(NO_GUARD.replace("-     if", "-if"), ":4:", "begins with none of")
        self.refused(NO_GUARD.replace("-     if", "+     if"), ":4:", "'+' without a line '-'")
        self.refused(NO_GUARD + "// An afterthought.\n", "comments come first")
        self.refused(NO_GUARD.replace("== no_guard", "== no guard"), ":1:", "== NAME")
        self.refused("no_guard\n" + NO_GUARD, ":1:", "'== NAME'")
        self.refused(NO_GUARD.replace("no_guard", "no_guard of 09_gone"), "there is no", "09_gone.cu")

    def test_a_changed_line_becomes_an_edit_that_gives_it_back(self) -> None:
        lines = SOLUTION.splitlines()
        for number, line in enumerate(lines, 1):
            if number in (1, 2) or "// kata" in line or not line:
                continue
            for changed in ("changed();", ""):
                edit = mistakes.as_edit(SOLUTION, number, changed)
                (kernel,) = self.made(f"== changed\n// Why.\n// Rejected: it\n{edit}\n")
                wanted = [*lines[: number - 1], *([changed] if changed else []), *lines[number:]]
                self.assertEqual(kernel.splitlines()[2:], mistakes.code_of("\n".join(wanted)), edit)

    def test_only_kernels_that_differ_are_written_again(self) -> None:
        folder = self.root / "build"
        folder.mkdir()
        repository.write_kernels(self.mistakes, folder)
        kernel = folder / "01_add.no_guard.sums.cu"
        before = kernel.stat().st_mtime_ns
        self.mistakes.write_text(NO_GUARD + "\n" + NO_GUARD.replace("no_guard", "again"))
        repository.write_kernels(self.mistakes, folder)
        self.assertEqual(kernel.stat().st_mtime_ns, before)
        self.assertTrue((folder / "01_add.again.sums.cu").is_file())

    def test_all_mistakes_that_fit_no_more_are_named_at_once(self) -> None:
        self.mistakes.write_text(f"{NO_GUARD}\n{NO_GUARD.replace('no_guard', 'again')}")
        self.write("solutions/sums/01_add.cu", SOLUTION.replace("i < n", "i <= n"))
        with self.assertRaisesRegex(Fault, "(?s):4: no_guard: .*:10: again: "):
            repository.write_kernels(self.mistakes, self.root)


class Names(Scratch):
    def test_chapters_are_in_the_order_of_the_book_and_others_behind(self) -> None:
        for name in ("scan", "grids", "aaa", ".hidden"):
            (self.root / "chapters" / name).mkdir()
        self.assertEqual(self.repository.chapters(), ["grids", "scan", "aaa", "sums"])

    def test_the_order_names_only_chapters_that_there_are(self) -> None:
        self.assertEqual(set(repository.ORDER) - set(Repository().chapters()), set())

    def test_a_course_that_does_not_fit_is_told(self) -> None:
        self.write("solutions/sums/02_all.cu", SOLUTION)
        self.write("README.md", "| [sums](chapters/sums/README.md) | 02: what | 2 | fast |\n")
        lesson = "chapters/sums/README.md"
        for course, wanted in (
            (("sums 02",), "no line '**In the course:** 02.'"),
            (("sums 02 03",), "names sums 03, and there is no such step"),
            (("sums 02", "else 01"), "names else 01, and there is no such step"),
            (("sums 02 02",), "names sums 02 twice"),
            (("sums 02 01",), "names sums 01 behind a step that improves it"),
            (("sums 01 02",), "README.md: its table has another course"),
        ):
            with self.subTest(course=course), unittest.mock.patch.object(contract, "COURSE", course):
                self.assertIn(wanted, "\n".join(contract.check_course(self.repository)))
        with unittest.mock.patch.multiple(contract, COURSE=("sums 02",), AFTER={"sums 01": "sums 02"}):
            self.write(lesson, "# Sums\n\n**In the course:** 02.\n")
            self.assertEqual(list(contract.check_course(self.repository)), [])
            (self.root / "chapters/more").mkdir()
            self.assertIn("another order of chapters", "\n".join(contract.check_course(self.repository)))

    def test_steps_are_what_is_in_the_folder(self) -> None:
        for name in ("02_b.cu", "10_c.cu", "notes.cu", "03_d.cu.mine", "1_e.cu", "README"):
            self.write(f"chapters/sums/{name}", STUB)
        self.assertEqual(self.repository.steps("sums"), ["01_add", "02_b", "10_c"])
        self.assertEqual(self.repository.steps("sums", "solutions"), ["01_add"])

    def test_a_module_has_one_name(self) -> None:
        for module in (
            Module("solutions", "scan", "03_x", "gpu"),
            Module("wrong", "gemm2d", "01_y.no_z", "cpu"),
        ):
            self.assertEqual(repository.module(*module), module.file)
            self.assertEqual(repository.module_of(module.file), module)
            self.assertTrue(module.file.startswith(repository.prefix(*module[:3])))
            self.assertTrue(module.file.startswith(repository.prefix(*module[:2])))
        for other in (
            "scan-cpu",
            "tests/check",
            "libcheck.a",
            "solutions.scan.03_x.so",
            "others.scan.03_x.cpu.so",
            "build.ninja",
        ):
            self.assertIsNone(repository.module_of(other), other)

    def test_what_is_built_is_what_is_in_the_folders(self) -> None:
        self.assertEqual(
            self.repository.kernels("sums"),
            [("solutions", "01_add"), ("chapters", "01_add"), ("wrong", "01_add.no_guard")],
        )
        wrong = "tests/wrong/sums/01_add.mistakes|wrong/01_add.no_guard|solutions/sums/01_add.cu|"
        self.assertEqual(self.repository.for_meson()[-1], wrong)
        self.assertEqual(len(self.repository.modules(["cpu", "gpu"])), 6)

    def test_a_step_may_ask_for_a_gpu(self) -> None:
        self.assertIsNone(self.repository.needs("sums", "01_add"))
        self.write("tests/styles/sums/01_add.grid_stride.cu", STYLE)
        for need, said, on_cpu in (
            ("sm_80", "needs a GPU of compute capability 8.0 or newer", True),
            (
                "sm_90, 193 KiB",
                "needs a GPU of compute capability 9.0 or newer with 193 KiB of shared memory for a block",
                True,
            ),
            ("sm_90a", "needs a GPU of compute capability 9.0", False),
            ("sm_100a", "needs a GPU of compute capability 10.0", False),
        ):
            with self.subTest(need=need):
                self.write("solutions/sums/01_add.cu", f"// 01 Add: adds.\n//\n// Needs: {need}\n{SOLUTION}")
                self.assertEqual(str(self.repository.needs("sums", "01_add")), said)
                # A student's file does not say this, and neither do mistakes and styles.
                self.assertEqual({line.split("|")[3] for line in self.repository.for_meson()}, {need})
                self.assertEqual(self.repository.cpu_steps("sums"), ["01_add"] if on_cpu else [])
                built = {module.backend for module in self.repository.modules(["cpu", "gpu"])}
                self.assertEqual(built, {"cpu", "gpu"} if on_cpu else {"gpu"})
                if on_cpu:
                    self.repository.require_cpu("sums", "01_add")
                else:
                    with self.assertRaisesRegex(
                        Fault, f"^sums/01_add {said}, and only the CPU back end sees what each line does$"
                    ):
                        self.repository.require_cpu("sums", "01_add")

    def test_a_gpu_that_is_misspelt_is_told(self) -> None:
        for need in ("sm90a", "sm_90a ", "an H100", "sm_90, 193", "193 KiB"):
            with self.subTest(need=need):
                self.write("solutions/sums/01_add.cu", f"// 01 Add: adds.\n//\n// Needs: {need}\n{SOLUTION}")
                with self.assertRaisesRegex(
                    Fault,
                    f"^solutions/sums/01_add.cu says '// Needs: {need}', where a GPU is needed: // "
                    f"Needs: sm_80",
                ):
                    self.repository.needs("sums", "01_add")

    def test_a_step_that_this_machine_cannot_run_is_nothing_to_do(self) -> None:
        self.write("solutions/sums/01_add.cu", f"// Needs: sm_90a\n{SOLUTION}")
        # None, an older one, a newer one, this one beside another, and one that the driver does not describe.
        for gpus, state in (
            ([], "elsewhere"),
            (["8.9"], "elsewhere"),
            (["12.0"], "elsewhere"),
            (["7.5", "9.0"], "open"),
            ([""], "open"),
        ):
            with (
                self.subTest(gpus=gpus),
                unittest.mock.patch.object(build.Build, "gpus", lambda gpus=gpus: gpus),
            ):
                now = board.Board(self.repository)
                self.assertEqual(now.of("sums", "01_add").state, state)
                self.assertEqual(now.next() is None, state == "elsewhere")
                said = board.as_text(now)
                self.assertEqual(
                    "\nsums 01: needs a GPU of compute capability 9.0\n" in said, state == "elsewhere"
                )
                self.assertEqual(
                    "Every step that this machine can run is written and right." in said, state == "elsewhere"
                )
        self.write("solutions/sums/01_add.cu", f"// Needs: sm_90\n{SOLUTION}")  # the CPU back end runs it
        for gpus in ([], ["8.9"]):
            with unittest.mock.patch.object(build.Build, "gpus", lambda gpus=gpus: gpus):
                self.assertEqual(board.Board(self.repository).of("sums", "01_add").state, "open")
        needs = self.repository.needs("sums", "01_add")
        assert needs
        self.assertEqual(
            [needs.met_by(gpu) for gpu in ("8.9", "9.0", "10.0", "12.0")], [False, True, True, True]
        )

    def test_gpus_are_what_the_driver_says(self) -> None:
        for answer, gpus in (
            ("echo 9.0; echo 8.6", ["9.0", "8.6"]),
            ('[ "$1" = -L ]', [""]),
            ("echo '[N/A]'; echo 9.0", ["", "9.0"]),
            ("exit 9", []),
        ):
            for tool in ("nvidia-smi", "nvcc"):
                self.write(f"bin/{tool}", f"#!/bin/sh\n{answer}\n")
                (self.root / "bin" / tool).chmod(0o755)
            with (
                self.subTest(answer=answer),
                unittest.mock.patch.dict(os.environ, {"PATH": f"{self.root}/bin:{os.environ['PATH']}"}),
            ):
                self.assertEqual(build.Build.gpus(), gpus)

    def test_another_way_to_write_a_step_is_built_and_is_no_step(self) -> None:
        self.write("tests/styles/sums/01_add.grid_stride.cu", STYLE)
        self.assertIn(("styles", "01_add.grid_stride"), self.repository.kernels("sums"))
        self.assertEqual(
            self.repository.for_meson()[-1],
            "tests/styles/sums/01_add.grid_stride.cu|styles/01_add.grid_stride||",
        )
        self.assertEqual(self.repository.all_steps("sums"), ["01_add"])
        module = repository.module_of("styles.sums.01_add.grid_stride.cpu.so")
        assert module
        self.assertEqual(
            (module.step, build.path_of(module)), ("01_add", "tests/styles/sums/01_add.grid_stride.cu")
        )

    def test_what_comes_next_is_open_and_in_the_same_chapter_if_one_is(self) -> None:
        self.write("chapters/sums/01_add.cu", SOLUTION)
        self.assertTrue(
            loop.what_comes_next(self.repository, "sums", "01_add").startswith("Every step is written")
        )
        for name in ("02_all", "03_more"):
            self.write(f"solutions/sums/{name}.cu", SOLUTION)
            self.write(f"chapters/sums/{name}.cu", STUB)
        self.assertIn("chapters/sums/02_all.cu;", loop.what_comes_next(self.repository, "sums", "01_add"))
        self.assertIn("./kata hint sums 03", loop.what_comes_next(self.repository, "sums", "02_all"))
        self.assertIn(
            "chapters/sums/01_add.cu is written, and has not been tested",
            loop.what_comes_next(self.repository, "sums", "03_more"),
        )

    def test_claims_that_a_gpu_refutes_are_said_with_both_numbers(self) -> None:
        self.assertEqual(self.repository.refuted("sums"), [])
        self.write(
            "chapters/sums/measured/claims.csv",
            "# NVIDIA H100, CUDA 13.0\n"
            "step,against,claimed,standing,verdicts,held,lowest ratio,highest ratio\n"
            "02_all,01_add,1.40,asserted,30,30,1.657,1.667\n"
            "02_all,01_add,2,refuted,30,0,1.657,1.667\n"
            "03_more,02_all,1.00,refuted,30,0,0.501,0.502\n",
        )
        said = [
            "Expected by this lesson or its documents, but refuted: 02_all is 2.00 times as fast as 01_add. "
            "Measured on NVIDIA H100, with the solutions and the problem of the ladder: 1.66 to 1.67 "
            "times as fast. No step is judged by it.",
            "Expected by this lesson or its documents, but refuted: 03_more is faster than 02_all. "
            "Measured on NVIDIA H100, with the solutions and the problem of the ladder: 0.50 times as "
            "fast. No step is judged by it.",
        ]
        self.assertEqual(self.repository.refuted("sums"), said)
        self.assertEqual(self.repository.refuted("sums", "03_more"), said[1:])
        self.assertEqual(self.repository.refuted("sums", "01_add"), [])
        # A claim about a step that is still open is left out, for either of its two steps.
        self.assertEqual(self.repository.refuted("sums", without=["01_add"]), said[1:])
        self.assertEqual(self.repository.refuted("sums", without=["02_all"]), [])
        # For another GPU, its ratio is added, if it is known.
        self.assertEqual(self.repository.refuted("sums", elsewhere="NVIDIA H100"), said)
        there = self.repository.refuted("sums", elsewhere="NVIDIA H200", times={"01_add": 3.0, "02_all": 2.0})
        self.assertIn("1.66 to 1.67 times as fast; on NVIDIA H200: 1.50 times. No step", there[0])
        self.assertIn("0.50 times as fast; on NVIDIA H200: it has not been measured. No step", there[1])

    def test_of_a_step_that_gains_only_time_that_is_said(self) -> None:
        self.assertEqual(self.repository.gained_in_time("sums", "01_add"), "")
        self.write(
            "chapters/sums/measured/claims.csv",
            "# NVIDIA H100, CUDA 13.0\n"
            "step,against,claimed,standing,verdicts,held,lowest ratio,highest ratio\n"
            "02_all,01_add,1.40,asserted,30,30,1.657,1.667\n"
            "02_all,03_more,1.40,asserted,30,30,3.2,3.2\n"
            "03_more,02_all,1.00,refuted,30,0,0.501,0.502\n",
        )
        self.assertIn("It is the first of its ladder", self.repository.gained_in_time("sums", "01_add"))
        self.assertEqual(
            self.repository.gained_in_time("sums", "02_all"),
            "It gains time, and nothing that is counted: measured on NVIDIA H100, with the solutions, "
            "it is 1.66 to 1.67 times as "
            "fast as 01_add.",
        )
        self.assertEqual(self.repository.gained_in_time("sums", "03_more"), "")

    def test_of_the_first_step_it_is_said_whether_a_ladder_begins_with_it(self) -> None:
        rows = (
            "# NVIDIA H100\nstep,against,claimed,standing,verdicts,held,lowest ratio,highest ratio\n"
            "02_all,{},1.40,asserted,30,30,3.2,3.2\n"
        )
        for against, said in (
            ("01_add", "It is the first of its ladder"),
            ("03_more", "No earlier step solves the same problem"),
        ):
            self.write("chapters/sums/measured/claims.csv", rows.format(against))
            self.assertIn(said, self.repository.gained_in_time("sums", "01_add"))

    def test_a_folder_that_is_no_build_is_refused(self) -> None:
        with self.assertRaisesRegex(Fault, "no folder that Meson has configured"):
            repository.targets(self.root)


class Bodies(unittest.TestCase):
    def test_a_step_is_open_by_a_line_that_begins_with_the_call(self) -> None:
        for text in ("kata::open();", "  kata::open(); return 0;\n", "\tkata::open();\r\n", STUB):
            self.assertTrue(bodies.is_open(text), text)
        for text in (
            "// kata::open();",
            "/* kata::open(); */",
            'puts("kata::open();");',
            "x = kata::open();",
            SOLUTION,
        ):
            self.assertFalse(bodies.is_open(text), text)
        self.assertEqual(bodies.open_lines(STUB), [8, 15])

    def test_a_stub_is_hints_the_call_and_a_value(self) -> None:
        self.assertTrue(bodies.is_stub(STUB))
        for old, new in (
            ("    kata::open();\n", ""),
            ("kata::open();", "f();"),
            ("// All of them.", "int x;"),
            ("// kata: end\n", ""),
        ):
            self.assertFalse(bodies.is_stub(STUB.replace(old, new, 1)), new)
        self.assertFalse(bodies.is_stub(SOLUTION))
        self.assertFalse(bodies.is_stub("int x;\n"))

    def test_marks_come_in_turns(self) -> None:
        for old, new, line in (
            ("// kata: begin", "", 9),
            ("// kata: end", "", 13),
            ("    // kata: end\n}\n\nint", "}\n\nint", 12),
        ):
            with self.assertRaisesRegex(Fault, rf"step\.cu:{line}: .* must come first"):
                bodies.split(STUB.replace(old, new, 1), "step.cu")
        with self.assertRaisesRegex(Fault, r"step\.cu:13: no '// kata: end'"):
            bodies.split(STUB[: STUB.rindex("    // kata: end")], "step.cu")

    def test_a_stub_is_made_of_its_solution_and_its_hints(self) -> None:
        changed = SOLUTION.replace("float* b", "float* out")
        self.assertEqual(bodies.stub_from(SOLUTION, STUB, "step.cu"), STUB)
        self.assertEqual(bodies.stub_from(changed, STUB, "step.cu"), STUB.replace("float* b", "float* out"))
        with self.assertRaisesRegex(Fault, "has 2 bodies, and its solution 1"):
            bodies.stub_from(SOLUTION[: SOLUTION.index("int sum")], STUB, "step.cu")

    def test_hints_say_where_they_belong(self) -> None:
        said = bodies.hints(STUB, "step.cu")
        self.assertEqual(
            said,
            "step.cu:6, in __global__ void add(const float* a, float* b, int n)\n    A thread an element.\n\n"
            "step.cu:13, in int sum(int n)\n    All of them.\n",
        )


class Contract(Scratch):
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

    def test_a_style_says_which_step_it_is_of_and_what_is_different(self) -> None:
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


class Authors(Scratch):
    def quietly(self, function: Callable[..., int], *arguments: object) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.status = function(*arguments)
        return said.getvalue()

    def test_a_new_step_fits(self) -> None:
        said = self.quietly(author.new_step, self.repository, "sums", "02_more_of_it")
        self.assertEqual(
            self.complaints(),
            [
                "chapters/sums/README.md:4: '…' is still to be written",
                "chapters/sums/README.md: no section '### 02 …' is about 02_more_of_it",
                "tests/wrong/sums/02_more_of_it.mistakes: has no mistake that the tests must reject",
                *(f"chapters/sums/hints.md, 02, {level}: is still to be written" for level in hints.LEVELS),
            ],
        )
        self.assertEqual(self.repository.steps("sums"), ["01_add", "02_more_of_it"])
        self.assertTrue(bodies.is_stub(self.repository.text("sums", "02_more_of_it")))
        self.assertTrue(self.repository.text("sums", "02_more_of_it").startswith("// 02 More of it: "))
        lesson = (self.root / "chapters/sums/README.md").read_text()
        self.assertIn("| all |\n| [02 more of it](02_more_of_it.cu) | … |\n\n| other |", lesson)
        self.assertIn("| 2 | fast |", (self.root / "README.md").read_text())
        self.assertEqual(self.repository.mistakes("sums")[1:], [])
        self.assertTrue(self.repository.mistakes_file("sums", "02_more_of_it").is_file())
        for word in ("Left to do", "tests/sums.cpp", "hints.md: a question"):
            self.assertIn(word, said)

    def test_what_is_begun_is_laid_out(self) -> None:
        name = "02_of_a_name_that_is_as_long_as_any_that_somebody_would_think_of"
        self.quietly(author.new_step, self.repository, "sums", name)
        self.quietly(author.new_chapter, self.repository, "products")
        self.quietly(author.new_step, self.repository, "products", "01_all")
        for step in (f"sums/{name}", "products/01_all"):
            for tree in ("solutions", "chapters"):
                text = (self.root / tree / f"{step}.cu").read_text()
                self.assertLessEqual(max(map(len, text.splitlines())), 100, text)
                if formatter := shutil.which("clang-format-14"):
                    style = f"--style=file:{ROOT / '.clang-format'}"
                    done = subprocess.run(
                        [formatter, style, "--assume-filename=a.cu"],
                        input=text,
                        capture_output=True,
                        text=True,
                        check=False,
                    )
                    self.assertEqual(done.stdout, text, done.stderr)

    def test_what_cannot_be_begun_is_said_and_leaves_nothing(self) -> None:
        (self.root / "tests/wrong/sums/02_more.mistakes").mkdir()  # replaces a folder that is read-only
        self.write("solutions/products", "")
        before = {path: path.is_file() and path.read_text() for path in self.root.rglob("*")}
        for function, names, path in (
            (author.new_step, ["sums", "02_more"], "tests/wrong/sums/02_more.mistakes"),
            (author.new_chapter, ["products"], "solutions/products/README.md"),
        ):
            with (
                contextlib.redirect_stdout(io.StringIO()) as said,
                self.assertRaisesRegex(Fault, rf"\A{path} cannot be written \(.*\): nothing is new\Z"),
            ):
                function(self.repository, *names)
            self.assertEqual(said.getvalue(), "")
            self.assertEqual(
                {path: path.is_file() and path.read_text() for path in self.root.rglob("*")}, before
            )

    def test_lines_that_name_steps_by_number_are_left_to_look_at(self) -> None:
        with open(self.root / "chapters/sums/README.md", "a") as lesson:
            lesson.write("\nA gain of 1.01, as in step 01.\n| 01 | table |\n")
        self.write("reference/sums.hpp", "// Of 01 only.\nint a = 10;\n")
        self.write(
            "tests/sums.cpp", 'TEST_CASE("adds", "[step][01_add]") {\n    {"01_add", "01_add", claim},\n'
        )
        said = self.quietly(author.new_step, self.repository, "sums", "02_more")
        looked_at = said.split("Left to check, because it names steps by number:\n")[1].split("\n\n")[0]
        self.assertEqual(
            looked_at,
            "  chapters/sums/README.md:9: A gain of 1.01, as in step 01.\n"
            "  reference/sums.hpp:1: // Of 01 only.\n"
            '  tests/sums.cpp:1: TEST_CASE("adds", "[step][01_add]") {',
        )

    def test_a_new_chapter_fits_and_takes_steps(self) -> None:
        self.quietly(author.new_chapter, self.repository, "products")
        self.assertEqual(self.complaints(), [])
        self.assertIn(
            "| [products](chapters/products/README.md) | | 0 | |\n", (self.root / "README.md").read_text()
        )
        self.quietly(author.new_step, self.repository, "products", "01_all")
        link = self.root / "solutions/products/hints.md"
        self.assertTrue(link.is_symlink())
        self.assertEqual([level for level, _ in hints.read(link)["01"]], list(hints.LEVELS))
        self.assertEqual(
            self.complaints()[0], "solutions/products/01_all.cu:5: a body that is still to be written"
        )
        self.assertIn("[01 all](01_all.cu)", (self.root / "chapters/products/README.md").read_text())

    def test_names_that_are_taken_or_are_none_are_refused(self) -> None:
        for name, word in (
            ("01_other", "has 01_add"),
            ("add", "is not NN_name"),
            ("02_Add", "is not NN_name"),
            ("../x", "is not NN_name"),
        ):
            with self.assertRaisesRegex(Fault, word):
                author.new_step(self.repository, "sums", name)
        with self.assertRaisesRegex(Fault, "sums has no step 07 before 08_more"):
            author.new_step(self.repository, "sums", "08_more", "07")
        for name, word in (
            ("sums", "there is a chapter sums already"),
            ("Products", "is no name"),
            ("a b", "is no name"),
        ):
            with self.assertRaisesRegex(Fault, word):
                author.new_chapter(self.repository, name)

    def test_stubs_follow_their_solutions(self) -> None:
        self.quietly(author.stubs, self.repository, ["sums"], False)
        self.assertEqual(self.status, 0)
        self.write("solutions/sums/01_add.cu", SOLUTION.replace("float* b", "float* out"))
        self.write("solutions/sums/02_new.cu", SOLUTION)
        said = self.quietly(author.stubs, self.repository, ["sums"], False)
        self.assertEqual(self.status, 1)
        self.assertIn("chapters/sums/01_add.cu differs", said)
        self.assertIn("chapters/sums/02_new.cu is missing", said)
        self.quietly(author.stubs, self.repository, ["sums"], True)
        self.assertEqual(self.status, 0)
        self.assertFalse([complaint for complaint in self.complaints() if ".cu" in complaint])
        self.assertEqual(self.repository.text("sums", "01_add"), STUB.replace("float* b", "float* out"))

    def test_bodies_that_a_stub_lacks_are_written_open(self) -> None:
        hint = f"    {author.HINT}    kata::open();\n"
        for missing, line in (
            ("    // A thread an element.\n    kata::open();\n", 7),
            ("    // All of them.\n    kata::open();\n    return 0;\n", 14),
        ):
            wanted = STUB.replace(missing, hint)
            self.write(
                "chapters/sums/01_add.cu",
                STUB.replace(f"    // kata: begin\n{missing}    // kata: end\n", ""),
            )
            self.assertIn(
                "differs from its solution", self.quietly(author.stubs, self.repository, ["sums"], False)
            )
            said = self.quietly(author.stubs, self.repository, ["sums"], True)
            self.assertIn(
                f"01_add.cu is written again, with 1 body more, open: put the hint into words, line {line}\n",
                said,
            )
            self.assertEqual(self.repository.text("sums", "01_add"), wanted)
        self.write("solutions/sums/01_add.cu", SOLUTION + SOLUTION.replace("sum(", "product("))
        self.write("chapters/sums/01_add.cu", STUB.replace("sum(", "total("))
        with self.assertRaisesRegex(
            Fault, "has 2 bodies, and its solution 4, some of them of other functions"
        ):
            author.stubs(self.repository, ["sums"], True)

    def test_a_mistake_is_shown_as_a_whole_kernel(self) -> None:
        listed = self.quietly(author.mistake, self.repository, "sums", "01_add", None, None)
        self.assertRegex(listed, r"\Ano_guard +Threads beyond the end write, too\.\n\Z")
        kernel = self.quietly(author.mistake, self.repository, "sums", "01_add", "no_guard", None)
        self.assertIn("    b[i] = a[i];\n", kernel)
        file = self.root / "mine.cu"
        self.quietly(author.mistake, self.repository, "sums", "01_add", "no_guard", str(file))
        self.assertEqual(file.read_text(), kernel)
        for name, where, word in (
            ("no_guard", str(file), "already"),
            ("nothing", None, "there are: no_guard"),
        ):
            with self.assertRaisesRegex(Fault, word):
                author.mistake(self.repository, "sums", "01_add", name, where)


class Impostors(Scratch):
    """Pairs of steps that a suite accepts or rejects, as its name says."""

    def setUp(self) -> None:
        super().setUp()
        self.write("solutions/sums/02_all.cu", SOLUTION)
        self.pair = impostors.Pair("sums", "01_add", "02_all")
        self.bench = impostors.Bench(self.repository, self.root)

    def suite(self, text: str) -> None:
        self.write("sums-cpu", f"#!/bin/sh\n{text}\n").chmod(0o755)
        for step in ("01_add", "02_all"):
            self.write(repository.module("solutions", "sums", step, "cpu"), "")

    def judged(self, *excused: impostors.Pair) -> list[str]:
        accepted = {self.pair: self.bench.accepts(self.pair)}
        return impostors.complaints(accepted, dict.fromkeys(excused, "it may"))

    def test_each_solution_is_handed_in_as_every_step_that_improves_it(self) -> None:
        before = {"01": "", "02": "01", "03": "", "04": "02"}
        names = [(pair.earlier, pair.later) for pair in impostors.pairs("sums", before)]
        self.assertEqual(names, [("01", "02"), ("02", "04"), ("01", "04")])

    def test_one_that_is_accepted_needs_an_excuse_and_no_other_has_one(self) -> None:
        self.suite("echo 'ok 1 - adds'")
        self.assertIn("01_add as 02_all: accepted", *self.judged())
        self.assertEqual(self.judged(self.pair), [])
        # Accepted by the claims, and by nothing else.
        self.suite("case $* in *claims*) echo 'ok 1 - gains';; *) echo 'not ok 1 - adds';; esac")
        self.assertEqual(self.judged(), [])
        self.assertIn("01_add as 02_all: rejected", *self.judged(self.pair))
        self.assertIn(
            "does not improve the earlier one", *self.judged(impostors.Pair("sums", "02_all", "01_add"))
        )

    def test_the_suite_is_told_what_is_handed_in_as_what(self) -> None:
        self.suite('echo "$*" >>"$0.log"; echo ok')
        self.judged()
        said = (self.root / "sums-cpu.log").read_text().splitlines()
        self.assertEqual(len(said), 2)
        for line in said:
            self.assertRegex(line, r"--source \S+/02_all\.cu --step \S+/solutions\.sums\.01_add\.cpu\.so ")

    def test_without_a_verdict_nobody_is_rejected(self) -> None:
        for text in ("exit 1", "kill -SEGV $$", "echo '1..0'"):
            self.suite(text)
            with self.assertRaisesRegex(Fault, "no verdict"):
                self.judged()

    def test_a_module_that_is_older_than_its_source_is_refused(self) -> None:
        self.suite("echo ok")
        self.bench.current("sums")
        os.utime(self.root / "solutions.sums.01_add.cpu.so", (0, 0))
        with self.assertRaisesRegex(Fault, "older than solutions/sums/01_add.cu"):
            self.bench.current("sums")

    def test_an_excuse_is_read_as_it_is_written(self) -> None:
        head = "chapter,earlier,later,reason\n"
        file = self.write("tests/impostors.csv", head + 'sums,01_add,02_all,"another spelling, no more"\n')
        self.assertEqual(impostors.excuses(file), {self.pair: "another spelling, no more"})
        for text, word in (
            ("", ":1: must be"),
            (head + "sums,01_add,02_all,\n", ":2: a chapter"),
            (head + "sums,01_add,02_all,why,and more\n", ":2: a chapter"),
            (head + 2 * "sums,01_add,02_all,why\n", ":3: .* already"),
        ):
            file.write_text(text)
            with self.assertRaisesRegex(Fault, word):
                impostors.excuses(file)


class Ladders(unittest.TestCase):
    """The table of a chapter, from counts that are made up."""

    COLUMNS = (
        ladder.Column(
            "bytes_loaded",
            "loaded",
            "loaded",
            "B/output",
            2,
            False,
            "bytes that threads load from global memory",
        ),
        ladder.Column("sectors", "sectors", "sectors", "/output", 3, False, "pieces of 32 bytes"),
        ladder.Column(
            "load_efficiency",
            "load eff.",
            "load eff.",
            "%",
            1,
            True,
            "share of the loaded sectors that lanes read",
        ),
        ladder.Column("bank_conflicts", "conflicts", "extra passes", "/output", 3, False, "bank conflicts"),
        ladder.Column("barriers", "barriers", "syncs", "/block", 0, False, "barriers that a block reaches"),
        *(ladder.Column(f"c{n}", "counted", "counted", "", 3, True, "something else") for n in range(4)),
    )

    def test_it_fits_a_terminal_of_80_columns_and_says_what_is_better(self) -> None:
        other = ladder.Row(
            "01_a", {column.key: 98.7 for column in self.COLUMNS} | {"barriers": 0.0, "sectors": 0.0}
        )
        row = ladder.Row(
            "02_kogge_stone_double_buffered",
            {column.key: 1234.5 for column in self.COLUMNS} | {"bytes_loaded": 49.35, "barriers": 0.0},
        )
        said = (
            ladder.headings(self.COLUMNS)
            + ladder.row_text(self.COLUMNS, row)
            + ladder.ratios(self.COLUMNS, "against 01", row, other)
        )
        said += ladder.row_text(self.COLUMNS, ladder.Row("01_a", {"open": 1.0})) + ladder.legend(self.COLUMNS)
        said += ladder.row_text(
            self.COLUMNS, ladder.Row("01_a", {}, fault="a fault that goes on and on, " * 4)
        )
        self.assertLessEqual(max(map(len, said.splitlines())), 80, said)
        self.assertIn(" x0.5+", said)  # half of the bytes
        self.assertIn(" more-", said)  # sectors, where there were none
        self.assertIn(" x12.5-", said)
        self.assertIn(" x12.5+", said)

    def test_a_ratio_fits_its_column(self) -> None:
        for ratio, more, text in (
            (1, True, "x1 "),
            (0.05213, False, "x0.052+"),
            (0.05213, True, "x0.052-"),
            (0.00681, False, "x0.007+"),
            (1234.5, False, "x1234-"),
        ):
            self.assertEqual(ladder.ratio_text(ratio, more), text)
        ratio = 1e-9
        while ratio < 1e9:
            self.assertLess(len(ladder.ratio_text(ratio, True)), ladder.COLUMN)
            ratio *= 1.37

    def test_what_a_suite_prints_is_read(self) -> None:
        row = ladder.parse("01_a", "outputs 4\nbarriers 2.5\nrefuted 00_z it has more\n")
        self.assertEqual(
            (row.values, row.fault, row.refuted),
            ({"outputs": 4, "barriers": 2.5}, "", (("00_z", "it has more"),)),
        )
        self.assertEqual(ladder.parse("01_a", "fault one\nfault two\n").fault, "one\ntwo")
        self.assertEqual(ladder.parse("01_a", "lacks needs a GPU\n").lacks, "needs a GPU")
        self.assertIn("without a result", ladder.parse("01_a", "").fault)


class Verdicts(unittest.TestCase):
    """Verdicts from Meson's records of tests."""

    def verdict(
        self, result: str, stderr: str = "", tree: str = "chapters", name: str = "01_add", **record: object
    ) -> verdicts.Verdict:
        command = ["sums-cpu", "--step", f"build/{tree}.sums.{name}.cpu.so", "--source", f"../{name}.sums.cu"]
        said = {
            "name": f"kata:sums / {name}",
            "result": result,
            "stdout": "",
            "stderr": stderr,
            "returncode": 0,
            "duration": 30.2,
        }
        test = {**said, "command": command, **record}
        return verdicts.verdict_of(cast("verdicts.MesonTest", test))

    def test_what_needs_another_gpu_is_skipped_with_one_line_and_not_called_open(self) -> None:
        said = "1..0 # SKIP needs a GPU of compute capability 9.0\n"
        skipped = self.verdict("SKIP", stdout=said)
        self.assertEqual(skipped.notes, ("needs a GPU of compute capability 9.0",))
        line = "SKIP  chapters/sums/01_add.cu: needs a GPU of compute capability 9.0\n"
        self.assertEqual(verdicts.of_one_step([skipped]), line)
        self.assertEqual(verdicts.of_a_chapter([skipped], set()), f"{line}\n1 test: 1 SKIP\n")
        self.assertEqual(self.verdict("SKIP", stdout="1..0 # SKIP open: 01_add.cu waits for you\n").notes, ())

    def test_programs_get_each_verdict_with_its_records_as_json(self) -> None:
        slow = {"test": "needs about", "kind": "slow", "text": "too many lines", "share": 0.25}
        verdict = self.verdict("FAIL", "not ok: needs about\n", stdout=f"# {json.dumps(slow)}\n")
        (said,) = json.loads(verdicts.as_json([verdict]))
        self.assertEqual(
            (said["chapter"], said["name"], said["tree"], said["backend"]),
            ("sums", "01_add", "chapters", "cpu"),
        )
        self.assertEqual((said["verdict"], said["why"], said["records"]), ("SLOW", "too many lines", [slow]))

    def test_a_failure_is_explained_once(self) -> None:
        said = verdicts.of_a_chapter(
            [self.verdict("FAIL", "\nnot ok: adds\n  c[0] is 1\n"), self.verdict("SKIP")], set()
        )
        self.assertEqual(said.count("not ok: adds\n    c[0] is 1"), 1)
        self.assertIn("2 tests: 1 SKIP, 1 FAIL; SKIP is still to be written", said)

    def test_what_is_good_to_know_stands_below_what_passes_alone(self) -> None:
        told = {
            "kind": "right",
            "notes": [
                "the error of the launch is never read; write check(cudaGetLastError()); after it, "
                "as in the lesson."
            ],
        }
        note = f"# {json.dumps(told)}\n"
        said = verdicts.of_one_step([self.verdict("OK", stdout=note)])
        self.assertIn("OK    chapters/sums/01_add.cu\n      the error of the launch", said)
        self.assertLessEqual(max(map(len, said.splitlines())), 80)
        self.assertNotIn("It printed", said)
        self.assertNotIn(
            "never read", verdicts.of_one_step([self.verdict("FAIL", "not ok: a\n", stdout=note)])
        )

    def test_of_a_step_that_needs_a_gpu_only_a_skip_that_names_it_is_right(self) -> None:
        lacks, other = (
            "1..0 # SKIP needs a GPU of compute capability 9.0 or newer\n",
            "1..0 # SKIP all of it\n",
        )
        wrong = "must be OK in a fresh checkout, and is SKIP"
        for need, backend, result, said, complaint in (
            ("sm_90", "gpu", "SKIP", lacks, ""),
            ("sm_90", "gpu", "OK", "", ""),
            ("sm_90", "gpu", "SKIP", other, wrong),
            ("sm_90", "cpu", "SKIP", lacks, wrong),
            ("sm_90a", "cpu", "SKIP", "1..0 # SKIP needs a GPU of compute capability 9.0\n", ""),
            ("", "gpu", "SKIP", lacks, wrong),
        ):
            with (
                self.subTest(need=need, backend=backend, said=said),
                tempfile.TemporaryDirectory() as scratch,
            ):
                root = pathlib.Path(scratch)
                (root / "chapters/sums").mkdir(parents=True)
                (root / "solutions/sums").mkdir(parents=True)
                (root / "solutions/sums/01_add.cu").write_text(f"// Needs: {need}\n" if need else "")
                (root / "build/meson-logs").mkdir(parents=True)
                command = ["sums", "--step", f"solutions.sums.01_add.{backend}.so", "--source", "01_add.cu"]
                record = {"name": "a / b", "command": command, "result": result, "stdout": said}
                (root / "build/meson-logs/testlog.json").write_text(json.dumps(record) + "\n")
                found = list(contract.check_verdicts(Repository(root), root / "build"))
                self.assertEqual(found, [f"solutions/sums/01_add: {complaint}"] if complaint else [])

    def test_what_no_test_could_say_is_said(self) -> None:
        self.assertIn("was stopped after 30 s", self.verdict("TIMEOUT").reason)
        self.assertEqual(
            self.verdict("ERROR", returncode=-11).reason, "crashed: it accessed memory that does not exist"
        )
        self.assertNotIn("SIG", self.verdict("ERROR", returncode=-6).why)
        self.assertIn("signal 31 ended it", self.verdict("ERROR", returncode=-31).reason)
        self.assertIn("status 3", self.verdict("ERROR", returncode=3).reason)

    def test_what_does_not_compile_is_said_in_a_line(self) -> None:
        wrong = self.verdict("FAIL", "not built", tree="wrong", name="01_add.no_guard")
        assert wrong.module
        said = verdicts.of_all([wrong], {wrong.module.file}, ["sums"])
        self.assertIn(
            "sums          wrong 1 FAIL\n\nFAIL  tests/wrong/sums/01_add.mistakes: no_guard does not "
            "compile: see above\n",
            said,
        )

    def test_what_a_step_prints_is_shown_but_not_at_length(self) -> None:
        self.assertEqual(
            verdicts.of_one_step([self.verdict("OK", "hello\n")]),
            "OK    chapters/sums/01_add.cu\nIt printed:\n  hello\n",
        )
        said = verdicts.of_one_step([self.verdict("OK", "hello\n" * 1000)])
        self.assertIn("and 980 lines more", said)
        said = verdicts.of_one_step([self.verdict("OK", "7 " * 100_000 + "\nlast\n")])
        self.assertIn(" … and 199800 characters more\n  last\n", said)
        self.assertLess(len(said), 400)

    def test_of_a_step_that_fails_and_prints_all_is_shown_that_tests_say(self) -> None:
        printed = "hello\n" * 1000
        wrong = self.verdict(
            "FAIL",
            f"{printed}\nnot ok: adds\n  c[0] is 1\n{printed}\nnot ok: more\n  c[1] is 2\n" + "7 " * 100_000,
        )
        for said in (verdicts.of_one_step([wrong]), verdicts.of_a_chapter([wrong], set())):
            self.assertIn("not ok: adds\n    c[0] is 1\n  hello\n", said)
            self.assertIn("lines more\n  not ok: more\n    c[1] is 2\n", said)
            self.assertLess(len(said), 4000)

    def test_where_nothing_is_written_over_progress_is_a_line_now_and_then(self) -> None:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            often, seldom = build.Progress(seldom=0), build.Progress()
            often.show("[1/2] c++ a.cpp")
            seldom.show("[1/2] c++ a.cpp")
            often.clear()
        self.assertEqual(said.getvalue(), "[1/2] c++ a.cpp\n")

    def test_of_a_single_test_there_is_no_progress_to_show(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            where = unittest.mock.MagicMock(folder=pathlib.Path(folder))
            log = where.folder / "meson-logs" / "testlog.json"
            log.parent.mkdir()

            def run(*lines: str) -> str:
                def lines_of(_: object) -> Iterator[str]:
                    log.touch()
                    yield from lines

                said = io.StringIO()
                with (
                    unittest.mock.patch.multiple(
                        verdicts,
                        processes=unittest.mock.MagicMock(lines_of=lines_of),
                        Progress=lambda: build.Progress(seldom=0),
                    ),
                    contextlib.redirect_stdout(said),
                ):
                    verdicts.run(where, ["--suite", "sums"])
                return said.getvalue()

            self.assertEqual(run("1/1 kata:sums / 01_add OK 9.02s"), "")
            self.assertEqual(run(" 1/12 kata:sums / 01_add OK 9.02s"), "1/12 kata:sums / 01_add OK 9.02s\n")

    def test_what_a_step_gains_is_said_in_a_line(self) -> None:
        right = self.verdict(
            "OK",
            stdout='1..1\nok 1 - a\n# {"kind": "right", "gains": ["threads 1, 1/2 of the 2 in 00", "barriers '
            '3"]}\n',
        )
        self.assertEqual(
            verdicts.of_one_step([right]),
            "OK    chapters/sums/01_add.cu\n      It gains: threads 1, 1/2 of the 2 in 00; barriers 3.\n",
        )
        wrong = self.verdict(
            "FAIL",
            "not ok: a\n",
            stdout='not ok 1 - a\n# {"kind": "wrong", "text": "a", "gains": ["threads 1"]}\n',
        )
        self.assertNotIn("gains", verdicts.of_one_step([wrong]))

    def test_a_test_of_no_kernel_is_none_of_a_chapter(self) -> None:
        self.assertIsNone(
            self.verdict(
                "EXPECTEDFAIL",
                command=["grids-cpu", "--step", "solutions.grids.01_a.cpu.so", "--source", "99_b.cu"],
            ).module
        )


class Mutants(unittest.TestCase):
    def test_a_line_is_changed_in_one_place_at_a_time(self) -> None:
        changed = set(mutants.changes("    if (t < n) out[t] = in[t + 1];"))
        for wanted in (
            "    if (t <= n) out[t] = in[t + 1];",
            "    if (t < n) out[t] = in[t - 1];",
            "    if (t < n) out[(t) + 1] = in[t + 1];",
            "    if (t < n) out[t] = in[t + 0];",
            "    out[t] = in[t + 1];",
        ):
            self.assertIn(wanted, changed)
        self.assertIn("", set(mutants.changes("    __syncthreads();")))
        self.assertIn("kernel<<<block, grid>>>(n);", set(mutants.changes("kernel<<<grid, block>>>(n);")))
        self.assertIn(
            "    x[threadIdx.x] = blockIdx.x;", set(mutants.changes("    x[threadIdx.x] = threadIdx.x;"))
        )
        self.assertNotIn("__shared__ int x[(32) + 1];", set(mutants.changes("__shared__ int x[32];")))

    def test_lines_that_are_the_same_are_told_apart_by_the_code_before_them(self) -> None:
        text = (
            "void f() {\n    // kata: begin\n    g();\n}\nvoid h() {\n#pragma unroll\n\n    g();  // again\n"
            "}\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            rows = pathlib.Path(folder, "survivors.csv")
            rows.write_text(
                "chapter,step,was,is,reason\nscan,01_a,void h() { g();,,it is the last\n", encoding="utf-8"
            )
            survivors = mutants.Survivors(rows)
        reasons = [
            survivors.reason("scan", "01_a", "", "    g();", "", before=mutants.code_before(text, line))
            for line in (3, 8)
        ]
        self.assertEqual(reasons, [None, "it is the last"])

    def test_what_a_suite_says_is_a_verdict(self) -> None:
        self.assertEqual(mutants.judged(0, "ok 1 - adds\n1..1\n", ""), ("PASSED", ""))
        self.assertEqual(
            mutants.judged(0, "not ok 1 - adds\n", "not ok: adds\n  c[0] is 1\n"),
            ("REJECTED", "adds | c[0] is 1"),
        )
        self.assertEqual(mutants.judged(-11, "", ""), ("REJECTED", "ended with status -11"))
        self.assertEqual(mutants.judged(1, "ok 1 - adds\n", "no memory\n").result, "REJECTED")

    def test_a_sample_is_always_the_same_and_of_every_step(self) -> None:
        made = [(number, f"line {number}") for number in range(100)]
        mixed = mutants.mixed(made)
        self.assertEqual(sorted(mixed), made)
        self.assertNotEqual(mixed, made)
        self.assertEqual(mixed, mutants.mixed(reversed(made)))
        self.assertEqual(mutants.in_turns(["ab", "", "cde"]), ["a", "c", "b", "d", "e"])

    def test_what_may_pass_stands_in_a_table(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "survivors.csv")
            path.write_text(
                "chapter,step,was,is,reason\nsums,01_add,a < b;,a <= b;,never equal\n,,look();,,nobody "
                "sees it\n"
            )
            survivors = mutants.Survivors(path)
            self.assertEqual(
                survivors.reason("sums", "01_add", "7", "a < b;  // less", "a <= b;"), "never equal"
            )
            self.assertIsNone(survivors.reason("sums", "02_other", "7", "a < b;", "a <= b;"))
            self.assertIsNone(survivors.reason("sums", "01_add", "7", "a < b;", "a > b;"))
            self.assertEqual(survivors.reason("sums", "02_other", "9", "look();", ""), "nobody sees it")
            path.write_text("chapter,step,was,is,reason\nsums,01_add,c = d; wait();,,none waits\n")
            survivors = mutants.Survivors(path)
            self.assertEqual(
                survivors.reason("sums", "01_add", "7", "wait();", "", before="  c = d;  // last"),
                "none waits",
            )
            self.assertIsNone(survivors.reason("sums", "01_add", "9", "wait();", "", before="a = b;"))
            path.write_text("chapter,step,was,is,reason\nsums,01_add,a < b;,a <= b;,\n")
            with self.assertRaises(Fault):
                mutants.Survivors(path)

    def test_a_run_that_was_stopped_goes_on(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "mutants.csv")
            key, verdict = (
                ("sums", "01_add", "7", "a < b", 'a "<=", b'),
                mutants.Verdict("REJECTED", "two\nlines"),
            )
            for _ in range(2):
                table = mutants.Table(path)
                table.add(key, verdict)
            self.assertEqual(mutants.Table(path).known, {key: verdict})
            self.assertEqual(len(path.read_text().splitlines()), 3)


class Language(unittest.TestCase):
    def test_python_3_9_reads_it(self) -> None:
        for path in (*(ROOT / "common/front").glob("*.py"), *(ROOT / "tests").glob("*.py")):
            ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))


if __name__ == "__main__":
    unittest.main()
