"""Programs that end with this one: whatever stops it, Ctrl-C or a message, stops them and what they have started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence


@contextlib.contextmanager
def running(command: Sequence[object], **options) -> Iterator[subprocess.Popen]:
    """In a session of its own: a Ctrl-C reaches this program only, which knows what is to be ended, and in what order."""
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, start_new_session=True, **options)
    try:
        yield process
        process.wait()
    finally:
        if process.poll() is None:
            end(process)
        if process.stdout:
            process.stdout.close()


def status_of(command: Sequence[object], **options) -> int:
    with running(command, **options) as process:
        return process.wait()


def cause_of_death(number: int) -> str:
    """What a signal means that has ended a program, in words."""
    causes = {
        signal.SIGSEGV: "it reached memory that is not there",
        signal.SIGBUS: "it reached memory that is not there",
        signal.SIGFPE: "it divided an integer by zero",
        signal.SIGABRT: "it ended itself, by abort() or a failed assertion",
        signal.SIGILL: "its code could not be executed",
        signal.SIGKILL: "it was killed, as happens where memory is used up",
        signal.SIGTERM: "somebody stopped it",
        signal.SIGXCPU: "it computed for longer than it may",
    }
    return causes.get(number, f"signal {number} ended it")


def lines_of(process: subprocess.Popen) -> Iterator[str]:
    """What it says, as it comes."""
    for line in process.stdout:
        yield line.rstrip("\n")


def end(process: subprocess.Popen) -> str:
    """Ends a process group. Compilers and tests have groups of their own, to which Ninja and Meson hand on the first signal."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            return process.communicate(timeout=10)[0] or ""
        except subprocess.TimeoutExpired:
            pass
    return ""
