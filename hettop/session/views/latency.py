"""The views of latencies: the time window as distributions, of one unit or of all. Pure, made for every redraw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hettop.events import Column
from hettop.session.condition import Condition
from hettop.session.session import LONGEST_WINDOW_NS, Session, current_condition
from hettop.session.views.structs import (
    Axis,
    BudgetShare,
    LatencyView,
    RidgeRow,
    RidgeView,
    Scale,
    ViewRequest,
)
from hettop.stats.quantiles import further_samples, linear_quantiles
from hettop.units import NS_PER_MS

LEAST_SAMPLES = 10
"""Samples before a distribution is drawn: a P90 of fewer is no more than their slowest one."""


def latency(session: Session, unit: str | None, request: ViewRequest) -> LatencyView:
    """The distribution of one unit in the time window, in columns."""
    window = _window(session, unit, request)
    latencies, spread = window.latencies, window.spread
    places = Axis(0.0, 1.0) if spread is None else axis_of([spread], request)
    counts, below, above = _columns(latencies, places, _bars(spread, len(latencies), places, request))
    p99_needs = further_samples(len(latencies), 0.99) if len(latencies) else 0
    return LatencyView(
        unit=unit,
        window_ns=_window_ns(request),
        n=len(latencies),
        counts=tuple(counts.tolist()),
        low_ms=places.low_ms,
        high_ms=places.high_ms,
        log=places.log,
        below=below,
        above=above,
        p50_ms=window.p50_ms,
        p90_ms=window.p90_ms,
        p99_ms=window.p99_ms,
        max_ms=None if spread is None else spread.largest / NS_PER_MS,
        p99_needs=p99_needs or None,
        needs=window.needs,
        scale=request.scale,
        budget=_budget(session, unit, request),
        last_ns=_last_end_ns(session, unit) if unit in session.units else None,
    )


def ridge(session: Session, request: ViewRequest) -> RidgeView | None:
    """The distributions of all units in the time window on one axis; None where one unit is to be viewed alone.

    That is where the user wants it, and where neither units are interleaved nor several have samples in the window,
    whatever the load.
    """
    if not request.all_units:
        return None
    start_ns = request.now_ns - _window_ns(request)
    ends = {unit: end for unit in session.units if (end := _last_end_ns(session, unit)) is not None}
    interleaved = session.control is not None and session.control.mode == "interleave" and len(session.units) > 1
    if not interleaved and sum(1 for end in ends.values() if end > start_ns) < 2:
        return None
    windows = {unit: _window(session, unit, request) for unit in session.units}
    drawn = [each.spread for each in windows.values() if each.spread is not None and each.needs is None]
    places = axis_of(drawn, request) if drawn else None
    measured = None if session.paused else latest_unit(session)
    return RidgeView(
        rows=tuple(
            replace(
                _ridge_row(unit, window, places, request),
                measured=unit == measured,
                last_ns=ends.get(unit),
                budget=_budget(session, unit, request),
            )
            for unit, window in windows.items()
        ),
        axis=places,
        window_ns=_window_ns(request),
        scale=request.scale,
        budget_ms=request.budget_ms,
        budget_quantile=request.budget_quantile,
    )


def latest_unit(session: Session) -> str | None:
    """The unit of the last steady sample; of units that are interleaved, the one whose turn it is."""
    ends = {unit: end for unit in session.units if (end := _last_end_ns(session, unit)) is not None}
    return max(ends, key=lambda name: ends[name], default=None)


def _last_end_ns(session: Session, unit: str) -> int | None:
    """The end of the unit's last steady sample, whatever the load; of its last call where only a keyframe knows it."""
    conditions = [condition for key, condition in session.conditions.items() if key.unit == unit]
    ends = [end for condition in conditions if (end := condition.trailing.last_end_ns) is not None]
    if ends:
        return max(ends)
    return session.units[unit].last_end_ns if any(condition.wall.n for condition in conditions) else None


def _ridge_row(unit: str, window: _Window, places: Axis | None, request: ViewRequest) -> RidgeRow:
    n = len(window.latencies)
    curve: tuple[float, ...] = ()
    below = above = 0
    if places is not None and window.needs is None:
        counts, below, above = _columns(window.latencies, places, max(1, request.ridge_columns))
        if request.scale is Scale.CDF:
            curve = tuple(((below + np.cumsum(counts)) / n).tolist())
        else:
            curve = tuple(relative(smoothed(counts), log=request.scale is Scale.LOG_Y).tolist())
    return RidgeRow(
        unit=unit,
        n=n,
        needs=window.needs,
        curve=curve,
        below=below,
        above=above,
        p50_ms=window.p50_ms,
        p90_ms=window.p90_ms,
        p99_ms=window.p99_ms,
    )


