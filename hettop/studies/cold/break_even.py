"""From how many calls on a unit that starts slower, and calls faster, has the lower total time.

Pure: start by start the time to the first answer and the usual time of a call go in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import msgspec
import numpy as np
import numpy.typing as npt

from hettop.analysis.start_up import LEAST_STARTS
from hettop.format import percent
from hettop.stats.quantiles import CONFIDENCE
from hettop.stats.resampling import resampled_medians
from hettop.studies.cold.result import BreakEven

LEAST_AGREE = CONFIDENCE
"""Share of the resamples that must have the same unit ahead, in start-up and in calls."""

FURTHEST = 10**9
"""More calls than this are never made: the calls are alike."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Starts:
    """Of one unit, start by start: ms to the first answer, and ms of a usual call after it."""

    unit: str
    ready_ms: Sequence[float]
    call_ms: Sequence[float]

    @property
    def medians(self) -> tuple[float, float]:
        return float(np.median(self.ready_ms)), float(np.median(self.call_ms))


def least_calls(ready_ms: float, call_ms: float, other_ready_ms: float, other_call_ms: float) -> int | None:
    """The least n for which the other has the lower total, ready + (n - 1) calls; None where it never has.

    One that is ahead from the first call on has 1.
    """
    later, gain = other_ready_ms - ready_ms, call_ms - other_call_ms
    if later < 0:
        return 1
    if gain <= 0:
        return None
    calls = later // gain + 2
    return int(calls) if calls <= FURTHEST else None


def break_evens(units: Sequence[Starts], rng: np.random.Generator, cached: bool | None = None) -> list[BreakEven]:
    """Of every two units, those that are ready first before the others. `cached` is what all starts have in common."""
    some = sorted((unit for unit in units if unit.ready_ms), key=lambda unit: unit.medians)
    drawn = {unit.unit: resampled_medians((unit.ready_ms, unit.call_ms), rng) for unit in some}
    return [_break_even(first, then, drawn, cached) for first, then in combinations(some, 2)]


def _break_even(first: Starts, then: Starts, drawn: Mapping[str, Array], cached: bool | None) -> BreakEven:
    (ready, call), (other_ready, other_call) = first.medians, then.medians
    calls = least_calls(ready, call, other_ready, other_call)
    pair = BreakEven(faster_start=first.unit, slower_start=then.unit, cached=cached)
    if min(len(first.ready_ms), len(then.ready_ms)) < LEAST_STARTS:
        return _with(pair, why=f"needs {LEAST_STARTS} starts of each")
    later = drawn[then.unit][0] - drawn[first.unit][0]
    gain = drawn[first.unit][1] - drawn[then.unit][1]
    crosses = _crosses(later, gain)
    alike = (later == 0) & (gain == 0)
    same = crosses if calls is not None else (later >= 0) & ~crosses & ~alike
    agree = float(same.mean())
    pair = _with(pair, agree=agree)
    if agree < LEAST_AGREE:
        return _with(pair, why=f"not proven: {percent(agree)} of resamples agree")
    if calls is None:
        return _with(pair, faster_in_both=first.unit)
    some = np.floor_divide(later[crosses], gain[crosses]) + 2
    low = int(np.quantile(some, (1 - CONFIDENCE) / 2, method="lower"))
    high = int(np.quantile(some, (1 + CONFIDENCE) / 2, method="higher"))
    return _with(pair, calls=calls, low=low, high=high)


def _crosses(later: Array, gain: Array) -> npt.NDArray[np.bool_]:
    """Where the one that is ready later calls so much faster that it is ahead in the end."""
    return (later >= 0) & (gain > 0) & (later < (FURTHEST - 1) * gain)


def _with(pair: BreakEven, **known: object) -> BreakEven:
    return msgspec.structs.replace(pair, **known)
