#!/usr/bin/env python3
"""The contents of this repository: its chapters and steps, the state of a step, and the build's name for
each."""

from __future__ import annotations

import argparse
import csv
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import bodies
import mistakes
from fault import Fault
from mistakes import Mistake

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The course: the steps that a beginner writes, in an order in which nothing is used before it is taught. Its
# chapters are in the order of the book. All other steps go further, and chapters that are not named here come
# after these.
COURSE = (
    "grids 01 02 03",
    "reduction 01 02 03 04 05 15",
    "histogram 01 02 03 04 05",
    "convolution 01 02 03",
    "stencil 01 03 04",
    "scan 01 03 04 05 06 07",
    "gemm 01 02 03 04",
)
ORDER = tuple(dict.fromkeys(line.split()[0] for line in COURSE))
# Steps beyond the course that use what a later chapter teaches, and the step that teaches it.
AFTER = {"grids 06": "gemm 07"}
# The trees of kernels: a student's steps, the solutions, kernels that must be rejected, right variants, and
# steps as others would write them.
TREES = ("chapters", "solutions", "wrong", "variants", "styles")
BACKENDS = ("gpu", "cpu")  # the tour takes the first of them that is built and can run
STEP = re.compile(r"\d\d_[a-z0-9_]+\.cu")
# The line of a step's header comment with the GPU that it requires: "sm_80" is this compute capability or a
# newer one; "sm_90a" is this one only, whose instructions the CPU back end does not have; ", 193 KiB" after
# either is the shared memory that a block must be able to have, which newer GPUs may lack.
NEEDS = re.compile(r"^// Needs:(.*)$", re.M)
NEEDED = re.compile(r" sm_(\d+)(\d)(a?)(?:, (\d+) KiB)?")
STYLE = re.compile(r"(\d\d_[a-z0-9_]+)\.[a-z0-9_]+\.cu")


class Module(NamedTuple):
    """A kernel as it is built for a back end. The name of a mistake, a variant or a style is STEP.NAME."""

    tree: str
    chapter: str
    name: str
    backend: str

    @property
    def file(self) -> str:
        return ".".join((*self, "so"))

    @property
    def step(self) -> str:
        return self.name.split(".")[0]

    @property
    def is_of_step(self) -> bool:
        """True if it is a step or its solution, which every build has."""
        return self.tree in ("chapters", "solutions")


def module(tree: str, chapter: str, name: str, backend: str) -> str:
    """Returns the file name of a module, which meson.build, the suites and all tools use."""
    return Module(tree, chapter, name, backend).file


def prefix(tree: str, chapter: str, name: str = "") -> str:
    """Returns how the file names of a chapter's modules begin, or those of one kernel on every back end."""
    return ".".join((tree, chapter, *([name] if name else []), ""))


def module_of(file: str) -> Module | None:
    """Returns the module that a target of the build is; None if the target is not a kernel."""
    tree, _, rest = file.partition(".")
    found = re.fullmatch(r"(\w+)\.(\w+(?:\.\w+)?)\.(cpu|gpu)\.so", rest)
    return Module(tree, *found.groups()) if found and tree in TREES else None


def short(chapter: str, step: str) -> str:
    """Returns the step as a command line names it."""
    return f"{chapter} {step[:2]}"


def either(names: list[str]) -> str:
    """Returns "a, b or c"."""
    return " or ".join([*filter(None, [", ".join(names[:-1])]), names[-1]])


def suite(chapter: str, backend: str) -> str:
    """Returns the program that tests the steps of a chapter."""
    return f"{chapter}-{backend}"


def measured_ratio(row: dict[str, str]) -> str:
    """Returns "1.66 to 1.67" for a row of claims.csv, or one number if both are the same."""
    ratios = [f"{float(row[key]):.2f}" for key in ("lowest ratio", "highest ratio")]
    return " to ".join(dict.fromkeys(ratios))


