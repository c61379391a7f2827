#!/usr/bin/env python3
"""The web site that ./kata book makes: each step has a page, links and anchors lead somewhere, and no page
needs a network. Skipped (77) without the generator."""

import html.parser
import os
import pathlib
import re
import sys
import tempfile
import unittest.mock
import urllib.parse
from collections.abc import Iterable, Iterator

import paths  # noqa: F401  it makes the modules below importable

import book
from fault import Fault
from repository import Repository

SKIPPED = 77
EXTERNAL = re.compile(r"\s*(?:[a-z]+:)?//", re.I)
# Attributes that name files which a browser fetches by itself. It also fetches files that style sheets name.
FETCHED = {
    "link": "href",
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "object": "data",
    "use": "href",
}
IN_STYLES = re.compile(r"""(?:url\(|@import)\s*["']?([^"')]+)""")
NO_RESOURCE = {"next", "prev", "canonical", "alternate"}


class Page(html.parser.HTMLParser):
    """The anchors of a page, its links, and the files that it fetches."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.classes: set[str] = set()
        self.anchors, self.fetched = {""}, IN_STYLES.findall(text)
        self.is_folded = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        of = {name: value or "" for name, value in attributes}
        self.anchors |= {of[name] for name in ("id", "name") if name in of}
        self.classes |= set(of.get("class", "").split())
        self.is_folded |= tag == "details" and "open" not in of
        if tag == "a" and "href" in of:
            self.links.append(of["href"])
        elif of.get(FETCHED.get(tag, "")) and not NO_RESOURCE & set(of.get("rel", "").split()):
            self.fetched.append(of[FETCHED[tag]])


def complaints(site: pathlib.Path, steps: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yields the faults of a book in which these steps must have a page."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for chapter, step in steps:
        page = pages.get(site / "chapters" / chapter / f"{step}.html")
        if not page:
            yield f"{chapter}/{step} has no page"
        elif not page.is_folded:
            yield f"{chapter}/{step} shows its solution before a reader requests it"
    for path, page in pages.items():
        name = path.relative_to(site)
        if name.name == "404.html":
            continue  # the server's, whose links begin at its root
        for link in [*page.links, *page.fetched]:
            parts = urllib.parse.urlsplit(link)
            if EXTERNAL.match(link) or parts.scheme:
                if link in page.fetched and parts.scheme != "data":
                    yield f"{name} fetches {link}"
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{name} links to {link}, and there is no such file"
            elif target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name} links to {link}, and there is no such anchor"
        if "mermaid" in page.classes:
            yield f"{name} has a diagram of Mermaid, which the theme takes from a network"
    for style in site.rglob("*.css"):
        for asked in filter(EXTERNAL.match, IN_STYLES.findall(style.read_text(encoding="utf-8"))):
            yield f"{style.relative_to(site)} fetches {asked}"
    if not (site / "search" / "search_index.js").is_file():
        yield "the search needs a server: there is no search/search_index.js"


WRONG = {
    '<a href="nowhere.html">x</a>': "no such file",
    '<a href="#nowhere">x</a>': "no such anchor",
    '<a href="other.html#nowhere">x</a>': "no such anchor",
    '<link rel="stylesheet" href="https://fonts.example/css">': "fetches https://fonts.example/css",
    '<script src="//cdn.example/a.js"></script>': "fetches //cdn.example/a.js",
    '<img src="http://example/a.png">': "fetches http://example/a.png",
    "<style>p { background: url('https://example/a.png') }</style>": "fetches https://example/a.png",
    '<pre class="mermaid">x</pre>': "Mermaid",
}


def says_no() -> Iterator[str]:
    """Yields each fault that is missed in a book with this fault only, and each that is found in a book
    without faults."""
    with tempfile.TemporaryDirectory(prefix="kata-book-") as folder:
        site = pathlib.Path(folder).resolve()
        for path in ("search/search_index.js", "other.html", "chapters/a/01_b.html"):
            (site / path).parent.mkdir(parents=True, exist_ok=True)
            (site / path).write_text("<details>x</details>")
        right = (
            '<h1 id="here">x</h1><a href="#here">x</a><a href="chapters/a/01_b.html">x</a><a '
            'href="https://example">x</a>'
        )
        for added, wanted in {"": "", **WRONG}.items():
            (site / "index.html").write_text(right + added)
            found = list(complaints(site, [("a", "01_b")]))
            if len(found) != bool(added) or not all(wanted in line for line in found):
                yield f"of {added or 'a right page'} this test says: {found}"
        (site / "index.html").write_text(right)
        (site / "book.css").write_text("@import 'https://example/a.css';")
        (site / "search/search_index.js").unlink()
        (site / "chapters/a/01_b.html").write_text("<details open>x</details>")
        found = list(complaints(site, [("a", "01_b"), ("a", "02_c")]))
        if len(found) != 4:
            yield (
                f"of a solution that is shown, a step without a page, a style from a network and no search "
                f"it says: {found}"
            )


def says_what_is_missing() -> Iterator[str]:
    """Yields a complaint unless an MkDocs without its theme counts as not installed."""
    with tempfile.TemporaryDirectory(prefix="kata-book-") as folder:
        fake = pathlib.Path(folder) / "mkdocs"
        for said, wanted in {
            "Unrecognised theme name: 'material'": 3,
            'The "offline" plugin is not installed': 3,
            "x": 1,
        }.items():
            fake.write_text(f"#!/bin/sh\ncat <<'END'\n{said}\nEND\nexit 1\n")
            fake.chmod(0o755)
            try:
                with (
                    unittest.mock.patch.dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"),
                    unittest.mock.patch("see.of_built", return_value=None),  # pictures take long
                ):
                    book.build(Repository(), pathlib.Path(folder) / "site")
                yield f"a book was made by an MkDocs that says: {said}"
            except Fault as fault:
                if fault.status != wanted:
                    yield f"of an MkDocs that says '{said}' kata book says: {fault}"


def shows_measurements() -> Iterator[str]:
    """Yields a complaint if a file of measurements does not become its machine, its notes and a table."""
    shown = book.table('# NVIDIA X1, CUDA 13.0\n# scan: it was hot\nstep,ms\n"a, b",0.7\n')
    if shown != "NVIDIA X1, CUDA 13.0\n\nscan: it was hot\n\n| step | ms |\n| --- | --- |\n| a, b | 0.7 |\n":
        yield f"a file of measurements is shown as:\n{shown}"


def main() -> int:
    repository, found = Repository(), [*says_no(), *says_what_is_missing(), *shows_measurements()]
    with tempfile.TemporaryDirectory(prefix="kata-book-") as folder:
        site = pathlib.Path(folder).resolve() / "site"
        try:
            book.build(repository, site)
        except Fault as fault:
            print(f"Skipped: {fault}" if fault.status == 3 else fault)
            return SKIPPED if fault.status == 3 and not found else 1
        steps = [
            (chapter, step)
            for chapter in repository.chapters()
            for step in repository.steps(chapter, "solutions")
        ]
        found += complaints(site, steps)
        for chapter in repository.chapters():
            wrong = sum(mistake.tree == "wrong" for mistake in repository.mistakes(chapter))
            cards = (site / "chapters" / chapter / "mistakes.html").read_text().count('<div class="card"')
            if cards != wrong:
                found.append(f"{chapter} has {wrong} mistakes and {cards} cards of them")
        pages = len(list(site.rglob("*.html")))
    print("".join(f"{line}\n" for line in found), end="")
    print(f"{pages} pages, {len(steps)} of them of steps")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
