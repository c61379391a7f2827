#!/usr/bin/env python3
"""Grades students' copies of chapters/ against the tests of this repository:
./kata grade DIR... [--chapter CHAPTER]... [--csv FILE]

Each student's steps are copied into a scratch tree beside copies of this repository's tests, built there, and run where
they can write nothing that stays. Of what a student sends, steps and headers of their own are used and nothing else. A
step that does not compile, crashes or does not end costs that step only, and a student nobody else's grades.
"""

import argparse
import collections
import csv
import glob
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile

import bodies
import processes
from repository import BACKENDS, Repository, either, module_of, prefix, suite, targets

REPOSITORY = Repository()
ROOT = REPOSITORY.root
CHAPTERS = REPOSITORY.chapters()
STEPS = [pathlib.Path(chapter, f"{step}.cu") for chapter in CHAPTERS for step in REPOSITORY.steps(chapter, "solutions")]
HEADERS = (".h", ".hpp", ".cuh")
# Headers as a step includes them. A student's by such a name would come first where a step is compiled in its folder.
OURS = {path.relative_to(ROOT / folder) for folder in ("common", "reference") for path in (ROOT / folder).rglob("*.h*")}
# The chapters' own, which lie beside the steps.
OF_CHAPTERS = [path.relative_to(ROOT / "solutions") for path in ROOT.glob("solutions/*/*") if path.name.endswith(HEADERS)]
OURS |= {pathlib.Path(path.name) for path in OF_CHAPTERS}

# What stands in for a step that was not handed in.
NOT_HANDED_IN = '#include "kata.hpp"\nvoid not_handed_in() {\n    kata::open();\n}\n'

HOLDS_NOTHING = "holds no chapters/ and no step"

