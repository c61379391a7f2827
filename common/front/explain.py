"""A step line by line: the cost of each line of its kernels, the least cost possible, and the cost in the
solution."""

from __future__ import annotations

import argparse
import pathlib
import textwrap
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import step_times
import trace
from fault import Fault
from repository import Repository

Key = TypeVar("Key", bound=Hashable)
MUCH = 1.25  # times as much as the solution: more than this is worth mentioning
WORTH = 3  # percent of the steps: a line that needs so much more than the solution is worth a look
SHOWN = 6  # lines of a kernel, unless all are requested
WIDTH = 80
UNITS = {"global": "sectors", "shared": "passes", "constant": "addresses"}
SOLVED_BY = {
    "global": "do neighbouring lanes reach neighbouring addresses?",
    "shared": "lanes meet in the same banks.",
    "constant": "lanes of a warp read different constants, which are served one after the other.",
}


class Row(NamedTuple):
    """The counts of one line for one array; if `memory` is empty, those of the line's basic blocks."""

    line: str
    did: str
    memory: str
    array: str
    requests: int
    lanes: int
    steps: int
    units: int
    least: int
    waits: int
    turns: int  # atomics on global memory that reach one address

    @property
    def kind(self) -> tuple[str, str, str]:
        return self.did, self.memory, self.array

    @property
    def what(self) -> str:
        return f"{self.did} {self.memory} {self.array}" if self.memory else "instructions"

    @property
    def each(self) -> float:
        return self.units / self.requests

    @property
    def least_each(self) -> float:
        return self.least / self.requests

    @property
    def active(self) -> float:
        return self.lanes / self.requests


def added(rows: Sequence[Row]) -> Row:
    """Returns the sum of rows, under the name of the first."""
    numbers = zip(*(row[4:] for row in rows))
    return Row(*rows[0][:4], *map(sum, numbers))


