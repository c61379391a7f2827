"""The tree that tests students' steps: beside the repository, built once, and read by the jobs of all
students.

TREE/common, reference, solutions, tests, meson.build    copies
TREE/build                   suites and the solutions' modules
TREE/prepared.json           how each step is compiled, and the tests that its solution passes
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import secrets
import shlex
import subprocess
from collections.abc import Iterable, Mapping, Sequence

import processes
from fault import Fault
from grading import report
from grading.walls import GIB, Limits, Walls
from repository import Repository, module_of, prefix, suite, targets

# The text of each step while the tree is built: Meson requires a file for each.
STANDS_IN = '#include "kata.hpp"\nvoid not_handed_in() {\n    kata::open();\n}\n'
HEADERS = (".h", ".hpp", ".cuh")
COPIED = ("meson.build", "meson.options", "common", "reference", "solutions", "tests", "subprojects")
NOT_COPIED = ("wrong", "styles", "beyond", "probes", "__pycache__", "measured")
TEST_SECONDS = 120  # for the tests of a step
# Bytes of address space: some tests have more than 2^32 elements, and touch next to none of them.
TEST_MEMORY = 20 * GIB
GREETING = "kata: the solutions of this repository do not pass here, so nothing can be graded"


@dataclasses.dataclass
class Kernel:
    """A step on a back end."""

    module: str  # the file in the build folder
    suite: str
    commands: list[str]  # for a shell, in the build folder; the last one links
    passes: list[str]  # the tests that the solution passes, tested as a student's step is

    @property
    def backend(self) -> str:
        """Returns the back end that the module is built for."""
        return self.module.split(".")[-2]


class Tree:
    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.build = folder / "build"
        self.kernels: dict[str, list[Kernel]] = {}  # by CHAPTER/STEP
        self.version = ""  # a hash of all that a verdict depends on, but for the submission
        self.tools: list[str] = []  # folders of compilers outside of the system's

    @classmethod
    def load(cls, folder: pathlib.Path) -> Tree:
        tree = cls(folder)
        known = json.loads((folder / "prepared.json").read_text(encoding="utf-8"))
        tree.kernels = {
            step: [Kernel(**kernel) for kernel in kernels] for step, kernels in known["kernels"].items()
        }
        tree.version, tree.tools = known["version"], known["tools"]
        return tree

    def save(self) -> None:
        kernels = {
            step: [dataclasses.asdict(kernel) for kernel in kernels] for step, kernels in self.kernels.items()
        }
        write_whole(
            self.folder / "prepared.json",
            json.dumps({"version": self.version, "tools": self.tools, "kernels": kernels}),
        )

    # --- what a job shows to a student's code

    def headers(self, chapter: str) -> list[pathlib.Path]:
        """Returns the headers, beside common/, that a step of the chapter may include: no solution, and of
        the reference only declarations."""
        own = [
            path
            for path in sorted((self.folder / "solutions" / chapter).iterdir())
            if path.name.endswith(HEADERS)
        ]
        return [
            *own,
            *sorted(path for path in (self.folder / "reference").rglob("*") if path.name.endswith(HEADERS)),
        ]

    def precompiled(self) -> list[pathlib.Path]:
        return sorted(
            {path.parent for path in self.build.rglob("step_*.gch")} | set(self.build.rglob("cuda.*.pch"))
        )

    def rivals(self, chapter: str, kernel: Kernel) -> list[pathlib.Path]:
        """Returns the modules that the suite of the chapter may load beside the step."""
        return sorted(self.build.glob(f"{prefix('solutions', chapter)}*.{kernel.backend}.so"))


def write_whole(path: pathlib.Path, text: str) -> None:
    """Writes a file in one go: readers find the old text or the new one."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    unfinished.write_text(text, encoding="utf-8", errors="backslashreplace")
    os.replace(unfinished, path)


