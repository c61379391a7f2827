"""The trace of a step, and SVG pictures in few colours that are legible on light and dark pages."""

from __future__ import annotations

import collections
import html
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from trace import Found

Value = TypeVar("Value")
STYLE = """\
.kata { --ink: #1f2328; --dim: #59636e; --rule: #c4ccd4; --empty: #eef1f4;
  --h1: #c7dff2; --h2: #94c4e4; --h3: #5aa5d3; --h4: #2b82bc; --h5: #155f9a; --h6: #0c3f6e; --h7: #061f3a;
  --a: #56b4e9; --b: #e69f00; --c: #009e73; --d: #cc79a7; --e: #b8c0c8; --f: #d55e00; --on: #10151a;
  font-family: system-ui, sans-serif; }
@media (prefers-color-scheme: dark) {
  .kata { --ink: #e6edf3; --dim: #9da7b1; --rule: #4a535d; --empty: #20262d;
    --h1: #0f3557; --h2: #16517f; --h3: #2273ab; --h4: #4796cc; --h5: #7fb9e0; --h6: #b5d9f0; --h7: #eaf6ff;
    --e: #68727d; }
}
.kata text { fill: var(--ink); font-size: 12px; }
.kata .small { font-size: 10px; fill: var(--dim); }
.kata .cell { font-size: 10px; fill: var(--on); text-anchor: middle; }
.kata .many { font-size: 8px; fill: var(--on); text-anchor: middle; }
.kata .title { font-weight: 600; font-size: 13px; }
.kata .middle { text-anchor: middle; }
.kata .right { text-anchor: end; }
.kata .rule { stroke: var(--rule); stroke-width: 1; fill: none; }
.kata .edge { stroke: var(--h5); stroke-width: 1.2; fill: none; }
.kata .barrier { stroke: var(--f); stroke-width: 1; fill: none; stroke-dasharray: 3 2; }
.kata .thread { stroke: var(--rule); stroke-width: 1; }
"""
COLOURS = "abcd"  # distinct for color-blind readers, and side by side


# --- what happened ------------------------------------------------------------------------------------------


class Request(NamedTuple):
    launch: int
    block: int
    warp: int
    barriers: int
    begins: int
    ends: int
    line: str
    did: str
    memory: str
    steps: int
    lanes: tuple[int, ...]
    array: str
    bytes: int
    at: tuple[int, ...]  # bytes from the start of the array, of each active lane

    @property
    def reaches(self) -> list[tuple[int, int]]:
        return list(zip(self.lanes, self.at))


