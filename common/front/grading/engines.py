"""The engines that run students' jobs: this machine, an array of Slurm's, or Dask. A job is a command. It
has run once the file that it leaves is there, so that a lost one is run again and none counts twice."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Generator, Sequence

import processes
from fault import Fault

POLL_SECONDS = 1.0
TRIES = 3  # runs of a job whose machine was lost


@dataclasses.dataclass(frozen=True, eq=False)  # each is another one
class Job:
    name: str
    command: list[str]
    result: pathlib.Path

    @property
    def is_done(self) -> bool:
        return self.result.is_file()


@dataclasses.dataclass(frozen=True)
class Ended:
    """A job, and the reason why it has left no result; empty if it has."""

    job: Job
    why: str = ""


def local(jobs: Sequence[Job], at_once: int, scratch: pathlib.Path) -> Generator[Ended, None, None]:
    """Runs the jobs as processes on this machine, `at_once` of them at a time, in their order."""
    waiting = list(reversed(jobs))
    running: dict[int, tuple[Job, subprocess.Popen[str]]] = {}
    environment = {**os.environ, "TMPDIR": str(scratch)}  # so that a killed job leaves nothing behind
    with contextlib.ExitStack() as ending:
        while waiting or running:
            while waiting and len(running) < at_once:
                job = waiting.pop()
                log = ending.enter_context(open(scratch / f"{job.result.name}.log", "w+"))
                process = subprocess.Popen(
                    job.command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    text=True,
                    start_new_session=True,
                    env=environment,
                )
                ending.callback(end_if_running, process)
                running[process.pid] = (job, process)
            time.sleep(0.05)
            for pid, (job, process) in list(running.items()):
                if process.poll() is not None:
                    del running[pid]
                    said = (scratch / f"{job.result.name}.log").read_text(errors="replace").strip()
                    why = last_words(said) or f"its job ended with status {process.returncode}"
                    yield Ended(job, "" if job.is_done else why)


def end_if_running(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        processes.end(process)


def last_words(said: str) -> str:
    return said.splitlines()[-1][:300] if said else ""


def slurm(
    jobs: Sequence[Job], at_once: int, folder: pathlib.Path, options: str
) -> Generator[Ended, None, None]:
    """Runs the jobs as an array of Slurm's. Jobs without a result when the array has ended are submitted
    again."""
    left, numbers = list(jobs), []
    try:
        for attempt in range(1, TRIES + 1):
            script = folder / f"array-{attempt}.sh"
            lines = "\n".join(
                f"{number}) exec {shlex.join(job.command)} ;;" for number, job in enumerate(left)
            )
            script.write_text(f"#!/bin/bash\ncase $SLURM_ARRAY_TASK_ID in\n{lines}\nesac\n")
            cores = max([int(job.command[job.command.index("--cores") + 1]) for job in left])
            words = ["sbatch", "--parsable", "--job-name=kata-grade", f"--array=0-{len(left) - 1}%{at_once}"]
            words += [f"--cpus-per-task={cores}", f"--chdir={folder}"]
            words += [f"--output={folder}/array-%A-%a.log", "--requeue", *shlex.split(options), str(script)]
            number = said_by(words).split(";")[0].strip()
            numbers.append(number)
            while left and in_queue(number):
                yield from (done := [Ended(job) for job in left if job.is_done])
                left = [job for job in left if job not in [ended.job for ended in done]]
                time.sleep(POLL_SECONDS)
            # A result may be seen later than the end of its job, on a file system of many machines.
            for _ in range(5):
                yield from (done := [Ended(job) for job in left if job.is_done])
                left = [job for job in left if job not in [ended.job for ended in done]]
                if not left:
                    return
                time.sleep(POLL_SECONDS)
            numbers.remove(number)
        yield from (
            Ended(job, f"no result after {TRIES} jobs; what they said: {folder}/array-*.log") for job in left
        )
    finally:
        for number in numbers:
            with contextlib.suppress(Fault):
                said_by(["scancel", number])


def in_queue(number: str) -> bool:
    return bool(re.search(r"\S", said_by(["squeue", "--noheader", f"--jobs={number}"], may_fail=True)))


def said_by(words: Sequence[str], may_fail: bool = False) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise Fault(f"{words[0]}: {error.strerror}", 3) from error
    if done.returncode and not may_fail:
        raise Fault(f"{words[0]} says: {done.stderr.strip()}", 3)
    return done.stdout


def dask(jobs: Sequence[Job], address: str) -> Generator[Ended, None, None]:
    """Runs the jobs as tasks on the workers of dask.distributed, each of which sees the tree. Another worker
    runs the tasks of a lost one."""
    try:
        import distributed
    except ImportError:
        raise Fault(f"{sys.executable} has no dask.distributed", 3) from None
    try:
        client = distributed.Client(address, timeout=20)
    except (OSError, TimeoutError) as error:
        raise Fault(f"no scheduler of Dask answers at {address}: {error}", 3) from error
    with client:
        # A function that every Python has, so that workers need nothing of ours.
        futures = {
            client.submit(
                subprocess.run, job.command, capture_output=True, text=True, pure=False, retries=TRIES
            ): job
            for job in jobs
        }
        try:
            for future in distributed.as_completed(list(futures)):
                job = futures[future]
                if job.is_done:
                    yield Ended(job)
                elif future.status == "finished":
                    yield Ended(
                        job,
                        last_words(future.result().stderr.strip())
                        or f"its job ended with status {future.result().returncode}",
                    )
                else:
                    yield Ended(job, f"Dask has lost it: {future.exception()}")
        finally:
            client.cancel(list(futures), force=True)
