#!/usr/bin/env python3
"""Tests of tests/plots.py: it notices pictures that do not show the present measurements."""

import contextlib
import importlib.util
import io
import pathlib
import shutil
import tempfile
import unittest

import measured
import plots

ROOT = pathlib.Path(__file__).resolve().parent.parent


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
        lines = said.getvalue().splitlines()
        self.assertEqual(len(lines), len(names) or (status == plots.SKIPPED), said.getvalue())
        self.assertEqual(status, 1 if names else status)
        self.assertIn(status, (0, 1, plots.SKIPPED))

    def test_as_committed(self) -> None:
        self.says()

    def test_another_time(self) -> None:
        self.edit("chapters/gemm/measured/ladder.csv", self.time_of("01_naive"), "22.250")
        self.says(
            "gemm/measured/ladder.svg is not of what is measured now",
            "ladders.svg is not of what is measured now",
        )

    def test_another_estimate(self) -> None:
        self.edit(
            "common/estimate/judged/H100_80GB_HBM3.csv",
            f"gemm,01_naive,0,{self.time_of('01_naive')}",
            "gemm,01_naive,0,22.250",
        )
        self.says("common/estimate/judged/H100_80GB_HBM3.svg is not of what is measured now")

    def test_another_time_of_the_library(self) -> None:
        self.edit("tests/beyond/results.csv", "0.87558", "0.87559")
        self.says("scan/measured/ladder.svg is not of", "ladders.svg is not of")

    def test_another_count(self) -> None:
        self.edit("chapters/stencil/README.md", "| 1.34 |", "| 1.35 |")
        self.says("roofline.svg is not of what is measured now")

    def test_steps_of_tensor_cores_have_times_and_no_share_of_the_ceiling(self) -> None:
        drawn = {path: data for path, (_, data) in plots.pictures(self.root).items()}

        def steps(ladder: measured.Ladder) -> list[str]:
            return [step["step"] for one in ladder["series"] for step in one["steps"]]

        self.assertIn("11_tensor_cores", steps(drawn["chapters/gemm/measured/ladder.svg"]))
        self.assertEqual(steps(drawn["chapters/ladders.svg"]["gemm"])[-1], "10_stream_k")
        self.assertEqual(drawn["chapters/roofline.svg"]["points"]["gemm"][-1][0], "10_stream_k")

    def test_a_picture_is_missing(self) -> None:
        (self.root / "chapters/roofline.svg").unlink()
        self.says("roofline.svg is missing")

    def test_a_picture_of_nothing(self) -> None:
        (self.root / "chapters/grids/ladder.svg").write_text("<svg/>", encoding="utf-8")
        self.says("chapters/grids/ladder.svg is a picture of nothing")

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is missing")
    def test_a_picture_that_was_edited(self) -> None:
        self.edit("chapters/gemm/measured/ladder.svg", f">{self.time_of('03_thread_tile_1d')}<", ">7.697<")
        self.says("gemm/measured/ladder.svg is not what tests/plots.py draws")

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is missing")
    def test_a_picture_of_another_release_has_the_same_words(self) -> None:
        path = self.root / "chapters/gemm/measured/ladder.svg"
        text = path.read_text(encoding="utf-8")
        path.write_text(
            text.replace(f"matplotlib {plots.release(text)}<", "matplotlib 0.0<"), encoding="utf-8"
        )
        self.says()
        self.edit("chapters/gemm/measured/ladder.svg", f">{self.time_of('03_thread_tile_1d')}<", ">7.697<")
        self.says("gemm/measured/ladder.svg is not what tests/plots.py draws")

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is missing")
    def test_drawing_leaves_nothing_to_say(self) -> None:
        self.edit("chapters/gemm/measured/ladder.csv", self.time_of("01_naive"), "21.149")
        plots.main(["--root", str(self.root), "--write"])
        self.says()


if __name__ == "__main__":
    unittest.main()
