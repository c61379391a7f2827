#!/usr/bin/env python3
"""Checks that ./kata grade is fair to a class in which every student does something different, and that its
walls hold.

Builds a chapter and grades some sixty folders of it: takes minutes.
"""

from __future__ import annotations

import base64
import contextlib
import csv
import functools
import hashlib
import hmac
import io
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import types
import unittest
import unittest.mock
import xml.etree.ElementTree
import zipfile
from collections.abc import Sequence
from typing import Any

from paths import ROOT  # isort: split

import grade
from fault import Fault
from grading import engines, job, report, sheet, submissions, tree, walls
from repository import Repository

REPOSITORY = Repository()
CHAPTER = "grids"
STEPS = ["01_vector_add", "02_color_to_grayscale", "03_blur"]  # handed in by students
ALL = len(Repository().steps(CHAPTER))  # including those that are missed
NAMES = [f"{CHAPTER}/{step}" for step in STEPS]
ADD, GRAY, BLUR = STEPS
LEFT = "/dev/shm/kata-grading-left"
SECTORS, MODEL_TIME = (
    "32-byte sectors loaded and stored",
    "steps until a model GPU of 16 multiprocessors is done",
)


def solution(step: str) -> str:
    return REPOSITORY.text(CHAPTER, step, "solutions")


def wrong(kernel: str) -> str:
    return next(
        REPOSITORY.kernel(CHAPTER, mistake)
        for mistake in REPOSITORY.mistakes(CHAPTER)
        if mistake.kernel == kernel
    )


LAUNCH = r"(?m)^(?=    \w+<<<)"


def with_first(step: str, statement: str, above: str = "") -> str:
    """Returns the solution with a statement before its first launch, and text above its first function."""
    text, launches = re.subn(LAUNCH, f"    {statement}\n".replace("\\", "\\\\"), solution(step))
    assert launches == 1
    return above + "\n" + text


def instead(body, above="") -> str:
    """Returns a vector add with another body."""
    return (
        f'#include "grids.cuh"\n#include <unistd.h>\n#include <cstdio>\n#include <cstdlib>\n#include '
        f"<cstring>\n{above}\n"
        'extern "C" __attribute__((visibility("default"))) void vector_add(const float* a, const float* '
        "b, float* out, int n) {\n"
        f"    (void)a, (void)b, (void)out, (void)n;\n{body}\n}}\n"
    )


# Passes if the report is plain lines that any code can write: writes to every descriptor, and then ends.
TESTS_OF_ADD = re.findall(
    r'TEST_CASE\(\s*"([^"]+)",\s*"(?![^"]*\[wide\])[^"]*\[vectors\]', (ROOT / "tests/grids.cpp").read_text()
)
FORGED = "".join(f"ok {number} - {name}\\n" for number, name in enumerate(TESTS_OF_ADD, 1))
FORGERY = (
    f'static void forge() {{ const char* text = "1..{len(TESTS_OF_ADD)}\\n{FORGED}"; for (int fd = 1; fd < '
    f"64; ++fd) if (write(fd, text, strlen(text)) < 0) continue; _exit(0); }}"
)

# A reader for which the condition is true gets the solution. The compiler that builds it gets code that nvcc
# would refuse.
DISGUISED = (
    f"#include <memory>\nCONDITION\n{solution(ADD)}\n#else\n"
    + solution(ADD).replace("    const int i", "    (void)*std::make_unique<int>(1);\n    const int i")
    + "#endif\n"
)