def grouped(rows: Sequence[Row], key: Callable[[Row], Key]) -> dict[Key, list[Row]]:
    groups: dict[Key, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def row_from(place: trace.Place) -> Row:
    return Row(
        place["line"], place["did"], place["memory"], place["array"], place["requests"], place["lanes"],
        place["steps"], place["units"], place["least"], place["waits"], place["turns"],
    )  # fmt: skip


def rows_of(found: trace.Found) -> list[Row]:
    """Returns a row for each line, kind of access and array, the sum over the line's instructions. The row
    without a memory sums how often the line's basic blocks are entered."""
    raw = [
        row_from(place)
        for place in found["places"]
        # Reading blockIdx and the like is a line of the library, and costs nothing on a GPU.
        if place["memory"] or place["line"].split(":")[0].endswith((".cu", ".cuh"))
    ]
    return [added(rows) for rows in grouped(raw, lambda row: (row.line, row.kind)).values()]


class Line(NamedTuple):
    rows: list[Row]
    excess: float  # steps more than the solution needs for the same

    @property
    def name(self) -> str:
        return self.rows[0].line

    @property
    def steps(self) -> int:
        return sum(row.steps for row in self.rows)


class Kernel:
    """The needs of a step, or of its solution, by array, by memory, and for instructions."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = grouped(rows, lambda row: row.kind)
        self.of_kind = {kind: added(found) for kind, found in self.rows.items()}
        self.of_memory = {
            kind: added(found) for kind, found in grouped(rows, lambda row: row.kind[:2]).items()
        }

    def total(self, row: Row, like: Kernel) -> Row | None:
        """Returns the row to compare with the needs of `like`: that of the same array if `like` has one of
        that name, else that of the whole memory."""
        return self.of_kind.get(row.kind) if row.kind in like.of_kind else self.of_memory.get(row.kind[:2])

    def nearest(self, row: Row) -> Row | None:
        """Returns the most similar row among those that do the same with the same array."""
        candidates = (
            self.rows.get(row.kind) or [self.of_memory[row.kind[:2]]]
            if row.kind[:2] in self.of_memory
            else []
        )
        return min(
            candidates,
            key=lambda other: abs(other.each - row.each) + abs(other.active - row.active),
            default=None,
        )


class Explanation:
    def __init__(self, both: trace.Both) -> None:
        self.counts = both.step["all"]
        self.theirs = both.solution["all"] if both.solution else None
        self.rows = rows_of(both.step)
        if not self.rows:
            raise Fault("there is nothing to explain: the step launches no kernel, or its kernels do nothing")
        self.work = max(1, sum(row.steps for row in self.rows))
        self.mine = Kernel(self.rows)
        self.solution = Kernel(rows_of(both.solution)) if both.solution else None
        self.excess = {row: self.excess_of(row) for row in self.rows}
        lines = [
            Line(rows, sum(self.excess[row] for row in rows))
            for rows in grouped(self.rows, lambda row: row.line).values()
        ]
        self.turns = self.most_turns()
        self.lines = sorted(lines, key=self.place)

    def most_turns(self) -> Row | None:
        """Returns the atomics that take turns at one address of global memory, if these bound the model GPU
        for most of the time: they are few steps, one for each line of memory."""
        most = max(self.rows, key=lambda row: row.turns)
        return most if most.turns and 2 * self.counts["contention"] > self.counts["makespan"] else None

    @property
    def more_turns(self) -> bool:
        """True if these atomics are many more than in the solution."""
        return bool(
            self.turns and self.theirs and self.counts["contention"] > MUCH * self.theirs["contention"]
        )

    def excess_of(self, row: Row) -> float:
        """Returns the row's part of the steps that the step needs and the solution does not."""
        if not self.solution:
            return 0.0
        theirs = self.solution.total(row, self.solution)
        if not theirs:
            return float(row.steps)
        own = self.mine.total(row, self.solution)
        assert own  # there is at least this row
        return row.steps * max(0.0, 1 - theirs.steps / own.steps) if own.steps > MUCH * theirs.steps else 0.0

    def place(self, line: Line) -> tuple[bool, float, bool, int, str]:
        """Returns the key for sorting: lines far above the solution come first, as advice() names them, then
        by steps."""
        takes_turns = self.turns in line.rows
        excess = -line.excess if self.share(line.excess) >= WORTH else 0.0
        return not (takes_turns and self.more_turns), excess, not takes_turns, -line.steps, line.name

    def share(self, steps: float) -> float:
        return 100 * steps / self.work

    def advice(self) -> str:
        """Returns a sentence about the line to look at first."""
        if not self.solution or self.theirs is None:
            line = self.lines[0]
            if self.turns in line.rows:
                return f"Line {number(line)} takes longest: {self.in_turn()}."
            return f"Most of the work is in line {number(line)}: {self.share(line.steps):.0f} % of the steps."
        worst = self.lines[0]
        if self.more_turns:
            return (
                f"Look first at line {number(worst)}: {self.in_turn()}. In the solution no more than "
                f"{self.theirs['contention']:,} do."
            )
        if self.share(worst.excess) >= WORTH:
            dearest = max(worst.rows, key=self.excess.__getitem__)
            return f"Look first at line {number(worst)}: {self.cause(dearest, self.solution)}"
        if self.counts["makespan"] > 1.5 * self.theirs["makespan"]:
            return (
                "No line needs more than the solution, but too few threads share the work: the model "
                "GPU is done after "
                f"{self.counts['makespan']:,} steps, with the solution after {self.theirs['makespan']:,}."
            )
        if self.turns in worst.rows:
            return (
                "No line needs much more than the solution does for the same. "
                f"Line {number(worst)} takes longest: {self.in_turn()}."
            )
        busiest = max(self.lines, key=lambda line: line.steps)
        return (
            "No line needs much more than the solution does for the same. "
            f"Most of the work is in line {number(busiest)}: {self.share(busiest.steps):.0f} % of the steps."
        )

    def in_turn(self) -> str:
        assert self.turns
        return (
            f"{self.turns.turns:,} of its atomics reach one address of global memory, one after the "
            f"other, and the model GPU is "
            f"done after {self.counts['makespan']:,} steps"
        )

    def cause(self, row: Row, solution: Kernel) -> str:
        theirs, nearest = solution.total(row, solution), solution.nearest(row)
        if not theirs or not nearest:
            return (
                f"it has {row.requests:,} {row.did}s of {row.memory} {row.array}, and the solution has "
                f"none of that kind."
            )
        own = self.mine.total(row, solution)
        assert own  # there is at least this row
        dearer = row.each / nearest.each if row.memory and row.each > MUCH * row.least_each else 0
        idler, more = theirs.active / own.active, own.lanes / theirs.lanes
        if dearer > max(MUCH, idler, more):
            return (
                f"a {row.did} of {row.memory} {row.array} takes {row.each:.1f} {UNITS[row.memory]}, "
                f"where the solution takes "
                f"{nearest.each:.1f} and {row.least_each:.1f} would do; {SOLVED_BY[row.memory]}"
            )
        if idler > max(MUCH, more):
            return (
                f"only {own.active:.1f} of 32 lanes are active where {phrase(own)}; in the solution it is "
                f"{theirs.active:.1f}."
            )
        times = f"{more:.1f}" if more < 100 else f"{more:,.0f}"
        return (
            f"it has most of the {own.lanes:,} times that {phrase(own)}, {times} times as many as in the "
            f"solution."
        )

    def as_json(self) -> dict[str, object]:
        def of_row(row: Row) -> dict[str, object]:
            theirs = self.solution.nearest(row) if self.solution else None
            return {
                "did": row.did,
                "memory": row.memory,
                "array": row.array,
                "requests": row.requests,
                "unit": UNITS.get(row.memory, ""),
                "each": round(row.each, 3),
                "least_each": round(row.least_each, 3),
                "solution_each": round(theirs.each, 3) if theirs else None,
                "active_lanes": round(row.active, 3),
                "solution_active_lanes": round(theirs.active, 3) if theirs else None,
                "waits": row.waits,
                "turns": row.turns,
                "work": row.steps,
                "percent": round(self.share(row.steps), 2),
            }

        headings = {key: text for key, text, _ in WHOLE}
        return {
            "advice": self.advice(),
            "counts": [
                {
                    "key": key,
                    "heading": headings.get(key, key),
                    "step": value,
                    "solution": self.theirs and self.theirs[key],
                }
                for key, value in self.counts.items()
            ],
            "lines": [
                {
                    "line": line.name,
                    "percent": round(self.share(line.steps), 2),
                    "rows": list(map(of_row, line.rows)),
                }
                for line in self.lines
            ],
        }


def phrase(row: Row) -> str:
    if not row.memory:
        return "a thread enters a stretch of code"
    verb = {"load": "loads from", "store": "stores to", "atomic": "makes an atomic access to"}[row.did]
    return f"a thread {verb} {row.memory} memory"


def number(line: Line) -> str:
    file, at = trace.place_of(line.name)
    return str(at) if file.endswith(".cu") else line.name


# --- as a table ---------------------------------------------------------------------------------------------

WHOLE = (
    ("sectors", "sectors of global memory", False),
    ("shared_passes", "passes over the banks of shared memory", False),
    ("bank_conflicts", "extra passes because of bank conflicts", False),
    ("atomics", "atomics on global memory", False),
    ("shared_atomics", "atomics on shared memory", False),
    ("waits", "atomics that waited for another lane", False),
    ("barriers", "barriers, of all blocks", False),
    ("active_lanes", "active lanes of 32", True),
    ("work", "steps of all warps", False),
    ("span", "steps of the longest chain", False),
    ("makespan", "steps until the model GPU is done", False),
)

LEGEND = """\
line       first those that need much more than the solution, then atomics that
           take turns if nothing takes longer, then those with most steps; an
           array has the name that the tests give it, A for an a; in a program,
           it is the line that allocates it
requests   how often warps execute the load, store or atomic; for instructions,
           how often they enter a stretch of code without a branch, a basic
           block, that begins in this line
each       what a request takes: 32-byte sectors of global memory, passes over
           the banks of shared memory, addresses of constant memory
at least   what it would take if the lanes reached as many bytes side by side,
           in banks of their own, all the same constant
solution   what a request of the solution takes for the same array, or else for
           that memory; ! marks what takes much more
lanes      active lanes of 32: an idle one costs as much as an active one
share      of all steps: one for each basic block, and in a request one for each
           of its 128-byte lines, passes or addresses; lanes that update one
           address take turns, and count one step each
model GPU  one of 16 multiprocessors, where time is counted in steps of a warp"""


def figure(value: float, width: int) -> str:
    """Returns the value, in millions if it would not fit into its column."""
    if not isinstance(value, int):
        return f"{value:.1f}"  # lanes are a mean
    text = f"{value:,}"
    return text if len(text) < width else f"{value / 1e6:,.0f} M"


def whole_table(
    mine: Mapping[str, float],
    theirs: Mapping[str, float] | None,
    before: Mapping[str, float] | None = None,
    marks: bool = True,
    alone: str = "solution",
) -> str:
    """Returns the totals of a step beside its solution, or of one `alone`. A step that has run before also
    shows its earlier counts, and whether they have improved. Counts far above the solution's are marked,
    unless the step has passed: then they are not too much."""
    all_columns = [
        ("before", before),
        ("yours" if theirs or before else alone, mine),
        ("solution", theirs),
    ]
    columns = [(name, counts) for name, counts in all_columns if counts]
    width = 13 if len(columns) < 3 else 11
    lines = [
        f"{'':44}"
        + "".join(f"{name:>{width}}{' ' * (name == 'yours' and bool(before))}" for name, _ in columns)
    ]
    for key, text, more_is_better in WHOLE:
        values = [counts.get(key, 0) * (1.0 if more_is_better else 1) for _, counts in columns]
        if not any(values):
            continue
        line = f"  {text:42}"
        for (name, _), value in zip(columns, values):
            line += f"{figure(value, width):>{width}}"
            if name == "yours" and before:
                line += change(values[0], value, more_is_better)
        own = mine.get(key, 0) * 1.0
        if marks and theirs and own and theirs.get(key, 0):
            times = theirs[key] / own if more_is_better else own / theirs[key]
            line += ("!" if before else f"  {times:.1f} x") if times >= MUCH else ""
        elif marks and theirs and own:
            line += "!" if before else "  more"
        lines.append(line)
    if before:
        much = "; ! far above the solution" if marks else ""
        lines.append(f"  + better than when it last was right, - worse{much}")
    return "\n".join(lines)


def change(before: float, now: float, more_is_better: bool) -> str:
    """Returns a sign for better or worse; a space if nothing has changed."""
    if before == now:
        return " "
    return "+" if (now > before) == more_is_better else "-"


def line_table(explanation: Explanation, line: Line, source: str) -> list[str]:
    out = [f"{line.name:73}{explanation.share(line.steps):5.0f} %"]
    if source:
        out.append(f"    {source if len(source) <= WIDTH - 4 else source[: WIDTH - 5] + '…'}")
    for row in sorted(line.rows, key=lambda row: (-explanation.excess[row], -row.steps, row.what)):
        theirs = explanation.solution.nearest(row) if explanation.solution else None
        what = row.what if len(row.what) <= 26 else row.what[:25] + "…"
        text = f"  {what:26}{row.requests:>12,}"
        if row.memory:
            mark = (
                "!" if theirs and row.each > MUCH * theirs.each and row.each > MUCH * row.least_each else " "
            )
            text += f"{row.each:8.1f}{mark}{row.least_each:8.1f}"
            text += f"{theirs.each:9.1f}" if theirs else f"{'none' if explanation.solution else '':>9}"
        else:
            text += f"{'':26}"
        out.append(f"{text}{row.active:7.1f}{explanation.share(row.steps):5.0f} %")
        if row.waits:
            out.append(
                f"    {row.waits:,} of {row.lanes:,} atomics waited for a lane of their warp at the "
                f"same address"
            )
        if row == explanation.turns:
            out.append(f"    {row.turns:,} of {row.lanes:,} atomics reach one address, one after the other")
    return out


def text_of(
    repository: Repository,
    tree: str,
    chapter: str,
    step: str,
    both: trace.Both,
    everything: bool,
    times: Sequence[str] = (),
) -> str:
    explanation = Explanation(both)
    whose = "the solution" if tree == "solutions" else "your step"
    out = [f"{chapter} {step}: {whose}, line by line"]
    out += (
        [textwrap.fill(f"counted on {both.step['problem']}", WIDTH), ""] if both.step.get("problem") else [""]
    )
    out += [textwrap.fill(trace.warning(both.step), WIDTH), ""] if both.step["fault"] else []
    out += line_by_line(explanation, repository.root / tree / chapter, everything, times)
    return "\n".join([*out, "", LEGEND]) + "\n"


def line_by_line(
    explanation: Explanation,
    folder: pathlib.Path,
    everything: bool,
    times: Sequence[str] = (),
    alone: str = "solution",
) -> list[str]:
    """Returns the tables of kernels whose sources are in the folder."""
    out = [
        textwrap.fill(explanation.advice(), WIDTH),
        "",
        whole_table(explanation.counts, explanation.theirs, alone=alone),
        "",
    ]
    out += [*times, ""] if times else []
    compared = f"{'solution':>9}" if explanation.solution else f"{'':9}"
    out.append(
        f"{'line, the worst first':28}{'requests':>12}{'each':>8} "
        f"{'at least':>8}{compared}{'lanes':>7}{'share':>7}"
    )
    shown = (
        explanation.lines
        if everything
        else [line for line in explanation.lines[:SHOWN] if explanation.share(line.steps) >= 0.5]
    )
    for line in shown:
        out += line_table(explanation, line, trace.source_line(folder, line.name))
    if rest := explanation.lines[len(shown) :]:
        share = explanation.share(sum(line.steps for line in rest))
        more = f"{len(rest)} lines" if len(rest) > 1 else "one line"
        out.append(f"… and {more} more, with {share:.0f} % of the steps: --all")
    return out


def document(
    repository: Repository, chapter: str, step: str, of_solution: bool = False, device: str | None = None
) -> dict[str, object]:
    """Returns what ./kata explain shows, for programs."""
    both = trace.of(repository, chapter, step, "explain", of_solution)
    fault = both.step["fault"]
    said: dict[str, object] = {
        "chapter": chapter,
        "step": step,
        "tree": "solutions" if of_solution else "chapters",
        "verdict": "FAIL" if fault else None,
        "why": fault or "",
        "problem": both.step["problem"],
        **Explanation(both).as_json(),
    }
    if device:
        said["estimate"] = step_times.as_json(repository, chapter, step, device, both)
    return said


def explain(repository: Repository, chapter: str, step: str, given: argparse.Namespace) -> int:
    both = trace.of(repository, chapter, step, "explain", given.solution)
    times = (
        step_times.as_lines(repository, chapter, step, given.device, both, given.all) if given.device else []
    )
    tree = "solutions" if given.solution else "chapters"
    print(text_of(repository, tree, chapter, step, both, given.all, times), end="")
    return 0
