"""For who adds to this repository: steps and chapters begun in all the places that they need, mistakes shown as whole
kernels, stubs kept as their solutions are."""

from __future__ import annotations

import pathlib
import re

import bodies
import mistakes
from fault import Fault
from repository import STEP, Repository

HINT = "// What to do, in words; how is the exercise.\n"
SKELETON = """#include "{chapter}.cuh"

__global__ void {name}(const float* in, float* out, int n) {{
    // kata: begin
    // kata: end
}}
"""
LESSON = """The problem, and what its ladder teaches.

| step | what is new | document |
| --- | --- | --- |

## The ladder

## What was measured

<!-- counted -->

"""


def title_of(step: str) -> str:
    """ "07 Thread tile" of "07_thread_tile"."""
    number, _, words = step.partition("_")
    return f"{number} {words.replace('_', ' ').capitalize()}"


def mistake(repository: Repository, chapter: str, step: str, name: str | None, file: str | None) -> int:
    path = repository.mistakes_file(chapter, step)
    found = {mistake.name: mistake for mistake in mistakes.read(path)} if path.is_file() else {}
    if name is None:
        for mistake in found.values():
            words = " ".join(re.sub("^// ?", "", line) for line in mistake.comments if not mistakes.KEYED.match(line))
            print(f"{mistake.name:32} {words}")
        return 0
    if name not in found:
        raise Fault(f"'{name}' is no mistake of {chapter} {step}; there are: {' '.join(found)}", 2)
    kernel = repository.kernel(chapter, found[name])
    if file is None:
        print(kernel, end="")
    elif pathlib.Path(file).exists():
        raise Fault(f"there is a {file} already")
    else:
        pathlib.Path(file).write_text(kernel, encoding="utf-8")
        print(f"{file} is {found[name].kernel}.")
    return 0


def stub_of_solution(solution: str, name: str) -> str:
    """A first stub: each body a hint that is still to be put into words."""
    outside, written = bodies.split(solution, name)
    text = outside[0]
    for body, piece in zip(written, outside[1:]):
        indent = " " * (len(piece) - len(piece.lstrip(" ")))
        text += f"{indent}{HINT}{indent}{bodies.OPEN}\n{piece}"
    return text


def stubs(repository: Repository, chapters: list[str], write: bool) -> int:
    """Whether every stub is what its solution makes of it; and makes it so."""
    status = right = 0
    for chapter in chapters:
        for step in repository.steps(chapter, "solutions"):
            path, solution = repository.source(chapter, step), repository.text(chapter, step, "solutions")
            name = f"chapters/{chapter}/{step}.cu"
            before = path.read_text(encoding="utf-8") if path.is_file() else None
            if before is None:
                after = stub_of_solution(solution, f"solutions/{chapter}/{step}.cu")
            else:
                after = bodies.stub_from(solution, before, name)
            if after == before:
                right += 1
                continue
            if write:
                path.write_text(after, encoding="utf-8")
                print(f"{name} is written again" if before else f"{name} is new: put its hints into words")
            else:
                status = 1
                print(
                    f"{name} {'differs from its solution outside of the bodies' if before else 'is missing'}: ./kata stubs --write"
                )
    print(f"{right} stub{'s are as their solutions are' if right != 1 else ' is as its solution is'}")
    return status


def create(repository: Repository, path: pathlib.Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"  {repository.relative(path)}")


def change(repository: Repository, path: pathlib.Path, text: str, what: str) -> None:
    path.write_text(text, encoding="utf-8")
    print(f"  {repository.relative(path)}: {what}")


def with_header(text: str, header: str) -> str:
    """A step with another comment at its head."""
    return header + re.sub(r"\A(//.*\n)*", "", text)


def new_step(repository: Repository, chapter: str, step: str) -> int:
    """Begins with the step before, for a step says what it changes; else with a skeleton."""
    before = check_new(repository, chapter, step)
    header = f"// {title_of(step)}: what this step shows, and which document it mirrors."
    header += f" Changed against {before[:2]}: what, and what that costs and gains.\n" if before else "\n"
    if before:
        solution = with_header(repository.text(chapter, before, "solutions"), header)
        stub = bodies.stub_from(solution, repository.text(chapter, before), before)
        if not bodies.is_stub(stub):  # somebody has written it
            stub = stub_of_solution(solution, before)
    else:
        solution = header + SKELETON.format(chapter=chapter, name=step[3:])
        stub = stub_of_solution(solution, step)
    print("New:")
    create(repository, repository.source(chapter, step, "solutions"), solution)
    create(repository, repository.source(chapter, step), stub)
    create(
        repository,
        repository.mistakes_file(chapter, step),
        f"// What the tests must reject of {chapter} {step[:2]}; CONTRIBUTING.md tells how a mistake is written.\n",
    )
    left = [
        f"solutions/{chapter}/{step}.cu: the kernel, its header comment, its marks; then ./kata stubs --write {chapter}",
        f"chapters/{chapter}/{step}.cu: hints in words",
        f"tests/wrong/{chapter}/{step}.mistakes: the mistakes that the step invites",
        f"tests/{chapter}.cpp: a claim, if the step gains something; tests that name steps may have to name this one",
        f"chapters/{chapter}/README.md: its lesson; tests/lessons.py build {chapter} --write puts its counts there",
    ]
    lesson = repository.root / "chapters" / chapter / "README.md"
    if row := add_row(lesson, step):
        change(repository, lesson, row, "its line in the table of steps")
    else:
        left.append(f"chapters/{chapter}/README.md: its line in the table of steps, of which none was found")
    count_steps(repository, chapter)
    print("\nLeft to do:")
    print("".join(f"  {line}\n" for line in left) + f"\nThen: ./kata test, tests/contract.py build, ./kata tour {chapter}")
    return 0


