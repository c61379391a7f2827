"""The ladder of a chapter, measured by its suite: a row for each step, for a terminal or for a lesson."""

from __future__ import annotations

import json
import math
import pathlib
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

import processes
from fault import Fault
from repository import Repository, module, prefix

# On a terminal a heading is cut at its space: 24 + 7 * 8 = 80.
TITLE, COLUMN, BESIDE = 24, 8, 7
WIDTH = TITLE + COLUMN * BESIDE


class Column(NamedTuple):
    """A counter, as the suite describes it (common/counters.hpp)."""

    key: str
    heading: str
    narrow: str  # the heading for a terminal
    unit: str
    decimals: int
    more_is_better: bool
    meaning: str


class Chapter(NamedTuple):
    """The suite's description of its chapter."""

    name: str
    problem: str
    device: str
    columns: list[Column]
    before: dict[str, str]  # the step that a step should improve on


class Row(NamedTuple):
    step: str
    values: dict[str, float]
    fault: str = ""
    lacks: str = ""  # the GPU that it needs
    refuted: tuple[tuple[str, str], ...] = ()  # the other step, and a document's refuted claim

    @property
    def is_open(self) -> bool:
        return "open" in self.values

    @property
    def title(self) -> str:
        return self.step.replace("_", " ")


def describe(program: pathlib.Path, file: str | None = None) -> Chapter:
    command = [program, "--describe", *(["--file", file] if file else [])]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Fault(done.stderr.strip() or f"{program.name} --describe failed")
    said = json.loads(done.stdout)
    columns = [Column(**column) for column in said["columns"]]
    return Chapter(
        said["chapter"],
        said["problem"],
        said["device"],
        columns,
        {step["name"]: step["before"] for step in said["steps"]},
    )


def parse(step: str, said: str) -> Row:
    """Returns the row of a step, from the output of --measure."""
    values: dict[str, float] = {}
    faults, refuted, lacks = [], [], ""
    for line in said.splitlines():
        key, _, value = line.partition(" ")
        if key == "fault":
            faults.append(value)
        elif key == "lacks":
            lacks = value
        elif key == "refuted":
            other, _, text = value.partition(" ")
            refuted.append((other, text))
        else:
            values[key] = float(value)
    if not (values or faults or lacks):
        faults = ["the step ended without a result"]
    return Row(step, values, "\n".join(faults), lacks, tuple(refuted))


def measure(program: pathlib.Path, step: str, built: pathlib.Path, options: Sequence[object] = ()) -> Row:
    """Runs one step in a process of its own."""
    command = [program, "--measure", built, *options]
    if sys.stderr.isatty():
        print(f"  {step.replace('_', ' ')} …", end="\r", file=sys.stderr, flush=True)
    with processes.running(command, stdout=subprocess.PIPE) as running:
        said, _ = running.communicate()
        if running.returncode < 0:
            said += "\nfault the step crashed: ./kata test says more\n"
    return parse(step, said)


# --- for a terminal -----------------------------------------------------------------------------------------


def lines_of(columns: Sequence[Column]) -> list[Sequence[Column]]:
    """Returns the columns of each line: as many as fit, or fewer, so that all lines are about as long."""
    count = math.ceil(len(columns) / BESIDE)
    length = math.ceil(len(columns) / count) if count else 1
    return [columns[i : i + length] for i in range(0, len(columns), length)]


def in_title(text: str) -> str:
    return (text if len(text) < TITLE else text[: TITLE - 2] + "…").ljust(TITLE)


def in_column(text: str) -> str:
    return text.rjust(COLUMN) if len(text) < COLUMN else f" {text}"


def laid_out(columns: Sequence[Column], title: str, texts: dict[str, str]) -> str:
    lines = []
    for part in lines_of(columns):
        lines.append(in_title(title) + "".join(in_column(texts[column.key]) for column in part) + "\n")
        title = ""
    return "".join(lines)


def headings(columns: Sequence[Column]) -> str:
    lines = []
    for number, part in enumerate(lines_of(columns)):
        words = [
            (*column.narrow.partition(" ")[::2], "B/out." if column.unit == "B/output" else column.unit)
            for column in part
        ]
        for line in range(3):
            title = "step" if number == 0 and line == 0 else ""
            lines.append(in_title(title) + "".join(in_column(word[line]) for word in words) + "\n")
    return "".join(lines)


