#!/usr/bin/env python3
"""The text of ./kata explain for counts that are made up here, so that the right answer is known."""

from __future__ import annotations

import contextlib
import io
import json
import pathlib
import signal
import tempfile
import unittest
from typing import Any, cast
from unittest import mock

from paths import ROOT

import board
import estimates
import explain
import predict
import step_times
import trace
from fault import Fault
from repository import Repository

COUNTS: dict[str, float] = {"sectors": 400, "lines": 100, "active_lanes": 32.0, "work": 1000, "span": 10}
COUNTS |= {"makespan": 100, "threads": 320, "blocks": 2, "launches": 1}
COUNTS |= dict.fromkeys(["shared_passes", "bank_conflicts", "atomics", "shared_atomics"], 0)
COUNTS |= dict.fromkeys(["waits", "barriers", "contention"], 0)


def place(
    line: int,
    did: str = "runs",
    memory: str = "",
    array: str = "",
    requests: int = 100,
    lanes: int = 32,
    steps: int | None = None,
    units: int = 0,
    least: int = 0,
    waits: int = 0,
    turns: int = 0,
) -> trace.Place:
    """Returns a place with `units`, `least` and `lanes` for each request."""
    return cast(
        "trace.Place",
        {
            "line": f"03_blur.cu:{line}",
            "did": did,
            "memory": memory,
            "array": array,
            "bytes": 4,
            "requests": requests,
            "lanes": requests * lanes,
            "steps": requests if steps is None else steps,
            "units": requests * units,
            "least": requests * least,
            "waits": waits,
            "turns": turns,
        },
    )


def found(*places: trace.Place, fault: str | None = None, **counts: float) -> trace.Found:
    said = {
        "chapter": "grids",
        "fault": fault,
        "outputs": 100,
        "all": {**COUNTS, **counts},
        "places": list(places),
    }
    return cast("trace.Found", said)


