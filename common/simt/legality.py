#!/usr/bin/env python3
"""Finds code that nvcc would reject, for a build without one:
legality.py CLANG step.cu step.legal step.legal.d [cuda.SIDE.pch…] [-I…]

The CPU back end's compiler does not distinguish host and device code. clang's CUDA front end does, and needs
no toolkit: it compiles the step as written, with the declarations of cuda.hpp, once for the device and once
for the host. Only its errors about host and device are reported, one line each: the CPU back end's compiler
reports the others better.

The LLVM IR of the step shows the errors that clang accepts and nvcc does not: host variables in device code
and the other way round, lambdas passed to a kernel, and memory that no device has. If there is no error,
writes step.legal, with a line "NAME BYTES" for each local array that registers cannot hold, a line
"double:LINE OPERATIONS" for each line that computes in double, with "double-of-floats" if the function does
not mention double, and a line "unread:clang 1" if clang refuses the step for another reason, so that not
everything was checked; and the files read into step.legal.d, for Ninja.

`legality.py works CLANG` tests a clang, and `legality.py precompile CLANG SIDE cuda.SIDE.pch cuda.SIDE.pch.d`
precompiles the headers that every step begins with.
"""

from __future__ import annotations

import collections
import concurrent.futures
import functools
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import translate

COMMON = translate.ROOT / "common"
SIDES = ("device", "host")
MOST_SHARED, MOST_CONSTANT = 48 * 1024, 64 * 1024  # bytes that nvcc allows a kernel, and a file, to declare

# clang's messages and the student's; {} is the name. None: unchanged.
OF_HOST = "'{}' is a host function, and device code calls it: put __host__ __device__ in front of it"
OF_LIBRARY = (
    "'{}' of the C++ library is a host function, and device code calls it: nvcc has none for the device"
)
OF_DEVICE = (
    "'{}' is a device function, and host code calls it: put __host__ __device__ in front of it, or launch a "
    "kernel"
)
OF_CUDA = "'{}' is for device code alone, and host code calls it"
OF_RUNTIME = "'{}' is for host code alone, and device code calls it"
OF_KERNEL = (
    "'{}' is a kernel, and device code calls it: make it a __device__ function, or launch it from the host"
)
HOST_VARIABLE = (
    "'{}' is a variable of the host, and device code uses it: hand it to the kernel, or make it __constant__"
)
# Replacements for what device code does not have.
INSTEAD_OF_LIBRARY = {
    "swap": "exchange them by hand, as T t = a; a = b; b = t;",
    "min": "write min(a, b), without std::, which CUDA has",
    "max": "write max(a, b), without std::, which CUDA has",
}
STREAM = "'{}' is a stream of the host, and device code has none: write printf(\"%d\\n\", i);"
DIAGNOSED = [
    (r"reference to __host__ variable '(cout|cerr|clog)' in ", STREAM),
    (r"reference to __host__ variable '(.*?)' in ", HOST_VARIABLE),
    (r"cannot use '(throw|try)' in ", "device code has no exceptions, and so no '{}'"),
    (r"cannot use variable-length arrays in ", "the size of a local array in device code must be a constant"),
    (
        r"call to global function '(.*?)' not configured",
        "'{0}' is a kernel: launch it, as {0}<<<grid, block>>>(…)",
    ),
    (r"__shared__ local variables not allowed in ", "host code has no __shared__ variables"),
    (
        r"dynamic initialization is not supported for __device__",
        "a variable of the device must start with a constant",
    ),
    (r"kernel function type .* must have void return type", "a kernel returns void"),
    (r"(?:'__\w+__' and '__\w+__' attributes are not compatible|__\w+__ attribute .* not allowed)", None),
]
CALLED = re.compile(r"reference to __(host|device|global)__(?: __device__)? function '(.*?)' in __(\w+)__")
CANDIDATE = re.compile(r"call to __(host|device|global)__(?: __device__)? function from __(\w+)__")
NAMED = re.compile(r"'([^']*)'")
# Unmarked functions that nvcc accepts in device code, by its documentation.
TAKEN = {
    "move": "",
    "forward": "",
    "begin": "initializer_list",
    "end": "initializer_list",
    "size": "initializer_list",
}
SAID = re.compile(
    r"(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): (?P<kind>error|fatal error|note): (?P<text>.*)"
)