def prepare(
    repository: Repository, folder: pathlib.Path, steps: Sequence[str], cores: int, compiler: str
) -> Tree:
    """Makes the tree, or brings it up to date, for the steps that will be graded. Throws Fault if their
    solutions do not pass."""
    tree = Tree(folder)
    copy(repository, folder)
    if not (tree.build / "build.ninja").is_file():
        quiet(
            ["meson", "setup", tree.build, folder],
            env={**os.environ, **({"CXX": compiler} if compiler else {})},
        )
    quiet(["ninja", "-C", tree.build, "build.ninja"])
    chapters = {step.split("/")[0] for step in steps}
    built = targets(tree.build)
    modules = [module for name in built if (module := module_of(name)) and module.chapter in chapters]
    wanted = [module.file for module in modules if module.tree == "solutions"]
    suites = {suite(module.chapter, module.backend) for module in modules}
    quiet(["ninja", "-C", tree.build, "-j", cores, *wanted, *sorted(suites), *shared_by_steps(tree.build)])
    for name in suites:
        # Removes the symbols by which a step, whose process runs the same program, could find the reference.
        if b"\0.symtab\0" in (tree.build / name).read_bytes():
            quiet(["strip", tree.build / name])
    tree.version = version_of(folder, tree.build)
    try:
        before = Tree.load(folder)
        prepared = (folder / "prepared.json").stat().st_mtime
        # Solutions that were built since are counted anew.
        stale = {
            module.chapter
            for module in modules
            if module.tree == "solutions"
            and any(
                (tree.build / name).stat().st_mtime > prepared
                for name in (module.file, suite(module.chapter, module.backend))
            )
        }
        known = {
            step: kernels
            for step, kernels in before.kernels.items()
            if before.version == tree.version and step.split("/")[0] not in stale
        }
    except (OSError, ValueError, KeyError, TypeError):
        known = {}
    complaints, new = [], []
    for step in steps:
        chapter, name = step.split("/")
        if step in known:
            tree.kernels[step] = known[step]
            continue
        tree.kernels[step] = []
        for module in modules:
            if module.tree != "chapters" or (module.chapter, module.name) != (chapter, name):
                continue
            kernel = Kernel(
                module.file, suite(chapter, module.backend), commands_of(tree.build, module.file), []
            )
            tree.kernels[step].append(kernel)
            new.append((step, kernel))
        if not tree.kernels[step]:
            complaints.append(f"{step}: no back end tests it here")
    # Tests on a GPU are timed: nothing else runs beside them.
    timed = [of for of in new if of[1].backend == "gpu"]
    counted = [of for of in new if of not in timed]
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        reports = [*pool.map(lambda of: test(tree, *of), counted), *(test(tree, *of) for of in timed)]
    for (step, kernel), seen in zip([*counted, *timed], reports):
        kernel.passes = [case.name for case in seen.cases if case.passed and not case.skipped]
        if (verdict := seen.verdict(kernel.passes)).name != "OK":
            complaints.append(f"solutions/{step} ({kernel.backend}): {verdict.name}: {verdict.reason}")
    if complaints:
        raise Fault("\n  ".join([GREETING, *complaints]), 3)
    tree.kernels = {**known, **tree.kernels}
    tree.tools = tools_of(kernel for kernels in tree.kernels.values() for kernel in kernels)
    tree.save()
    return tree


def test(tree: Tree, step: str, kernel: Kernel) -> report.Report:
    """Tests a solution as if it had been handed in, so that its counts are remembered; without walls, because
    it is ours."""
    module = tree.build / kernel.module.replace("chapters.", "solutions.", 1)
    command = suite_command(tree, step, kernel, module, tree.folder / "solutions" / f"{step}.cu")
    return report.read(Walls(tree.folder, without=True).run(command, limits_of(kernel, 600)))


def limits_of(kernel: Kernel, seconds: float) -> Limits:
    """Returns the limits of a kernel's tests. On a GPU, CUDA reserves addresses by the hundred GiB. On a CPU,
    the suite itself limits the files of a step, because it has device memory in a file that is larger."""
    if kernel.backend == "gpu":
        return Limits(seconds, memory=None)
    return Limits(seconds, memory=TEST_MEMORY, file=None)


