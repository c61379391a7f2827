#!/usr/bin/env python3
"""The tables of measurements that the lessons quote, held against what is measured.

lessons.py BUILD            complains where a lesson quotes anything else
lessons.py BUILD --write    puts them there

In chapters/CHAPTER/README.md the table behind <!-- counted --> is the ladder as the CPU back end in BUILD counts it, and
the one behind <!-- timed --> the times of measured/ladder.csv, whose machine the lesson names. The README of the repository
picks a few of these figures, which are looked for there.
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


def times(chapter):
    """The machine, and the rows of the chapter's table."""
    machine, *lines = (ROOT / "chapters" / chapter / "measured" / "ladder.csv").read_text(encoding="utf-8").splitlines()
    return re.sub(r", driver.*", "", machine.removeprefix("# ")), list(csv.DictReader(lines))


def timed(rows):
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
    return "\n".join(lines) + "\n"


def put(text, mark, table, lesson):
    pattern = re.compile(rf"(<!-- {mark} -->\n\n)((?:\|.*\n)*)")
    if not pattern.search(text):
        sys.exit(f"{lesson} has no line <!-- {mark} -->")
    return pattern.sub(lambda m: m[1] + table, text)


def figures(text):
    return re.findall(r"(?<![\d.])\d+\.\d+(?![\d.])", text)


def rounded(rows):
    """The measured figures as a text may quote them."""
    values = [float(value) for row in rows for value in row.values() if re.fullmatch(r"\d+(\.\d+)?", value or "")]
    return {f"{value:.{decimals}f}" for value in values for decimals in range(1, 4)}


def not_measured(readme, tables):
    """The figures of the README that are in no table: {chapter: (what is counted, what is timed)}."""
    strange = []
    ladder = re.search(r"^```\n(\w+): .*?^```", readme, re.M | re.S)
    counts, rows = tables[ladder[1]]
    for line in re.findall(r"^  \d\d .*", ladder[0], re.M):
        title = re.match(r"  (\d\d [a-z\d -]*[a-z\d]) ", line)[1]
        said = figures(re.search(rf"^\| {title} \|.*", counts, re.M)[0])
        mine = [row for row in rows if row["step"].replace("_", " ") == title]
        strange += [f"{title}: {figure}" for figure in figures(line) if figure not in {*said, *rounded(mine)}]
    for chapter, text in re.findall(r"^\| \[(\w+)\]\(chapters/.*?\| \d+ \|(.*)", readme, re.M):
        strange += [f"{chapter}: {figure}" for figure in figures(text) if figure not in rounded(tables[chapter][1])]
    return strange


def main(arguments):
    if not arguments or arguments[1:] not in ([], ["--write"]):
        sys.exit(__doc__.strip())
    build, write = pathlib.Path(arguments[0]).resolve(), len(arguments) == 2
    status = 0
    tables = {}
    for path in sorted((ROOT / "chapters").glob("*/README.md")):
        lesson = path.relative_to(ROOT)
        text = before = path.read_text(encoding="utf-8")
        counts = counted(path.parent.name, build)
        machine, rows = times(path.parent.name)
        tables[path.parent.name] = counts, rows
        text = put(text, "counted", counts, lesson)
        text = put(text, "timed", timed(rows), lesson)
        if machine not in text:
            print(f"{lesson} does not say that its times are from: {machine}")
            status = 1
        if write:
            path.write_text(text, encoding="utf-8")
        elif text != before:
            print(f"{lesson} quotes a table that is not what was measured: {sys.argv[0]} {arguments[0]} --write")
            status = 1
    for figure in not_measured((ROOT / "README.md").read_text(encoding="utf-8"), tables):
        print(f"README.md has a figure that was not measured: {figure}")
        status = 1
    return status


sys.exit(main(sys.argv[1:]))
