"""A recording of studies alone: its report, table and document show what was found, and no empty sections."""

from __future__ import annotations

from hettop.events import AnyEvent, Failure, Study
from hettop.report.markdown_page import markdown_page
from hettop.report.page import Section
from hettop.report.recording_report import RecordingReport, page_of
from hettop.studies.recorded import studies_document, study_lines, study_sections
from tests.report.sessions import session_of, session_table
from tests.streams import MS, S, window
from tests.studies.inside import LAYERS, ROOFLINE

DONE = Study(t=4 * S, name="roofline", state="done", elapsed_ns=4 * S, arguments=["roofline"], found=ROOFLINE.line())
FAILED = Study(
    t=S, name="layers", state="failed", elapsed_ns=S, error=Failure(kind="load", message="it cannot be read")
)


def told(*stream: AnyEvent) -> RecordingReport:
    session = session_of(*stream)
    studies = list(study_sections(session, beside=bool(session.samples)))
    return RecordingReport("x.jsonl", session, verdict=Section("Verdict", []), studies=studies)


def titles(*stream: AnyEvent) -> list[str]:
    return [section.title for section in page_of([told(*stream)]).sections]


def test_its_story_is_of_what_was_found() -> None:
    assert titles(DONE) == ["Roofline", "What was measured", "Method"]
    text = markdown_page(page_of([told(DONE)]))
    assert "Measured in 00:04." in text
    assert "The whole model reaches 24.0 of 100 GFLOP/s (24%)." in text
    assert "No steady sample" not in text


def test_beside_a_measurement_all_is_reported() -> None:
    ran = window([2 * MS] * 10, t0=S)
    assert titles(ran, DONE)[:2] == ["Verdict", "Latency"]
    assert "Roofline" in titles(ran, DONE)
    assert "with inference paused" in markdown_page(page_of([told(ran, DONE)]))


def test_two_of_them_have_no_empty_table_side_by_side() -> None:
    text = markdown_page(page_of([told(DONE), told(FAILED)]))
    assert "Side by side" in text
    assert "P50 of A" not in text
    assert "It failed: it cannot be read" in text


def test_one_that_did_not_end_says_so() -> None:
    for state, words in (("running", "Still running at the end"), ("ended", "Ended by the user")):
        study = Study(t=S, name="layers", state=state, elapsed_ns=2 * S, found=LAYERS.line())
        (section,) = study_sections(session_of(study))
        assert getattr(section.blocks[0], "text", "").startswith(words)


def test_the_printed_table_is_the_sentences() -> None:
    session = session_of(DONE, FAILED)
    text = session_table(session, 100, study_lines(session))
    assert "roofline: done, 00:04. The whole model reaches 24.0 of 100 GFLOP/s (24%)." in text
    assert "layers: failed, 00:01. it cannot be read." in text
    assert "P50" not in text
    ran = session_of(window([2 * MS] * 10, t0=S), DONE)
    beside = session_table(ran, 100, study_lines(ran))
    assert "roofline: done" in beside
    assert "P50" in beside


def test_the_document_has_all_by_name() -> None:
    (study,) = studies_document(session_of(DONE))
    assert (study["name"], study["state"], study["elapsed_ms"]) == ("roofline", "done", 4000.0)
    assert study["found"]["layers"][0]["name"] == "expand"
    assert study["found"]["roofs"]["gbytes_per_s"] == 10.0
    assert study["error"] is None
    assert studies_document(session_of()) == []