@functools.cache
def headers_of(clang: str) -> str:
    return (
        subprocess.run(
            [clang, "-print-resource-dir"], capture_output=True, text=True, check=True
        ).stdout.strip()
        + "/include"
    )


def reading(clang: str, side: str, options: Sequence[str] = ()) -> list[str]:
    """Returns the command that compiles CUDA for this side, without input and output."""
    return [
        clang, "-x", "cuda", "-std=c++20", "-nocudainc", "-nocudalib",
        f"--cuda-{side}-only", "--cuda-gpu-arch=sm_80",
        # clang's wrappers provide more of the C++ library than nvcc has.
        "-nobuiltininc", "-isystem", headers_of(clang),
        # constexpr functions are not device functions by themselves, and the text is the CPU back end's.
        "-Xclang", "-fno-cuda-host-device-constexpr", "-U__CUDA_ARCH__",
        "-w", "-fno-caret-diagnostics", "-fno-color-diagnostics", "-ferror-limit=0",
        "-Wno-unknown-cuda-version", "-O0", "-fno-discard-value-names", "-gline-tables-only",
        f"-I{COMMON}", f"-I{COMMON}/simt/toolkit", *options,
    ]  # fmt: skip


def asking(
    clang: str,
    side: str,
    options: Sequence[str],
    target: str | None,
    depfile: str | None,
    precompiled: str | None,
) -> list[str]:
    """Returns the command that compiles a step, from its input, to LLVM IR."""
    return [
        *reading(clang, side, options), "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-o", "-",
        *(["-MMD", "-MF", depfile, "-MT", target] if side == "device" and depfile and target else []),
        # clang reports a precompiled header that is older than its headers, those of the system included.
        *(["-include-pch", precompiled] if precompiled else []),
        *(["-Xclang", "-fmodules-validate-system-headers"] if precompiled else []),
        # clang skips headers that the precompiled one contains; those of another tree would be read twice, an
        # error.
        "-include", "simt/cuda.hpp", *(["-include", "simt/device_library.hpp"] if precompiled else []),
        "-fno-crash-diagnostics", "-",
    ]  # fmt: skip


def precompile(clang: str, side: str, target: str, depfile: str) -> None:
    """Precompiles the headers of a step for this side. Writes an empty file if this clang cannot; steps then
    read the headers."""
    made = [
        "-S",
        "-Xclang",
        "-emit-pch",
        "-fpch-instantiate-templates",
        "-MD",
        "-MF",
        depfile,
        "-MT",
        target,
        "-o",
        target,
    ]
    done = subprocess.run(
        [*reading(clang, side), *made, COMMON / "simt/cuda.hpp"], capture_output=True, check=False
    )
    if done.returncode:
        pathlib.Path(target).write_bytes(b"")
        pathlib.Path(depfile).write_text(f"{target}:\n", encoding="utf-8")


# clang's messages.

Error = tuple[str, int, int, str]  # file, line, column, text


class Message(NamedTuple):
    file: str
    line: str
    column: str
    kind: str
    text: str


def is_foreign(file: str) -> bool:
    """True for a file that is not the student's: a system header, or one with CUDA's declarations."""
    path = pathlib.Path(file)
    return file.startswith(("/usr/", "<")) or COMMON in path.resolve().parents


def diagnosed(said: str) -> Iterator[Error]:
    """Returns (file, line, column, text) of each error about host and device."""
    found = [
        Message(match["file"], match["line"], match["column"], match["kind"], match["text"])
        for match in map(SAID.fullmatch, said.splitlines())
        if match
    ]
    # Dynamic shared memory other than an array of unknown size: clang rejects it, so it becomes an ordinary
    # variable.
    shared = {
        HOST_VARIABLE.format(name)
        for name in re.findall(r"__shared__ variable '(.*?)' cannot be 'extern'", said)
    }
    for at, error in enumerate(found):
        if "error" not in error.kind:
            continue
        notes = []
        for note in found[at + 1 :]:
            if note.kind != "note":
                break
            notes.append(note)
        if (text := told(error.text, notes)) and text not in shared:
            # For errors in a template of the library, the student's line is the one that instantiates it.
            here = next((place for place in (error, *notes) if not is_foreign(place.file)), error)
            yield here.file, int(here.line), int(here.column), text


