#!/usr/bin/env python3
"""The job of one student: job.py TREE SUBMISSION RESULT.json [--cores N] [--without-walls]

SUBMISSION is a folder that submissions.py has written: submission.json, and the steps and headers in
chapters/. Each step is compiled and tested behind walls, in a folder of its own, with only the part of the
tree that it needs. The result appears as a whole when the job is done: a job that was lost may be run again
anywhere.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import dataclasses
import fcntl
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import TypedDict

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent)]

import compilers
from grading import report, tree, walls
from grading.tree import Kernel, Tree

COMPILE_SECONDS, TEST_SECONDS = 300, tree.TEST_SECONDS
# For all steps, or the time that their tests may take: steps that have not begun by then are not tested.
STUDENT_SECONDS = 1800
ENDLESS = ("does not end", "prints without end")


class Submitted(TypedDict):
    state: str  # "taken", or one of report.VERDICTS
    why: str


class Given(TypedDict):
    """The contents of submission.json."""

    student: str
    digest: str
    notes: list[str]
    steps: dict[str, Submitted]


class Job:
    def __init__(
        self, tree: Tree, submission: pathlib.Path, scratch: pathlib.Path, around: walls.Walls
    ) -> None:
        self.tree, self.scratch, self.walls = tree, scratch, around
        self.given: Given = json.loads((submission / "submission.json").read_text(encoding="utf-8"))
        self.chapters, self.build = scratch / "chapters", scratch / "build"
        self.limit = max(STUDENT_SECONDS, TEST_SECONDS * len(self.given["steps"]))
        self.deadline = time.monotonic() + self.limit
        self.build.mkdir()
        for step in self.given["steps"]:
            chapter = step.split("/")[0]
            (self.chapters / chapter).mkdir(parents=True, exist_ok=True)
            for header in tree.headers(chapter):
                if header.parent.name == chapter:
                    (self.chapters / chapter / header.name).write_bytes(header.read_bytes())
        for path in sorted((submission / "chapters").rglob("*")):
            target = self.chapters / path.relative_to(submission / "chapters")
            if path.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())

    def seen(self, path: pathlib.Path) -> pathlib.Path:
        """Returns the place of a scratch file as the student's code sees it: behind walls, in the tree's
        place."""
        return self.tree.folder / path.relative_to(self.scratch) if self.walls.is_up else path

    def grade(self, step: str) -> report.StepResult:
        given = self.given["steps"][step]
        result: report.StepResult = {
            "verdict": given["state"],
            "why": given["why"],
            "share": 1.0,
            "seconds": {},
            "printed": "",
            "counts": [],
        }
        if given["state"] != "taken":
            return result
        found: list[report.Verdict] = []
        counts: dict[str, report.Count] = {}
        for kernel in self.tree.kernels[step]:
            if time.monotonic() > self.deadline:
                found.append(
                    report.Verdict(
                        "FAIL",
                        f"not tested: the steps before it took more than {self.limit // 60} minutes",
                    )
                )
                break
            done, said = self.compile(step, kernel)
            result["seconds"]["compile"] = result["seconds"].get("compile", 0) + done.seconds
            if said is not None:
                found.append(report.Verdict("FAIL", f"does not compile\n{said}".rstrip()))
                break
            seen = self.test(step, kernel)
            verdict, done = seen.verdict(kernel.passes), seen.done
            result["seconds"]["test"] = result["seconds"].get("test", 0) + done.seconds
            result["printed"] += done.said[:4000]
            if verdict.name in ("OK", "SLOW"):
                counts |= seen.counts
            legal = (self.build / kernel.module).with_suffix(".legal")
            result["unread"] = legal.is_file() and "unread:" in legal.read_text()
            if len(self.tree.kernels[step]) > 1 and verdict.reason:
                verdict = dataclasses.replace(
                    verdict, reason=f"on the back end {kernel.backend}: {verdict.reason}"
                )
            found.append(verdict)
        worst = max(found, key=lambda verdict: report.VERDICTS.index(verdict.name))
        share = min(verdict.share for verdict in found)
        result["counts"] = [*counts.values()]
        return {**result, "verdict": worst.name, "why": worst.reason, "share": share}

    # --- compiling

    def compile(self, step: str, kernel: Kernel) -> tuple[walls.Done, str | None]:
        """Compiles the step. Returns the compiler's errors, or None."""
        commands = [one for command in kernel.commands for one in checked(command, kernel.commands)]
        script = " && ".join(
            f"( {command} )" for command in [f"mkdir -p {shlex.quote(kernel.module)}.p", *commands]
        )
        limits = walls.Limits(COMPILE_SECONDS, processes=None)
        if self.walls.is_up:
            shown = self.walls.command(
                ["/bin/sh", "-c", script],
                write=[(self.build, self.tree.build)],
                read=[
                    self.tree.folder / "common",
                    *self.tree.headers(step.split("/")[0]),
                    (self.chapters, self.tree.folder / "chapters"),
                    *self.tree.precompiled(),
                    *map(pathlib.Path, self.tree.tools),
                ],
                empty=[self.tree.folder / "common" / "front"],
                folder=self.tree.build,
            )
            done = self.walls.run(shown, limits)
        else:
            self.link_to_tree()
            script = script.replace(str(self.tree.folder), str(self.scratch))
            done = self.walls.run(["/bin/sh", "-c", f"cd {shlex.quote(str(self.build))} && {script}"], limits)
        if done.stopped or done.status or not (self.build / kernel.module).is_file():
            text = done.said + done.out.decode("utf-8", "replace")
            said = [
                re.sub(r"\.\./(chapters|solutions|common|reference)/", r"\1/", line)
                for line in compilers.shown(text.splitlines())
            ]
            return done, "\n".join([*said[:60], *([f"compiling it {done.stopped}"] if done.stopped else [])])
        return done, None

    def link_to_tree(self) -> None:
        for name in ("common", "reference", "solutions"):
            link = self.scratch / name
            if not link.is_symlink():
                link.symlink_to(self.tree.folder / name)
        for folder in self.tree.precompiled():
            link = self.build / folder.relative_to(self.tree.build)
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.is_symlink():
                link.symlink_to(folder)

    # --- testing

    def test(self, step: str, kernel: Kernel) -> report.Report:
        """Tests up to the first failure. If a right step fails so, also runs the later tests, which may find
        it wrong."""
        found = self.run_tests(step, kernel, ["--abort"])
        if found.fails_as_a_right_step:
            found = self.run_tests(step, kernel, [])
        return found

    def run_tests(self, step: str, kernel: Kernel, options: list[str]) -> report.Report:
        with self.on_device(kernel):
            return self.run_suite(step, kernel, options)

    @contextlib.contextmanager
    def on_device(self, kernel: Kernel) -> Iterator[None]:
        """Keeps the GPU to one test at a time, of any student, because its tests are timed. Waiting does not
        count towards the deadline."""
        if kernel.backend != "gpu":
            yield
            return
        before = time.monotonic()
        with alone_on(os.environ.get("CUDA_VISIBLE_DEVICES", "all")):
            self.deadline += time.monotonic() - before
            yield

    def run_suite(self, step: str, kernel: Kernel, options: list[str]) -> report.Report:
        module, source = self.build / kernel.module, self.chapters / f"{step}.cu"
        command = tree.suite_command(self.tree, step, kernel, self.seen(module), self.seen(source)) + options
        if self.walls.is_up:
            command = self.walls.command(
                command,
                read=[
                    self.tree.build / kernel.suite,
                    (module, self.seen(module)),
                    # The judge reads loops and lines of headers, too.
                    (source.parent, self.seen(source.parent)),
                    *(
                        (legal, self.seen(legal))
                        for legal in [module.with_suffix(".legal")]
                        if legal.is_file()
                    ),
                    *self.rivals(step, kernel),
                    *map(pathlib.Path, self.tree.tools),
                ],
                folder=pathlib.Path("/tmp"),
            )
        return report.read(self.walls.run(command, tree.limits_of(kernel, TEST_SECONDS)))

    def rivals(self, step: str, kernel: Kernel) -> list[pathlib.Path | tuple[pathlib.Path, pathlib.Path]]:
        """Returns the files that stand for each solution: an empty file in place of its module, and its
        counts from when the tree was made. On a GPU, where it is timed, the module itself."""
        modules = self.tree.rivals(step.split("/")[0], kernel)
        if kernel.backend != "cpu":
            return [*modules]
        folder = self.scratch / "rivals"
        folder.mkdir(exist_ok=True)
        shown: list[pathlib.Path | tuple[pathlib.Path, pathlib.Path]] = []
        shown += [(tree.stands_for(module, folder), module) for module in modules]
        for module in modules:
            shown += [
                *sorted(self.tree.build.glob(f"{module.name}.*counts")),
                *self.tree.build.glob(f"{module.stem}.legal"),
            ]
        return shown


