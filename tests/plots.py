#!/usr/bin/env python3
"""The pictures of measurements, drawn by matplotlib.

plots.py            lists the pictures that do not show the present measurements; without matplotlib exits
                    with 77
plots.py --write    draws them anew

chapters/CHAPTER/measured/ladder.svg is the chapter's measured/ladder.csv: the times of its steps, the
ceiling, and the vendor's library where tests/beyond/results.csv has it. chapters/ladders.svg has all
chapters, for the first page, and chapters/roofline.svg has the speed of a step over its intensity, from its
lesson's counted table. common/estimate/judged/DEVICE.svg has each time that DEVICE.csv beside it estimates,
over the measured one.

A picture contains a digest of its numbers, so an outdated one is recognized without matplotlib. With
matplotlib each is drawn again: with the release that drew the committed one, the bytes must be the same, and
with another one, the words.
"""

from __future__ import annotations

import argparse
import html
import io
import math
import pathlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import paths  # noqa: F401  it makes the modules below importable

# isort: split

from measured import (
    Judged,
    Ladder,
    OfChapter,
    Roofline,
    digest,
    intensities,
    ladder_of,
    of_floats,
    roof,
    rows_of,
)
from repository import Repository

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SKIPPED = 77  # Meson's status for a test that was not run

# Name: on white, and on a dark background.
COLOURS = {
    "paper": ("#ffffff", "#0d1117"),
    "ink": ("#1f2328", "#e6edf3"),
    "muted": ("#59636e", "#9198a1"),
    "grid": ("#d1d9e0", "#3d444d"),
    "first": ("#2f6fb2", "#6cb0f2"),
    "second": ("#b35900", "#e8a33d"),
    "third": ("#6f42a5", "#b392f0"),
    "fourth": ("#57606b", "#a5afb9"),
    "ceiling": ("#1a7f37", "#3fb950"),
    "vendor": ("#cf222e", "#ff7b72"),
}
LIGHT = {name: pair[0] for name, pair in COLOURS.items()}
SERIES = [LIGHT[name] for name in ("first", "second", "third", "fourth")]


def pictures(root: pathlib.Path) -> dict[str, tuple[Callable[[Any], Figure], Any]]:
    """Returns the function that draws each picture and its data, by path."""
    chapters = Repository(root).chapters()
    ladders = {
        chapter: ladder_of(root, chapter)
        for chapter in chapters
        if (root / "chapters" / chapter / "measured" / "ladder.csv").is_file()
    }
    drawn: dict[str, tuple[Callable[[Any], Figure], Any]] = {
        f"chapters/{chapter}/measured/ladder.svg": (draw_ladder, {"chapter": chapter, **ladder})
        for chapter, ladder in ladders.items()
    }
    ladders = {chapter: of_floats(ladder) for chapter, ladder in ladders.items()}
    drawn["chapters/ladders.svg"] = (draw_ladders, ladders)
    points: dict[str, list[tuple[str, float, float]]] = {}
    for chapter, ladder in ladders.items():
        counted = intensities(root, chapter)
        found = [
            (s["step"], counted[s["step"]], s["tflops"])
            for s in ladder["series"][0]["steps"]
            if s["step"] in counted
        ]
        if found:
            points[chapter] = found
    machine, peak, bandwidth = roof(root, ladders)
    drawn["chapters/roofline.svg"] = (
        draw_roofline,
        {"machine": machine, "peak": peak, "bandwidth": bandwidth, "points": points},
    )
    for judged in sorted((root / "common" / "estimate" / "judged").glob("*.csv")):
        machine, rows = rows_of(judged)
        times: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            times.setdefault(row["chapter"], []).append(
                (float(row["measured ms"]), float(row["estimated ms"]))
            )
        drawn[f"common/estimate/judged/{judged.stem}.svg"] = (
            draw_judged,
            {"machine": machine, "points": times},
        )
    return drawn


# Drawing


