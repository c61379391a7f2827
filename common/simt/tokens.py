"""The tokens of a CUDA source: brackets, declarations, kernels, launches. A place is the index of a token."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

TOKEN = re.compile(r"\"\s*\"|[A-Za-z_]\w*|\d[\w.']*|::|->|&&|\|\||[<>=!]=|[^\s\\]")
NAME = re.compile(r"[A-Za-z_]\w*")
OPENING, CLOSING = {"(", "[", "{"}, {")", "]", "}"}
STATEMENTS = {"return", "co_return", "if", "else", "do", "while", "for", "switch", "case", "default", "throw"}
STATEMENTS |= {"and", "or", "not"}  # operators, spelt as words
ATTRIBUTES = {"alignas", "__align__", "__attribute__", "__launch_bounds__", "__cluster_dims__"}
ATTRIBUTES |= {"decltype", "requires"}


def is_name(word: str) -> bool:
    return bool(NAME.fullmatch(word)) and word not in STATEMENTS


class Tokens:
    """The tokens of a text without its directives, or of the body of a macro."""

    def __init__(
        self,
        code: str,
        start: int = 0,
        end: int | None = None,
        parameters: Collection[str] = (),
        of_macro: bool = False,
    ) -> None:
        self.found = list(TOKEN.finditer(code, start, len(code) if end is None else end))
        self.words = [token[0] for token in self.found]
        self.end = len(code) if end is None else end
        self.parameters, self.of_macro = parameters, of_macro

    def start_of(self, place: int) -> int:
        return self.found[place].start() if place < len(self.found) else self.end

    def word(self, place: int) -> str:
        return self.words[place] if 0 <= place < len(self.words) else ""

    def partner(self, place: int) -> int | None:
        """Returns the place of the bracket that matches this one; None if there is none."""
        step, depth = (1 if self.words[place] in OPENING else -1), 0
        while 0 <= place < len(self.words):
            depth += (self.words[place] in OPENING) - (self.words[place] in CLOSING)
            if depth == 0:
                return place
            place += step
        return None

    def behind(self, place: int) -> int:
        """Returns the place after the token, or after the brackets that open with it."""
        return (self.partner(place) or len(self.words) if self.words[place] in OPENING else place) + 1

    def scan(self, place: int, end: int | None = None) -> Iterator[int]:
        """Yields the places from here to the end of the enclosing brackets, without the contents of nested
        brackets."""
        end = len(self.words) if end is None else end
        while place < end and self.words[place] not in CLOSING:
            yield place
            place = self.behind(place)

    def scopes(self) -> list[tuple[bool, bool]]:
        """Returns the context of each place: in a function or an initial value, and directly in a class."""
        out: list[tuple[bool, bool]] = []
        open_braces: list[tuple[bool, bool]] = []
        head = 0
        for place, word in enumerate(self.words):
            if word == "{":
                before = self.words[head:place]
                of_namespace = "namespace" in before or (before[:1] == ["extern"] and before[-1][0] == '"')
                of_class = not {"class", "struct", "union"}.isdisjoint(before) and before[-1] != ")"
                open_braces.append((not of_namespace, of_class))
            elif word == "}" and open_braces:
                open_braces.pop()
            if word in {";", "{", "}"}:
                head = place + 1
            out.append((any(inside for inside, _ in open_braces), bool(open_braces) and open_braces[-1][1]))
        return out

    def statement(self, place: int) -> tuple[int, int]:
        """Returns the begin and end of the declaration that contains this place."""
        start = place
        while start > 0:
            before = self.words[start - 1]
            if before in {")", "]"}:
                opened = self.partner(start - 1)
                if opened is None or (before == ")" and self.word(opened - 1) not in ATTRIBUTES):
                    break
                start = opened - (before == ")")
            elif before in {";", "{", "}", ":", "("} or before in STATEMENTS:
                break
            else:
                start -= 1
        for at in self.scan(place):
            if self.words[at] == ";":
                return start, at
        return start, min(self.behind(at), len(self.words))  # in a macro, or a mistake

    def begins_statement(self, place: int) -> bool:
        """True if a statement may begin here, by the word before it."""
        before = self.word(place - 1)
        if before == ")":
            opened = self.partner(place - 1)
            return opened is not None and self.word(opened - 1) in {
                "if",
                "while",
                "for",
                "switch",
                "constexpr",
            }
        return before in {";", "{", "}", "else", "do"}

    def name_of_template(self, place: int, kernels: Collection[str]) -> int | None:
        """Returns the name before template arguments that end here. A < may be a comparison, so only known
        kernels count."""
        depth, first = 0, None
        while place > 0 and self.words[place] not in OPENING and self.words[place] not in {";", "}"}:
            word, before = self.words[place], self.words[place - 1]
            if word in CLOSING:
                opened = self.partner(place)
                if opened is None:
                    return None
                place = opened
            elif word == ">":
                depth += 1
            elif word == "<" and is_name(before) and self.word(place + 1) != "<":
                depth -= 1
                if depth <= 0 and before in kernels:
                    return place - 1
                if depth == 0 and first is None:
                    first = place - 1
            place -= 1
        return first

    def callee(self, end: int, kernels: Collection[str]) -> tuple[int | None, str | None]:
        """Returns where the expression before `end` begins: k, ::a::k<4>, (k), table[i], choice.kernel; and
        its last name."""
        place: int | None = end - 1
        last: str | None = None
        while place is not None and place >= 0:
            word = self.words[place]
            if word == ">":
                place = self.name_of_template(place, kernels)
                continue
            if word in {")", "]"}:
                place = self.partner(place)
                if place is None:
                    break
                before = self.word(place - 1)
                # True of "table[i](k)", but not of "if (…) (k)".
                if is_name(before) or before in {"]", ">"} or word + before == "])":
                    place -= 1
                    last = ""
                    continue
            elif not is_name(word):
                break
            last = word if last is None else last
            before = self.word(place - 1)
            if before == "template":
                place -= 1
                before = self.word(place - 1)
            if before == "::" and not is_name(self.word(place - 2)) and self.word(place - 2) != ">":
                return place - 1, last
            if before not in {"::", ".", "->"}:
                return place, last
            place -= 2
        return None, None

    def launches(self, kernels: Collection[str]) -> Iterator[tuple[int | None, int, int | None, str | None]]:
        """Returns for each launch the places of its kernel, of <<< and of >>>, and the kernel's name; None
        for one without."""
        for place in range(len(self.words) - 2):
            if self.words[place : place + 3] != ["<", "<", "<"]:
                continue
            start, name = self.callee(place, kernels)
            close = None
            for at in self.scan(place + 3):
                behind = self.word(at + 3)
                if self.words[at] == ";":
                    break
                if self.words[at : at + 3] == [">", ">", ">"] and (behind == "(" or is_name(behind)):
                    close = at
                    break
            yield start, place, close, name

    def kernels(self, markers: Collection[str]) -> Iterator[tuple[int, int]]:
        """Returns for each kernel the places of __global__, or of a macro for it, and of its name."""
        for place, word in enumerate(self.words):
            if word in markers:
                name = None  # the last one: a macro may precede it
                for at in self.scan(place + 1):
                    if self.words[at] in {";", "{"}:
                        break
                    if (
                        self.word(at + 1) == "("
                        and is_name(self.words[at])
                        and self.words[at] not in ATTRIBUTES
                    ):
                        name = at
                if name is not None:
                    yield place, name

    def of_device(self, markers: set[str]) -> Iterator[str]:
        """Returns the functions and variables declared with one of the markers; "*" for one declared by a
        macro."""
        for place, word in enumerate(self.words):
            if word not in markers:
                continue
            value, angles = False, 0  # a default value; angle brackets of template arguments
            for at in self.scan(place + 1):
                here, before = self.words[at], self.word(at - 1)
                angles += (here == "<") - (here == ">")
                if "operator" in self.words[place:at] and here == "(":
                    yield "operator"
                    break
                if here == "(" and self.word(at + 1) == "*":  # a pointer to a function
                    yield from filter(is_name, self.words[at + 2 : self.partner(at)])
                    break
                is_declared = (
                    is_name(before) and not value and angles == 0 and before not in ATTRIBUTES | markers
                )
                if is_declared and here in {"(", "[", "=", ",", ";", "{"}:
                    made = before in self.parameters or (self.of_macro and "#" in {self.word(at - 2), here})
                    yield "*" if made else before
                if here == ";" or (here == "(" and before not in ATTRIBUTES):
                    break
                value = here == "=" or (value and here != ",")
            else:
                if self.words[-1] in self.parameters:  # a macro that ends with the name
                    yield "*"
