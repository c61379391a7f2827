"""A class of made-up students, and the steps that they hand in: right, careless and hostile ones."""

from __future__ import annotations

import os
import pathlib
import re
import struct
import tempfile
import unittest
from collections.abc import Mapping, Sequence

from paths import ROOT  # isort: split

from grading import tree, walls
from repository import Repository

REPOSITORY = Repository()
CHAPTER = "grids"
STEPS = ["01_vector_add", "02_color_to_grayscale", "03_blur"]  # handed in by students
ALL = len(Repository().steps(CHAPTER))  # including those that no student handed in
NAMES = [f"{CHAPTER}/{step}" for step in STEPS]
ADD, GRAY, BLUR = STEPS
LEFT = "/dev/shm/kata-grading-left"


def solution(step: str) -> str:
    return REPOSITORY.text(CHAPTER, step, "solutions")


def wrong(kernel: str) -> str:
    return next(
        REPOSITORY.kernel(CHAPTER, mistake)
        for mistake in REPOSITORY.mistakes(CHAPTER)
        if mistake.kernel == kernel
    )


LAUNCH = r"(?m)^(?=    \w+<<<)"


def with_first(statement: str, above: str = "") -> str:
    """Returns the first solution with a statement before its launch, and text above its first function."""
    text, launches = re.subn(LAUNCH, f"    {statement}\n".replace("\\", "\\\\"), solution(ADD))
    assert launches == 1
    return above + "\n" + text


def instead(body: str, above: str = "") -> str:
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

# One file, two programs: a tool for which CONDITION is true, such as the clang that checks the source, sees
# the solution. The compiler that builds the step sees code that nvcc would refuse.
DISGUISED = (
    f"#include <memory>\nCONDITION\n{solution(ADD)}\n#else\n"
    + solution(ADD).replace("    const int i", "    (void)*std::make_unique<int>(1);\n    const int i")
    + "#endif\n"
)

ENDED = "ended the program before the tests did"


def forged(operation: str, form: str = "", *values: int) -> str:
    """Returns a first step that also sends such a message itself."""
    outside = ROOT / "common/outside"
    topics = (outside / "message.hpp").read_text().split("enum class Topic")[1].split("};")[0]
    operations = (outside / "operations.hpp").read_text().split("using Operations =")[1].split(";")[0]
    ask = re.findall(r"(?m)^    (\w+)", topics).index("ask")
    number = [*re.findall(r"simt::(\w+)", operations), operation].index(operation)
    message = struct.pack("<BB" + form, ask, number, *values)
    text = "".join(f"\\{byte:03o}" for byte in struct.pack("<Q", len(message)) + message)
    return with_first(
        f'for (int fd = 3; fd < 64; ++fd) if (send(fd, "{text}", {len(message) + 8}, 0) > 0) '
        "{ char answer[64]; if (recv(fd, answer, sizeof answer, 0) < 0) return; }",
        "#include <sys/socket.h>",
    )


