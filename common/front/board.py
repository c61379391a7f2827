"""The state of each step, from the text of its file and the last verdict on it, without running anything."""

from __future__ import annotations

import collections
import itertools
import textwrap
from typing import NamedTuple

import verdicts
from build import Build
from repository import AFTER, Repository, short

WIDTH = 80
# The mark on the board and its meaning, in the order of the legend.
STATES = {
    "done": ("+", "done"),
    "slow": ("~", "right, not yet fast"),
    "wrong": ("x", "wrong"),
    "untested": ("?", "not run since the last edit"),
    "skipped": ("s", "skipped"),
    "elsewhere": ("-", "needs another GPU"),
    "open": ("o", "open"),
    "further": (".", "further"),  # only on the board: such a step is open
    "missing": ("!", "file missing"),
}
# The verdict of ./kata test on a step in this state; the other states have none.
VERDICTS = {"done": "OK", "slow": "SLOW", "wrong": "FAIL", "open": "SKIP", "elsewhere": "SKIP"}
NOTHING_TO_DO = ("done", "skipped", "elsewhere")


class Place(NamedTuple):
    """A step on the board. `state` is one of STATES, `why` a line about the reason that the tests give."""

    chapter: str
    step: str
    state: str
    why: str = ""
    is_further: bool = False  # than the course

    @property
    def file(self) -> str:
        return f"chapters/{self.chapter}/{self.step}.cu"

    @property
    def short(self) -> str:
        return short(self.chapter, self.step)

    @property
    def mark(self) -> str:
        """Returns what the board shows, as one of STATES."""
        return "further" if self.is_further and self.state == "open" else self.state


class Board:
    def __init__(self, repository: Repository) -> None:
        record, gpus = verdicts.Record(repository), Build.gpus()
        self.course = [place_of(repository, record, gpus, *place) for place in repository.course()]
        self.further = [
            place_of(repository, record, gpus, *place)._replace(is_further=True)
            for place in repository.further()
        ]
        self.places = [*self.course, *self.further]
        self.left = [place for place in self.places if place.state not in NOTHING_TO_DO]

    def of(self, chapter: str, step: str) -> Place:
        return next(place for place in self.places if (place.chapter, place.step) == (chapter, step))

    def next(self, chapter: str = "") -> Place | None:
        """Returns the first step that is not done, of all or of a chapter; steps of the course come first.
        None if all that this machine can run are done or skipped."""
        return next((place for place in self.left if chapter in ("", place.chapter)), None)

    def next_after(self, chapter: str, step: str) -> Place | None:
        """Returns the chapter's next step that is not done and is in the course, or further, as this one is;
        else the first other step that is not done."""
        here = self.of(chapter, step)
        left = [place for place in self.left if place != here]
        behind = [
            place
            for place in left
            if place.chapter == chapter and place.is_further == here.is_further and place.step > step
            if not self.comes_after(place)
        ]
        return next(iter([*behind, *left]), None)

    def comes_after(self, place: Place) -> str:
        """Returns the step that this one needs and that is not done, as a command line names it; else
        nothing."""
        needed = AFTER.get(place.short, "")
        return "" if any(one.short == needed and one.state == "done" for one in self.places) else needed


def place_of(
    repository: Repository, record: verdicts.Record, gpus: list[str], chapter: str, step: str
) -> Place:
    if repository.missing(chapter, step):
        return Place(chapter, step, "missing")
    said = record.says(chapter, step)
    if said.result != "OK" and record.skips(chapter, step):
        return Place(chapter, step, "skipped")
    if said.result in ("", "SKIP") and not repository.runs_here(chapter, step, gpus):
        return Place(chapter, step, "elsewhere", str(repository.needs(chapter, step)))
    if repository.is_open(chapter, step):
        return Place(chapter, step, "open")
    if said.result == "FAIL":
        return Place(chapter, step, "slow" if said.is_right else "wrong", said.why)
    return Place(chapter, step, "done" if said.result == "OK" else "untested")


def all_done(board: Board, chapter: str = "") -> str:
    """Returns the opening words of the message that nothing is left to do, at all or in a chapter."""
    there = {place.state for place in board.places if chapter in ("", place.chapter)}
    which = f" of {chapter}" if chapter else ""
    which += " that this machine can run" * ("elsewhere" in there)
    which += ", except those skipped," * ("skipped" in there)
    return f"Every step{which} is written and right"


