#!/usr/bin/env python3
"""Compares the estimate with the clock: every step and variant that a GPU has timed, estimated and measured.

estimate.py                the committed tables, common/estimate/judged/DEVICE.csv: errors, pairs in order,
                           the worst; fails if a table does not have the times of chapters/*/measured as they
                           are now, if they are that device's, if it misses the target and README.md does not
                           say so, or if that has another table than the one printed
estimate.py BUILD          the same, and fails if the suites in BUILD, a folder of the CPU back end, estimate
                           otherwise, for every fourth kernel, which takes seconds
estimate.py BUILD --write  writes the tables anew
estimate.py BUILD --write --times FILE
                           for another device than that of chapters/*/measured: FILE is written by
                           tests/on_gpu.sh RESULTS times; from then on its table keeps the times

A pair is two kernels of one timed problem. It is in order if estimates and times have the same one first. Two
counts are kept: of the pairs whose times differ by 1.25 or more, of which 95 % must be in order, and of those
whose times or whose estimates do. The second one also sees where an estimate promises a difference that the
clock does not know.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import itertools
import math
import pathlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from paths import ROOT, run

import estimates
from fault import Fault
from repository import Repository, module

# Timed, and without an estimate: common/estimate/README.md says why, under "When there is none".
WITHOUT = {
    ("scan", "10_sums_ahead"),
    ("gemm", "11_tensor_cores"),
    ("gemm", "12_copy_engine"),
    ("gemm", "13_stages"),
    ("gemm", "14_producer"),
    ("gemm", "15_clusters"),
    ("attention", "05_fused"),
    ("attention", "06_register_tiles"),
    ("attention", "07_causal_tiles"),
    ("attention", "08_tensor_cores"),
    ("attention", "09_warpgroups"),
    ("attention", "10_products_ahead"),
    ("sort", "03_merge_sort"),
    ("sort", "04_one_bit"),
    ("sort", "05_digits"),
    ("sort", "06_warp_ranks"),
    ("sort", "07_one_sweep"),
    ("sort", "08_choice_of_match"),
}
# The same for some variants of the problem only.
WITHOUT_AT = {
    ("convolution", "07_wide_loads", "4"),
    ("convolution", "07_wide_loads", "7"),
    ("stencil", "06_two_sweeps.long_march", "0"),
}

Row = dict[str, str]  # a row of a table
Timed = tuple[str, str, str, str]  # chapter, kernel, variant, milliseconds
First = dict[tuple[str, str], str]  # by chapter and step, the first step of the same problem

HEADINGS = ["chapter", "kernel", "variant", "measured ms", "estimated ms", "estimated / measured", "bound by"]
FAR_ENOUGH = 1.25
IN_ORDER, ERROR = 0.95, 1.5  # at least, at most
# The columns that a pair must be far apart in.
CLOCK, EITHER = ("measured ms",), ("measured ms", "estimated ms")


def measured(repository: Repository, device: str) -> Iterator[Timed]:
    """Yields the times of the lessons, if they are this device's."""
    for chapter in repository.chapters():
        for name in ("ladder", "variants"):
            path = ROOT / "chapters" / chapter / "measured" / f"{name}.csv"
            if path.is_file() and estimates.machine(path) == estimates.machine(
                estimates.device(repository, device)
            ):
                for row in csv.reader(path.read_text(encoding="utf-8").splitlines()[2:]):
                    if (chapter, row[0]) not in WITHOUT and (chapter, *row[:2]) not in WITHOUT_AT:
                        yield chapter, row[0], row[1], row[2]


def kept(repository: Repository, device: str) -> list[Timed]:
    """Returns the times in the device's table."""
    return [
        (row["chapter"], row["kernel"], row["variant"], row["measured ms"])
        for row in estimates.rows(repository, device)
    ]


def in_lessons_and_kept(repository: Repository, device: str) -> list[Timed]:
    """Returns the times of the lessons, and those in the device's table of chapters whose lesson has another
    device's."""
    timed = list(measured(repository, device))
    chapters = {chapter for chapter, *_ in timed}
    return [row for row in kept(repository, device) if row[0] not in chapters] + timed


def answer(
    repository: Repository, build: pathlib.Path, device: str, chapter: str, kernel: str, variant: str
) -> estimates.Estimate:
    """Returns the suite's estimate of a launch. Throws Fault if there is none."""
    of_others = {line.split()[0]: line.split()[1] for line in repository.timed(chapter, "cpu")}
    file = of_others.get(kernel) or module("solutions", chapter, kernel, "cpu")
    command = [build / f"{chapter}-cpu", "--estimate", build / file]
    command += ["--device", estimates.device(repository, device), "--variant", variant]
    return estimates.parse(run(*command).stdout)


def estimated(
    repository: Repository, build: pathlib.Path, device: str, chapter: str, kernel: str, variant: str
) -> tuple[float, str]:
    """Returns milliseconds and their bound, as a tour shows them."""
    try:
        found = answer(repository, build, device, chapter, kernel, variant)
    except Fault as fault:
        sys.exit(f"{chapter} {kernel}: {fault}")
    return found.milliseconds, found.bound


