#!/usr/bin/env python3
"""The output of ./kata bench for made-up benchmarks: its table, its verdicts, and its files.
Nothing is timed."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock
from collections.abc import Sequence
from typing import Any

from paths import ROOT, run

import bench
from fault import Fault
from repository import Repository

DEVICE = 'device,"NVIDIA H100 80GB HBM3, sm_90",66.9'


def row(
    case: str,
    kind: str,
    kernel: str,
    verdict: str = "right",
    ms: float = 1.477,
    rate: float = 1454,
    teraflops: float = 0,
    faster: float = 0.595,
) -> str:
    bounds = (faster, faster * 0.99, faster * 1.01)
    ratios = ",".join(map(str, bounds))
    return f'row,"{case}",{kind},{kernel},"{verdict}",{ms},0.2,{rate},{teraflops},48.4,{ratios},32,1'


def begin(case: str, kind: str, kernel: str) -> str:
    return f'begin,"{case}",{kind},{kernel}'


WHOLE = "whole, 2^28 floats"
LINES = [
    DEVICE,
    begin(WHOLE, "floor", "copy"),
    row(WHOLE, "floor", "copy", ms=0.715, rate=3003, faster=0),
    begin(WHOLE, "vendor", "cub"),
    row(WHOLE, "vendor", "cub", ms=0.879, rate=2443, faster=0),
    begin(WHOLE, "step", "05_hierarchical"),
    row(WHOLE, "step", "05_hierarchical"),
    begin(WHOLE, "mine", "05_hierarchical"),
    row(WHOLE, "mine", "05_hierarchical", verdict="open"),
    'skip,"whole, 2^30 floats","needs 8.25 GiB of the GPU\'s memory, of which 3.80 GiB are free"',
    "end",
]


class Benching(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="kata-bench-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def program(self, text: str) -> pathlib.Path:
        """Returns a benchmark that is a script in Python, with its arguments in `told`."""
        path = self.folder / "scan-bench"
        path.write_text(f"#!{sys.executable}\nimport sys\ntold = sys.argv[1:]\n{text}")
        path.chmod(0o755)
        return path

    def saying(self, lines: Sequence[str], status: int = 0) -> pathlib.Path:
        return self.program(f"print({chr(10).join(lines)!r})\nsys.exit({status})\n")

    def shown(self, program: pathlib.Path) -> tuple[bench.Run, str]:
        said: list[str] = []
        run = bench.of_chapter([program], "cub", said.append)
        return run, "\n".join(said)

    def bench(
        self,
        program: pathlib.Path,
        *,
        mine: bool = False,
        not_built: Sequence[str] = (),
        samples: Sequence[bench.Sample] = (),
        gpu: bool = True,
        backends: Sequence[str] = ("gpu",),
        last: int | None = None,
        **files: str,
    ) -> tuple[int, str]:
        """Returns the status and the output of the command, over a made-up build."""

        build = unittest.mock.MagicMock(folder=self.folder)
        build.gpu_here.return_value = gpu
        build.backends.return_value = list(backends)
        build.compile.return_value = set(not_built)
        clocks = unittest.mock.MagicMock()
        clocks.__enter__.return_value.samples = list(samples)
        said = io.StringIO()
        made_up: dict[str, Any] = {
            "Build": lambda _: build,
            "Clocks": lambda: clocks,
            "machine": lambda: "a GPU",
            "targets": lambda _: ["scan-bench", "vendor.scan.cub.gpu.so"],
        }
        with unittest.mock.patch.multiple(bench, **made_up), contextlib.redirect_stdout(said):
            status = bench.bench(Repository(), ["scan"], mine=mine, last=last, **files)
        return status, said.getvalue()

    def test_the_table_has_a_row_for_each_kernel_and_fits_a_terminal(self) -> None:
        run, said = self.shown(self.saying(LINES))
        self.assertEqual(
            [kernel.kernel for kernel in run.rows], ["copy", "cub", "05_hierarchical", "05_hierarchical"]
        )
        self.assertRegex(said, r"(?m)^copy +0\.7150 +0\.2 +3003$")
        self.assertRegex(said, r"(?m)^CUB +0\.8790 +0\.2 +2443 +48\.4$")
        self.assertRegex(said, r"(?m)^05 hierarchical +1\.477 +0\.2 +1454 +48\.4 +0\.595 \(0\.589-0\.601\)$")
        self.assertRegex(said, r"(?m)^   yours, 05 +open$")
        status, said = self.bench(self.saying(LINES))
        self.assertEqual(status, 0)
        self.assertIn("NVIDIA H100 80GB HBM3, sm_90", said)
        for line in said.splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_no_column_touches_the_next(self) -> None:
        name = "02_kogge_stone_double_buffered"
        lines = [
            DEVICE,
            row("c", "floor", "copy"),
            row("c", "step", name, ms=31234.5, rate=123456.7, faster=1234),
            "end",
        ]
        last = self.shown(self.saying(lines))[1].splitlines()[-1]
        self.assertEqual(
            last.split(),
            ["02", "kogge", "stone", "double", "…", "31234", "0.2", "123457", "48.4", "1234", "(1222-1246)"],
        )

    def test_longest_names_and_numbers_fit(self) -> None:
        name = "02_kogge_stone_double_buffered"
        lines = [
            DEVICE,
            row("c", "floor", "copy"),
            row("c", "step", name, ms=31234.5, rate=123456.7, faster=123.4),
            "end",
        ]
        said = self.shown(self.saying(lines))[1]
        self.assertIn("\n02 kogge stone double …", said)
        for line in said.splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_operations_are_reported_where_they_take_longer_than_the_bytes(self) -> None:
        lines = [
            DEVICE,
            row("c", "floor", "copy", rate=3000),
            row("c", "step", "01_naive", rate=50, teraflops=6.2),
            "end",
        ]
        said = self.shown(self.saying(lines))[1]
        self.assertIn("TFLOP/s", said)
        self.assertRegex(said, r"(?m)^01 naive +1\.477 +0\.2 +6\.200 ")
        self.assertRegex(said, r"(?m)^copy .* 3000 GB/s$")
        lines[2] = row("c", "step", "01_naive", rate=1500, teraflops=6.2)
        self.assertNotIn("TFLOP/s", self.shown(self.saying(lines))[1])

    def test_what_does_not_fit_is_one_line_and_no_failure(self) -> None:
        status, said = self.bench(self.saying([LINES[0], LINES[9], "end"]))
        self.assertEqual(status, 0)
        told = " ".join(said.split())
        self.assertIn(
            "whole, 2^30 floats: skipped, because it needs 8.25 GiB of the GPU's memory, of which 3.80 GiB "
            "are free",
            told,
        )

    def test_a_wrong_answer_is_reported_in_place_of_a_time_and_is_the_exit_status(self) -> None:
        why = "element 5 is 3, expected 4"
        status, said = self.bench(
            self.saying([*LINES[:6], row(WHOLE, "step", "05_hierarchical", verdict=why), "end"], status=1)
        )
        self.assertEqual(status, 1)
        self.assertRegex(said, rf"(?m)^05 hierarchical +WRONG\n      {why}$")
        self.assertNotIn("1.477", said)

    def test_a_step_that_ends_the_program_is_wrong_and_the_others_are_timed_without_it(self) -> None:
        verdict = "the step has not returned after 120 s"
        told = row(WHOLE, "mine", "05_hierarchical", verdict=verdict)
        for last, end in (
            (verdict, "sys.exit(3)"),
            (verdict, "import os; os.abort()"),
            (told, "sys.exit(3)"),
        ):
            path = self.program(
                f"print({DEVICE!r})\n"
                f"print({row(WHOLE, 'floor', 'copy')!r})\n"
                f"if '--without' not in told:\n"
                f"    print({begin(WHOLE, 'mine', '05_hierarchical')!r})\n"
                f"    print({last!r})\n"
                f"    sys.stdout.flush()\n"
                f"    {end}\n"
                f"assert told[-1] == 'mine/05_hierarchical', told\n"
                f"print({row(WHOLE, 'step', '06_single_pass')!r})\n"
                f"print('end')\n"
            )
            status, said = self.bench(path, mine=True)
            self.assertEqual(status, 1)
            self.assertRegex(said, rf"(?m)^   yours, 05 +WRONG\n      {verdict}$")
            self.assertEqual(said.count(verdict), 1)
            self.assertRegex(said, r"(?m)^06 single pass +1\.477")

    def test_a_step_that_does_not_compile_is_not_timed_as_it_was_before(self) -> None:
        path = self.program(
            f"print({DEVICE!r})\nprint('end')\nassert told[-2:] == ['--without', "
            f"'mine/05_hierarchical'], told\n"
        )
        status, _ = self.bench(path, mine=True, not_built=["chapters.scan.05_hierarchical.gpu.so"])
        self.assertEqual(status, 1)

    def test_only_the_last_steps_may_be_requested(self) -> None:
        path = self.program(f"print({DEVICE!r})\nprint('end')\nassert told[-2:] == ['--last', '2'], told\n")
        self.assertEqual(self.bench(path, last=2)[0], 0)
        none = self.program(f"print({DEVICE!r})\nprint('end')\nassert '--last' not in told\n")
        self.assertEqual(self.bench(none)[0], 0)
        for wrong in ("0", "-1", "two"):
            done = run(sys.executable, ROOT / "common/front/kata.py", "bench", "--last", wrong)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, rf"\Akata: .*{wrong}.*\n\Z")

    def test_a_benchmark_that_ends_itself_early_is_a_fault(self) -> None:
        for lines in ([DEVICE], [DEVICE, begin(WHOLE, "floor", "copy")]):
            with self.assertRaisesRegex(Fault, "ended early"):
                self.shown(self.saying(lines, status=1))
        with self.assertRaisesRegex(Fault, "no GPU to run on: the driver finds none"):
            self.shown(self.saying(["no GPU to run on: the driver finds none"], status=77))

    def test_a_throttled_gpu_is_reported_and_one_that_idles_is_not(self) -> None:
        fine = [bench.Sample(1980, 1980, 0x0), bench.Sample(345, 1980, 0x1), bench.Sample(1980, 1980, 0x2)]
        self.assertEqual(bench.throttling(fine), "")
        self.assertEqual(bench.throttling([]), "")
        hot = [*fine, bench.Sample(1410, 1980, 0x4), bench.Sample(1500, 1980, 0x60)]
        said = bench.throttling(hot)
        self.assertIn(
            "in 2 of 5 samples, down to 1410 of 1980 MHz: it drew as much power as it may, it was so hot "
            "that the driver slowed it down, it was so hot that the hardware",
            said,
        )
        self.assertIn(
            "those of a throttled GPU", self.bench(self.saying(LINES), samples=hot)[1].replace("\n", " ")
        )
        self.assertNotIn("throttled", self.bench(self.saying(LINES), samples=fine)[1])

    def test_clocks_are_queried_in_the_words_of_older_drivers_too(self) -> None:
        for known in bench.Clocks.NAMES:
            with (
                unittest.mock.patch.object(
                    bench,
                    "asked",
                    lambda query, known=known: "1410, 1980, 0x0000000000000004" if known in query else "",
                ),
                bench.Clocks() as clocks,
            ):
                pass
            self.assertEqual(clocks.samples[0], bench.Sample(1410, 1980, 4))
        no_answer = unittest.mock.patch.object(bench, "asked", lambda query: "[N/A], [N/A], [N/A]")
        with no_answer, bench.Clocks() as clocks:
            pass
        self.assertEqual(clocks.samples, [])

    def test_the_files_hold_every_row_the_machine_and_what_was_noticed(self) -> None:
        table, document = self.folder / "all.csv", self.folder / "all.json"
        hot = [bench.Sample(1410, 1980, 0x4)]
        self.bench(self.saying(LINES), samples=hot, csv_file=str(table), json_file=str(document))
        comments = [line for line in table.read_text().splitlines() if line.startswith("#")]
        rows = list(csv.DictReader(table.read_text().splitlines()[len(comments) :]))
        self.assertEqual(comments[0], "# a GPU")
        self.assertIn("lowered its clock", comments[1])
        self.assertEqual(
            [one["kernel"] for one in rows], ["copy", "cub", "05_hierarchical", "05_hierarchical"]
        )
        self.assertEqual((rows[2]["case"], rows[2]["ms"], rows[2]["verdict"]), (WHOLE, "1.477", "right"))
        read = json.loads(document.read_text())
        self.assertEqual((read["machine"], len(read["notes"]), len(read["rows"])), ("a GPU", 1, 4))
        self.assertEqual(read["rows"][2]["at least"], 0.595 * 0.99)
        self.assertEqual(read["skipped"][0]["case"], "whole, 2^30 floats")

    def test_without_a_gpu_one_line_says_so(self) -> None:
        with self.assertRaisesRegex(Fault, "^no GPU, or no nvcc, .*: ./kata tour$"):
            self.bench(self.saying(LINES), gpu=False)
        with self.assertRaisesRegex(Fault, "configured without a GPU"):
            self.bench(self.saying(LINES), backends=["cpu"])
        nothing = {**os.environ, "PATH": str(self.folder)}
        done = run(sys.executable, ROOT / "common/front/kata.py", "bench", "scan", env=nothing)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"\Akata: no GPU.*\n\Z")


if __name__ == "__main__":
    unittest.main()
