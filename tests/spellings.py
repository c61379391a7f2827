#!/usr/bin/env python3
"""Checks with nvcc that what tests/wrong says to be the same code is the same code: spellings.py [CHAPTER...]

Two kernels are the same code if they have the same instructions, each as often, in any order and registers.
The suites must accept all of them (suite variants): a verdict may not depend on how such code is spelled.
"""

from __future__ import annotations

import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import paths  # noqa: F401  it makes the modules below importable

from repository import ROOT, Repository

INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/ +(?:@!?U?P\w+ +)?([A-Z][\w.]*)")
Code = collections.Counter[str]  # {instruction: times}


def compiled(chapter: str, text: str) -> Code:
    with tempfile.TemporaryDirectory(prefix="kata-spellings-") as folder:
        source, cubin = pathlib.Path(folder, "kernel.cu"), pathlib.Path(folder, "kernel.cubin")
        source.write_text(text, encoding="utf-8")
        folders = (f"-I{ROOT / each}" for each in ("common", "reference", f"solutions/{chapter}"))
        subprocess.run(
            ["nvcc", "-std=c++20", "-arch=sm_90", "-cubin", *folders, "-o", cubin, source], check=True
        )
        listing = ["cuobjdump", "-sass", str(cubin)]
        return Code(
            INSTRUCTION.findall(subprocess.run(listing, capture_output=True, text=True, check=True).stdout)
        )


def main() -> int:
    repository = Repository()
    kernels: dict[tuple[str, str], str] = {}
    pairs = []
    for chapter in sys.argv[1:] or repository.chapters():
        mistakes = repository.mistakes(chapter)
        texts = {mistake.kernel: repository.kernel(chapter, mistake) for mistake in mistakes}
        for mistake in mistakes:
            if other := mistake.same_code_as:
                pairs.append((chapter, mistake, other))
                kernels[chapter, mistake.kernel] = texts[mistake.kernel]
                kernels[chapter, other] = texts.get(other) or repository.text(chapter, other, "solutions")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as several:
        codes = dict(
            zip(kernels, several.map(compiled, (chapter for chapter, _ in kernels), kernels.values()))
        )
    wrong = 0
    for chapter, mistake, other in pairs:
        mine, others = codes[chapter, mistake.kernel], codes[chapter, other]
        if mine != others or not mine:
            wrong += 1
            print(
                mistake.fault(
                    f"nvcc makes other code of {other}: {dict(mine - others)}, {dict(others - mine)}"
                )
            )
    print(f"{len(pairs)} kernels have the same code as another, {wrong} of them do not")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
