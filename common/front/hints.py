"""The hints of a chapter, in chapters/CHAPTER/hints.md: three for each step, each of which says more than
the one before."""

from __future__ import annotations

import pathlib
import re
import textwrap
from collections.abc import Iterator

import bodies
from fault import Fault
from repository import Repository

LEVELS = ("Question", "Approach", "Nearly the code")
HEAD = """# Hints

Three for each step of this chapter: a question that points at the idea, the
approach in words, and nearly the code. They give away what the lesson lets you
find; `./kata hint {chapter} 01` shows one at a time.
"""
EMPTY = "\n## {title}\n" + "".join(f"\n### {level}\n\n…\n" for level in LEVELS)
WIDTH = 80
LONG = 16  # characters: a line up to this length, such as a barrier, gives nothing away


def file_of(repository: Repository, chapter: str) -> pathlib.Path:
    return repository.root / "chapters" / chapter / "hints.md"


def read(path: pathlib.Path) -> dict[str, list[tuple[str, str]]]:
    """Returns the levels of each step, by its number and in their order, each with its text; empty without a
    file."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    found: dict[str, list[tuple[str, str]]] = {}
    for number, section in re.findall(r"^## (\d\d)\b[^\n]*\n(.*?)(?=^## |\Z)", text, re.M | re.S):
        found[number] = [
            (level.strip(), hint.strip("\n").rstrip())
            for level, hint in re.findall(r"^### ([^\n]*)\n(.*?)(?=^### |\Z)", section, re.M | re.S)
        ]
    return found


def plain(text: str) -> str:
    """Returns the text without comments, and with single spaces."""
    return " ".join(re.sub(r"//[^\n]*", "", text).split())


def for_terminal(text: str) -> str:
    """Returns the text with code indented instead of fenced."""
    parts = re.split(r"^```\w*\n(.*?)^```$", text, flags=re.M | re.S)
    parts[1::2] = [textwrap.indent(code, "    ").rstrip("\n") for code in parts[1::2]]
    return "".join(parts)


def complaints(repository: Repository, chapter: str) -> Iterator[str]:
    """Yields each defect of a chapter's hints."""
    name = f"chapters/{chapter}/hints.md"
    found = read(file_of(repository, chapter))
    steps = repository.steps(chapter, "solutions")
    for number in sorted(found.keys() - {step[:2] for step in steps}):
        yield f"{name}: has hints for {number}, and there is no such step"
    for step in steps:
        levels = found.get(step[:2], [])
        if [level for level, _ in levels] != list(LEVELS):
            yield f"{name}: must have for {step}, in this order: {', '.join(LEVELS)}"
        for level, text in levels:
            place = f"{name}, {step[:2]}, {level}"
            if text in ("", "…"):
                yield f"{place}: is still to be written"
            elif level == LEVELS[0] and "?" not in text:
                yield f"{place}: has no question"
            if any(len(line) > WIDTH for line in text.splitlines()):
                yield f"{place}: has a line of more than {WIDTH} characters"
            for line in gives_away(text, repository.text(chapter, step, "solutions")):
                yield f"{place}: has a line of the solution: {line}"


def gives_away(hint: str, solution: str) -> list[str]:
    """Returns the lines of a solution's bodies that a hint repeats, but for lines as short as a barrier."""
    said = " ".join(hint.split())
    lines = {
        plain(line) for body in bodies.split(solution, "the solution")[1] for line in body.text.splitlines()
    }
    return sorted(line for line in lines if len(line) > LONG and line in said)


def begin(text: str, chapter: str, title: str) -> str:
    """Returns the file's text with room for the hints of one more step."""
    return (text or HEAD.format(chapter=chapter)) + EMPTY.format(title=title)


def shown(repository: Repository, chapter: str, step: str, level: int) -> str:
    """Returns the hint of this level; the first comes with the bodies to be written."""
    found = read(file_of(repository, chapter)).get(step[:2], [])
    text = ""
    if level == 1:
        try:
            text = bodies.hints(repository.stub_of(chapter, step), f"chapters/{chapter}/{step}.cu")
        except Fault:
            if not found:
                raise
    elif not found:
        raise Fault(f"chapters/{chapter}/hints.md has no hint for {step}")
    if level > len(found):
        if level > 1:
            raise Fault(f"{chapter} {step[:2]} has {len(found)} hints, and the last of them says most", 2)
        return text
    name, hint = found[level - 1]
    text += (
        f"{chr(10) if text else ''}Hint {level} of {len(found)}, {name[0].lower()}{name[1:]}:\n\n"
        f"{for_terminal(hint)}\n"
    )
    if level < len(found):
        text += f"\nThe next one says more: ./kata hint {chapter} {step[:2]}{' --more' * level}\n"
    return text
