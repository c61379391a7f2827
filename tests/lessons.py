#!/usr/bin/env python3
"""Compares the tables that the lessons and their pages of measurements quote with what was measured.

lessons.py BUILD [CHAPTER...]            complains where a page quotes anything else
lessons.py BUILD [CHAPTER...] --write    puts them there

In the lesson, chapters/CHAPTER/README.md, the table after <!-- counted --> is the ladder as the CPU back end
in BUILD counts it. After <!-- drawn: 01 03 --> stands a picture, which is a file beside the lesson, drawn
from the solutions of these steps, as ./kata see draws them. On the page measured/README.md the table after
<!-- timed --> has the times of measured/ladder.csv, whose machine the page names. A chapter that nobody has
timed yet has neither that mark nor that file. A step that nobody has timed yet is noted, and fails nothing:
its author may have no GPU. The meter must still count the figures that measured/nsight.csv compares with
Nsight Compute. Only the chapters that are named must be built. The README of the repository picks a few of
these figures, which are looked for there, and counts the steps.
"""

from __future__ import annotations

import argparse
import csv
import pathlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping

from paths import run

import drawing
import ladder
import pictures
import trace
from fault import Fault
from repository import Repository, module, suite

REPOSITORY = Repository()
ROOT = REPOSITORY.root

Row = dict[str, str]
complaints: list[str] = []


def steps_of(chapter: str) -> list[str]:
    return REPOSITORY.steps(chapter, "solutions")


def counted(chapter: str, build: pathlib.Path) -> str:
    program = build / suite(chapter, "cpu")
    for built in (
        program,
        *(build / module("solutions", chapter, step, "cpu") for step in REPOSITORY.cpu_steps(chapter)),
    ):
        if not built.is_file():
            sys.exit(f"there is no {built}: ninja -C {build} builds it")
    shown = ladder.Tour(REPOSITORY, program, build, chapter, "cpu")
    return ladder.markdown(ladder.describe(program).columns, shown.rows())


def times(chapter: str) -> tuple[str, list[Row] | None]:
    """Returns the machine and the rows of the chapter's table; None without a table."""
    path = ROOT / "chapters" / chapter / "measured" / "ladder.csv"
    if not path.is_file():
        return "", None
    machine, *lines = path.read_text(encoding="utf-8").splitlines() or [""]
    rows = list(csv.DictReader(lines))
    name, steps, measured = path.relative_to(ROOT), steps_of(chapter), {row["step"] for row in rows}
    if not rows:
        complaints.append(
            f"{name} holds no times: tests/on_gpu.sh chapters ladder measures them; or remove it"
        )
    elif lacking := [step for step in steps if step not in measured]:
        print(
            f"note: {name} lacks {', '.join(lacking)}: tests/on_gpu.sh chapters ladder measures it, on a GPU"
        )
    complaints.extend(
        f"{name} has times of {step}, which is no step" for step in sorted(measured.difference(steps))
    )
    return re.sub(r", driver.*", "", machine.removeprefix("# ")), rows


def timed(rows: list[Row]) -> str:
    kind = list(rows[0])[1]  # the column that distinguishes the variants of the problem
    kinds = list(dict.fromkeys(row[kind] for row in rows))
    steps = list(dict.fromkeys(row["step"] for row in rows))
    of = {(row["step"], row[kind]): row for row in rows}

    head, rule = "| step |", "| --- |"
    for k in kinds:
        head += (
            f" {'' if len(kinds) == 1 else f'{kind} {k}, '.replace('_', ' ')}ms | as fast as the step "
            f"before | of the ceiling |"
        )
        rule += " ---: | ---: | ---: |"
    lines = [head, rule]
    for step in steps:
        line = f"| {step.replace('_', ' ')} |"
        for k in kinds:
            row = of[step, k]
            ratio = f"{float(row['times as fast']):.3f} ×" if row["times as fast"] else ""
            if ratio and float(row["at most"]) < 1:
                ratio = f"**{ratio}**"
            if ratio and row["against"] != steps[steps.index(step) - 1]:
                ratio += f" step {row['against'][:2]}"
            line += f" {row['ms']} | {ratio} | {row['% of ceiling']} % |"
        lines.append(re.sub(r"\|  \|", "| |", line))
    return "\n".join(lines) + "\n"


