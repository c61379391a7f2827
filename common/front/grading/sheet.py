"""The output of grading: points, a row for each student, a file of feedback, and the formats of others."""

from __future__ import annotations

import base64
import collections
import contextlib
import csv
import hashlib
import io
import json
import os
import pathlib
import re
import statistics
import textwrap
import unicodedata
import xml.sax.saxutils
from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from fault import Fault
from grading.report import VERDICTS, Result, StepResult
from grading.tree import write_whole

FIRST = ("student", "points", "of", *VERDICTS, "state")
LAST = ("not OK", "look at", "hours late", "graded", "minutes", "digest")
OF_A_SHEET = {"student", "points", "of", "state", "digest"}  # columns by which a sheet is recognized
DONE, NOT_GRADED, ABSENT, UNREADABLE = "graded", "not graded", "nothing handed in", "could not be read"
# Remarks that students also read in their feedback.
NOT_A_STEP, RENAMED = "found and not graded", "taken from a file of another name"
UNCHECKED = "never asks whether a launch failed (cudaGetLastError)"
UNDATED = "unknown"  # how late it is
MARK = "\ufeff"  # begins a CSV file whose umlauts a spreadsheet is to read
# Terminal sequences, C0 and C1 but for tab and line feed, and characters that turn the direction of text.
CONTROL = re.compile(
    "\x1b\\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\ufffe\uffff]"  # which no XML may hold
)


def shown(verdict: str) -> str:
    return "SLOW (right, not yet fast)" if verdict == "SLOW" else verdict


def plain(text: str) -> str:
    """Returns the text without characters that control a terminal, a browser or a spreadsheet."""
    return CONTROL.sub("", text.encode("utf-8", "backslashreplace").decode())


def cell(text: str) -> str:
    """Returns the text in a form that a spreadsheet does not take for a formula."""
    text = plain(str(text))
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def in_markdown(text: str) -> str:
    """Returns text with names of a student's files in a line that is no more than text."""
    return re.sub(r"([\\`*\[\]<>&])", r"\\\1", re.sub(r"\s+", " ", plain(text)))


def in_one_line(reason: str) -> str:
    """Returns a reason, whose lines are sentences of their own, in one line of limited length."""
    lines = [line.strip() for line in plain(reason).splitlines() if line.strip()]
    text = "".join(line + (" " if line[-1] in ".:;,?" else "; ") for line in lines[:-1]) + "".join(lines[-1:])
    return textwrap.shorten(text, 300, placeholder=" …")


def few(names: Sequence[str], most: int = 3) -> str:
    return (
        ", ".join(names)
        if len(names) <= most + 1
        else f"{', '.join(names[:most])} and {len(names) - most} more"
    )


def not_ok(result: Result) -> dict[tuple[str, str], list[str]]:
    """Returns the steps by verdict and reason."""
    found: dict[tuple[str, str], list[str]] = collections.defaultdict(list)
    for step, of in result["steps"].items():
        if of["verdict"] != "OK":
            found[of["verdict"], of["why"]].append(step)
    return found


MOST_OF_SHARE = 4  # A SLOW step has at most this many times the share of its need that is allowed.


class PointsFile(TypedDict, total=False):
    points: dict[str, float]
    right: float | dict[str, float]


