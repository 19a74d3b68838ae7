"""Rows for the table of conditions: figures, and what a load changes."""

from __future__ import annotations

import pytest

from hettop import events
from hettop.session.session import Session
from hettop.session.views.units import conditions
from tests.streams import MS, S, header, window


def session_of(*folded: events.AnyEvent) -> Session:
    session = Session()
    session.fold(header())
    session.fold(events.Control(t=0, action="start", units=["CPU_ONLY"]))
    for each in folded:
        session.fold(each)
    return session


def test_each_condition_has_a_row_and_loads_are_compared_with_none() -> None:
    session = session_of(
        window([4 * MS] * 100, load="cpu:2"),
        window([2 * MS] * 100, t0=10 * S),
        window([3 * MS] * 10, t0=20 * S, unit="ALL"),
    )
    rows = conditions(session)
    assert [(row.unit, row.load, row.n) for row in rows] == [
        ("CPU_ONLY", "none", 100),
        ("CPU_ONLY", "cpu:2", 100),
        ("ALL", "none", 10),
    ]
    assert rows[1].p90_change == pytest.approx(1.0)  # 4 ms against 2 ms
    assert rows[0].p90_change is None
    assert rows[0].throughput_per_s == pytest.approx(500.0)
    assert rows[0].p99_ms is None  # takes 662 samples


def test_the_row_that_grows_now_is_marked() -> None:
    session = session_of(window([MS] * 100), window([MS] * 100, t0=10 * S, load="cpu:2"))
    session.fold(events.Load(t=11 * S, what="all", state="confirmed", condition="cpu:2"))
    assert [row.current for row in conditions(session)] == [False, True]
    session.fold(events.Control(t=12 * S, action="pause", units=["CPU_ONLY"], paused=True))
    assert [row.current for row in conditions(session)] == [False, False]


def test_a_hot_condition_is_compared_with_an_idle_one_as_hot_where_there_is_one() -> None:
    cool, hot = window([2 * MS] * 100), window([3 * MS] * 100, t0=10 * S, thermal="Heavy")
    loaded = window([6 * MS] * 100, t0=20 * S, load="cpu:2", thermal="Heavy")
    assert conditions(session_of(cool, hot, loaded))[-1].p90_change == pytest.approx(1.0)
    assert conditions(session_of(cool, loaded))[-1].p90_change == pytest.approx(2.0)
