#!/usr/bin/env python3
"""The commands for authors: new steps and chapters, stubs and their bodies, and the mistakes of a step."""

from __future__ import annotations

import contextlib
import io
import shutil
import unittest
from collections.abc import Callable

from paths import ROOT, run

import author
import bodies
import hints
from fault import Fault
from small_repository import SOLUTION, STUB, SmallRepository


class Authors(SmallRepository):
    def quietly(self, function: Callable[..., int], *arguments: object) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.status = function(*arguments)
        return said.getvalue()

    def test_a_new_step_fits(self) -> None:
        said = self.quietly(author.new_step, self.repository, "sums", "02_more_of_it")
        self.assertEqual(
            self.complaints(),
            [
                "chapters/sums/README.md:4: '…' is still to be written",
                "chapters/sums/README.md: no section '### 02 …' is about 02_more_of_it",
                "tests/wrong/sums/02_more_of_it.mistakes: has no mistake that the tests must reject",
                *(f"chapters/sums/hints.md, 02, {level}: is still to be written" for level in hints.LEVELS),
            ],
        )
        self.assertEqual(self.repository.steps("sums"), ["01_add", "02_more_of_it"])
        self.assertTrue(bodies.is_stub(self.repository.text("sums", "02_more_of_it")))
        self.assertTrue(self.repository.text("sums", "02_more_of_it").startswith("// 02 More of it: "))
        lesson = (self.root / "chapters/sums/README.md").read_text()
        self.assertIn("| all |\n| [02 more of it](02_more_of_it.cu) | … |\n\n| other |", lesson)
        self.assertEqual(self.repository.mistakes("sums")[1:], [])
        self.assertTrue(self.repository.mistakes_file("sums", "02_more_of_it").is_file())
        for word in ("Left to do", "tests/sums.cpp", "hints.md: a question"):
            self.assertIn(word, said)

    def test_what_is_begun_is_laid_out(self) -> None:
        name = "02_of_a_name_that_is_as_long_as_any_that_somebody_would_think_of"
        self.quietly(author.new_step, self.repository, "sums", name)
        self.quietly(author.new_chapter, self.repository, "products")
        self.quietly(author.new_step, self.repository, "products", "01_all")
        for step in (f"sums/{name}", "products/01_all"):
            for tree in ("solutions", "chapters"):
                text = (self.root / tree / f"{step}.cu").read_text()
                self.assertLessEqual(max(map(len, text.splitlines())), 100, text)
                if formatter := shutil.which("clang-format-14"):
                    style = f"--style=file:{ROOT / '.clang-format'}"
                    done = run(formatter, style, "--assume-filename=a.cu", input=text)
                    self.assertEqual(done.stdout, text, done.stderr)

    def test_what_cannot_be_begun_is_reported_and_leaves_nothing(self) -> None:
        (self.root / "tests/wrong/sums/02_more.mistakes").mkdir()  # replaces a folder that is read-only
        self.write("solutions/products", "")
        before = {path: path.is_file() and path.read_text() for path in self.root.rglob("*")}
        for function, names, path in (
            (author.new_step, ["sums", "02_more"], "tests/wrong/sums/02_more.mistakes"),
            (author.new_chapter, ["products"], "solutions/products/README.md"),
        ):
            with (
                contextlib.redirect_stdout(io.StringIO()) as said,
                self.assertRaisesRegex(Fault, rf"\A{path} cannot be written \(.*\): nothing is new\Z"),
            ):
                function(self.repository, *names)
            self.assertEqual(said.getvalue(), "")
            self.assertEqual(
                {path: path.is_file() and path.read_text() for path in self.root.rglob("*")}, before
            )

    def test_ranges_up_to_the_last_step_are_left_to_look_at(self) -> None:
        with open(self.root / "chapters/sums/README.md", "a") as lesson:
            lesson.write("\nSteps 00 to 01 add, as step 01 does.\n| 00 to 01 | table |\n")
        self.write("README.md", "Sums 00 to 01 add.\nSums 01 to 02 do not.\n")
        said = self.quietly(author.new_step, self.repository, "sums", "02_more")
        looked_at = said.split("names the last step by number:\n")[1].split("\n\n")[0]
        self.assertEqual(
            looked_at,
            "  README.md:1: Sums 00 to 01 add.\n"
            "  chapters/sums/README.md:9: Steps 00 to 01 add, as step 01 does.",
        )

    def test_a_new_chapter_fits_and_takes_steps(self) -> None:
        self.quietly(author.new_chapter, self.repository, "products")
        self.assertEqual(self.complaints(), [])
        self.assertIn(
            "| [products](chapters/products/README.md) | | |\n", (self.root / "README.md").read_text()
        )
        self.quietly(author.new_step, self.repository, "products", "01_all")
        link = self.root / "solutions/products/hints.md"
        self.assertTrue(link.is_symlink())
        self.assertEqual([level for level, _ in hints.read(link)["01"]], list(hints.LEVELS))
        self.assertEqual(
            self.complaints()[0], "solutions/products/01_all.cu:5: a body that is still to be written"
        )
        self.assertIn("[01 all](01_all.cu)", (self.root / "chapters/products/README.md").read_text())

    def test_names_that_are_taken_or_invalid_are_refused(self) -> None:
        for name, word in (
            ("01_other", "has 01_add"),
            ("add", "is not NN_name"),
            ("02_Add", "is not NN_name"),
            ("../x", "is not NN_name"),
        ):
            with self.assertRaisesRegex(Fault, word):
                author.new_step(self.repository, "sums", name)
        with self.assertRaisesRegex(Fault, "sums has no step 07 before 08_more"):
            author.new_step(self.repository, "sums", "08_more", "07")
        for name, word in (
            ("sums", "there is a chapter sums already"),
            ("Products", "is not a name"),
            ("a b", "is not a name"),
        ):
            with self.assertRaisesRegex(Fault, word):
                author.new_chapter(self.repository, name)

    def test_stubs_follow_their_solutions(self) -> None:
        self.quietly(author.stubs, self.repository, ["sums"], False)
        self.assertEqual(self.status, 0)
        self.write("solutions/sums/01_add.cu", SOLUTION.replace("float* b", "float* out"))
        self.write("solutions/sums/02_new.cu", SOLUTION)
        said = self.quietly(author.stubs, self.repository, ["sums"], False)
        self.assertEqual(self.status, 1)
        self.assertIn("chapters/sums/01_add.cu differs", said)
        self.assertIn("chapters/sums/02_new.cu is missing", said)
        self.quietly(author.stubs, self.repository, ["sums"], True)
        self.assertEqual(self.status, 0)
        self.assertFalse([complaint for complaint in self.complaints() if ".cu" in complaint])
        self.assertEqual(self.repository.text("sums", "01_add"), STUB.replace("float* b", "float* out"))

    def test_bodies_that_a_stub_lacks_are_written_open(self) -> None:
        hint = f"    {author.HINT}    kata::open();\n"
        for missing, line in (
            ("    // A thread an element.\n    kata::open();\n", 7),
            ("    // All of them.\n    kata::open();\n    return 0;\n", 14),
        ):
            wanted = STUB.replace(missing, hint)
            self.write(
                "chapters/sums/01_add.cu",
                STUB.replace(f"    // kata: begin\n{missing}    // kata: end\n", ""),
            )
            self.assertIn(
                "differs from its solution", self.quietly(author.stubs, self.repository, ["sums"], False)
            )
            said = self.quietly(author.stubs, self.repository, ["sums"], True)
            self.assertIn(
                f"01_add.cu is written again, with 1 body more, open: write the hint, line {line}\n",
                said,
            )
            self.assertEqual(self.repository.text("sums", "01_add"), wanted)
        self.write("solutions/sums/01_add.cu", SOLUTION + SOLUTION.replace("sum(", "product("))
        self.write("chapters/sums/01_add.cu", STUB.replace("sum(", "total("))
        with self.assertRaisesRegex(Fault, "has 2 bodies, its solution 4, and some are of other functions"):
            author.stubs(self.repository, ["sums"], True)

    def test_a_mistake_is_shown_as_a_whole_kernel(self) -> None:
        listed = self.quietly(author.mistake, self.repository, "sums", "01_add", None, None)
        self.assertRegex(listed, r"\Ano_guard +Threads beyond the end write, too\.\n\Z")
        kernel = self.quietly(author.mistake, self.repository, "sums", "01_add", "no_guard", None)
        self.assertIn("    b[i] = a[i];\n", kernel)
        file = self.root / "mine.cu"
        self.quietly(author.mistake, self.repository, "sums", "01_add", "no_guard", str(file))
        self.assertEqual(file.read_text(), kernel)
        for name, where, word in (
            ("no_guard", str(file), "already"),
            ("nothing", None, "there are: no_guard"),
        ):
            with self.assertRaisesRegex(Fault, word):
                author.mistake(self.repository, "sums", "01_add", name, where)


