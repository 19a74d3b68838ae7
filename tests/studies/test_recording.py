"""A study that was made on its own is a recording like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.events import Header, Study
from hettop.studies.layers.result import LayersResult
from hettop.studies.output import StudyRecording
from hettop.studies.registry import read_document, result_of
from tests.app.test_study_runner import DOCUMENT
from tests.record.stories import read

HEADER = Header(t=0, format="hettop", version=(1, 0), id="x")


def test_it_holds_what_was_found_and_how_it_was_asked_without_folders(tmp_path: Path) -> None:
    moments = iter([100, 350])
    path = tmp_path / "layers.jsonl"
    with StudyRecording(path, HEADER, "layers", ["layers", "/home/me/m.onnx"], now=lambda: next(moments)) as recording:
        recording.keep(read_document("layers", DOCUMENT))
    events, report = read(path)
    assert not report.skipped
    assert [type(event).__name__ for event in events] == ["Header", "Study", "End"]
    (study,) = [event for event in events if isinstance(event, Study)]
    assert (study.t, study.elapsed_ns, study.state, study.arguments) == (250, 250, "done", ["layers", "m.onnx"])
    result = result_of(study)
    assert isinstance(result, LayersResult)


def test_without_an_answer_there_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "layers.jsonl"
    with pytest.raises(KeyboardInterrupt), StudyRecording(path, HEADER, "layers", []):
        raise KeyboardInterrupt
    assert not path.exists()


def test_an_existing_file_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "layers.jsonl"
    path.write_text("mine")
    with pytest.raises(HettopError, match="exists"):
        StudyRecording(path, HEADER, "layers", [])
    assert path.read_text() == "mine"