def compare_profiled(chapter: str, build: pathlib.Path) -> None:
    """Compares the meter's counts with those that Nsight Compute was compared with."""
    path = ROOT / "chapters" / chapter / "measured" / "nsight.csv"
    if not path.is_file():
        return
    program, now = build / suite(chapter, "cpu"), {}
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()[1:]):
        step, quantity = row["step"], row["quantity"]
        if step not in now:
            said = run(program, "--measure", build / module("solutions", chapter, step, "cpu")).stdout
            now[step] = dict(line.split() for line in said.splitlines())
        if now[step].get(quantity) != row["meter"]:
            complaints.append(
                f"{path.relative_to(ROOT)} compares {quantity} of {step}, counted as {row['meter']}, "
                f"and the meter now says "
                f"{now[step].get(quantity, 'nothing')}: tests/on_gpu.sh {chapter} nsight compares them "
                f"anew, on a GPU"
            )


def put(text: str, mark: str, table: str, page: pathlib.Path) -> str:
    pattern = re.compile(rf"(<!-- {mark} -->\n\n)((?:\|.*\n)*)")
    if not pattern.search(text):
        complaints.append(
            f"{page} has no line <!-- {mark} --> with an empty one after it, where its table belongs"
        )
    return pattern.sub(lambda m: m[1] + table + ("" if m[2] else "\n"), text)


def drawn(chapter: str, text: str, build: pathlib.Path) -> Iterator[tuple[pathlib.Path, str]]:
    """Yields the pictures of a lesson: the file of each, and its contents."""
    for steps, label, file in re.findall(
        r"^<!-- drawn: ([\d ]+) -->\n\n!\[(.+)\]\((\w+\.svg)\)$", text, re.M
    ):
        names = [name for number in steps.split() for name in steps_of(chapter) if name.startswith(number)]
        program = build / suite(chapter, "cpu")
        traces = [
            drawing.Trace(trace.run(program, build / module("solutions", chapter, name, "cpu"), "trace"))
            for name in names
        ]
        titles = [name.replace("_", " ") for name in names]
        yield (
            REPOSITORY.root / "chapters" / chapter / file,
            pictures.of_chapter(traces, titles).svg(label, with_style=True),
        )


def figures(text: str) -> list[str]:
    return re.findall(r"(?<![\d.])\d+\.\d+(?![\d.])", text)


def rounded(rows: Iterable[Row]) -> set[str]:
    """Returns the measured figures in each form that a text may quote."""
    values = [
        float(value) for row in rows for value in row.values() if re.fullmatch(r"\d+(\.\d+)?", value or "")
    ]
    return {f"{value:.{decimals}f}" for value in values for decimals in range(1, 4)}


def not_measured(readme: str, tables: Mapping[str, tuple[str, list[Row]]]) -> list[str]:
    """Returns the figures of the README that are in no table. A chapter's tables are the counted one and the
    timed rows."""
    strange = []
    ladder = re.search(r"^```\n(\w+): .*?^```", readme, re.M | re.S)
    assert ladder
    counts, rows = tables.get(ladder[1], ("", []))
    for line in re.findall(r"^  \d\d .*", ladder[0], re.M) if ladder[1] in tables else ():
        found = re.match(r"  (\d\d [a-z\d -]*[a-z\d]) ", line)
        title = found[1] if found else line
        row = re.search(rf"^\| {title} \|.*", counts, re.M)
        said = figures(row[0]) if row else []
        mine = [row for row in rows if row["step"].replace("_", " ") == title]
        strange += [f"{title}: {figure}" for figure in figures(line) if figure not in {*said, *rounded(mine)}]
    for chapter, text in re.findall(r"^\| \[(\w+)\]\(chapters/.*\|(.*)\|$", readme, re.M):
        if chapter not in tables:
            continue
        measured = rounded(tables[chapter][1])
        strange += [f"{chapter}: {figure}" for figure in figures(text) if figure not in measured]
    return strange


