"""The report of Meson's tests, shortened for students: a line for each step, and once the reason why a
step fails."""

from __future__ import annotations

import collections
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import textwrap
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypedDict

import processes
from build import QUIET, Build, Progress, path_of
from fault import Fault
from repository import TREES, Module, Repository, backends, module, module_of, suite, targets

# Meson's results, each as one of three.
OF_MESON = {"OK": "OK", "EXPECTEDFAIL": "OK", "SKIP": "SKIP"}
WIDTH = 80
PRINTED = 20  # lines of the output of a step that passes
PRINTED_WIDE = 200  # characters of such a line: without newlines, all that threads print is one
# Lines shown of a failing test and of the step's output after it; a test alone prints fewer.
SAID = 60
SAID_WIDE = 2000  # characters of such a line
# A suite's line for a step that this machine cannot run.
NEEDS = re.compile(r"^(?:1\.\.0 # SKIP|not run:) (needs .*)", re.M)
DOES_NOT_COMPILE = "does not compile"
# Meson's line for a test that has ended, except the last one, which needs no progress line.
UNDER_WAY = re.compile(r" *(\d+)/(?!\1 )\d+ ")


class TestRecord(TypedDict, total=False):
    """A test, as the suite has written it (common/check/report.hpp)."""

    test: str
    kind: str
    text: str
    gains: list[str]
    notes: list[str]


class MesonTest(TypedDict, total=False):
    """A test in Meson's log."""

    name: str
    result: str
    returncode: int
    duration: float
    command: list[str]
    stdout: str
    stderr: str


class Verdict(NamedTuple):
    name: str  # Meson's name: "grids-wrong / 01_vector_add.no_guard"
    module: Module | None  # the kernel that is tested, if there is one
    result: str  # OK, SKIP, FAIL
    reason: str  # the full reason; for a test that passes, its output
    gains: tuple[str, ...] = ()  # the gains that claims have found, if it passes
    # Remarks on a test that passes, which are no faults; or the GPU that a skipped one requires.
    notes: tuple[str, ...] = ()
    records: tuple[TestRecord, ...] = ()

    @property
    def title(self) -> str:
        return path_of(self.module) if self.module else self.name

    @property
    def suite(self) -> str:
        """Returns the chapter, or the suite of a test that is about no kernel."""
        return self.module.chapter if self.module else self.name.split(" / ")[0]

    @property
    def failures(self) -> list[TestRecord]:
        return [record for record in self.records if record["kind"] in ("wrong", "slow", "open")]

    @property
    def is_right(self) -> bool:
        """True if the step computes what it should; it may still fail, because it needs too much."""
        return self.result == "OK" or (
            bool(self.failures) and all(record["kind"] == "slow" for record in self.failures)
        )

    @property
    def label(self) -> str:
        """Returns the result as it is printed: SLOW for a failure of a right step."""
        return "SLOW" if self.result == "FAIL" and self.is_right else self.result

    @property
    def why(self) -> str:
        """Returns the reason for a failure, in a line."""
        said = [record["text"] for record in self.failures] or [self.reason]
        lines = [line.strip() for line in said[0].splitlines() if line.strip()]
        return lines[0] if lines and self.result == "FAIL" else ""


def run(build: Build, selection: Sequence[str], log_name: str = "testlog") -> list[Verdict]:
    """Runs tests, and reads their results from a log of that name."""
    with build.alone():
        lines = tested(build, selection, log_name)
    # Meson has them in the order in which they ended.
    return sorted((verdict_of(json.loads(line)) for line in lines), key=lambda verdict: verdict.name)


def tested(build: Build, selection: Sequence[str], log_name: str) -> list[str]:
    log = build.folder / "meson-logs" / f"{log_name}.json"
    log.unlink(missing_ok=True)
    progress, said = Progress(), []
    command = ["meson", "test", "-C", build.folder, "--no-rebuild", "--logbase", log_name, *selection]
    with processes.running(command, **QUIET) as meson:
        for line in processes.lines_of(meson):
            said.append(line)
            if UNDER_WAY.match(line):
                progress.show(line.strip())
        progress.clear()
    if not log.is_file():
        raise Fault(f"{shutil.which('meson')} ran no test, and says:\n" + "\n".join(said[-10:]))
    return log.read_text(encoding="utf-8", errors="replace").splitlines()


