#!/usr/bin/env python3
"""The targets of the last step of a chapter's ladder, beside its figures on each GPU that was tried.

targets.py              complains where a page has any other table than the measured one
targets.py --write      puts the tables there

tests/on_gpu.sh RESULTS bench times the last step of each problem beside the vendor's library and the ceiling.
Its output is committed, a file for each GPU: chapters/CHAPTER/measured/bench.GPU.csv, whose first line names
the machine and the day. A step is taken as it is found there. The table of a chapter stands after <!--
targets --> in chapters/CHAPTER/measured/README.md, and in common/bench/README.md that of all targets, with
the worst case of each. Where a target is missed, a line of a list below the table must begin with it, in
bold, and say how far each GPU gets that misses it; where it is reached, none may.
"""

from __future__ import annotations

import argparse
import csv
import math
import pathlib
import re
import sys
from typing import NamedTuple

import paths  # noqa: F401  it makes the modules below importable

from repository import Repository

MARK = "<!-- targets -->"
LIBRARY, CEILING, MEAN = "library", "ceiling", "mean"
LIBRARIES = {"cub": "CUB", "cublas": "cuBLAS", "torch": "PyTorch"}


class Target(NamedTuple):
    """The least part of the library's speed or of the ceiling, in every case whose name matches; or of the
    library's, in the geometric mean over these cases."""

    cases: str
    of: str
    least: float


TARGETS = {
    "grids": (Target(r"vectors of 2\^28 floats|16384 x 16384, .*", CEILING, 0.85),),
    "convolution": (
        Target(r"16384 x 16384, radius [12]", CEILING, 0.85),
        Target(r"16384 x 16384, radius 7", CEILING, 0.60),
    ),
    # A pass that makes two sweeps has half of the bytes of two copies: at a half of the ceiling it takes as
    # long as they.
    "stencil": (
        Target(r"(512|1024)\^3 cells", CEILING, 0.90),
        Target(r"(512|1024)\^3 cells, two sweeps", CEILING, 0.50),
    ),
    "histogram": (
        Target(r"2\^28 (letters|bytes), .*", LIBRARY, 1.00),
        Target(r"2\^28 (letters|bytes), .*", CEILING, 0.90),
    ),
    "reduction": (Target(r"sum of 2\^(20|24|28|30) \w+", LIBRARY, 1.00),),
    "scan": (
        Target(r"whole, 2\^(20|24|28|30) \w+", LIBRARY, 1.00),
        Target(r"whole, 2\^28 \w+", CEILING, 0.93),
    ),
    "transposition": (
        Target(r"(8192|16384|32768) x \1", CEILING, 0.95),
        Target(r"(16383|8191) x .*", CEILING, 0.85),
        Target(r"\d{4,} x .*", LIBRARY, 1.00),
    ),
    "sort": (
        Target(r"2\^(24|28|30) keys of 32 bits, uniform", LIBRARY, 1.00),
        Target(r"2\^28 keys of 32 bits, (sorted|reversed|few values|skewed)", LIBRARY, 0.90),
    ),
    "attention": (Target(r"bfloat16, n = 8192, d = 128(, causal)?", LIBRARY, 0.95),),
    "gemm": (
        Target(r"m = (4096|8192|16384), n = \1, k = \1", LIBRARY, 0.97),
        Target(r"m = (?!256,).*", MEAN, 0.85),
        Target(r"bfloat16, m = 8192, .*", LIBRARY, 0.90),
    ),
}


class Reached(NamedTuple):
    step: str
    milliseconds: float
    of_ceiling: float
    faster: float  # than the library; 0 where there is none
    at_most: float  # the upper bound of that ratio


class Measured(NamedTuple):
    """The times of a chapter on one GPU."""

    gpu: str  # its name in a heading: H100
    machine: str  # its name on the page
    file: pathlib.Path
    cases: dict[str, Reached]
    library: str  # "" where the chapter has no rival


class Verdict(NamedTuple):
    value: float
    missed: bool


def measured(root: pathlib.Path, chapter: str) -> list[Measured]:
    """Returns the times of the chapter on each GPU. Throws ValueError for a faulty file."""
    return [read(path) for path in sorted(root.glob(f"chapters/{chapter}/measured/bench.*.csv"))]


