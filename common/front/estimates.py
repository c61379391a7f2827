"""Times on a GPU that is not there: whose can be estimated, and how far off that is where a GPU has been asked."""

from __future__ import annotations

import csv
import itertools
import math
import pathlib
import subprocess
from typing import NamedTuple

from fault import Fault
from repository import Repository

FOLDER = "common/estimate"


def devices(repository: Repository) -> list[str]:
    """The names of those that are described."""
    return sorted(path.stem for path in (repository.root / FOLDER / "devices").glob("*.csv"))


def device(repository: Repository, name: str) -> pathlib.Path:
    """The file that describes it."""
    if name not in devices(repository):
        raise Fault(f"there is no description of {name}; there are: {', '.join(devices(repository))}", 2)
    return repository.root / FOLDER / "devices" / f"{name}.csv"


def machine(file: pathlib.Path) -> str:
    """The GPU that a file is about: what its first line begins with."""
    return file.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ").split(",")[0]


def table(repository: Repository, name: str) -> pathlib.Path:
    """Each kernel that this device has timed, and its estimate."""
    return repository.root / FOLDER / "judged" / f"{name}.csv"


def rows(repository: Repository, name: str) -> list[dict[str, str]]:
    """Of that table; none where nothing has been judged."""
    path = table(repository, name)
    if not path.is_file():
        return []
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()[1:]))


def factor(judged: list[dict[str, str]]) -> float:
    """By what estimates are off: the geometric mean, at least 1."""
    return math.exp(sum(abs(math.log(float(row["estimated ms"]) / float(row["measured ms"]))) for row in judged) / len(judged))


def error(repository: Repository, name: str) -> str:
    """For who reads estimates; nothing where none has been judged."""
    judged = rows(repository, name)
    if not judged:
        return ""
    return (
        f"The estimate is off by a factor of {factor(judged):.2f} in the mean over {len(judged)} kernels that this GPU has timed, "
        f"and decides nothing: {FOLDER}/README.md"
    )


class Launch(NamedTuple):
    milliseconds: float
    blocks: float
    threads: int
    bound: str


class Estimate(NamedTuple):
    """What a suite says of one module (common/suite/estimate.hpp)."""

    milliseconds: float
    needs: list[tuple[float, str]]  # milliseconds of what is kept busy, the longest first
    launches: list[Launch]


def parse(said: str) -> Estimate:
    """Throws Fault where it says that there is no estimate."""
    milliseconds, needs, launches = None, [], []
    for line in said.splitlines():
        key, _, value = line.partition(" ")
        if key == "fault":
            raise Fault(f"there is no estimate: {value}")
        if key == "estimated_milliseconds":
            milliseconds = float(value)
        if key == "need":
            ms, what = value.split(" ", 1)
            needs.append((float(ms), what))
        if key == "launch":
            ms, blocks, threads, what = value.split(" ", 3)
            launches.append(Launch(float(ms), float(blocks), int(threads), what))
    if milliseconds is None:
        raise Fault("there is no estimate: the step did not come to its end")
    return Estimate(milliseconds, needs, launches)


def of(suite: pathlib.Path, kernel: pathlib.Path, described: pathlib.Path) -> Estimate:
    command = [suite, "--estimate", kernel, "--device", described]
    return parse(subprocess.run(command, capture_output=True, text=True, errors="replace", check=False).stdout)


def compared(mine: float, theirs: float) -> str:
    """ "about 3.1 times as slow as the solution"."""
    if mine > 1.1 * theirs:
        return f"about {mine / theirs:.1f} times as slow as the solution"
    if theirs > 1.1 * mine:
        return f"about {theirs / mine:.1f} times as fast as the solution"
    return "about as fast as the solution"


def lines_of(mine: Estimate, theirs: Estimate | None, device_name: str) -> list[str]:
    """What a terminal shows of them."""
    whose = f"{compared(mine.milliseconds, theirs.milliseconds)} ({theirs.milliseconds:.3f} ms)" if theirs else ""
    out = [f"On {device_name}, estimated: {mine.milliseconds:.3f} ms{', ' if whose else ''}{whose}"]
    out.append("  " + "; ".join(f"{what} {100 * ms / mine.milliseconds:.0f} %" for ms, what in mine.needs[:3]))
    if len(mine.launches) > 1:
        for (blocks, threads, bound), group in itertools.groupby(mine.launches, key=lambda launch: launch[1:]):
            each = [launch.milliseconds for launch in group]
            times = f"{len(each)} launches" if len(each) > 1 else "a launch"
            out.append(f"  {times} of {blocks:.0f} blocks of {threads}: {sum(each):.3f} ms, bound by {bound}")
    return out
