"""Hunts: a kernel with one mistake, whose line and kind the reader names before the meter does."""

from __future__ import annotations

import difflib
import pathlib
import re
import subprocess
import sys
import textwrap
from collections.abc import Collection
from typing import NamedTuple

import board
import mistakes
import processes
import trace
import verdicts
from build import Build
from fault import Fault
from repository import Repository, module, prefix, short, suite

WIDTH = 80
LEVELS = ("message", "counters", "nothing")  # shown beside the kernel; the first is the easiest
KINDS = {
    "race": "threads access the same memory, one of them writes, and nothing orders them",
    "bounds": "an access outside of an array",
    "unset": "unwritten memory is read",
    "wait": "a barrier that not all threads reach, or a wait that never ends",
    "launch": "a launch that the GPU refuses",
    "values": "wrong values, by an index, a bound, a constant or the order of operands",
    "slow": "the result is right, and takes far more than it needs",
}


class Hunt(NamedTuple):
    chapter: str
    step: str
    name: str
    kind: str

    @property
    def key(self) -> str:
        return f"{self.chapter}/{self.step}.{self.name}"


def chosen(repository: Repository) -> list[Hunt]:
    """Returns the hunts that the repository lists, in the order of the course."""
    file = repository.root / "tests" / "wrong" / "hunts"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return [Hunt(*line.split()) for line in lines if line and not line.startswith("#")]


def mistake_of(repository: Repository, hunt: Hunt) -> mistakes.Mistake:
    found = mistakes.read(repository.mistakes_file(hunt.chapter, hunt.step))
    return next(mistake for mistake in found if mistake.name == hunt.name)


def without_comments(text: str) -> list[str]:
    """Returns the lines of a kernel, in which a comment could give the mistake away."""
    return [re.sub(r"\s*//.*", "", line) for line in text.splitlines()]


class Kernel:
    """The kernel of a hunt. Lines have the numbers of the file that is built, which messages quote."""

    def __init__(self, repository: Repository, hunt: Hunt) -> None:
        self.mistake = mistake_of(repository, hunt)
        right = repository.text(hunt.chapter, self.mistake.edited, "solutions")
        wrong = repository.kernel(hunt.chapter, self.mistake)
        self.right = [line for line in without_comments("\n".join(mistakes.code_of(right))) if line]
        self.wrong = without_comments(wrong)
        self.numbers = [number for number, line in enumerate(self.wrong, 1) if line]
        self.shown = [self.wrong[number - 1] for number in self.numbers]
        matcher = difflib.SequenceMatcher(None, self.right, self.shown, autojunk=False)
        self.changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]

    def text(self) -> str:
        return "".join(f"{number:4}  {self.wrong[number - 1]}\n" for number in self.numbers)

    def lines(self) -> set[int]:
        """Returns the lines that are wrong; where lines are missing, those on both sides."""
        found: set[int] = set()
        for _, _, _, begin, end in self.changes:
            around = range(begin, end) if end > begin else range(begin - 1, begin + 1)
            found |= {self.numbers[i] for i in around if 0 <= i < len(self.numbers)}
        return found

    def mended(self) -> str:
        """Returns what must change, as a diff does."""
        said = []
        for _, first, last, begin, end in self.changes:
            said += [f"- {self.numbers[i]:3}  {self.shown[i]}" for i in range(begin, end)]
            said += [f"+      {line}" for line in self.right[first:last]]
        return "".join(f"{line}\n" for line in said)

    def why(self) -> str:
        return textwrap.fill(self.mistake.words, WIDTH)


def build_parts(repository: Repository, build: Build, hunt: Hunt) -> None:
    """Builds the suite, the kernel and the solutions that it is compared with. No names are shown, because
    the kernel's may give the mistake away."""
    kernel = module("wrong", hunt.chapter, f"{hunt.step}.{hunt.name}", "cpu")
    solution = module("solutions", hunt.chapter, hunt.step, "cpu")
    failed = build.compile([suite(hunt.chapter, "cpu"), kernel, solution], named=False)
    if not failed:
        step = repository.source(hunt.chapter, hunt.step)
        others = verdicts.compared_with(build.suite(hunt.chapter, "cpu"), step)
        solutions = {module("solutions", hunt.chapter, other, "cpu") for other in others}
        failed = build.compile(sorted({solution} | solutions), named=False)
    if failed:
        raise Fault("see above")


