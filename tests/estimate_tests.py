#!/usr/bin/env python3
"""Tests of the estimate's tables: their text on a terminal, and the pairs, errors and complaints of
tests/estimate.py."""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import math
import pathlib
import re
import tempfile
import types
import unittest
from collections.abc import Collection
from typing import Any
from unittest import mock

from paths import ROOT

import estimate
import estimates
import ladder
import tours
from fault import Fault
from repository import Repository


def row(kernel: str, measured: float, estimated: float, variant: str = "0") -> dict[str, str]:
    values = ["gemm", kernel, variant, str(measured), str(estimated), str(estimated / measured), "DRAM"]
    return dict(zip(estimate.HEADINGS, values))


SAID = """estimated_milliseconds 3.234
problem two vectors
bound latency
need 3.1 latency
need 1.6 DRAM
launch 1.5 1024 256 DRAM
launch 1.5 1024 256 DRAM
launch 0.234 1 32 latency
alone blocks: 1024, on each of 132 multiprocessors at once: 8; the chain through a block: basic blocks 4, \
requests 7.5
line 2.0 01_add.cu:7 DRAM
line 0.7 sums.cuh:9 DRAM
line 0.17 - DRAM
line 0.03 01_add.cu:3 DRAM
"""
FOUND = estimates.parse(SAID)
WRITTEN = "// kata: begin\nint x;\n// kata: end\n"
OPEN = "// kata: begin\n    // What.\n    kata::open();\n// kata: end\n"


def text_of(line: str) -> str:
    return f"the text of {line}, which may be so long that no terminal has the room for all of it"


