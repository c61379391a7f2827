"""Programs that end with this one: whatever stops it, Ctrl-C or a message, also stops them and the
programs that they have started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import AnyStr, TextIO


@contextlib.contextmanager
def running(
    command: Sequence[object],
    stdout: int | None = None,
    stderr: int | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int | None = subprocess.DEVNULL,
) -> Iterator[subprocess.Popen[str]]:
    """Runs a program in a session of its own: Ctrl-C reaches only this program, which ends the other in the
    right order."""
    process = subprocess.Popen(
        list(map(str, command)),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env=env,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        yield process
        process.wait()
    finally:
        if process.poll() is None:
            end(process)
        if process.stdout:
            process.stdout.close()


@contextlib.contextmanager
def stdout_to_stderr() -> Iterator[TextIO]:
    """Sends what this program and its children print to stderr. Yields the real
    stdout."""
    sys.stdout.flush()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as stdout:
        os.dup2(2, 1)
        try:
            yield stdout
            stdout.flush()
        finally:
            sys.stdout.flush()
            os.dup2(stdout.fileno(), 1)


def cause_of_death(number: int) -> str:
    """Returns the meaning of a signal that has ended a program, in words."""
    causes: dict[int, str] = {
        signal.SIGSEGV: "it accessed memory that does not exist",
        signal.SIGBUS: "it accessed memory that does not exist",
        signal.SIGFPE: "it divided an integer by zero",
        signal.SIGABRT: "it ended itself, by abort() or a failed assertion",
        signal.SIGILL: "its code could not be executed",
        signal.SIGKILL: "it was killed, as happens where memory is used up",
        signal.SIGTERM: "somebody stopped it",
        signal.SIGXCPU: "it computed for longer than it may",
    }
    return causes.get(number, f"signal {number} ended it")


def lines_of(process: subprocess.Popen[str]) -> Iterator[str]:
    """Yields the lines that the process prints, as they arrive."""
    assert process.stdout
    for line in process.stdout:
        yield line.rstrip("\n")


def end(process: subprocess.Popen[AnyStr]) -> None:
    """Ends a process group. Compilers and tests have groups of their own, to which Ninja and Meson hand on
    the first signal."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            process.communicate(timeout=10)
            return
        except subprocess.TimeoutExpired:
            pass
