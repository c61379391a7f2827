#!/usr/bin/env python3
"""Runs every test of a build with a GPU, on a machine with cores and memory for many at once.

    tests/on_gpu_tests.py BUILD [CHAPTER...] [--at-once N]

Meson runs the tests of a GPU one by one, because a timed one must be alone. Here untimed tests run first,
many at once; then, one by one, the timed cases of those that have passed, and all cases of those that have
not, because only a clock rejects some mistakes. Exits with 1 if a test fails.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TypedDict


class MesonTest(TypedDict):
    """A test, as Meson lists it."""

    name: str
    suite: list[str]
    cmd: list[str]
    env: dict[str, str]
    protocol: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER", help="only these")
    parser.add_argument("--at-once", type=int, default=12)
    args = parser.parse_args()
    listed = subprocess.run(
        ["meson", "introspect", args.build, "--tests"], stdout=subprocess.PIPE, check=True
    )
    steps = [
        t for t in json.loads(listed.stdout) if "--step" in t["cmd"] and not t["suite"][0].endswith(":tools")
    ]
    if args.chapters:
        steps = [t for t in steps if t["suite"][0].rpartition(":")[2].partition("-")[0] in args.chapters]
    begin = time.monotonic()

    def run(test: MesonTest, *more: str) -> tuple[bool, str]:
        passed, said = verdict([*test["cmd"], *more], args.build, os.environ | test["env"])
        return passed and not (test["protocol"] == "tap" and "\nnot ok" in "\n" + said), said

    without_a_clock = ("--without", "[timed]")
    with concurrent.futures.ThreadPoolExecutor(args.at_once) as pool:
        untimed = list(pool.map(lambda test: run(test, *without_a_clock), steps))
    print(f"{len(steps)} tests at once: {time.monotonic() - begin:.0f} s", flush=True)
    alone: list[tuple[MesonTest, tuple[str, ...]]] = []
    failed = 0
    for test, (passed, _) in zip(steps, untimed):
        if not passed:  # a variant or a style is right, and as fast as it is
            is_right = test["suite"][0].endswith(("-variants", "-styles"))
            alone.append((test, without_a_clock if is_right else ()))
        elif "--solution" in test["cmd"]:
            alone.append((test, ("[timed]",)))
    for test, more in alone:
        passed, said = run(test, *more)
        if not passed:
            failed += 1
            print(f"{test['suite'][0]} {test['name']}\n{said}", flush=True)
    print(
        f"{len(steps)} tests, {len(alone)} of them one by one: {failed} failed; "
        f"{time.monotonic() - begin:.0f} s"
    )
    return failed > 0


def verdict(command: Sequence[str], build: pathlib.Path, environment: Mapping[str, str]) -> tuple[bool, str]:
    """Returns whether a command passes, and its output. Status 77 is Meson's for a test that does not
    apply."""
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False, text=True,
            cwd=build, env=environment,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False, "took more than 120 s"
    return done.returncode in (0, 77), done.stdout


if __name__ == "__main__":
    sys.exit(main())
