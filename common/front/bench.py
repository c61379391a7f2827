"""The speed of a chapter's steps on this GPU, beside a vendor's library and a lower bound for any kernel."""

from __future__ import annotations

import csv
import datetime
import json
import pathlib
import subprocess
import textwrap
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import processes
from build import Build
from fault import Fault
from repository import Repository, module, module_of, targets

WIDTH, TITLE = 80, 24
VENDORS = {"cub": "CUB", "cublas": "cuBLAS"}
RIGHT, OPEN = "right", "open"
SECONDS_BETWEEN_SAMPLES = 0.5

# Bits of nvidia-smi's clocks_event_reasons.active: reasons for a lower clock that are not user settings.
REASONS = {
    0x04: "it drew as much power as it may",
    0x08: "the hardware slowed it down",
    0x20: "it was so hot that the driver slowed it down",
    0x40: "it was so hot that the hardware slowed itself down",
    0x80: "its power supply requested less",
}


class Row(NamedTuple):
    """A kernel over a case, as common/bench/bench.hpp prints it."""

    case: str
    kind: str  # floor, vendor, step or mine
    kernel: str
    verdict: str  # right, open, or why it is wrong
    ms: float = 0
    spread: float = 0
    gigabytes: float = 0
    teraflops: float = 0
    of_ceiling: float = 0
    faster: float = 0
    lower: float = 0
    upper: float = 0
    runs: int = 0
    copies: int = 0

    @property
    def is_wrong(self) -> bool:
        return self.verdict not in (RIGHT, OPEN)

    @property
    def title(self) -> str:
        if self.kind == "mine":
            return f"   yours, {self.kernel[:2]}"
        return VENDORS.get(self.kernel, self.kernel.replace("_", " "))


class Sample(NamedTuple):
    """The clock of the multiprocessors at one time, in MHz, and the reasons that lower it."""

    clock: int
    highest: int
    reasons: int


class Run:
    """The output of a benchmark so far."""

    def __init__(self) -> None:
        self.device, self.peak = "", 0.0  # its name, and TFLOP/s
        self.rows: list[Row] = []
        self.skipped: list[tuple[str, str]] = []  # a case, and why
        self.begun: Row | None = None  # the row without a verdict yet: a sudden end is its fault
        self.ended = False
        self.other: list[str] = []  # lines of other origin, such as a watchdog

    def take(self, line: str) -> None:
        fields = next(csv.reader([line]), [])
        kind = fields[0] if fields else ""
        if kind == "device" and len(fields) == 3:
            self.device, self.peak = fields[1], float(fields[2])
        elif kind == "begin" and len(fields) == 4:
            case, of, kernel = fields[1:]
            self.begun = Row(case, of, kernel, "")
        elif kind == "skip" and len(fields) == 3:
            self.skipped.append((fields[1], fields[2]))
        elif kind == "row" and len(fields) == 1 + len(Row._fields):
            self.rows.append(row_from(fields[1:]))
        elif line == "end":
            self.ended = True
        else:
            self.other.append(line)


def row_from(fields: Sequence[str]) -> Row:
    case, kind, kernel, verdict, *numbers, runs, copies = fields
    ms, spread, gigabytes, teraflops, of_ceiling, faster, lower, upper = map(float, numbers)
    return Row(
        case, kind, kernel, verdict, ms, spread, gigabytes, teraflops, of_ceiling, faster, lower, upper,
        int(runs), int(copies),
    )  # fmt: skip


def throttling(samples: Iterable[Sample]) -> str:
    """Returns a note on what lowered the clock during these samples; empty if nothing did."""
    samples = list(samples)
    held = [sample for sample in samples if any(sample.reasons & bit for bit in REASONS)]
    if not held:
        return ""
    why = [text for bit, text in REASONS.items() if any(sample.reasons & bit for sample in held)]
    lowest = min(sample.clock for sample in held)
    return (
        f"The GPU lowered its clock in {len(held)} of {len(samples)} samples, down to {lowest} of "
        f"{samples[0].highest} MHz: "
        f"{', '.join(why)}. These times are those of a throttled GPU."
    )


class Clocks:
    """Samples the clock with nvidia-smi while the block runs; takes no samples if nvidia-smi does not
    answer."""

    # The name in today's drivers, and in older ones.
    NAMES = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def __enter__(self) -> Clocks:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()

    def watch(self) -> None:
        names = list(self.NAMES)
        while names:
            sample = sample_of(asked(f"clocks.sm,clocks.max.sm,{names[0]}"))
            if sample:
                self.samples.append(sample)
            elif not self.samples:
                names.pop(0)
                continue
            if self.over.wait(SECONDS_BETWEEN_SAMPLES):
                return


def asked(query: str) -> str:
    """Returns a line of nvidia-smi about the first GPU; empty if it does not know the query."""
    command = ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits", "-i", "0"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return "" if done.returncode else done.stdout.strip()


