#!/usr/bin/env python3
"""Translates a CUDA source for a C++ compiler: translate.py step.cu step.cpp [step.d]

Replaces what C++ does not have, in place, so that everything else keeps its line:
  kernel<<<grid, block, bytes>>>(…)  ->  simt::configured(SIMT_KERNEL(kernel), grid, block, bytes)(…)
  extern __shared__ T name[];        ->  extern T simt_name[]; and a name for the launch's shared memory
  __launch_bounds__(n) … {           ->  … { simt::hold_to_bounds(n);
  float sum[8][8]; in a kernel       ->  the same, and simt::hold_local("sum", sizeof(sum)); if that is large
  __shared__ alignas(n)              ->  alignas(n) __shared__
  static __shared__                  ->  __shared__
  cudaGetLastError();                ->  simt::dropped_cudaGetLastError(); if the result is dropped
  __device__ float t[2]; __global__  ->  the same, and their names, for the meter
  #include <cuda_runtime.h>          ->  nothing: the step's own include declares everything
  #include "mine.cuh"                ->  its text, if it is beside the step and has something to replace
Rejects, in one line, code that has no meaning on the CPU back end, and code that nvcc would reject and a C++
compiler does not, such as a kernel without __global__ or an initial value in shared memory. Writes the files
read into step.d, for Ninja.
"""

from __future__ import annotations

import os
import pathlib
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import NoReturn

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HOUSE = [ROOT / "common", ROOT / "reference"]  # nothing to translate there

REFUSED = [
    (r"\bcudaLaunchCooperative", "cooperative launches"),
    (r"\bwmma::(?:experimental|bmma_sync)\b", "such tensor cores"),
    (
        r"\bfragment\s*<[^<>;]*,\s*(?:32\s*,\s*8\s*,\s*16|8\s*,\s*32\s*,\s*16|8\s*,\s*8\s*,\s*4)\s*,",
        "such tensor cores",
    ),
    (r"\bfragment\s*<[^<>;]*,\s*(?:signed\s+char|unsigned\s+char|u?int8_t|int)\b", "such tensor cores"),
    (r"#\s*include\s*<cuda_fp[864]\b", "arithmetic in less than 16 bits"),
    (
        r"#\s*include\s*<cuda/(?:barrier|pipeline|ptx)\b|\bcuda::(?:barrier|pipeline|memcpy_async)\b",
        "cuda::barrier and cuda::pipeline",
    ),
    (r"#\s*include\s*<(?:cub|thrust|cuda)/(?!(?:std/)?atomic>)", "such library"),
    (r"\basm\s*(?:volatile\s*)?\(|\b__asm(?:__)?\b", "inline PTX"),
    (
        r"\bcuda(?:Graph|Stream(?:BeginCapture|EndCapture|AddCallback|AttachMem|CopyAttributes"
        r"|[GS]etAttribute)|MallocManaged|Malloc3D|MallocArray"
        r"|MallocFromPool|MemPool|Memcpy3D|MemcpyPeer|MemPrefetch|MemAdvise|FuncGet|LaunchKernel"
        r"|LaunchHostFunc|DeviceEnablePeer|Ipc)\w*",
        "{}",
    ),
    (r"\bglobaltimer(?=\s*\()", "{}"),
    (r"\btexture\s*<|\bcuda(?:Texture|Surface)Object_t\b|\b(?:tex|surf)[123]D\w*\s*[<(]", "textures"),
]
# The ones among them that a step can use.
INSTEAD = {"cudaLaunchKernel": "launch it as kernel<<<grid, block>>>(arguments)"}
TOOLKIT = re.compile(
    r"(?:cuda|cuda_runtime|cuda_runtime_api|cuda_device_runtime_api|device_(?:launch_parameters"
    r"|functions|types)|sm_\d\d(?:_atomic_functions|_intrinsics)?"
    r"|device_atomic_functions|vector_(?:types|functions)|driver_types|builtin_types|host_defines"
    r"|math_functions)\.h"
)

