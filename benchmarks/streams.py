"""Windows of samples as an engine publishes them: log-normal latencies with a spike in a thousand.

Knows events alone; everything is seeded by the caller.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hettop.events import Samples

UNIT = "CPU_ONLY@1"
LATENCY_NS = 500_000
GAP_NS = (700, 1_400)  # what the sampling loop leaves between two samples
SIGMA = 0.06
SPIKE_EVERY = 1_000
SPIKE_FACTOR = (2.0, 20.0)
DRAWN = 1 << 17


def windows(size: int, count: int, rng: np.random.Generator, begin_ns: int = 0) -> Iterator[Samples]:
    """`count` windows of `size` samples that follow each other. Numbers are drawn once and used in turn."""
    drawn = max(DRAWN - DRAWN % size, size)
    latencies = np.round(LATENCY_NS * np.exp(rng.normal(0, SIGMA, drawn))).astype(np.int64)
    spikes = rng.random(drawn) < 1 / SPIKE_EVERY
    latencies[spikes] = (latencies[spikes] * rng.uniform(*SPIKE_FACTOR, int(spikes.sum()))).astype(np.int64)
    gaps = rng.integers(*GAP_NS, drawn)
    t = begin_ns
    for index in range(count):
        at = index * size % drawn
        latency, gap = latencies[at : at + size], gaps[at : at + size]
        t0 = t + int(gap[0])
        t += int(gap.sum() + latency.sum())
        yield Samples(t=t, unit=UNIT, condition="none", phase="steady", t0=t0, n=size, gap_ns=gap, lat_ns=latency)
