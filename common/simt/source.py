"""A step and the headers of its own that it includes: what of their text is code, and replacements in it."""

from __future__ import annotations

import os
import pathlib
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

from tokens import NAME, TOKEN, Tokens

HERE = pathlib.Path(os.path.abspath(__file__)).parent
COMMON = pathlib.Path(__file__).resolve().parent.parent
HOUSE = [COMMON, COMMON.parent / "reference"]  # nothing to translate there
TOOLKIT = re.compile(
    r"(?:cuda|cuda_runtime|cuda_runtime_api|cuda_device_runtime_api|device_(?:launch_parameters"
    r"|functions|types)|sm_\d\d(?:_atomic_functions|_intrinsics)?"
    r"|device_atomic_functions|vector_(?:types|functions)|driver_types|builtin_types|host_defines"
    r"|math_functions|cuda_profiler_api)\.h"
)
# Headers of libraries that a step may include and not use; translate.py refuses their names.
LIBRARIES = re.compile(
    r"(?:cublas|curand|cusparse|cusolver|cufft|cudnn|nvToolsExt|nvml)\w*\.h|(?:thrust|cub|nvtx3)/\S+"
)


def is_left_out(header: str) -> bool:
    """True for a header that steps may include and the CPU back end does not read."""
    return bool(TOOLKIT.fullmatch(header) or LIBRARIES.fullmatch(header))


# Text that looks like code, numbers (because of ' in them), and includes (because the name is not a string).
NO_CODE = re.compile(
    r"//(?:\\\n|[^\n])*|/\*.*?\*/|(?P<literal>R\"([^()\\\s]*)\(.*?\)\2\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\."
    r"|[^'\\\n])+')"
    r"|(?P<keep>\b\d[\w.']*)|^(?P<include>[ \t]*\#[ \t]*include[ \t]*)(?:\"(?P<quoted>[^\"\n]+)\""
    r"|<(?P<angled>[^>\n]+)>)",
    re.S | re.M,
)
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)((?:\\\n|[^\n])*)", re.M)
DEVICE_ONLY = re.compile(r"__CUDA\w*|__NVCC__")  # macros that nvcc alone defines
DEFINED = {"__CUDA_ARCH__": "900", "__CUDACC__": "1"}  # by cuda.hpp


# Preprocessor conditions, as far as they concern code that only nvcc compiles.


def split(words: Sequence[str], operator: str) -> list[list[str]]:
    """Returns the parts between operators outside parentheses."""
    parts: list[list[str]] = [[]]
    depth = 0
    for word in words:
        depth += (word == "(") - (word == ")")
        if word == operator and depth == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def holds(words: list[str], guess: bool) -> bool:
    """True if a condition of #if holds on the CPU back end; `guess` stands for values that only the compiler
    knows."""
    for operator, combine in (("||", any), ("&&", all)):
        parts = split(words, operator)
        if len(parts) > 1:
            return combine([holds(part, guess) for part in parts])
    if words[:1] == ["!"]:
        return not holds(words[1:], not guess)
    if words[:1] == ["("] and words[-1] == ")":
        return holds(words[1:-1], guess)
    if words[:1] == ["defined"]:
        if not DEFINED.keys().isdisjoint(words[1:]):
            return True
        return guess and not any(map(DEVICE_ONLY.fullmatch, words[1:]))
    comparison = "".join(DEFINED.get(word, "0" if DEVICE_ONLY.fullmatch(word) else word) for word in words)
    if re.fullmatch(r"(?:0|[1-9]\d*)(?:(?:[<>]=?|[=!]=)(?:0|[1-9]\d*))?", comparison):
        return bool(eval(comparison))  # numbers, and at most one comparison
    return guess


def live(code: str) -> str:
    """Returns the code with blanks for the text under conditions that never hold on the CPU back end."""
    out: list[str] = []
    end = 0
    # For each open #if: True if this branch may be compiled, and True if an earlier one is.
    branches: list[tuple[bool, bool]] = []
    for match in [*DIRECTIVE.finditer(code), None]:
        is_live = all(may_be for may_be, _ in branches)
        start = match.start() if match else len(code)
        out.append(code[end:start] if is_live else re.sub(r"[^\n]", " ", code[end:start]))
        if not match:
            break
        end = match.end()
        kind, condition = match[1], TOKEN.findall(match[2])
        if kind in ("ifdef", "ifndef"):
            condition = ["!", "defined", *condition] if kind == "ifndef" else ["defined", *condition]
        if kind in ("if", "ifdef", "ifndef"):
            branches.append((holds(condition, True), holds(condition, False)))
        elif kind == "elif" and branches:
            _, done = branches.pop()
            branches.append((not done and holds(condition, True), done or holds(condition, False)))
        elif kind == "else" and branches:
            branches.append((not branches.pop()[1], True))
        elif kind == "endif" and branches:
            branches.pop()
        out.append(match[0] if is_live else re.sub(r"[^\n]", " ", match[0]))
    return "".join(out)


