"""The spike thresholds of the last minute: each sample is judged by the one that was active when it came."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hettop.session.condition import SpikeThresholds

TIMES = st.integers(0, 50)


@given(
    st.lists(st.tuples(TIMES, st.integers(1, 20)), max_size=6),
    st.lists(st.tuples(TIMES, st.integers(0, 25)), max_size=40),
)
def test_each_sample_is_judged_by_the_fence_it_met(
    renewed: list[tuple[int, int]], samples: list[tuple[int, int]]
) -> None:
    fences = SpikeThresholds()
    for after, fence in sorted(renewed):
        fences.renew(after, fence)
    ends = np.array(sorted(end for end, _ in samples), dtype=np.int64)
    latencies = np.array([latency for _, latency in samples], dtype=np.int64)
    expected = []
    for end, latency in zip(ends.tolist(), latencies.tolist(), strict=True):
        in_force = None
        for after, fence in sorted(renewed):
            in_force = fence if end > after else in_force
        expected.append(in_force is not None and latency > in_force)
    assert fences.exceeded(ends, latencies).tolist() == expected
