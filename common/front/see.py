"""A page of pictures of one step: the picture of its chapter, the life of a block, and each line that
accesses memory."""

from __future__ import annotations

import argparse
import html
import pathlib

import drawing
import pictures
import trace
import warp_pictures
from drawing import Panel, Request, Trace
from repository import Repository, module, suite

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
:root {{ --page: #ffffff; --words: #1f2328; --faint: #59636e; --box: #d1d9e0; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --page: #0d1117; --words: #e6edf3; --faint: #9da7b1; --box: #3d444d; }} }}
body {{ background: var(--page); color: var(--words); font: 15px/1.5 system-ui, sans-serif;
  max-width: 1140px; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.4rem; }}
h2 {{ font-size: 1.15rem; margin-top: 2.2rem; border-top: 1px solid var(--box); padding-top: 1rem; }}
h3 {{ font-size: 0.95rem; margin: 1.4rem 0 0.2rem; }}
p {{ margin: 0.3rem 0 0.8rem; max-width: 75ch; }}
.faint {{ color: var(--faint); font-size: 0.85rem; margin: 0.2rem 0; }}
code {{ font: 13px/1.4 ui-monospace, monospace; white-space: pre-wrap; }}
figure {{ margin: 0; overflow-x: auto; }} svg {{ max-width: none; }}
.pair {{ display: grid; gap: 0.5rem 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(540px, 100%), 1fr)); }}
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""

READ_SECTORS = (
    "Each line is shown with its costliest request: above, the 32 lanes of the warp; below, the sectors "
    "that they access, 32 bytes each, in the same colour. Filled parts were requested, by the lane whose "
    "number they show or by several (×32); empty parts were moved for nothing. For shared memory, the 32 "
    "banks are shown: each row is one pass. Rows in orange are bank conflicts. Rows in pink are lanes "
    "whose atomics meet at one word, and are done one after the other."
)
SMALLER = (
    "That is a smaller problem than the one that the tests count, so that all of it can be drawn. "
    "<code>./kata explain</code> says what each line costs in the larger one."
)
READ_LIFE = (
    "The warps of one block: from left to right, what each does as time goes on. A dashed line is a "
    "barrier. Where a row is empty before a barrier, its warp waits there for the slowest."
)
WAITS_ELSEWHERE = (
    "The pictures do not show how long an atomic on global memory waits for atomics of other blocks at the "
    "same address, so a block with "
    "few steps here may be part of a slow kernel: <code>./kata explain {chapter} {step}</code> counts "
    "these waits in the "
    "<em>steps of the longest chain</em>."
)


def svg(panel: Panel, label: str) -> str:
    return f"<figure>{panel.svg(label, with_style=False)}</figure>"


def lines_of(found: Trace) -> dict[tuple[str, str, str, str], list[tuple[int, Request]]]:
    """Returns the requests of each line and kind, each with its cost; the costliest line first."""
    groups: dict[tuple[str, str, str, str], list[tuple[int, Request]]] = {}
    for r in found.requests:
        if r.memory in ("global", "shared"):
            groups.setdefault((r.line, r.did, r.memory, r.array), []).append((warp_pictures.cost(r), r))
    return dict(sorted(groups.items(), key=lambda group: (-sum(cost for cost, _ in group[1]), group[0])))


def line_part(
    found: Trace, key: tuple[str, str, str, str], requests: list[tuple[int, Request]], text: str
) -> str:
    line, did, memory, array = key
    _, r = max(requests, key=lambda one: (one[0], len(one[1].lanes), -one[1].begins))
    file, number = trace.place_of(line)
    name = html.escape(
        f"{f'line {number}' if file.endswith('.cu') else line}: {did}, {memory} memory, {array}"
    )
    source = f"<p class=faint><code>{html.escape(text)}</code></p>" if text else ""
    words = warp_pictures.words_for(found, r, [cost for cost, _ in requests])
    return f"<h3>{name}</h3>{source}<p class=faint>{words}</p>{svg(warp_pictures.of_request(found, r), name)}"


def page(repository: Repository, chapter: str, step: str, both: trace.Both, tree: str) -> str:
    steps = [Trace(found) for found in (both.step, both.solution) if found]
    titles = ["your step", "the solution"] if both.solution else ["the solution"]
    trees = [tree, "solutions"][: len(steps)]
    title = f"{chapter} {step}"
    parts = [
        f"<h1>{title}</h1>",
        f"<p>What it does to {html.escape(both.step['problem'])}, on the CPU back end. {SMALLER}</p>",
    ]
    if both.step["fault"]:
        parts.append(f"<p><strong>{html.escape(trace.warning(both.step).strip())}</strong></p>")

    _, sentence = pictures.drawing_of(steps)
    parts += [
        f"<h2>The picture of this step</h2><p>{sentence}</p>",
        svg(pictures.of_chapter(steps, titles), sentence),
    ]
    parts += [
        f"<h2>The life of a block</h2><p>{READ_LIFE}</p>",
        svg(pictures.of_life(steps, titles), READ_LIFE),
    ]
    if any((r.did, r.memory) == ("atomic", "global") for found in steps for r in found.of_one_block()):
        parts.append(f"<p>{WAITS_ELSEWHERE.format(chapter=chapter, step=step[:2])}</p>")

    parts.append(f"<h2>Which lane reaches what</h2><p>{READ_SECTORS}</p><div class=pair>")
    for found, name, where in zip(steps, titles, trees):
        parts.append(f"<div><p><strong>{name}</strong></p>")
        for key, requests in lines_of(found).items():
            parts.append(
                line_part(found, key, requests, trace.source_line(repository.root / where / chapter, key[0]))
            )
        parts.append("</div>")
    parts.append("</div>")
    return PAGE.format(title=html.escape(title), style=drawing.STYLE, body="\n".join(parts))


def of_built(repository: Repository, chapter: str, step: str) -> str | None:
    """Returns the page of a solution; None if it was not built since it was written."""
    folder, source = repository.build_folder, repository.source(chapter, step, "solutions")
    program, kernel = folder / suite(chapter, "cpu"), folder / module("solutions", chapter, step, "cpu")
    if not (program.is_file() and kernel.is_file()) or kernel.stat().st_mtime < source.stat().st_mtime:
        return None
    found = trace.run(program, kernel, "trace")
    return page(repository, chapter, step, trace.Both(found, None), "solutions")


def see(repository: Repository, chapter: str, step: str, given: argparse.Namespace) -> int:
    both = trace.of(repository, chapter, step, "trace", given.solution)
    path = (
        pathlib.Path(given.output)
        if given.output
        else repository.build_folder / "see" / f"{chapter}.{step}.html"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        page(repository, chapter, step, both, "solutions" if given.solution else "chapters"), encoding="utf-8"
    )
    print(trace.warning(both.step), end="")
    shown = path.relative_to(repository.root) if path.is_relative_to(repository.root) else path
    print(f"Open in a browser: {shown}")
    return 0
