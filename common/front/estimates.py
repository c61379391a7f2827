"""Estimated times on a GPU that is not there: the GPUs that are described, the text for a terminal, and
the error where a GPU has been measured."""

from __future__ import annotations

import concurrent.futures
import csv
import itertools
import math
import os
import pathlib
import re
import subprocess
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple, TypeVar

from build import Build
from fault import Fault
from repository import Repository, either, module

Told = TypeVar("Told")

FOLDER = "common/estimate"
WIDTH = 80
TITLE, COLUMN = 30, 11  # columns of a table
SHOWN = 6  # lines of a source

# The bounds of a launch (estimate.cpp), explained.
MEANINGS = {
    "issue": "warps wait for their turn to issue an instruction",
    "L1 and shared memory": (
        "lines of the L1 cache and passes over the banks of shared memory, which share one path"
    ),
    "L2": "sectors between the L1 caches and the L2 cache",
    "DRAM": "bytes between the L2 cache and the memory of the GPU",
    "atomics on one line": "atomics on the same 128 bytes of global memory take turns",
    "atomics": "all atomics on global memory together",
    "starting blocks": "a GPU starts only a limited number of blocks a second",
    "latency": "a block waits for what it has requested, and too few other blocks run meanwhile",
    "one block": "it has so much more to do than the others that the GPU waits for it alone",
    "blocks one after the other": "each block waits for what the one before it has written",
}
OF_NO_LINE = "-"  # in place of a line of the source
# Reasons why a part of the time belongs to no line.
IN_NO_LINE = {
    "issue": "the arithmetic that the problem needs",
    "starting blocks": "no line affects it, only the number of blocks",
    "latency": "it is the time of a chain of many lines, and none of them has a share of its own",
    "one block": "counts of lines are sums over all blocks, and this block is unlike the others",
    "blocks one after the other": "it is the time of a chain of blocks: no line has a share of its own",
}


def devices(repository: Repository) -> list[str]:
    """Returns the names of the GPUs that have a description in estimate/devices."""
    return sorted(path.stem for path in (repository.root / FOLDER / "devices").glob("*.csv"))


def device(repository: Repository, name: str) -> pathlib.Path:
    """Returns the file that describes a GPU."""
    return repository.root / FOLDER / "devices" / f"{name}.csv"


def pick(repository: Repository, given: str) -> str:
    """Returns the one GPU with this name or this beginning of a name, in any case. Throws Fault."""

    def plain(name: str) -> str:
        return re.sub("[^a-z0-9]", "", name.lower()).removeprefix("nvidia")

    names, wanted = devices(repository), plain(given)
    found = [name for name in names if plain(name) == wanted] or [
        name for name in names if wanted and plain(name).startswith(wanted)
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise Fault(f"'{given}' may be {either(found)}", 2)
    raise Fault(f"there is no description of a GPU '{given}'; there are: {', '.join(names)}", 2)


def listed(repository: Repository) -> str:
    """Returns the list of GPUs to choose from."""
    lines = ["GPUs whose times can be estimated:"]
    lines += [f"  {name:16} {machine(device(repository, name))}" for name in devices(repository)]
    lines += ["A name may be shortened: ./kata tour grids --device h100"]
    return "".join(f"{line}\n" for line in lines)


def machine(file: pathlib.Path) -> str:
    """Returns the name of a file's GPU, which its first line begins with."""
    return file.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ").split(",")[0]


def table(repository: Repository, name: str) -> pathlib.Path:
    """Returns the file that holds each kernel's time on this GPU and its estimate."""
    return repository.root / FOLDER / "judged" / f"{name}.csv"


def rows(repository: Repository, name: str) -> list[dict[str, str]]:
    """Returns the rows of the file; an empty list if no estimate has been judged."""
    path = table(repository, name)
    if not path.is_file():
        return []
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()[1:]))


def measured(repository: Repository, name: str, chapter: str) -> dict[str, float]:
    """Returns the milliseconds of the chapter's solutions on this GPU, as far as it has timed them. Only the
    rows of the timed problem count, which come before its variants."""
    found = [row for row in rows(repository, name) if row["chapter"] == chapter]
    return {
        row["kernel"]: float(row["measured ms"]) for row in found if row["variant"] == found[0]["variant"]
    }


def factor(judged: list[dict[str, str]]) -> float:
    """Returns the factor that estimates are off by: the geometric mean, at least 1."""
    return math.exp(
        sum(abs(math.log(float(row["estimated ms"]) / float(row["measured ms"]))) for row in judged)
        / len(judged)
    )