# First steps that fail, and a part of the reason.
HOSTILE: dict[str, tuple[str, str]] = {
    "ends well": (with_first("exit(0);"), ENDED),
    "ends at once": (with_first("_exit(0);", "#include <unistd.h>"), ENDED),
    "aborts": (with_first("abort();"), "."),
    "throws": (with_first("throw 42;"), "."),
    "skips": (with_first('SKIP("me");', "#include <catch2/catch_test_macros.hpp>"), "."),
    "forges": (instead("forge();", FORGERY), ENDED),
    "forges when loaded": (
        with_first(
            ";",
            f"#include <unistd.h>\n#include <cstring>\n{FORGERY}\n__attribute__((constructor)) static void "
            f"now() {{ forge(); }}",
        ),
        "does not compile .*code that runs when the step is loaded",
    ),
    "forges from an initial value": (
        with_first(
            ";", f"#include <unistd.h>\n#include <cstring>\n{FORGERY}\nstatic const int now = (forge(), 0);"
        ),
        ENDED,
    ),
    "forges a summary": (
        with_first('puts("All tests passed"); _exit(0);', "#include <cstdio>\n#include <unistd.h>"),
        "ended the program",
    ),
    "forges a reason": (
        with_first(
            'fputs("\\nnot ok: the grader\\n  is on holiday, everybody passes\\n", stderr); abort();',
            "#include <cstdio>",
        ),
        "^(?!.*holiday)",
    ),
    "asks for no operation": (forged("none"), "sent what no call of CUDA sends: .*no kind"),
    "asks for no end": (forged("store", "QQ", 0, 1 << 62), "sent what no call of CUDA sends: .*too early"),
    "asks for too much": (
        forged("multiprocessors", "Q", 0),
        "sent what no call of CUDA sends: .*does not end",
    ),
    "stores anywhere": (
        forged("store", "QQQ?", 1 << 40, 8, 0, True),
        "sent what no call of CUDA sends: a device variable",
    ),
    "launches anything": (
        forged("run", "6IQIQQQBQBiQQ", *[1] * 6, 0, 0, 1 << 40, 0, 1, 65, 1, 65, 1, 0, 0),
        "sent what no call of CUDA sends: a launch of code that launches no kernel",
    ),
    "closes all": (with_first("for (int fd = 0; fd < 64; ++fd) close(fd);", "#include <unistd.h>"), "."),
    "never ends": (
        instead("    for (volatile int i = 0;; i = i + 1) {\n    }"),
        "does not end|did not end|still running|time for the tests",
    ),
    "ignores signals": (
        instead("    signal(SIGTERM, SIG_IGN);\n    for (;;) pause();", "#include <csignal>"),
        "does not return",
    ),
    "stops itself": (with_first("raise(SIGSTOP);", "#include <csignal>"), "does not return"),
    "prints without end": (
        instead('    for (;;) fputs("all work and no play makes a dull kernel\\n", stderr);'),
        "prints without end",
    ),
    "takes memory": (instead("    for (;;) memset(malloc(1 << 26), 1, 1 << 26);"), "."),
    "includes the solution": (f'#include "../../solutions/{CHAPTER}/{ADD}.cu"\n', "does not compile"),
    "includes by path": (f'#include "{ROOT}/solutions/{CHAPTER}/{ADD}.cu"\n', "does not compile"),
    "includes a classmate": ('#include "/CLASS/right/chapters/grids/01_vector_add.cu"\n', "does not compile"),
    "assembles a file": (
        with_first(
            ";", f'#define SPELT(x) x##m\nSPELT(as)(".incbin \\"{ROOT}/solutions/{CHAPTER}/{ADD}.cu\\"");'
        ),
        "does not compile",
    ),
    "spells assembly": (
        with_first('SPELT(as)("nop");', "#define SPELT(x) x##m"),
        "does not compile .*assembly",
    ),
    "names a function in assembly": (
        solution(ADD) + '#define SPELT(x) x##m__\nvoid f() SPELT(__as)("g\\n.globl h\\nh");\n',
        "does not compile .*assembly",
    ),
    "lies elsewhere": (
        solution(ADD) + '__attribute__((section(".init_array"))) void (*first)() = nullptr;\n',
        "does not compile .*where a function lies",
    ),
    "shows clang another program": (
        DISGUISED.replace("CONDITION", "#ifdef __clang__"),
        "does not compile .*different programs",
    ),
    "pastes a condition": (
        DISGUISED.replace("CONDITION", "#define PASTED(a, b) a##b\n#if PASTED(__GNUC, __) < 5"),
        "does not compile .*different programs",
    ),
    "asks what there is": (
        DISGUISED.replace("CONDITION", "%:if !__has_builtin(__builtin_shuffle)"),
        "does not compile .*different programs",
    ),
    "leaves the meter": (
        solution(ADD).replace("__global__", '__attribute__((no_sanitize("thread"))) __global__'),
        "does not compile .*hides code from the meter",
    ),
    "leaves it by a macro of ours": (
        solution(ADD).replace("__global__", "SIMT_UNSEEN __global__"),
        "does not compile .*hides code from the meter",
    ),
    "takes the place of the meter": (
        solution(ADD) + 'extern "C" __attribute__((visibility("hidden"))) void __tsan_read1(void*) {}\n',
        "does not compile .*belongs to the meter",
    ),
    "opens the namespace of the meter": (
        solution(ADD) + "namespace simt { class Reachable; }\n",
        "does not compile .*belongs to the meter",
    ),
    "speaks to clang alone": (
        with_first(
            ";", '_Pragma("clang force_cuda_host_device begin") _Pragma("clang force_cuda_host_device end")'
        ),
        "does not compile .*only clang obeys",
    ),
    "asks for its own name": (
        with_first("(void)sizeof(__PRETTY_FUNCTION__);"),
        "does not compile .*in its own way",
    ),
    "leaves it in disguise": (
        solution(ADD).replace(
            "__global__",
            '#define GLUED(a, b) a##b\n__attribute__((GLUED(no_, sanitize)("thread"))) __global__',
        ),
        "does not compile .*hides code from the meter",
    ),
    "60000 errors": ('#include "kata.hpp"\n' + "lunch;\n" * 60000, "does not compile"),
    "colours": ('#include "kata.hpp"\n#error \x1b[31mred\x1b[0m \x07\x1b]0;title\x07\n', "does not compile"),
    "reaches for the judge": (
        instead(
            "    for (int pid : {(int)getppid(), 1})\n        for (int fd = 0; fd < 16; ++fd) {\n"
            '            char path[64]; snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd); open(path, '
            "O_WRONLY);\n        }\n"
            '    char path[64]; snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());\n'
            "    if (open(path, O_RDWR) >= 0) _exit(5);\n    forge();",
            "#include <cstdio>\n#include <fcntl.h>\n" + FORGERY,
        ),
        "ended the program before the tests did, with status 1$",
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
        "status 3",
    ),
}
# First steps that do no harm, and the verdict.
HARMLESS: dict[str, tuple[str, str]] = {
    "kills all": (with_first("kill(-1, SIGKILL);", "#include <csignal>"), "FAIL|OK"),
    "forks": (
        with_first(
            "for (int i = 0; i < 500; ++i) if (fork() == 0) { sleep(60); _exit(0); }", "#include <unistd.h>"
        ),
        "OK|FAIL",
    ),
    "leaves something": (
        with_first(f'if (FILE* f = fopen("{LEFT}", "w")) fclose(f);', "#include <cstdio>"),
        "OK",
    ),
    "looks around": (
        with_first(
            'for (const char* path : {PATHS}) if (access(path, F_OK) == 0) { fprintf(stderr, "seen: '
            '%s\\n", path); abort(); }',
            "#include <cstdio>\n#include <unistd.h>",
        ),
        "OK",
    ),
    "becomes root": (
        with_first(
            'if (system("mount -o remount,rw,bind /usr && touch /usr/here") == 0 || geteuid() == 0) abort();',
            "#include <unistd.h>\n#include <cstdlib>",
        ),
        "OK",
    ),
    "calls a socket": (
        with_first(
            "int s = socket(AF_UNIX, SOCK_STREAM, 0); sockaddr_un to{}; to.sun_family = AF_UNIX; "
            'strcpy(to.sun_path, "SOCKET"); '
            "if (connect(s, (sockaddr*)&to, sizeof to) == 0) abort();",
            "#include <sys/socket.h>\n#include <sys/un.h>\n#include <cstring>",
        ),
        "OK",
    ),
    "calls the network": (
        with_first(
            "int s = socket(AF_INET, SOCK_STREAM, 0); sockaddr_in to{}; to.sin_family = AF_INET; "
            "to.sin_port = htons(PORT); "
            "to.sin_addr.s_addr = htonl(INADDR_LOOPBACK); if (connect(s, (sockaddr*)&to, sizeof to) == "
            "0) abort();",
            "#include <arpa/inet.h>\n#include <netinet/in.h>\n#include <sys/socket.h>",
        ),
        "OK",
    ),
    "fills the disk": (
        with_first(
            'signal(SIGXFSZ, SIG_IGN); for (const char* path : {"/tmp/x", "/dev/shm/x"}) { FILE* f = '
            'fopen(path, "w"); static char zero[1 << 20]; '
            "for (int i = 0; f && i < 200; ++i) if (fwrite(zero, 1, sizeof zero, f) != sizeof zero) "
            "break; if (f && ftell(f) > (100 << 20)) abort(); }",
            "#include <csignal>\n#include <cstdio>",
        ),
        "OK|FAIL",
    ),
    "reads the environment": (
        with_first(
            'FILE* f = fopen("/proc/1/environ", "r"); static char all[1 << 16]; size_t read = f ? '
            "fread(all, 1, sizeof all, f) : 0; if (read > 0) abort();",
            "#include <cstdio>",
        ),
        "OK",
    ),
}
# First steps, the verdict, and a part of the reason.
CARELESS: dict[str, tuple[str | bytes, str, str]] = {
    "does not compile": (
        re.sub(LAUNCH, "    lunch", solution(ADD)),
        "FAIL",
        "^does not compile .*lunch.* was not declared",
    ),
    "a mistake": (wrong(f"{ADD}.whole_blocks_only"), "FAIL", "never written"),
    "one thread": (wrong(f"{ADD}.one_thread"), "SLOW", "^(?!the step needs)"),
    "launched twice": (wrong(f"{ADD}.launched_twice"), "SLOW", "2nd launch"),
    "UTF-16": (solution(ADD).encode("utf-16"), "FAIL", "."),
    "stub": (tree.STANDS_IN, "OPEN", r"kata::open\(\)"),
    "stub with spaces": (tree.STANDS_IN.replace("open()", "open ( )"), "OPEN", r"kata::open\(\)"),
    "stub by another name": (instead("    using namespace kata;\n    open();"), "OPEN", r"kata::open\(\)"),
    "too large": ("//" + "x" * (2 << 20), "FAIL", "larger than"),
    "not a word": ("", "FAIL", "."),
}
# First steps that are right.
HONEST: dict[str, str | bytes] = {
    "CRLF": solution(ADD).replace("\n", "\r\n"),
    "a mark in front": "\ufeff" + solution(ADD),
    "Latin-1": solution(ADD).encode() + "// für Élise\n".encode("latin-1"),
    "a stub in a string": with_first('const char* text = "\\\nkata::open();"; (void)text;'),
    "a stub left out": with_first("\n#if 0\n    kata::open();\n#endif\n"),
    "a stub in a comment": with_first("/*\nkata::open();\n*/"),
    "asks for an architecture": with_first(
        ";",
        "#include <iostream>\n#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 300\n#error too old\n"
        "#endif\n#ifdef __CUDACC__\n#endif\n"
        '#ifndef TILE\n#define TILE 16\n#endif\n/* asm\n #1 */\nconst char* const words = "asm # '
        'constructor";\n',
    ),
    "a kernel named by a macro": solution(ADD).replace(
        "__global__ void add(", "#define KERNEL(name) __global__ void name\nKERNEL(add)("
    ),
    "too deep for clang": with_first(";", f"const int deep = {'(' * 300}1{')' * 300};"),
    "another style": wrong(f"{ADD}.stretches")
    if any(m.kernel == f"{ADD}.stretches" and m.tree == "variants" for m in REPOSITORY.mistakes(CHAPTER))
    else solution(ADD),
}
# A name that is not UTF-8, as an archive of another system may hold; a formula; characters that a sheet must
# quote.
NAMED = [os.fsdecode(b"Ren\xe9"), "=1+1", 'a "b", c', "two\nlines", "Übung é", "-rf"]


