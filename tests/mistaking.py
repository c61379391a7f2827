#!/usr/bin/env python3
"""How mistakes, impostors and mutants are made, and the messages about them. Nothing is built."""

from __future__ import annotations

import os
import pathlib
import tempfile
import unittest

from paths import ROOT

import impostors
import mistakes
import mutants
import repository
from fault import Fault
from repository import Repository
from small_repository import NO_GUARD, SOLUTION, SmallRepository


class Mistakes(SmallRepository):
    def made(self, text: str) -> list[str]:
        self.mistakes.write_text(text, encoding="utf-8")
        return [self.repository.kernel("sums", mistake) for mistake in self.repository.mistakes("sums")]

    def refused(self, text: str, *words: str) -> None:
        with self.assertRaises(Fault) as caught:
            self.made(text)
        for word in ("01_add.mistakes:", *words):
            self.assertIn(word, str(caught.exception))

    def test_a_kernel_is_the_solution_with_the_edit_below_its_reason(self) -> None:
        (kernel,) = self.made("// Some words on the file.\n\n" + NO_GUARD)
        wanted = (
            SOLUTION.split("\n", 2)[2]
            .replace("if (i < n) ", "")
            .replace("    // kata: begin\n", "")
            .replace("    // kata: end\n", "")
        )
        self.assertEqual(
            kernel, "// Threads beyond the end write, too.\n// Rejected: out of bounds\n" + wanted
        )

    def test_lines_may_be_added_removed_and_blank(self) -> None:
        (kernel,) = self.made(
            "== late\n// Why.\n// Rejected: race\n-     const int i = threadIdx.x;\n-\n@\n"
            "-     __syncthreads();\n-     __syncthreads();\n+     __syncthreads();\n+\n+     int i;\n"
        )
        self.assertIn(
            "int n) {\n    if (i < n) b[i] = a[i];\n    __syncthreads();\n\n    int i;\n}\n", kernel
        )

    def test_another_step_is_handed_in_as_this_one(self) -> None:
        self.write("solutions/sums/02_all.cu", SOLUTION.replace("a[i]", "2 * a[i]"))
        (kernel,) = self.made("== body of 02_all\n// The other step.\n// Rejected: does not gain\n")
        self.assertIn("b[i] = 2 * a[i]", kernel)

    def test_what_is_timed_and_not_rejected_is_a_variant(self) -> None:
        self.made(
            NO_GUARD
            + "\n"
            + NO_GUARD.replace("no_guard", "fast").replace("Rejected: out of bounds", "Timed against: 01_add")
        )
        self.assertEqual(
            [mistake.tree for mistake in self.repository.mistakes("sums")], ["wrong", "variants"]
        )
        module = "variants.sums.01_add.fast.cpu.so"
        self.assertEqual(
            self.repository.timed("sums", "cpu"),
            [f"01_add.fast {module} 01_add solutions.sums.01_add.cpu.so"],
        )

    def test_what_nvcc_makes_the_same_code_of_is_a_variant_that_nobody_times(self) -> None:
        self.made(NO_GUARD.replace("Rejected: out of bounds", "Same code as: 01_add"))
        (spelling,) = self.repository.mistakes("sums")
        self.assertEqual((spelling.tree, spelling.same_code_as), ("variants", "01_add"))
        self.assertEqual(self.repository.timed("sums", "cpu"), [])

    def test_an_edit_of_what_the_solution_no_longer_says_is_refused(self) -> None:
        gone = NO_GUARD.replace("- ", "-     int j;\n- ")
        self.refused("\n" + gone, ":5:", "no_guard", "0 places", "solutions/sums/01_add.cu", "int j;")

    def test_an_edit_of_what_the_solution_says_twice_is_refused(self) -> None:
        self.refused(
            NO_GUARD.replace("-     if (i < n) b[i] = a[i];", "-     __syncthreads();"),
            ":4:",
            "2 places",
            "__syncthreads();",
        )

    def test_two_edits_of_one_line_are_refused(self) -> None:
        self.refused(NO_GUARD + "@\n-\n-     if (i < n) b[i] = a[i];\n", "two edits of the same line")

    def test_a_mistake_without_a_difference_is_refused(self) -> None:
        self.refused(NO_GUARD.split("- ")[0], ":1:", "changes nothing")
        self.refused(NO_GUARD.replace("+     b[i]", "+     if (i < n) b[i]"), ":4:", "changes nothing")

    def test_a_name_is_given_once(self) -> None:
        self.refused(f"{NO_GUARD}\n{NO_GUARD}", ":7:", "no_guard", "line 1")

    def test_a_mistake_says_what_it_is_and_what_the_tests_must_say(self) -> None:
        self.refused(NO_GUARD.replace("// Rejected: out of bounds\n", ""), "neither '// Rejected: …'")
        self.refused(NO_GUARD.replace("out of bounds", ""), "neither '// Rejected: …'")
        self.refused(
            NO_GUARD.replace("// Threads beyond the end write, too.\n", ""), "does not say what is wrong"
        )

    def test_what_is_no_line_of_a_mistake_is_refused(self) -> None:
        self.refused(NO_GUARD.replace("+     b", "      b"), ":5:", "begins with none of")
        self.refused(NO_GUARD.replace("-     if", "-if"), ":4:", "begins with none of")
        self.refused(NO_GUARD.replace("-     if", "+     if"), ":4:", "'+' without a line '-'")
        self.refused(NO_GUARD + "// An afterthought.\n", "comments come first")
        self.refused(NO_GUARD.replace("== no_guard", "== no guard"), ":1:", "== NAME")
        self.refused("no_guard\n" + NO_GUARD, ":1:", "'== NAME'")
        self.refused(NO_GUARD.replace("no_guard", "no_guard of 09_gone"), "there is no", "09_gone.cu")

    def test_a_changed_line_becomes_an_edit_that_gives_it_back(self) -> None:
        lines = SOLUTION.splitlines()
        for number, line in enumerate(lines, 1):
            if number in (1, 2) or "// kata" in line or not line:
                continue
            for changed in ("changed();", ""):
                edit = mistakes.as_edit(SOLUTION, number, changed)
                (kernel,) = self.made(f"== changed\n// Why.\n// Rejected: it\n{edit}\n")
                wanted = [*lines[: number - 1], *([changed] if changed else []), *lines[number:]]
                self.assertEqual(kernel.splitlines()[2:], mistakes.code_of("\n".join(wanted)), edit)

    def test_only_kernels_that_differ_are_written_again(self) -> None:
        folder = self.root / "build"
        folder.mkdir()
        repository.write_kernels(self.mistakes, folder)
        kernel = folder / "01_add.no_guard.sums.cu"
        before = kernel.stat().st_mtime_ns
        self.mistakes.write_text(NO_GUARD + "\n" + NO_GUARD.replace("no_guard", "again"))
        repository.write_kernels(self.mistakes, folder)
        self.assertEqual(kernel.stat().st_mtime_ns, before)
        self.assertTrue((folder / "01_add.again.sums.cu").is_file())

    def test_all_mistakes_that_fit_no_more_are_named_at_once(self) -> None:
        self.mistakes.write_text(f"{NO_GUARD}\n{NO_GUARD.replace('no_guard', 'again')}")
        self.write("solutions/sums/01_add.cu", SOLUTION.replace("i < n", "i <= n"))
        with self.assertRaisesRegex(Fault, "(?s):4: no_guard: .*:10: again: "):
            repository.write_kernels(self.mistakes, self.root)


