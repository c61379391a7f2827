#!/usr/bin/env python3
"""Tests legality.py with precompiled headers, which make it quick and change no verdict:
legality.py CLANG cuda.device.pch cuda.host.pch"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Sequence

from paths import ROOT, run

CLANG, *PRECOMPILED = sys.argv[1:4]
del sys.argv[1:4]
# The prefixes by which the suites find lines about doubles in step.legal.
IN_DOUBLE, OF_FLOATS = re.findall(
    r'in_double = "(.*?)", in_double_of_floats = "(.*?)";',
    (ROOT / "common/judge/tests.cpp").read_text(encoding="utf-8"),
)[0]

RIGHT = """#include "kata.hpp"
#include "operators.hpp"
__device__ float of(float x) { return std::sqrt(x); }
__global__ void kernel(float* p) {
    __shared__ float tile[32];
    tile[threadIdx.x] = of(p[threadIdx.x]);
    __syncthreads();
    atomicAdd(p, max(tile[0], tile[31 - threadIdx.x]));
    kata::atomic_combine(p, tile[0], kata::Max<float>{});
}
void launch(float* p) { kernel<<<1, 32>>>(p); }
"""
# Code that newcomers write; the message says what to write instead.
EXCHANGES = """#include <utility>
__global__ void kernel(float* p) {
    std::swap(p[0], p[1]);
}
"""
PRINTS = """#include <iostream>
__global__ void kernel(float* p) {
    std::cout << p[0];
}
"""
# Nothing is included, so clang could only know a file of another tree.
CALLS = """float of_host(float x) { return x; }
__global__ void kernel(float* p) {
    p[0] = of_host(p[1]);
}
"""
# clang accepts it, and its IR shows the error.
READS = """#include "kata.hpp"
const int weights[] = {1, 2};
__global__ void kernel(int* p) {
    p[0] = weights[p[1]];
}
"""
# A body that clang has judged before, in the precompiled headers.
OF_LIBRARY = """#include "kata.hpp"
__global__ void kernel(float* p) {
    if (false)
        p[0] = std::legendref(2, p[1]);
}
"""
# Functions of the C library that host and device each have.
OF_BOTH = """#include "kata.hpp"
#include <cstdio>
__device__ void copy(int* to, const int* from) {
    memcpy(to, from, sizeof *to);
    printf("%d\\n", abs(*to));
}
__global__ void kernel(int* to, const int* from) { copy(to, from); }
void launch(int* to, const int* from) {
    memcpy(to, from, sizeof *to);
    printf("%d\\n", abs(*to));
    kernel<<<1, 1>>>(to, from);
}
"""
# A function with a variant for each side, of which the CPU back end compiles one.
VARIANTS = """#include "kata.hpp"
__host__ __device__ inline float inverse(float x) {
#ifdef __CUDA_ARCH__
    return __frcp_rn(x);
#else
    return 1 / x;
#endif
}
__global__ void kernel(float* p) { p[0] = inverse(p[1]); }
float of_host(float x) { return x; }
"""
# An array of a class without a constructor, or with one; of the device, or of the host as well.
ARRAY = """#include "kata.hpp"
struct Pack { float at[4]%(value)s };
%(where)s Pack partial[256][64];
__global__ void kernel(float* p) { p[0] = partial[3][threadIdx.x].at[0]; }
void launch(float* p) {
    kernel<<<1, 32>>>(p);
    %(host)s;
}
"""
# A loop with a constant number of rounds leaves nothing in memory; the other one does.
LOOPS = """#include "kata.hpp"
__global__ void kernel(const float* in, float* out, int n) {
    float column[8];
    for (int k = 0; k < %(bound)s; ++k) column[k] = in[k * n + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < %(bound)s; ++k) sum += column[k] * k;
    out[threadIdx.x] = sum;
}
"""
# A loop that may end before its constant bound.
LEFT = """#include "kata.hpp"
__global__ void kernel(const float* in, float* out, int n) {
    float row[64];
    #pragma unroll %(times)s
    for (int k = 0; %(both)s; ++k) {
        %(first)s;
        row[k] = in[k * 32 + threadIdx.x];
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 64; ++k) sum += row[k] * sum;
    out[threadIdx.x] = sum;
}
"""
# Arrays in a loop with `#pragma unroll 1` inside one that is unrolled, and in a structure.
ROLLED = """#include "kata.hpp"
struct Row { float at[8]; };
__global__ void kernel(const float* in, float* out) {
    float sum[8][8] = {};
    for (int i = 0; i < 8; ++i) {
        Row row;
        for (int k = 0; k < 8; ++k) row.at[k] = in[(i * 8 + k) * 32 + threadIdx.x];
        __syncthreads();
        #pragma unroll %(times)s
        for (int k = 0; k < 8; ++k)
            for (int s = 0; s < 8; ++s) sum[k][s] += row.at[k] * row.at[s];
    }
    for (int k = 0; k < 64; ++k) out[k * 32 + threadIdx.x] = sum[k / 8][k %% 8];
}
"""
ASKS_LAST = """#include "kata.hpp"
__global__ void kernel(const float* in, float* out) {
    float row[32];
    for (int k = 0; k < 32; ++k) row[k] = in[k * 32 + threadIdx.x];
    float sum = 0;
    int k = 0;
    #pragma unroll %(times)s
    do { sum += row[k] * sum; } while (++k < 32);
    out[threadIdx.x] = sum;
}
"""
# Arrays in a function that is inlined twice, with another size for each type.
CHOSEN = """#include "kata.hpp"
template <class T>
__device__ T chosen(const T* in, int at) {
    T many1[128], few[2];
    for (int k = 0; k < 128; ++k) many1[k] = in[k];
    few[0] = in[0], few[1] = in[1];
    return many1[at] + few[at & 1];
}
template <class T> __global__ void kernel(const T* in, T* out, int n) {
    out[threadIdx.x] = chosen(in, n) + chosen(in + n, threadIdx.x);
}
void launch(const float* f, float* g, const double* d, double* e) {
    kernel<<<1, 32>>>(f, g, 1);
    kernel<<<1, 32>>>(d, e, 1);
}
"""


class Precompiled(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.clang = self.script("clang", f'echo "$@" >> {self.folder}/asked\nexec {CLANG} "$@"\n')

    def script(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}")
        path.chmod(0o755)
        return path

    def legality(
        self, *words: str | pathlib.Path, tree: pathlib.Path = ROOT
    ) -> subprocess.CompletedProcess[str]:
        return run(sys.executable, tree / "common/simt/legality.py", *words, timeout=200)

    def judged(
        self, text: str, precompiled: Sequence[str | pathlib.Path] = PRECOMPILED, tree: pathlib.Path = ROOT
    ) -> tuple[str, int, int]:
        """Returns the errors of a step, and how often clang ran with its precompiled headers, and without."""
        step, asked, legal = (self.folder / name for name in ("step.cu", "asked", "step.legal"))
        step.write_text(text)
        asked.unlink(missing_ok=True)
        legal.unlink(missing_ok=True)
        done = self.legality(
            self.clang, step, legal, f"{legal}.d", *precompiled, f"-I{tree}/common", tree=tree
        )
        self.assertEqual(
            (done.returncode, legal.exists()), (1, False) if done.stderr else (0, True), done.stderr
        )
        self.assertIn("cuda.hpp", pathlib.Path(f"{legal}.d").read_text())
        with_pch = [
            " -include-pch " in line for line in asked.read_text().splitlines() if " -emit-llvm " in line
        ]
        return done.stderr, with_pch.count(True), with_pch.count(False)

    def test_a_right_step_is_asked_about_once_on_each_side(self) -> None:
        self.assertEqual(self.judged(RIGHT), ("", 2, 0))

    def test_a_step_that_calls_what_host_and_device_have_is_asked_about_once(self) -> None:
        self.assertEqual(self.judged(OF_BOTH), ("", 2, 0))
        self.assertEqual(self.judged(OF_BOTH, []), ("", 0, 2))

    def test_the_host_sees_the_architecture_as_well(self) -> None:
        self.assertEqual(self.judged(VARIANTS), ("", 2, 0))
        self.assertIn(
            "4:12: error: '__frcp_rn' is for device code alone, and host code calls it, for which "
            "__CUDA_ARCH__ is 900 on the CPU back end, too",
            self.judged(VARIANTS.replace("return x;", "return inverse(x);"))[0],
        )

    def test_an_array_of_the_device_needs_no_values(self) -> None:
        array = {"value": ";", "where": "__device__", "host": ""}
        constructor = "; __device__ Pack() { at[0] = clock(); }"
        self.assertEqual(self.judged(ARRAY % array), ("", 2, 0))
        self.assertEqual(self.judged(ARRAY % {**array, "value": " = {};"}), ("", 2, 2))
        for change, said in (
            (
                {"host": "const Pack one = partial[1][2]"},
                "7:22: error: 'partial' is a variable of the device, and host code uses it",
            ),
            ({"value": constructor}, "3:17: error: a variable of the device must start with a constant"),
            ({"where": "static"}, "4:43: error: 'partial' is a variable of the host"),
        ):
            text = ARRAY % {**array, **change}
            self.assertIn(said, self.judged(text)[0])
            self.assertEqual(self.judged(text)[0], self.judged(text, [])[0])

    def test_every_step_of_the_build_is_asked_about_so(self) -> None:
        build = pathlib.Path(PRECOMPILED[0]).parent.parent
        names = [str(pathlib.Path(path).relative_to(build)) for path in PRECOMPILED]
        text = (build / "build.ninja").read_text(encoding="utf-8")
        asked = [
            line.split()
            for line in text.splitlines()
            if "COMMAND = " in line and "legality.py " in line and ".legal " in line
        ]
        self.assertTrue(asked)
        for words in asked:
            self.assertEqual([word for word in words if word.endswith(".pch")], names)

    def test_a_wrong_step_is_refused_as_without(self) -> None:
        step = self.folder / "step.cu"
        for text, place, said, again in (
            (CALLS, "3:12", "'of_host' is a host function", 0),
            (READS, "4:12", "'weights' is a variable of the host", 0),
            (OF_LIBRARY, "4:21", "'legendref' of the C++ library is a host function", 2),
        ):
            found = self.judged(text)
            self.assertEqual(
                found[0][: len(f"{step}:{place}: error: {said}")], f"{step}:{place}: error: {said}"
            )
            self.assertEqual(found, (self.judged(text, [])[0], 2, again))

    def kept(self, text: str) -> str:
        """Returns step.legal of an accepted step: its local arrays that registers cannot hold."""
        self.assertEqual(self.judged(text)[0], "")
        return (self.folder / "step.legal").read_text()

    def test_local_arrays_that_no_registers_can_hold_are_reported(self) -> None:
        for bound, written in (("8", ""), ("n", "column 32\n")):
            self.assertEqual(self.kept(LOOPS % {"bound": bound}), written, bound)
        for text, written in ((ROLLED, "sum 256\n"), (ASKS_LAST, "row 128\n")):
            for times in "", "8", "1":
                self.assertEqual(self.kept(text % {"times": times}), written if times == "1" else "", times)
        for both, first, known in (
            ("k < 64 && k < n", "", True),
            ("k < 64", "if (k >= n) break", True),
            ("k < 64", "if (in[k] < 0) break", True),
            ("k < min(64, n)", "", True),
            ("k < max(min(64, n), 1)", "", True),
            ("k < n", "if (k == 64 - n) out[k] = 1", False),
        ):
            for times in "", "1":
                text = LEFT % {"both": both, "first": first, "times": times}
                self.assertEqual(self.kept(text), "" if known and not times else "row 256\n", text)
        # The instantiation for doubles adds two of them in lines 7 and 10.
        self.assertEqual(self.kept(CHOSEN), f"{IN_DOUBLE}10 1\n{IN_DOUBLE}7 1\nmany1 1024\n")

    def test_lines_that_compute_in_double_are_reported(self) -> None:
        kernel = (
            '#include "kata.hpp"\n__global__ void kernel(float* p, int n) {\n    p[0] = %s;\n}\nvoid '
            "f(float* p) { kernel<<<1, 1>>>(p, %s); }\n"
        )
        for device, host, operations in (
            ("0.5f * p[1]", "1", 0),
            # A constant becomes a float, and host code may use doubles.
            ("0.5", "int(2.5 * sizeof p)", 0),
            ("0.5 * p[1]", "1", 1),
            ("0.21 * n + 0.72 * p[1]", "1", 3),
            ("fma(0.5, double(p[1]), 1.0)", "1", 1),
            ("sqrt(double(n))", "1", 1),
            ("rsqrt(double(n))", "1", 1),
            ("sqrt(p[1])", "1", 0),
            ("sqrtf(p[1]) + rsqrtf(p[2])", "1", 0),
            ("p[1] > 0.1", "1", 1),
            # Exact in floats, too, and nvcc compares floats.
            ("p[1] > 0.5 || p[1] < p[2] || p[1] == 1e-40f", "1", 0),
            ("double(n) < double(p[1])", "1", 1),
        ):
            expected = f"{OF_FLOATS}3 {operations}\n{IN_DOUBLE}3 {operations}\n" if operations else ""
            self.assertEqual(self.kept(kernel % (device, host)), expected, device)

    def test_doubles_in_the_instantiation_for_floats_are_reported_separately(self) -> None:
        template = """#include "kata.hpp"
