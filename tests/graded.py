#!/usr/bin/env python3
"""Checks that right steps are graded as right: graded.py [CHAPTER…] [--styles] [--work FOLDER]

Hands in the solutions of these chapters, or of all, and with --styles also each style, as students do who
know nothing of this repository, and has them graded behind walls. Every step must be OK. Skipped where no
walls can be put up.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from paths import ROOT  # isort: split

from grading.walls import Walls
from repository import Repository


def hand_in(repository: Repository, chapters: Sequence[str], with_styles: bool, folder: pathlib.Path) -> None:
    """Writes a student for the solutions of a chapter, one for the first style of each step, and one for the
    second."""
    for chapter in chapters:
        handed_in = [
            (step, "solution", repository.text(chapter, step, "solutions"))
            for step in repository.steps(chapter, "solutions")
        ]
        seen: dict[str, int] = {}
        for path in sorted((ROOT / "tests/styles" / chapter).glob("*.cu")) if with_styles else ():
            step = path.name.split(".")[0]
            seen[step] = seen.get(step, 0) + 1
            handed_in.append((step, f"style {seen[step]}", path.read_text(encoding="utf-8")))
        for step, kind, text in handed_in:
            place = folder / f"{chapter} {kind}" / "chapters" / chapter / f"{step}.cu"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Grades what is right.")
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--styles", action="store_true")
    parser.add_argument("--work")
    given = parser.parse_args()
    walls = Walls(ROOT / "common")
    if not walls.is_up:
        sys.exit(print(f"Skipped: {walls.why}"))
    repository = Repository()
    chapters = given.chapters or repository.chapters()
    with tempfile.TemporaryDirectory(prefix="kata-graded-") as scratch:
        folder = pathlib.Path(scratch)
        folder.chmod(0o755)
        hand_in(repository, chapters, given.styles, folder / "class")
        command: list[str | pathlib.Path] = [
            sys.executable,
            ROOT / "common/front/grade.py",
            *sorted((folder / "class").iterdir()),
            "--out",
            folder / "out",
        ]
        command += ["--work", given.work or folder / "work"]
        before = time.monotonic()
        command += [word for chapter in chapters for word in ("--chapter", chapter)]
        status = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
        results = [json.loads(path.read_text()) for path in (folder / "out/records").glob("*.json")]
        found = [
            (result["student"], step, one)
            for result in results
            for step, one in result["steps"].items()
            if one["verdict"] != "MISSING"
        ]
        for student, step, one in found:
            if one["verdict"] != "OK":
                print(f"{student}: {step}: {one['verdict']}: {one['why']}")
        right = sum(one["verdict"] == "OK" for _, _, one in found)
        print(f"{right} of {len(found)} OK, in {time.monotonic() - before:.0f} s")
    sys.exit(status or right < len(found) or not found)


if __name__ == "__main__":
    main()