class Points:
    """The points of each step, from a file such as {"points": {"scan": 2, "scan/03_brent_kung": 4}, "right":
    0.5}.

    A step has the points of its own, else of its chapter, else 1. `right`, a number or a table like that of
    the points, is the part that a SLOW step has for being right. It has the rest in proportion to its share,
    what it may need over what it needs, and in all at most MOST_OF_SHARE times that share.
    """

    def __init__(self, path: str | None, steps: Sequence[str], known: Sequence[str] = ()) -> None:
        """`known` are the steps that a file may also name, and that are not graded."""
        given: PointsFile = {}
        known = [*dict.fromkeys([*steps, *known])]
        if path:
            try:
                given = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
                chapters = {step.split("/")[0] for step in known}
                if set(given) - {"points", "right"}:
                    raise ValueError('it holds "points" and "right" only')
                right = given.get("right", {})
                for what, table, most in (
                    ("points", given.get("points", {}), 1e6),
                    ("right", right if isinstance(right, dict) else {"right": right}, 1),
                ):
                    for name, value in [*table.items()]:
                        if (
                            isinstance(value, bool)
                            or not isinstance(value, (int, float))
                            or not 0 <= value <= most
                        ):
                            raise ValueError(
                                f'{name} in "{what}" is {json.dumps(value)}, not a number from 0 to {most:g}'
                            )
                        if "/" not in name and name not in chapters and name != what:  # "right" for all
                            raise ValueError(f"there is no chapter {name}")
                        if "/" in name and name not in known:
                            meant = [step for step in known if step.startswith(name)]
                            if len(meant) != 1:
                                raise ValueError(f"there is no step {name}, or more than one")
                            table.setdefault(meant[0], value)
            except (OSError, ValueError, AttributeError, TypeError) as error:
                raise Fault(f"{path}: {error}", 2) from error
        self.of = of_each(steps, given.get("points", {}), 1)
        right = given.get("right", 0.5)
        self.right = of_each(steps, right, 0.5) if isinstance(right, dict) else dict.fromkeys(steps, right)
        self.digest = hashlib.sha256(repr((self.of, self.right)).encode()).hexdigest()[:8]

    def earned(self, step: str, found: StepResult) -> float:
        if found["verdict"] == "OK":
            return self.of[step]
        if found["verdict"] == "SLOW":
            right, share = self.right[step], found["share"]
            return round(self.of[step] * min(right + (1 - right) * share, MOST_OF_SHARE * share), 2)
        return 0

    def total(self, result: Result) -> str:
        earned = sum(self.earned(step, found) for step, found in result["steps"].items())
        return f"{earned:g} of {sum(self.of[step] for step in result['steps']):g} points"


def of_each(steps: Sequence[str], table: Mapping[str, float], otherwise: float) -> dict[str, float]:
    """Returns a value for each step: its own, else that of its chapter."""
    return {step: table.get(step, table.get(step.split("/")[0], otherwise)) for step in steps}


