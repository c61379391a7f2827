"""Times on a GPU that is not there: whose can be estimated, and how far off that is where a GPU has been asked."""

from __future__ import annotations

import csv
import math
import os

from fault import Fault
from repository import Repository

FOLDER = os.path.join("common", "estimate")


def device(repository: Repository, name: str) -> str:
    """The file that describes it."""
    folder = os.path.join(repository.root, FOLDER, "devices")
    path = os.path.join(folder, name + ".csv")
    if os.path.isfile(path):
        return path
    there = sorted(file.removesuffix(".csv") for file in os.listdir(folder) if file.endswith(".csv"))
    raise Fault(f"there is no description of {name}; there are: {', '.join(there)}", 2)


def rows(repository: Repository) -> list[dict[str, str]]:
    """Of judged.csv, which has each kernel that an H100 has timed, and its estimate."""
    path = os.path.join(repository.root, FOLDER, "judged.csv")
    if not os.path.isfile(path):
        return []
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def factor(judged: list[dict[str, str]]) -> float:
    """By what estimates are off: the geometric mean, at least 1."""
    return math.exp(sum(abs(math.log(float(row["estimated ms"]) / float(row["measured ms"]))) for row in judged) / len(judged))


def error(repository: Repository) -> str:
    """For who reads estimates; nothing where none has been judged."""
    judged = rows(repository)
    if not judged:
        return ""
    return (
        f"The estimate is off by a factor of {factor(judged):.2f} in the mean over {len(judged)} kernels that an H100 has timed, "
        f"and shows no order that is not counted: {FOLDER}/README.md"
    )
