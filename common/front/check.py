"""Any CUDA program on the CPU back end, under the meter: what its launches do wrong."""

from __future__ import annotations

import argparse
import concurrent.futures
import difflib
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import compilers
import explain
import processes
import trace
from build import Build
from fault import Fault
from repository import Repository

ENGINE = "common/program-cpu"
WRONG, REFUSED = 2, 3  # does not compile; is valid CUDA that the CPU back end lacks
# Names in g++'s errors that only CUDA has: the program is right, and uses more than the CPU back end has.
LACKS = re.compile(
    r"^(?P<where>\S+?:\d+)(?::\d+)?: (?:fatal )?error: (?:"
    r".*?[‘'](?P<name>(?:struct |std::)?(?:cuda[A-Z]|CU[A-Z_]|cu(?:blas|fft|rand|sparse|solver|dnn)"
    r"|sdk[A-Z]|__|cg::)\w*)[’'](?: was not declared| does not name| has not been declared)"
    r"|.*[‘'](?:const )?(?:struct )?(?:cuda\w+|dim3|simt::\w+)[’'](?: \{aka [^}]*\})? has no member named "
    r"[‘'](?P<member>\w+)"
    r"|(?P<header>(?:cuda|cu(?:blas|fft|rand|sparse|solver))\w*\.h|(?:cooperative_groups|thrust|cub|nv|cuda)/.*"
    r"|helper_.*): No such file)"
)


class Compiler:
    """Compiles a program like a step, in a folder of its own."""

    def __init__(self, build: Build, files: list[pathlib.Path], options: list[str]) -> None:
        words = json.loads((build.folder / "common/program.json").read_text(encoding="utf-8"))
        end = words.index("--")
        self.command, self.options = words[:end], words[end + 1 :]
        self.given = options
        key = "\n".join([*map(str, files), *options])
        self.folder = build.folder / "check" / hashlib.sha1(key.encode()).hexdigest()[:12]
        self.folder.mkdir(parents=True, exist_ok=True)
        self.simt = build.repository.root / "common/simt"
        self.judge = build.repository.root / "common/judge"

    def run(self, *command: object) -> None:
        """Throws Fault if the command fails."""
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode == 0:
            return
        said = (done.stdout + done.stderr).strip()
        first = next((line for line in said.splitlines() if "error: " in line), "")
        if (lacks := LACKS.match(first)) and not difflib.get_close_matches(
            lacks["name"] or "", compilers.names_of_cuda(), 1, 0.8
        ):
            name = lacks["name"] or lacks["member"] or f"<{lacks['header']}>"
            raise Fault(f"{lacks['where']}: error: the CPU back end has no {name}", REFUSED)
        status = REFUSED if re.search(r": error: the CPU back end has no ", said) else WRONG
        raise Fault("\n".join(compilers.shown(said.splitlines())), status)

    def compile(self, file: pathlib.Path) -> pathlib.Path:
        """Returns the object of a source."""
        made = self.folder / f"{file.stem}.{hashlib.sha1(bytes(file)).hexdigest()[:6]}.cpp"
        if file.suffix in (".cu", ".cuh"):
            self.run(sys.executable, self.simt / "translate.py", file, made)
        else:
            made.write_text(f'#include "simt/cuda.hpp"\n#include "{file}"\n', encoding="utf-8")
        beside = ["-iquote", file.parent, f"-I{file.parent}", f"-I{self.simt.parent}"]
        target = made.with_suffix(".o")
        self.run(*self.command, *self.options, *beside, *self.given, "-w", "-c", made, "-o", target)
        return target

    def link(self, objects: list[pathlib.Path]) -> pathlib.Path:
        target = self.folder / "program.so"
        entry = self.judge / "program_entry.cpp"
        self.run(*self.command, "-shared", "-fPIC", "-Wl,--wrap=exit", *objects, entry, "-o", target)
        return target


def findings_of(
    engine: list[str | pathlib.Path],
    program: pathlib.Path,
    words: list[str | pathlib.Path],
    stdin: int | None,
) -> dict[str, Any]:
    """Runs the program with its output shown, and returns what the engine has written."""
    said = program.with_suffix(".json")
    said.unlink(missing_ok=True)
    with processes.running([*engine, program, said, *words], stdin=stdin) as process:
        process.wait()
    if said.exists():
        found: dict[str, Any] = json.loads(said.read_text(encoding="utf-8", errors="replace"))
        return found | {"notes": notes_of(found)}
    cause = (
        processes.cause_of_death(-process.returncode)
        if process.returncode < 0
        else f"it exited with status {process.returncode} before main() returned"
    )
    return {"status": 1, "launches": None, "findings": [f"the program crashed: {cause}"], "notes": []}