def suite_command(
    tree: Tree, step: str, kernel: Kernel, module: pathlib.Path, source: pathlib.Path
) -> list[str]:
    rivals = tree.build / prefix("solutions", step.split("/")[0])
    command = [tree.build / kernel.suite, "--step", module, "--source", source, "--rivals", rivals]
    return [str(word) for word in command] + ["--reporter", "step", "--report", "{report}"]


def copy(repository: Repository, folder: pathlib.Path) -> None:
    """Copies the repository. Unchanged files keep their dates, so that they are not built again."""
    wanted: dict[pathlib.Path, bytes] = {}
    for name in COPIED:
        source = repository.root / name
        for path in [source] if source.is_file() else sorted(source.rglob("*")):
            inside = path.relative_to(repository.root)
            if path.is_file() and not any(part in NOT_COPIED for part in inside.parts):
                wanted[inside] = path.read_bytes()
    for chapter in repository.chapters():
        for step in repository.steps(chapter, "solutions"):
            wanted[pathlib.Path("chapters", chapter, f"{step}.cu")] = STANDS_IN.encode()
    for inside, text in wanted.items():
        path = folder / inside
        if not path.is_file() or path.read_bytes() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
            if os.access(repository.root / inside, os.X_OK):
                path.chmod(0o755)
    for name in (*COPIED, "chapters"):
        for path in sorted((folder / name).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.relative_to(folder) not in wanted:
                path.unlink()


def quiet(command: Sequence[object], env: Mapping[str, str] | None = None) -> None:
    with processes.running(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env) as process:
        said = process.communicate()[0]
    if process.returncode:
        raise Fault(f"the tests cannot be built:\n{said.strip()}", 3)


def shared_by_steps(build: pathlib.Path) -> list[str]:
    """Returns the targets that are compiled once for all steps: the headers that each includes."""
    return [name for name in targets(build) if "step-headers" in name]


def commands_of(build: pathlib.Path, target: str) -> list[str]:
    """Returns the commands that make a module, without those that also serve others."""
    done = subprocess.run(
        ["ninja", "-C", build, "-t", "commands", target], capture_output=True, text=True, check=True
    )
    return [
        line
        for line in done.stdout.splitlines()
        if f"{target}.p/" in line or target.replace(".so", ".legal") in line
    ]


def tools_of(kernels: Iterable[Kernel]) -> list[str]:
    """Returns the folders of programs that are named by paths outside of the system's: a Python, a CUDA
    toolkit."""
    found = set()
    for kernel in kernels:
        for command in kernel.commands:
            for word in shlex.split(command)[:3]:
                path = pathlib.Path(word)
                if path.is_absolute() and path.is_file() and os.access(path, os.X_OK):
                    for place in (path, path.resolve()):
                        if not str(place).startswith(("/usr/", "/bin/", "/lib")):
                            found.add(
                                str(place.parent.parent if place.parent.name == "bin" else place.parent)
                            )
    return sorted(found)


def version_of(folder: pathlib.Path, build: pathlib.Path) -> str:
    digest = hashlib.sha256()
    for name in ("common", "reference", "solutions", "tests"):
        for path in sorted((folder / name).rglob("*")):
            is_a_tool = "front" in path.parts or (
                name == "tests" and path.suffix not in (".cpp", ".hpp", ".build")
            )
            if path.is_file() and path.suffix not in (".md", ".pyc") and not is_a_tool:
                digest.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    machine = json.loads((build / "meson-info" / "intro-compilers.json").read_text())
    digest.update(re.sub(r"/\S*?(\w+\+\+)", r"\1", json.dumps(machine, sort_keys=True)).encode())
    return digest.hexdigest()


def scratch_is_readable(folder: pathlib.Path) -> None:
    """Makes the tree readable: programs behind walls run as a user of their own."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))


def stands_for(module: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Makes an empty file of a module's size and date. Returns its path."""
    path = folder / module.name
    state = module.stat()
    with open(path, "wb") as file:
        file.truncate(state.st_size)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    return path
