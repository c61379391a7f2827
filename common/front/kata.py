"""The front of this repository: `./kata help` says what it does."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

import author
import bodies
import explain
import processes
import see
import verdicts
from build import Build
from fault import Fault
from repository import Repository, either, module, module_of, suite, targets


class Parser(argparse.ArgumentParser):
    """Says in one line what it does not understand."""

    def error(self, message: str) -> NoReturn:
        raise Fault(f"{message}; usage: {' '.join(self.format_usage().removeprefix('usage: ').split())}", 2)


# --- names, which may be shortened ---------------------------------------------------------------------------------


def pick(kind: str, given: str, names: Sequence[str]) -> str:
    """The one name that is meant: by its beginning, by its number, or by what stands behind its number."""
    wanted = given[:-3] if given.endswith(".cu") else given
    wanted = f"0{wanted}" if re.fullmatch(r"\d", wanted) else wanted
    for fits in (
        lambda name: name == wanted,
        lambda name: name.startswith(wanted),
        lambda name: name[3:] == wanted,
        lambda name: name[3:].startswith(wanted),
    ):
        found = [name for name in names if wanted and fits(name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise Fault(f"'{given}' may be {either(found)}", 2)
    raise Fault(f"'{given}' is no {kind}; there are: {' '.join(names)}", 2)


def pick_chapter(repository: Repository, given: str) -> str:
    return pick("chapter", given, repository.chapters())


def pick_step(repository: Repository, words: list[str]) -> tuple[str, str | None]:
    """Chapter and step, or a chapter alone; a step may also be given as its file, as a shell completes it."""
    if len(words) == 1 and re.search(r"[^/]*/[^/]*\.cu$", words[0]):
        words = words[0].split("/")[-2:]
    chapter = pick_chapter(repository, words[0])
    return chapter, pick(f"step of {chapter}", words[1], repository.all_steps(chapter)) if len(words) > 1 else None


def one_step(repository: Repository, given: argparse.Namespace) -> tuple[str, str, str]:
    """Chapter, step, and the step's path from the root."""
    chapter, step = pick_step(repository, given.step)
    if step is None or len(given.step) > 2:
        raise Fault(
            f"usage: ./kata {given.command} CHAPTER STEP, as in: ./kata {given.command} {repository.chapters()[0]} 01", 2
        )
    return chapter, step, f"chapters/{chapter}/{step}.cu"


# --- commands: each takes what was given and gives the exit status --------------------------------------------------


def tour(repository: Repository, given: argparse.Namespace) -> int:
    chapters = [pick_chapter(repository, name) for name in given.chapters] or repository.chapters()
    options = ["--mine"] if given.mine else []
    for name in ("image", "text"):
        if path := getattr(given, name):
            if not os.path.isfile(path):
                raise Fault(f"there is no file {path}", 2)
            options += [f"--{name}", os.path.abspath(path)]
    build = Build(repository)
    build.configure()
    status = 0
    for chapter in chapters:
        backend = build.backend(chapter)
        trees = ("solutions", "chapters") if given.mine else ("solutions",)
        modules = [module(tree, chapter, step, backend) for tree in trees for step in repository.steps(chapter, tree)]
        if build.compile([suite(chapter, backend), *modules]):
            status = 1
        ladder = ["--tour", "--modules", build.folder, "--sources", repository.root, *options]
        sys.stdout.flush()
        status |= processes.status_of([build.suite(chapter, backend), *ladder]) != 0
        if refuted := [] if given.image or given.text else repository.refuted(chapter):
            print("\n" + "".join(f"  {line}\n" for line in refuted), end="")
    return status


