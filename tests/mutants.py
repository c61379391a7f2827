#!/usr/bin/env python3
"""Finds the small mistakes that the tests let pass: mutants.py BUILD [CHAPTER | CHAPTER/STEP]... [-j N]
[--csv FILE]

Changes the solutions in one place at a time, a comparison, an operator, a constant, an index, a barrier,
builds each mutant for the CPU back end as BUILD does, and runs the tests of its chapter on it. Prints the
mutants that pass, in the form of tests/wrong/CHAPTER/STEP.mistakes. A mutant that passes may show a gap in
the tests: it then belongs there, with a name and a reason. Or it computes the same, and moves the same number
of bytes or so few more that no claim covers them: then tests/survivors.csv has the reason, without chapter
and step if it holds for all. If a step has a line more than once, such as a barrier, the entry may begin with
the line of code before it, with a blank between the two.

There are several thousand mutants. The steps take turns, and the mutants of a step come in a mixed but fixed
order: --sample N tries the first N of each step, and a run that was stopped has tried equally many of every
step. With --csv each verdict goes to the file at once, with the first words of the tests. Mutants that are in
it already are not tried again, so a run that was stopped continues.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import csv
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from paths import ROOT, run, run_suite

import bodies
from fault import Fault
from mistakes import as_edit
from repository import Repository, module, prefix, suite

ELEMENT = r"\[([^\[\]]+)\]"
# Patterns and their replacements.
SWAPS = [
    (r" < ", " <= "),
    (r" <= ", " < "),
    (r" > ", " >= "),
    (r" >= ", " > "),
    (r" == ", " != "),
    (r" != ", " == "),
    (r" && ", " || "),
    (r" \|\| ", " && "),
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r" \* ", " + "),
    (r" / ", " * "),
    (r" % ", " / "),
    (r" \+= ", " = "),
    (r"\*= 2", "*= 4"),
    (r"/= 2", "/= 4"),
    (r"\? ", "? !"),
    (r" << ", " >> "),
    (r" >> ", " << "),
    (r" -= ", " = "),
    (r"\+\+(\w)", r"--\1"),
    (r"\b(thread|block)Idx\.x", r"\1Idx.y"),
    (r"\b(thread|block)Idx\.y", r"\1Idx.x"),
    (r"\b(block|grid)Dim\.x", r"\1Dim.y"),
    (r"\b(block|grid)Dim\.y", r"\1Dim.x"),
    (r"\bthreadIdx\b", "blockIdx"),
    (r"\bblockIdx\b", "threadIdx"),
    (r"\bblockDim\b", "gridDim"),
    (r"\bgridDim\b", "blockDim"),
    (ELEMENT, r"[(\1) + 1]"),
    (r"__syncthreads\(\)", "__syncwarp()"),
    (r"<<<([^,<>]+), ([^,<>]+)(?=>>>|, )", r"<<<\2, \1"),
    (r"ceil_div\(", "[](auto a, auto b) { return a / b; }("),
]
NUMBER = r"(?<![\w.])\d+(?![\w.])"
GUARD = r"(\s*)(?:else )?if \(.*\) (\S.*)$"
# A statement whose absence still compiles.
STATEMENT = r"\s*(?!const |constexpr |__shared__|T |int |float |auto |for |if |else |return |\})\S.*;\s*$"


def changes(code: str) -> Iterator[str]:
    """Yields the line of code after each possible mistake."""
    for pattern, replacement in SWAPS:
        for match in re.finditer(pattern, code):
            if pattern == ELEMENT and "__shared__" in code:
                continue  # this is the size of an array, and a larger one does no harm
            yield code[: match.start()] + match.expand(replacement) + code[match.end() :]
    for match in re.finditer(NUMBER, code):
        for other in {int(match[0]) + 1, max(int(match[0]) - 1, 0)} - {int(match[0])}:
            yield code[: match.start()] + str(other) + code[match.end() :]
    if guarded := re.match(GUARD, code):
        yield guarded[1] + guarded[2]
    if re.match(STATEMENT, code):
        yield ""


def mutants(text: str, name: str) -> Iterator[tuple[int, str]]:
    """Yields the number of a line and its changed text, for each mistake in the marked bodies of a
    solution."""
    for body in bodies.split(text, name)[1]:
        for number, line in enumerate(body.text.splitlines(), body.line + 1):
            for changed in changes(line.split("//")[0].rstrip()):
                yield number, changed


def mixed(made: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Returns the mutants of a step, in an order whose first few are a sample of all."""
    return sorted(dict.fromkeys(made), key=lambda mutant: hashlib.sha256(repr(mutant).encode()).digest())


