"""A step in gdb, stopped in its kernel: it is built without optimisation, in a module of its own."""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import bodies
from build import Build
from fault import Fault
from repository import Repository, module, suite

OUTPUT = re.compile(r" -o (\S+\.o)(?= )")
# Options of the build's own object, or of its precompiled headers, which are optimised.
NOT_HERE = re.compile(r" (?:-MD|-MQ \S+|-MF \S+|-include step_headers\.hpp|-include-pch \S+|-Werror\S*)(?= )")
SCRIPT = """\
python
import os

for line in (
    "set confirm off",
    "set pagination off",
    "set breakpoint pending on",
    "set print elements 16",
    "set print frame-arguments scalars",
    "skip -rfu ^__(tsan|sanitizer)",  # step goes into functions of the step's own, and not into these
    "skip -gfi */common/simt/*",
    "skip -gfi */common/meter/*",
    "break simt::give_up",
    *(f"tbreak {file}:{{line}}" for line in {lines}),
):
    gdb.execute(line, to_string=True)

def show_finding(event):
    \"\"\"What the CPU back end has found, and the innermost frame that is of the step.\"\"\"
    if "simt::give_up" not in [stop.location for stop in getattr(event, "breakpoints", ())]:
        return
    print("\\nThe CPU back end has found: " + gdb.parse_and_eval("message._M_dataplus._M_p").string())
    frame = gdb.newest_frame()
    while frame and not (frame.find_sal().symtab and frame.find_sal().symtab.filename.endswith("{file}")):
        frame = frame.older()
    if frame:
        frame.select()
        gdb.execute("frame")

gdb.events.stop.connect(show_finding)
end
# The step runs in the first process that the tests start. Those which that one starts are of no interest.
set follow-fork-mode child
tbreak kata::run_step
commands
silent
set follow-fork-mode parent
continue
end
run
"""
GUIDE = """\
gdb runs the tests of {file}, stopped in the first thread of its first launch.
It stops again where the CPU back end finds something, such as an access out of bounds.

  next, step           the next line; the same, and into a function of yours
  info locals          all variables;   print x   one of them, or an expression:
                       before its line has run, its value means nothing
  print threadIdx      which thread this is; also blockIdx, blockDim, gridDim
  print in[3]@8        eight elements of an array, from element 3 on
  continue             on to the next stop;   finish   to the end of a function
  backtrace            the functions that called this; up and down step through them
  quit                 ends it

Every thread of a block is a fiber, a function that is suspended and resumed at
barriers; all run in one thread of the system, so "info threads" shows only one.
To stop in one thread only, give a condition:

  break {step}.cu:{line} if threadIdx.x == 5 && blockIdx.x == 1
"""


def kernels(text: str) -> list[int]:
    """Returns the first line with code in the body of each kernel. A function's name would be ambiguous."""
    # Blanks replace comments, so that all positions stay the same.
    code = re.sub(r"//[^\n]*|/\*.*?\*/", lambda comment: re.sub(r"[^\n]", " ", comment[0]), text, flags=re.S)
    return [text.count("\n", 0, found.end()) + 1 for found in re.finditer(r"__global__\b[^;{]*\{\s*", code)]


def first_line(text: str) -> int:
    """Returns the line after the mark of the first body."""
    lines = text.splitlines()
    return next((number for number, line in enumerate(lines, 2) if line.strip() == "// kata: begin"), 1)


def compile_for_gdb(build: Build, name: str) -> pathlib.Path:
    """Builds the module again, in a folder of its own and without optimisation. Returns its path."""
    said = subprocess.run(
        ["ninja", "-C", build.folder, "-t", "commands", name], capture_output=True, text=True, check=False
    ).stdout
    compiled = [line for line in said.splitlines() if f" -o {name}.p/" in line and OUTPUT.search(line)]
    linked = [line for line in said.splitlines() if re.search(rf" -o {re.escape(name)}(?= )", line)]
    output = OUTPUT.search(compiled[-1]) if compiled else None
    if not output or not linked:
        raise Fault(f"the build does not say how it compiles {name}")
    folder = build.folder / "debug"
    folder.mkdir(exist_ok=True)
    target, source = folder / name, folder / f"{name}.o"
    # Removed options may be neighbours that share a space.
    command = NOT_HERE.sub("", NOT_HERE.sub("", OUTPUT.sub(" ", compiled[-1])))
    link = linked[-1].replace(f" {output[1]} ", f" {shlex.quote(str(source))} ")
    link = link.replace(f" -o {name} ", f" -o {shlex.quote(str(target))} ")
    for line in (f"{command} -w -O0 -g -o {shlex.quote(str(source))}", link):
        done = subprocess.run(line, shell=True, cwd=build.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Fault(f"it compiles for the tests, and not without optimisation:\n{done.stderr.strip()}")
    return target


def debug(repository: Repository, chapter: str, step: str, tree: str) -> int:
    """Replaces this program with gdb, and returns only by Fault. `tree` is "chapters" or "solutions"."""
    file = f"{tree}/{chapter}/{step}.cu"
    if tree == "chapters":
        for line in repository.missing(chapter, step):
            raise Fault(line)
    text = repository.text(chapter, step, tree)
    if bodies.is_open(text):
        raise Fault(
            f"{file} is still to be written, so there is nothing to stop in: ./kata hint {chapter} {step[:2]}"
        )
    repository.require_cpu(chapter, step)
    if not (gdb := shutil.which("gdb")):
        raise Fault("gdb is not installed; as root: apt-get install gdb (or dnf install gdb)", 3)
    stops = kernels(text)
    if not stops:
        raise Fault(f"{file} has no kernel, no function with __global__ in front of it")
    build = Build(repository)
    build.configure()
    if "cpu" not in build.backends():
        raise Fault(
            "gdb stops in kernels of the CPU back end, and this build has none; on a GPU there is cuda-gdb"
        )
    name = module(tree, chapter, step, "cpu")
    if build.compile([suite(chapter, "cpu"), name]):
        raise Fault(f"{file} does not compile: see above")
    target = compile_for_gdb(build, name)
    script = target.with_suffix(".gdb")
    script.write_text(SCRIPT.format(file=file, lines=stops), encoding="utf-8")
    # Without the claims: they run other modules, and counts without optimisation mean nothing.
    program: list[object] = [build.suite(chapter, "cpu"), "--step", target]
    program += ["--source", repository.source(chapter, step, tree)]
    program += ["--reporter", "step", "--abort", "--without", "[claims][timed]", "--processor-seconds", "0"]
    print(GUIDE.format(file=file, step=step, line=first_line(text)), flush=True)
    os.chdir(build.folder)
    sys.stdout.flush()
    os.execv(gdb, list(map(str, [gdb, "-q", "-x", script, "--args", *program])))
