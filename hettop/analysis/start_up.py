"""Start-up in a verdict: whether units are proven to be ready in time, and which takes least for so many calls.

Pure: what was measured start by start comes in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import numpy.typing as npt

from hettop.stats.quantiles import CONFIDENCE, quantile_interval
from hettop.stats.resampling import resampled_medians

LEAST_STARTS = 6
"""Of a unit, for an interval: with three, resamples prove a lead of one of two equal units in 10% of sessions."""


@dataclass(frozen=True, slots=True)
class StartUp:
    """The starts of a unit: ms to the first answer and ms of a usual call, start by start; `error` if the last failed.

    cached: whether they used an earlier compilation; None where that is not known.
    """

    unit: str
    ready_ms: tuple[float, ...]
    call_ms: tuple[float, ...]
    cached: bool | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ReadyJudgement:
    """Whether the median start of a unit is within a limit. `met` None: unproven, for the reason in `why`."""

    unit: str
    met: bool | None
    why: str
    n: int
    median_ms: float | None = None
    low_ms: float | None = None
    high_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Total:
    """Time for a start and so many calls, with its 95% interval; None where there were too few starts for one."""

    unit: str
    ms: float
    low_ms: float | None = None
    high_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Totals:
    """Of `calls` calls, the lowest total first. `lead_ms`: how far it is ahead of the second, with its interval.

    proven: whether the interval of the lead excludes 0. Both None where nothing is second, or has too few starts.
    """

    calls: int
    units: tuple[Total, ...]
    lead_ms: float | None = None
    lead_interval_ms: tuple[float, float] | None = None

    @property
    def proven(self) -> bool:
        return self.lead_interval_ms is not None and self.lead_interval_ms[0] > 0


def judge_ready(start: StartUp, limit_ms: float, confidence: float = CONFIDENCE) -> ReadyJudgement:
    """By the order statistics of the starts: yes if the interval of the median is within the limit, no if beyond it."""
    n = len(start.ready_ms)
    if start.error is not None:
        return ReadyJudgement(start.unit, None, f"a start failed: {start.error}", n)
    if not n:
        return ReadyJudgement(start.unit, None, "its start-up was not measured", 0)
    ordered = sorted(start.ready_ms)
    low, high = (None if rank is None else ordered[rank - 1] for rank in quantile_interval(n, 0.5, confidence))
    met, why = None, ""
    if high is not None and high <= limit_ms:
        met = True
    elif low is not None and low > limit_ms:
        met = False
    else:
        few = low is None or high is None
        why = f"a median needs {starts_needed(confidence)} starts" if few else "the limit lies within the interval"
    return ReadyJudgement(start.unit, met, why, n, float(np.median(start.ready_ms)), low, high)


def starts_needed(confidence: float) -> int:
    """Starts of which the lowest and the highest are an interval of the median: 6 at 95%."""
    return next(n for n in count(2) if None not in quantile_interval(n, 0.5, confidence))


def totals(starts: Sequence[StartUp], calls: int, rng: np.random.Generator) -> Totals:
    """Of the units whose starts all succeeded. `rng` draws the resamples: a start is drawn whole."""
    known = [start for start in starts if start.ready_ms and start.error is None]
    drawn = {start.unit: _resampled(start, calls, rng) for start in known if len(start.ready_ms) >= LEAST_STARTS}
    found = []
    for start in known:
        ms = float(np.median(start.ready_ms)) + (calls - 1) * float(np.median(start.call_ms))
        ends = _interval(drawn[start.unit]) if start.unit in drawn else (None, None)
        found.append(Total(start.unit, ms, *ends))
    found.sort(key=lambda each: each.ms)
    if len(found) < 2:
        return Totals(calls, tuple(found))
    first, second = found[0].unit, found[1].unit
    lead = None if not {first, second} <= drawn.keys() else _interval(drawn[second] - drawn[first])
    return Totals(calls, tuple(found), found[1].ms - found[0].ms, lead)


def _interval(resampled: npt.NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.quantile(resampled, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    return float(low), float(high)


def _resampled(start: StartUp, calls: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    ready, call = resampled_medians((start.ready_ms, start.call_ms), rng)
    return np.asarray(ready + (calls - 1) * call)