def finding(build: Build, hunt: Hunt) -> str:
    """Returns the message of the tests."""
    kernel = f"{hunt.step}.{hunt.name}"
    command: list[str | pathlib.Path] = [build.suite(hunt.chapter, "cpu")]
    command += ["--step", build.folder / module("wrong", hunt.chapter, kernel, "cpu")]
    command += ["--source", build.folder / f"{kernel}.{hunt.chapter}.cu"]
    command += ["--rivals", build.folder / prefix("solutions", hunt.chapter)]
    command += ["--reporter", "step", "--abort"]
    with processes.running(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as tests:
        lines = "\n".join(processes.lines_of(tests))
    said = [one["text"] for one in verdicts.records_in(lines) if one["kind"] in ("wrong", "slow")]
    text = said[0] if said else "the tests ended without a message"
    return text.replace(f"{kernel}.{hunt.chapter}.cu", f"{hunt.step}.cu")  # the name may give it away


def counters(build: Build, hunt: Hunt) -> str:
    """Returns what the kernel needs, beside the solution."""
    program = build.suite(hunt.chapter, "cpu")
    names = (("wrong", f"{hunt.step}.{hunt.name}"), ("solutions", hunt.step))
    try:
        wrong, right = (
            trace.run(program, build.folder / module(tree, hunt.chapter, name, "cpu"), "explain")["all"]
            for tree, name in names
        )
    except Fault:
        return "The kernel does not end, so nothing was counted.\n"
    rows = [f"{name:16} {wrong[name]:>12.6g} {right[name]:>12.6g}\n" for name in wrong if name in right]
    return f"{'':16} {'this kernel':>12} {'solution':>12}\n" + "".join(rows)


def asked(question: str, answers: Collection[int]) -> int:
    """Repeats the question until the answer is one of these numbers; Ctrl-D ends the hunt."""
    try:
        while not (said := input(question).strip()).isdecimal() or int(said) not in answers:
            pass
        return int(said)
    except EOFError:
        print()
        raise Fault("there was no answer", 2) from None


def open_hunts(repository: Repository, chapter: str, found: dict[str, str], level: str) -> list[Hunt]:
    """Returns the hunts that are not found at this level or a harder one, among the steps that are done: the
    kernel is nearly their solution."""
    done = {(place.chapter, place.step) for place in board.Board(repository).places if place.state == "done"}
    here = [one for one in chosen(repository) if chapter in ("", one.chapter)]
    solved = [one for one in here if (one.chapter, one.step) in done]
    if not here:
        raise Fault(f"there are no hunts of {chapter or 'any chapter'}")
    if not solved:
        raise Fault(
            f"a hunt shows nearly the solution of a step: solve that step first, for example "
            f"{short(here[0].chapter, here[0].step)}"
        )
    harder = LEVELS[LEVELS.index(level) :]
    left = [one for one in solved if found.get(one.key) not in harder]
    if not left:
        again = f"; harder: --show {harder[1]}" if harder[1:] else ""
        raise Fault(f"all {len(solved)} hunts of the steps that you have solved are found{again}")
    return left


def hunt(repository: Repository, chapter: str, level: str) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print("hunt asks questions and waits for your answers: run it in a terminal.")
        return 0
    record = verdicts.Record(repository)
    kept = record.read()
    found = {key: str(shown) for key, shown in kept.get("hunts", {}).items()}
    misses = kept.get("missed hunts", {})
    left = open_hunts(repository, chapter, found, level)
    one = min(left, key=lambda hunt: int(str(misses.get(hunt.key, 0))))  # a missed one comes last
    kernel, build = Kernel(repository, one), Build(repository)
    build.configure(everything=True)
    build_parts(repository, build, one)
    said = finding(build, one)
    print(f"{short(one.chapter, one.step)}, with one mistake:\n\n{kernel.text()}")
    if kernel.mistake.is_silent and one.kind != "slow" and level != "nothing":
        print("A GPU reports no error.\n")
    if level == "message":
        print(f"The tests say:\n{textwrap.indent(said, '  ')}\n")
    elif level == "counters":
        print(counters(build, one))
    print("Where a line is missing, name a line beside the gap.")
    line = asked("In which line is the mistake? ", kernel.numbers)
    print("\n" + "".join(f"{number}  {text}\n" for number, text in enumerate(KINDS.values(), 1)))
    kind = list(KINDS)[asked("Which of these do the tests find first? ", range(1, len(KINDS) + 1)) - 1]
    right_line, right_kind = line in kernel.lines(), kind == one.kind
    lines = " or ".join(map(str, sorted(kernel.lines())))
    print(f"\nThe line: {'yes' if right_line else f'no, {lines}'}.")
    print(f"The kind: {'yes' if right_kind else f'no, {KINDS[one.kind]}'}.")
    print(f"\n{kernel.why()}\n\n{kernel.mended()}")
    if level != "message":
        print(f"The tests say:\n{textwrap.indent(said, '  ')}")
    if right_line and right_kind:
        record.write({"hunts": {one.key: level}})
        print(f"Found. Left to find: {len(left) - 1}")
    else:
        record.write({"missed hunts": {one.key: int(str(misses.get(one.key, 0))) + 1}})
    return 0