def test(repository: Repository, given: argparse.Namespace) -> int:
    if len(given.step) > 2:
        raise Fault("usage: ./kata test [CHAPTER] [STEP]", 2)
    build = Build(repository)
    if not given.step:
        build.configure()
        say_what_is_not_checked(build)
        # What the student has written comes first, and waits for none of the hundreds of other kernels.
        chapters = repository.chapters()
        record = verdicts.Record(repository)
        not_built = build.compile(sorted(t for t in targets(build.folder) if any(is_needed(t, c, None) for c in chapters)))
        steps = verdicts.run(build, [f"--suite={chapter}" for chapter in chapters], "testlog-steps")
        record.keep(steps)
        print(verdicts.of_all(steps, not_built, chapters), end="")
        missing = said_missing(repository, chapters)
        print("\nNow the solutions and the tests themselves, which takes longer.", flush=True)
        not_built |= build.compile()
        # The contract is about this repository's own stubs: who has written one has broken it, as was the idea. The
        # styles are about the tests, and take as long to build as all else.
        found = verdicts.run(build, [f"--no-suite={suite}" for suite in (*chapters, "contract", "styles")])
        print(verdicts.of_all(found, not_built, chapters), end="")
        return 1 if missing or not_built or verdicts.failed([*steps, *found]) else 0

    chapter, step = pick_step(repository, given.step)
    if step:
        must_be_there(repository, chapter, step)
    build.configure()
    say_what_is_not_checked(build)
    record = verdicts.Record(repository)
    mine = {name for name in targets(build.folder) if is_needed(name, chapter, step)}
    not_built = build.compile(sorted(mine))
    own = [name for name in not_built if (built := module_of(name)) and built.tree == "chapters"]
    if step and own:
        return 1  # and what is wrong has been said
    for name in mine:
        if not module_of(name):
            build.suite(chapter, name.split("-")[-1])
    found = verdicts.run(build, ["--suite", chapter, *([step] if step else [])])
    record.keep(found)
    if step is None:
        print(verdicts.of_a_chapter(found, not_built), end="")
        if said_missing(repository, [chapter]):
            return 1
    else:
        print(verdicts.of_one_step(found), end="")
        if {verdict.result for verdict in found} == {"OK"}:
            print("".join(f"      {line}\n" for line in repository.refuted(chapter, step)), end="")
            print(f"      {what_comes_next(repository, chapter, step)}")
        if lines := bodies.open_lines(repository.text(chapter, step)):
            where = ", ".join(map(str, lines))
            print(f"      It still calls kata::open(), in line {where}; what is to be written: ./kata hint {chapter} {step[:2]}")
    return 1 if not_built or verdicts.failed(found) else 0


def say_what_is_not_checked(build: Build) -> None:
    if build.backends() == ["cpu"] and not build.knows_host_and_device():
        print("Without clang++, what nvcc refuses is found in part only: ./kata setup installs it as root; then remove build/")


def must_be_there(repository: Repository, chapter: str, step: str) -> None:
    for line in repository.missing(chapter, step):
        raise Fault(line)


def said_missing(repository: Repository, chapters: Sequence[str]) -> bool:
    """Says of which steps there is no file, if there are any such."""
    lines = [line for chapter in chapters for line in repository.missing(chapter)]
    if lines:
        print("\n" + "".join(f"FAIL  {line}\n" for line in lines), end="")
    return bool(lines)


def is_needed(target: str, chapter: str, step: str | None) -> bool:
    """Whether a target is tested, or tests: all solutions do."""
    if built := module_of(target):
        return built.chapter == chapter and (
            built.tree == "solutions" or (built.tree == "chapters" and step in (None, built.name))
        )
    return target in (suite(chapter, "cpu"), suite(chapter, "gpu"))


def what_comes_next(repository: Repository, chapter: str, step: str) -> str:
    """After a step that is right: the next open one behind it in its chapter, or else the first of all."""
    still_open = [
        (other, name)
        for other in repository.chapters()
        for name in repository.all_steps(other)
        if not repository.missing(other, name) and repository.is_open(other, name)
    ]
    behind = [found for found in still_open if found[0] == chapter and found[1] > step]
    for other, name in [*behind, *still_open][:1]:
        return f"Next: chapters/{other}/{name}.cu; what is to be written: ./kata hint {other} {name[:2]}"
    return f"Every step is written: ./kata tour {chapter} --mine shows what yours gain, each beside the one before."


