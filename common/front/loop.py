"""The daily loop: a step is tested whenever it is saved, and its counts are compared with those of the run
before."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import board
import bodies
import explain
import hints
import trace
import verdicts
from build import Build
from fault import Fault
from repository import Repository, module, suite

LOOK = 0.3  # seconds between two looks at the files
SETTLE = 0.1  # seconds that a file must stay as it is: an editor may write it in several goes
WIDTH = 80
Seen = dict[str, tuple[int, int]]  # by a file's path from the root: when it was saved, and its size


def of_step(repository: Repository, chapter: str, step: str, found: list[verdicts.Verdict]) -> str:
    """Returns the verdict on one step, and the next thing to do if it is right; nothing for a step that does
    not compile, because the compiler has printed its errors."""
    if any(verdict.reason == verdicts.DOES_NOT_COMPILE for verdict in found):
        return ""
    text = verdicts.of_one_step(found)
    if {verdict.result for verdict in found} == {"OK"}:
        if not any(verdict.gains for verdict in found):
            text += verdicts.beside(repository.gained_in_time(chapter, step))
        text += "".join(map(verdicts.beside, repository.refuted(chapter, step)))
        text += textwrap.indent(f"{what_comes_next(repository, chapter, step)}\n", " " * 6)
    if lines := bodies.open_lines(repository.text(chapter, step)):
        where = (
            f"line {lines[0]}"
            if len(lines) == 1
            else f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"
        )
        text += (
            f"      It still calls kata::open(), in {where}; what is to be written: ./kata hint {chapter} "
            f"{step[:2]}\n"
        )
    return text


def what_comes_next(repository: Repository, chapter: str, step: str) -> str:
    all_places = board.Board(repository)
    place = all_places.next_after(chapter, step)
    if place is None:
        return (
            f"{board.all_done(all_places)}: ./kata tour {chapter} --mine shows what yours gain, each beside "
            f"the solution."
        )
    is_last = place.is_further and not all_places.of(chapter, step).is_further
    further = "" if place.chapter == chapter else board.what_goes_further(all_places, chapter)
    return "\n".join(
        ["The course is done."] * is_last + [board.what_to_do(place)] + [further] * bool(further)
    )


# --- what has been saved ------------------------------------------------------------------------------------


def files(repository: Repository) -> Seen:
    """Returns the steps and the headers beside them. A file that an editor is replacing is missing for a
    moment."""
    seen: Seen = {}
    for pattern in ("*.cu", "*.cuh", "*.h", "*.hpp"):
        for path in (repository.root / "chapters").glob(f"*/{pattern}"):
            with contextlib.suppress(FileNotFoundError):
                status = path.stat()
                seen[repository.relative(path)] = (status.st_mtime_ns, status.st_size)
    return seen


def settled(repository: Repository) -> Seen:
    seen = files(repository)
    while True:
        time.sleep(SETTLE)
        now = files(repository)
        if now == seen:
            return now
        seen = now


def changed(before: Seen, now: Seen) -> list[str]:
    """Returns the files that have been saved since; deleted ones do not count."""
    return [name for name, seen in now.items() if before.get(name) != seen]


def step_for(repository: Repository, saved: list[str], chapter: str, step: str) -> tuple[str, str] | None:
    """Returns the step to run after these files were saved: the watched one if its file or a header beside it
    was, else another step whose file was saved."""
    headers = [name for name in saved if name.startswith(f"chapters/{chapter}/") and not name.endswith(".cu")]
    if headers or f"chapters/{chapter}/{step}.cu" in saved:
        return chapter, step
    for name in saved:
        _, other, file = name.split("/")
        if file.removesuffix(".cu") in repository.steps(other):
            return other, file.removesuffix(".cu")
    return None


# --- keys ---------------------------------------------------------------------------------------------------

KEYS = {
    "\n": "Enter runs it again",
    "h": "h a hint",
    "e": "e each line",
    "s": "s the board",
    "n": "n the next step",
    "q": "q ends",
}


class Keys:
    """Single keys, on a terminal; elsewhere no keys are read, and only a saved file is noticed."""

    def __init__(self) -> None:
        self.there = sys.stdin.isatty()

    @contextlib.contextmanager
    def read_singly(self) -> Iterator[None]:
        if not self.there:
            yield
            return
        import termios
        import tty

        before = termios.tcgetattr(sys.stdin)
        try:
            tty.setcbreak(sys.stdin)  # Ctrl-C still works
            yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)

    def wait(self, seconds: float) -> str:
        """Returns the key that was pressed; empty if none was within this number of seconds."""
        if not self.there:
            time.sleep(seconds)
            return ""
        if not select.select([sys.stdin], [], [], seconds)[0]:
            return ""
        key = os.read(sys.stdin.fileno(), 1).decode("ascii", "replace")
        return key or "q"  # the terminal has gone

    def legend(self, file: str) -> str:
        keys = f"; {', '.join(KEYS.values())}" if self.there else "; Ctrl-C ends"
        return textwrap.fill(f"Waiting for {file} to be saved{keys}.", WIDTH, break_on_hyphens=False)


# --- a run --------------------------------------------------------------------------------------------------


class Counted(NamedTuple):
    mine: dict[str, float]
    theirs: dict[str, float] | None


def counted(
    build: Build, chapter: str, step: str, of_solutions: dict[tuple[str, str], dict[str, float]]
) -> Counted | None:
    """Returns the counts of the step and of its solution, which runs once; None without a meter, or if the
    step does not come to its end."""
    if not build.has(suite(chapter, "cpu")) or not build.has(module("chapters", chapter, step, "cpu")):
        return None
    program = build.suite(chapter, "cpu")
    try:
        mine = trace.run(program, build.folder / module("chapters", chapter, step, "cpu"), "explain")["all"]
    except Fault:
        return None
    solution = build.folder / module("solutions", chapter, step, "cpu")
    if (chapter, step) not in of_solutions and solution.exists():
        with contextlib.suppress(Fault):
            of_solutions[chapter, step] = trace.run(program, solution, "explain")["all"]
    return Counted(mine, of_solutions.get((chapter, step)))


class Watch:
    def __init__(self, repository: Repository, build: Build) -> None:
        self.repository, self.build = repository, build
        self.keys = Keys()
        self.chapter = self.step = ""
        self.level = 1  # the level of the next hint
        self.seen: Seen = {}
        self.of_solutions: dict[tuple[str, str], dict[str, float]] = {}

    @property
    def file(self) -> str:
        return f"chapters/{self.chapter}/{self.step}.cu"

    def go_to(self, chapter: str, step: str) -> None:
        self.chapter, self.step, self.level = chapter, step, 1

    def forever(self) -> int:
        """Runs until every step is done, or a key ends it."""
        with self.keys.read_singly():
            there_is_more = self.run()
            while there_is_more:
                key = self.keys.wait(LOOK)
                if key == "q":
                    return 0
                if key:
                    there_is_more = self.pressed(key)
                elif saved := changed(self.seen, files(self.repository)):
                    there_is_more = self.saved(saved)
        return 0

    def saved(self, saved: list[str]) -> bool:
        now = settled(self.repository)
        place = step_for(self.repository, [*saved, *changed(self.seen, now)], self.chapter, self.step)
        self.seen = now
        if not place:
            return True
        if place != (self.chapter, self.step):
            self.go_to(*place)
        return self.run()

    def pressed(self, key: str) -> bool:
        if key in "\nr":
            return self.run()
        if key == "n":
            place = board.Board(self.repository).next_after(self.chapter, self.step)
            if place:
                self.go_to(place.chapter, place.step)
                return self.run()
        answers: dict[str, Callable[[], str]] = {
            "h": self.hint,
            "e": self.explanation,
            "s": lambda: board.as_text(board.Board(self.repository)),
        }
        if said := answers.get(key):
            print("\n" + said(), end="")
        print("\n" + self.keys.legend(self.file), flush=True)
        return True

    def hint(self) -> str:
        """Returns the next hint at each call, and after the last one the first again."""
        try:
            text = hints.shown(self.repository, self.chapter, self.step, self.level)
        except Fault as fault:
            return f"{fault}\n"
        text = text.split("\nThe next one says more:")[0]
        self.level = self.level % len(hints.LEVELS) + 1
        return text

    def explanation(self) -> str:
        try:
            both = trace.of(self.repository, self.chapter, self.step, "explain", False)
            return explain.text_of(self.repository, "chapters", self.chapter, self.step, both, False)
        except Fault as fault:
            return f"{fault}\n"

    def run(self) -> bool:
        """Tests the watched step. A step that is right stays watched, because its report is there to be read:
        a key or another saved step goes on. Returns False if no other step is left."""
        self.seen = files(self.repository)  # from here on, saving a file runs it again
        rule = "─" * (WIDTH - 13 - len(self.file))
        print(f"\n── {self.file} {rule} {time.strftime('%H:%M:%S')}", flush=True)
        now = board.Board(self.repository)
        place = now.of(self.chapter, self.step)
        if place.state == "missing":
            print(board.what_to_do(place))
        elif place.state in ("open", "skipped") and bodies.is_stub(
            self.repository.text(self.chapter, self.step)
        ):
            print("\n" + bodies.hints(self.repository.text(self.chapter, self.step), self.file))
            print(board.where(now, place))
        elif self.test() and not board.Board(self.repository).next_after(self.chapter, self.step):
            return False
        print("\n" + self.keys.legend(self.file), flush=True)
        return True

    def test(self) -> bool:
        """Returns True if the step is right."""
        try:
            self.build.configure()
            found = verdicts.of_step(self.repository, self.build, self.chapter, self.step)
            print(of_step(self.repository, self.chapter, self.step, found), end="", flush=True)
        except Fault as fault:
            print(f"kata: {fault}")
            return False
        # The cost of a wrong kernel means nothing: it may be less because the kernel does less.
        is_right = all(verdict.is_right for verdict in found)
        passes = {verdict.result for verdict in found} == {"OK"}
        if is_right and (now := counted(self.build, self.chapter, self.step, self.of_solutions)):
            record = verdicts.Record(self.repository)
            before = record.counts(self.chapter, self.step)
            print("\n" + explain.whole_table(now.mine, now.theirs, before, marks=not passes), flush=True)
            record.keep_counts(self.chapter, self.step, now.mine)
        return passes


def watch(repository: Repository, chapter: str, step: str) -> int:
    """Watches from the named step on, or from the first that is not done. Ctrl-C ends it, without a
    failure."""
    if not step:
        all_places = board.Board(repository)
        place = all_places.next()
        if place is None:
            print(board.nothing_to_do(all_places))
            return 0
        chapter, step = place.chapter, place.step
    build = Build(repository)
    build.configure()
    watching = Watch(repository, build)
    watching.go_to(chapter, step)
    try:
        return watching.forever()
    except KeyboardInterrupt:
        print()
        return 0