class Bodies(unittest.TestCase):
    def test_a_step_is_open_by_a_line_that_begins_with_the_call(self) -> None:
        for text in ("kata::open();", "  kata::open(); return 0;\n", "\tkata::open();\r\n", STUB):
            self.assertTrue(bodies.is_open(text), text)
        for text in (
            "// kata::open();",
            "/* kata::open(); */",
            'puts("kata::open();");',
            "x = kata::open();",
            SOLUTION,
        ):
            self.assertFalse(bodies.is_open(text), text)
        self.assertEqual(bodies.open_lines(STUB), [8, 15])

    def test_a_stub_is_hints_the_call_and_a_value(self) -> None:
        self.assertTrue(bodies.is_stub(STUB))
        for old, new in (
            ("    kata::open();\n", ""),
            ("kata::open();", "f();"),
            ("// All of them.", "int x;"),
            ("// kata: end\n", ""),
        ):
            self.assertFalse(bodies.is_stub(STUB.replace(old, new, 1)), new)
        self.assertFalse(bodies.is_stub(SOLUTION))
        self.assertFalse(bodies.is_stub("int x;\n"))

    def test_marks_come_in_turns(self) -> None:
        for old, new, line in (
            ("// kata: begin", "", 9),
            ("// kata: end", "", 13),
            ("    // kata: end\n}\n\nint", "}\n\nint", 12),
        ):
            with self.assertRaisesRegex(Fault, rf"step\.cu:{line}: .* must come first"):
                bodies.split(STUB.replace(old, new, 1), "step.cu")
        with self.assertRaisesRegex(Fault, r"step\.cu:13: no '// kata: end'"):
            bodies.split(STUB[: STUB.rindex("    // kata: end")], "step.cu")

    def test_a_stub_is_made_of_its_solution_and_its_hints(self) -> None:
        changed = SOLUTION.replace("float* b", "float* out")
        self.assertEqual(bodies.stub_from(SOLUTION, STUB, "step.cu"), STUB)
        self.assertEqual(bodies.stub_from(changed, STUB, "step.cu"), STUB.replace("float* b", "float* out"))
        with self.assertRaisesRegex(Fault, "has 2 bodies, and its solution 1"):
            bodies.stub_from(SOLUTION[: SOLUTION.index("int sum")], STUB, "step.cu")

    def test_hints_say_where_they_belong(self) -> None:
        said = bodies.hints(STUB, "step.cu")
        self.assertEqual(
            said,
            "step.cu:6, in __global__ void add(const float* a, float* b, int n)\n    A thread an element.\n\n"
            "step.cu:13, in int sum(int n)\n    All of them.\n",
        )


if __name__ == "__main__":
    unittest.main()