def next_step(repository: Repository, given: argparse.Namespace) -> int:
    record = verdicts.Record(repository)
    for chapter in repository.chapters():
        for step in repository.all_steps(chapter):
            must_be_there(repository, chapter, step)
            if repository.is_open(chapter, step):
                print(bodies.hints(repository.text(chapter, step), f"chapters/{chapter}/{step}.cu"))
                print(f"Then: ./kata test {chapter} {step[:2]}")
                return 0
            if (said := record.says(chapter, step)) != "OK":
                state = "is not right yet" if said == "FAIL" else "is written, and has not been tested as it stands"
                print(f"chapters/{chapter}/{step}.cu {state}.\nWhat the tests say: ./kata test {chapter} {step[:2]}")
                print(f"What is to be written: ./kata hint {chapter} {step[:2]}")
                return 0
    print("Every step is written and right. What each gains: ./kata tour --mine")
    return 0


def hint(repository: Repository, given: argparse.Namespace) -> int:
    chapter, step, file = one_step(repository, given)
    print(bodies.hints(repository.stub_of(chapter, step), file), end="")
    return 0


def explained(repository: Repository, given: argparse.Namespace) -> int:
    chapter, step, _ = one_step(repository, given)
    return explain.explain(repository, chapter, step, given)


def seen(repository: Repository, given: argparse.Namespace) -> int:
    chapter, step, _ = one_step(repository, given)
    return see.see(repository, chapter, step, given)


def diff(repository: Repository, given: argparse.Namespace) -> int:
    chapter, step, file = one_step(repository, given)
    must_be_there(repository, chapter, step)
    status = subprocess.run(["diff", "-u", file, f"solutions/{chapter}/{step}.cu"], cwd=repository.root).returncode
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
    import book  # what it needs, no other command does

    site = repository.root / "build" / "book"
    book.build(repository, site)
    print(f"{repository.relative(site)}/index.html is the book: open it in a browser, or put the folder on any web server.")
    return 0


def setup(repository: Repository, given: argparse.Namespace) -> int:
    Build(repository).setup()
    print("All that the build needs is here.")
    return 0


def grade(repository: Repository, arguments: list[str]) -> int:
    build = Build(repository)
    build.setup()
    os.environ["CXX"] = build.setup("compiler")
    import grade as grading  # which nobody else needs

    return grading.main(arguments)


def mistake(repository: Repository, given: argparse.Namespace) -> int:
    chapter, step, _ = one_step(repository, given)
    return author.mistake(repository, chapter, step, given.name, given.output)


def new(repository: Repository, given: argparse.Namespace) -> int:
    if given.name is None:
        return author.new_chapter(repository, given.chapter)
    return author.new_step(repository, pick_chapter(repository, given.chapter), given.name)


def stubs(repository: Repository, given: argparse.Namespace) -> int:
    chapters = [pick_chapter(repository, name) for name in given.chapters] or repository.chapters()
    return author.stubs(repository, chapters, given.write)


# --- the command line -----------------------------------------------------------------------------------------------


def tour_arguments(parser: Parser) -> None:
    parser.add_argument("chapters", metavar="CHAPTER", nargs="*")
    parser.add_argument("--mine", action="store_true", help="your steps instead of the solutions")
    file = parser.add_mutually_exclusive_group()
    file.add_argument("--image", metavar="FILE", help="a picture for the steps to work on: binary PGM or PPM")
    file.add_argument("--text", metavar="FILE", help="a text, for the histogram")


def optional_step(parser: Parser) -> None:
    parser.add_argument("step", metavar="CHAPTER STEP", nargs="*", help="may be shortened: conv 3; or the step's file")


def a_step(parser: Parser) -> None:
    parser.add_argument("step", metavar="CHAPTER STEP", nargs="+", help="may be shortened: conv 3; or the step's file")


def explain_arguments(parser: Parser) -> None:
    a_step(parser)
    parser.add_argument("--solution", action="store_true", help="the solution instead of your step")
    parser.add_argument("--all", action="store_true", help="all lines, also those that cost little")
    parser.add_argument("--json", action="store_true", help="for programs")


def see_arguments(parser: Parser) -> None:
    a_step(parser)
    parser.add_argument("--solution", action="store_true", help="the solution alone")
    parser.add_argument("-o", "--output", metavar="FILE", help="where the page goes; build/see/ unless told")


def mistake_arguments(parser: Parser) -> None:
    parser.add_argument("step", metavar="CHAPTER STEP", nargs=2)
    parser.add_argument("name", metavar="NAME", nargs="?", help="print the kernel with this mistake")
    parser.add_argument("-o", "--output", metavar="FILE", help="write it to a file")