# Text that looks like code, numbers (because of ' in them), and includes (because the name is not a string).
NO_CODE = re.compile(
    r"//(?:\\\n|[^\n])*|/\*.*?\*/|(?P<literal>R\"([^()\\\s]*)\(.*?\)\2\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\."
    r"|[^'\\\n])+')"
    r"|(?P<keep>\b\d[\w.']*)|^(?P<include>[ \t]*\#[ \t]*include[ \t]*)(?:\"(?P<quoted>[^\"\n]+)\""
    r"|<(?P<angled>[^>\n]+)>)",
    re.S | re.M,
)
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)((?:\\\n|[^\n])*)", re.M)
TOKEN = re.compile(r"\"\s*\"|[A-Za-z_]\w*|\d[\w.']*|::|->|&&|\|\||[<>=!]=|[^\s\\]")
NAME = re.compile(r"[A-Za-z_]\w*")

DEVICE_ONLY = re.compile(r"__CUDA\w*|__NVCC__")  # macros that nvcc alone defines
OPENING, CLOSING = {"(", "[", "{"}, {")", "]", "}"}
STATEMENTS = {"return", "co_return", "if", "else", "do", "while", "for", "switch", "case", "default", "throw"}
STATEMENTS |= {"and", "or", "not"}  # operators, spelt as words
ATTRIBUTES = {"alignas", "__align__", "__attribute__", "__launch_bounds__", "__cluster_dims__"}
ATTRIBUTES |= {"decltype", "requires"}
NULLS = {"NULL": "nullptr", "0": "simt::Zero{}"}
LOCALS = re.compile(
    r"(?:volatile |unsigned |signed |long |short )*[A-Za-z_]\w*(?: :: \w+)*(?: <[^;]*?>)?(?: \*)* "
    r"[A-Za-z_]\w* (?:\[|,|=|\{)"
)
NO_LOCALS = {"__shared__", "const", "constexpr", "static", "extern"}
NO_LOCALS |= {"typedef", "using", "delete", "new", "goto"}
SPECIFIERS = {"extern", "static", "volatile", "const", "inline", "constexpr", "thread_local"}


def is_name(word: str) -> bool:
    return bool(NAME.fullmatch(word)) and word not in STATEMENTS


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
        return guess and not any(map(DEVICE_ONLY.fullmatch, words[1:]))
    comparison = "".join("0" if DEVICE_ONLY.fullmatch(word) else word for word in words)
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


# Tokens. A place is the index of a token.


