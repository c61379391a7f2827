#!/usr/bin/env python3
"""The texts about verdicts, and the table of a chapter, from records that are made up here."""

from __future__ import annotations

import contextlib
import io
import json
import pathlib
import tempfile
import unittest
import unittest.mock
from collections.abc import Iterator
from typing import cast

import paths  # noqa: F401  it makes the modules below importable

import build
import contract
import ladder
import verdicts
from repository import Repository


class Verdicts(unittest.TestCase):
    """Verdicts from Meson's records of tests."""

    def verdict(
        self, result: str, stderr: str = "", tree: str = "chapters", name: str = "01_add", **record: object
    ) -> verdicts.Verdict:
        command = ["sums-cpu", "--step", f"build/{tree}.sums.{name}.cpu.so", "--source", f"../{name}.sums.cu"]
        said = {
            "name": f"kata:sums / {name}",
            "result": result,
            "stdout": "",
            "stderr": stderr,
            "returncode": 0,
            "duration": 30.2,
        }
        test = {**said, "command": command, **record}
        return verdicts.verdict_of(cast("verdicts.MesonTest", test))

    def test_what_needs_another_gpu_is_skipped_with_one_line_and_not_called_open(self) -> None:
        said = "1..0 # SKIP needs a GPU of compute capability 9.0\n"
        skipped = self.verdict("SKIP", stdout=said)
        self.assertEqual(skipped.notes, ("needs a GPU of compute capability 9.0",))
        line = "SKIP  chapters/sums/01_add.cu: needs a GPU of compute capability 9.0\n"
        self.assertEqual(verdicts.of_one_step([skipped]), line)
        self.assertEqual(verdicts.of_a_chapter([skipped], set()), f"{line}\n1 test: 1 SKIP\n")
        self.assertEqual(self.verdict("SKIP", stdout="1..0 # SKIP open: 01_add.cu waits for you\n").notes, ())

    def test_programs_get_each_verdict_with_its_records_as_json(self) -> None:
        slow = {"test": "needs about", "kind": "slow", "text": "too many lines", "share": 0.25}
        verdict = self.verdict("FAIL", "not ok: needs about\n", stdout=f"# {json.dumps(slow)}\n")
        (said,) = verdicts.as_json([verdict])
        self.assertEqual(
            (said["chapter"], said["step"], said["tree"], said["backend"]),
            ("sums", "01_add", "chapters", "cpu"),
        )
        self.assertEqual((said["verdict"], said["why"], said["records"]), ("SLOW", "too many lines", (slow,)))
        (needs,) = verdicts.as_json([self.verdict("SKIP", stdout="1..0 # SKIP needs a GPU\n")])
        self.assertEqual((needs["verdict"], needs["why"]), ("SKIP", "needs a GPU"))

    def test_a_failure_is_explained_once(self) -> None:
        said = verdicts.of_a_chapter(
            [self.verdict("FAIL", "\nnot ok: adds\n  c[0] is 1\n"), self.verdict("SKIP")], set()
        )
        self.assertEqual(said.count("not ok: adds\n    c[0] is 1"), 1)
        self.assertIn("2 tests: 1 SKIP, 1 FAIL; SKIP is still to be written", said)

    def test_what_is_good_to_know_stands_below_what_passes_alone(self) -> None:
        told = {
            "kind": "right",
            "notes": [
                "the error of the launch is never read; write check(cudaGetLastError()); after it, "
                "as in the lesson."
            ],
        }
        note = f"# {json.dumps(told)}\n"
        said = verdicts.of_one_step([self.verdict("OK", stdout=note)])
        self.assertIn("OK    chapters/sums/01_add.cu\n      the error of the launch", said)
        self.assertLessEqual(max(map(len, said.splitlines())), 80)
        self.assertNotIn("It printed", said)
        self.assertNotIn(
            "never read", verdicts.of_one_step([self.verdict("FAIL", "not ok: a\n", stdout=note)])
        )

    def test_a_step_that_needs_a_gpu_may_be_skipped_only_for_that_reason(self) -> None:
        lacks, other = (
            "1..0 # SKIP needs a GPU of compute capability 9.0 or newer\n",
            "1..0 # SKIP all of it\n",
        )
        wrong = "must be OK in a fresh checkout, and is SKIP"
        for need, backend, result, said, complaint in (
            ("sm_90", "gpu", "SKIP", lacks, ""),
            ("sm_90", "gpu", "OK", "", ""),
            ("sm_90", "gpu", "SKIP", other, wrong),
            ("sm_90", "cpu", "SKIP", lacks, wrong),
            ("sm_90a", "cpu", "SKIP", "1..0 # SKIP needs a GPU of compute capability 9.0\n", ""),
            ("", "gpu", "SKIP", lacks, wrong),
        ):
            with (
                self.subTest(need=need, backend=backend, said=said),
                tempfile.TemporaryDirectory() as scratch,
            ):
                root = pathlib.Path(scratch)
                (root / "chapters/sums").mkdir(parents=True)
                (root / "solutions/sums").mkdir(parents=True)
                (root / "solutions/sums/01_add.cu").write_text(f"// Needs: {need}\n" if need else "")
                (root / "build/meson-logs").mkdir(parents=True)
                command = ["sums", "--step", f"solutions.sums.01_add.{backend}.so", "--source", "01_add.cu"]
                record = {"name": "a / b", "command": command, "result": result, "stdout": said}
                (root / "build/meson-logs/testlog.json").write_text(json.dumps(record) + "\n")
                found = list(contract.check_verdicts(Repository(root), root / "build"))
                self.assertEqual(found, [f"solutions/sums/01_add: {complaint}"] if complaint else [])

    def test_a_cause_that_no_test_could_report_is_reported(self) -> None:
        self.assertIn("was stopped after 30 s", self.verdict("TIMEOUT").reason)
        self.assertEqual(
            self.verdict("ERROR", returncode=-11).reason, "crashed: it accessed memory that does not exist"
        )
        self.assertNotIn("SIG", self.verdict("ERROR", returncode=-6).why)
        self.assertIn("signal 31 ended it", self.verdict("ERROR", returncode=-31).reason)
        self.assertIn("status 3", self.verdict("ERROR", returncode=3).reason)

    def test_a_step_that_does_not_compile_is_reported_in_a_line(self) -> None:
        wrong = self.verdict("FAIL", "not built", tree="wrong", name="01_add.no_guard")
        assert wrong.module
        said = verdicts.of_all([wrong], {wrong.module.file}, ["sums"])
        self.assertIn(
            "sums          wrong 1 FAIL\n\nFAIL  tests/wrong/sums/01_add.mistakes: no_guard does not "
            "compile: see above\n",
            said,
        )

    def test_what_a_step_prints_is_shown_but_not_at_length(self) -> None:
        self.assertEqual(
            verdicts.of_one_step([self.verdict("OK", "hello\n")]),
            "OK    chapters/sums/01_add.cu\nIt printed:\n  hello\n",
        )
        said = verdicts.of_one_step([self.verdict("OK", "hello\n" * 1000)])
        self.assertIn("and 980 lines more", said)
        said = verdicts.of_one_step([self.verdict("OK", "7 " * 100_000 + "\nlast\n")])
        self.assertIn(" … and 199800 characters more\n  last\n", said)
        self.assertLess(len(said), 400)

    def test_all_messages_of_tests_are_shown_for_a_step_that_fails_and_prints(self) -> None:
        printed = "hello\n" * 1000
        wrong = self.verdict(
            "FAIL",
            f"{printed}\nnot ok: adds\n  c[0] is 1\n{printed}\nnot ok: more\n  c[1] is 2\n" + "7 " * 100_000,
        )
        for said in (verdicts.of_one_step([wrong]), verdicts.of_a_chapter([wrong], set())):
            self.assertIn("not ok: adds\n    c[0] is 1\n  hello\n", said)
            self.assertIn("lines more\n  not ok: more\n    c[1] is 2\n", said)
            self.assertLess(len(said), 4000)

    def test_where_nothing_is_written_over_progress_is_a_line_now_and_then(self) -> None:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            often, seldom = build.Progress(seldom=0), build.Progress()
            often.show("[1/2] c++ a.cpp")
            seldom.show("[1/2] c++ a.cpp")
            often.clear()
        self.assertEqual(said.getvalue(), "[1/2] c++ a.cpp\n")

    def test_a_single_test_has_no_progress_to_show(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            where = unittest.mock.MagicMock(folder=pathlib.Path(folder))
            log = where.folder / "meson-logs" / "testlog.json"
            log.parent.mkdir()

            def run(*lines: str) -> str:
                def lines_of(_: object) -> Iterator[str]:
                    log.touch()
                    yield from lines

                said = io.StringIO()
                with (
                    unittest.mock.patch.multiple(
                        verdicts,
                        processes=unittest.mock.MagicMock(lines_of=lines_of),
                        Progress=lambda: build.Progress(seldom=0),
                    ),
                    contextlib.redirect_stdout(said),
                ):
                    verdicts.run(where, ["--suite", "sums"])
                return said.getvalue()

            self.assertEqual(run("1/1 kata:sums / 01_add OK 9.02s"), "")
            self.assertEqual(run(" 1/12 kata:sums / 01_add OK 9.02s"), "1/12 kata:sums / 01_add OK 9.02s\n")

    def test_the_gains_of_a_step_are_reported_in_a_line(self) -> None:
        right = self.verdict(
            "OK",
            stdout='1..1\nok 1 - a\n# {"kind": "right", "gains": ["threads 1, 1/2 of the 2 in 00", "barriers '
            '3"]}\n',
        )
        self.assertEqual(
            verdicts.of_one_step([right]),
            "OK    chapters/sums/01_add.cu\n      It gains: threads 1, 1/2 of the 2 in 00; barriers 3.\n",
        )
        wrong = self.verdict(
            "FAIL",
            "not ok: a\n",
            stdout='not ok 1 - a\n# {"kind": "wrong", "text": "a", "gains": ["threads 1"]}\n',
        )
        self.assertNotIn("gains", verdicts.of_one_step([wrong]))

    def test_a_test_of_no_kernel_is_none_of_a_chapter(self) -> None:
        self.assertIsNone(
            self.verdict(
                "EXPECTEDFAIL",
                command=["grids-cpu", "--step", "solutions.grids.01_a.cpu.so", "--source", "99_b.cu"],
            ).module
        )


class Ladders(unittest.TestCase):
    """The table of a chapter, from counts that are made up."""

    Column = ladder.Column
    COLUMNS = (
        Column("bytes_loaded", "loaded", "loaded", "B/output", 2, False, "bytes that threads load"),
        Column("sectors", "sectors", "sectors", "/output", 3, False, "pieces of 32 bytes"),
        Column(
            "load_efficiency", "load eff.", "load eff.", "%", 1, True, "share of the sectors that lanes read"
        ),
        Column("bank_conflicts", "conflicts", "extra passes", "/output", 3, False, "bank conflicts"),
        Column("barriers", "barriers", "syncs", "/block", 0, False, "barriers that a block reaches"),
        *(ladder.Column(f"c{n}", "counted", "counted", "", 3, True, "something else") for n in range(4)),
    )

    def test_it_fits_a_terminal_of_80_columns_and_says_what_is_better(self) -> None:
        other = ladder.Row(
            "01_a", {column.key: 98.7 for column in self.COLUMNS} | {"barriers": 0.0, "sectors": 0.0}
        )
        row = ladder.Row(
            "02_kogge_stone_double_buffered",
            {column.key: 1234.5 for column in self.COLUMNS} | {"bytes_loaded": 49.35, "barriers": 0.0},
        )
        said = (
            ladder.headings(self.COLUMNS)
            + ladder.row_text(self.COLUMNS, row)
            + ladder.ratios(self.COLUMNS, "against 01", row, other)
        )
        said += ladder.row_text(self.COLUMNS, ladder.Row("01_a", {"open": 1.0})) + ladder.legend(self.COLUMNS)
        said += ladder.row_text(
            self.COLUMNS, ladder.Row("01_a", {}, fault="a fault that goes on and on, " * 4)
        )
        self.assertLessEqual(max(map(len, said.splitlines())), 80, said)
        self.assertIn(" x0.5+", said)  # half of the bytes
        self.assertIn(" more-", said)  # sectors, where there were none
        self.assertIn(" x12.5-", said)
        self.assertIn(" x12.5+", said)

    def test_a_ratio_fits_its_column(self) -> None:
        for ratio, more, text in (
            (1, True, "x1 "),
            (0.05213, False, "x0.052+"),
            (0.05213, True, "x0.052-"),
            (0.00681, False, "x0.007+"),
            (1234.5, False, "x1234-"),
        ):
            self.assertEqual(ladder.ratio_text(ratio, more), text)
        ratio = 1e-9
        while ratio < 1e9:
            self.assertLess(len(ladder.ratio_text(ratio, True)), ladder.COLUMN)
            ratio *= 1.37

    def test_what_a_suite_prints_is_read(self) -> None:
        row = ladder.parse("01_a", "outputs 4\nbarriers 2.5\nrefuted 00_z it has more\n")
        self.assertEqual(
            (row.values, row.fault, row.refuted),
            ({"outputs": 4, "barriers": 2.5}, "", (("00_z", "it has more"),)),
        )
        self.assertEqual(ladder.parse("01_a", "fault one\nfault two\n").fault, "one\ntwo")
        self.assertEqual(ladder.parse("01_a", "lacks needs a GPU\n").lacks, "needs a GPU")
        self.assertIn("without a result", ladder.parse("01_a", "").fault)


if __name__ == "__main__":
    unittest.main()
