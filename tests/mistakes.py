#!/usr/bin/env python3
"""Wrong kernels: tests/wrong/CHAPTER/STEP.mistakes holds them as edits of solutions/CHAPTER/STEP.cu.

mistakes.py FILE            their names, a line each
mistakes.py FILE NAME OUT   the kernel with that mistake

  == NAME [of STEP]         another step's solution is edited, and handed in as this one
  // what is wrong, and Rejected: what the tests must say
  - lines of the solution, which stand there once
  + lines in their place
"""

import pathlib
import re
import sys

SOLUTIONS = pathlib.Path(__file__).resolve().parent.parent / "solutions"


def mistakes(path):
    for part in re.split(r"^== ", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
        title, *lines = part.rstrip("\n").split("\n")
        name, _, step = title.partition(" of ")
        yield name, step or path.stem, lines


def made(path, step, lines):
    solution = (SOLUTIONS / path.parent.name / f"{step}.cu").read_text(encoding="utf-8").split("\n")
    kernel = [line for line in solution if "// kata: " not in line]
    while kernel[0].startswith("//"):  # it says what the step does, and this one does not
        kernel.pop(0)
    edits = []
    for old, new in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)*)", "\n".join(lines) + "\n", re.M):
        old, new = ([line[2:] for line in text.splitlines()] for text in (old, new))
        places = [i for i in range(len(kernel)) if kernel[i : i + len(old)] == old]
        if len(places) != 1:
            sys.exit(f"{path}: error: {len(places)} places in {step}.cu read: {old[0].strip()}")
        edits.append((places[0], len(old), new))
    for place, length, new in sorted(edits, reverse=True):
        kernel[place : place + length] = new
    return "\n".join([line for line in lines if line.startswith("//")] + kernel)


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1])
    for name, step, lines in mistakes(path):
        if len(sys.argv) < 3:
            print('wrong' if any(line.startswith('// Rejected: ') for line in lines) else 'variants', name)
        elif name == sys.argv[2]:
            pathlib.Path(sys.argv[3]).write_text(made(path, step, lines), encoding="utf-8")
