"""Redraw times, gathered."""

from __future__ import annotations

from hettop.measurement.measurement import FrameTimes
from tests.streams import MS, S


def test_redraws_are_reported_once_in_two_seconds() -> None:
    frames = FrameTimes()
    frames.add(2 * MS, 100 * MS)
    frames.add(7 * MS, 350 * MS)
    assert frames.drain(S) == []
    (event,) = frames.drain(2 * S)
    assert (event.t, event.redraws, event.total_ns, event.worst_ns) == (2 * S, 2, 9 * MS, 7 * MS)
    frames.add(MS, 600 * MS)
    assert frames.drain(3 * S) == []
    (event,) = frames.drain(4 * S)
    assert (event.redraws, event.worst_ns) == (1, MS)


def test_a_redraw_began_when_the_one_before_was_reported() -> None:
    frames = FrameTimes()
    frames.add(2 * MS, 100 * MS)  # when that one began nobody knows
    frames.add(7 * MS, 350 * MS)
    frames.add(9 * MS, 600 * MS)
    (event,) = frames.drain(2 * S)
    assert event.spans == [(100, 107), (350, 359)]


def test_no_redraws_are_no_event() -> None:
    assert FrameTimes().drain(60 * S) == []
