#!/usr/bin/env python3
"""Checks that ./kata grade is fair to a class in which every student does something different, and that its
walls hold. Builds a chapter and grades some sixty folders of it: takes minutes."""

from __future__ import annotations

import base64
import csv
import functools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree
from typing import Any, ClassVar

from paths import ROOT  # isort: split

import grade
import schema
from grading import engines, job, sheet, submissions, tree, walls
from students import (
    ADD,
    ALL,
    BLUR,
    CHAPTER,
    GRAY,
    LEFT,
    NAMES,
    NEED_WALLS,
    REPOSITORY,
    STEPS,
    hand_in,
    hand_in_all,
    solution,
    write,
    wrong,
)

SECTORS = "32-byte sectors loaded and stored"
MODEL_TIME = "steps until a model GPU of 16 multiprocessors is done"


@NEED_WALLS
class Class(unittest.TestCase):
    """A class, graded once; the tests look at the results."""

    scratch: ClassVar[pathlib.Path]
    folder: ClassVar[pathlib.Path]
    temporary: ClassVar[pathlib.Path]
    environment: ClassVar[dict[str, str]]
    wanted: ClassVar[dict[tuple[str, str], tuple[str, str]]]
    sheet: ClassVar[pathlib.Path]
    out: ClassVar[pathlib.Path]
    command: ClassVar[list[str | pathlib.Path]]
    done: ClassVar[subprocess.CompletedProcess[str]]
    results: ClassVar[dict[str, Any]]

    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="kata-class-")
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = folder = pathlib.Path(scratch.name)
        folder.chmod(0o755)  # as root, programs run as another user, which must have access
        cls.folder, cls.temporary = folder / "class", folder / "with a space"
        cls.temporary.mkdir()
        cls.temporary.chmod(0o755)
        cls.environment = {**os.environ, "TMPDIR": str(cls.temporary), "KATA_TOKEN": "secret"}
        unix = folder / "a socket"
        addresses: list[Any] = [str(unix), ("127.0.0.1", 0)]
        listening = [socket.socket(socket.AF_UNIX), socket.socket(socket.AF_INET)]
        for one, where in zip(listening, addresses):
            cls.addClassCleanup(one.close)
            one.bind(where)
            one.listen()
        seen = [*(ROOT / name for name in (f"solutions/{CHAPTER}/{ADD}.cu", "README.md")), cls.folder]
        seen += [pathlib.Path("/", name) for name in ("root", "home", "etc/passwd", "run")]
        hidden = [f"solutions/{CHAPTER}/{ADD}.cu", f"tests/{CHAPTER}.cpp", f"reference/{CHAPTER}.cpp"]
        seen += [folder / "work/tree" / name for name in (*hidden, "prepared.json")]
        seen.append(folder / "work/submissions")
        places = {
            "PATHS": ", ".join(f'"{path}"' for path in seen),
            "/CLASS": str(cls.folder),
            "SOCKET": str(unix),
            "PORT": str(listening[1].getsockname()[1]),
        }
        cls.wanted = hand_in_all(cls.folder, places)
        cls.sheet, cls.out = folder / "grades.csv", folder / "out"
        points = folder / "points.json"
        of_steps = {CHAPTER: 0, NAMES[0]: 2, NAMES[1]: 2, NAMES[2]: 4}
        write(points, json.dumps({"points": of_steps, "right": 0.25}))
        cls.command = [sys.executable, ROOT / "common/front/grade.py", "--chapter", CHAPTER[:3]]
        cls.command += ["--work", folder / "work", "--csv", cls.sheet, "--points", points, "--out", cls.out]
        pathlib.Path(LEFT).unlink(missing_ok=True)
        cls.done = cls.run_grade(
            *sorted(cls.folder.iterdir()), "--junit", folder / "junit.xml", "--steps", folder / "steps.csv"
        )
        cls.results = {}
        for path in cls.out.glob("records/*.json"):
            result = json.loads(path.read_text())
            assert not schema.complaint(result), schema.complaint(result)
            cls.results[result["student"]] = result

    @classmethod
    def run_grade(cls, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*cls.command, *map(str, arguments)],
            capture_output=True,
            text=True,
            errors="backslashreplace",
            env=cls.environment,
            check=False,
        )

    def rows(self) -> dict[str, dict[str, str]]:
        with open(self.sheet, newline="", encoding="utf-8-sig") as lines:
            return {row["student"]: row for row in csv.DictReader(lines)}

    def test_every_verdict_is_what_it_must_be(self) -> None:
        self.assertEqual(self.done.returncode, 1, self.done.stdout[-2000:] + self.done.stderr)
        for (student, step), (verdict, reason) in self.wanted.items():
            with self.subTest(student=student, step=step):
                found = self.results[student.replace("\n", " ")]["steps"][f"{CHAPTER}/{step}"]
                self.assertRegex(found["verdict"], f"^(?:{verdict})$", found["why"])
                self.assertRegex(re.sub(r"\s+", " ", found["why"]), reason or "^")

    def test_the_sheet_has_a_row_for_each(self) -> None:
        rows = self.rows()
        rows.pop("late", None)
        for name in ("broken", "README"):
            row = rows.pop(name)
            self.assertEqual((row["points"], row["state"]), ("", "could not be read"))
        self.assertEqual(len(rows), len({student for student, _ in self.wanted}))
        self.assertEqual(rows["right"]["points"] + " of " + rows["right"]["of"], "8 of 8")
        self.assertEqual(rows["mixed"]["points"], "6")
        self.assertEqual((rows["nothing"]["points"], rows["nothing"]["MISSING"]), ("0", str(ALL)))
        self.assertEqual(rows["stub"]["OPEN"], "1")
        self.assertEqual({row["state"] for row in rows.values()}, {"graded"})
        # Right, but it needs thousands of times the limit.
        self.assertLess(float(rows["one thread"][f"{CHAPTER}/{ADD}"]), 0.02)
        self.assertIn("SLOW (right, not yet fast)", rows["one thread"]["not OK"])
        self.assertTrue(self.sheet.read_bytes().startswith(sheet.MARK.encode()))
        self.assertRegex(self.done.stdout, rf"nothing: 0 of 8 points, {ALL} MISSING \(\d+ of {len(rows)}\)\n")
        self.assertEqual(self.done.stdout.count("broken.zip is damaged, or not an archive"), 1)
        self.assertIn("'=1+1", rows)
        self.assertIn("'-rf", rows)
        self.assertFalse(
            [cell for row in rows.values() for cell in row.values() if cell[:1] in "=+-@" and cell[:1]]
        )
        self.assertNotIn("\x1b", self.sheet.read_text())
        self.assertNotIn("\x1b", self.done.stdout)
        self.assertIn(f"grades.csv: {len(rows)} graded, 2 could not be read, mean", self.done.stdout)

    def test_an_empty_folder_alone_has_a_row(self) -> None:
        done = self.run_grade(self.folder / "nothing", "--csv", self.scratch / "alone.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = "alone.csv: 1 graded, mean of those graded: 0.00 of 8 points\n"
        self.assertTrue(done.stdout.endswith(said), done.stdout)

    def test_nothing_stays_and_nobody_waits(self) -> None:
        self.assertFalse(os.path.exists(LEFT))
        self.assertFalse(os.path.exists("/usr/here"))
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.assertLess(self.results["60000 errors"]["seconds"], walls.Limits(60).seconds)
        for result in self.results.values():
            self.assertLess(result["seconds"], 2 * job.TEST_SECONDS + 60, result["student"])

    def test_points_that_need_a_look_are_reported(self) -> None:
        def notes(student: str) -> str:
            return "\n".join(self.results[student]["notes"])

        self.assertIn(
            f"alike with the solution of this repository: {NAMES[1]} 100%, {NAMES[2]} 100%", notes("right")
        )
        self.assertIn("outside of the chapter", notes("includes the solution"))
        self.assertIn("constructor", notes("forges when loaded"))
        self.assertIn("starts or ends programs", notes("forks"))
        self.assertIn("opens libraries", notes("opens the solution"))
        self.assertIn("cannot be read by clang", notes("too deep for clang"))
        self.assertEqual(notes("a mistake"), "")

    def test_what_steps_need_is_beside_what_their_solutions_need(self) -> None:
        with open(self.scratch / "steps.csv", newline="", encoding="utf-8-sig") as lines:
            rows = {(row["student"], row["step"]): row for row in csv.DictReader(lines)}
        self.assertEqual(len(rows), ALL * len(self.results))
        right, twice, alone = (rows[name, NAMES[0]] for name in ("right", "launched twice", "one thread"))
        self.assertEqual(
            (right[SECTORS], right[MODEL_TIME]),
            (right[f"{SECTORS} of the solution"], right[f"{MODEL_TIME} of the solution"]),
        )
        self.assertEqual(float(twice[SECTORS]), 2 * float(twice[f"{SECTORS} of the solution"]))
        # A quarter for being right, and half of the rest: one of two launches is too many.
        self.assertEqual((twice["verdict"], twice["points"]), ("SLOW", "1.25"))
        self.assertGreater(float(alone[MODEL_TIME]), 100 * float(alone[f"{MODEL_TIME} of the solution"]))
        self.assertEqual(rows["a mistake", NAMES[0]][SECTORS], "")
        self.assertRegex(
            (self.out / "launched twice.md").read_text(),
            rf"\| {NAMES[0]} \| 2\.00 \| 2\.00 \| none \| none \|",
        )
        self.assertIn(
            f"## MISSING: it was not handed in\n\n    {NAMES[1]}\n    {NAMES[2]}\n",
            (self.out / "launched twice.md").read_text(),
        )

    def test_feedback_is_whole_and_harmless(self) -> None:
        text = (self.out / "mixed.md").read_text()
        self.assertIn("# mixed: 6 of 8 points", text)
        self.assertIn(f"| {CHAPTER}/{BLUR} | OK | 4 of 4 |", text)
        text = (self.out / "does not compile.md").read_text()
        self.assertRegex(text, r"lunch.* was not declared")
        self.assertIn(f"{ADD}.cu:", text)
        text = (self.out / "colours.md").read_text()
        self.assertFalse(sheet.CONTROL.search(text))

    def test_junit_can_be_read(self) -> None:
        suites = xml.etree.ElementTree.parse(self.scratch / "junit.xml").getroot()
        right = next(suite for suite in suites if suite.get("name") == "right")
        self.assertEqual(
            (right.get("tests"), right.get("failures"), right.get("skipped")),
            (str(ALL), "0", str(ALL - len(STEPS))),
        )
        nothing = next(suite for suite in suites if suite.get("name") == "nothing")
        self.assertEqual(nothing.get("skipped"), str(ALL))

    def test_later_runs_keep_the_rows_of_others_and_resume(self) -> None:
        before = self.rows()
        late = self.folder / "late"
        hand_in(late, {ADD: wrong(f"{ADD}.no_guard")})
        self.addCleanup(shutil.rmtree, late)
        formats = [self.scratch / "results.json", self.scratch / "classroom"]
        done = self.run_grade(late, "--gradescope", formats[0], "--github-classroom", formats[1])
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.rows()
        self.assertEqual(
            {name: row for name, row in rows.items() if name != "late"},
            {name: row for name, row in before.items() if name != "late"},
        )
        self.assertEqual((rows["late"]["FAIL"], rows["late"]["MISSING"]), ("1", str(ALL - 1)))
        scope = json.loads(formats[0].read_text())
        self.assertEqual(
            (scope["score"], [test["max_score"] for test in scope["tests"]]),
            (0, [2, 2, 4] + [0] * (ALL - len(STEPS))),
        )
        # The keys of Gradescope's documentation, and their values.
        self.assertLessEqual(
            {key for test in scope["tests"] for key in test},
            {"score", "max_score", "status", "name", "output", "output_format", "visibility"},
        )
        self.assertEqual(
            {(test["status"], test["output_format"], test["visibility"]) for test in scope["tests"]},
            {("failed", "text", "visible")},
        )
        self.assertLessEqual(set(scope), {"score", "execution_time", "tests"})
        room = json.loads(base64.b64decode(formats[1].read_text()))
        self.assertEqual(
            (room["version"], room["status"], room["max_score"], len(room["tests"])), (1, "fail", 8, ALL)
        )
        again = self.run_grade(late, self.folder / "right", "--resume")
        self.assertIn("2 of 2 have not changed since they were graded", again.stdout)
        self.assertEqual(self.rows(), rows)
        hand_in(late, {ADD: solution(ADD)})
        mended = self.run_grade(late, self.folder / "right", "--resume")
        self.assertIn("1 of 2 have not changed since they were graded", mended.stdout)
        self.assertEqual(self.rows()["late"]["OK"], "1")
        # Other points require no new test, and a student whose row has the old ones is not skipped.
        double, copy = self.scratch / "double.json", self.scratch / "copy.csv"
        write(double, json.dumps({"points": {CHAPTER: 10}}))
        began, twice = time.monotonic(), self.folder / "launched twice"
        doubled = self.run_grade(late, twice, "--resume", "--points", double, "--csv", copy)
        mean = f"mean of those graded: 8.75 of {10 * ALL} points"
        self.assertIn(f"copy.csv: 2 graded, {mean}\n", doubled.stdout)
        self.assertNotIn("launched twice", doubled.stdout)
        self.assertLess(time.monotonic() - began, 20)

    def test_a_grader_who_stops_it_keeps_what_is_done(self) -> None:
        sheet_of_it = self.scratch / "stopped.csv"
        students = [self.folder / "nothing", self.folder / "ignores signals"]
        command = [*self.command, *students, "--csv", sheet_of_it, "--jobs", "1"]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self.environment)
        assert running.stdout
        for line in running.stdout:
            if line.startswith("nothing:"):
                break
        time.sleep(2)
        running.send_signal(signal.SIGTERM)
        running.stdout.close()
        self.assertEqual(running.wait(timeout=30), 128 + signal.SIGTERM)
        with open(sheet_of_it, newline="", encoding="utf-8-sig") as lines:
            states = {row["student"]: row["state"] for row in csv.DictReader(lines)}
        self.assertEqual(states, {"nothing": "graded", "ignores signals": "not graded"})
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_a_job_that_cannot_run_is_reported_and_costs_nobody_else(self) -> None:
        # Like a machine of a cluster that does not see the tree.
        result = self.scratch / "x.json"
        command = [sys.executable, str(grade.JOB), "/no/tree", "/no/one", str(result)]
        ends = list(engines.local([engines.Job("x", command, result)], 1, self.scratch))
        self.assertEqual(len(ends), 1)
        self.assertNotEqual(ends[0].why, "")

    def test_without_walls_the_verdicts_are_the_same(self) -> None:
        built = tree.Tree.load(self.scratch / "work" / "tree")
        given = self.scratch / "given"
        reader = submissions.Reader(REPOSITORY)
        for student in ("mixed", "a mistake"):
            steps = NAMES[1:] if student == "mixed" else NAMES[:1]
            taken = reader.read(student, self.folder / student, steps)
            grade.write_submission(taken, list(taken.texts), "", given)
            result = self.scratch / "result.json"
            done = subprocess.run(
                [sys.executable, grade.JOB, built.folder, given, result, "--without-walls"],
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            for step, found in json.loads(result.read_text())["steps"].items():
                self.assertEqual(found["verdict"], self.results[student]["steps"][step]["verdict"])

    def suite(self, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        build = self.scratch / "work" / "tree" / "build"
        return subprocess.run(
            [build / f"{CHAPTER}-cpu", *map(str, arguments)],
            cwd=build,
            stderr=subprocess.PIPE,
            text=True,
            **options,
            check=False,
        )

    def run_step(self, step: str, source: object, **options: Any) -> subprocess.CompletedProcess[str]:
        command = ["--step", f"solutions.{CHAPTER}.{step}.cpu.so", "--source", source]
        command += ["--rivals", f"solutions.{CHAPTER}.", "--reporter", "step", "--abort"]
        return self.suite(*command, stdout=subprocess.DEVNULL, **options)

    def test_counts_that_cannot_be_written_are_no_success(self) -> None:
        with open("/dev/full", "w") as full:
            done = self.suite("--measure", f"solutions.{CHAPTER}.{ADD}.cpu.so", stdout=full)
        self.assertEqual((done.returncode, done.stderr), (1, "the output cannot be written\n"))

    def test_a_step_that_has_changed_since_it_was_built_is_not_measured(self) -> None:
        source = self.scratch / f"{ADD}.cu"
        source.write_text(solution(ADD))
        os.utime(source, (time.time() - 86400,) * 2)
        command = ["--measure", f"solutions.{CHAPTER}.{ADD}.cpu.so", "--source", source]
        self.assertEqual(self.suite(*command, stdout=subprocess.DEVNULL).returncode, 0)
        os.utime(source, (time.time() - 0.01,) * 2)
        done = self.suite(*command, stdout=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout.startswith("fault ")), (1, True), done.stdout)

    def test_memory_that_is_used_up_is_no_fault_of_the_steps(self) -> None:
        for mebibytes in (192, 128, 96):
            bytes_ = mebibytes << 20
            limit = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (bytes_, bytes_))
            with self.subTest(mebibytes=mebibytes):
                done = self.run_step(GRAY, f"../solutions/{CHAPTER}/{GRAY}.cu", preexec_fn=limit)
                self.assertEqual(
                    (done.returncode, done.stderr.count("memory is exhausted")), (0, 1), done.stderr
                )
                self.assertNotIn("SIG", done.stderr)

    def test_a_step_of_tomorrow_is_tested_and_one_that_was_edited_since_is_not(self) -> None:
        source = self.scratch / f"{ADD}.cu"
        source.write_text(solution(ADD))
        for seconds, said in ((86400, False), (-1, True)):
            time.sleep(0.1)
            os.utime(source, (time.time() + seconds,) * 2)
            self.assertEqual("has changed since it was built" in self.run_step(ADD, source).stderr, said)

    def test_dask_hands_the_jobs_to_its_workers(self) -> None:
        try:
            import distributed
        except ImportError:
            self.skipTest("no dask.distributed here")
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            asked = [f"--engine=dask={cluster.scheduler_address}", "--csv", self.scratch / "dask.csv"]
            done = self.run_grade(self.folder / "right", self.folder / "nothing", *asked)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("right: 8 of 8 points, 3 OK", done.stdout)


if __name__ == "__main__":
    unittest.main()
