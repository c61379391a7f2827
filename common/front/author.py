"""Tools for authors: new steps and chapters in all the places that they need, mistakes as whole kernels,
and stubs that follow their solutions."""

from __future__ import annotations

import contextlib
import difflib
import functools
import pathlib
import re
import textwrap
from collections.abc import Callable

import bodies
import hints
import mistakes
from fault import Fault
from repository import STEP, Repository

WIDTH = 100  # columns of comments
HINT = "// Say here what to do; how to do it is the exercise.\n"
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

## What was counted

<!-- counted -->

"""


def title_of(step: str) -> str:
    """Returns "07 Thread tile" for "07_thread_tile"."""
    number, _, words = step.partition("_")
    return f"{number} {words.replace('_', ' ').capitalize()}"


def mistake(repository: Repository, chapter: str, step: str, name: str | None, file: str | None) -> int:
    path = repository.mistakes_file(chapter, step)
    found = {mistake.name: mistake for mistake in mistakes.read(path)} if path.is_file() else {}
    if name is None:
        for mistake in found.values():
            words = " ".join(
                re.sub("^// ?", "", line) for line in mistake.comments if not mistakes.KEYED.match(line)
            )
            print(f"{mistake.name:32} {words}")
        return 0
    if name not in found:
        raise Fault(f"'{name}' is not a mistake of {chapter} {step}; there are: {' '.join(found)}", 2)
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
    """Returns a first stub, in which each body is a hint that is still to be put into words."""
    return stub_with(solution, [], name)


def stub_with(solution: str, had: list[bodies.Body], name: str) -> str:
    """Returns the stub with the bodies that it had, and a hint to be put into words where the solution has
    one more."""
    outside, written = bodies.split(solution, name)
    places = difflib.SequenceMatcher(
        None, [function(body) for body in written], [function(body) for body in had], False
    )
    kept = {a + i: had[b + i].text for a, b, size in places.get_matching_blocks() for i in range(size)}
    if len(kept) < len(had):
        raise Fault(
            f"{name}: has {len(had)} bodies, its solution {len(written)}, and some are of other functions"
        )
    text = outside[0]
    for number, piece in enumerate(outside[1:]):
        indent = " " * (len(piece) - len(piece.lstrip(" ")))
        text += kept.get(number, f"{indent}{HINT}{indent}{bodies.OPEN}\n") + piece
    return text


def function(body: bodies.Body) -> str:
    """Returns the name of the function, or other part of the file, that the body belongs to."""
    name = re.search(r"(\w+)\(", body.of)
    return name[1] if name else body.of


def stubs(repository: Repository, chapters: list[str], write: bool) -> int:
    """Compares every stub with its solution; with `write`, makes it fit. Returns 1 if one does not fit, else
    0."""
    status = right = 0
    for chapter in chapters:
        for step in repository.steps(chapter, "solutions"):
            path, solution = repository.source(chapter, step), repository.text(chapter, step, "solutions")
            name = f"chapters/{chapter}/{step}.cu"
            before = path.read_text(encoding="utf-8") if path.is_file() else None
            more = 0  # bodies that the stub lacks
            if before is None:
                after = stub_of_solution(solution, f"solutions/{chapter}/{step}.cu")
            else:
                mine = bodies.split(before, name)[1]
                more = len(bodies.split(solution, f"solutions/{chapter}/{step}.cu")[1]) - len(mine)
                after = (
                    stub_with(solution, mine, name) if more > 0 else bodies.stub_from(solution, before, name)
                )
            if after == before:
                right += 1
                continue
            if write:
                path.write_text(after, encoding="utf-8")
                said = f"{name} is written again" if before else f"{name} is new: write its hints"
                if more > 0:
                    said += f", with {more} bod{'y' if more == 1 else 'ies'} more, open: write the hint"
                    at = bodies.split(after, name)[1]
                    said += ", line " + ", ".join(
                        str(body.line + 1) for body in at if body.text.lstrip(" ").startswith(HINT)
                    )
                print(said)
            else:
                status = 1
                how = "differs from its solution outside of the bodies" if before else "is missing"
                print(f"{name} {how}: ./kata stubs --write")
    print(f"{right} stub{'s fit their solutions' if right != 1 else ' fits its solution'}")
    return status


class New:
    """Files that are written either all or not at all, and a report about them."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        # The path, the text or target, the words for the report, and True for a link.
        self.planned: list[tuple[pathlib.Path, str, str, bool]] = []

    def file(self, path: pathlib.Path, text: str, said: str = "") -> None:
        self.planned.append((path, text, said, False))

    def link(self, path: pathlib.Path, target: str) -> None:
        self.planned.append((path, target, ", a link to it", True))

    def write(self) -> None:
        undo: list[Callable[[], object]] = []
        path = self.repository.root
        try:
            for path, text, _, is_link in self.planned:
                for folder in [folder for folder in reversed(path.parents) if not folder.is_dir()]:
                    folder.mkdir()
                    undo.append(folder.rmdir)
                if is_link:
                    path.symlink_to(text)
                    undo.append(path.unlink)
                elif path.exists():
                    before = path.read_bytes()
                    with path.open("r+b"):  # refused, it has not been emptied
                        undo.append(functools.partial(path.write_bytes, before))
                    path.write_text(text, encoding="utf-8")
                else:
                    with path.open("x", encoding="utf-8") as file:
                        undo.append(path.unlink)
                        file.write(text)
        except OSError as error:
            for step in reversed(undo):
                with contextlib.suppress(OSError):
                    step()
            where = self.repository.relative(path)
            raise Fault(f"{where} cannot be written ({error.strerror}): nothing is new") from error
        print("New:")
        for path, _, said, _ in self.planned:
            print(f"  {self.repository.relative(path)}{said}")


