"""The likeness of two texts of a step, whatever their names, numbers, comments and layout are.

A text is a sequence of tokens. All names are one token and all numbers are another; words such as `const`,
braces and semicolons are left out. The likeness of two texts is the share of their fragments of six tokens
that both have, wherever these stand. Fragments that the stub has do not count.

SHARE and FEWEST are measured with the steps of this repository. Of 195 pairs of a solution and a style of its
step, or of two such styles, that have at most half of their lines in common, the median is 34 %, and the most
alike pair reaches 74 %. Copies of solutions were disguised: other names, operands swapped, neighbouring
declarations swapped, `int` for `unsigned`, no `const`, statements added. Of 207, 203 reach 75 %.
"""

from __future__ import annotations

import collections
import re

TOKENS_OF_A_FRAGMENT = 6
SHARE = 0.75  # from here on two texts are called alike
FEWEST = 100  # fragments of a text that is compared: everybody writes a vector add in the same way
IGNORED = {"const", "constexpr", "static", "inline", "extern", "volatile", "__restrict__"}
IGNORED |= {"auto", "signed", "unsigned", "long"}
# Names that are tokens of their own.
KEPT = re.compile(r"if|else|for|while|do|return|__\w+|(?:thread|block|grid)(?:Idx|Dim)")
TOKEN = re.compile(r"[A-Za-z_]\w*|\.?\d[\w.']*|<<<|>>>|<<|>>|&&|\|\||\+\+|--|[-+*/%<>=!&|^]=|[^\s{};]")

Fragments = frozenset[int]  # hashes; equal fragments are numbered, so that each counts


def tokens(code: str) -> list[str]:
    """Returns the tokens of a text without comments."""
    found = []
    for token in TOKEN.findall(re.sub(r"(?m)^\s*#\s*(?:include|pragma).*", "", code)):
        if token not in IGNORED:
            is_name = token[0].isalpha() or token[0] == "_"
            found.append(
                "0" if re.match(r"\.?\d", token) else "n" if is_name and not KEPT.fullmatch(token) else token
            )
    return found


def fragments(code: str) -> Fragments:
    sequence, seen, found = tokens(code), collections.Counter[tuple[str, ...]](), set()
    for fragment in zip(*(sequence[at:] for at in range(TOKENS_OF_A_FRAGMENT))):
        found.add(hash((fragment, seen[fragment])))
        seen[fragment] += 1
    return frozenset(found)


def share(one: Fragments, other: Fragments) -> float:
    """Returns the likeness, from 0 to 1; 0 if one text is too short to compare."""
    return 2 * len(one & other) / (len(one) + len(other)) if min(len(one), len(other)) >= FEWEST else 0.0


def most_alike(one: Fragments, others: dict[str, Fragments], most: int = 3) -> dict[str, float]:
    """Returns the shares of those that are alike, the most alike first."""
    shares = {name: found for name, other in others.items() if (found := share(one, other)) >= SHARE}
    return dict(sorted(shares.items(), key=lambda of: -of[1])[:most])
