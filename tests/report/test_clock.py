"""The warning of a clock that became slower."""

from __future__ import annotations

from hettop.report.notes import clock_notes
from hettop.session.session import Session
from tests.report.sessions import session_table
from tests.session.test_canary import KERNEL, control, reports, running, session_of
from tests.streams import S


def slower(kernel_ns: int) -> Session:
    return session_of(control(0, "A"), running("A", 0), *reports(2 * S, KERNEL), *reports(20 * S, kernel_ns))


def test_a_fifth_lost_is_said_in_words() -> None:
    (note,) = clock_notes(slower(KERNEL * 5 // 4))
    assert note.startswith("the clock is 20% slower than at the start of A (measured by ")
    assert "clock is 20% slower" in " ".join(session_table(slower(KERNEL * 5 // 4), 100).split())


def test_what_is_not_slower_needs_no_words() -> None:
    assert clock_notes(slower(KERNEL)) == clock_notes(slower(KERNEL * 102 // 100)) == clock_notes(Session()) == []
