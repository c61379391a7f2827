"""Costs of a right step on a GPU that its source does not show: local arrays that registers cannot hold, and
arithmetic in double."""

from __future__ import annotations

import collections
import contextlib
import os
import pathlib
import re
import struct
import subprocess
from collections.abc import Collection, Iterator, Sequence

from llvm_ir import Made, kernels_of

LOCAL_ARRAY = re.compile(r"^\s*%([\w.]+) = alloca (\[.*?\]|%[\w.:$]+|%\"[^\"]*\"), align", re.M)


# ptxas may keep an array of this size in registers if only its loads, or only its stores, have an index known
# at run time: it then selects among all elements.
FEW_BYTES = 64


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
    out registers. nvcc, also based on LLVM, decides after unrolling all loops whose trip count is known, or
    known to be at most a constant, except those with `#pragma unroll 1`."""
    named = {
        name for name, type_ in LOCAL_ARRAY.findall(made.text) if "[" in made.structures.get(type_, type_)
    }
    if not named:
        return {}
    text = never_unrolled(re.sub(r"\b(?:noinline|optnone) ", "", made.text))
    # For `#pragma unroll` LLVM would make the loop one of eight rounds and one for the rest, which Loops
    # cannot read.
    text = text.replace('"llvm.loop.unroll.enable"', '"llvm.loop.mustprogress"')
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
    """Returns {name: bytes} of the named local arrays that LLVM leaves in memory with these options and nvcc
    does, too."""
    done = subprocess.run(
        [
            clang, "--target=nvptx64-nvidia-cuda", "-Xclang", "-target-cpu", "-Xclang", "sm_80",
            "-x", "ir", "-w", *level, "-mllvm", "-unroll-threshold=100000", "-mllvm", "-unroll-runtime=false",
            "-fno-discard-value-names", "-S", "-emit-llvm", "-o", "-", "-",
        ],
        input=text, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found: dict[str, int] = {}
    if done.returncode:
        return found
    optimised = Made(done.stdout)
    for kernel in kernels_of(made):
        # Where a value is computed from thousands of others one by one, nothing is certain.
        with contextlib.suppress(RecursionError):
            for name, bytes_ in arrays_in_memory("\n".join(optimised.functions.get(kernel, [])), optimised):
                # LLVM appends a number to a repeated name.
                declared = max((each for each in named if name.startswith(each)), key=len, default=name)
                found[declared] = max(found.get(declared, 0), bytes_)
    return found


def arrays_in_memory(text: str, optimised: Made) -> Iterator[tuple[str, int]]:
    """Yields the local arrays of a function that nvcc leaves in memory, and their bytes."""
    loops = Loops(text)
    for name, type_ in LOCAL_ARRAY.findall(text):
        places = re.findall(
            rf"^  %([\w.]+) = getelementptr [^\n]*%{re.escape(name)}((?:, i\d+ [^,\n]+)+)", text, re.M
        )
        at_run_time = [
            place
            for place, indices in places
            if not all(map(loops.known, re.findall(r" (%[\w.]+)", indices)))
        ]
        done_there = {what for place in at_run_time for what in done_at(text, place)}
        if at_run_time and (optimised.size(type_) > FEW_BYTES or len(done_there) > 1):
            yield name, optimised.size(type_)


def done_at(text: str, place: str) -> set[str]:
    """Returns whether the element at this address is loaded, stored, or both."""
    found: set[str] = set()
    uses = re.findall(rf"^  (?:%([\w.]+) = )?(\w+) ([^\n]*)%{re.escape(place)}(?![\w.])", text, re.M)
    for name, what, before in uses:
        if what in ("bitcast", "getelementptr", "addrspacecast"):
            found |= done_at(text, name)
        elif what in ("load", "store"):
            found.add(what)
        elif "@llvm.lifetime." not in before:
            found |= {"load", "store"}
    return found


class Loops:
    """The loops of a function that nvcc unrolls and LLVM may not: those whose index begins at a constant and
    is compared with another, or with the smaller one of it and a number that is known at run time."""

    def __init__(self, text: str) -> None:
        self.values: dict[str, str] = dict(re.findall(r"^  %([\w.]+) = (.*)", text, re.M))
        # never_unrolled has made these ends unknown.
        unknown = set(re.findall(r"asm sideeffect \"\", \"=r,0\"\(i1 %([\w.]+)\)", text))
        self.small: dict[str, bool] = {}  # by value: is_at_most_a_constant
        self.bounded: set[str] = set()
        for name, value in self.values.items():
            compared = re.match(r"icmp \w+ i\d+ %([\w.]+), (-?\d+|%[\w.]+)", value)
            if compared and name not in unknown and self.is_at_most_a_constant(compared[2]):
                self.bounded.add(self.origin(compared[1]))

    def origin(self, name: str) -> str:
        """Returns the value from which this one differs by a constant or in its type."""
        while step := re.match(
            r"(?:zext|sext|trunc|add|or) (?:n[us]w )*i\d+ %([\w.]+)(?: to i\d+|, -?\d+)(?:,|$)",
            self.values.get(name, ""),
        ):
            name = step[1]
        return name

    def is_at_most_a_constant(self, value: str) -> bool:
        """True if the value is a constant, or the smaller one of a constant and something else; a loop that
        LLVM has turned round ends at the larger one of that and 1."""
        if value[0] != "%":
            return True
        name = self.origin(value[1:])
        if name in self.small:
            return self.small[name]
        self.small[name] = False  # until it is known
        chosen = re.match(
            r"(?:(?:tail )?call i\d+ @llvm\.[us](min|max)\.i\d+\(|select i1 %[\w.]+, )"
            r"i\d+ (%[\w.]+|-?\d+), i\d+ (%[\w.]+|-?\d+)",
            self.values.get(name, ""),
        )
        if chosen:
            decide = all if chosen[1] == "max" else any
            self.small[name] = decide(map(self.is_at_most_a_constant, chosen.groups()[1:]))
        return self.small[name]

    def known(self, value: str) -> bool:
        """True if the value may be known once the loops are unrolled: a constant, what is computed from such
        values, or one of several, among them the index of a loop."""
        inside: set[str] = set()  # inputs of the present value, in the round of a loop
        done: set[str] = set()

        def follow(value: str) -> bool:
            if value[0] != "%":
                return True
            name = self.origin(value[1:])
            made = self.values.get(name, "")
            if name in done:
                return True
            if name in inside:
                return made.startswith("phi ") and name in self.bounded
            computed = re.match(
                r"(?:add|sub|mul|shl|lshr|ashr|and|or|xor|[su](?:div|rem)) (?:(?:n[us]w|exact) )*"
                r"i\d+ (%[\w.]+|-?\d+), (%[\w.]+|-?\d+)(?:,|$)",
                made,
            )
            if not computed and not made.startswith("phi "):
                return False
            before = (
                computed.groups() if computed else re.findall(r"\[ (%[\w.]+|-?\d+|undef), %[\w.]+ \]", made)
            )
            inside.add(name)
            if not all(map(follow, before)):
                return False
            inside.remove(name)
            done.add(name)
            return True

        return follow(value)


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