def with_header(text: str, header: str) -> str:
    """Returns a step with another comment at its head."""
    return header + re.sub(r"\A(//.*\n)*", "", text)


def new_step(repository: Repository, chapter: str, step: str, improved: str | None = None) -> int:
    """Begins a step from the one that it improves, by default the one before, because a step says what it
    changes; the first one from a skeleton."""
    before = check_new(repository, chapter, step, improved)
    words = f"{title_of(step)}: what this step shows, and which document it mirrors."
    words += f" Changed from {before[:2]}: what, and what that costs and gains." if before else ""
    header = "".join(f"// {line}\n" for line in textwrap.wrap(words, WIDTH - 3))
    if before:
        solution = with_header(repository.text(chapter, before, "solutions"), header)
        stub = bodies.stub_from(solution, repository.text(chapter, before), before)
        if not bodies.is_stub(stub):  # the student has written it
            stub = stub_of_solution(solution, before)
    else:
        solution = header + SKELETON.format(chapter=chapter, name=step[3:])
        stub = stub_of_solution(solution, step)
    new = New(repository)
    new.file(repository.source(chapter, step, "solutions"), solution)
    new.file(repository.source(chapter, step), stub)
    new.file(
        repository.mistakes_file(chapter, step),
        f"// Mistakes in {chapter} {step[:2]} that tests must reject. CONTRIBUTING.md explains the format.\n",
    )
    file = hints.file_of(repository, chapter)
    begun = hints.begin(file.read_text(encoding="utf-8") if file.is_file() else "", chapter, title_of(step))
    new.file(file, begun, f": room for the three hints of {step[:2]}")
    if not file.is_file():
        new.link(repository.root / "solutions" / chapter / file.name, f"../../chapters/{chapter}/{file.name}")
    left = [
        f"solutions/{chapter}/{step}.cu: the kernel, its header comment, its marks; then ./kata stubs "
        f"--write {chapter}",
        f"chapters/{chapter}/{step}.cu: what goes into it, in words",
        f"chapters/{chapter}/hints.md: a question, the approach, nearly the code",
        f"tests/wrong/{chapter}/{step}.mistakes: the mistakes that the step invites",
        f"chapters/{chapter}/README.md: its lesson; tests/lessons.py build {chapter} --write puts its "
        f"counts there",
        f"tests/styles/{chapter}/{step}.NAME.cu: the step as others would write it",
    ]
    lesson = repository.root / "chapters" / chapter / "README.md"
    if row := add_row(lesson, step):
        new.file(lesson, row, ": its line in the table of steps")
    else:
        left.append(f"chapters/{chapter}/README.md: its line in the table of steps, which is missing")
    rows = repository.root / "tests" / f"{chapter}.steps.cpp"
    if (row := add_to_rows(rows, step, before)) is not None:
        new.file(rows, row, ": its row, which needs a claim if the step gains something")
    else:
        left.append(
            f"tests/{chapter}.cpp: its row, with a claim if the step gains something; tests that name "
            f"steps may have to name this one"
        )
    to_look_at = by_number(repository, chapter)
    new.write()
    print("\nLeft to do:")
    print("".join(f"  {line}\n" for line in left), end="")
    if to_look_at:
        print("\nLeft to check, because it names the last step by number:")
        print("".join(f"  {line}\n" for line in to_look_at), end="")
    print('\nThen: "Before you hand it in" in CONTRIBUTING.md')
    return 0


def check_new(repository: Repository, chapter: str, step: str, improved: str | None) -> str | None:
    """Returns the step that the new one improves, or None for the first. Throws Fault if the name cannot be
    that of a new step."""
    if not STEP.fullmatch(f"{step}.cu"):
        raise Fault(f"'{step}' is not NN_name, in small letters, digits and _, as in 07_name", 2)
    steps = repository.steps(chapter, "solutions")
    if taken := [other for other in steps if other[:2] == step[:2]]:
        raise Fault(f"{chapter} has {taken[0]}: a step between others renumbers those after it, by hand", 2)
    earlier = [other for other in steps if other < step]
    if improved and not (earlier := [other for other in earlier if other.startswith(improved)]):
        raise Fault(f"{chapter} has no step {improved} before {step}", 2)
    return earlier[-1] if earlier else None


