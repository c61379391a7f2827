#!/usr/bin/env python3
"""clang as the compiler of a step that the meter observes:
metering_clang.py COMPILER… OPTION… -c SOURCE -o OBJECT

The source may be a step, which is then translated. A command without -c is clang's own.

g++ keeps the accesses of a kernel as they are written. clang splits copies of structures into the parts that
a kernel uses and the ABI prefers, so that a load of a float4 becomes two of eight bytes; at -O1 it inlines
little; and its blocks are in another order. So clang first writes LLVM IR, in which each copy of a structure
becomes one access, or, if the structure is less aligned than it is wide, as many as a GPU needs. Its passes
then optimize and instrument it. After them, the blocks are put into the order in which a warp could execute
them.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Sequence

import source
import translate

FUNCTION = re.compile(r"^define [^\n]*?@(?P<name>[\w.$]+|\"[^\"]*\")\([^\n]*\{\n.*?^\}$", re.M | re.S)
COPY = re.compile(
    r"^ +(?:tail )?call void @llvm\.memcpy\.[\w.]+\((?P<operands>.*), i1 false\)(?P<rest>.*)$", re.M
)
OPERAND = re.compile(
    r"(?P<type>\S+) (?:(?:noundef|nonnull|align (?P<align>\d+)|\w+\(\d+\)) )*(?P<value>.+)", re.S
)
# A branch to a block that only reports an index: -fsanitize=bounds.
CHECK = re.compile(
    r"^  br i1 (?P<fits>%\S+), label (?P<next>%\S+), label %(?P<block>[^\s,]+)(?P<debug>, !dbg !\d+).*\n"
    r"(?P<report>\n(?P=block):.*\n(?:.*\n)?  call void @__ubsan_handle_out_of_bounds"
    r"\((?P<place>.*), i64 (?P<index>\S+)\).*\n"
    r"  br label (?P=next).*\n)",
    re.M,
)
UNROLLED = re.compile(r'!\{!"llvm\.loop\.unroll\.(?:enable|full|count)"[^}]*\}')
# g++ aligns arrays so, and sectors and banks depend on it.
ARRAY = re.compile(r"^(@[^\n]* (?:global|constant) \[[^\n]*, align )16\b", re.M)
LOCAL = re.compile(r"^( +%\S+ = alloca (?:\[|%)[^\n]*, align )[248]\b", re.M)
BLOCK = re.compile(r"^(?:([\w.$-]+|\"[^\"]*\"):.*)$", re.M)
MOST = 64  # accesses of one copy; larger structures are not copied by kernels
# -fsanitize=bounds would add checks of its own to the IR.
ONLY_FOR_SOURCES = re.compile(r"-[IDUW].*|-MD|-std=.*|-fsanitize=bounds")
# clang makes no constant of a structure that it has not seen constructed, and its reads would count.
BUILT_IN = re.compile(r"^(@(?:threadIdx|blockIdx|blockDim|gridDim) = external (?:\w+ )*)global ", re.M)
WITH_A_WORD = ("-MF", "-MQ", "-include", "-include-pch", "-iquote", "-isystem")


def split(operands: str) -> list[str]:
    """Returns the operands of a call, whose constant expressions have commas of their own."""
    parts, depth = [""], 0
    for letter in operands:
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def piece_of(size: int, align: int) -> int:
    """Returns the bytes of each access: all, if they are a word of a GPU, aligned so."""
    if size in (1, 2, 4, 8, 16) and align >= size:
        return size
    bits = size | align | 16
    return bits & -bits


class Copies:
    """The accesses that copies of structures become."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.made = 0

    def field_of(self, rest: str) -> int:
        """Returns the bytes of the smallest member, by the metadata of a copy; 4 if it does not say so."""
        node = re.search(r"!tbaa\.struct (!\d+)", rest)
        members = re.search(rf"^{node[1]} = !{{(.*)}}$", self.module, re.M) if node else None
        sizes = [int(size) for size in re.findall(r"i64 \d+, i64 (\d+),", members[1])] if members else []
        return min([4, *(size for size in sizes if size in (1, 2))])

    def accesses(self, copy: re.Match[str]) -> str:
        to, start, size = split(copy["operands"])
        length = int(size.split()[1]) if size.split()[1].isdigit() else 0
        ends = [OPERAND.fullmatch(text) for text in (start, to)]
        if not length or not all(ends):
            return copy[0]
        # clang derives an alignment from the type, or from the variable, which may know less: floats in
        # shared memory that are read as float4.
        piece = piece_of(length, max(int(end["align"] or 1) for end in ends if end))
        if length // piece > MOST:
            return copy[0]
        field = min(piece, self.field_of(copy["rest"]))
        vector = f"<{piece // field} x i{8 * field}>"
        debug = "".join(re.findall(r", !dbg !\d+", copy["rest"]))
        loads, stores = [], []
        for offset in range(0, length, piece):
            places = []
            for end in ends:
                assert end
                self.made += 1
                pointer = f"%simt.at.{self.made}"
                typed = f"{vector}*" if end["type"] != "ptr" else "ptr"
                base = f"{end['type']} {end['value']}"
                loads.append(f"  {pointer}.byte = getelementptr inbounds i8, {base}, i64 {offset}{debug}")
                loads.append(f"  {pointer} = bitcast {end['type']} {pointer}.byte to {typed}{debug}")
                places.append(f"{typed} {pointer}, align {piece}{debug}")
            value = f"%simt.value.{self.made}"
            loads.append(f"  {value} = load {vector}, {places[0]}")
            stores.append(f"  store {vector} {value}, {places[1]}")
        return "\n".join(loads + stores)


