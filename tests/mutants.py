#!/usr/bin/env python3
"""Which small mistakes the tests let pass: mutants.py BUILD [CHAPTER...]

Changes the solutions in one place at a time, a comparison, an operator, a constant, an index, a barrier, builds each
mutant for the CPU back end as BUILD does, and runs the tests of its chapter on it. Prints the mutants that pass, as
tests/wrong/CHAPTER/STEP.mistakes has them. Such a one either computes and moves the same, or shows what a test is
missing: then it is put there, with a name and a reason. A chapter takes minutes.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common" / "front"))

import bodies
from mistakes import as_edit
from repository import Repository, module, prefix, suite

# Patterns and what takes their place.
SWAPS = [
    (r" < ", " <= "),
    (r" <= ", " < "),
    (r" > ", " >= "),
    (r" >= ", " > "),
    (r" && ", " || "),
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r" \* ", " + "),
    (r" / ", " * "),
    (r" % ", " / "),
    (r" \+= ", " = "),
    (r"\*= 2", "*= 4"),
    (r"/= 2", "/= 4"),
    (r"\? ", "? !"),
    (r"(thread|block)Idx\.x", r"\1Idx.y"),
    (r"(thread|block)Idx\.y", r"\1Idx.x"),
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
            yield code[: match.start()] + match.expand(replacement) + code[match.end() :]
    for match in re.finditer(NUMBER, code):
        yield code[: match.start()] + str(int(match[0]) + 1) + code[match.end() :]
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


def with_line(text, number, changed):
    lines = text.splitlines()
    return "\n".join([*lines[: number - 1], changed, *lines[number:], ""])


class Bench:
    """Builds and tests mutants as `build` does the solutions."""

    def __init__(self, build):
        self.build = build
        commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
        self.commands = {command["output"].split(".p/")[0]: command["command"] for command in commands}

    def passes(self, chapter, step, text):
        """Whether the tests let it pass; None if it does not compile."""
        with tempfile.TemporaryDirectory(prefix="kata-mutant-") as scratch:
            source, translated = pathlib.Path(scratch, f"{step}.cu"), pathlib.Path(scratch, f"{step}.cpp")
            compiled, made = pathlib.Path(scratch, "step.o"), pathlib.Path(scratch, module("mutants", chapter, step, "cpu"))
            source.write_text(text, encoding="utf-8")
            command = re.sub(r" -MD -MQ \S+ -MF \S+| -Werror", "", self.commands[module("solutions", chapter, step, "cpu")])
            compiler, *options = shlex.split(re.sub(r" -o .* -c .*", "", command))
            for step_of_build in (
                [sys.executable, ROOT / "common/simt/translate.py", source, translated],
                [compiler, *options, "-o", compiled, "-c", translated],
                [compiler, "-shared", "-o", made, compiled],
            ):
                if subprocess.run(step_of_build, cwd=self.build, capture_output=True).returncode:
                    return None
            test = [self.build / suite(chapter, "cpu"), "--step", made, "--source", source, "--reporter", "step", "--abort"]
            test += ["--rivals", self.build / prefix("solutions", chapter)]
            try:
                done = subprocess.run(test, capture_output=True, text=True, errors="replace", timeout=120)
            except subprocess.TimeoutExpired:
                return False
            return done.returncode == 0 and not re.search(r"^not ok|^Bail out", done.stdout, re.M)


def main():
    repository = Repository()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("chapters", metavar="CHAPTER", nargs="*", default=repository.chapters())
    arguments = parser.parse_args()
    if not (arguments.build / "compile_commands.json").is_file():
        parser.error(f"{arguments.build} is no folder that Meson has configured")
    for chapter in arguments.chapters:
        if not (arguments.build / suite(chapter, "cpu")).is_file():
            parser.error(f"there is no {arguments.build / suite(chapter, 'cpu')}, the suite of such a chapter")
    bench = Bench(arguments.build.resolve())
    tried = passed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        for chapter, step in ((chapter, step) for chapter in arguments.chapters for step in repository.steps(chapter, "solutions")):
            text = repository.text(chapter, step, "solutions")
            made = list(mutants(text, step))
            verdicts = workers.map(lambda mutant: bench.passes(chapter, step, with_line(text, *mutant)), made)
            for (number, changed), verdict in zip(made, verdicts):
                tried += verdict is not None
                passed += bool(verdict)
                if verdict:
                    print(f"{repository.relative(repository.mistakes_file(chapter, step))}, line {number} of the solution:")
                    print(f"== line_{number}\n// …\n// Rejected: …\n{as_edit(text, number, changed)}\n", flush=True)
    print(f"{tried} mutants, {tried - passed} rejected, {passed} passed")


if __name__ == "__main__":
    main()