class Shown(unittest.TestCase):
    def test_what_a_suite_says(self) -> None:
        self.assertEqual((FOUND.milliseconds, FOUND.needs[1], len(FOUND.launches)), (3.234, (1.6, "DRAM"), 3))
        self.assertEqual((FOUND.problem, FOUND.lines[1]), ("two vectors", (0.7, "sums.cuh:9", "DRAM")))
        for said in ("fault no memory\n", "open 1\n", ""):
            with self.assertRaises(estimates.NoTime):
                estimates.parse(said)

    def test_what_bounds_most_of_the_time_is_what_is_named(self) -> None:
        self.assertEqual(FOUND.bound, "DRAM")  # although all launches together wait longer for something else
        self.assertEqual(FOUND._replace(launches=[]).bound, "latency")

    def test_two_digits_are_all_that_an_estimate_keeps(self) -> None:
        shown = {
            4.114: "4.1",
            0.0994: "0.099",
            0.0996: "0.10",
            78.36: "78",
            9.96: "10",
            123: "120",
            0.0005: "0.00050",
            0: "0",
        }
        self.assertEqual({value: estimates.rounded(value) for value in shown}, shown)

    def test_beside_the_solution(self) -> None:
        self.assertEqual(estimates.compared(3.1, 1), "about 3.1 times as slow as the solution")
        self.assertEqual(estimates.compared(1.05, 1), "about as fast as the solution")
        self.assertEqual(estimates.compared(1, 2), "about 2.0 times as fast as the solution")
        self.assertEqual(estimates.compared(1234, 1), "about 1200 times as slow as the solution")

    def test_details(self) -> None:
        lines = estimates.details(FOUND, "your step", text_of)
        self.assertEqual(lines[1], "  latency 96 %; DRAM 49 %")
        self.assertEqual(lines[2], "  2 launches of 1024 blocks of 256 threads: 3.0 ms, bound by DRAM")
        self.assertEqual(lines[3], "  a launch of 1 block of 32 threads: 0.23 ms, bound by latency")
        self.assertFalse(
            [
                line
                for line in estimates.details(FOUND._replace(launches=[]), "it", text_of)
                if "launch" in line
            ]
        )

    def test_each_line_has_its_part_and_one_without_a_part_is_reported(self) -> None:
        _, *lines = estimates.by_line(FOUND, text_of)
        self.assertRegex(lines[0], r"^   62 %  DRAM +line 7 +the text of 01_add.cu:7, .*…$")
        self.assertRegex(lines[1], r"^   22 %  DRAM +sums.cuh:9 ")
        self.assertEqual(lines[2], "    1 %  in 1 other line: --all")
        self.assertEqual(lines[3], "    5 %  DRAM, in no line: code whose line is not known")
        self.assertEqual(lines[4], f"    7 %  latency, in no line: {estimates.IN_NO_LINE['latency']}")
        self.assertEqual(max(map(len, lines[:3])), 80)
        only_latency = FOUND._replace(lines=[], launches=FOUND.launches[2:], milliseconds=0.234)
        self.assertEqual(len(estimates.by_line(only_latency, text_of)), 2)

    def test_all_lines_are_shown_where_all_are_asked_for(self) -> None:
        _, *lines = estimates.by_line(FOUND, text_of, everything=True)
        self.assertRegex(lines[2], r"^    1 %  DRAM +line 3 ")
        self.assertFalse([line for line in lines if "other line" in line])
        self.assertIn(
            "latency 96 %; DRAM 49 %; L2 1 %; issue 1 %",
            estimates.details(self.of_four_needs(), "it", text_of, True)[1],
        )
        self.assertNotIn("issue", estimates.details(self.of_four_needs(), "it", text_of)[1])
        chain = (
            "  blocks: 1024, on each of 132 multiprocessors at once: 8; the chain through a block: basic "
            "blocks 4, requests 7.5"
        )
        self.assertIn(chain, estimates.details(FOUND, "it", text_of, True))
        self.assertNotIn(chain, estimates.details(FOUND, "it", text_of))

    def of_four_needs(self) -> estimates.Estimate:
        return FOUND._replace(needs=[*FOUND.needs, (0.04, "L2"), (0.03, "issue")])

    def test_where_the_longest_is_not_all_of_the_time_it_says_what_the_rest_is(self) -> None:
        one = FOUND._replace(launches=FOUND.launches[:1], needs=[(2.0, "DRAM")])
        self.assertIn("in the rest, blocks wait for their turn", estimates.details(one, "it", text_of)[2])
        self.assertNotIn(
            "in the rest", "".join(estimates.details(one._replace(needs=[(3.2, "DRAM")]), "it", text_of))
        )
        self.assertIn("added up over launches", estimates.details(FOUND, "it", text_of)[0])

    def test_for_programs(self) -> None:
        said: Any = estimates.as_json(FOUND)
        self.assertEqual(
            (said["ms"], said["bound_by"], said["needs"]["DRAM"], len(said["launches"])),
            (3.234, "DRAM", 1.6, 3),
        )
        self.assertEqual((said["lines"][0]["line"], said["lines"][2]["line"]), ("01_add.cu:7", None))
        self.assertEqual(estimates.as_json(estimates.NoTime("too long")), {"ms": None, "why": "too long"})
        self.assertEqual(estimates.as_json(None)["ms"], None)

    def test_whatever_may_bound_a_launch_has_a_meaning(self) -> None:
        source = (ROOT / estimates.FOLDER / "estimate.cpp").read_text()
        self.assertEqual(set(re.findall(r'\bneed\("([^"]+)"', source)), set(estimates.MEANINGS))
        self.assertLessEqual(set(estimates.IN_NO_LINE), set(estimates.MEANINGS))
        for line in estimates.legend(Repository(), "H200", "scan", estimates.MEANINGS).splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_the_mean_says_which_mean_it_is(self) -> None:
        self.assertRegex(
            estimates.error(Repository(), "H200", "no chapter"),
            r"factor of \d\.\d\d, the geometric mean over \d+ kernels that this GPU has timed; it",
        )
        self.assertEqual(estimates.error(Repository(), "Voodoo", "scan"), "")

    def test_a_chapter_has_its_own_error(self) -> None:
        rows = [row("a", 1, 2), dict(row("b", 1, 8), chapter="scan")]
        with mock.patch.object(estimates, "rows", lambda *_: rows):
            self.assertIn(
                "off by a factor of 4.00, the geometric mean over 2 kernels that this GPU has timed, "
                "and of 8.00 over the 1 of this chapter;",
                estimates.error(Repository(), "H200", "scan"),
            )

    def test_the_problem_that_comes_first_is_that_of_the_ladder(self) -> None:
        there = Repository()
        for name in estimates.devices(there):
            for chapter in there.chapters():
                ladder = there.root / "chapters" / chapter / "measured" / "ladder.csv"
                rows = [row for row in estimates.rows(there, name) if row["chapter"] == chapter]
                if not rows:
                    continue  # this GPU has not timed the chapter
                first = rows[0]
                self.assertEqual(
                    first["variant"], ladder.read_text().splitlines()[2].split(",")[1], (name, chapter)
                )
                self.assertIn(there.steps(chapter, "solutions")[0], estimates.measured(there, name, chapter))

    def test_where_there_is_a_gpu_the_estimate_stands_below_its_times(self) -> None:
        given = argparse.Namespace(
            chapters=["grids"], mine=False, full=False, image=None, text=None, device="H200"
        )
        for backends, wanted, said in (
            (["cpu", "gpu"], ["grids-cpu", "grids-gpu"], "the table"),
            (["gpu"], ["grids-gpu"], "No estimate: it needs the CPU back end"),
        ):
            build = mock.Mock(folder="build")
            build.backend.return_value, build.backends.return_value = "gpu", backends
            build.compile.return_value = set()
            out = io.StringIO()
            with (
                mock.patch.object(tours, "Build", mock.Mock(return_value=build)),
                mock.patch.object(ladder, "Tour", mock.Mock(return_value=mock.Mock(faults=[]))),
                mock.patch.object(estimates, "ladder", lambda *_: ["the table"]),
                contextlib.redirect_stdout(out),
            ):
                self.assertEqual(tours.toured(Repository(), given)[0], 0)
            self.assertEqual([call.args[0][0] for call in build.compile.call_args_list], wanted)
            self.assertIn(said, out.getvalue())

    def test_each_step_of_a_ladder_has_the_time_that_its_gpu_measured_beside_it(self) -> None:
        there = Repository()
        for file in (there.root / "chapters").glob("*/measured/ladder.csv"):
            chapter, rows = (
                file.parent.parent.name,
                [line.split(",") for line in file.read_text().splitlines()[2:]],
            )
            names = [
                name
                for name in estimates.devices(there)
                if estimates.machine(estimates.device(there, name)) == estimates.machine(file)
            ]
            self.assertEqual(len(names), 1, file)
            expected = {
                step: float(ms)
                for step, variant, ms, *_ in rows
                if variant == rows[0][1] and (chapter, step) not in estimate.WITHOUT
            }
            shown = estimates.measured(there, names[0], chapter)
            self.assertEqual({step: shown.get(step) for step in expected}, expected, file)

    def test_names_of_gpus(self) -> None:
        there = Repository()
        for given in ("H100_80GB_HBM3", "h100", "NVIDIA H100 80GB HBM3", "nvidia-h1"):
            self.assertEqual(estimates.pick(there, given), "H100_80GB_HBM3")
        self.assertEqual(estimates.pick(there, "h200"), "H200")
        for given, says in {
            "h": "may be H100_80GB_HBM3 or H200",
            "": "there are: H100",
            "nvidia": "there are",
            "grids": "no description",
        }.items():
            with self.assertRaisesRegex(Fault, says):
                estimates.pick(there, given)
        self.assertIn("\n  H200             NVIDIA H200\n", estimates.listed(there))


