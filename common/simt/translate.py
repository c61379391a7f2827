#!/usr/bin/env python3
"""Makes a CUDA source readable for a C++ compiler: translate.py step.cu step.cpp

What has no C++ form is replaced, line for line:
  extern __shared__ T name[];       ->  a pointer to what the launch asked for
  kernel<<<grid, block, bytes>>>(   ->  a launch
  __shared__ alignas(n)             ->  alignas(n) __shared__
  static __shared__                 ->  __shared__
  #include <cuda_runtime.h>         ->  nothing: the step's own include declares what there is
What has no meaning on the CPU back end is refused in one line.
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
        new = re.sub(r"\\(\d)", lambda group: text[slice(*match.span(int(group[1])))], form)
        lost = match.group(0).count("\n") - new.count("\n")
        out += [text[end:match.start()], new, "\n" * lost]
        end = match.end()
    return "".join(out) + text[end:]


def main():
    source, target = map(pathlib.Path, sys.argv[1:3])
    text = source.read_text(encoding="utf-8")
    code = blank_comments(text)
    for pattern, what in REFUSED:
        if match := re.search(pattern, code):
            line = code.count("\n", 0, match.start()) + 1
            sys.exit(f"{source}:{line}: error: the CPU back end has no {what}: this step needs a GPU build")
    text = substitute(TOOLKIT, "", text)
    text = substitute(DYNAMIC_SHARED, r"[[maybe_unused]] const auto \3 = simt::dynamic_shared<\1\2[]\4>();", text,
                      elsewhere=r"extern std::decay_t<\1\2[]\4> const \3 SIMT_DYNAMIC_SHARED;")
    text = substitute(STATIC, r"\1\2", text)
    text = substitute(ALIGNED, r"\2\1", text)
    text = substitute(LAUNCH, r"simt::configured(\1, \2)(", text)
    target.write_text(f'#line 1 "{source}"\n{text}', encoding="utf-8")


if __name__ == "__main__":
    main()
