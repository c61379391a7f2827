"""The root of the repository. Importing it makes the modules of common/front importable."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common" / "front"))
