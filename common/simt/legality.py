#!/usr/bin/env python3
"""Finds code that nvcc would reject, for a build without one:
legality.py CLANG step.cu step.legal step.legal.d [cuda.SIDE.pch…] [-I…]

The CPU back end's compiler does not distinguish host and device code. clang's CUDA front end does, and needs
no toolkit: it compiles the step as written, with the declarations of cuda.hpp, once for the device and once
for the host. Only its errors about host and device are reported, one line each: the CPU back end's compiler
reports the others better.

The LLVM IR of the step shows the errors that clang accepts and nvcc does not: host variables in device code
and the other way round, lambdas passed to a kernel, and memory that no device has. If there is no error,
writes step.legal, with a line "NAME BYTES" for each local array that registers cannot hold, a line
"double:LINE OPERATIONS" for each line that computes in double, with "double-of-floats" if the function does
not mention double, and a line "unread:clang 1" if clang refuses the step for another reason, so that not
everything was checked; and the files read into step.legal.d, for Ninja.

`legality.py works CLANG` tests a clang, and `legality.py precompile CLANG SIDE cuda.SIDE.pch cuda.SIDE.pch.d`
precompiles the headers that every step begins with.
"""

from __future__ import annotations

import concurrent.futures
import functools
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence

from clang_messages import HOST_CALLS, Error, diagnosed, is_its_own
from hidden_costs import doubles, kept_in_local_memory
from llvm_ir import Made, found_in_device, found_in_host
from source import COMMON, dependencies, read_all

SIDES = ("device", "host")


