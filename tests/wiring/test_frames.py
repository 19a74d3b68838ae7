"""Redraw times, gathered."""

from __future__ import annotations

from hettop.wiring.frames import FrameTimes
from tests.streams import MS, S


def test_redraws_are_told_once_in_five_seconds() -> None:
    frames = FrameTimes()
    frames.add(2 * MS)
    frames.add(7 * MS)
    assert frames.drain(4 * S) == []
    (event,) = frames.drain(5 * S)
    assert (event.t, event.redraws, event.total_ns, event.worst_ns) == (5 * S, 2, 9 * MS, 7 * MS)
    frames.add(MS)
    assert frames.drain(9 * S) == []
    (event,) = frames.drain(10 * S)
    assert (event.redraws, event.worst_ns) == (1, MS)


def test_no_redraws_are_no_event() -> None:
    assert FrameTimes().drain(60 * S) == []