def nothing_to_do(board: Board, chapter: str = "") -> str:
    return f"{all_done(board, chapter)}. What each gains: ./kata tour {chapter}{' ' * bool(chapter)}--mine"


def what_to_do(place: Place) -> str:
    """Returns a line about the next thing to do."""
    command = {"missing": "reset", "open": "hint"}.get(place.state, "test")
    text = {
        "missing": "is missing; to get its stub back",
        "open": "what is to be written",
        "untested": "is written, and has not been tested as it stands",
        "wrong": "is not right yet; what the tests say",
        "slow": "is right, not yet fast; what the tests say",
    }[place.state]
    return (
        f"{'Further' if place.is_further else 'Next'}: {place.file}{';' if place.state == 'open' else ''} "
        f"{text}: ./kata {command} {place.short}"
    )


def where(board: Board, place: Place) -> str:
    """Returns lines about the place of an open step in the course, and its lesson."""
    lesson = f"Its lesson: chapters/{place.chapter}/README.md"
    if not place.is_further:
        return f"Step {board.course.index(place) + 1} of {len(board.course)} in the course. {lesson}"
    needed = board.comes_after(place)
    needs = f" It needs what {needed} teaches." if needed else ""
    back = " Back to the course: ./kata next" if any(not one.is_further for one in board.left) else ""
    return f"This step goes further than the course.{needs}{back}\n{lesson}"


def of_the_course(board: Board) -> str:
    """Returns a line about how much of the course is done."""
    done = sum(place.state == "done" for place in board.course)
    return f"The course: {done} of {len(board.course)} steps done. What goes further: ./kata next CHAPTER"


def what_goes_further(board: Board, chapter: str) -> str:
    """Returns a line that offers the further steps of a chapter whose steps of the course are done; nothing
    where there are none."""
    left = [place for place in board.left if place.chapter == chapter and not board.comes_after(place)]
    if not left or not left[0].is_further:
        return ""
    numbers = " ".join(place.step[:2] for place in left)
    return f"Further in {chapter}, if you like ({numbers}): ./kata next {chapter}"


def as_json(board: Board) -> dict[str, object]:
    """Returns the board for programs."""

    def entry(place: Place) -> dict[str, object]:
        return {
            "chapter": place.chapter,
            "step": place.step,
            "file": place.file,
            "state": place.state,
            "verdict": VERDICTS.get(place.state),
            "why": place.why,
            "further": place.is_further,
        }

    following = board.next()
    return {"steps": [entry(place) for place in board.places], "next": following and entry(following)}


def as_text(board: Board) -> str:
    """Returns a row of marks for each chapter, a legend, and the known faults of steps."""
    numbers = sorted({place.step[:2] for place in board.places})
    chapters = list(dict.fromkeys(place.chapter for place in board.places))
    width = max(map(len, chapters)) + 2
    lines = [f"{'':{width}}{' '.join(numbers)}"]
    for chapter in chapters:
        marks = {place.step[:2]: STATES[place.mark][0] for place in board.places if place.chapter == chapter}
        lines.append(f"{chapter:{width}}{'  '.join(marks.get(number, ' ') for number in numbers)}".rstrip())
    counts = collections.Counter(place.mark for place in board.places)
    legend = "   ".join(
        f"{mark} {text}: {counts[state]}" for state, (mark, text) in STATES.items() if counts[state]
    )
    lines += ["", *textwrap.wrap(legend, WIDTH, break_on_hyphens=False), "", of_the_course(board), ""]
    for (chapter, reason), places in itertools.groupby(
        [place for place in board.places if place.why], lambda place: (place.chapter, place.why)
    ):
        why = f"{chapter} {' '.join(place.step[:2] for place in places)}: {reason}"
        lines.append(why if len(why) <= WIDTH else why[: WIDTH - 1] + "…")
    if any(place.why for place in board.places):
        lines.append("")
    following = board.next()
    lines.append(
        (what_to_do(following) if following else nothing_to_do(board)).replace(": ./kata", ":\n  ./kata")
    )
    return "\n".join(lines) + "\n"
