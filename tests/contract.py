#!/usr/bin/env python3
"""What holds for the folders of this repository, whatever the steps compute.

contract.py BUILD             the folders of kernels fit together, and the build in BUILD tests all of them
contract.py BUILD --verdicts  in the last run of all tests of BUILD every stub was skipped as open, every solution and
                              variant passed and every wrong kernel was rejected: true of a fresh checkout, in which
                              nobody wrote a step
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TREES = ("chapters", "solutions", "tests/wrong", "tests/variants")
BEGIN, END = "// kata: begin", "// kata: end"

complaints = []


def complain(path, text):
    complaints.append(f"{path}: {text}")


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def files(folder):
    """Without what the desktop leaves there, and what ./kata reset keeps."""
    return {path.name: path for path in (ROOT / folder).iterdir() if not re.match(r"\.|.*\.mine", path.name)}


def split(path):
    """The text outside of the marked bodies, the marks themselves included, and the bodies by their first line's number."""
    outside, bodies, inside = [], {}, False
    for number, line in enumerate(read(path).splitlines(keepends=True), 1):
        mark = line.strip()
        if mark == (BEGIN if inside else END):
            complain(f"{path}:{number}", f"'{mark}' where '{END if inside else BEGIN}' must come first")
        if mark == END:
            inside = False
        if inside:
            bodies[body] += line
        else:
            outside.append(line)
        if mark == BEGIN:
            inside, body = True, number + 1
            bodies[body] = ""
    if inside or not bodies:
        complain(path, f"no '{END}' for the last '{BEGIN}'" if inside else f"has no '{BEGIN}'")
    return outside, bodies


def check_step(stub, solution):
    stub_outside, stub_bodies = split(stub)
    solution_outside, solution_bodies = split(solution)
    for mine, theirs in zip(stub_outside, solution_outside):
        if mine != theirs:
            complain(stub, f"differs from {solution} outside of the marked bodies:\n  {mine}  {theirs}".rstrip())
            break
    else:
        if len(stub_outside) != len(solution_outside):
            complain(stub, f"is longer or shorter than {solution} outside of the marked bodies")
    for line, body in stub_bodies.items():  # kata knows a stub by the same
        if not re.fullmatch(r"(\s*//.*\n)*\s*kata::open\(\);\n(\s*return .*;\n)?", body):
            complain(f"{stub}:{line}", "a stub's body is a hint in comments, kata::open(); and at most a return")
        elif not re.search(r"^\s*// \S", body, re.M):
            complain(f"{stub}:{line}", "this body has no hint")
    for body in solution_bodies.values():
        if "kata::open()" in body or not body.strip():
            complain(solution, "a body that is still to be written")


def check_chapter(chapter):
    chapters, solutions, wrong, variants = (pathlib.Path(tree, chapter) for tree in TREES)
    if not (ROOT / solutions).is_dir():
        return complain(solutions, "there is no such folder")
    stubs, written = files(chapters), files(solutions)
    if "README.md" not in stubs:
        complain(chapters / "README.md", "the chapter has no lesson")
    for name in stubs.keys() ^ written.keys():
        complain(chapters / name if name in stubs else solutions / name, "has no counterpart in the other tree")
    for name in sorted(stubs.keys() & written.keys()):
        if name.endswith(".cu"):
            if not re.match(r"\d\d_[a-z0-9_]+\.cu$", name):
                complain(chapters / name, "a step is called NN_name.cu")
            check_step(chapters / name, solutions / name)
        elif name == "README.md" or stubs[name].is_dir():
            if not written[name].is_symlink() or written[name].resolve() != stubs[name].resolve():
                complain(solutions / name, f"must be a symbolic link to ../../{chapters}/{name}")
        elif stubs[name].read_bytes() != written[name].read_bytes():
            complain(chapters / name, f"differs from {solutions / name}")

    for tree, line, what in (wrong, "Rejected", "the tests must say of it"), (variants, "Timed against", "its time is held against"):
        for name in sorted(files(tree)) if (ROOT / tree).is_dir() else ():
            if not re.search(rf"^// {line}: \S", read(tree / name), re.M):
                complain(tree / name, f"does not say '// {line}: …', which is what {what}")
            if name.split(".")[0] + ".cu" not in stubs or name.count(".") != 2 or not name.endswith(".cu"):
                complain(tree / name, "is not called STEP.DIFFERENCE.cu, after a step of its chapter")


def source_of(command):
    """The file that a test is about; its suite is told with --source."""
    return pathlib.Path(command[command.index("--source") + 1]).resolve() if "--source" in command else None


def expected():
    """Every file that a test must be about, and the verdict on it in a fresh checkout. A test of a wrong kernel of
    which a GPU shows nothing is skipped there."""
    for tree, verdict in zip(TREES, ("SKIP", "OK", "OK", "OK")):
        for path in sorted((ROOT / tree).glob("*/*.cu")):
            yield path, verdict


def check_listed(build):
    info = build / "meson-info" / "intro-tests.json"
    if not info.is_file():
        sys.exit(f"{build} is no folder that Meson has configured")
    tests = json.loads(info.read_text(encoding="utf-8"))
    listed = {source_of(test["cmd"]) for test in tests}
    for path, _ in expected():
        if path not in listed:
            complain(path.relative_to(ROOT), "is in no list of meson.build, so that nothing tests it")


def check_verdicts(build):
    log = build / "meson-logs" / "testlog.json"
    if not log.is_file():
        sys.exit(f"{build} has no log of Meson's tests: ./kata test runs them")
    verdicts = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        verdicts.setdefault(source_of(record["command"]), set()).add(record["result"])
    for path, verdict in expected():
        got = verdicts.get(path, {"not run"})
        if re.search("^// On a GPU: nothing$", path.read_text(encoding="utf-8"), re.M):
            got = got - {"SKIP"} or {verdict}
        if got != {verdict}:
            complain(path.relative_to(ROOT), f"must be {verdict} in a fresh checkout, and is {', '.join(sorted(got))}")


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--verdicts"]):
        sys.exit(__doc__.strip())
    build = pathlib.Path(sys.argv[1])
    if len(sys.argv) > 2:
        check_verdicts(build)
    else:
        chapters = {path.name for tree in TREES for path in (ROOT / tree).iterdir() if path.is_dir()}
        for chapter in sorted(chapters):
            if (ROOT / "chapters" / chapter).is_dir():
                check_chapter(chapter)
            else:
                complain(f"chapters/{chapter}", "there is no such folder, but there are other kernels of it")
        check_listed(build)
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
