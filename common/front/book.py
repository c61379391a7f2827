"""The lessons, the steps and the files that they link to, as pages of a web site that needs neither a network
nor a server.

MkDocs with the theme Material makes the pages: search, both colour schemes, a layout for telephones, folds
and tooltips are settings of it (book/mkdocs.yml), where Python-Markdown and Pygments alone would leave
templates, styles and a search to be written and kept here. Its release 9 is the first whose search works
without a server. This module does the rest, which no generator knows: which files are pages, where links
between files of the repository lead, and what a step is.
"""

from __future__ import annotations

import csv
import difflib
import html
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import bodies
import see
from fault import Fault
from mistakes import Mistake
from repository import Repository

SETTINGS = pathlib.Path(__file__).resolve().parent / "book"
MISSING = (
    "the book is made by MkDocs Material, release 9, which is not installed or not in PATH; in a "
    "virtual environment of "
    "Python: pip install 'mkdocs-material>=9.5,<10'"
)
FIRST = "README.md"
LAST = ("chapters/MACHINE.md", "chapters/CUDA.md", "chapters/GLOSSARY.md", "CONTRIBUTING.md")
PICTURES = (".svg", ".png", ".jpg")
LANGUAGES = {
    ".cu": "cuda",
    ".cuh": "cuda",
    ".mistakes": "cuda",
    ".cpp": "cpp",
    ".hpp": "cpp",
    ".sh": "sh",
    ".json": "json",
}
# Terms of the glossary that the lessons also use as everyday words: no tooltip for them.
EVERYDAY = ("Claim", "Flag", "Guard", "Identity", "Pass", "Request", "Round", "Scan", "Section", "Work")
FENCE = re.compile(r"^( *)(`{3,}).*?^\1\2$", re.M | re.S)
# The comment at a step's head. A comparison would mark all of it.
HEADER = re.compile(r"\A(?://.*\n)+")
PICTURE = re.compile(r"!\[([^]]*)\]\(([^)]+)\.svg\)")
NARROW = ".narrow.svg"
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")


