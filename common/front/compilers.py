"""The output of compilers, shortened for students: the first errors, in the student's own file, and no
more."""

from __future__ import annotations

import difflib
import functools
import pathlib
import re
from collections.abc import Sequence
from typing import NamedTuple

MOST = 3  # errors that are shown; later ones are often their consequence
NOTES = 2  # notes of an error
COLOR = re.compile(r"\033\[[0-9;]*[mK]")
# g++, clang and our own: FILE:LINE:COLUMN: error: TEXT; nvcc: FILE(LINE): error: TEXT
SAID = re.compile(
    r"(?P<file>[^\s:(][^:(]*?)(?::(?P<line>\d+)(?::\d+)?|\((?P<nvcc>\d+)\)): (?P<kind>fatal "
    r"error|error|warning|note)(?: #[\w-]+)?: "
)
# Lines before or after an error in a header that name the including or instantiating line.
ASKED = re.compile(
    r"(?P<file>[^\s:(][^:(]*?):(?P<line>\d+)(?::\d+)?:\s+(?:recursively )?required from|(?:In file "
    r"included|\s+) from (?P<from>[^:]+):(?P<at>\d+)"
)
REQUIRED = re.compile(r":\s+(?:recursively )?required from")
INSTANTIATED = re.compile(
    r"\s+(?:detected during )?instantiation of .* at line (?P<line>\d+)(?: of (?P<file>\S+))?"
)

# g++'s error for an extern __shared__ array of a template's type, with the CPU back end's name.
OF_TWO_TYPES = re.compile(r"conflicting declaration .(?P<one>[^’']*?) simt_(?P<name>\w+) \[\].")

# The messages of g++ and clang when the system ends them.
KILLED = re.compile(
    r"Killed signal terminated program|unable to execute command: Killed|virtual memory exhausted|out "
    r"of memory allocating"
)
OUT_OF_MEMORY = (
    "error: the compiler was killed, most likely because memory is exhausted: close other "
    "programs, or build one file at a "
    "time (ninja -C build -j 1)"
)


# Messages of g++ that newcomers meet.
NOT_DECLARED = re.compile(
    r"there are no arguments to .(?P<name>\w+). that depend on a template parameter, so a declaration "
    r"of .\w+. must be available.*"
)
# The next note has the reason.
NO_REASON = re.compile(r"template argument deduction(?:/substitution)? failed:$")
PERMISSIVE = re.compile(r"\(if you use .-fpermissive.")
DELETED = re.compile(
    r"use of deleted function .*?\b(?P<name>__(?:shfl(?:_up|_down|_xor)?|any|all|ballot))\(.*"
)
NO_ADDRESS = re.compile(
    r"(?:invalid conversion from|cannot convert) .(?P<of>[^’'*]*)(?P<stars>\**). to .(?:const )?void(?: "
    r"const)?(?P<wanted>\*+)."
)
NO_LAUNCH = re.compile(r"no match for call to .\(simt::Configured\w*<(?P<wanted>.*)>\) \((?P<given>.*)\).$")
# The types of numbers, as g++ spells them, without spaces.
NUMBERS = {"bool", "char", "signedchar", "unsignedchar", "short", "shortint", "unsignedshort"}
NUMBERS |= {"shortunsignedint", "int", "unsignedint", "long", "longint", "unsignedlong", "longunsignedint"}
NUMBERS |= {"longlongint", "longlongunsignedint", "float", "double"}
# g++, clang and nvcc, about a name that is taken.
TAKEN = re.compile(
    r".(?:.*?\b)?(?P<name>\w+)(?:\(.*)?. redeclared as different kind of entity"
    r"|redefinition of .(?P<clang>\w+). as different kind of symbol"
    r"|\"(?P<nvcc>\w+)\" has already been declared in the current scope"
)
NO_EXTENT = re.compile(r"no matching function for call to .dim3::dim3\((?P<given>.*)\).$")
CUDA = pathlib.Path(__file__).resolve().parents[1] / "simt"  # its headers declare CUDA's functions
REFERENCE = CUDA.parents[1] / "reference"
FOREIGN = re.compile(
    rf"/usr/|/opt/nvidia/|<|(?:(?:\.\./)*|{re.escape(str(REFERENCE.parent))}/)(?:common|reference|subprojects)/"
)


