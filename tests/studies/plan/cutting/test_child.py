"""The measuring process: its answers, its errors and its death come back in words."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.studies.plan.cutting.child import run_in_child, survey_in_child
from hettop.studies.plan.cutting.messages import Answer, Doing, Failed, Piece, Subject, encode
from tests.studies.plan.cutting import models
from tests.studies.plan.cutting.test_costs import SURVEY

SUBJECT = Subject(model="m.onnx", devices=("CPU_ONLY@1",))


def answering(answer: Answer, told: bytes = b"") -> list[str]:
    code = f"import sys; sys.stdin.readline(); sys.stdout.buffer.write({told + encode(answer)!r})"
    return [sys.executable, "-c", code]


def test_a_survey_comes_back_as_it_was() -> None:
    assert survey_in_child(SUBJECT, argv=answering(Answer(survey=SURVEY))) == SURVEY


def test_what_it_tells_on_its_way_is_heard() -> None:
    told: list[Doing] = []
    doing = [Doing(doing="opening", share=0.0), Doing(doing="profiling", share=0.25)]
    lines = b"".join(encode(each) + b"\n" for each in doing)
    assert survey_in_child(SUBJECT, told.append, argv=answering(Answer(survey=SURVEY), lines)) == SURVEY
    assert told == doing


@pytest.mark.parametrize(
    ("argv", "kind", "words"),
    [
        (answering(Answer(failed=Failed(kind="format", message="no model"))), "format", "no model"),
        (answering(Answer()), "crashed", "answered nothing"),
        ([sys.executable, "-c", "print('hello')"], "crashed", "makes no sense"),
        ([sys.executable, "-c", "import os; os._exit(3)"], "crashed", "exited with status 3"),
    ],
)
def test_what_goes_wrong_is_told(argv: list[str], kind: str, words: str) -> None:
    with pytest.raises(HettopError, match=words) as refused:
        survey_in_child(SUBJECT, argv=argv)
    assert refused.value.kind == kind


def test_a_real_one_runs_a_plan(tmp_path: Path) -> None:
    subject = Subject(model=models.residual(tmp_path / "m.onnx"), devices=("CPU_ONLY@1",), warmup=0, runs=2)
    ran = run_in_child(subject, [Piece(first=0, last=7, device="CPU_ONLY@1")])
    assert ran.equal
    assert ran.runs == 2
