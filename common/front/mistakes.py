"""Wrong kernels and variants of right ones, as edits of solutions, in tests/wrong/CHAPTER/STEP.mistakes.

  == NAME [of STEP]         edits the solution of this step, or of another one that is handed in as this
  // what is wrong, a line or a few
  // Rejected: WORDS        a part of the message that the tests must give, word for word
  // Rejected by: TEST      the first test that rejects it, and the only one that runs unless all must
  // On a GPU: WORDS        the same without a meter; "nothing" if nothing is to be seen there
  // Timed against: KERNEL  a STEP or STEP.NAME, beside which it is timed on a GPU
  // Same code as: KERNEL   a STEP or STEP.NAME, of which nvcc makes the same code (tests/spellings.py)
  - lines of the solution, which stand there exactly once
  + lines in their place, if there are any
  @                         between two edits of which the first only removes lines

A kernel with "Timed against" or "Same code as" and without "Rejected" is a variant: it is right. The marks of
bodies and the comment at the head of a solution are not edited.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterator

from fault import Fault

SUFFIX = ".mistakes"
MARK = "// kata: "
KEYED = re.compile("// (Rejected|Rejected by|On a GPU|Timed against|Same code as): ")
TITLE = re.compile(r"== ([a-z0-9_]+)(?: of (\d\d_[a-z0-9_]+))?$")


@dataclasses.dataclass(frozen=True)
class Edit:
    line: int  # in the file of mistakes
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Mistake:
    path: pathlib.Path
    line: int
    step: str  # that it is handed in as
    name: str
    edited: str  # the step whose solution is edited
    comments: tuple[str, ...]
    edits: tuple[Edit, ...]

    def says(self, key: str) -> str | None:
        """Returns the text after "// KEY: "; None if no line has it."""
        return next(
            (line.split(": ", 1)[1].strip() for line in self.comments if line.startswith(f"// {key}: ")), None
        )

    @property
    def words(self) -> str:
        """Returns what is wrong, without the lines "// KEY: "."""
        return " ".join(line[3:] for line in self.comments if not KEYED.match(line))

    @property
    def is_silent(self) -> bool:
        """True if the tests reject it, and report nothing on a GPU."""
        return self.tree == "wrong" and self.says("On a GPU") == "nothing"

    @property
    def kernel(self) -> str:
        return f"{self.step}.{self.name}"

    @property
    def timed_against(self) -> str | None:
        return self.says("Timed against")

    @property
    def same_code_as(self) -> str | None:
        return self.says("Same code as")

    @property
    def tree(self) -> str:
        return "wrong" if self.says("Rejected") else "variants"

    def fault(self, text: str, line: int | None = None) -> Fault:
        return Fault(f"{self.path}:{line or self.line}: {self.name}: {text}")


def read(path: pathlib.Path) -> list[Mistake]:
    """Returns the mistakes in a file, in its order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("==")]
    for number, line in enumerate(lines[: starts[0] if starts else len(lines)], 1):
        if line.strip() and not line.startswith("//"):
            raise Fault(f"{path}:{number}: a mistake begins with a line '== NAME', and there is none yet")
    found: dict[str, Mistake] = {}
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        mistake = parse(path, start + 1, lines[start:end])
        if mistake.name in found:
            raise mistake.fault(f"there is one of this name in line {found[mistake.name].line}")
        found[mistake.name] = mistake
    return list(found.values())


