"""The latency view: the time window as a distribution. Pure, called for every redraw."""

from __future__ import annotations

import math

import numpy as np

from hettop.events import Column
from hettop.session.session import LONGEST_WINDOW_NS, Session, current_condition
from hettop.session.views.structs import LatencyView, ViewRequest
from hettop.stats.quantiles import further_samples, linear_quantiles
from hettop.units import NS_PER_MS


def latency(session: Session, unit: str | None, request: ViewRequest) -> LatencyView:
    """The distribution of one unit in the time window, in columns."""
    window_ns = min(request.window_ns, LONGEST_WINDOW_NS)
    known = current_condition(session, unit) if unit else None
    if known is None:
        latencies: Column = np.empty(0, dtype=np.int64)
    else:
        _, latencies = known.trailing.between(request.now_ns - window_ns, request.now_ns)
    n = len(latencies)
    if n == 0:
        return LatencyView(
            unit, window_ns, 0, (0,) * request.histogram_columns, 0.0, 1.0, 0, None, None, None, None, None
        )
    smallest, p01, p50, p90, p99, largest = linear_quantiles(latencies, (0.0, 0.01, 0.5, 0.9, 0.99, 1.0))
    low, high = axis(smallest, p01, p99, largest)
    needs = further_samples(n, 0.99)
    return LatencyView(
        unit=unit,
        window_ns=window_ns,
        n=n,
        counts=_columns(latencies, low, high, request.histogram_columns),
        low_ms=low / NS_PER_MS,
        high_ms=high / NS_PER_MS,
        above=int(np.count_nonzero(latencies > high)),
        p50_ms=p50 / NS_PER_MS,
        p90_ms=p90 / NS_PER_MS,
        p99_ms=None if needs else p99 / NS_PER_MS,
        max_ms=largest / NS_PER_MS,
        p99_needs=needs or None,
    )


def _columns(latencies: Column, low: float, high: float, columns: int) -> tuple[int, ...]:
    """The number of latencies in each of equal columns between `low` and `high`; those at `high` are in the last one.

    `np.histogram` does the same in six times the time.
    """
    places = ((latencies - low) * (columns / (high - low))).astype(np.int64)
    places = places[(latencies >= low) & (latencies <= high)]
    return tuple(np.bincount(np.minimum(places, columns - 1), minlength=columns).tolist())


def axis(smallest: float, p01: float, p99: float, largest: float) -> tuple[float, float]:
    """Ends of a linear axis: all but the far tail, on round numbers so that it rarely changes.

    A percentile read from buckets may lie outside of `smallest` to `largest`, as of samples that are all 0.
    """
    p01, p99 = (min(max(each, smallest), largest) for each in (p01, p99))
    spread = max(p99 - p01, 0.02 * p99, 1.0)
    low = max(smallest, p01 - 0.2 * spread)
    high = min(largest, p99 + spread)
    step = _round_step((high - low) / 8 if high > low else spread / 8)
    return math.floor(low / step) * step, (math.floor(high / step) + 1) * step


def _round_step(rough: float) -> float:
    """The next larger of 1, 2 or 5 times a power of ten."""
    magnitude = 10.0 ** math.floor(math.log10(max(rough, 1e-9)))
    return next(factor * magnitude for factor in (1.0, 2.0, 5.0, 10.0) if factor * magnitude >= rough)