def error(repository: Repository, name: str, chapter: str) -> str:
    """Returns a sentence about the error of the chapter's estimates; empty if no estimate has been judged."""
    judged = rows(repository, name)
    if not judged:
        return ""
    of_chapter = [row for row in judged if row["chapter"] == chapter]
    here = (
        f", and of {factor(of_chapter):.2f} over the {len(of_chapter)} of this chapter" if of_chapter else ""
    )
    return (
        f"by a model that is off by a factor of {factor(judged):.2f}, the geometric mean over "
        f"{len(judged)} kernels that this "
        f"GPU has timed{here}; it decides nothing ({FOLDER}/README.md)"
    )


class Launch(NamedTuple):
    milliseconds: float
    blocks: float
    threads: int
    bound: str


class Line(NamedTuple):
    """The time for which a line of the source keeps its launch's bounding resource busy."""

    milliseconds: float
    name: str  # "03_tiled.cu:27", or OF_NO_LINE
    bound: str


class NoTime(Fault):
    """The reason why a step that may be right has no estimate."""


class Estimate(NamedTuple):
    """The output of a suite for one module (common/judge/estimate.hpp)."""

    milliseconds: float
    problem: str
    needs: list[tuple[float, str]]  # milliseconds and the resource kept busy, the longest first
    launches: list[Launch]
    lines: list[Line]  # the longest first
    alone: tuple[str, ...] = ()  # a line for each launch, for working out its latency by hand

    @property
    def bound(self) -> str:
        """Returns the bound of the launches for most of the time."""
        times: dict[str, float] = {}
        for launch in self.launches:
            times[launch.bound] = times.get(launch.bound, 0) + launch.milliseconds
        return max(times, key=times.__getitem__) if times else self.needs[0][1]


def parse(said: str) -> Estimate:
    """Returns the estimate. Throws NoTime if the output says that there is none."""
    milliseconds, problem, needs, launches, lines, alone = None, "", [], [], [], []
    for line in said.splitlines():
        key, _, value = line.partition(" ")
        if key == "fault":
            raise NoTime(value)
        if key == "estimated_milliseconds":
            milliseconds = float(value)
        if key == "problem":
            problem = value
        if key == "need":
            ms, what = value.split(" ", 1)
            needs.append((float(ms), what))
        if key == "launch":
            ms, blocks, threads, what = value.split(" ", 3)
            launches.append(Launch(float(ms), float(blocks), int(threads), what))
        if key == "alone":
            alone.append(value)
        if key == "line":
            ms, name, what = value.split(" ", 2)
            lines.append(Line(float(ms), name, what))
    if milliseconds is None:
        raise NoTime("the step did not finish")
    return Estimate(milliseconds, problem, needs, launches, lines, tuple(alone))


def of(
    suite: pathlib.Path, kernel: pathlib.Path, described: pathlib.Path, solution: pathlib.Path | None = None
) -> Estimate:
    """Returns the estimate of a module. A student's step comes with its solution, whose blocks its own are
    compared with. Throws NoTime."""
    command = [
        suite,
        "--estimate",
        kernel,
        "--device",
        described,
        *(["--solution", solution] if solution else []),
    ]
    return parse(
        subprocess.run(
            list(map(str, command)), capture_output=True, text=True, errors="replace", check=False
        ).stdout
    )


def time_or_why(
    suite: pathlib.Path, kernel: pathlib.Path, described: pathlib.Path, solution: pathlib.Path | None = None
) -> Estimate | NoTime:
    """Returns the estimate or the reason for its absence: a student's step may have no time although its
    solution has one."""
    try:
        return of(suite, kernel, described, solution)
    except NoTime as why:
        return why