class Advertised(unittest.TestCase):
    def test_the_readme_counts_the_mistakes_and_those_that_a_gpu_does_not_report(self) -> None:
        there = Repository()
        every = [
            one for chapter in there.chapters() for one in there.mistakes(chapter) if one.tree == "wrong"
        ]
        silent = sum(one.is_silent for one in every)
        self.assertIn(
            f"The tests reject [{len(every)} mistakes](tests/wrong/). On a GPU, {silent} of them give the "
            "right result, and nothing is reported.",
            (ROOT / "README.md").read_text(encoding="utf-8"),
        )


class Impostors(SmallRepository):
    """Pairs of steps that a suite accepts or rejects, as its name says."""

    def setUp(self) -> None:
        super().setUp()
        self.write("solutions/sums/02_all.cu", SOLUTION)
        self.pair = impostors.Pair("sums", "01_add", "02_all")
        self.bench = impostors.Bench(self.repository, self.root)

    def suite(self, text: str) -> None:
        self.write("sums-cpu", f"#!/bin/sh\n{text}\n").chmod(0o755)
        for step in ("01_add", "02_all"):
            self.write(repository.module("solutions", "sums", step, "cpu"), "")

    def judged(self, *excused: impostors.Pair) -> list[str]:
        accepted = {self.pair: self.bench.accepts(self.pair)}
        return impostors.complaints(accepted, dict.fromkeys(excused, "it may"))

    def test_each_solution_is_handed_in_as_every_step_that_improves_it(self) -> None:
        before = {"01": "", "02": "01", "03": "", "04": "02"}
        names = [(pair.earlier, pair.later) for pair in impostors.pairs("sums", before)]
        self.assertEqual(names, [("01", "02"), ("02", "04"), ("01", "04")])

    def test_one_that_is_accepted_needs_an_excuse_and_no_other_has_one(self) -> None:
        self.suite("echo 'ok 1 - adds'")
        self.assertIn("01_add as 02_all: accepted", *self.judged())
        self.assertEqual(self.judged(self.pair), [])
        # Accepted by the claims, and by nothing else.
        self.suite("case $* in *claims*) echo 'ok 1 - gains';; *) echo 'not ok 1 - adds';; esac")
        self.assertEqual(self.judged(), [])
        self.assertIn("01_add as 02_all: rejected", *self.judged(self.pair))
        self.assertIn(
            "does not improve the earlier one", *self.judged(impostors.Pair("sums", "02_all", "01_add"))
        )

    def test_the_suite_receives_the_step_and_its_replacement(self) -> None:
        self.suite('echo "$*" >>"$0.log"; echo ok')
        self.judged()
        said = (self.root / "sums-cpu.log").read_text().splitlines()
        self.assertEqual(len(said), 2)
        for line in said:
            self.assertRegex(line, r"--step \S+/solutions\.sums\.01_add\.cpu\.so --source \S+/02_all\.cu ")

    def test_without_a_verdict_nobody_is_rejected(self) -> None:
        for text in ("exit 1", "kill -SEGV $$", "echo '1..0'"):
            self.suite(text)
            with self.assertRaisesRegex(Fault, "no verdict"):
                self.judged()

    def test_a_module_that_is_older_than_its_source_is_refused(self) -> None:
        self.suite("echo ok")
        self.bench.current("sums")
        os.utime(self.root / "solutions.sums.01_add.cpu.so", (0, 0))
        with self.assertRaisesRegex(Fault, "older than solutions/sums/01_add.cu"):
            self.bench.current("sums")

    def test_an_excuse_is_read_as_it_is_written(self) -> None:
        head = "chapter,earlier,later,reason\n"
        file = self.write("tests/impostors.csv", head + 'sums,01_add,02_all,"another spelling, no more"\n')
        self.assertEqual(impostors.excuses(file), {self.pair: "another spelling, no more"})
        for text, word in (
            ("", ":1: must be"),
            (head + "sums,01_add,02_all,\n", ":2: a chapter"),
            (head + "sums,01_add,02_all,why,and more\n", ":2: a chapter"),
            (head + 2 * "sums,01_add,02_all,why\n", ":3: .* already"),
        ):
            file.write_text(text)
            with self.assertRaisesRegex(Fault, word):
                impostors.excuses(file)