def parse(path: pathlib.Path, line: int, lines: list[str]) -> Mistake:
    title = TITLE.match(lines[0])
    if not title:
        raise Fault(
            f"{path}:{line}: '{lines[0]}' is not '== NAME' or '== NAME of STEP', in small letters, "
            f"digits and _"
        )
    step = path.name[: -len(SUFFIX)]
    while not lines[-1].strip():
        lines = lines[:-1]
    comments = [text for text in lines[1:] if text.startswith("//")]
    mistake = Mistake(path, line, step, title[1], title[2] or step, tuple(comments), ())
    numbered = list(enumerate(lines[1:], line + 1))
    if [text for _, text in numbered[: len(comments)]] != comments:
        raise mistake.fault("its comments come first, before the edits, without an empty line")
    if not any(map(mistake.says, ("Rejected", "Timed against", "Same code as"))):
        raise mistake.fault(
            "says neither '// Rejected: …', what the tests must say of it, nor '// Timed against: …' or "
            "'// Same code as: …'"
        )
    if not any(re.match(r"// \S", text) and not KEYED.match(text) for text in comments):
        raise mistake.fault("does not say what is wrong, or what differs, in a comment")
    mistake = dataclasses.replace(mistake, edits=tuple(edits(mistake, numbered[len(comments) :])))
    if not mistake.edits and mistake.edited == step:
        raise mistake.fault(f"changes nothing of {step}")
    return mistake


def edits(mistake: Mistake, numbered: list[tuple[int, str]]) -> Iterator[Edit]:
    first = 0
    old: list[str] = []
    new: list[str] = []
    for number, text in [*numbered, (0, "@")]:
        sign, code = text[:1], text[2:]
        if text[1:2].strip() or sign not in ("-", "+", "@"):
            raise mistake.fault(f"'{text}' begins with none of '- ', '+ ' and '@'", number)
        if sign == "+":
            if not old:
                raise mistake.fault(
                    "'+' without a line '-' before it: the line of the solution that it replaces", number
                )
            new.append(code)
            continue
        if old and (new or sign == "@"):
            if old == new:
                raise mistake.fault("an edit that changes nothing", first)
            yield Edit(first, tuple(old), tuple(new))
            old, new = [], []
        if sign == "-":
            first = number if not old else first
            old.append(code)


def code_of(solution: str) -> list[str]:
    """Returns the part of a solution that is edited: without the marks, and without the comment at its
    head."""
    lines = [line for line in solution.splitlines() if MARK not in line]
    while lines and lines[0].startswith("//"):
        lines.pop(0)
    return lines


def places_of(old: list[str] | tuple[str, ...], code: list[str]) -> list[int]:
    return [i for i in range(len(code)) if code[i : i + len(old)] == list(old)]


def kernel(mistake: Mistake, solutions: pathlib.Path) -> str:
    """Returns the kernel with the mistake, made from the solution in the folder of its chapter."""
    source = solutions / f"{mistake.edited}.cu"
    if not source.is_file():
        raise mistake.fault(f"there is no {source} to be edited")
    code = code_of(source.read_text(encoding="utf-8"))
    placed = []
    for edit in mistake.edits:
        places = places_of(edit.old, code)
        if len(places) != 1:
            looked_for = edit.old[0].strip() + (f" … ({len(edit.old)} lines)" if len(edit.old) > 1 else "")
            raise mistake.fault(f"{len(places)} places in {source}, not 1, read: {looked_for}", edit.line)
        placed.append((places[0], edit))
    placed.sort(key=lambda placed: placed[0], reverse=True)
    behind = len(code)
    for place, edit in placed:
        if place + len(edit.old) > behind:
            raise mistake.fault("two edits of the same line", edit.line)
        code[place : place + len(edit.old)] = edit.new
        behind = place
    return "\n".join([*mistake.comments, *code, ""])


def as_edit(solution: str, number: int, changed: str) -> str:
    """Returns the lines '-' and '+' that turn line `number` of a solution into `changed`, with enough lines
    around it to be unique."""
    lines, code = solution.splitlines(), code_of(solution)
    at = len(code) - 1 - sum(MARK not in line for line in lines[number:])  # no comment or mark counts
    first, last = at, at + 1
    while len(places_of(code[first:last], code)) > 1:
        first, last = (first - 1, last) if first else (first, last + 1)
    new = [*code[first:at], *([changed] if changed.strip() else []), *code[at + 1 : last]]
    signed = [("-", line) for line in code[first:last]] + [("+", line) for line in new]
    return "\n".join(f"{sign} {line}".rstrip() for sign, line in signed)
