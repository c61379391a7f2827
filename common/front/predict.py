"""One question about the student's own kernel, before the meter answers it."""

from __future__ import annotations

import sys
import textwrap

import explain
import trace
from fault import Fault
from repository import Repository

WIDTH = 80
UNIT = {"global": "sectors of 32 bytes", "shared": "passes over the 32 banks"}
NEAR = 0.15  # part of the count that an answer may be off by: a warp at an edge moves the mean
WHY = {
    "global": "Lanes side by side share their sectors; each lane that lies apart has one of its own.",
    "shared": "A pass serves each bank once: lanes that access different words of one bank take turns.",
}


def question_about(rows: list[explain.Row]) -> explain.Row | None:
    """Returns the costliest load or store, because a wrong idea costs most there; None if there is none."""
    candidates = [row for row in rows if row.memory in UNIT and row.did in ("load", "store")]
    return max(candidates, key=lambda row: row.steps, default=None)


def question(row: explain.Row, source: str) -> str:
    way = "loads {} from" if row.did == "load" else "stores {} to"
    where = f"Line {row.line} {way.format(row.array)} {row.memory} memory:\n\n    {source}\n\n"
    return where + f"How many {UNIT[row.memory]} does a warp take each time, on average? "


def number_in(text: str) -> float | None:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def asked(text: str) -> float:
    """Repeats the question until the answer is a number; Ctrl-D ends it."""
    try:
        while (said := number_in(input(text))) is None:
            text = "That is no number, such as 4 or 4.5. How many? "
        return said
    except EOFError:
        print()
        raise Fault("there was no answer", 2) from None


def answer(row: explain.Row, said: float, theirs: explain.Row | None) -> str:
    """Returns the right answer and its reason."""
    is_right = abs(said - row.each) <= NEAR * row.each
    text = f"{'Yes' if is_right else 'No'}: {row.each:.1f}, with {row.active:.1f} of 32 lanes active. "
    if row.each > explain.MUCH * row.least_each:
        text += f"{row.least_each:.1f} would do for what the lanes request. "
    else:
        text += "Fewer would not do for what the lanes request. "
    if theirs:
        text += f"In the solution it is {theirs.each:.1f}. "
    return textwrap.fill(text + WHY[row.memory], WIDTH) + "\n"


def predict(repository: Repository, chapter: str, step: str) -> int:
    """Asks the question, or only says so if there is no terminal to answer at."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print("predict asks a question and waits for your answer: run it in a terminal.")
        return 0
    both = trace.of(repository, chapter, step, "explain", False)
    row = question_about(explain.rows_of(both.step))
    if not row:
        raise Fault("there is nothing to ask: the step reaches neither global nor shared memory")
    said = asked(question(row, trace.source_line(repository, "chapters", chapter, row.line)))
    theirs = explain.Kernel(explain.rows_of(both.solution)).nearest(row) if both.solution else None
    print(f"\n{answer(row, said, theirs)}\nAll lines: ./kata explain {chapter} {step[:2]}")
    return 0
