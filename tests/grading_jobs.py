#!/usr/bin/env python3
"""Checks how ./kata grade runs its jobs: the engines, the walls around a step, and the command line."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import types
import unittest
import unittest.mock
from typing import Any

from paths import ROOT  # isort: split

import grade
from grading import engines, job, tree, walls
from students import ADD, NEED_WALLS, REPOSITORY, Scratch, hand_in, solution, write


class Engines(Scratch):
    def jobs(self, count: int, script: str) -> list[engines.Job]:
        return [
            engines.Job(
                str(n), ["sh", "-c", script, "sh", str(self.folder / f"{n}.json")], self.folder / f"{n}.json"
            )
            for n in range(count)
        ]

    def test_jobs_run_beside_each_other_and_each_ends_once(self) -> None:
        before = time.monotonic()
        ends = list(engines.local(self.jobs(6, "sleep 1; touch $1"), 6, self.folder))
        self.assertLess(time.monotonic() - before, 4)
        self.assertEqual(sorted(ended.job.name for ended in ends), list("012345"))
        self.assertEqual({ended.why for ended in ends}, {""})

    def test_on_a_device_is_one_at_a_time(self) -> None:
        held, waited = threading.Event(), []

        def other() -> None:
            held.wait()
            with job.alone_on("test 0"):
                waited.append(time.monotonic())

        thread = threading.Thread(target=other)
        thread.start()
        with job.alone_on("test 0"):
            with job.alone_on("test 1"):  # another one
                held.set()
            time.sleep(0.3)
            self.assertEqual(waited, [])
        thread.join(10)
        self.assertEqual(len(waited), 1)
        for path in pathlib.Path("/tmp").glob(f"kata-grade-{os.getuid()}-gpu-test-*.lock"):
            path.unlink()

    def test_a_job_without_a_result_has_a_reason(self) -> None:
        ends = list(engines.local(self.jobs(1, "echo no room >&2; exit 1"), 1, self.folder))
        self.assertEqual([ended.why for ended in ends], ["no room"])

    def test_jobs_stop_when_nobody_reads_their_results(self) -> None:
        ends = engines.local(
            self.jobs(2, "case $1 in *0.json) touch $1;; *) echo $$ > $1.pid; exec sleep 60;; esac"),
            2,
            self.folder,
        )
        next(ends)
        while not (self.folder / "1.json.pid").is_file() or not (self.folder / "1.json.pid").read_text():
            time.sleep(0.05)
        ends.close()
        with self.assertRaises(ProcessLookupError):
            os.kill(int((self.folder / "1.json.pid").read_text()), 0)

    def test_slurm_runs_again_what_was_lost(self) -> None:
        # An sbatch that runs the array at once, and loses the second job the first time.
        tools = self.folder / "bin"
        tools.mkdir()
        write(
            tools / "sbatch",
            '#!/bin/bash\nfor script; do :; done\nn=$(grep -c "exec " "$script")\nfor ((i = 0; i < n; '
            "i++)); do\n"
            '[ "$n" = 3 ] && [ $i = 1 ] || SLURM_ARRAY_TASK_ID=$i bash "$script"; done >&2\necho 7\n',
        )
        for name in ("squeue", "scancel"):
            write(tools / name, "#!/bin/sh\n")
        for path in tools.iterdir():
            path.chmod(0o755)
        jobs = [
            engines.Job(job.name, [*job.command, "--cores", "1"], job.result)
            for job in self.jobs(3, "echo x >> $1")
        ]
        with unittest.mock.patch.dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}"):
            ends = list(engines.slurm(jobs, 2, self.folder, ""))
        self.assertEqual(
            sorted((ended.job.name, ended.why) for ended in ends), [("0", ""), ("1", ""), ("2", "")]
        )
        self.assertEqual([job.result.read_text() for job in jobs], ["x\n"] * 3)


class CommandLine(Scratch):
    def run_grade(self, *arguments: str, status: int) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, ROOT / "common/front/grade.py", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def refused(self, *arguments: str, status: int = 2) -> str:
        return self.run_grade(*arguments, status=status).stderr.splitlines()[-1]

    def test_names_of_nothing_are_refused(self) -> None:
        self.assertIn("there is no folder", self.refused("/no/such/folder"))
        self.assertIn("'fourier' is not a chapter; there are:", self.refused("/", "--chapter", "fourier"))
        self.assertTrue(self.refused("/", "--chapter", "s").endswith("'s' may be stencil, scan or sort"))
        self.assertIn("'99' is not a step of grids", self.refused("/", "--chapter", "grids/99"))
        self.assertIn("no step to grade", self.refused("/", "--chapter", "grids/04", "--course"))
        self.assertIn("/no/such/sheet.csv", self.refused("/", "--csv", "/no/such/sheet.csv"))
        self.assertIn("there is no engine", self.refused("/", "--engine", "steam"))
        self.assertIn("--work", self.refused("/", "--engine", "slurm"))
        self.assertIn("--csv", self.refused("/", "--resume"))
        self.assertIn("1 or more", self.refused("/", "--jobs", "0"))

    def test_two_do_not_work_in_one_folder(self) -> None:
        hand_in(self.folder / "x", {ADD: solution(ADD)})
        with grade.for_itself(self.folder / "work"):
            said = self.refused(f"{self.folder}/x", "--work", f"{self.folder}/work", status=3)
        self.assertIn("another ./kata grade works in", said)
        with grade.for_itself(self.folder / "work"):
            pass  # a program that has ended does not matter

    def test_what_cannot_be_read_has_a_row_and_no_points(self) -> None:
        write(self.folder / "ann.rar", "Rar!")
        done = self.run_grade(f"{self.folder}/ann.rar", "--csv", f"{self.folder}/grades.csv", status=1)
        self.assertIn("grades.csv: 1 could not be read\n", done.stdout)
        row = (self.folder / "grades.csv").read_text().splitlines()[1]
        self.assertTrue(row.startswith("ann,,,,,,,,could not be read,"), row)

    def test_the_course_is_a_choice_of_steps(self) -> None:
        for words, numbers in (
            (["grids", "--course"], "01 02 03"),
            (["grids/02"], "02"),
            (["grids"], "01 02 03 04 05 06 07"),
        ):
            given, _ = grade.arguments_of(["/", "--chapter", *words])
            places = grade.chosen(REPOSITORY, given.chapter, given.course)
            self.assertEqual(" ".join(step[:2] for _, step in places), numbers)

    def test_without_walls_nothing_is_graded_unless_requested(self) -> None:
        hand_in(self.folder / "x", {ADD: solution(ADD)})
        with unittest.mock.patch.dict(os.environ, PATH="/nowhere"):
            self.assertIn("--without-walls", self.refused(f"{self.folder}/x", status=3))


LIMITS = walls.Limits(20)


@NEED_WALLS
class Around(Scratch):
    """The walls themselves."""

    def run_in(self, script: str, limits: walls.Limits = LIMITS, **options: Any) -> walls.Done:
        around = walls.Walls(ROOT / "common")
        return around.run(around.command(["sh", "-c", script], **options), limits)

    def test_only_what_is_shown_is_seen_and_nothing_can_be_written(self) -> None:
        done = self.run_in(
            f"ls -d /root /home /run /etc/passwd {ROOT}; touch /x /usr/x /dev/x {ROOT}/common/x; ls "
            f"{ROOT}/common/kata.hpp",
            read=[ROOT / "common"],
        )
        self.assertEqual(done.out.decode(), f"{ROOT}\n{ROOT}/common/kata.hpp\n")
        self.assertEqual(done.said.count("Read-only"), 4)

    def test_nobody_has_a_capability(self) -> None:
        done = self.run_in("grep -E 'Cap(Eff|Bnd)' /proc/self/status")
        self.assertEqual(set(re.findall(r":\s*(\w+)", done.out.decode())), {"0" * 16})

    def test_limits_hold(self) -> None:
        self.assertRegex(self.run_in("sleep 60", walls.Limits(1)).stopped, "does not end")
        self.assertRegex(self.run_in("yes").stopped, "prints without end")
        self.assertNotEqual(
            self.run_in("for i in $(seq 300); do sleep 9 & done; kill -9 $(jobs -p)").said, ""
        )
        self.assertNotEqual(
            self.run_in("python3 -c 'x = bytearray(1 << 30)'", walls.Limits(20, memory=1 << 29)).status, 0
        )
        self.assertRegex(
            self.run_in("dd if=/dev/zero of=/tmp/x bs=1M count=99 2>&1 || echo full").out.decode(),
            "full|File|$",
        )

    @unittest.skipUnless(os.geteuid() == 0, "root alone runs programs as somebody else")
    def test_root_does_without_walls_rather_than_with_half_of_them(self) -> None:
        around = walls.Walls(self.folder)  # other users cannot enter it
        self.assertFalse(around.is_up)
        self.assertIn(f"cannot enter {self.folder}: allow it with chmod o+x {self.folder}, or", around.why)

    def test_where_bubblewrap_is_refused_nobody_is_told_to_install_it(self) -> None:
        self.folder.chmod(0o755)
        bwrap = self.folder / "bwrap"
        write(bwrap, "#!/bin/sh\necho bwrap: No permissions to create new namespace >&2\nexit 1\n")
        bwrap.chmod(0o755)
        with unittest.mock.patch.dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}"):
            why = walls.Walls(ROOT / "common").why
        self.assertRegex(why, r"refused here \(bwrap: No permissions to create new namespace\).*README")
        self.assertNotIn("setup", why)

    def test_no_solution_lies_behind_the_walls(self) -> None:
        scratch = self.folder / "scratch"
        scratch.mkdir()
        for name in ("", ".counts", ".256.counts"):
            write(self.folder / f"build/solutions.gemm.01_naive.cpu.so{name}", "12" if name else "ELF")
        kernel = tree.Kernel("chapters.gemm.02_shared_memory.cpu.so", "gemm-cpu", [], [])
        grader: Any = types.SimpleNamespace(tree=tree.Tree(self.folder), scratch=scratch)
        shown: list[Any] = job.Job.rivals(grader, "gemm/02_shared_memory", kernel)
        (stands_in, place), *counts = shown
        self.assertEqual((stands_in.read_bytes(), place.name), (b"\0\0\0", "solutions.gemm.01_naive.cpu.so"))
        self.assertEqual([path.name for path in counts], [f"{place.name}.256.counts", f"{place.name}.counts"])

    def test_a_folder_can_be_hidden_again(self) -> None:
        done = self.run_in(
            f"ls {ROOT}/common/front", read=[ROOT / "common"], empty=[ROOT / "common" / "front"]
        )
        self.assertEqual(done.out, b"")


if __name__ == "__main__":
    unittest.main()
