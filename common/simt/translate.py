#!/usr/bin/env python3
"""Makes a CUDA source readable for a C++ compiler: translate.py step.cu step.cpp

Two spellings have no C++ form and are replaced, line for line:
  extern __shared__ T name[];       ->  a DynamicShared<T> of that name
  kernel<<<grid, block, bytes>>>(   ->  a launch
What has no meaning on the CPU back end is refused in one line.
"""

import pathlib
import re
import sys

REFUSED = [
    (r"#\s*include\s*<(cooperative_groups|mma|cuda_pipeline|cuda/barrier|cuda/pipeline|cub/|thrust/)", "this header"),
    (r"\b(nvcuda::wmma|wmma::)", "tensor cores"),
    (r"\basm\s*(volatile)?\s*\(", "inline PTX"),
    (r"\btexture\s*<|\bcudaTextureObject_t\b|\btex[123]D\w*\s*[<(]", "textures"),
    (r"\b__pipeline_|\bcp\.async\b|\bcuda::memcpy_async\b", "asynchronous copies"),
]

DYNAMIC_SHARED = re.compile(
    r"extern\s+(?:volatile\s+)?__shared__\s+(?:(?:__align__|alignas)\s*\(\s*\w+\s*\)\s*)?([\w:<>,\s]+?)\s*\b(\w+)\s*\[\s*\]\s*;"
)
LAUNCH = re.compile(r"([A-Za-z_][\w:]*(?:\s*<[^<>;{}]*>)?)\s*<<<(.*?)>>>\s*\(", re.S)


def blank_comments(text):
    """The text with comments and string literals blanked out, every character in its place."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", blank, text, flags=re.S)


def substitute(pattern, replacement, text):
    """Replaces where the pattern matches outside of comments, keeping the number of lines."""
    code = blank_comments(text)
    out, end = [], 0
    for match in pattern.finditer(code):
        original = pattern.match(text, match.start())
        if original is None:
            continue
        new = original.expand(replacement)
        lost = original.group(0).count("\n") - new.count("\n")
        out += [text[end:match.start()], new, "\n" * lost]
        end = original.end()
    return "".join(out) + text[end:]


def main():
    source, target = map(pathlib.Path, sys.argv[1:3])
    text = source.read_text(encoding="utf-8")
    code = blank_comments(text)
    for pattern, what in REFUSED:
        if match := re.search(pattern, code):
            line = code.count("\n", 0, match.start()) + 1
            sys.exit(f"{source}:{line}: error: the CPU back end has no {what}: this step needs a GPU build")
    text = substitute(DYNAMIC_SHARED, r"[[maybe_unused]] static constexpr simt::DynamicShared<\1> \2{};", text)
    text = substitute(LAUNCH, r"simt::configured(\1, \2)(", text)
    target.write_text(f'#line 1 "{source}"\n{text}', encoding="utf-8")


if __name__ == "__main__":
    main()