def sample_of(said: str) -> Sample | None:
    try:
        clock, highest, reasons = said.split(", ")
        return Sample(int(clock), int(highest), int(reasons, 16))
    except ValueError:
        return None


# --- the table ----------------------------------------------------------------------------------------------


def line_of(title: str, *columns: str) -> str:
    cut = title if len(title) < TITLE else title[: TITLE - 2] + "…"
    return (
        f"{cut:{TITLE}}" + "".join(f" {text:>{width}}" for text, width in zip(columns, (7, 7, 8, 8, 21)))
    ).rstrip()


def number(value: float) -> str:
    """Returns the value with the four digits that fit into a column."""
    whole = len(str(int(value))) if value >= 1 else 0
    return f"{value:.{5 if value < 0.1 else max(0, 4 - whole)}f}"


def ratio(value: float) -> str:
    return f"{value:.3g}" if value < 999.5 else f"{value:.0f}"


def headings(case: str, vendor: str, in_teraflops: bool) -> str:
    against = f"x {VENDORS.get(vendor, vendor)}" if vendor else ""
    rate = "TFLOP/s" if in_teraflops else "GB/s"
    first = line_of("", "time", "spread", rate, "of peak", against)
    second = line_of("", "ms", "+- %", "", "%", "(95 % bounds)" if vendor else "")
    return f"\n{case}\n{first}\n{second}"


def row_of(row: Row, in_teraflops: bool) -> str:
    if row.is_wrong:
        why = textwrap.wrap(row.verdict, WIDTH - 6) or ["it ended the program"]
        return "\n".join([line_of(row.title, "WRONG"), *(f"      {line}" for line in why)])
    if row.verdict == OPEN:
        return line_of(row.title, OPEN)
    against = f"{ratio(row.faster)} ({ratio(row.lower)}-{ratio(row.upper)})" if row.faster else ""
    rate = number(row.teraflops if in_teraflops else row.gigabytes)
    return line_of(row.title, number(row.ms), f"{row.spread:.1f}", rate, f"{row.of_ceiling:.1f}", against)


LEGEND = (
    (
        "time",
        "of one run, the median of several; each takes the next copy of the data, so that the L2 cache "
        "holds none of it",
    ),
    ("spread", "half of the range of the middle half of the times, divided by the median"),
    (
        "GB/s",
        "bytes that the problem has to move, divided by that time; TFLOP/s: its operations, if they take "
        "longer",
    ),
    (
        "of peak",
        "the least time that this GPU needs to copy or read these bytes, as in the first row, or for the "
        "operations at {peak:.1f} TFLOP/s, divided by the time taken",
    ),
    (
        "x CUB",
        "how many times as fast as that library, in runs that alternate with the library's; the true ratio "
        "is between the bounds "
        "in 95 % of all cases",
    ),
    ("WRONG", "the answer after the timed loop is not right; no time is shown"),
)


def legend(peak: float) -> str:
    lines = []
    for word, meaning in LEGEND:
        lines += textwrap.wrap(
            meaning.format(peak=peak), WIDTH, initial_indent=f"  {word:11} ", subsequent_indent=" " * 14
        )
    return "\n".join(lines)


class Table:
    """Prints rows as they come."""

    def __init__(self, vendor: str, show: Callable[[str], None]) -> None:
        self.vendor, self.show = vendor, show
        # The row of the floor, shown once the next row tells whether bytes or operations take longer.
        self.floor: Row | None = None
        self.in_teraflops = False

    def add(self, row: Row, peak: float) -> None:
        if row.kind == "floor":
            self.floor = row
            return
        if self.floor:
            self.in_teraflops = (
                bool(row.teraflops) and row.teraflops / peak > row.gigabytes / self.floor.gigabytes
            )
            self.show(headings(row.case, self.vendor, self.in_teraflops))
            rate = number(self.floor.gigabytes)
            rates = ("", "", f"{rate} GB/s") if self.in_teraflops else (rate,)
            self.show(line_of(self.floor.title, number(self.floor.ms), f"{self.floor.spread:.1f}", *rates))
            self.floor = None
        self.show(row_of(row, self.in_teraflops))

    def skip(self, case: str, why: str) -> None:
        self.show("\n" + textwrap.fill(f"{case}: skipped, because it {why}", WIDTH, subsequent_indent="  "))


# --- running ------------------------------------------------------------------------------------------------