def read(path: pathlib.Path) -> Measured:
    machine, *lines = path.read_text(encoding="utf-8").splitlines() or [""]
    if not re.fullmatch(r"# .+, CUDA [\d.]+, driver [\d.]+, \d{4}-\d\d-\d\d", machine):
        raise ValueError(
            f"{path.name} does not begin with a line as '# NVIDIA H200, CUDA 13.0, driver 580.1, 2026-11-22'"
        )
    cases: dict[str, Reached] = {}
    library = ""
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        if row["verdict"] != "right":
            raise ValueError(f"{path.name}: of {row['case']}, {row['kernel']} is not right: {row['verdict']}")
        if row["kind"] == "vendor":
            library = LIBRARIES[row["kernel"]]
        elif row["kind"] == "step" and (row["case"] not in cases or cases[row["case"]].step < row["kernel"]):
            ratio, at_most = (float(row[name]) for name in ("times as fast as the library", "at most"))
            cases[row["case"]] = Reached(
                row["kernel"], float(row["ms"]), float(row["% of ceiling"]) / 100, ratio, at_most
            )
    return Measured(
        path.name.split(".")[1].split("_")[0], re.sub(r", driver.*", "", machine[2:]), path, cases, library
    )


def label(target: Target, library: str) -> str:
    """Returns "0.97 × cuBLAS", as in the tables and the lists."""
    return f"{target.least:.2f} of the ceiling" if target.of == CEILING else f"{target.least:.2f} × {library}"


def applies(target: Target, case: str) -> bool:
    return re.fullmatch(target.cases, case) is not None


def verdict(target: Target, reached: Reached) -> Verdict:
    """Returns the verdict: a ratio whose bounds hold the target does not miss it, nor does a share that
    reaches it once it is rounded."""
    if target.of == CEILING:
        return Verdict(reached.of_ceiling, round(reached.of_ceiling, 2) < target.least)
    return Verdict(reached.faster, reached.at_most < target.least)


def mean(target: Target, gpu: Measured) -> Verdict:
    ratios = [reached.faster for case, reached in gpu.cases.items() if applies(target, case)]
    value = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return Verdict(value, round(value, 2) < target.least)


def worst(target: Target, gpu: Measured) -> Verdict | None:
    """Returns the worst of all cases; None if the GPU has no case."""
    there = [reached for case, reached in gpu.cases.items() if applies(target, case)]
    if not there:
        return None
    if target.of == MEAN:
        return mean(target, gpu)
    return min((verdict(target, reached) for reached in there), key=lambda v: (not v.missed, v.value))


def shown(value: float, missed: bool = False) -> str:
    return f"**{value:.2f}**" if missed else f"{value:.2f}"


def time(milliseconds: float) -> str:
    return f"{milliseconds:.{4 if milliseconds < 0.1 else 3 if milliseconds < 10 else 2}f}"


def pretty(case: str) -> str:
    case = re.sub(r"m = (\d+), n = (\d+), k = (\d+)", r"\1 x \2 x \3", case)
    return re.sub(
        r"\^(\d+)", lambda power: power[1].translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")), case
    ).replace(" x ", " × ")


def table(chapter: str, gpus: list[Measured]) -> str:
    """Returns the table in Markdown, with missed targets in bold."""
    targets = TARGETS.get(chapter, ())
    library = next((gpu.library for gpu in gpus if gpu.library), "")
    columns = [f"× {library}"] * bool(library) + ["of the ceiling"]
    head, rule = "| case | step | must reach |", "| --- | --- | --- |"
    for gpu in gpus:
        head += f" {gpu.gpu}, ms | {' | '.join(columns)} |"
        rule += " ---: |" * (1 + len(columns))
    lines = [head, rule]
    for case in dict.fromkeys(case for gpu in gpus for case in gpu.cases):
        of_case = [target for target in targets if target.of != MEAN and applies(target, case)]
        steps = dict.fromkeys(gpu.cases[case].step[:2] for gpu in gpus if case in gpu.cases)
        line = (
            f"| {pretty(case)} | {', '.join(steps)} | "
            f"{', '.join(label(target, library) for target in of_case)} |"
        )
        for gpu in gpus:
            if case not in gpu.cases:
                line += " |" * (1 + len(columns))
                continue
            reached = gpu.cases[case]
            missed = {target.of for target in of_case if verdict(target, reached).missed}
            line += f" {time(reached.milliseconds)} |"
            if library:
                line += f" {shown(reached.faster, LIBRARY in missed)} |" if reached.faster else " |"
            line += f" {shown(reached.of_ceiling, CEILING in missed)} |"
        lines.append(line)
    for target in targets:
        if target.of == MEAN:
            line = f"| geometric mean in float, without the smallest | | {label(target, library)} |"
            for gpu in gpus:
                line += f" | {shown(*mean(target, gpu))} | |"
            lines.append(line)
    return "".join(re.sub(r"\|  (?=\|)", "| ", line) + "\n" for line in lines)


