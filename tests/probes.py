#!/usr/bin/env python3
"""Both back ends take the same CUDA: each file of tests/probes is one spelling, compiled by each.

probes.py [--clang CLANG] [--jobs N] [--only WORD] [--library=FILE]... -- COMPILER [OPTION]...

COMPILER and its options are those of a step; libraries are those that a step finds when it is loaded. With
the path of nvcc as NVCC in the environment, nvcc compiles them as well: its verdict changes with a probe
only. Without --clang, host and device are not distinguished. The first line of a probe is its expectation:

  // refused: WORDS      by both, and the CPU back end's message has WORDS, or one of WORDS | WORDS
  // illegal: WORDS      the same, where there is clang to say so
  // needs a GPU: WORDS  nvcc takes it, and the CPU back end refuses it in one line with WORDS in it
  // anything else       both take it
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROBES = ROOT / "tests/probes"


class Verdict(NamedTuple):
    taken: bool
    said: str


def ask(*commands: Sequence[str | pathlib.Path]) -> Verdict:
    """Runs the commands one after the other. Returns whether all succeed, and the output."""
    for command in commands:
        done = subprocess.run(
            command,
            cwd=PROBES,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode != 0:
            return Verdict(False, done.stdout)
    return Verdict(True, "")


def first_error(said: str) -> str:
    lines = said.splitlines()
    return next(
        (line for line in lines if "error" in line or "undefined" in line), lines[-1] if lines else "nothing"
    )


def complaints(expected: str, cpu: Verdict, gpu: Verdict | None, legality: bool = True) -> Iterator[str]:
    """Yields the faults of the verdicts on a probe; `gpu` is None without nvcc, `legality` is False without
    clang."""
    match = re.match(r"// (refused|illegal|needs a GPU): (.*)", expected)
    kind, words = (match[1], match[2].strip()) if match else ("taken", "")
    if kind == "illegal":
        kind = "refused"
        cpu = cpu if legality or not cpu.taken else Verdict(False, words)
    if kind == "taken" and not cpu.taken:
        yield f"the CPU back end refuses it: {first_error(cpu.said)}"
    if kind != "taken" and cpu.taken:
        yield "the CPU back end takes it"
    if kind != "taken" and not words:
        yield "does not say with what words the CPU back end refuses it"
    if kind != "taken" and not cpu.taken and not any(choice in cpu.said for choice in words.split(" | ")):
        yield f"the CPU back end refuses it without '{words}': {first_error(cpu.said)}"
    if kind == "needs a GPU" and not re.fullmatch(r"[^\n]+:\d+: error: [^\n]+\n", cpu.said):
        yield f"what the CPU back end says is not one line: {first_error(cpu.said)}"
    if gpu and gpu.taken != (kind != "refused"):
        yield "nvcc takes it" if gpu.taken else f"nvcc refuses it: {first_error(gpu.said)}"


class Compilers:
    def __init__(self, options: argparse.Namespace, folder: str) -> None:
        self.folder = pathlib.Path(folder)
        self.compile = [*options.compiler, f"-I{folder}", f"-I{ROOT / 'common'}", "-I."]
        self.link = [*options.compiler, "-shared", "-Wl,-z,defs,-z,muldefs"]
        self.library = options.library
        self.clang = options.clang
        # As in common/meson.build: warnings about code that cannot work are errors.
        strict = ["-Werror=cross-execution-space-call", "-diag-error=20091,20092"]
        self.nvcc = (
            [nvcc, *strict, "-std=c++20", "-arch=sm_90", f"-I{ROOT / 'common'}", "-I."]
            if (nvcc := os.environ.get("NVCC"))
            else None
        )
        # The headers of every step are read once. A compiler that does not know the form reads the header
        # itself.
        header = self.folder / "simt/cuda.hpp"
        header.parent.mkdir()
        header.write_text(f'#include "{ROOT / "common/simt/cuda.hpp"}"\n#include <concepts>\n')
        subprocess.run([*self.compile, "-x", "c++-header", header, "-o", f"{header}.gch"], check=True)
        # As in common/meson.build, for clang; legality.py knows them by these names.
        self.legality: list[str | pathlib.Path] = [sys.executable, ROOT / "common/simt/legality.py"]
        self.precompiled = (
            [self.folder / f"cuda.{side}.pch" for side in ("device", "host")] if self.clang else []
        )
        for side, target in zip(("device", "host"), self.precompiled):
            subprocess.run(
                [*self.legality, "precompile", self.clang, side, target, f"{target}.d"], check=True
            )

    def verdicts(self, probe: pathlib.Path) -> tuple[Verdict, Verdict | None]:
        base = self.folder / probe.stem
        translate: list[str | pathlib.Path] = [
            sys.executable,
            ROOT / "common/simt/translate.py",
            probe.name,
            f"{base}.cpp",
        ]
        legality: list[str | pathlib.Path] = [
            *self.legality,
            self.clang,
            probe.name,
            f"{base}.legal",
            f"{base}.d",
            *self.precompiled,
            "-I.",
        ]
        compile_ = [*self.compile, "-c", f"{base}.cpp", "-o", f"{base}.o"]
        cpu = ask(translate, *([legality] if self.clang else []), compile_)
        if not self.nvcc:
            return cpu, None
        # The device's half reads all of the file, as -c does, in a third of the time; it does not report
        # errors of host code.
        gpu = ask([*self.nvcc, "-cubin", probe.name, "-o", f"{base}.cubin"])
        if gpu.taken and not cpu.taken:
            gpu = ask([*self.nvcc, "-c", probe.name, "-o", f"{base}.nvcc.o"])
        return cpu, gpu

    def linked(self, probes: Sequence[pathlib.Path]) -> Verdict:
        """Links probes. A step with an undefined symbol dies when it is loaded; GNU ld reports it earlier."""
        if sys.platform != "linux":
            return Verdict(True, "")
        objects = [self.folder / f"{probe.stem}.o" for probe in probes]
        return ask([*self.link, *objects, "-o", self.folder / "probes.so", *self.library])


def self_check() -> Iterator[str]:
    """Yields the cases in which this script should complain and does not, or the other way round."""
    yes, no, line = (
        Verdict(True, ""),
        Verdict(False, "a.cu:1:2: error: b\nmore\n"),
        Verdict(False, "a.cu:1: error: b\n"),
    )
    for expected, cpu, gpu, wrong, *clang in (
        ("// A launch.", yes, yes, 0),
        ("// A launch.", yes, None, 0),
        ("// A launch.", no, yes, 1),
        ("// A launch.", yes, no, 1),
        ("// A launch.", no, no, 2),
        ("// refused: b", no, no, 0),
        ("// refused: x | b", no, no, 0),
        ("// refused: x | y", no, no, 1),
        ("// refused:  ", no, no, 1),
        ("// refused: b", yes, no, 1),
        ("// refused: b", no, yes, 1),
        ("// illegal: b", no, no, 0),
        ("// illegal: x", no, no, 1),
        ("// illegal: b", yes, no, 1),
        ("// illegal: b", yes, no, 0, False),
        ("// illegal: b", yes, yes, 1, False),
        ("// needs a GPU: b", line, yes, 0),
        ("// needs a GPU: b", no, yes, 1),
        ("// needs a GPU: b", line, no, 1),
        ("// needs a GPU: b", yes, yes, 2),
    ):
        found = list(complaints(expected, cpu, gpu, *clang))
        if len(found) != wrong:
            yield f"self-check: '{expected}' with {cpu} and {gpu} gives {found}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--clang")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    parser.add_argument("--library", action="append", default=[])
    parser.add_argument("compiler", nargs="+")
    options = parser.parse_args()
    probes = [probe for probe in sorted(PROBES.glob("*.cu")) if options.only in probe.name]
    wrong = list(self_check())
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        compilers = Compilers(options, folder)
        verdicts = dict(zip(probes, pool.map(compilers.verdicts, probes)))
        # Links all at once; if that fails, each by itself.
        taken = [probe for probe, (cpu, _) in verdicts.items() if cpu.taken]
        if not compilers.linked(taken).taken:
            verdicts.update((probe, (compilers.linked([probe]), verdicts[probe][1])) for probe in taken)
        for probe, (cpu, gpu) in verdicts.items():
            expected = probe.read_text(encoding="utf-8").splitlines()[0]
            wrong += [
                f"{probe.relative_to(ROOT)}: {complaint}"
                for complaint in complaints(expected, cpu, gpu, bool(options.clang))
            ]
    by = "by both back ends" if "NVCC" in os.environ else "by the CPU back end alone"
    print("\n".join([*wrong, f"{len(probes)} probes, {by}{'' if options.clang else ', without clang'}"]))
    sys.exit(bool(wrong or not probes))


if __name__ == "__main__":
    main()
