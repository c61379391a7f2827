"""A copy of this repository in which no step is written, for tests of ./kata."""

from __future__ import annotations

import compileall
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from paths import ROOT, run

import verdicts
from repository import Module, Repository

FIRST = "chapters/grids/01_vector_add.cu"
STEP = "chapters/convolution/03_tiled.cu"
# In place of Meson: tests the step whose name comes last; the word after "verdict:" in it is the result.
MESON = """
import json, pathlib, re, sys
root = pathlib.Path(__file__).parent
step = next((root / "chapters").glob(f"*/{sys.argv[-1]}.cu"))
result = re.search("verdict: (\\\\w+)", step.read_text())[1]
kind = {"OK": "right", "SLOW": "slow"}.get(result, "wrong")
told = {"test": "it", "kind": kind, "text": f"it is {result}", "gains": ["loads 10, 1/2 of the 20"]}
record = {
    "name": f"{step.parent.name} / {step.stem}", "result": "FAIL" if kind == "slow" else result,
    "stdout": f"# {json.dumps(told)}\\n",
    "stderr": "" if result == "OK" else f"not ok: it\\n  it is {result}", "returncode": 0,
    "command": ["suite", "--step", f"chapters.{step.parent.name}.{step.stem}.cpu.so", "--source", step.name],
}
(root / "build/meson-logs/testlog.json").write_text(json.dumps(record))
"""
# In place of a suite: the counts are after "counts:" in a step.
SUITE = """
import json, pathlib, re, sys
tree, chapter, step = pathlib.Path(sys.argv[2]).name.split(".")[:3]
text = (pathlib.Path(__file__).parents[1] / tree / chapter / f"{step}.cu").read_text()
found = re.search("counts: (\\\\d+)", text)
counts = {"sectors": int(found[1]) if found else 100, "work": 7}
pathlib.Path(sys.argv[4]).write_text(json.dumps({"fault": None, "all": counts}))
"""


