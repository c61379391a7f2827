"""The state of each step, from the text of its file and the last verdict on it, without running anything."""

from __future__ import annotations

import json
import textwrap
from typing import NamedTuple

import verdicts
from build import Build
from repository import Repository

WIDTH = 80
# The mark on the board and its meaning, in the order of the legend.
STATES = {
    "done": ("+", "done"),
    "slow": ("~", "right, not yet fast"),
    "wrong": ("x", "wrong"),
    "untested": ("?", "not run since the last edit"),
    "elsewhere": ("-", "needs another GPU"),
    "open": (".", "open"),
    "missing": ("!", "file missing"),
}


NOTHING_TO_DO = ("done", "elsewhere")


class Place(NamedTuple):
    """A step on the board. `state` is one of STATES, `why` a line about the reason that the tests give."""

    chapter: str
    step: str
    state: str
    why: str = ""

    @property
    def file(self) -> str:
        return f"chapters/{self.chapter}/{self.step}.cu"

    @property
    def short(self) -> str:
        """Returns the step as a command line names it."""
        return f"{self.chapter} {self.step[:2]}"


class Board:
    def __init__(self, repository: Repository) -> None:
        record, gpus = verdicts.Record(repository), Build.gpus()
        self.places = [
            place_of(repository, record, gpus, chapter, step)
            for chapter in repository.chapters()
            for step in repository.all_steps(chapter)
        ]

    def of(self, chapter: str, step: str) -> Place:
        return next(place for place in self.places if (place.chapter, place.step) == (chapter, step))

    def next(self) -> Place | None:
        """Returns the first step that is not done; None if all that this machine can run are."""
        return next((place for place in self.places if place.state not in NOTHING_TO_DO), None)

    def next_after(self, chapter: str, step: str) -> Place | None:
        """Returns the first step after this one in its chapter that is not done, else the first of all but
        this one."""
        left = [
            place
            for place in self.places
            if place.state not in NOTHING_TO_DO and (place.chapter, place.step) != (chapter, step)
        ]
        behind = [place for place in left if place.chapter == chapter and place.step > step]
        return next(iter([*behind, *left]), None)


def place_of(
    repository: Repository, record: verdicts.Record, gpus: list[str], chapter: str, step: str
) -> Place:
    if repository.missing(chapter, step):
        return Place(chapter, step, "missing")
    said = record.says(chapter, step)
    if said.result in ("", "SKIP") and not repository.runs_here(chapter, step, gpus):
        return Place(chapter, step, "elsewhere", str(repository.needs(chapter, step)))
    if repository.is_open(chapter, step):
        return Place(chapter, step, "open")
    if said.result == "FAIL":
        return Place(chapter, step, "slow" if said.is_right else "wrong", said.why)
    return Place(chapter, step, "done" if said.result == "OK" else "untested")


def all_done(board: Board) -> str:
    """Returns the first words when nothing is left to do."""
    can_run = (
        " that this machine can run" if any(place.state == "elsewhere" for place in board.places) else ""
    )
    return f"Every step{can_run} is written and right"


def nothing_to_do(board: Board) -> str:
    return f"{all_done(board)}. What each gains: ./kata tour --mine"


def what_to_do(place: Place) -> str:
    """Returns a line about the next thing to do."""
    command = {"missing": "reset", "open": "hint"}.get(place.state, "test")
    text = {
        "missing": "is missing; what brings its stub back",
        "open": "what is to be written",
        "untested": "is written, and has not been tested as it stands",
        "wrong": "is not right yet; what the tests say",
        "slow": "is right, not yet fast; what the tests say",
    }[place.state]
    return f"Next: {place.file}{';' if place.state == 'open' else ''} {text}: ./kata {command} {place.short}"


def as_json(board: Board) -> str:
    def entry(place: Place) -> dict[str, str]:
        return {
            "chapter": place.chapter,
            "step": place.step,
            "file": place.file,
            "state": place.state,
            "why": place.why,
        }

    following = board.next()
    said = {"steps": [entry(place) for place in board.places], "next": following and entry(following)}
    return json.dumps(said, indent=1, ensure_ascii=False)


def as_text(board: Board) -> str:
    """Returns a row of marks for each chapter, a legend, and the known faults of steps."""
    numbers = sorted({place.step[:2] for place in board.places})
    chapters = list(dict.fromkeys(place.chapter for place in board.places))
    width = max(map(len, chapters)) + 2
    lines = [f"{'':{width}}{' '.join(numbers)}"]
    for chapter in chapters:
        marks = {place.step[:2]: STATES[place.state][0] for place in board.places if place.chapter == chapter}
        lines.append(f"{chapter:{width}}{'  '.join(marks.get(number, ' ') for number in numbers)}".rstrip())
    there = [state for state in STATES if any(place.state == state for place in board.places)]
    counts = {state: sum(place.state == state for place in board.places) for state in there}
    legend = "   ".join(f"{STATES[state][0]} {STATES[state][1]}: {counts[state]}" for state in there)
    lines += ["", *textwrap.wrap(legend, WIDTH, break_on_hyphens=False), ""]
    for place in board.places:
        if place.why:
            why = f"{place.short}: {place.why}"
            lines.append(why if len(why) <= WIDTH else why[: WIDTH - 1] + "…")
    if any(place.why for place in board.places):
        lines.append("")
    following = board.next()
    lines.append(
        (what_to_do(following) if following else nothing_to_do(board)).replace(": ./kata", ":\n  ./kata")
    )
    return "\n".join(lines) + "\n"