class Mutants(unittest.TestCase):
    def survivors(self, rows: str) -> mutants.Survivors:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "survivors.csv")
            path.write_text(f"chapter,step,was,is,reason\n{rows}", encoding="utf-8")
            return mutants.Survivors(path)

    def test_a_line_is_changed_in_one_place_at_a_time(self) -> None:
        changed = set(mutants.changes("    if (t < n) out[t] = in[t + 1];"))
        for wanted in (
            "    if (t <= n) out[t] = in[t + 1];",
            "    if (t < n) out[t] = in[t - 1];",
            "    if (t < n) out[(t) + 1] = in[t + 1];",
            "    if (t < n) out[t] = in[t + 0];",
            "    out[t] = in[t + 1];",
        ):
            self.assertIn(wanted, changed)
        self.assertIn("", set(mutants.changes("    __syncthreads();")))
        self.assertIn("kernel<<<block, grid>>>(n);", set(mutants.changes("kernel<<<grid, block>>>(n);")))
        self.assertIn(
            "    x[threadIdx.x] = blockIdx.x;", set(mutants.changes("    x[threadIdx.x] = threadIdx.x;"))
        )
        self.assertNotIn("__shared__ int x[(32) + 1];", set(mutants.changes("__shared__ int x[32];")))

    def test_equal_lines_are_distinguished_by_the_code_before_them(self) -> None:
        text = (
            "void f() {\n    // kata: begin\n    g();\n}\nvoid h() {\n#pragma unroll\n\n    g();  // again\n"
            "}\n"
        )
        survivors = self.survivors("scan,01_a,void h() { g();,,it is the last\n")
        reasons = [
            survivors.reason("scan", "01_a", "", "    g();", "", before=mutants.code_before(text, line))
            for line in (3, 8)
        ]
        self.assertEqual(reasons, [None, "it is the last"])

    def test_what_a_suite_says_is_a_verdict(self) -> None:
        self.assertEqual(mutants.judged(0, "ok 1 - adds\n1..1\n", ""), ("PASSED", ""))
        self.assertEqual(
            mutants.judged(0, "not ok 1 - adds\n", "not ok: adds\n  c[0] is 1\n"),
            ("REJECTED", "adds | c[0] is 1"),
        )
        self.assertEqual(mutants.judged(-11, "", ""), ("REJECTED", "ended with status -11"))
        self.assertEqual(mutants.judged(1, "ok 1 - adds\n", "no memory\n").result, "REJECTED")

    def test_a_sample_is_always_the_same_and_of_every_step(self) -> None:
        made = [(number, f"line {number}") for number in range(100)]
        mixed = mutants.mixed(made)
        self.assertEqual(sorted(mixed), made)
        self.assertNotEqual(mixed, made)
        self.assertEqual(mixed, mutants.mixed(reversed(made)))
        self.assertEqual(mutants.in_turns(["ab", "", "cde"]), ["a", "c", "b", "d", "e"])

    def test_what_may_pass_stands_in_a_table(self) -> None:
        rows = "sums,01_add,a < b;,a <= b;,never equal\n,,look();,,nobody sees it\n"
        survivors = self.survivors(rows)
        self.assertEqual(survivors.reason("sums", "01_add", "7", "a < b;  // less", "a <= b;"), "never equal")
        self.assertIsNone(survivors.reason("sums", "02_other", "7", "a < b;", "a <= b;"))
        self.assertIsNone(survivors.reason("sums", "01_add", "7", "a < b;", "a > b;"))
        self.assertEqual(survivors.reason("sums", "02_other", "9", "look();", ""), "nobody sees it")
        survivors = self.survivors("sums,01_add,c = d; wait();,,none waits\n")
        for line, before, reason in ("7", "  c = d;  // last", "none waits"), ("9", "a = b;", None):
            self.assertEqual(survivors.reason("sums", "01_add", line, "wait();", "", before=before), reason)
        with self.assertRaises(Fault):
            self.survivors("sums,01_add,a < b;,a <= b;,\n")

    def test_a_run_that_was_stopped_goes_on(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "mutants.csv")
            key, verdict = (
                ("sums", "01_add", "7", "a < b", 'a "<=", b'),
                mutants.Verdict("REJECTED", "two\nlines"),
            )
            for _ in range(2):
                table = mutants.Table(path)
                table.add(key, verdict)
            self.assertEqual(mutants.Table(path).known, {key: verdict})
            self.assertEqual(len(path.read_text().splitlines()), 3)


if __name__ == "__main__":
    unittest.main()
