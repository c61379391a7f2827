#!/usr/bin/env python3
"""What ./kata does without building anything, in copies of this repository: hints, stubs put back, and its refusals."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common/front"))

import compilers
import verdicts
from build import Build
from fault import Fault
from repository import Module, Repository

FIRST = "chapters/grids/01_vector_add.cu"
STEP = "chapters/convolution/03_tiled.cu"


@unittest.skipUnless(shutil.which("git"), "needs git")
class Front(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="kata-front-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name) / "a folder with spaces"
        self.root.mkdir()
        shutil.copy(ROOT / "kata", self.root)
        for name in (".ci", "chapters", "solutions", "tests/wrong", "common/front"):
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
        command = [sys.executable, self.root / "common/front/kata.py", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
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
        for chapter, step in (("convolution", "03"), ("convolution", "03_tiled"), ("c", "03_tiled.cu"), ("conv", "tiled")):
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
        self.assertIn("'g' may be grids or gemm\n", self.refused("hint", "g", "01"))
        self.assertIn("'s' may be stencil or scan\n", self.refused("test", "s"))
        self.assertIn("'t' may be 03_tiled or 04_tiled_by_output\n", self.refused("hint", "conv", "t"))
        self.assertIn("03_tiled", self.refused("hint", "convolution", "17"))
        self.assertIn("'' is no step", self.refused("hint", "convolution", ""))

    def test_command_lines_that_mean_nothing_are_refused(self):
        self.assertIn("usage: ./kata hint CHAPTER STEP", self.refused("hint", "convolution"))
        self.assertIn("usage: ./kata test", self.refused("test", "convolution", "03", "now"))
        self.assertIn("there is no command 'tests'", self.refused("tests"))
        self.assertIn("--fast; usage: ./kata tour [CHAPTER...]", self.refused("tour", "--fast"))
        self.assertIn("--image: expected one argument", self.refused("tour", "--image"))
        self.assertIn("there is no file nowhere.ppm", self.refused("tour", "--image", "nowhere.ppm"))
        self.assertIn("is no chapter", self.refused("tour", "fourier"))
        self.assertIn("is not NN_name", self.refused("new", "convolution", "tiled"))
        self.assertIn("there are: divergent_barrier", self.refused("mistake", "conv", "3", "nothing"))

    def tested(self, **results):
        """What the tests have said, as ./kata test keeps it: grids_01="OK"."""
        record = verdicts.Record(Repository(self.root))
        record.file.parent.mkdir(exist_ok=True)
        found = []
        for name, result in results.items():
            chapter, number = name.split("_")
            step = next(step for step in Repository(self.root).steps(chapter) if step.startswith(number))
            found.append(verdicts.Verdict(name, Module("chapters", chapter, step, "cpu"), result, ""))
        record.keep(found)

    def test_of_an_open_step_nothing_is_explained_or_drawn(self):
        for command in ("explain", "see"):
            self.assertIn("03_tiled.cu is still to be written", self.refused(command, "conv", "3", status=1))
            self.assertIn(f"usage: ./kata {command} CHAPTER STEP", self.refused(command, "conv"))
            self.assertIn("is no step of convolution", self.refused(command, "conv", "17"))
            (self.root / STEP).unlink()
            self.assertIn("03_tiled.cu is missing", self.refused(command, "conv", "3", status=1))
            self.kata("reset", "conv", "3")

    def test_next_is_the_first_open_step(self):
        self.assertTrue(self.kata("next").stdout.startswith(FIRST))
        self.write(FIRST)
        self.tested(grids_01="OK")
        said = self.kata("next").stdout
        self.assertTrue(said.startswith("chapters/grids/02_color_to_grayscale.cu"), said)
        self.assertIn("Then: ./kata test grids 02", said)

    def test_next_stays_with_a_step_that_is_not_right(self):
        self.write(FIRST)
        untested = f"{FIRST} is written, and has not been tested as it stands.\nWhat the tests say: ./kata test grids 01\n"
        self.assertTrue(self.kata("next").stdout.startswith(untested))
        self.tested(grids_01="FAIL")
        said = self.kata("next").stdout
        self.assertTrue(said.startswith(f"{FIRST} is not right yet.\nWhat the tests say: ./kata test grids 01\n"), said)
        self.assertIn("./kata hint grids 01", said)
        self.tested(grids_01="OK")
        self.assertNotIn(FIRST, self.kata("next").stdout)
        with open(self.root / FIRST, "a") as step:
            step.write("// and a change\n")
        self.assertTrue(self.kata("next").stdout.startswith(untested))

    def test_a_record_that_cannot_be_read_is_none(self):
        self.write(FIRST)
        self.tested(grids_01="OK")
        for damage in ("[]", "{", ""):
            (self.root / "build/verdicts.json").write_text(damage)
            self.assertIn("has not been tested", self.kata("next").stdout)

    def test_there_is_an_end(self):
        for step in self.root.glob("chapters/*/*.cu"):
            self.write(str(step.relative_to(self.root)))
        steps = [path.relative_to(self.root / "chapters") for path in self.root.glob("chapters/*/[0-9][0-9]_*.cu")]
        self.tested(**{f"{step.parent}_{step.name[:2]}": "OK" for step in steps})
        self.assertIn("Every step is written and right", self.kata("next").stdout)

    def test_a_call_in_a_comment_or_a_string_leaves_no_step_open(self):
        self.write(FIRST)
        with open(self.root / FIRST, "a") as step:
            step.write('// kata::open();\n/* kata::open(); */\nconst char* text = "kata::open();";\n')
        self.tested(grids_01="OK")
        self.assertNotIn(FIRST, self.kata("next").stdout)

    def test_a_call_that_begins_a_line_leaves_a_step_open(self):
        for line in ("kata::open();", "\t kata::open();  // not yet", "kata::open(); return 0;"):
            self.write(FIRST)
            with open(self.root / FIRST, "a") as step:
                step.write(f"{line}\n")
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

    def test_a_deleted_step_is_still_one_and_comes_back(self):
        stub = (self.root / FIRST).read_text()
        for committed in (False, True):
            (self.root / FIRST).unlink()
            if committed:
                self.commit("deleted")
            for arguments in (("test", "grids", "1"), ("test", FIRST), ("diff", "grids", "1"), ("next",)):
                said = self.refused(*arguments, status=1)
                self.assertIn(f"{FIRST} is missing; what brings its stub back: ./kata reset grids 01", said)
            self.assertIn("is there again", self.kata("reset", "grids", "1").stdout)
            self.assertEqual((self.root / FIRST).read_text(), stub)
        (self.root / FIRST).unlink()
        shutil.rmtree(self.root / ".git")
        self.assertIn("is missing, and this is no git checkout", self.refused("reset", "grids", "1", status=1))

    def test_a_chapter_says_which_step_is_missing(self):
        logs = self.root / "build" / "meson-logs"
        logs.mkdir(parents=True)
        (self.root / "build" / "build.ninja").touch()
        (self.root / FIRST).unlink()
        self.fake("ninja", "exit 0")
        path = self.fake("meson", f"cd '{logs}'; touch testlog.json testlog-steps.json")
        for arguments in (("test", "grids"), ("test",)):
            command = [sys.executable, self.root / "common/front/kata.py", *arguments]
            done = subprocess.run(command, capture_output=True, text=True, env=path)
            self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)
            self.assertEqual(done.stdout.count("is missing"), 1)
            self.assertIn(f"\nFAIL  {FIRST} is missing; what brings", done.stdout)

    def test_what_a_student_wrote_is_built_tested_and_shown_before_all_else(self):
        targets = [f"{p.parent.parent.name}.{p.parent.name}.{p.stem}.cpu.so" for p in self.root.glob("[cs]*s/*/*.cu")]
        targets += [*self.modules_of_mistakes(), *(f"{p.name}-cpu" for p in self.root.glob("chapters/*/"))]
        (self.root / "targets").write_text("".join(f"{target}: cpp_LINKER\n" for target in targets))
        logs = self.root / "build" / "meson-logs"
        logs.mkdir(parents=True)
        (self.root / "build/build.ninja").touch()
        calls = self.root / "calls"
        own, solution = "chapters.grids.01_vector_add.cpu.so", "solutions.grids.01_vector_add.cpu.so"

        def record(module):
            command = ["grids-cpu", "--step", module, "--source", "01_vector_add.cu"]
            return json.dumps({"name": "grids / 01", "result": "FAIL", "stdout": "", "stderr": module, "returncode": 0, "command": command})

        self.fake("ninja", f"case \"$*\" in *targets*) cat '{self.root}/targets' ;; *) echo \"ninja $*\" >>'{calls}' ;; esac")
        path = self.fake(
            "meson",
            f"echo \"meson $*\" >>'{calls}'\ncase \"$*\" in *testlog-steps*) echo '{record(own)}' >'{logs}/testlog-steps.json' ;;"
            f" *) echo '{record(solution)}' >'{logs}/testlog.json' ;; esac",
        )
        command = [sys.executable, self.root / "common/front/kata.py", "test"]
        done = subprocess.run(command, capture_output=True, text=True, env=path)
        self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)
        mine, others = done.stdout.split("\nNow the solutions")
        self.assertIn(f"FAIL  {FIRST}\n  {own}\n", mine)
        self.assertIn(f"FAIL  solutions/grids/01_vector_add.cu\n  {solution}\n", others)
        first, steps, rest, _ = [line for line in calls.read_text().splitlines() if "build.ninja" not in line]
        self.assertIn(f" {own} ", first)
        self.assertIn(" gemm-cpu", first)
        self.assertNotIn(" wrong.", first)
        self.assertIn(" --suite=grids ", steps)
        self.assertTrue(rest.endswith(" -k 0"), rest)
        self.assertTrue(self.kata("next").stdout.startswith(FIRST))

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
        shutil.copytree(self.root / "chapters/gemm", self.root / "chapters/gemm2d", symlinks=True)
        self.assertIn("chapters/gemm2d/01_naive.cu", self.kata("hint", "gemm2d", "1").stdout)

    def test_a_checkout_of_another_owner_is_one(self):
        self.write(STEP)
        strange = {**os.environ, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
        git = subprocess.run(["git", "-C", self.root, "log"], capture_output=True, text=True, env=strange)
        if "dubious ownership" not in git.stderr:
            self.skipTest("this git minds no owner, or is told not to")
        command = [sys.executable, self.root / "common/front/kata.py", "hint", "conv", "3"]
        said = subprocess.run(command, capture_output=True, text=True, env=strange)
        self.assertIn("What belongs into 03_tiled.cu.", said.stdout, said.stderr)

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
        for command in ("tour", "test", "next", "hint", "diff", "reset", "grade", "book", "setup", "new", "mistake", "stubs"):
            self.assertIn(f"\n./kata {command}", "\n" + said)
            self.assertRegex(self.kata(command, "--help").stdout, rf"\Ausage: (\./)?kata {command}")
        self.assertEqual(self.kata().stdout, said)

    def test_a_new_step_is_begun_in_both_trees(self):
        said = self.kata("new", "conv", "06_sixth").stdout
        for path in ("solutions/convolution/06_sixth.cu", "chapters/convolution/06_sixth.cu"):
            self.assertIn(f"  {path}\n", said)
        self.assertIn("What belongs into 05", self.kata("hint", "conv", "sixth").stdout)
        self.assertRegex(self.kata("stubs").stdout, r"\A\d+ stubs are as their solutions are\n\Z")

    def test_a_mistake_is_listed_and_written_to_a_file(self):
        listed = self.kata("mistake", "conv", "3").stdout
        name = listed.split()[0]
        for option in ("-o", "--output"):
            self.kata("mistake", "conv", "3", name, option, str(self.root / f"mistake{option}.cu"))
            written = (self.root / f"mistake{option}.cu").read_text()
            self.assertEqual(written, self.kata("mistake", "conv", "3", name).stdout)

    def shim(self, *arguments, **options):
        """Runs ./kata itself."""
        return subprocess.run([self.root / "kata", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)

    def fake(self, name, script):
        """A program that comes first in PATH."""
        folder = self.root / "fake"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
        return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}

    def test_an_old_python_that_comes_first_is_passed_over(self):
        path = self.fake("python3", "exit 1")
        path["PYTHON"] = str(self.root / "fake" / "python3")
        # Whatever runs this test is new enough, and found where systems have it, if it is the system's.
        if not re.match(r"/usr/bin/python3", sys.executable):
            self.skipTest("needs the Python of the system")
        self.assertEqual(self.shim("next", env=path).stdout, self.kata("next").stdout)

    def test_the_shim_hands_over_the_command_line_and_the_status(self):
        self.assertEqual(self.shim("hint", "conv", "3").stdout, self.kata("hint", "conv", "3").stdout)
        self.assertEqual(self.shim("no such command").returncode, 2)

    def test_what_a_configured_build_misses_is_said_as_on_a_first_run(self):
        (self.root / "build").mkdir()
        (self.root / "build" / "build.ninja").touch()
        (self.root / ".ci" / "setup.sh").write_text("echo 'kata: not installed: what is missing' >&2\nexit 3\n")
        for there in ("meson", "ninja"):
            path = self.fake(there, "exit 0")
            (self.root / "fake" / "bash").symlink_to(shutil.which("bash"))
            command = [sys.executable, self.root / "common/front/kata.py", "test", "conv", "3"]
            done = subprocess.run(
                command, capture_output=True, text=True, env={**path, "PATH": str(self.root / "fake")}
            )
            self.assertEqual((done.returncode, done.stderr), (3, "kata: not installed: what is missing\n"), done.stdout)
            shutil.rmtree(self.root / "fake")

    def started(self, *arguments):
        """kata, while a Meson of ours waits for something of its own."""
        (self.root / "build").mkdir()
        # Of a build with fewer modules than there are files, so that Meson is asked.
        (self.root / "build" / "build.ninja").write_text("rule cpp_LINKER\n  command = true\nbuild grids-cpu: cpp_LINKER\n")
        pid = self.root / "pid"
        path = self.fake("meson", f"sleep 60 &\necho $! >'{pid}.new'; mv '{pid}.new' '{pid}'; wait")
        process = subprocess.Popen(
            [self.root / "kata", *arguments], env=path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        end = time.monotonic() + 30
        while not pid.exists() and time.monotonic() < end:
            time.sleep(0.02)
        return process, int(pid.read_text())

    def test_ctrl_c_ends_all_of_it_at_once(self):
        for number, status, said in ((signal.SIGINT, 130, "\nkata: stopped\n"), (signal.SIGTERM, 143, "")):
            with self.subTest(number.name):
                process, other = self.started("test")
                before = time.monotonic()
                process.send_signal(number)
                _, errors = process.communicate(timeout=20)
                self.assertEqual((process.returncode, errors), (status, said))
                self.assertLess(time.monotonic() - before, 5)
                self.assertTrue(self.has_ended(other))
                shutil.rmtree(self.root / "build")
                (self.root / "pid").unlink()

    def has_ended(self, pid):
        """A zombie has, too: whoever adopts it may not look."""
        end = time.monotonic() + 5
        while time.monotonic() < end:
            try:
                # What /proc says behind the name, which may hold anything; ps would be another package.
                state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            except (FileNotFoundError, ProcessLookupError):
                return True
            if state in ("Z", "X"):
                return True
            time.sleep(0.05)
        return False

    def test_a_book_without_its_generator_says_what_to_install(self):
        command = [sys.executable, self.root / "common/front/kata.py", "book"]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PATH": str(self.root / "fake")})
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, r"\Akata: .*pip install 'mkdocs-material.*\n\Z")

    def test_what_cannot_be_written_is_said_in_a_line(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("needs /dev/full")
        with open("/dev/full", "w") as full:
            command = [sys.executable, self.root / "common/front/kata.py", "next"]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Akata: .*No space left.*\n\Z")

    def test_a_full_disk_is_said_before_anything_is_built(self):
        build = Build(Repository(self.root))
        with unittest.mock.patch("shutil.disk_usage", return_value=shutil.disk_usage(self.root)._replace(free=3 << 20)):
            with self.assertRaisesRegex(Fault, r"\Athe disk of .* is full but for 3 MB: the build needs 64 MB or more\Z"):
                build.configure()
        self.assertFalse(build.folder.exists())

    def test_a_file_that_cannot_be_written_is_named(self):
        said = self.refused("mistake", "conv", "3", "divergent_barrier", "-o", str(self.root / "none/x.cu"), status=1)
        self.assertEqual(said, "kata: none/x.cu: No such file or directory\n")

    def built(self, ninja, legal=True):
        """What `./kata test conv 3` says of a build in which Ninja says this."""
        (self.root / "build").mkdir(exist_ok=True)
        (self.root / "build/build.ninja").write_text(f"# {'chapters.convolution.03_tiled.cpu.legal' if legal else ''}\n")
        steps = [f"{p.parent.parent.name}.{p.parent.name}.{p.stem}.cpu.so" for p in self.root.glob("[cs]*s/*/*.cu")]
        names = [f"{line}: cpp_LINKER" for line in [*steps, *self.modules_of_mistakes(), "convolution-cpu"]]
        (self.root / "targets").write_text("\n".join(names) + "\n")
        (self.root / "said").write_text(ninja)
        path = self.fake("ninja", f"case \"$*\" in *targets*) cat '{self.root}/targets' ;; *build.ninja*) ;; *) cat '{self.root}/said'; exit 1 ;; esac")
        self.fake("meson", "exit 0")
        command = [sys.executable, self.root / "common/front/kata.py", "test", "conv", "3"]
        return subprocess.run(command, capture_output=True, text=True, env=path)

    def modules_of_mistakes(self):
        listed = subprocess.run(
            [sys.executable, self.root / "common/front/repository.py", "for-meson"], capture_output=True, text=True, check=True
        ).stdout
        for line in listed.splitlines():
            file, names, _ = line.split("|")
            if file.endswith(".mistakes"):
                chapter = pathlib.PurePath(file).parent.name
                yield from (f"{name.split('/')[0]}.{chapter}.{name.split('/')[1]}.cpu.so" for name in names.split())

    def test_of_what_does_not_compile_the_first_errors_are_shown_and_nothing_else(self):
        compiler = (
            "[1/3] Compiling C++ object a\nFAILED: chapters.convolution.03_tiled.cpu.so.p/a.cpp.o \nc++ -c a.cpp\n"
            "../chapters/convolution/03_tiled.cu:7:3: error: no x\n    7 |   x;\n      |   ^\n"
            "[2/3] Generating b\nFAILED: chapters.convolution.03_tiled.cpu.legal \npython legality.py\n"
            "../chapters/convolution/03_tiled.cu:8:3: error: 'f' is a host function\nninja: build stopped: subcommand failed.\n"
        )
        done = self.built(compiler)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual(
            done.stdout,
            "\nchapters/convolution/03_tiled.cu does not compile:\nchapters/convolution/03_tiled.cu:7:3: error: no x\n"
            "    7 |   x;\n      |   ^\nchapters/convolution/03_tiled.cu:8:3: error: 'f' is a host function\n",
        )

    def test_a_build_without_clang_says_once_what_it_does_not_check(self):
        failed = "FAILED: chapters.convolution.03_tiled.cpu.so \nc++\nundefined\n"
        self.assertEqual(self.built(failed, legal=False).stdout.count("Without clang++, what nvcc refuses is found in part only"), 1)
        self.assertNotIn("clang", self.built(failed).stdout)


class Compilers(unittest.TestCase):
    """What is shown of what a compiler says."""

    STEP = "../chapters/scan/03_brent_kung.cu"

    def shown(self, said):
        return compilers.shown(said.splitlines())

    def test_a_compiler_that_the_system_ends_is_said_to_lack_memory(self):
        for said in (
            "c++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n",
            "cc1plus: out of memory allocating 65536 bytes after a total of 4096 bytes\n",
            "clang: error: unable to execute command: Killed\n",
        ):
            self.assertEqual(self.shown(said), [compilers.OUT_OF_MEMORY])

    def test_an_error_of_a_template_is_shown_at_the_line_that_asked_for_it(self):
        said = (
            "In file included from ../chapters/scan/03_brent_kung.cu:7:\n"
            "/usr/include/c++/12/bits/stl_algo.h: In instantiation of 'void std::sort(T, T)':\n"
            f"{self.STEP}:30:14:   required from here\n"
            "/usr/include/c++/12/bits/stl_algo.h:1938:1: error: no match for 'operator-'\n"
            " 1938 |   a - b\n      |   ^\n"
            "/usr/include/c++/12/bits/stl_iterator.h:618:5: note: candidate: 'auto std::operator-'\n  618 | operator-\n"
            + "/usr/include/c++/12/bits/stl_iterator.h:618:5: note:   template argument deduction failed\n" * 40
        )
        self.assertEqual(self.shown(said), [f"{self.STEP}:30: error: no match for 'operator-'"])

    def test_notes_that_point_into_the_step_stay(self):
        said = (
            f"\033[01m\033[K{self.STEP}:9:5:\033[m\033[K error: no matching function for call to 'f(int)'\n    9 |     f(1);\n      |     ~^~~\n"
            f"{self.STEP}:3:6: note: candidate: 'void f(int, int)'\n    3 | void f(int, int);\n"
            "/usr/include/x.h:3:6: note: candidate: 'void f()'\n    3 | void f();\n"
        )
        self.assertEqual([line.split(" error")[0] for line in self.shown(said)][0], f"{self.STEP}:9:5:")
        self.assertEqual(len(self.shown(said)), 5)
        self.assertNotIn("x.h", "".join(self.shown(said)))

    def test_after_three_errors_the_rest_are_left_out(self):
        said = "\n".join(f"{self.STEP}:{line}:1: error: no x{line}" for line in (4, 5, 5, 6, 7, 8))
        self.assertEqual([line.split(": ")[-1] for line in self.shown(said)], ["no x4", "no x5", "no x6"])

    def test_what_nvcc_says_is_read_as_well(self):
        said = (
            f"{self.STEP}(18): error: identifier \"x\" is undefined\n      x = 3;\n      ^\n\n"
            "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n"
            "../common/kata.hpp(40): error: no operator\n          detected during instantiation of \"f<int>\" "
            f"at line 30 of {self.STEP}\n\n2 errors detected in the compilation of \"a.cu\".\n"
        )
        self.assertEqual(
            self.shown(said),
            [f'{self.STEP}(18): error: identifier "x" is undefined', "      x = 3;", "      ^", f"{self.STEP}:30: error: no operator"],
        )

    def test_a_shared_array_of_two_types_is_told_in_the_words_of_the_step(self):
        said = (
            f"{self.STEP}: In instantiation of ‘void f() [with T = double]’:\n{self.STEP}:59:22:   required from here\n"
            f"{self.STEP}:16:15: error: conflicting declaration ‘double simt_planes_s []’\n   16 | extern __shared__ T planes_s[];\n"
            f"      |                     ^~~~~~~~\n{self.STEP}:16:15: note: previous declaration as ‘float simt_planes_s []’\n"
        )
        first, *source = self.shown(said)
        self.assertTrue(first.startswith(f'{self.STEP}:16:15: error: extern __shared__ "planes_s" has another type in each instance'))
        self.assertIn("planes_s_bytes[]", first)
        self.assertEqual(len(source), 2)
        self.assertNotIn("simt_", "".join([first, *source]))

    def test_what_is_warned_of_in_each_instance_is_shown_once(self):
        warning = f"{self.STEP}:7:9: warning: variable ‘in_s’ set but not used\n    7 |   float in_s[4];\n      |         ^~~~"
        asked = f"{self.STEP}:9:5:   required from here"
        instances = [f"{self.STEP}: In instantiation of ‘void f() [with int R = {r}]’:\n{asked}\n{warning}" for r in range(8)]
        other = f"{self.STEP}:8:9: warning: unused variable ‘x’\n    8 |   int x;"
        self.assertEqual(self.shown("\n".join([*instances, other])), [*warning.splitlines(), *other.splitlines()])

    def test_what_names_no_error_is_shown_as_it_is(self):
        self.assertEqual(self.shown("ld: cannot find -lx\ncollect2: fatal\n"), ["ld: cannot find -lx", "collect2: fatal"])


if __name__ == "__main__":
    unittest.main()
