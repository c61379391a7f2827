"""cuda-kata, as pip installs it: `check` without a checkout, and `init`, which makes one."""

from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parents[2]
USAGE = """\
cuda-kata check FILE.cu... [-I DIR] [-D MACRO] [--explain] [--json] [-- ARGUMENT...]
                     run any CUDA program with a main() of its own, on the CPU, and report its races, accesses
                     out of bounds, reads of unwritten memory and divergent barriers, by line
cuda-kata init DIR   make a folder with the course; go on there with ./kata next"""


def init(folder: pathlib.Path) -> int:
    if folder.exists():
        print(f"cuda-kata: there is a {folder} already", file=sys.stderr)
        return 1
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns("__pycache__"))
    # A wheel cannot hold links: what the solutions share with the steps is a copy there, or missing.
    for path in [*folder.glob("chapters/*.md"), *folder.glob("chapters/*/*")]:
        link = folder / "solutions" / path.relative_to(folder / "chapters")
        if path.suffix != ".cu" and (link.exists() or path.is_dir()):
            link.unlink(missing_ok=True)
            link.symlink_to(os.path.relpath(path, link.parent))
    if shutil.which("git"):  # ./kata reset takes a stub from there
        git = ["git", "-C", str(folder), "-c", "user.name=cuda-kata", "-c", "user.email=cuda-kata@localhost"]
        git += ["-c", "commit.gpgsign=false"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "Begin the course"]):
            subprocess.run([*git, *words], check=True)
    print(f"The course is in {folder}. Begin with: cd {folder} && ./kata next")
    return 0


def main() -> int:
    command, words = (sys.argv[1:2] or ["help"])[0], sys.argv[2:]
    if command == "init" and len(words) == 1:
        return init(pathlib.Path(words[0]))
    if command != "check":
        wanted = command in ("help", "-h", "--help")
        print(USAGE, file=sys.stdout if wanted else sys.stderr)
        return 0 if wanted else 2
    # The engine is built once for each installation.
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    place = cache / "cuda-kata" / hashlib.sha1(bytes(ROOT)).hexdigest()[:12]
    os.environ.setdefault("KATA_BUILD", str(place))
    # pip's Meson and Ninja are there, also if the environment is not activated.
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    sys.path.insert(0, str(ROOT / "common/front"))
    import kata

    return kata.main()
