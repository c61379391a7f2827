#!/usr/bin/env python3
"""The pictures of measurements.

plots.py            lists the pictures that do not show the present measurements
plots.py --write    draws them anew

chapters/CHAPTER/measured/ladder.svg is the chapter's measured/ladder.csv: the times of its steps, the
ceiling, and the vendor's library where tests/beyond/results.csv has it. chapters/ladders.svg has all
chapters, for the first page, and chapters/roofline.svg has the speed of a step over its intensity, from its
lesson's counted table. common/estimate/judged/DEVICE.svg has each time that DEVICE.csv beside it estimates,
over the measured one.
"""

from __future__ import annotations

import argparse
import math
import pathlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import paths  # noqa: F401  it makes the modules below importable

from drawing import Panel, number
from measured import Ladder, intensities, ladder_of, of_floats, roof, rows_of
from repository import Repository

# Colours on white, and on a dark background.
STYLE = """\
<style>
.kata { --ink: #1f2328; --dim: #59636e; --rule: #d1d9e0; --on: #fff; --ceiling: #1a7f37; --vendor: #cf222e;
  --s0: #2f6fb2; --s1: #b35900; --s2: #6f42a5; --s3: #57606b; font: 12px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) {
  .kata { --ink: #e6edf3; --dim: #9198a1; --rule: #3d444d; --on: #0d1117; --ceiling: #3fb950;
    --vendor: #ff7b72; --s0: #6cb0f2; --s1: #e8a33d; --s2: #b392f0; --s3: #a5afb9; }
}
text, tspan { fill: var(--c, var(--ink)); } path[class] { fill: none; stroke: var(--c); stroke-width: 1.2; }
.small { font-size: 11px; } .title { font-weight: 600; }
.middle { text-anchor: middle; } .right { text-anchor: end; }
.thin { opacity: .6; } .bold { stroke-width: 2; } .dashed { stroke-dasharray: 5 4; }
.dots { stroke-width: 8; stroke-linecap: round; } .hollow { stroke-width: 4; }
.dim { --c: var(--dim); } .rule { --c: var(--rule); } .on { --c: var(--on); }
.ceiling { --c: var(--ceiling); } .vendor { --c: var(--vendor); }
.s0 { --c: var(--s0); } .s1 { --c: var(--s1); } .s2 { --c: var(--s2); } .s3 { --c: var(--s3); }
</style>
"""
SERIES = 4  # colours
Point = tuple[float, float]


def pictures(root: pathlib.Path) -> dict[str, str]:
    """Returns the pictures, by path."""
    ladders = {
        chapter: ladder_of(root, chapter)
        for chapter in Repository(root).chapters()
        if (root / "chapters" / chapter / "measured" / "ladder.csv").is_file()
    }
    drawn = {
        f"chapters/{chapter}/measured/ladder.svg": draw_ladder(chapter, ladder)
        for chapter, ladder in ladders.items()
    }
    ladders = {chapter: of_floats(ladder) for chapter, ladder in ladders.items()}
    drawn["chapters/ladders.svg"] = draw_ladders(ladders)
    drawn["chapters/roofline.svg"] = draw_roofline(*roof(root, ladders), speeds(root, ladders))
    for judged in sorted((root / "common" / "estimate" / "judged").glob("*.csv")):
        machine, rows = rows_of(judged)
        times: dict[str, list[Point]] = {}
        for row in rows:
            times.setdefault(row["chapter"], []).append(
                (float(row["measured ms"]), float(row["estimated ms"]))
            )
        drawn[f"common/estimate/judged/{judged.stem}.svg"] = draw_judged(machine, times)
    return drawn


def speeds(root: pathlib.Path, ladders: Mapping[str, Ladder]) -> dict[str, dict[str, Point]]:
    """Returns the intensity and the TFLOP/s of the steps of each chapter whose lesson counts intensity."""
    found = {}
    for chapter, ladder in ladders.items():
        counted = intensities(root, chapter)
        if points := {
            s["step"]: (counted[s["step"]], s["tflops"])
            for s in ladder["series"][0]["steps"]
            if s["step"] in counted
        }:
            found[chapter] = points
    return found


# Drawing