@contextlib.contextmanager
def alone_on(devices: str) -> Iterator[None]:
    """Keeps other jobs of this user on this machine, and other threads of this one, off these devices."""
    name = f"kata-grade-{os.getuid()}-gpu-{re.sub('[^0-9A-Za-z]', '-', devices)}.lock"
    with open(os.open(f"/tmp/{name}", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def with_limits(command: str) -> str:
    """Returns the command with an end after some errors, plain text, and our headers first."""
    if (command.endswith(".cu") and " -x cu " in command) or "nvcc" in command.split(" ")[0]:
        return command
    if "legality.py" in command:
        return f"{command} -ferror-limit=100"
    return (
        f"{command} -fmax-errors=20 -fdiagnostics-color=never -include kata.hpp"
        if re.search(r" -c \S+$", command)
        else command
    )


def checked(command: str, commands: list[str]) -> list[str]:
    """Returns commands that do the same, and where g++ reads the step, compile the text that one_program.py
    has checked."""
    command = with_limits(command)
    compiles = re.fullmatch(r"(.*?) (-MD -MQ .*) -c (\S+)\.cpp (.*)", command)
    reads = {
        tool: shlex.split(command)
        for command in commands
        for tool in ("translate.py", "legality.py")
        if tool in command
    }
    if not compiles or "translate.py" not in reads:
        return [command]
    compiler, to, text, limits = compiles.groups()
    python, script, step = reads["translate.py"][:3]
    clang = reads["legality.py"][2] if "legality.py" in reads else ""
    words = [python, script.replace("translate.py", "one_program.py"), step, f"{text}.ii", clang]
    return [
        f"{compiler} -fpch-preprocess -E {text}.cpp {limits} -o {text}.ii",
        f"{shlex.join(words)} {compiler}",
        re.sub(r" -include \S+", "", f"{compiler} {to} -c {text}.ii {limits}"),
    ]


def run(given: argparse.Namespace) -> None:
    built = Tree.load(given.tree)
    around = walls.Walls(given.tree, without=given.without_walls)
    if not around.is_up and not given.without_walls:
        sys.exit(f"kata: no walls around a student's code: {around.why}")
    before = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kata-job-") as folder:
        scratch = pathlib.Path(folder).resolve()
        scratch.chmod(0o755)
        signal.signal(signal.SIGTERM, lambda *_: stop(scratch))
        job = Job(built, given.submission, scratch, around)
        if around.user is not None:
            os.chown(job.build, around.user, around.user)
        with concurrent.futures.ThreadPoolExecutor(given.cores) as pool:
            steps = dict(zip(job.given["steps"], pool.map(job.grade, job.given["steps"])))
    result: report.Result = {
        "command": "grade",
        "student": job.given["student"],
        "digest": job.given["digest"],
        "notes": job.given["notes"],
        "version": built.version,
        "steps": steps,
        "walls": around.is_up,
        "host": socket.gethostname(),
        "seconds": time.monotonic() - before,
        "graded": time.strftime("%Y-%m-%d %H:%M:%S"),
    }
    for step, found in steps.items():
        if found.pop("unread", False):
            result["notes"].append(
                f"{step} cannot be read by clang, so not everything that nvcc refuses was checked"
            )
    tree.write_whole(given.result, json.dumps(result, indent=1))


def stop(scratch: pathlib.Path) -> None:
    """Ends this job at a signal: its processes end with it, and its files are removed."""
    for process in list(walls.running):
        walls.kill(process)
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    walls.end_with_parent(signal.SIGTERM)  # a lost worker sends no signal
    parser = argparse.ArgumentParser(description="Grades one student.")
    for name in ("tree", "submission", "result"):
        parser.add_argument(name, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--without-walls", action="store_true")
    run(parser.parse_args())
