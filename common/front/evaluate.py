"""The steps as an evaluation of programs that write kernels. A line of JSON is a problem, an answer or a
verdict; each answer is graded as the hand-in of a student."""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import processes
from fault import Fault
from repository import Repository

TASK = """\
Write the bodies of this step in CUDA C++, between the lines "// kata: begin" and "// kata: end", and
return the whole file. It must be right for every size that the problem allows, and cost about as little as
the idea of the step allows."""
KEPT = ("verdict", "why", "share", "seconds", "counts")


def problem(repository: Repository, chapter: str, step: str) -> dict[str, Any]:
    folder = repository.root / "chapters" / chapter
    stub = repository.stub_of(chapter, step)
    shared = re.findall(r'^#include "(\w+\.cuh)"', stub, re.M)
    others = ("common/kata.hpp", f"reference/{chapter}.hpp", *(f"common/{name}" for name in shared))
    headers = [*sorted(folder.glob("*.cuh")), *(repository.root / name for name in others)]
    return {
        "id": f"{chapter}/{step}",
        "task": TASK,
        "lesson": repository.lesson_of(chapter, step),
        "stub": stub,
        "headers": {path.name: path.read_text(encoding="utf-8") for path in headers if path.exists()},
    }


def source_of(answer: str) -> str:
    """Returns the longest block of code in Markdown; without one, all of the answer."""
    return max(re.findall(r"^```\w*\n(.*?)^```", answer, re.M | re.S), key=len, default=answer)


def answers_of(file: pathlib.Path, known: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """Returns the answers, each with the step that its id names or begins to name."""
    answers = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            answer = json.loads(line)
            is_text = isinstance(answer["answer"], str)
            meant = [step for step in known if is_text and step.startswith(answer["id"])]
        except (ValueError, KeyError, TypeError):
            meant = []
        if len(meant) != 1:
            raise Fault(
                f'{file}:{number}: no {{"id": "CHAPTER/STEP", "answer": TEXT}} of a step that runs here', 2
            )
        answers.append((meant[0], answer))
    return answers


def evaluate(
    repository: Repository, given: argparse.Namespace, grade: Callable[[Repository, list[str]], int]
) -> int:
    places = [place for place in repository.all_places() if repository.runs_on("cpu", *place)]
    if given.answers == "problems":
        for place in places:
            print(json.dumps(problem(repository, *place)))
        return 0
    file = pathlib.Path(given.answers)
    if not file.is_file():
        raise Fault(f"there is no file {file}", 2)
    answers = answers_of(file, ["/".join(place) for place in places])
    with tempfile.TemporaryDirectory(prefix="kata-evaluate-") as scratch, processes.stdout_to_stderr() as out:
        folder = pathlib.Path(scratch)
        names = [f"{number:06}" for number in range(len(answers))]
        for name, (step, answer) in zip(names, answers):
            path = folder / name / "chapters" / f"{step}.cu"
            path.parent.mkdir(parents=True)
            path.write_text(source_of(answer["answer"]), encoding="utf-8", errors="replace")
        words = [str(folder / name) for name in names] + ["--out", str(folder / "out"), "--only-handed-in"]
        words += [word for step in sorted({step for step, _ in answers}) for word in ("--chapter", step)]
        words += ["--work", given.work] if given.work else []
        words += ["--without-walls"] if given.without_walls else []
        status = grade(repository, words) if answers else 0
        for name, (step, answer) in zip(names, answers):
            record = folder / "out/records" / f"{name}.json"
            found = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
            result = found.get("steps", {}).get(step, {})
            verdict = {key: result.get(key) for key in KEPT}
            if verdict["verdict"] not in ("OK", "SLOW"):
                verdict["share"] = None
            notes = [note for note in found.get("notes", []) if not re.match(r"alike with \d{6}:", note)]
            given_back = {key: answer[key] for key in answer if key != "answer"}
            out.write(json.dumps({**given_back, **verdict, "notes": notes}) + "\n")
    return status