def verdict_of(record: MesonTest) -> Verdict:
    name = record["name"].split(":", 1)[-1]
    result = OF_MESON.get(record["result"], "FAIL")
    reason = reason_of(record) if result == "FAIL" else printed(record)
    if result == "SKIP":  # skipped for its GPU, or because it is open
        return Verdict(
            name,
            kernel_of(record["command"]),
            result,
            reason,
            (),
            tuple(NEEDS.findall(record.get("stdout", ""))),
        )
    records = records_in(record.get("stdout", ""))
    # The step crashed or was stopped, whatever earlier tests have found.
    if result == "FAIL" and record["result"] != "FAIL":
        records = (*records, {"test": "", "kind": "wrong", "text": reason})
    gains = tuple(text for one in records for text in one.get("gains", ()))
    notes = tuple(text for one in records for text in one.get("notes", ()))
    return Verdict(name, kernel_of(record["command"]), result, reason, gains, notes, records)


def records_in(said: str) -> tuple[TestRecord, ...]:
    """Returns the records among the lines of TAP, which a step cannot write to."""
    return tuple(json.loads(line[2:]) for line in said.split("\n") if line.startswith("# {"))


def kernel_of(command: list[str]) -> Module | None:
    """Returns the kernel that a test is about; None if it is about something else."""
    if "--step" not in command or "--source" not in command:
        return None
    module = module_of(pathlib.Path(command[command.index("--step") + 1]).name)
    source = pathlib.Path(command[command.index("--source") + 1]).name
    return module if module and source.startswith(f"{module.name}.") else None


def printed(record: MesonTest) -> str:
    return record.get("stderr", "").strip("\n")


def reason_of(record: MesonTest) -> str:
    """Returns the reason why a test has not passed, in its own words, else in Meson's."""
    status, said = record["returncode"], printed(record)
    if not re.search(r"^\s*not ok", said, re.M):
        if record["result"] == "TIMEOUT":
            said += (
                f"\nwas stopped after {record['duration']:.0f} s: it does not end, or the machine is too "
                f"busy; run it again"
            )
        elif status < 0:
            said += f"\ncrashed: {processes.cause_of_death(-status)}"
        elif not said:
            said = record["stdout"].strip("\n") or f"ended with status {status}"
    return said.strip("\n")


def is_needed(target: str, chapter: str, step: str | None) -> bool:
    """True if a target of the build is tested, is a solution of what is tested, or runs the tests."""
    if built := module_of(target):
        return built.chapter == chapter and built.is_of_step and step in (None, built.name)
    return target in (suite(chapter, "cpu"), suite(chapter, "gpu"))


def of_stub(repository: Repository, chapter: str, step: str) -> list[Verdict]:
    """Keeps and returns the verdict on a step of which nothing is written; that needs no build."""
    found = [Verdict(f"{chapter} / {step}", Module("chapters", chapter, step, "cpu"), "SKIP", "")]
    Record(repository).keep(found)
    return found


