#!/usr/bin/env python3
"""Translates, compiles and links a kernel in one command, and writes the files read into a file for Ninja:
compile.py kernel.cu kernel.so kernel.so.d COMPILER… -- OPTION…

For the hundreds of kernels that no student writes: separate commands would take twice as long.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys

import source
import translate


def main() -> None:
    step, target, depfile = sys.argv[1:4]
    end = sys.argv.index("--")
    compiler, options = sys.argv[4:end], sys.argv[end + 1 :]
    text, sources = translate.translated(pathlib.Path(step), options)
    # The folder where Meson keeps the parts of a module.
    made = pathlib.Path(f"{target}.p", pathlib.Path(step).with_suffix(".cpp").name)
    made.parent.mkdir(exist_ok=True)
    made.write_text(text, encoding="utf-8", errors="surrogateescape")
    compiled = str(made.with_suffix(".o"))
    read = ["-MD", "-MF", depfile, "-MQ", target]
    for command in (
        [*compiler, *options, *read, "-c", str(made), "-o", compiled],
        [*compiler, "-shared", compiled, "-o", target],
    ):
        done = subprocess.run(command, check=False)
        if done.returncode:
            sys.exit(done.returncode)
    with open(depfile, "a", encoding="utf-8", errors="surrogateescape") as rules:
        rules.write(source.dependencies(target, sources))


if __name__ == "__main__":
    main()
