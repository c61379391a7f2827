#!/usr/bin/env python3
"""Opens each page of the book in Chromium, as wide as a desk's screen and as a telephone's, and lists what
overflows, is cut off, is missing, is too small to read or throws. Among the pages are those of ./kata see.

browsing.py BOOK               the book is a folder that ./kata book has made
browsing.py BOOK --shots TO    also photographs the lessons there, in light and in dark colours
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

WIDTHS = (1400, 390)
THROWN = ("Runtime.exceptionThrown", "Log.entryAdded")
# Finds the parts of a page that a reader cannot see after folded parts are opened. Text may end in "…", and
# may be scrolled in a box of its own. The labels of a picture are legible down to 0.6 of its size.
LOOK = """
new Promise(look => {
  document.head.insertAdjacentHTML("beforeend", "<style>* { transition: none !important }</style>");
  document.querySelectorAll("details").forEach(one => one.open = true);
  requestAnimationFrame(() => setTimeout(look));
}).then(() => {
  const said = [], root = document.documentElement, text = document.querySelector("article") || document.body;
  const say = (one, fault) => said.push(
    `${one.tagName} '${(one.getAttribute("src") || one.textContent.trim()).slice(0, 40)}' ${fault}`);
  const scrolled = one => one !== document.body &&
    (getComputedStyle(one).overflowX !== "visible" || scrolled(one.parentElement));
  for (const one of document.body.querySelectorAll("*")) {
    const box = one.getBoundingClientRect(), style = getComputedStyle(one), image = one.tagName === "IMG";
    if (!box.width || style.visibility === "hidden") continue;
    if (box.right > root.clientWidth + 1 && root.scrollWidth > root.clientWidth &&
        !scrolled(one.parentElement))
      say(one, "overflows");
    if (text.contains(one) && style.overflowX === "hidden" && style.textOverflow !== "ellipsis" &&
        one.scrollWidth > one.clientWidth + 1)
      say(one, "is cut off");
    const drawn = image ? one.naturalWidth : one.matches("svg.kata") ? one.viewBox.baseVal.width : 0;
    if (image && !drawn) say(one, "is missing");
    if (box.width < 0.6 * drawn) say(one, "is too small to read");
  }
  return said;
})
"""


class Browser:
    """Chromium without a window. It is asked through a pipe, in the DevTools protocol."""

    def __init__(self, profile: str) -> None:
        theirs, self.asked = os.pipe()
        said, mine = os.pipe()
        # Root gets no sandbox; the pages are the book's own.
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        options += ["--remote-debugging-pipe", f"--user-data-dir={profile}"]
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{theirs} 4>&{mine}', "sh", "chromium", *options],
            pass_fds=(theirs, mine),
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(mine)
        self.said, self.rest, self.number = os.fdopen(said, "rb"), b"", 0
        self.events: list[dict[str, Any]] = []
        self.to: dict[str, str] = {}
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.to = {"sessionId": self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def answer(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            if not (read := os.read(self.said.fileno(), 1 << 20)):
                raise EOFError("Chromium has ended")
            self.rest += read
        one, _, self.rest = self.rest.partition(b"\0")
        found: dict[str, Any] = json.loads(one)
        self.events.append(found)
        return found

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        self.number += 1
        asked = {"id": self.number, "method": method, "params": parameters, **self.to}
        os.write(self.asked, json.dumps(asked).encode() + b"\0")
        while (found := self.answer()).get("id") != self.number:
            pass
        result: dict[str, Any] = found["result"]
        return result

    def run(self, script: str) -> Any:
        how = {"expression": script, "returnByValue": True, "awaitPromise": True}
        return self.ask("Runtime.evaluate", **how)["result"]["value"]

    def resize(self, wide: int, high: int = 900) -> None:
        sizes = {"width": wide, "height": high, "deviceScaleFactor": 1, "mobile": wide < 600}
        self.ask("Emulation.setDeviceMetricsOverride", **sizes)

    def colour(self, scheme: str) -> None:
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, page: pathlib.Path) -> None:
        self.events = []
        self.ask("Page.navigate", url=page.resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.answer()

    def thrown(self) -> Iterator[str]:
        for event in self.events:
            if event.get("method") in THROWN and event["params"].get("entry", {}).get("level") != "info":
                yield f"throws {json.dumps(event['params'])[:400]}"

    def photograph(self, page: pathlib.Path, to: pathlib.Path) -> None:
        for scheme in ("light", "dark"):
            self.colour(scheme)
            for wide in WIDTHS:
                self.resize(wide)
                self.open(page)
                self.resize(wide, min(self.run("document.documentElement.scrollHeight"), 16000))
                picture = self.ask("Page.captureScreenshot")["data"]
                (to / f"{page.parent.name}.{scheme}.{wide}.png").write_bytes(base64.b64decode(picture))


def complaints(browser: Browser, book: pathlib.Path, pages: Iterable[pathlib.Path]) -> Iterator[str]:
    for page in pages:
        browser.open(page)
        for wide in WIDTHS:
            browser.resize(wide)
            yield from (f"{page.relative_to(book)}, {wide} pixels: {fault}" for fault in browser.run(LOOK))
        yield from (f"{page.relative_to(book)} {fault}" for fault in browser.thrown())


FAULTY = {
    '<p style="width: 99em">x</p>': "overflows",
    '<p style="width: 1em; overflow: hidden">Incomprehensibilities</p>': "is cut off",
    '<img src="none.png" width="9">': "is missing",
    '<svg class="kata" width="50" height="9" viewBox="0 0 99 9"></svg>': "too small to read",
    "<script>throw Error()</script>": "throws",
    '<div style="overflow-x: auto"><p style="width: 99em">x</p></div>': "",
}


def missed(browser: Browser, folder: pathlib.Path) -> Iterator[str]:
    """Yields the faults of this test: pages with one fault of which it does not report just that."""
    for number, (body, wanted) in enumerate(FAULTY.items()):
        page = folder / f"{number}.html"
        page.write_text(f"<!doctype html><meta name=viewport content='width=device-width'><body>{body}")
        found = list(complaints(browser, folder, [page]))
        if bool(found) != bool(wanted) or not any(wanted in line for line in found or [""]):
            yield f"of {body} this test says {found}"


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("book", type=pathlib.Path)
    arguments.add_argument("--shots", type=pathlib.Path)
    given = arguments.parse_args()
    pages = sorted(page for page in given.book.rglob("*.html") if page.name != "404.html")
    with tempfile.TemporaryDirectory(prefix="kata-browser-", ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        found = [
            *missed(browser, pathlib.Path(profile)),
            *complaints(browser, given.book, pages),
        ]
        if given.shots:
            given.shots.mkdir(parents=True, exist_ok=True)
            for lesson in sorted(given.book.glob("chapters/*/index.html")):
                browser.photograph(lesson, given.shots)
        browser.ask("Browser.close")
        browser.process.wait()
    print("".join(f"{line}\n" for line in found) + f"{len(pages)} pages opened, {len(found)} faults")
    return int(bool(found) or not pages)


if __name__ == "__main__":
    sys.exit(main())