class Tokens:
    """The tokens of a text without its directives, or of the body of a macro."""

    def __init__(
        self,
        code: str,
        start: int = 0,
        end: int | None = None,
        parameters: Collection[str] = (),
        of_macro: bool = False,
    ) -> None:
        self.found = list(TOKEN.finditer(code, start, len(code) if end is None else end))
        self.words = [token[0] for token in self.found]
        self.end = len(code) if end is None else end
        self.parameters, self.of_macro = parameters, of_macro

    def start_of(self, place: int) -> int:
        return self.found[place].start() if place < len(self.found) else self.end

    def word(self, place: int) -> str:
        return self.words[place] if 0 <= place < len(self.words) else ""

    def partner(self, place: int) -> int | None:
        """Returns the place of the bracket that matches this one; None if there is none."""
        step, depth = (1 if self.words[place] in OPENING else -1), 0
        while 0 <= place < len(self.words):
            depth += (self.words[place] in OPENING) - (self.words[place] in CLOSING)
            if depth == 0:
                return place
            place += step
        return None

    def behind(self, place: int) -> int:
        """Returns the place after the token, or after the brackets that open with it."""
        return (self.partner(place) or len(self.words) if self.words[place] in OPENING else place) + 1

    def scan(self, place: int, end: int | None = None) -> Iterator[int]:
        """Yields the places from here to the end of the enclosing brackets, without the contents of nested
        brackets."""
        end = len(self.words) if end is None else end
        while place < end and self.words[place] not in CLOSING:
            yield place
            place = self.behind(place)

    def scopes(self) -> list[tuple[bool, bool]]:
        """Returns the context of each place: in a function or an initial value, and directly in a class."""
        out: list[tuple[bool, bool]] = []
        open_braces: list[tuple[bool, bool]] = []
        head = 0
        for place, word in enumerate(self.words):
            if word == "{":
                before = self.words[head:place]
                of_namespace = "namespace" in before or (before[:1] == ["extern"] and before[-1][0] == '"')
                of_class = not {"class", "struct", "union"}.isdisjoint(before) and before[-1] != ")"
                open_braces.append((not of_namespace, of_class))
            elif word == "}" and open_braces:
                open_braces.pop()
            if word in {";", "{", "}"}:
                head = place + 1
            out.append((any(inside for inside, _ in open_braces), bool(open_braces) and open_braces[-1][1]))
        return out

    def statement(self, place: int) -> tuple[int, int]:
        """Returns the begin and end of the declaration that contains this place."""
        start = place
        while start > 0:
            before = self.words[start - 1]
            if before in {")", "]"}:
                opened = self.partner(start - 1)
                if opened is None or (before == ")" and self.word(opened - 1) not in ATTRIBUTES):
                    break
                start = opened - (before == ")")
            elif before in {";", "{", "}", ":", "("} or before in STATEMENTS:
                break
            else:
                start -= 1
        for at in self.scan(place):
            if self.words[at] == ";":
                return start, at
        return start, min(self.behind(at), len(self.words))  # in a macro, or a mistake

    def begins_statement(self, place: int) -> bool:
        """True if a statement may begin here, by the word before it."""
        before = self.word(place - 1)
        if before == ")":
            opened = self.partner(place - 1)
            return opened is not None and self.word(opened - 1) in {
                "if",
                "while",
                "for",
                "switch",
                "constexpr",
            }
        return before in {";", "{", "}", "else", "do"}

    def name_of_template(self, place: int, kernels: Collection[str]) -> int | None:
        """Returns the name before template arguments that end here. A < may be a comparison, so only known
        kernels count."""
        depth, first = 0, None
        while place > 0 and self.words[place] not in OPENING and self.words[place] not in {";", "}"}:
            word, before = self.words[place], self.words[place - 1]
            if word in CLOSING:
                opened = self.partner(place)
                if opened is None:
                    return None
                place = opened
            elif word == ">":
                depth += 1
            elif word == "<" and is_name(before) and self.word(place + 1) != "<":
                depth -= 1
                if depth <= 0 and before in kernels:
                    return place - 1
                if depth == 0 and first is None:
                    first = place - 1
            place -= 1
        return first

    def callee(self, end: int, kernels: Collection[str]) -> tuple[int | None, str | None]:
        """Returns where the expression before `end` begins: k, ::a::k<4>, (k), table[i], choice.kernel; and
        its last name."""
        place: int | None = end - 1
        last: str | None = None
        while place is not None and place >= 0:
            word = self.words[place]
            if word == ">":
                place = self.name_of_template(place, kernels)
                continue
            if word in {")", "]"}:
                place = self.partner(place)
                if place is None:
                    break
                before = self.word(place - 1)
                # True of "table[i](k)", but not of "if (…) (k)".
                if is_name(before) or before in {"]", ">"} or word + before == "])":
                    place -= 1
                    last = ""
                    continue
            elif not is_name(word):
                break
            last = word if last is None else last
            before = self.word(place - 1)
            if before == "template":
                place -= 1
                before = self.word(place - 1)
            if before == "::" and not is_name(self.word(place - 2)) and self.word(place - 2) != ">":
                return place - 1, last
            if before not in {"::", ".", "->"}:
                return place, last
            place -= 2
        return None, None

    def launches(self, kernels: Collection[str]) -> Iterator[tuple[int | None, int, int | None, str | None]]:
        """Returns for each launch the places of its kernel, of <<< and of >>>, and the kernel's name; None
        for one without."""
        for place in range(len(self.words) - 2):
            if self.words[place : place + 3] != ["<", "<", "<"]:
                continue
            start, name = self.callee(place, kernels)
            close = None
            for at in self.scan(place + 3):
                behind = self.word(at + 3)
                if self.words[at] == ";":
                    break
                if self.words[at : at + 3] == [">", ">", ">"] and (behind == "(" or is_name(behind)):
                    close = at
                    break
            yield start, place, close, name

    def kernels(self, markers: Collection[str]) -> Iterator[tuple[int, int]]:
        """Returns for each kernel the places of __global__, or of a macro for it, and of its name."""
        for place, word in enumerate(self.words):
            if word in markers:
                name = None  # the last one: a macro may precede it
                for at in self.scan(place + 1):
                    if self.words[at] in {";", "{"}:
                        break
                    if (
                        self.word(at + 1) == "("
                        and is_name(self.words[at])
                        and self.words[at] not in ATTRIBUTES
                    ):
                        name = at
                if name is not None:
                    yield place, name

    def of_device(self, markers: set[str]) -> Iterator[str]:
        """Returns the functions and variables declared with one of the markers; "*" for one declared by a
        macro."""
        for place, word in enumerate(self.words):
            if word not in markers:
                continue
            value, angles = False, 0  # a default value; angle brackets of template arguments
            for at in self.scan(place + 1):
                here, before = self.words[at], self.word(at - 1)
                angles += (here == "<") - (here == ">")
                if "operator" in self.words[place:at] and here == "(":
                    yield "operator"
                    break
                if here == "(" and self.word(at + 1) == "*":  # a pointer to a function
                    yield from filter(is_name, self.words[at + 2 : self.partner(at)])
                    break
                is_declared = (
                    is_name(before) and not value and angles == 0 and before not in ATTRIBUTES | markers
                )
                if is_declared and here in {"(", "[", "=", ",", ";", "{"}:
                    made = before in self.parameters or (self.of_macro and "#" in {self.word(at - 2), here})
                    yield "*" if made else before
                if here == ";" or (here == "(" and before not in ATTRIBUTES):
                    break
                value = here == "=" or (value and here != ",")


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

    def refuse(self) -> None:
        """Rejects code that the CPU back end does not support."""
        for pattern, what in REFUSED:
            if match := re.search(pattern, self.code):
                named = what.format(match[0])
                self.error(
                    match.start(),
                    f"the CPU back end has no {named}: {INSTEAD.get(named, 'this step needs a GPU build')}",
                )
        if match := re.search(r"(?<!\])\]\s*(?:\([^()]*\)\s*)?__(?:device|host)__", self.code):
            self.error(
                match.start(),
                "nvcc takes no __device__ or __host__ of a lambda: it would need --extended-lambda",
            )

    def check_kernel(self, tokens: Tokens, marker: int, name: int) -> None:
        """Rejects kernel definitions that nvcc rejects, and references, which the CUDA guide forbids."""
        start = tokens.start_of(marker)
        if tokens.scopes()[marker][1] and "friend" not in tokens.words[slice(*tokens.statement(marker))]:
            self.error(start, "a kernel cannot be a member function")
        value = False  # in a default value
        for at in tokens.scan(name + 2):
            value = tokens.words[at] == "=" or (value and tokens.words[at] != ",")
            if tokens.words[at] in {"&", "&&"} and not value:
                self.error(
                    start,
                    "a kernel takes no reference, which would refer to memory of the host: hand it the "
                    "value or a pointer",
                )
        body = tokens.behind(name + 1)
        if tokens.word(body) in {"noexcept", "throw"}:
            self.error(start, f"a kernel takes no {tokens.word(body)}")
        for at in range(body, (tokens.partner(body) or body) if tokens.word(body) == "{" else body):
            if tokens.words[at : at + 3] == ["<", "<", "<"]:
                self.error(
                    tokens.start_of(at), "a kernel launches no other: nvcc takes that only with -rdc=true"
                )

    def translate_bounds(self, tokens: Tokens, marker: int, name: int) -> None:
        """Makes a kernel with __launch_bounds__ check them first: which launch it belongs to may depend on
        template arguments."""
        body = tokens.behind(name + 1)
        for at in range(tokens.statement(marker)[0], body):
            if tokens.words[at] != "__launch_bounds__" or tokens.word(body) != "{":
                continue
            if tokens.word(at + 1) == "(" and (close := tokens.partner(at + 1)) is not None:
                bound = self.code[tokens.found[at + 1].end() : tokens.start_of(close)]
                brace = tokens.found[body].end()
                self.edits.append((brace, brace, f" simt::hold_to_bounds({' '.join(bound.split())});"))

    def translate_locals(self, tokens: Tokens, name: int) -> None:
        """Makes a kernel report the size of its local arrays, because a thread has few registers. Tables of
        constants are left to the compiler."""
        body, scopes = tokens.behind(name + 1), tokens.scopes()
        at, end = body, tokens.partner(body) if tokens.word(body) == "{" and not tokens.of_macro else None
        while end and at < end:
            at += 1
            if tokens.words[at] != "[" or not is_name(tokens.word(at - 1)) or scopes[at][1]:
                continue
            start, stop = tokens.statement(at)
            words = tokens.words[start:stop]
            if tokens.word(start - 1) not in {"{", "}", ";"} or tokens.word(stop) != ";":
                continue
            if (
                not LOCALS.match(" ".join(words))
                or words[0] in STATEMENTS | NO_LOCALS
                or not NO_LOCALS.isdisjoint(words)
            ):
                continue
            arrays, value = [], False  # float* first = &matrix[0] + 1, sums[64];
            for i in tokens.scan(start, stop):
                value = tokens.words[i] == "=" or (value and tokens.words[i] != ",")
                if tokens.word(i + 1) == "[" and not value:
                    arrays.append(tokens.words[i])
            behind = tokens.found[stop].end()
            for array in filter(is_name, arrays):
                large = (
                    f' if constexpr (sizeof({array}) >= 256) simt::hold_local("{array}", sizeof({array}));'
                )
                self.edits.append((behind, behind, large))
            at = stop

    def translate_launches(self, tokens: Tokens, kernels: Collection[str]) -> Iterator[str]:
        """Replaces the launches. Returns the names launched, and where."""
        for start, chevrons, close, name in tokens.launches(kernels):
            position = tokens.start_of(chevrons)
            if start is None or close is None or name is None:
                self.error(
                    position, "a launch must be written in one piece, as kernel<<<grid, block>>>(arguments)"
                )
            self.edits += [
                (tokens.start_of(start), tokens.start_of(start), "simt::configured(SIMT_KERNEL("),
                (position, tokens.found[chevrons + 2].end(), "), "),
                (tokens.start_of(close), tokens.found[close + 2].end(), ")"),
            ]
            # A forwarding template takes NULL for a number, and 0 for no pointer.
            for at in tokens.scan(close + 4):
                around = {tokens.word(at - 1), tokens.word(at + 1)}
                if tokens.words[at] in NULLS and around <= {"(", ",", ")"}:
                    self.edits.append((*tokens.found[at].span(), NULLS[tokens.words[at]]))
            if name not in tokens.parameters:
                yield name

    def translate_dropped_errors(self, tokens: Tokens) -> None:
        """Marks calls whose result is dropped: they do not check whether a launch has failed."""
        for place, word in enumerate(tokens.words):
            if word in {"cudaGetLastError", "cudaPeekAtLastError"} and tokens.words[
                place + 1 : place + 4
            ] == ["(", ")", ";"]:
                start = place - (tokens.word(place - 1) == "::")
                if tokens.words[max(start - 3, 0) : start] == ["(", "void", ")"]:
                    start -= 3
                if tokens.begins_statement(start):
                    self.edits.append((*tokens.found[place].span(), f"simt::dropped_{word}"))

    def translate_shared(self, tokens: Tokens, markers: Collection[str]) -> None:
        scopes = tokens.scopes()
        for place, word in enumerate(tokens.words):
            if word not in markers:
                continue
            start, end = tokens.statement(place)
            words = tokens.words[start:end]
            self.check_alignment(tokens, start, end)
            if "extern" in words:
                self.edits.append((*tokens.found[place].span(), ""))
                self.translate_dynamic(tokens, start, end, scopes[place][0] or tokens.of_macro)
                continue
            if self.has_initial_value(tokens, start, end):
                self.error(
                    tokens.start_of(place),
                    "shared memory takes no initial value: let a thread store it, before a barrier",
                )
            for at in range(start, end):
                if tokens.words[at] == "static":
                    self.edits.append((*tokens.found[at].span(), ""))
                elif tokens.words[at] == "alignas" and at > start and (close := tokens.partner(at + 1)):
                    text = self.text[tokens.start_of(at) : tokens.found[close].end()]
                    self.edits.append(
                        (tokens.start_of(start), tokens.start_of(start), " ".join(text.split()) + " ")
                    )
                    self.edits.append(
                        (tokens.start_of(at), tokens.found[close].end(), "\n" * text.count("\n"))
                    )

    def check_alignment(self, tokens: Tokens, start: int, end: int) -> None:
        """Moves alignas to the front. Rejects it where nvcc does, with a clearer message."""
        before: list[str] = []
        for at in tokens.scan(start, end):
            word = tokens.words[at]
            if word == "alignas" and before and SPECIFIERS.issuperset(before):
                self.error(
                    tokens.start_of(at),
                    f"nvcc takes no alignas after {before[-1]}: put it in front, or use __align__",
                )
            if word not in {"__shared__", "[", "("} and word not in ATTRIBUTES:
                before.append(word)

    def has_initial_value(self, tokens: Tokens, start: int, end: int) -> bool:
        of_class = False
        for at in tokens.scan(start, end):
            word, before = tokens.words[at], tokens.word(at - 1)
            of_class = of_class or word in {"class", "struct", "union", "enum"}
            if word == "=" or (word == "{" and not of_class):
                return True
            if word == "(" and is_name(before) and before not in ATTRIBUTES and at - 2 >= start:
                close, type_ = tokens.partner(at), tokens.words[at - 2]
                if (
                    close
                    and tokens.word(close + 1) in {";", ","}
                    and type_ != "__shared__"
                    and type_ not in SPECIFIERS
                ):
                    return True
        return False

    def translate_dynamic(self, tokens: Tokens, start: int, end: int, in_function: bool) -> None:
        """Declares the type of the name, so that a second declaration with another type is an error, and the
        memory."""
        names: list[int] = []
        last, sized, angles = start, False, 0
        for at in tokens.scan(start, end):
            word = tokens.words[at]
            angles += (word == "<") - (word == ">")
            if word == "," and angles == 0:
                names.append(last)
                sized = False
            elif word == "[":
                sized = True
            elif word == "(" and tokens.words[at - 1] not in ATTRIBUTES:  # (*rows)[4]
                last = next(
                    (inner for inner in range(at, tokens.behind(at)) if is_name(tokens.word(inner))), last
                )
            elif not sized and is_name(word) and word not in ATTRIBUTES:
                last = at
        names.append(last)
        glue = "simt_##" if tokens.of_macro else "simt_"
        form = "SIMT_DYNAMIC({})" if in_function else "SIMT_DYNAMIC_OUTSIDE({})"
        for name in names:
            self.edits.append((tokens.start_of(name), tokens.start_of(name), glue))
            if tokens.words[name + 1 : name + 3] == ["[", "]"]:
                self.check_sizeof(tokens, tokens.words[name], end)
        behind = tokens.found[end - 1].end()
        self.edits.append((behind, behind, "".join("; " + form.format(tokens.words[name]) for name in names)))

    def check_sizeof(self, tokens: Tokens, name: str, place: int) -> None:
        end = place
        for at in tokens.scan(place):
            end = tokens.behind(at)
        for at in range(place, end):
            words = tokens.words[at : at + 4]
            if words == ["sizeof", "(", name, ")"] or (words[:2] == ["sizeof", name] and words[2:3] != ["["]):
                self.error(
                    tokens.start_of(at), f"{name} has no size: the launch says how many bytes there are"
                )

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