One = TypeVar("One")


def in_turns(lists: Iterable[Sequence[One]]) -> list[One]:
    """Returns the first of each list, then the second of each that has one, and so on."""
    lists = list(lists)
    most = max(map(len, lists), default=0)
    return [one[turn] for turn in range(most) for one in lists if turn < len(one)]


def with_line(text: str, number: int, changed: str) -> str:
    lines = text.splitlines()
    return "\n".join([*lines[: number - 1], changed, *lines[number:], ""])


SURVIVORS = "tests/survivors.csv"
HEADINGS = ["chapter", "step", "was", "is", "reason"]


def code(line: str) -> str:
    """Returns a line without the comment after it."""
    return line.split("//")[0].strip()


def code_before(text: str, number: int) -> str:
    """Returns the line before that has code: comments and #pragma do not distinguish lines."""
    return next(
        (
            line
            for line in reversed(text.splitlines()[: number - 1])
            if code(line) and not code(line).startswith("#")
        ),
        "",
    )


class Survivors:
    """The mutants that may pass, and the reasons. Raises Fault for a line that is not such a reason."""

    def __init__(self, path: pathlib.Path) -> None:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            if next(rows, None) != HEADINGS:
                raise Fault(f"{path}:1: must be {','.join(HEADINGS)}")
            self.reasons: dict[tuple[str, ...], str] = {}
            for row in rows:
                if len(row) != len(HEADINGS) or not row[2] or not row[4]:
                    raise Fault(
                        f"{path}:{rows.line_num}: a chapter and its steps or neither, a line, what becomes "
                        f"of it, and the reason"
                    )
                self.reasons.update(
                    ((row[0], step, row[2], row[3]), row[4]) for step in row[1].split() or [""]
                )

    def reason(self, chapter: str, step: str, _: str, was: str, changed: str, before: str = "") -> str | None:
        """Returns the reason why a mutant of the line behind `before` may pass; None if there is none."""
        edit = code(was), code(changed)
        behind = f"{code(before)} {edit[0]}", edit[1]
        return next(
            (
                self.reasons[key]
                for key in ((chapter, step, *behind), (chapter, step, *edit), ("", "", *edit))
                if key in self.reasons
            ),
            None,
        )


class Bench:
    """Builds and tests mutants as `build` does the solutions."""

    def __init__(self, build: pathlib.Path) -> None:
        self.build = build
        commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
        self.commands = {command["output"].split(".p/")[0]: command["command"] for command in commands}

    def verdict(self, chapter: str, step: str, text: str) -> Verdict:
        """Returns PASSED, REJECTED or, if it does not compile, NOT BUILT; and the first words of the
        tests."""
        with tempfile.TemporaryDirectory(prefix="kata-mutant-") as scratch:
            source = pathlib.Path(scratch, f"{step}.cu")
            made = pathlib.Path(scratch, module("mutants", chapter, step, "cpu"))
            source.write_text(text, encoding="utf-8")
            command = re.sub(
                r" -MD -MQ \S+ -MF \S+| -Werror", "", self.commands[module("solutions", chapter, step, "cpu")]
            )
            words = shlex.split(re.sub(r" -o .* -c .*", "", command))
            compiler, *options = words[pathlib.Path(words[0]).name == "ccache" :]
            written = (sys.executable, ROOT / "common/simt/compile.py", source, made, f"{made}.d")
            built = run(*written, compiler, "--", *options, "-w", cwd=self.build)
            if built.returncode:
                errors = [line for line in built.stderr.splitlines() if "error" in line]
                return Verdict("NOT BUILT", errors[0] if errors else built.stderr.strip())
            program, rivals = self.build / suite(chapter, "cpu"), self.build / prefix("solutions", chapter)
            try:
                done = run_suite(program, made, source, rivals, "--abort", timeout=300)
            except subprocess.TimeoutExpired:
                return Verdict("REJECTED", "it does not end")
            return judged(done.returncode, done.stdout, done.stderr)


class Verdict(NamedTuple):
    result: str
    said: str


