"""Studies in the fold: the last state of each, and what was found until something else is."""

from __future__ import annotations

from hettop.events import Header, Study
from hettop.session.log import in_words
from hettop.session.session import Session
from hettop.session.studies import MOST_STUDIES
from hettop.studies.layers.result import LayersResult

FOUND = LayersResult(unit="CPU_ONLY", total_ms=1.5, end_to_end_ms=2.0)


def study(state: str, t: int = 0, name: str = "layers", found: LayersResult | None = None) -> Study:
    return Study(t=t, name=name, state=state, elapsed_ns=t, found=None if found is None else found.line())


def test_one_that_runs_again_keeps_its_last_answer() -> None:
    session = Session()
    session.fold(study("done", 1, found=FOUND))
    session.fold(study("running", 2))
    assert session.studies.running is not None
    assert [(each.state, each.found, each.earlier) for each in session.studies.all] == [("running", FOUND.line(), True)]
    other = LayersResult(unit="ALL", total_ms=3.0, end_to_end_ms=3.0)
    session.fold(study("done", 3, found=other))
    assert session.studies.running is None
    assert [(each.found, each.earlier) for each in session.studies.all] == [(other.line(), False)]


def test_a_session_restored_from_a_keyframe_knows_them() -> None:
    session = Session()
    header = Header(t=0, format="hettop", version=(1, 0))
    session.fold(header)
    session.fold(study("done", 1, found=FOUND))
    session.fold(study("failed", 2, name="sweep"))
    restored = Session.restored(header, session.keyframe(2, 0))
    assert restored.studies.all == session.studies.all
    assert restored.keyframe(2, 0).studies == session.keyframe(2, 0).studies


def test_a_hostile_recording_cannot_name_a_million() -> None:
    session = Session()
    for i in range(MOST_STUDIES + 5):
        session.fold(study("done", i, name=f"study {i}"))
    assert len(session.studies.all) == MOST_STUDIES
    assert session.studies.all[0].name == "study 0"


def test_the_log_reports_of_its_end_alone() -> None:
    session = Session()
    session.fold(study("running"))
    session.fold(study("done", 1))
    assert [(entry.level, entry.text) for entry in map(in_words, session.log)] == [("info", "study layers done")]