def read_all(step: pathlib.Path) -> list[Source]:
    """Returns the step and the headers of its own that it includes, outside system folders and this
    repository's."""
    sources: dict[pathlib.Path, Source] = {}

    def read(path: pathlib.Path) -> Source:
        source = sources[path] = Source(path)
        for start, end, name, quoted in source.included:
            for folder in [path.parent, step.parent] if quoted else [step.parent]:
                found = pathlib.Path(os.path.normpath(folder / name))
                if found.is_file() and not any(house in found.resolve().parents for house in HOUSE):
                    header = sources[found] if found in sources else read(found)
                    source.headers.append((start, end, header))
                    # an include that is read here is checked in its own text
                    source.code = source.code[:start] + " " * (end - start) + source.code[end:]
                    break
            else:
                if TOOLKIT.fullmatch(name):
                    source.edits.append((source.code.rindex("#", 0, start), end, ""))
        return source

    read(step)
    return list(sources.values())


def dependencies(target: str | pathlib.Path, sources: Sequence[Source]) -> str:
    """Returns the rule that lists the files of a target, for Ninja."""
    names = [
        re.sub(r"([ #\\])", r"\\\1", str(path)).replace("$", "$$")
        for path in (target, *(source.path for source in sources))
    ]
    return f"{names[0]}: {' '.join(names[1:])}\n"


