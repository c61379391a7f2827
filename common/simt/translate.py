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
  #include <cublas_v2.h>             ->  nothing: a library's names are rejected
  #include "mine.cuh"                ->  its text, if it is beside the step and has something to replace
Rejects, in one line, code that has no meaning on the CPU back end, and code that nvcc would reject and a C++
compiler does not, such as a kernel without __global__ or an initial value in shared memory. Writes the files
read into step.d, for Ninja.
"""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Collection, Iterator, Sequence

from source import Source, dependencies, read_all
from tokens import ATTRIBUTES, STATEMENTS, Tokens, is_name

STD = "array|atomic|cfloat|climits|cmath|concepts|cstddef|cstdint|limits|type_traits|utility"
# Features that the CPU back end lacks, and what to do without each. {} is the text found.
REFUSED = [
    (
        r"\bcudaLaunchCooperative\w*",
        "cooperative launches",
        "end the kernel where its blocks wait for each other, and launch the rest as another one",
    ),
    (
        r"\bwmma::(?:experimental|bmma_sync)\b"
        r"|\bfragment\s*<[^<>;]*,\s*(?:32\s*,\s*8\s*,\s*16|8\s*,\s*32\s*,\s*16|8\s*,\s*8\s*,\s*4)\s*,"
        r"|\bfragment\s*<[^<>;]*,\s*(?:signed\s+char|unsigned\s+char|u?int8_t|int)\b",
        "such tensor cores",
        "multiply 16 x 16 x 16 elements of half or __nv_bfloat16, or 16 x 16 x 8 of tf32",
    ),
    (r"#\s*include\s*<cuda_fp[864]\b", "arithmetic in less than 16 bits", "use half or __nv_bfloat16"),
    (
        rf"#\s*include\s*<(cuda/(?!(?:atomic|barrier|pipeline|std/(?:{STD}))>)[^>]*)>",
        "<{1}>",
        f"it has atomic, barrier and pipeline, and of cuda/std {STD.replace('|', ', ')}",
    ),
    (
        r"\b(?:cublas|curand|cusparse|cusolver|cufft|cudnn|nvml|nvtx)[A-Z]\w*\b(?!\.h)|\bcurand_\w+\b(?!\.h)"
        r"|\b(?:thrust|cub|nvtx3)\s*::\s*\w+",
        "{}, which is a library's",
        "write that part as a kernel",
    ),
    (r"\basm\s*(?:volatile\s*)?\(|\b__asm(?:__)?\b", "inline PTX", "write that line in CUDA C++"),
    (r"\bcudaLaunchKernel\w*", "{}", "launch it as kernel<<<grid, block>>>(arguments)"),
    (
        r"\bcuda(?:Graph|Stream(?:BeginCapture|EndCapture))\w*",
        "{}",
        "launch the kernels one after the other, without a graph",
    ),
    (r"\bcuda(?:MemPrefetch|MemAdvise)\w*", "{}", "leave it out: no result depends on it"),
    (
        r"\bcuda(?:Malloc3D|MallocArray|Memcpy3D)\w*",
        "{}",
        "use cudaMalloc, and cudaMemcpy or cudaMemcpy2D",
    ),
    (
        r"\bcuda(?:Stream(?:AddCallback|AttachMem|CopyAttributes|[GS]etAttribute)|MallocFromPool|MemPool"
        r"|MemcpyPeer|FuncGet|LaunchHostFunc|DeviceEnablePeer|Ipc)\w*",
        "{}",
        "this line needs a GPU build",
    ),
    (r"\bglobaltimer(?=\s*\()", "{}", "use clock64()"),
    (
        r"\btexture\s*<|\bcuda(?:Texture|Surface)Object_t\b|\b(?:tex|surf)[123]D\w*\s*[<(]",
        "textures",
        "hand the kernel a pointer to the array",
    ),
]
NULLS = {"NULL": "nullptr", "0": "simt::Zero{}"}
LOCALS = re.compile(
    r"(?:volatile |unsigned |signed |long |short )*[A-Za-z_]\w*(?: :: \w+)*(?: <[^;]*?>)?(?: \*)* "
    r"[A-Za-z_]\w* (?:\[|,|=|\{)"
)
NO_LOCALS = {"__shared__", "const", "constexpr", "static", "extern"}
NO_LOCALS |= {"typedef", "using", "delete", "new", "goto"}
SPECIFIERS = {"extern", "static", "volatile", "const", "inline", "constexpr", "thread_local"}


def refuse(source: Source) -> None:
    """Rejects code that the CPU back end does not support."""
    for pattern, what, instead in REFUSED:
        if match := re.search(pattern, source.code):
            named = what.format(match[0], *match.groups())
            source.error(match.start(), f"the CPU back end has no {named}: {instead}")
    if match := re.search(r"(?<!\])\]\s*(?:\([^()]*\)\s*)?__(?:device|host)__", source.code):
        source.error(
            match.start(), "nvcc takes no __device__ or __host__ on a lambda: it would need --extended-lambda"
        )


def check_kernel(source: Source, tokens: Tokens, marker: int, name: int) -> None:
    """Rejects kernel definitions that nvcc rejects, and references, which the CUDA guide forbids."""
    start = tokens.start_of(marker)
    if tokens.scopes()[marker][1] and "friend" not in tokens.words[slice(*tokens.statement(marker))]:
        source.error(start, "a kernel cannot be a member function")
    value = False  # in a default value
    for at in tokens.scan(name + 2):
        value = tokens.words[at] == "=" or (value and tokens.words[at] != ",")
        if tokens.words[at] in {"&", "&&"} and not value:
            source.error(
                start,
                "a kernel takes no reference, which would refer to memory of the host: hand it the "
                "value or a pointer",
            )
    body = tokens.behind(name + 1)
    if tokens.word(body) in {"noexcept", "throw"}:
        source.error(start, f"a kernel takes no {tokens.word(body)}")
    for at in range(body, (tokens.partner(body) or body) if tokens.word(body) == "{" else body):
        if tokens.words[at : at + 3] == ["<", "<", "<"]:
            source.error(
                tokens.start_of(at), "a kernel cannot launch another one: nvcc takes that only with -rdc=true"
            )


def translate_bounds(source: Source, tokens: Tokens, marker: int, name: int) -> None:
    """Makes a kernel with __launch_bounds__ check them first: which launch it belongs to may depend on
    template arguments."""
    body = tokens.behind(name + 1)
    for at in range(tokens.statement(marker)[0], body):
        if tokens.words[at] != "__launch_bounds__" or tokens.word(body) != "{":
            continue
        if tokens.word(at + 1) == "(" and (close := tokens.partner(at + 1)) is not None:
            bound = source.code[tokens.found[at + 1].end() : tokens.start_of(close)]
            brace = tokens.found[body].end()
            source.edits.append((brace, brace, f" simt::hold_to_bounds({' '.join(bound.split())});"))


def translate_locals(source: Source, tokens: Tokens, name: int) -> None:
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
            large = f' if constexpr (sizeof({array}) >= 256) simt::hold_local("{array}", sizeof({array}));'
            source.edits.append((behind, behind, large))
        at = stop


def translate_launches(source: Source, tokens: Tokens, kernels: Collection[str]) -> Iterator[str]:
    """Replaces the launches. Returns the names launched, and where."""
    for start, chevrons, close, name in tokens.launches(kernels):
        position = tokens.start_of(chevrons)
        if start is None or close is None or name is None:
            source.error(
                position, "a launch must be written in one piece, as kernel<<<grid, block>>>(arguments)"
            )
        source.edits += [
            (tokens.start_of(start), tokens.start_of(start), "simt::configured(SIMT_KERNEL("),
            (position, tokens.found[chevrons + 2].end(), "), "),
            (tokens.start_of(close), tokens.found[close + 2].end(), ")"),
        ]
        # A forwarding template takes NULL for a number, and 0 for no pointer.
        for at in tokens.scan(close + 4):
            around = {tokens.word(at - 1), tokens.word(at + 1)}
            if tokens.words[at] in NULLS and around <= {"(", ",", ")"}:
                source.edits.append((*tokens.found[at].span(), NULLS[tokens.words[at]]))
        if name not in tokens.parameters:
            yield name


def translate_dropped_errors(source: Source, tokens: Tokens) -> None:
    """Marks calls whose result is dropped: they do not check whether a launch has failed."""
    for place, word in enumerate(tokens.words):
        if word in {"cudaGetLastError", "cudaPeekAtLastError"} and tokens.words[place + 1 : place + 4] == [
            "(",
            ")",
            ";",
        ]:
            start = place - (tokens.word(place - 1) == "::")
            if tokens.words[max(start - 3, 0) : start] == ["(", "void", ")"]:
                start -= 3
            if tokens.begins_statement(start):
                source.edits.append((*tokens.found[place].span(), f"simt::dropped_{word}"))


def translate_aligned(source: Source, tokens: Tokens) -> None:
    """Aligns arrays of the device like memory of cudaMalloc(). The linker would put them anywhere, and the
    lines that a warp reaches there would depend on what else is linked."""
    for place, word in enumerate(tokens.words):
        if word == "__device__":
            for at in tokens.scan(place + 1):
                if at > place + 1 and tokens.words[at] == "[" and is_name(tokens.words[at - 1]):
                    end = tokens.found[place].end()
                    source.edits.append((end, end, " __attribute__((aligned(256)))"))
                if tokens.words[at] in {"[", "(", "{", ";", "="} and is_name(tokens.words[at - 1]):
                    break


def translate_shared(source: Source, tokens: Tokens, markers: Collection[str]) -> None:
    scopes = tokens.scopes()
    for place, word in enumerate(tokens.words):
        if word not in markers:
            continue
        start, end = tokens.statement(place)
        words = tokens.words[start:end]
        check_alignment(source, tokens, start, end)
        if "extern" in words:
            source.edits.append((*tokens.found[place].span(), ""))
            translate_dynamic(source, tokens, start, end, scopes[place][0] or tokens.of_macro)
            continue
        if has_initial_value(tokens, start, end):
            source.error(
                tokens.start_of(place),
                "shared memory takes no initial value: let a thread store it, before a barrier",
            )
        for at in range(start, end):
            if tokens.words[at] == "static":
                source.edits.append((*tokens.found[at].span(), ""))
            elif tokens.words[at] == "alignas" and at > start and (close := tokens.partner(at + 1)):
                text = source.text[tokens.start_of(at) : tokens.found[close].end()]
                source.edits.append(
                    (tokens.start_of(start), tokens.start_of(start), " ".join(text.split()) + " ")
                )
                source.edits.append((tokens.start_of(at), tokens.found[close].end(), "\n" * text.count("\n")))


def check_alignment(source: Source, tokens: Tokens, start: int, end: int) -> None:
    """Moves alignas to the front. Rejects it where nvcc does, with a clearer message."""
    before: list[str] = []
    for at in tokens.scan(start, end):
        word = tokens.words[at]
        if word == "alignas" and before and SPECIFIERS.issuperset(before):
            source.error(
                tokens.start_of(at),
                f"nvcc takes no alignas after {before[-1]}: put it in front, or use __align__",
            )
        if word not in {"__shared__", "[", "("} and word not in ATTRIBUTES:
            before.append(word)


def has_initial_value(tokens: Tokens, start: int, end: int) -> bool:
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


def translate_dynamic(source: Source, tokens: Tokens, start: int, end: int, in_function: bool) -> None:
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
        source.edits.append((tokens.start_of(name), tokens.start_of(name), glue))
        if tokens.words[name + 1 : name + 3] == ["[", "]"]:
            check_sizeof(source, tokens, tokens.words[name], end)
    behind = tokens.found[end - 1].end()
    source.edits.append((behind, behind, "".join("; " + form.format(tokens.words[name]) for name in names)))


def check_sizeof(source: Source, tokens: Tokens, name: str, place: int) -> None:
    end = place
    for at in tokens.scan(place):
        end = tokens.behind(at)
    for at in range(place, end):
        words = tokens.words[at : at + 4]
        if words == ["sizeof", "(", name, ")"] or (words[:2] == ["sizeof", name] and words[2:3] != ["["]):
            source.error(tokens.start_of(at), f"{name} has no size: the launch says how many bytes there are")


def translated(step: pathlib.Path, options: Sequence[str] = ()) -> tuple[str, list[Source]]:
    """Returns the step for a C++ compiler with these options, and the files read."""
    sources = read_all(step, options)
    for source in sources:
        refuse(source)
    parts = [(source, tokens) for source in sources for tokens in source.parts]
    macros = {name: words for source in sources for name, words in source.macros.items()}
    of_kernels = {"__global__", *(name for name, words in macros.items() if "__global__" in words)}
    of_shared = {"__shared__", *(name for name, words in macros.items() if words == ["__shared__"])}
    kernels = set()
    for source, tokens in parts:
        for marker, name in tokens.kernels(of_kernels):
            check_kernel(source, tokens, marker, name)
            translate_bounds(source, tokens, marker, name)
            translate_locals(source, tokens, name)
            kernels.add(tokens.words[name])
    launched = {name for part in parts for name in translate_launches(*part, kernels)}
    for source, tokens in parts:
        for place in range(1, len(tokens.words) - 1):
            before, word, behind = tokens.words[place - 1 : place + 2]
            if word not in launched - kernels or before != "void" or behind != "(":
                continue
            if (close := tokens.partner(place + 1)) and tokens.word(close + 1) == "{":
                meant = f"; or is a kernel meant: {', '.join(sorted(kernels))}?" if kernels else ""
                message = f"{word} is launched, so it needs a __global__ in front{meant}"
                source.error(tokens.start_of(place - 1), message)
        translate_shared(source, tokens, of_shared)
        translate_aligned(source, tokens)
        translate_dropped_errors(source, tokens)
    of_device = {"__global__", "__device__", "__constant__", "__managed__"}
    of_device |= {name for name, words in macros.items() if not of_device.isdisjoint(words)}
    names = {name for _, tokens in parts for name in tokens.of_device(of_device)}
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
        rule = dependencies(target, sources)
        pathlib.Path(sys.argv[3]).write_text(rule, encoding="utf-8", errors="surrogateescape")


if __name__ == "__main__":
    main()
