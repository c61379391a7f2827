"""clang's messages about host and device, and the ones that a student reads instead."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from source import COMMON

# clang's messages and the student's; {} is the name. None: unchanged.
OF_HOST = "'{}' is a host function, and device code calls it: put __host__ __device__ in front of it"
OF_LIBRARY = (
    "'{}' of the C++ library is a host function, and device code calls it: nvcc has no device version"
)
OF_DEVICE = (
    "'{}' is a device function, and host code calls it: put __host__ __device__ in front of it, or launch a "
    "kernel"
)
HOST_CALLS = "is for device code alone, and host code calls it"
OF_CUDA = f"'{{}}' {HOST_CALLS}"
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
    "min": "write min(a, b), which CUDA has, without std::",
    "max": "write max(a, b), which CUDA has, without std::",
}
STREAM = "'{}' is a stream of the host, and device code has no streams: write printf(\"%d\\n\", i);"
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


def is_its_own(said: str) -> bool:
    """True if all errors are about host and device, and about what the student's files declare."""
    found = list(filter(None, map(SAID.fullmatch, said.splitlines())))
    errors = [error for error in found if "error" in error["kind"]]
    notes = [note for note in found if note["kind"] == "note"]
    named = sum(CALLED.search(error["text"]) is not None for error in errors)
    return (
        0 < len(errors) == len(list(diagnosed(said)))
        and not any(is_foreign(message["file"]) for message in found)
        and named <= sum("declared here" in note["text"] for note in notes)
    )


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
    bare = name.split("<")[0]
    if (bare in TAKEN and is_foreign(file) and TAKEN[bare] in file) or is_immediate(declared):
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
