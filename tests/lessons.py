#!/usr/bin/env python3
"""The tables of measurements that the lessons quote, held against what is measured.

lessons.py BUILD            complains where a lesson quotes anything else
lessons.py BUILD --write    puts them there

In chapters/CHAPTER/README.md the table behind <!-- counted --> is the ladder as the CPU back end in BUILD counts it, and
the one behind <!-- timed --> the times of measured/ladder.csv, whose machine the lesson names.
"""

import csv
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def counted(chapter, build):
    suite = build / f"{chapter}-cpu"
    ladder = subprocess.run([suite, "--tour", "--modules", build, "--markdown"], capture_output=True, text=True, check=False)
    if ladder.returncode != 0:
        sys.exit(f"{suite.name} --tour failed:\n{ladder.stdout}{ladder.stderr}")
    return ladder.stdout


def timed(measured):
    """The table and the machine."""
    machine, *lines = (measured / "ladder.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(lines))
    kind = list(rows[0])[1]  # what distinguishes the variants of the problem
    kinds = list(dict.fromkeys(row[kind] for row in rows))
    steps = list(dict.fromkeys(row["step"] for row in rows))
    of = {(row["step"], row[kind]): row for row in rows}

    head, rule = "| step |", "| --- |"
    for k in kinds:
        head += f" {'' if len(kinds) == 1 else f'{kind} {k}, '.replace('_', ' ')}ms | as fast as the step before | of the ceiling |"
        rule += " ---: | ---: | ---: |"
    lines = [head, rule]
    for step in steps:
        line = f"| {step.replace('_', ' ')} |"
        for k in kinds:
            row = of[step, k]
            ratio = f"{float(row['times as fast']):.3f} ×" if row["times as fast"] else ""
            if ratio and float(row["at most"]) < 1:
                ratio = f"**{ratio}**"
            line += f" {row['ms']} | {ratio} | {row['% of ceiling']} % |"
        lines.append(re.sub(r"\|  \|", "| |", line))
    return "\n".join(lines) + "\n", re.sub(r", driver.*", "", machine.removeprefix("# "))


def put(text, mark, table, lesson):
    pattern = re.compile(rf"(<!-- {mark} -->\n\n)((?:\|.*\n)*)")
    if not pattern.search(text):
        sys.exit(f"{lesson} has no line <!-- {mark} -->")
    return pattern.sub(lambda m: m[1] + table, text)


def main(arguments):
    if not arguments or arguments[1:] not in ([], ["--write"]):
        sys.exit(__doc__.strip())
    build, write = pathlib.Path(arguments[0]).resolve(), len(arguments) == 2
    status = 0
    for path in sorted((ROOT / "chapters").glob("*/README.md")):
        lesson = path.relative_to(ROOT)
        text = before = path.read_text(encoding="utf-8")
        text = put(text, "counted", counted(path.parent.name, build), lesson)
        table, machine = timed(path.parent / "measured")
        text = put(text, "timed", table, lesson)
        if machine not in text:
            print(f"{lesson} does not say that its times are from: {machine}")
            status = 1
        if write:
            path.write_text(text, encoding="utf-8")
        elif text != before:
            print(f"{lesson} quotes a table that is not what was measured: {sys.argv[0]} {arguments[0]} --write")
            status = 1
    return status


sys.exit(main(sys.argv[1:]))
