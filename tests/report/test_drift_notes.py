"""A drift told in words."""

from __future__ import annotations

from hettop.report.notes import drift_notes
from hettop.session.statistics import statistics
from tests.session.test_drift import drifting, session_of


def test_a_drift_says_from_where_to_where_and_since_when() -> None:
    (note,) = drift_notes(statistics(session_of(drifting())))
    assert note.startswith("CPU_ONLY drifted: median 2.00 → 2.50 ms (+25%) from sample 3,000, 00:06 on, 2.50 ms at")
    assert note.endswith("the end, false alarm at most once in 1,000,000 samples on average")


def test_a_steady_unit_is_not_mentioned() -> None:
    assert drift_notes(statistics(session_of(drifting(factor=1.0)))) == []