class Book:
    """The Markdown of all pages, in a folder with the layout of the repository, so that links between pages
    hold."""

    def __init__(self, repository: Repository, folder: pathlib.Path) -> None:
        self.without_pictures: list[str] = []
        self.repository, self.root, self.folder = repository, repository.root, folder
        self.lessons = {
            chapter: repository.relative(repository.lesson(chapter)) for chapter in repository.chapters()
        }
        self.written: set[str] = set()

    def write(self) -> list[object]:
        """Writes all pages. Returns their order, in MkDocs' form."""
        chapters: list[object] = []
        course = self.repository.course()
        for chapter, lesson in self.lessons.items():
            steps = self.repository.steps(chapter, "solutions")
            self.prose(lesson)
            made = {
                step: {f"{step[:2]} {self.title(chapter, step)}": self.step(chapter, step, steps)}
                for step in steps
            }
            further = [made.pop(step) for step in steps if (chapter, step) not in course]
            pages: list[object] = [*made.values(), *([{"Further": further}] if further else [])]
            if (measured := self.repository.measured_page(chapter)).is_file():
                page = self.repository.relative(measured)
                self.prose(page)
                pages.append({"What was measured": page})
            pages.append({"Mistakes": self.mistakes(chapter)})
            chapters.append({chapter.capitalize(): [lesson, *pages]})
        for page in (FIRST, *LAST):
            self.prose(page)
        shutil.copytree(SETTINGS, self.folder / "assets", ignore=shutil.ignore_patterns("*.yml"))
        return [{"Start here": FIRST}, *chapters, *LAST]

    def put(self, page: str, text: str) -> str:
        path = self.folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return page

    def prose(self, page: str) -> None:
        """Writes a page that is Markdown in the repository."""
        if page in self.written:
            return
        self.written.add(page)
        text, pieces, end = (self.root / page).read_text(encoding="utf-8"), [], 0
        for fence in [*FENCE.finditer(text), None]:
            between = text[end : fence.start() if fence else None]
            pieces.append(LINK.sub(lambda link: link[1] + self.target(page, link[2]) + link[3], between))
            if fence:
                pieces.append(fence[0])
                end = fence.end()
        self.put(page, PICTURE.sub(self.both_widths(page), "".join(pieces)))

    def both_widths(self, page: str) -> Callable[[re.Match[str]], str]:
        """Returns what puts a picture's narrow form beside it. The style sheet shows one of them."""

        def both(shown: re.Match[str]) -> str:
            other = shown[2] + NARROW
            is_there = ((self.folder / page).parent / other).is_file()
            return f"{shown[0]}{{ .wide }} ![{shown[1]}]({other}){{ .narrow }}" if is_there else shown[0]

        return both

    def target(self, page: str, link: str) -> str:
        """Returns the place in the book that a link leads to: a step's page, or a page that shows the
        file."""
        path = ((self.root / page).parent / link).resolve()
        if re.match(r"[a-z]+:", link) or not path.is_relative_to(self.root) or not path.exists():
            return link
        file = self.repository.relative(path)
        parts = path.relative_to(self.root).parts
        if path.is_dir():
            made = self.listing(file)
        elif (
            parts[0] in ("chapters", "solutions")
            and len(parts) == 3
            and path.stem in self.repository.all_steps(parts[1])
        ):
            made = step_page(parts[1], path.stem)
        elif path.suffix == ".md":
            self.prose(file)
            made = file
        elif path.suffix in PICTURES:
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, self.folder / file)
            if path.suffix == ".svg" and (shown := narrow(path.read_text(encoding="utf-8"))):
                self.put(file.removesuffix(".svg") + NARROW, shown)
            made = file
        else:
            made = self.file(file)
        return os.path.relpath(made, pathlib.PurePosixPath(page).parent)

    def listing(self, folder: str) -> str:
        """Writes a page for a folder, its lesson or the list of files that git keeps there. Returns its
        path."""
        lesson = self.root / folder / "README.md"
        if lesson.is_file():
            self.prose(f"{folder}/README.md")
            return f"{folder}/README.md"
        page = f"{folder}/files.md"
        if page not in self.written:
            self.written.add(page)
            tracked = self.repository.git("ls-files", "--", folder).splitlines()
            names = "".join(f"{name.removeprefix(folder).lstrip('/')}\n" for name in tracked)
            self.put(
                page,
                f"{UNSEARCHED}# {folder}\n\nThis folder of the repository holds:\n\n```text\n{names}```\n",
            )
        return page

    def file(self, name: str) -> str:
        """Writes a page that shows a file, measurements as a table and all else as text. Returns its path."""
        page = f"{name}.md"
        if page not in self.written:
            self.written.add(page)
            text = (self.root / name).read_text(encoding="utf-8")
            shown = (
                table(text)
                if name.endswith(".csv")
                else fenced(text, LANGUAGES.get(pathlib.PurePath(name).suffix, "text"))
            )
            self.put(page, f"{UNSEARCHED}# {name}\n\n{shown}")
        return page

    def title(self, chapter: str, step: str) -> str:
        first = self.repository.text(chapter, step, "solutions").partition("\n")[0]
        found = re.match(r"// \d\d ([^:]+):", first)
        return found[1] if found else step[3:].replace("_", " ")

    def heading(self, chapter: str, step: str) -> str:
        """Returns the anchor of the lesson's section about a step; empty if no heading names it."""
        text = FENCE.sub("", (self.root / self.lessons[chapter]).read_text(encoding="utf-8"))
        for heading in re.findall(r"^#+ (\d\d .*)", text, re.M):
            if re.search(rf"\b{step[:2]}\b", heading):
                return "#" + re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        return ""

    def stub(self, chapter: str, step: str) -> str:
        try:
            return self.repository.stub_of(chapter, step)
        except Fault:  # written, and git has no stub: the text around the bodies is left
            return "".join(bodies.split(self.repository.text(chapter, step, "solutions"), step)[0])

    def mistakes(self, chapter: str) -> str:
        """Writes a card for each mistake: what differs from the solution, and what is said of it. Returns its
        path."""
        every = [mistake for mistake in self.repository.mistakes(chapter) if mistake.tree == "wrong"]
        silent = sum(mistake.is_silent for mistake in every)
        text = (
            f"{UNSEARCHED}# Mistakes in {chapter}\n\n**This page shows lines of the solutions. Write a step "
            f"before you read its mistakes.**\n\nThe tests reject these {len(every)} kernels. On a GPU, "
            f"{silent} of them give the right result, and nothing is reported.\n\n"
        )
        for step, found in itertools.groupby(every, key=lambda mistake: mistake.step):
            text += f"## {step[:2]} {self.title(chapter, step)} {{ #{step} }}\n\n"
            text += f"[The step]({step}.md)\n\n" + "".join(map(self.card, found))
        return self.put(f"chapters/{chapter}/mistakes.md", text)

    def card(self, mistake: Mistake) -> str:
        said = mistake.says("Rejected") or ""
        on_gpu = "nothing" if mistake.is_silent else part(mistake.says("On a GPU") or said)
        differs = [
            "\n".join(list(difflib.unified_diff(edit.old, edit.new, n=9, lineterm=""))[3:])
            for edit in mistake.edits
        ]
        of = f" Compared with {mistake.edited[:2]}:" if differs and mistake.edited != mistake.step else ""
        text = (
            f"**{escaped(mistake.name.replace('_', ' '))}:** {escaped(mistake.words)}{of}\n\n"
            + (fenced("\n…\n".join(differs), "diff") if differs else "")
            + f"\nOn a GPU: **{on_gpu}**  \n"
            f"The tests: **{part(said)}**\n"
        )
        return block("html", f"div.card#mistake-{mistake.kernel.replace('.', '-')}", text, depth=3)

    def pictures(self, chapter: str, step: str) -> str:
        """Writes the page of ./kata see of a solution that is built. Returns a link to it."""
        if not self.repository.runs_on("cpu", chapter, step):
            return ""
        shown = see.of_built(self.repository, chapter, step)
        if shown is None:
            self.without_pictures.append(f"{chapter}/{step}")
            return ""
        self.put(f"chapters/{chapter}/{step}.see.html", shown)
        return f"[What it does, in pictures]({step}.see.html) · "

    def step(self, chapter: str, step: str, steps: list[str]) -> str:
        """Writes the page of a step: its stub and, folded, the solution and its changes. Returns its path."""
        place, title = steps.index(step), f"{step[:2]} {self.title(chapter, step)}"
        solution = self.repository.text(chapter, step, "solutions")
        around = [f"[The lesson on this step](README.md{self.heading(chapter, step)})"]
        alone, beside = block("tab", title, fenced(solution, "cuda"), depth=4), ""
        if place > 0:
            other = steps[place - 1]
            name = f"{other[:2]} {self.title(chapter, other)}"
            around.append(f"[the step before: {name}]({other}.md)")
            before, after = (
                HEADER.sub("", text) for text in (self.repository.text(chapter, other, "solutions"), solution)
            )
            removed, added = changed_lines(before, after)
            halves = block("html", "div.before", fenced(before, "cuda", name, removed), depth=6)
            halves += block("html", "div.after", fenced(after, "cuda", title, added), depth=6)
            beside = block("tab", f"Beside {name}", block("html", "div.beside", halves, depth=5), depth=4)
        folded = block(
            "details", "Show it: better once yours is written\n    type: question", beside + alone, depth=3
        )
        if place + 1 < len(steps):
            around.append(
                f"[the next one: {steps[place + 1][:2]} "
                f"{self.title(chapter, steps[place + 1])}]({steps[place + 1]}.md)"
            )
        command = f"{chapter} {step[:2]}"
        return self.put(
            step_page(chapter, step),
            f"---\ntitle: {chapter.capitalize()} {title}\nhide: [toc]\n---\n\n# {chapter.capitalize()} "
            f"{title}\n\n"
            f"{' · '.join(around)}\n\n## What is to be written\n\n"
            f"In `chapters/{chapter}/{step}.cu`, between `{bodies.BEGIN}` and `{bodies.END}`. `./kata "
            f"test {command}` tests it.\n\n"
            f"{fenced(self.stub(chapter, step), 'cuda')}\n## The solution {{ data-search-exclude }}\n\n"
            f"{self.pictures(chapter, step)}[Mistakes that the tests reject](mistakes.md#{step})\n\n"
            f"{folded}",
        )

    def terms(self) -> dict[str, str]:
        """Returns the glossary's meaning of each term, for the theme's tooltips."""
        text = (self.root / "chapters/GLOSSARY.md").read_text(encoding="utf-8")
        found: dict[str, str] = {}
        for term, text_of_term in re.findall(r"^### (.+)\n\n((?:.+\n)+)", text, re.M):
            meaning = " ".join(
                re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text_of_term)
                .replace("`", "")
                .partition("First:")[0]
                .split()
            )
            if term not in EVERYDAY:
                for form in {term, term if term[:2].isupper() else term[0].lower() + term[1:]}:
                    found |= {form: meaning, f"{form}s": meaning}
        return found