def check_listed(readme: str) -> None:
    """Checks that the README's table lists exactly the chapters that there are."""
    listed = set(re.findall(r"^\| \[(\w+)\]\(chapters/", readme, re.M))
    for chapter in sorted(listed ^ set(REPOSITORY.chapters())):
        complaints.append(
            f"README.md lists {chapter}, which is not a chapter"
            if chapter in listed
            else f"README.md has no row | [{chapter}](chapters/{chapter}/README.md) | … in its table"
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", metavar="BUILD", type=pathlib.Path)
    parser.add_argument("chapters", metavar="CHAPTER", nargs="*")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_intermixed_args()
    build = given.build.resolve()
    if not (build / "build.ninja").is_file():
        sys.exit(f"{given.build} is not a folder that Meson has configured")
    there = [chapter for chapter in REPOSITORY.chapters() if steps_of(chapter)]
    if strange := [chapter for chapter in given.chapters if chapter not in there]:
        parser.error(f"there is no chapter {strange[0]} with steps; there are: {' '.join(there)}")
    tables = {}
    for chapter in given.chapters or there:
        path, measured = REPOSITORY.lesson(chapter), REPOSITORY.measured_page(chapter)
        lesson, page = (file.relative_to(ROOT) for file in (path, measured))
        before = {
            file: file.read_text(encoding="utf-8") if file.is_file() else "" for file in (path, measured)
        }
        texts = dict(before)
        counts = counted(chapter, build)
        compare_profiled(chapter, build)
        machine, rows = times(chapter)
        tables[chapter] = counts, rows or []
        texts[path] = put(texts[path], "counted", counts, lesson)
        if rows:
            texts[measured] = put(texts[measured], "timed", timed(rows), page)
            if machine not in texts[measured]:
                complaints.append(f"{page} does not say that its times are from: {machine}")
        elif rows is None and "<!-- timed -->" in texts[measured]:
            complaints.append(
                f"{page} has a line <!-- timed -->, but there is no measured/ladder.csv to take times from"
            )
        if texts[path].count("<!-- drawn: ") != len(pictured := dict(drawn(chapter, texts[path], build))):
            complaints.append(
                f"{lesson} has a line <!-- drawn: --> without an empty line and a picture of its own after it"
            )
        for stray in set(path.parent.glob("*.svg")).difference(pictured):
            complaints.append(f"{stray.relative_to(ROOT)} is in no line <!-- drawn: --> of its lesson")
        for picture, svg in pictured.items():
            if given.write:
                picture.write_text(svg, encoding="utf-8")
            elif not picture.is_file() or picture.read_text(encoding="utf-8") != svg:
                complaints.append(
                    f"{picture.relative_to(ROOT)} is not what is drawn: {sys.argv[0]} {given.build} "
                    f"{chapter} --write"
                )
        for file, text in texts.items():
            if text == before[file]:
                continue
            if given.write:
                file.write_text(text, encoding="utf-8")
            else:
                complaints.append(
                    f"{file.relative_to(ROOT)} quotes a table that is not what was measured: {sys.argv[0]} "
                    f"{given.build} {chapter} --write"
                )
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    check_listed(readme)
    complaints.extend(
        f"README.md has a figure that was not measured: {figure}" for figure in not_measured(readme, tables)
    )
    print("".join(f"{complaint}\n" for complaint in complaints), end="")
    return 1 if complaints else 0


try:
    sys.exit(main())
except Fault as fault:
    sys.exit(str(fault))