def notes_of(found: dict[str, Any]) -> list[str]:
    """Removes the minor findings from those of the engine, and returns them: memory that the end of the
    process frees, and launches whose failure would go unnoticed."""
    notes: list[str] = found.pop("kept")
    if unchecked := found.pop("unchecked"):
        notes.append(
            f"unchecked: no cudaGetLastError() follows the last {unchecked} of {found['launches']} "
            "launches, so a refused launch would go unnoticed"
        )
    return notes


def checked(
    repository: Repository,
    files: list[pathlib.Path],
    options: Sequence[str] = (),
    words: Sequence[str] = (),
    explains: bool = False,
    stdin: int | None = subprocess.DEVNULL,
) -> tuple[dict[str, Any], explain.Explanation | None]:
    """Compiles a program with these options and runs it with these arguments. Returns its findings and, with
    `explains`, the costs of its kernels; None if it has launched none."""
    name, files = files[0], [pathlib.Path(os.path.abspath(file)) for file in files]
    for file in files:
        if not file.is_file():
            raise Fault(f"there is no file {file}", WRONG)
    with processes.stdout_to_stderr():  # the output is all the program's
        build = Build(repository)
        build.configure(steps=False)
        if not build.has("common/program.json"):
            raise Fault(
                "only g++ and clang on Linux compile for the meter, and this build has another compiler", 3
            )
        if build.compile([ENGINE, "common/libstep-headers.a"]):
            raise Fault("the engine does not compile: see above")
        compiler = Compiler(build, files, list(options))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compiler.compile, files))
        program = compiler.link(objects)
    engine: list[str | pathlib.Path] = [build.folder / ENGINE, *["--explain"] * explains]
    found = findings_of(engine, program, [name, *words], stdin)
    status = 1 if found["findings"] else found["status"]
    explanation = explanation_of(found, files[0].parent) if explains else None
    return {"exit": status, **found}, explanation


def document(found: dict[str, Any], explanation: explain.Explanation | None) -> dict[str, Any]:
    return {**found, **(explanation.as_json() if explanation else {})}


def as_given(
    repository: Repository, given: argparse.Namespace
) -> tuple[dict[str, Any], explain.Explanation | None]:
    options = [f"-I{os.path.abspath(folder)}" for folder in given.include]
    options += [f"-D{macro}" for macro in given.define]
    files = list(map(pathlib.Path, given.files))
    return checked(repository, files, options, given.rest, given.explain, stdin=None)


def check(repository: Repository, given: argparse.Namespace) -> int:
    found, explanation = as_given(repository, given)
    print(f"\n{report(found)}", file=sys.stderr)
    if explanation:
        folder = pathlib.Path(os.path.abspath(given.files[0])).parent
        lines = explain.line_by_line(explanation, folder, given.all, alone="program")
        print("", *lines, "", explain.LEGEND, sep="\n", file=sys.stderr)
    return int(found["exit"])


def explanation_of(found: dict[str, Any], folder: pathlib.Path) -> explain.Explanation | None:
    """Removes what --explain added from the engine's findings, and returns it; None if no kernel has run."""
    said: Any = {key: found.pop(key, {}) for key in ("all", "places")}
    if not said["places"]:
        return None
    for place in said["places"]:  # "cudaMalloc in prog.cu:12"
        place["array"] = re.sub(r"^cuda\w+ in ", "", place["array"])
    return explain.Explanation(trace.Both(trace.without_launches(folder, said), None))


def report(found: dict[str, Any]) -> str:
    def number(count: int, noun: str, plural: str) -> str:
        return f"{count or 'no'} {noun if count == 1 else plural}"

    end = f"kata check: {number(len(found['findings']), 'finding', 'findings')}"
    if found["launches"] is not None:
        end += f" in {number(found['launches'], 'launch', 'launches')}"
    if found["status"] and not found["findings"]:
        end += f"; the program itself ends with status {found['status']}"
    return "\n".join([*found["findings"], *(f"note: {note}" for note in found["notes"]), end])
