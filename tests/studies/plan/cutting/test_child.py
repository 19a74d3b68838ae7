"""The measuring process: its answers, its errors and its death come back in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.studies.plan.cutting.child import run_in_child, survey_in_child
from hettop.studies.plan.cutting.messages import MeasuringProgress, Piece, Subject
from tests.processes.workers import answering, failing, running
from tests.studies.plan.cutting import models
from tests.studies.plan.cutting.test_costs import SURVEY

SUBJECT = Subject(model="m.onnx", devices=("CPU_ONLY@1",))


def test_a_survey_comes_back_as_it_was_with_what_is_said_on_its_way() -> None:
    progress: list[MeasuringProgress] = []
    said = [MeasuringProgress(doing="opening", share=0.0), MeasuringProgress(doing="profiling", share=0.25)]
    assert survey_in_child(SUBJECT, progress.append, argv=answering(SURVEY, said)) == SURVEY
    assert progress == said


@pytest.mark.parametrize(
    ("argv", "kind", "words"),
    [
        (failing("format", "no model"), "format", "no model"),
        (answering({}), "crashed", "makes no sense"),
        (running("import os; os._exit(3)"), "crashed", "exited with status 3"),
    ],
)
def test_what_goes_wrong_is_reported(argv: list[str], kind: str, words: str) -> None:
    with pytest.raises(HettopError, match=words) as refused:
        survey_in_child(SUBJECT, argv=argv)
    assert refused.value.kind == kind


def test_a_real_one_runs_a_plan(tmp_path: Path) -> None:
    subject = Subject(model=models.residual(tmp_path / "m.onnx"), devices=("CPU_ONLY@1",), warmup=0, runs=2)
    ran = run_in_child(subject, [Piece(first=0, last=7, device="CPU_ONLY@1")])
    assert ran.equal
    assert ran.runs == 2
