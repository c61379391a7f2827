#!/usr/bin/env python3
"""Whether all that reads a step reads the same program: one_program.py STEP.cu CLANG COMPILER…

COMPILER… is how g++ compiles the step, but for what it is to make. CLANG, which may be empty, is what legality.py asks.
Behind each line of the step, and of the headers beside it, that may be a directive of the preprocessor goes a word; what
is compiled has the same of these words as what clang has read and what translate.py takes for code, or a condition tells
them apart. How it is spelt does not matter. What the preprocessor leaves of the student's files has no assembly, nothing
that names another place for code, and nothing that runs before what calls it: an instruction that no compiler has made
is one that no meter sees.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import legality
import translate

WORD = re.compile(r"\bkata_behind_\w+")
# What may stand between the first character of a directive and its name.
SPACE = r"(?:\s|\\[ \t]*\n|/\*.*?\*/)*"
CONDITION = re.compile(rf"(?:#|%:){SPACE}(?:if|elif)", re.S)
# By which a step would say that it lies in another file, as the preprocessor does.
FORGED = re.compile(rf"^{SPACE}(?:#|%:){SPACE}\d", re.S | re.M)
# As the preprocessor says into which file it goes (1), to which it returns (2), and which is one of the system (3).
ENTERED = re.compile(r'# \d+ "(?P<path>.*?)"(?P<flags>(?: \d)*)$')
REFUSED = [
    (r"\b(?:__)?asm(?:__)?\b", "assembly, which the meter does not see"),
    (r"\b(?:__)?(?:constructor|destructor|init_priority)(?:__)?\b", "code that runs when the step is loaded, or behind its tests"),
    (r"\b(?:__)?(?:ifunc|symver|section)(?:__)?\s*\((?!\s*\"simt_constant\"\s*\))", "an attribute that says where a function lies"),
]


def marked(path):
    lines, is_directive = [], False
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="surrogateescape").splitlines(), 1):
        lines.append(line)
        is_directive = is_directive or "#" in line or "%:" in line
        if is_directive and not line.rstrip().endswith("\\"):
            lines.append(f"kata_behind_{path.stem.encode().hex()}_{number}")
            is_directive = False
    return "\n".join(lines) + "\n"


def preprocessed(command):
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="surrogateescape", env={**os.environ, "LC_ALL": "C"})
    return done.returncode, done.stdout, done.stderr


def of_student(text, folder):
    """What lies in the folder, of what the preprocessor has left."""
    files, own, opened = [False], [], set()
    for line in text.splitlines():
        if entered := ENTERED.match(line):
            path = os.path.normpath(entered["path"])
            is_own = path.startswith(f"{folder}/")
            if " 1" in entered["flags"]:
                files.append(is_own)
            elif " 2" in entered["flags"]:
                files.pop()
            elif len(files) == 1:
                files[0] = files[0] or is_own  # the step itself
            if is_own:
                opened.add(path)
        elif files[-1]:
            own.append(line)
    return "\n".join(own), opened


def fault(step, clang, compiler):
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.realpath(scratch)
        for path in step.parent.rglob("*"):
            if path.is_file():
                copy = pathlib.Path(folder, path.relative_to(step.parent))
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(marked(path), encoding="utf-8", errors="surrogateescape")
        reads = ["-E", f"-I{folder}", f"{folder}/{step.name}"]
        status, text, said = preprocessed([*compiler, "-fpch-preprocess", "-x", "c++", *reads])
        if status:
            return said
        own, opened = of_student(text, folder)
        code = translate.NO_CODE.sub(lambda match: match[0] if match[0] == '"simt_constant"' or not match["literal"] else '""', own)
        for pattern, what in REFUSED:
            if re.search(pattern, code):
                return f"there is {what}"
        sources = [translate.Source(pathlib.Path(path)) for path in sorted(opened)]
        if any(FORGED.search(source.code) for source in sources):
            return "a directive says which file this is"
        if not any(CONDITION.search(source.text) for source in sources):
            return None
        words = WORD.findall(text)
        live = {word for source in sources for word in WORD.findall(source.code)}
        options = [*(word for word in compiler if word.startswith("-I")), "-include", "simt/cuda.hpp", "-include", "kata.hpp"]
        others = [preprocessed([*legality.reading(clang, side, options), *reads]) for side in legality.SIDES if clang]
        # What clang does not read to its end it does not judge.
        if not live.issuperset(words) or any(status == 0 and WORD.findall(text) != words for status, text, _ in others):
            return "a condition of the preprocessor shows the compilers that read a step another program each"
    return None


def main():
    step, clang, *compiler = sys.argv[1:]
    if found := fault(pathlib.Path(step), clang, compiler):
        sys.exit(f"{step}:1: error: {found}")


if __name__ == "__main__":
    main()
