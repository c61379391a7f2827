#!/usr/bin/env python3
"""Grades students' copies of chapters/ against the tests of this repository:
./kata grade DIR... [--chapter CHAPTER]... [--csv FILE]

Each student's steps are copied into a scratch tree beside copies of this repository's tests, built there, and run where
they can write nothing. Of what a student sends, steps and headers of their own are used and nothing else. A step that
does not compile, crashes or does not end costs that step only.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = re.search(r"^chapters = \{.*?^\}", (ROOT / "meson.build").read_text(encoding="utf-8"), re.M | re.S)
CHAPTERS = re.findall(r"^  '(\w+)':", LIST[0], re.M)
STEPS = [path.relative_to(ROOT / "chapters") for chapter in CHAPTERS for path in sorted((ROOT / "chapters" / chapter).glob("*.cu"))]
OURS = {path.name for folder in ("common", "reference") for path in (ROOT / folder).rglob("*.h*")}

# What stands in for a step that was not handed in.
NOT_HANDED_IN = '#include "kata.hpp"\nvoid not_handed_in() { kata::open(); }\n'

GIB = 1 << 30


class Tree:
    """The scratch tree: this repository with the steps of one student after the other."""

    def __init__(self, path, steps):
        self.path = path
        self.steps = steps
        self.build = path / "build"
        for name in ("meson.build", "meson.options", "common", "reference", "solutions", "tests", "subprojects"):
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, path / name)
            elif source.exists():
                shutil.copy(source, path / name)
        self.sandbox = sandbox(path)

    def take(self, chapters):
        """Makes the steps in the folder `chapters` those of the tree."""
        for chapter in CHAPTERS:  # Meson wants a file for every step
            target = self.path / "chapters" / chapter
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(parents=True)
            for pattern in ("*.h", "*.hpp", "*.cuh"):
                for header in (chapters / chapter).glob(pattern):
                    if is_plain(header) and header.name not in OURS:
                        shutil.copyfile(header, target / header.name)
        for step in STEPS:
            if is_plain(chapters / step):
                shutil.copyfile(chapters / step, self.path / "chapters" / step)
            else:
                (self.path / "chapters" / step).write_text(NOT_HANDED_IN)

    def configure(self):
        subprocess.run(["meson", "setup", self.build, self.path], check=True, stdout=subprocess.DEVNULL)

    def targets(self):
        """The steps and what tests them, without the tests of the tests."""
        chapters = "|".join({step.parent.name for step in self.steps})
        every = subprocess.run(["ninja", "-C", self.build, "-t", "targets", "all"], capture_output=True, text=True, check=True)
        # Only what is linked: Meson has targets like scan-build, which are no suite of a chapter.
        mine = rf"^((?:chapters|solutions)\.(?:{chapters})\.[^/:]+\.so|(?:{chapters})-[a-z]+): \w+_LINKER$"
        return re.findall(mine, every.stdout, re.M)

    def compile(self, **where):
        """Builds what can be built and gives what the compiler said."""
        for module in self.build.glob("chapters.*.so"):
            module.unlink()  # of the student before
        command = ["ninja", "-C", self.build, "-k", "0", *self.targets()]
        result = subprocess.run(command, preexec_fn=limit_compiler, text=True, errors="replace", **where)
        return result.returncode, result.stdout

    def test(self):
        """Runs the tests of all steps and gives Meson's records of them: {step: [record of each back end]}."""
        suites = [option for step in self.steps for option in ("--suite", step.parent.name)]
        command = ["meson", "test", "-C", self.build, "--no-rebuild", *suites]
        if self.sandbox:
            command += ["--wrapper", self.sandbox]
        logs = self.build / "meson-logs"
        for log in logs.glob("testlog*.json"):
            log.unlink()
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        records = {step: [] for step in self.steps}
        (log,) = logs.glob("testlog*.json")  # has the wrapper's name in its own
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
            record = json.loads(line)
            source = pathlib.Path(record["command"][record["command"].index("--source") + 1]).resolve()
            records[source.relative_to(self.path / "chapters")].append(record)
        return records


def is_plain(path):
    return path.is_file() and not path.is_symlink()


def limit_compiler():
    """A source can make a compiler loop or eat memory, too."""
    resource.setrlimit(resource.RLIMIT_CPU, (300, 300))
    resource.setrlimit(resource.RLIMIT_AS, (8 * GIB, 8 * GIB))


def sandbox(path):
    """The command in which a student's code can write nothing and reach no network; None where there is none."""
    if not shutil.which("bwrap"):
        return None
    base = f"bwrap --ro-bind / / --dev-bind /dev /dev --tmpfs /tmp --ro-bind {path} {path} --unshare-net --die-with-parent"
    for command in (base + " --unshare-pid --proc /proc", base):
        if subprocess.run([*command.split(), "true"], capture_output=True).returncode == 0:
            return command
    return None


