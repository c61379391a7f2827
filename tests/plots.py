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
import csv
import hashlib
import html
import io
import json
import math
import pathlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import paths  # noqa: F401  it makes the modules below importable

# isort: split

from repository import Repository

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SKIPPED = 77  # Meson's status for a test that was not run

# The vendor's library on the problem of a ladder: type, size and input of a row of tests/beyond/results.csv.
VENDOR = {
    "histogram": ("7 bins", "2^28", "uniform"),
    "reduction": ("f32", "2^28", "random"),
    "scan": ("f32", "2^28", "inclusive"),
    "gemm": ("f32", "4096x4096x4096", ""),
}

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
TENSOR_CORES = 150  # % of the ceiling that nothing else reaches; caches may bring a little more than 100


class Step(TypedDict):
    step: str
    ms: float
    tflops: float
    share: float
    ceiling: float


class Series(TypedDict):
    kind: str
    steps: list[Step]


class Vendor(TypedDict):
    name: str
    ms: float


class Ladder(TypedDict):
    machine: str
    series: list[Series]
    vendor: Vendor | None


class OfChapter(Ladder):
    chapter: str


class Roofline(TypedDict):
    machine: str
    peak: float
    bandwidth: float
    points: dict[str, list[tuple[str, float, float]]]


class Judged(TypedDict):
    machine: str
    points: dict[str, list[tuple[float, float]]]


def rows_of(path: pathlib.Path) -> tuple[str, list[dict[str, str]]]:
    """Returns the machine in the first line, and the rows below it."""
    machine, *lines = path.read_text(encoding="utf-8").splitlines()
    return re.sub(r", driver.*", "", machine.removeprefix("# ")), list(csv.DictReader(lines))


def ceilings(rows: Sequence[dict[str, str]]) -> list[float]:
    """Returns the ceiling of each row, in ms. Rows of one problem share a ceiling, known best from the row
    nearest to it, because small shares have few digits. It was timed beside each row, and so differs by some
    per cent."""
    best = max(rows, key=lambda row: float(row["% of ceiling"]))
    common = float(best["ms"]) * float(best["% of ceiling"]) / 100
    shares = [(100 * common / float(row["ms"]), float(row["% of ceiling"])) for row in rows]
    same = all(abs(mine - theirs) < 0.06 + 0.06 * theirs for mine, theirs in shares)
    return [common if same else float(row["ms"]) * float(row["% of ceiling"]) / 100 for row in rows]


def ladder_of(root: pathlib.Path, chapter: str) -> Ladder:
    machine, rows = rows_of(root / "chapters" / chapter / "measured" / "ladder.csv")
    kind = list(rows[0])[1]
    series: list[Series] = []
    for value in dict.fromkeys(row[kind] for row in rows):
        mine = [row for row in rows if row[kind] == value]
        steps: list[Step] = [
            {
                "step": row["step"],
                "ms": float(row["ms"]),
                "tflops": float(row["TFLOP/s"]),
                "share": float(row["% of ceiling"]),
                "ceiling": round(ceiling, 4),
            }
            for row, ceiling in zip(mine, ceilings(mine))
        ]
        series.append({"kind": f"{kind} {value}".replace("_", " "), "steps": steps})
    return {"machine": machine, "series": series, "vendor": vendor_of(root, chapter)}


def vendor_of(root: pathlib.Path, chapter: str) -> Vendor | None:
    if chapter not in VENDOR:
        return None
    _, rows = rows_of(root / "tests" / "beyond" / "results.csv")
    wanted = dict(zip(("chapter", "type", "size", "input"), (chapter, *VENDOR[chapter])))
    found = next(row for row in rows if all(row[key] == value for key, value in wanted.items()))
    return {"name": found["rival"], "ms": float(found["rival_ms"])}