def load(
    line: int,
    requests: int = 100,
    lanes: int = 32,
    units: int = 4,
    array: str = "in",
    steps: int | None = None,
) -> trace.Place:
    return place(
        line,
        "load",
        "global",
        array,
        requests,
        lanes,
        steps if steps else requests * max(1, units // 4),
        units,
        4,
    )


class Explaining(unittest.TestCase):
    def advice(self, mine: trace.Found, theirs: trace.Found | None) -> str:
        return explain.Explanation(trace.Both(mine, theirs)).advice()

    def text(self, mine: trace.Found, theirs: trace.Found | None) -> str:
        both = trace.Both(mine, theirs)
        return explain.text_of(Repository(), "solutions", "grids", "03_blur", both, False)

    def test_a_dear_request_is_named_with_its_line_and_what_would_do(self) -> None:
        said = self.advice(found(load(20, units=32), place(21)), found(load(9), place(10)))
        self.assertRegex(
            said,
            r"^Look first at line 20: a load of global in takes 32\.0 sectors, where the solution takes "
            r"4\.0 and 4\.0",
        )

    def test_what_the_solution_needs_as_much_is_not_named(self) -> None:
        same = found(load(20, units=32), place(21))
        self.assertRegex(self.advice(same, same), "^No line needs much more")
        a_little_more = found(load(20, requests=120, units=32), place(21))
        self.assertRegex(self.advice(a_little_more, same), "^No line needs much more")

    def test_idle_lanes_are_named(self) -> None:
        said = self.advice(found(load(20, requests=800, lanes=4), place(21)), found(load(9), place(10)))
        self.assertRegex(
            said, r"^Look first at line 20: only 4\.0 of 32 lanes are active .* in the solution it is 32\.0"
        )

    def test_more_accesses_than_the_solution_has_are_named(self) -> None:
        said = self.advice(found(load(20, requests=1000), place(21)), found(load(9), place(10)))
        self.assertRegex(
            said,
            r"^Look first at line 20: it has most of the 32,000 times that a thread loads from global "
            r".* 10\.0 times",
        )

    def test_what_the_solution_does_not_do_at_all_is_named(self) -> None:
        said = self.advice(
            found(load(20), place(21, "atomic", "shared", "sums", units=1, least=1)), found(load(9))
        )
        self.assertRegex(said, "^Look first at line 21: it has .* atomics of shared sums.* none of that kind")

    def test_a_line_that_runs_too_often_is_named(self) -> None:
        self.assertRegex(
            self.advice(found(load(20), place(21, requests=900)), found(load(9), place(10))),
            "^Look first at line 21: .* 9.0 times",
        )

    def test_work_for_few_threads_is_named_where_no_line_is(self) -> None:
        said = self.advice(found(load(20), makespan=900), found(load(9)))
        self.assertRegex(
            said,
            "^No line needs more than the solution, but too few threads share the work: .* 900 steps, .* 100",
        )

    def test_atomics_on_one_address_come_first_where_they_take_longest(self) -> None:
        text, bins = load(20, units=8), place(21, "atomic", "global", "histo", units=1, least=1, turns=3000)
        apart = place(21, "atomic", "global", "histo", units=1, least=1, turns=30)
        crowded = found(text, bins, contention=3000, makespan=3100)
        of_both = explain.Explanation(trace.Both(crowded, crowded))
        self.assertEqual([line.name[-2:] for line in of_both.lines], ["21", "20"])
        self.assertRegex(
            of_both.advice(),
            r"^No line needs much more .* Line 21 takes longest: 3,000 of its atomics reach one "
            r".* done after 3,100 steps",
        )
        self.assertRegex(
            self.advice(crowded, found(text, apart, contention=30)),
            "^Look first at line 21: 3,000 .* than 30 do",
        )
        alone = explain.Explanation(trace.Both(crowded, None))
        self.assertRegex(alone.advice(), "^Line 21 takes longest: 3,000 of its atomics")
        said = self.text(crowded, None)
        self.assertIn("    3,000 of 3,200 atomics reach one address, one after the other\n", said)
        self.assertLess(said.index("03_blur.cu:21"), said.index("03_blur.cu:20"))

    def test_atomics_on_one_address_are_not_named_where_others_take_longer(self) -> None:
        text, bins = load(20, units=8), place(21, "atomic", "global", "histo", units=1, least=1, turns=30)
        calm = found(text, bins, contention=30, makespan=100)
        self.assertRegex(self.advice(calm, calm), "Most of the work is in line 20")
        self.assertNotIn("one after the other", self.text(calm, None))
        dear = found(load(20, units=32), bins, contention=30, makespan=100)
        self.assertRegex(self.advice(dear, calm), "^Look first at line 20")

    def test_arrays_with_other_names_are_compared_with_the_memory_of_the_solution(self) -> None:
        same = self.advice(
            found(place(20, "load", "shared", "mine", units=1, least=1)),
            found(place(9, "load", "shared", "theirs", units=1, least=1)),
        )
        self.assertRegex(same, "^No line needs much more")
        dear = place(20, "load", "shared", "mine", steps=3200, units=32, least=1)
        self.assertIn(
            "takes 32.0 passes",
            self.advice(found(dear), found(place(9, "load", "shared", "theirs", units=1, least=1))),
        )

    def test_the_worst_line_comes_first_and_the_solution_stands_beside(self) -> None:
        mine = found(place(18, requests=500), load(21, units=32), fault="2 of 3 elements differ\nexpected 1")
        theirs = found(place(18, requests=500), load(21))
        said = self.text(mine, theirs)
        self.assertLess(said.index("03_blur.cu:21"), said.index("03_blur.cu:18"))
        self.assertRegex(said, r"load global in +100 +32\.0! +4\.0 +4\.0 +32\.0 +62 %")
        self.assertIn("The step is not right yet: 2 of 3 elements differ …", " ".join(said.split()))
        self.assertIn("pix_val += in[cur_row * width + cur_col];", said)  # the line of the solution
        for line in said.splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_lines_that_need_little_more_than_the_solution_stand_behind_those_with_most_steps(self) -> None:
        mine = found(load(17, requests=20, array="text"), place(19, requests=3000), place(18, requests=300))
        theirs = found(load(17, requests=10, array="text"), place(19, requests=3300))
        explained = explain.Explanation(trace.Both(mine, theirs))
        self.assertGreater(explained.excess[next(row for row in explained.rows if row.memory)], 0)
        self.assertEqual([line.name[-2:] for line in explained.lines], ["19", "18", "17"])
        self.assertIn("line 19", explained.advice())

    def test_what_was_counted_before_stands_beside_with_a_sign_for_better_or_worse(self) -> None:
        before = {**COUNTS, "sectors": 800, "active_lanes": 32.0, "work": 900, "barriers": 5}
        said = explain.whole_table({**COUNTS, "active_lanes": 16.0}, {**COUNTS, "sectors": 100}, before)
        self.assertRegex(said, r"(?m)^ +before +yours +solution$")
        self.assertRegex(said, r"(?m)^  sectors of global memory +800 +400\+ +100!$")
        self.assertRegex(said, r"(?m)^  active lanes of 32 +32\.0 +16\.0- +32\.0!$")
        self.assertRegex(said, r"(?m)^  steps of all warps +900 +1,000- +1,000$")
        self.assertRegex(said, r"(?m)^  steps of the longest chain +10 +10  +10$")
        self.assertRegex(said, r"(?m)^  barriers, of all blocks +5 +0\+ +0$")
        self.assertIn("+ better than when it last was right, - worse; ! far above the solution", said)
        passed = explain.whole_table(
            {**COUNTS, "active_lanes": 16.0}, {**COUNTS, "sectors": 100}, before, marks=False
        )
        self.assertNotIn("!", passed)
        self.assertNotIn(" x", explain.whole_table(COUNTS, {**COUNTS, "sectors": 100}, marks=False))
        large = {**dict.fromkeys(COUNTS, 1234567890), "active_lanes": 32.0}
        for line in explain.whole_table(large, large, large).splitlines():
            self.assertLessEqual(len(line), 80, line)
        self.assertNotIn("before", explain.whole_table(COUNTS, COUNTS, {}))

    def test_the_line_of_a_launch_is_charged_nothing(self) -> None:
        lines = (ROOT / "solutions/grids/03_blur.cu").read_text().splitlines()
        launch = next(number for number, line in enumerate(lines, 1) if "<<<" in line)
        seen = found(place(launch), load(launch), place(launch - 1))
        kept = trace.without_launches(Repository().root / "solutions/grids", seen)
        self.assertEqual(kept["places"], seen["places"][1:])
        drawn: trace.Found = {**seen, "requests": []}
        self.assertIs(trace.without_launches(Repository().root / "solutions/grids", drawn), drawn)

    def test_a_question_is_about_the_costliest_access_and_its_answer_says_why(self) -> None:
        rows = explain.rows_of(found(place(9, requests=5000), load(18), load(21, units=32)))
        row = predict.question_about(rows)
        assert row
        self.assertEqual(row.line, "03_blur.cu:21")
        self.assertIn(
            "How many sectors of 32 bytes does a warp take each time", predict.question(row, "x = in[i];")
        )
        self.assertIsNone(predict.question_about(explain.rows_of(found(place(9)))))
        theirs = explain.rows_of(found(load(21)))[0]
        for said, begins in ((32, "Yes: 32.0"), (30, "Yes"), (4, "No: 32.0"), (0, "No")):
            answer = " ".join(predict.answer(row, said, theirs).split())
            self.assertTrue(answer.startswith(begins), answer)
            self.assertIn(
                "4.0 would do for what the lanes request. In the solution it is 4.0. Lanes side by side",
                answer,
            )
        self.assertIn("Fewer would not do", predict.answer(theirs, 4, None))
        self.assertEqual(
            [predict.number_in(text) for text in ("4", " 4,5\n", "many", "")], [4, 4.5, None, None]
        )

    def test_a_question_is_repeated_after_an_answer_that_is_no_number(self) -> None:
        answers = iter(["many", "", "4,5"])
        with mock.patch("builtins.input", side_effect=answers) as typed:
            self.assertEqual(predict.asked("How many sectors? "), 4.5)
        self.assertEqual(
            [call.args[0] for call in typed.mock_calls],
            ["How many sectors? "] + ["That is not a number such as 4 or 4.5. How many? "] * 2,
        )
        with (
            mock.patch("builtins.input", side_effect=EOFError),
            contextlib.redirect_stdout(io.StringIO()),
            self.assertRaisesRegex(Fault, "there was no answer"),
        ):
            predict.asked("How many sectors? ")

    def test_a_page_has_questions_and_its_last_section_the_answers(self) -> None:
        page = (ROOT / predict.PAGE).read_text(encoding="utf-8")
        found = predict.questions(page)
        self.assertEqual([one.number for one in found], [str(n + 1) for n in range(16)])
        sections = [one.section for one in found]
        self.assertEqual(sections[::2], sections[1::2])
        self.assertEqual(len(set(sections)), 8)
        judged = [one.number for one in found if one.checked("0").startswith("Not right")]
        self.assertEqual(judged, ["3", "5", "6", "9", "13", "15"])
        with self.assertRaises(KeyError):
            predict.questions(page.replace("\n16. An element", "\nAn element"))

    def test_an_answer_that_is_a_number_is_judged_and_no_other(self) -> None:
        number = predict.Question("5", "Amdahl", "How many?", "**1 220** times, as in\n   [02](x.md#02).")
        for said in ("1220", "1 220 times", "1200"):
            self.assertEqual(number.checked(said), "Right: 1 220 times, as in 02.")
        for said in ("10", "1150", "0"):
            self.assertEqual(number.checked(said), "Not right: 1 220 times, as in 02.")
        for said in ("", "about a thousand"):
            self.assertEqual(number.checked(said), "Answer: 1 220 times, as in 02.")
        self.assertEqual(number._replace(answer="No. Both.").checked("2"), "Answer: No. Both.")

    def test_questions_of_a_page_begin_anywhere_and_end_with_ctrl_d(self) -> None:
        said = io.StringIO()
        with (
            mock.patch("predict.is_in_terminal", return_value=True),
            mock.patch("builtins.input", side_effect=["4", EOFError]),
            contextlib.redirect_stdout(said),
        ):
            self.assertEqual(predict.ask_page(Repository(), "13"), 0)
            self.assertIn("Not right: 4.5 ms", said.getvalue())
            self.assertNotIn("12. ", said.getvalue())
            self.assertTrue(said.getvalue().endswith("The rest: ./kata predict machine 14\n"))
            for wrong in ("0", "17", "all"):
                with self.assertRaisesRegex(Fault, f"questions 1 to 16, and no {wrong}"):
                    predict.ask_page(Repository(), wrong)

    def test_the_problem_that_is_counted_has_a_name(self) -> None:
        mine: trace.Found = {**found(load(21)), "problem": "a picture of 3 x 5"}
        said = self.text(mine, None)
        self.assertIn("line by line\ncounted on a picture of 3 x 5\n\n", said)

    def test_the_solution_alone_is_compared_with_nothing(self) -> None:
        said = self.text(found(load(21)), None)
        self.assertIn("Most of the work is in line 21", said)
        self.assertNotIn("yours", said)

    def estimated(
        self, both: trace.Both, state: str = "done", without_time: str = "", as_json: bool = False
    ) -> Any:
        said = estimates.Estimate(
            4.114,
            "an image",
            [(4.1, "issue")],
            [estimates.Launch(4.114, 9, 256, "issue")],
            [estimates.Line(3.0, "03_blur.cu:21", "issue")],
        )
        asked: list[str] = []

        def of(
            _: object, kernel: pathlib.Path, __: object, solution: pathlib.Path | None = None
        ) -> estimates.Estimate:
            asked.append(kernel.name.split(".")[0])
            self.assertEqual(bool(solution), asked[-1] == "chapters")
            if solution and without_time:
                raise estimates.NoTime(without_time)
            return said if asked[-1] == "solutions" else said._replace(milliseconds=8.5)

        built = mock.Mock(return_value=mock.Mock(folder=pathlib.Path("build")))
        known = board.Place("grids", "03_blur", state)
        with (
            mock.patch.object(estimates, "of", of),
            mock.patch.object(step_times, "Build", built),
            mock.patch.object(board.Board, "of", lambda *_: known),
        ):
            asked_for = (Repository(), "grids", "03_blur", "H100_80GB_HBM3", both)
            if as_json:
                return step_times.as_json(*asked_for)
            lines = step_times.as_lines(*asked_for)
        for line in "\n".join(lines).splitlines():
            self.assertLessEqual(len(line), 80, line)
        return "\n".join(lines), asked

    def test_an_estimate_stands_beside_the_solution_and_its_measured_time(self) -> None:
        said, asked = self.estimated(trace.Both(found(load(21)), found(load(21))))
        self.assertEqual(sorted(asked), ["chapters", "solutions"])
        self.assertRegex(
            said,
            r"(?m)^your step +8\.5 +-  issue\nthe solution +4\.1 +0\.49  issue\nYours is about 2\.1 "
            r"times as slow as the sol",
        )
        self.assertRegex(said, r"(?m)^   35 %  issue +line 21 ")
        self.assertNotIn("./kata test", said)
        self.assertIn(
            "./kata test grids 03 says whether it is right",
            self.estimated(trace.Both(found(load(21)), found(load(21))), "untested")[0],
        )
        self.assertIn("issue: warps wait", said)
        said, asked = self.estimated(trace.Both(found(load(21)), None))
        self.assertEqual(asked, ["solutions"])
        self.assertNotIn("your", said)

    def test_for_programs_an_estimate_stands_beside_the_solution_too(self) -> None:
        both = trace.Both(found(load(21)), found(load(21)))
        said = self.estimated(both, as_json=True)
        self.assertEqual(
            (said["device"], said["step"]["ms"], said["solution"]["ms"]),
            ("NVIDIA H100 80GB HBM3", 8.5, 4.114),
        )
        self.assertEqual((said["problem"], said["measured_ms"]), ("an image", 0.489))
        self.assertEqual(
            self.estimated(both, without_time="too long", as_json=True)["step"],
            {"ms": None, "why": "too long"},
        )
        self.assertEqual(self.estimated(both, "wrong", as_json=True)["step"]["ms"], None)
        self.assertNotIn("step", self.estimated(trace.Both(found(load(21)), None), as_json=True))

    def test_a_step_without_a_time_says_why_beside_the_solution(self) -> None:
        said, asked = self.estimated(
            trace.Both(found(load(21)), found(load(21))), without_time="its blocks have very unequal work"
        )
        self.assertEqual(sorted(asked), ["chapters", "solutions"])
        self.assertRegex(
            said,
            r"(?m)^your step +- +-  no time, because:\n   its blocks have very unequal work\nthe solution "
            r"+4\.1 +0\.49  issue$",
        )
        self.assertNotIn("times as", said)
        self.assertNotIn("%", said)

    def test_a_wrong_step_is_not_estimated(self) -> None:
        right = found(load(21))
        for mine, state in ((found(load(21), fault="2 of 3 elements differ"), "untested"), (right, "wrong")):
            said, asked = self.estimated(trace.Both(mine, right), state)
            self.assertEqual(asked, ["solutions"])
            self.assertRegex(
                said, r"(?m)^your step +- +-  wrong, so it has no time\nthe solution +4\.1 +0\.49  issue$"
            )
            self.assertNotIn("times as", said)
            self.assertNotIn("%", said)

    def test_a_step_without_a_kernel_has_nothing_to_explain(self) -> None:
        with self.assertRaisesRegex(Fault, "launches no kernel"):
            explain.Explanation(trace.Both(found(), found(load(21))))

    def test_as_json_it_is_the_same(self) -> None:
        mine: Any = explain.Explanation(
            trace.Both(found(place(18), load(21, units=32)), found(load(21)))
        ).as_json()
        self.assertEqual([line["line"] for line in mine["lines"]], ["03_blur.cu:21", "03_blur.cu:18"])
        row = mine["lines"][0]["rows"][0]
        self.assertEqual(
            (row["each"], row["least_each"], row["solution_each"], row["unit"]), (32.0, 4.0, 4.0, "sectors")
        )
        self.assertEqual(json.loads(json.dumps(mine)), mine)


class Running(unittest.TestCase):
    """A suite that ends without writing its JSON."""

    def run_suite(self, script: str) -> trace.Found:
        with tempfile.TemporaryDirectory(prefix="kata-explaining-") as folder:
            program = pathlib.Path(folder) / "suite"
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
            return trace.run(program, pathlib.Path("step.so"), "explain")

    def fault(self, script: str) -> str:
        with self.assertRaises(Fault) as raised:
            self.run_suite(script)
        self.assertNotIn("\n", str(raised.exception))
        return str(raised.exception)

    def test_a_crash_is_one_line(self) -> None:
        self.assertIn(
            "the step crashed: it accessed memory that does not exist",
            self.fault(f"kill -{int(signal.SIGSEGV)} $$"),
        )

    def test_the_cause_that_stopped_the_step_is_reported(self) -> None:
        self.assertEqual(
            self.fault("echo 'out of bounds: thread 3' >&2; exit 1"),
            "the step did not finish: out of bounds: thread 3",
        )

    def test_what_a_kernel_prints_does_no_harm(self) -> None:
        said = self.run_suite("""yes hello | head -n 100000; printf '{"fault": null}' > "$4" """)
        self.assertEqual(said, {"fault": None})


if __name__ == "__main__":
    unittest.main()
