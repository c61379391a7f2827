#!/usr/bin/env python3
"""Prints which folder of common/ includes which, and fails on an arrow that is not allowed below, or on a
circle.

A back end knows no judge and no timing, the meter knows the CPU back end and not the other way round, and
code that compares or times knows no back end at all. Within a folder, parts do not include each other in a
circle; x.hpp and x.cpp are one part.
"""

from __future__ import annotations

import pathlib
import re
import sys
import tempfile
from collections.abc import Iterator

COMMON = pathlib.Path(__file__).resolve().parent.parent / "common"
# Headers that lie in no folder: those for steps, and those that several rooms share.
DOOR, TOP = "for steps", "for all"
FOR_STEPS = ("kata.hpp", "operators.hpp")

ALLOWED = {
    (DOOR, "simt"): "a step is compiled for one back end or the other",
    (DOOR, "gpu"): "a step is compiled for one back end or the other",
    (DOOR, TOP): "suites choose the operators that steps apply",
    ("simt", TOP): "implements the interface that both back ends share",
    ("gpu", TOP): "implements the interface that both back ends share",
    ("meter", TOP): "says what it has counted",
    ("meter", "simt"): "listens to the threads of the CPU back end",
    ("check", TOP): "errors are one type",
    ("timing", TOP): "errors are one type",
    ("judge", TOP): "runs steps on whatever back end it is linked with",
    ("judge", "check"): "compares what they computed",
    ("judge", "timing"): "judges claims about time",
    ("judge", "estimate"): "says what a step would take on a GPU that is not there",
    ("outside", TOP): "sends what was observed",
    ("outside", "judge"): "loads modules for it in processes of their own",
    ("outside", "simt"): "shares device memory between these",
    ("bench", TOP): "times kernels over arrays",
    ("bench", "timing"): "says how many times as fast one is as another",
    ("bench", "judge"): "loads the modules of steps",
    ("bench", "gpu"): "its program is for a GPU alone",
    ("estimate", TOP): "watches what the blocks of a launch do",
}


Arrows = dict[tuple[str, str], list[str]]  # from a room to another, and the includes that draw it


def room_of(path: pathlib.Path) -> str:
    return path.parts[0] if len(path.parts) > 1 else DOOR if path.name in FOR_STEPS else TOP


def includes_of(common: pathlib.Path) -> Iterator[tuple[pathlib.Path, str, pathlib.Path | None]]:
    """Yields (file, included name, included file or None) for each include."""
    for source in sorted(path for path in common.rglob("*") if path.suffix in (".cpp", ".hpp")):
        here = source.relative_to(common)
        for included in re.findall(r'^#\s*include "([^"]+)"', source.read_text(encoding="utf-8"), re.M):
            found = [
                path for path in (here.parent / included, pathlib.Path(included)) if (common / path).is_file()
            ]
            yield here, included, found[0] if found else None


def arrows_of(common: pathlib.Path) -> Arrows:
    """Returns each arrow from room to room, with the includes that draw it; an include from outside of common
    is one, too."""
    arrows: Arrows = {}
    for here, included, found in includes_of(common):
        there = room_of(found) if found else "elsewhere"
        if there != room_of(here):
            arrows.setdefault((room_of(here), there), []).append(f"{here} includes {included}")
    return arrows


def circles_of(common: pathlib.Path) -> list[str]:
    """Returns "simt/a -> simt/b -> simt/a" for the first circle found, if there is one; x.hpp and x.cpp are
    one part."""
    after: dict[str, list[str]] = {}
    for here, _, found in includes_of(common):
        if found and found.with_suffix("") != here.with_suffix(""):
            after.setdefault(here.with_suffix("").as_posix(), []).append(found.with_suffix("").as_posix())
    done = set()

    def walk(part: str, way: tuple[str, ...]) -> list[str]:
        if part in way:
            return [" -> ".join((*way[way.index(part) :], part))]
        circle = (
            []
            if part in done
            else next(filter(None, (walk(next_one, (*way, part)) for next_one in after.get(part, []))), [])
        )
        done.add(part)
        return circle

    return next(filter(None, (walk(part, ()) for part in after)), [])


def complaints_of(arrows: Arrows) -> list[str]:
    """Returns arrows that are drawn and not allowed, or allowed and no longer drawn."""
    forbidden = [
        f"{start} must not know {end}: {what}"
        for (start, end), includes in arrows.items()
        if (start, end) not in ALLOWED
        for what in includes
    ]
    return forbidden + [
        f"{start} no longer knows {end}: take the arrow out of the list"
        for start, end in ALLOWED.keys() - arrows.keys()
    ]


def says_no() -> bool:
    """True if a back end that includes a suite is found, a room that reaches out of common, and a circle."""
    with tempfile.TemporaryDirectory(prefix="kata-layers-") as folder:
        common = pathlib.Path(folder)
        for name, text in (
            ("simt/clock.cpp", '#include "judge/clock.hpp"\n#include <vector>\n#include "near.hpp"\n'),
            ("simt/near.hpp", '#include "far.hpp"\n'),
            ("simt/far.hpp", ""),
            ("simt/far.cpp", '#include "simt/near.hpp"\n'),
            ("judge/clock.hpp", '  // #include "gpu/x.hpp"\n#include "scan.hpp"\n'),
        ):
            (common / name).parent.mkdir(exist_ok=True)
            (common / name).write_text(text)
        arrows = arrows_of(common)
        return (
            arrows
            == {
                ("simt", "judge"): ["simt/clock.cpp includes judge/clock.hpp"],
                ("judge", "elsewhere"): ["judge/clock.hpp includes scan.hpp"],
            }
            and "simt must not know judge: simt/clock.cpp includes judge/clock.hpp" in complaints_of(arrows)
            and circles_of(common) == ["simt/near -> simt/far -> simt/near"]
        )


def main() -> int:
    arrows = arrows_of(COMMON)
    for (start, end), includes in sorted(arrows.items()):
        print(f"{start:9} -> {end:9} {len(includes):3}  {ALLOWED.get((start, end), '')}".rstrip())
    complaints = (
        complaints_of(arrows)
        + [f"a circle: {circle}" for circle in circles_of(COMMON)]
        + ([] if says_no() else ["layers.py does not see an arrow that it must see"])
    )
    print(*complaints, sep="\n", end="\n" if complaints else "", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
