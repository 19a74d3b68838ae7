"""Samples in order, in bounded memory."""

from __future__ import annotations

import numpy as np

from hettop import events
from hettop.analysis.unit_samples import MOST_SAMPLES, STRETCH, Stretches
from hettop.session.condition import ConditionKey
from tests.streams import window

KEY = ConditionKey("CPU_ONLY", "none", None)


def test_few_samples_are_all_kept_in_order() -> None:
    stretches = Stretches()
    stretches.add(window(list(range(1, 1200))))
    stretches.add(window([5, 6], t0=10**9))
    stretches.add(window([7], phase="warmup", t0=2 * 10**9))
    kept = stretches.column(KEY, "wall")
    assert kept is not None
    assert kept.tolist() == [*range(1, 1200), 5, 6]


def test_many_samples_become_evenly_spaced_whole_stretches() -> None:
    stretches, n = Stretches(), 350_000
    for begin in range(0, n, 10_000):
        stretches.add(window(list(range(begin, begin + 10_000))))
    kept = stretches.column(KEY, "wall")
    assert kept is not None
    assert MOST_SAMPLES / 2 < kept.size <= MOST_SAMPLES
    starts = kept[::STRETCH]
    assert set(np.diff(starts).tolist()) == {4 * STRETCH}, "every fourth stretch"
    assert np.array_equal(kept[:STRETCH], np.arange(STRETCH))


def test_responses_are_lateness_and_latency_and_native_needs_all_windows() -> None:
    stretches = Stretches()
    stretches.add(window([10, 10], late=[5, -3], native=[1, 2]))
    response, native = stretches.column(KEY, "response"), stretches.column(KEY, "native")
    assert response is not None
    assert native is not None
    assert (response.tolist(), native.tolist()) == ([15, 10], [1, 2])
    stretches.add(window([10]))
    assert stretches.column(KEY, "native") is None


def test_a_reset_forgets() -> None:
    stretches = Stretches()
    stretches.add(window([10, 10]))
    stretches.add(events.Control(t=0, action="reset"))
    assert stretches.column(KEY, "wall") is None