class Error(NamedTuple):
    where: str  # FILE:LINE in the student's own file; empty where no line of theirs is named
    lines: list[str]  # the message, and the source lines below it


def is_ours(file: str) -> bool:
    """True unless it is a header of the system or of this repository."""
    return not FOREIGN.match(file)


def errors(lines: Sequence[str]) -> list[Error]:
    found: list[Error] = []
    # The innermost instantiation, else the including line, from the lines before an error.
    asked, is_required = "", False
    taking = False  # True while lines belong to the last error
    for line in (COLOR.sub("", line) for line in lines):
        if said := SAID.match(line):
            file, number = said["file"], said["line"] or said["nvcc"]
            mine = f"{file}:{number}" if is_ours(file) else ""
            if "error" in said["kind"]:
                found.append(Error(mine or asked, [said[0] + in_words_of_cuda(line[said.end() :])]))
                taking, asked, is_required = True, "", False
            elif said["kind"] == "note" and (
                re.search(r" .[^’']* simt_\w+ \[\]", line)
                or PERMISSIVE.search(line)
                or NO_REASON.search(line)
            ):
                taking = False
            elif said["kind"] == "note" and found and mine:
                if not found[-1].where:
                    found[-1] = found[-1]._replace(where=mine)
                taking = sum(map(bool, map(SAID.match, found[-1].lines))) <= NOTES
                if taking:
                    found[-1].lines.append(line)
            else:
                taking = False
                if said["kind"] == "warning":
                    asked, is_required = "", False
        elif at := ASKED.match(line):
            taking = False
            if is_ours(at["file"] or at["from"]) and not is_required:
                asked = f"{at['file'] or at['from']}:{at['line'] or at['at']}"
                is_required = bool(REQUIRED.search(line))
        elif at := INSTANTIATED.match(line):
            if found and not found[-1].where and at["file"] and is_ours(at["file"].strip('"')):
                found[-1] = found[-1]._replace(where=at["file"].strip('"') + ":" + at["line"])
            taking = False
        elif (
            taking
            and re.match(r"\s+(?:\d+ )?\||\s+\S.*|\s*\^", line)
            and not re.match(r"\s+detected during", line)
        ):
            found[-1].lines.append(line)
        else:
            taking = False
    return found


def in_words_of_cuda(text: str) -> str:
    """Returns a compiler's message in terms of CUDA: reworded, or with the code to write instead."""
    text = text.removeprefix("static assertion failed: ").removesuffix(" [-fpermissive]")
    if two := OF_TWO_TYPES.search(text):
        name = two["name"]
        return (
            f'extern __shared__ "{name}" has another type in each instance of the template, and one '
            f"name can have one type only: "
            f"declare bytes, as extern __shared__ unsigned char {name}_bytes[], and cast them to the "
            f"type that is needed"
        )
    if missing := NOT_DECLARED.match(text):
        alike = difflib.get_close_matches(missing["name"], names_of_cuda(), 1, 0.8)
        return f"'{missing['name']}' was not declared" + (f"; did you mean '{alike[0]}'?" if alike else "")
    if deleted := DELETED.match(text):
        name = deleted["name"]
        return (
            f"CUDA has no '{name}' any more: write {name}_sync(mask, …), where each bit of the mask is a "
            f"lane that takes part, ~0u for all"
        )
    if launch := NO_LAUNCH.match(text):
        return "the launch does not fit the kernel: " + without_fit(
            listed(launch["wanted"]), listed(launch["given"])
        )
    if (taken := TAKEN.match(text)) and (name := taken[taken.lastgroup or 0]) in namespaces():
        return f"'{name}' is a namespace that the chapter's header declares: choose another name"
    if (extent := NO_EXTENT.match(text)) and "dim3" in extent["given"]:
        return (
            "dim3 takes numbers, and is given another dim3: does a variable of type dim3 have the name of a "
            "constant?"
        )
    if (one := NO_ADDRESS.match(text)) and len(one["stars"]) < len(one["wanted"]):
        return f"{text}; an address is required here, such as &x for a variable x"
    return text


