#!/usr/bin/env python3
"""Tests the suites on a mistake that names its rejecting test, which must be the first that rejects it, and
on tests in parts, on all cores, which must report the same as one process if a step keeps nothing from one
test to the next.

rejecting.py BUILD
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from typing import Any

from paths import ROOT, run

BUILD = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else ROOT / "build"
SUITE = BUILD / "grids-cpu"
MODULE = BUILD / "wrong.grids.01_vector_add.no_guard.cpu.so"
REASON = "out of bounds"
# FIRST and ANOTHER reject a kernel whose threads add beyond the end. ACCEPTS does not notice: it has as many
# threads as elements.
FIRST = "vectors of every length around a load, a block and a block of loads"
ANOTHER = "the order of the blocks does not matter to a sum"
ACCEPTS = "a vector of more blocks than a block may have threads"


def command(module: pathlib.Path, source: pathlib.Path, reporter: str = "step") -> list[object]:
    """Returns the command that runs the tests of a module."""
    named: list[object] = [SUITE, "--step", module, "--source", source]
    return [*named, "--rivals", BUILD / "solutions.grids.", "--reporter", reporter]


@unittest.skipUnless(
    SUITE.exists() and MODULE.exists(), "needs the CPU back end, and a mistake that is built"
)
class Rejecting(unittest.TestCase):
    def judged(self, test: str | None, *options: str, reason: str = REASON) -> tuple[bool, str]:
        """Returns whether it is rejected as its source says, and the output."""
        with tempfile.TemporaryDirectory(prefix="kata-rejecting-") as folder:
            source = pathlib.Path(folder, "01_vector_add.no_guard.grids.cu")
            source.write_text(
                f"// Rejected: {reason}\n" + (f"// Rejected by: {test}\n" if test else ""), encoding="utf-8"
            )
            os.utime(source, (0, 0))  # or the module would be older
            done = run(*command(MODULE, source), "--abort", "--rejected", *options, timeout=100)
        return done.returncode == 0, done.stdout + done.stderr

    def test_only_the_test_that_is_named_is_run(self) -> None:
        for test in FIRST, ANOTHER:
            rejected, said = self.judged(test)
            self.assertTrue(rejected, said)
            self.assertIn("1..1\n", said)
            self.assertIn(f"not ok 1 - {test}\n", said)

    def test_a_test_that_accepts_it_does_not_reject_it(self) -> None:
        rejected, said = self.judged(ACCEPTS)
        self.assertFalse(rejected)
        self.assertIn(f'accepted, but must be rejected by the test "{ACCEPTS}": {REASON}', said)

    def test_a_test_that_does_not_exist_does_not_reject_it(self) -> None:
        self.assertFalse(self.judged("no such test")[0])

    def test_a_test_with_another_message_does_not_reject_it(self) -> None:
        rejected, said = self.judged(FIRST, reason="race")
        self.assertFalse(rejected)
        self.assertIn('rejected, but not because of "race"', said)

    def test_the_named_test_must_be_the_first_that_rejects_it(self) -> None:
        self.assertTrue(self.judged(FIRST, "--every-test")[0])
        self.assertTrue(self.judged(None, "--every-test")[0])
        rejected, said = self.judged(ANOTHER, "--every-test")
        self.assertFalse(rejected)
        self.assertIn(f'rejected by the test "{FIRST}", and not first by "{ANOTHER}"', said)

    def test_a_mistake_that_names_no_test_runs_all_tests(self) -> None:
        rejected, said = self.judged(None)
        self.assertTrue(rejected)
        self.assertNotIn("1..1\n", said)


Reported = tuple[int, list[str], str, int]  # status, verdicts, output, missing verdicts
HAS_COMPILER = unittest.skipUnless(shutil.which("c++"), "needs a compiler")
SOLUTION = BUILD / "solutions.grids.01_vector_add.cpu.so"
STEPS = ROOT / "solutions/grids"


def cores() -> int:
    """Returns the number of cores that the suites can use: a container may allow fewer than there are."""
    most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    limit = pathlib.Path("/sys/fs/cgroup/cpu.max")
    quota, period = limit.read_text(encoding="utf-8").split() if limit.exists() else ("max", "1")
    return most if quota == "max" else min(most, round(int(quota) / int(period)))


# A right step whose host code also executes a statement in each call: the solution, with this in place of
# the first line of its function.
HEAD = "void vector_add(const float* a, const float* b, float* c, int n) {"
STEP = """
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <unistd.h>

static int calls = 0;

{head}
    ++calls;
    {statement};
"""
# In place of the C library's functions: these give the suite at most this many processes and files in
# memory. The step's process does not know the limit.
SCARCE = """
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

