"""The files that a student handed in: found in folders and archives as students pack them, read, and never
executed.

Steps are known by their file names, also as browsers change them; chapters by a folder on the way to the file
or by the chapter's header that the step includes. No symbolic link is followed, and nothing of an archive is
unpacked but source and headers.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import hashlib
import io
import os
import pathlib
import pickle
import re
import resource
import signal
import stat
import tarfile
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

import bodies
from grading import alike
from grading.sheet import NOT_A_STEP, RENAMED, UNCHECKED, few, plain
from repository import Repository

HEADERS = (".h", ".hpp", ".cuh")
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".txz")
OTHER_ARCHIVES = (".rar", ".7z", ".gz", ".bz2", ".xz", ".zst")  # that are not read
# Folders of the repository whose source was not handed in.
OURS = {"common", "reference", "solutions"}
SOURCES = (".cu", ".cpp", ".txt")
MOODLE = re.compile(r"_\d+_assignsubmission_.*")  # Moodle appends this to the name of a student
COPY = re.compile(r"(?: ?\(\d+\)|[-_ ]\d+)$")  # browsers and learning platforms append this to names
MIB = 1 << 20
MOST_OF_A_FILE = MIB  # bytes of a step or a header
MOST_FILES, MOST_FOLDERS_DEEP = 20000, 12  # that are looked at
MOST_HEADERS = 64  # headers of a chapter
MOST_MEMORY, MOST_SECONDS = 1024 * MIB, 120  # to read what a student has handed in
# Folders that hold no attempt at a step.
NEVER = ("__macosx", "build", "node_modules", "tests")

# Findings after which a person should read the text. Each has honest uses.
SUSPICIOUS = {
    UNCHECKED: r"\A(?=[\s\S]*<<<)(?![\s\S]*(?:GetLast|PeekAtLast|LastCuda)Error)",
    "includes what lies outside of the chapter": r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:/|[^\n>\"]*\.\./)",
    "runs when it is loaded (constructor)": r"\bconstructor\b|\binit_priority\b|\.init_array",
    "starts or ends programs": (
        r"\b(?:fork|vfork|exec[lv]p?e?|system|popen|posix_spawn|_exit|_Exit|quick_exit|kill|ptrace)\s*\("
    ),
    "opens libraries or files of the system": (
        r"\b(?:dlopen|dlmopen|dl_iterate_phdr|fopen|ofstream|ifstream|mmap|memfd_create)\b|/proc/"
    ),
}

SOLUTION = "the solution of this repository"


class Unread(Exception):
    """The reason why a file is not read."""


@dataclasses.dataclass
class Found:
    """A file, by the folders that lead to it from what was handed in."""

    parts: tuple[str, ...]
    read: Callable[[], bytes]  # throws Unread
    changed: float = 0  # when, in seconds as of time.time()

    @property
    def path(self) -> str:
        return "/".join(self.parts)


@dataclasses.dataclass
class Submission:
    """The files that are graded. A step is named CHAPTER/STEP."""

    student: str
    texts: dict[str, bytes] = dataclasses.field(default_factory=dict)  # the text of each step
    # CHAPTER/NAME, also in folders of their own.
    headers: dict[str, bytes] = dataclasses.field(default_factory=dict)
    missing: dict[str, str] = dataclasses.field(default_factory=dict)  # the reason why a step is missing
    # The reason why a step that is there is not read.
    unread: dict[str, str] = dataclasses.field(default_factory=dict)
    unreadable: str = ""  # the reason why nothing can be graded
    # Each remark, and the steps or files that it is about.
    remarks: dict[str, list[str]] = dataclasses.field(default_factory=lambda: collections.defaultdict(list))
    changed: float = 0  # the newest of the files that are graded

    @property
    def notes(self) -> list[str]:
        """Returns a line for each remark."""
        return [f"{remark}: {few(names, 9)}" for remark, names in self.remarks.items()]

    @property
    def digest(self) -> str:
        """Returns a hash of all that the verdicts depend on."""
        lines = [
            f"{what} {name} {hashlib.sha256(text).hexdigest()}"
            for what in ("texts", "headers")
            for name, text in sorted(getattr(self, what).items())
        ]
        lines += [
            f"{name} {why}"
            for reasons in (self.missing, self.unread)
            for name, why in sorted(reasons.items())
        ]
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


# --- files, wherever they are -------------------------------------------------------------------------------


def files_in(path: pathlib.Path) -> Iterator[Found]:
    """Yields the plain files of a folder or an archive. Throws Unread for a broken archive."""
    if os.path.isdir(path):
        yield from files_of_folder(path)
    elif zipfile.is_zipfile(path):
        yield from files_of_zip(path)
    else:
        yield from files_of_tar(path)


def files_of_folder(home: pathlib.Path) -> Iterator[Found]:
    seen = 0
    for folder, folders, names in os.walk(home):
        parts = pathlib.Path(folder).relative_to(home).parts
        folders[:] = (
            sorted(name for name in folders if not name.startswith("."))
            if len(parts) < MOST_FOLDERS_DEEP
            else []
        )
        for name in sorted(names):
            seen += 1
            if seen > MOST_FILES:
                raise Unread(f"it holds more than {MOST_FILES} files")
            path = os.path.join(folder, name)
            yield Found((*parts, name), functools.partial(read_plain, path), changed_at(path))


def changed_at(path: str) -> float:
    """Returns the time of the last change; 0 if it cannot be read."""
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0


def read_plain(path: str) -> bytes:
    """Returns the contents. Throws Unread for anything but a plain file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise Unread(
            "it is a symbolic link, which is not followed"
            if os.path.islink(path)
            else f"it cannot be read: {error.strerror}"
        ) from error
    with open(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise Unread("it is not a plain file")
        return bounded(file.read, state.st_size)


def bounded(read: Callable[[int], bytes], size: int) -> bytes:
    text = read(MOST_OF_A_FILE + 1) if size <= MOST_OF_A_FILE else b""
    if max(size, len(text)) > MOST_OF_A_FILE:
        raise Unread(f"it is larger than {MOST_OF_A_FILE // MIB} MiB")
    return text


def files_of_zip(path: pathlib.Path) -> Iterator[Found]:
    def read(name: zipfile.ZipInfo) -> bytes:
        try:
            with zipfile.ZipFile(path) as archive, archive.open(name) as file:
                return bounded(file.read, name.file_size)
        except (
            zipfile.BadZipFile,
            NotImplementedError,
            RuntimeError,
            EOFError,
            OSError,
            zlib.error,
        ) as error:
            raise Unread(f"it cannot be unpacked: {error}") from error

    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise Unread(f"it cannot be unpacked: {error}") from error
    if len(names) > MOST_FILES:
        raise Unread(f"it holds more than {MOST_FILES} files")
    for name in names:
        is_link = stat.S_ISLNK(name.external_attr >> 16)
        if not name.is_dir() and not is_link:
            yield Found(
                parts_of(name.filename),
                functools.partial(read, name),
                time.mktime((*name.date_time, 0, 0, -1)),
            )


def files_of_tar(path: pathlib.Path) -> Iterator[Found]:
    """Yields the files of an archive in their order in it: a compressed archive can be read only once."""
    found = []
    try:
        with tarfile.open(path) as archive:
            for seen, member in enumerate(archive):
                if seen >= MOST_FILES or archive.offset > 1024 * MIB:
                    raise Unread(f"it holds more than {MOST_FILES} files, or more than a GiB")
                if member.isfile() and member.name.lower().endswith(SOURCES + HEADERS):
                    file = archive.extractfile(member) if member.size <= MOST_OF_A_FILE else None
                    text = file.read() if file else b""
                    read = functools.partial(bounded, io.BytesIO(text).read, member.size)
                    found.append(Found(parts_of(member.name), read, member.mtime))
    except tarfile.ReadError:
        raise Unread("it is damaged, or not an archive") from None
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise Unread(f"it cannot be unpacked: {error}") from error
    yield from found


def parts_of(name: str) -> tuple[str, ...]:
    return tuple(part for part in name.replace("\\", "/").split("/") if part not in ("", ".", ".."))


def is_archive(name: str) -> bool:
    return name.lower().endswith(ARCHIVES)


# --- steps among files --------------------------------------------------------------------------------------


class Reader:
    """Finds the steps of a repository in what was handed in."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.chapters = repository.chapters()
        self.steps = {chapter: repository.steps(chapter, "solutions") for chapter in self.chapters}
        root = repository.root
        # The chapters' own headers, which lie beside the steps.
        self.of_chapters = {
            chapter: {
                path.name for path in (root / "solutions" / chapter).iterdir() if path.name.endswith(HEADERS)
            }
            for chapter in self.chapters
        }
        self.all = [f"{chapter}/{step}" for chapter, steps in self.steps.items() for step in steps]
        # Named as a step includes them. A student's header of such a name would come first where a step is
        # compiled.
        self.ours = {
            path.relative_to(root / folder).as_posix()
            for folder in ("common", "reference")
            for path in (root / folder).rglob("*.h*")
        }
        self.ours |= {name for names in self.of_chapters.values() for name in names}

    def read(self, student: str, path: pathlib.Path, wanted: Sequence[str]) -> Submission:
        """Reads the wanted steps, each named CHAPTER/STEP, that were handed in."""
        taken = Submission(student)
        try:
            found = list(self.files(path, taken))
        except (Unread, OSError) as error:
            why = f"cannot be read: {error.strerror}" if isinstance(error, OSError) else str(error)
            taken.unreadable, found = f"{path.name} {why.removeprefix('it ')}", []
        places: dict[str, list[Found]] = collections.defaultdict(list)
        others = []
        for file in found:
            if step := self.step_of(file, wanted):
                places[step].append(file)
            elif self.is_no_step(file):
                others.append(file.path)
        # The folders that a chapter's steps were taken from.
        folders: dict[str, list[str]] = collections.defaultdict(list)
        for step in wanted:
            chapter = step.split("/")[0]
            if best := self.chosen(step, places.get(step, []), taken):
                folder = "/".join(best.parts[:-1])
                if folder not in folders[chapter]:
                    folders[chapter].append(folder)
        for chapter, where in folders.items():
            self.take_headers(chapter, where, found, taken)
        whys = {*taken.unread.values()}
        if not places:
            taken.missing = dict.fromkeys(wanted, "no step was found in what was handed in")
            taken.unreadable = taken.unreadable or "; ".join(
                f"{few(names)} {why.removeprefix('it ')}" for why, names in taken.remarks.items()
            )
        elif not taken.texts and any("cannot be unpacked" in why for why in whys):
            taken.unreadable = f"{path.name} {' and '.join(sorted(whys)).removeprefix('it ')}"
        if others:
            for step in taken.missing:
                taken.missing[step] += f"; {NOT_A_STEP}: {few(others, 9)}"
            taken.remarks[NOT_A_STEP] = others
        for name, text in {**taken.texts, **taken.headers}.items():
            for note in looked_at(text.decode("utf-8", "replace")):
                taken.remarks[note].append(name)
        return taken

    def files(self, path: pathlib.Path, taken: Submission) -> Iterator[Found]:
        """Yields all files of a student; if a folder holds no step, also those of the archives in it."""
        if not os.path.isdir(path) and not is_archive(path.name):
            alone = Found((path.name,), functools.partial(read_plain, str(path)), changed_at(str(path)))
            if not self.name_of(alone):
                raise Unread("it is neither a folder, a zip, a tar nor a file with a step's name")
            yield alone
            return
        found = [file for file in files_in(path) if self.may_be_an_attempt(file)]
        yield from found
        if os.path.isdir(path) and not any(self.name_of(file) for file in found):
            for file in found:
                if file.parts[-1].lower().endswith(OTHER_ARCHIVES) and not is_archive(file.parts[-1]):
                    taken.remarks["it is not a zip or tar"].append(file.path)
                elif is_archive(file.parts[-1]):
                    inner = path.joinpath(*file.parts)
                    try:
                        if inner.is_symlink() or not inner.is_file():
                            raise Unread("it is not a plain file")
                        for packed in files_in(inner):
                            if self.may_be_an_attempt(packed):
                                yield dataclasses.replace(packed, parts=(*file.parts, *packed.parts))
                    except Unread as why:
                        taken.remarks[str(why)].append(file.path)

    @staticmethod
    def may_be_an_attempt(file: Found) -> bool:
        return not any(
            part.lower() in NEVER or part.startswith(".") for part in file.parts[:-1]
        ) and not file.parts[-1].startswith("._")

    def name_of(self, file: Found) -> str:
        """Returns the step with the file's name; empty if there is none. Case, the number of a copy and a
        `.txt` at the end do not matter."""
        name = file.parts[-1].lower().removesuffix(".txt")
        stem = name.removesuffix(".cu")
        names = {step for steps in self.steps.values() for step in steps} if stem != name else ()
        return next((name for name in (stem, COPY.sub("", stem)) if name in names), "")

    def is_no_step(self, file: Found) -> bool:
        """True if somebody may have meant the file for a step: source without a step's name, and outside of
        the repository's own folders."""
        name, folders = file.parts[-1].lower(), {part.lower() for part in file.parts[:-1]}
        if not name.endswith(SOURCES) or folders & OURS or self.step_of(file, self.all):
            return False
        with contextlib.suppress(Unread):
            return not name.endswith(".txt") or b"__global__" in file.read()
        return False

    def step_of(self, file: Found, wanted: Sequence[str]) -> str:
        """Returns CHAPTER/STEP for a file; empty if the file is none of the wanted steps."""
        name = self.name_of(file)
        if not name:
            return ""
        folders = [part.lower() for part in file.parts[:-1]]
        # A whole repository has its own solutions beside the chapters.
        if "solutions" in folders:
            return ""
        here = [chapter for chapter in self.chapters if chapter in folders]
        if not here:
            here = [step.split("/")[0] for step in wanted if step.split("/")[1] == name]
        if len(here) > 1 and not set(here) <= set(folders):
            try:
                text = file.read().decode("utf-8", "replace")
            except Unread:
                return ""
            here = [
                chapter
                for chapter in here
                if any(f'"{header}"' in text for header in self.of_chapters[chapter])
            ]
        step = f"{here[-1]}/{name}" if here else ""
        return step if step in wanted else ""

    def chosen(self, step: str, found: Sequence[Found], taken: Submission) -> Found | None:
        """Takes the attempt that counts: a written one before an open one, then the nearest to the top, then
        the newest to the minute, then the last by its name, where "attempt 10" comes after "attempt 9"."""
        texts, read, why = {}, [], ""
        for file in found:
            try:
                texts[file.path] = file.read()
                read.append(file)
            except Unread as reason:
                why = str(reason)
        if not found:
            taken.missing[step] = "it was not handed in"
        elif not read:
            # A link and a folder are nothing that was handed in.
            (taken.missing if "link" in why or "not a plain file" in why else taken.unread)[step] = why
        if not read:
            return None
        best = max(
            read,
            key=lambda f: (is_written(texts[f.path]), -len(f.parts), f.changed // 60, natural(f.path)),
        )
        if best.parts[-1] != f"{step.split('/')[1]}.cu":
            taken.remarks[RENAMED].append(f"{step} ({best.parts[-1]})")
        if len(set(texts.values())) > 1:
            taken.remarks[
                f"handed in {len(texts)} times; taken from {'/'.join(best.parts[:-1]) or 'the top'}"
            ].append(step)
        taken.texts[step] = texts[best.path]
        if is_written(texts[best.path]):
            taken.changed = max(taken.changed, best.changed)
        return best

    def take_headers(
        self, chapter: str, folders: Iterable[str], found: Iterable[Found], taken: Submission
    ) -> None:
        """Takes the student's own headers beside the steps, and those in folders below if the folder is the
        chapter's."""
        for folder in folders:
            parts = tuple(part for part in folder.split("/") if part)
            is_chapter = bool(parts) and parts[-1].lower() == chapter
            for file in found:
                inside = file.parts[len(parts) :]
                name = "/".join(inside)
                if file.parts[: len(parts)] != parts or not name.endswith(HEADERS) or name in self.ours:
                    continue
                if (len(inside) == 1 or is_chapter) and len(taken.headers) < MOST_HEADERS:
                    with contextlib.suppress(Unread):  # the compiler will say which step misses it
                        taken.headers[f"{chapter}/{name}"] = file.read()


def read_apart(reader: Reader, student: str, path: pathlib.Path, wanted: Sequence[str]) -> Submission:
    """Reads in a process of its own, with limits: what cannot be read, whatever is wrong with it, is this
    student's only."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
            with open(theirs, "wb") as file:
                pickle.dump(reader.read(student, path, wanted), file)
        os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as file:
        said = file.read()
    os.waitpid(child, 0)
    try:
        taken = pickle.loads(said)
        assert isinstance(taken, Submission)
        return taken
    except (EOFError, pickle.UnpicklingError):
        why = "it is damaged, or takes too much time or memory"
        return Submission(student, unreadable=f"{path.name} cannot be read: {why}")


def natural(text: str) -> list[tuple[tuple[int, str], str]]:
    return [
        ((len(digits := number.lstrip("0")), digits), word)
        for number, word in re.findall(r"(\d+)|(\D+)", text)
    ]


# --- what a text is -----------------------------------------------------------------------------------------

# A comment, a string, a raw string or a character, whichever begins first. Each alternative also matches what
# never ends, so that reading takes time in proportion to the text.
COMMENT = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
LEXED = re.compile(
    COMMENT + r'|R"([^()\\\s]{0,16})\(.*?(?:\)\1"|\Z)'
    r'|"(?:\\.|[^"\\\n])*(?:"|(?=\n)|\\?\Z)'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*(?:'|(?=\n)|\\?\Z)",
    re.S,
)


def code_of(text: str) -> str:
    """Returns the compiled part of the text: without comments, contents of strings, and code in #if 0."""
    text = LEXED.sub(lambda found: " " if found[0].startswith("/") else '""', text.replace("\\\n", ""))
    kept, depth = [], 0  # the depth of #if within an #if 0
    for line in text.splitlines():
        directive = re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b\s*(.*)", line)
        if depth:
            if directive and directive[1].startswith("if"):
                depth += 1
            elif directive and (directive[1] == "endif" or (depth == 1 and directive[1] in ("else", "elif"))):
                depth -= 1 if directive[1] == "endif" else depth
        elif directive and directive[1] == "if" and re.fullmatch(r"0+|false", directive[2].strip()):
            depth = 1
        else:
            kept.append(line)
    return "\n".join(kept)


def is_written(text: bytes) -> bool:
    """True if no body waits to be written."""
    return not re.search(r"\bkata\s*::\s*open\s*\(\s*\)", code_of(text.decode("utf-8", "replace")))


def looked_at(text: str) -> list[str]:
    plain = re.sub(COMMENT, " ", text.replace("\\\n", ""), flags=re.S)
    return [note for note, pattern in SUSPICIOUS.items() if re.search(pattern, plain, re.M)]


def note_likeness(repository: Repository, submissions: Sequence[Submission]) -> None:
    """Notes the steps that are like the solution, or else like those of classmates. Text of the stub does not
    count."""
    for step in sorted({step for submission in submissions for step in submission.texts}):
        chapter, name = step.split("/")
        solution = repository.text(chapter, name, "solutions")
        stub = alike.fragments(code_of("".join(bodies.split(solution, step)[0])))
        own = {
            submission.student: alike.fragments(code_of(submission.texts[step].decode("utf-8", "replace")))
            - stub
            for submission in submissions
            if is_written(submission.texts.get(step, b"kata::open()"))
        }
        for submission in submissions:
            if mine := own.pop(submission.student, None):
                like = alike.most_alike(
                    mine, {SOLUTION: alike.fragments(code_of(solution)) - stub}
                ) or alike.most_alike(mine, own)
                own[submission.student] = mine
                for other, share in like.items():
                    submission.remarks[f"alike with {other}"].append(f"{step} {int(100 * share)}%")


def names_of(
    paths: Sequence[pathlib.Path], roster: Mapping[str, str], rows: Container[str] = ()
) -> list[str]:
    """Returns the students' names: the shortest end of each path that no other path has, without a file's
    ending, or the name in the roster that this begins with. A bare step is named by its folder. Where several
    have one name, the later ones are numbered. What Moodle appends is left out where `rows`, the students of
    the sheet, have the rest and only one path does."""

    def ends(path: pathlib.Path) -> list[str]:
        parts = path.parts
        if not path.is_dir():
            endings = [end for end in ARCHIVES if path.name.lower().endswith(end)]
            stem = path.name[: -len(max(endings, key=len))] if endings else path.stem
            bare = re.match(r"\d\d_.*\.cu(\.txt)?$", path.name.lower())
            parts = parts[:-1] if bare else (*parts[:-1], stem)
        return [
            re.sub(r"\s", " ", unicodedata.normalize("NFC", str(pathlib.PurePath(*parts[-n:]))))
            for n in range(1, len(parts) + 1)
        ]

    endings = [ends(path) for path in paths]
    count = collections.Counter(name for names in endings for name in names)
    own = [next((name for name in names if count[name] == 1), names[0]) for names in endings]
    shorter = [MOODLE.sub("", name) for name in own]
    given: list[str] = []
    for path, name, short in zip(paths, own, shorter):
        known = [key for key in roster if name == key or name.startswith(f"{key}_")]
        has_row = short in rows and name not in rows and shorter.count(short) == 1
        student = roster[max(known, key=len)] if known else short if has_row else name
        numbers = (f"{student} ({number})" for number in range(2, len(paths) + 2))
        given.append(student if student not in given else next(one for one in numbers if one not in given))
        if given[-1] != student:
            print(
                f"{plain(student)} has several hand-ins: {plain(str(path))} is graded as {plain(given[-1])}"
            )
    return given