def on_all_cores(work: Callable[[str], Told], steps: Iterable[str]) -> Iterator[Told]:
    """Yields the result of each step, in their order, computing several at a time."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        yield from pool.map(work, steps)


# --- as a table ---------------------------------------------------------------------------------------------


def rounded(value: float) -> str:
    """Returns the value with two digits: more would promise a precision that an estimate does not have."""
    if value <= 0:
        return "0"
    value = round(value, 1 - math.floor(math.log10(value)))
    return f"{value:.{max(0, 1 - math.floor(math.log10(value)))}f}"


def compared(mine: float, theirs: float) -> str:
    """Returns a comparison such as "about 3.1 times as slow as the solution"."""
    if mine > 1.1 * theirs:
        return f"about {rounded(mine / theirs)} times as slow as the solution"
    if theirs > 1.1 * mine:
        return f"about {rounded(theirs / mine)} times as fast as the solution"
    return "about as fast as the solution"


def caption(device_name: str, problem: str) -> str:
    return f"Estimated for {device_name}, with a larger problem than is counted:\n{problem}"


HEADINGS = f"""\
{"step":{TITLE}}{"estimated":>{COLUMN}}{"measured":>{COLUMN}}  bound by
{"":{TITLE}}{"ms":>{COLUMN}}{"ms":>{COLUMN}}"""
WRONG, NO_TIME = "wrong, so it has no time", "no time, because:"


def row_of(title: str, estimate: Estimate | NoTime | None, measured_ms: float | None) -> str:
    """Returns the row of a kernel. A wrong kernel has no estimate: the speed of useless work means nothing. A
    row without a time states the reason."""
    title = title if len(title) <= TITLE else title[: TITLE - 1] + "…"
    if not isinstance(estimate, Estimate):
        row = f"{title:{TITLE}}{'-':>{COLUMN}}{'-':>{COLUMN}}  {NO_TIME if estimate else WRONG}"
        return (
            f"{row}\n{textwrap.fill(str(estimate), WIDTH, initial_indent='   ', subsequent_indent='   ')}"
            if estimate
            else row
        )
    clock = rounded(measured_ms) if measured_ms else "-"
    return f"{title:{TITLE}}{rounded(estimate.milliseconds):>{COLUMN}}{clock:>{COLUMN}}  {estimate.bound}"


def legend(repository: Repository, name: str, chapter: str, bounds: Iterable[str]) -> str:
    """Returns the meaning of the columns, and of the bounds of those steps."""

    def entry(word: str, text: str) -> list[str]:
        return textwrap.wrap(text, WIDTH, initial_indent=f"  {word:11}", subsequent_indent=" " * 13)

    lines = entry(
        "estimated", error(repository, name, chapter) or "by a model that was never compared with this GPU"
    )
    lines += entry(
        "measured",
        "the solution's time, measured on this GPU; - if it was not measured: the error then leaves out "
        "that step",
    )
    lines += entry(
        "bound by",
        "the resource that takes longest, of all that work at the same time; for several launches, the one "
        "that bounds them for most of the time:",
    )
    for what in dict.fromkeys(bounds):
        meaning = f"{what}: {MEANINGS.get(what, f'see {FOLDER}/README.md')}"
        lines += textwrap.wrap(meaning, WIDTH, initial_indent=" " * 13, subsequent_indent=" " * 15)
    return "\n".join(lines)


def ladder(
    repository: Repository, build: Build, chapter: str, name: str, mine: bool, wrong: Collection[str]
) -> Iterator[str]:
    """Yields a line or a few for each step on that GPU, as they come; with `mine` the student's step above
    its solution."""
    described, clock = device(repository, name), measured(repository, name, chapter)
    program = build.suite(chapter, "cpu")
    bounds: list[str] = []

    def kernel(tree: str, step: str) -> pathlib.Path:
        return build.folder / module(tree, chapter, step, "cpu")

    def both(step: str) -> tuple[Estimate | NoTime, Estimate | NoTime | None]:
        solution, own = kernel("solutions", step), mine and step not in wrong
        theirs = time_or_why(program, solution, described)
        return theirs, time_or_why(program, kernel("chapters", step), described, solution) if own else None

    steps = [
        step
        for step in repository.all_steps(chapter)
        if not (mine and repository.is_unwritten(chapter, step))
    ]
    if not steps:
        yield "No step of yours is written yet, so there is no time to estimate."
    for step in steps:
        if not repository.runs_on("cpu", chapter, step):
            yield f"{step.replace('_', ' ')}: {repository.needs(chapter, step)}, and there is no estimate"
    steps = [step for step in steps if repository.runs_on("cpu", chapter, step)]
    for step, (theirs, own) in zip(steps, on_all_cores(both, steps)):
        title = step.replace("_", " ")
        if isinstance(theirs, NoTime):
            yield textwrap.fill(f"{title}: there is no estimate: {theirs}", WIDTH, subsequent_indent="   ")
            continue
        if not bounds:
            yield f"{caption(machine(described), theirs.problem)}\n\n{HEADINGS}"
        bounds += [one.bound for one in (own, theirs) if isinstance(one, Estimate)]
        if step in wrong:
            yield row_of(title, None, None)
        elif own:
            yield row_of(title, own, None)
        if mine:
            yield row_of("   the solution", theirs, clock.get(step))
        elif step not in wrong:
            yield row_of(title, theirs, clock.get(step))
        if isinstance(own, Estimate):
            yield f"   yours is {compared(own.milliseconds, theirs.milliseconds)}"
    if bounds:
        yield f"\n{legend(repository, name, chapter, bounds)}"


def by_line(estimate: Estimate, text_of: Callable[[str], str], everything: bool = False) -> list[str]:
    """Returns each line's part of the time that its launch's bounding resource is busy; without `everything`,
    only the largest parts."""

    def share(milliseconds: float) -> str:
        return f"{100 * milliseconds / estimate.milliseconds:.0f} %"

    out = ["What bounds it, by line, as shares of the estimated time:"]
    lines = [line for line in estimate.lines if line.name != OF_NO_LINE]
    if not everything:
        shown = [line for line in lines[:SHOWN] if line.milliseconds >= 0.02 * estimate.milliseconds]
    else:
        shown = lines
    for line in shown:
        file, _, number = line.name.rpartition(":")
        place = f"line {number}" if file.endswith(".cu") else line.name
        text = f"  {share(line.milliseconds):>5}  {line.bound:20}  {place:10}  {text_of(line.name)}"
        out.append(text if len(text) <= WIDTH else text[: WIDTH - 1] + "…")
    if rest := lines[len(shown) :]:
        out.append(
            f"  {share(sum(line.milliseconds for line in rest)):>5}  in {len(rest)} other "
            f"line{'s' * (len(rest) > 1)}: --all"
        )
    for what in dict.fromkeys(launch.bound for launch in estimate.launches):
        of_lines = [line for line in estimate.lines if line.bound == what]
        outside = sum(line.milliseconds for line in of_lines if line.name == OF_NO_LINE)
        if not of_lines:
            outside = sum(launch.milliseconds for launch in estimate.launches if launch.bound == what)
        if outside >= 0.02 * estimate.milliseconds:
            out.append(
                f"  {share(outside):>5}  {what}, in no line: "
                f"{IN_NO_LINE.get(what, 'code whose line is not known')}"
            )
    return out


def details(
    estimate: Estimate, whose: str, text_of: Callable[[str], str], everything: bool = False
) -> list[str]:
    """Returns the details that a table has no room for."""
    needs = "; ".join(
        f"{what} {100 * ms / estimate.milliseconds:.0f} %"
        for ms, what in estimate.needs[: None if everything else 3]
    )
    how = (
        "added up over launches, each of which has a bound of its own"
        if len(estimate.launches) > 1
        else "all at the same time"
    )
    out = [f"The resources that {whose} keeps busy, and for how much of the time; {how}:", f"  {needs}"]
    if len(estimate.launches) == 1 and estimate.needs[0][0] < 0.9 * estimate.milliseconds:
        out.append("  in the rest, blocks wait for their turn, or the launch begins")
    if len(estimate.launches) > 1:
        for (blocks, threads, bound), group in itertools.groupby(
            estimate.launches, key=lambda launch: launch[1:]
        ):
            each = [launch.milliseconds for launch in group]
            times = f"{len(each)} launches" if len(each) > 1 else "a launch"
            of_blocks = f"{blocks:.0f} block{'s' * (blocks > 1)} of {threads} thread{'s' * (threads > 1)}"
            out.append(f"  {times} of {of_blocks}: {rounded(sum(each))} ms, bound by {bound}")
    if everything:
        out += [f"  {alone}" for alone in estimate.alone]
    return out + by_line(estimate, text_of, everything)


def as_json(estimate: Estimate | NoTime | None) -> dict[str, object]:
    """Returns the estimate for programs, in milliseconds, or the reason for its absence."""
    if not isinstance(estimate, Estimate):
        return {"ms": None, "why": str(estimate) if estimate else "the step is wrong"}
    return {
        "ms": estimate.milliseconds,
        "bound_by": estimate.bound,
        "needs": {what: ms for ms, what in estimate.needs},
        "launches": [
            {"ms": ms, "blocks": blocks, "threads": threads, "bound_by": what}
            for ms, blocks, threads, what in estimate.launches
        ],
        "lines": [
            {"line": None if name == OF_NO_LINE else name, "ms": ms, "of": what}
            for ms, name, what in estimate.lines
        ],
    }
