#!/usr/bin/env python3
"""Checks that all readers of a step read the same program: one_program.py STEP.cu TEXT.ii CLANG COMPILER…

TEXT.ii is the preprocessed text of the step, from which the program is compiled. COMPILER… is g++'s command
for the step, without its output. CLANG, which may be empty, is legality.py's compiler. A word is put after
each line of the step, and of the headers beside it, that may be a directive of the preprocessor. The compiled
text must have the same of these words as the text that clang has read and the text that translate.py treats
as code. Otherwise a condition distinguishes the readers, however it is spelt. The preprocessed text of the
student's files must have no assembly, nothing that names another place for code, nothing that runs before it
is called, nothing that hides from the meter, and nothing that only one compiler obeys: no meter sees an
instruction that no compiler has made.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence

import legality
from source import COMMON, NO_CODE, Source, is_left_out

WORD = re.compile(r"\bkata_behind_\w+")
# Space and comments between the first character of a directive and its name.
SPACE = r"(?:\s|\\[ \t]*\n|/\*.*?\*/)*"
CONDITION = re.compile(rf"(?:#|%:){SPACE}(?:if|elif)", re.S)
# A line marker, by which a step could pretend to be in another file.
FORGED = re.compile(rf"^{SPACE}(?:#|%:){SPACE}\d", re.S | re.M)
# The preprocessor's line marker: it enters a file (1), returns to one (2), or is in a system header (3).
ENTERED = re.compile(r'# \d+ "(?P<path>.*?)"(?P<flags>(?: \d)*)$')
REFUSED = [
    (
        r"\b(?:__)?asm(?:__)?\b(?!\s*\(\s*\"\"\s*\"simt_dynamic_shared\"\s*\))",
        "assembly, which the meter does not see",
    ),
    (
        r"\b(?:__)?(?:constructor|destructor|init_priority)(?:__)?\b",
        "code that runs when the step is loaded, or after its tests",
    ),
    (
        r"\b(?:__)?(?:ifunc|symver|section)(?:__)?\s*\((?!\s*\"simt_(?:constant|of_device)\"\s*\))",
        "an attribute that says where a function lies",
    ),
    (r"no_sanitize", "an attribute that hides code from the meter"),
    (r"\b(?:__tsan_|__sanitizer_|_ZN)\w+|\bnamespace\s+simt\b", "a name that belongs to the meter"),
    (r"#\s*pragma\s+clang\b", "a pragma that only clang obeys"),
    (
        r"\b(?:__PRETTY_FUNCTION__|source_location|__builtin_(?:FUNCTION|source_location))\b",
        "a name that each compiler spells in its own way",
    ),
]


def marked(path: pathlib.Path, step: pathlib.Path) -> str:
    def without_left_out(match: re.Match[str]) -> str:
        name = match["quoted"] or match["angled"]
        if not name or not is_left_out(name) or any((p.parent / name).exists() for p in (path, step)):
            return match[0]
        return match["include"].replace("include", "")

    lines: list[str] = []
    is_directive = False
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    for number, line in enumerate(NO_CODE.sub(without_left_out, text).splitlines(), 1):
        lines.append(line)
        is_directive = is_directive or "#" in line or "%:" in line
        if is_directive and not line.rstrip().endswith("\\"):
            # The lines keep their numbers, on which a condition may depend.
            lines.append(f"kata_behind_{path.stem.encode().hex()}_{number}\n#line {number + 1}")
            is_directive = False
    return "\n".join(lines) + "\n"


def preprocessed(command: Sequence[str]) -> tuple[int, str, str]:
    done = subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        env={**os.environ, "LC_ALL": "C"},
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def of_student(text: str, step: pathlib.Path) -> tuple[str, set[str]]:
    """Returns the preprocessor's output from files that are not ours or the system's, and the names of these
    files, however the step has named them."""
    root = step.parents[2]
    ours = [COMMON, COMMON.parent / "reference", root / "solutions", *pathlib.Path("common").glob("*.p")]
    theirs = [root, pathlib.Path(tempfile.gettempdir()), pathlib.Path("/proc"), pathlib.Path("/dev")]

    def is_in(path: str, folders: Sequence[pathlib.Path]) -> bool:
        return any(path.startswith(f"{os.path.realpath(folder)}/") for folder in folders)

    files = [True]  # the step itself
    own: list[str] = []
    opened: set[str] = set()
    for line in text.splitlines():
        if entered := ENTERED.match(line):
            path = os.path.realpath(entered["path"])
            is_own = is_in(path, theirs) and not is_in(path, ours)
            if " 1" in entered["flags"]:
                files.append(is_own)
            elif " 2" in entered["flags"]:
                files.pop()
            if is_own and os.path.isfile(path):
                opened.add(path)
        elif files[-1]:
            own.append(line)
    return "\n".join(own), opened


def fault(step: pathlib.Path, compiled: pathlib.Path, clang: str, compiler: Sequence[str]) -> str | None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.realpath(scratch)
        for path in step.parent.rglob("*"):
            if path.is_file():
                copy = pathlib.Path(folder, path.relative_to(step.parent))
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(marked(path, step), encoding="utf-8", errors="surrogateescape")
        reads = ["-E", f"-I{folder}", f"{folder}/{step.name}"]
        status, text, said = preprocessed([*compiler, "-fpch-preprocess", "-x", "c++", *reads])
        if status:
            return said
        # What is compiled is refused here, and not what another run of the preprocessor would make of it.
        own, files = of_student(compiled.read_text(encoding="utf-8", errors="surrogateescape"), step)
        opened = of_student(text, step)[1]
        code = NO_CODE.sub(
            lambda match: match[0] if match[0].startswith('"simt_') or not match["literal"] else '""', own
        )
        for pattern, what in REFUSED:
            if re.search(pattern, code):
                return f"there is {what}"
        sources = [Source(pathlib.Path(path)) for path in sorted(opened)]
        if any(FORGED.search(Source(pathlib.Path(path)).code) for path in {*opened, *files}):
            return "a directive says which file this is"
        if not any(CONDITION.search(source.text) for source in sources):
            return None
        words = WORD.findall(text)
        live = {word for source in sources for word in WORD.findall(source.code)}
        options = [word for word in compiler if word.startswith("-I")]
        options += ["-include", "simt/cuda.hpp", "-include", "kata.hpp"]
        others = [
            preprocessed([*legality.reading(clang, side, options), *reads])
            for side in legality.SIDES
            if clang
        ]
        # A text that clang cannot read to its end does not count.
        if not live.issuperset(words) or any(
            status == 0 and WORD.findall(text) != words for status, text, _ in others
        ):
            return "because of a condition of the preprocessor, two compilers read different programs"
    return None


def main() -> None:
    step, compiled, clang, *compiler = sys.argv[1:]
    if found := fault(pathlib.Path(step).resolve(), pathlib.Path(compiled), clang, compiler):
        sys.exit(f"{step}:1: error: {found}")


if __name__ == "__main__":
    main()
