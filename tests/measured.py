"""The numbers of the pictures that plots.py draws: from tables of times, of counts and of estimates."""

from __future__ import annotations

import csv
import pathlib
import re
from collections.abc import Iterable, Sequence
from typing import TypedDict

# The vendor's library on the problem of a ladder: type, size and input of a row of tests/beyond/results.csv.
VENDOR = {
    "histogram": ("7 bins", "2^28", "uniform"),
    "reduction": ("f32", "2^28", "random"),
    "scan": ("f32", "2^28", "inclusive"),
    "gemm": ("f32", "4096x4096x4096", ""),
}
TENSOR_CORES = 150  # % of the ceiling that nothing else reaches; caches may bring a little more than 100


class Step(TypedDict):
    step: str
    ms: float
    tflops: float
    share: float
    ceiling: float


class Series(TypedDict):
    kind: str
    steps: list[Step]


class Vendor(TypedDict):
    name: str
    ms: float


class Ladder(TypedDict):
    machine: str
    series: list[Series]
    vendor: Vendor | None


def rows_of(path: pathlib.Path) -> tuple[str, list[dict[str, str]]]:
    """Returns the machine in the first line, and the rows below it."""
    machine, *lines = path.read_text(encoding="utf-8").splitlines()
    return re.sub(r", driver.*", "", machine.removeprefix("# ")), list(csv.DictReader(lines))


def ceilings(rows: Sequence[dict[str, str]]) -> list[float]:
    """Returns the ceiling of each row, in ms. Rows of one problem share a ceiling, known best from the row
    nearest to it, because small shares have few digits. It was timed beside each row, and so differs by some
    per cent."""
    best = max(rows, key=lambda row: float(row["% of ceiling"]))
    common = float(best["ms"]) * float(best["% of ceiling"]) / 100
    shares = [(100 * common / float(row["ms"]), float(row["% of ceiling"])) for row in rows]
    same = all(abs(mine - theirs) < 0.06 + 0.06 * theirs for mine, theirs in shares)
    return [common if same else float(row["ms"]) * float(row["% of ceiling"]) / 100 for row in rows]


def ladder_of(root: pathlib.Path, chapter: str) -> Ladder:
    machine, rows = rows_of(root / "chapters" / chapter / "measured" / "ladder.csv")
    kind = list(rows[0])[1]
    series: list[Series] = []
    for value in dict.fromkeys(row[kind] for row in rows):
        mine = [row for row in rows if row[kind] == value]
        steps: list[Step] = [
            {
                "step": row["step"],
                "ms": float(row["ms"]),
                "tflops": float(row["TFLOP/s"]),
                "share": float(row["% of ceiling"]),
                "ceiling": round(ceiling, 4),
            }
            for row, ceiling in zip(mine, ceilings(mine))
        ]
        series.append({"kind": f"{kind} {value}".replace("_", " "), "steps": steps})
    return {"machine": machine, "series": series, "vendor": vendor_of(root, chapter)}


def vendor_of(root: pathlib.Path, chapter: str) -> Vendor | None:
    if chapter not in VENDOR:
        return None
    _, rows = rows_of(root / "tests" / "beyond" / "results.csv")
    wanted = dict(zip(("chapter", "type", "size", "input"), (chapter, *VENDOR[chapter])))
    found = next(row for row in rows if all(row[key] == value for key, value in wanted.items()))
    return {"name": found["rival"], "ms": float(found["rival_ms"])}


def intensities(root: pathlib.Path, chapter: str) -> dict[str, float]:
    """Returns operations a byte, by the title of a step, from the lesson's counted table; none if it has no
    such column."""
    text = (root / "chapters" / chapter / "README.md").read_text(encoding="utf-8")
    table = re.search(r"<!-- counted -->\n\n((?:\|.*\n)+)", text)
    lines = (
        [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in table[1].splitlines()]
        if table
        else [[]]
    )
    column = next((number for number, cell in enumerate(lines[0]) if cell.startswith("intensity")), None)
    return {} if column is None else {line[0].replace(" ", "_"): float(line[column]) for line in lines[2:]}


def of_floats(ladder: Ladder) -> Ladder:
    """Returns a ladder without the steps that multiply in tensor cores: the ceiling, which is arithmetic of
    floats, does not apply to them."""
    series: list[Series] = [
        {**one, "steps": [s for s in one["steps"] if s["share"] < TENSOR_CORES]} for one in ladder["series"]
    ]
    return {**ladder, "series": series}


def roof(root: pathlib.Path, ladders: Iterable[str]) -> tuple[str, float, float]:
    """Returns the machine, its arithmetic in TFLOP/s and the bandwidth of a copy in TB/s, from the rows
    nearest to these ceilings."""
    nearest = {"GB/s": (0.0, 0.0), "TFLOP/s": (0.0, 0.0)}
    for chapter in ladders:
        machine, rows = rows_of(root / "chapters" / chapter / "measured" / "ladder.csv")
        for row in rows:
            # Arithmetic limits gemm; the copy limits the others, except for the widest filter.
            quantity, share = "TFLOP/s" if chapter == "gemm" else "GB/s", float(row["% of ceiling"])
            if TENSOR_CORES > share > nearest[quantity][0] and row.get("radius") != "7":
                nearest[quantity] = share, 100 * float(row[quantity]) / share
    return machine, round(nearest["TFLOP/s"][1], 1), round(nearest["GB/s"][1] / 1000, 2)