def with_an_estimate(repository: Repository, build: pathlib.Path, device: str) -> Iterator[str]:
    """Yields the steps that are listed as without an estimate and have one, or that have no time."""
    path = ROOT / "chapters" / "{}" / "measured" / "ladder.csv"
    for chapter, step in sorted(WITHOUT):
        if f"\n{step}," not in pathlib.Path(str(path).format(chapter)).read_text(encoding="utf-8"):
            yield f"{chapter} {step} has no time, and is said to have no estimate"
        elif repository.runs_on("cpu", chapter, step):
            kernel = build / module("solutions", chapter, step, "cpu")
            if isinstance(
                estimates.time_or_why(build / f"{chapter}-cpu", kernel, estimates.device(repository, device)),
                estimates.Estimate,
            ):
                yield f"{chapter} {step} has an estimate, and is said to have none"
    for chapter, name, variant in sorted(WITHOUT_AT):
        measured_in = ROOT / "chapters" / chapter / "measured"
        tables = [measured_in / file for file in ("ladder.csv", "variants.csv")]
        if not any(f"\n{name},{variant}," in table.read_text(encoding="utf-8") for table in tables):
            yield f"{chapter} {name} {variant} has no time, and is said to have no estimate"
            continue
        with contextlib.suppress(Fault):
            answer(repository, build, device, chapter, name, variant)
            yield f"{chapter} {name} {variant} has an estimate, and is said to have none"


def judge(repository: Repository, build: pathlib.Path, device: str, timed: Sequence[Timed]) -> list[Row]:
    with ThreadPoolExecutor(2) as pool:
        said = pool.map(lambda row: estimated(repository, build, device, *row[:3]), timed)
        return [
            dict(zip(HEADINGS, [*row, f"{ms:.3f}", f"{ms / float(row[3]):.2f}", bound]))
            for row, (ms, bound) in zip(timed, said)
        ]