class Trace:
    def __init__(self, found: Found) -> None:
        self.found = found
        self.shapes: dict[str, list[int]] = {name: shape for name, *shape in found["shapes"]}
        self.bytes_of = {array["name"]: array["bytes"] for array in found["arrays"]}
        names = [array["name"] for array in found["arrays"]]
        masks: dict[int, tuple[int, ...]] = {}
        self.requests = []
        for launch, block, warp, barriers, begins, ends, place, steps, mask, *reached in found["requests"]:
            if mask not in masks:
                masks[mask] = tuple(lane for lane in range(32) if mask >> lane & 1)
            where = found["places"][place]
            array, size, at = (names[reached[0]], reached[1], tuple(reached[2:])) if reached else ("", 0, ())
            self.requests.append(
                Request(
                    launch, block, warp, barriers, begins, ends, where["line"], where["did"], where["memory"],
                    steps, masks[mask], array, size, at,
                )
            )  # fmt: skip

    def extent(self, array: str) -> list[int]:
        return self.shapes[array]

    def element(self, array: str) -> int:
        """Returns the bytes of an element. Without a known shape, the least that a lane reaches at once."""
        if array in self.shapes:
            return max(1, self.bytes_of.get(array, 0) // math.prod(self.shapes[array]))
        return min(r.bytes for r in self.requests if r.array == array)

    def loads(self, arrays: Iterable[str]) -> dict[str, collections.Counter[int]]:
        """Returns how often threads load each element of these arrays from global memory."""
        found: dict[tuple[str, int], collections.Counter[int]] = {
            (name, 0): collections.Counter() for name in arrays
        }
        for r in self.requests:
            if r.did == "load" and r.memory == "global" and (r.array, 0) in found:
                found.setdefault((r.array, r.bytes), collections.Counter()).update(r.at)
        counts: dict[str, collections.Counter[int]] = {}
        for (name, wide), of_bytes in found.items():
            elements = counts.setdefault(name, collections.Counter())
            for at, count in of_bytes.items():
                for element in range(at // self.element(name), (at + wide) // self.element(name)):
                    elements[element] += count
        return counts

    def of_one_block(self) -> list[Request]:
        """Returns the requests of the first block of the launch with most requests."""
        launches = collections.Counter(r.launch for r in self.requests)
        return self.of_first_block(max(launches, key=lambda number: (launches[number], -number)))

    def of_least_block(self) -> list[Request]:
        """Returns the requests of the first block of the launch that uses shared memory least; an empty list
        if no launch uses any."""
        launches = collections.Counter(r.launch for r in self.requests if r.memory == "shared")
        return self.of_first_block(min(launches, key=launches.__getitem__)) if launches else []

    def of_first_block(self, launch: int) -> list[Request]:
        first = min(r.block for r in self.requests if r.launch == launch)
        return [r for r in self.requests if r.launch == launch and r.block == first]


# --- SVG ----------------------------------------------------------------------------------------------------


class Panel:
    """A piece of a picture, which grows as things are drawn."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.width = self.height = 0.0
        self.cells: dict[str, list[str]] = {}

    def reach(self, x: float, y: float) -> None:
        self.width, self.height = max(self.width, x), max(self.height, y)

    def text(self, x: float, y: float, text: str, kind: str = "") -> None:
        self.parts.append(
            f'<text x="{number(x)}" '
            f'y="{number(y)}"{f" class={kind!r}" if kind else ""}>{html.escape(text)}</text>'
        )
        wide = 5.6 if "small" in kind else 6.9
        self.reach(
            x
            + (0 if "right" in kind else wide * len(text) / (2 if "middle" in kind or "cell" in kind else 1)),
            y + 3,
        )

    def rect(self, x: float, y: float, w: float, h: float, colour: str) -> None:
        """Adds a rectangle. All of one colour become one path."""
        self.cells.setdefault(colour, []).append(
            f"M{number(x)} {number(y)}h{number(w)}v{number(h)}h{number(-w)}z"
        )
        self.reach(x + w, y + h)

    def line(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """Adds a line. Lines of one kind, one after the other, become one path."""
        d = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)
        path = f'<path class="{kind}" d="'
        if self.parts and self.parts[-1].startswith(path):
            self.parts[-1] = self.parts[-1].removesuffix('"/>') + d + '"/>'
        else:
            self.parts.append(f'{path}{d}"/>')
        for x, y in points:
            self.reach(x, y)

    def frame(self, x: float, y: float, w: float, h: float, kind: str = "rule") -> None:
        self.line([(x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y)], kind)

    def add(self, other: Panel, x: float, y: float) -> None:
        place, size = f"translate({number(x)} {number(y)})", f"{number(other.width)} {number(other.height)}"
        self.parts.append(f'<g transform="{place}" data-size="{size}">{other.body()}</g>')
        self.reach(x + other.width, y + other.height)

    def body(self) -> str:
        """Returns the SVG elements, with fills below text."""
        fills = "".join(
            f'<path fill="var(--{colour})" d="{"".join(d)}"/>' for colour, d in self.cells.items()
        )
        return fills + "".join(self.parts)

    def svg(self, label: str, with_style: bool) -> str:
        w, h = math.ceil(self.width) + 4, math.ceil(self.height) + 4
        style = f"<style>\n{STYLE}</style>\n" if with_style else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="kata" role="img" width="{w}" height="{h}" '
            f'viewBox="-2 -2 {w} {h}" '
            f'aria-label="{html.escape(label)}">\n{style}{self.body()}\n</svg>\n'.replace("><", ">\n<")
        )


def number(x: float) -> str:
    return f"{x:.2f}".rstrip("0").rstrip(".")


def heat_class(count: float) -> int:
    """Returns the class of a count; the classes are 0, 1, 2, 3 to 4, 5 to 8, 9 to 16, 17 to 32, and more."""
    return 0 if count <= 0 else min(7, 1 + math.ceil(math.log2(max(count, 1))))


def heat(count: float) -> str:
    return f"h{heat_class(count)}" if count > 0 else "empty"


HEAT_NAMES = ("0", "1", "2", "3-4", "5-8", "9-16", "17-32", "33 +")


KEY = 350  # pixels, for a key to fit on a telephone, too


def heat_key(title: str, most: float) -> Panel:
    classes = range(heat_class(most) + 1)
    names = [("empty" if i == 0 else f"h{i}", HEAT_NAMES[i]) for i in classes]
    panel = colour_key(names, 10 + 5.6 * len(title))
    panel.text(0, 12, title, "small")
    return panel


def colour_key(entries: Iterable[tuple[str, str]], x: float = 0) -> Panel:
    """Returns colours with their names, in rows, the first from x on."""
    panel, y = Panel(), 0
    for colour, name in entries:
        wide = 32 + 5.8 * len(name)
        if x and x + wide > KEY:
            x, y = 0, y + 18
        panel.rect(x, y + 2, 14, 12, colour)
        panel.text(x + 18, y + 12, name, "small")
        x += wide
    return panel


def runs(values: Sequence[Value]) -> Iterable[tuple[int, int, Value]]:
    """Yields stretches of equal values: the start, the length and the value of each."""
    start = 0
    for i in range(1, len(values) + 1):
        if i == len(values) or values[i] != values[start]:
            yield start, i - start, values[start]
            start = i


def grid_of(panel: Panel, x: float, y: float, rows: Sequence[Sequence[str]], w: float, h: float) -> None:
    for i, row in enumerate(rows):
        for start, length, colour in runs(row):
            panel.rect(x + start * w, y + i * h, length * w, h, colour)
    panel.frame(x, y, len(rows[0]) * w, len(rows) * h)