class Source:
    """The step or a header beside it, and the replacements in it."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        content = path.read_bytes()
        if b"\0" in content:
            sys.exit(f"{path}:1: error: this is not UTF-8 text: save it as UTF-8")
        self.text = content.decode("utf-8-sig", errors="surrogateescape").replace("\r\n", "\n")
        self.included: list[tuple[int, int, str, bool]] = []  # start, end, name, True if in quotes
        self.edits: list[tuple[int, int, str]] = []  # start, end, new text
        self.headers: list[tuple[int, int, Source]] = []  # start, end, the header

        def blank(match: re.Match[str]) -> str:
            if match["keep"]:
                return match[0]
            if match["include"]:
                return f"{match['include']}<{match['quoted'] or match['angled']}>"
            blanks = re.sub(r"[^\n]", " ", match[0])
            return f'"{blanks[1:-1]}"' if match["literal"] else blanks

        self.code = live(NO_CODE.sub(blank, self.text))
        self.parts = [Tokens(DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), self.code))]
        self.once: tuple[int, int] | None = None  # the place of #pragma once
        self.macros: dict[str, list[str]] = {}  # those without parameters, and their words
        for match in DIRECTIVE.finditer(self.code):
            if (
                match[1] == "include"
                and (included := NO_CODE.match(self.text, match.start()))
                and included["include"]
            ):
                name = included["quoted"] or included["angled"]
                self.included.append(
                    (included.end("include"), included.end(), name, bool(included["quoted"]))
                )
            elif match[1] == "define" and (macro := re.match(r"\s*(\w+)(\([^()]*\))?", match[2])):
                body = Tokens(
                    self.code, match.start(2) + macro.end(), match.end(), NAME.findall(macro[2] or ""), True
                )
                self.parts.append(body)
                self.macros[macro[1]] = body.words
            elif match[1] == "pragma" and match[2].split() == ["once"]:
                self.once = match.span()

    def error(self, position: int, message: str) -> NoReturn:
        sys.exit(f"{self.path}:{self.code.count(chr(10), 0, position) + 1}: error: {message}")

    def reached(self, seen: list[Source] | None = None) -> list[Source]:
        """Returns this source and all that it includes, each once."""
        seen = [] if seen is None else seen
        if self not in seen:
            seen.append(self)
            for _, _, header in self.headers:
                header.reached(seen)
        return seen

    def is_touched(self) -> bool:
        return any(source.edits for source in self.reached())

    def translated(self, folder: pathlib.Path, including: tuple[Source, ...] = ()) -> str:
        """Returns the text for a compiler that looks for headers in `folder`."""
        edits = self.edits + ([(*self.once, "")] if including and self.once else [])
        for start, end, header in self.headers:
            if not header.is_touched():
                if self.path.parent != folder:
                    edits.append((start, end, f'"{os.path.relpath(header.path, folder)}"'))
                continue
            hash_ = self.code.rindex("#", 0, start)
            line = self.code.count("\n", 0, hash_) + 1
            text = "\n" if header in (*including, self) else header.translated(folder, (*including, self))
            edits.append((hash_, end, f'\n{text}\n#line {line} "{self.path}"\n'))
        out: list[str] = []
        end = 0
        for start, stop, new in sorted(edits, key=lambda edit: edit[:2]):
            out += [self.text[end:start], new]
            end = stop
        text = f'#line 1 "{self.path}"\n{"".join(out)}{self.text[end:]}'
        if including and self.once:
            once = "SIMT_ONCE_" + re.sub(r"\W", lambda match: f"_{ord(match[0]):x}_", str(self.path))
            text = f"#ifndef {once}\n#define {once}\n{text}\n#endif"
        return text


def read_all(step: pathlib.Path, options: Sequence[str] = ()) -> list[Source]:
    """Returns the step and the headers of its own that it includes: those beside it, and in folders that the
    options name with -I, but not in common and reference."""
    named = [pathlib.Path(option[2:]) for option in options if option.startswith("-I")]
    sources: dict[pathlib.Path, Source] = {}

    def read(path: pathlib.Path) -> Source:
        source = sources[path] = Source(path)
        for start, end, name, quoted in source.included:
            for folder in [path.parent, step.parent, *named] if quoted else [step.parent]:
                found = pathlib.Path(os.path.normpath(folder / name))
                if found.is_file() and not any(house in found.resolve().parents for house in HOUSE):
                    header = sources[found] if found in sources else read(found)
                    source.headers.append((start, end, header))
                    # an include that is read here is checked in its own text
                    source.code = source.code[:start] + " " * (end - start) + source.code[end:]
                    break
            else:
                if is_left_out(name):
                    source.edits.append((source.code.rindex("#", 0, start), end, ""))
        return source

    read(step)
    return list(sources.values())


def dependencies(target: str | pathlib.Path, sources: Sequence[Source]) -> str:
    """Returns the rule that lists the files of a target, and of the tool that makes it, for Ninja."""
    loaded = [file for module in sys.modules.values() if (file := getattr(module, "__file__", None))]
    tool = {path for path in map(pathlib.Path, map(os.path.abspath, loaded)) if path.parent == HERE}
    names = [
        re.sub(r"([ #\\])", r"\\\1", str(path)).replace("$", "$$")
        for path in (target, *(source.path for source in sources), *sorted(tool))
    ]
    return f"{names[0]}: {' '.join(names[1:])}\n"