def checked(module: str, function: str) -> str:
    """Returns the function with a call for each check of an index. A branch would count as basic blocks of
    the kernel; g++ adds it after it has instrumented these."""

    def call(check: re.Match[str]) -> str:
        index = check["index"]
        extended = ""
        if made := re.search(rf"^  {re.escape(index)} = (.*)$", check["report"], re.M):
            index = f"%simt.index.{check['block']}"
            extended = f"  {index} = {made[1]}\n"
        operands = f"i1 zeroext {check['fits']}, {check['place']}, i64 {index}"
        return (
            f"{extended}  call void @simt_check_index({operands}){check['debug']}\n"
            f"  br label {check['next']}{check['debug']}\n{check['report']}"
        )

    return CHECK.sub(call, function)


def called_by_kernels(module: str, functions: dict[str, str]) -> set[str]:
    """Returns the functions that kernels call. clang marks only the calls in the body of a kernel, which is
    `flatten`, and g++ also those in what it calls."""
    marked = {
        found[1] for found in re.finditer(r"^attributes (#\d+) = \{[^}]*\balwaysinline\b", module, re.M)
    }
    call = re.compile(r"@([\w.$]+|\"[^\"]*\")\(")
    wanted: set[str] = set()
    found = {
        match[1]
        for body in functions.values()
        for line in body.splitlines()[1:]
        if (group := re.search(r"\) (#\d+)(?:,| to |$)", line))
        and group[1] in marked
        and (match := call.search(line))
    }
    while found:
        wanted |= found
        found = {name for known in found for name in call.findall(functions.get(known, ""))} - wanted
    return wanted


def prepared(module: str) -> str:
    """Returns the module with copies as accesses, and what kernels call to be inlined."""
    groups = dict(re.findall(r"^attributes (#\d+) = \{(.*)\}$", module, re.M))
    functions = {match["name"]: match[0] for match in FUNCTION.finditer(module)}
    inlined = called_by_kernels(module, functions)
    copies = Copies(module)

    def edited(match: re.Match[str]) -> str:
        head, body = match[0].split("\n", 1)
        group = re.search(r"\) (?:local_unnamed_addr |unnamed_addr )?(#\d+)", head)
        attributes = groups.get(group[1], "") if group else ""
        if group and match["name"] in inlined and not re.search(r"\bnoinline\b", attributes):
            head = f"{head[: group.start(1)]}alwaysinline {head[group.start(1) :]}"
        if "sanitize_thread" in attributes.split():
            body = LOCAL.sub(r"\g<1>16", checked(module, COPY.sub(copies.accesses, body)))
        return f"{head}\n{body}"

    text = UNROLLED.sub('!{!"llvm.loop.unroll.disable"}', FUNCTION.sub(edited, module))
    text = ARRAY.sub(r"\g<1>32", BUILT_IN.sub(r"\1constant ", text))
    if "@simt_check_index(" in text:
        pointer = re.search(r"@simt_check_index\(i1 zeroext \S+, (\S+)", text)
        assert pointer
        # Reads and writes no memory that the kernel sees.
        effect = "inaccessiblememonly" if "argmemonly" in text else "memory(inaccessiblemem: readwrite)"
        text += f"\ndeclare void @simt_check_index(i1 zeroext, {pointer[1]}, i64) {effect}\n"
    return text


