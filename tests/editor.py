#!/usr/bin/env python3
"""Checks the errors that clangd shows a student: editor.py BUILD [FILE…]. Without files, checks the last step
of each chapter that the CPU back end runs, in both trees.

With .clangd, clangd reads a step as CUDA, without a toolkit: no stub and no solution may have an error, and a
kernel that calls a function of the host must have one. Skipped (77) without clangd.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator

from paths import ROOT, run

from repository import Repository

SKIPPED = 77
WRONG = "int one() { return 1; }\n__global__ void kernel(int* p) { p[threadIdx.x] = one(); }\n"


def errors(build: pathlib.Path, file: pathlib.Path) -> list[str]:
    """Returns the errors of a file; the last lines of clangd if it could not even begin."""
    options = (f"--check={file}", "--check-lines=1", f"--compile-commands-dir={build}")
    said = run("clangd", *options, cwd=ROOT).stderr.splitlines()
    found = [line.partition("] ")[2] for line in said if re.match(r"E\[[^]]*\] \[", line)]
    return (
        found
        if any("All checks completed" in line or "Failed to check" in line or found for line in said)
        else said[-3:]
    )


def chosen() -> Iterator[pathlib.Path]:
    repository = Repository(ROOT)
    for tree in ("chapters", "solutions"):
        for chapter in repository.chapters():
            yield ROOT / tree / chapter / f"{repository.cpu_steps(chapter)[-1]}.cu"


def main() -> int:
    if not shutil.which("clangd"):
        print("Skipped: there is no clangd.")
        return SKIPPED
    build, *files = map(pathlib.Path, sys.argv[1:])
    files = files or list(chosen())
    with tempfile.TemporaryDirectory(prefix="kata-editor-") as folder:
        wrong = pathlib.Path(folder) / "wrong.cu"
        wrong.write_text(WRONG)
        shutil.copy(ROOT / ".clangd", folder)
        with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            *found, of_wrong = pool.map(lambda file: errors(build, file), [*files, wrong])
    failed = False
    for file, said in zip(files, found):
        for line in said:
            failed = True
            print(f"{file}: {line}")
    if not any("one" in line for line in of_wrong):
        failed = True
        print(f"A kernel may call a function of the host, according to clangd: {of_wrong}")
    print(f"{len(files)} files read by clangd")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
