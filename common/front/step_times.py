"""The times of a step and of its solution on a GPU that is not there."""

from __future__ import annotations

import pathlib
import textwrap
from typing import NamedTuple

import board
import estimates
import trace
from build import Build
from repository import Repository, module

WIDTH = 80


class Times(NamedTuple):
    """The times on a GPU that is not there. `step` is None for a wrong step, and for a solution that is shown
    alone."""

    described: pathlib.Path
    step: estimates.Estimate | estimates.NoTime | None
    solution: estimates.Estimate | None
    measured_ms: float | None  # the solution's time
    is_wrong: bool
    is_untested: bool


def of_both(repository: Repository, chapter: str, step: str, device: str, both: trace.Both) -> Times:
    """Returns the times. Throws NoTime if the solution has no estimate."""
    described, build = estimates.device(repository, device), Build(repository)
    program = build.suite(chapter, "cpu")

    def kernel(tree: str) -> pathlib.Path:
        return build.folder / module(tree, chapter, step, "cpu")

    # A run over one problem may not show a fault that tests have found.
    state = board.Board(repository).of(chapter, step).state if both.solution else ""
    is_wrong = bool(both.step["fault"]) or state == "wrong"
    theirs = estimates.of(program, kernel("solutions"), described) if both.solution or not is_wrong else None
    own = None
    if both.solution and not is_wrong:
        own = estimates.time_or_why(program, kernel("chapters"), described, kernel("solutions"))
    clock = estimates.measured(repository, device, chapter).get(step)
    return Times(described, own, theirs, clock, is_wrong, state == "untested")


def as_lines(
    repository: Repository, chapter: str, step: str, device: str, both: trace.Both, everything: bool = False
) -> list[str]:
    """Returns lines about the time on a GPU that is not there and its bounds, also by line; for a wrong step,
    only that it is wrong."""
    try:
        times = of_both(repository, chapter, step, device, both)
    except estimates.NoTime as why:
        return textwrap.wrap(f"there is no estimate: {why}", WIDTH)
    own, theirs = times.step, times.solution
    mine = own if isinstance(own, estimates.Estimate) else None
    shown = mine or theirs
    lines = [
        estimates.caption(estimates.machine(times.described), shown.problem if shown else ""),
        "",
        estimates.HEADINGS,
    ]
    if both.solution:
        lines.append(estimates.row_of("your step", own, None))
    lines.append(estimates.row_of("the solution", theirs, times.measured_ms))
    if mine and theirs:
        lines.append(f"Yours is {estimates.compared(mine.milliseconds, theirs.milliseconds)}.")
    if mine and times.is_untested:
        lines.append(f"It may be wrong: only ./kata test {chapter} {step[:2]} says whether it is right.")
    if shown and (mine or not (both.solution or times.is_wrong)):
        tree = "chapters" if mine else "solutions"
        said = estimates.details(
            shown,
            "your step" if mine else "the solution",
            lambda name: trace.source_line(repository.root / tree / chapter, name),
            everything,
        )
        lines += ["", *(textwrap.fill(line, WIDTH, subsequent_indent=" " * 9) for line in said)]
    found_all = [one for one in (mine, theirs) if one]
    bounds = [one.bound for one in found_all] + [launch.bound for one in found_all for launch in one.launches]
    return [*lines, "", estimates.legend(repository, device, chapter, bounds)]


def as_json(
    repository: Repository, chapter: str, step: str, device: str, both: trace.Both
) -> dict[str, object]:
    described = estimates.device(repository, device)
    said: dict[str, object] = {"device": estimates.machine(described)}
    try:
        times = of_both(repository, chapter, step, device, both)
    except estimates.NoTime as why:
        return {**said, "solution": estimates.as_json(why)}
    if both.solution:
        said["step"] = estimates.as_json(times.step)
    problem = times.solution.problem if times.solution else ""
    return {
        **said,
        "problem": problem,
        "solution": estimates.as_json(times.solution),
        "measured_ms": times.measured_ms,
    }
