"""How many samples a second one core folds into a session, in windows of 1,000 and, beside them, larger and smaller."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.plan import Plan
from benchmarks.rows import Row, Unit, at_least, for_comparison
from benchmarks.streams import windows
from hettop.session.session import Session

LIMIT_PER_S = 10e6
MILLIONS = Unit(" M samples/s", 1e-6, 1)
SAMPLES = 4_000_000
REPEATS = 15


def measure(plan: Plan) -> Iterator[Row]:
    """Rows for windows of 1,000, of 20,000, and of the 50 ms that one flush holds."""
    repeats = plan.either(REPEATS, 3)
    speeds: dict[int, list[float]] = {1_000: [], 20_000: [], 100: []}
    for _ in range(repeats):
        for size, found in speeds.items():
            found.append(_speed(size))
    yield at_least("fold: windows of 1,000 samples", LIMIT_PER_S, speeds[1_000], MILLIONS)
    yield for_comparison("fold: windows of 20,000 samples", speeds[20_000], MILLIONS)
    yield for_comparison("fold: windows of 100 samples (one flush at 2,000/s)", speeds[100], MILLIONS)


def _speed(size: int) -> float:
    """Samples a second of processor time."""
    count = max(1, min(SAMPLES, size * 4_000) // size)
    prepared = list(windows(size, count, np.random.default_rng(1)))
    session = Session(raw_limit=0)
    begin = time.process_time_ns()
    for window in prepared:
        session.fold(window)
    return count * size / (time.process_time_ns() - begin) * 1e9
