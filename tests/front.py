#!/usr/bin/env python3
"""What ./kata does without building anything, in copies of this repository: hints, stubs put back, and its refusals."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIRST = "chapters/grids/01_vector_add.cu"
STEP = "chapters/convolution/03_tiled.cu"


@unittest.skipUnless(shutil.which("git"), "needs git")
class Front(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="kata-front-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name) / "a folder with spaces"
        self.root.mkdir()
        for name in ("kata",):
            shutil.copy(ROOT / name, self.root)
        for name in (".ci", "chapters", "solutions", "common/front"):
            shutil.copytree(ROOT / name, self.root / name, symlinks=True)
        for step in self.root.glob("chapters/*/*.cu*"):  # whatever is written in this checkout
            self.make_stub(step)
        self.git("init", "-q")
        self.commit("stubs")

    def make_stub(self, step):
        """The solution with its bodies open: all that git and the front know a stub by."""
        solution = self.root / "solutions" / step.relative_to(self.root / "chapters")
        if not solution.exists():
            step.unlink()  # kept by a reset
            return
        lines, inside = [], False
        for line in solution.read_text().splitlines(keepends=True):
            if "// kata: end" in line:
                inside = False
            if not inside:
                lines.append(line)
            if "// kata: begin" in line:
                inside = True
                lines += [f"    // What belongs into {step.name}.\n", "    kata::open();\n"]
        step.write_text("".join(lines))

    def git(self, *arguments):
        # Whoever runs this may have no name, and a configuration of their own.
        identity = ["-c", "user.name=tests", "-c", "user.email=tests@localhost", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", self.root, *identity, *arguments], check=True, stdout=subprocess.DEVNULL)

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def kata(self, *arguments, status=0):
        done = subprocess.run([self.root / "kata", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def refused(self, *arguments, status=2):
        """The one line that says why."""
        done = self.kata(*arguments, status=status)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Akata: .*\n\Z")
        return done.stderr

    def write(self, step):
        """What a student does."""
        shutil.copy(self.root / step.replace("chapters/", "solutions/", 1), self.root / step)

    def test_a_hint_is_of_the_step_that_a_short_name_means(self):
        said = self.kata("hint", "conv", "3").stdout
        self.assertTrue(said.startswith(STEP + ":"), said)
        self.assertIn("What belongs into 03_tiled.cu.", said)
        for chapter, step in (("convolution", "03"), ("convolution", "03_tiled"), ("c", "03_tiled.cu")):
            self.assertEqual(self.kata("hint", chapter, step).stdout, said)
        self.assertEqual(self.kata("hint", "chapters/convolution/03_tiled.cu").stdout, said)

    def test_a_hint_outlives_the_stub(self):
        said = self.kata("hint", "convolution", "03").stdout
        self.write(STEP)
        self.assertEqual(self.kata("hint", "convolution", "03").stdout, said)
        self.commit("my own")
        self.assertEqual(self.kata("hint", "convolution", "03").stdout, said)

    def test_names_that_mean_nothing_or_too_much_are_refused(self):
        self.assertIn("there are: grids convolution stencil", self.refused("hint", "fourier", "01"))
        self.assertIn("'g' is no chapter", self.refused("hint", "g", "01"))  # grids or gemm
        self.assertIn("03_tiled", self.refused("hint", "convolution", "17"))
        self.assertIn("'' is no step", self.refused("hint", "convolution", ""))

    def test_command_lines_that_mean_nothing_are_refused(self):
        self.assertIn("usage: ./kata hint CHAPTER STEP", self.refused("hint", "convolution"))
        self.assertIn("usage: ./kata test", self.refused("test", "convolution", "03", "now"))
        self.assertIn("there is no command 'tests'", self.refused("tests"))
        self.assertIn("not --fast", self.refused("tour", "--fast"))
        self.assertIn("--image wants a file", self.refused("tour", "--image"))
        self.assertIn("there is no file nowhere.ppm", self.refused("tour", "--image", "nowhere.ppm"))
        self.assertIn("is no chapter", self.refused("tour", "fourier"))

    def test_next_is_the_first_open_step(self):
        self.assertTrue(self.kata("next").stdout.startswith(FIRST))
        self.write(FIRST)
        said = self.kata("next").stdout
        self.assertTrue(said.startswith("chapters/grids/02_color_to_grayscale.cu"), said)
        self.assertIn("Then: ./kata test grids 02", said)

    def test_there_is_an_end(self):
        for step in self.root.glob("chapters/*/*.cu"):
            self.write(str(step.relative_to(self.root)))
        self.assertIn("Every step is written", self.kata("next").stdout)

    def test_a_call_in_a_comment_leaves_no_step_open(self):
        self.write(FIRST)
        with open(self.root / FIRST, "a") as step:
            step.write("// no kata::open() here\n/* kata::open(); */ /* nor ** kata::open();\n here */\n")
        self.assertNotIn(FIRST, self.kata("next").stdout)

    def test_a_call_behind_a_comment_leaves_a_step_open(self):
        for comment in ("/* // */", "/* a */ /**/", "// /*\n"):
            self.write(FIRST)
            with open(self.root / FIRST, "a") as step:
                step.write(f"{comment} kata::open();\n")
            self.assertIn(FIRST, self.kata("next").stdout)

    def test_a_long_step_is_open_like_a_short_one(self):
        with open(self.root / FIRST, "a") as step:
            step.write("int x;  // what a pipe cannot hold at once\n" * 10000)
        self.assertTrue(self.kata("next").stdout.startswith(FIRST))

    def test_reset_brings_the_stub_back_and_keeps_what_was_written(self):
        stub = (self.root / STEP).read_text()
        self.assertIn("is a stub already", self.kata("reset", "conv", "3").stdout)
        for kept in (".mine", ".mine2", ".mine3"):
            self.write(STEP)
            written = (self.root / STEP).read_text()
            if kept == ".mine2":
                self.commit("committed, too")
            self.assertIn(STEP + kept, self.kata("reset", "conv", "3").stdout)
            self.assertEqual((self.root / STEP).read_text(), stub)
            self.assertEqual((self.root / (STEP + kept)).read_text(), written)

    def test_a_step_in_work_is_no_stub(self):
        stub = (self.root / STEP).read_text()
        half = stub.replace("    kata::open();\n", "    work();\n", 1)
        self.assertIn("kata::open", half)
        (self.root / STEP).write_text(half)
        self.kata("reset", "conv", "3")
        self.assertEqual((self.root / STEP).read_text(), stub)

    def test_work_above_an_open_call_is_put_back_and_is_no_hint(self):
        hint, stub = self.kata("hint", "conv", "3").stdout, (self.root / STEP).read_text()
        for begun in ("    // my own thoughts\n", "    int begun = 0;\n"):
            (self.root / STEP).write_text(stub.replace("    kata::open();\n", begun + "    kata::open();\n"))
            self.assertEqual(self.kata("hint", "conv", "3").stdout, hint)
            self.assertIn("is a stub again", self.kata("reset", "conv", "3").stdout)
            self.assertEqual((self.root / STEP).read_text(), stub)
        (self.root / STEP).write_text(stub.replace("    kata::open();\n", begun + "    kata::open();\n"))
        self.commit("work in progress")
        self.assertEqual(self.kata("hint", "conv", "3").stdout, hint)
        self.kata("reset", "conv", "3")
        self.assertEqual((self.root / STEP).read_text(), stub)

    def test_a_newer_stub_is_the_one_that_counts(self):
        newer = (self.root / STEP).read_text().replace("// What belongs into", "// In better words, what belongs into")
        newer = newer.replace("    kata::open();\n", "    kata::open();\n    return 0;\n")  # as of a body with a value
        (self.root / STEP).write_text(newer)
        self.commit("a better stub")
        self.write(STEP)
        self.assertIn("In better words", self.kata("hint", "conv", "3").stdout)
        self.kata("reset", "conv", "3")
        self.assertEqual((self.root / STEP).read_text(), newer)

    def test_a_stub_that_git_has_not_seen_has_its_hint(self):
        step = self.root / "chapters/convolution/06_new.cu"
        step.write_text((self.root / STEP).read_text())
        self.assertIn("What belongs into 03_tiled.cu.", self.kata("hint", "conv", "6").stdout)

    def test_a_chapter_may_have_digits(self):
        listing = self.root / "meson.build"
        listing.write_text(listing.read_text().replace("chapters = {\n", "chapters = {\n  'gemm2d': ['01_naive'],\n"))
        shutil.copytree(self.root / "chapters/gemm", self.root / "chapters/gemm2d", symlinks=True)
        self.assertTrue(self.kata("next").stdout.startswith("chapters/gemm2d/01_naive.cu"))
        self.assertIn("chapters/gemm2d/01_naive.cu", self.kata("hint", "gemm2d", "1").stdout)

    def test_without_git_there_is_a_stub_only_while_nothing_is_written(self):
        shutil.rmtree(self.root / ".git")
        self.kata("hint", "conv", "3")
        self.write(STEP)
        self.assertIn("this is no git checkout", self.refused("reset", "conv", "3", status=1))
        self.assertIn("this is no git checkout", self.refused("hint", "conv", "3", status=1))

    def test_diff_shows_what_differs(self):
        said = self.kata("diff", "conv", "3", status=1).stdout
        self.assertIn("-    kata::open();", said)
        self.write(STEP)
        self.assertIn("is the solution, to the letter", self.kata("diff", "conv", "3").stdout)

    def test_help_names_every_command(self):
        said = self.kata("help").stdout
        for command in ("tour", "test", "next", "hint", "diff", "reset", "grade", "setup"):
            self.assertIn(f"\n./kata {command}", "\n" + said)
        self.assertEqual(self.kata().stdout, said)


if __name__ == "__main__":
    unittest.main()
