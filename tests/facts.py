#!/usr/bin/env python3
"""The facts that common/front reads from a repository: chapters, steps, modules, needs, claims."""

from __future__ import annotations

import ast
import os
import re
import unittest
import unittest.mock

from paths import ROOT

import board
import build
import contract
import loop
import repository
from fault import Fault
from repository import Module, Repository
from small_repository import SOLUTION, STUB, STYLE, SmallRepository

CLAIMS = "# NVIDIA H100, CUDA 13.0\nstep,against,claimed,standing,verdicts,held,lowest ratio,highest ratio\n"


class Names(SmallRepository):
    def test_chapters_are_in_the_order_of_the_book_and_others_behind(self) -> None:
        for name in ("scan", "grids", "aaa", ".hidden"):
            (self.root / "chapters" / name).mkdir()
        self.assertEqual(self.repository.chapters(), ["grids", "scan", "aaa", "sums"])

    def test_the_order_names_only_chapters_that_there_are(self) -> None:
        self.assertEqual(set(repository.ORDER) - set(Repository().chapters()), set())

    def test_a_course_that_does_not_fit_is_reported(self) -> None:
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

    def test_a_misspelt_gpu_is_reported(self) -> None:
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

    def test_claims_that_a_gpu_refutes_are_reported_with_both_numbers(self) -> None:
        self.assertEqual(self.repository.refuted("sums"), [])
        self.write(
            "chapters/sums/measured/claims.csv",
            f"{CLAIMS}02_all,01_add,1.40,asserted,30,30,1.657,1.667\n"
            "02_all,01_add,2,refuted,30,0,1.657,1.667\n"
            "01_add,02_all,1.00,refuted,30,0,0.6,0.6\n"
            "02_all,03_more,1.00,refuted,30,0,0.501,0.502\n",
        )
        said = [
            "At first sight, or according to the documents, 02_all should be 2.00 times as fast as 01_add. "
            "Measured on NVIDIA H100, with the solutions and the problem of the ladder: 1.66 to 1.67 "
            "times as fast. No step is judged by this claim. More: chapters/sums/measured/README.md",
            "At first sight, or according to the documents, 02_all should be faster than 03_more. "
            "Measured on NVIDIA H100, with the solutions and the problem of the ladder: 0.50 times as "
            "fast. No step is judged by this claim. More: chapters/sums/measured/README.md",
        ]
        self.assertEqual(self.repository.refuted("sums"), said)
        # The later of the two steps has it.
        self.assertEqual(self.repository.refuted("sums", "02_all"), said[:1])
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

    def test_a_step_that_gains_only_time_is_reported_as_such(self) -> None:
        self.assertEqual(self.repository.gained_in_time("sums", "01_add"), "")
        self.write(
            "chapters/sums/measured/claims.csv",
            f"{CLAIMS}02_all,01_add,1.40,asserted,30,30,1.657,1.667\n"
            "02_all,03_more,1.40,asserted,30,30,3.2,3.2\n"
            "03_more,02_all,1.00,refuted,30,0,0.501,0.502\n",
        )
        self.assertIn("No earlier step solves this problem", self.repository.gained_in_time("sums", "01_add"))
        self.assertEqual(
            self.repository.gained_in_time("sums", "02_all"),
            "It gains time, but nothing that is counted: measured on NVIDIA H100, with the solutions, "
            "it is 1.66 to 1.67 times as "
            "fast as 01_add.",
        )
        self.assertEqual(self.repository.gained_in_time("sums", "03_more"), "")

    def test_each_step_has_its_part_of_the_lesson(self) -> None:
        repository = Repository()
        for chapter, step in repository.all_places():
            (heading,) = re.findall(r"^### \d\d .*$", repository.lesson_of(chapter, step), re.M)
            self.assertRegex(heading, rf"\b{step[:2]}\b")

    def test_a_folder_that_is_no_build_is_refused(self) -> None:
        with self.assertRaisesRegex(Fault, "not a folder that Meson has configured"):
            repository.targets(self.root)


class Language(unittest.TestCase):
    def test_python_3_9_reads_it(self) -> None:
        for path in (*(ROOT / "common/front").glob("*.py"), *(ROOT / "tests").glob("*.py")):
            ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))


if __name__ == "__main__":
    unittest.main()