def is_open(source):
    code = re.sub(r"//.*", "", source.read_text(encoding="utf-8", errors="replace"))
    return "kata::open()" in code


def cases(record):
    """The test cases that passed, by name."""
    return set(re.findall(r"^ok \d+ - (.*?)(?: # SKIP.*)?$", record["stdout"], re.M))


def judge(tree, step, records, right, said):
    """The verdict on a step, and the reason where it is FAIL."""
    if is_open(tree.path / "chapters" / step):
        return "OPEN", ""
    modules = len(list(tree.build.glob(f"chapters.{step.parent}.{step.stem}.*.so")))
    if modules < len(right[step]):
        error = re.search(rf"chapters/{re.escape(str(step))}.*?error: (.*)", said)
        return "FAIL", "does not compile" + (": " + error.group(1) if error else "")
    for record, model in zip(records[step], right[step]):
        if record["result"] == "TIMEOUT":
            return "FAIL", "does not end"
        if record["result"] != "OK":
            # As the tests explain it: "not ok: TEST" and, in the next line, what is wrong.
            if words := re.search(r"^not ok: .*\n +(.+)", record.get("stderr", ""), re.M):
                return "FAIL", words.group(1)
            if record["returncode"]:
                return "FAIL", f"ended with status {record['returncode']}"
        if not cases(model) <= cases(record):
            return "FAIL", "ended the program before the tests did"
    return "OK", ""


def names_of(folders):
    """What the students are called: the last part of the path that tells them apart."""
    names = [f.parent.name if f.name == "chapters" else f.name for f in folders]
    return names if len(set(names)) == len(names) else [str(f) for f in folders]


def main():
    parser = argparse.ArgumentParser(prog="kata grade", description="Grades copies of chapters/.")
    parser.add_argument("folders", metavar="DIR", nargs="+", help="a student's chapters/, or a tree that holds it")
    parser.add_argument("--chapter", metavar="CHAPTER", action="append", help="grade this one only; may be repeated")
    parser.add_argument("--csv", metavar="FILE", help="write a line for each step of each student")
    arguments = parser.parse_args()
    folders = [pathlib.Path(folder).resolve() for folder in arguments.folders]
    for folder in folders:
        if not folder.is_dir():
            parser.error(f"there is no folder {folder}")
    for chapter in arguments.chapter or ():
        if chapter not in CHAPTERS:
            parser.error(f"there is no chapter {chapter}; there are: {' '.join(CHAPTERS)}")
    steps = [step for step in STEPS if step.parent.name in (arguments.chapter or CHAPTERS)]
    try:
        table = open(arguments.csv, "w", newline="", encoding="utf-8") if arguments.csv else None
    except OSError as error:
        parser.error(str(error))
    sheet = csv.writer(table) if table else None
    if sheet:
        sheet.writerow(["student", "chapter", "step", "verdict", "reason"])

    with tempfile.TemporaryDirectory(prefix="kata-grade-") as scratch:
        tree = Tree(pathlib.Path(scratch).resolve(), steps)
        if not tree.sandbox:
            print("No bubblewrap (bwrap): what students wrote runs with all your rights. Grade as a user without any.")
        print("Building the tests", flush=True)
        tree.take(ROOT / "solutions")
        tree.configure()
        status, _ = tree.compile()
        right = tree.test()
        if status or any(r["result"] != "OK" for step in steps for r in right[step]) or not all(right.values()):
            sys.exit("kata: the solutions of this repository do not pass here: nothing can be graded")

        for name, folder in zip(names_of(folders), folders):
            print(f"\n{name}", flush=True)
            chapters = folder / "chapters" if (folder / "chapters").is_dir() else folder
            if not any(is_plain(chapters / step) for step in steps):
                print(f"  no step in {chapters}")
            tree.take(chapters)
            _, said = tree.compile(stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            records = tree.test()
            count = {"OK": 0, "FAIL": 0, "OPEN": 0}
            for step in steps:
                verdict, reason = judge(tree, step, records, right, said)
                count[verdict] += 1
                print(f"  {str(step.with_suffix('')):40} {verdict:5} {reason}".rstrip())
                if sheet:
                    sheet.writerow([name, step.parent, step.stem, verdict, reason])
            print(f"{name}: {count['OK']} of {len(steps)} OK, {count['FAIL']} FAIL, {count['OPEN']} OPEN", flush=True)
            if table:
                table.flush()


if __name__ == "__main__":
    main()
