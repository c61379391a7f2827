#!/usr/bin/env python3
"""Makes a CUDA source readable for a C++ compiler: translate.py step.cu step.cpp

What has no C++ form is replaced, line for line:
  extern __shared__ T name[];       ->  a pointer to what the launch asked for
  kernel<<<grid, block, bytes>>>(   ->  a launch, of a template or an overloaded kernel as a call that the compiler resolves
  __shared__ alignas(n)             ->  alignas(n) __shared__
  static __shared__                 ->  __shared__
  #include <cuda_runtime.h>         ->  nothing: the step's own include declares what there is
What has no meaning on the CPU back end is refused in one line, and so is what nvcc would refuse and a C++ compiler
does not: a kernel without __global__, an initial value in shared memory.
"""

import pathlib
import re
import sys

REFUSED = [
    (r"#\s*include\s*<cooperative_groups|\bcooperative_groups::|\bcudaLaunchCooperative", "cooperative groups"),
    (r"#\s*include\s*<mma\b|\bwmma::", "tensor cores"),
    (r"#\s*include\s*<cuda_(?:fp16|bf16|fp8)\b", "arithmetic in less than 32 bits"),
    (r"#\s*include\s*<(?:cuda_pipeline|cuda/(?:barrier|pipeline))|\b__pipeline_|\bcuda::memcpy_async\b",
     "asynchronous copies"),
    (r"#\s*include\s*<(?:cub|thrust|cuda)/", "such library"),
    (r"\basm\s*(?:volatile\s*)?\(|\b__asm(?:__)?\b", "inline PTX"),
    (r"\bcuda(?:Event|Stream(?!_t\b)|Graph|MallocManaged|MallocHost|MallocPitch|MallocAsync|FreeAsync|HostAlloc|Memcpy[23]D"
     r"|MemPrefetch|(?:Get|Set)Device|Device(?:Get|Set)|Func(?:Get|Set(?!Attribute\b))|Occupancy|LaunchKernel)\w*", "{}"),
    (r"\b(?:clock64|globaltimer|__trap)(?=\s*\()", "{}"),
    (r"\btexture\s*<|\bcuda(?:Texture|Surface)Object_t\b|\b(?:tex|surf)[123]D\w*\s*[<(]", "textures"),
]

IN_PARENTHESES = r"\((?:[^()]|\([^()]*\))*\)"
TOOLKIT = re.compile(r"#[ \t]*include[ \t]*<(?:cuda|cuda_runtime|cuda_runtime_api|device_launch_parameters)\.h>")
STATIC = re.compile(r"\bstatic\s+(__shared__\b)|(\b__shared__\s+)static\b")
ALIGNED = re.compile(rf"(__shared__\s+)(alignas\s*{IN_PARENTHESES}\s*)")
DYNAMIC_SHARED = re.compile(
    rf"extern\s+((?:volatile\s+)?)__shared__\s+(?:(?:__align__|alignas)\s*{IN_PARENTHESES}\s*)?"
    r"([\w:<>,\s]+?)\s*\b(\w+)\s*\[\s*\]((?:\s*\[[^\[\]]*\])*)\s*;"
)
KERNEL = re.compile(
    rf"(?P<template>\btemplate\s*<[^;{{}}]*?>[^;{{}}()<>]*?)?__global__(?:\s|\w|__launch_bounds__\s*{IN_PARENTHESES}"
    rf"|[<>:,*&])*?\b(?P<name>(?!__launch_bounds__)\w+)\s*(?P<parameters>{IN_PARENTHESES})"
)
LAUNCHED = re.compile(r"\b(\w+)\s*(?:<[^<>;{}()]*>\s*)?<<<|\blaunch\s*\(\s*(\w+)\s*[<,]")
INITIALISED = re.compile(r"__shared__[^;=(){}]*=[^;]*;")
LAUNCH = re.compile(
    rf"([A-Za-z_][\w:]*(?:\s*<(?:[^<>;{{}}()]|<[^<>;{{}}]*>|{IN_PARENTHESES})*>)?)\s*<<<(.*?)>>>\s*\(", re.S
)


def blank_comments(text):
    """The text with comments and literals blanked out, every character in its place."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", blank, text, flags=re.S)


def in_function(code, position):
    """Whether braces are open there that are no namespace's."""
    open_braces = []
    for brace in re.finditer(r"(\bnamespace\b[\w:\s]*|\bextern\s+)?\{|\}", code[:position]):
        if brace[0] != "}":
            open_braces.append(brace[1] is None)
        elif open_braces:
            open_braces.pop()
    return any(open_braces)


def substitute(pattern, replacement, text, elsewhere=None):
    """Replaces where the pattern matches outside of comments, keeping the number of lines; outside of functions by
    what is given for there."""
    code = blank_comments(text)
    out, end = [], 0
    for match in pattern.finditer(code):
        form = elsewhere if elsewhere and not in_function(code, match.start()) else replacement
        if callable(form):
            form = form(match[1])
        new = re.sub(r"\\(\d)", lambda group: text[slice(*match.span(int(group[1])))], form)
        lost = match.group(0).count("\n") - new.count("\n")
        out += [text[end:match.start()], new, "\n" * lost]
        end = match.end()
    return "".join(out) + text[end:]


def error(source, code, position, message):
    sys.exit(f"{source}:{code.count(chr(10), 0, position) + 1}: error: {message}")


def resolved_by_arguments(code):
    """The kernels whose name alone says not which function is launched, or with which arguments."""
    kernels = [(match["name"], match["template"] or "=" in match["parameters"]) for match in KERNEL.finditer(code)]
    names = [name for name, _ in kernels]
    return {name for name, by_arguments in kernels if by_arguments or names.count(name) > 1}


def main():
    source, target = map(pathlib.Path, sys.argv[1:3])
    if b"\0" in source.read_bytes():
        sys.exit(f"{source}:1: error: this is no text in UTF-8: save it as such")
    text = source.read_text(encoding="utf-8-sig", errors="surrogateescape")
    code = blank_comments(text)
    for pattern, what in REFUSED:
        if match := re.search(pattern, code):
            error(source, code, match.start(), f"the CPU back end has no {what.format(match[0])}: this step needs a GPU build")
    if match := INITIALISED.search(code):
        error(source, code, match.start(), "shared memory takes no initial value: let a thread store it, before a barrier")
    kernels = {match["name"] for match in KERNEL.finditer(code)}
    for match in LAUNCHED.finditer(code):
        name = match[1] or match[2]
        if name not in kernels and (found := re.search(rf"\bvoid\s+{name}\s*{IN_PARENTHESES}\s*\{{", code)):
            error(source, code, found.start(), f"{name} is launched, so it needs a __global__ in front")
    text = substitute(TOOLKIT, "", text)
    text = substitute(DYNAMIC_SHARED, r"[[maybe_unused]] const auto \3 = simt::dynamic_shared<\1\2[]\4>();", text,
                      elsewhere=r"extern std::decay_t<\1\2[]\4> const \3 SIMT_DYNAMIC_SHARED;")
    text = substitute(STATIC, r"\1\2", text)
    text = substitute(ALIGNED, r"\2\1", text)
    by_arguments = resolved_by_arguments(code)
    text = substitute(LAUNCH, lambda name: rf"simt::configured([=](auto... a) {{ {name}(a...); }}, \2)(" if name in by_arguments
                      else r"simt::configured(\1, \2)(", text)
    target.write_text(f'#line 1 "{source}"\n{text}', encoding="utf-8", errors="surrogateescape")


if __name__ == "__main__":
    main()