class Needs(NamedTuple):
    """The GPU that a step requires, by its compute capability."""

    major: str
    minor: str
    only: bool  # this one, and no newer one
    shared: str = ""  # KiB of shared memory for a block, if some newer GPUs have less

    @property
    def line(self) -> str:
        """Returns the requirement in a header's form: the architecture, in nvcc's spelling, and the shared
        memory."""
        return f"sm_{self.major}{self.minor}{'a' * self.only}{f', {self.shared} KiB' if self.shared else ''}"

    def __str__(self) -> str:
        shared = f" with {self.shared} KiB of shared memory for a block" if self.shared else ""
        return (
            f"needs a GPU of compute capability "
            f"{self.major}.{self.minor}{'' if self.only else ' or newer'}{shared}"
        )

    def met_by(self, capability: str) -> bool:
        """True if a GPU with this compute capability, as "9.0", will do, or may do because its capability is
        unknown. The suite checks the shared memory: here only steps for one GPU count, because the CPU back
        end runs all others, and that GPU has enough."""
        needed, there = (
            (int(self.major), int(self.minor)),
            tuple(map(int, capability.split("."))) if capability else None,
        )
        return there is None or there == needed or (there > needed and not self.only)


class Repository:
    def __init__(self, root: pathlib.Path = ROOT) -> None:
        self.root = root
        self.git_complaint = ""  # the error output of the last command

    @property
    def build_folder(self) -> pathlib.Path:
        """Returns the folder of the build and of the verdicts. KATA_BUILD moves it, for a checkout that
        cannot be written."""
        elsewhere = os.environ.get("KATA_BUILD")
        return pathlib.Path(elsewhere).expanduser().absolute() if elsewhere else self.root / "build"

    def chapters(self) -> list[str]:
        """Returns the chapters in the order of the book."""
        there = {
            path.name
            for path in (self.root / "chapters").iterdir()
            if path.is_dir() and not path.name.startswith(".")
        }
        return [name for name in ORDER if name in there] + sorted(there.difference(ORDER))

    def course(self) -> list[tuple[str, str]]:
        """Returns chapter and step of all that is in the course, in its order."""
        there = {short(*place): place for place in self.all_places()}
        named = [f"{line.split()[0]} {number}" for line in COURSE for number in line.split()[1:]]
        return [there[name] for name in named if name in there]

    def further(self) -> list[tuple[str, str]]:
        """Returns all other steps in the order of the book, those of AFTER after the step that they need."""
        course, found = set(self.course()), []
        for place in self.all_places():
            if place not in course and short(*place) not in AFTER:
                found.append(place)
            found += [late for late in self.all_places() if AFTER.get(short(*late)) == short(*place)]
        return found

    def all_places(self) -> list[tuple[str, str]]:
        return [(chapter, step) for chapter in self.chapters() for step in self.all_steps(chapter)]

    def steps(self, chapter: str, tree: str = "chapters") -> list[str]:
        return sorted(
            path.stem for path in (self.root / tree / chapter).glob("*.cu") if STEP.fullmatch(path.name)
        )

    def all_steps(self, chapter: str) -> list[str]:
        """Returns the steps of both trees: a step whose file has been deleted is still one."""
        return sorted({*self.steps(chapter), *self.steps(chapter, "solutions")})

    def missing(self, chapter: str, step: str | None = None) -> list[str]:
        """Returns a line for each step whose file has been deleted, or for this step only."""
        return [
            f"chapters/{chapter}/{name}.cu is missing; to get its stub back: ./kata reset "
            f"{chapter} {name[:2]}"
            for name in self.all_steps(chapter)
            if step in (None, name) and not self.source(chapter, name).is_file()
        ]

    def source(self, chapter: str, step: str, tree: str = "chapters") -> pathlib.Path:
        return self.root / tree / chapter / f"{step}.cu"

    def lesson(self, chapter: str) -> pathlib.Path:
        return self.root / "chapters" / chapter / "README.md"

    def lesson_of(self, chapter: str, step: str) -> str:
        """Returns a step's part of the lesson, after what stands between it and the step before."""
        before = ""
        for part in re.split(
            r"^(?=### \d\d\b)", self.lesson(chapter).read_text(encoding="utf-8"), flags=re.M
        ):
            own, *after = re.split(r"(?<=\n)(?=###? )", part, maxsplit=1)
            if re.match(rf"###.*\b{step[:2]}\b", part):  # it may be about several
                return before + own
            before = "".join(after) if part.startswith("###") else part
        raise Fault(f"the lesson has no section for step {step[:2]}")

    def measured_page(self, chapter: str) -> pathlib.Path:
        """Returns the page beside the lesson that says what was measured. A chapter that was never
        timed has none."""
        return self.root / "chapters" / chapter / "measured" / "README.md"

    def text(self, chapter: str, step: str, tree: str = "chapters") -> str:
        return self.source(chapter, step, tree).read_text(encoding="utf-8", errors="replace")

    def needs(self, chapter: str, step: str) -> Needs | None:
        """Returns the GPU that the step requires, by its solution, or its stub if there is none; None if any
        GPU will do. Throws Fault if the line cannot be read."""
        tree = "solutions" if self.source(chapter, step, "solutions").is_file() else "chapters"
        found = NEEDS.search(self.text(chapter, step, tree))
        if not found:
            return None
        needed = NEEDED.fullmatch(found[1])
        if not needed:
            file = self.relative(self.source(chapter, step, tree))
            raise Fault(
                f"{file} says '{found[0]}', where a GPU is needed: // Needs: sm_80, or sm_90a for this "
                f"one only; and for shared memory sm_90, 193 KiB"
            )
        return Needs(needed[1], needed[2], needed[3] == "a", needed[4] or "")

    def runs_on(self, backend: str, chapter: str, step: str) -> bool:
        """True if the back end can run the step: the CPU back end lacks the instructions that only one GPU
        has."""
        needs = self.needs(chapter, step)
        return backend != "cpu" or needs is None or not needs.only

    def runs_here(self, chapter: str, step: str, gpus: Sequence[str]) -> bool:
        """True if the CPU back end or one of these GPUs, by their compute capabilities, can run the step."""
        needs = self.needs(chapter, step)
        return self.runs_on("cpu", chapter, step) or needs is None or any(map(needs.met_by, gpus))

    def cpu_steps(self, chapter: str, tree: str = "solutions") -> list[str]:
        """Returns the steps that the CPU back end runs."""
        return [step for step in self.steps(chapter, tree) if self.runs_on("cpu", chapter, step)]

    def require_cpu(self, chapter: str, step: str) -> None:
        """Throws Fault for a step that the CPU back end cannot run."""
        if not self.runs_on("cpu", chapter, step):
            raise Fault(
                f"{chapter}/{step} {self.needs(chapter, step)}, and only the CPU back end sees what "
                f"each line does"
            )

    def is_open(self, chapter: str, step: str) -> bool:
        return bodies.is_open(self.text(chapter, step))

    def is_untouched(self, chapter: str, step: str) -> bool:
        """True if the file is still the stub, which is known to compile and to be open."""
        text = self.text(chapter, step)
        try:
            solution = self.text(chapter, step, "solutions")
            return bodies.is_stub(text) and text == bodies.stub_from(solution, text, step)
        except (Fault, FileNotFoundError):
            return False

    def is_unwritten(self, chapter: str, step: str) -> bool:
        return bool(self.missing(chapter, step)) or self.is_open(chapter, step)

    def stub_of(self, chapter: str, step: str) -> str:
        """Returns the step as it was before anything was written. Git's newest stub comes first, because
        comments in the file may be the student's own; the file itself is used if git has none."""
        file = f"chapters/{chapter}/{step}.cu"
        for commit in self.git("log", "--format=%H", "--", file).split():
            text = self.git("show", f"{commit}:./{file}")
            if bodies.is_stub(text):
                return text
        is_there = self.source(chapter, step).is_file()
        if is_there and bodies.is_stub(text := self.text(chapter, step)):
            return text
        state = "has been written" if is_there else "is missing"
        if not self.git("rev-parse", "HEAD"):
            if "dubious ownership" in self.git_complaint:
                raise Fault(
                    f"{file} {state}, and git does not read a checkout that another user owns; "
                    f"to allow it: "
                    f"git config --global --add safe.directory '{self.root}'"
                )
            if self.git_complaint == "not installed":
                raise Fault(f"{file} {state}, and git, which brings its stub back, is not installed")
            raise Fault(
                f"{file} {state}, and this is no git checkout: its stub is only in the original repository"
            )
        raise Fault(f"{file} {state}, and git knows no {'earlier ' if is_there else ''}stub of it")

    def git(self, *arguments: str) -> str:
        """Returns git's output; empty without git, or without a checkout."""
        # A checkout may belong to another user, as in a container. This option makes git read it all the
        # same.
        command = ["git", "-c", "safe.directory=*", "-C", str(self.root), *arguments]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                encoding="utf-8",
                errors="replace",
                env={**os.environ, "LC_ALL": "C"},
                check=False,
            )
        except OSError:
            self.git_complaint = "not installed"
            return ""
        self.git_complaint = done.stderr
        return "" if done.returncode else done.stdout

    def styles_folder(self, chapter: str) -> pathlib.Path:
        return self.root / "tests" / "styles" / chapter

    def styles(self, chapter: str) -> list[str]:
        """Returns the other ways to write the chapter's steps, each as STEP.NAME."""
        return sorted(
            path.stem for path in self.styles_folder(chapter).glob("*.cu") if STYLE.fullmatch(path.name)
        )

    def refuted(
        self,
        chapter: str,
        step: str | None = None,
        without: Collection[str] = (),
        elsewhere: str = "",
        times: Mapping[str, float] = MappingProxyType({}),
    ) -> list[str]:
        """Returns a line for each claim about a time, of all steps or of one, that the GPU which measured the
        ladder refutes. It belongs to the later of its two steps, because a reader then knows both. These are
        claims about this repository's own steps; no student's step is judged by them. Steps in `without` are
        left out, and of two claims about a pair, which contradict each other, the one for the earlier step.
        Each line also has the ratio on another GPU, `elsewhere`, if `times` has its milliseconds by step."""
        machine, rows = self.timed_claims(chapter)
        refuted = {(row["step"], row["against"]) for row in rows if row["standing"] == "refuted"}
        lines = []
        for row in rows:
            if (
                row["standing"] != "refuted"
                or (row["against"] > row["step"] and (row["against"], row["step"]) in refuted)
                or step not in (None, max(row["step"], row["against"]))
                or {row["step"], row["against"]} & set(without)
            ):
                continue
            found = f"{measured_ratio(row)} times as fast"
            if elsewhere not in ("", machine):
                theirs, mine = times.get(row["against"]), times.get(row["step"])
                there = f"{theirs / mine:.2f} times" if theirs and mine else "it has not been measured"
                found += f"; on {elsewhere}: {there}"
            claimed = float(row["claimed"])
            faster = f"{claimed:.2f} times as fast as" if claimed > 1 else "faster than"
            lines.append(
                f"At first sight, or according to the documents, {row['step']} should be {faster} "
                f"{row['against']}. Measured on {machine}, with the solutions and the problem of the ladder: "
                f"{found}. No step is judged by this claim. "
                f"More: {self.relative(self.measured_page(chapter))}"
            )
        return lines

    def timed_claims(self, chapter: str) -> tuple[str, list[dict[str, str]]]:
        """Returns the GPU that measured the ladder, and a row for each claim about a time; none if nothing is
        measured."""
        path = self.root / "chapters" / chapter / "measured" / "claims.csv"
        if not path.is_file():
            return "", []
        machine, *rows = path.read_text(encoding="utf-8").splitlines()
        return machine.removeprefix("# ").split(",")[0], list(csv.DictReader(rows))

    def gained_in_time(self, chapter: str, step: str) -> str:
        """Returns a sentence about the gain in time of a step that lowers no counter; empty for a chapter
        without measurements."""
        machine, rows = self.timed_claims(chapter)
        if rows and step == self.steps(chapter, "solutions")[0]:
            return "No earlier step solves this problem, so there is nothing to compare its time with."
        held = [
            row
            for row in rows
            if row["standing"] == "asserted" and row["step"] == step and row["against"] < step
        ]
        if not held:
            return ""
        row = max(held, key=lambda one: one["against"])
        return (
            f"It gains time, but nothing that is counted: measured on {machine}, with the solutions, it "
            f"is {measured_ratio(row)} "
            f"times as fast as {row['against']}."
        )

    def mistakes_file(self, chapter: str, step: str) -> pathlib.Path:
        return self.root / "tests" / "wrong" / chapter / (step + mistakes.SUFFIX)

    def mistakes_files(self, chapter: str) -> list[pathlib.Path]:
        return sorted((self.root / "tests" / "wrong" / chapter).glob("*" + mistakes.SUFFIX))

    def mistakes(self, chapter: str) -> list[Mistake]:
        """Returns the mistakes of all steps, variants among them."""
        return [mistake for path in self.mistakes_files(chapter) for mistake in mistakes.read(path)]

    def kernel(self, chapter: str, mistake: Mistake) -> str:
        return mistakes.kernel(mistake, self.root / "solutions" / chapter)

    def kernels(self, chapter: str) -> list[tuple[str, str]]:
        """Returns the kernels of a chapter that are built and tested, as tree and name, the solutions
        first."""
        steps = [(tree, step) for tree in ("solutions", "chapters") for step in self.steps(chapter, tree)]
        mistaken = [(mistake.tree, mistake.kernel) for mistake in self.mistakes(chapter)]
        return [*steps, *mistaken, *(("styles", name) for name in self.styles(chapter))]

    def modules(self, backends: list[str]) -> set[Module]:
        """Returns the modules of a build for these back ends."""
        return {
            Module(tree, chapter, name, backend)
            for chapter in self.chapters()
            for tree, name in self.kernels(chapter)
            for backend in backends
            if self.runs_on(backend, chapter, name.split(".")[0])
        }

    def for_meson(self) -> list[str]:
        """Returns lines FILE|TREE/NAME …|SOLUTION …|NEEDS: the kernels that a file is, or that are made of it
        and of these solutions, and the GPU that they require."""
        lines = []

        def needed(chapter: str, step: str) -> str:
            needs = self.needs(chapter, step)
            return needs.line if needs else ""

        for chapter in self.chapters():
            for tree in ("solutions", "chapters"):
                for step in self.steps(chapter, tree):
                    file = self.relative(self.source(chapter, step, tree))
                    lines.append(f"{file}|{tree}/{step}||{needed(chapter, step)}")
            for path in self.mistakes_files(chapter):
                found = mistakes.read(path)
                edited = sorted({self.source(chapter, mistake.edited, "solutions") for mistake in found})
                kernels = " ".join(f"{mistake.tree}/{mistake.kernel}" for mistake in found)
                solutions = " ".join(map(self.relative, edited))
                needs = needed(chapter, path.name.removesuffix(mistakes.SUFFIX))
                lines.append(f"{self.relative(path)}|{kernels}|{solutions}|{needs}")
            folder = self.relative(self.styles_folder(chapter))
            lines += [
                f"{folder}/{name}.cu|styles/{name}||{needed(chapter, name.split('.')[0])}"
                for name in self.styles(chapter)
            ]
        return lines

    def relative(self, path: pathlib.Path) -> str:
        return path.relative_to(self.root).as_posix()

    def timed(self, chapter: str, backend: str) -> list[str]:
        """Returns a line for each kernel that is timed against another: its name and module, and those of the
        other."""
        found = self.mistakes(chapter)
        trees = {mistake.kernel: mistake.tree for mistake in found}
        lines = []
        for mistake in found:
            if against := mistake.timed_against:
                mine, theirs = (
                    (trees.get(name, "solutions"), chapter, name, backend)
                    for name in (mistake.kernel, against)
                )
                lines.append(f"{mistake.kernel} {module(*mine)} {against} {module(*theirs)}")
        return lines