class Ladder(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="kata-estimate-")
        self.addCleanup(scratch.cleanup)
        self.repository = Repository(pathlib.Path(scratch.name))
        for step in ("01_add", "02_all", "03_a_name_that_has_no_room_at_all"):
            self.write(f"solutions/sums/{step}.cu", WRITTEN)
            self.write(f"chapters/sums/{step}.cu", OPEN)
        self.write(f"{estimates.FOLDER}/devices/X1.csv", "# NVIDIA X1, sm_00\nquantity,x,y,value\n")
        judged = ["# NVIDIA X1", ",".join(estimate.HEADINGS)]
        for chapter, kernel, variant, ms in (
            ("gemm", "01_add", "7", "9"), ("sums", "01_add", "28", "2.117"), ("sums", "01_add", "20", "1.5"),
        ):  # fmt: skip
            judged.append(f"{chapter},{kernel},{variant},{ms},4.0,2,DRAM")
        self.write(f"{estimates.FOLDER}/judged/X1.csv", "".join(f"{line}\n" for line in judged))
        self.asked: list[str] = []
        self.without_time = ""

    def write(self, path: str, text: str) -> None:
        (self.repository.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.repository.root / path).write_text(text)

    def ladder(self, mine: bool = False, wrong: Collection[str] = ()) -> str:
        build: Any = types.SimpleNamespace(suite=lambda *_: "suite", folder=pathlib.Path("build"))

        def of(
            _: object, kernel: pathlib.Path, __: object, solution: pathlib.Path | None = None
        ) -> estimates.Estimate:
            self.asked.append(kernel.name)
            self.assertEqual(
                solution and solution.name,
                (kernel.name.startswith("chapters") and kernel.name.replace("chapters", "solutions")) or None,
            )
            if kernel.name.startswith("chapters") and self.without_time:
                raise estimates.NoTime(self.without_time)
            return FOUND if kernel.name.startswith("solutions") else FOUND._replace(milliseconds=9.7)

        with mock.patch.object(estimates, "of", of):
            said = "\n".join(estimates.ladder(self.repository, build, "sums", "X1", mine, wrong))
        for line in said.splitlines():
            self.assertLessEqual(len(line), 80, line)
        return said

    def test_a_solution_has_its_measured_time_beside_it_where_there_is_one(self) -> None:
        said = self.ladder()
        self.assertTrue(
            said.startswith(
                "Estimated for NVIDIA X1, with a larger problem than is counted:\ntwo vectors\n\nstep "
            ),
            said,
        )
        self.assertRegex(said, r"(?m)^01 add +3\.2 +2\.1  DRAM$")
        self.assertRegex(said, r"(?m)^02 all +3\.2 +-  DRAM$")
        self.assertRegex(said, r"(?m)^03 a name that has no room at… +3\.2 +-  DRAM$")
        self.assertIn("DRAM: bytes between", said)
        self.assertNotIn("issue:", said)  # it bounds none of them

    def test_a_step_of_mine_stands_above_its_solution(self) -> None:
        self.write("chapters/sums/01_add.cu", WRITTEN)
        said = self.ladder(mine=True)
        self.assertRegex(
            said,
            r"(?m)^01 add +9\.7 +-  DRAM\n   the solution +3\.2 +2\.1  DRAM\n   yours is about 3\.0 "
            r"times as slow as the solution$",
        )
        self.assertNotIn("02 all", said)  # open

    def test_a_step_without_a_time_is_in_the_table_and_its_solution_too(self) -> None:
        self.write("chapters/sums/01_add.cu", WRITTEN)
        self.without_time = (
            "it takes too long at full size: block (0,0,0) alone is not done after 20 million steps of its "
            "threads"
        )
        said = self.ladder(mine=True)
        self.assertRegex(
            said,
            r"(?m)^01 add +- +-  no time, because:\n   it takes too long .*\n   .*threads\n   the solution "
            r"+3\.2 +2\.1  DRAM$",
        )
        self.assertNotIn("yours is", said)

    def test_a_wrong_step_is_neither_estimated_nor_compared(self) -> None:
        self.write("chapters/sums/01_add.cu", WRITTEN)
        said = self.ladder(mine=True, wrong={"01_add"})
        self.assertRegex(
            said, r"(?m)^01 add +- +-  wrong, so it has no time\n   the solution +3\.2 +2\.1  DRAM$"
        )
        self.assertNotIn("yours is", said)
        self.assertEqual([name for name in self.asked if name.startswith("chapters")], [])
        self.assertRegex(self.ladder(wrong={"02_all"}), r"(?m)^02 all +- +-  wrong, so it has no time$")

    def test_a_step_without_a_kernel_is_reported(self) -> None:
        self.assertEqual(
            self.ladder(mine=True), "No step of yours is written yet, so there is no time to estimate."
        )
        self.assertEqual(self.asked, [])


