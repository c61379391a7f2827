"""The LLVM IR of a step, and the errors in it that clang accepts and nvcc does not."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from clang_messages import HOST_VARIABLE, Error

MOST_SHARED, MOST_CONSTANT = 48 * 1024, 64 * 1024  # bytes that nvcc allows a kernel, and a file, to declare


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
                    yield (*made.place(use), f"'{plain(name)}' is __constant__: device code can only read it")
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
    """True if nvcc also reads the value at compile time: a structure's member, or an element of a constant of
    a class."""
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


def kernels_of(made: Made) -> list[str]:
    names = re.findall(r"@([\w.$]+), !\"kernel\"", made.text) + re.findall(
        r"define [^\n]*ptx_kernel [^\n]*@([\w.$]+)\(", made.text
    )
    return sorted(set(names))


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