def compared_with(program: pathlib.Path, source: pathlib.Path) -> list[str]:
    """Returns the names of the solutions that a step is compared with; none if the suite does not know the
    step, which its tests report."""
    command = [str(program), "--against", str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()


def of_step(repository: Repository, build: Build, chapter: str, step: str) -> list[Verdict]:
    """Builds and tests one step, and keeps the verdict of each back end. The compiler has already printed the
    errors of a step that does not compile."""
    record = Record(repository)
    built = targets(build.folder)
    mine = {name for name in built if is_needed(name, chapter, step)}
    not_built = build.compile(sorted(mine))
    own = [part for name in sorted(not_built) if (part := module_of(name)) and part.tree == "chapters"]
    if own:
        found = [Verdict(f"{chapter} / {step}", part, "FAIL", DOES_NOT_COMPILE) for part in own]
    else:
        others = {
            module("solutions", chapter, other, backend)
            for backend in backends(built, chapter)
            for other in compared_with(build.suite(chapter, backend), repository.source(chapter, step))
        }
        not_built |= build.compile(sorted(others.intersection(built)))
        # On all cores: no other test runs beside this one.
        found = run(build, ["--suite", chapter, "--test-args=--in-parts", step])
        if not_built:  # a solution, and then nothing can be compared with it
            found.append(
                Verdict(
                    f"{chapter} / solutions", None, "FAIL", f"{', '.join(sorted(not_built))} cannot be built"
                )
            )
    record.keep(found)
    return found


class Said(NamedTuple):
    """The verdict on a step as it stands: OK, SKIP or FAIL, or empty if it has not been tested."""

    result: str
    is_right: bool = False
    why: str = ""


class Record:
    """The last verdict on each step, and a hash of the tested text, in a file of the build folder."""

    def __init__(self, repository: Repository) -> None:
        self.file = repository.build_folder / "verdicts.json"
        # Read before anything is built: later texts have not been tested.
        self.texts = {
            f"{chapter}/{step}": hashlib.sha256(repository.source(chapter, step).read_bytes()).hexdigest()
            for chapter in repository.chapters()
            for step in repository.steps(chapter)
        }

    def read(self) -> dict[str, dict[str, object]]:
        try:
            found = json.loads(self.file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return (
            {step: kept for step, kept in found.items() if isinstance(kept, dict)}
            if isinstance(found, dict)
            else {}
        )

    def keep(self, verdicts: Iterable[Verdict]) -> None:
        """Keeps the verdicts: a step fails if one back end fails it, and is right only if both say so."""
        new: dict[str, Said] = {}
        for verdict in verdicts:
            if verdict.module and verdict.module.tree == "chapters":
                step = f"{verdict.module.chapter}/{verdict.module.name}"
                said = Said(verdict.result, verdict.is_right, verdict.why)
                before = new.get(step, said)
                worse = min(said, before, key=lambda one: (one.result != "FAIL", one.is_right))
                new[step] = worse
        self.write(
            {
                step: {"text": self.texts[step], **said._asdict()}
                for step, said in new.items()
                if step in self.texts
            }
        )

    def write(self, kept: dict[str, dict[str, object]]) -> None:
        """Adds to each step's record, and replaces the values that are there."""
        if kept and self.file.parent.is_dir():
            all_of_them = self.read()
            for step, found in kept.items():
                all_of_them[step] = {**all_of_them.get(step, {}), **found}
            new = self.file.with_suffix(".new")  # so that no reader gets half of it
            new.write_text(json.dumps(all_of_them, indent=1) + "\n", encoding="utf-8")
            new.replace(self.file)

    def says(self, chapter: str, step: str) -> Said:
        """Returns the verdict on a step as it stands; an empty one if this text has not been tested."""
        step = f"{chapter}/{step}"
        kept = self.read().get(step, {})
        if kept.get("text") != self.texts.get(step):
            return Said("")
        return Said(str(kept.get("result", "")), bool(kept.get("is_right")), str(kept.get("why", "")))

    def skips(self, chapter: str, step: str) -> bool:
        """True if the step is skipped; writing in it takes it up again."""
        step = f"{chapter}/{step}"
        skipped = self.read().get(step, {}).get("skipped")
        return skipped is not None and skipped == self.texts.get(step)

    def skip(self, chapter: str, step: str) -> None:
        """Skips the step as it stands or, if it is skipped, takes it up again."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        text = None if self.skips(chapter, step) else self.texts[f"{chapter}/{step}"]
        self.write({f"{chapter}/{step}": {"skipped": text}})

    def counts(self, chapter: str, step: str) -> dict[str, float]:
        """Returns the counts of the last run in ./kata watch, whatever the text of the step was then; empty
        if there was none."""
        kept = self.read().get(f"{chapter}/{step}", {}).get("counts")
        return kept if isinstance(kept, dict) else {}

    def keep_counts(self, chapter: str, step: str, counts: dict[str, float]) -> None:
        self.write({f"{chapter}/{step}": {"counts": counts}})


def failed(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.result == "FAIL"]


def as_json(verdicts: Iterable[Verdict]) -> list[dict[str, object]]:
    """Returns the verdicts for programs."""

    def kernel(module: Module) -> dict[str, object]:
        return {
            "chapter": module.chapter,
            "step": module.step,
            "tree": module.tree,
            "backend": module.backend,
            "file": path_of(module),
        }

    return [
        {
            "name": verdict.name,
            **(kernel(verdict.module) if verdict.module else {}),
            "verdict": verdict.label,
            "why": verdict.why or needed(verdict).lstrip(": "),
            "gains": verdict.gains,
            "notes": verdict.notes,
            "records": verdict.records,
        }
        for verdict in verdicts
    ]


def indented(text: str) -> str:
    return "".join(f"  {line}\n" if line else "\n" for line in text.splitlines())


def explain(verdict: Verdict, not_built: set[str]) -> str:
    """Returns a verdict and its reason; for a step that does not compile, the compiler has printed it."""
    if verdict.module and verdict.module.file in not_built:
        return f"FAIL  {verdict.title} does not compile: see above\n"
    return f"{verdict.label}  {verdict.title}\n{indented(why_at_length(verdict))}"


def beside(text: str) -> str:
    """Returns a note below a verdict, if there is one, in lines that fit a terminal; a name stays in one
    piece."""
    if not text:
        return ""
    margin = " " * 6
    return (
        textwrap.fill(
            text,
            WIDTH,
            initial_indent=margin,
            subsequent_indent=margin,
            break_long_words=False,
            break_on_hyphens=False,
        )
        + "\n"
    )


def beginning(text: str, most: int = PRINTED, wide: int = PRINTED_WIDE) -> str:
    """Returns the beginning of a step's output: at most `most` lines, each cut at `wide` characters."""
    said = text.split("\n")
    shown = [
        line if len(line) <= wide else f"{line[:wide]} … and {len(line) - wide} characters more"
        for line in said[:most]
    ]
    return "\n".join(shown + ([] if len(said) <= most else [f"… and {len(said) - most} lines more"]))


def why_at_length(verdict: Verdict) -> str:
    """Returns the full text of the tests. The step's own output, which may come from each thread, is cut."""
    return "\n".join(beginning(part, SAID, SAID_WIDE) for part in re.split(r"\n(?=not ok: )", verdict.reason))


def needed(verdict: Verdict) -> str:
    """Returns the GPU that a skipped step requires; empty for an open one."""
    return f": {verdict.notes[0]}" if verdict.result == "SKIP" and verdict.notes else ""


def of_one_step(verdicts: list[Verdict]) -> str:
    """Returns the verdict from each back end, and the output of a step that passes."""
    lines = []
    for verdict in verdicts:
        where = f" ({verdict.module.backend})" if len(verdicts) > 1 and verdict.module else ""
        lines.append(f"{verdict.label:4}  {verdict.title}{where}{needed(verdict)}\n")
        if verdict.result == "OK" and verdict.gains:
            lines.append(beside(f"It gains: {'; '.join(verdict.gains)}."))
        if verdict.result == "OK":
            lines += [beside(note) for note in verdict.notes]
        if verdict.result == "OK" and verdict.reason:
            lines.append("It printed:\n" + indented(beginning(verdict.reason)))
        elif verdict.result == "FAIL":
            lines.append(indented(why_at_length(verdict)))
    return "".join(lines)


def of_a_chapter(verdicts: list[Verdict], not_built: set[str]) -> str:
    """Returns a line for each step, and below them the reasons of those that fail."""
    lines = [f"{verdict.label:4}  {verdict.title}{needed(verdict)}\n" for verdict in verdicts]
    return "".join(
        [
            *lines,
            *("\n" + explain(verdict, not_built) for verdict in failed(verdicts)),
            "\n",
            totals(verdicts),
        ]
    )


def of_all(verdicts: list[Verdict], not_built: set[str], chapters: list[str]) -> str:
    """Returns a line for each chapter, and below them the reasons of the tests that fail."""
    by_suite: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_suite.setdefault(verdict.suite, []).append(verdict)
    others = [name for name in by_suite if name not in chapters]
    lines = []
    for name in [*others, *(chapter for chapter in chapters if chapter in by_suite)]:
        trees = [(tree, [v for v in by_suite[name] if v.module and v.module.tree == tree]) for tree in TREES]
        parts = [
            f"{'yours' if tree == 'chapters' else tree} {counts(found)}" for tree, found in trees if found
        ]
        lines.append(f"{name:12}  {' | '.join(parts) or counts(by_suite[name])}\n")
    return "".join(
        [
            *lines,
            *("\n" + explain(verdict, not_built) for verdict in failed(verdicts)),
            "\n",
            totals(verdicts),
        ]
    )


def counts(verdicts: list[Verdict]) -> str:
    count = collections.Counter(verdict.label for verdict in verdicts)
    return ", ".join(f"{count[label]} {label}" for label in ("OK", "SKIP", "SLOW", "FAIL") if count[label])


def totals(verdicts: list[Verdict]) -> str:
    open_steps = any(
        verdict.result == "SKIP"
        and not verdict.notes
        and verdict.module
        and verdict.module.tree == "chapters"
        for verdict in verdicts
    )
    note = "; SLOW is right, not yet fast" if any(verdict.label == "SLOW" for verdict in verdicts) else ""
    note += "; SKIP is still to be written" if open_steps else ""
    return f"{len(verdicts)} test{'s' * (len(verdicts) != 1)}: {counts(verdicts)}{note}\n"
