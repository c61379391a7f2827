#!/usr/bin/env python3
"""Tests of what ./kata builds and in which order, and of the lines that it shows of a compiler's output."""

from __future__ import annotations

import fcntl
import json
import re
import subprocess
import sys
import unittest

import paths  # noqa: F401  it makes the modules below importable

import compilers
from checkout import FIRST, STEP, Checkout


class Building(Checkout):
    def test_a_chapter_says_which_step_is_missing(self) -> None:
        logs = self.root / "build" / "meson-logs"
        logs.mkdir(parents=True)
        (self.root / "build" / "build.ninja").touch()
        (self.root / FIRST).unlink()
        self.fake("ninja", "exit 0")
        path = self.fake("meson", f"cd '{logs}'; touch testlog.json testlog-steps.json")
        for arguments in (("test", "grids"), ("test",)):
            done = self.run_kata(*arguments, env=path)
            self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)
            self.assertEqual(done.stdout.count("is missing"), 1)
            self.assertIn(f"\nFAIL  {FIRST} is missing; to get", done.stdout)

    def test_what_a_student_wrote_is_built_tested_and_shown_before_all_else(self) -> None:
        self.list_targets()
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
        done = self.run_kata("test", env=path)
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

    def test_a_step_builds_what_it_is_compared_with_and_only_all_tests_build_mistakes(self) -> None:
        self.write(FIRST)
        targets = [
            name for name in self.list_targets() if not name.startswith(("wrong", "variants", "styles"))
        ]
        (self.root / "targets").write_text("".join(f"{target}: cpp_LINKER\n" for target in targets))
        logs, calls, suite = (self.root / "build" / name for name in ("meson-logs", "calls", "grids-cpu"))
        logs.mkdir(parents=True)
        (self.root / "build/build.ninja").touch()
        suite.write_text("#!/bin/sh\necho 01_vector_add 03_blur\n")
        suite.chmod(0o755)
        listed = f"case \"$*\" in *targets*) cat '{self.root}/targets' ;; *) echo \"$*\" >>'{calls}' ;; esac"
        self.fake("ninja", listed)
        path = self.fake(
            "meson", f"echo \"$*\" >>'{calls}'; cd '{logs}'; touch testlog.json testlog-steps.json"
        )
        self.run_kata("test", "grids", "1", env=path)
        configured, first, second, _ = calls.read_text().splitlines()
        self.assertTrue(configured.endswith(" build.ninja"), configured)
        self.assertIn("chapters.grids.01_vector_add", first)
        built = [re.findall(r"solutions\.grids\.(\d\d)", line) for line in (first, second)]
        self.assertEqual(built, [["01"], ["01", "03"]])
        calls.unlink()
        self.run_kata("test", env=path)
        self.assertTrue(calls.read_text().splitlines()[0].endswith(" --reconfigure -Dmistakes=true"))

    def test_two_that_work_in_one_build_wait_for_each_other(self) -> None:
        folder = self.root / "build"
        folder.mkdir()
        (folder / "build.ninja").touch()
        self.fake("ninja", "exit 0")
        path = self.fake("meson", "exit 0")
        command = [sys.executable, str(self.root / "common/front/kata.py"), "test", "grids"]
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

    def built(self, ninja: str, legal: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs `./kata test conv 3` with this output of Ninja's."""
        with open(self.root / STEP, "a") as step:
            step.write("// Not the stub any more, which needs no build.\n")
        (self.root / "build").mkdir(exist_ok=True)
        (self.root / "build/build.ninja").write_text(
            f"# {'chapters.convolution.03_tiled.cpu.legal' if legal else ''}\n"
        )
        self.list_targets()
        (self.root / "said").write_text(ninja)
        path = self.fake(
            "ninja",
            f"case \"$*\" in *targets*) cat '{self.root}/targets' ;; *build.ninja*) ;; *) cat "
            f"'{self.root}/said'; exit 1 ;; esac",
        )
        self.fake("meson", "exit 0")
        return self.run_kata("test", "conv", "3", env=path)

    def test_code_that_does_not_compile_is_shown_with_its_first_errors_and_nothing_else(self) -> None:
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
            "chapters/convolution/03_tiled.cu does not compile:\n"
            "chapters/convolution/03_tiled.cu:7:3: error: no x\n"
            "    7 |   x;\n      |   ^\nchapters/convolution/03_tiled.cu:8:3: error: 'f' is a host "
            "function\n",
        )

    def test_a_build_without_clang_says_once_what_it_does_not_check(self) -> None:
        failed = "FAILED: chapters.convolution.03_tiled.cpu.so \nc++\nundefined\n"
        self.assertEqual(
            self.built(failed, legal=False).stdout.count(
                "Without clang++, many errors that nvcc reports go unnoticed"
            ),
            1,
        )
        self.assertNotIn("clang", self.built(failed).stdout)


class Compilers(unittest.TestCase):
    """The lines that are shown of a compiler's output."""

    STEP = "../chapters/scan/03_brent_kung.cu"

    def shown(self, said: str) -> list[str]:
        return compilers.shown(said.splitlines())

    def test_a_compiler_that_the_system_ends_is_reported_to_lack_memory(self) -> None:
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

    def test_the_reason_why_a_template_does_not_fit_is_reported(self) -> None:
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

    def test_a_shared_array_of_two_types_is_reported_in_the_words_of_the_step(self) -> None:
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

    def test_messages_for_frequent_mistakes_say_what_to_write(self) -> None:
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
            *(
                (said, "'scan' is a namespace that the chapter's header declares: choose another name")
                for said in (
                    "‘template<int n> void scan(float*, T (*)(int))’ redeclared as different kind of entity",
                    "‘int scan’ redeclared as different kind of entity",
                    "redefinition of 'scan' as different kind of symbol",
                    '"scan" has already been declared in the current scope',
                )
            ),
            ("‘int sum’ redeclared as different kind of entity",) * 2,
            (
                "invalid conversion from ‘int’ to ‘const void*’ [-fpermissive]",
                "invalid conversion from ‘int’ to ‘const void*’; an address is required here, such as "
                "&x for a variable x",
            ),
            (
                "cannot convert ‘float*’ to ‘void**’",
                "cannot convert ‘float*’ to ‘void**’; an address is required here, such as "
                "&x for a variable x",
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

    def test_a_dim3_of_a_dim3_is_distinguished_from_one_of_something_else(self) -> None:
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
        undeclared = f"{self.STEP}:51:9: error: ‘wide’ was not declared in this scope"
        self.assertEqual(len(self.shown(f"{undeclared}\n{said}")), 1)

    def test_a_warning_of_every_instance_is_shown_once(self) -> None:
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