def overview(of_chapter: dict[str, list[Measured]], links: dict[str, str]) -> str:
    """Returns the table of the worst case of every target, on each GPU; `links` lead to the chapters'."""
    names = sorted({gpu.gpu for gpus in of_chapter.values() for gpu in gpus})
    lines = [f"| chapter | must reach | {' | '.join(names)} |", f"| --- | --- |{' ---: |' * len(names)}"]
    for chapter, gpus in of_chapter.items():
        library = next((gpu.library for gpu in gpus if gpu.library), "")
        for target in TARGETS.get(chapter, ()):
            found = {gpu.gpu: worst(target, gpu) for gpu in gpus}
            if any(found.values()):
                mark = ", geometric mean" if target.of == MEAN else ""
                values = [shown(*of_gpu) if (of_gpu := found.get(name)) else "" for name in names]
                anchor = f"level-with-{'the-vendors-library' if library else 'a-copy'}"
                link = f"[{chapter}](../../{links[chapter]}#{anchor})"
                lines.append(f"| {link} | {label(target, library)}{mark} | {' | '.join(values)} |")
    return "".join(re.sub(r"\|  (?=\|)", "| ", line) + "\n" for line in lines)


def explained(text: str) -> dict[str, str]:
    """Returns the lines of lists below the table that begin with a target in bold: {target: line}."""
    section = re.split(r"^#", text.partition(MARK)[2], maxsplit=1, flags=re.M)[0]
    found = re.findall(r"^- \*\*(\d\.\d\d (?:×|of)[^*]*)\*\*(.*(?:\n  .*)*)", section, re.M)
    return {" ".join(target.split()): line for target, line in found}


def complaints_of(chapter: str, text: str, gpus: list[Measured], steps: list[str]) -> list[str]:
    """Returns the faults of a page, but for its table."""
    said = []
    library = next((gpu.library for gpu in gpus if gpu.library), "")
    reasons = explained(text)
    for target in TARGETS.get(chapter, ()):
        name = label(target, library)
        reason = reasons.pop(name, None)
        found = {gpu.gpu: worst(target, gpu) for gpu in gpus}
        missed = {gpu: of_gpu.value for gpu, of_gpu in found.items() if of_gpu and of_gpu.missed}
        if missed and reason is None:
            said.append(
                f"{' and '.join(missed)} missed {name}, and no line of a list, '- **{name}**', says why"
            )
        elif not missed and reason is not None:
            said.append(f"'- **{name}**' says why that is missed, and it is reached")
        for missing, value in missed.items():
            if reason is not None and f"{value:.2f}" not in reason:
                said.append(f"'- **{name}**' does not say that the {missing} gets to {value:.2f} at worst")
    said += [f"'- **{name}**' is not a target of the chapter that was tried" for name in reasons]
    for gpu in gpus:
        if gpu.machine not in " ".join(text.split()):
            said.append(f"it does not say that times are from: {gpu.machine}")
        strange = {reached.step for reached in gpu.cases.values()}.difference(steps)
        said += [f"{gpu.file.name} has times of {step}, which is no step" for step in sorted(strange)]
    return said


def put(text: str, new: str) -> str | None:
    """Returns the text with that table after the mark; None without a mark that has an empty line after
    it."""
    pattern = re.compile(rf"({MARK}\n\n)((?:\|.*\n)*)")
    return pattern.sub(lambda m: m[1] + new + ("" if m[2] else "\n"), text) if pattern.search(text) else None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=Repository().root, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    repository = Repository(given.root)
    said: list[str] = []
    of_chapter: dict[str, list[Measured]] = {}
    pages: dict[pathlib.Path, str] = {}
    links: dict[str, str] = {}
    for chapter in repository.chapters():
        page = repository.measured_page(chapter)
        links[chapter] = name = repository.relative(page)
        try:
            gpus = measured(given.root, chapter)
        except ValueError as error:
            said.append(f"chapters/{chapter}/measured/{error}")
            continue
        text = page.read_text(encoding="utf-8") if page.is_file() else ""
        steps = repository.steps(chapter, "solutions")
        if not gpus:
            said += [f"{name} has a line {MARK}, but there is no measured/bench.GPU.csv"] * (MARK in text)
            continue
        of_chapter[chapter] = gpus
        pages[page] = table(chapter, gpus)
        said += [f"{name}: {complaint}" for complaint in complaints_of(chapter, text, gpus, steps)]
        for gpu in gpus:
            if steps[-1] not in {reached.step for reached in gpu.cases.values()}:
                print(
                    f"note: chapters/{chapter}/measured/{gpu.file.name} lacks {steps[-1]}: "
                    f"tests/on_gpu.sh chapters bench measures it, on that GPU"
                )
    pages[given.root / "common/bench/README.md"] = overview(of_chapter, links)
    for page, new in pages.items():
        name = repository.relative(page)
        before = page.read_text(encoding="utf-8") if page.is_file() else ""
        after = put(before, new)
        if after is None:
            said.append(f"{name} has no line {MARK} with an empty one after it, where its table belongs")
        elif given.write:
            page.write_text(after, encoding="utf-8")
        elif after != before:
            said.append(f"{name} has a table that is not what was measured: tests/targets.py --write")
    print("".join(f"{complaint}\n" for complaint in said), end="")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
