"""The picture of each chapter, and the life of a block: traces beside each other, a panel each and a key."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Sequence

from drawing import COLOURS, Panel, Request, Trace, colour_key, grid_of, heat, heat_key, runs
from fault import Fault

# --- the picture of a chapter: each takes traces, beside each other, and gives a panel for each and a key ---


def fetches(traces: Sequence[Trace]) -> tuple[list[Panel], Panel]:
    counted = []
    for trace in traces:
        loads = trace.loads(name for name, extent in trace.shapes.items() if len(extent) == 2)
        counted.append({name: counts for name, counts in loads.items() if counts})
    panels = []
    for trace, loads in zip(traces, counted):
        panel, x = Panel(), 0.0
        for name, counts in loads.items():
            high, wide = trace.extent(name)
            cell = max(1.0, min(6.0, 280 // max(wide, 1)))
            panel.text(
                x,
                12,
                f"{name}: {wide} x {high}, each {sum(counts.values()) / (wide * high):.1f} times",
                "small",
            )
            rows = [[heat(counts[row * wide + column]) for column in range(wide)] for row in range(high)]
            grid_of(panel, x, 20, rows, cell, cell)
            x = max(x + cell * wide, panel.width) + 16
        panels.append(panel)
    most = max((max(counts.values()) for loads in counted for counts in loads.values()), default=1)
    return panels, heat_key("loads of an element from global memory:", most)


def served(loads: collections.Counter[int], products: int, high: int, wide: int) -> list[list[str]]:
    """Returns the colour of each element of a factor: the products that a load of it serves."""
    return [[heat(products / max(1, loads[row * wide + x])) for x in range(wide)] for row in range(high)]


def reuse(traces: Sequence[Trace]) -> tuple[list[Panel], Panel]:
    """Draws the matrices of a product, each factor beside the side of the product with its length."""
    panels: list[Panel] = []
    most: float = 1
    for trace in traces:
        (a, (m, k)), (b, (_, n)), (c, _) = trace.shapes.items()
        loads = trace.loads((a, b))
        tile: set[int] = set()  # elements that the first block stores
        thread: set[int] = set()  # elements that its first thread stores
        for r in trace.requests:
            if r.array != c or r.did != "store" or r.block != 0:
                continue
            for lane, at in r.reaches:
                stored = range(at // 4, (at + r.bytes) // 4)
                tile.update(stored)
                if r.warp == 0 and lane == 0:
                    thread.update(stored)
        panel, cell = Panel(), 1.8
        left, top = cell * k + 14, 34 + cell * k + 16

        most = max(
            [most, *(n / count for count in loads[a].values()), *(m / count for count in loads[b].values())]
        )
        grid_of(panel, left, 34, served(loads[b], m, k, n), cell, cell)
        grid_of(panel, 0, top, served(loads[a], n, m, k), cell, cell)
        inside = [["a" if row * n + x in tile else "empty" for x in range(n)] for row in range(m)]
        grid_of(panel, left, top, inside, cell, cell)
        for element in thread:  # larger than they are, to be seen
            panel.rect(left + element % n * cell, top + element // n * cell, 3, 3, "f")
        for name, products, elements, x, y in (
            (b, m, k * n, left, 28),
            (a, n, m * k, 0, top + cell * m + 14),
        ):
            each = products * elements / max(1, sum(loads[name].values()))
            panel.text(x, y, f"{name}: a load serves {each:.0f} product{'s' * (round(each) != 1)}", "small")
        panel.text(left + cell * n + 4, top + 10, c, "small")
        panels.append(panel)
    key = heat_key("products for which an element is loaded once:", most)
    more = colour_key([("a", "what one block computes"), ("f", "and in it one thread")])
    key.add(more, 0, key.height + 5)
    return panels, key


def owners(traces: Sequence[Trace]) -> tuple[list[Panel], Panel]:
    panels = []
    said: dict[str, None] = {}  # the words below a block, one for each panel
    for trace in traces:
        panel = Panel()
        name = list(trace.shapes)[-1]
        extent = trace.extent(name)
        high, wide = extent if len(extent) == 2 else (math.ceil(extent[0] / 64), 64)
        owner: dict[int, tuple[int, int]] = {}
        stores: dict[int, set[tuple[int, int]]] = {}  # by block, warp and lane of the threads that store
        for r in trace.requests:
            if r.array == name and r.did == "store":
                stores.setdefault(r.block, set()).update((r.warp, lane) for lane in r.lanes)
                for at in r.at:
                    owner.update(
                        (e, (r.block, r.warp))
                        for e in range(at // trace.element(name), (at + r.bytes) // trace.element(name))
                    )
        cell = max(2.0, min(8.0, 320 // wide))
        tall = cell if len(extent) == 2 else 16
        # Blocks that lie above each other must differ, too.
        across = trace.found["launches"][-1]["grid"][0]
        colour = {e: COLOURS[2 * ((b % across + b // across) % 2) + w % 2] for e, (b, w) in owner.items()}
        grid_of(
            panel,
            0,
            2,
            [[colour.get(row * wide + x, "empty") for x in range(wide)] for row in range(high)],
            cell,
            tall,
        )
        of_block: dict[int, list[int]] = {}
        for element, (block, _) in owner.items():
            of_block.setdefault(block, []).append(element)
        threads = math.prod(trace.found["launches"][-1]["block"])
        said.setdefault(f"{min(map(len, stores.values()), default=0)} of {threads}")
        for block, elements in sorted(of_block.items())[:16]:
            x = (sum(e % wide for e in elements) / len(elements) + 0.5) * cell
            y = (sum(e // wide for e in elements) / len(elements) + 0.5) * tall + 2
            panel.text(x, y, f"block {block}", "cell")
            panel.text(x, y + 12, f"{len(stores[block])} of {threads}", "cell")
        panels.append(panel)
    key = Panel()
    key.text(0, 12, "Two colours alternate by warp; the next block has two others.", "small")
    key.text(0, 26, f"{next(iter(said))}: that many of its threads store.", "small")
    return panels, key


def planes(traces: Sequence[Trace]) -> tuple[list[Panel], Panel]:
    panels = []
    for trace in traces:
        panel = Panel()
        name = next(iter(trace.shapes))
        deep, high, wide = trace.extent(name)
        plane = trace.element(name) * high * wide
        # The block that loads most: one in the middle, and not one that hangs over an edge.
        loads = [r for r in trace.requests if r.array == name and r.did == "load"]
        of_block: collections.Counter[int] = collections.Counter()
        for r in loads:
            of_block[r.block] += len(r.lanes)
        block = min((b for b in of_block), key=lambda b: (-of_block[b], b), default=0)
        mine = [r for r in loads if r.block == block]
        whole = [r for r in trace.requests if r.block == block]
        begin, end = min(r.begins for r in whole), max(r.ends for r in whole)
        columns = 64
        counts: collections.Counter[tuple[int, int]] = collections.Counter()
        reached: dict[int, set[int]] = {}
        for r in mine:
            column = (r.ends - 1 - begin) * columns // max(1, end - begin)
            for at in r.at:
                counts[at // plane, column] += 1
                reached.setdefault(at // plane, set()).add(at)
        cells = {z: len(found) for z, found in reached.items()}
        times = sum(counts.values()) / max(1, sum(cells.values()))
        panel.text(
            0,
            12,
            f"block {block}: {len(cells)} planes, each cell {times:.1f} times, {end - begin} steps",
            "small",
        )
        rows = [
            [heat(32 * counts[z, x] / max(1, cells.get(z, 1))) for x in range(columns)] for z in range(deep)
        ]
        grid_of(panel, 34, 20, rows, 4, 6)
        panel.text(30, 28, "z = 0", "small right")
        panel.text(30, 20 + 6 * deep, f"{deep - 1}", "small right")
        panel.text(34, 34 + 6 * deep, "time, in steps of the block →", "small")
        panels.append(panel)
    return panels, colour_key(
        [
            ("h2", "few cells of a plane are loaded"),
            ("h5", "half of what the block loads of it"),
            ("h6", "all of it"),
            ("h7", "more than once"),
        ]
    )


def contention(traces: Sequence[Trace]) -> tuple[list[Panel], Panel]:
    panels = []
    for trace in traces:
        panel, x = Panel(), 0.0
        bins = math.prod(trace.extent(next(iter(trace.shapes))))
        for memory in ("global", "shared"):
            mine = [r for r in trace.requests if r.did == "atomic" and r.memory == memory]
            atomics = sum(len(r.lanes) for r in mine)
            waits = sum(len(r.lanes) - len(set(r.at)) for r in mine)
            panel.text(x, 12, f"{memory} memory", "small")
            panel.text(x, 25, f"{atomics:,} atomics" if mine else "no atomics", "small")
            panel.text(x, 38, f"{waits:,} waited" if mine else "", "small")
            rows = []
            high = 56
            for begin in range(0, len(mine), max(1, math.ceil(len(mine) / high))):
                part = mine[begin : begin + max(1, math.ceil(len(mine) / high))]
                worst = [0] * bins
                for r in part:
                    for word, count in collections.Counter(at // 4 % bins for at in r.at).items():
                        worst[word] = max(worst[word], count)
                rows.append(list(map(heat, worst)))
            if rows:
                grid_of(panel, x, 46, rows, 14, max(4, 224 // len(rows)))
            else:
                panel.frame(x, 46, 14 * bins, 224)
            for b in range(bins):
                panel.text(x + 14 * b + 7, 282, str(b), "small middle")
            x += max(14 * bins, 92) + 12
        panels.append(panel)
    return panels, heat_key("lanes of one request at one bin, the most in a row:", 32)


def rounds(traces: Sequence[Trace]) -> tuple[list[Panel], Panel]:
    panels = []
    for trace in traces:
        panel = Panel()
        mine = trace.of_one_block()
        threads = math.prod(trace.found["launches"][mine[0].launch]["block"])
        warps = math.ceil(threads / 32)
        by_round: dict[tuple[int, int], dict[int, set[int]]] = {}
        for r in mine:
            lanes = by_round.setdefault((r.barriers, 0), {}).setdefault(r.warp, set())
            if r.memory in ("global", "shared"):
                lanes.update(r.lanes)
        lane = 320 / (32 * warps)
        panel.text(0, 12, f"round by round: {threads} threads in {warps} warps", "small")
        y = 20.0
        for i, (_, of_warp) in enumerate(sorted(by_round.items())):
            row, active, working = [], 0, 0
            for warp in range(warps):
                lanes = of_warp.get(warp, set())
                active += len(lanes)
                working += bool(lanes)
                row += ["h5" if k in lanes else "b" for k in range(32)] if lanes else ["empty"] * 32
            for start, length, colour in runs(row):
                panel.rect(26 + start * lane, y, length * lane, 12, colour)
            panel.frame(26, y, 320, 12)
            panel.text(22, y + 10, str(i), "small right")
            panel.text(352, y + 10, f"{active} in {working}", "small")
            y += 15
        panel.text(26, y + 10, "thread 0", "small")
        panel.text(346, y + 10, f"thread {threads - 1}", "small right")
        panel.text(352, 12, "threads in warps", "small")
        panels.append(panel)
    return panels, colour_key(
        [
            ("h5", "works: reaches memory"),
            ("b", "idle in a warp that works"),
            ("empty", "a warp without work, which costs next to nothing"),
        ]
    )


def additions(trace: Trace) -> tuple[list[tuple[int, int, tuple[int, int]]], int]:
    """Returns the additions in shared memory, and the number of columns. Each is a column, the column that it
    is added to, and a level: a stretch between barriers and a place in it."""
    mine = [
        r
        for r in trace.of_least_block()
        if (r.memory, r.did) in (("shared", "load"), ("shared", "store"), ("global", "load"))
    ]
    # Arrays, or parts of one, that are in use: each stands for all elements, in as many parts as it has.
    words: dict[str, set[int]] = {}
    for r in mine:
        if r.memory == "shared":
            words.setdefault(r.array, set()).update(at // 4 for at in r.at)
    column: dict[tuple[str, int], int] = {}
    stretches = []
    for array, used in words.items():
        part: list[int] = []
        for word in sorted(used):
            # A place that is skipped at regular intervals is padding. A large gap begins another part.
            if part and word - part[-1] > 8:
                stretches.append((array, part))
                part = []
            part.append(word)
        stretches.append((array, part))
    if not stretches:
        return [], 1
    columns = max(len(part) for _, part in stretches)
    for array, part in stretches:
        apart = max(1, columns // len(part))
        column.update({(array, word): min(columns, (i + 1) * apart) - 1 for i, word in enumerate(part)})
    # The column and level of each load since a thread's last store, and of that store.
    loaded: dict[tuple[int, int], list[tuple[int, tuple[int, int]]]] = {}
    stored: dict[tuple[int, int], tuple[int, tuple[int, int]]] = {}
    levels: dict[int, tuple[int, int]] = {}
    found = []
    for r in sorted(mine, key=lambda r: r.begins):
        changed = {}  # the lanes of a request do it together
        for lane, at in r.reaches:
            thread = (r.warp, lane)
            if r.memory == "global":
                stored.pop(thread, None)  # the next store is no sum
                loaded.pop(thread, None)
                continue
            here = column[r.array, at // 4]
            if r.did == "load":
                loaded.setdefault(thread, []).append((here, levels.get(here, (-1, 0))))
                continue
            terms = loaded.pop(thread, [])
            if terms and all(source == here for source, _ in terms) and thread in stored:
                terms.append(stored[thread])  # carried on in a register
            sources = {source for source, _ in terms if source != here}
            level = levels.get(here, (-1, 0))
            if len(sources) == 1:
                level = (
                    r.barriers,
                    1 + max((depth for _, (stretch, depth) in terms if stretch == r.barriers), default=0),
                )
                found.append((sources.pop(), here, level))
            changed[here] = level
            stored[thread] = (here, level)
        levels.update(changed)
    return found, columns


def network(traces: Sequence[Trace]) -> tuple[list[Panel], Panel]:
    panels = []
    for trace in traces:
        panel = Panel()
        found, columns = additions(trace)
        levels = sorted({level for _, _, level in found})
        gap, high = 296 / columns, 22
        x_of = [gap * (c + 0.5) for c in range(columns)]
        threads = len({(r.warp, lane) for r in trace.of_least_block() for lane in r.lanes})
        said = (
            f"{len(found)} additions in {len(levels)} levels, {threads} threads"
            if found
            else "nothing is added in shared memory"
        )
        panel.text(0, 12, said, "small")
        top = 24.0
        bottom = top + high * len(levels)
        for x in x_of:
            panel.line([(x, top), (x, bottom)], "thread")
        barriers = None
        for i, level in enumerate(levels):
            y = top + high * i
            if level[0] != barriers:
                panel.line([(0, y), (296, y)], "barrier")
            barriers = level[0]
            for source, into, at in found:
                if at == level:
                    panel.line([(x_of[source], y + 2), (x_of[into], y + high - 5)], "edge")
                    panel.rect(x_of[into] - 2.5, y + high - 7, 5, 5, "b")
        panel.text(x_of[0], bottom + 12, "0", "small middle")
        panel.text(x_of[-1], bottom + 12, str(columns - 1), "small middle")
        panels.append(panel)
    key = Panel()
    key.line([(0, 8), (14, 8)], "edge")
    key.text(18, 12, "is added to", "small")
    key.rect(96, 5, 5, 5, "b")
    key.text(106, 12, "an addition", "small")
    key.line([(186, 8), (200, 8)], "barrier")
    key.text(204, 12, "a barrier lies before", "small")
    return panels, key


KINDS = (
    ("b", "global memory"),
    ("a", "shared memory"),
    ("d", "atomics"),
    ("c", "constants"),
    ("e", "other instructions"),
)


def kind_of(r: Request) -> str:
    if r.did == "atomic":
        return "d"
    return {"global": "b", "shared": "a", "constant": "c"}.get(r.memory, "e")


def strip(requests: Sequence[Request], begin: int, end: int, columns: int) -> list[str]:
    """Returns the most frequent kind of request in each of `columns` stretches of time."""
    time: list[dict[str, float]] = [collections.defaultdict(float) for _ in range(columns)]
    scale = columns / max(1, end - begin)
    for r in requests:
        # Waiting comes before the request itself.
        first, last = (r.ends - min(r.steps, r.ends - r.begins) - begin) * scale, (r.ends - begin) * scale
        for column in range(max(0, int(first)), min(columns, math.ceil(last))):
            time[column][kind_of(r)] += min(last, column + 1) - max(first, column)
    return [max(sorted(c), key=c.__getitem__) if c else "empty" for c in time]


def life(traces: Sequence[Trace]) -> tuple[list[Panel], Panel]:
    """Draws one block, warp by warp."""
    panels = []
    longest = max((max(r.ends for r in trace.of_one_block()) for trace in traces), default=1)
    for trace in traces:
        panel = Panel()
        mine = trace.of_one_block()
        begin, end = min(r.begins for r in mine), max(r.ends for r in mine)
        warps = sorted({r.warp for r in mine})
        columns = max(1, round(180 * (end - begin) / max(1, longest)))
        high = 12 if len(warps) <= 16 else 7
        panel.text(
            0,
            12,
            f"block {mine[0].block}: {len(warps)} warp{'s' * (len(warps) > 1)}, {end - begin} steps",
            "small",
        )
        rows = [strip([r for r in mine if r.warp == warp], begin, end, columns) for warp in warps]
        grid_of(panel, 44, 20, rows, 2, high)
        panel.text(40, 29, f"warp {warps[0]}", "small right")
        panel.text(40, 20 + high * len(warps), str(warps[-1]), "small right") if len(warps) > 1 else None
        starts: dict[int, int] = {}
        for r in mine:
            starts[r.barriers] = min(starts.get(r.barriers, r.begins), r.begins)
        bottom = 20 + high * len(warps)
        for at in sorted(starts)[1:]:
            x = 44 + 2 * columns * (starts[at] - begin) / max(1, end - begin)
            panel.line([(x, 15), (x, bottom + 4 if len(starts) <= 20 else 20)], "barrier")
        panel.text(44, bottom + 16, "time, in steps →", "small")
        panels.append(panel)
    key = colour_key([*KINDS, ("empty", "waits, or has ended")])
    y = key.height + 4
    key.line([(7, y), (7, y + 14)], "barrier")
    key.text(18, y + 11, "a barrier", "small")
    return panels, key


def blocks(traces: Sequence[Trace]) -> tuple[list[Panel], Panel]:
    """Draws all blocks, each as the most frequent work of its warps."""
    panels = []
    for trace in traces:
        panel, x = Panel(), 34.0
        launches = sorted({r.launch for r in trace.requests})
        width = {k: max(r.ends for r in trace.requests if r.launch == k) for k in launches}
        scale = 300 / sum(width.values())
        for k in launches:
            mine = [r for r in trace.requests if r.launch == k]
            columns = max(1, round(width[k] * scale / 2))
            of_block = sorted({r.block for r in mine})
            panel.text(x, 12, f"launch {k + 1}: {width[k]} steps", "small")
            y = 20.0
            for block in of_block:
                row = strip([r for r in mine if r.block == block], 0, width[k], columns)
                grid_of(panel, x, y, [row], 2, 12)
                if k == launches[0]:
                    panel.text(30, y + 10, str(block), "small right")
                y += 14
            x = max(x + 2 * columns, panel.width) + 12
        panel.text(0, panel.height + 14, "block, and what it does as time goes on →", "small")
        panels.append(panel)
    return panels, colour_key([*KINDS, ("empty", "waits, or has ended")])


Draw = Callable[[Sequence[Trace]], tuple[list[Panel], Panel]]
PICTURES: dict[str, tuple[Draw, str]] = {
    "fetches": (
        fetches,
        "How often threads load each element from global memory: one load would do, every other one "
        "fetches it again.",
    ),
    "reuse": (
        reuse,
        "For how many products an element of A and of B serves once it is loaded from global memory: the "
        "more, the fewer loads.",
    ),
    "owners": (
        owners,
        "Which block, and which of its warps, stores each element: a warp should store neighbours in a row.",
    ),
    "planes": (
        planes,
        "When a block loads from each plane of the grid: a plane that comes back later is loaded again.",
    ),
    "contention": (
        contention,
        "How many lanes of one request meet at one bin and wait for each other, from the first request down "
        "to the last.",
    ),
    "rounds": (
        rounds,
        "Which threads of a block work in each round, from top to bottom: a lane that idles in a working "
        "warp costs as much as one that works.",
    ),
    "network": (
        network,
        "Which element is added to which, from top to bottom: many dots mean much work, many levels "
        "a long chain.",
    ),
    "blocks": (
        blocks,
        "What each block does from the start of a launch on: a gap is a wait for another block.",
    ),
}


def beside(panels: Sequence[Panel], titles: Sequence[str], key: Panel, across: float = 980) -> Panel:
    """Returns panels in rows, each under its title, with the key below."""
    whole = Panel()
    x = y = lowest = 0.0
    for panel, title in zip(panels, titles):
        wide = max(panel.width, 7.2 * len(title))
        if x and x + wide > across:
            x, y = 0.0, lowest + 14
        whole.text(x, y + 14, title, "title")
        whole.add(panel, x, y + 22)
        lowest = max(lowest, y + 22 + panel.height)
        x += wide + 28
    whole.add(key, 0, lowest + 12)
    return whole


def drawing_of(traces: Sequence[Trace]) -> tuple[Draw, str]:
    """Returns the function that draws the picture of these steps, and the sentence that explains how to read
    it."""
    if empty := [trace for trace in traces if not trace.requests]:
        raise Fault(f"nothing is to be drawn: no kernel did anything with {empty[0].found['problem']}")
    asked = {trace.found["picture"] for trace in traces}
    if len(asked) > 1:
        raise Fault(
            f"these steps have pictures of different kinds, which cannot be drawn side by side: "
            f"{', '.join(sorted(asked))}"
        )
    if not asked <= PICTURES.keys():
        raise Fault(f"there is no picture '{asked.pop()}'; there are: {' '.join(PICTURES)}")
    return PICTURES[asked.pop()]


def of_chapter(traces: Sequence[Trace], titles: Sequence[str]) -> Panel:
    panels, key = drawing_of(traces)[0](traces)
    return beside(panels, titles, key)


def of_life(traces: Sequence[Trace], titles: Sequence[str]) -> Panel:
    panels, key = life(traces)
    return beside(panels, titles, key)
