"""The counts and requests of a step and of its solution, which the suite of the chapter writes
(common/judge/trace.hpp)."""

from __future__ import annotations

import json
import pathlib
import subprocess
import tempfile
from typing import Any, NamedTuple, TypedDict

import processes
from build import QUIET, Build
from fault import Fault
from repository import Repository, module, module_of, suite


class Place(TypedDict):
    """A line of a kernel and an array that it reaches; without `memory`, the line alone."""

    line: str
    did: str
    memory: str
    array: str
    requests: int
    lanes: int
    steps: int
    units: int
    least: int
    waits: int
    turns: int


class Array(TypedDict):
    name: str
    bytes: int


class Launch(TypedDict):
    grid: list[int]
    block: list[int]


class Found(TypedDict):
    """The JSON of a suite: `all` only with --explain, and the keys after `places` only with --trace."""

    fault: str | None
    problem: str
    all: dict[str, float]
    places: list[Place]
    requests: list[list[int]]
    arrays: list[Array]
    shapes: list[list[Any]]  # the name of an array, and its extents
    launches: list[Launch]
    picture: str


class Both(NamedTuple):
    """The runs of the student's step and of its solution, which is None if the solution itself is shown."""

    step: Found
    solution: Found | None


def of(repository: Repository, chapter: str, step: str, what: str, of_solution: bool) -> Both:
    """Builds the modules and runs them. `what` is "explain" or "trace". Throws Fault if the step cannot be
    shown."""
    file = f"chapters/{chapter}/{step}.cu"
    if not of_solution:
        for line in repository.missing(chapter, step):
            raise Fault(line)
        if repository.is_open(chapter, step):
            raise Fault(
                f"{file} is still to be written, so it does nothing yet: ./kata hint {chapter} {step[:2]}; "
                "with --solution, this shows the solution"
            )
    repository.require_cpu(chapter, step)
    build = Build(repository)
    build.configure()
    if "cpu" not in build.backends():
        raise Fault(
            "only the CPU back end sees what each line does, and this build has none: meson configure "
            "build -Dcpu=enabled"
        )
    trees = ["solutions"] if of_solution else ["chapters", "solutions"]
    not_built = build.compile(
        [suite(chapter, "cpu"), *(module(tree, chapter, step, "cpu") for tree in trees)]
    )
    if not_built:
        raise Fault(f"{file} does not compile: see above" if any(map(module_of, not_built)) else "see above")
    program = build.suite(chapter, "cpu")
    found = [
        without_launches(
            repository.root / tree / chapter,
            run(program, build.folder / module(tree, chapter, step, "cpu"), what),
        )
        for tree in trees
    ]
    return Both(found[0], None if of_solution else found[1])


def without_launches(folder: pathlib.Path, found: Found) -> Found:
    """Removes the instructions in the lines of launches: there the CPU back end hands each thread its
    arguments, which no kernel on a GPU executes."""
    # A trace refers to places by number, so none may be removed.
    if "requests" in found:
        return found
    places = [
        place
        for place in found["places"]
        if place["memory"] or "<<<" not in source_line(folder, place["line"])
    ]
    return {**found, "places": places}


def run(program: pathlib.Path, kernel: pathlib.Path, what: str) -> Found:
    """Returns the suite's JSON about one module. The kernel's own output is not shown."""
    with tempfile.TemporaryDirectory(prefix="kata-") as folder:
        file = pathlib.Path(folder) / "said.json"
        command = [program, f"--{what}", kernel, "--to", file]
        with processes.running(command, stdout=QUIET["stdout"], stderr=subprocess.PIPE) as process:
            said = process.communicate()[1].strip()
        if process.returncode < 0:
            raise Fault(
                f"the step crashed: {processes.cause_of_death(-process.returncode)}; ./kata test says more"
            )
        if process.returncode:
            raise Fault(f"the step did not finish: {said or f'status {process.returncode}'}")
        found: Found = json.loads(file.read_text(encoding="utf-8", errors="replace"))
        return found


def place_of(line: str) -> tuple[str, int]:
    """Returns file and number of "03_tiled.cu:27"; 0 for an unknown line."""
    file, _, number = line.partition(":")
    return file, int(number) if number.isdigit() else 0


def source_line(folder: pathlib.Path, line: str) -> str:
    """Returns the text of a line, without its indent; empty if no file there has it."""
    file, number = place_of(line)
    path = folder / file
    if not number or not path.is_file():
        return ""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[number - 1].strip() if number <= len(lines) else ""


def warning(found: Found) -> str:
    """Returns the sentence that comes first for a step that is not right."""
    if not found["fault"]:
        return ""
    first, *rest = found["fault"].splitlines()
    return f"The step is not right yet: {first}{' …' if rest else ''} (./kata test says all)\n"