template <class T> struct Half { __device__ T operator()(T x) const { return x * T(0.3) + %s; } };
template <class T> __global__ void kernel(T* p) {
    p[0] = Half<T>()(p[1]) * %s;
}
void f(float* p, double* q) { kernel<<<1, 1>>>(p); kernel<<<1, 1>>>(q); }
"""
        for half, factor, written in (
            ("x", "p[2]", f"{IN_DOUBLE}2 2\n{IN_DOUBLE}4 1\n"),
            ("x", "double(p[2])", f"{OF_FLOATS}4 1\n{IN_DOUBLE}2 2\n{IN_DOUBLE}4 2\n"),
            ("T(0.3 * x)", "p[2]", f"{OF_FLOATS}2 1\n{IN_DOUBLE}2 4\n{IN_DOUBLE}4 1\n"),
        ):
            self.assertEqual(self.kept(template % (half, factor)), written)

    def test_what_cannot_be_read_is_not_used(self) -> None:
        halves = []
        for name in PRECOMPILED:
            halves.append(self.folder / pathlib.Path(name).name)
            whole = pathlib.Path(name).read_bytes()
            halves[-1].write_bytes(whole[: len(whole) // 2])
        missing = [self.folder / f"none.{side}.pch" for side in ("device", "host")]
        for precompiled in (halves, missing):
            self.assertEqual(self.judged(RIGHT, precompiled), ("", 2, 2))

    def test_what_is_stale_or_of_another_tree_is_not_used(self) -> None:
        tree = self.folder / "tree"
        shutil.copytree(ROOT / "common", tree / "common")
        header = tree / "common/simt/cuda.hpp"
        text = header.read_text()
        kernels = "#define __global__ __attribute__((global))\n"
        self.assertIn(kernels, text)
        header.write_text(text.replace(kernels, "#define __global__\n"))
        made = [self.folder / f"cuda.{side}.pch" for side in ("device", "host")]
        for side, path in zip(("device", "host"), made):
            self.assertEqual(
                self.legality("precompile", CLANG, side, path, f"{path}.d", tree=tree).returncode, 0
            )
        self.assertEqual(self.judged(CALLS, made, tree), ("", 2, 0))  # there, a kernel is of the host
        of_another_tree = self.judged(CALLS, made)
        header.write_text(text)
        stale = self.judged(CALLS, made, tree)
        for said, *times in (of_another_tree, stale):
            self.assertIn("'of_host' is a host function", said)
            self.assertEqual(times, [2, 2])

    def test_a_replacement_for_a_function_that_no_device_has_is_named(self) -> None:
        for text, said in ((EXCHANGES, "as T t = a; a = b; b = t;"), (PRINTS, 'write printf("%d\\n", i);')):
            self.assertIn(said, self.judged(text)[0])
        for call, are_said in (("std::max(p[0], p[1])", True), ("std::numeric_limits<float>::max()", False)):
            said = self.judged(
                PRINTS.replace("iostream", "limits").replace("std::cout << p[0]", f"p[0] = {call}")
            )[0]
            self.assertIn("of the C++ library", said)
            self.assertEqual("write max(a, b)" in said, are_said, said)

    def test_a_clang_that_cannot_precompile_leaves_an_empty_file(self) -> None:
        unable = self.script("unable", f'case "$*" in *-emit-pch*) exit 1;; esac\nexec {CLANG} "$@"\n')
        made = self.folder / "cuda.host.pch"
        self.assertEqual(self.legality("precompile", unable, "host", made, f"{made}.d").returncode, 0)
        self.assertEqual((made.read_bytes(), pathlib.Path(f"{made}.d").read_text()), (b"", f"{made}:\n"))


if __name__ == "__main__":
    unittest.main()
