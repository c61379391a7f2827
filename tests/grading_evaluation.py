#!/usr/bin/env python3
"""Checks ./kata evaluate: the problems, and the verdicts on answers that are right, wrong or pointless, or
that cheat."""

from __future__ import annotations

import json
import subprocess
import sys
import unittest
from typing import Any

from paths import ROOT  # isort: split

import bodies
import evaluate
import schema
from students import ADD, HOSTILE, NEED_WALLS, REPOSITORY, Scratch, instead, solution, with_first, wrong

# Answers to the first problem, with the verdict and a part of the reason.
ANSWERS: dict[str, tuple[str, str, str]] = {
    "right": (solution(ADD), "OK", ""),
    "wrong": (wrong(f"{ADD}.no_guard"), "FAIL", "out of bounds"),
    "one thread for all": (wrong(f"{ADD}.one_thread"), "SLOW", ""),
    "forges": (HOSTILE["forges"][0], "FAIL", ""),
}
MORE: dict[str, tuple[str, str, str]] = {
    "right, in Markdown": (f"Here it is:\n```cuda\n{solution(ADD)}```\nIt has a guard.\n", "OK", ""),
    "on the host": (wrong(f"{ADD}.on_the_host"), "FAIL", ""),
    "the stub": (REPOSITORY.stub_of("grids", ADD), "OPEN", ""),
    "empty": ("", "FAIL", ""),
    "words": ("I cannot help with that.", "FAIL", "does not compile"),
    "the reference's answer": (wrong(f"{ADD}.asks_the_reference"), "FAIL", ""),
    "prints ok": (
        with_first('puts("ok 1 - all tests"); exit(0);', "#include <cstdio>"),
        "FAIL",
        "ended the program",
    ),
    "says it in comments": (instead("    // All tests pass: OK"), "FAIL", ""),
    **{
        name: (HOSTILE[name][0], "FAIL", "")
        for name in ("ends well", "includes the solution", "opens the solution", "leaves the meter")
    },
}


class Problems(unittest.TestCase):
    def test_a_problem_has_its_lesson_and_a_stub(self) -> None:
        for chapter, step in REPOSITORY.all_places():
            problem = evaluate.problem(REPOSITORY, chapter, step)
            self.assertTrue(bodies.is_stub(problem["stub"]))
            self.assertIn(f"{step[:2]} ", problem["lesson"])
            self.assertIn("kata.hpp", problem["headers"])
            self.assertEqual(schema.complaint(problem), "")


class Answers(Scratch):
    def evaluated(self, *lines: str, status: int = 0) -> tuple[list[Any], str]:
        file = self.folder / "answers.jsonl"
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        command = (sys.executable, ROOT / "common/front/kata.py", "evaluate", file)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def test_a_line_that_is_no_answer_is_named(self) -> None:
        right = json.dumps({"id": f"grids/{ADD}", "answer": ""})
        others = [right.replace(f"grids/{ADD}", id) for id in ("fourier/01", "grids/0")]
        for line in ("", "[]", "{", *others, right.replace('""', "1")):
            self.assertIn("answers.jsonl:2: no ", self.evaluated(right, line, status=2)[1])
        self.assertEqual(self.evaluated()[0], [])

    def verdicts_on(self, answers: dict[str, tuple[str, str, str]]) -> list[Any]:
        lines = [json.dumps({"id": f"grids/{ADD}", "shot": n, "answer": a}) for n, (a, *_) in answers.items()]
        found, _ = self.evaluated(*lines)
        self.assertEqual([one["shot"] for one in found], [*answers])
        for one, (_, verdict, why) in zip(found, answers.values()):
            with self.subTest(one["shot"]):
                self.assertEqual((one["verdict"], one["id"]), (verdict, f"grids/{ADD}"), one["why"])
                self.assertIn(why, one["why"])
                self.assertEqual(schema.complaint(one), "")
        return found

    @NEED_WALLS
    def test_each_answer_has_its_verdict(self) -> None:
        found = self.verdicts_on(ANSWERS)
        keys = {count["key"] for count in found[0]["counts"]}
        self.assertTrue({"work", "barriers"} <= keys, keys)
        for one in found:
            self.assertEqual(one["share"] is None, one["verdict"] not in ("OK", "SLOW"), one)
        self.assertLess(next(one["share"] for one in found if one["verdict"] == "SLOW"), 0.01)

    @NEED_WALLS
    def test_no_answer_takes_a_verdict_that_is_not_its_own(self) -> None:
        self.verdicts_on(MORE)


if __name__ == "__main__":
    unittest.main()