def in_order(entry: str, blocks: Sequence[str], followers: dict[str, list[str]]) -> list[str]:
    """Returns blocks, which `entry` reaches, in an order in which a warp could execute them: each after those
    that lead to it, and all blocks of a loop before those behind it."""
    inside = set(blocks)
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    closed: set[str] = set()
    groups: list[list[str]] = []  # the loops, and blocks in none, the last one first

    # Tarjan's algorithm, without recursion. No edge leads back to the entry.
    work = [(entry, iter(reversed(followers[entry])))]
    number[entry] = low[entry] = 0
    open_.append(entry)
    while work:
        block, rest = work[-1]
        for follower in rest:
            if follower not in inside or follower == entry or follower in closed:
                continue
            if follower in number:
                low[block] = min(low[block], number[follower])
                continue
            number[follower] = low[follower] = len(number)
            open_.append(follower)
            work.append((follower, iter(reversed(followers[follower]))))
            break
        else:
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[block])
            if low[block] == number[block]:
                at = open_.index(block)
                groups.append(open_[at:])
                closed.update(open_[at:])
                del open_[at:]
    ordered: list[str] = []
    for group in reversed(groups):
        # The first one that was reached is the head of a loop.
        ordered += in_order(group[0], group, followers) if len(group) > 1 else group
    return ordered


def reordered(function: re.Match[str]) -> str:
    """Returns the function with its blocks in the order of execution, in which the meter lets lanes of a warp
    meet again."""
    # Numbers must be in order, and names need not.
    text = re.sub(r"(?<=%)(\d+)\b", r"n\1", re.sub(r"^(\d+):", r"n\1:", function[0], flags=re.M))
    head, body = text.split("\n", 1)
    body = body[: body.rindex("}")]
    starts = [match for match in BLOCK.finditer(body) if not match[0].startswith(" ")]
    if not starts:
        return function[0]
    texts = {"": body[: starts[0].start()]}
    for start, end in zip(starts, [*(match.start() for match in starts[1:]), len(body)]):
        texts[start[1].strip('"')] = body[start.start() : end]
    if not texts[""].strip():
        return function[0]  # the first block has a name: not made by clang
    # The number behind those of the parameters is that of the first block.
    texts[""] = f"n{len(set(re.findall(r'%n[0-9]+', head)))}:\n{texts['']}"
    label = re.compile(r"\blabel %([\w.$-]+|\"[^\"]*\")")
    followers = {name: [to.strip('"') for to in label.findall(text)] for name, text in texts.items()}
    ordered = in_order("", list(texts), followers)
    ordered += [name for name in texts if name not in set(ordered)]
    return "\n".join([head, *(texts[name].rstrip("\n") + "\n" for name in ordered)]) + "}"


def without_options_of_sources(command: Sequence[str]) -> list[str]:
    """Returns the command without the options that only matter to a source."""
    words = iter(command)
    kept = []
    for word in words:
        if word in WITH_A_WORD:
            next(words)
        elif not ONLY_FOR_SOURCES.fullmatch(word):
            kept.append(word)
    return kept


def main() -> None:
    command = sys.argv[1:]
    if "-c" not in command:
        os.execvp(command[0], command)
    at = command.index("-c")
    step, target = command[at + 1], command[command.index("-o") + 1]
    made = pathlib.Path(target).with_suffix(".ll")
    sources: list[source.Source] = []
    text = step
    if step.endswith(".cu"):
        translated, sources = translate.translated(pathlib.Path(step))
        text = str(made.with_suffix(".cpp"))
        pathlib.Path(text).write_text(translated, encoding="utf-8", errors="surrogateescape")
    others = command[:at] + command[at + 2 :]
    out = others.index("-o")
    others = others[:out] + others[out + 2 :]
    as_written = ["-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes"]
    if status := subprocess.run([*others, *as_written, text, "-o", str(made)], check=False).returncode:
        sys.exit(status)
    module = made.read_text(encoding="utf-8", errors="surrogateescape")
    made.write_text(prepared(module), encoding="utf-8", errors="surrogateescape")
    options = [*without_options_of_sources(others), "-Wno-unused-command-line-argument"]
    counted = made.with_suffix(".counted.ll")
    if status := subprocess.run(
        [*options, "-S", "-emit-llvm", str(made), "-o", str(counted)], check=False
    ).returncode:
        sys.exit(status)
    module = counted.read_text(encoding="utf-8", errors="surrogateescape")
    counted.write_text(FUNCTION.sub(reordered, module), encoding="utf-8", errors="surrogateescape")
    as_it_is = ["-Xclang", "-disable-llvm-passes", "-mllvm", "-disable-block-placement"]
    if status := subprocess.run(
        [*options, *as_it_is, "-c", str(counted), "-o", target], check=False
    ).returncode:
        sys.exit(status)
    if sources and "-MF" in command:
        with open(
            command[command.index("-MF") + 1], "a", encoding="utf-8", errors="surrogateescape"
        ) as rules:
            rules.write(source.dependencies(pathlib.Path(target), sources))


if __name__ == "__main__":
    main()