class Sheet:
    """A row for each student, in a file that other programs read. Rows of students who are not graded now
    are kept."""

    def __init__(self, path: pathlib.Path, steps: Sequence[str]) -> None:
        self.path = path
        self.rows: dict[str, dict[str, str]] = {}
        self.columns: list[str] = []
        try:
            # utf-8-sig: a spreadsheet may have saved it with a mark in front.
            with open(path, newline="", encoding="utf-8-sig", errors="backslashreplace") as file:
                reader = csv.DictReader(file)
                header = reader.fieldnames or []
                if header and not set(header) >= OF_A_SHEET:
                    raise Fault(f"{path} is not a sheet of ./kata grade, and would be lost", 2)
                self.columns = [name for name in header if name not in FIRST + LAST]
                if header and set(self.columns) != set(steps):
                    others = few(sorted({*self.columns} ^ {*steps}), 2)
                    raise Fault(
                        f"{path} is a sheet of other steps ({others}): a sheet holds one choice of chapters; "
                        f"name another file with --csv",
                        2,
                    )
                self.rows = {unicodedata.normalize("NFC", row["student"]): row for row in reader}
        except FileNotFoundError:
            pass
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise Fault(f"{path}: {error}", 2) from error
        if not os.access(path.parent, os.W_OK) or path.is_dir():
            raise Fault(f"{path} cannot be written", 2)

    def is_done(self, student: str, digest: str) -> bool:
        row = self.rows.get(cell(student))
        return row is not None and row["state"] == DONE and row["digest"] == digest

    def of_other_points(self, points: Points) -> int:
        """Returns how many students were graded with other points."""
        return sum(
            row["state"] == DONE and not row["digest"].endswith(f"-{points.digest}")
            for row in self.rows.values()
        )

    def put(self, student: str, result: Result | None, points: Points, digest: str, why: str = "") -> None:
        """Sets the row of a student. Without a result, the student is not graded and keeps the earlier
        points."""
        self.columns = list(points.of)
        known = self.rows.get(cell(student), {})
        before = dict.fromkeys([*FIRST, *LAST], "") | (
            {"hours late": known.get("hours late", "")} if result else known
        )
        row = before | {
            "student": cell(student),
            "state": NOT_GRADED,
            "digest": "",
            **({"not OK": cell(why)} if why else {}),
        }
        if result:
            count = collections.Counter(found["verdict"] for found in result["steps"].values())
            earned = {step: points.earned(step, found) for step, found in result["steps"].items()}
            wrong = [
                f"{few(steps)} {shown(verdict)}: {in_one_line(reason)}"
                for (verdict, reason), steps in not_ok(result).items()
            ]
            row |= {name: str(count[name]) for name in VERDICTS} | {
                step: f"{value:g}" for step, value in earned.items()
            }
            row |= {
                "points": f"{sum(earned.values()):g}",
                "of": f"{sum(points.of.values()):g}",
                "state": DONE,
                "not OK": cell("; ".join(wrong)),
                "look at": cell("; ".join(map(in_one_line, result["notes"]))),
                "graded": result["graded"],
                "minutes": f"{result['seconds'] / 60:.2f}",
                "digest": digest,
            }
        self.rows[cell(student)] = row

    def put_unreadable(self, student: str, points: Points, why: str) -> None:
        """Sets the row of a student of whom nothing can be graded; no earlier points stay."""
        self.rows.pop(cell(student), None)
        self.put(student, None, points, "", why)
        self.rows[cell(student)]["state"] = UNREADABLE

    def put_late(self, student: str, changed: float, due: float | None) -> None:
        hours = (changed - due) / 3600 if due else 0
        late = f"{max(0.01, hours):.2f}" if hours > 0 else "0"
        self.rows[cell(student)]["hours late"] = "" if due is None else late if changed else UNDATED

    def summary(self) -> str:
        """Returns a line about all rows."""
        rows = self.rows.values()
        count = collections.Counter(row["state"] for row in rows)
        said = [f"{count[state]} {state}" for state in (DONE, UNREADABLE, NOT_GRADED, ABSENT) if count[state]]
        if late := sum((row["hours late"] or "0") not in ("0", UNDATED) for row in rows):
            said.append(f"{late} late")
        graded = [row for row in rows if row["state"] == DONE]
        totals = sorted({row["of"] for row in graded})
        if len(totals) > 1:
            said.append(f"no mean, because the rows have different totals: {', '.join(totals)} points")
        with contextlib.suppress(ValueError):  # none is graded, or a person has written into the sheet
            if len(totals) == 1:
                mean = statistics.fmean(float(row["points"]) for row in graded)
                said.append(f"mean of those graded: {mean:.2f} of {totals[0]} points")
        return f"{self.path.name}: {', '.join(said)}"

    def put_absent(self, student: str, points: Points) -> bool:
        """Sets the row of a student of the roster who has handed in nothing; an existing row stays. Returns
        True if it set the row."""
        of = f"{sum(points.of.values()):g}"
        nothing = {"student": cell(student), "points": "0", "of": of, "state": ABSENT}
        nothing |= dict.fromkeys([*VERDICTS, *points.of], "0") | {"MISSING": str(len(points.of))}
        if self.rows.get(cell(student), nothing)["state"] != ABSENT:
            return False
        self.columns = list(points.of)
        self.rows[cell(student)] = dict.fromkeys([*FIRST, *LAST], "") | nothing
        return True

    def order(self, students: Iterable[str]) -> None:
        """Puts the rows of these students first, in this order."""
        first = [name for name in map(cell, students) if name in self.rows]
        self.rows = {name: self.rows[name] for name in [*first, *self.rows]}

    def write(self) -> None:
        text = io.StringIO()
        text.write(MARK)
        writer = csv.DictWriter(
            text, [*FIRST, *self.columns, *LAST], restval="", extrasaction="ignore", lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows(self.rows.values())
        write_whole(self.path, text.getvalue())


def figures(found: StepResult) -> dict[str, tuple[float, float]]:
    """Returns the counters of a step by their headings, each with that of its solution."""
    return {one["heading"]: (one["step"], one["solution"]) for one in found["counts"]}


def figures_of(results: Iterable[Result]) -> list[str]:
    """Returns the counters that the tests have reported for any step, in their order."""
    return list(
        dict.fromkeys(
            name for result in results for found in result["steps"].values() for name in figures(found)
        )
    )


def steps(results: Iterable[Result], points: Points) -> str:
    """Returns CSV with a row for each step of each student: its verdict, its needs and those of its
    solution."""
    text = io.StringIO()
    text.write(MARK)
    writer = csv.writer(text, lineterminator="\n")
    results = list(results)
    all_figures = figures_of(results)
    of_figures = [name for figure in all_figures for name in (figure, f"{figure} of the solution")]
    writer.writerow(["student", "step", "verdict", "points", "of", "s to compile", "s to test", *of_figures])
    for result in results:
        for step, found in result["steps"].items():
            seconds = [
                f"{found['seconds'][what]:.1f}" if what in found["seconds"] else ""
                for what in ("compile", "test")
            ]
            cells = [
                value if value == "" else f"{value:.15g}"
                for figure in all_figures
                for value in figures(found).get(figure, ("", ""))
            ]
            worth = [f"{points.earned(step, found):g}", f"{points.of[step]:g}"]
            writer.writerow([cell(result["student"]), step, found["verdict"], *worth, *seconds, *cells])
    return text.getvalue()


def roster(path: str) -> dict[str, str]:
    """Returns the students of a CSV file, each by the beginning of a folder's name: its column `folder` where
    it has one, and its column `student`, or else the first of each line."""
    try:
        text = unicodedata.normalize("NFC", pathlib.Path(path).read_text(encoding="utf-8-sig"))
        rows = [
            [cell.strip() for cell in row]
            for row in csv.reader(text.splitlines(), delimiter=";" if ";" in text.partition("\n")[0] else ",")
            if row
        ]
    except UnicodeDecodeError:
        raise Fault(f"{path} is not UTF-8: save it as CSV UTF-8", 2) from None
    except (OSError, csv.Error) as error:
        raise Fault(f"{path}: {error}", 2) from error
    header = rows.pop(0) if rows and "student" in rows[0] else ["student"]
    students = [dict(zip(header, row)) for row in rows]
    return {
        one.get(column) or one["student"]: one["student"]
        for column in ("student", "folder")
        for one in students
        if one.get("student")
    }


def file_name(student: str) -> str:
    """Returns the name of a student's files: characters that a file system may not like are %XX."""
    name = "".join(
        c
        if c.isalnum() or c in " ._-()"
        else "".join(f"%{byte:02X}" for byte in c.encode("utf-8", "surrogateescape"))
        for c in student
    )
    return name[:120] if not name.startswith(".") else f"%2E{name[1:120]}"


def feedback(result: Result, points: Points, left_out: Iterable[str] = ()) -> str:
    """Returns feedback for the student: Markdown that reads well as plain text. `left_out` are lines about
    steps that nobody is graded for."""
    earned = {step: points.earned(step, found) for step, found in result["steps"].items()}
    lines = [
        f"# {plain(result['student'])}: {points.total(result)}",
        "",
        "| step | verdict | points |",
        "| --- | --- | ---: |",
    ]
    lines += [
        f"| {step} | {shown(found['verdict'])} | {earned[step]:g} of {points.of[step]:g} |"
        for step, found in result["steps"].items()
    ]
    about_files = [
        f"{note[0].upper()}{note[1:]}"
        for note in result["notes"]
        if note.startswith((NOT_A_STEP, RENAMED, UNCHECKED))
        and not any(note in one["why"] for one in result["steps"].values())
    ]
    for line in [*left_out, *map(in_markdown, about_files)]:
        lines += ["", f"{line}."]
    for step, found in result["steps"].items():
        if found["verdict"] in ("OK", "OPEN", "MISSING"):
            continue
        lines += ["", f"## {step}: {shown(found['verdict'])}", ""]
        if found["verdict"] == "SLOW":
            lines += [f"It needs {1 / max(found['share'], 1e-6):.1f} times what is allowed.", ""]
        lines += [f"    {line}".rstrip() for line in plain(found["why"]).splitlines()]
        if found["printed"].strip() and found["verdict"] == "FAIL":
            lines += ["", "What the tests and the step have printed, or its beginning:", ""]
            lines += [f"    {line}".rstrip() for line in plain(found["printed"]).strip("\n").splitlines()]
    for (verdict, reason), names in not_ok(result).items():
        if verdict in ("OPEN", "MISSING"):
            lines += ["", f"## {verdict}: {in_markdown(reason)}", "", *(f"    {name}" for name in names)]
    needs = {step: figures(found) for step, found in result["steps"].items() if found["counts"]}
    if needs:
        columns = figures_of([result])
        lines += [
            "",
            "## What your right steps need",
            "",
            "Compared with the solution: 1 is as much, 2 is twice as much.",
            "",
        ]
        lines += [f"| step | {' | '.join(columns)} |", "| --- |" + " ---: |" * len(columns)]
        for step, need in needs.items():
            parts = [part(*need[name]) if name in need else "" for name in columns]
            lines.append(f"| {step} | {' | '.join(parts)} |")
    lines += ["", f"Graded on {result['graded']}, by version {result['version'][:12]} of the tests."]
    return "\n".join(lines) + "\n"


def part(mine: float, theirs: float) -> str:
    return f"{mine / theirs:.2f}" if theirs else f"{mine:g} instead of 0" if mine else "none"


def gradescope(result: Result, points: Points) -> str:
    """Returns results.json of a Gradescope autograder."""
    tests = []
    for step, found in result["steps"].items():
        earned = points.earned(step, found)
        tests.append(
            {
                "name": step,
                "score": earned,
                "max_score": points.of[step],
                "status": "passed" if found["verdict"] == "OK" else "failed",
                "output": plain(f"{shown(found['verdict'])}\n{found['why']}".strip()),
                "output_format": "text",
                "visibility": "visible",
            }
        )
    return json.dumps(
        {
            "score": round(sum(points.earned(step, found) for step, found in result["steps"].items()), 2),
            "execution_time": round(result["seconds"]),
            "tests": tests,
        },
        indent=1,
    )


def github_classroom(result: Result, points: Points) -> str:
    """Returns the input of autograding-grading-reporter: JSON, as base64."""
    tests = []
    verdicts = [found["verdict"] for found in result["steps"].values()]
    for step, found in result["steps"].items():
        tests.append(
            {
                "name": step,
                "status": "pass" if found["verdict"] == "OK" else "fail",
                "score": points.earned(step, found),
                "max_score": points.of[step],
                "message": plain(f"{shown(found['verdict'])}: {found['why']}"),
                "test_code": "",
                "filename": "",
                "line_no": 0,
                "duration": round(1000 * sum(found["seconds"].values())),
            }
        )
    status = "pass" if all(verdict == "OK" for verdict in verdicts) else "fail"
    text = json.dumps({"version": 1, "status": status, "max_score": sum(points.of.values()), "tests": tests})
    return base64.b64encode(text.encode()).decode() + "\n"


def junit(results: Iterable[Result]) -> str:
    """Returns JUnit's XML, with a test suite for each student."""

    def quoted(text: str) -> str:
        return xml.sax.saxutils.quoteattr(plain(text))

    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    for result in results:
        count = collections.Counter(found["verdict"] for found in result["steps"].values())
        skipped, failed = count["OPEN"] + count["MISSING"], count["FAIL"] + count["SLOW"]
        lines.append(
            f'  <testsuite name={quoted(result["student"])} tests="{len(result["steps"])}" '
            f'failures="{failed}" skipped="{skipped}" time="{result["seconds"]:.1f}">'
        )
        for step, found in result["steps"].items():
            name, seconds, why = (
                quoted(step),
                sum(found["seconds"].values()),
                quoted(in_one_line(found["why"])),
            )
            inside = ""
            if found["verdict"] in ("OPEN", "MISSING"):
                inside = f"<skipped message={why}/>"
            elif found["verdict"] != "OK":
                inside = (
                    f'<failure type="{found["verdict"]}" '
                    f"message={why}>{xml.sax.saxutils.escape(plain(found['why']))}</failure>"
                )
            lines.append(
                f"    <testcase classname={quoted(result['student'])} name={name} "
                f'time="{seconds:.1f}">{inside}</testcase>'
            )
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"
