"""What stands between the marks in a step: what a student writes, and the hint before that."""

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
    line: int  # of its mark
    text: str
    of: str  # the line that begins what it is the body of

    @property
    def is_stub(self) -> bool:
        return STUB.fullmatch(self.text) is not None

    @property
    def hint(self) -> list[str]:
        return HINT.findall(self.text)


def split(text: str, name: str) -> tuple[list[str], list[Body]]:
    """What stands outside of the bodies, the marks included, and the bodies, of which each follows one piece of that."""
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
    """The lines that say that a body is still to be written. The suites look for the same."""
    return [number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith(OPEN)]


def is_open(text: str) -> bool:
    return bool(open_lines(text))


def is_stub(text: str) -> bool:
    """Whether nobody has written anything yet; what is between that and a solution is a step in work."""
    try:
        bodies = split(text, "")[1]
    except Fault:
        return False
    return bool(bodies) and all(body.is_stub for body in bodies)


def hints(text: str, name: str) -> str:
    """What is to be written, each body with the line that it belongs to."""
    return "\n".join(
        f"{name}:{body.line}, in {body.of}\n" + "".join(f"    {line}\n" for line in body.hint)
        for body in split(text, name)[1]
    )


def stub_from(solution: str, stub: str, name: str) -> str:
    """The stub as it must be: the solution, with the bodies that stand in the stub."""
    outside, theirs = split(solution, f"the solution of {name}")
    mine = split(stub, name)[1]
    if len(mine) != len(theirs):
        raise Fault(f"{name}: has {len(mine)} bodies, and its solution {len(theirs)}")
    return "".join(piece + body for piece, body in zip(outside, [*(body.text for body in mine), ""]))