def new_arguments(parser: Parser) -> None:
    parser.add_argument("chapter", metavar="CHAPTER")
    parser.add_argument("name", metavar="NN_name", nargs="?", help="of a step; without it, the chapter is what is new")


def stubs_arguments(parser: Parser) -> None:
    parser.add_argument("chapters", metavar="CHAPTER", nargs="*")
    parser.add_argument("--write", action="store_true", help="make them what they must be")


def nothing(parser: Parser) -> None:
    pass


class Command(NamedTuple):
    usage: str
    text: str
    run: Callable[[Repository, argparse.Namespace], int] | None
    arguments: Callable[[Parser], None]


COMMANDS = {
    "tour": Command(
        "[CHAPTER...] [--mine] [--image FILE | --text FILE]",
        "run the ladder: each step beside the one before it (--mine: your steps instead)",
        tour,
        tour_arguments,
    ),
    "test": Command("[CHAPTER] [STEP]", "test all, the steps of a chapter, or one step", test, optional_step),
    "next": Command("", "the first step that is not right yet: its file and its hint", next_step, nothing),
    "hint": Command("CHAPTER STEP", "what is to be written", hint, a_step),
    "explain": Command(
        "CHAPTER STEP [--solution] [--all] [--json]",
        "your step line by line, the worst line first, beside the solution",
        explained,
        explain_arguments,
    ),
    "see": Command(
        "CHAPTER STEP [--solution] [-o FILE]", "a page of pictures: which lane touches which address, and when", seen, see_arguments
    ),
    "diff": Command("CHAPTER STEP", "your step against the solution", diff, a_step),
    "reset": Command("CHAPTER STEP", "put the stub back; what you wrote is kept beside it", reset, a_step),
    "grade": Command(
        "STUDENT... [--chapter CHAPTER] [--csv FILE] [--out FOLDER]",
        "test what students handed in against the tests of this repository (common/front/grading/README.md)",
        None,
        nothing,
    ),
    "book": Command("", "lessons, solutions and glossary as a web site: build/book/index.html", make_book, nothing),
    "setup": Command("", "install what is missing; tour and test do so themselves", setup, nothing),
    "new": Command("CHAPTER [NN_name]", "begin a step, or a chapter, in all the places that it needs", new, new_arguments),
    "mistake": Command(
        "CHAPTER STEP [NAME] [-o FILE]",
        "the mistakes that the tests know of a step, or one as a whole kernel",
        mistake,
        mistake_arguments,
    ),
    "stubs": Command(
        "[CHAPTER...] [--write]", "whether each stub is its solution outside of the bodies", stubs, stubs_arguments
    ),
}
FOR_AUTHORS = ("new", "mistake", "stubs")


def usage() -> str:
    def lines(names: Sequence[str]) -> str:
        text = ""
        for name in names:
            line = f"./kata {name} {COMMANDS[name].usage}".rstrip()
            text += f"{line:28} " if len(line) < 29 else f"{line}\n{'':29}"
            text += f"{COMMANDS[name].text}\n"
        return text

    students = lines([name for name in COMMANDS if name not in FOR_AUTHORS])
    return (
        f"{students}\nFor those who add steps and mistakes (CONTRIBUTING.md):\n\n{lines(FOR_AUTHORS)}\n"
        "CHAPTER and STEP may be shortened: ./kata test conv 3. Each command says more: ./kata test --help"
    )


def run(arguments: list[str]) -> int:
    repository = Repository()
    name = arguments[0] if arguments else "help"
    if name in ("help", "-h", "--help"):
        print(usage())
        return 0
    if name not in COMMANDS:
        raise Fault(f"there is no command '{name}'; there are: {' '.join(COMMANDS)} help", 2)
    if name == "grade":
        return grade(repository, arguments[1:])
    command = COMMANDS[name]
    parser = Parser(prog=f"./kata {name}", usage=f"./kata {name} {command.usage}".rstrip(), description=command.text)
    command.arguments(parser)
    given = parser.parse_intermixed_args(arguments[1:])
    given.command = name
    return command.run(repository, given)


class Stopped(BaseException):
    """By a signal other than Ctrl-C's."""


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
        return 128 + stopped.args[0]
    except BrokenPipeError:  # nobody reads on
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
