"""What is kept and said of a unit whose process was stopped, or whose machine slept."""

from __future__ import annotations

from hettop import events
from hettop.report.document import session_document
from hettop.report.notes import interruption_notes
from hettop.session.log import in_words
from hettop.session.session import Session
from tests.streams import MS, S, header, window


def interrupted() -> Session:
    session = Session()
    stops: list[events.AnyEvent] = [events.Interrupted(t=n * S, unit="ALL", why="stopped", ns=n * S) for n in (2, 5)]
    stream: tuple[events.AnyEvent, ...] = (
        header(),
        window([2 * MS] * 10, t0=0, t=S, unit="ALL"),
        *stops,
        events.Interrupted(t=9 * S, unit="ALL", why="asleep", ns=60 * S),
        events.Interrupted(t=9 * S, unit="UNKNOWN", why="stopped", ns=1),
    )
    for event in stream:
        session.fold(event)
    return session


def test_the_table_says_how_often_and_for_how_long() -> None:
    left_out = "the samples around it are left out"
    assert interruption_notes(interrupted()) == [
        f"ALL: its process was stopped 2 times, for about 7.0 s in all; {left_out}",
        f"ALL: the machine slept once, for about 60.0 s in all; {left_out}",
    ]


def test_a_document_has_it_and_one_of_a_quiet_session_has_nothing() -> None:
    assert session_document(interrupted())["interruptions"] == [
        {"unit": "ALL", "stops": 2, "stopped_s": 7.0, "sleeps": 1, "slept_s": 60.0}
    ]
    assert "interruptions" not in session_document(Session())


def test_a_keyframe_keeps_it() -> None:
    session = interrupted()
    assert session.header is not None
    restored = Session.restored(session.header, session.keyframe(10 * S, 0))
    assert interruption_notes(restored) == interruption_notes(session)


def test_the_log_has_a_line_for_each() -> None:
    words = [in_words(entry) for entry in interrupted().log]
    assert [entry.text for entry in words if entry.kind == "interrupted"][1:3] == [
        "the process of ALL was stopped for about 5.0 s",
        "the machine slept for about 60.0 s",
    ]
