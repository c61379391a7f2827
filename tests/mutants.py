#!/usr/bin/env python3
"""Which small mistakes the tests let pass: mutants.py BUILD [CHAPTER | CHAPTER/STEP]... [-j N] [--csv FILE]

Changes the solutions in one place at a time, a comparison, an operator, a constant, an index, a barrier, builds each
mutant for the CPU back end as BUILD does, and runs the tests of its chapter on it. Prints the mutants that pass, as
tests/wrong/CHAPTER/STEP.mistakes has them. Such a one either shows what a test is missing: then it is put there, with a
name and a reason. Or it computes the same, and moves the same or so little more that no claim is about it: then
tests/survivors.csv says why, with no chapter and step where that is so of all. Of a line that a step has more than once, as a
barrier, the line of code before may stand in front of it, with a blank between the two.

There are some thousands. The steps take turns, and those of a step come in an order that is mixed but always the same:
--sample N tries the first N of each step, and a run that was stopped has come as far with every step. With --csv
each verdict goes to the file as it comes, with the first words of what the tests say; mutants that are in it already are
not tried again, so a run that was stopped goes on.
"""

import argparse
import collections
import concurrent.futures
import csv
import hashlib
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common" / "front"))

import bodies
from fault import Fault
from mistakes import as_edit
from repository import Repository, module, prefix, suite

ELEMENT = r"\[([^\[\]]+)\]"
# Patterns and what takes their place.
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


def changes(code):
    """What one mistake makes of a line of code."""
    for pattern, replacement in SWAPS:
        for match in re.finditer(pattern, code):
            if pattern == ELEMENT and "__shared__" in code:
                continue  # that is the size of an array, of which more does no harm
            yield code[: match.start()] + match.expand(replacement) + code[match.end() :]
    for match in re.finditer(NUMBER, code):
        for other in {int(match[0]) + 1, max(int(match[0]) - 1, 0)} - {int(match[0])}:
            yield code[: match.start()] + str(other) + code[match.end() :]
    if match := re.match(GUARD, code):
        yield match[1] + match[2]
    if re.match(STATEMENT, code):
        yield ""


def mutants(text, name):
    """The number of a line, and what it becomes, for each mistake in the marked bodies of a solution."""
    for body in bodies.split(text, name)[1]:
        for number, line in enumerate(body.text.splitlines(), body.line + 1):
            for changed in changes(line.split("//")[0].rstrip()):
                yield number, changed


def mixed(made):
    """The mutants of a step, so that the first few are a sample of all."""
    return sorted(dict.fromkeys(made), key=lambda mutant: hashlib.sha256(repr(mutant).encode()).digest())


def in_turns(lists):
    """The first of each list, then the second of each that has one, and so on."""
    gone = object()
    return [one for row in itertools.zip_longest(*lists, fillvalue=gone) for one in row if one is not gone]


def with_line(text, number, changed):
    lines = text.splitlines()
    return "\n".join([*lines[: number - 1], changed, *lines[number:], ""])


SURVIVORS = "tests/survivors.csv"
HEADINGS = ["chapter", "step", "was", "is", "reason"]


def code(line):
    """A line without the comment behind it."""
    return line.split("//")[0].strip()


def code_before(text, number):
    """The line before that has code: comments and #pragma do not tell lines apart."""
    return next((line for line in reversed(text.splitlines()[: number - 1]) if code(line) and not code(line).startswith("#")), "")


class Survivors:
    """The mutants that may pass, and why. Raises Fault for a line that says neither."""

    def __init__(self, path):
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            if next(rows, None) != HEADINGS:
                raise Fault(f"{path}:1: must be {','.join(HEADINGS)}")
            self.reasons = {}
            for row in rows:
                if len(row) != len(HEADINGS) or not row[2] or not row[4]:
                    raise Fault(f"{path}:{rows.line_num}: a chapter and a step or neither, a line, what becomes of it, and the reason")
                self.reasons[tuple(row[:4])] = row[4]

    def reason(self, chapter, step, _, was, changed, before=""):
        """Why a mutant may pass, of the line that stands behind `before`; None where nobody has said so."""
        edit = code(was), code(changed)
        behind = f"{code(before)} {edit[0]}", edit[1]
        return next((self.reasons[key] for key in ((chapter, step, *behind), (chapter, step, *edit), ("", "", *edit)) if key in self.reasons), None)


