from __future__ import annotations

from hettop.sources.load.canary import PERIOD_NS, FrameCounter


def test_frames_drawn_in_time_are_not_missed() -> None:
    counter = FrameCounter(0)
    for frame in range(60):
        counter.drew(frame * PERIOD_NS + 1_000)
    assert (counter.due, counter.missed, counter.worst_ns) == (60, 0, 1_000)


def test_a_stall_of_100_ms_misses_six_frames() -> None:
    # Due at 0, 16.7, 33.3, 50, 66.7, 83.3 and 100 ms: only the last one is still wanted at 100 ms.
    counter = FrameCounter(0)
    counter.drew(6 * PERIOD_NS)
    assert (counter.due, counter.missed) == (7, 6)
    assert counter.next_due_ns == 7 * PERIOD_NS


def test_a_frame_is_missed_when_the_next_is_due_and_not_before() -> None:
    counter = FrameCounter(0)
    counter.drew(PERIOD_NS - 1)
    assert counter.missed == 0
    counter.drew(2 * PERIOD_NS)
    assert counter.missed == 1


def test_waking_early_draws_nothing() -> None:
    counter = FrameCounter(1_000)
    counter.drew(999)
    assert (counter.due, counter.next_due_ns) == (0, 1_000)


def test_a_report_begins_anew() -> None:
    counter = FrameCounter(0)
    counter.drew(3 * PERIOD_NS)
    counter.reset()
    counter.drew(4 * PERIOD_NS)
    assert (counter.due, counter.missed, counter.worst_ns) == (1, 0, 0)
