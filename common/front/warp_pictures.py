"""A request of one warp, drawn: the sectors or the banks that its lanes reach."""

from __future__ import annotations

from collections.abc import Sequence

from drawing import COLOURS, Panel, Request, Trace


def write_lanes(panel: Panel, x: float, y: float, lanes: Sequence[int]) -> None:
    """Writes the number of a single lane, or the count of several."""
    if len(lanes) == 1:
        panel.text(x, y, str(lanes[0]), "cell")
    else:
        panel.text(x, y - 0.5, f"×{len(lanes)}", "many")


def sectors(r: Request, element: int) -> Panel:
    """Draws the lanes of a warp, and below them the sectors that they touch. A sector shows the bytes that
    lanes load or store, under the number of its first element; a lane may reach several elements at once."""
    panel = Panel()
    touched = sorted({s for at in r.at for s in range(at // 32, (at + r.bytes - 1) // 32 + 1)})
    colour = {sector: COLOURS[i % 4] for i, sector in enumerate(touched)}
    panel.text(0, 12, "lane", "small")
    where = dict(r.reaches)
    for lane in range(32):
        left = 34 + 15 * lane
        panel.rect(left, 2, 14, 14, colour[where[lane] // 32] if lane in where else "empty")
        panel.text(left + 7, 12.5, str(lane), "cell" if lane in where else "small middle")
    cell = {1: 4.0, 2: 7.0}.get(r.bytes, 15.0 * r.bytes / 4)
    asked: dict[int, list[int]] = {}
    for lane, at in r.reaches:
        asked.setdefault(at, []).append(lane)
    x, y = 0.0, 30.0
    per_sector = 32 // r.bytes
    for sector in touched:
        wide = cell * per_sector
        if x and x + wide > 520:
            x, y = 0.0, y + 32
        panel.text(x, y + 8, f"{r.array}[{sector * 32 // element}…]" if sector >= 0 else r.array, "small")
        for i in range(per_sector):
            lanes = asked.get(sector * 32 + i * r.bytes)
            panel.rect(
                x + i * cell, y + 11, cell - (1 if cell > 5 else 0), 14, colour[sector] if lanes else "empty"
            )
            if lanes and cell >= 14:
                write_lanes(panel, x + (i + 0.5) * cell - 0.5, y + 21.5, lanes)
        panel.frame(x - 0.5, y + 10.5, wide, 15)
        x += wide + 10
    return panel


def banks(r: Request) -> Panel:
    """Draws the 32 banks of shared memory and the words in them that lanes reach: one row, one pass. Lanes
    whose atomics meet at one word take turns: the first of each word is in the rows of the words, the others
    in rows below."""
    panel = Panel()
    together = 8 if r.bytes >= 16 else 16 if r.bytes >= 8 else 32
    rows: list[tuple[str, dict[int, list[int]]]] = []  # a colour, and by bank which lanes
    for part in sorted({lane // together for lane in r.lanes}):
        words: dict[int, list[int]] = {}
        for lane, at in r.reaches:
            if lane // together == part:
                for word in range(at // 4, (at + r.bytes - 1) // 4 + 1):
                    words.setdefault(word, []).append(lane)
        used: list[dict[int, list[int]]] = []
        for word in sorted(words):
            for row in used:
                if word % 32 not in row:
                    row[word % 32] = words[word]
                    break
            else:
                used.append({word % 32: words[word]})
        if r.did == "atomic":
            used = [{bank: lanes[:1] for bank, lanes in row.items()} for row in used]
        rows += [("b" if i else "a", row) for i, row in enumerate(used)]
    if r.did == "atomic":
        meet: dict[int, list[int]] = {}
        for lane, at in r.reaches:
            meet.setdefault(at // 4, []).append(lane)
        for turn in range(1, max(map(len, meet.values()))):
            rows.append(
                (
                    "d",
                    {word % 32: lanes[turn : turn + 1] for word, lanes in meet.items() if len(lanes) > turn},
                )
            )
    panel.text(0, 12, "bank", "small")
    for bank in range(32):
        panel.text(49 + 15 * bank, 12, str(bank), "small middle")
    high = 15 if len(rows) <= 12 else 8
    for i, (colour, row) in enumerate(rows):
        y = 18 + high * i
        if len(rows) <= 12 or i % 8 == 0:
            panel.text(0, y + high - 2, f"pass {i + 1}", "small")
        for bank in range(32):
            panel.rect(42 + 15 * bank, y, 14, high - 1, colour if bank in row else "empty")
            if bank in row and high == 15:
                write_lanes(panel, 49 + 15 * bank, y + 10.5, row[bank])
    return panel


def of_request(trace: Trace, r: Request) -> Panel:
    return banks(r) if r.memory == "shared" else sectors(r, trace.element(r.array))


def cost(r: Request) -> int:
    """Returns the number of sectors, or of passes."""
    return r.steps if r.memory == "shared" else len({at >> 5 for at in r.at})


def words_for(trace: Trace, r: Request, costs: Sequence[int]) -> str:
    unit = "passes" if r.memory == "shared" else "sectors"
    text = (
        f"{len(costs):,} requests; on average {sum(costs) / len(costs):.1f} {unit}; this one: {max(costs)}, "
        f"the most"
    )
    if r.memory != "shared" and r.array in trace.shapes and r.bytes > trace.element(r.array):
        text += f"; each lane requests {r.bytes // trace.element(r.array)} elements at once"
    return text