def begin(width: float, height: float) -> Figure:
    """Returns an empty picture of this many pixels, with matplotlib's defaults restored."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib.figure import Figure

    matplotlib.rcdefaults()
    matplotlib.rcParams.update(
        {
            "svg.fonttype": "none",  # words stay words
            "svg.hashsalt": "cuda-kata",
            "font.family": ["sans-serif"],
            "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
            "font.size": 9,
            "axes.edgecolor": LIGHT["grid"],
            "axes.labelcolor": LIGHT["muted"],
            "text.color": LIGHT["ink"],
            "xtick.color": LIGHT["muted"],
            "ytick.color": LIGHT["ink"],
            "path.simplify": False,
        }
    )
    return Figure(figsize=(width / 72, height / 72), facecolor=LIGHT["paper"])


def plain(axes: Axes, grid: Literal["both", "x", "y"] = "x") -> None:
    axes.set_facecolor("none")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.grid(axis=grid, color=LIGHT["grid"], linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)


def title_of(step: str) -> str:
    return step.replace("_", " ")


def ticks(axes: Axes, low: float, high: float, axis: str = "x") -> None:
    """Marks powers of ten, and as many values between them as are easy to read; the same words in every
    release."""
    for between in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1,)):
        places = [m * 10.0**e for e in range(-3, 5) for m in between if low <= m * 10.0**e <= high]
        if len(places) <= 8:
            break
    getattr(axes, f"set_{axis}ticks")(places)
    getattr(axes, f"set_{axis}ticklabels")([f"{place:g}" for place in places])
    getattr(axes, f"set_{axis}ticks")([], minor=True)


def draw_ladder(data: OfChapter) -> Figure:
    series = data["series"]
    names = [step["step"] for step in series[0]["steps"]]
    height = 74 + len(names) * max(18, 15 * len(series))
    figure = begin(720, height)
    axes = figure.add_axes((0.27, 44 / height, 0.69, 1 - 74 / height))
    plain(axes)
    axes.set_xscale("log")
    times = [step["ms"] for one in series for step in one["steps"]] + [
        step["ceiling"] for one in series for step in one["steps"]
    ]
    vendor = data["vendor"]
    if vendor:
        times.append(vendor["ms"])
    low, high = min(times) / 1.35, max(times) * 1.7
    axes.set_xlim(low, high)
    ticks(axes, low, high)
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.set_yticks(range(len(names)))
    axes.set_yticklabels([title_of(name) for name in names])
    for index, one in enumerate(series):
        shift = (index - (len(series) - 1) / 2) * 0.8 / len(series)
        for row, step in enumerate(one["steps"]):
            y = row + shift
            # The thin part is the time of the step beyond its ceiling.
            axes.plot([step["ceiling"], step["ms"]], [y, y], color=SERIES[index], linewidth=1.2, alpha=0.55)
            axes.plot(
                [step["ceiling"]] * 2,
                [y - 0.4 / len(series), y + 0.4 / len(series)],
                color=LIGHT["ceiling"],
                linewidth=2,
            )
            axes.plot([step["ms"]], [y], marker="o", markersize=5.5, color=SERIES[index], linestyle="none")
            axes.annotate(
                f"{step['ms']:.3f}",
                (step["ms"], y),
                (6, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
            )
    if vendor:
        axes.axvline(vendor["ms"], color=LIGHT["vendor"], linewidth=1.2, linestyle=(0, (4, 3)), zorder=0.9)
    axes.set_xlabel("milliseconds, logarithmic", fontsize=8.5)
    words = [(f"{data['chapter']}, {data['machine']}", LIGHT["ink"])]
    if len(series) > 1:
        words += [(f"● {one['kind']}", SERIES[index]) for index, one in enumerate(series)]
    words.append(("| ceiling", LIGHT["ceiling"]))
    if vendor:
        words.append((f"┆ {vendor['name']} {vendor['ms']:.3f}", LIGHT["vendor"]))
    header(figure, words, 1 - 17 / height)
    return figure


def header(figure: Figure, words: Iterable[tuple[str, str]], y: float) -> None:
    x = 0.015
    for text, colour in words:
        figure.text(x, y, text, color=colour, fontsize=9, weight="bold" if x < 0.02 else "normal")
        x += 0.0089 * len(text) + 0.02


def draw_ladders(data: Mapping[str, Ladder]) -> Figure:
    figure = begin(900, 470)
    chapters = list(data)
    columns = 4
    for place, chapter in enumerate(chapters):
        steps, vendor = data[chapter]["series"][0]["steps"], data[chapter]["vendor"]
        across, down = place % columns, place // columns
        axes = figure.add_axes((0.035 + across * 0.244, 1 - (down + 1) * 0.485 + 0.035, 0.205, 0.385))
        plain(axes)
        shares = [step["share"] for step in steps]
        axes.barh(range(len(steps)), shares, height=0.72, color=LIGHT["first"])
        for row, share in enumerate(shares):
            inside = share > 80
            axes.annotate(
                f"{math.floor(share + 0.5)}" if share >= 1 else f"{share:.1f}",
                (min(share, 97), row),  # clear of the line at the ceiling
                (-3 if inside else 3, 0),
                textcoords="offset points",
                va="center",
                ha="right" if inside else "left",
                fontsize=7.5,
                color=LIGHT["paper"] if inside else LIGHT["ink"],
            )
        axes.axvline(100, color=LIGHT["ceiling"], linewidth=1.6)
        if vendor:
            axes.axvline(
                100 * steps[-1]["ceiling"] / vendor["ms"],
                color=LIGHT["vendor"],
                linewidth=1.2,
                linestyle=(0, (4, 3)),
            )
        axes.set_xlim(0, 106)
        axes.set_xticks([0, 50, 100])
        axes.set_xticklabels(["0", "50", "100 %"])
        # Bars are equally thick in chapters of four steps and of six.
        axes.set_ylim(max(len(steps), 6) - 0.4, -0.6)
        axes.set_yticks(range(len(steps)))
        axes.set_yticklabels([step["step"][:2] for step in steps], fontsize=8)
        axes.set_title(chapter, loc="left", fontsize=10.5, weight="bold")
    across, down = len(chapters) % columns, len(chapters) // columns
    legend(figure, 0.025 + across * 0.244, 1 - down * 0.485 - 0.075, data)
    return figure


def legend(figure: Figure, x: float, y: float, data: Mapping[str, Ladder]) -> None:
    machine = next(iter(data.values()))["machine"]
    names = sorted({ladder["vendor"]["name"].split()[0] for ladder in data.values() if ladder["vendor"]})
    for text, colour in (
        ("A bar is a step: how near its", LIGHT["ink"]),
        ("time comes to the ceiling.", LIGHT["ink"]),
        ("", ""),
        ("| the ceiling: this GPU copies", LIGHT["ceiling"]),
        ("   the problem's bytes once, or", LIGHT["ceiling"]),
        ("   does its arithmetic", LIGHT["ceiling"]),
        (f"┆ NVIDIA's {' and '.join(names)}", LIGHT["vendor"]),
        ("", ""),
        (machine.split(", ")[0], LIGHT["muted"]),
        (machine.split(", ")[1], LIGHT["muted"]),
    ):
        if text:
            figure.text(x, y, text, color=colour, fontsize=8.5)
        y -= 0.036


def begin_logarithmic(width: tuple[float, float], height: tuple[float, float]) -> tuple[Figure, Axes]:
    figure = begin(720, 430)
    axes = figure.add_axes((0.085, 0.115, 0.885, 0.80))
    plain(axes, "both")
    axes.set(xscale="log", yscale="log", xlim=width, ylim=height)
    ticks(axes, *width)
    ticks(axes, *height, "y")
    return figure, axes


def name_series(axes: Axes, place: int, text: str, colour: str) -> None:
    axes.text(0.02, 0.955 - 0.05 * place, text, transform=axes.transAxes, color=colour)


def draw_roofline(data: Roofline) -> Figure:
    peak, bandwidth = data["peak"], data["bandwidth"]
    left, right = 0.08, 60
    figure, axes = begin_logarithmic((left, right), (0.15, 110))
    edge = peak / bandwidth
    axes.plot([left, edge, right], [left * bandwidth, peak, peak], color=LIGHT["ceiling"], linewidth=2)
    axes.annotate(
        f"arithmetic: {peak:g} TFLOP/s",
        (right, peak),
        (-4, 5),
        textcoords="offset points",
        ha="right",
        color=LIGHT["ceiling"],
    )
    axes.annotate(
        f"copy: {bandwidth:.2f} TB/s",
        (6, 6 * bandwidth),
        (-8, 2),
        textcoords="offset points",
        ha="right",
        color=LIGHT["ceiling"],
    )
    shapes = ("^", "o", "s", "D")
    for place, (chapter, points) in enumerate(data["points"].items()):
        colour = SERIES[place % len(SERIES)]
        axes.plot(
            [p[1] for p in points],
            [p[2] for p in points],
            color=colour,
            linewidth=0.8,
            alpha=0.5 if chapter != "grids" else 0,
        )
        axes.plot(
            [p[1] for p in points],
            [p[2] for p in points],
            marker=shapes[place % 4],
            linestyle="none",
            color=colour,
            markersize=6,
        )
        for step, x, y in points:
            axes.annotate(step[:2], (x, y), (6, 4), textcoords="offset points", fontsize=8, color=colour)
        name_series(axes, place, f"{'▲●■◆'[place % 4]} {chapter}", colour)
    axes.set_xlabel("operations for each byte that threads load (counted)", fontsize=8.5)
    axes.set_ylabel("TFLOP/s (measured)", fontsize=8.5)
    figure.text(0.015, 0.955, f"roofline, {data['machine']}", weight="bold")
    return figure


def draw_judged(data: Judged) -> Figure:
    low, high = 0.1, 500
    figure, axes = begin_logarithmic((low, high), (low, high))
    axes.plot([low, high], [low, high], color=LIGHT["ceiling"], linewidth=1.5)
    for factor in (0.5, 2):
        axes.plot(
            [low, high], [low * factor, high * factor], color=LIGHT["muted"], linewidth=0.8, linestyle=":"
        )
    for place, (chapter, points) in enumerate(data["points"].items()):
        colour = SERIES[place % len(SERIES)]
        shape = "^osDv<>"[place % 7]
        axes.plot(*zip(*points), marker=shape, linestyle="none", color=colour, markersize=5, alpha=0.8)
        name_series(axes, place, f"{'▲●■◆▼◀▶'[place % 7]} {chapter}", colour)
    axes.set_xlabel("ms, measured; dotted: half and twice as long", fontsize=8.5)
    axes.set_ylabel("ms, estimated", fontsize=8.5)
    figure.text(0.015, 0.955, f"estimate, {data['machine']}", weight="bold")
    return figure


def svg(draw: Callable[[Any], Figure], data: Any) -> str:
    import matplotlib

    figure = draw(data)
    file = io.StringIO()
    metadata = {
        "Date": None,
        "Creator": f"matplotlib {matplotlib.__version__}",
        "Description": f"numbers {digest(data)}",
    }
    figure.savefig(file, format="svg", metadata=metadata)
    dark = "".join(
        f'[style*="{what}: {light}"] {{ {what}: {night} !important }} '
        for light, night in COLOURS.values()
        for what in ("fill", "stroke")
    )
    text = "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"
    return text.replace(
        " <defs>\n", f" <style>@media (prefers-color-scheme: dark) {{ {dark}}}</style>\n <defs>\n", 1
    )


# Checking


def words(text: str) -> list[str]:
    return [
        html.unescape(re.sub(r"<[^>]*>", "", found))
        for found in re.findall(r"<text[^>]*>(.*?)</text>", text, re.S)
    ]


def release(text: str) -> str:
    found = re.search(r"matplotlib (\S+?)<", text)
    return found[1] if found else ""


def complaints_of(root: pathlib.Path, can_draw: bool) -> Iterator[str]:
    drawn = pictures(root)
    places = [
        path for path in (root / "chapters").rglob("*.svg") if path.stem in ("ladder", "ladders", "roofline")
    ]
    there = {
        str(path.relative_to(root))
        for path in [*places, *(root / "common" / "estimate" / "judged").glob("*.svg")]
    }
    for name in sorted(there - drawn.keys()):
        yield f"{name} is a picture of nothing that is measured"
    for name, (draw, data) in drawn.items():
        if name not in there:
            yield f"{name} is missing"
            continue
        committed = (root / name).read_text(encoding="utf-8")
        if f"numbers {digest(data)}" not in committed:
            yield f"{name} is not of what is measured now"
        elif can_draw:
            anew = svg(draw, data)
            same = (
                anew == committed if release(anew) == release(committed) else words(anew) == words(committed)
            )
            if not same:
                yield f"{name} is not what tests/plots.py draws"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--root", type=pathlib.Path, default=Repository().root, help="of a repository; this one, if not given"
    )
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(arguments)
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        can_draw = False
    else:
        can_draw = True
    if given.write:
        if not can_draw:
            sys.exit("matplotlib is missing: apt-get install python3-matplotlib, or pip install matplotlib")
        for name, (draw, data) in pictures(given.root).items():
            (given.root / name).write_text(svg(draw, data), encoding="utf-8")
        return 0
    complaints = list(complaints_of(given.root, can_draw))
    for complaint in complaints:
        print(f"{complaint}: tests/plots.py --write draws it")
    if complaints:
        return 1
    if not can_draw:
        print("matplotlib is missing: pictures carry the right numbers, and were not drawn again")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
