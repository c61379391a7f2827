#!/usr/bin/env python3
"""Checks that the JSON of ./kata conforms to common/front/schema.json. Skipped (77) without jsonschema.

programs.py BUILD
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import unittest
from typing import Any

from paths import ROOT

import schema
import verdicts
from checkout import FIRST, Checkout
from repository import Module

BUILD = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else ROOT / "build"
MISTAKE = Module("wrong", "grids", "01_vector_add.no_guard", "cpu")
SKIPPED = 77


def fitting(text: str) -> Any:
    """Returns what JSON says, which must fit the schema."""
    document = json.loads(text)
    complaint = schema.complaint(document)
    assert not complaint, complaint
    return document


class Documents(Checkout):
    def said(self, *arguments: str, env: dict[str, str] | None = None, status: int = 0) -> Any:
        done = self.run_kata(*arguments, "--json", env=env)
        self.assertEqual(done.returncode, status, done.stderr)
        return fitting(done.stdout)

    def test_a_step_has_the_verdict_that_is_printed(self) -> None:
        env = self.fake_build("echo ninja")
        (stub,) = self.said("test", "grids", "1", env=env)["tests"]
        self.assertEqual((stub["file"], stub["verdict"], stub["records"]), (FIRST, "SKIP", []))
        for verdict in ("OK", "SLOW", "FAIL"):
            (self.root / FIRST).write_text(f"// verdict: {verdict}\n")
            (found,) = self.said("test", "grids", "1", env=env, status=int(verdict != "OK"))["tests"]
            self.assertEqual((found["verdict"], found["step"]), (verdict, "01_vector_add"))
            self.assertEqual(found["why"], "" if verdict == "OK" else f"it is {verdict}")
            board = self.said("status")
            place = board["steps"][0]
            self.assertEqual((place["verdict"], place["why"]), (verdict, found["why"]))
            self.assertEqual(board["next"]["file"] == FIRST, verdict != "OK")

    def test_a_wrong_document_does_not_fit(self) -> None:
        right = self.said("status")
        place = right["steps"][0]
        wrongs: tuple[object, ...] = (
            [],
            {},
            {**right, "command": "test"},
            {**right, "steps": [{**place, "verdict": "RIGHT"}]},
            {**right, "steps": [{**place, "name": "add"}]},
            {**right, "steps": [{key: place[key] for key in place if key != "why"}]},
        )
        for wrong in wrongs:
            self.assertNotEqual(schema.complaint(wrong), "", wrong)


@unittest.skipUnless((BUILD / MISTAKE.file).exists(), "needs the CPU back end, and a mistake that is built")
class Built(unittest.TestCase):
    """The same of kernels that run."""

    def run_program(self, *command: str | pathlib.Path) -> str:
        env = {**os.environ, "KATA_BUILD": str(BUILD)}
        done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.stdout

    def said(self, *arguments: str) -> Any:
        return fitting(self.run_program(sys.executable, ROOT / "common/front/kata.py", *arguments, "--json"))

    def test_a_ladder_has_a_row_for_each_step(self) -> None:
        (grids,) = self.said("tour", "grids")["chapters"]
        first, *others = grids["steps"]
        self.assertEqual((first["step"], first["verdict"], first["before"]), ("01_vector_add", None, ""))
        self.assertEqual(len(others) + 1, len(list((ROOT / "solutions/grids").glob("*.cu"))))
        counted = {one["key"]: (one["step"], one["unit"]) for one in first["counts"]}
        self.assertEqual(counted["bytes_loaded"], (8, "B/output"))

    def test_a_line_has_its_counts(self) -> None:
        found = self.said("explain", "grids", "1", "--solution", "--device", "h100")
        self.assertEqual((found["tree"], found["verdict"], found["why"]), ("solutions", None, ""))
        counted = {one["key"]: one["step"] for one in found["counts"]}
        self.assertEqual(counted["active_lanes"], 32)
        self.assertTrue(any(row["memory"] == "global" for line in found["lines"] for row in line["rows"]))
        self.assertIn("ms", found["estimate"]["solution"])

    def test_what_a_suite_reports_stands_in_a_verdict(self) -> None:
        right = MISTAKE._replace(tree="solutions", name="01_vector_add")
        for module, wrong in ((MISTAKE, {"wrong"}), (right, set())):
            step = ("--step", BUILD / module.file, "--source", f"{module.name}.cu", "--reporter", "step")
            said = self.run_program(BUILD / "grids-cpu", *step, "--rivals", BUILD / "solutions.grids.")
            records = verdicts.records_in(said)
            found = verdicts.as_json([verdicts.Verdict("a", module, "OK", "", records=records)])
            fitting(json.dumps({"command": "test", "tests": found}))
            self.assertEqual({one["kind"] for one in records} - {"right", "skip"}, wrong)
            self.assertTrue(any("counts" in one for one in records))


if __name__ == "__main__":
    if not schema.IS_HERE:
        print("Skipped: jsonschema is not installed (Debian: python3-jsonschema)")
        sys.exit(SKIPPED)
    unittest.main()
