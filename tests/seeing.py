#!/usr/bin/env python3
"""The pictures of ./kata see for requests that are made up here, so that the right picture is known."""

from __future__ import annotations

import html
import re
import unittest
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from typing import Any, cast

from paths import ROOT

import book
import drawing
import pictures
import see
import trace
import warp_pictures
from explaining import found
from fault import Fault
from repository import Repository

KINDS = ["load global", "store global", "load shared", "store shared", "atomic shared"]


def request(
    did: str,
    memory: str,
    addresses: Sequence[int],
    *,
    array: int = 0,
    lanes: Sequence[int] | None = None,
    block: int = 0,
    warp: int = 0,
    barriers: int = 0,
    begins: int = 0,
    steps: int = 1,
    size: int = 4,
    launch: int = 0,
) -> list[int]:
    """Returns a request in a suite's form; `addresses` are in elements."""
    lanes = range(len(addresses)) if lanes is None else lanes
    number = KINDS.index(f"{did} {memory}")
    mask = sum(1 << lane for lane in lanes)
    return [
        launch,
        block,
        warp,
        barriers,
        begins,
        begins + steps,
        number,
        steps,
        mask,
        array,
        size,
        *(size * a for a in addresses),
    ]


def drawn(
    requests: list[list[int]],
    picture: str,
    shapes: Sequence[Sequence[object]],
    arrays: Sequence[tuple[str, int]],
    grid: Sequence[int] = (1, 1, 1),
    block: Sequence[int] = (32, 1, 1),
) -> trace.Found:
    places = [name.split() for name in KINDS]
    return cast("trace.Found", {
        **found(), "problem": "a problem", "picture": picture, "shapes": shapes,
        "launches": [{"grid": list(grid), "block": list(block)}],
        "arrays": [{"name": name, "bytes": size} for name, size in arrays],
        "places": [{"line": "03_blur.cu:21", "did": did, "memory": memory} for did, memory in places],
        "requests": requests,
    })  # fmt: skip


WARP = list(range(32))


