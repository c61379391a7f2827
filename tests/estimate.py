#!/usr/bin/env python3
"""How good the estimate is: every step and variant that a GPU has timed, estimated and measured.

estimate.py                what the committed tables say, common/estimate/judged/DEVICE.csv: errors, pairs in order, the worst;
                           fails where one does not have the times of chapters/*/measured as they are now, if they are that
                           device's, or README.md quotes other figures
estimate.py BUILD          the same, and fails where the suites in BUILD, a folder of the CPU back end, estimate otherwise, of
                           every fourth kernel, which takes seconds
estimate.py BUILD --write  writes the tables anew
estimate.py BUILD --write --times FILE
                           of another device than that of chapters/*/measured: FILE is what tests/on_gpu.sh RESULTS times has
                           written there; from then on its table keeps the times

A pair is two kernels of one timed problem whose times differ by 1.25 or more: it is in order if the estimates say so, too.
"""

import argparse
import csv
import io
import itertools
import math
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common" / "front"))

import estimates
from repository import Repository, module

HEADINGS = ["chapter", "kernel", "variant", "measured ms", "estimated ms", "estimated / measured", "bound by"]
FAR_ENOUGH = 1.25


def measured(repository, device):
    """[(chapter, kernel, variant, milliseconds)] of all that the lessons say the device takes, none of another one than theirs."""
    for chapter in repository.chapters():
        for name in ("ladder", "variants"):
            path = ROOT / "chapters" / chapter / "measured" / f"{name}.csv"
            if path.is_file() and estimates.machine(path) == estimates.machine(estimates.device(repository, device)):
                for row in csv.reader(path.read_text(encoding="utf-8").splitlines()[2:]):
                    yield chapter, row[0], row[1], row[2]


def kept(repository, device):
    """The same of what its table says."""
    return [tuple(row[heading] for heading in HEADINGS[:4]) for row in estimates.rows(repository, device)]


def estimated(repository, build, device, chapter, kernel, variant):
    """Milliseconds, and what they are waited for."""
    of_others = {line.split()[0]: line.split()[1] for line in repository.timed(chapter, "cpu")}
    file = of_others.get(kernel) or module("solutions", chapter, kernel, "cpu")
    command = [build / f"{chapter}-cpu", "--estimate", build / file, "--device", estimates.device(repository, device), "--variant", variant]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    values = dict(line.split(" ", 1) for line in said.splitlines() if " " in line)
    if "estimated_milliseconds" not in values:
        sys.exit(f"{chapter} {kernel} is not estimated:\n{said}")
    return float(values["estimated_milliseconds"]), values["bound"]


def judge(repository, build, device, timed):
    with ThreadPoolExecutor(2) as pool:
        said = pool.map(lambda row: estimated(repository, build, device, *row[:3]), timed)
        return [
            dict(zip(HEADINGS, [*row, f"{ms:.3f}", f"{ms / float(row[3]):.2f}", bound])) for row, (ms, bound) in zip(timed, said)
        ]


def text_of(machine, rows):
    out = io.StringIO()
    out.write(f"# {machine}\n")
    table = csv.DictWriter(out, HEADINGS, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()


def pairs(rows):
    """Those of one problem that are far enough apart, and which of them the estimates have the other way round."""
    of_one = {}
    for row in rows:
        of_one.setdefault((row["chapter"], row["variant"]), []).append(row)
    far, wrong = 0, []
    for group in of_one.values():
        for a, b in itertools.combinations(group, 2):
            fast, slow = sorted((a, b), key=lambda row: float(row["measured ms"]))
            if float(slow["measured ms"]) < FAR_ENOUGH * float(fast["measured ms"]):
                continue
            far += 1
            if float(slow["estimated ms"]) <= float(fast["estimated ms"]):
                wrong.append((fast, slow))
    return far, wrong


def summary(rows):
    far, wrong = pairs(rows)
    return (
        f"{len(rows)} kernels; off by a factor of {estimates.factor(rows):.2f} in the geometric mean; "
        f"{far - len(wrong)} of {far} pairs in order, {100 * (far - len(wrong)) / far:.1f} %"
    )


def complaints_of(rows, timed, readme):
    """Times that a table does not have as measured, and a summary that the page does not have."""
    known = {(row["chapter"], row["kernel"], row["variant"]): row["measured ms"] for row in rows}
    for *kernel, ms in timed:
        if known.pop(tuple(kernel), None) != ms:
            yield f"{' '.join(kernel)} is not in the table as it was measured: {ms} ms"
    for kernel in known:
        yield f"{' '.join(kernel)} is in the table, and nobody has timed it"
    if summary(rows) not in " ".join(readme.split()):
        yield f"common/estimate/README.md does not say: {summary(rows)}"


def not_as_estimated(rows, anew):
    """Estimates that the table has otherwise."""
    for row in anew:
        if row not in rows:
            kernel = " ".join(row[heading] for heading in HEADINGS[:3])
            yield f"{kernel} is estimated otherwise than its table says, {row['estimated ms']} ms: tests/estimate.py BUILD --write"


def report(device, rows):
    print(f"{device}: {summary(rows)}")
    far = sorted(rows, key=lambda row: -abs(math.log(float(row["estimated / measured"]))))
    for row in far[:5]:
        print("  {chapter} {kernel} {variant}: {estimated ms} ms, measured {measured ms}; {bound by}".format(**row))
    for fast, slow in pairs(rows)[1]:
        print(f"  out of order: {fast['chapter']} {fast['variant']}, {fast['kernel']} is faster than {slow['kernel']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
    complaints = []
    for device in estimates.devices(repository):
        machine, table = estimates.machine(estimates.device(repository, device)), estimates.table(repository, device)
        in_file = given.times and estimates.machine(given.times) == machine
        if in_file:
            timed = [tuple(row) for row in csv.reader(given.times.read_text(encoding="utf-8").splitlines()[2:])]
        else:
            timed = list(measured(repository, device)) or kept(repository, device)
        if given.write:
            table.write_text(text_of(machine, judge(repository, given.build.resolve(), device, timed)), encoding="utf-8")
        rows = estimates.rows(repository, device)
        if given.build and not given.write:
            complaints += not_as_estimated(rows, judge(repository, given.build.resolve(), device, timed[::4]))
        report(device, rows)
        complaints += complaints_of(rows, timed, readme)
    print("".join(f"{complaint}\n" for complaint in complaints), end="")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
