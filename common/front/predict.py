"""Questions: one about the student's own kernel, which the meter answers, and others from a page, which
answers them at its end."""

from __future__ import annotations

import re
import sys
import textwrap
from typing import NamedTuple

import explain
import trace
from fault import Fault
from repository import Repository

WIDTH = 80
UNIT = {"global": "sectors of 32 bytes", "shared": "passes over the 32 banks"}
NEAR = 0.15  # part of the count that an answer may be off by: a warp at an edge moves the mean
ROUNDED = 0.05  # the same for a page's answer
PAGE = "chapters/MACHINE.md"
NUMBERED = re.compile(r"^(\d+)\. +(.*(?:\n +.*)*)", re.M)
WHY = {
    "global": "Lanes side by side share their sectors; each lane that lies apart has one of its own.",
    "shared": "A pass serves each bank once: lanes that access different words of one bank take turns.",
}


def question_about(rows: list[explain.Row]) -> explain.Row | None:
    """Returns the costliest load or store, because a wrong idea costs most there; None without any."""
    candidates = [row for row in rows if row.memory in UNIT and row.did in ("load", "store")]
    return max(candidates, key=lambda row: row.steps, default=None)


def question(row: explain.Row, source: str) -> str:
    way = "loads {} from" if row.did == "load" else "stores {} to"
    where = f"Line {row.line} {way.format(row.array)} {row.memory} memory:\n\n    {source}\n\n"
    return where + f"How many {UNIT[row.memory]} does a warp take each time, on average? "


def number_in(text: str) -> float | None:
    """Returns the number, which may contain spaces and precede a unit; None if the text is not a number."""
    found = re.fullmatch(r"(\d+(?:[.,]\d+)?)[a-z%]*", "".join(text.split()))
    return float(found[1].replace(",", ".")) if found else None


def asked(text: str) -> float:
    """Repeats the question until the answer is a number; Ctrl-D ends it."""
    try:
        while (said := number_in(input(text))) is None:
            text = "That is not a number such as 4 or 4.5. How many? "
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


class Question(NamedTuple):
    number: str
    section: str
    text: str
    answer: str

    def checked(self, said: str) -> str:
        """Returns the page's answer. Where that begins with a number in bold type, it judges the one said."""
        begins = re.match(r"\*\*(.+?)\*\*", self.answer)
        right, number = number_in(begins[1]) if begins else None, number_in(said)
        verdict = "Answer"
        if right is not None and number is not None:
            verdict = "Right" if abs(number - right) <= ROUNDED * right else "Not right"
        return plain(f"{verdict}: {self.answer}")


def plain(markdown: str) -> str:
    """Returns the text for a terminal, without links and bold type."""
    return textwrap.fill(re.sub(r"\[([^]]*)\]\([^)]*\)|\*\*", r"\1", " ".join(markdown.split())), WIDTH)


def questions(page: str) -> list[Question]:
    """Returns the numbered questions of a page, whose last section has an answer to each."""
    _, *sections, last = re.split(r"^## ", page, flags=re.M)
    answers = dict(NUMBERED.findall(last))
    return [
        Question(number, section.partition("\n")[0], text, answers[number])
        for section in sections
        for number, text in NUMBERED.findall(section)
    ]


def ask_page(repository: Repository, first: str) -> int:
    """Asks the questions of the page from the first one on; Ctrl-D ends it."""
    if not is_in_terminal():
        return 0
    found = questions((repository.root / PAGE).read_text(encoding="utf-8"))
    numbers = [one.number for one in found]
    if first not in numbers:
        raise Fault(f"{PAGE} has questions 1 to {numbers[-1]}, and no {first}", 2)
    for one in found[numbers.index(first) :]:
        print(f"{one.section} ({PAGE})\n\n{plain(f'{one.number}. {one.text}')}")
        try:
            print(f"\n{one.checked(input('Your answer, or Enter: '))}\n")
        except EOFError:
            print(f"\nThe rest: ./kata predict machine {one.number}")
            break
    return 0


def is_in_terminal() -> bool:
    """True if there is a terminal to answer in; otherwise says that there must be one."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return True
    print("predict asks a question and waits for your answer: run it in a terminal.")
    return False


def predict(repository: Repository, chapter: str, step: str) -> int:
    """Asks the question, or only says so if there is no terminal to answer at."""
    if not is_in_terminal():
        return 0
    both = trace.of(repository, chapter, step, "explain", False)
    row = question_about(explain.rows_of(both.step))
    if not row:
        raise Fault("there is nothing to ask: the step reaches neither global nor shared memory")
    said = asked(question(row, trace.source_line(repository.root / "chapters" / chapter, row.line)))
    theirs = explain.Kernel(explain.rows_of(both.solution)).nearest(row) if both.solution else None
    print(f"\n{answer(row, said, theirs)}\nAll lines: ./kata explain {chapter} {step[:2]}")
    return 0