@unittest.skipUnless(shutil.which("git"), "needs git")
class Checkout(unittest.TestCase):
    stubs: ClassVar[pathlib.Path]
    root: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="kata-front-")
        cls.addClassCleanup(scratch.cleanup)
        cls.stubs = pathlib.Path(scratch.name) / "stubs"
        first = cls()
        first.root = cls.stubs
        first.make_repository()
        # Done here once, because otherwise each ./kata of each test would compile each module again.
        compileall.compile_dir(cls.stubs / "common/front", quiet=1)

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="kata-front-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name) / "a folder with spaces"
        shutil.copytree(self.stubs, self.root, symlinks=True)

    def make_repository(self) -> None:
        self.root.mkdir()
        shutil.copy(ROOT / "kata", self.root)
        kept = [".ci", "chapters", "solutions", "tests/wrong", "common/front", "common/estimate/devices"]
        for name in kept:
            shutil.copytree(ROOT / name, self.root / name, symlinks=True)
        for step in self.root.glob("chapters/*/*.cu*"):  # whatever is written in this checkout
            self.make_stub(step)
        self.git("init", "-q", "--template=")
        self.commit("stubs")
        self.git("gc", "-q", "--prune=now")  # one file instead of hundreds, because each test copies them

    def make_stub(self, step: pathlib.Path) -> None:
        """Writes the solution with its bodies open, by which git and the front recognize a stub."""
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

    def git(self, *arguments: str) -> None:
        # The user may have no name in git, and a configuration of their own.
        identity = ["-c", "user.name=tests", "-c", "user.email=tests@localhost", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", self.root, *identity, *arguments], check=True, stdout=subprocess.DEVNULL)

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def run_kata(
        self, *arguments: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(self.root / "common/front/kata.py"), *arguments]
        return run(*command, stdin=subprocess.DEVNULL, env=env)

    def kata(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        done = self.run_kata(*arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def refused(self, *arguments: str, status: int = 2) -> str:
        """Returns the one line of a refused command."""
        done = self.kata(*arguments, status=status)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Akata: .*\n\Z")
        return done.stderr

    def write(self, step: str) -> None:
        """Writes a step as a student does: the solution."""
        shutil.copy(self.root / step.replace("chapters/", "solutions/", 1), self.root / step)

    def module(self, name: str) -> Module:
        """Returns the module of a step: grids_01."""
        chapter, number = name.split("_")
        step = next(step for step in Repository(self.root).steps(chapter) if step.startswith(number))
        return Module("chapters", chapter, step, "cpu")

    def keep_results(self, **results: str) -> None:
        """Records results of tests, as ./kata test keeps them: grids_01="OK"."""
        record = verdicts.Record(Repository(self.root))
        record.file.parent.mkdir(exist_ok=True)
        found = []
        for name, result in results.items():
            found.append(verdicts.Verdict(name, self.module(name), result, ""))
        record.keep(found)

    def done(self, places: Sequence[tuple[str, str]]) -> None:
        """Writes these steps, and records that they are right."""
        for chapter, step in places:
            self.write(f"chapters/{chapter}/{step}.cu")
        self.keep_results(**{f"{chapter}_{step[:2]}": "OK" for chapter, step in places})

    def status(self) -> tuple[dict[str, str], dict[str, str]]:
        """Returns the state of each step, by its short name, and the next step."""
        said = json.loads(self.kata("status", "--json").stdout)
        return {f"{one['chapter']} {one['step'][:2]}": one["state"] for one in said["steps"]}, said["next"]

    def fake(self, name: str, script: str) -> dict[str, str]:
        """Makes a program that comes first in PATH. Returns the environment with this PATH."""
        folder = self.root / "fake"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
        return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}

    def fake_build(self, ninja: str = "exit 0") -> dict[str, str]:
        """Makes a build in which Ninja, Meson and the suites are ours: the verdict is the word after
        "verdict:" in a step. Returns the environment that finds them."""
        logs = self.root / "build/meson-logs"
        logs.mkdir(parents=True, exist_ok=True)
        (self.root / "build/build.ninja").touch()
        targets = self.list_targets()
        self.fake(
            "ninja",
            f"case \"$*\" in *targets*) cat '{self.root}/targets' ;; *build.ninja) ;; *) {ninja} ;; esac",
        )
        (self.root / "meson.py").write_text(MESON)
        environment = self.fake("meson", f"exec '{sys.executable}' '{self.root}/meson.py' \"$@\"")
        for chapter in ("grids", "convolution"):
            program = self.root / f"build/{chapter}-cpu"
            program.write_text(f"#!{sys.executable}\n{SUITE}")
            program.chmod(0o755)
        for target in targets:
            if target.endswith(".so"):
                (self.root / "build" / target).touch()
        return environment

    def list_targets(self) -> list[str]:
        """Returns the targets of a build. Writes them as Ninja lists them."""
        modules = Repository(self.root).modules(["cpu"])
        targets = sorted(module.file for module in modules if module.tree in ("chapters", "solutions"))
        targets += [*self.modules_of_mistakes(), *(f"{p.name}-cpu" for p in self.root.glob("chapters/*/"))]
        (self.root / "targets").write_text("".join(f"{target}: cpp_LINKER\n" for target in targets))
        return targets

    def modules_of_mistakes(self) -> Iterator[str]:
        listed = run(sys.executable, self.root / "common/front/repository.py", "for-meson", check=True).stdout
        for line in listed.splitlines():
            file, names, _, needs = line.split("|")
            if needs.endswith("a"):
                continue  # no CPU back end builds it
            if file.endswith(".mistakes"):
                chapter = pathlib.PurePath(file).parent.name
                yield from (
                    f"{name.split('/')[0]}.{chapter}.{name.split('/')[1]}.cpu.so" for name in names.split()
                )
