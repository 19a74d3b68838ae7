"""Notes on drift, and on latencies that spread too widely to detect spikes."""

from __future__ import annotations

import numpy as np

from hettop.report.notes import drift_notes, spread_notes
from hettop.session.statistics import statistics
from tests.session.test_drift import drifting, session_of
from tests.streams import MS


def test_a_drift_says_from_where_to_where_and_since_when() -> None:
    (note,) = drift_notes(statistics(session_of(drifting())))
    assert note.startswith("CPU_ONLY drifted: median 2.00 → 2.50 ms (+25%) from sample 3,000, 00:06 on, 2.50 ms at")
    assert note.endswith("the end, false alarm at most once in 1,000,000 samples on average")


def test_a_steady_unit_is_not_mentioned() -> None:
    assert drift_notes(statistics(session_of(drifting(factor=1.0)))) == []


def test_a_unit_too_wide_for_spikes_says_how_far_the_threshold_is() -> None:
    # exp(10 MAD) of a log-normal of spread .3: exp(10 x .6745 x .3) = 7.6.
    wide = (2 * MS * np.exp(np.random.default_rng(1).normal(0, 0.3, 5_000))).astype(int).tolist()
    (note,) = spread_notes(statistics(session_of(wide)))
    assert note.startswith("CPU_ONLY: latencies spread too widely to detect spikes: the threshold is 7.")
    assert note.endswith("x the median; use P99 or P99.9")
    assert spread_notes(statistics(session_of(drifting(factor=1.0)))) == []
