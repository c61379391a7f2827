"""What a step does, as the suite of its chapter writes it down (common/judge/trace.hpp), beside what its solution does."""

from __future__ import annotations

import json
import pathlib
import subprocess
import tempfile
from typing import NamedTuple

import processes
from build import QUIET, Build
from fault import Fault
from repository import Repository, module, module_of, suite


class Both(NamedTuple):
    """Of the student's step, and of its solution; None where the solution itself is what is shown."""

    step: dict
    solution: dict | None


def of(repository: Repository, chapter: str, step: str, what: str, of_solution: bool) -> Both:
    """`what` is "explain" or "trace". Builds what is needed. Throws Fault for a step of which there is nothing to be shown."""
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
            "only the CPU back end sees what each line does, and this build has none: meson configure build -Dcpu=enabled"
        )
    trees = ["solutions"] if of_solution else ["chapters", "solutions"]
    not_built = build.compile([suite(chapter, "cpu"), *(module(tree, chapter, step, "cpu") for tree in trees)])
    if not_built:
        raise Fault(f"{file} does not compile: see above" if any(map(module_of, not_built)) else "see above")
    program = build.suite(chapter, "cpu")
    found = [
        without_launches(repository, tree, chapter, run(program, build.folder / module(tree, chapter, step, "cpu"), what))
        for tree in trees
    ]
    return Both(found[0], None if of_solution else found[1])


def without_launches(repository: Repository, tree: str, chapter: str, found: dict) -> dict:
    """Less the instructions in the lines of launches: there the CPU back end hands each thread its arguments, which is
    nothing that a kernel of a GPU executes."""
    # A trace names places by their numbers, of which none may go.
    if "requests" in found:
        return found
    places = [
        place for place in found["places"] if place["memory"] or "<<<" not in source_line(repository, tree, chapter, place["line"])
    ]
    return {**found, "places": places}


def run(program: pathlib.Path, kernel: pathlib.Path, what: str) -> dict:
    """What the suite says of one module. What the kernel prints is not shown."""
    with tempfile.TemporaryDirectory(prefix="kata-") as folder:
        file = pathlib.Path(folder) / "said.json"
        command = [program, f"--{what}", kernel, "--to", file]
        with processes.running(command, **{**QUIET, "stderr": subprocess.PIPE}) as process:
            said = process.communicate()[1].strip()
        if process.returncode < 0:
            raise Fault(f"the step crashed: {processes.cause_of_death(-process.returncode)}; ./kata test says more")
        if process.returncode:
            raise Fault(f"the step did not come to its end: {said or f'status {process.returncode}'}")
        return json.loads(file.read_text(encoding="utf-8", errors="replace"))


def place_of(line: str) -> tuple[str, int]:
    """ "03_tiled.cu:27" as file and number; 0 of a line that nobody knows."""
    file, _, number = line.partition(":")
    return file, int(number) if number.isdigit() else 0


def source_line(repository: Repository, tree: str, chapter: str, line: str) -> str:
    """The text of a line, without its indent; nothing where it is in none of the step's files."""
    file, number = place_of(line)
    path = repository.root / tree / chapter / file
    if not number or not path.is_file():
        return ""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[number - 1].strip() if number <= len(lines) else ""


def warning(found: dict) -> str:
    """What must be said first of a step that is not right."""
    if not found["fault"]:
        return ""
    first, *rest = found["fault"].splitlines()
    return f"The step is not right yet: {first}{' …' if rest else ''} (./kata test says all)\n"