def judged(status: int, tap: str, said: str) -> Verdict:
    """Returns the verdict that a run of a suite gives."""
    if status == 0 and not re.search(r"^not ok|^Bail out", tap, re.M):
        return Verdict("PASSED", "")
    by = re.search(r"^not ok(?: \d+)?(?: -)? *(.*)$", tap, re.M)
    lines = [
        line.strip() for line in said.splitlines() if line.strip() and not line.lstrip().startswith("not ok")
    ]
    return Verdict(
        "REJECTED", " | ".join([*([by[1]] if by else []), *lines[:2]]) or f"ended with status {status}"
    )


class Table:
    """The verdicts in a file, by step, line and changed text; a run that was stopped continues from there."""

    COLUMNS = ("chapter", "step", "line", "was", "is", "result", "said")

    def __init__(self, path: pathlib.Path) -> None:
        self.path, self.known = path, {}
        if path and path.is_file():
            with path.open(newline="", encoding="utf-8") as file:
                # A solution that has changed since has other lines.
                self.known = {
                    tuple(row[key] for key in self.COLUMNS[:5]): Verdict(row["result"], row["said"])
                    for row in csv.DictReader(file)
                }

    def add(self, key: tuple[str, ...], verdict: Verdict) -> None:
        if not self.path or key in self.known:
            return
        is_new = not self.path.is_file()
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([*([self.COLUMNS] if is_new else []), (*key, *verdict)])


def main() -> None:
    repository = Repository()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("wanted", metavar="CHAPTER[/STEP]", nargs="*", default=repository.chapters())
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--sample", metavar="N", type=int, help="only so many of each step; all by default")
    parser.add_argument("--csv", metavar="FILE", type=pathlib.Path)
    arguments = parser.parse_args()
    if not (arguments.build / "compile_commands.json").is_file():
        parser.error(f"{arguments.build} is not a folder that Meson has configured")
    steps = []
    for chapter, _, wanted in (name.partition("/") for name in arguments.wanted):
        if not (arguments.build / suite(chapter, "cpu")).is_file():
            parser.error(
                f"there is no {arguments.build / suite(chapter, 'cpu')}, the suite of such a chapter"
            )
        steps += [(chapter, step) for step in repository.cpu_steps(chapter) if step.startswith(wanted)]
    bench, table = Bench(arguments.build.resolve()), Table(arguments.csv)
    try:
        survivors = Survivors(repository.root / SURVIVORS)
    except Fault as fault:
        sys.exit(str(fault))
    results: collections.Counter[str] = collections.Counter()
    texts = {(chapter, step): repository.text(chapter, step, "solutions") for chapter, step in steps}
    chosen = in_turns(
        [
            [(chapter, step, *mutant) for mutant in mixed(mutants(text, step))[: arguments.sample]]
            for (chapter, step), text in texts.items()
        ]
    )

    def tried(mutant: tuple[str, str, int, str]) -> tuple[tuple[str, str, str, str, str], Verdict]:
        chapter, step, number, changed = mutant
        text = texts[chapter, step]
        key = (chapter, step, str(number), text.splitlines()[number - 1].strip(), changed.strip())
        return key, table.known.get(key) or bench.verdict(chapter, step, with_line(text, number, changed))

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as workers:
        for (chapter, step, number, changed), (key, verdict) in zip(chosen, workers.map(tried, chosen)):
            table.add(key, verdict)
            excused = survivors.reason(*key, before=code_before(texts[chapter, step], number))
            results["EXCUSED" if verdict.result == "PASSED" and excused else verdict.result] += 1
            if verdict.result == "REJECTED" and excused:
                print(
                    f"{SURVIVORS} excuses what the tests reject: {chapter}/{step}, line {number}: "
                    f"{changed.strip()}\n",
                    flush=True,
                )
            if verdict.result == "PASSED" and not excused:
                print(
                    f"{repository.relative(repository.mistakes_file(chapter, step))}, line {number} of "
                    f"the solution:"
                )
                edit = as_edit(texts[chapter, step], number, changed)
                print(f"== line_{number}\n// …\n// Rejected: …\n{edit}\n", flush=True)
    print(
        f"{sum(results.values())} mutants: "
        f"{', '.join(f'{count} {result.lower()}' for result, count in sorted(results.items()))}"
    )
    if judged_ones := results["REJECTED"] + results["PASSED"]:
        print(
            f"rejected of those that compile and are not excused: "
            f"{100 * results['REJECTED'] / judged_ones:.1f} %"
        )


if __name__ == "__main__":
    main()
