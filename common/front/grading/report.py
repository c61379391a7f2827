"""The report of a suite on a step (common/check/report.hpp), and the verdict that follows from it."""

from __future__ import annotations

import collections
import dataclasses
import json
import re
import signal
from collections.abc import Sequence
from typing import TypedDict

from grading.walls import Done

VERDICTS = ("OK", "SLOW", "FAIL", "OPEN", "MISSING")
IS_OPEN = "open: "  # begins the message of kata::open()


class Count(TypedDict):
    """A counter of a step, and that of its solution (common/check/report.hpp)."""

    key: str
    heading: str
    step: float
    solution: float


class OfStep(TypedDict, total=False):
    unread: bool


class StepResult(OfStep):
    """A step of a student: its verdict and the findings about it."""

    verdict: str  # one of VERDICTS
    why: str
    share: float
    seconds: dict[str, float]  # to "compile" and to "test"
    printed: str
    counts: list[Count]


class Result(TypedDict):
    """The result of a student, as a job writes it (common/front/schema.json)."""

    command: str  # "grade"
    student: str
    digest: str
    notes: list[str]
    version: str
    steps: dict[str, StepResult]
    walls: bool
    host: str
    seconds: float
    graded: str


@dataclasses.dataclass
class Case:
    """A test."""

    name: str
    passed: bool
    skipped: bool = False
    why: str = ""  # the reason of a failure
    # For a test that a right step fails: the limit divided by what the step needs, from 0 to 1.
    share: float | None = None


@dataclasses.dataclass(frozen=True)
class Verdict:
    name: str  # one of VERDICTS
    reason: str = ""
    share: float = 1.0  # for SLOW: the part of the step's need that is allowed, from 0 to 1


@dataclasses.dataclass
class Report:
    cases: list[Case]
    planned: int | None  # tests, as the suite has announced
    done: Done
    counts: dict[str, Count] = dataclasses.field(default_factory=dict)  # by their headings

    @property
    def failed(self) -> list[Case]:
        return [case for case in self.cases if not case.passed]

    @property
    def fails_as_a_right_step(self) -> bool:
        """True if, by all tests so far, it needs more than is allowed and nothing else is wrong."""
        return (
            bool(self.failed)
            and all(case.share is not None for case in self.failed)
            and not self.is_cut_short
        )

    def verdict(self, model: Sequence[str]) -> Verdict:
        """Returns the verdict. `model` are the tests that the solution passes: each must be passed, once."""
        failed = self.failed
        reason = "\n\n".join(f"{case.name}:\n{case.why}" if case.why else case.name for case in failed)
        if any(case.why.strip().startswith(IS_OPEN) for case in failed):
            return Verdict("OPEN", "it calls kata::open()")
        if failed and not self.fails_as_a_right_step:
            return Verdict("FAIL", "\n\n".join(filter(None, [reason, self.end if self.is_cut_short else ""])))
        if self.is_cut_short:
            return Verdict("FAIL", self.end)
        counted = collections.Counter(case.name for case in self.cases if case.passed and not case.skipped)
        skipped = {case.name for case in self.cases if case.skipped}
        claims = {case.name for case in failed}
        for name in model:
            if counted[name] != 1 and name not in claims:
                return Verdict(
                    "FAIL",
                    f'skipped the test "{name}"'
                    if name in skipped
                    else f'has {counted[name]} results of the test "{name}"',
                )
        if failed:
            # The messages stand alone, and the tests' names say what a step should do.
            reason = "\n\n".join(case.why or case.name for case in failed)
            return Verdict("SLOW", reason, min(max(0.0, min(1.0, case.share or 0.0)) for case in failed))
        return Verdict("OK") if model else Verdict("FAIL", "no test is about it")

    @property
    def is_cut_short(self) -> bool:
        return (
            bool(self.done.stopped)
            or self.done.status != 0
            or self.planned is None
            or len(self.cases) != self.planned
        )

    @property
    def end(self) -> str:
        """Returns a sentence about how it ended, if it did not end well."""
        if self.done.stopped:
            return self.done.stopped
        if self.done.status < 0:
            try:
                return f"crashed: {signal.Signals(-self.done.status).name}"
            except ValueError:
                return f"ended by signal {-self.done.status}"
        return "ended the program before the tests did" + (
            f", with status {self.done.status}" if self.done.status else ""
        )


def read(done: Done) -> Report:
    found = Report([], None, done)
    for line in done.report.decode("utf-8", "replace").split("\n"):
        take(found, line)
    return found


def take(found: Report, line: str) -> None:
    if match := re.fullmatch(r"1\.\.(\d+)(?: #.*)?", line):
        found.planned = int(match[1])
    elif match := re.fullmatch(r"(not )?ok \d+(?: - (.*?))?( # SKIP.*)?", line):
        found.cases.append(Case(match[2] or "", not match[1], bool(match[3])))
    elif found.cases and line.startswith("# {"):
        case = found.cases[-1]
        try:
            record = json.loads(line[2:])
        except ValueError:  # such as a number that is none: the other steps still have their verdicts
            found.planned = None
            return
        case.why = record.get("text", "") if not case.passed else ""
        case.share = record.get("share")
        found.counts |= {one["heading"]: one for one in record.get("counts", ())}