def told(text: str, notes: Sequence[Message]) -> str | None:
    """Returns the message for the student; nothing if the error is not about host and device or nvcc accepts
    the code."""
    for pattern, words in DIAGNOSED:
        if match := re.search(pattern, text):
            return (words or text).format(*match.groups())
    if match := CALLED.search(text):
        callee, name, _ = match.groups()
        return told_of_call(callee, name, [note for note in notes if "declared here" in note.text])
    candidates = [(note, match) for note in notes if (match := CANDIDATE.search(note.text))]
    if candidates:
        note, match = candidates[0]
        name = NAMED.search(text)
        return told_of_call(match[1], name[1] if name else "operator", [note])
    return None


def told_of_call(callee: str, name: str, declared: Sequence[Message]) -> str | None:
    file = declared[0].file if declared else ""
    if callee == "global":
        return OF_KERNEL.format(name)
    if callee == "device":
        return (OF_DEVICE if file and not is_foreign(file) else OF_CUDA).format(name)
    if (name in TAKEN and is_foreign(file) and TAKEN[name] in file) or is_immediate(declared):
        return None
    if not is_foreign(file):
        return OF_HOST.format(name)
    if COMMON in pathlib.Path(file).resolve().parents:
        return OF_RUNTIME.format(name)
    # The max of numeric_limits is another function.
    instead = INSTEAD_OF_LIBRARY.get(name) if pathlib.Path(file).name != "limits" else None
    return OF_LIBRARY.format(name) + (f"; {instead}" if instead else "")


def is_immediate(declared: Sequence[Message]) -> bool:
    """True for a consteval function, of which no call remains."""
    try:
        lines = pathlib.Path(declared[0].file).read_text(encoding="utf-8", errors="replace").splitlines()
        return "consteval" in lines[int(declared[0].line) - 1]
    except (OSError, IndexError):
        return False


# The LLVM IR.


class Made:
    """A module in LLVM IR: its variables, its functions, and the source lines of instructions."""

    VARIABLE = re.compile(
        r"^@(?P<name>[\w.$]+) = (?P<how>[^@\n]*?)\b(?P<kind>global|constant) (?P<type>.*)$", re.M
    )

    def __init__(self, text: str) -> None:
        self.text = text
        self.variables = {match["name"]: match for match in self.VARIABLE.finditer(text)}
        self.structures: dict[str, str] = dict(
            re.findall(r"^(%[\w.:$]+|%\"[^\"]*\") = type (.*)$", text, re.M)
        )
        self.metadata: dict[str, str] = dict(re.findall(r"^(!\d+) = (.*)$", text, re.M))
        self.functions = {
            match[1]: match[0].splitlines()
            for match in re.finditer(r"^define [^\n]*?@([\w.$]+)\(.*?^}", text, re.M | re.S)
        }

    def place(self, instruction: str) -> tuple[str, int, int]:
        """Returns file, line and column."""
        at = re.search(r"!dbg (!\d+)", instruction)
        location = self.metadata.get(at[1], "") if at else ""
        line, column = (re.search(rf"\b{word}: (\d+)", location) for word in ("line", "column"))
        return self.file(location), int(line[1]) if line else 1, int(column[1]) if column else 1

    def file(self, node: str) -> str:
        for word in ("file", "scope"):
            if next_ := re.search(rf"\b{word}: (!\d+)", node):
                node = self.metadata.get(next_[1], "")
                name = re.search(r"filename: \"([^\"]*)\", directory: \"([^\"]*)\"", node)
                # clang removes from an absolute path the part shared with its working folder.
                return (
                    os.path.join("" if os.path.realpath(name[2]) == os.getcwd() else name[2], name[1])
                    if name
                    else self.file(node)
                )
        return ""

    def uses(self, name: str) -> Iterator[tuple[str, set[str]]]:
        """Yields each instruction that uses a variable, or a value derived from its address."""
        for lines in self.functions.values():
            names = {f"@{name}"}
            for line in lines:
                if not names.isdisjoint(re.findall(r"[@%][\w.$]+", line.partition(" = ")[2] or line)):
                    if made := re.match(r"\s*(%[\w.$]+) = (?:getelementptr|bitcast|addrspacecast) ", line):
                        names.add(made[1])
                    yield line, names

    def size(self, type_: str) -> int:
        """Returns the size of a type in bytes, without padding."""
        type_ = type_.strip()
        if array := re.match(r"\[(\d+) x (.*)\]$", type_):
            return int(array[1]) * self.size(array[2])
        if number := re.fullmatch(r"i(\d+)", type_):
            return (int(number[1]) + 7) // 8
        if type_ in self.structures:
            return self.size(self.structures[type_])
        if type_[:1] in "{<":
            return sum(map(self.size, self.parts(type_.strip("<{} >"))))
        return {"half": 2, "float": 4, "double": 8}.get(type_, 8)

    @staticmethod
    def parts(text: str) -> list[str]:
        parts, depth = [""], 0
        for letter in text:
            depth += (letter in "[{<") - (letter in "]}>")
            if letter == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += letter
        return parts

    def size_of(self, name: str) -> int:
        text, depth = self.variables[name]["type"], 0
        for end, letter in enumerate(text):
            depth += (letter in "[{<") - (letter in "]}>")
            if depth == 0 and letter in " ,":
                return self.size(text[:end])
        return self.size(text)