def check_new(repository: Repository, chapter: str, step: str) -> str | None:
    """Gives the step before."""
    if not STEP.fullmatch(f"{step}.cu"):
        raise Fault(f"'{step}' is not NN_name, in small letters, digits and _, as in 07_name", 2)
    steps = repository.steps(chapter, "solutions")
    if taken := [other for other in steps if other[:2] == step[:2]]:
        raise Fault(f"{chapter} has {taken[0]}: a step between others renumbers those behind it, by hand", 2)
    earlier = [other for other in steps if other < step]
    return earlier[-1] if earlier else None


def add_row(lesson: pathlib.Path, step: str) -> str | None:
    """The lesson with a row for the step, below those of the steps before; None where there is no table of steps."""
    lines = lesson.read_text(encoding="utf-8").splitlines(keepends=True) if lesson.is_file() else []
    rows = [i for i, line in enumerate(lines) if re.match(r"\| \[\d\d .*\]\(\d\d_\w+\.cu\) \|", line)]
    heads = [i for i, line in enumerate(lines[:-1]) if line.startswith("| step |") and re.match(r"\|[ -:]+\|", lines[i + 1])]
    if not rows and not heads:
        return None
    above = max(
        (i for i in rows if re.search(r"\((\d\d_\w+)\.cu\)", lines[i])[1] < step), default=(rows or [heads[0] + 2])[0] - 1
    )
    cells = lines[above].count("|") - 2
    lines.insert(above + 1, f"| [{title_of(step).lower()}]({step}.cu) |" + " … |" * cells + "\n")
    return "".join(lines)


def count_steps(repository: Repository, chapter: str) -> None:
    """Says in the README how many steps there are."""
    readme = repository.root / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    count = len(repository.steps(chapter, "solutions"))
    after = re.sub(rf"^(\| \[{chapter}\]\(chapters/.*?\| )\d+( \|)", rf"\g<1>{count}\g<2>", text, flags=re.M)
    if after != text:
        change(repository, readme, after, f"{chapter} has {count} steps")


def new_chapter(repository: Repository, chapter: str) -> int:
    if not re.fullmatch("[a-z][a-z0-9_]*", chapter):
        raise Fault(f"'{chapter}' is no name of a chapter: small letters, digits and _", 2)
    if chapter in repository.chapters():
        raise Fault(f"there is a chapter {chapter} already; a new step of it has a name: ./kata new {chapter} NN_name", 2)
    print("New:")
    lesson = f"# {chapter.capitalize()}\n\n{LESSON}"
    header = f'// What the steps of this chapter include.\n#pragma once\n\n#include "kata.hpp"\n#include "{chapter}.hpp"\n'
    for name, text in (("README.md", lesson), (f"{chapter}.cuh", header)):
        create(repository, repository.root / "chapters" / chapter / name, text)
        link = repository.root / "solutions" / chapter / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(f"../../chapters/{chapter}/{name}")
        print(f"  {repository.relative(link)}, a link to it")
    readme = repository.root / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    if rows := list(re.finditer(r"^\| \[\w+\]\(chapters/.*\n", text, re.M)):
        end = rows[-1].end()
        row = f"| [{chapter}](chapters/{chapter}/README.md) | 0 | |\n"
        change(repository, readme, text[:end] + row + text[end:], "its row in the table of chapters")
    print(f"""
Left to do:
  common/front/repository.py: its place in ORDER
  reference/{chapter}.hpp and .cpp: the problem, its limits, a plain solution, and what every step defines
  chapters/{chapter}/{chapter}.cuh: what steps include
  tests/{chapter}.cpp: the tests of a step, the claims, and kata::chapter for the tour
  chapters/{chapter}/README.md: the lesson

Then its steps: ./kata new {chapter} 01_name""")
    return 0
