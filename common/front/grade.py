#!/usr/bin/env python3
"""Grades a class against the tests of this repository: ./kata grade STUDENT... [--chapter CHAPTER]... [--csv
FILE]

A student is a folder or an archive. Each is a job of its own (grading/job.py), behind walls, on this machine
or on others. A step that does not compile, crashes or never ends costs that step only, and nobody else's
grade. grading/README.md has the rest.

Exit status: 0 all are graded, 1 somebody could not be graded, 2 wrong command line, 3 something is missing
here.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import datetime
import fcntl
import hashlib
import io
import json
import os
import pathlib
import shutil
import signal
import stat
import sys
import tempfile
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from fault import Fault
from grading import engines, sheet, submissions, tree
from grading.report import VERDICTS, Result
from grading.sheet import Points, Sheet, feedback, file_name
from grading.submissions import Reader, Submission, is_written
from grading.walls import Walls
from repository import Repository, either

ROOT = pathlib.Path(__file__).resolve().parents[2]
JOB = pathlib.Path(__file__).resolve().parent / "grading" / "job.py"
YOUNG = 60  # seconds: a folder that is as young may have no lock yet
REFUSED = (
    "{why}. With --without-walls what students wrote runs with all your rights: it can read and change your "
    "files, and use the network"
)


def arguments_of(given: Sequence[str] | None) -> tuple[argparse.Namespace, argparse.ArgumentParser]:
    parser = argparse.ArgumentParser(prog="./kata grade", description="Grades a class.")
    parser.add_argument(
        "students", metavar="STUDENT", nargs="+", help="a folder or an archive that holds a student's steps"
    )
    parser.add_argument(
        "--chapter", metavar="CHAPTER", action="append", help="grade this one only; may be repeated"
    )
    parser.add_argument(
        "--csv", metavar="FILE", help="the sheet: a row for each student; rows of others stay as they are"
    )
    parser.add_argument(
        "--out", metavar="FOLDER", help="a file of feedback for each student, and the result as JSON"
    )
    of_points = (
        'what steps are worth, such as {"points": {"scan": 2}, "right": 0.5}; "right" is the part for a '
        "step that is right, not yet fast"
    )
    parser.add_argument("--points", metavar="FILE", help=of_points)
    parser.add_argument(
        "--roster",
        metavar="FILE",
        help="names of all students, as CSV: a row also for those who have handed in nothing",
    )
    parser.add_argument(
        "--due",
        metavar="TIME",
        help="such as 2026-12-01T23:59: the sheet says how many hours later the newest file was changed",
    )
    parser.add_argument(
        "--resume", action="store_true", help="grade only what is new: other files, other tests, other points"
    )
    parser.add_argument(
        "--steps",
        metavar="FILE",
        help="a row for each step of each student, as CSV: what it needs, and its solution",
    )
    parser.add_argument("--junit", metavar="FILE", help="results as JUnit's XML")
    parser.add_argument("--gradescope", metavar="FILE", help="results.json of one student for Gradescope")
    parser.add_argument(
        "--github-classroom", metavar="FILE", help="of one student, for GitHub Classroom's grading reporter"
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=int,
        help="students at a time; by default, as many as there are processors",
    )
    parser.add_argument(
        "--work",
        metavar="FOLDER",
        help="where the tests are built and kept; with a cluster, all its machines see it",
    )
    parser.add_argument(
        "--engine",
        metavar="ENGINE",
        default="local",
        help="where jobs run: local, slurm, or dask=ADDRESS of a scheduler",
    )
    parser.add_argument(
        "--slurm-options", metavar="WORDS", default="", help="more options for sbatch, in one word"
    )
    parser.add_argument(
        "--without-walls", action="store_true", help="run what students wrote with all your rights"
    )
    return parser.parse_args(given), parser


def chosen(repository: Repository, given: Sequence[str]) -> list[str]:
    """Returns the chapters to grade; a chapter may be given by its beginning."""
    all_of_them = repository.chapters()
    chapters = []
    for name in given:
        found = (
            [name]
            if name in all_of_them
            else [chapter for chapter in all_of_them if name and chapter.startswith(name)]
        )
        if len(found) > 1:
            raise Fault(f"'{name}' may be {either(found)}", 2)
        if not found:
            raise Fault(f"there is no chapter {name}; there are: {' '.join(all_of_them)}", 2)
        chapters += found
    return list(dict.fromkeys(chapters)) or all_of_them


def students_of(given: Sequence[str]) -> list[pathlib.Path]:
    """Returns the folders and archives, each once, in the order given."""
    paths: dict[pathlib.Path, bool] = {}
    for name in given:
        if not os.path.lexists(name):
            raise Fault(f"there is no folder {name}", 2)
        path = pathlib.Path(os.path.abspath(name))
        if os.path.isdir(path):
            paths[path.parent if path.name == "chapters" else path] = True
        elif submissions.is_archive(path.name):
            paths[path] = True
        else:
            print(f"{name} is neither a folder nor an archive: not graded")
    if not paths:
        raise Fault("there is no student to grade", 2)
    return list(paths)


def write_submission(submission: Submission, steps: Sequence[str], digest: str, folder: pathlib.Path) -> None:
    """Writes a submission in the form that a job takes."""
    states = {}
    for step in steps:
        if step in submission.missing:
            states[step] = {"state": "MISSING", "why": submission.missing[step]}
        elif step in submission.unread:
            states[step] = {"state": "FAIL", "why": submission.unread[step]}
        elif not is_written(submission.texts[step]):
            states[step] = {"state": "OPEN", "why": "it calls kata::open()"}
        else:
            states[step] = {"state": "taken", "why": ""}
    shutil.rmtree(folder, ignore_errors=True)
    files = {
        f"{step}.cu": submission.texts[step] for step in steps if states[step]["state"] == "taken"
    } | submission.headers
    for name, text in files.items():
        path = folder / "chapters" / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        except OSError:
            pass  # a header whose name is that of a folder: the compiler will say which step misses it
    folder.mkdir(parents=True, exist_ok=True)
    known = {"student": submission.student, "digest": digest, "notes": submission.notes, "steps": states}
    tree.write_whole(folder / "submission.json", json.dumps(known))


class Grading:
    """One run: students, the tree that tests them, and the reports about them."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.repository = Repository(ROOT)
        chapters = chosen(self.repository, given.chapter or [])
        self.steps = [
            f"{chapter}/{step}" for chapter in chapters for step in self.repository.cpu_steps(chapter)
        ]
        self.left_out = [
            f"{chapter}/{step} is not graded: it {self.repository.needs(chapter, step)}"
            for chapter in chapters
            for step in self.repository.steps(chapter, "solutions")
            if not self.repository.runs_on("cpu", chapter, step)
        ]
        for line in self.left_out:
            print(line, file=sys.stderr)
        self.paths = students_of(given.students)
        self.points = Points(given.points, self.steps)
        self.out = pathlib.Path(os.path.abspath(given.out)) if given.out else None
        self.sheet = Sheet(pathlib.Path(os.path.abspath(given.csv)), self.steps) if given.csv else None
        self.roster = sheet.roster(given.roster) if given.roster else []
        self.due = time_of(given.due) if given.due else None
        self.results: dict[str, Result] = {}
        self.failed = self.ended = self.all = 0
        if given.resume and not self.sheet:
            raise Fault("--resume looks into a sheet: name it with --csv", 2)
        if (given.roster or given.due) and not self.sheet:
            raise Fault("--roster and --due write into a sheet: name it with --csv", 2)
        if (given.gradescope or given.github_classroom) and len(self.paths) != 1:
            raise Fault("--gradescope and --github-classroom are for one student", 2)
        if given.engine not in ("local", "slurm") and not given.engine.startswith("dask="):
            raise Fault(f"there is no engine {given.engine}; there are: local, slurm, dask=ADDRESS", 2)
        if given.engine != "local" and not given.work:
            raise Fault(
                "other machines must see what is tested: name a folder that they share with --work", 2
            )
        if given.jobs is not None and given.jobs < 1:
            raise Fault("--jobs is 1 or more", 2)

    def run(self, work: pathlib.Path) -> int:
        reader = Reader(self.repository)
        handed_in = [
            reader.read(name, path, self.steps)
            for name, path in zip(submissions.names_of(self.paths), self.paths)
        ]
        submissions.note_likeness(self.repository, handed_in)
        if all(not submission.texts and not submission.unread for submission in handed_in):
            raise Fault(f"{either([str(path) for path in self.paths[:3]])}: no step was found", 2)
        (work / "tree").mkdir(parents=True, exist_ok=True)
        (work / "tree").chmod(0o755)  # whatever the umask is: root runs students' code as somebody else
        around = Walls(work / "tree", without=self.given.without_walls)
        if not around.is_up and not self.given.without_walls:
            raise Fault(REFUSED.format(why=around.why), 3)
        is_new = not (work / "tree/prepared.json").is_file()
        print(
            "Building the tests"
            + (", which takes minutes the first time; --work keeps them" if is_new else ""),
            flush=True,
        )
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        built = tree.prepare(self.repository, work / "tree", self.steps, cores, os.environ.get("CXX", ""))
        tree.scratch_is_readable(work / "tree")
        digests = {
            submission.student: hashlib.sha256(f"{built.version} {submission.digest}".encode()).hexdigest()[
                :16
            ]
            for submission in handed_in
        }
        waiting = [
            submission
            for submission in handed_in
            if not (
                self.given.resume
                and self.sheet
                and self.sheet.is_done(
                    submission.student, f"{digests[submission.student]}-{self.points.digest}"
                )
            )
        ]
        if len(waiting) < len(handed_in):
            print(
                f"{len(handed_in) - len(waiting)} of {len(handed_in)} have been graded and have handed "
                f"in the same since"
            )
        at_once = self.given.jobs or cores
        if self.sheet:
            for submission in waiting:
                self.sheet.put(submission.student, None, self.points, "")
                self.sheet.put_late(submission.student, 0)
            if self.due:
                for submission in handed_in:
                    self.sheet.put_late(submission.student, submission.changed - self.due)
            self.call_the_roll(self.sheet, [submission.student for submission in handed_in])
            self.sheet.write()
        self.all = len(waiting)
        for submission in [
            one
            for one in waiting
            if self.given.resume and self.is_kept(work, one.student, digests[one.student])
        ]:
            waiting.remove(submission)
            self.take(
                submission,
                engines.Ended(engines.Job(submission.student, [], kept_in(work, submission.student))),
                digests[submission.student],
            )
        for submission, ended in self.jobs(
            waiting, digests, work, at_once, max(1, cores // max(1, min(at_once, len(waiting))))
        ):
            self.take(submission, ended, digests[submission.student])
        self.write_formats()
        if self.sheet and (others := self.sheet.of_other_points(self.points)):
            print(
                f"{others} other {'rows' if others > 1 else 'row'} of the sheet "
                f"{'were' if others > 1 else 'was'} graded with other --points"
            )
        return 1 if self.failed else 0

    def call_the_roll(self, table: Sheet, present: Sequence[str]) -> None:
        """Adds a row for each student of the roster, and prints the names that are not in it. Systems spell
        one umlaut in two ways."""
        there = {unicodedata.normalize("NFC", name) for name in present}
        absent = [name for name in self.roster if unicodedata.normalize("NFC", name) not in there]
        for name in [
            *absent,
            *(name for name, row in table.rows.items() if row["state"] == sheet.ABSENT),
        ]:
            table.put_absent(name, self.points)
        if absent:
            print(f"in the roster, and not named: {sheet.few([sheet.plain(name) for name in absent])}")
        if self.roster and (
            unknown := sorted(there - {unicodedata.normalize("NFC", name) for name in self.roster})
        ):
            print(f"not in the roster: {sheet.few([sheet.plain(name) for name in unknown])}")

    @staticmethod
    def is_kept(work: pathlib.Path, student: str, digest: str) -> bool:
        """True if the result of the same files, by the same tests, is there."""
        try:
            kept: Result = json.loads(kept_in(work, student).read_text(encoding="utf-8"))
            return kept["digest"] == digest
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def jobs(
        self,
        waiting: Sequence[Submission],
        digests: Mapping[str, str],
        work: pathlib.Path,
        at_once: int,
        cores: int,
    ) -> Iterator[tuple[Submission, engines.Ended]]:
        """Yields each student's job as it ends."""
        jobs = {}
        for name in ("submissions", "results", "logs"):
            (work / name).mkdir(exist_ok=True)
        for number, submission in enumerate(waiting):
            folder, result = work / "submissions" / str(number), kept_in(work, submission.student)
            result.unlink(missing_ok=True)
            write_submission(submission, self.steps, digests[submission.student], folder)
            command = [sys.executable, str(JOB), str(work / "tree"), str(folder), str(result)]
            command += ["--cores", str(cores)]
            if self.given.without_walls:
                command.append("--without-walls")
            jobs[engines.Job(submission.student, command, result)] = submission
        if self.given.engine == "slurm":
            ends = engines.slurm(list(jobs), at_once, work / "logs", self.given.slurm_options)
        elif self.given.engine.startswith("dask="):
            ends = engines.dask(list(jobs), self.given.engine.removeprefix("dask="))
        else:
            with scratch_folder() as scratch:
                yield from ((jobs[ended.job], ended) for ended in engines.local(list(jobs), at_once, scratch))
                return
        with contextlib.closing(ends):
            yield from ((jobs[ended.job], ended) for ended in ends) if jobs else ()

    def take(self, submission: Submission, ended: engines.Ended, digest: str) -> None:
        """Records the result of a student at once, so that a later failure loses nothing."""
        name, why = submission.student, ended.why
        result: Result | None = None
        self.ended += 1
        if not why:
            try:
                result = json.loads(ended.job.result.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                why = str(error)
        if result:
            self.results[name] = result
            for step, found in result["steps"].items():
                if found["verdict"] in ("OK", "SLOW", "FAIL"):
                    print(f"  {step:40} {found['verdict']:7} {sheet.in_one_line(found['reason'])}".rstrip())
            for (verdict, reason), steps in sheet.not_ok(result).items():
                if verdict in ("OPEN", "MISSING"):
                    print(f"  {sheet.few(steps, 1):40} {verdict:7} {sheet.in_one_line(reason)}")
            count = collections.Counter(found["verdict"] for found in result["steps"].values())
            counted = f" ({self.ended} of {self.all})"
            total = (
                f"{sum(self.points.earned(step, found) for step, found in result['steps'].items()):g} of "
                f"{sum(self.points.of.values()):g} points"
            )
            print(
                f"{sheet.plain(name)}: {total}, "
                + ", ".join(f"{count[verdict]} {verdict}" for verdict in VERDICTS if count[verdict])
                + counted
            )
            for note in result["notes"]:
                print(f"  look at: {sheet.in_one_line(note)}")
        else:
            self.failed += 1
            print(f"{sheet.plain(name)}: could not be graded: {why} ({self.ended} of {self.all})")
        sys.stdout.flush()
        if self.sheet:
            self.sheet.put(
                name,
                result,
                self.points,
                f"{digest}-{self.points.digest}",
                f"could not be graded: {why}" if why else "",
            )
            self.sheet.write()
        if self.out and result:
            self.out.mkdir(parents=True, exist_ok=True)
            tree.write_whole(self.out / f"{file_name(name)}.md", feedback(result, self.points, self.left_out))
            tree.write_whole(self.out / f"{file_name(name)}.json", json.dumps(result, indent=1))

    def write_formats(self) -> None:
        given, results = self.given, list(self.results.values())
        if given.steps:
            tree.write_whole(pathlib.Path(given.steps).absolute(), sheet.steps(results, self.points))
        if given.junit:
            tree.write_whole(pathlib.Path(given.junit).absolute(), sheet.junit(results))
        for path, text_of in (
            (given.gradescope, sheet.gradescope),
            (given.github_classroom, sheet.github_classroom),
        ):
            if path and results:
                tree.write_whole(pathlib.Path(path).absolute(), text_of(results[0], self.points))


def time_of(text: str) -> float:
    try:
        return datetime.datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise Fault(f"{text} is no time such as 2026-12-01T23:59", 2) from None


def kept_in(work: pathlib.Path, student: str) -> pathlib.Path:
    """Returns the file of a student's result."""
    return work / "results" / f"{hashlib.sha256(os.fsencode(student)).hexdigest()[:16]}.json"


@contextlib.contextmanager
def scratch_folder() -> Iterator[pathlib.Path]:
    """Yields a folder for this run. Removes the folders of this user's killed runs, whose locks are free."""
    for left in pathlib.Path(tempfile.gettempdir()).glob("kata-grade-*/lock"):
        with contextlib.suppress(OSError, Fault):
            state = left.parent.lstat()
            if (
                stat.S_ISDIR(state.st_mode)
                and state.st_uid == os.getuid()
                and time.time() - state.st_mtime > YOUNG
            ):
                with for_itself(left.parent):
                    tree.remove(left.parent)
    with tempfile.TemporaryDirectory(prefix="kata-grade-") as folder, for_itself(pathlib.Path(folder)):
        os.chmod(folder, 0o755)
        yield pathlib.Path(folder).resolve()


@contextlib.contextmanager
def for_itself(work: pathlib.Path) -> Iterator[None]:
    """Keeps other runs out of this folder: their jobs and results would be mixed up."""
    work.mkdir(parents=True, exist_ok=True)
    with open(work / "lock", "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Fault(
                f"another ./kata grade works in {work}: wait for it, or name another folder with --work", 3
            ) from None
        yield


class Stopped(BaseException):
    """The end by a signal other than Ctrl-C's."""


def stop(number: int, _: object) -> None:
    raise Stopped(number)


def main(given: Sequence[str] | None = None) -> int:
    arguments, _ = arguments_of(given)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name or a reason need not be UTF-8
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        grading = Grading(arguments)
        if arguments.work:
            work = pathlib.Path(os.path.abspath(arguments.work))
            with for_itself(work):
                return grading.run(work)
        with scratch_folder() as folder:
            return grading.run(folder)
    except Fault as fault:
        sys.stdout.flush()
        print(f"kata: {fault}", file=sys.stderr)
        return fault.status
    except (KeyboardInterrupt, Stopped) as stopped:
        print(
            "\nkata: stopped; students that were finished are in the sheet, and all others are listed there "
            "as not graded",
            file=sys.stderr,
        )
        return 128 + (stopped.args[0] if isinstance(stopped, Stopped) else signal.SIGINT)
    except BrokenPipeError:  # the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        with contextlib.suppress(OSError):
            print(f"kata: {error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