def text_of(machine: str, rows: Iterable[Row]) -> str:
    out = io.StringIO()
    out.write(f"# {machine}\n")
    table = csv.DictWriter(out, HEADINGS, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()


def problems(repository: Repository) -> dict[tuple[str, str], str]:
    """Returns the first step that solves the same timed problem, by (chapter, step): a ladder compares the
    steps of one problem."""
    first: First = {}
    for chapter in repository.chapters():
        path = ROOT / "chapters" / chapter / "measured" / "ladder.csv"
        if path.is_file():
            _, *steps = csv.reader(path.read_text(encoding="utf-8").splitlines()[1:])
            for step, *_, against, _, _, _ in steps:
                first[chapter, step] = first.get((chapter, against), step)
    return first


def pairs(rows: Iterable[Row], first: First, by: Sequence[str] = CLOCK) -> tuple[int, list[tuple[Row, Row]]]:
    """Returns the number of pairs of one problem that are far enough apart in one of the columns `by`, and
    the pairs among them that clock and estimate order differently, each with the faster one by the clock
    first."""
    of_one: dict[tuple[str, str | None, str], list[Row]] = {}
    for row in rows:
        step = row["kernel"].partition(".")[0]
        of_one.setdefault((row["chapter"], first.get((row["chapter"], step)), row["variant"]), []).append(row)
    far, wrong = 0, []
    for group in of_one.values():
        for pair in itertools.combinations(group, 2):
            if not any(apart(pair, heading) >= FAR_ENOUGH for heading in by):
                continue
            far += 1
            fast, slow = sorted(pair, key=lambda row: float(row["measured ms"]))
            tied = apart(pair, "measured ms") == 1
            if tied or float(slow["estimated ms"]) <= float(fast["estimated ms"]):
                wrong.append((fast, slow))
    return far, wrong


def apart(pair: tuple[Row, Row], heading: str) -> float:
    """Returns the ratio of the slower one to the faster one."""
    fast, slow = sorted(float(row[heading]) for row in pair)
    return slow / fast


def share(rows: Iterable[Row], first: First, by: Sequence[str]) -> str:
    far, wrong = pairs(rows, first, by)
    return f"{far - len(wrong)} of {far}, {100 * (far - len(wrong)) / far:.1f} %" if far else "none"


def table_of(judged: Mapping[str, list[Row]], first: First) -> list[str]:
    """Returns the lines of the page's table: one for each device, one for each of its chapters, and one for
    the kernels that all devices have timed."""

    def kernel(row: Row) -> tuple[str, ...]:
        return tuple(row[heading] for heading in HEADINGS[:3])

    of_all = set.intersection(*({kernel(row) for row in rows} for rows in judged.values()))
    lines = []
    for device, rows in judged.items():
        parts = {
            f"**{device}**": rows,
            f"{device}: what all have timed": [row for row in rows if kernel(row) in of_all],
        }
        for row in rows:
            parts.setdefault(f"{device}: {row['chapter']}", []).append(row)
        for name, part in parts.items():
            error = estimates.factor(part)
            lines.append(
                f"| {name} | {len(part)} | {error:.2f} | {share(part, first, CLOCK)} | "
                f"{share(part, first, EITHER)} |"
            )
    return lines


def complaints_of(rows: list[Row], timed: Iterable[Timed], first: First) -> Iterator[str]:
    """Yields times that differ from the measured ones, and targets that the estimates miss."""
    known = {(row["chapter"], row["kernel"], row["variant"]): row["measured ms"] for row in rows}
    for chapter, name, variant, ms in timed:
        if known.pop((chapter, name, variant), None) != ms:
            yield f"{chapter} {name} {variant} is not in the table as it was measured: {ms} ms"
    for kernel in known:
        yield f"{' '.join(kernel)} is in the table, and nobody has timed it"
    far, wrong = pairs(rows, first)
    if far - len(wrong) < IN_ORDER * far:
        yield f"only {far - len(wrong)} of {far} pairs are in order: that is less than {100 * IN_ORDER:.0f} %"
    if estimates.factor(rows) > ERROR:
        yield f"the estimates are off by {estimates.factor(rows):.2f}, more than {ERROR}"


def untold(complaints: Iterable[str], readme: str) -> list[str]:
    """Returns the complaints that the page does not admit in a line of a list; only missed targets can be
    admitted."""

    def admitted(complaint: str) -> bool:
        return bool(
            re.search(r": (only \d+ of \d+ pairs|the estimates are off by)", complaint)
            and f"- {complaint}" in readme.splitlines()
        )

    return [complaint for complaint in complaints if not admitted(complaint)]


def not_on_the_page(lines: Iterable[str], readme: str) -> list[str]:
    """Returns a complaint for each line of the table that the page lacks."""
    return [
        f"common/estimate/README.md does not say: {line}" for line in lines if line not in readme.splitlines()
    ]


def not_as_estimated(rows: Sequence[Row], anew: Iterable[Row]) -> Iterator[str]:
    """Yields the estimates that differ from the table's."""
    for row in anew:
        if row not in rows:
            kernel = " ".join(row[heading] for heading in HEADINGS[:3])
            yield (
                f"{kernel} is estimated otherwise than its table says, {row['estimated ms']} ms: "
                f"tests/estimate.py BUILD --write"
            )


def report(device: str, rows: list[Row], first: First) -> None:
    print(f"{device}, the five worst and what is out of order (ms measured, estimated):")
    far = sorted(rows, key=lambda row: -abs(math.log(float(row["estimated ms"]) / float(row["measured ms"]))))
    for row in far[:5]:
        print("  {chapter} {kernel} {variant}: {measured ms}, {estimated ms}; {bound by}".format(**row))
    by_clock = pairs(rows, first)[1]
    for pair in pairs(rows, first, EITHER)[1]:
        who = " before ".join("{kernel} ({measured ms}, {estimated ms})".format(**row) for row in pair)
        mark = "" if pair in by_clock else ", by the estimate alone"
        print(f"  {pair[0]['chapter']} {pair[0]['variant']}: {who}{mark}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=pathlib.Path, nargs="?")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--times", type=pathlib.Path)
    given = parser.parse_args()
    if given.write and not given.build:
        parser.error("--write needs the folder of a build")
    if given.times and not given.write:
        parser.error("--times is for --write")
    repository = Repository()
    readme = (ROOT / estimates.FOLDER / "README.md").read_text(encoding="utf-8")
    complaints: list[str] = []
    judged: dict[str, list[Row]] = {}
    first = problems(repository)
    for device in estimates.devices(repository):
        machine, table = (
            estimates.machine(estimates.device(repository, device)),
            estimates.table(repository, device),
        )
        in_file = given.times and estimates.machine(given.times) == machine
        if in_file:
            rows_of_file = csv.reader(given.times.read_text(encoding="utf-8").splitlines()[2:])
            timed = [(row[0], row[1], row[2], row[3]) for row in rows_of_file]
        else:
            timed = in_lessons_and_kept(repository, device)
        if given.write:
            table.write_text(
                text_of(machine, judge(repository, given.build.resolve(), device, timed)), encoding="utf-8"
            )
        rows = estimates.rows(repository, device)
        if given.build and not given.write:
            complaints += not_as_estimated(rows, judge(repository, given.build.resolve(), device, timed[::4]))
            complaints += with_an_estimate(repository, given.build.resolve(), device)
        report(device, rows, first)
        complaints += [f"{device}: {complaint}" for complaint in complaints_of(rows, timed, first)]
        judged[device.split("_")[0]] = rows
    lines = table_of(judged, first)
    print("", *lines, "", sep="\n")
    complaints += not_on_the_page(lines, readme)
    complaints = untold(complaints, readme)
    print("".join(f"{complaint}\n" for complaint in complaints), end="")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
