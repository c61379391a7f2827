#!/usr/bin/env python3
"""Records chapters/session.svg, the moving picture of README.md: ./kata test finds a mistake of which a GPU
reports nothing, and passes the step once it is mended. For that the stub of the step is written and put back.

recording.py    runs ./kata test twice, and writes the picture
"""

from __future__ import annotations

import difflib
import html
import sys
import textwrap

from paths import ROOT, run

import hunt
import mistakes
from repository import Repository

CHAPTER, STEP, MISTAKE = "reduction", "03_shared_memory", "no_barrier"
COLUMNS, HIGH, WIDE = 92, 19, 8.43  # of a line of text; the latter two in pixels
SECONDS = {"$": 1.2, "-": 0.8, "+": 0.8, "F": 1.5, "O": 1.5}  # after a line with this beginning
BETWEEN, AT_THE_END = 0.25, 5.0  # of a screen
STYLE = """\
svg { --paper: #f6f8fa; --ink: #1f2328; --dim: #59636e; --bad: #b3261e; --good: #1a7f37; }
@media (prefers-color-scheme: dark) {
  svg { --paper: #151b23; --ink: #e6edf3; --dim: #9198a1; --bad: #ff7b72; --good: #56d364; } }
rect { fill: var(--paper); }
text { fill: var(--ink); font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  white-space: pre; }
.command { font-weight: 700; }
.bad { fill: var(--bad); }
.good { fill: var(--good); }
@media (prefers-reduced-motion: reduce) { text { animation: none !important; } .s1 { display: none; } }
"""


def tested() -> list[str]:
    """Returns what ./kata test prints from the verdict on."""
    command = ["./kata", "test", CHAPTER, STEP[:2]]
    done = run(*command, cwd=ROOT)
    lines = done.stdout.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith(("FAIL", "OK"))]
    if not starts:
        sys.exit(f"no verdict: {done.stdout}{done.stderr}")
    return [f"$ {' '.join(command)}", *lines[starts[0] :]]


def session() -> list[list[str]]:
    """Returns the lines of two screens: the test that fails; the edit, and the test that passes."""
    repository = Repository()
    path = repository.source(CHAPTER, STEP)
    mistake = next(one for one in repository.mistakes(CHAPTER) if one.kernel == f"{STEP}.{MISTAKE}")
    if not mistake.is_silent or not repository.is_untouched(CHAPTER, STEP):
        sys.exit(f"{mistake.kernel} is found on a GPU, too, or {path} is not a stub")
    right = mistakes.code_of(repository.text(CHAPTER, STEP, "solutions"))
    wrong = mistakes.code_of(repository.kernel(CHAPTER, mistake))
    before, after = (hunt.without_comments("\n".join(lines)) for lines in (wrong, right))
    edit = [f"$ $EDITOR {path.relative_to(ROOT)}", *difflib.unified_diff(before, after, n=1, lineterm="")]
    stub = path.read_text(encoding="utf-8")
    try:
        path.write_text("\n".join(wrong), encoding="utf-8")
        first = tested()
        path.write_text("\n".join(right), encoding="utf-8")
        return [first, [edit[0], *edit[4:], "", *tested()]]
    finally:
        path.write_text(stub, encoding="utf-8")


def pause(line: str) -> float:
    return SECONDS.get(line[:1], BETWEEN)


def kind(line: str) -> str:
    kinds = {"$": "command", "-": "bad", "+": "good", "FAIL": "bad", "OK": "good"}
    return next((name for start, name in kinds.items() if line.startswith(start)), "")


def picture(screens: list[list[str]]) -> str:
    """Returns SVG that shows the lines of each screen one after the other, clears it, and begins anew."""
    whole = sum(pause(line) for lines in screens for line in lines) + AT_THE_END * len(screens)
    now, highest, moves, texts = 0.0, 0, "", ""
    for screen, lines in enumerate(screens):
        ends = now + sum(map(pause, lines)) + AT_THE_END
        y = 26
        for line in lines:
            behind = " " * (len(line) - len(line.lstrip()) + 2)
            for text in textwrap.wrap(line, COLUMNS, subsequent_indent=behind) or [""]:
                name = f"r{len(texts)}"
                from_, to = 100 * now / whole, 100 * ends / whole
                hidden = f"0%, {from_:.1f}%, {to:.1f}%, 100% {{ opacity: 0 }}"
                moves += (
                    f"@keyframes {name} {{ {hidden} {from_ + 0.1:.1f}%, {to - 0.1:.1f}% {{ opacity: 1 }} }}\n"
                )
                looks = f'class="s{screen} {kind(line)}" style="animation: {name} {whole:.1f}s infinite"'
                texts += f'<text x="14" y="{y}" {looks}>{html.escape(text)}</text>\n'
                y += HIGH
            now += pause(line)
        now, highest = ends, max(highest, y)
    wide, high = round(28 + WIDE * COLUMNS), highest - 4
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
        'role="img" aria-label="A test of a step fails, and passes once a barrier is in its place">\n'
        f'<style>\n{STYLE}{moves}</style>\n<rect width="{wide}" height="{high}" rx="6"/>\n{texts}</svg>\n'
    )


def main() -> None:
    (ROOT / "chapters" / "session.svg").write_text(picture(session()), encoding="utf-8")


if __name__ == "__main__":
    main()
