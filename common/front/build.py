"""The build folder: configured, brought up to date with what is in the repository, compiled."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator

import compilers
import processes
from fault import Fault
from repository import Module, Repository, backends, module_of, suite, targets

CLEAR = "\r\033[K"
SELDOM = 10.0  # seconds between two lines of progress where they stay
LEAST_FREE = 64 << 20  # bytes for what one step's test writes, and some more; compilers and Meson say it at length
QUIET = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}


class Progress:
    """A line that is written over on a terminal; elsewhere, a line now and then."""

    def __init__(self, seldom: float = SELDOM) -> None:
        self.shown = sys.stdout.isatty()
        self.seldom = seldom
        self.said = time.monotonic()

    def show(self, text: str) -> None:
        if self.shown:
            print(CLEAR + text[: shutil.get_terminal_size().columns - 1], end="", flush=True)
        elif time.monotonic() - self.said >= self.seldom:
            self.said = time.monotonic()
            print(text, flush=True)

    def clear(self) -> None:
        if self.shown:
            print(CLEAR, end="", flush=True)


class Build:
    def __init__(self, repository: Repository):
        self.repository = repository
        self.folder = repository.build_folder

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """While in it, no other ./kata builds or tests in this folder: Ninja's and Meson's records are of one run at a time."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "kata.lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"Waiting for another ./kata, which is at work in {self.folder}", file=sys.stderr, flush=True)
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def setup(self, *question: str) -> str:
        """Runs .ci/setup.sh, which installs what is missing, or answers a question."""
        out = subprocess.PIPE if question else None
        command = ["bash", str(self.repository.root / ".ci" / "setup.sh"), *question]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, text=True)
        if done.returncode:
            sys.exit(done.returncode)  # and it has said why
        return (done.stdout or "").strip()

    def configure(self) -> None:
        """Makes the folder, or brings it up to date with what there is to be built."""
        place = next(path for path in (self.folder, *self.folder.parents) if path.is_dir())
        if not os.access(place, os.W_OK):
            raise Fault(f"{place} cannot be written, and the build needs that; what builds elsewhere: KATA_BUILD=~/kata-build ./kata …")
        if (free := shutil.disk_usage(place).free) < LEAST_FREE:
            raise Fault(f"the disk of {place} is full but for {free >> 20} MB: the build needs {LEAST_FREE >> 20} MB or more")
        with self.alone():
            self.bring_up_to_date()

    def bring_up_to_date(self) -> None:
        setup = ["meson", "setup", self.folder, self.repository.root]
        is_new = not (self.folder / "build.ninja").is_file()
        if is_new or not all(map(shutil.which, ("meson", "ninja"))):
            self.setup()
        if is_new:
            print(f"\nConfiguring {self.folder}", flush=True)
            self.run_meson(setup, env={**os.environ, "CXX": self.setup("compiler")})
        elif self.configured() != self.repository.modules(self.backends()):
            self.run_meson([*setup, "--reconfigure"], **QUIET)
        else:
            self.run_meson(["ninja", "-C", self.folder, "build.ninja"], **QUIET)

    def run_meson(self, command: list[object], **how) -> None:
        with processes.running(command, **how) as meson:
            said = meson.communicate()[0]
        if meson.returncode:
            print(said or "", end="")
            raise Fault(f"{shutil.which(command[0])} cannot configure the build: see above")

    def configured(self) -> set[Module]:
        return {module for name in targets(self.folder) if (module := module_of(name))}

    def backends(self) -> list[str]:
        built = targets(self.folder)
        return sorted({backend for chapter in self.repository.chapters() for backend in backends(built, chapter)})

    def backend(self, chapter: str) -> str:
        """That of the tour: the GPU's if there is a GPU to run it."""
        built = backends(targets(self.folder), chapter)
        if not built:
            raise Fault(f"{chapter} has no step yet, or no suite")
        return built[0] if len(built) == 1 or self.gpu_here() else "cpu"

    @staticmethod
    def gpu_here() -> bool:
        if not shutil.which("nvidia-smi") or not shutil.which("nvcc"):
            return False
        return subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0

    @staticmethod
    def gpus() -> list[str]:
        """The compute capability of each GPU, as "9.0"; "" of one whose driver does not say it."""
        if not Build.gpu_here():
            return []
        asked = subprocess.run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"], capture_output=True, text=True)
        if asked.returncode:
            return [""]
        return [line if re.fullmatch(r"\d+\.\d+", line) else "" for line in map(str.strip, asked.stdout.splitlines())]

    def has(self, file: str) -> bool:
        return (self.folder / file).exists()

    def knows_host_and_device(self) -> bool:
        """Whether clang says of each step, on the CPU back end, what nvcc would refuse of it."""
        return ".cpu.legal" in (self.folder / "build.ninja").read_text(encoding="utf-8", errors="replace")

    def suite(self, chapter: str, backend: str) -> pathlib.Path:
        path = self.folder / suite(chapter, backend)
        if not path.exists():
            raise Fault(f"without {path.name} no step of {chapter} can be tested")
        return path

    def compile(self, wanted: Iterable[str] = ()) -> set[str]:
        """Builds the targets, or all, whatever else fails. Shows of a failure the first errors, and not the command line. Gives
        the targets that failed."""
        failed: list[str] = []
        progress = Progress()
        root = os.path.relpath(self.repository.root, self.folder)
        part: list[str] = []  # what has been said of the last target that failed

        def show() -> None:
            for line in compilers.shown(part) if not failed or module_of(failed[-1]) else part:
                # As seen from the root.
                print(re.sub(rf"{re.escape(root)}/(chapters|solutions|tests|common|reference)/", r"\1/", line))
            part.clear()

        is_command = False
        with self.alone(), processes.running(["ninja", "-C", self.folder, "-k", "0", *wanted], **QUIET) as ninja:
            for line in processes.lines_of(ninja):
                if is_command:
                    is_command = False
                elif re.match(r"\[\d+/\d+\] ", line):
                    show()
                    progress.show(line)
                elif line.startswith("FAILED: "):
                    progress.clear()
                    show()
                    name = target_of(line)
                    if name not in failed:
                        print(f"\n{described(name)}:")
                    # The last one is the one that is spoken of.
                    failed = [other for other in failed if other != name] + [name]
                    is_command = True  # is what comes next
                elif not line.startswith("ninja: ") or line.startswith("ninja: error: "):
                    progress.clear()
                    part.append(line)
            progress.clear()
            show()
        if ninja.returncode and not failed:
            failed.append("the build")
        return set(failed)


def target_of(line: str) -> str:
    """What has failed, by the line that says so: a module also where one of its parts has, or is refused."""
    name = re.sub(r"^FAILED: (\[.*?\] )?", "", line).split(" ")[0].split(".p/")[0]
    return re.sub(r"\.legal$", ".so", name)


def described(target: str) -> str:
    """What a person is told that has not been built."""
    if module := module_of(target):
        return f"{path_of(module)} does not compile"
    if target.endswith(".cu"):
        return "a mistake does not fit its solution"
    return f"{target} cannot be built"


def path_of(module: Module) -> str:
    """As a person knows a kernel: its file, or the file of mistakes and its name there."""
    if module.tree in ("chapters", "solutions"):
        return f"{module.tree}/{module.chapter}/{module.name}.cu"
    if module.tree == "styles":
        return f"tests/styles/{module.chapter}/{module.name}.cu"
    return f"tests/wrong/{module.chapter}/{module.step}.mistakes: {module.name.split('.')[-1]}"
