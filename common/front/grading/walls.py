"""Walls around students' code: a program sees the files that it is shown, and can change nothing that stays.

With bubblewrap, a program has the system's /usr, the parts of the tree that it is shown and a small /tmp: no
network, no sockets, no home, no other processes, no capabilities. Limits on time, memory, files, processes
and output hold with walls and without.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import glob
import os
import pathlib
import platform
import resource
import selectors
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence

GIB, MIB = 1 << 30, 1 << 20
KEPT = MIB  # bytes of a program's output that are kept; the rest is read and dropped
MOST_PRINTED = 16 * MIB  # bytes; a program that prints more is ended
SCRATCH = 64 * MIB  # bytes in /tmp and in /dev/shm each
PROCESSES = 64  # processes of one test, beside those that its user runs already
# The user that runs students' code for root, plus root's process number: root's processes are not limited in
# number, and those of one user are limited together, so that one student could keep another from starting
# any.
USERS = 700_000_000
SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")
# Libraries and compilers are found by these.
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/opt/rh")
# The devices of a job, and the place of their driver.
OF_DEVICES = ("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH")


# A machine may be busy with more jobs than it has cores, and a step must not fail for that.
PATIENCE = 4


@dataclasses.dataclass(frozen=True)
class Limits:
    seconds: float  # of processor time for each process; wall-clock time may be PATIENCE times as long
    memory: int | None = 4 * GIB  # bytes of address space a process
    file: int | None = 64 * MIB  # bytes
    processes: int | None = PROCESSES  # none of a compiler, which starts few


@dataclasses.dataclass(frozen=True)
class Done:
    status: int  # negative: ended by this signal
    out: bytes
    said: str  # on the standard error stream
    report: bytes  # no step can write to it
    stopped: str  # why it was ended from outside; empty if it was not
    seconds: float


class Walls:
    """Walls, if `is_up`; else `why` is the reason for their absence."""

    def __init__(self, shown: pathlib.Path, without: bool = False) -> None:
        """Tries the walls. `shown` is a folder that must be seen from within."""
        self.is_up, self.why = False, "they were not asked for"
        self.user: int | None = None
        self.environment: dict[str, str] | None = None if without else {}  # a step reads bubblewrap's
        if without:
            return
        if not shutil.which("bwrap"):
            self.why = "bubblewrap (bwrap) is not installed: ./kata setup does that, as root"
            return
        if os.geteuid() == 0:
            self.user = USERS + os.getpid()
            for folder in (pathlib.Path(shown), pathlib.Path(tempfile.gettempdir())):
                if closed := [
                    path for path in (folder, *folder.parents) if not path.stat().st_mode & stat.S_IXOTH
                ]:
                    self.why = (
                        f"as root, kata runs a student's code as a separate user, and this user cannot enter "
                        f"{closed[-1]}: allow it with chmod o+x {closed[-1]}, or choose other folders with "
                        f"--work and TMPDIR"
                    )
                    return
        try:
            tried = self.spawn(
                self.command(["ls", shown], read=[shown]),
                Limits(20),
            )
            said = tried.communicate()[1]
        except (OSError, subprocess.SubprocessError) as error:
            said = str(error).encode()
        else:
            if tried.returncode == 0:
                self.is_up = True
                return
        self.why = (
            f"bubblewrap is refused here ({said.decode(errors='replace').strip()}): "
            f'common/front/grading/README.md, "Walls", says where it can run'
        )

    def command(
        self,
        command: Sequence[object],
        read: Sequence[pathlib.Path | tuple[pathlib.Path, pathlib.Path]] = (),
        write: Sequence[tuple[pathlib.Path, pathlib.Path]] = (),
        empty: Sequence[pathlib.Path] = (),
        folder: pathlib.Path | None = None,
    ) -> list[str]:
        """Returns the command behind walls. A pair (FILE, PLACE) shows FILE at PLACE. `empty` folders hide
        what was shown before; written paths come before read ones."""
        words = [shutil.which("bwrap") or "", "--unshare-all", "--unshare-user", "--disable-userns"]
        words += ["--cap-drop", "ALL", "--new-session", "--die-with-parent", "--clearenv"]
        for name in OF_DEVICES:
            if name in os.environ:
                words += ["--setenv", name, os.environ[name]]
        words += ["--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin"]
        words += ["--setenv", "LANG", "C.UTF-8", "--setenv", "HOME", "/tmp"]
        for path in SYSTEM:
            if os.path.islink(path):
                words += ["--symlink", os.readlink(path), path]
            elif os.path.isdir(path):
                words += ["--ro-bind", path, path]
        for path in SETTINGS:
            words += ["--ro-bind-try", path, path]
        words += ["--dev", "/dev", "--proc", "/proc"]
        if nodes := glob.glob("/dev/nvidia*"):
            words += [word for node in nodes for word in ("--dev-bind-try", node, node)]
            words += ["--ro-bind-try", "/sys", "/sys"]
        for path in ("/dev/shm", "/tmp"):
            words += ["--size", str(SCRATCH), "--tmpfs", path]
        for written, place in write:
            words += ["--bind", str(written), str(place)]
        for shown in read:
            file, place = shown if isinstance(shown, tuple) else (shown, shown)
            words += ["--ro-bind", str(file), str(place)]
        for hidden in map(str, empty):
            words += ["--size", "4096", "--tmpfs", hidden, "--remount-ro", hidden]
        words += ["--remount-ro", "/dev", "--remount-ro", "/"]
        if folder:
            words += ["--chdir", str(folder)]
        return [*words, "--", *map(str, command)]

    def spawn(
        self, command: Sequence[object], limits: Limits, pass_fds: Sequence[int] = ()
    ) -> subprocess.Popen[bytes]:
        user = self.user
        processes = limits.processes and limits.processes + processes_of(
            os.geteuid() if user is None else user
        )

        def limit() -> None:
            leave_keyring()
            with contextlib.suppress(OSError):  # where memory runs out, Linux ends students' code first
                pathlib.Path("/proc/self/oom_score_adj").write_text("1000")
            if user is not None:
                os.setgroups([])
                os.setresgid(user, user, user)
                os.setresuid(user, user, user)
            end_with_parent()
            seconds = int(limits.seconds) + 1
            for what, most in (
                (resource.RLIMIT_AS, limits.memory),
                (resource.RLIMIT_CPU, seconds),
                (resource.RLIMIT_NPROC, processes),
                (resource.RLIMIT_FSIZE, limits.file),
                (resource.RLIMIT_NOFILE, 256),
                (resource.RLIMIT_CORE, 0),
            ):
                if most is not None:
                    hard = resource.getrlimit(what)[1]
                    allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
                    resource.setrlimit(what, (allowed, allowed))

        return subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=limit,  # noqa: PLW1509  Nothing else sets a user and limits before the program begins.
            cwd="/" if self.is_up else None,
            env=self.environment,
            pass_fds=pass_fds,
        )

    def run(self, command: Sequence[object], limits: Limits) -> Done:
        """Runs it to its end, or to its limits. "{report}" in the command is a descriptor for a report."""
        ours, theirs = os.pipe()
        before = time.monotonic()
        try:
            words = [str(word).replace("{report}", str(theirs)) for word in command]
            process = self.spawn(words, limits, [theirs])
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        with ended(process), open(ours, "rb") as reports:
            (out, said, report), stopped = listen(
                process, reports.fileno(), before + PATIENCE * limits.seconds
            )
            if stopped:
                kill(process)
            status = process.wait()
        if status in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
            stopped = (
                stopped or f"does not end: it was stopped after {limits.seconds:.0f} s of processor time"
            )
        if limits.memory and status > 128:
            status = 128 - status  # bubblewrap's form of a signal
        return Done(status, out, said.decode("utf-8", "replace"), report, stopped, time.monotonic() - before)


def listen(process: subprocess.Popen[bytes], report: int, deadline: float) -> tuple[list[bytes], str]:
    """Returns the output of both streams and the report until the program ends, and the reason to end it, if
    there is one."""
    assert process.stdout and process.stderr
    kept = {stream: bytearray() for stream in (process.stdout.fileno(), process.stderr.fileno(), report)}
    printed, stopped = 0, ""
    allowed = max(1, round(deadline - time.monotonic()))
    with selectors.DefaultSelector() as selector:
        for stream in kept:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map() and not stopped:
            left = deadline - time.monotonic()
            for key, _ in selector.select(max(0.0, left)):
                part = os.read(key.fd, 1 << 16)
                if not part:
                    selector.unregister(key.fd)
                printed += len(part)
                kept[key.fd] += part[: max(0, KEPT - len(kept[key.fd]))]
            if time.monotonic() >= deadline:
                stopped = f"does not end: it was stopped after {allowed} s"
            elif printed > MOST_PRINTED:
                stopped = f"prints without end: it was stopped after {MOST_PRINTED // MIB} MiB"
    return [bytes(part) for part in kept.values()], stopped


def kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


running: set[subprocess.Popen[bytes]] = set()


@contextlib.contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Ends the process when the block ends."""
    running.add(process)
    try:
        yield
    finally:
        kill(process)  # ends the processes that it has left, without walls
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
        running.discard(process)


def end_with_parent(number: int = signal.SIGKILL) -> None:
    """Has Linux end this process when its parent ends, whatever ends that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, number)  # PR_SET_PDEATHSIG


def leave_keyring() -> None:
    """Gives this process a session keyring of its own: that of its parent may hold tickets and tokens."""
    number = {"x86_64": 250, "aarch64": 219}.get(platform.machine())
    if sys.platform == "linux" and number is not None:
        ctypes.CDLL(None).syscall(number, 1, None)  # KEYCTL_JOIN_SESSION_KEYRING


def processes_of(user: int) -> int:
    """Returns the number of a user's processes and threads: the limit is one on all of them."""
    count = 0
    for process in glob.glob("/proc/[0-9]*"):
        with contextlib.suppress(OSError):
            if os.stat(process).st_uid == user:
                count += len(os.listdir(f"{process}/task"))
    return count
