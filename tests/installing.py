#!/usr/bin/env python3
"""Tests the package that pip installs: it has every file, makes the course, and checks a program. Skipped
(77) without pip's back end, hatchling.

installing.py [Course|Engine]       Engine builds the engine, as a first `cuda-kata check` does
"""

from __future__ import annotations

import importlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import venv
import zipfile
from typing import ClassVar

ROOT = pathlib.Path(__file__).resolve().parents[1]
SKIPPED = 77
RACE = """\
__global__ void reverse(int *d) {
    __shared__ int s[256];
    s[threadIdx.x] = d[threadIdx.x];
    d[threadIdx.x] = s[255 - threadIdx.x];
}
int main() {
    int *d;
    cudaMalloc(&d, 256 * sizeof(int));
    cudaMemset(d, 0, 256 * sizeof(int));
    reverse<<<1, 256>>>(d);
    cudaDeviceSynchronize();
    return cudaFree(d);
}
"""


def run(*command: str | pathlib.Path, cwd: pathlib.Path = ROOT, status: int = 0) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def files_of(folder: pathlib.Path) -> dict[str, str | bytes]:
    """Returns what a folder of git's has, links as their targets."""
    git = ("git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    paths = {name: folder / name for name in run(*git, cwd=folder).split("\0") if name}
    return {
        name: os.readlink(path) if path.is_symlink() else path.read_bytes()
        for name, path in paths.items()
        if path.is_symlink() or path.exists()
    }


class Installed(unittest.TestCase):
    scratch: ClassVar[pathlib.Path]
    wheel: ClassVar[pathlib.Path]
    program: ClassVar[pathlib.Path]

    @classmethod
    def setUpClass(cls) -> None:
        """Installs the wheel of an sdist in a bare environment, without network."""
        folder = tempfile.TemporaryDirectory(prefix="kata-installing-")
        cls.addClassCleanup(folder.cleanup)
        cls.scratch = pathlib.Path(folder.name)
        run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", cls.scratch)
        pip, offline = (sys.executable, "-m", "pip"), ("-q", "--no-deps", "--no-index")
        (sdist,) = cls.scratch.glob("*.tar.gz")
        run(*pip, "wheel", *offline, "--no-build-isolation", "-w", cls.scratch, sdist)
        (cls.wheel,) = cls.scratch.glob("*.whl")
        venv.create(cls.scratch / "bare", symlinks=True)
        binaries = cls.scratch / "bare/bin"
        run(*pip, "--python", binaries / "python", "install", *offline, "--no-compile", cls.wheel)
        cls.program = binaries / "cuda-kata"


class Course(Installed):
    def test_the_wheel_has_every_file(self) -> None:
        names = {name for name in zipfile.ZipFile(self.wheel).namelist() if ".dist-info/" not in name}
        wanted = {f"cuda_kata/{name}" for name in files_of(ROOT) if not (ROOT / name).is_dir()}
        self.assertEqual(names, wanted)

    def test_init_makes_the_course(self) -> None:
        folder = self.scratch / "a course"
        self.assertIn("./kata next", run(self.program, "init", folder))
        made, wanted = files_of(folder), files_of(ROOT)
        self.assertEqual(made.keys(), wanted.keys())
        self.assertEqual([name for name in made if made[name] != wanted[name]], [])
        self.assertEqual(run("git", "status", "--porcelain", cwd=folder), "")
        self.assertIn("chapters/grids/01_vector_add.cu", run(folder / "kata", "next", "grids", cwd=folder))
        self.assertIn("already", run(self.program, "init", folder, status=1))

    def test_it_names_its_commands(self) -> None:
        self.assertIn("cuda-kata init DIR", run(self.program, "--help"))
        self.assertIn("cuda-kata check FILE.cu", run(self.program, "test", status=2))


class Engine(Installed):
    def test_check_builds_the_engine_once_and_finds_a_race(self) -> None:
        os.environ["XDG_CACHE_HOME"] = str(self.scratch / "cache")
        (self.scratch / "race.cu").write_text(RACE, encoding="utf-8")
        for is_first in (True, False):
            said = run(self.program, "check", "race.cu", cwd=self.scratch, status=1)
            self.assertEqual("Configuring" in said, is_first)
            self.assertRegex(said, r"(?s)race in shared memory.*race\.cu:4.*race\.cu:3")
        self.assertEqual([path.name for path in (self.scratch / "cache").iterdir()], ["cuda-kata"])


if __name__ == "__main__":
    try:
        importlib.import_module("hatchling")
    except ImportError:
        print("Skipped: hatchling is not installed (pip install hatchling)")
        sys.exit(SKIPPED)
    unittest.main()
