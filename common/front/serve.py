"""The course for programs that speak the Model Context Protocol: its tools call what the commands call.

The reference library keeps stdin and stdout to itself: while it serves, what programs print goes to stderr.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import inspect
import io
import os
import pathlib
import signal
from collections.abc import Callable, Iterator
from typing import Any

import board
import check
import explain
import hints
import verdicts
from fault import Fault
from names import pick_step
from repository import Repository

NEEDS = "'mcp>=2,<3'"
INSTRUCTIONS = """\
A course in CUDA that needs no GPU. A student writes kernels in chapters/CHAPTER/NN_step.cu, between the lines
"// kata: begin" and "// kata: end", and the tests say what is wrong or too slow. Begin with `next`; read
`lesson`; write; `test` until the verdict is OK. `hint` and `explain` help on the way. Do not read
solutions/: `solution` shows a solution once the step is OK. `check` is for programs of one's own. Where a
text names ./kata COMMAND, call the tool of that name, if there is one. Names of chapters and steps may be
shortened: conv 3."""
Next = Callable[[Repository, argparse.Namespace], int]
Tested = Callable[[Repository, "list[str]"], "tuple[int, list[verdicts.Verdict]]"]


@contextlib.contextmanager
def printed() -> Iterator[io.StringIO]:
    """Yields what is printed meanwhile; a Fault says it first, as the compiler's errors."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        try:
            yield said
        except Fault as fault:
            raise Fault(f"{said.getvalue()}{fault}") from None


class Tools:
    """The tools; their descriptions are for the client."""

    def __init__(self, repository: Repository, next_step: Next, tested: Tested) -> None:
        self.repository, self.next_step, self.tested = repository, next_step, tested

    def place(self, chapter: str, step: str) -> tuple[str, str]:
        found, name = pick_step(self.repository, [chapter, step])
        assert name
        for line in self.repository.missing(found, name):
            raise Fault(line)
        return found, name

    def next(self, chapter: str = "") -> str:
        """The first step of the course, or of a chapter, that is not right yet: its file, and what to write
        there."""
        with printed() as said:
            self.next_step(self.repository, argparse.Namespace(chapter=chapter))
        return said.getvalue()

    def lesson(self, chapter: str, step: str = "") -> str:
        """The lesson of a chapter, or its part on one step, in Markdown."""
        found = self.place(chapter, step or "01")
        return (
            self.repository.lesson_of(*found)
            if step
            else self.repository.lesson(found[0]).read_text(encoding="utf-8")
        )

    def hint(self, chapter: str, step: str, level: int = 1) -> str:
        """A hint: level 1 is a question that points at the idea, 2 the approach in words, 3 nearly the
        code."""
        if level not in range(1, len(hints.LEVELS) + 1):
            raise Fault(f"there is no level {level}: the levels are 1 to {len(hints.LEVELS)}")
        return hints.shown(self.repository, *self.place(chapter, step), level)

    def test(self, chapter: str, step: str) -> dict[str, Any]:
        """Builds and tests a step as it stands in its file: OK, SLOW (right, not yet fast), FAIL with the
        reason, or SKIP (still to be written). The first call also builds the tests, and takes longest."""
        with printed() as said:
            found = self.tested(self.repository, list(self.place(chapter, step)))[1]
        return {"command": "test", "tests": verdicts.as_json(found), "text": said.getvalue()}

    def explain(self, chapter: str, step: str) -> dict[str, Any]:
        """Returns the costs of each line of a written step, the worst first, beside the solution's counts."""
        with printed():
            found = explain.document(self.repository, *self.place(chapter, step))
        return {"command": "explain", **found}

    def check(self, file: str, explain: bool = False) -> dict[str, Any]:
        """Compiles and runs any CUDA program with a main() of its own, without a GPU: its races, accesses out
        of bounds, reads of unwritten memory and divergent barriers, and on request what each line costs."""
        with printed():
            found = check.checked(self.repository, [pathlib.Path(file)], explains=explain)
        return {"command": "check", **check.document(*found)}

    def solution(self, chapter: str, step: str) -> str:
        """The annotated solution of a step that is OK."""
        found = self.place(chapter, step)
        if board.Board(self.repository).of(*found).state != "done":
            raise Fault("the solution is shown once `test` says OK to the step as it stands")
        return self.repository.text(*found, "solutions")


def serve(repository: Repository, next_step: Next, tested: Tested) -> int:
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:
        raise Fault(f"./kata mcp needs Python 3.10 and the package mcp: pip install {NEEDS}", 3) from None

    # A signal ends the server at once, and during a call first what the call has started.
    handlers = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)}

    def tool(run: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(run)
        async def called(**given: object) -> Any:  # in the main thread, which gets the signals
            for number, handler in handlers.items():
                signal.signal(number, handler)
            try:
                return run(**given)
            except (Fault, OSError) as fault:
                raise ToolError(str(fault)) from None
            except SystemExit:
                raise ToolError("the build lacks a program; ./kata setup says which") from None
            except Exception:
                raise
            except BaseException as stopped:
                os._exit(128 + int(*stopped.args))
            finally:
                for number in handlers:
                    signal.signal(number, signal.SIG_DFL)

        return called

    server: Any = MCPServer("cuda-kata", instructions=INSTRUCTIONS)
    tools = Tools(repository, next_step, tested)
    for run in (tools.next, tools.lesson, tools.hint, tools.test, tools.explain, tools.check, tools.solution):
        server.add_tool(tool(run), description=inspect.getdoc(run))
    server.run("stdio")
    return 0
