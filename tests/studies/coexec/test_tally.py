"""What a block amounts to: calls across a border count by their part, and the first of each unit are left out."""

from __future__ import annotations

import random

import pytest

from hettop.studies.coexec.run_totals import Tally, rate, work_within
from hettop.studies.coexec.stealing import Delivered

S = 10**9


def test_a_call_counts_by_the_part_that_lies_inside() -> None:
    assert work_within([(0, 10), (10, 20), (20, 30), (40, 50)], 5, 22) == pytest.approx(0.5 + 1 + 0.2)


def test_the_time_begins_when_every_unit_has_done_a_call() -> None:
    tally = Tally(("A", "B"))
    for start in range(0, 10, 2):
        tally.did("A", (start * S, (start + 2) * S))
    tally.did("B", (0, 4 * S))
    tally.did("B", (4 * S, 12 * S))
    stretch = tally.stretch(10 * S, ("A", "B"))
    assert stretch is not None
    assert stretch.seconds == 6
    assert stretch.work == {"A": pytest.approx(3), "B": pytest.approx(0.75)}
    assert stretch.calls == {"A": 3, "B": 1}
    assert rate([stretch]) == pytest.approx(3.75 / 6)


def test_a_block_in_which_a_living_unit_did_nothing_reports_nothing() -> None:
    tally = Tally(("A", "B"))
    tally.did("A", (0, S))
    tally.did("A", (S, 2 * S))
    assert tally.stretch(2 * S, ("A", "B")) is None
    assert tally.stretch(2 * S, ("A",)) is not None  # B is dead


def test_no_stretches_have_no_rate() -> None:
    assert rate([]) is None


def test_latencies_are_of_what_was_handed_out_in_time() -> None:
    tally = Tally(("A",))
    tally.delivered = [Delivered(0, 5, 25), Delivered(1, 30, 70), Delivered(2, 100, 900)]
    assert list(tally.latencies(100)) == [20, 40]


def test_the_rate_of_calls_of_very_different_length_is_not_biased() -> None:
    """One call in ten takes 91 ms, the others 1: 10 ms on average, 100 a second, also in windows of 200 ms."""
    rng = random.Random(4)
    spans, now = [], 0
    while now < 2_000 * S:
        length = 91_000_000 if rng.random() < 0.1 else 1_000_000
        spans.append((now, now + length))
        now += length
    window = 200_000_000
    ends = [0]
    for index, (_, end) in enumerate(spans):
        while end > len(ends) * window:
            ends.append(index)
    works = [
        work_within(spans[max(0, ends[number] - 1) : ends[number + 1] + 2], number * window, (number + 1) * window)
        for number in range(len(ends) - 2)
    ]
    assert sum(works) / (len(works) * window / S) == pytest.approx(100, rel=0.03)