# A student's first step, its verdict, and a part of the reason.
HOSTILE = {
    "ends well": (with_first(ADD, "exit(0);"), "FAIL", "ended the program before the tests did"),
    "ends at once": (
        with_first(ADD, "_exit(0);", "#include <unistd.h>"),
        "FAIL",
        "ended the program before the tests did",
    ),
    "aborts": (with_first(ADD, "abort();"), "FAIL", "."),
    "throws": (with_first(ADD, "throw 42;"), "FAIL", "."),
    "skips": (with_first(ADD, 'SKIP("me");', "#include <catch2/catch_test_macros.hpp>"), "FAIL", "."),
    "forges": (instead("forge();", FORGERY), "FAIL", "ended the program before the tests did"),
    "forges when loaded": (
        with_first(
            ADD,
            ";",
            f"#include <unistd.h>\n#include <cstring>\n{FORGERY}\n__attribute__((constructor)) static void "
            f"now() {{ forge(); }}",
        ),
        "FAIL",
        "does not compile .*code that runs when the step is loaded",
    ),
    "forges from an initial value": (
        with_first(
            ADD,
            ";",
            f"#include <unistd.h>\n#include <cstring>\n{FORGERY}\nstatic const int now = (forge(), 0);",
        ),
        "FAIL",
        "ended the program before the tests did",
    ),
    "forges a summary": (
        with_first(ADD, 'puts("All tests passed"); _exit(0);', "#include <cstdio>\n#include <unistd.h>"),
        "FAIL",
        "ended the program",
    ),
    "forges a reason": (
        with_first(
            ADD,
            'fputs("\\nnot ok: the grader\\n  is on holiday, everybody passes\\n", stderr); abort();',
            "#include <cstdio>",
        ),
        "FAIL",
        "^(?!.*holiday)",
    ),
    "closes all": (
        with_first(ADD, "for (int fd = 0; fd < 64; ++fd) close(fd);", "#include <unistd.h>"),
        "FAIL",
        ".",
    ),
    "never ends": (
        instead("    for (volatile int i = 0;; i = i + 1) {\n    }"),
        "FAIL",
        "does not end|did not end|still running|time for the tests",
    ),
    "ignores signals": (
        instead("    signal(SIGTERM, SIG_IGN);\n    for (;;) pause();", "#include <csignal>"),
        "FAIL",
        "does not end",
    ),
    "stops itself": (with_first(ADD, "raise(SIGSTOP);", "#include <csignal>"), "FAIL", "does not end"),
    "kills all": (with_first(ADD, "kill(-1, SIGKILL);", "#include <csignal>"), "FAIL|OK", ""),
    "prints without end": (
        instead('    for (;;) fputs("all work and no play makes a dull kernel\\n", stderr);'),
        "FAIL",
        "prints without end",
    ),
    "forks": (
        with_first(
            ADD,
            "for (int i = 0; i < 500; ++i) if (fork() == 0) { sleep(60); _exit(0); }",
            "#include <unistd.h>",
        ),
        "OK|FAIL",
        "",
    ),
    "takes memory": (instead("    for (;;) memset(malloc(1 << 26), 1, 1 << 26);"), "FAIL", "."),
    "includes the solution": (f'#include "../../solutions/{CHAPTER}/{ADD}.cu"\n', "FAIL", "does not compile"),
    "includes by path": (f'#include "{ROOT}/solutions/{CHAPTER}/{ADD}.cu"\n', "FAIL", "does not compile"),
    "includes a classmate": (
        '#include "/CLASS/right/chapters/grids/01_vector_add.cu"\n',
        "FAIL",
        "does not compile",
    ),
    "assembles a file": (
        with_first(
            ADD,
            ";",
            f'#define SPELT(x) x##m\nSPELT(as)(".incbin \\"{ROOT}/solutions/{CHAPTER}/{ADD}.cu\\"");',
        ),
        "FAIL",
        "does not compile",
    ),
    "spells assembly": (
        with_first(ADD, 'SPELT(as)("nop");', "#define SPELT(x) x##m"),
        "FAIL",
        "does not compile .*assembly",
    ),
    "names a function in assembly": (
        solution(ADD) + '#define SPELT(x) x##m__\nvoid f() SPELT(__as)("g\\n.globl h\\nh");\n',
        "FAIL",
        "does not compile .*assembly",
    ),
    "lies elsewhere": (
        solution(ADD) + '__attribute__((section(".init_array"))) void (*first)() = nullptr;\n',
        "FAIL",
        "does not compile .*where a function lies",
    ),
    "shows clang another program": (
        DISGUISED.replace("CONDITION", "#ifdef __clang__"),
        "FAIL",
        "does not compile .*another program",
    ),
    "pastes a condition": (
        DISGUISED.replace("CONDITION", "#define PASTED(a, b) a##b\n#if PASTED(__GNUC, __) < 5"),
        "FAIL",
        "does not compile .*another program",
    ),
    "asks what there is": (
        DISGUISED.replace("CONDITION", "%:if !__has_builtin(__builtin_shuffle)"),
        "FAIL",
        "does not compile .*another program",
    ),
    "too deep for clang": (with_first(ADD, ";", f"const int deep = {'(' * 300}1{')' * 300};"), "OK", "^$"),
    "leaves the meter": (
        solution(ADD).replace("__global__", '__attribute__((no_sanitize("thread"))) __global__'),
        "FAIL",
        "poisoned|hides code from the meter",
    ),
    "leaves it by a macro of ours": (
        solution(ADD).replace("__global__", "SIMT_UNSEEN __global__"),
        "FAIL",
        "does not compile .*hides code from the meter",
    ),
    "takes the place of the meter": (
        solution(ADD) + 'extern "C" __attribute__((visibility("hidden"))) void __tsan_read1(void*) {}\n',
        "FAIL",
        "does not compile .*belongs to the meter",
    ),
    "opens the namespace of the meter": (
        solution(ADD) + "namespace simt { class Reachable; }\n",
        "FAIL",
        "does not compile .*belongs to the meter",
    ),
    "speaks to clang alone": (
        with_first(
            ADD,
            ";",
            '_Pragma("clang force_cuda_host_device begin") _Pragma("clang force_cuda_host_device end")',
        ),
        "FAIL",
        "does not compile .*only clang obeys",
    ),
    "asks for its own name": (
        with_first(ADD, "(void)sizeof(__PRETTY_FUNCTION__);"),
        "FAIL",
        "does not compile .*in its own way",
    ),
    "leaves it in disguise": (
        solution(ADD).replace(
            "__global__",
            '#define GLUED(a, b) a##b\n__attribute__((GLUED(no_, sanitize)("thread"))) __global__',
        ),
        "FAIL",
        "poisoned|hides code from the meter",
    ),
    "60000 errors": ('#include "kata.hpp"\n' + "lunch;\n" * 60000, "FAIL", "does not compile"),
    "colours": (
        '#include "kata.hpp"\n#error \x1b[31mred\x1b[0m \x07\x1b]0;title\x07\n',
        "FAIL",
        "does not compile",
    ),
    "leaves something": (
        with_first(ADD, f'if (FILE* f = fopen("{LEFT}", "w")) fclose(f);', "#include <cstdio>"),
        "OK",
        "",
    ),
    "looks around": (
        with_first(
            ADD,
            'for (const char* path : {PATHS}) if (access(path, F_OK) == 0) { fprintf(stderr, "seen: '
            '%s\\n", path); abort(); }',
            "#include <cstdio>\n#include <unistd.h>",
        ),
        "OK",
        "",
    ),
    "looks for the key": (
        instead(
            '    FILE* own = fopen("/proc/self/cmdline", "r"); char text[4096]; if (fread(text, 1, '
            "sizeof text, own) == 0) _exit(2);\n"
            "    for (int fd = 3; fd < 64; ++fd) { char key[32]; if (read(fd, key, 32) == 32) forge(); "
            "}\n    _exit(1);",
            FORGERY,
        ),
        "FAIL",
        "ended the program before the tests did, with status 1",
    ),
    "becomes root": (
        with_first(
            ADD,
            'if (system("mount -o remount,rw,bind /usr && touch /usr/here") == 0 || geteuid() == 0) abort();',
            "#include <unistd.h>\n#include <cstdlib>",
        ),
        "OK",
        "",
    ),
    "calls a socket": (
        with_first(
            ADD,
            "int s = socket(AF_UNIX, SOCK_STREAM, 0); sockaddr_un to{}; to.sun_family = AF_UNIX; "
            'strcpy(to.sun_path, "SOCKET"); '
            "if (connect(s, (sockaddr*)&to, sizeof to) == 0) abort();",
            "#include <sys/socket.h>\n#include <sys/un.h>\n#include <cstring>",
        ),
        "OK",
        "",
    ),
    "calls the network": (
        with_first(
            ADD,
            "int s = socket(AF_INET, SOCK_STREAM, 0); sockaddr_in to{}; to.sin_family = AF_INET; "
            "to.sin_port = htons(PORT); "
            "to.sin_addr.s_addr = htonl(INADDR_LOOPBACK); if (connect(s, (sockaddr*)&to, sizeof to) == "
            "0) abort();",
            "#include <arpa/inet.h>\n#include <netinet/in.h>\n#include <sys/socket.h>",
        ),
        "OK",
        "",
    ),
    "fills the disk": (
        with_first(
            ADD,
            'signal(SIGXFSZ, SIG_IGN); for (const char* path : {"/tmp/x", "/dev/shm/x"}) { FILE* f = '
            'fopen(path, "w"); static char zero[1 << 20]; '
            "for (int i = 0; f && i < 200; ++i) if (fwrite(zero, 1, sizeof zero, f) != sizeof zero) "
            "break; if (f && ftell(f) > (100 << 20)) abort(); }",
            "#include <csignal>\n#include <cstdio>",
        ),
        "OK|FAIL",
        "",
    ),
    "reads the environment": (
        with_first(
            ADD,
            'FILE* f = fopen("/proc/1/environ", "r"); static char all[1 << 16]; size_t read = f ? '
            "fread(all, 1, sizeof all, f) : 0; "
            'if (memmem(all, read, "KATA_TOKEN", 10)) abort();',
            "#include <cstdio>\n#include <cstring>",
        ),
        "OK",
        "",
    ),
    "opens the solution": (
        instead(
            '    static auto* theirs = [] { char line[4096] = {}; FILE* f = fopen("/proc/self/cmdline", '
            '"r"); size_t read = fread(line, 1, sizeof line - 1, f);\n'
            "    const char* at = nullptr; for (size_t i = 0; i < read; i += strlen(line + i) + 1) if "
            '(!strcmp(line + i, "--rivals")) at = line + i + 9;\n'
            '    char path[4096]; snprintf(path, sizeof path, "%s01_vector_add.cpu.so", at); void* '
            "module = dlopen(path, RTLD_NOW);\n"
            '    if (!module) _exit(3); return (decltype(&vector_add))dlsym(module, "vector_add"); '
            "}();\n    theirs(a, b, out, n);",
            "#include <dlfcn.h>",
        ),
        "FAIL",
        "status 3",
    ),
}
CARELESS = {
    "does not compile": (
        re.sub(LAUNCH, "    lunch", solution(ADD)),
        "FAIL",
        "^does not compile .*lunch.* was not declared",
    ),
    "a mistake": (wrong(f"{ADD}.whole_blocks_only"), "FAIL", "never written"),
    "one thread": (wrong(f"{ADD}.one_thread"), "SLOW", "its own solution needs"),
    "launched twice": (wrong(f"{ADD}.launched_twice"), "SLOW", "2nd launch"),
    "UTF-16": (solution(ADD).encode("utf-16"), "FAIL", "."),
    "stub": (tree.STANDS_IN, "OPEN", r"kata::open\(\)"),
    "stub with spaces": (tree.STANDS_IN.replace("open()", "open ( )"), "OPEN", r"kata::open\(\)"),
    "stub by another name": (instead("    using namespace kata;\n    open();"), "OPEN", r"kata::open\(\)"),
    "too large": ("//" + "x" * (2 << 20), "FAIL", "larger than"),
    "not a word": ("", "FAIL", "."),
}
HONEST = {
    "CRLF": solution(ADD).replace("\n", "\r\n"),
    "a mark in front": "\ufeff" + solution(ADD),
    "Latin-1": solution(ADD).encode() + "// für Élise\n".encode("latin-1"),
    "a stub in a string": with_first(ADD, 'const char* text = "\\\nkata::open();"; (void)text;'),
    "a stub left out": with_first(ADD, "\n#if 0\n    kata::open();\n#endif\n"),
    "a stub in a comment": with_first(ADD, "/*\nkata::open();\n*/"),
    "asks for an architecture": with_first(
        ADD,
        ";",
        "#include <iostream>\n#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 300\n#error too old\n"
        "#endif\n#ifdef __CUDACC__\n#endif\n"
        '#ifndef TILE\n#define TILE 16\n#endif\n/* asm\n #1 */\nconst char* const words = "asm # '
        'constructor";\n',
    ),
    "another style": wrong(f"{ADD}.stretches")
    if any(m.kernel == f"{ADD}.stretches" and m.tree == "variants" for m in REPOSITORY.mistakes(CHAPTER))
    else solution(ADD),
}
# A name that is not UTF-8, as an archive of another system may hold; a formula; characters that a sheet must
# quote.
NAMED = [os.fsdecode(b"Ren\xe9"), "=1+1", 'a "b", c', "two\nlines", "Übung é", "-rf"]


def write(path, text) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))


def hand_in(home, texts, folder=f"chapters/{CHAPTER}") -> None:
    for name, text in texts.items():
        write(home / folder / (name if "." in name else f"{name}.cu"), text)


def whole(steps: Sequence[str] = STEPS) -> dict[str, str]:
    return {step: solution(step) for step in steps}


HAS_WALLS = walls.Walls(ROOT / "common").is_up
NEED_WALLS = unittest.skipUnless(HAS_WALLS, "bubblewrap does not run here")


