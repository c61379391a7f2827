"""The build folder: it is configured, brought up to date with the repository, and compiled."""

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
from collections.abc import Iterable, Iterator, Mapping
from typing import TypedDict

import compilers
import processes
from fault import Fault
from repository import Module, Repository, backends, module_of, suite, targets

CLEAR = "\r\033[K"
SELDOM = 10.0  # seconds between two lines of progress if a line cannot be overwritten
# Bytes for the files of one step's test, and some more: a full disk makes compilers and Meson print pages.
LEAST_FREE = 64 << 20


class Streams(TypedDict):
    """The streams of a program, as arguments of processes.running."""

    stdout: int
    stderr: int


QUIET: Streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}


class Progress:
    """A line that is overwritten on a terminal; elsewhere, a line now and then."""

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
    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.folder = repository.build_folder

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps other processes of ./kata from building or testing in this folder: Ninja's and Meson's
        records allow one run at a time."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "kata.lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(
                    f"Waiting for another ./kata, which is at work in {self.folder}",
                    file=sys.stderr,
                    flush=True,
                )
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def setup(self, *question: str) -> str:
        """Runs .ci/setup.sh, which installs missing programs, or answers a question."""
        out = subprocess.PIPE if question == ("compiler",) else None
        command = ["bash", str(self.repository.root / ".ci" / "setup.sh"), *question]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, text=True, check=False)
        if done.returncode:
            sys.exit(done.returncode)  # its own message is printed already
        return (done.stdout or "").strip()

    def configure(self, everything: bool = False, steps: bool = True) -> None:
        """Makes the folder, or brings it up to date with the files of the repository. A new folder has only
        the steps and their solutions until `everything` is needed, or without `steps` only the engine."""
        place = next(path for path in (self.folder, *self.folder.parents) if path.is_dir())
        if not os.access(place, os.W_OK):
            raise Fault(
                f"{place} cannot be written, and the build needs that; to build elsewhere: "
                f"KATA_BUILD=~/kata-build ./kata …"
            )
        if (free := shutil.disk_usage(place).free) < LEAST_FREE:
            raise Fault(
                f"the disk of {place} has only {free >> 20} MB left: the build needs "
                f"{LEAST_FREE >> 20} MB or more"
            )
        with self.alone():
            self.bring_up_to_date(everything, steps)

    def bring_up_to_date(self, everything: bool, steps: bool) -> None:
        setup = ["meson", "setup", self.folder, self.repository.root]
        is_new = not (self.folder / "build.ninja").is_file()
        record = self.folder / "meson-private/cmd_line.txt"
        is_engine = not is_new and record.is_file() and "steps = false" in record.read_text(encoding="utf-8")
        if is_new or (is_engine and steps) or not all(map(shutil.which, ("meson", "ninja"))):
            self.setup(*["engine"] * (not steps))
        if is_new:
            print(f"\nConfiguring {self.folder}", flush=True)
            setup += [f"-Dsteps={str(steps).lower()}", f"-Dmistakes={str(everything).lower()}"]
            self.run_meson(setup, quietly=False, env={**os.environ, "CXX": self.setup("compiler")})
            return
        configured, wanted = self.configured(), self.repository.modules(self.backends())
        if not everything and all(module.is_of_step for module in configured):
            wanted = {module for module in wanted if module.is_of_step}
        if steps and (is_engine or configured != wanted):
            options = ["-Dsteps=true"] * is_engine + ["-Dmistakes=true"] * everything
            self.run_meson([*setup, "--reconfigure", *options])
        else:
            self.run_meson(["ninja", "-C", self.folder, "build.ninja"])

    def run_meson(
        self, command: list[object], quietly: bool = True, env: Mapping[str, str] | None = None
    ) -> None:
        out, errors = (QUIET["stdout"], QUIET["stderr"]) if quietly else (None, None)
        with processes.running(command, stdout=out, stderr=errors, env=env) as meson:
            said = meson.communicate()[0]
        if meson.returncode:
            print(said or "", end="")
            raise Fault(f"{shutil.which(str(command[0]))} cannot configure the build: see above")

    def configured(self) -> set[Module]:
        return {module for name in targets(self.folder) if (module := module_of(name))}

    def backends(self) -> list[str]:
        built = targets(self.folder)
        return sorted(
            {backend for chapter in self.repository.chapters() for backend in backends(built, chapter)}
        )

    def backend(self, chapter: str) -> str:
        """Returns the back end of the tour: the GPU's if there is a GPU to run it."""
        built = backends(targets(self.folder), chapter)
        if not built:
            raise Fault(f"{chapter} has no step yet, or no suite")
        return built[0] if len(built) == 1 or self.gpu_here() else "cpu"

    @staticmethod
    def gpu_here() -> bool:
        if not shutil.which("nvidia-smi") or not shutil.which("nvcc"):
            return False
        return subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).returncode == 0

    @staticmethod
    def gpus() -> list[str]:
        """Returns the compute capability of each GPU, as "9.0"; "" if its driver does not report it."""
        if not Build.gpu_here():
            return []
        asked = subprocess.run(
            ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.returncode:
            return [""]
        return [
            line if re.fullmatch(r"\d+\.\d+", line) else ""
            for line in map(str.strip, asked.stdout.splitlines())
        ]

    def has(self, file: str) -> bool:
        return (self.folder / file).exists()

    def knows_host_and_device(self) -> bool:
        """True if the build lets clang check each step, on the CPU back end, for code that nvcc would
        refuse."""
        return ".cpu.legal" in (self.folder / "build.ninja").read_text(encoding="utf-8", errors="replace")

    def suite(self, chapter: str, backend: str) -> pathlib.Path:
        path = self.folder / suite(chapter, backend)
        if not path.exists():
            raise Fault(f"without {path.name} no step of {chapter} can be tested")
        return path

    def compile(self, wanted: Iterable[str] = (), named: bool = True) -> set[str]:
        """Builds the targets, or all, and goes on after failures. Prints the first errors of a failure
        without its command line. Returns the targets that failed. Unless `named`, shows progress as a number
        only."""
        failed: list[str] = []
        progress = Progress()
        root = os.path.relpath(self.repository.root, self.folder)
        part: list[str] = []  # the output about the last target that failed

        def show() -> None:
            for line in compilers.shown(part) if not failed or module_of(failed[-1]) else part:
                # Paths from the root.
                print(
                    re.sub(rf"{re.escape(root)}/(chapters|solutions|tests|common|reference)/", r"\1/", line)
                )
            part.clear()

        is_command = False
        with (
            self.alone(),
            processes.running(["ninja", "-C", self.folder, "-k", "0", *wanted], **QUIET) as ninja,
        ):
            for line in processes.lines_of(ninja):
                if is_command:
                    is_command = False
                elif re.match(r"\[\d+/\d+\] ", line):
                    show()
                    progress.show(line if named else line.split()[0])
                elif line.startswith("FAILED: "):
                    progress.clear()
                    show()
                    name = target_of(line)
                    if name not in failed:
                        print(f"{chr(10) if failed else ''}{described(name)}:")
                    # Messages name the last one.
                    failed = [other for other in failed if other != name] + [name]
                    is_command = True  # the next line is the command
                elif not line.startswith("ninja: ") or line.startswith("ninja: error: "):
                    progress.clear()
                    part.append(line)
            progress.clear()
            show()
        if ninja.returncode and not failed:
            failed.append("the build")
        return set(failed)


def target_of(line: str) -> str:
    """Returns the target of a line of Ninja's about a failure: the module, also if one of its parts has
    failed."""
    name = re.sub(r"^FAILED: (\[.*?\] )?", "", line).split(" ")[0].split(".p/")[0]
    return re.sub(r"\.legal$", ".so", name)


def described(target: str) -> str:
    """Returns a sentence about a target that has not been built."""
    if module := module_of(target):
        return f"{path_of(module)} does not compile"
    if target.endswith(".cu"):
        return "a mistake does not fit its solution"
    return f"{target} cannot be built"


def path_of(module: Module) -> str:
    """Returns the path of a kernel, or of the file of mistakes and the mistake's name there."""
    if module.is_of_step:
        return f"{module.tree}/{module.chapter}/{module.name}.cu"
    if module.tree == "styles":
        return f"tests/styles/{module.chapter}/{module.name}.cu"
    return f"tests/wrong/{module.chapter}/{module.step}.mistakes: {module.name.split('.')[-1]}"
