#!/usr/bin/env python3
"""Tests of ./kata where a tool is missing or too old, the disk is full, or a signal ends it."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock
from typing import Any

from paths import run

import verdicts
from build import Build
from checkout import FIRST, STEP, Checkout
from fault import Fault
from repository import Repository


class Surroundings(Checkout):
    def test_an_obstacle_to_debugging_is_reported_in_a_line(self) -> None:
        self.assertIn(
            "still to be written, so there is nothing to stop in",
            self.refused("debug", "grids", "1", status=1),
        )
        self.assertIn("is not a step of grids", self.refused("debug", "grids", "17", "--solution"))
        self.write(FIRST)
        done = self.run_kata("debug", "grids", "1", env={**os.environ, "PATH": str(self.root / "fake")})
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, r"\Akata: gdb is not installed; .*\n\Z")
        (self.root / FIRST).write_text("// __global__ void no() {}\nvoid vector_add() {}\n")
        done = self.run_kata("debug", "grids", "1", env=self.fake("gdb", "exit 9"))
        self.assertEqual(
            (done.returncode, done.stderr),
            (1, f"kata: {FIRST} has no kernel, no function with __global__ in front of it\n"),
        )

    def test_hunt_asks_nothing_without_a_terminal(self) -> None:
        self.assertEqual(
            self.kata("hunt").stdout,
            "hunt asks questions and waits for your answers: run it in a terminal.\n",
        )

    def test_predict_asks_nothing_without_a_terminal(self) -> None:
        self.write(FIRST)
        for questions in (["grids", "1"], ["machine"], ["machine", "3"]):
            done = self.kata("predict", *questions)
            self.assertEqual(
                (done.stdout, done.stderr),
                ("predict asks a question and waits for your answer: run it in a terminal.\n", ""),
            )
        self.assertIn("'machines' is not a chapter", self.refused("predict", "machines"))
        self.assertIn("is not a step of grids", self.refused("predict", "grids", "17"))

    def test_a_checkout_that_cannot_be_written_says_how_to_build_elsewhere(self) -> None:
        build = Build(Repository(self.root))
        with (
            unittest.mock.patch("os.access", return_value=False),
            self.assertRaisesRegex(
                Fault,
                r"\A.* cannot be written, and the build needs that; to build elsewhere: "
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

    def test_a_git_that_refuses_another_owner_is_reported_with_the_remedy(self) -> None:
        self.write(STEP)
        path = self.fake(
            "git", "echo \"fatal: detected dubious ownership in repository at 'x'\" >&2; exit 128"
        )
        done = self.run_kata("reset", "conv", "3", env=path)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(
            done.stderr,
            r"\Akata: .*another user owns; to allow it: git config --global --add safe.directory '.*'\n\Z",
        )

    def test_a_meson_that_is_in_the_way_is_named(self) -> None:
        good = self.root / "good"
        good.mkdir()
        (good / "meson").write_text("#!/bin/sh\necho 1.7.0\n")
        (good / "meson").chmod(0o755)
        for script, says in (("echo 0.61.2", "is 0.61.2"), ("exit 1", "does not run")):
            path = self.fake("meson", script)
            path["PATH"] = f"{self.root}/fake:{good}:{os.environ['PATH']}"
            done = run("bash", self.root / ".ci/setup.sh", env=path)
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
        done = run("bash", "-c", described, env=path)
        self.assertEqual(done.stdout, f"  Python 3.9 or newer; found: {self.root}/fake/python3 3.6.9\n")

    def test_a_checkout_of_another_owner_is_one(self) -> None:
        self.write(STEP)
        strange = {**os.environ, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
        git = run("git", "-C", self.root, "log", env=strange)
        if "dubious ownership" not in git.stderr:
            self.skipTest("this git checks no owner, or is configured not to")
        said = self.run_kata("hint", "conv", "3", env=strange)
        self.assertIn("What belongs into 03_tiled.cu.", said.stdout, said.stderr)

    def test_a_git_that_is_not_installed_is_named(self) -> None:
        self.write(STEP)
        (self.root / "fake").mkdir()
        done = self.run_kata("reset", "conv", "3", env={**os.environ, "PATH": str(self.root / "fake")})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(
            done.stderr,
            f"kata: {STEP} has been written, and git, which brings its stub back, is not installed\n",
        )

    def shim(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Runs ./kata itself."""
        return run(self.root / "kata", *arguments, stdin=subprocess.DEVNULL, **options)

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

    def test_a_tool_that_a_configured_build_lacks_is_reported_as_on_a_first_run(self) -> None:
        (self.root / "build").mkdir()
        (self.root / "build" / "build.ninja").touch()
        (self.root / ".ci" / "setup.sh").write_text(
            "echo 'kata: not installed: what is missing' >&2\nexit 3\n"
        )
        for there in ("meson", "ninja"):
            path = self.fake(there, "exit 0")
            (self.root / "fake" / "bash").symlink_to(str(shutil.which("bash")))
            done = self.run_kata("test", "conv", env={**path, "PATH": str(self.root / "fake")})
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
        done = self.run_kata("book", env={**os.environ, "PATH": str(self.root / "fake")})
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, r"\Akata: .*pip install 'mkdocs-material.*\n\Z")

    def test_output_that_cannot_be_written_is_reported_in_a_line(self) -> None:
        if not os.path.exists("/dev/full"):
            self.skipTest("needs /dev/full")
        with open("/dev/full", "w") as full:
            command = [sys.executable, str(self.root / "common/front/kata.py"), "next"]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Akata: .*No space left.*\n\Z")

    def test_a_full_disk_is_reported_before_anything_is_built(self) -> None:
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


if __name__ == "__main__":
    unittest.main()
