#!/usr/bin/env python3
"""Tests of tests/plots.py: it notices pictures that do not show the present measurements."""

import contextlib
import io
import pathlib
import shutil
import tempfile
import unittest

from paths import ROOT

import measured
import plots


class Pictures(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        for path in [
            *ROOT.glob("chapters/*.svg"),
            *ROOT.glob("chapters/*/README.md"),
            *ROOT.glob("chapters/*/measured/*"),
        ]:
            self.copy(path)
        for name in (
            "tests/beyond/results.csv",
            "common/estimate/judged/H100_80GB_HBM3.csv",
            "common/estimate/judged/H100_80GB_HBM3.svg",
        ):
            self.copy(ROOT / name)

    def copy(self, path: pathlib.Path) -> None:
        copied = self.root / path.relative_to(ROOT)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copied)

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new), encoding="utf-8")

    def time_of(self, step: str) -> str:
        """Returns the milliseconds of a step in gemm's ladder."""
        rows = (self.root / "chapters/gemm/measured/ladder.csv").read_text(encoding="utf-8").splitlines()
        return next(row.split(",")[2] for row in rows if row.startswith(step + ","))

    def says(self, *names: str) -> None:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            status = plots.main(["--root", str(self.root)])
        for name in names:
            self.assertIn(name, said.getvalue())
        self.assertEqual(len(said.getvalue().splitlines()), len(names), said.getvalue())
        self.assertEqual(status, 1 if names else 0)

    def test_as_committed(self) -> None:
        self.says()

    def test_another_time(self) -> None:
        self.edit("chapters/gemm/measured/ladder.csv", self.time_of("01_naive"), "22.250")
        self.says("gemm/measured/ladder.svg does not show what is measured now")

    def test_another_estimate(self) -> None:
        self.edit(
            "common/estimate/judged/H100_80GB_HBM3.csv",
            f"gemm,01_naive,0,{self.time_of('01_naive')}",
            "gemm,01_naive,0,22.250",
        )
        self.says("common/estimate/judged/H100_80GB_HBM3.svg does not show what is measured now")

    def test_another_time_of_the_library(self) -> None:
        self.edit("tests/beyond/results.csv", "0.87558", "0.88558")
        self.says("scan/measured/ladder.svg does not show", "ladders.svg does not show")

    def test_another_count(self) -> None:
        self.edit("chapters/stencil/README.md", "| 1.34 |", "| 1.35 |")
        self.says("roofline.svg does not show what is measured now")

    def test_steps_of_tensor_cores_have_times_and_no_share_of_the_ceiling(self) -> None:
        ladder = measured.ladder_of(self.root, "gemm")
        for one, last in ((ladder, "15_clusters"), (measured.of_floats(ladder), "10_stream_k")):
            self.assertEqual(one["series"][0]["steps"][-1]["step"], last)
        self.assertNotIn(">15<", plots.pictures(self.root)["chapters/roofline.svg"])

    def test_a_picture_is_missing(self) -> None:
        (self.root / "chapters/roofline.svg").unlink()
        self.says("roofline.svg is missing")

    def test_a_picture_of_nothing(self) -> None:
        (self.root / "chapters/grids/ladder.svg").write_text("<svg/>", encoding="utf-8")
        self.says("chapters/grids/ladder.svg is a picture of nothing")

    def test_drawing_leaves_nothing_to_say(self) -> None:
        self.edit("chapters/gemm/measured/ladder.csv", self.time_of("01_naive"), "21.149")
        plots.main(["--root", str(self.root), "--write"])
        self.says()


if __name__ == "__main__":
    unittest.main()