def translated(step: pathlib.Path) -> tuple[str, list[Source]]:
    """Returns the step for a C++ compiler, and the files read."""
    sources = read_all(step)
    for source in sources:
        source.refuse()
    macros = {name: words for source in sources for name, words in source.macros.items()}
    of_kernels = {"__global__", *(name for name, words in macros.items() if "__global__" in words)}
    of_shared = {"__shared__", *(name for name, words in macros.items() if words == ["__shared__"])}
    kernels = set()
    for source in sources:
        for tokens in source.parts:
            for marker, name in tokens.kernels(of_kernels):
                source.check_kernel(tokens, marker, name)
                source.translate_bounds(tokens, marker, name)
                source.translate_locals(tokens, name)
                kernels.add(tokens.words[name])
    launched = {
        name
        for source in sources
        for tokens in source.parts
        for name in source.translate_launches(tokens, kernels)
    }
    for source in sources:
        for tokens in source.parts:
            for place in range(1, len(tokens.words) - 1):
                before, word, behind = tokens.words[place - 1 : place + 2]
                if word not in launched - kernels or before != "void" or behind != "(":
                    continue
                if (close := tokens.partner(place + 1)) and tokens.word(close + 1) == "{":
                    meant = f"; or is a kernel meant: {', '.join(sorted(kernels))}?" if kernels else ""
                    source.error(
                        tokens.start_of(place - 1),
                        f"{word} is launched, so it needs a __global__ in front{meant}",
                    )
            source.translate_shared(tokens, of_shared)
            source.translate_dropped_errors(tokens)
    of_device = {"__global__", "__device__", "__constant__", "__managed__"}
    of_device |= {name for name, words in macros.items() if not of_device.isdisjoint(words)}
    names = {name for source in sources for tokens in source.parts for name in tokens.of_device(of_device)}
    text = " ".join(sorted(names))
    known = f'[[gnu::used, gnu::section("simt_of_device")]] static const char simt_of_device[] = "{text}";\n'
    # Like nvcc, includes CUDA's declarations first.
    text = '#include "simt/cuda.hpp"\n' + (known if names else "") + sources[0].translated(step.parent)
    return text, sources


def main() -> None:
    step, target = map(pathlib.Path, sys.argv[1:3])
    text, sources = translated(step)
    target.write_text(text, encoding="utf-8", errors="surrogateescape")
    if len(sys.argv) > 3:
        pathlib.Path(sys.argv[3]).write_text(
            dependencies(target, sources), encoding="utf-8", errors="surrogateescape"
        )


if __name__ == "__main__":
    main()