def add_row(lesson: pathlib.Path, step: str) -> str | None:
    """Returns the lesson with a row for the step, below those of the steps before; None without a table of
    steps."""
    lines = lesson.read_text(encoding="utf-8").splitlines(keepends=True) if lesson.is_file() else []
    rows = [i for i, line in enumerate(lines) if re.match(r"\| \[\d\d .*\]\(\d\d_\w+\.cu\) \|", line)]
    heads = [
        i
        for i, line in enumerate(lines[:-1])
        if line.startswith("| step |") and re.match(r"\|[ -:]+\|", lines[i + 1])
    ]
    if not rows and not heads:
        return None
    above = max(
        (i for i in rows if (found := re.search(r"\((\d\d_\w+)\.cu\)", lines[i])) and found[1] < step),
        default=(rows or [heads[0] + 2])[0] - 1,
    )
    cells = lines[above].count("|") - 2
    lines.insert(above + 1, f"| [{title_of(step).lower()}]({step}.cu) |" + " … |" * cells + "\n")
    return "".join(lines)


def add_to_rows(suite: pathlib.Path, step: str, before: str | None) -> str | None:
    """Returns the suite's data with a row for the step, after all others; None without a table of steps."""
    text = suite.read_text(encoding="utf-8") if suite.is_file() else ""
    table = re.search(r"^const kata::Step steps\[\] = \{\n.*?(?=^\};)", text, re.M | re.S)
    if not table:
        return None
    fields = [f'.name = "{step}"', *([f'.before = "{before}"'] if before else [])]
    improved = re.search(rf'\{{\.name = "{before}".*?(?=\{{\.name = |\Z)', table[0], re.S)
    for field in ("entry", "traits", "tile", "ideas"):
        if improved and (same := re.search(rf'\.{field} = ("[^"]*"|\d+|\{{[^{{}}]*\}})', improved[0])):
            fields.append(f".{field} = {same[1]}")
    row = ",\n     ".join(fields)
    return f"{text[: table.end()]}    {{{row}}},\n{text[table.end() :]}"


def by_number(repository: Repository, chapter: str) -> list[str]:
    """Returns the lines that name a range of steps up to the last one, which may be too short now."""
    if not (steps := repository.steps(chapter, "solutions")):
        return []
    last = steps[-1][:2]
    names = re.compile(rf"\b\d\d (to|and|–) {last}\b|\bfrom step {last} on\b")
    found = []
    for name in ("README.md", f"chapters/{chapter}/README.md", f"chapters/{chapter}/measured/README.md"):
        path = repository.root / name
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        found += [
            f"{name}:{number}: {line.strip()}"
            for number, line in enumerate(lines, 1)
            if names.search(line) and not line.startswith(("|", "#", "<!--"))
        ]
    return found


def new_chapter(repository: Repository, chapter: str) -> int:
    if not re.fullmatch("[a-z][a-z0-9_]*", chapter):
        raise Fault(f"'{chapter}' is not a name of a chapter: small letters, digits and _", 2)
    if chapter in repository.chapters():
        raise Fault(
            f"there is a chapter {chapter} already; a new step of it has a name: ./kata new {chapter} "
            f"NN_name",
            2,
        )
    new = New(repository)
    lesson = f"# {chapter.capitalize()}\n\n{LESSON}"
    header = (
        f'// Header of the steps of this chapter.\n#pragma once\n\n#include "kata.hpp"\n#include '
        f'"{chapter}.hpp"\n'
    )
    for name, text in (("README.md", lesson), (f"{chapter}.cuh", header)):
        new.file(repository.root / "chapters" / chapter / name, text)
        new.link(repository.root / "solutions" / chapter / name, f"../../chapters/{chapter}/{name}")
    readme = repository.root / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    if rows := list(re.finditer(r"^\| \[\w+\]\(chapters/.*\n", text, re.M)):
        end = rows[-1].end()
        row = f"| [{chapter}](chapters/{chapter}/README.md) | | |\n"
        new.file(readme, text[:end] + row + text[end:], ": its row in the table of chapters")
    new.write()
    print(f"""
Left to do:
  common/front/repository.py: its line in COURSE
  reference/{chapter}.hpp and .cpp: the problem, its limits, a plain solution, and what every step defines
  reference/{chapter}.problem.hpp: the problem as it is put to a step
  chapters/{chapter}/{chapter}.cuh: what steps include
  tests/{chapter}.cpp: the tests of a step
  tests/{chapter}.steps.cpp: the shapes, and kata::chapter; the rows of the steps come with them
  tests/bench/{chapter}.cpp: the sizes of ./kata bench
  chapters/{chapter}/README.md: the lesson

Then its steps: ./kata new {chapter} 01_name""")
    return 0
