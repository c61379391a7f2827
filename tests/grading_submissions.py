#!/usr/bin/env python3
"""Checks what ./kata grade finds in a submission: steps and headers, their likeness, and what to look at."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import re
import shutil
import tarfile
import time
import unicodedata
import unittest
import zipfile
from collections.abc import Sequence

from paths import ROOT  # isort: split

from fault import Fault
from grading import sheet, submissions, tree
from students import (
    ADD,
    BLUR,
    CHAPTER,
    GRAY,
    NAMES,
    REPOSITORY,
    STEPS,
    Scratch,
    hand_in,
    solution,
    whole,
    write,
)


class Taking(Scratch):
    """The files found in a submission, without building it."""

    reader = submissions.Reader(REPOSITORY)

    def read(self, path: pathlib.Path | None = None, wanted: Sequence[str] = NAMES) -> submissions.Submission:
        return self.reader.read("x", path or self.folder / "x", wanted)

    def assert_all(self, taken: submissions.Submission) -> None:
        self.assertEqual(
            {step: text.decode() for step, text in taken.texts.items()},
            {f"{CHAPTER}/{step}": solution(step) for step in STEPS},
        )
        self.assertEqual((taken.missing, taken.unread), ({}, {}))

    def test_steps_are_found_wherever_they_lie(self) -> None:
        for folder in (
            f"chapters/{CHAPTER}",
            CHAPTER,
            "",
            "homework 1",
            f"homework 1/cuda-kata-main/chapters/{CHAPTER}",
            f"Chapters/{CHAPTER.title()}",
            f"a/b/c/d/{CHAPTER}",
        ):
            with self.subTest(folder=folder):
                hand_in(self.folder / "x", whole(), folder)
                self.assert_all(self.read())
                shutil.rmtree(self.folder / "x")

    def test_archives_are_read_and_not_unpacked(self) -> None:
        hand_in(self.folder / "x", {**whole(), "mine.hpp": "#pragma once\n"}, f"me/chapters/{CHAPTER}")
        for name, how in (("a.zip", "zip"), ("b.tar.gz", "gztar"), ("c.tar.xz", "xztar"), ("d.tar", "tar")):
            with self.subTest(archive=name):
                shutil.make_archive(str(self.folder / name.split(".")[0]), how, self.folder / "x")
                taken = self.read(self.folder / name)
                self.assert_all(taken)
                self.assertIn(f"{CHAPTER}/mine.hpp", taken.headers)
        (self.folder / "y").mkdir()
        (self.folder / "a.zip").rename(self.folder / "y" / "homework.zip")
        self.assert_all(self.read(self.folder / "y"))

    def test_an_archive_reaches_nothing_outside(self) -> None:
        with zipfile.ZipFile(self.folder / "x.zip", "w") as archive:
            archive.writestr(f"../../{CHAPTER}/{ADD}.cu", solution(ADD))
            link = zipfile.ZipInfo(f"{CHAPTER}/{GRAY}.cu")
            link.external_attr = 0o120777 << 16
            archive.writestr(link, "/etc/passwd")
            archive.writestr(f"{CHAPTER}/{BLUR}.cu", b"0" * (64 << 20), zipfile.ZIP_DEFLATED)
        taken = self.read(self.folder / "x.zip")
        self.assertEqual(list(taken.texts), [NAMES[0]])
        self.assertIn("larger", taken.unread[NAMES[2]])
        with tarfile.open(self.folder / "x.tar", "w") as tape:
            name = tarfile.TarInfo(f"{CHAPTER}/{ADD}.cu")
            name.type, name.linkname = tarfile.SYMTYPE, "/etc/passwd"
            tape.addfile(name)
        self.assertEqual(self.read(self.folder / "x.tar").texts, {})

    def test_one_of_several_attempts_is_graded_and_named(self) -> None:
        hand_in(self.folder / "x", {ADD: "// nine\n"}, f"attempt 9/chapters/{CHAPTER}")
        hand_in(self.folder / "x", {ADD: "// ten\n"}, f"attempt 10/chapters/{CHAPTER}")
        hand_in(self.folder / "x", {ADD: tree.STANDS_IN}, f"attempt 11/chapters/{CHAPTER}")
        for path in self.folder.rglob("*.cu"):
            os.utime(path, (1_700_000_000, 1_700_000_000))
        taken = self.read()
        self.assertEqual(taken.texts[NAMES[0]], b"// ten\n")
        self.assertIn("3 times", taken.notes[0])
        newest = self.folder / f"x/attempt 9/chapters/{CHAPTER}/{ADD}.cu"
        os.utime(newest, (1_700_000_100, 1_700_000_100))
        self.assertEqual(self.read().texts[NAMES[0]], b"// nine\n")
        hand_in(self.folder / "x", {ADD: "// top\n"}, f"chapters/{CHAPTER}")
        self.assertEqual(self.read().texts[NAMES[0]], b"// top\n")

    def test_steps_are_found_under_the_names_that_browsers_and_platforms_give_them(self) -> None:
        for names in (
            ("01_vector_add (1).cu", "02_color_to_grayscale-2.cu", "03_Blur.cu"),
            ("01_vector_add(2).cu", "02_color_to_grayscale.cu.txt", "03_blur_2.cu"),
        ):
            hand_in(self.folder / "x", dict(zip(names, whole().values())), "")
            taken = self.read()
            self.assert_all(taken)
            said = ", ".join(f"{step} ({name})" for step, name in zip(NAMES, names))
            self.assertEqual(taken.notes, [f"taken from a file of another name: {said}"])
            shutil.rmtree(self.folder / "x")

    def test_what_is_no_step_is_named(self) -> None:
        others = {"blur.cu": "", "main.cpp": "", "kernel.txt": solution(BLUR)}
        hand_in(self.folder / "x", {ADD: solution(ADD), "notes.txt": "done", **others}, "")
        packed = shutil.make_archive(str(self.folder / "x"), "gztar", self.folder / "x")
        for path in (self.folder / "x", pathlib.Path(packed)):
            taken = self.read(path)
            said = f"found and not graded: {', '.join(sorted(others))}"
            self.assertEqual(taken.notes, [said])
            self.assertEqual(taken.missing, dict.fromkeys(NAMES[1:], f"it was not handed in; {said}"))

    def test_no_file_of_a_whole_clone_is_reported(self) -> None:
        (self.folder / "x").mkdir()
        for name in ("chapters", "solutions", "common", "reference"):
            shutil.copytree(ROOT / name, self.folder / "x" / "kata" / name)
        self.assertEqual(self.read().notes, [])

    def test_the_solutions_of_a_whole_repository_are_nobodys_attempt(self) -> None:
        hand_in(self.folder / "x", {ADD: tree.STANDS_IN}, f"repo/chapters/{CHAPTER}")
        hand_in(self.folder / "x", whole(), f"repo/solutions/{CHAPTER}")
        taken = self.read()
        self.assertEqual((list(taken.texts), list(taken.missing)), ([NAMES[0]], NAMES[1:]))

    def test_a_flat_step_is_recognized_by_its_chapters_header(self) -> None:
        wanted = [
            f"{chapter}/{step}"
            for chapter in REPOSITORY.chapters()
            for step in REPOSITORY.steps(chapter, "solutions")
        ]
        for chapter in REPOSITORY.chapters():
            for step in REPOSITORY.steps(chapter, "solutions"):
                write(self.folder / "x" / f"{step}.cu", REPOSITORY.text(chapter, step, "solutions"))
                with self.subTest(chapter=chapter, step=step):
                    self.assertEqual(list(self.read(wanted=wanted).texts), [f"{chapter}/{step}"])
                shutil.rmtree(self.folder / "x")

    def test_links_are_not_followed(self) -> None:
        hand_in(self.folder / "mine", whole())
        (self.folder / "x").mkdir()
        (self.folder / "x" / "chapters").symlink_to(self.folder / "mine" / "chapters")
        self.assertEqual(self.read().texts, {})
        (self.folder / "z").symlink_to(self.folder / "mine")  # the teacher's
        self.assert_all(self.read(self.folder / "z"))

    def test_only_headers_that_hide_ours_are_left_out(self) -> None:
        names = ["types.hpp", "lib/data.hpp", "kata.hpp", "grids.hpp", "grids.cuh", "check/data.hpp"]
        hand_in(self.folder / "x", {ADD: "mine", **dict.fromkeys(names, "")})
        self.assertEqual(sorted(self.read().headers), [f"{CHAPTER}/lib/data.hpp", f"{CHAPTER}/types.hpp"])

    def notes_on(self, step: str, **texts: str) -> dict[str, str]:
        """Returns the remarks on a class that hands in these texts."""
        given = [submissions.Submission(name, {step: text.encode()}) for name, text in texts.items()]
        submissions.note_likeness(REPOSITORY, given)
        return {one.student: "\n".join(one.notes) for one in given}

    def test_what_is_alike_is_pointed_out_with_its_share(self) -> None:
        step = "scan/06_single_pass"
        mine = (ROOT / f"tests/styles/{step}.blocks_of_512.cu").read_text()
        names = {
            name: f"v{number}"
            for number, name in enumerate(
                dict.fromkeys(re.findall(r"(?:const )?(?:int|unsigned) (\w+) =", mine))
            )
        }
        self.assertGreater(len(names), 5)
        renamed = re.sub(r"\w+", lambda word: names.get(word[0], word[0]), mine)
        swapped = (
            re.sub(r"(\w+) \+ (\w+);", r"\2 + \1;", renamed).replace("const ", "").replace("unsigned", "int")
        )
        notes = self.notes_on(
            step,
            anna=mine,
            ben=f"// mine\n{swapped}",
            carla=REPOSITORY.text("scan", "06_single_pass", "solutions"),
        )
        self.assertRegex(notes["anna"], rf"^alike with ben: {step} (9\d|100)%$")
        self.assertRegex(notes["ben"], rf"^alike with anna: {step} (9\d|100)%$")
        self.assertEqual(notes["carla"], f"alike with the solution of this repository: {step} 100%")

    def test_what_everybody_writes_is_not_called_alike(self) -> None:
        self.assertEqual(set(self.notes_on(NAMES[0], anna=solution(ADD), ben=solution(ADD)).values()), {""})
        styles = [
            path.read_text() for path in sorted((ROOT / "tests/styles/gemm").glob("02_shared_memory.*.cu"))
        ]
        self.assertGreater(len(styles), 2)
        self.assertEqual(
            set(
                self.notes_on(
                    "gemm/02_shared_memory", **{f"s{n}": text for n, text in enumerate(styles)}
                ).values()
            ),
            {""},
        )
        self.assertEqual(
            set(self.notes_on("gemm/02_shared_memory", anna=tree.STANDS_IN, ben=tree.STANDS_IN).values()),
            {""},
        )

    def test_those_who_share_a_body_and_differ_elsewhere_are_not_the_same(self) -> None:
        kernels = {
            f"s{n}": REPOSITORY.text("reduction", step, "solutions")
            for n, step in enumerate(REPOSITORY.steps("reduction", "solutions")[2:6])
        }
        given = {
            name: f"{solution(BLUR)}\n{text.split('#include', 1)[1].partition(chr(10))[2]}"
            for name, text in kernels.items()
        }
        self.assertNotIn("100%", "".join(self.notes_on(NAMES[2], **given).values()))

    def test_a_launch_that_nobody_checks_is_noted(self) -> None:
        text = solution(ADD)
        self.assertEqual(submissions.looked_at(text), [])
        unchecked = text.replace("check(cudaGetLastError());", "")
        self.assertEqual(submissions.looked_at(unchecked), [sheet.UNCHECKED])

    def test_a_file_that_is_no_archive_is_reported_once(self) -> None:
        write(self.folder / "x.zip", b"PK\x03\x04 and then nothing")
        taken = self.read(self.folder / "x.zip")
        self.assertEqual(taken.unreadable, "x.zip is damaged, or not an archive")
        self.assertEqual(taken.notes, [])

    def test_what_cannot_be_read_is_no_missing_step(self) -> None:
        for name in ("x.rar", "x.cu", "x"):
            write(self.folder / name, "Rar!")
            why = self.read(self.folder / name).unreadable
            self.assertEqual(why, f"{name} is neither a folder, a zip, a tar nor a file with a step's name")
        write(self.folder / "moodle/homework.rar", "Rar!")
        self.assertEqual(self.read(self.folder / "moodle").unreadable, "homework.rar is not a zip or tar")
        (self.folder / "empty").mkdir()
        empty = self.read(self.folder / "empty")
        self.assertEqual((empty.unreadable, list(empty.missing)), ("", NAMES))
        write(self.folder / f"ann/{ADD}.cu", solution(ADD))
        self.assertEqual(list(self.read(self.folder / f"ann/{ADD}.cu").texts), NAMES[:1])

    def test_the_newest_file_that_is_graded_says_how_late_it_is(self) -> None:
        hand_in(self.folder / "x", {ADD: solution(ADD), BLUR: tree.STANDS_IN, "notes.txt": ""})
        os.utime(self.folder / "x" / f"chapters/{CHAPTER}" / f"{ADD}.cu", (1_700_000_000, 1_700_000_000))
        self.assertEqual(self.read().changed, 1_700_000_000)
        for how in ("zip", "gztar"):
            packed = shutil.make_archive(str(self.folder / "x"), how, self.folder / "x")
            self.assertEqual(self.read(pathlib.Path(packed)).changed, 1_700_000_000)

    def test_an_open_step_is_distinguished_from_one_that_looks_open(self) -> None:
        self.assertFalse(submissions.is_written(tree.STANDS_IN.encode()))
        for chapter in REPOSITORY.chapters():
            for step in REPOSITORY.steps(chapter, "solutions"):
                self.assertTrue(
                    submissions.is_written(REPOSITORY.text(chapter, step, "solutions").encode()), step
                )
        for text in (
            '"kata::open();"',
            "// kata::open();",
            "#if 0\nkata::open();\n#endif",
            'R"(\nkata::open();\n)"',
            "#if 0\n#if 1\n#else\nkata::open();\n#endif\n#endif",
        ):
            self.assertTrue(submissions.is_written(text.encode()), text)
        for text in (
            "#if 0\n#else\nkata::open();\n#endif",
            "kata :: open ( ) ;",
            "'\"'; kata::open(); // \"",
        ):
            self.assertFalse(submissions.is_written(text.encode()), text)

    def test_a_literal_or_a_comment_that_never_ends_is_read_in_a_moment(self) -> None:
        before = time.monotonic()
        for text in ('R"x(' + '"\\' * 100_000, "/*/" * 100_000, 'R"x(' * 100_000, '"' + '\\"' * 100_000):
            self.assertTrue(submissions.is_written(text.encode()))
            submissions.looked_at(text)
        self.assertLess(time.monotonic() - before, 20)
        self.assertFalse(submissions.is_written(b"const int n = 1'000'000; kata::open();"))

    def test_names_distinguish_students(self) -> None:
        paths = [pathlib.Path(path) for path in ("/t/x/alice", "/t/y/alice", "/t/y/b\nob.zip", "/alice")]
        self.assertEqual(submissions.names_of(paths, {}), ["x/alice", "y/alice", "b ob", "/alice"])

    def names(self, *paths: str, **roster: str) -> tuple[list[str], str]:
        """Returns the names of hand-ins, and what is printed about them."""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            names = submissions.names_of([pathlib.Path("/t", path) for path in paths], roster)
        return names, out.getvalue()

    def test_a_folder_of_moodle_has_the_row_of_its_student(self) -> None:
        folders = [
            f"{name}_assignsubmission_file_" for name in ("Anna_1", "Ben_2", "Ben_3", "Carl_4", "Dora_5")
        ]
        rows = ("Anna", "Ben", "Carl", folders[3])
        names = submissions.names_of([*map(pathlib.Path, folders)], {}, rows)
        self.assertEqual(names, ["Anna", *folders[1:]])

    def test_hand_ins_of_one_name_are_numbered(self) -> None:
        names, said = self.names("Same", "Same.zip", "ann/01_vector_add.cu")
        self.assertEqual(names, ["Same", "Same (2)", "ann"])
        self.assertEqual(said, "Same has several hand-ins: /t/Same.zip is graded as Same (2)\n")

    def test_a_folder_is_known_by_the_longest_name_that_it_begins_with(self) -> None:
        path = self.folder / "roster.csv"
        path.write_text("student;folder\nAnna;\nAnna Müller;\nBen;b17\n", encoding="utf-8-sig")
        roster = sheet.roster(str(path))
        given = unicodedata.normalize("NFD", "Anna Müller_12_file_/Anna_1/Annabel_2/b17_3/Ben")
        names, _ = self.names(*given.split("/"), **roster)
        self.assertEqual(names, ["Anna Müller", "Anna", "Annabel_2", "Ben", "Ben (2)"])
        self.assertEqual(sheet.file_name(names[0]), "Anna Müller")
        path.write_bytes("Müller\n".encode("latin-1"))
        with self.assertRaisesRegex(Fault, "save it as CSV UTF-8"):
            sheet.roster(str(path))

    def test_a_reason_fits_a_line_and_no_word_is_cut(self) -> None:
        self.assertEqual(
            sheet.in_one_line("adds: the result is wrong\n  now 3, at most 2\nwith n = 5"),
            "adds: the result is wrong; now 3, at most 2; with n = 5",
        )
        self.assertEqual(sheet.in_one_line("a race:\nin line 3.\n\n"), "a race: in line 3.")
        self.assertEqual(sheet.in_one_line("word " * 100), "word " * 59 + "…")
        self.assertEqual(sheet.in_one_line(""), "")

    def test_files_of_students_do_not_leave_their_folder(self) -> None:
        for name in ("../x", "/etc/passwd", "..", "a/b", ".hidden", "a\0b"):
            self.assertRegex(sheet.file_name(name), r"^[^./\0][^/\0]*$")


if __name__ == "__main__":
    unittest.main()