def intensities(root: pathlib.Path, chapter: str) -> dict[str, float]:
    """Returns operations a byte, by the title of a step, from the lesson's counted table; none if it has no
    such column."""
    text = (root / "chapters" / chapter / "README.md").read_text(encoding="utf-8")
    table = re.search(r"<!-- counted -->\n\n((?:\|.*\n)+)", text)
    lines = (
        [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in table[1].splitlines()]
        if table
        else [[]]
    )
    column = next((number for number, cell in enumerate(lines[0]) if cell.startswith("intensity")), None)
    return {} if column is None else {line[0].replace(" ", "_"): float(line[column]) for line in lines[2:]}


def of_floats(ladder: Ladder) -> Ladder:
    """Returns a ladder without the steps that multiply in tensor cores: the ceiling, which is arithmetic of
    floats, does not apply to them."""
    series: list[Series] = [
        {**one, "steps": [s for s in one["steps"] if s["share"] < TENSOR_CORES]} for one in ladder["series"]
    ]
    return {**ladder, "series": series}


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


def roof(root: pathlib.Path, ladders: Iterable[str]) -> tuple[str, float, float]:
    """Returns the machine, its arithmetic in TFLOP/s and the bandwidth of a copy in TB/s, from the rows
    nearest to these ceilings."""
    nearest = {"GB/s": (0.0, 0.0), "TFLOP/s": (0.0, 0.0)}
    for chapter in ladders:
        machine, rows = rows_of(root / "chapters" / chapter / "measured" / "ladder.csv")
        for row in rows:
            # Arithmetic limits gemm; the copy limits the others, except for the widest filter.
            quantity, share = "TFLOP/s" if chapter == "gemm" else "GB/s", float(row["% of ceiling"])
            if TENSOR_CORES > share > nearest[quantity][0] and row.get("radius") != "7":
                nearest[quantity] = share, 100 * float(row[quantity]) / share
    return machine, round(nearest["TFLOP/s"][1], 1), round(nearest["GB/s"][1] / 1000, 2)


def digest(data: object) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


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


def draw_roofline(data: Roofline) -> Figure:
    figure = begin(720, 430)
    axes = figure.add_axes((0.085, 0.115, 0.885, 0.80))
    plain(axes, "both")
    axes.set_xscale("log")
    axes.set_yscale("log")
    peak, bandwidth = data["peak"], data["bandwidth"]
    left, right, bottom, top = 0.08, 60, 0.15, 110
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    ticks(axes, left, right)
    ticks(axes, bottom, top, "y")
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
        axes.text(
            0.02,
            0.955 - 0.05 * place,
            f"{'▲●■◆'[place % 4]} {chapter}",
            transform=axes.transAxes,
            color=colour,
        )
    axes.set_xlabel("operations for each byte that threads load (counted)", fontsize=8.5)
    axes.set_ylabel("TFLOP/s (measured)", fontsize=8.5)
    figure.text(0.015, 0.955, f"roofline, {data['machine']}", weight="bold")
    return figure


def draw_judged(data: Judged) -> Figure:
    figure = begin(720, 430)
    axes = figure.add_axes((0.085, 0.115, 0.885, 0.80))
    plain(axes, "both")
    axes.set_xscale("log")
    axes.set_yscale("log")
    low, high = 0.1, 500
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    ticks(axes, low, high)
    ticks(axes, low, high, "y")
    axes.plot([low, high], [low, high], color=LIGHT["ceiling"], linewidth=1.5)
    for factor in (0.5, 2):
        axes.plot(
            [low, high], [low * factor, high * factor], color=LIGHT["muted"], linewidth=0.8, linestyle=":"
        )
    for place, (chapter, points) in enumerate(data["points"].items()):
        colour = SERIES[place % len(SERIES)]
        shape = "^osDv<>"[place % 7]
        axes.plot(*zip(*points), marker=shape, linestyle="none", color=colour, markersize=5, alpha=0.8)
        axes.text(
            0.02,
            0.955 - 0.05 * place,
            f"{'▲●■◆▼◀▶'[place % 7]} {chapter}",
            transform=axes.transAxes,
            color=colour,
        )
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