def targets(build: pathlib.Path) -> list[str]:
    """Returns the programs and modules of a build."""
    done = subprocess.run(
        ["ninja", "-C", str(build), "-t", "targets", "all"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Fault(f"{build} is not a folder that Meson has configured")
    return re.findall(
        r"^([^:]*): (?:[a-z]*_LINKER(?:_RSP)?|(?<=\.so: )CUSTOM_COMMAND_DEP)$", done.stdout, re.M
    )


def backends(built: list[str], chapter: str) -> list[str]:
    return [backend for backend in BACKENDS if suite(chapter, backend) in built]


def write_kernels(path: pathlib.Path, folder: pathlib.Path) -> None:
    """Writes the kernels of a file of mistakes, as STEP.NAME.CHAPTER.cu. Unchanged files are left alone, so
    that nothing is built again for them."""
    repository = Repository(path.parents[3])  # the path as given, so that messages name files in the same way
    chapter, faults = path.parent.name, []
    for mistake in mistakes.read(path):
        target = folder / f"{mistake.kernel}.{chapter}.cu"
        try:
            text = repository.kernel(chapter, mistake)
        except Fault as fault:
            faults.append(str(fault))
            continue
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
    if faults:
        raise Fault("\n".join(faults))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, text: str, *arguments: str) -> None:
        added = commands.add_parser(name, help=text, description=text)
        for argument in arguments:
            added.add_argument(
                argument.lower().rstrip("."),
                metavar=argument.rstrip("."),
                nargs="*" if argument[-1] == "." else None,
            )

    command("chapters", "in the order of the book")
    command("steps", "of a chapter", "CHAPTER")
    command("cpu-steps", "of a chapter, those that the CPU back end runs", "CHAPTER")
    command("module", "the file name of a module", "TREE", "CHAPTER", "NAME", "BACKEND")
    command("prefix", "the beginning of the file names of a chapter's modules", "TREE", "CHAPTER")
    command(
        "targets", "the programs and modules of a build, without those of the trees named", "BUILD", "TREE..."
    )
    command(
        "timed",
        "each kernel that is timed against another: it, its module, the other, its module",
        "CHAPTER",
        "BACKEND",
    )
    command("for-meson", "what meson.build lists")
    command("write-kernels", "makes the kernels of a file of mistakes", "FILE", "FOLDER")
    given = parser.parse_args()
    repository = Repository()
    if given.command == "write-kernels":
        write_kernels(pathlib.Path(given.file), pathlib.Path(given.folder))
        return
    lines = {
        "chapters": repository.chapters,
        "steps": lambda: repository.steps(given.chapter, "solutions"),
        "cpu-steps": lambda: repository.cpu_steps(given.chapter),
        "module": lambda: [module(given.tree, given.chapter, given.name, given.backend)],
        "prefix": lambda: [prefix(given.tree, given.chapter)],
        "targets": lambda: [
            name for name in targets(pathlib.Path(given.build)) if name.split(".")[0] not in given.tree
        ],
        "timed": lambda: repository.timed(given.chapter, given.backend),
        "for-meson": repository.for_meson,
    }[given.command]()
    print("".join(f"{line}\n" for line in lines), end="")


if __name__ == "__main__":
    try:
        main()
    except Fault as fault:
        sys.exit(str(fault))
