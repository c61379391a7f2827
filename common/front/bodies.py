"""The text between the marks of a step: the hint of a stub, or the body that a student has written."""

from __future__ import annotations

import dataclasses
import re

from fault import Fault

BEGIN, END = "// kata: begin", "// kata: end"
OPEN = "kata::open();"
# Hints in comments, the call that marks the body as open, and at most a value for it to return.
STUB = re.compile(r"(?:[ \t]*(?://.*)?\n)*[ \t]*kata::open\(\);\n(?:[ \t]*return .*;\n)?")
HINT = re.compile(r"^[ \t]*// ?(.*)$", re.M)


@dataclasses.dataclass(frozen=True)
class Body:
    line: int  # the line of its mark
    text: str
    of: str  # the first line of the function, or other part of the file, that the body belongs to

    @property
    def is_stub(self) -> bool:
        return STUB.fullmatch(self.text) is not None

    @property
    def hint(self) -> list[str]:
        return HINT.findall(self.text)


def split(text: str, name: str) -> tuple[list[str], list[Body]]:
    """Returns the pieces outside of the bodies, marks included, and the bodies; each body follows one
    piece."""
    outside, bodies, begun, inside, of = [""], [], 0, "", ""
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        mark = line.strip()
        if mark == (BEGIN if begun else END):
            raise Fault(f"{name}:{number}: '{mark}' where '{END if begun else BEGIN}' must come first")
        if mark == END:
            bodies.append(Body(begun, inside, of))
            outside.append("")
            begun, inside = 0, ""
        if begun:
            inside += line
        else:
            outside[-1] += line
        if mark == BEGIN:
            begun = number
        elif not begun and re.match(r"[^\s/}#]", line):
            of = re.sub(r" *\{$", "", line.rstrip())
    if begun:
        raise Fault(f"{name}:{begun}: no '{END}' for this '{BEGIN}'")
    return outside, bodies


def open_lines(text: str) -> list[int]:
    """Returns the lines that mark a body as still to be written. The suites look for the same lines."""
    return [number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith(OPEN)]


def is_open(text: str) -> bool:
    return bool(open_lines(text))


def is_stub(text: str) -> bool:
    """True if nothing has been written yet. A body that is begun but not finished is no stub."""
    try:
        bodies = split(text, "")[1]
    except Fault:
        return False
    return bool(bodies) and all(body.is_stub for body in bodies)


def hints(text: str, name: str) -> str:
    """Returns the hint of each body, with the line that it belongs to."""
    return "\n".join(
        f"{name}:{body.line}, in {body.of}\n" + "".join(f"    {line}\n" for line in body.hint)
        for body in split(text, name)[1]
    )


def stub_from(solution: str, stub: str, name: str) -> str:
    """Returns the solution with the bodies of the stub: the stub as it must be."""
    outside, theirs = split(solution, f"the solution of {name}")
    mine = split(stub, name)[1]
    if len(mine) != len(theirs):
        raise Fault(f"{name}: has {len(mine)} bodies, and its solution {len(theirs)}")
    return "".join(piece + body for piece, body in zip(outside, [*(body.text for body in mine), ""]))