@NEED_WALLS
class Class(unittest.TestCase):
    """A class, graded once; the tests look at the results."""

    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="kata-class-")
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = folder = pathlib.Path(scratch.name)
        folder.chmod(0o755)  # as root, programs run as another user, which must have access
        cls.folder, cls.temporary = folder / "class", folder / "with a space"
        cls.temporary.mkdir()
        cls.temporary.chmod(0o755)
        cls.environment = {**os.environ, "TMPDIR": str(cls.temporary), "KATA_TOKEN": "secret"}
        cls.socket = folder / "a socket"
        listening = [socket.socket(socket.AF_UNIX), socket.socket(socket.AF_INET)]
        for one, where in zip(listening, (str(cls.socket), ("127.0.0.1", 0))):
            cls.addClassCleanup(one.close)
            one.bind(where)
            one.listen()
        seen = [
            ROOT / "solutions" / CHAPTER / f"{ADD}.cu",
            ROOT / "README.md",
            "/root",
            "/home",
            "/etc/passwd",
            "/run",
            cls.folder,
            folder / "work/submissions",
        ]
        seen += [
            folder / "work/tree" / inside
            for inside in (
                f"solutions/{CHAPTER}/{ADD}.cu",
                f"tests/{CHAPTER}.cpp",
                f"reference/{CHAPTER}.cpp",
                "prepared.json",
            )
        ]
        places = {
            "PATHS": ", ".join(f'"{path}"' for path in seen),
            "/CLASS": str(cls.folder),
            "SOCKET": str(cls.socket),
            "PORT": str(listening[1].getsockname()[1]),
        }
        cls.wanted = {}
        for name, (text, verdict, reason) in {**HOSTILE, **CARELESS}.items():
            kernel = text
            for word, value in places.items() if isinstance(text, str) else ():
                kernel = kernel.replace(word, value)
            hand_in(cls.folder / name, {ADD: kernel})
            cls.wanted[name, ADD] = (verdict, reason)
        for name, text in HONEST.items():
            hand_in(cls.folder / name, {ADD: text})
            cls.wanted[name, ADD] = ("OK", "^$")
        for name in NAMED:
            hand_in(cls.folder / name, {ADD: solution(ADD)})
            cls.wanted[name, ADD] = ("OK", "^$")
        hand_in(cls.folder / "right", whole())
        cls.wanted |= {("right", step): ("OK", "^$") for step in STEPS}
        hand_in(
            cls.folder / "mixed",
            {
                ADD: instead("    for (;;) {\n    }"),
                BLUR: solution(BLUR),
                GRAY: '#include "mine.hpp"\n#include "lib/types.hpp"\n' + solution(GRAY),
            },
        )
        hand_in(
            cls.folder / "mixed",
            {
                "mine.hpp": "#pragma once\n",
                "lib/types.hpp": "#pragma once\n",
                "grids.cuh": "#error not the one of this repository\n",
            },
        )
        cls.wanted |= {
            ("mixed", ADD): ("FAIL", "."),
            ("mixed", GRAY): ("OK", "^$"),
            ("mixed", BLUR): ("OK", "^$"),
        }
        # The suite's own claims about a step also distinguish slow from wrong.
        hand_in(
            cls.folder / "rows along x",
            {GRAY: wrong(f"{GRAY}.rows_along_x"), BLUR: wrong(f"{BLUR}.patch_not_clipped")},
        )
        cls.wanted |= {
            ("rows along x", GRAY): ("FAIL", "launch refused.* at most"),
            ("rows along x", BLUR): ("FAIL", "out of bounds"),
        }
        hand_in(
            cls.folder / "broken header",
            {
                ADD: '#include "broken.hpp"\n' + solution(ADD),
                "broken.hpp": "inline int broken() { return undeclared; }\n",
            },
        )
        cls.wanted["broken header", ADD] = ("FAIL", "does not compile .*undeclared")
        for name in ("a link", "a pipe", "a folder", "a large hole"):
            (cls.folder / name / "chapters" / CHAPTER).mkdir(parents=True)
        place = f"chapters/{CHAPTER}/{ADD}.cu"
        (cls.folder / "a link" / place).symlink_to(cls.folder / "right" / place)
        os.mkfifo(cls.folder / "a pipe" / place)
        (cls.folder / "a folder" / place).mkdir()
        with open(cls.folder / "a large hole" / place, "wb") as hole:
            hole.truncate(3 << 30)
        cls.wanted |= {
            ("a link", ADD): ("MISSING", "symbolic link"),
            ("a pipe", ADD): ("MISSING", "no plain file"),
        }
        cls.wanted |= {
            ("a folder", ADD): ("MISSING", "no step was found"),
            ("a large hole", ADD): ("FAIL", "larger than"),
        }
        (cls.folder / "nothing").mkdir()
        cls.wanted["nothing", BLUR] = ("MISSING", "no step was found")
        write(cls.folder / "broken.zip", b"PK\x03\x04 and then nothing")
        cls.wanted["broken", ADD] = ("MISSING", "no step was found")
        cls.wanted["right", ADD] = ("OK", "^$")
        write(cls.folder / "README", "a class\n")
        cls.sheet, cls.out = folder / "grades.csv", folder / "out"
        cls.points = folder / "points.json"
        write(
            cls.points,
            json.dumps({"points": {CHAPTER: 0, NAMES[0]: 2, NAMES[1]: 2, NAMES[2]: 4}, "right": 0.25}),
        )
        cls.command = [
            sys.executable,
            ROOT / "common/front/grade.py",
            "--chapter",
            CHAPTER[:3],
            "--work",
            folder / "work",
            "--csv",
            cls.sheet,
        ]
        cls.command += ["--points", cls.points, "--out", cls.out]
        pathlib.Path(LEFT).unlink(missing_ok=True)
        before = time.monotonic()
        cls.done = cls.run_grade(
            *sorted(cls.folder.iterdir()), "--junit", folder / "junit.xml", "--steps", folder / "steps.csv"
        )
        cls.seconds = time.monotonic() - before
        cls.results = {}
        for path in cls.out.glob("*.json"):
            result = json.loads(path.read_text())
            cls.results[result["student"]] = result

    @classmethod
    def run_grade(cls, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*cls.command, *arguments],
            capture_output=True,
            text=True,
            errors="backslashreplace",
            env=cls.environment,
            check=False,
        )

    def rows(self) -> dict[str, dict[str, str]]:
        with open(self.sheet, newline="", encoding="utf-8-sig") as lines:
            return {row["student"]: row for row in csv.DictReader(lines)}

    def test_every_verdict_is_what_it_must_be(self) -> None:
        self.assertEqual(self.done.returncode, 0, self.done.stdout[-2000:] + self.done.stderr)
        for (student, step), (verdict, reason) in self.wanted.items():
            with self.subTest(student=student, step=step):
                found = self.results[student]["steps"][f"{CHAPTER}/{step}"]
                self.assertRegex(found["verdict"], f"^(?:{verdict})$", found["reason"])
                self.assertRegex(re.sub(r"\s+", " ", found["reason"]), reason or "^")

    def test_the_sheet_has_a_row_for_each(self) -> None:
        rows = self.rows()
        rows.pop("late", None)
        self.assertEqual(len(rows), len({student for student, _ in self.wanted}))
        self.assertEqual(rows["right"]["points"] + " of " + rows["right"]["of"], "8 of 8")
        self.assertEqual(rows["mixed"]["points"], "6")
        self.assertEqual((rows["nothing"]["points"], rows["nothing"]["MISSING"]), ("0", str(ALL)))
        self.assertEqual(rows["stub"]["OPEN"], "1")
        self.assertEqual({row["state"] for row in rows.values()}, {"graded"})
        # Right, but it needs thousands of times the limit.
        self.assertLess(float(rows["one thread"][f"{CHAPTER}/{ADD}"]), 0.02)
        self.assertIn("SLOW (right, not yet fast)", rows["one thread"]["not OK"])
        self.assertTrue(self.sheet.read_bytes().startswith(sheet.MARK.encode()))
        self.assertRegex(self.done.stdout, rf"nothing: 0 of 8 points, {ALL} MISSING \(\d+ of {len(rows)}\)\n")
        self.assertEqual(self.done.stdout.count("broken.zip is damaged, or no archive"), 1)
        self.assertIn("'=1+1", rows)
        self.assertIn("'-rf", rows)
        self.assertFalse(
            [cell for row in rows.values() for cell in row.values() if cell[:1] in "=+-@" and cell[:1]]
        )
        self.assertNotIn("\x1b", self.sheet.read_text())
        self.assertNotIn("\x1b", self.done.stdout)
        self.assertIn("README is neither a folder nor an archive: not graded", self.done.stdout)

    def test_nothing_stays_and_nobody_waits(self) -> None:
        self.assertFalse(os.path.exists(LEFT))
        self.assertFalse(os.path.exists("/usr/here"))
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.assertLess(self.results["60000 errors"]["seconds"], walls.Limits(60).seconds)
        for result in self.results.values():
            self.assertLess(result["seconds"], 2 * job.TEST_SECONDS + 60, result["student"])

    def test_what_is_to_be_looked_at_is_said(self) -> None:
        def notes(student: str) -> str:
            return "\n".join(self.results[student]["notes"])

        self.assertIn(
            f"alike with the solution of this repository: {NAMES[1]} 100%, {NAMES[2]} 100%", notes("right")
        )
        self.assertIn("switches the meter off", notes("leaves the meter"))
        self.assertIn("switches the meter off", notes("leaves it in disguise"))
        self.assertIn("outside of the chapter", notes("includes the solution"))
        self.assertIn("constructor", notes("forges when loaded"))
        self.assertIn("starts or ends programs", notes("forks"))
        self.assertIn("opens libraries", notes("opens the solution"))
        self.assertIn("wrote lines into the report", notes("forges"))
        self.assertIn("cannot be read by clang", notes("too deep for clang"))
        self.assertEqual(notes("a mistake"), "")

    def test_what_steps_need_is_beside_what_their_solutions_need(self) -> None:
        with open(self.scratch / "steps.csv", newline="", encoding="utf-8-sig") as lines:
            rows = {(row["student"], row["step"]): row for row in csv.DictReader(lines)}
        self.assertEqual(len(rows), ALL * len(self.results))
        right, twice, alone = (rows[name, NAMES[0]] for name in ("right", "launched twice", "one thread"))
        self.assertEqual(
            (right[SECTORS], right[MODEL_TIME]),
            (right[f"{SECTORS} of the solution"], right[f"{MODEL_TIME} of the solution"]),
        )
        self.assertEqual(float(twice[SECTORS]), 2 * float(twice[f"{SECTORS} of the solution"]))
        # A quarter for being right, and half of the rest: one of two launches is too many.
        self.assertEqual((twice["verdict"], twice["points"]), ("SLOW", "1.25"))
        self.assertGreater(float(alone[MODEL_TIME]), 100 * float(alone[f"{MODEL_TIME} of the solution"]))
        self.assertEqual(rows["a mistake", NAMES[0]][SECTORS], "")
        self.assertRegex(
            (self.out / "launched twice.md").read_text(),
            rf"\| {NAMES[0]} \| 2\.00 \| 2\.00 \| none \| none \|",
        )
        self.assertIn(
            f"## MISSING: it was not handed in\n\n    {NAMES[1]}\n    {NAMES[2]}\n",
            (self.out / "launched twice.md").read_text(),
        )

    def test_feedback_is_whole_and_harmless(self) -> None:
        text = (self.out / "mixed.md").read_text()
        self.assertIn("# mixed: 6 of 8 points", text)
        self.assertIn(f"| {CHAPTER}/{BLUR} | OK | 4 of 4 |", text)
        text = (self.out / "does not compile.md").read_text()
        self.assertRegex(text, r"lunch.* was not declared")
        self.assertIn(f"{ADD}.cu:", text)
        text = (self.out / "colours.md").read_text()
        self.assertFalse(sheet.CONTROL.search(text))

    def test_junit_can_be_read(self) -> None:
        suites = xml.etree.ElementTree.parse(self.scratch / "junit.xml").getroot()
        right = next(suite for suite in suites if suite.get("name") == "right")
        self.assertEqual(
            (right.get("tests"), right.get("failures"), right.get("skipped")),
            (str(ALL), "0", str(ALL - len(STEPS))),
        )
        nothing = next(suite for suite in suites if suite.get("name") == "nothing")
        self.assertEqual(nothing.get("skipped"), str(ALL))

    def test_later_runs_keep_the_rows_of_others_and_resume(self) -> None:
        before = self.rows()
        late = self.folder / "late"
        hand_in(late, {ADD: wrong(f"{ADD}.no_guard")})
        self.addCleanup(shutil.rmtree, late)
        formats = [self.scratch / "results.json", self.scratch / "classroom"]
        done = self.run_grade(late, "--gradescope", formats[0], "--github-classroom", formats[1])
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.rows()
        self.assertEqual(
            {name: row for name, row in rows.items() if name != "late"},
            {name: row for name, row in before.items() if name != "late"},
        )
        self.assertEqual((rows["late"]["FAIL"], rows["late"]["MISSING"]), ("1", str(ALL - 1)))
        scope = json.loads(formats[0].read_text())
        self.assertEqual(
            (scope["score"], [test["max_score"] for test in scope["tests"]]),
            (0, [2, 2, 4] + [0] * (ALL - len(STEPS))),
        )
        # The keys of Gradescope's documentation, and their values.
        self.assertLessEqual(
            {key for test in scope["tests"] for key in test},
            {"score", "max_score", "status", "name", "output", "output_format", "visibility"},
        )
        self.assertEqual(
            {(test["status"], test["output_format"], test["visibility"]) for test in scope["tests"]},
            {("failed", "text", "visible")},
        )
        self.assertLessEqual(set(scope), {"score", "execution_time", "tests"})
        room = json.loads(base64.b64decode(formats[1].read_text()))
        self.assertEqual(
            (room["version"], room["status"], room["max_score"], len(room["tests"])), (1, "fail", 8, ALL)
        )
        again = self.run_grade(late, self.folder / "right", "--resume")
        self.assertIn("2 of 2 have been graded and have handed in the same since", again.stdout)
        self.assertEqual(self.rows(), rows)
        hand_in(late, {ADD: solution(ADD)})
        mended = self.run_grade(late, self.folder / "right", "--resume")
        self.assertIn("1 of 2 have been graded", mended.stdout)
        self.assertEqual(self.rows()["late"]["OK"], "1")
        # Other points require no new test, and a student whose row has the old ones is not skipped.
        write(self.scratch / "double.json", json.dumps({"points": {CHAPTER: 10}}))
        before = time.monotonic()
        doubled = self.run_grade(
            late,
            self.folder / "launched twice",
            "--resume",
            "--points",
            self.scratch / "double.json",
            "--csv",
            self.scratch / "copy.csv",
        )
        self.assertIn(f"late: 10 of {10 * ALL} points", doubled.stdout)
        self.assertIn(f"launched twice: 7.5 of {10 * ALL} points", doubled.stdout)
        self.assertLess(time.monotonic() - before, 20)

    def test_who_stops_it_keeps_what_is_done(self) -> None:
        sheet_of_it = self.scratch / "stopped.csv"
        command = [
            *map(str, self.command),
            str(self.folder / "nothing"),
            str(self.folder / "ignores signals"),
            "--csv",
            str(sheet_of_it),
            "--jobs",
            "1",
        ]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self.environment)
        for line in running.stdout:
            if line.startswith("nothing:"):
                break
        time.sleep(2)
        running.send_signal(signal.SIGTERM)
        running.stdout.close()
        self.assertEqual(running.wait(timeout=30), 128 + signal.SIGTERM)
        with open(sheet_of_it, newline="", encoding="utf-8-sig") as lines:
            states = {row["student"]: row["state"] for row in csv.DictReader(lines)}
        self.assertEqual(states, {"nothing": "graded", "ignores signals": "not graded"})
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_a_job_that_cannot_run_is_said_and_costs_nobody_else(self) -> None:
        # Like a machine of a cluster that does not see the tree.
        ends = list(
            engines.local(
                [
                    engines.Job(
                        "x",
                        [sys.executable, str(grade.JOB), "/no/tree", "/no/one", str(self.scratch / "x.json")],
                        self.scratch / "x.json",
                    )
                ],
                1,
                self.scratch,
            )
        )
        self.assertEqual(len(ends), 1)
        self.assertNotEqual(ends[0].why, "")

    def test_without_walls_the_verdicts_are_the_same(self) -> None:
        built = tree.Tree.load(self.scratch / "work" / "tree")
        given = self.scratch / "given"
        reader = submissions.Reader(REPOSITORY)
        for student in ("mixed", "a mistake"):
            taken = reader.read(
                student, self.folder / student, NAMES[1:] if student == "mixed" else NAMES[:1]
            )
            grade.write_submission(taken, list(taken.texts), "", given)
            result = self.scratch / "result.json"
            done = subprocess.run(
                [sys.executable, grade.JOB, built.folder, given, result, "--without-walls"],
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            verdicts = {
                step: found["verdict"] for step, found in json.loads(result.read_text())["steps"].items()
            }
            self.assertEqual(
                verdicts, {step: self.results[student]["steps"][step]["verdict"] for step in verdicts}
            )

    def suite(self, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        build = self.scratch / "work" / "tree" / "build"
        return subprocess.run(
            [build / f"{CHAPTER}-cpu", *arguments],
            cwd=build,
            stderr=subprocess.PIPE,
            text=True,
            **options,
            check=False,
        )

    def test_counts_that_cannot_be_written_are_no_success(self) -> None:
        with open("/dev/full", "w") as full:
            done = self.suite("--measure", f"solutions.{CHAPTER}.{ADD}.cpu.so", stdout=full)
        self.assertEqual((done.returncode, done.stderr), (1, "the output cannot be written\n"))

    def test_a_step_that_has_changed_since_it_was_built_is_not_measured(self) -> None:
        source = self.scratch / f"{ADD}.cu"
        source.write_text(solution(ADD))
        os.utime(source, (time.time() - 86400,) * 2)
        command = ["--measure", f"solutions.{CHAPTER}.{ADD}.cpu.so", "--source", source]
        self.assertEqual(self.suite(*command, stdout=subprocess.DEVNULL).returncode, 0)
        os.utime(source, (time.time() - 0.01,) * 2)
        done = self.suite(*command, stdout=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout.startswith("fault ")), (1, True), done.stdout)

    def test_memory_that_is_used_up_is_no_fault_of_the_steps(self) -> None:
        module = f"solutions.{CHAPTER}.{GRAY}.cpu.so"
        command = [
            "--step",
            module,
            "--source",
            f"../solutions/{CHAPTER}/{GRAY}.cu",
            "--rivals",
            f"solutions.{CHAPTER}.",
            "--reporter",
            "step",
            "--abort",
        ]
        for mebibytes in (192, 128, 96):
            bytes_ = mebibytes << 20
            limit = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (bytes_, bytes_))
            with self.subTest(mebibytes=mebibytes):
                done = self.suite(*command, stdout=subprocess.DEVNULL, preexec_fn=limit)
                self.assertEqual(
                    (done.returncode, done.stderr.count("memory is exhausted")), (0, 1), done.stderr
                )
                self.assertNotIn("SIG", done.stderr)

    def test_a_step_of_tomorrow_is_tested_and_one_that_was_edited_since_is_not(self) -> None:
        source = self.scratch / f"{ADD}.cu"
        source.write_text(solution(ADD))
        module = f"solutions.{CHAPTER}.{ADD}.cpu.so"
        command = [
            "--step",
            module,
            "--source",
            source,
            "--rivals",
            f"solutions.{CHAPTER}.",
            "--reporter",
            "step",
            "--abort",
        ]
        for seconds, said in ((86400, False), (-1, True)):
            time.sleep(0.1)
            os.utime(source, (time.time() + seconds,) * 2)
            self.assertEqual(
                "has changed since it was built" in self.suite(*command, stdout=subprocess.DEVNULL).stderr,
                said,
            )

    def test_dask_hands_the_jobs_to_its_workers(self) -> None:
        try:
            import distributed
        except ImportError:
            self.skipTest("no dask.distributed here")
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            done = self.run_grade(
                self.folder / "right",
                self.folder / "nothing",
                f"--engine=dask={cluster.scheduler_address}",
                "--csv",
                self.scratch / "dask.csv",
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("right: 8 of 8 points, 3 OK", done.stdout)


class Taking(unittest.TestCase):
    """The files found in a submission, without building it."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.reader = submissions.Reader(REPOSITORY)

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="kata-class-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def read(self, path: pathlib.Path | None = None, wanted: Sequence[str] = NAMES) -> submissions.Submission:
        return self.reader.read("x", path or self.folder / "x", wanted)

    def assert_all(self, taken) -> None:
        self.assertEqual(
            {step: text.decode() for step, text in taken.texts.items()},
            {f"{CHAPTER}/{step}": solution(step) for step in STEPS},
        )
        self.assertEqual((taken.missing, taken.unread), ({}, {}))

    def test_steps_are_found_wherever_they_lie(self) -> None:
        for folder in (
            f"chapters/{CHAPTER}",
            CHAPTER,
            "",
            "homework 1",
            f"homework 1/cuda-kata-main/chapters/{CHAPTER}",
            f"Chapters/{CHAPTER.title()}",
            f"a/b/c/d/{CHAPTER}",
        ):
            with self.subTest(folder=folder):
                hand_in(self.folder / "x", whole(), folder)
                self.assert_all(self.read())
                shutil.rmtree(self.folder / "x")

    def test_archives_are_read_and_not_unpacked(self) -> None:
        hand_in(self.folder / "x", {**whole(), "mine.hpp": "#pragma once\n"}, f"me/chapters/{CHAPTER}")
        for name, how in (("a.zip", "zip"), ("b.tar.gz", "gztar"), ("c.tar.xz", "xztar"), ("d.tar", "tar")):
            with self.subTest(archive=name):
                shutil.make_archive(str(self.folder / name.split(".")[0]), how, self.folder / "x")
                taken = self.read(self.folder / name)
                self.assert_all(taken)
                self.assertIn(f"{CHAPTER}/mine.hpp", taken.headers)
        (self.folder / "y").mkdir()
        (self.folder / "a.zip").rename(self.folder / "y" / "homework.zip")
        self.assert_all(self.read(self.folder / "y"))

    def test_an_archive_reaches_nothing_outside(self) -> None:
        with zipfile.ZipFile(self.folder / "x.zip", "w") as archive:
            archive.writestr(f"../../{CHAPTER}/{ADD}.cu", solution(ADD))
            link = zipfile.ZipInfo(f"{CHAPTER}/{GRAY}.cu")
            link.external_attr = 0o120777 << 16
            archive.writestr(link, "/etc/passwd")
            archive.writestr(f"{CHAPTER}/{BLUR}.cu", b"0" * (64 << 20), zipfile.ZIP_DEFLATED)
        taken = self.read(self.folder / "x.zip")
        self.assertEqual(list(taken.texts), [NAMES[0]])
        self.assertIn("larger", taken.unread[NAMES[2]])
        with tarfile.open(self.folder / "x.tar", "w") as archive:
            link = tarfile.TarInfo(f"{CHAPTER}/{ADD}.cu")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(link)
        self.assertEqual(self.read(self.folder / "x.tar").texts, {})

    def test_of_several_attempts_one_is_taken_and_said(self) -> None:
        hand_in(self.folder / "x", {ADD: "// nine\n"}, f"attempt 9/chapters/{CHAPTER}")
        hand_in(self.folder / "x", {ADD: "// ten\n"}, f"attempt 10/chapters/{CHAPTER}")
        hand_in(self.folder / "x", {ADD: tree.STANDS_IN}, f"attempt 11/chapters/{CHAPTER}")
        taken = self.read()
        self.assertEqual(taken.texts[NAMES[0]], b"// ten\n")
        self.assertIn("3 times", taken.notes[0])
        hand_in(self.folder / "x", {ADD: "// top\n"}, f"chapters/{CHAPTER}")
        self.assertEqual(self.read().texts[NAMES[0]], b"// top\n")

    def test_the_solutions_of_a_whole_repository_are_nobodys_attempt(self) -> None:
        hand_in(self.folder / "x", {ADD: tree.STANDS_IN}, f"repo/chapters/{CHAPTER}")
        hand_in(self.folder / "x", whole(), f"repo/solutions/{CHAPTER}")
        taken = self.read()
        self.assertEqual((list(taken.texts), list(taken.missing)), ([NAMES[0]], NAMES[1:]))

    def test_a_flat_step_is_told_by_its_chapters_header(self) -> None:
        wanted = [
            f"{chapter}/{step}"
            for chapter in REPOSITORY.chapters()
            for step in REPOSITORY.steps(chapter, "solutions")
        ]
        for chapter in REPOSITORY.chapters():
            for step in REPOSITORY.steps(chapter, "solutions"):
                write(self.folder / "x" / f"{step}.cu", REPOSITORY.text(chapter, step, "solutions"))
                with self.subTest(chapter=chapter, step=step):
                    self.assertEqual(list(self.read(wanted=wanted).texts), [f"{chapter}/{step}"])
                shutil.rmtree(self.folder / "x")

    def test_links_are_not_followed(self) -> None:
        hand_in(self.folder / "mine", whole())
        (self.folder / "x").mkdir()
        (self.folder / "x" / "chapters").symlink_to(self.folder / "mine" / "chapters")
        self.assertEqual(self.read().texts, {})
        (self.folder / "z").symlink_to(self.folder / "mine")  # the teacher's
        self.assert_all(self.read(self.folder / "z"))

    def test_only_headers_that_hide_ours_are_left_out(self) -> None:
        names = ["types.hpp", "lib/data.hpp", "kata.hpp", "grids.hpp", "grids.cuh", "check/data.hpp"]
        hand_in(self.folder / "x", {ADD: "mine", **dict.fromkeys(names, "")})
        self.assertEqual(sorted(self.read().headers), [f"{CHAPTER}/lib/data.hpp", f"{CHAPTER}/types.hpp"])

    def notes_on(self, step: str, **texts: str) -> dict[str, str]:
        """Returns the remarks on a class that hands in these texts."""
        given = [submissions.Submission(name, {step: text.encode()}) for name, text in texts.items()]
        submissions.note_likeness(REPOSITORY, given)
        return {one.student: "\n".join(one.notes) for one in given}

    def test_what_is_alike_is_pointed_out_with_its_share(self) -> None:
        step = "scan/06_single_pass"
        mine = (ROOT / f"tests/styles/{step}.blocks_of_512.cu").read_text()
        names = {
            name: f"v{number}"
            for number, name in enumerate(
                dict.fromkeys(re.findall(r"(?:const )?(?:int|unsigned) (\w+) =", mine))
            )
        }
        self.assertGreater(len(names), 5)
        renamed = re.sub(r"\w+", lambda word: names.get(word[0], word[0]), mine)
        swapped = (
            re.sub(r"(\w+) \+ (\w+);", r"\2 + \1;", renamed).replace("const ", "").replace("unsigned", "int")
        )
        notes = self.notes_on(
            step, anna=mine, ben=f"// mine\n{swapped}", carla=REPOSITORY.text(*step.split("/"), "solutions")
        )
        self.assertRegex(notes["anna"], rf"^alike with ben: {step} (9\d|100)%$")
        self.assertRegex(notes["ben"], rf"^alike with anna: {step} (9\d|100)%$")
        self.assertEqual(notes["carla"], f"alike with the solution of this repository: {step} 100%")

    def test_what_everybody_writes_is_not_called_alike(self) -> None:
        self.assertEqual(set(self.notes_on(NAMES[0], anna=solution(ADD), ben=solution(ADD)).values()), {""})
        styles = [
            path.read_text() for path in sorted((ROOT / "tests/styles/gemm").glob("02_shared_memory.*.cu"))
        ]
        self.assertGreater(len(styles), 2)
        self.assertEqual(
            set(
                self.notes_on(
                    "gemm/02_shared_memory", **{f"s{n}": text for n, text in enumerate(styles)}
                ).values()
            ),
            {""},
        )
        self.assertEqual(
            set(self.notes_on("gemm/02_shared_memory", anna=tree.STANDS_IN, ben=tree.STANDS_IN).values()),
            {""},
        )

    def test_those_who_share_a_body_and_differ_elsewhere_are_not_the_same(self) -> None:
        kernels = {
            f"s{n}": REPOSITORY.text("reduction", step, "solutions")
            for n, step in enumerate(REPOSITORY.steps("reduction", "solutions")[2:6])
        }
        given = {
            name: f"{solution(BLUR)}\n{text.split('#include', 1)[1].partition(chr(10))[2]}"
            for name, text in kernels.items()
        }
        self.assertNotIn("100%", "".join(self.notes_on(NAMES[2], **given).values()))

    def test_an_archive_that_is_none_is_told_once(self) -> None:
        write(self.folder / "x.zip", b"PK\x03\x04 and then nothing")
        taken = self.read(self.folder / "x.zip")
        self.assertEqual(set(taken.missing.values()), {"no step was found: x.zip is damaged, or no archive"})
        self.assertEqual(taken.notes, [])

    def test_the_newest_file_that_is_graded_says_how_late_it_is(self) -> None:
        hand_in(self.folder / "x", {ADD: solution(ADD), BLUR: tree.STANDS_IN, "notes.txt": ""})
        os.utime(self.folder / "x" / f"chapters/{CHAPTER}" / f"{ADD}.cu", (1_700_000_000, 1_700_000_000))
        self.assertEqual(self.read().changed, 1_700_000_000)
        for how in ("zip", "gztar"):
            packed = shutil.make_archive(str(self.folder / "x"), how, self.folder / "x")
            self.assertEqual(self.read(pathlib.Path(packed)).changed, 1_700_000_000)

    def test_what_is_open_is_told_from_what_looks_so(self) -> None:
        self.assertFalse(submissions.is_written(tree.STANDS_IN.encode()))
        for chapter in REPOSITORY.chapters():
            for step in REPOSITORY.steps(chapter, "solutions"):
                self.assertTrue(
                    submissions.is_written(REPOSITORY.text(chapter, step, "solutions").encode()), step
                )
        for text in (
            '"kata::open();"',
            "// kata::open();",
            "#if 0\nkata::open();\n#endif",
            'R"(\nkata::open();\n)"',
            "#if 0\n#if 1\n#else\nkata::open();\n#endif\n#endif",
        ):
            self.assertTrue(submissions.is_written(text.encode()), text)
        for text in (
            "#if 0\n#else\nkata::open();\n#endif",
            "kata :: open ( ) ;",
            "'\"'; kata::open(); // \"",
        ):
            self.assertFalse(submissions.is_written(text.encode()), text)

    def test_a_literal_or_a_comment_that_never_ends_is_read_in_a_moment(self) -> None:
        before = time.monotonic()
        for text in ('R"x(' + '"\\' * 100_000, "/*/" * 100_000, 'R"x(' * 100_000, '"' + '\\"' * 100_000):
            self.assertTrue(submissions.is_written(text.encode()))
            submissions.looked_at(text)
        self.assertLess(time.monotonic() - before, 20)
        self.assertFalse(submissions.is_written(b"const int n = 1'000'000; kata::open();"))

    def test_names_tell_students_apart(self) -> None:
        paths = [pathlib.Path(path) for path in ("/t/x/alice", "/t/y/alice", "/t/y/bob.zip", "/alice")]
        self.assertEqual(submissions.names_of(paths), ["x/alice", "y/alice", "bob", "/alice"])

    def test_a_reason_fits_a_line_and_no_word_is_cut(self) -> None:
        self.assertEqual(
            sheet.in_one_line("adds: the result is wrong\n  now 3, at most 2\nwith n = 5"),
            "adds: the result is wrong; now 3, at most 2; with n = 5",
        )
        self.assertEqual(sheet.in_one_line("a race:\nin line 3.\n\n"), "a race: in line 3.")
        self.assertEqual(sheet.in_one_line("word " * 100), "word " * 59 + "…")
        self.assertEqual(sheet.in_one_line(""), "")

    def test_files_of_students_do_not_leave_their_folder(self) -> None:
        for name in ("../x", "/etc/passwd", "..", "a/b", ".hidden", "a\0b"):
            self.assertRegex(sheet.file_name(name), r"^[^./\0][^/\0]*$")


class Sealed(unittest.TestCase):
    """The report of a suite."""

    KEY = b"k" * 32
    MODEL = ("adds", "times")

    def sealed(self, *lines: str, key: bytes = KEY, first: int = 0) -> bytes:
        return "".join(
            f"{hmac.new(key, f'{number} {line}'.encode(), hashlib.sha256).hexdigest()} {line}\n"
            for number, line in enumerate(lines, first)
        ).encode()

    def verdict(self, out: bytes, status: int = 0, stopped: str = "") -> report.Verdict:
        found = report.read(self.KEY, walls.Done(status, out, "", stopped, 1.0))
        return found.verdict(self.MODEL)

    def test_all_that_the_solution_passes_must_be_passed_once(self) -> None:
        self.assertEqual(self.verdict(self.sealed("1..2", "ok 1 - adds", "ok 2 - times")).name, "OK")
        self.assertEqual(
            self.verdict(
                self.sealed("1..3", "ok 1 - adds", "ok 2 - times", "ok 3 - more # SKIP no clock")
            ).name,
            "OK",
        )
        for lines, why in (
            (("1..2", "ok 1 - adds", "ok 2 - times # SKIP me"), "skipped"),
            (("1..2", "ok 1 - adds"), "ended the program"),
            (("1..2", "ok 1 - adds", "ok 2 - adds"), "results of"),
            (("ok 1 - adds", "ok 2 - times"), "ended the program"),
            (("1..0 # SKIP open",), "results of"),
            (
                ("1..2", "ok 1 - adds", "not ok 2 - times", '# {"kind": "wrong", "text": "c[0] is 1"}'),
                "times: c\\[0\\] is 1",
            ),
            ((), "ended the program"),
        ):
            found = self.verdict(self.sealed(*lines))
            self.assertEqual(found.name, "FAIL", lines)
            self.assertRegex(found.reason.replace("\n", " "), why)

    def test_lines_without_their_seal_do_not_count(self) -> None:
        lines = ("1..2", "ok 1 - adds", "ok 2 - times")
        right = self.sealed(*lines)
        for out in (
            "\n".join(lines).encode(),
            self.sealed(*lines, key=b"x" * 32),
            self.sealed(*lines, first=1),
            right.replace(b"ok 2", b"ok 3"),
            self.sealed("1..2", "ok 1 - adds") + self.sealed("ok 1 - adds", first=1),
            self.sealed("1..2", "ok 1 - adds", "not ok 2 - times").replace(b"not ok", b"ok"),
        ):
            self.assertEqual(self.verdict(out).name, "FAIL", out)
        # It is reported, and does no harm.
        self.assertEqual(self.verdict(b"ok 1 - adds\n" + right).name, "OK")

    def test_who_is_right_and_needs_more_is_slow(self) -> None:
        claim = ("not ok 2 - times", '# {"kind": "slow", "text": "too many lines", "share": 0.25}')
        found = self.verdict(self.sealed("1..2", "ok 1 - adds", *claim))
        self.assertEqual((found.name, found.share), ("SLOW", 0.25))
        self.assertEqual(self.verdict(self.sealed("1..2", "not ok 1 - adds", *claim)).name, "FAIL")
        self.assertEqual(self.verdict(self.sealed("1..2", "ok 1 - adds", *claim), status=-11).name, "FAIL")
        self.assertEqual(
            self.verdict(
                self.sealed(
                    "1..2",
                    "ok 1 - adds",
                    "not ok 2 - times",
                    '# {"kind": "wrong", "text": "the host has done it"}',
                )
            ).name,
            "FAIL",
        )

    def test_how_it_ended_is_said(self) -> None:
        self.assertEqual(self.verdict(b"", -11).reason, "crashed: SIGSEGV")
        self.assertEqual(self.verdict(b"", 3).reason, "ended the program before the tests did, with status 3")
        self.assertEqual(
            self.verdict(b"", -9, "does not end: it was stopped after 3 s").reason,
            "does not end: it was stopped after 3 s",
        )
        self.assertEqual(
            self.verdict(
                self.sealed(
                    "1..2",
                    "not ok 1 - adds",
                    '# {"kind": "open", "text": "open: the body has not been written yet"}',
                )
            ).name,
            "OPEN",
        )


class Points(unittest.TestCase):
    def file(self, text: str) -> str:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, "points.json")
        path.write_text(text)
        return str(path)

    def test_a_step_has_its_own_points_or_its_chapters(self) -> None:
        points = sheet.Points(
            self.file('{"points": {"grids": 2, "grids/03_blur": 4}, "right": 0.5}'), [*NAMES, "scan/01"]
        )
        self.assertEqual(list(points.of.values()), [2, 2, 4, 1])
        self.assertEqual(points.earned(NAMES[2], {"verdict": "SLOW", "share": 0.5}), 3)
        self.assertEqual(
            [points.earned(NAMES[0], {"verdict": name}) for name in ("OK", "FAIL", "OPEN", "MISSING")],
            [2, 0, 0, 0],
        )
        own = sheet.Points(self.file('{"right": {"grids": 0.2, "grids/03_blur": 1}}'), [*NAMES, "scan/01"])
        self.assertEqual(list(own.right.values()), [0.2, 0.2, 1, 0.5])
        self.assertNotEqual(points.digest, own.digest)

    def test_what_a_slow_step_has_falls_with_what_it_needs(self) -> None:
        def earned(times: float, right: float = 0.5) -> float:
            return sheet.Points(
                self.file(json.dumps({"points": {"grids": 100}, "right": right})), NAMES
            ).earned(NAMES[0], {"verdict": "SLOW", "share": 1 / times})

        self.assertEqual([earned(times) for times in (1, 2, 5, 8, 100, 1000)], [100, 75, 60, 50, 4, 0.4])
        self.assertEqual([earned(times, 1) for times in (2, 4, 8)], [100, 100, 50])
        self.assertEqual([earned(times, 0) for times in (2, 4)], [50, 25])

    def test_what_is_no_table_of_points_is_refused(self) -> None:
        for text in (
            "",
            "[]",
            "{",
            '{"point": {}}',
            '{"points": {"grids/09": 1}}',
            '{"points": {"grids": -1}}',
            '{"points": {"grids": "1"}}',
            '{"points": 2}',
            '{"right": 2}',
            '{"right": "1"}',
            '{"right": {"grids/09": 1}}',
            '{"right": {"grids": true}}',
            '{"right": null}',
        ):
            with self.assertRaises(Fault, msg=text) as raised:
                sheet.Points(self.file(text), NAMES)
            self.assertEqual(raised.exception.status, 2)

    def test_another_file_is_not_taken_for_a_sheet(self) -> None:
        with self.assertRaisesRegex(Fault, "no sheet"):
            sheet.Sheet(pathlib.Path(self.file("name,grade\nalice,1\n")), NAMES)

    def new_sheet(self, points: sheet.Points, **verdicts: str) -> sheet.Sheet:
        """Returns a sheet of students, with the verdict that each has for all steps."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        table = sheet.Sheet(pathlib.Path(folder.name, "grades.csv"), NAMES)
        for name, verdict in verdicts.items():
            steps = {step: {"verdict": verdict, "reason": ""} for step in NAMES}
            table.put(
                name, {"steps": steps, "notes": [], "graded": "", "seconds": 1}, points, f"d-{points.digest}"
            )
        table.write()
        return table

    def test_who_is_not_graded_again_keeps_the_points_of_before(self) -> None:
        points = sheet.Points(None, NAMES)
        table = self.new_sheet(points, x="OK")
        self.assertTrue(sheet.Sheet(table.path, NAMES).is_done("x", f"d-{points.digest}"))
        table.put("x", None, points, "")
        self.assertEqual((table.rows["x"]["points"], table.rows["x"]["state"]), ("3", "not graded"))
        self.assertFalse(table.is_done("x", f"d-{points.digest}"))
        others = sheet.Points(self.file('{"right": 0.25}'), NAMES)
        table = self.new_sheet(points, x="OK", y="FAIL")
        self.assertEqual((table.of_other_points(points), table.of_other_points(others)), (0, 2))

    def test_a_sheet_of_other_chapters_is_refused_and_stays(self) -> None:
        table = self.new_sheet(sheet.Points(None, NAMES), x="OK")
        before = table.path.read_bytes()
        for steps in (["scan/01_kogge_stone"], [*NAMES, "scan/01_kogge_stone"], NAMES[:2]):
            with self.assertRaisesRegex(Fault, "one choice of chapters"):
                sheet.Sheet(table.path, steps)
        self.assertEqual(table.path.read_bytes(), before)

    def test_who_is_in_the_roster_has_a_row_and_keeps_the_one_there_is(self) -> None:
        for text, wanted in (
            ("id,student\n1,Übung\n2,x\n", ["Übung", "x"]),
            ("x\n\ny, z\n", ["x", "y"]),
            ("\ufeffx;1\ny;2\n", ["x", "y"]),
            ("", []),
        ):
            self.assertEqual(sheet.roster(self.file(text)), wanted)
        points = sheet.Points(None, NAMES)
        table = self.new_sheet(points, x="OK")
        for name in ("x", "Übung"):
            table.put_absent(name, points)
        table.put_late("x", 5400)
        table.put_late("Übung", -5400)
        table.write()
        rows = sheet.Sheet(table.path, NAMES).rows
        self.assertEqual(
            [rows["x"][name] for name in ("points", "state", "hours late")], ["3", "graded", "1.50"]
        )
        self.assertEqual(
            [rows["Übung"][name] for name in ("points", "of", "MISSING", "state", "hours late")],
            ["0", "3", "3", "nothing handed in", ""],
        )

    def test_what_a_killed_run_has_left_is_removed_and_what_is_used_stays(self) -> None:
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(tempfile, "tempdir", folder):
            left, used, young, foreign = (
                pathlib.Path(folder, f"kata-grade-{name}") for name in ("left", "used", "young", "foreign")
            )
            for path in (left, used, young):
                write(path / "lock", "")
            write(foreign / "notes", "")
            for path in (left, used, foreign):
                os.utime(path, (time.time() - 3600,) * 2)
            with grade.for_itself(used), grade.scratch_folder() as mine:
                self.assertEqual(
                    {path.name for path in pathlib.Path(folder).iterdir()},
                    {used.name, young.name, foreign.name, mine.name},
                )
            self.assertFalse(mine.exists())

    def test_who_is_not_graded_for_a_step_reads_why(self) -> None:
        given, _ = grade.arguments_of(["--chapter", "gemm", str(ROOT)])
        with contextlib.redirect_stderr(io.StringIO()):
            left_out = grade.Grading(given).left_out
        line = "gemm/12_copy_engine is not graded: it needs a GPU of compute capability 9.0"
        self.assertIn(line, left_out)
        result = {"student": "x", "steps": {}, "graded": "", "version": ""}
        self.assertIn(f"\n{line}.\n", sheet.feedback(result, sheet.Points(None, []), left_out))

    def test_no_cell_is_a_formula(self) -> None:
        self.assertEqual(
            [sheet.cell(text) for text in ("=1", "+1", "-1", "@x", "1", "\x1b[31m=1")],
            ["'=1", "'+1", "'-1", "'@x", "1", "'=1"],
        )


class Engines(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="kata-class-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def jobs(self, count: int, script: str) -> list[engines.Job]:
        return [
            engines.Job(
                str(n), ["sh", "-c", script, "sh", str(self.folder / f"{n}.json")], self.folder / f"{n}.json"
            )
            for n in range(count)
        ]

    def test_jobs_run_beside_each_other_and_each_ends_once(self) -> None:
        before = time.monotonic()
        ends = list(engines.local(self.jobs(6, "sleep 1; touch $1"), 6, self.folder))
        self.assertLess(time.monotonic() - before, 4)
        self.assertEqual(sorted(ended.job.name for ended in ends), list("012345"))
        self.assertEqual({ended.why for ended in ends}, {""})

    def test_on_a_device_is_one_at_a_time(self) -> None:
        held, waited = threading.Event(), []

        def other() -> None:
            held.wait()
            with job.alone_on("test 0"):
                waited.append(time.monotonic())

        thread = threading.Thread(target=other)
        thread.start()
        with job.alone_on("test 0"):
            with job.alone_on("test 1"):  # another one
                held.set()
            time.sleep(0.3)
            self.assertEqual(waited, [])
        thread.join(10)
        self.assertEqual(len(waited), 1)
        for path in pathlib.Path("/tmp").glob(f"kata-grade-{os.getuid()}-gpu-test-*.lock"):
            path.unlink()

    def test_a_job_without_a_result_has_a_reason(self) -> None:
        ends = list(engines.local(self.jobs(1, "echo no room >&2; exit 1"), 1, self.folder))
        self.assertEqual([ended.why for ended in ends], ["no room"])

    def test_who_stops_looking_stops_the_jobs(self) -> None:
        ends = engines.local(
            self.jobs(2, "case $1 in *0.json) touch $1;; *) echo $$ > $1.pid; exec sleep 60;; esac"),
            2,
            self.folder,
        )
        next(ends)
        while not (self.folder / "1.json.pid").is_file() or not (self.folder / "1.json.pid").read_text():
            time.sleep(0.05)
        ends.close()
        with self.assertRaises(ProcessLookupError):
            os.kill(int((self.folder / "1.json.pid").read_text()), 0)

    def test_slurm_runs_again_what_was_lost(self) -> None:
        # An sbatch that runs the array at once, and loses the second job the first time.
        tools = self.folder / "bin"
        tools.mkdir()
        write(
            tools / "sbatch",
            '#!/bin/bash\nfor script; do :; done\nn=$(grep -c "exec " "$script")\nfor ((i = 0; i < n; '
            "i++)); do\n"
            '[ "$n" = 3 ] && [ $i = 1 ] || SLURM_ARRAY_TASK_ID=$i bash "$script"; done >&2\necho 7\n',
        )
        for name in ("squeue", "scancel"):
            write(tools / name, "#!/bin/sh\n")
        for path in tools.iterdir():
            path.chmod(0o755)
        jobs = [
            engines.Job(job.name, [*job.command, "--cores", "1"], job.result)
            for job in self.jobs(3, "echo x >> $1")
        ]
        path = os.environ["PATH"]
        os.environ["PATH"] = f"{tools}:{path}"
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        ends = list(engines.slurm(jobs, 2, self.folder, ""))
        self.assertEqual(
            sorted((ended.job.name, ended.why) for ended in ends), [("0", ""), ("1", ""), ("2", "")]
        )
        self.assertEqual([job.result.read_text() for job in jobs], ["x\n"] * 3)


class CommandLine(unittest.TestCase):
    def refused(self, *arguments: str, status: int = 2) -> str:
        done = subprocess.run(
            [sys.executable, ROOT / "common/front/grade.py", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr.splitlines()[-1]

    def test_names_of_nothing_are_refused(self) -> None:
        self.assertIn("there is no folder", self.refused("/no/such/folder"))
        self.assertIn("there is no chapter fourier; there are:", self.refused("/", "--chapter", "fourier"))
        self.assertTrue(self.refused("/", "--chapter", "s").endswith("'s' may be stencil or scan"))
        self.assertIn("/no/such/sheet.csv", self.refused("/", "--csv", "/no/such/sheet.csv"))
        self.assertIn("there is no engine", self.refused("/", "--engine", "steam"))
        self.assertIn("--work", self.refused("/", "--engine", "slurm"))
        self.assertIn("--csv", self.refused("/", "--resume"))
        self.assertIn("1 or more", self.refused("/", "--jobs", "0"))

    def test_two_do_not_work_in_one_folder(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            hand_in(pathlib.Path(folder, "x"), {ADD: solution(ADD)})
            with grade.for_itself(pathlib.Path(folder, "work")):
                self.assertIn(
                    "another ./kata grade works in",
                    self.refused(f"{folder}/x", "--work", f"{folder}/work", status=3),
                )
            with grade.for_itself(pathlib.Path(folder, "work")):
                pass  # a program that has ended does not matter

    def test_a_folder_without_any_step_is_not_graded(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "src").mkdir()
            self.assertTrue(self.refused(folder).endswith(f"{folder}: no step was found"))

    def test_without_walls_nothing_is_graded_unless_that_is_said(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            hand_in(pathlib.Path(folder, "x"), {ADD: solution(ADD)})
            done = subprocess.run(
                [sys.executable, ROOT / "common/front/grade.py", f"{folder}/x"],
                capture_output=True,
                text=True,
                env={**os.environ, "PATH": "/nowhere"},
                check=False,
            )
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("--without-walls", done.stderr)


LIMITS = walls.Limits(20)


@NEED_WALLS
class Around(unittest.TestCase):
    """The walls themselves."""

    def run_in(self, script: str, limits: walls.Limits = LIMITS, **options: Any) -> walls.Done:
        around = walls.Walls(ROOT / "common")
        return around.run(around.command(["sh", "-c", script], **options), limits)

    def test_only_what_is_shown_is_seen_and_nothing_can_be_written(self) -> None:
        done = self.run_in(
            f"ls -d /root /home /run /etc/passwd {ROOT}; touch /x /usr/x /dev/x {ROOT}/common/x; ls "
            f"{ROOT}/common/kata.hpp",
            read=[ROOT / "common"],
        )
        self.assertEqual(done.out.decode(), f"{ROOT}\n{ROOT}/common/kata.hpp\n")
        self.assertEqual(done.said.count("Read-only"), 4)

    def test_nobody_has_a_capability(self) -> None:
        done = self.run_in("grep -E 'Cap(Eff|Bnd)' /proc/self/status")
        self.assertEqual(set(re.findall(r":\s*(\w+)", done.out.decode())), {"0" * 16})

    def test_limits_hold(self) -> None:
        self.assertRegex(self.run_in("sleep 60", walls.Limits(1)).stopped, "does not end")
        self.assertRegex(self.run_in("yes").stopped, "prints without end")
        self.assertNotEqual(
            self.run_in("for i in $(seq 300); do sleep 9 & done; kill -9 $(jobs -p)").said, ""
        )
        self.assertNotEqual(
            self.run_in("python3 -c 'x = bytearray(1 << 30)'", walls.Limits(20, memory=1 << 29)).status, 0
        )
        self.assertRegex(
            self.run_in("dd if=/dev/zero of=/tmp/x bs=1M count=99 2>&1 || echo full").out.decode(),
            "full|File|$",
        )

    @unittest.skipUnless(os.geteuid() == 0, "root alone runs programs as somebody else")
    def test_root_does_without_walls_rather_than_with_half_of_them(self) -> None:
        with tempfile.TemporaryDirectory() as folder:  # other users cannot enter it
            around = walls.Walls(pathlib.Path(folder))
        self.assertFalse(around.is_up)
        self.assertIn(f"cannot enter {folder}: open it with chmod o+x", around.why)

    def test_where_bubblewrap_is_refused_nobody_is_told_to_install_it(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            write(
                pathlib.Path(folder, "bwrap"),
                "#!/bin/sh\necho bwrap: No permissions to create new namespace >&2\nexit 1\n",
            )
            os.chmod(pathlib.Path(folder, "bwrap"), 0o755)
            path = os.environ["PATH"]
            os.environ["PATH"] = f"{folder}:{path}"
            self.addCleanup(os.environ.__setitem__, "PATH", path)
            why = walls.Walls(ROOT / "common").why
        self.assertRegex(why, r"refused here \(bwrap: No permissions to create new namespace\).*README")
        self.assertNotIn("setup", why)

    def test_no_solution_lies_behind_the_walls(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            build, scratch = pathlib.Path(folder, "build"), pathlib.Path(folder, "scratch")
            scratch.mkdir()
            for name in ("", ".counts", ".256.counts"):
                write(build / f"solutions.gemm.01_naive.cpu.so{name}", "ELF" if not name else "12")
            kernel = tree.Kernel("chapters.gemm.02_shared_memory.cpu.so", "gemm-cpu", [], [])
            shown = job.Job.rivals(
                types.SimpleNamespace(tree=tree.Tree(build.parent), scratch=scratch),
                "gemm/02_shared_memory",
                kernel,
            )
            (stands_in, place), *counts = shown
            self.assertEqual(
                (stands_in.read_bytes(), place.name), (b"\0\0\0", "solutions.gemm.01_naive.cpu.so")
            )
            self.assertEqual(
                [path.name for path in counts], [f"{place.name}.256.counts", f"{place.name}.counts"]
            )

    def test_a_folder_can_be_hidden_again(self) -> None:
        done = self.run_in(
            f"ls {ROOT}/common/front", read=[ROOT / "common"], empty=[ROOT / "common" / "front"]
        )
        self.assertEqual(done.out, b"")


if __name__ == "__main__":
    unittest.main()
