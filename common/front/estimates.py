"""Times on a GPU that is not there: whose can be estimated, and how far off that is where a GPU has been asked."""

from __future__ import annotations

import csv
import math
import pathlib

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