def listed(types: str) -> list[str]:
    """Returns the types of a list, as "const float*, Pair<int, int>&", each without its reference."""
    found, depth = [""], 0
    for c in types:
        depth += (c in "<([") - (c in ">)]")
        if c == "," and depth == 0:
            found.append("")
        else:
            found[-1] += c
    return [one.strip().rstrip("&").strip() for one in found if one.strip()]


def without_fit(wanted: list[str], given: list[str]) -> str:
    """Returns the reason why a kernel cannot be launched with arguments of these types."""
    if len(wanted) != len(given):
        return (
            f"the kernel has {len(wanted)} parameters, and {len(given)} arguments are given: it takes "
            f"({', '.join(wanted)})"
        )
    # A number becomes any other, and a pointer one to const.
    bare = [[re.sub(r"\bconst\b", "", one).replace(" ", "") for one in types] for types in (wanted, given)]
    odd = [
        i
        for i, (to, of) in enumerate(zip(*bare))
        if (to != of and not ("*" not in to + of and to in NUMBERS and of in NUMBERS))
        or ("*" in to and to == of and "const" in given[i] and "const" not in wanted[i])
    ]
    words = [f"argument {i + 1} is '{given[i]}', where the kernel has '{wanted[i]}'" for i in odd]
    swapped = len(odd) == 2 and bare[0][odd[0]] == bare[1][odd[1]] and bare[0][odd[1]] == bare[1][odd[0]]
    return f"of {len(wanted)} arguments " + (
        "; ".join(words) + (": are the two exchanged?" if swapped else "")
        if words
        else f"one does not fit ({', '.join(wanted)})"
    )


@functools.cache
def names_of_cuda() -> list[str]:
    """Returns the names of CUDA's functions, of which a student may have misspelt one."""
    text = "".join(header.read_text(encoding="utf-8") for header in sorted(CUDA.glob("*.hpp")))
    return sorted(set(re.findall(r"\b(__[a-z]\w*[a-z]|atomic[A-Z]\w+|cuda[A-Z]\w+)\(", text)))


@functools.cache
def namespaces() -> set[str]:
    text = "".join(header.read_text(encoding="utf-8") for header in sorted(REFERENCE.glob("*.hpp")))
    return set(re.findall(r"^namespace (\w+)", text, re.M))


def once(lines: Sequence[str]) -> list[str]:
    """Returns the lines without the repetitions that each instance of a template brings, and without the
    notes on where it is instantiated."""
    out: list[str] = []
    seen: set[str] = set()
    taking = True
    for line in lines:
        plain = COLOR.sub("", line)
        if SAID.match(plain):
            taking = plain not in seen
            seen.add(plain)
        elif ASKED.match(plain) or re.match(
            r"[^\s:(][^:(]*?: In (?:instantiation of|(?:member )?function|lambda)", plain
        ):
            continue
        if taking:
            out.append(line)
    return out


def shown(lines: Sequence[str]) -> list[str]:
    """Returns the lines to print about one file; without errors among them, all lines once."""
    if any(KILLED.search(line) for line in lines):
        return [OUT_OF_MEMORY]
    found = errors(lines)
    if not found:
        return once(lines)
    own = [error for error in found if error.where] or found
    if any("was not declared" in error.lines[0] for error in own):  # it has no type that a kernel could take
        launches = {error.where for error in own if "no kernel of this name" in error.lines[0]}
        own = [error for error in own if error.where not in launches]
    out: list[str] = []
    seen: set[str] = set()
    for error in own:
        if (error.where or error.lines[0]) in seen or len(seen) == MOST:
            continue
        seen.add(error.where or error.lines[0])
        if error.where and not re.match(
            re.escape(error.where) + r"\b|" + re.escape(error.where.replace(":", "(")) + r"\)", error.lines[0]
        ):
            # In a header: the student's line comes first.
            text = SAID.sub("", error.lines[0])
            out.append(f"{error.where}: error: {text}")
            out += [line for line in error.lines[1:] if (note := SAID.match(line)) and is_ours(note["file"])]
        else:
            out += error.lines
    return out