def legend(columns: Sequence[Column]) -> str:
    lines = [f"  {column.narrow:13} {column.meaning}\n" for column in columns]
    lines.append("  x0.5+         half as much, which is better; x2- twice as much, which is worse\n")
    lines.append("  /output       for each element of the result\n")
    return "".join(["\n", *lines])


def value_text(column: Column, row: Row) -> str:
    return f"{row.values[column.key]:.{column.decimals}f}" if column.key in row.values else "-"


def narrow_text(column: Column, row: Row) -> str:
    """Returns the value, with fewer decimals if they would not all fit."""
    text, decimals = value_text(column, row), column.decimals
    while len(text) >= COLUMN and decimals > 0:
        decimals -= 1
        text = f"{row.values[column.key]:.{decimals}f}"
    return text


def ratio_text(ratio: float, more_is_better: bool) -> str:
    """Returns the ratio as "x0.052+"."""
    if math.isinf(ratio):
        return "more+" if more_is_better else "more-"
    if math.isnan(ratio):
        return ""
    if ratio >= 99_999.5:
        text = f"x{ratio:.0e}"
    elif ratio >= 99.95 or ratio == 0:
        text = f"x{ratio:.0f}"
    else:
        digits = 3 if ratio >= 0.1 else 2 if ratio >= 0.01 else 1
        text = f"x{ratio:.{digits}g}" if ratio >= 1e-3 else f"x{ratio:.0e}"
    if abs(ratio - 1) < 0.005:
        return f"{text} "
    return text + ("+" if (ratio > 1) == more_is_better else "-")


def row_text(columns: Sequence[Column], row: Row, title: str = "") -> str:
    if row.fault:
        return f"{row.title}: FAIL\n" + "".join(paragraph(line, 6) for line in row.fault.splitlines())
    if row.is_open:
        return in_title(row.title) + in_column("open") + "\n"
    return laid_out(columns, title or row.title, {column.key: narrow_text(column, row) for column in columns})


def ratios(columns: Sequence[Column], title: str, row: Row, other: Row) -> str:
    """Returns the ratios of the row to another one, each with a sign for better or worse."""

    def of(key: str) -> float:
        mine, theirs = row.values.get(key, math.nan), other.values.get(key, math.nan)
        return mine / theirs if theirs else math.nan if mine == 0 else math.inf

    return laid_out(columns, f"   {title}", {c.key: ratio_text(of(c.key), c.more_is_better) for c in columns})


def paragraph(text: str, indent: int) -> str:
    begin = " " * (indent + len(text) - len(text.lstrip()))
    return (
        textwrap.fill(
            text.strip(),
            WIDTH,
            initial_indent=begin,
            subsequent_indent=begin + " " * 4,
            break_on_hyphens=False,
        )
        + "\n"
    )


# --- for programs and for a lesson --------------------------------------------------------------------------


def as_json(columns: Sequence[Column], row: Row, theirs: Row | None = None) -> dict[str, object]:
    """Returns the row of a step, with the counters of the columns. The step has run on one problem:
    that shows whether it is wrong, but not that it is right."""
    return {
        "verdict": "FAIL" if row.fault else "SKIP" if row.is_open or row.lacks else None,
        "why": row.fault or row.lacks,
        "counts": [
            {
                "key": column.key,
                "heading": column.meaning,
                "unit": column.unit,
                "step": row.values[column.key],
                "solution": theirs and theirs.values.get(column.key),
            }
            for column in columns
            if column.key in row.values
        ],
    }