def plain(name: str) -> str:
    """Returns the source name of a mangled variable: b for _ZN1a1bE."""
    name, at = name.removesuffix(".const"), 0
    parts: list[str] = []
    while match := re.search(r"\d+", name[at:]):
        start = at + match.end()
        at = start + int(match[0])
        parts.append(name[start:at])
    return parts[-1] if parts and name.startswith("_Z") else name


def found_in_device(made: Made) -> Iterator[Error]:
    constant_bytes = 0
    for name, variable in made.variables.items():
        how, rest = variable["how"], variable["type"]
        if 'section "simt_constant"' in rest:
            constant_bytes += made.size_of(name)
            for use, names in made.uses(name):
                if re.search(
                    rf"\bstore .*, [^,]*({'|'.join(map(re.escape, names))})\b[^,]*(?:, i\d+ [^,]*)*(?:, "
                    rf"align|, !dbg)",
                    use,
                ):
                    yield (
                        *made.place(use),
                        f"'{plain(name)}' is __constant__: device code can only read it",
                    )
                    break
        elif variable["kind"] == "constant" and of_host(name, how):
            for use, _ in made.uses(name):
                if not folded(use, name):
                    yield *made.place(use), HOST_VARIABLE.format(plain(name))
                    break
    if constant_bytes > MOST_CONSTANT:
        yield "", 1, 1, f"{constant_bytes} bytes of __constant__ variables: a device has {MOST_CONSTANT}"
    for kernel in kernels_of(made):
        lines = made.functions.get(kernel, [""])
        if re.search(r"Ul\w*E\d*_", kernel):
            yield (
                *made.place(lines[0]),
                "a kernel takes no lambda of the host: hand it a structure with a __device__ operator()",
            )
        shared = sum(map(made.size_of, shared_by(made, kernel)))
        if shared > MOST_SHARED:
            yield *made.place(lines[0]), f"{shared} bytes of __shared__ variables: a block has {MOST_SHARED}"


def of_host(name: str, how: str) -> bool:
    """True if a constant belongs to a file or a class, rather than to clang or a function."""
    return ("addrspace(4)" in how or name.endswith(".const")) and not re.match(
        r"_ZZ|_ZTV|_ZTS|_ZTI|_ZGV|__const|\.|str", name
    )


def folded(use: str, name: str) -> bool:
    """True if nvcc also reads the value at compile time: a structure's member, an element of a class's
    constant."""
    if "llvm.memcpy" in use:
        return True
    address = re.escape(name) + r"\b(?: to [^()]*\))?"
    if element := re.search(rf"\bload [^@]*getelementptr [^@]*@{address}((?:, i\d+ \d+)+)\)", use):
        is_member = element[1].split(", ")[-1].startswith("i32 ")  # for an array clang uses i64
        return is_member or (name.startswith("_ZN") and not re.search(r"L\d", name))
    return bool(re.search(rf"\bload [^@]*@{address}\)?, align", use))


def shared_by(made: Made, function: str, seen: set[str] | None = None) -> Iterator[str]:
    """Returns the __shared__ variables of a function and of those that it calls."""
    seen = set() if seen is None else seen
    for name in re.findall(r"@([\w.$]+)", "\n".join(made.functions.get(function, []))):
        if name in seen:
            continue
        seen.add(name)
        if (
            name in made.variables
            and "addrspace(3)" in made.variables[name]["how"]
            and "external" not in made.variables[name]["how"]
        ):
            yield name
        elif name in made.functions:
            yield from shared_by(made, name, seen)