class Spread(NamedTuple):
    """Quantiles of the samples of one window, in ns."""

    smallest: float
    p01: float
    p25: float
    p50: float
    p75: float
    p90: float
    p99: float
    largest: float


def spread_of(latencies: Column) -> Spread | None:
    """None for no samples."""
    if not len(latencies):
        return None
    return Spread(*linear_quantiles(latencies, (0.0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)))


class _Window(NamedTuple):
    """A unit's samples in the window. Percentiles are None where too few show them; `needs` more show any at all."""

    latencies: Column
    spread: Spread | None
    p50_ms: float | None = None
    p90_ms: float | None = None
    p99_ms: float | None = None
    needs: int | None = None


def _window(session: Session, unit: str | None, request: ViewRequest) -> _Window:
    """The samples under the active load.

    Of a window with all samples of the condition, percentiles are the table's, which may be read from buckets.
    """
    known = _known(session, unit)
    latencies = np.empty(0, dtype=np.int64) if known is None else _in_window(known, request)
    n, spread = len(latencies), spread_of(latencies)
    if known is None or spread is None or n < LEAST_SAMPLES:
        return _Window(latencies, spread, needs=LEAST_SAMPLES - n)
    levels = (0.5, 0.9, 0.99)
    own = [each / NS_PER_MS for each in (spread.p50, spread.p90, spread.p99)]
    p50, p90, p99 = known.wall.quantiles_ms(levels) if known.wall.n == n else own
    return _Window(latencies, spread, p50, p90, None if further_samples(n, 0.99) else p99)


def _budget(session: Session, unit: str | None, request: ViewRequest) -> BudgetShare | None:
    """The share of the window's samples above the budget: of response times where there are such, as it is judged."""
    known = _known(session, unit)
    if request.budget_ms is None or known is None:
        return None
    kept = known.trailing_responses or known.trailing
    _, samples = kept.between(request.now_ns - _window_ns(request), request.now_ns)
    above = int(np.count_nonzero(samples > request.budget_ms * NS_PER_MS))
    responses = known.trailing_responses is not None
    return BudgetShare(request.budget_ms, request.budget_quantile, len(samples), above, responses)


def _window_ns(request: ViewRequest) -> int:
    return min(request.window_ns, LONGEST_WINDOW_NS)


def _known(session: Session, unit: str | None) -> Condition | None:
    """The unit's condition under the active load."""
    return current_condition(session, unit) if unit else None


def _in_window(condition: Condition, request: ViewRequest) -> Column:
    return condition.trailing.between(request.now_ns - _window_ns(request), request.now_ns)[1]


def _columns(latencies: Column, places: Axis, columns: int) -> tuple[Column, int, int]:
    """The number of latencies in each of equal columns of the axis, and below and above it.

    Those at its end are in the last column. `np.histogram` does the same in six times the time.
    """
    low, high = places.low_ms * NS_PER_MS, places.high_ms * NS_PER_MS
    inside = latencies[(latencies >= low) & (latencies <= high)]
    at: npt.NDArray[np.floating[Any]]
    if places.log:
        at = np.log(inside / low) * (columns / math.log(high / low))
    else:
        at = (inside - low) * (columns / (high - low))
    counts = np.bincount(np.minimum(at.astype(np.int64), columns - 1), minlength=columns)
    return counts, int(np.count_nonzero(latencies < low)), int(np.count_nonzero(latencies > high))


SMOOTHED_OVER = 1 / 40
"""Width of a bar, and half-width of the kernel, at most, as a share of the axis: a second mode beside the first stays
one."""


def _bars(spread: Spread | None, n: int, places: Axis, request: ViewRequest) -> int:
    """How many columns of the histogram: as many as fit, but none narrower than Freedman and Diaconis have it.

    Bins 2 IQR / n^(1/3) wide (Freedman & Diaconis 1981) show the distribution and not the chance of each column.
    """
    if spread is None:
        return request.histogram_columns
    middle = places.place(spread.p75 / NS_PER_MS) - places.place(spread.p25 / NS_PER_MS)
    width = min(2 * middle / n ** (1 / 3), SMOOTHED_OVER) if math.isfinite(middle) else 0.0
    return max(1, min(request.histogram_columns, round(1 / width) if width > 0 else request.histogram_columns))


