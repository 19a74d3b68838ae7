"""What a study prints and records beside its result: that hettop was stopped meanwhile, and for how long."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hettop.errors import HettopError
from hettop.events import Study
from hettop.processes.interruptions import InterruptionTotals
from hettop.studies.output import StudyOutput, StudyRecording, interruptions_of
from hettop.studies.recorded import studies_document, study_lines
from hettop.studies.registry import read_document
from tests.app.test_study_runner import DOCUMENT
from tests.record.stories import read
from tests.report.sessions import session_of
from tests.studies.test_recording import HEADER

STOPPED = InterruptionTotals(stops=2, stopped_ns=3_200_000_000)
REPORTED = {"stops": 2, "stopped_s": 3.2, "sleeps": 0, "slept_s": 0.0}
WORDS = "hettop was stopped 2 times, for about 3.2 s in all; what was measured meanwhile is left out"


def printed(monkeypatch: pytest.MonkeyPatch, totals: InterruptionTotals, **options: Any) -> None:
    """Has a result printed after these interruptions."""

    @contextmanager
    def watched() -> Iterator[InterruptionTotals]:
        yield totals

    monkeypatch.setattr("hettop.studies.output.interruptions_watched", watched)
    arguments = argparse.Namespace(**{"stream": False, "format": "json", "output": None, "record": None, **options})
    result = read_document("layers", DOCUMENT)
    with StudyOutput("layers", arguments) as output:
        output.finish(result, result.document, "model")


@pytest.mark.parametrize("stream", [True, False])
def test_a_result_reports_stops(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], stream: bool
) -> None:
    printed(monkeypatch, STOPPED, stream=stream, format="table" if stream else "json")
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert (document["document"] if stream else document)["interruptions"] == REPORTED
    assert captured.err == f"warning: {WORDS}\n"


def test_without_stops_nothing_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    printed(monkeypatch, InterruptionTotals())
    captured = capsys.readouterr()
    assert "interruptions" not in json.loads(captured.out)
    assert captured.err == ""


def test_a_recording_reports_them_in_report_and_document(tmp_path: Path) -> None:
    path = tmp_path / "layers.jsonl"
    with StudyRecording(path, HEADER, "layers", ["layers"]) as recording:
        recording.keep(read_document("layers", DOCUMENT), interruptions=STOPPED)
    (study,) = [event for event in read(path)[0] if isinstance(event, Study)]
    assert (study.stops, study.stopped_ns) == (2, 3_200_000_000)
    session = session_of(study)
    assert studies_document(session)[0]["interruptions"] == REPORTED
    assert WORDS in study_lines(session)[0]


def test_what_a_document_reports_is_read_again() -> None:
    assert interruptions_of({"interruptions": REPORTED}) == STOPPED
    assert interruptions_of({}) == InterruptionTotals()
    with pytest.raises(HettopError, match="invalid output"):
        interruptions_of({"interruptions": {"stops": "x"}})