LOCAL_ARRAY = re.compile(r"^\s*%([\w.]+) = alloca (\[.*?\]|%[\w.:$]+|%\"[^\"]*\"), align", re.M)


def kernels_of(made: Made) -> list[str]:
    names = re.findall(r"@([\w.$]+), !\"kernel\"", made.text) + re.findall(
        r"define [^\n]*ptx_kernel [^\n]*@([\w.$]+)\(", made.text
    )
    return sorted(set(names))


def never_unrolled(text: str) -> str:
    """Returns the module with unknown trip counts for loops with `#pragma unroll 1`: with the threshold of
    kept_in_local_memory LLVM would unroll them, too."""
    refusing = set(re.findall(r'^(!\d+) = !{!"llvm\.loop\.unroll\.(?:disable"|count", i32 1)}$', text, re.M))
    loops = {
        loop
        for loop, parts in re.findall(r"^(!\d+) = distinct !{(.*)}$", text, re.M)
        if refusing & set(parts.split(", "))
    }
    lines = text.split("\n")
    # A loop that tests first ends in its head, the target of the back edge; one that tests last ends in the
    # back edge.
    heads: set[tuple[int, str]] = set()
    jumps: set[int] = set()
    function = 0
    for number, line in enumerate(lines):
        function += line.startswith("define ")
        back = re.match(r"  br (?:label %([\w.]+)|i1 ).*!llvm\.loop (!\d+)", line)
        if back and back[2] in loops:
            heads.add((function, back[1]))
            jumps.add(number)
    function, label = 0, ""
    for number, line in enumerate(lines):
        function += line.startswith("define ")
        if start := re.match(r"([\w.]+):", line):
            label = start[1]
        asked = re.match(r"  br i1 (%[\w.]+),", line)
        if asked and (number in jumps or (function, label) in heads):
            unknown = f"%never.unrolled.{number}"
            opaque = f'  {unknown} = call i1 asm sideeffect "", "=r,0"(i1 {asked[1]})\n'
            lines[number] = opaque + line.replace(asked[1], unknown, 1)
    return "\n".join(lines)


def kept_in_local_memory(clang: str, made: Made) -> dict[str, int]:
    """Returns {name: bytes} of each local array of a kernel with an index known only at run time, which rules
    out registers. nvcc, also based on LLVM, decides after unrolling all loops with known trip counts except
    those with `#pragma unroll 1`."""
    named = {
        name for name, type_ in LOCAL_ARRAY.findall(made.text) if "[" in made.structures.get(type_, type_)
    }
    if not named:
        return {}
    text = never_unrolled(re.sub(r"\b(?:noinline|optnone) ", "", made.text))
    found: dict[str, int] = {}
    # Arrays in registers after few passes stay there after more, and most steps have no others.
    for level in (["-O1", "-funroll-loops"], ["-O3"]):
        found = indexed_at_run_time(clang, made, text, level, named)
        if not found:
            break
    return found


