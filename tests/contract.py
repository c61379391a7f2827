#!/usr/bin/env python3
"""Checks the folders of this repository, whatever the steps compute.

contract.py BUILD             the folders of kernels fit together, links between pages lead somewhere, and the
                              build in BUILD tests all kernels
contract.py BUILD --verdicts  in the last run of ./kata test in BUILD every stub was skipped as open, every
                              solution passed and every wrong kernel was rejected: true of a fresh checkout,
                              in which nobody wrote a step; and ./kata explain and see show every solution
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import sys
import unicodedata
from collections.abc import Iterator

from paths import run

import bodies
import hints
import mistakes
from fault import Fault
from repository import AFTER, BACKENDS, COURSE, STEP, STYLE, Repository, module, short, suite
from verdicts import NEEDS, kernel_of


def files(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """Returns the files, without those that the desktop leaves there and that ./kata reset keeps."""
    return {path.name: path for path in folder.iterdir() if not re.match(r"\.|.*\.mine", path.name)}


def check_step(repository: Repository, chapter: str, step: str) -> Iterator[str]:
    stub, solution = (repository.text(chapter, step, tree) for tree in ("chapters", "solutions"))
    name, solution_name = f"chapters/{chapter}/{step}.cu", f"solutions/{chapter}/{step}.cu"
    written = bodies.split(solution, solution_name)[1]
    if not written:
        yield f"{solution_name}: has no '{bodies.BEGIN}'"
    for body in written:
        if bodies.is_open(body.text) or not body.text.strip():
            yield f"{solution_name}:{body.line}: a body that is still to be written"
    if stub != bodies.stub_from(solution, stub, name):
        yield f"{name}: differs from {solution_name} outside of the marked bodies: ./kata stubs --write"
    for body in bodies.split(stub, name)[1]:
        if not body.is_stub:
            yield (
                f"{name}:{body.line}: a stub's body is a hint in comments, {bodies.OPEN} and at most a return"
            )
        elif not any(line.strip() for line in body.hint):
            yield f"{name}:{body.line}: this body has no hint"


OF_CUDA = re.compile(r"\b(?:__[a-z]\w*|atomic[A-Z]\w*|cuda[A-Z]\w*)\b")


def check_explained(repository: Repository, chapter: str, step: str) -> Iterator[str]:
    """Yields functions and keywords in bodies that CUDA.md does not explain."""
    page = repository.root / "chapters" / "CUDA.md"
    explained = set(OF_CUDA.findall(page.read_text(encoding="utf-8"))) if page.is_file() else set()
    name = f"solutions/{chapter}/{step}.cu"
    for body in bodies.split(repository.text(chapter, step, "solutions"), name)[1]:
        for word in sorted(set(OF_CUDA.findall(re.sub(r"//.*", "", body.text))) - explained):
            yield f"{name}:{body.line}: this body has {word}, which chapters/CUDA.md does not explain"


def check_mistakes(repository: Repository, chapter: str) -> Iterator[str]:
    folder = repository.mistakes_file(chapter, "").parent
    for path in files(folder).values() if folder.is_dir() else ():
        if path.name.removesuffix(mistakes.SUFFIX) not in repository.steps(chapter, "solutions"):
            yield f"{path}: is not called STEP{mistakes.SUFFIX}, after a step of its chapter"
    found = repository.mistakes(chapter)
    kernels = {mistake.kernel for mistake in found}.union(repository.steps(chapter, "solutions"))
    for mistake in found:
        if mistake.timed_against not in {None, *kernels}:
            yield str(mistake.fault(f"is timed against {mistake.timed_against}, and there is none"))
        if mistake.same_code_as not in {None, *kernels}:
            yield str(mistake.fault(f"has the same code as {mistake.same_code_as}, and there is none"))
        try:
            repository.kernel(chapter, mistake)
        except Fault as fault:
            yield str(fault)


def check_styles(repository: Repository, chapter: str) -> Iterator[str]:
    folder = repository.styles_folder(chapter)
    for path in files(folder).values() if folder.is_dir() else ():
        named = STYLE.fullmatch(path.name)
        if not named or named[1] not in repository.steps(chapter, "solutions"):
            yield f"{path}: is not called STEP.NAME.cu, after a step of its chapter"
        elif not path.read_text(encoding="utf-8").startswith("// "):
            yield (
                f"{path}: does not begin with a comment that says what is different, and where such code is "
                f"usual"
            )


def check_lesson(repository: Repository, chapter: str) -> Iterator[str]:
    """Yields the gaps of a lesson: steps without a section, and numbers out of order."""
    steps = repository.steps(chapter, "solutions")
    for number, step in enumerate(steps, 1):
        if int(step[:2]) != number:
            yield (
                f"solutions/{chapter}/{step}.cu: is step {number} of its chapter, and not called "
                f"{number:02}_…"
            )
            break
    lesson, measured = repository.lesson(chapter), repository.measured_page(chapter)
    name = repository.relative(lesson)
    lines = lesson.read_text(encoding="utf-8").splitlines() if lesson.is_file() else []
    if measured.is_file() and not any("(measured/README.md" in line for line in lines):
        yield f"{name}: does not link to measured/README.md, which says what was measured"
    for number, line in enumerate(lines, 1):
        if re.match(r"\| \[\d\d .*\]\(\d\d_\w+\.cu\) \|", line) and "…" in [
            cell.strip() for cell in line.split("|")
        ]:
            yield f"{name}:{number}: '…' is still to be written"
    for step in steps:
        # A section may be about several: "### 06 Neighbored, 07 neighbored less".
        if not any(re.match(rf"###? (.*, )?{step[:2]}\b", line) for line in lines):
            yield f"{name}: no section '### {step[:2]} …' is about {step}"
        path = repository.mistakes_file(chapter, step)
        if not any(mistake.tree == "wrong" for mistake in (mistakes.read(path) if path.is_file() else ())):
            yield f"{repository.relative(path)}: has no mistake that the tests must reject"


def check_course(repository: Repository) -> Iterator[str]:
    """Yields the gaps of the course: steps that do not exist, or that come before one that they improve, and
    lists in the README and the lessons that differ."""
    place = "common/front/repository.py: COURSE"
    listed = [(line.split()[0], number) for line in COURSE for number in line.split()[1:]]
    for n, (chapter, number) in enumerate(listed):
        if chapter not in repository.chapters() or not any(
            step.startswith(f"{number}_") for step in repository.all_steps(chapter)
        ):
            yield f"{place} names {chapter} {number}, and there is no such step"
        before = [other for of, other in listed[:n] if of == chapter]
        if number in before:
            yield f"{place} names {chapter} {number} twice"
        elif any(other > number for other in before):
            yield f"{place} names {chapter} {number} behind a step that improves it"
    for late, needed in AFTER.items():
        for name in (late, needed):
            if name not in [short(*one) for one in repository.all_places()]:
                yield f"common/front/repository.py: AFTER names {name}, and there is no such step"
    readme = (repository.root / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(\w+)\]\(chapters/[^|]*\| ([\d, ]*)", readme, re.M)
    in_course = {chapter: ", ".join(n for of, n in listed if of == chapter) for chapter, _ in listed}
    if {chapter: numbers.strip() for chapter, numbers in rows if numbers.strip()} != in_course:
        yield f"README.md: its table has another course than {place}"
    if [chapter for chapter, _ in rows] != repository.chapters():
        yield f"README.md: its table has another order of chapters than {place}"
    for chapter, numbers in in_course.items():
        lesson = repository.lesson(chapter)
        if lesson.is_file() and f"\n**In the course:** {numbers}.\n" not in lesson.read_text(
            encoding="utf-8"
        ):
            yield f"{lesson}: has no line '**In the course:** {numbers}.'"


def check_chapter(repository: Repository, chapter: str) -> Iterator[str]:
    mine, theirs = repository.root / "chapters" / chapter, repository.root / "solutions" / chapter
    if not theirs.is_dir():
        yield f"{theirs}: there is no such folder"
        return
    stubs, written = files(mine), files(theirs)
    if "README.md" not in stubs:
        yield f"{mine / 'README.md'}: the chapter has no lesson"
    for name in sorted(stubs.keys() ^ written.keys()):
        yield f"{mine / name if name in stubs else theirs / name}: has no counterpart in the other tree"
    for name in sorted(stubs.keys() & written.keys()):
        if not name.endswith(".cu"):
            if not written[name].is_symlink() or written[name].resolve() != stubs[name].resolve():
                yield f"{written[name]}: must be a symbolic link to ../../chapters/{chapter}/{name}"
        elif not STEP.fullmatch(name):
            yield f"{stubs[name]}: a step is called NN_name.cu"
        else:
            try:
                yield from check_step(repository, chapter, stubs[name].stem)
                yield from check_explained(repository, chapter, stubs[name].stem)
            except Fault as fault:
                yield str(fault)
    try:
        yield from check_mistakes(repository, chapter)
        yield from check_styles(repository, chapter)
        yield from check_lesson(repository, chapter)
        yield from hints.complaints(repository, chapter)
    except Fault as fault:
        yield str(fault)


def anchors(text: str) -> set[str]:
    """Returns GitHub's anchors of a page's headings: a second heading of the same words gets a number."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)", text, re.M):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        kept = (c for c in words if c in " -" or re.match(r"L|M|Nd|Pc", unicodedata.category(c)))
        anchor = "".join(kept).replace(" ", "-")
        count = sum(1 for other in found if re.fullmatch(rf"{re.escape(anchor)}(-\d+)?", other))
        found.add(f"{anchor}-{count}" if count else anchor)
    return found


