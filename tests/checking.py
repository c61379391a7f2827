#!/usr/bin/env python3
"""./kata check of whole programs: right ones are clean, each fault is found with its line, and a program's
own output and status pass through.

checking.py BUILD
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import tempfile
import unittest

from paths import ROOT, run

import schema

BUILD = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else ROOT / "build"
REVERSE = """\
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#define N 256
__global__ void reverse(int *d, int n) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = d[t];
    __syncthreads();
    d[t] = s[n - t - 1];
}
void check(cudaError_t e, const char *file, int line) {
    if (e != cudaSuccess) { fprintf(stderr, "%s:%d %s\\n", file, line, cudaGetErrorString(e)); exit(9); }
}
int main(int argc, char **argv) {
    int h[N], *d;
    for (int i = 0; i < N; i++) h[i] = i;
    check(cudaMalloc(&d, sizeof h), __FILE__, __LINE__);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    reverse<<<1, N>>>(d, N);
    check(cudaGetLastError(), __FILE__, __LINE__);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
    printf("first %d, %d arguments, %s\\n", h[0], argc - 1, argv[argc - 1]);
    if (argc > 2) exit(argc);
    return 0;
}
"""


@unittest.skipUnless((BUILD / "common/program.json").exists(), "needs the meter")
class Checking(unittest.TestCase):
    def check(self, status: int, *edit: str, words: tuple[str, ...] = ()) -> tuple[str, str]:
        """Checks the program after an edit. Returns its stdout and its stderr."""
        text = REVERSE
        for old, new in zip(edit[::2], edit[1::2]):
            self.assertIn(old, text)
            text = text.replace(old, new)
        with tempfile.TemporaryDirectory(prefix="kata-checking-") as folder:
            source = pathlib.Path(folder, "reverse.cu")
            source.write_text(text, encoding="utf-8")
            command = [sys.executable, ROOT / "common/front/kata.py", "check", source, *words]
            done = run(*command, env={**os.environ, "KATA_BUILD": str(BUILD)})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def test_a_right_program_is_clean_and_its_output_and_status_pass_through(self) -> None:
        said, report = self.check(0)
        self.assertRegex(said, r"\Afirst 255, 0 arguments, \S+reverse.cu\n\Z")
        self.assertEqual(report, "\nkata check: no findings in 1 launch\n")
        said, report = self.check(3, words=("--", "--json", "b"))
        self.assertEqual(said, "first 255, 2 arguments, b\n")
        self.assertIn("no findings in 1 launch; the program itself ends with status 3\n", report)

    def test_each_fault_is_found_with_its_line(self) -> None:
        for finding, line, *edit in (
            ("race in shared memory", 10, "    __syncthreads();\n", "\n"),
            ("out of bounds", 10, "n - t - 1", "n - t"),
            ("read of unwritten memory", 10, "s[t] = d[t];", "if (t > 7) s[t] = d[t];"),
            ("divergent barrier", 9, "__syncthreads();", "if (t < 40) __syncthreads();"),
            (
                "out of bounds",
                8,
                "cudaMalloc(&d, sizeof h)",
                "cudaMalloc(&d, sizeof h - 4)",
                "cudaMemcpy(",
                "if (0) cudaMemcpy(",
            ),
        ):
            report = self.check(1, *edit)[1]
            self.assertIn(finding, report)
            self.assertIn(f"reverse.cu:{line}", report)

    def test_what_ends_with_the_process_is_noted_only(self) -> None:
        report = self.check(0, "cudaFree(d);", "", "check(cudaGetLastError(), __FILE__, __LINE__);", "")[1]
        self.assertRegex(report, r"note: never freed: 1024 bytes .*reverse\.cu:18")
        self.assertIn("note: unchecked: no cudaGetLastError() follows the last 1 of 1 launches", report)

    def test_what_was_found_before_the_end_comes_first(self) -> None:
        report = self.check(1, "s[t] = d[t]", "s[255 - t] = s[t]", "n - t - 1", "n - t")[1]
        self.assertRegex(report, r"(?s)race in shared memory.*out of bounds.*2 findings")

    def test_a_crash_of_the_host_is_a_finding(self) -> None:
        report = self.check(1, "cudaFree(d);", "abort();")[1]
        self.assertIn("the program crashed: it ended itself", report)

    def test_programs_get_a_report_as_json(self) -> None:
        found = json.loads(self.check(1, "n - t - 1", "n - t", words=("--json",))[0])
        self.assertEqual((found["exit"], len(found["findings"]), found["launches"]), (1, 1, 1))
        self.assertNotIn("lines", found)
        self.assertEqual(schema.complaint(found), "")

    def test_what_each_line_costs_is_explained(self) -> None:
        report = self.check(0, "s[t] = d[t]", "s[t] = d[2 * t % n]", words=("--explain",))[1]
        line = r"reverse\.cu:8 .*\n +s\[t\] = d\[2 \* t % n\];\n +load global reverse\.cu:18 +8 +8\.0 +4\.0"
        self.assertRegex(report, line)
        self.assertNotIn("reverse<<<", report)
        found = json.loads(self.check(0, words=("--explain", "--json"))[0])
        self.assertIn("reverse.cu:8", [line["line"] for line in found["lines"]])
        self.assertEqual(schema.complaint(found), "")

    def test_what_cannot_be_read_is_named_in_a_line(self) -> None:
        for what in ("cudaGraph_t g;", "cudaArray_t a;", 'asm("exit;");'):
            report = self.check(3, "int h[N]", what + " int h[N]")[1]
            self.assertRegex(
                report, r"\Akata: \S+reverse\.cu:16: error: the CPU back end has no \S[^\n]+\n\Z"
            )
        for what, said in (
            ("float3 f; f.w = 1;", "has no member named 'w'"),
            ("current = 1;", "'current' was not declared"),
            ("cudaMaloc(0, 4);", "did you mean 'cudaMalloc'"),
            ("int M = L; CUcontext c;", "'L' was not declared"),
        ):
            report = self.check(2, "int h[N]", what + " int h[N]")[1]
            self.assertIn(said, report.replace("‘", "'").replace("’", "'"))
        report = self.check(2, "int h[N]", "int h[M]")[1]
        self.assertIn("'M' was not declared", report.replace("‘", "'").replace("’", "'"))
        self.assertIn("no file", self.check(2, words=("nowhere.cu",))[1])


if __name__ == "__main__":
    unittest.main()
