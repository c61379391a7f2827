"""What comes out of grading: points, a row for each student, a file of feedback, and the formats of others."""

from __future__ import annotations

import base64
import collections
import csv
import io
import json
import os
import pathlib
import re
import textwrap
import xml.sax.saxutils
from collections.abc import Iterable, Mapping, Sequence

from fault import Fault
from grading.report import VERDICTS
from grading.tree import write_whole

FIRST = ("student", "points", "of", *VERDICTS, "state")
LAST = ("not OK", "look at", "graded", "minutes", "digest")
DONE, NOT_GRADED = "graded", "not graded"
# C0 and C1 but for tab and line feed, and what turns the direction of text around.
CONTROL = re.compile("\x1b\\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """Without what a terminal, a browser or a spreadsheet would obey."""
    return CONTROL.sub("", text.encode("utf-8", "backslashreplace").decode())


def cell(text: str) -> str:
    """What a spreadsheet shows, and does not take for a formula."""
    text = plain(str(text))
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def in_one_line(reason: str) -> str:
    """A reason, whose lines are sentences of their own; a long one ends early."""
    lines = [line.strip() for line in plain(reason).splitlines() if line.strip()]
    text = "".join(line + (" " if line[-1] in ".:;,?" else "; ") for line in lines[:-1]) + "".join(lines[-1:])
    return textwrap.shorten(text, 300, placeholder=" …")


def few(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(names) if len(names) <= most + 1 else f"{', '.join(names[:most])} and {len(names) - most} more"


def not_ok(result: Mapping) -> dict[tuple[str, str], list[str]]:
    """Steps by verdict and reason."""
    found: dict[tuple[str, str], list[str]] = collections.defaultdict(list)
    for step, of in result["steps"].items():
        if of["verdict"] != "OK":
            found[of["verdict"], of["reason"]].append(step)
    return found


class Points:
    """What a step is worth: from a file such as {"points": {"scan": 2, "scan/03_brent_kung": 4}, "right": 0.5}.

    A step has the points of its own, else of its chapter, else 1. `right` is the part of them that a step has for being
    right where it is SLOW; the rest it has in the share of what it needs that it may need.
    """

    def __init__(self, path: str | None, steps: Sequence[str]):
        given = {}
        if path:
            try:
                given = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
                chapters = {step.split("/")[0] for step in steps}
                weights, self.right = given.get("points", {}), float(given.get("right", 0.5))
                if set(given) - {"points", "right"} or not 0 <= self.right <= 1:
                    raise ValueError('it holds "points" and "right", which is from 0 to 1')
                for name, weight in weights.items():
                    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight < 1e6:
                        raise ValueError(f"{name} has the points {json.dumps(weight)}")
                    if "/" in name and name.split("/")[0] in chapters and name not in steps:
                        raise ValueError(f"there is no step {name}")
            except (OSError, ValueError, AttributeError, TypeError) as error:
                raise Fault(f"{path}: {error}", 2)
        self.right = given.get("right", 0.5)
        weights = given.get("points", {})
        self.of = {step: weights.get(step, weights.get(step.split("/")[0], 1)) for step in steps}

    def earned(self, step: str, found: Mapping) -> float:
        if found["verdict"] == "OK":
            return self.of[step]
        if found["verdict"] == "SLOW":
            return round(self.of[step] * (self.right + (1 - self.right) * found["share"]), 2)
        return 0


class Sheet:
    """A row for each student, in a file that other programs read; rows of students who are not graded now stay."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.rows: dict[str, dict[str, str]] = {}
        self.columns: list[str] = []
        try:
            # utf-8-sig: a spreadsheet may have saved it with a mark in front.
            with open(path, newline="", encoding="utf-8-sig", errors="backslashreplace") as file:
                reader = csv.DictReader(file)
                header = reader.fieldnames or []
                if header and not {*FIRST, *LAST} <= set(header):
                    raise Fault(f"{path} is no sheet of ./kata grade: it would be lost", 2)
                self.columns = [name for name in header if name not in FIRST + LAST]
                self.rows = {row["student"]: row for row in reader}
        except FileNotFoundError:
            pass
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise Fault(f"{path}: {error}", 2)
        if not os.access(path.parent, os.W_OK) or path.is_dir():
            raise Fault(f"{path} cannot be written", 2)

    def is_done(self, student: str, digest: str, steps: Iterable[str]) -> bool:
        row = self.rows.get(cell(student))
        return bool(row) and row["state"] == DONE and row["digest"] == digest and all(row.get(step) for step in steps)

    def put(self, student: str, result: Mapping | None, points: Points, digest: str, why: str = "") -> None:
        """The row of a student; without a result, of one who is not graded, whose points are those of the time before."""
        self.columns += [step for step in points.of if step not in self.columns]
        before = dict.fromkeys([*FIRST, *LAST], "") | ({} if result else self.rows.get(cell(student), {}))
        row = before | {"student": cell(student), "state": NOT_GRADED, "digest": "", **({"not OK": cell(why)} if why else {})}
        if result:
            count = collections.Counter(found["verdict"] for found in result["steps"].values())
            earned = {step: points.earned(step, found) for step, found in result["steps"].items()}
            wrong = [f"{few(steps)} {verdict}: {in_one_line(reason)}" for (verdict, reason), steps in not_ok(result).items()]
            row |= {name: str(count[name]) for name in VERDICTS} | {step: f"{value:g}" for step, value in earned.items()}
            row |= {
                "points": f"{sum(earned.values()):g}", "of": f"{sum(points.of.values()):g}", "state": DONE, "not OK": cell("; ".join(wrong)),
                "look at": cell("; ".join(map(in_one_line, result["notes"]))), "graded": result["graded"],
                "minutes": f"{result['seconds'] / 60:.2f}", "digest": digest,
            }  # fmt: skip
        self.rows[cell(student)] = row

    def write(self) -> None:
        text = io.StringIO()
        writer = csv.DictWriter(text, [*FIRST, *self.columns, *LAST], restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows.values())
        write_whole(self.path, text.getvalue())


FIGURES = ("bytes", "lines", "passes", "atomics", "barriers", "work", "makespan", "ms")
SHOWN = {"lines": "128-byte lines", "passes": "passes over banks", "work": "work", "makespan": "time on a model GPU", "ms": "time on a GPU"}


def steps(results: Iterable[Mapping], points: Points) -> str:
    """A row for each step of each student: its verdict, what it needs and what its solution does, as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    of_figures = [name for figure in FIGURES for name in (figure, f"{figure} of the solution")]
    writer.writerow(["student", "step", "verdict", "points", "of", "s to compile", "s to test", *of_figures])
    for result in results:
        for step, found in result["steps"].items():
            seconds = [f"{found['seconds'][what]:.1f}" if what in found["seconds"] else "" for what in ("compile", "test")]
            figures = [value if value == "" else f"{value:g}" for figure in FIGURES for value in found["figures"].get(figure, ("", ""))]
            writer.writerow([cell(result["student"]), step, found["verdict"], f"{points.earned(step, found):g}", f"{points.of[step]:g}", *seconds, *figures])
    return text.getvalue()


def file_name(student: str) -> str:
    """Of a student's files: the name, with what a file system may not like as %XX."""
    name = "".join(c if c.isalnum() or c in " ._-" else "".join(f"%{byte:02X}" for byte in c.encode("utf-8", "surrogateescape")) for c in student)
    return name[:120] if not name.startswith(".") else f"%2E{name[1:120]}"


def feedback(result: Mapping, points: Points, left_out: Iterable[str] = ()) -> str:
    """For the student: Markdown that reads well as plain text, with a line for each step that nobody is graded for."""
    earned = {step: points.earned(step, found) for step, found in result["steps"].items()}
    total = f"{sum(earned.values()):g} of {sum(points.of.values()):g} points"
    lines = [f"# {plain(result['student'])}: {total}", "", "| step | verdict | points |", "| --- | --- | ---: |"]
    lines += [f"| {step} | {found['verdict']} | {earned[step]:g} of {points.of[step]:g} |" for step, found in result["steps"].items()]
    for line in left_out:
        lines += ["", f"{line}."]
    for step, found in result["steps"].items():
        if found["verdict"] in ("OK", "OPEN", "MISSING"):
            continue
        lines += ["", f"## {step}: {found['verdict']}", ""]
        if found["verdict"] == "SLOW":
            lines += [f"It is right, and needs {1 / max(found['share'], 1e-6):.1f} times what it may.", ""]
        lines += [f"    {line}".rstrip() for line in plain(found["reason"]).splitlines()]
        if found["printed"].strip() and found["verdict"] == "FAIL":
            lines += ["", "What the tests and the step have printed, or its beginning:", ""]
            lines += [f"    {line}".rstrip() for line in plain(found["printed"]).strip("\n").splitlines()]
    for (verdict, reason), names in not_ok(result).items():
        if verdict in ("OPEN", "MISSING"):
            lines += ["", f"## {verdict}: {plain(reason)}", "", *(f"    {name}" for name in names)]
    needs = {step: found["figures"] for step, found in result["steps"].items() if found["figures"]}
    if needs:
        columns = {name: title for name, title in SHOWN.items() if any(name in figures for figures in needs.values())}
        lines += ["", "## What your right steps need", "", "Beside the solution: 1 is as much, 2 is twice as much.", ""]
        lines += [f"| step | {' | '.join(columns.values())} |", "| --- |" + " ---: |" * len(columns)]
        for step, figures in needs.items():
            lines.append(f"| {step} | {' | '.join(part(*figures[name]) if name in figures else '' for name in columns)} |")
    lines += ["", f"Graded on {result['graded']}, by version {result['version'][:12]} of the tests."]
    return "\n".join(lines) + "\n"


def part(mine: float, theirs: float) -> str:
    return f"{mine / theirs:.2f}" if theirs else f"{mine:g} instead of 0" if mine else "none"


def gradescope(result: Mapping, points: Points) -> str:
    """results.json of a Gradescope autograder."""
    tests = []
    for step, found in result["steps"].items():
        earned = points.earned(step, found)
        tests.append({
            "name": step, "score": earned, "max_score": points.of[step], "status": "passed" if found["verdict"] == "OK" else "failed",
            "output": plain(f"{found['verdict']}\n{found['reason']}".strip()), "output_format": "text", "visibility": "visible",
        })  # fmt: skip
    return json.dumps({"score": round(sum(test["score"] for test in tests), 2), "execution_time": round(result["seconds"]), "tests": tests}, indent=1)


def github_classroom(result: Mapping, points: Points) -> str:
    """What autograding-grading-reporter takes from a runner: JSON, as base64."""
    tests = []
    for step, found in result["steps"].items():
        tests.append({
            "name": step, "status": "pass" if found["verdict"] == "OK" else "fail", "score": points.earned(step, found),
            "max_score": points.of[step], "message": plain(f"{found['verdict']}: {found['reason']}"), "test_code": "", "filename": "",
            "line_no": 0, "duration": round(1000 * sum(found["seconds"].values())),
        })  # fmt: skip
    status = "pass" if all(test["status"] == "pass" for test in tests) else "fail"
    text = json.dumps({"version": 1, "status": status, "max_score": sum(points.of.values()), "tests": tests})
    return base64.b64encode(text.encode()).decode() + "\n"


def junit(results: Iterable[Mapping]) -> str:
    """A test suite for each student."""

    def quoted(text: str) -> str:
        return xml.sax.saxutils.quoteattr(plain(text))

    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    for result in results:
        count = collections.Counter(found["verdict"] for found in result["steps"].values())
        skipped, failed = count["OPEN"] + count["MISSING"], count["FAIL"] + count["SLOW"]
        lines.append(
            f'  <testsuite name={quoted(result["student"])} tests="{len(result["steps"])}" failures="{failed}" skipped="{skipped}" time="{result["seconds"]:.1f}">'
        )
        for step, found in result["steps"].items():
            name, seconds, why = quoted(step), sum(found["seconds"].values()), quoted(in_one_line(found["reason"]))
            inside = ""
            if found["verdict"] in ("OPEN", "MISSING"):
                inside = f"<skipped message={why}/>"
            elif found["verdict"] != "OK":
                inside = f'<failure type="{found["verdict"]}" message={why}>{xml.sax.saxutils.escape(plain(found["reason"]))}</failure>'
            lines.append(f'    <testcase classname={quoted(result["student"])} name={name} time="{seconds:.1f}">{inside}</testcase>')
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"
