"""The tour: the ladders of chapters, and below each what this machine does not show."""

from __future__ import annotations

import argparse
import os
import textwrap

import board
import estimates
import ladder
from build import Build
from fault import Fault
from names import pick_chapters
from repository import Repository, module, suite

WIDTH = 80


def toured(repository: Repository, given: argparse.Namespace) -> tuple[int, dict[str, object]]:
    """Runs the ladders, and prints them. Returns the exit status, and the same for programs."""
    chapters = pick_chapters(repository, given.chapters)
    file = given.image or given.text
    if file and not os.path.isfile(file):
        raise Fault(f"there is no file {file}", 2)
    if given.device and (given.image or given.text):
        raise Fault("--device estimates the timed problem, not a file: leave out one of the two", 2)
    build = Build(repository)
    build.configure()
    status, found = 0, []
    for chapter in chapters:
        backend = build.backend(chapter)
        trees = ("solutions", "chapters") if given.mine else ("solutions",)
        for kind in sorted({backend, "cpu"} & set(build.backends())) if given.device else [backend]:
            modules = [
                module(tree, chapter, step, kind)
                for tree in trees
                for step in repository.steps(chapter, tree)
                if repository.runs_on(kind, chapter, step)
            ]
            if build.compile([suite(chapter, kind), *modules]):
                status = 1
        shown = ladder.Tour(repository, build.suite(chapter, backend), build.folder, chapter, backend)
        shown.show(
            mine=given.mine, full=given.full, file=file and os.path.abspath(file), as_image=bool(given.image)
        )
        found.append(shown.found)
        not_right = set(shown.faults)
        status |= bool(not_right)
        print_needs(repository, chapter, backend)
        if given.device and "cpu" not in build.backends():
            print("\nNo estimate: it needs the CPU back end, which is not built here.")
        elif given.device:
            if given.mine:  # a run over one problem may not show a fault that tests have found
                places = board.Board(repository).places
                not_right |= {
                    place.step for place in places if (place.chapter, place.state) == (chapter, "wrong")
                }
            print()
            for lines in estimates.ladder(repository, build, chapter, given.device, given.mine, not_right):
                print(lines, flush=True)
        if not (given.image or given.text):
            print_refuted(repository, chapter, given)
    return status, {"chapters": found}


def print_needs(repository: Repository, chapter: str, backend: str) -> None:
    """Prints a line for each step that this back end cannot run."""
    for step in repository.steps(chapter, "solutions"):
        if not repository.runs_on(backend, chapter, step):
            print(f"  {step.replace('_', ' ')}: {repository.needs(chapter, step)}")


def print_refuted(repository: Repository, chapter: str, given: argparse.Namespace) -> None:
    """Prints the refuted claims, but not of steps that are still open, because they would give away the
    point."""
    is_open = [
        step
        for step in repository.all_steps(chapter)
        if given.mine and repository.is_unwritten(chapter, step)
    ]
    elsewhere, times = "", {}
    if given.device:
        elsewhere = estimates.machine(estimates.device(repository, given.device))
        times = estimates.measured(repository, given.device, chapter)
    if refuted := repository.refuted(chapter, without=is_open, elsewhere=elsewhere, times=times):
        print()
        for line in refuted:
            print(textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="    "))