class ByHand(unittest.TestCase):
    """The two steps that the page works out: its figures follow from the device and from the counts that it
    names."""

    def setUp(self) -> None:
        there = Repository()
        self.page = (there.root / estimates.FOLDER / "README.md").read_text()
        described = estimates.device(there, "H100_80GB_HBM3").read_text().splitlines()[1:]
        self.rows = [
            (row["quantity"], float(row["x"]), float(row["value"])) for row in csv.DictReader(described)
        ]
        self.clock, self.blocks = self.at("clock"), 8192 * 8192 // 256
        self.busiest = math.ceil(self.blocks / self.at("multiprocessors"))
        self.resident = int(self.at("threads_a_multiprocessor")) // 256
        self.judged = {
            row["kernel"]: row for row in estimates.rows(there, "H100_80GB_HBM3") if row["chapter"] == "grids"
        }

    def at(self, quantity: str, x: float = 0.0) -> float:
        return next(value for name, of, value in self.rows if (name, of) == (quantity, x))

    def most(self, quantity: str, x: float) -> float:
        return max(value for name, of, value in self.rows if (name, of) == (quantity, x))

    def place(self) -> float:
        """Returns the cycles for which a block waits for its place."""
        threads, limit = self.at("threads_a_multiprocessor"), self.at("blocks_a_multiprocessor")
        each = [min(threads // x, limit) / value for name, x, value in self.rows if name == "blocks"]
        return min(each) * self.at("multiprocessors") * self.clock

    def says(self, value: float | str, form: str, unit: str = "") -> None:
        section = " ".join(
            self.page.partition("## By hand: vector addition")[2]
            .partition("## What it does not know")[0]
            .split()
        )
        self.assertIn(f"{value:{form}}{unit}", section)

    def milliseconds(self, cycles: float) -> float:
        return 1e3 * self.busiest * cycles / self.clock

    def test_vector_addition(self) -> None:
        bytes_of_one = 4 * 8192 * 8192
        dram = 1e3 * (
            2 * bytes_of_one / self.most("dram_read", 132) + bytes_of_one / self.at("dram_write", 132)
        )
        l2, starting = (
            3e3 * bytes_of_one / self.most("l2_read", 132),
            1e3 * self.blocks / self.at("blocks", 256),
        )
        lines = self.milliseconds(3 * 8 * self.at("shared_load", 32) / 32)
        issue = self.milliseconds(8 * (5 * 2 + 3 * 2 + 0.5) / self.at("rate_float_fma"))
        for need in (dram, l2, starting, lines, issue):
            self.says(need, ".3f", " ms")
        waits = self.place() + 5 * self.at("latency_float_fma") + 3 + self.at("latency_dram_load")
        takes = 3 * 4 * 256 / self.most("l2_read", 1) * self.clock
        self.says(waits, ",.0f", f" + {takes:.0f})")
        self.says(self.milliseconds(waits + takes) / self.resident, ".3f", " ms")
        total = max(dram, l2, starting, lines, issue) + 1e3 * self.at("launch")
        self.says(total, ".3f", " ms. Measured: 0.299 ms")
        self.assertAlmostEqual(total, float(self.judged["01_vector_add"]["estimated ms"]), delta=0.003)

    def test_the_blur(self) -> None:
        counts = re.findall(r"\| basic blocks \|(.*)\|", self.page)[0].split("|")
        basic_blocks = sum(map(int, counts))
        self.says(basic_blocks, "", " basic blocks")
        a_warp = (basic_blocks * 2 + 10 * 2 + 9 / 2) / self.at("rate_float_fma") + 1 / self.at(
            "rate_int_divide"
        )
        self.says(a_warp, ".1f", " cycles a warp")
        takes = 8 * a_warp
        self.says(takes, ".1f", " a block")
        self.says(self.milliseconds(takes), ".3f", " ms")
        miss = 0.68 * self.at("latency_dram_load") + 0.32 * self.at("latency_l2_load")
        self.says(miss, ".1f", " cycles")
        chain = basic_blocks * self.at("latency_float_fma") + self.at("latency_int_divide") + 10 + 11.4
        chain += 2.5 * miss + 0.5 * self.at("latency_l1_load")
        self.says(chain, ",.0f", "; with 354")
        waits = chain + self.place()
        self.says(waits, ",.0f", " cycles")
        self.says(self.milliseconds(waits + takes) / self.resident, ".3f", " ms: less")
        before, each = 0.0, []
        for blocks in range(1, self.resident + 1):
            stays = takes * (1 + before)
            each.append((waits + stays) / blocks)
            before = stays / each[-1]
        self.says(", ".join(f"{cycles:,.0f}" for cycles in each), "", " cycles")
        total = self.milliseconds(each[-1]) + 1e3 * self.at("launch")
        self.says(total, ".3f", " ms. Measured: 0.489 ms")
        self.assertAlmostEqual(total, float(self.judged["03_blur"]["estimated ms"]), delta=0.003)


class Judgement(unittest.TestCase):
    def test_factor(self) -> None:
        self.assertAlmostEqual(estimates.factor([row("a", 1, 2), row("b", 2, 1)]), 2)
        self.assertAlmostEqual(estimates.factor([row("a", 3, 3)]), 1)

    def test_pairs(self) -> None:
        rows = [row("a", 1, 2), row("b", 1.2, 2), row("c", 2, 1.5), row("d", 9, 1, "1")]
        far, wrong = estimate.pairs(rows, {})
        self.assertEqual(far, 2)  # a and b are near each other, d is of another problem
        self.assertEqual([(fast["kernel"], slow["kernel"]) for fast, slow in wrong], [("a", "c"), ("b", "c")])

    def test_steps_of_another_problem_make_no_pair(self) -> None:
        rows, first = (
            [row("a", 1, 2), row("b", 2, 1), row("c.other", 4, 4)],
            {("gemm", "a"): "a", ("gemm", "b"): "b", ("gemm", "c"): "a"},
        )
        self.assertEqual(estimate.pairs(rows, first), (1, []))
        there = estimate.problems(Repository())
        self.assertEqual(
            [there["grids", step] for step in ("01_vector_add", "04_wide_grayscale", "05_running_blur")],
            ["01_vector_add", "02_color_to_grayscale", "03_blur"],
        )
        self.assertEqual(
            {there[chapter, step] for chapter, step in there if chapter == "reduction"}, {"01_simple"}
        )

    def test_a_tie_is_no_order(self) -> None:
        self.assertEqual(len(estimate.pairs([row("a", 1, 2), row("b", 2, 2)], {})[1]), 1)
        self.assertEqual(len(estimate.pairs([row("a", 2, 1), row("b", 2, 2)], {}, estimate.EITHER)[1]), 1)

    def test_a_pair_that_only_the_estimate_has_apart_counts_one_way_only(self) -> None:
        rows = [row("a", 1, 2), row("b", 1.2, 1)]
        self.assertEqual(estimate.pairs(rows, {}), (0, []))
        far, wrong = estimate.pairs(rows, {}, estimate.EITHER)
        self.assertEqual((far, [(fast["kernel"], slow["kernel"]) for fast, slow in wrong]), (1, [("a", "b")]))

    def test_the_table_has_each_device_each_chapter_and_what_all_have_timed(self) -> None:
        rows = [row("a", 1, 2), row("b", 2, 3), dict(row("c", 1, 1), chapter="scan")]
        self.assertEqual(
            estimate.table_of({"X1": rows, "X2": rows[:1]}, {}),
            [
                "| **X1** | 3 | 1.44 | 1 of 1, 100.0 % | 1 of 1, 100.0 % |",
                "| X1: what all have timed | 1 | 2.00 | none | none |",
                "| X1: gemm | 2 | 1.73 | 1 of 1, 100.0 % | 1 of 1, 100.0 % |",
                "| X1: scan | 1 | 1.00 | none | none |",
                "| **X2** | 1 | 2.00 | none | none |",
                "| X2: what all have timed | 1 | 2.00 | none | none |",
                "| X2: gemm | 1 | 2.00 | none | none |",
            ],
        )
        self.assertEqual(estimate.not_on_the_page(["| a |"], "So:\n| a |\n"), [])
        self.assertIn("does not say: | b |", "".join(estimate.not_on_the_page(["| b |"], "So:\n| a | b |\n")))

    def test_what_is_not_as_measured(self) -> None:
        rows = [row("a", 1, 1.1), row("b", 2, 3)]
        timed = [("gemm", "a", "0", "1"), ("gemm", "b", "0", "2")]
        self.assertEqual(list(estimate.complaints_of(rows, timed, {})), [])
        self.assertIn(
            "gemm b 0 is not in the table",
            "".join(estimate.complaints_of(rows, [timed[0], ("gemm", "b", "0", "2.1")], {})),
        )
        self.assertIn("gemm b 0 is not in the table", "".join(estimate.complaints_of(rows[:1], timed, {})))
        self.assertIn(
            "gemm b 0 is in the table, and nobody", "".join(estimate.complaints_of(rows, timed[:1], {}))
        )

    def test_a_target_that_is_missed_is_complained_of(self) -> None:
        def complaints(*rows: dict[str, str]) -> str:
            return "".join(
                estimate.complaints_of(
                    list(rows),
                    [(row["chapter"], row["kernel"], row["variant"], row["measured ms"]) for row in rows],
                    {},
                )
            )

        self.assertEqual(complaints(row("a", 1, 1.5), row("b", 2, 3)), "")
        self.assertIn("off by 1.60, more than 1.5", complaints(row("a", 1, 1.6), row("b", 2, 3.2)))
        self.assertIn(
            "only 0 of 1 pairs are in order: that is less than 95 %",
            complaints(row("a", 1, 1.4), row("b", 2, 1.3)),
        )

    def test_a_target_that_is_missed_stands_on_the_page(self) -> None:
        missed, stale = "X1: only 1 of 2 pairs are in order", "gemm b is estimated otherwise"
        self.assertEqual(estimate.untold([missed], f"Missed:\n\n- {missed}\n"), [])
        self.assertEqual(estimate.untold([missed], "- X1: only 1 of 3 pairs are in order\n"), [missed])
        self.assertEqual(estimate.untold([stale], f"- {stale}\n"), [stale])

    def test_what_is_not_as_estimated(self) -> None:
        rows = [row("a", 1, 2), row("b", 2, 3)]
        self.assertEqual(list(estimate.not_as_estimated(rows, rows[:1])), [])
        self.assertIn(
            "gemm b 0 is estimated otherwise", "".join(estimate.not_as_estimated(rows, [row("b", 2, 4)]))
        )


if __name__ == "__main__":
    unittest.main()