def indexed_at_run_time(
    clang: str, made: Made, text: str, level: Sequence[str], named: Collection[str]
) -> dict[str, int]:
    """Returns {name: bytes} of the named local arrays that LLVM leaves in memory with these options."""
    done = subprocess.run(
        [
            clang, "--target=nvptx64-nvidia-cuda", "-Xclang", "-target-cpu", "-Xclang", "sm_80",
            "-x", "ir", "-w", *level, "-mllvm", "-unroll-threshold=100000", "-fno-discard-value-names",
            "-S", "-emit-llvm", "-o", "-", "-",
        ],
        input=text, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found: dict[str, int] = {}
    if done.returncode:
        return found
    optimised = Made(done.stdout)
    for kernel in kernels_of(made):
        text = "\n".join(optimised.functions.get(kernel, []))
        for name, type_ in LOCAL_ARRAY.findall(text):
            if re.search(rf"getelementptr [^\n]*%{re.escape(name)}(?:, i\d+ [^,\n]+)*, i\d+ %", text):
                # LLVM appends a number to a repeated name.
                declared = max((each for each in named if name.startswith(each)), key=len, default=name)
                found[declared] = max(found.get(declared, 0), optimised.size(type_))
    return found


COMPUTED = re.compile(r" = (?:f(?:add|sub|mul|div) (?:\w+ )*|call (?:\w+ )*)double (?:%|0x|-?\d|@llvm\.fma)")
FUNCTION = re.compile(
    r" = call (?:\w+ )*double @(?:llvm\.(?:sqrt|exp2?|log(?:2|10)?|sin|cos)\.f64|_Z5rsqrtd)\(double "
    r"(?:noundef )?([^ ,)]+)\)"
)
COMPARED = re.compile(r" = fcmp (?:\w+ )*double ([^ ,]+), ([^ ,]+)")


def is_float(number: str) -> bool:
    """True if a double, as LLVM writes it, is also a float."""
    value: float = (
        struct.unpack(">d", bytes.fromhex(number[2:]))[0] if number.startswith("0x") else float(number)
    )
    try:
        narrowed: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return False
    return narrowed == value


def without_double(functions: Sequence[str]) -> set[str]:
    """Returns the mangled names of functions that mention double neither as a parameter nor as a template
    argument; none without c++filt."""
    try:
        meant = subprocess.run(
            ["c++filt"], input="\n".join(functions), capture_output=True, text=True, check=False
        ).stdout.splitlines()
    except FileNotFoundError:
        return set()
    return {name for name, text in zip(functions, meant) if not re.search(r"\bdouble\b", text)}


def doubles(made: Made, step: pathlib.Path) -> list[collections.Counter[int]]:
    """Returns {line: operations} of arithmetic, roots and comparisons in double in lines of the step, and the
    same for functions that do not mention double. Floats compared as doubles, as in x > 0.5, do not count:
    LLVM compares them as floats. Nor does the root of a float: nvcc has a sqrt for floats, which the
    declarations that clang reads lack."""
    found: dict[str, collections.Counter[int]] = {}
    for function, lines in made.functions.items():
        widened = {line.split()[0] for line in lines if " = fpext float " in line}
        for line in lines:
            asked = COMPARED.search(line) or FUNCTION.search(line)
            of_floats = asked and all(
                each in widened or (each[0] != "%" and is_float(each)) for each in asked.groups()
            )
            if (asked and not of_floats) or COMPUTED.search(line):
                file, number, _ = made.place(line)
                if os.path.basename(file) == step.name:
                    found.setdefault(function, collections.Counter())[number] += 1
    floats_alone = without_double(list(found)) if found else set()
    return [
        sum((found[each] for each in functions), collections.Counter()) for functions in (found, floats_alone)
    ]


def found_in_host(made: Made) -> Iterator[Error]:
    """Finds uses of device variables in host code, which has only a shadow without a value."""
    for name, variable in made.variables.items():
        if (
            variable["kind"] != "global"
            or not re.search(r" undef\b", variable["type"])
            or 'section "simt_managed"' in variable["type"]
        ):
            continue
        for use, names in made.uses(name):
            address = "|".join(map(re.escape, names))
            if re.search(
                rf"\bload [^@%]*[^,]*(?:{address})\b|\bstore [^,]*, "
                rf".*(?:{address})\b|@llvm\.mem(?:cpy|set|move).*(?:{address})\b",
                use,
            ):
                yield (
                    *made.place(use),
                    (
                        f"'{plain(name)}' is a variable of the device, and host code uses it: copy it "
                        f"with cudaMemcpyToSymbol or cudaMemcpyFromSymbol"
                    ),
                )
                break


DEVICE_ARRAY = re.compile(rb"^(?:static )?__device__ [\w:<>, ]+ (\w+)(?:\[[^\[\];]+\])+;", re.M)


def without_values(text: bytes) -> bytes:
    """Returns the step without initial values of device arrays: clang 14 makes zeros for each element of a
    class. Rejected if the class has a constructor."""
    untouched = (
        rb"__attribute__((loader_uninitialized)) \g<0> "
        rb"static_assert(__is_trivially_constructible(decltype(\1)));"
    )
    return DEVICE_ARRAY.sub(untouched, text)


def asked_on_both_sides(
    clang: str,
    text: bytes,
    options: Sequence[str],
    target: str | None,
    depfile: str | None,
    precompiled: Mapping[str, str],
) -> list[tuple[int, str, str]]:
    """Returns (status, output, messages) for each side."""
    running = []
    for side in SIDES:
        asked = asking(clang, side, options, target, depfile, precompiled.get(side))
        process = subprocess.Popen(
            asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        running.append(process)
        assert process.stdin
        process.stdin.write(text)
        process.stdin.close()
    answers = []
    for process in running:
        process.stdin = None
        made, said = (part.decode("utf-8", errors="replace") for part in process.communicate())
        answers.append((process.returncode, made, said))
    return answers


def judged(
    clang: str,
    step: pathlib.Path,
    options: Sequence[str],
    target: str | None = None,
    depfile: str | None = None,
    precompiled: Mapping[str, str] | None = None,
) -> tuple[list[Error], dict[str, int]]:
    """Returns (file, line, column, text) of all that nvcc would reject, and, if there is nothing, the results
    of kept_in_local_memory and doubles."""
    sources = translate.read_all(step)
    text = sources[0].translated(step.parent).encode("utf-8", errors="surrogateescape")
    first = without_values(text) if precompiled else text
    answers = asked_on_both_sides(clang, first, options, target, depfile, precompiled or {})
    # A rejected step is checked again without the precompiled header, which may be stale, broken or made by
    # another clang. Besides, clang 14 finds no `new` in it, and an array of a class may need values. An
    # accepted step is right if the device functions of the header call no host function: clang does not keep
    # such errors in a precompiled header.
    if precompiled and any(status or said for status, _, said in answers):
        answers = asked_on_both_sides(clang, text, options, target, depfile, {})
    found: dict[tuple[str, int, int], str] = {}
    kept: dict[str, int] = {}
    for side, (status, made, said) in zip(SIDES, answers):
        looked_up = found_in_device if side == "device" else found_in_host
        for file, line, column, message in [
            *diagnosed(said),
            *(looked_up(Made(made)) if status == 0 else []),
        ]:
            found.setdefault((file or str(step), line, column), message)
    if target and not found and answers[0][0] == 0:
        module = Made(answers[0][1])
        kept = kept_in_local_memory(clang, module)
        for kind, of_line in zip(("double", "double-of-floats"), doubles(module, step)):
            kept.update((f"{kind}:{line}", operations) for line, operations in of_line.items())
    if target and not found and any(status for status, *_ in answers):
        kept["unread:clang"] = 1
    if depfile:
        assert target
        with open(depfile, "a", encoding="utf-8", errors="surrogateescape") as rules:
            rules.write(translate.dependencies(target, sources))
    return [(*place, message) for place, message in sorted(found.items())], kept


def works(clang: str) -> bool:
    """True if this clang supports CUDA: Apple's does not. It must refuse what is wrong, and nothing else."""
    text = (
        "__global__ void right(int* p) { p[0] = threadIdx.x; }\nvoid launch(int* p) { right<<<1, 1>>>(p); }\n"
        "int one() { return 1; }\nconst int two[] = {2, 2};\n__global__ void wrong(int* p) { p[0] = %s; }\n"
    )

    def is_refused(wrong: str) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            step = pathlib.Path(folder) / "step.cu"
            step.write_text(text % wrong)
            return [line for _, line, _, _ in judged(clang, step, [])[0]] == [5]

    with concurrent.futures.ThreadPoolExecutor() as workers:
        return all(workers.map(is_refused, ["one()", "two[p[1]]"]))


def main() -> None:
    if sys.argv[1] == "works":
        sys.exit(not works(sys.argv[2]))
    if sys.argv[1] == "precompile":
        clang, side, target, depfile = sys.argv[2:]
        precompile(clang, side, target, depfile)
        return
    clang, step, target, depfile, *options = sys.argv[1:]
    precompiled = {side: option for side in SIDES for option in options if option.endswith(f".{side}.pch")}
    options = [option for option in options if option not in precompiled.values()]
    found, kept = judged(clang, pathlib.Path(step), options, target, depfile, precompiled)
    for file, line, column, text in found:
        print(f"{file}:{line}:{column}: error: {text}", file=sys.stderr)
    if found:
        sys.exit(1)
    pathlib.Path(target).write_text(
        "".join(f"{name} {size}\n" for name, size in sorted(kept.items())), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