SVG = "http://www.w3.org/2000/svg"
UNSEARCHED = "---\nsearch: {exclude: true}\n---\n\n"


def escaped(text: str) -> str:
    """Returns words as Markdown that shows them as they are."""
    return re.sub(r"([\\`*_\[\]#|])", r"\\\1", html.escape(text, quote=False))


def part(message: str) -> str:
    return f"…\N{NO-BREAK SPACE}{escaped(message)}\N{NO-BREAK SPACE}…"


def narrow(picture: str) -> str:
    """Rearranges a picture that pictures.beside has drawn: its panels lie one below the other. Returns "" for
    any picture without several panels."""
    svg = ElementTree.fromstring(picture)
    titles, groups = (svg.findall(f"{{{SVG}}}{name}") for name in ("text", "g"))
    if svg.get("class") != "kata" or len(titles) < 2:
        return ""
    sizes = [tuple(map(float, group.get("data-size", "0 0").split())) for group in groups]
    y, wide = 0.0, max(wide for wide, _ in sizes)
    for title, group, (_, high) in zip(titles, groups, sizes):
        title.attrib.update(x="0", y=f"{y + 14:g}")
        group.set("transform", f"translate(0 {y + 22:g})")
        y += 36 + high
    groups[-1].set("transform", f"translate(0 {y:g})")
    wide, high = wide + 4, y + sizes[-1][1] + 4
    svg.attrib.update(width=f"{wide:g}", height=f"{high:g}", viewBox=f"-2 -2 {wide:g} {high:g}")
    ElementTree.register_namespace("", SVG)
    return ElementTree.tostring(svg, encoding="unicode")


