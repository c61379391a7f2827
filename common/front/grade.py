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
from collections.abc import Iterator, Mapping, Sequence

from fault import Fault
from grading import engines, sheet, submissions, tree
from grading.report import VERDICTS, Result
from grading.sheet import Points, Sheet, feedback, file_name
from grading.submissions import Reader, Submission, is_written
from grading.walls import Walls
from names import pick
from repository import Repository

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
        "students", metavar="STUDENT", nargs="+", help="a student's steps: a folder, an archive or one step"
    )
    parser.add_argument(
        "--chapter", metavar="CHAPTER[/STEP]", action="append", help="grade this only; may be repeated"
    )
    parser.add_argument("--course", action="store_true", help="grade only the steps of the course")
    parser.add_argument(
        "--csv", metavar="FILE", help="the sheet: a row for each student; rows of others stay as they are"
    )
    parser.add_argument(
        "--out", metavar="FOLDER", help="feedback for each student, and records, which are not for students"
    )
    of_points = (
        'what steps are worth, such as {"points": {"scan": 2}, "right": 0.5}; "right" is the part for a '
        "step that is right, not yet fast"
    )
    parser.add_argument("--points", metavar="FILE", help=of_points)
    parser.add_argument(
        "--roster",
        metavar="FILE",
        help="all students, as CSV: a row also for those who have handed in nothing",
    )
    parser.add_argument(
        "--due",
        metavar="TIME",
        help="such as 2026-12-01T23:59, in this machine's time zone: the sheet says how many hours later the "
        "newest file was changed",
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
        "--slurm-options", metavar="WORDS", default="", help="more options for sbatch, as one argument"
    )
    parser.add_argument(
        "--without-walls", action="store_true", help="run what students wrote with all your rights"
    )
    # For answers to different steps (evaluate.py): steps without an answer are not missed.
    parser.add_argument("--only-handed-in", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(given), parser


def chosen(repository: Repository, given: Sequence[str], course: bool) -> list[tuple[str, str]]:
    """Returns chapter and step of all that are to be graded."""
    steps = {chapter: repository.steps(chapter, "solutions") for chapter in repository.chapters()}
    places = []
    for name in given or steps:
        chapter, _, step = name.partition("/")
        chapter = pick("chapter", chapter, [*steps])
        numbers = [pick(f"step of {chapter}", step, steps[chapter])] if step else steps[chapter]
        places += [(chapter, number) for number in numbers]
    return [place for place in dict.fromkeys(places) if not course or place in repository.course()]


def students_of(given: Sequence[str]) -> list[pathlib.Path]:
    """Returns what was handed in, each once, in the order given."""
    paths: dict[pathlib.Path, bool] = {}
    for name in given:
        if not os.path.lexists(name):
            raise Fault(f"there is no folder {name}", 2)
        path = pathlib.Path(os.path.abspath(name))
        paths[path.parent if path.name == "chapters" and path.is_dir() else path] = True
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
        places = chosen(self.repository, given.chapter or [], given.course)
        self.steps = ["/".join(place) for place in places if self.repository.runs_on("cpu", *place)]
        self.left_out = [
            f"{'/'.join(place)} is not graded: it {self.repository.needs(*place)}"
            for place in places
            if not self.repository.runs_on("cpu", *place)
        ]
        if not self.steps:
            raise Fault("there is no step to grade", 2)
        for line in self.left_out:
            print(line, file=sys.stderr)
        self.paths = students_of(given.students)
        self.points = Points(given.points, self.steps, [*map("/".join, self.repository.all_places())])
        self.out = pathlib.Path(os.path.abspath(given.out)) if given.out else None
        self.sheet = Sheet(pathlib.Path(os.path.abspath(given.csv)), self.steps) if given.csv else None
        self.roster = sheet.roster(given.roster) if given.roster else {}
        self.due = time_of(given.due) if given.due else None
        self.results: dict[str, Result] = {}
        self.failed = self.ended = self.all = 0
        self.alike: set[frozenset[str]] = set()  # pairs that were printed
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
        rows = self.sheet.rows if self.sheet else ()
        names = submissions.names_of(self.paths, self.roster, rows)
        handed_in = [
            submissions.read_apart(reader, name, path, self.steps) for name, path in zip(names, self.paths)
        ]
        self.call_the_roll([submission.student for submission in handed_in])
        for submission in handed_in:
            if submission.unreadable:
                self.note_unreadable(submission)
        handed_in = [submission for submission in handed_in if not submission.unreadable]
        if not handed_in:
            return self.end()
        submissions.note_likeness(self.repository, handed_in)
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
        digests = {}
        for one in handed_in:
            text = f"{built.version} {one.digest}"
            digests[one.student] = hashlib.sha256(text.encode()).hexdigest()[:16]
        waiting = [*handed_in]
        if self.given.resume and self.sheet:
            done, points = self.sheet.is_done, self.points.digest
            waiting = [one for one in waiting if not done(one.student, f"{digests[one.student]}-{points}")]
        if len(waiting) < len(handed_in):
            print(
                f"{len(handed_in) - len(waiting)} of {len(handed_in)} have not changed since they were graded"
            )
        at_once = self.given.jobs or cores
        if self.sheet:
            for submission in waiting:
                self.sheet.put(submission.student, None, self.points, "")
            for submission in handed_in:
                if self.due or submission in waiting:
                    self.sheet.put_late(submission.student, submission.changed, self.due)
            self.sheet.write()
        self.all = len(waiting)
        for one in [*waiting] if self.given.resume else []:
            if self.is_kept(work, one.student, digests[one.student]):
                waiting.remove(one)
                kept = engines.Ended(engines.Job(one.student, [], kept_in(work, one.student)))
                self.take(one, kept, digests[one.student], is_known=True)
        for submission, ended in self.jobs(
            waiting, digests, work, at_once, max(1, cores // max(1, min(at_once, len(waiting))))
        ):
            self.take(submission, ended, digests[submission.student])
        self.write_formats()
        return self.end()

    def end(self) -> int:
        """Prints the summary, and returns the exit status."""
        if self.sheet:
            self.sheet.order(self.roster.values())
            self.sheet.write()
            print(self.sheet.summary())
        if self.sheet and (others := self.sheet.of_other_points(self.points)):
            print(
                f"{others} other {'rows' if others > 1 else 'row'} of the sheet "
                f"{'were' if others > 1 else 'was'} graded with other --points"
            )
        return 1 if self.failed else 0

    def call_the_roll(self, present: Sequence[str]) -> None:
        """Adds a row for each student of the roster who has none, and prints who is missing from the roster
        or the class."""
        if not self.sheet:
            return
        students = [*dict.fromkeys(self.roster.values())]
        others = [name for name in [*students, *self.sheet.rows] if name not in present]
        absent = [name for name in others if self.sheet.put_absent(name, self.points) and name in students]
        unknown = sorted({*present} - {*students})
        for said, names in (("in the roster, and nothing handed in", absent), ("not in the roster", unknown)):
            if students and names:
                print(f"{said}: {', '.join(map(sheet.plain, dict.fromkeys(names)))}")

    def note_unreadable(self, submission: Submission) -> None:
        self.failed += 1
        name, why = submission.student, submission.unreadable
        print(f"{sheet.plain(name)}: could not be read: {sheet.in_one_line(why)}")
        if self.sheet:
            self.sheet.put_unreadable(name, self.points, why)
            self.sheet.put_late(name, submission.changed, self.due)

    @staticmethod
    def is_kept(work: pathlib.Path, student: str, digest: str) -> bool:
        """True if a result of the same files and the same tests is kept there."""
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
            lacks = submission.missing if self.given.only_handed_in else ()
            steps = [step for step in self.steps if step not in lacks]
            write_submission(submission, steps, digests[submission.student], folder)
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

    def take(self, submission: Submission, ended: engines.Ended, digest: str, is_known: bool = False) -> None:
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
        if result and not is_known:
            steps = {} if self.sheet or self.out else result["steps"]  # which say more
            for step, found in steps.items():
                if found["verdict"] in ("OK", "SLOW", "FAIL"):
                    print(f"  {step:40} {found['verdict']:7} {sheet.in_one_line(found['why'])}".rstrip())
            count = collections.Counter(found["verdict"] for found in result["steps"].values())
            counts = ", ".join(f"{count[verdict]} {verdict}" for verdict in VERDICTS if count[verdict])
            total = self.points.total(result)
            print(f"{sheet.plain(name)}: {total}, {counts} ({self.ended} of {self.all})")
            for note in result["notes"]:
                other = note.removeprefix("alike with ").partition(":")[0]
                pair = frozenset((name, other))
                if not note.startswith("alike with ") or pair not in self.alike:
                    print(f"  look at: {sheet.in_one_line(note)}")
                self.alike.add(pair)
        elif not result:
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
            (self.out / "records").mkdir(exist_ok=True)
            tree.write_whole(self.out / f"records/{file_name(name)}.json", json.dumps(result, indent=1))

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
        raise Fault(f"{text} is not a time such as 2026-12-01T23:59", 2) from None


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
                    shutil.rmtree(left.parent, ignore_errors=True)
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
    """Raised by a signal other than Ctrl-C's."""


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
