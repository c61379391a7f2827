#!/usr/bin/env python3
"""./kata debug in a real gdb: it stops in a kernel, names its variables, and its tests run on to their end.

debugging.py BUILD
"""

from __future__ import annotations

import os
import pathlib
import shutil
import sys
import unittest

from paths import ROOT, run

BUILD = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else ROOT / "build"
KERNEL = ("grids", "01_vector_add")


@unittest.skipUnless(shutil.which("gdb"), "needs gdb")
@unittest.skipUnless((BUILD / "grids-cpu").exists(), "needs the CPU back end")
class Debugging(unittest.TestCase):
    def gdb(self, *commands: str) -> str:
        command = [sys.executable, ROOT / "common/front/kata.py", "debug", *KERNEL, "--solution"]
        typed = "".join(f"{line}\n" for line in commands)
        done = run(*command, input=typed, timeout=200, env={**os.environ, "KATA_BUILD": str(BUILD)})
        if "ptrace" in done.stdout + done.stderr:
            self.skipTest("this system lets nobody trace a program")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_it_stops_in_the_kernel_and_knows_its_variables(self) -> None:
        lines = (ROOT / f"solutions/{KERNEL[0]}/{KERNEL[1]}.cu").read_text().splitlines()
        line = next(number for number, text in enumerate(lines, 1) if "if (i < n)" in text)
        first = next(number for number, text in enumerate(lines, 1) if "const int i =" in text)
        said = self.gdb(
            f"break {KERNEL[1]}.cu:{line} if threadIdx.x == 5 && blockIdx.x == 2",
            "continue",
            "print i",
            "print blockDim.x",
            "delete",
            "continue",
        )
        self.assertIn("break 01_vector_add.cu:", said)  # the guide
        self.assertRegex(said, r"Temporary breakpoint \d+(\.\d+)?, add \(a=0x")
        # The first statement, not the line of the name.
        self.assertRegex(said, rf"(?m)^{first}\s+const int i =")
        self.assertIn("= 517\n", said)
        self.assertIn("= 256\n", said)
        self.assertRegex(said, r"(?m)^ok 1 - ")
        self.assertNotIn("not ok", said)
        self.assertNotIn("[claims]", said)
        self.assertIn("exited normally", said)


if __name__ == "__main__":
    unittest.main()
