"""The names of chapters and steps on a command line, which may be shortened."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence

from fault import Fault
from repository import Repository, either


def pick(kind: str, given: str, names: Sequence[str]) -> str:
    """Returns the one name that fits `given`: its beginning, its number, or the part after its number."""
    wanted = given[:-3] if given.endswith(".cu") else given
    wanted = f"0{wanted}" if re.fullmatch(r"\d", wanted) else wanted
    ways: tuple[Callable[[str], bool], ...] = (
        lambda name: name == wanted,
        lambda name: name.startswith(wanted),
        lambda name: name[3:] == wanted,
        lambda name: name[3:].startswith(wanted),
    )
    for fits in ways:
        found = [name for name in names if wanted and fits(name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise Fault(f"'{given}' may be {either(found)}", 2)
    raise Fault(f"'{given}' is not a {kind}; there are: {' '.join(names)}", 2)


def pick_chapter(repository: Repository, given: str) -> str:
    return pick("chapter", given, repository.chapters())


def pick_chapters(repository: Repository, given: Sequence[str]) -> list[str]:
    """Returns the named chapters, or all."""
    return [pick_chapter(repository, name) for name in given] or repository.chapters()


def pick_step(repository: Repository, words: list[str]) -> tuple[str, str | None]:
    """Returns chapter and step, or a chapter alone. A step may also be given as its file, as a shell
    completes it."""
    if len(words) == 1 and re.search(r"[^/]*/[^/]*\.cu$", words[0]):
        words = words[0].split("/")[-2:]
    chapter = pick_chapter(repository, words[0])
    steps = repository.all_steps(chapter)
    return chapter, pick(f"step of {chapter}", words[1], steps) if len(words) > 1 else None


def one_step(repository: Repository, given: argparse.Namespace) -> tuple[str, str, str]:
    """Returns chapter, step, and the step's path from the root."""
    chapter, step = pick_step(repository, given.step)
    if step is None or len(given.step) > 2:
        command, example = f"./kata {given.command}", repository.chapters()[0]
        raise Fault(f"usage: {command} CHAPTER STEP, as in: {command} {example} 01", 2)
    return chapter, step, f"chapters/{chapter}/{step}.cu"
