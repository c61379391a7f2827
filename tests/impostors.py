#!/usr/bin/env python3
"""Checks that no step is passed with the solution of an earlier one: impostors.py BUILD [CHAPTER...]

Hands in the solution of each step as every step that improves it, directly or through others, on the CPU back
end, with the modules that BUILD has. The tests must reject it, or tests/impostors.csv must list it, with the
reason why it may pass. An excuse for a rejected one is an error, too. A later solution that passes as an
earlier step is no impostor: it is the better kernel, and if a GPU has timed it as clearly slower, the suite
prints a note (remark_on_idea in common/judge/claims.hpp).
"""

from __future__ import annotations

import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import NamedTuple

from paths import run, run_suite

from fault import Fault
from repository import Repository, module, prefix, suite

EXCUSES = "tests/impostors.csv"
HEADINGS = ["chapter", "earlier", "later", "reason"]
SECONDS = 120  # for one pair


class Pair(NamedTuple):
    """A solution, and the later step of its chapter that it is handed in as."""

    chapter: str
    earlier: str
    later: str

    def __str__(self) -> str:
        return f"{self.chapter}: {self.earlier} as {self.later}"


def pairs(chapter: str, before: Mapping[str, str]) -> list[Pair]:
    """Returns each step with all that it improves, directly or not, given the one that each step improves."""
    found = []
    for later in before:
        earlier = before[later]
        while earlier:
            found.append(Pair(chapter, earlier, later))
            earlier = before.get(earlier, "")
    return found


def excuses(path: pathlib.Path) -> dict[Pair, str]:
    """Returns the pairs that may pass, and the reasons. Raises Fault for a line that is not an excuse."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        if next(rows, None) != HEADINGS:
            raise Fault(f"{path}:1: must be {','.join(HEADINGS)}")
        found: dict[Pair, str] = {}
        for row in rows:
            if len(row) != len(HEADINGS) or not all(cell.strip() for cell in row):
                raise Fault(
                    f"{path}:{rows.line_num}: a chapter, an earlier step, a later one and the reason, "
                    f"and nothing else"
                )
            pair = Pair(*row[:3])
            if pair in found:
                raise Fault(f"{path}:{rows.line_num}: {pair} is excused already")
            found[pair] = row[3]
    return found


def complaints(accepted: dict[Pair, bool], excused: dict[Pair, str]) -> list[str]:
    """Yields the faults of these verdicts: an impostor without an excuse, and an excuse without an
    impostor."""
    lines = [
        f"{pair}: accepted, and {EXCUSES} does not say why it may be"
        for pair in accepted
        if accepted[pair] and pair not in excused
    ]
    for pair in excused:
        if pair not in accepted:
            lines.append(f"{pair}: {EXCUSES} excuses it, and the later step does not improve the earlier one")
        elif not accepted[pair]:
            lines.append(f"{pair}: rejected, so {EXCUSES} need no longer excuse it")
    return lines


class Bench:
    """The solutions and suites of a build."""

    def __init__(self, repository: Repository, build: pathlib.Path) -> None:
        self.repository, self.build = repository, build.resolve()

    def current(self, chapter: str) -> None:
        """Raises Fault if something has not been built, or is older than its sources."""
        if not (self.build / suite(chapter, "cpu")).is_file():
            raise Fault(f"there is no {self.build / suite(chapter, 'cpu')}")
        for step in self.repository.cpu_steps(chapter):
            built, source = (
                self.build / module("solutions", chapter, step, "cpu"),
                self.repository.source(chapter, step, "solutions"),
            )
            if not built.is_file() or built.stat().st_mtime < source.stat().st_mtime:
                raise Fault(
                    f"{built} is missing or older than {self.repository.relative(source)}: build it first"
                )

    def pairs(self, chapter: str) -> list[Pair]:
        """Returns the pairs of a chapter that the CPU back end can run."""
        described = run(self.build / suite(chapter, "cpu"), "--describe", check=True)
        before = {step["name"]: step["before"] for step in json.loads(described.stdout)["steps"]}
        runs = self.repository.cpu_steps(chapter)
        return [pair for pair in pairs(chapter, before) if pair.later in runs]

    def accepts(self, pair: Pair) -> bool:
        """True if the tests of the later step pass. Raises Fault if they reach no verdict."""
        # Tests that are quick and reject most often come first.
        return self.passes(pair, "[claims]") and self.passes(pair)

    def passes(self, pair: Pair, *tests: str) -> bool:
        with tempfile.TemporaryDirectory(prefix="kata-impostor-") as scratch:
            # The suite refuses a module that is older than its source, which has nothing to do with this one.
            source = pathlib.Path(scratch, f"{pair.later}.cu")
            source.write_text(self.repository.text(pair.chapter, pair.later, "solutions"), encoding="utf-8")
            os.utime(source, (0, 0))
            earlier = self.build / module("solutions", pair.chapter, pair.earlier, "cpu")
            rivals = self.build / prefix("solutions", pair.chapter)
            try:
                program = self.build / suite(pair.chapter, "cpu")
                done = run_suite(program, earlier, source, rivals, "--abort", *tests, timeout=SECONDS)
            except subprocess.TimeoutExpired:
                raise Fault(f"{pair}: no verdict after {SECONDS} s") from None
        if re.search(r"^not ok", done.stdout, re.M):
            return False
        if done.returncode or not re.search(r"^ok", done.stdout, re.M):
            raise Fault(f"{pair}: no verdict, but status {done.returncode} and\n{done.stdout}{done.stderr}")
        return True


def main() -> int:
    repository = Repository()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", metavar="BUILD", type=pathlib.Path)
    parser.add_argument("chapters", metavar="CHAPTER", nargs="*", default=repository.chapters())
    given = parser.parse_args()
    started = time.monotonic()
    try:
        excused = excuses(repository.root / EXCUSES)
        bench = Bench(repository, given.build)
        for chapter in given.chapters:
            bench.current(chapter)
        tried = [pair for chapter in given.chapters for pair in bench.pairs(chapter)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            accepted = dict(zip(tried, workers.map(bench.accepts, tried)))
    except Fault as fault:
        sys.exit(str(fault))
    wrong = complaints(accepted, {pair: excused[pair] for pair in excused if pair.chapter in given.chapters})
    print(*wrong, sep="\n", end="\n" if wrong else "")
    passed = sum(accepted.values())
    print(
        f"{len(tried)} impostors, {len(tried) - passed} rejected, {passed} accepted, in "
        f"{time.monotonic() - started:.0f} s"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