def markdown(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    def heading(column: Column) -> str:
        return column.heading + ("" if column.unit[:1] in ("", "/") else ", ") + column.unit

    lines = ["| step | " + " | ".join(map(heading, columns)) + " |", "| --- |" + " ---: |" * len(columns)]
    lines += [
        "| " + " | ".join([row.title, *(value_text(column, row) for column in columns)]) + " |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


# --- the tour -----------------------------------------------------------------------------------------------


class Tour:
    """The ladder of one chapter, printed step by step. `faults` are the steps that are wrong, and `found` is
    what programs get."""

    def __init__(
        self, repository: Repository, program: pathlib.Path, folder: pathlib.Path, chapter: str, backend: str
    ) -> None:
        self.repository, self.program, self.folder = repository, program, folder
        self.chapter, self.backend = chapter, backend
        self.faults: list[str] = []
        self.found: dict[str, object] = {}

    def built(self, tree: str, step: str) -> pathlib.Path:
        return self.folder / module(tree, self.chapter, step, self.backend)

    def measured(self, tree: str, step: str, *options: object) -> Row:
        source = self.repository.root / tree / self.chapter / f"{step}.cu"
        needs = self.repository.needs(self.chapter, step)
        return measure(
            self.program,
            step,
            self.built(tree, step),
            ["--source", source, *(["--needs", needs.line] if needs else []), *options],
        )

    def rows(self) -> list[Row]:
        """Returns the rows of the solutions for a lesson. Throws Fault if one is wrong."""
        steps = [
            s
            for s in self.repository.steps(self.chapter, "solutions")
            if self.built("solutions", s).is_file()
        ]
        rows = [row for row in (self.measured("solutions", step) for step in steps) if not row.lacks]
        for row in rows:
            if row.fault:
                raise Fault(f"{self.chapter} {row.step}: {row.fault}")
        return rows

    def show(
        self, mine: bool = False, full: bool = False, file: str | None = None, as_image: bool = False
    ) -> None:
        described = describe(self.program, file)
        columns, tree = described.columns, "chapters" if mine else "solutions"
        about = pathlib.Path(file).name if file else described.problem
        rows: list[dict[str, object]] = []
        self.found = {
            "chapter": self.chapter,
            "backend": self.backend,
            "problem": about,
            "device": described.device,
            "steps": rows,
        }
        print(f"\n{described.name}: {about}\n{described.device}\n")
        if mine:
            print("Your steps, each above its solution. The third row is your step divided by the solution:")
            print("x2 is twice as much; + marks what is better, - what is worse.\n")
        print(headings(columns), end="", flush=True)
        seen: dict[str, Row] = {}
        written = ""
        for step in self.repository.steps(self.chapter, "solutions"):
            if not self.built(tree, step).is_file():
                continue
            before_it = described.before.get(step, "")
            before = seen.get(before_it)
            options: list[object] = ["--full"] if full else []
            if before and not before.fault:
                options += ["--against", self.built("solutions", before.step)]
            out = (
                f"{pathlib.Path(file).stem}.{step}{'.png' if as_image else pathlib.Path(file).suffix}"
                if file
                else ""
            )
            options += (
                ["--file", file, out]
                if file
                else ["--refuted", self.folder / prefix("solutions", self.chapter)]
            )
            row = self.measured(tree, step, *options)
            found = {"step": step, "tree": tree, "before": before_it, **as_json(columns, row)}
            rows.append(found)
            if row.lacks:
                print(f"  {row.title}: {row.lacks}")
                continue
            print(row_text(columns, row), end="", flush=True)
            if row.is_open:
                continue
            seen[step] = row
            if row.fault:
                self.faults.append(step)
                continue
            written = out or written
            if mine and not file:
                found |= as_json(columns, row, self.show_beside_solution(columns, row))
            elif before and not before.fault:
                print(
                    ratios(columns, f"against {before.step.partition('_')[0]}", row, before),
                    end="",
                    flush=True,
                )
        self.show_end(columns, list(seen.values()), written)

    def show_beside_solution(self, columns: Sequence[Column], row: Row) -> Row | None:
        """Prints the row of the solution, and returns it; None without a solution."""
        if not self.built("solutions", row.step).is_file():
            return None
        theirs = self.measured("solutions", row.step)
        if theirs.fault:
            return None
        said = row_text(columns, theirs, "   the solution") + ratios(columns, "yours against it", row, theirs)
        print(said, end="", flush=True)
        return theirs

    @staticmethod
    def show_end(columns: Sequence[Column], rows: Sequence[Row], written: str) -> None:
        one_in = max((row.values.get("one_in", 1) for row in rows), default=1)
        if one_in > 1:
            print(
                f"\n  Counted on 1 of {one_in:.0f} blocks of each launch, and scaled to all of them. "
                f"The result is from all blocks;"
            )
            print("  --full also counts all blocks, one after the other, and looks for races between them.")
        if written:
            print(f"\n  Each step's result is in a file of its own, the last in {written}")
        print(legend(columns), end="")
        # A claim about a step that is still open would give away what it is about to show.
        there = {row.step for row in rows}
        told = [paragraph(text, 2) for row in rows for other, text in row.refuted if other in there]
        print("".join(["\n" if told else "", *told]), end="", flush=True)
