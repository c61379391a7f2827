"""The commands of this repository, which `./kata help` lists."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

import arguments
import author
import bench
import board
import bodies
import check
import debug
import explain
import hints
import hunt
import loop
import predict
import processes
import see
import tours
import verdicts
from build import Build
from fault import Fault
from names import one_step, pick_chapter, pick_chapters, pick_step
from repository import Repository, module_of, short, targets

WIDTH = 80


# --- commands: each takes what was given and gives the exit status ------------------------------------------


def for_programs(command: str, run: Callable[[], tuple[int, dict[str, object]]]) -> int:
    """Runs a command, and writes what it returns to stdout, as schema.json describes it; what it prints goes
    to stderr."""
    with processes.stdout_to_stderr() as stdout:
        status, found = run()
        stdout.write(json.dumps({"command": command, **found}, indent=1) + "\n")
    return status


def tour(repository: Repository, given: argparse.Namespace) -> int:
    if not given.json:
        return tours.toured(repository, given)[0]
    if given.device:
        raise Fault(
            "--json gives no estimates for a tour: ./kata explain --device --json gives them for a step", 2
        )
    return for_programs("tour", lambda: tours.toured(repository, given))


def benchmark(repository: Repository, given: argparse.Namespace) -> int:
    chapters = pick_chapters(repository, given.chapters)
    files = {"csv_file": given.csv, "json_file": given.json}
    return bench.bench(repository, chapters, mine=given.mine, case=given.case, last=given.last, **files)


def test(repository: Repository, given: argparse.Namespace) -> int:
    if len(given.step) > 2:
        raise Fault("usage: ./kata test [CHAPTER] [STEP]", 2)
    if not given.json:
        return tested(repository, given.step)[0]

    def run() -> tuple[int, dict[str, object]]:
        status, found = tested(repository, given.step)
        return status, {"tests": verdicts.as_json(found)}

    return for_programs("test", run)


def tested(repository: Repository, wanted: list[str]) -> tuple[int, list[verdicts.Verdict]]:
    """Builds and tests a step, a chapter or everything, and prints the report. Returns the exit status and
    the verdicts."""
    build = Build(repository)
    if not wanted:
        build.configure(everything=True)
        say_what_is_not_checked(build)
        # The student's steps come first, and wait for none of the hundreds of other kernels.
        chapters = repository.chapters()
        record = verdicts.Record(repository)
        needed = [t for t in targets(build.folder) if any(verdicts.is_needed(t, c, None) for c in chapters)]
        not_built = build.compile(sorted(needed))
        steps = verdicts.run(build, [f"--suite={chapter}" for chapter in chapters], "testlog-steps")
        record.keep(steps)
        print(verdicts.of_all(steps, not_built, chapters), end="")
        missing = said_missing(repository, chapters)
        print("\nNow the solutions and the tests themselves, which takes longer.", flush=True)
        not_built |= build.compile()
        # The contract is about this repository's own stubs: a written step breaks it, as intended. The styles
        # are about the tests, the variants about the times of lessons, and both take as long to build as all
        # else.
        found = verdicts.run(
            build, [f"--no-suite={suite}" for suite in (*chapters, "contract", "variants", "styles")]
        )
        print(verdicts.of_all(found, not_built, chapters), end="")
        everything = [*steps, *found]
        return int(bool(missing or not_built or verdicts.failed(everything))), everything

    chapter, step = pick_step(repository, wanted)
    if step:
        must_be_there(repository, chapter, step)
        needs = repository.needs(chapter, step)
        if repository.is_untouched(chapter, step) and not (needs and (needs.only or Build.gpu_here())):
            found = verdicts.of_stub(repository, chapter, step)
            print(loop.of_step(repository, chapter, step, found), end="")
            return 0, found
    build.configure()
    say_what_is_not_checked(build)
    if step:
        found = verdicts.of_step(repository, build, chapter, step)
        print(loop.of_step(repository, chapter, step, found), end="")
        return int(bool(verdicts.failed(found))), found
    record = verdicts.Record(repository)
    mine = {name for name in targets(build.folder) if verdicts.is_needed(name, chapter, None)}
    not_built = build.compile(sorted(mine))
    for name in mine:
        if not module_of(name):
            build.suite(chapter, name.split("-")[-1])
    found = verdicts.run(build, ["--suite", chapter])
    record.keep(found)
    print(verdicts.of_a_chapter(found, not_built), end="")
    missing = said_missing(repository, [chapter])
    return int(bool(missing or not_built or verdicts.failed(found))), found


def say_what_is_not_checked(build: Build) -> None:
    if build.backends() == ["cpu"] and not build.knows_host_and_device():
        print(
            "Without clang++, many errors that nvcc reports go unnoticed: ./kata setup installs it as "
            "root; then remove build/"
        )


def must_be_there(repository: Repository, chapter: str, step: str) -> None:
    for line in repository.missing(chapter, step):
        raise Fault(line)


def said_missing(repository: Repository, chapters: Sequence[str]) -> bool:
    """Prints the steps whose file is missing. Returns True if there are any."""
    lines = [line for chapter in chapters for line in repository.missing(chapter)]
    if lines:
        print("\n" + "".join(f"FAIL  {line}\n" for line in lines), end="")
    return bool(lines)


def next_step(repository: Repository, given: argparse.Namespace) -> int:
    all_places = board.Board(repository)
    chapter = pick_chapter(repository, given.chapter) if given.chapter else ""
    place = all_places.next(chapter)
    if place is None:
        print(board.nothing_to_do(all_places, chapter))
        return 0
    must_be_there(repository, place.chapter, place.step)
    if place.state == "open":
        print(bodies.hints(repository.text(place.chapter, place.step), place.file))
        print(board.where(all_places, place))
        print(f"Stuck? ./kata hint {place.short}")
        print(
            f"Then: ./kata test {place.short}, or ./kata watch {place.short}, which tests it whenever "
            f"you save it"
        )
        return 0
    state = {"untested": "is written, and has not been tested as it stands", "slow": "is right, not yet fast"}
    print(
        f"{place.file} {state.get(place.state, 'is not right yet')}.\nWhat the tests say: ./kata test "
        f"{place.short}"
    )
    print(f"What is to be written: ./kata hint {place.short}")
    return 0


def skip(repository: Repository, given: argparse.Namespace) -> int:
    chapter, step, file = one_step(repository, given)
    must_be_there(repository, chapter, step)
    if board.Board(repository).of(chapter, step).state == "done":
        raise Fault(f"{file} is written and right: there is nothing to skip")
    verdicts.Record(repository).skip(chapter, step)
    now = board.Board(repository)
    if now.of(chapter, step).state == "skipped":
        again = f"./kata skip {short(chapter, step)}"
        print(f"{file} is skipped. To take it up again: change it, or {again}")
    else:
        print(f"{file} is skipped no longer.")
    following = now.next()
    print(board.what_to_do(following) if following else board.nothing_to_do(now))
    return 0


def status(repository: Repository, given: argparse.Namespace) -> int:
    if given.json:
        return for_programs("status", lambda: (0, board.as_json(board.Board(repository))))
    print(board.as_text(board.Board(repository)), end="")
    return 0


def watch(repository: Repository, given: argparse.Namespace) -> int:
    chapter, step = one_step(repository, given)[:2] if given.step else ("", "")
    return loop.watch(repository, chapter, step)


def hint(repository: Repository, given: argparse.Namespace) -> int:
    chapter, step, _ = one_step(repository, given)
    print(hints.shown(repository, chapter, step, given.more + 1), end="")
    return 0


def debugged(repository: Repository, given: argparse.Namespace) -> int:
    chapter, step, _ = one_step(repository, given)
    return debug.debug(repository, chapter, step, "solutions" if given.solution else "chapters")


def predicted(repository: Repository, given: argparse.Namespace) -> int:
    if given.step[0] == "machine" and len(given.step) <= 2:
        return predict.ask_page(repository, given.step[1] if len(given.step) > 1 else "1")
    chapter, step, _ = one_step(repository, given)
    return predict.predict(repository, chapter, step)


def hunted(repository: Repository, given: argparse.Namespace) -> int:
    chapter = pick_chapter(repository, given.chapter) if given.chapter else ""
    return hunt.hunt(repository, chapter, given.show)


def explained(repository: Repository, given: argparse.Namespace) -> int:
    chapter, step, _ = one_step(repository, given)
    if not given.json:
        return explain.explain(repository, chapter, step, given)
    wanted = (repository, chapter, step, given.solution, given.device)
    return for_programs("explain", lambda: (0, explain.document(*wanted)))


def checked(repository: Repository, given: argparse.Namespace) -> int:
    if not given.json:
        return check.check(repository, given)

    def run() -> tuple[int, dict[str, object]]:
        found, explanation = check.as_given(repository, given)
        return found["exit"], check.document(found, explanation)

    return for_programs("check", run)


def seen(repository: Repository, given: argparse.Namespace) -> int:
    chapter, step, _ = one_step(repository, given)
    return see.see(repository, chapter, step, given)


def diff(repository: Repository, given: argparse.Namespace) -> int:
    chapter, step, file = one_step(repository, given)
    must_be_there(repository, chapter, step)
    status = subprocess.run(
        ["diff", "-u", file, f"solutions/{chapter}/{step}.cu"], cwd=repository.root, check=False
    ).returncode
    if status == 0:
        print(f"{file} is the solution, to the letter.")
    return status


def reset(repository: Repository, given: argparse.Namespace) -> int:
    chapter, step, file = one_step(repository, given)
    stub, path = repository.stub_of(chapter, step), repository.root / file
    if repository.missing(chapter, step):
        path.write_text(stub, encoding="utf-8")
        print(f"{file} is there again, a stub.")
        return 0
    if stub == repository.text(chapter, step):
        print(f"{file} is a stub already.")
        return 0
    kept, n = f"{file}.mine", 1
    while os.path.lexists(repository.root / kept):
        n += 1
        kept = f"{file}.mine{n}"
    shutil.copy2(path, repository.root / kept)
    path.write_text(stub, encoding="utf-8")
    print(f"{file} is a stub again; what was in it is in {kept}.")
    return 0


def make_book(repository: Repository, given: argparse.Namespace) -> int:
    import book  # no other command needs its modules

    site = repository.build_folder / "book"
    book.build(repository, site)
    print(
        f"{os.path.relpath(site)}/index.html is the book: open it in a browser, or put the folder on "
        f"any web server."
    )
    return 0


def serve_tools(repository: Repository, given: argparse.Namespace) -> int:
    import serve  # no other command needs it

    return serve.serve(repository, next_step, tested)


def setup(repository: Repository, given: argparse.Namespace) -> int:
    Build(repository).setup()
    print("All that the build needs is here.")
    return 0


def grade(repository: Repository, words: list[str]) -> int:
    build = Build(repository)
    build.setup()
    os.environ["CXX"] = build.setup("compiler")
    import grade as grading  # no other command needs it

    return grading.main(words)


def evaluated(repository: Repository, given: argparse.Namespace) -> int:
    import evaluate  # no other command needs it

    return evaluate.evaluate(repository, given, grade)


def mistake(repository: Repository, given: argparse.Namespace) -> int:
    chapter, step, _ = one_step(repository, given)
    return author.mistake(repository, chapter, step, given.name, given.output)


def new(repository: Repository, given: argparse.Namespace) -> int:
    if given.name is None:
        return author.new_chapter(repository, given.chapter)
    return author.new_step(repository, pick_chapter(repository, given.chapter), given.name, given.improved)


def stubs(repository: Repository, given: argparse.Namespace) -> int:
    chapters = pick_chapters(repository, given.chapters)
    return author.stubs(repository, chapters, given.write)


# --- the command line ---------------------------------------------------------------------------------------


class Command(NamedTuple):
    usage: str
    text: str
    run: Callable[[Repository, argparse.Namespace], int] | None
    arguments: Callable[[arguments.Parser], None]
    takes_rest: bool = False  # arguments after -- are not its own


COMMANDS = {
    "tour": Command(
        "[CHAPTER...] [--mine] [--device [GPU]] [--image FILE | --text FILE] [--full] [--json]",
        "run the ladder: each step beside the one before it (--mine: your steps, each beside its solution)",
        tour,
        arguments.tour,
    ),
    "bench": Command(
        "[CHAPTER...] [--mine] [--case TEXT] [--last N] [--csv FILE] [--json FILE]",
        "on a GPU, how fast each step is over many sizes, beside NVIDIA's library (CUB, cuBLAS) and "
        "what the GPU can do at best",
        benchmark,
        arguments.bench,
    ),
    "test": Command(
        "[CHAPTER] [STEP] [--json]", "test all, the steps of a chapter, or one step", test, arguments.test
    ),
    "watch": Command(
        "[CHAPTER STEP]",
        "test a step whenever you save it: the verdict, and what the counters did since it last was right",
        watch,
        arguments.watch,
    ),
    "next": Command(
        "[CHAPTER]",
        "the first step of the course that is not right yet: its file, and what to write there; for a "
        "chapter, also the steps that go further",
        next_step,
        arguments.a_chapter,
    ),
    "skip": Command(
        "CHAPTER STEP",
        "go on without a step; the same command, or a change to its file, takes it up again",
        skip,
        arguments.a_step,
    ),
    "status": Command(
        "[--json]",
        "all steps on a board: the course and what goes further, open, wrong, right and not yet fast, done",
        status,
        arguments.status,
    ),
    "hint": Command(
        "CHAPTER STEP [--more]",
        "what is to be written, and a question that points at it; --more for the approach, --more "
        "--more for nearly the code",
        hint,
        arguments.hint,
    ),
    "explain": Command(
        "CHAPTER STEP [--solution] [--all] [--device [GPU]] [--json]",
        "your step line by line, the worst line first, beside the solution",
        explained,
        arguments.explain,
    ),
    "see": Command(
        "CHAPTER STEP [--solution] [-o FILE]",
        "a page of pictures: which lane touches which address, and when",
        seen,
        arguments.see,
    ),
    "predict": Command(
        "CHAPTER STEP | machine [N]",
        "a question about what your kernel costs, which the meter then answers; or those of MACHINE.md",
        predicted,
        arguments.predict,
    ),
    "hunt": Command(
        "[CHAPTER] [--show message|counters|nothing]",
        "find the mistake in a kernel of a step that you have solved: its line and its kind; optional",
        hunted,
        arguments.hunt,
    ),
    "debug": Command(
        "CHAPTER STEP [--solution]",
        "gdb, stopped in your kernel, which is built with -O0 for it",
        debugged,
        arguments.debug,
    ),
    "check": Command(
        "FILE.cu... [-I DIR] [-D MACRO] [--explain] [--json] [-- ARGUMENT...]",
        "any CUDA program with a main() of its own: run it, and report its races, accesses out of bounds, "
        "reads of unwritten memory and divergent barriers, by line",
        checked,
        arguments.check,
        takes_rest=True,
    ),
    "diff": Command("CHAPTER STEP", "your step against the solution", diff, arguments.a_step),
    "reset": Command(
        "CHAPTER STEP", "put the stub back; what you wrote is kept beside it", reset, arguments.a_step
    ),
    "grade": Command(
        "STUDENT... [--chapter CHAPTER] [--csv FILE] [--out FOLDER]",
        "test what students handed in against the tests of this repository (common/front/grading/README.md)",
        None,
        arguments.nothing,
    ),
    "evaluate": Command(
        "problems | ANSWERS.jsonl [--work FOLDER] [--without-walls]",
        "the steps as an evaluation of programs that write kernels: the problems, or the verdicts on answers",
        evaluated,
        arguments.evaluate,
    ),
    "book": Command(
        "",
        "lessons, solutions and glossary as a web site: build/book/index.html",
        make_book,
        arguments.nothing,
    ),
    "mcp": Command(
        "",
        "serve next, lesson, hint, test, explain, check and solution to programs that speak the Model "
        "Context Protocol (pip install 'mcp>=2,<3')",
        serve_tools,
        arguments.nothing,
    ),
    "setup": Command(
        "", "install what is missing; tour and test do this by themselves", setup, arguments.nothing
    ),
    "new": Command(
        "CHAPTER [NN_name [--from NN]]",
        "begin a step, or a chapter, in all the places that it needs",
        new,
        arguments.new,
    ),
    "mistake": Command(
        "CHAPTER STEP [NAME] [-o FILE]",
        "the mistakes that the tests know of a step, or one as a whole kernel",
        mistake,
        arguments.mistake,
    ),
    "stubs": Command(
        "[CHAPTER...] [--write]",
        "check that each stub equals its solution outside of the bodies",
        stubs,
        arguments.stubs,
    ),
}
FOR_AUTHORS = ("new", "mistake", "stubs")


def usage_of(name: str, before: str = "") -> str:
    """Returns the usage of a command, broken at brackets where a line is full."""
    first, *rest = re.split(r" (?=\[)", f"{before}./kata {name} {COMMANDS[name].usage}".rstrip())
    lines = [first]
    for word in rest:
        if len(lines[-1]) + 1 + len(word) <= WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(f"{'':{len(before)}}       {word}")
    return "\n".join(lines)[len(before) :]


def usage() -> str:
    def lines(names: Sequence[str]) -> str:
        text = ""
        for name in names:
            line = usage_of(name)
            text += f"{line:28} " if len(line) < 29 else f"{line}\n{'':29}"
            text += f"\n{'':29}".join(textwrap.wrap(COMMANDS[name].text, WIDTH - 29)) + "\n"
        return text

    students = lines([name for name in COMMANDS if name not in FOR_AUTHORS])
    return (
        f"{students}\nFor those who add steps and mistakes (CONTRIBUTING.md):\n\n{lines(FOR_AUTHORS)}\n"
        "CHAPTER and STEP may be shortened: ./kata test conv 3.\nEach command says more: ./kata test --help"
    )


def run(words: list[str]) -> int:
    repository = Repository()
    name = words[0] if words else "help"
    if name in ("help", "-h", "--help"):
        print(usage())
        return 0
    if name not in COMMANDS:
        raise Fault(f"there is no command '{name}'; there are: {' '.join(COMMANDS)} help", 2)
    command = COMMANDS[name]
    if command.run is None:  # grade, which reads its own command line
        return grade(repository, words[1:])
    parser = arguments.Parser(
        prog=f"./kata {name}", usage=usage_of(name, "usage: "), description=command.text
    )
    command.arguments(parser)
    end = words.index("--") if command.takes_rest and "--" in words else len(words)
    given = parser.parse_intermixed_args(words[1:end])
    given.command, given.rest = name, words[end + 1 :]
    return command.run(repository, given)


class Stopped(BaseException):
    """Raised by a signal other than Ctrl-C's."""


def stop(number: int, _: object) -> NoReturn:
    raise Stopped(number)


def main() -> int:
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        status = run(sys.argv[1:])
        sys.stdout.flush()
        return status
    except Fault as fault:
        sys.stdout.flush()
        print(f"kata: {fault}".replace(f"{Repository().root}/", ""), file=sys.stderr)
        return fault.status
    except KeyboardInterrupt:
        print("\nkata: stopped", file=sys.stderr)
        return 130
    except Stopped as stopped:
        return 128 + int(stopped.args[0])
    except BrokenPipeError:  # the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        with contextlib.suppress(OSError):
            said = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            print(f"kata: {said}".replace(f"{Repository().root}/", ""), file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