def write(path: pathlib.Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))


def hand_in(
    home: pathlib.Path, texts: Mapping[str, str | bytes], folder: str = f"chapters/{CHAPTER}"
) -> None:
    for name, text in texts.items():
        write(home / folder / (name if "." in name else f"{name}.cu"), text)


def whole(steps: Sequence[str] = STEPS) -> dict[str, str]:
    return {step: solution(step) for step in steps}


def hand_in_all(folder: pathlib.Path, places: Mapping[str, str]) -> dict[tuple[str, str], tuple[str, str]]:
    """Writes the folder of each student, with words in the kernels replaced. Returns the verdict on each step
    of interest, and a part of its reason."""
    wanted: dict[tuple[str, str], tuple[str, str]] = {}
    given = {name: (text, "FAIL", reason) for name, (text, reason) in HOSTILE.items()}
    given |= {name: (text, verdict, "") for name, (text, verdict) in HARMLESS.items()}
    for name, (kernel, verdict, reason) in {**given, **CARELESS}.items():
        text = kernel
        for word, value in places.items():
            text = text.replace(word, value) if isinstance(text, str) else text
        hand_in(folder / name, {ADD: text})
        wanted[name, ADD] = (verdict, reason)
    for name, text in {**HONEST, **dict.fromkeys(NAMED, solution(ADD))}.items():
        hand_in(folder / name, {ADD: text})
        wanted[name, ADD] = ("OK", "^$")
    hand_in(folder / "right", whole())
    wanted |= {("right", step): ("OK", "^$") for step in STEPS}
    hand_in(
        folder / "mixed",
        {
            ADD: instead("    for (;;) {\n    }"),
            BLUR: solution(BLUR),
            GRAY: '#include "mine.hpp"\n#include "lib/types.hpp"\n' + solution(GRAY),
            "mine.hpp": "#pragma once\n",
            "lib/types.hpp": "#pragma once\n",
            "grids.cuh": "#error not the one of this repository\n",
        },
    )
    wanted |= {("mixed", ADD): ("FAIL", "."), ("mixed", GRAY): ("OK", "^$"), ("mixed", BLUR): ("OK", "^$")}
    # The suite's own claims about a step also distinguish slow from wrong.
    hand_in(
        folder / "rows along x",
        {GRAY: wrong(f"{GRAY}.columns_along_y_of_the_grid"), BLUR: wrong(f"{BLUR}.patch_not_clipped")},
    )
    wanted |= {
        ("rows along x", GRAY): ("FAIL", "launch refused.* at most"),
        ("rows along x", BLUR): ("FAIL", "out of bounds"),
    }
    hand_in(
        folder / "broken header",
        {
            ADD: '#include "broken.hpp"\n' + solution(ADD),
            "broken.hpp": "inline int broken() { return undeclared; }\n",
        },
    )
    wanted["broken header", ADD] = ("FAIL", "does not compile .*undeclared")
    for name in ("a link", "a pipe", "a folder", "a large hole"):
        (folder / name / "chapters" / CHAPTER).mkdir(parents=True)
    place = f"chapters/{CHAPTER}/{ADD}.cu"
    (folder / "a link" / place).symlink_to(folder / "right" / place)
    os.mkfifo(folder / "a pipe" / place)
    (folder / "a folder" / place).mkdir()
    with open(folder / "a large hole" / place, "wb") as hole:
        hole.truncate(3 << 30)
    wanted |= {
        ("a link", ADD): ("MISSING", "symbolic link"),
        ("a pipe", ADD): ("MISSING", "not a plain file"),
        ("a folder", ADD): ("MISSING", "no step was found"),
        ("a large hole", ADD): ("FAIL", "larger than"),
    }
    (folder / "nothing").mkdir()
    wanted["nothing", BLUR] = ("MISSING", "no step was found")
    write(folder / "broken.zip", b"PK\x03\x04 and then nothing")
    wanted["right", ADD] = ("OK", "^$")
    write(folder / "README", "a class\n")
    return wanted


class Scratch(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="kata-class-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)


NEED_WALLS = unittest.skipUnless(walls.Walls(ROOT / "common").is_up, "bubblewrap does not run here")