static int limit(const char* what) {
    const char* const most = std::getenv(what);
    const int count = most ? std::atoi(most) : -1;
    unsetenv(what);
    return count;
}
static int forks = limit("FORKS"), files = limit("FILES");
extern "C" pid_t fork() {
    if (forks-- != 0) return reinterpret_cast<pid_t (*)()>(dlsym(RTLD_NEXT, "fork"))();
    forks = 0;
    errno = EAGAIN;
    return -1;
}
extern "C" int memfd_create(const char* name, unsigned flags) {
    const auto next = reinterpret_cast<int (*)(const char*, unsigned)>(dlsym(RTLD_NEXT, "memfd_create"));
    if (files-- != 0) return next(name, flags);
    files = 0;
    errno = EAGAIN;
    return -1;
}
"""


def none_to_write() -> None:
    """Makes every later write to a file fail."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@unittest.skipUnless(
    SUITE.exists() and MODULE.exists() and SOLUTION.exists(),
    "needs the CPU back end, a mistake and a solution that are built",
)
@unittest.skipUnless(cores() > 1, "needs two cores")
class InParts(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="kata-parts-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def command(
        self, module: pathlib.Path, *options: str, step: str = "01_vector_add", reporter: str = "step"
    ) -> list[object]:
        source = self.folder / f"{step}.cu"
        source.write_text("", encoding="utf-8")
        os.utime(source, (0, 0))  # or the module would be older
        return [*command(module, source, reporter), *options]

    def run_tests(
        self,
        module: pathlib.Path,
        *options: str,
        step: str = "01_vector_add",
        reporter: str = "step",
        **how: Any,
    ) -> subprocess.CompletedProcess[str]:
        return run(*self.command(module, *options, step=step, reporter=reporter), timeout=100, **how)

    def reported(self, module: pathlib.Path, *options: str, **how: Any) -> Reported:
        """Returns status, verdicts, error output, and the number of missing verdicts."""
        done = self.run_tests(module, *options, **how)
        lines = done.stdout.splitlines()
        plans = [int(line[3:]) for line in lines if line.startswith("1..")]
        self.assertEqual(len(plans), 1, done.stdout)
        verdicts = [line for line in lines if re.match("(not )?ok ", line)]
        return (
            done.returncode,
            [line for line in verdicts if not line.endswith("# SKIP not run")],
            done.stderr,
            plans[0] - len(verdicts),
        )

    def require_same(self, module: pathlib.Path, *options: str, **how: Any) -> Reported:
        in_parts = self.reported(module, *options, "--in-parts", **how)
        self.assertEqual(in_parts, self.reported(module, *options))
        return in_parts

    def compiled(self, name: str, text: str) -> pathlib.Path:
        source, module = self.folder / f"{name}.cpp", self.folder / f"{name}.so"
        source.write_text(text, encoding="utf-8")
        options = ("-std=c++20", "-D_GNU_SOURCE", "-shared", "-fPIC")
        run("c++", *options, "-o", module, source, "-ldl", check=True)
        return module

    def step(self, statement: str) -> pathlib.Path:
        text = (STEPS / "01_vector_add.cu").read_text(encoding="utf-8")
        self.assertIn(HEAD, text)
        source, module = self.folder / "step.cu", self.folder / "step.so"
        source.write_text(text.replace(HEAD, STEP.format(head=HEAD, statement=statement)), encoding="utf-8")
        options = json.loads((BUILD / "common/program.json").read_text(encoding="utf-8"))
        compile_step = ROOT / "common/simt/compile.py"
        run(sys.executable, compile_step, source, module, f"{module}.d", *options, f"-I{STEPS}", check=True)
        return module

    def processes(self, **how: Callable[[], object]) -> int:
        """Returns the number of processes that run the tests of a step."""
        pids = self.folder / "pids"
        pids.write_text("", encoding="utf-8")
        said = (
            f'if (calls == 1) {{ auto* const f = std::fopen("{pids}", "a"); std::fprintf(f, "%d ", '
            f"int(getpid())); std::fclose(f); }}"
        )
        self.require_same(self.step(said), "--abort", **how)
        # One of them is the run without --in-parts.
        return len(set(pids.read_text(encoding="utf-8").split())) - 1

    def test_all_that_a_right_step_passes_is_reported_in_order(self) -> None:
        status, verdicts, said, missing = self.require_same(SOLUTION, "--abort")
        self.assertEqual((status, said, missing), (0, "", 0))
        self.assertEqual([int(line.split()[1]) for line in verdicts], list(range(1, len(verdicts) + 1)))
        self.assertGreater(len(verdicts), 10)

    def test_the_first_failure_of_a_wrong_step_is_reported_and_with_abort_no_other(self) -> None:
        _, verdicts, said, missing = self.require_same(MODULE, "--abort")
        self.assertEqual([line for line in verdicts if line.startswith("not ok")], verdicts[-1:])
        self.assertEqual((said.count("not ok: "), missing), (1, 0))
        self.assertGreater(self.require_same(MODULE)[2].count("not ok: "), 1)

    @HAS_COMPILER
    def test_a_step_that_crashes_has_not_passed(self) -> None:
        for options in ["--abort"], []:
            status, verdicts, said, _ = self.require_same(self.step("std::raise(SIGFPE)"), *options)
            self.assertEqual((status, len(verdicts)), (-signal.SIGFPE, 1))
            self.assertIn("the step crashes", said)

    @HAS_COMPILER
    def test_a_step_that_is_killed_has_not_passed(self) -> None:
        status, _, _, missing = self.require_same(self.step("if (calls == 3) std::raise(SIGKILL)"), "--abort")
        self.assertEqual(status, -signal.SIGKILL)
        self.assertGreater(missing, 0)

    @HAS_COMPILER
    def test_a_step_that_ends_the_program_has_not_passed(self) -> None:
        status, _, said, missing = self.reported(self.step("std::exit(0)"), "--abort", "--in-parts")
        self.assertIn("the step ended the program before its tests did", said)
        self.assertEqual(status, 1)
        self.assertGreater(missing, 0)

    def test_a_step_whose_verdicts_cannot_be_written_has_not_passed(self) -> None:
        for module in MODULE, SOLUTION:
            status, verdicts, said, missing = self.reported(
                module, "--abort", "--in-parts", preexec_fn=none_to_write
            )
            self.assertEqual((status, verdicts), (1, []))
            self.assertIn("before all of them had a verdict", said)
            self.assertGreater(missing, 10)

    def test_a_step_that_no_test_calls_has_not_passed(self) -> None:
        for options in [], ["--in-parts"]:
            done = self.run_tests(SOLUTION, *options, step="99_untested")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("no row for 99_untested", done.stderr)

    def test_a_run_without_tests_has_passed_none(self) -> None:
        status, verdicts, _, missing = self.require_same(SOLUTION, "no such test")
        self.assertEqual((status, verdicts, missing), (1, [], 0))

    @HAS_COMPILER
    def test_their_time_is_that_of_all_parts_together(self) -> None:
        busy = "for (const auto begin = std::clock(); std::clock() - begin < CLOCKS_PER_SEC * 3 / 10;) {}"
        step = self.step(busy)
        for options in [], ["--in-parts"]:
            status, _, said, _ = self.reported(step, "--abort", "--processor-seconds", "6", *options)
            self.assertEqual(status, -signal.SIGTERM)
            self.assertIn("they have computed for 6 s", said)

    @HAS_COMPILER
    def test_a_suite_that_is_stopped_from_outside_reports_what_it_has(self) -> None:
        begun = self.folder / "begun"
        step = self.step(f'std::fclose(std::fopen("{begun}", "w")); for (;;) pause()')
        whys = {
            signal.SIGTERM: "the tests of this step were stopped after",
            signal.SIGINT: "the tests were interrupted",
        }
        # Meson sends it to all processes of the test, and not only to the first one.
        for how, send in (signal.SIGTERM, os.kill), (signal.SIGTERM, os.killpg), (signal.SIGINT, os.kill):
            begun.unlink(missing_ok=True)
            with subprocess.Popen(
                list(map(str, self.command(step, "--abort", "--in-parts"))),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            ) as process:
                while not begun.exists() and process.poll() is None:
                    time.sleep(0.1)
                send(process.pid, how)
                out, said = process.communicate(timeout=20)
            self.assertEqual(process.returncode, -how)
            self.assertRegex(out, r"^1\.\.\d\d\nnot ok 1 - ")
            self.assertIn(whys[how], said)

    @HAS_COMPILER
    def test_where_no_process_is_to_be_had_they_run_in_one(self) -> None:
        scarce = {"LD_PRELOAD": str(self.compiled("scarce", SCARCE))}
        for lacking in {}, {"FORKS": "0"}, {"FORKS": "1"}:
            self.require_same(MODULE, "--abort", env={**os.environ, **scarce, **lacking})
        for options in [], ["--in-parts"]:
            done = self.run_tests(MODULE, *options, env={**os.environ, **scarce, "FILES": "0"})
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
            self.assertIn("no memory can be shared with the step's process", done.stderr)

    @HAS_COMPILER
    def test_where_the_process_may_use_one_core_they_run_in_one(self) -> None:
        one = min(os.sched_getaffinity(0))
        self.assertEqual(self.processes(preexec_fn=lambda: os.sched_setaffinity(0, {one})), 1)
        self.assertGreater(self.processes(), 1)

    @HAS_COMPILER
    def test_what_a_step_keeps_from_test_to_test_starts_anew_in_each_process(self) -> None:
        step = self.step("if (calls > 36) return")
        self.assertIn("not ok", self.run_tests(step, "--abort").stdout)
        self.assertNotIn("not ok", self.run_tests(step, "--abort", "--in-parts").stdout)

    def test_another_reporter_is_refused(self) -> None:
        done = self.run_tests(SOLUTION, "--in-parts", reporter="console")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn('--in-parts needs the reporter "step"', done.stderr)


if __name__ == "__main__":
    unittest.main()