def smoothed(counts: Column) -> npt.NDArray[np.float64]:
    """A density: each sample is spread over a triangle as wide to each side as the bars of a histogram would be.

    The IQR is read from the columns.
    """
    n = int(counts.sum())
    if not n:
        return counts.astype(np.float64)
    first, third = np.searchsorted(np.cumsum(counts), (0.25 * n, 0.75 * n)).tolist()
    half = min(max(1, round(2 * (third - first) / n ** (1 / 3))), max(1, round(SMOOTHED_OVER * len(counts))))
    kernel = half - np.abs(np.arange(1 - half, half)) + 0.0
    spread = np.convolve(counts, kernel / kernel.sum())[half - 1 : half - 1 + len(counts)]
    return spread.astype(np.float64)


def relative(heights: npt.NDArray[np.float64], *, log: bool = False) -> npt.NDArray[np.float64]:
    """The heights relative to the highest; `log`: by their logarithms, from half a sample up."""
    top = float(heights.max(initial=0.0))
    if top <= 0:
        return heights
    if not log or top <= _HALF:
        return np.divide(heights, top)
    return np.asarray(np.log(np.maximum(heights, _HALF) / _HALF) / math.log(top / _HALF))


_HALF = 0.5
"""Samples at the foot of a logarithmic axis of counts: a column with one sample can be seen."""

NARROW = 1 / 8
"""Share of a linear axis: where half of the samples share less, their distribution cannot be read."""

FAR_APART = 3.0
"""Times: a unit that is so much faster would have a third of the other's width for the same relative spread."""

WIDENED = 1.25
"""Less would not be worth an axis that is harder to read."""

_FURTHEST = 10.0
"""A logarithmic axis ends at this many times the P99: a single call beyond would take the space of the others."""


def axis_of(spreads: Sequence[Spread], request: ViewRequest) -> Axis:
    """One axis for the samples of each unit, linear or logarithmic; the budget is on it if it is near.

    By itself it is logarithmic where the medians of two units are `FAR_APART`, and where half of some unit's samples
    (P25 to P75) are in less than `NARROW` of the linear axis and the narrowest would be wider by `WIDENED` at least:
    to a long tail a linear axis would leave most of its width.
    """
    linear = _linear_axis(spreads)
    near = request.budget_ms is not None and linear.low_ms / 2 <= request.budget_ms <= linear.high_ms * 2
    known = request.budget_ms if near else None
    linear, log = _with(linear, known), _with(_log_axis(spreads), known)
    if request.scale is Scale.LINEAR:
        return linear
    if request.scale is Scale.LOG_X:
        return log
    medians = [max(each.p50, 1.0) for each in spreads]
    if max(medians) >= FAR_APART * min(medians):
        return log
    middles = [(each.p25 / NS_PER_MS, each.p75 / NS_PER_MS) for each in spreads]
    as_linear, as_log = (min(each.place(q75) - each.place(q25) for q25, q75 in middles) for each in (linear, log))
    return log if as_linear < NARROW and as_log >= WIDENED * as_linear > 0 else linear


def _linear_axis(spreads: Sequence[Spread]) -> Axis:
    each = [axis(spread.smallest, spread.p01, spread.p99, spread.largest) for spread in spreads]
    low, high = min(low for low, _ in each), max(high for _, high in each)
    return Axis(low / NS_PER_MS, high / NS_PER_MS)


def _log_axis(spreads: Sequence[Spread]) -> Axis:
    """From the P1 less a little to the slowest call, on round parts of a power of ten."""
    low = min(max(spread.smallest, spread.p01 / 1.1, 1.0) for spread in spreads)
    high = max(max(min(spread.largest, _FURTHEST * spread.p99), 1.01 * low) for spread in spreads)
    low, high = math.log10(low), math.log10(high)
    step = _round_step((high - low) / 16)
    low, high = math.floor(low / step) * step, (math.floor(high / step) + 1) * step
    return Axis(10**low / NS_PER_MS, 10**high / NS_PER_MS, log=True)


_NEAR_END = 0.98


def _with(places: Axis, budget_ms: float | None) -> Axis:
    """The axis with a budget on it, and some room beyond."""
    if budget_ms is None or (places.low_ms <= budget_ms and places.place(budget_ms) <= _NEAR_END):
        return places
    low, high = min(places.low_ms, budget_ms / 1.05), max(places.high_ms, budget_ms * 1.05)
    return Axis(low, high, places.log)


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