class Bench:
    """Builds and tests mutants as `build` does the solutions."""

    def __init__(self, build):
        self.build = build
        commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
        self.commands = {command["output"].split(".p/")[0]: command["command"] for command in commands}

    def verdict(self, chapter, step, text):
        """PASSED, REJECTED or, if it does not compile, NOT BUILT; and the first words of the tests."""
        with tempfile.TemporaryDirectory(prefix="kata-mutant-") as scratch:
            source, translated = pathlib.Path(scratch, f"{step}.cu"), pathlib.Path(scratch, f"{step}.cpp")
            compiled, made = pathlib.Path(scratch, "step.o"), pathlib.Path(scratch, module("mutants", chapter, step, "cpu"))
            source.write_text(text, encoding="utf-8")
            command = re.sub(r" -MD -MQ \S+ -MF \S+| -Werror", "", self.commands[module("solutions", chapter, step, "cpu")])
            compiler, *options = shlex.split(re.sub(r" -o .* -c .*", "", command))
            for step_of_build in (
                [sys.executable, ROOT / "common/simt/translate.py", source, translated],
                [compiler, *options, "-w", "-o", compiled, "-c", translated],
                [compiler, "-shared", "-o", made, compiled],
            ):
                if subprocess.run(step_of_build, cwd=self.build, capture_output=True).returncode:
                    return Verdict("NOT BUILT", "")
            test = [self.build / suite(chapter, "cpu"), "--step", made, "--source", source, "--reporter", "step", "--abort"]
            test += ["--rivals", self.build / prefix("solutions", chapter)]
            try:
                done = subprocess.run(test, capture_output=True, text=True, errors="replace", timeout=300)
            except subprocess.TimeoutExpired:
                return Verdict("REJECTED", "it does not end")
            return judged(done.returncode, done.stdout, done.stderr)


class Verdict(NamedTuple):
    result: str
    said: str


def judged(status, tap, said):
    """What a run of a suite says of a mutant."""
    if status == 0 and not re.search(r"^not ok|^Bail out", tap, re.M):
        return Verdict("PASSED", "")
    by = re.search(r"^not ok(?: \d+)?(?: -)? *(.*)$", tap, re.M)
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.lstrip().startswith("not ok")]
    return Verdict("REJECTED", " | ".join([*([by[1]] if by else []), *lines[:2]]) or f"ended with status {status}")


class Table:
    """The verdicts in a file, by step, line and what it became; a run that was stopped goes on from there."""

    COLUMNS = ("chapter", "step", "line", "was", "is", "result", "said")

    def __init__(self, path):
        self.path, self.known = path, {}
        if path and path.is_file():
            with path.open(newline="", encoding="utf-8") as file:
                # A solution that has changed since has other lines.
                self.known = {tuple(row[key] for key in self.COLUMNS[:5]): Verdict(row["result"], row["said"]) for row in csv.DictReader(file)}

    def add(self, key, verdict):
        if not self.path or key in self.known:
            return
        is_new = not self.path.is_file()
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([*([self.COLUMNS] if is_new else []), (*key, *verdict)])


def main():
    repository = Repository()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("wanted", metavar="CHAPTER[/STEP]", nargs="*", default=repository.chapters())
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--sample", metavar="N", type=int, help="only so many of each step; all unless told")
    parser.add_argument("--csv", metavar="FILE", type=pathlib.Path)
    arguments = parser.parse_args()
    if not (arguments.build / "compile_commands.json").is_file():
        parser.error(f"{arguments.build} is no folder that Meson has configured")
    steps = []
    for chapter, _, wanted in (name.partition("/") for name in arguments.wanted):
        if not (arguments.build / suite(chapter, "cpu")).is_file():
            parser.error(f"there is no {arguments.build / suite(chapter, 'cpu')}, the suite of such a chapter")
        steps += [(chapter, step) for step in repository.cpu_steps(chapter) if step.startswith(wanted)]
    bench, table = Bench(arguments.build.resolve()), Table(arguments.csv)
    try:
        survivors = Survivors(repository.root / SURVIVORS)
    except Fault as fault:
        sys.exit(str(fault))
    results = collections.Counter()
    texts = {(chapter, step): repository.text(chapter, step, "solutions") for chapter, step in steps}
    chosen = in_turns(
        [[(chapter, step, *mutant) for mutant in mixed(mutants(text, step))[: arguments.sample]] for (chapter, step), text in texts.items()]
    )

    def tried(mutant):
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
                print(f"{SURVIVORS} excuses what the tests reject: {chapter}/{step}, line {number}: {changed.strip()}\n", flush=True)
            if verdict.result == "PASSED" and not excused:
                print(f"{repository.relative(repository.mistakes_file(chapter, step))}, line {number} of the solution:")
                edit = as_edit(texts[chapter, step], number, changed)
                print(f"== line_{number}\n// …\n// Rejected: …\n{edit}\n", flush=True)
    print(f"{sum(results.values())} mutants: {', '.join(f'{count} {result.lower()}' for result, count in sorted(results.items()))}")
    if judged_ones := results["REJECTED"] + results["PASSED"]:
        print(f"rejected of those that compile and are not excused: {100 * results['REJECTED'] / judged_ones:.1f} %")


if __name__ == "__main__":
    main()
