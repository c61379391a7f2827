"""The arguments of each command of ./kata."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

import estimates
from fault import Fault
from repository import Repository


class Parser(argparse.ArgumentParser):
    """Reports a wrong command line in one line."""

    def error(self, message: str) -> NoReturn:
        raise Fault(f"{message}; usage: {' '.join(self.format_usage().removeprefix('usage: ').split())}", 2)


class Device(argparse.Action):
    """Takes the name of a GPU; without one lists them, and ends the command, as --help does."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        repository = Repository()
        if values in (None, "list"):
            print(estimates.listed(repository), end="")
            parser.exit()
        setattr(namespace, self.dest, estimates.pick(repository, str(values)))


def a_device(parser: Parser) -> None:
    parser.add_argument(
        "--device",
        metavar="GPU",
        nargs="?",
        action=Device,
        help="also estimate the time on this GPU, which need not be here; a name may be shortened: h100; "
        "without a name, list them",
    )


def for_programs(parser: Parser) -> None:
    parser.add_argument(
        "--json",
        action="store_true",
        help="for programs: JSON on stdout (common/front/schema.json), all else on stderr",
    )


def tour(parser: Parser) -> None:
    parser.add_argument("chapters", metavar="CHAPTER", nargs="*")
    parser.add_argument("--mine", action="store_true", help="your steps, each beside its solution")
    a_device(parser)
    file = parser.add_mutually_exclusive_group()
    file.add_argument(
        "--image",
        metavar="FILE",
        help="a picture for the steps of grids or convolution: PNG, JPEG, or binary PGM or PPM",
    )
    file.add_argument("--text", metavar="FILE", help="a text, for the histogram")
    parser.add_argument(
        "--full", action="store_true", help="count all blocks of a large file, not a sample of them"
    )
    for_programs(parser)


def at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text)


def bench(parser: Parser) -> None:
    parser.add_argument("chapters", metavar="CHAPTER", nargs="*")
    parser.add_argument("--mine", action="store_true", help="your steps, too, each below its solution")
    parser.add_argument(
        "--case", metavar="TEXT", default="", help="only the cases whose name contains this, as '2^28'"
    )
    parser.add_argument(
        "--last", metavar="N", type=at_least_one, help="only the last N steps that solve a case"
    )
    parser.add_argument("--csv", metavar="FILE", help="write all rows to this file")
    parser.add_argument("--json", metavar="FILE", help="the same, for programs")


def optional_step(parser: Parser) -> None:
    parser.add_argument(
        "step", metavar="CHAPTER STEP", nargs="*", help="may be shortened: conv 3; or the step's file"
    )


def test(parser: Parser) -> None:
    optional_step(parser)
    for_programs(parser)


def a_step(parser: Parser) -> None:
    parser.add_argument(
        "step", metavar="CHAPTER STEP", nargs="+", help="may be shortened: conv 3; or the step's file"
    )


def watch(parser: Parser) -> None:
    parser.add_argument(
        "step",
        metavar="CHAPTER STEP",
        nargs="*",
        help="where to begin; by default, at the first step of the course that is not done",
    )


def predict(parser: Parser) -> None:
    parser.add_argument(
        "step",
        metavar="CHAPTER STEP",
        nargs="+",
        help="may be shortened: conv 3; or the step's file; or machine, and where to begin: machine 5",
    )


def a_chapter(parser: Parser) -> None:
    parser.add_argument("chapter", metavar="CHAPTER", nargs="?", help="may be shortened: conv")


def status(parser: Parser) -> None:
    for_programs(parser)


def hint(parser: Parser) -> None:
    a_step(parser)
    parser.add_argument(
        "--more", action="count", default=0, help="the next hint, which says more; given twice, the last one"
    )


def hunt(parser: Parser) -> None:
    a_chapter(parser)
    parser.add_argument(
        "--show",
        choices=("message", "counters", "nothing"),
        default="message",
        help="what helps: the message of the tests (easiest, the default), the counters, or nothing",
    )


def debug(parser: Parser) -> None:
    a_step(parser)
    parser.add_argument("--solution", action="store_true", help="the solution instead of your step")


def explain(parser: Parser) -> None:
    a_step(parser)
    parser.add_argument("--solution", action="store_true", help="the solution instead of your step")
    parser.add_argument("--all", action="store_true", help="all lines, even those that cost little")
    a_device(parser)
    for_programs(parser)


def check(parser: Parser) -> None:
    parser.add_argument("files", metavar="FILE.cu", nargs="+", help="the sources of one program")
    parser.add_argument(
        "-I", dest="include", metavar="DIR", action="append", default=[], help="the same as for nvcc"
    )
    parser.add_argument(
        "-D", dest="define", metavar="MACRO", action="append", default=[], help="the same as for nvcc"
    )
    parser.add_argument("--explain", action="store_true", help="also what each line of the kernels costs")
    parser.add_argument("--all", action="store_true", help="all lines, even those that cost little")
    for_programs(parser)


def see(parser: Parser) -> None:
    a_step(parser)
    parser.add_argument("--solution", action="store_true", help="the solution alone")
    parser.add_argument("-o", "--output", metavar="FILE", help="where the page goes; build/see/ by default")


def evaluate(parser: Parser) -> None:
    parser.add_argument(
        "answers", metavar="problems | ANSWERS.jsonl", help="write the problems, or grade these answers"
    )
    parser.add_argument("--work", metavar="FOLDER", help="where the tests are built and kept")
    parser.add_argument("--without-walls", action="store_true", help="run the answers with all your rights")


def mistake(parser: Parser) -> None:
    parser.add_argument("step", metavar="CHAPTER STEP", nargs=2)
    parser.add_argument("name", metavar="NAME", nargs="?", help="print the kernel with this mistake")
    parser.add_argument("-o", "--output", metavar="FILE", help="write it to a file")


def new(parser: Parser) -> None:
    parser.add_argument("chapter", metavar="CHAPTER")
    parser.add_argument(
        "name", metavar="NN_name", nargs="?", help="the new step's name; without it, a chapter is begun"
    )
    parser.add_argument(
        "--from", dest="improved", metavar="NN", help="the step that it improves; by default the one before"
    )


def stubs(parser: Parser) -> None:
    parser.add_argument("chapters", metavar="CHAPTER", nargs="*")
    parser.add_argument("--write", action="store_true", help="rewrite those that differ")


def nothing(parser: Parser) -> None:
    pass