GIB = 1 << 30
COMPILE_SECONDS = 600  # for all steps of a student


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
        self.sandbox, self.no_sandbox = sandbox(path)

    def take(self, home, chapters):
        """Makes the steps in the folder `chapters`, handed in with `home`, those of the tree.

        Gives those that there are: {step: why it cannot be read, or ""}.
        """
        shutil.rmtree(self.path / "chapters", ignore_errors=True)
        found = {}
        for step in STEPS:
            target = self.path / "chapters" / step
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(NOT_HANDED_IN)  # Meson wants a file for every step
            try:
                if is_plain(chapters / step, home):
                    shutil.copyfile(chapters / step, target)
                    found[step] = ""
            except OSError as error:
                found[step] = f"cannot be read: {error.strerror}"
        for header in OF_CHAPTERS:
            (self.path / "chapters" / header).write_bytes((ROOT / "solutions" / header).read_bytes())
        for header in headers_in(chapters, home):
            target = self.path / "chapters" / header
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(chapters / header, target)
            except OSError:
                pass  # the compiler will say which step misses it
        return found

    def configure(self):
        subprocess.run(["meson", "setup", self.build, self.path], check=True, stdout=subprocess.DEVNULL)

    def targets(self):
        """The steps and what tests them, without the tests of the tests."""
        chapters = {step.parent.name for step in self.steps}
        suites = {suite(chapter, backend) for chapter in chapters for backend in BACKENDS}
        for target in targets(self.build):
            module = module_of(target)
            if target in suites or (module and module.tree in ("chapters", "solutions") and module.chapter in chapters):
                yield target

    def compile(self, **options):
        """Builds what can be built and gives what the compiler said."""
        for module in self.build.glob("chapters.*.so"):
            module.unlink()  # of the student before
        return run_for(["ninja", "-C", self.build, "-k", "0", *self.targets()], **options)

    def test(self):
        """Runs the tests of all steps and gives Meson's records of them, one of each module."""
        suites = [option for step in self.steps for option in ("--suite", step.parent.name)]
        command = ["meson", "test", "-C", self.build, "--no-rebuild", *suites]
        if self.sandbox:
            command += ["--wrapper", shlex.join(self.sandbox)]
        logs = self.build / "meson-logs"
        for log in logs.glob("testlog*.json"):
            log.unlink()
        # CUDA reserves addresses by the hundred GiB.
        limit = None if any(self.build.glob("*-gpu")) else limit_test
        processes.status_of(command, preexec_fn=limit, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        records = {}
        for log in logs.glob("testlog*.json"):  # one, with the wrapper's name in its own
            for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
                record = json.loads(line)
                records[pathlib.Path(record["command"][record["command"].index("--step") + 1]).name] = record
        return records


def leads_nowhere_else(path, home):
    """Whether there is no symbolic link on the way from `home`: it could lead to what somebody else has written."""
    return os.path.realpath(path) == os.path.join(os.path.realpath(home), path.relative_to(home))


def is_plain(path, home):
    try:
        return leads_nowhere_else(path, home) and stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def headers_in(chapters, home):
    """Headers of a student's own, as seen from the folder `chapters`."""
    for chapter in CHAPTERS:
        if not leads_nowhere_else(chapters / chapter, home):
            continue
        for folder, _, names in os.walk(chapters / chapter):
            for header in (pathlib.Path(folder, name) for name in names if name.endswith(HEADERS)):
                if header.relative_to(chapters / chapter) not in OURS and leads_nowhere_else(header, home):
                    yield header.relative_to(chapters)


def limit_compiler():
    """A source can make a compiler loop or eat memory, too."""
    resource.setrlimit(resource.RLIMIT_CPU, (300, 300))
    resource.setrlimit(resource.RLIMIT_AS, (8 * GIB, 8 * GIB))


def limit_test():
    resource.setrlimit(resource.RLIMIT_AS, (4 * GIB, 4 * GIB))


def run_for(command, seconds=None, **options):
    """Runs Ninja, without a terminal that a source could read, and gives its status and what was said."""
    limited = {"preexec_fn": limit_compiler, "text": True, "errors": "replace", **options}
    with processes.running(command, **limited) as process:
        try:
            said, _ = process.communicate(timeout=seconds)
            return process.returncode, said
        except subprocess.TimeoutExpired:
            return None, f"{processes.end(process)}\nkata: not within {seconds} s\n"


def sandbox(path):
    """The command in which a student's code can write nothing that stays and reach no network; or None, and why."""
    if not shutil.which("bwrap"):
        return None, "No bubblewrap (bwrap)"
    # Without the host's /dev/shm, where a student could leave something for the next.
    base = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev"]
    for node in glob.glob("/dev/nvidia*"):
        base += ["--dev-bind-try", node, node]
    base += ["--tmpfs", "/tmp", "--ro-bind", str(path), str(path), "--unshare-net", "--unshare-ipc", "--die-with-parent"]
    for command in ([*base, "--unshare-pid", "--proc", "/proc"], base):
        tried = subprocess.run([*command, "true"], capture_output=True, text=True, errors="replace")
        if tried.returncode == 0:
            return command, None
    return None, f"Bubblewrap is refused here ({tried.stderr.strip()})"


def compilers_word(step, said):
    """The first error in the part of Ninja's output that is about a step; it may be one of a header."""
    about = rf"^FAILED: (?:\[.*?\] )?{re.escape(prefix('chapters', step.parent.name, step.stem))}.*?(?=^\[\d+/\d+\] |^ninja: |\Z)"
    part = re.search(about, said, re.M | re.S)
    word = re.search(r"error: (.*)", part[0]) if part else re.search(r"^kata: (.*)", said, re.M)
    return ": " + word[1] if word else ""


def results(record):
    """How often each test case passed, and how often each was skipped."""
    lines = re.findall(r"^ok \d+ - (.*?)( # SKIP.*)?$", record["stdout"], re.M)
    passed = collections.Counter(name for name, skip in lines if not skip)
    return passed, collections.Counter(name for name, skip in lines if skip)


def complaint(record, model):
    """What there is to be said against a step, "" if nothing: it must pass, once each, all that the solution passes."""
    if record is None:
        return "the tests gave no result"
    if record["result"] == "TIMEOUT":
        return "does not end"
    if record["result"] != "OK":
        # As the tests explain it: "not ok: TEST" and, in the next line, what is wrong.
        if words := re.search(r"^not ok: .*\n +(.+)", record.get("stderr", ""), re.M):
            return words[1]
        if record["returncode"]:
            return f"ended with status {record['returncode']}"
    passed, skipped = results(record)
    wanted, _ = results(model)
    for case in wanted:
        if not passed[case]:
            return f'skipped the test "{case}"' if skipped[case] else "ended the program before the tests did"
        if passed[case] > 1:
            return f'has {passed[case]} results of the test "{case}"'
    return "" if record["result"] == "OK" and wanted else f"Meson says {record['result']} to what it printed"


def judge(tree, step, records, right, said):
    """The verdict on a step, and the reason where it is FAIL."""
    if bodies.is_open((tree.path / "chapters" / step).read_text(encoding="utf-8", errors="replace")):
        return "OPEN", ""
    modules = [module for module in right if module.startswith(prefix("chapters", step.parent.name, step.stem))]
    if not modules:
        return "FAIL", "is not tested here"
    if not all((tree.build / module).exists() for module in modules):
        return "FAIL", "does not compile" + compilers_word(step, said)
    for module in modules:
        if reason := complaint(records.get(module), right[module]):
            return "FAIL", reason
    return "OK", ""


def grade(tree, home, right):
    """The verdicts on the steps of a student: {step: (verdict, reason)}."""
    chapters = chapters_in(home)
    found = tree.take(home, chapters)
    if not any(step in found for step in tree.steps):
        print(f"  no step in {chapters}")
    _, said = tree.compile(seconds=COMPILE_SECONDS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    records = tree.test()
    return {
        step: ("FAIL", found[step]) if found.get(step) else judge(tree, step, records, right, said)
        for step in tree.steps
    }


def chapters_in(home):
    """The folder of chapters in what was handed in, which may be a whole repository in a folder of its own."""
    if os.path.isdir(home / "chapters"):
        return home / "chapters"
    deeper = list(home.glob("*/chapters"))
    direct = any(os.path.isdir(home / chapter) for chapter in CHAPTERS)
    return deeper[0] if len(deeper) == 1 and not direct else home


def holds_steps(home):
    """Whether there is a folder chapters/, or a step where one would be in it."""
    chapters = chapters_in(home)
    return chapters.name == "chapters" or any(os.path.lexists(chapters / step) for step in STEPS)


def names_of(homes):
    """What the students are called: the shortest end of the path that nobody else's has."""
    endings = [[str(pathlib.PurePath(*home.parts[-n:])) for n in range(1, len(home.parts) + 1)] for home in homes]
    count = collections.Counter(name for names in endings for name in names)
    return [next(name for name in names if count[name] == 1) for names in endings]


def chosen(given, refuse):
    """The chapters to grade; a chapter may be given by its beginning."""
    chapters = []
    for name in given or ():
        found = [name] if name in CHAPTERS else [chapter for chapter in CHAPTERS if name and chapter.startswith(name)]
        if len(found) > 1:
            refuse(f"'{name}' may be {either(found)}")
        if not found:
            refuse(f"there is no chapter {name}; there are: {' '.join(CHAPTERS)}")
        chapters += found
    return chapters or CHAPTERS


def main(given=None):
    parser = argparse.ArgumentParser(prog="kata grade", description="Grades copies of chapters/.")
    parser.add_argument("folders", metavar="DIR", nargs="+", help="a student's chapters/, or a tree that holds it")
    parser.add_argument("--chapter", metavar="CHAPTER", action="append", help="grade this one only; may be repeated")
    parser.add_argument("--csv", metavar="FILE", help="write a line for each step of each student")
    arguments = parser.parse_args(given)
    sys.stdout.reconfigure(errors="backslashreplace")  # a name or a reason need not be UTF-8
    homes = {}  # each once, in the order given
    for folder in arguments.folders:
        if not os.path.lexists(folder):
            parser.error(f"there is no folder {folder}")
        path = pathlib.Path(os.path.abspath(folder))
        if os.path.isdir(path):
            homes[path.parent if path.name == "chapters" else path] = True
        else:
            print(f"{folder} is no folder: not graded")
    if not homes:
        parser.error("there is no folder to grade")
    graded = {home for home in homes if holds_steps(home)}
    chapters = chosen(arguments.chapter, parser.error)
    steps = [step for step in STEPS if step.parent.name in chapters]
    try:
        if arguments.csv:
            open(arguments.csv, "a").close()  # is emptied when there is something to write
    except OSError as error:
        parser.error(str(error))
    if not graded:
        parser.error("; ".join(f"{home} {HOLDS_NOTHING}" for home in homes))

    with tempfile.TemporaryDirectory(prefix="kata-grade-") as scratch:
        tree = Tree(pathlib.Path(scratch).resolve(), steps)
        if not tree.sandbox:
            print(f"{tree.no_sandbox}: what students wrote runs with all your rights. Grade as a user without any.")
        print("Building the tests", flush=True)
        tree.take(ROOT, ROOT / "solutions")
        tree.configure()
        status, _ = tree.compile()
        right = tree.test()
        verdicts = {step: judge(tree, step, right, right, "") for step in steps}
        wrong = [f"\n  solutions/{step}: {reason}" for step, (verdict, reason) in verdicts.items() if verdict != "OK"]
        if status or wrong:
            sys.exit("kata: the solutions of this repository do not pass here: nothing can be graded" + "".join(wrong))

        table = open(arguments.csv, "w", newline="", encoding="utf-8", errors="backslashreplace") if arguments.csv else None
        sheet = csv.writer(table) if table else None
        if sheet:
            sheet.writerow(["student", "chapter", "step", "verdict", "reason"])
        for name, home in zip(names_of(homes), homes):
            print(f"\n{name}" if home in graded else f"\n{name} {HOLDS_NOTHING}", flush=True)
            try:
                verdicts = grade(tree, home, right) if home in graded else {step: ("OPEN", "") for step in steps}
            except Exception as error:  # whatever it is, the others have handed in, too
                verdicts = {step: ("FAIL", f"could not be graded: {error}") for step in steps}
            count = collections.Counter(verdict for verdict, _ in verdicts.values())
            for step, (verdict, reason) in verdicts.items():
                if home in graded:
                    print(f"  {str(step.with_suffix('')):40} {verdict:5} {reason}".rstrip())
                if sheet:
                    sheet.writerow([name, step.parent, step.stem, verdict, reason])
            if home in graded:
                print(f"{name}: {count['OK']} of {len(steps)} OK, {count['FAIL']} FAIL, {count['OPEN']} OPEN", flush=True)
            if table:
                table.flush()


if __name__ == "__main__":
    main()