def step_page(chapter: str, step: str) -> str:
    return f"chapters/{chapter}/{step}.md"


def fenced(text: str, language: str, title: str = "", marked: str = "") -> str:
    options = language + (f' title="{title}"' if title else "") + (f' hl_lines="{marked}"' if marked else "")
    return f"````{options}\n{text.rstrip()}\n````\n"


def block(kind: str, head: str, text: str, depth: int) -> str:
    """Returns a block in pymdownx's syntax; an inner block needs more slashes than the one around it."""
    return f"{'/' * depth} {kind} | {head}\n\n{text}\n{'/' * depth}\n\n"


def table(text: str) -> str:
    """Returns a file of measurements as a table. Its first line names the machine; other lines with "# " are
    notes."""
    lines = text.splitlines()
    said = [line for line in lines if line.startswith("# ")]
    head, *rows = csv.reader(line for line in lines if line not in said)
    every = [head, ["---"] * len(head), *rows]
    return "".join(f"{line.removeprefix('# ')}\n\n" for line in said) + "".join(
        f"| {' | '.join(row)} |\n" for row in every
    )


def changed_lines(before: str, after: str) -> tuple[str, str]:
    """Returns the numbers of the lines that only the first text has, and of those that only the second
    has."""
    mine, theirs = before.splitlines(), after.splitlines()
    removed: list[int] = []
    added: list[int] = []
    for what, i, j, k, end in difflib.SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if what != "equal":
            removed += range(i + 1, j + 1)
            added += range(k + 1, end + 1)
    return " ".join(map(str, removed)), " ".join(map(str, added))


def build(repository: Repository, site: pathlib.Path) -> None:
    """Builds the whole book, in a folder that is emptied first."""
    if not shutil.which("mkdocs"):
        raise Fault(MISSING, 3)
    with tempfile.TemporaryDirectory(prefix="kata-book-") as folder:
        pages = pathlib.Path(folder) / "pages"
        pages.mkdir()
        book = Book(repository, pages)
        settings = {
            "INHERIT": str(SETTINGS / "mkdocs.yml"),
            "site_name": "cuda-kata",
            "docs_dir": str(pages),
            "site_dir": str(site.resolve()),
            "nav": book.write(),
            "markdown_extensions": {"abbr": {"glossary": book.terms()}},
        }
        configuration = pathlib.Path(folder) / "mkdocs.yml"
        configuration.write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML, too
        done = subprocess.run(
            ["mkdocs", "build", "--quiet", "--config-file", str(configuration)],
            # Silences a note about Material's future, which is not for readers.
            env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    if re.search(r"Unrecognised theme|plugin is not installed|No module named", done.stdout):
        raise Fault(MISSING, 3)
    if done.returncode:
        raise Fault(f"MkDocs made no book:\n{done.stdout.rstrip()}")
    print(done.stdout, end="")
    if book.without_pictures:
        print(
            f"Without the pictures of {len(book.without_pictures)} solutions, which are not built: ./kata "
            "test builds them."
        )