def once(command: list[object], table: Table) -> Run:
    """Runs a benchmark to its end, whatever that is."""
    run = Run()
    with processes.running(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as program:
        for line in processes.lines_of(program):
            rows, skipped = len(run.rows), len(run.skipped)
            run.take(line)
            for row in run.rows[rows:]:
                table.add(row, run.peak)
            for case, why in run.skipped[skipped:]:
                table.skip(case, why)
    return run


def of_chapter(command: list[object], vendor: str, show: Callable[[str], None]) -> Run:
    """Returns all rows of a chapter. A step that brings down the GPU or the program is left out from there
    on, and the others are timed without it."""
    lost: list[Row] = []
    while True:
        without = [word for row in lost for word in ("--without", f"{row.kind}/{row.kernel}")]
        run = once([*command, *without], Table(vendor, show))
        culprit = run.begun
        if run.ended or culprit is None or culprit.kind == "floor":
            break
        shown = next((row for row in run.rows if row[:3] == culprit[:3]), None)
        lost.append(shown or culprit._replace(verdict="; ".join(run.other) or "it ended the program"))
        if not shown:
            show(row_of(lost[-1], False))
        show("\nOnce more, without it:")
    run.rows += lost
    if not run.ended:
        raise Fault("; ".join(run.other) or "the benchmark ended early, without a message")
    return run


def machine() -> str:
    """Returns the machine and the day, as the first line of a lesson's tables."""
    name, _, driver = asked("name,driver_version").partition(", ")
    try:
        nvcc = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        nvcc = ""
    release = nvcc.partition("release ")[2].partition(",")[0]
    return f"{name}, CUDA {release}, driver {driver}, {datetime.date.today()}"


FIELDS = (
    "case",
    "kind",
    "kernel",
    "verdict",
    "ms",
    "spread in %",
    "GB/s",
    "TFLOP/s",
    "% of ceiling",
    "times as fast as the library",
    "at least",
    "at most",
    "runs",
    "copies",
)


def write_csv(path: pathlib.Path, said: str, notes: list[str], runs: dict[str, Run]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        for line in (said, *notes):
            file.write(f"# {line}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("chapter", *FIELDS))
        for chapter, run in runs.items():
            rows.writerows((chapter, *row) for row in run.rows)


def write_json(path: pathlib.Path, said: str, notes: list[str], runs: dict[str, Run]) -> None:
    rows = [
        {"chapter": chapter, **dict(zip(FIELDS, row))} for chapter, run in runs.items() for row in run.rows
    ]
    skipped = [
        {"chapter": chapter, "case": case, "why": why}
        for chapter, run in runs.items()
        for case, why in run.skipped
    ]
    text = json.dumps(
        {"machine": said, "notes": notes, "rows": rows, "skipped": skipped}, indent=1, ensure_ascii=False
    )
    path.write_text(text + "\n", encoding="utf-8")


def bench(
    repository: Repository,
    chapters: list[str],
    *,
    mine: bool = False,
    case: str = "",
    last: int | None = None,
    csv_file: str | None = None,
    json_file: str | None = None,
) -> int:
    build = Build(repository)
    if not build.gpu_here():
        raise Fault(
            "no GPU, or no nvcc, to time kernels with; what steps do is counted without them: ./kata tour"
        )
    build.configure()
    if "gpu" not in build.backends():
        raise Fault(
            f"{build.folder} was configured without a GPU; meson configure {build.folder} -Dgpu=enabled "
            f"changes that"
        )
    built = targets(build.folder)
    runs: dict[str, Run] = {}
    notes: list[str] = []
    failed = False
    for chapter in chapters:
        program = f"{chapter}-bench"
        if program not in built:
            print(f"\n{chapter} has no cases to time: tests/bench/{chapter}.cpp")
            continue
        trees = ("solutions", "chapters") if mine else ("solutions",)
        vendors = [name for name in built if name.startswith(f"vendor.{chapter}.")]
        modules = [
            module(tree, chapter, step, "gpu") for tree in trees for step in repository.steps(chapter, tree)
        ]
        not_built = build.compile([program, *vendors, *modules])
        failed = failed or bool(not_built)
        if program in not_built:
            continue
        command: list[object] = [build.folder / program, "--modules", build.folder, "--case", case]
        command += ["--mine"] if mine else []
        command += ["--last", last] if last else []
        for name in sorted(not_built):
            if old := module_of(name):  # the file is older than its source
                command += ["--without", f"{'mine' if old.tree == 'chapters' else 'step'}/{old.name}"]
        print(f"\n{chapter}", flush=True)
        with Clocks() as clocks:
            runs[chapter] = of_chapter(
                command, vendors[0].split(".")[2] if vendors else "", lambda text: print(text, flush=True)
            )
        if note := throttling(clocks.samples):
            print("\n" + textwrap.fill(note, WIDTH))
            notes.append(f"{chapter}: {note}")
        failed = failed or any(row.is_wrong for row in runs[chapter].rows)
    for run in list(runs.values())[-1:]:
        print(f"\n{run.device}; clocks as they were found\n\n{legend(run.peak)}")
    said = machine()
    if csv_file:
        write_csv(pathlib.Path(csv_file), said, notes, runs)
    if json_file:
        write_json(pathlib.Path(json_file), said, notes, runs)
    return 1 if failed else 0