@functools.cache
def headers_of(clang: str) -> str:
    asked = [clang, "-print-resource-dir"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip() + "/include"


def reading(clang: str, side: str, options: Sequence[str] = ()) -> list[str]:
    """Returns the command that compiles CUDA for this side, without input and output."""
    return [
        clang, "-x", "cuda", "-std=c++20", "-nocudainc", "-nocudalib",
        f"--cuda-{side}-only", "--cuda-gpu-arch=sm_80",
        # clang's wrappers provide more of the C++ library than nvcc has.
        "-nobuiltininc", "-isystem", headers_of(clang),
        # constexpr functions are not device functions by themselves, and cuda.hpp defines the architecture.
        "-Xclang", "-fno-cuda-host-device-constexpr", "-U__CUDA_ARCH__",
        "-w", "-fno-caret-diagnostics", "-fno-color-diagnostics", "-ferror-limit=0",
        "-Wno-unknown-cuda-version", "-O0", "-fno-discard-value-names", "-gline-tables-only",
        f"-I{COMMON}", f"-I{COMMON}/simt/toolkit", *options,
    ]  # fmt: skip


def asking(
    clang: str,
    side: str,
    options: Sequence[str],
    target: str | None,
    depfile: str | None,
    precompiled: str | None,
) -> list[str]:
    """Returns the command that compiles a step, from its input, to LLVM IR."""
    return [
        *reading(clang, side, options), "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-o", "-",
        *(["-MMD", "-MF", depfile, "-MT", target] if side == "device" and depfile and target else []),
        # clang reports a precompiled header that is older than its headers, those of the system included.
        *(["-include-pch", precompiled] if precompiled else []),
        *(["-Xclang", "-fmodules-validate-system-headers"] if precompiled else []),
        # clang skips headers that the precompiled one contains. Headers of another tree would be read twice:
        # an error.
        "-include", "simt/cuda.hpp", *(["-include", "simt/device_library.hpp"] if precompiled else []),
        "-fno-crash-diagnostics", "-",
    ]  # fmt: skip


def precompile(clang: str, side: str, target: str, depfile: str) -> None:
    """Precompiles the headers of a step for this side. Writes an empty file if this clang cannot; steps then
    read the headers."""
    made = ["-S", "-Xclang", "-emit-pch", "-fpch-instantiate-templates", "-MD", "-MF", depfile, "-MT", target]
    command = [*reading(clang, side), *made, "-o", target, str(COMMON / "simt/cuda.hpp")]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        pathlib.Path(target).write_bytes(b"")
        pathlib.Path(depfile).write_text(f"{target}:\n", encoding="utf-8")


DEVICE_ARRAY = re.compile(rb"^(?:static )?__device__ [\w:<>, ]+ (\w+)(?:\[[^\[\];]+\])+;", re.M)


def without_values(text: bytes) -> bytes:
    """Returns the step without initial values of device arrays: clang 14 makes zeros for each element of a
    class. Rejected if the class has a constructor."""
    untouched = (
        rb"__attribute__((loader_uninitialized)) \g<0> "
        rb"static_assert(__is_trivially_constructible(decltype(\1)));"
    )
    return DEVICE_ARRAY.sub(untouched, text)


def asked_on_both_sides(
    clang: str,
    text: bytes,
    options: Sequence[str],
    target: str | None,
    depfile: str | None,
    precompiled: Mapping[str, str],
) -> list[tuple[int, str, str]]:
    """Returns (status, output, messages) for each side."""
    running = []
    for side in SIDES:
        asked = asking(clang, side, options, target, depfile, precompiled.get(side))
        process = subprocess.Popen(
            asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        running.append(process)
        assert process.stdin
        process.stdin.write(text)
        process.stdin.close()
    answers = []
    for process in running:
        process.stdin = None
        made, said = (part.decode("utf-8", errors="replace") for part in process.communicate())
        answers.append((process.returncode, made, said))
    return answers


def judged(
    clang: str,
    step: pathlib.Path,
    options: Sequence[str],
    target: str | None = None,
    depfile: str | None = None,
    precompiled: Mapping[str, str] | None = None,
) -> tuple[list[Error], dict[str, int]]:
    """Returns (file, line, column, text) of all that nvcc would reject, and, if there is nothing, the results
    of kept_in_local_memory and doubles."""
    sources = read_all(step, options)
    text = sources[0].translated(step.parent).encode("utf-8", errors="surrogateescape")
    first = without_values(text) if precompiled else text
    answers = asked_on_both_sides(clang, first, options, target, depfile, precompiled or {})
    # A step is checked again without the precompiled header, which may be stale, broken or made by another
    # clang, if clang rejects it for anything but its own functions and variables. Besides, clang 14 finds no
    # `new` and no memcpy in it, and an array of a class may need values. An accepted step is right if the
    # device functions of the header call no host function: clang does not keep such errors in a precompiled
    # header.
    if precompiled and any((status or said) and not is_its_own(said) for status, _, said in answers):
        answers = asked_on_both_sides(clang, text, options, target, depfile, {})
    found: dict[tuple[str, int, int], str] = {}
    kept: dict[str, int] = {}
    for side, (status, made, said) in zip(SIDES, answers):
        looked_up = found_in_device if side == "device" else found_in_host
        for file, line, column, message in [
            *diagnosed(said),
            *(looked_up(Made(made)) if status == 0 else []),
        ]:
            asks = b"__CUDA_ARCH__" in text and message.endswith(HOST_CALLS)
            why = ", for which __CUDA_ARCH__ is 900 on the CPU back end, too" if asks else ""
            found.setdefault((file or str(step), line, column), message + why)
    if target and not found and answers[0][0] == 0:
        module = Made(answers[0][1])
        kept = kept_in_local_memory(clang, module)
        for kind, of_line in zip(("double", "double-of-floats"), doubles(module, step)):
            kept.update((f"{kind}:{line}", operations) for line, operations in of_line.items())
    if target and not found and any(status for status, *_ in answers):
        kept["unread:clang"] = 1
    if depfile:
        assert target
        with open(depfile, "a", encoding="utf-8", errors="surrogateescape") as rules:
            rules.write(dependencies(target, sources))
    return [(*place, message) for place, message in sorted(found.items())], kept


def works(clang: str) -> bool:
    """True if this clang supports CUDA: Apple's does not. It must refuse what is wrong, and nothing else."""
    text = (
        "__global__ void right(int* p) { p[0] = threadIdx.x; }\nvoid launch(int* p) { right<<<1, 1>>>(p); }\n"
        "int one() { return 1; }\nconst int two[] = {2, 2};\n__global__ void wrong(int* p) { p[0] = %s; }\n"
    )

    def is_refused(wrong: str) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            step = pathlib.Path(folder) / "step.cu"
            step.write_text(text % wrong)
            return [line for _, line, _, _ in judged(clang, step, [])[0]] == [5]

    with concurrent.futures.ThreadPoolExecutor() as workers:
        return all(workers.map(is_refused, ["one()", "two[p[1]]"]))


def main() -> None:
    if sys.argv[1] == "works":
        sys.exit(not works(sys.argv[2]))
    if sys.argv[1] == "precompile":
        clang, side, target, depfile = sys.argv[2:]
        precompile(clang, side, target, depfile)
        return
    clang, step, target, depfile, *options = sys.argv[1:]
    precompiled = {side: option for side in SIDES for option in options if option.endswith(f".{side}.pch")}
    options = [option for option in options if option not in precompiled.values()]
    found, kept = judged(clang, pathlib.Path(step), options, target, depfile, precompiled)
    for file, line, column, text in found:
        print(f"{file}:{line}:{column}: error: {text}", file=sys.stderr)
    if found:
        sys.exit(1)
    pathlib.Path(target).write_text(
        "".join(f"{name} {size}\n" for name, size in sorted(kept.items())), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