class Pictures(unittest.TestCase):
    def one(
        self,
        did: str,
        memory: str,
        addresses: Sequence[int],
        *,
        shapes: Sequence[Sequence[object]] = (),
        **options: Any,
    ) -> drawing.Panel:
        """Returns the picture of one request."""
        seen = drawing.Trace(
            drawn([request(did, memory, addresses, **options)], "fetches", shapes, [("in", 4096)])
        )
        return warp_pictures.of_request(seen, seen.requests[0])

    def chapter(self, seen: trace.Found) -> str:
        return pictures.of_chapter([drawing.Trace(seen)], ["mine"]).body()

    def page(self, seen: trace.Found) -> str:
        return see.page(Repository(), "grids", "03_blur", trace.Both(seen, seen), "solutions")

    def cells(self, panel: drawing.Panel, colour: str) -> int:
        return len(panel.cells.get(colour, []))

    def test_a_request_of_neighbours_fills_its_sectors(self) -> None:
        panel = self.one("load", "global", WARP)
        # 8 lanes, and 8 elements of a sector.
        self.assertEqual([self.cells(panel, colour) for colour in "abcd"], [16] * 4)
        self.assertEqual(self.cells(panel, "empty"), 0)

    def test_a_request_with_a_stride_leaves_them_empty(self) -> None:
        panel = self.one("load", "global", [8 * lane for lane in WARP])
        self.assertEqual(sum(self.cells(panel, colour) for colour in "abcd"), 64)
        self.assertEqual(self.cells(panel, "empty"), 32 * 7)

    def test_lanes_that_rest_are_empty(self) -> None:
        panel = self.one("load", "global", [0, 1, 2], lanes=[4, 5, 9])
        self.assertEqual((self.cells(panel, "a"), self.cells(panel, "empty")), (6, 29 + 5))

    def test_words_in_one_bank_are_passes_below_each_other(self) -> None:
        def conflicts(addresses: Sequence[int]) -> tuple[int, int]:
            panel = self.one("load", "shared", addresses)
            return self.cells(panel, "a"), self.cells(panel, "b")

        self.assertEqual(conflicts(WARP), (32, 0))
        self.assertEqual(conflicts([7] * 32), (1, 0))
        self.assertEqual(conflicts([32 * lane for lane in WARP]), (1, 31))
        self.assertEqual(conflicts([2 * lane for lane in WARP]), (16, 16))

    def test_atomics_on_one_word_are_a_row_for_each_lane(self) -> None:
        def rows(addresses: Sequence[int]) -> tuple[int, list[int]]:
            panel = self.one("atomic", "shared", addresses)
            passes = sum(">pass" in part for part in panel.parts)
            return passes, [self.cells(panel, colour) for colour in "abd"]

        self.assertEqual(rows([7] * 4), (4, [1, 0, 3]))
        self.assertEqual(rows([0, 1, 2]), (1, [3, 0, 0]))
        self.assertEqual(rows([0, 0, 1, 1, 1]), (3, [2, 0, 3]))
        self.assertEqual(rows([0, 32, 32]), (3, [1, 1, 1]))  # two words of a bank are passes as in a load
        panel = self.one("load", "shared", [7] * 4)
        self.assertEqual((self.cells(panel, "a"), self.cells(panel, "d")), (1, 0))

    def test_sectors_are_numbered_in_elements_of_the_array(self) -> None:
        bytes_of_words = self.one("load", "global", WARP, shapes=[["in", 4096]])  # in words of four
        for text, panel in (("in[32…]", bytes_of_words), ("in[8…]", self.one("load", "global", WARP))):
            self.assertIn(f">{text}<", panel.body())
        self.assertNotIn("in[8…]", bytes_of_words.body())

    def test_elements_that_a_lane_requests_at_once_are_reported(self) -> None:
        requests = [request("load", "global", [0, 1], size=16), request("load", "global", [0])]
        for shapes, said in (
            ([["in", 16]], "the most; each lane requests 4 elements at once"),
            ([], "the most"),
        ):
            seen = drawing.Trace(drawn(requests, "fetches", shapes, [("in", 64)]))
            wide, narrow = seen.requests
            self.assertTrue(warp_pictures.words_for(seen, wide, [1]).endswith(said))
            self.assertTrue(warp_pictures.words_for(seen, narrow, [1]).endswith("the most"))

    def test_each_load_of_an_element_is_counted_also_of_wide_ones(self) -> None:
        seen = drawing.Trace(
            drawn(
                [
                    request("load", "global", WARP),
                    request("load", "global", [0] * 32),
                    request("load", "global", [0], size=16),
                ],
                "fetches",
                [["in", 4, 8]],
                [("in", 128)],
            )
        )
        counts = seen.loads(["in"])["in"]
        self.assertEqual([counts[i] for i in (0, 1, 3, 4)], [34, 2, 2, 1])

    def kogge_stone(self) -> drawing.Trace:
        """Returns the trace of Kogge and Stone's scan over four elements, a thread each."""
        requests = [
            request("load", "global", [0, 1, 2, 3]),
            request("store", "shared", [0, 1, 2, 3], array=1, begins=1),
        ]
        for round_, stride in enumerate((1, 2)):
            lanes = list(range(stride, 4))
            at: dict[str, Any] = {"array": 1, "lanes": lanes}
            requests.append(
                request(
                    "load",
                    "shared",
                    [lane - stride for lane in lanes],
                    barriers=2 * round_ + 1,
                    begins=10 * round_ + 10,
                    **at,
                )
            )
            requests.append(
                request("store", "shared", lanes, barriers=2 * round_ + 2, begins=10 * round_ + 15, **at)
            )
        return drawing.Trace(drawn(requests, "network", [], [("in", 16), ("x", 4096)], block=(4, 1, 1)))

    def test_the_network_is_that_of_the_additions(self) -> None:
        additions, columns = pictures.additions(self.kogge_stone())
        self.assertEqual(columns, 4)
        self.assertEqual(
            [(source, into) for source, into, _ in additions], [(0, 1), (1, 2), (2, 3), (0, 2), (1, 3)]
        )
        self.assertEqual(len({level for _, _, level in additions}), 2)

    def test_the_network_is_that_of_the_smallest_launch(self) -> None:
        small = self.kogge_stone().found
        large = [
            request("load", "shared", WARP, array=1, launch=1),
            request("store", "shared", WARP, array=1, launch=1),
        ] * 20
        seen = drawing.Trace(
            {**small, "requests": [*large, *small["requests"]], "launches": small["launches"] * 2}
        )
        self.assertEqual(pictures.additions(seen), pictures.additions(self.kogge_stone()))
        self.assertEqual({r.launch for r in seen.of_one_block()}, {1})

    def test_additions_in_registers_alone_leave_the_network_empty(self) -> None:
        seen = drawn(
            [request("load", "global", WARP), request("store", "global", WARP)], "network", [], [("in", 128)]
        )
        self.assertIn("nothing is added in shared memory", self.chapter(seen))

    def test_stores_are_counted_by_block(self) -> None:
        seen = drawn(
            [
                request("store", "global", [32 * b + lane for lane in range(n)], block=b)
                for b, n in ((0, 32), (1, 20))
            ],
            "owners",
            [["out", 52]],
            [("out", 208)],
            grid=(2, 1, 1),
        )
        picture = self.chapter(seen)
        for text in ("block 0", "32 of 32", "block 1", "20 of 32"):
            self.assertIn(f">{text}<", picture)
        self.assertIn("20 of 32: that many of its threads store.", html.unescape(picture))

    def test_lanes_that_meet_at_a_bin_are_counted(self) -> None:
        seen = drawn(
            [request("atomic", "shared", [0] * 30 + [1, 2])], "contention", [["histo", 7]], [("histo", 28)]
        )
        self.assertIn(">29 waited<", self.chapter(seen))

    def test_a_page_stands_alone_and_knows_light_and_dark(self) -> None:
        seen = drawn(
            [
                request("load", "global", WARP),
                request("store", "shared", WARP, array=1, begins=1),
                request("load", "shared", WARP, array=1, barriers=1, begins=5),
                request("store", "global", WARP, barriers=1, begins=9),
            ],
            "fetches",
            [["in", 4, 8]],
            [("in", 128), ("tile<&>", 128)],
        )
        seen["fault"] = "1 < 2 & wrong"
        page = self.page(seen)
        self.assertIn("a smaller problem than the one that the tests count", page)
        self.assertEqual(page.count("@media (prefers-color-scheme: dark)"), 2)
        self.assertEqual(re.findall(r"https?://(?!www\.w3\.org/2000/svg)[^\"]*|(?:src|href)=", page), [])
        self.assertIn("1 &lt; 2 &amp; wrong", page)
        self.assertIn("your step", page)
        for svg in re.findall(r"<svg.*?</svg>", page, re.S):
            ElementTree.fromstring(svg)
        self.assertGreaterEqual(page.count("<svg"), 4)

    def test_a_page_mentions_waits_at_global_atomics_if_there_are_any(self) -> None:
        for did, times in (("atomic", 1), ("store", 0)):
            seen = drawn([request("store", "global", WARP)], "fetches", [["in", 4, 8]], [("in", 128)])
            seen["places"][1]["did"] = did
            page = self.page(seen)
            self.assertEqual(
                page.count("The pictures do not show how long an atomic on global memory waits"), times
            )
            self.assertEqual(page.count("./kata explain grids 03</code> counts these waits"), times)

    def test_every_picture_that_a_suite_asks_for_is_there(self) -> None:
        asked = {
            name
            for suite in (ROOT / "tests").glob("*.cpp")
            for name in re.findall(r'"(\w+)"(?=(?:,\s*\{\{"|\}))', suite.read_text(encoding="utf-8"))
            if name in pictures.PICTURES
        }
        self.assertEqual(asked, set(pictures.PICTURES))

    def test_pictures_of_different_kinds_are_not_mixed(self) -> None:
        fetches = drawn([request("load", "global", WARP)], "fetches", [["in", 4, 8]], [("in", 128)])
        owners = drawn([request("store", "global", WARP)], "owners", [["in", 32]], [("in", 128)])
        with self.assertRaises(Fault):
            pictures.of_chapter([drawing.Trace(fetches), drawing.Trace(owners)], ["a", "b"])
        with self.assertRaises(Fault):
            pictures.of_chapter([drawing.Trace({**fetches, "picture": "nothing"})], ["a"])

    def test_a_telephone_shows_panels_one_below_the_other(self) -> None:
        panels = [drawing.Panel(), drawing.Panel(), drawing.Panel()]
        for panel, high in zip(panels, (40, 90, 60)):
            panel.rect(0, 0, 400, high, "a")
        wide = pictures.beside(panels, ["1", "2", "3"], drawing.heat_key("loads:", 99))
        self.assertGreater(wide.width, 800)
        shown = ElementTree.fromstring(book.narrow(wide.svg("of loads", with_style=True)))
        places = [group.get("transform") for group in shown.findall(f"{{{book.SVG}}}g")]
        self.assertEqual(places[:3], [f"translate(0 {y})" for y in (22, 98, 224)])
        self.assertEqual((shown.get("width"), shown.get("height")), ("404", "335"))
        self.assertEqual(book.narrow(panels[0].svg("alone", with_style=True)), "")

    def test_a_step_that_does_nothing_is_reported_as_such(self) -> None:
        nothing = drawn([], "fetches", [["in", 4, 8]], [])
        with self.assertRaises(Fault):
            self.page(nothing)


if __name__ == "__main__":
    unittest.main()
