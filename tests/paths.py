"""The root of the repository. Importing it makes the modules of common/front importable."""

import pathlib
import subprocess
import sys
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common" / "front"))


def run(*command: object, **how: Any) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end, whatever its status, and returns its output as text."""
    how = {"capture_output": True, "text": True, "errors": "replace", "check": False, **how}
    return subprocess.run(list(map(str, command)), **how)  # noqa: PLW1510


def run_suite(
    suite: object, module: object, source: object, rivals: object, *options: object, **how: Any
) -> subprocess.CompletedProcess[str]:
    """Runs a suite's tests on a module."""
    command = [suite, "--step", module, "--source", source, "--rivals", rivals, "--reporter", "step"]
    return run(*command, *options, **how)