class Axis(NamedTuple):
    """A logarithmic axis: its first and last value, and their pixels."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return self.start + (self.end - self.start) * math.log(value / self.low) / math.log(
            self.high / self.low
        )

    def ticks(self) -> list[float]:
        """Returns powers of ten, and as many values between them as are easy to read."""
        for between in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1,)):
            every = (m * 10.0**e for e in range(-3, 5) for m in between)
            places = [place for place in every if self.low <= place <= self.high]
            if len(places) <= 8:
                break
        return places


def dots(panel: Panel, points: Iterable[Point], kind: str) -> None:
    for point in points:
        panel.line([point, point], f"dots {kind}")


def header(panel: Panel, y: float, words: Iterable[tuple[str, str]]) -> None:
    """Adds words of several kinds in one line."""
    spans = "".join(
        f'<tspan class="{kind}" dx="{16 if i else 0}">{text}</tspan>' for i, (text, kind) in enumerate(words)
    )
    panel.parts.append(f'<text x="10" y="{number(y)}">{spans}</text>')


def finish(panel: Panel, width: float, height: float, label: str) -> str:
    whole = Panel()
    panel.width, panel.height = width, height
    whole.add(panel, 0, 0)
    first, _, rest = whole.svg(label, with_style=False).partition("\n")
    return f"{first}\n{STYLE}{rest}"


def title_of(step: str) -> str:
    return step.replace("_", " ")


def draw_ladder(chapter: str, data: Ladder) -> str:
    series, vendor = data["series"], data["vendor"]
    names = [step["step"] for step in series[0]["steps"]]
    every = [step for one in series for step in one["steps"]]
    times = [time for step in every for time in (step["ms"], step["ceiling"])]
    if vendor:
        times.append(vendor["ms"])
    row = max(18, 15 * len(series))
    top, bottom = 30.0, 30.0 + row * len(names)
    axis = Axis(min(times) / 1.35, max(times) * 1.7, 194, 691)
    panel = Panel()
    for place in axis.ticks():
        panel.line([(axis.at(place), top), (axis.at(place), bottom)], "rule")
    for place in axis.ticks():
        panel.text(axis.at(place), bottom + 15, f"{place:g}", "small middle dim")
    panel.text((axis.start + axis.end) / 2, bottom + 32, "milliseconds, logarithmic", "small middle dim")
    for index, name in enumerate(names):
        panel.text(axis.start - 6, top + row * (index + 0.5) + 4, title_of(name), "right")
    if vendor:
        panel.line([(axis.at(vendor["ms"]), top), (axis.at(vendor["ms"]), bottom)], "dashed vendor")
    half, kinds = 0.4 * row / len(series), [(f"{chapter}, {data['machine']}", "title")]
    for index, one in enumerate(series):
        middle = top + row * (0.5 + (index - (len(series) - 1) / 2) * 0.8 / len(series))
        places = [(middle + row * number, step) for number, step in enumerate(one["steps"])]
        # The thin part is the time of the step beyond its ceiling.
        for y, step in places:
            panel.line([(axis.at(step["ceiling"]), y), (axis.at(step["ms"]), y)], f"thin s{index}")
        for y, step in places:
            at = axis.at(step["ceiling"])
            panel.line([(at, y - half), (at, y + half)], "bold ceiling")
        dots(panel, ((axis.at(s["ms"]), y) for y, s in places), f"s{index}")
        for y, step in places:
            panel.text(axis.at(step["ms"]) + 7, y + 4, f"{step['ms']:.3f}", "small")
        if len(series) > 1:
            kinds.append((f"● {one['kind']}", f"s{index}"))
    kinds.append(("| ceiling", "ceiling"))
    if vendor:
        kinds.append((f"┆ {vendor['name']} {vendor['ms']:.3f}", "vendor"))
    header(panel, 17, kinds)
    return finish(panel, 720, bottom + 38, f"Times of the steps of {chapter}")


def draw_ladders(data: Mapping[str, Ladder]) -> str:
    columns, wide, high = 4, 184, 182
    panel = Panel()
    for place, (chapter, ladder) in enumerate(data.items()):
        steps, vendor = ladder["series"][0]["steps"], ladder["vendor"]
        x, top = 31.0 + place % columns * 220, 30.0 + place // columns * 228
        row = high / max(len(steps), 6)  # bars are equally thick in chapters of four steps and of six
        panel.text(x, top - 6, chapter, "title")
        scale = wide / 106
        for percent, name in ((0, "0"), (50, "50"), (100, "100 %")):
            panel.text(x + scale * percent, top + high + 13, name, "small middle dim")
        for percent in (0, 50):
            panel.rect(x + scale * percent, top, 1, high, "rule")
        bars = [(top + row * (number + 0.5), step) for number, step in enumerate(steps)]
        for y, step in bars:
            panel.rect(x, y - 0.36 * row, scale * min(step["share"], 106), 0.72 * row, "s0")
        panel.line([(x + 100 * scale, top), (x + 100 * scale, top + high)], "bold ceiling")
        if vendor:
            at = x + scale * 100 * steps[-1]["ceiling"] / vendor["ms"]
            panel.line([(at, top), (at, top + high)], "dashed vendor")
        for y, step in bars:
            share = step["share"]
            text = f"{math.floor(share + 0.5)}" if share >= 1 else f"{share:.1f}"
            inside = share > 80
            end = x + scale * min(share, 97)  # clear of the line at the ceiling
            panel.text(x - 5, y + 4, step["step"][:2], "small right")
            panel.text(end + (-3 if inside else 3), y + 4, text, "small right on" if inside else "small")
    machine = next(iter(data.values()))["machine"]
    vendors = sorted({ladder["vendor"]["name"].split()[0] for ladder in data.values() if ladder["vendor"]})
    below = 30 + -(-len(data) // columns) * 228
    header(panel, below, [(f"A bar is a step: how near its time comes to the ceiling. {machine}", "dim")])
    header(
        panel,
        below + 18,
        [
            ("| the ceiling: this GPU copies the problem's bytes once, or does its arithmetic", "ceiling"),
            (f"┆ NVIDIA's {' and '.join(vendors)}", "vendor"),
        ],
    )
    return finish(panel, 900, below + 24, "The share of the ceiling that each step reaches")


def logarithmic(
    x: tuple[float, float], y: tuple[float, float], title: str, below: str, beside: str
) -> tuple[Panel, Axis, Axis]:
    panel, across, up = Panel(), Axis(*x, 61, 698), Axis(*y, 380, 36)
    for place in across.ticks():
        panel.line([(across.at(place), up.start), (across.at(place), up.end)], "rule")
    for place in up.ticks():
        panel.line([(across.start, up.at(place)), (across.end, up.at(place))], "rule")
    for place in across.ticks():
        panel.text(across.at(place), up.start + 16, f"{place:g}", "small middle dim")
    for place in up.ticks():
        panel.text(across.start - 6, up.at(place) + 4, f"{place:g}", "small right dim")
    panel.text((across.start + across.end) / 2, up.start + 34, below, "small middle dim")
    panel.text(across.start + 6, up.end + 14, beside, "small dim")
    header(panel, 17, [(title, "title")])
    return panel, across, up


def draw_series(panel: Panel, place: int, chapter: str, points: Iterable[Point]) -> str:
    """Adds the points of a chapter and its name. Returns their kind. Where colours recur, dots are hollow."""
    kind = f"s{place % SERIES}"
    points = list(points)
    dots(panel, points, kind)
    if place >= SERIES:
        dots(panel, points, "hollow on")
    panel.text(76, 68 + 17 * place, f"{'○' if place >= SERIES else '●'} {chapter}", kind)
    return kind


def draw_roofline(
    machine: str, peak: float, bandwidth: float, found: Mapping[str, Mapping[str, Point]]
) -> str:
    panel, across, up = logarithmic(
        (0.08, 60), (0.15, 110), f"roofline, {machine}",
        "operations for each byte that threads load (counted)", "TFLOP/s (measured)",
    )  # fmt: skip
    roof = [(across.low, across.low * bandwidth), (peak / bandwidth, peak), (across.high, peak)]
    panel.line([(across.at(x), up.at(y)) for x, y in roof], "bold ceiling")
    panel.text(across.end - 5, up.at(peak) - 6, f"arithmetic: {peak:g} TFLOP/s", "right ceiling")
    panel.text(across.at(0.3) - 8, up.at(0.3 * bandwidth), f"copy: {bandwidth:.2f} TB/s", "right ceiling")
    for place, (chapter, points) in enumerate(found.items()):
        shown = {step: (across.at(x), up.at(y)) for step, (x, y) in points.items()}
        kind = draw_series(panel, place, chapter, shown.values())
        if chapter != "grids":  # whose steps solve several problems
            panel.line(list(shown.values()), f"thin {kind}")
        for step, (x, y) in shown.items():
            panel.text(x + 6, y - 5, step[:2], f"small {kind}")
    return finish(panel, 720, 420, f"Roofline of {machine}")


def draw_judged(machine: str, found: Mapping[str, Sequence[Point]]) -> str:
    every = [time for points in found.values() for point in points for time in point]
    low, high = min(every) / 1.5, 1.8 * max(every)
    panel, across, up = logarithmic(
        (low, high), (low, high), f"estimate, {machine}",
        "ms, measured; dashed: half and twice as long", "ms, estimated",
    )  # fmt: skip
    for factor, kind in ((0.5, "dashed dim"), (1, "bold ceiling"), (2, "dashed dim")):
        ends = [
            (max(low, low / factor), max(low, low * factor)),
            (min(high, high / factor), min(high, high * factor)),
        ]
        panel.line([(across.at(x), up.at(y)) for x, y in ends], kind)
    for place, (chapter, points) in enumerate(found.items()):
        draw_series(panel, place, chapter, ((across.at(x), up.at(y)) for x, y in points))
    return finish(panel, 720, 420, f"Estimated over measured times, {machine}")


# Checking


def complaints_of(root: pathlib.Path) -> Iterator[str]:
    drawn = pictures(root)
    places = [*(root / "chapters").rglob("*.svg"), *(root / "common" / "estimate" / "judged").glob("*.svg")]
    for path in places:
        name = str(path.relative_to(root))
        if (
            path.stem in ("ladder", "ladders", "roofline") or name.startswith("common")
        ) and name not in drawn:
            yield f"{name} is a picture of nothing that is measured"
    for name, picture in drawn.items():
        if not (root / name).is_file():
            yield f"{name} is missing"
        elif (root / name).read_text(encoding="utf-8") != picture:
            yield f"{name} does not show what is measured now"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--root", type=pathlib.Path, default=Repository().root, help="of a repository; this one, if not given"
    )
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(arguments)
    if given.write:
        for name, picture in pictures(given.root).items():
            (given.root / name).write_text(picture, encoding="utf-8")
        return 0
    complaints = list(complaints_of(given.root))
    for complaint in complaints:
        print(f"{complaint}: tests/plots.py --write draws it")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