def prose(path: pathlib.Path) -> str:
    return re.sub(r"^ *```.*?^ *```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)


def check_links(repository: Repository) -> Iterator[str]:
    """Yields broken links from page to page, to files and to headings; links to other sites do not count."""
    root = repository.root
    pages = [path for folder in ("chapters", "tests") for path in sorted((root / folder).rglob("*.md"))]
    for page in sorted(root.glob("*.md")) + pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(page))):
            if re.match(r"\w+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            if not target.exists():
                yield f"{page}: links to {link}, and there is no such file"
            elif anchor and (target.suffix != ".md" or anchor not in anchors(prose(target))):
                yield f"{page}: links to {link}, and there is no such heading"


def check_folders(repository: Repository) -> Iterator[str]:
    chapters = repository.chapters()
    for tree in ("solutions", "tests/wrong", "tests/styles"):
        for path in sorted((repository.root / tree).glob("*")):
            if path.is_dir() and path.name not in chapters:
                yield f"chapters/{path.name}: there is no such folder, but there is {tree}/{path.name}"
    for chapter in chapters:
        yield from check_chapter(repository, chapter)


def check_listed(repository: Repository, build: pathlib.Path) -> Iterator[str]:
    info = build / "meson-info" / "intro-tests.json"
    if not info.is_file():
        raise Fault(f"{build} is not a folder that Meson has configured", 2)
    listed = {kernel_of(test["cmd"]) for test in json.loads(info.read_text(encoding="utf-8"))}
    built = [backend for backend in BACKENDS if any(one and one.backend == backend for one in listed)]
    for untested in sorted(repository.modules(built) - listed):
        yield (
            f"{untested.tree}/{untested.chapter}/{untested.name}: {build} does not test it: ./kata test "
            f"configures it anew"
        )


def check_verdicts(repository: Repository, build: pathlib.Path) -> Iterator[str]:
    logs = sorted(
        (build / "meson-logs").glob("testlog*.json")
    )  # the log of the steps, and that of everything else
    if not logs:
        raise Fault(f"{build} has no log of Meson's tests: ./kata test runs them", 2)
    verdicts: dict[tuple[str, str, str], dict[str, str]] = {}  # by back end
    # The back ends that a step cannot run on, by its suite's message.
    lacking: dict[tuple[str, str, str], set[str]] = {}
    for line in (line for log in logs for line in log.read_text(encoding="utf-8").splitlines()):
        record = json.loads(line)
        if module := kernel_of(record["command"]):
            verdicts.setdefault(module[:3], {})[module.backend] = record["result"]
            if NEEDS.search(record.get("stdout", "")):
                lacking.setdefault(module[:3], set()).add(module.backend)
    for chapter in repository.chapters():
        # The test of a mistake that a back end cannot detect is skipped there.
        unseen = {
            (mistake.kernel, backend)
            for mistake in repository.mistakes(chapter)
            for backend, key in (("cpu", "Rejected"), ("gpu", "On a GPU"))
            if mistake.says(key) in ("nothing", "untried")
        }
        for tree, name in repository.kernels(chapter):
            if tree in ("variants", "styles"):  # are no part of that run
                continue
            got = verdicts.get((tree, chapter, name), {"any": "not run"})
            step = name.split(".")[0]
            if repository.needs(chapter, step):  # the GPU here may be another, which the suite reports
                lacks = lacking.get((tree, chapter, name), set())
                unseen |= {
                    (name, backend)
                    for backend in got
                    if not repository.runs_on(backend, chapter, step)
                    or (backend == "gpu" and backend in lacks)
                }
            wanted = {
                backend: "SKIP" if tree == "chapters" or (name, backend) in unseen else "OK"
                for backend in got
            }
            if got != wanted:
                yield (
                    f"{tree}/{chapter}/{name}: must be {' or '.join(sorted(set(wanted.values())))} in a "
                    f"fresh checkout, and is {', '.join(sorted(set(got.values())))}"
                )


def check_views(repository: Repository, build: pathlib.Path) -> Iterator[str]:
    for chapter in repository.chapters():
        for step in repository.cpu_steps(chapter):
            for view in ("--explain", "--trace"):
                program, built = suite(chapter, "cpu"), module("solutions", chapter, step, "cpu")
                done = run(build / program, view, build / built, "--to", "/dev/null")
                if done.returncode:
                    yield f"solutions/{chapter}/{step}: {view}: {done.stderr.strip()}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", metavar="BUILD", type=pathlib.Path)
    parser.add_argument("--verdicts", action="store_true")
    given = parser.parse_args()
    repository = Repository()
    try:
        if given.verdicts:
            complaints = [*check_verdicts(repository, given.build), *check_views(repository, given.build)]
        else:
            complaints = [
                *check_folders(repository),
                *check_course(repository),
                *check_links(repository),
                *check_listed(repository, given.build),
            ]
    except Fault as fault:
        complaints = [str(fault)]
    for complaint in complaints:
        print(complaint.replace(f"{repository.root}/", ""))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
