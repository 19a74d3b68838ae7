"""Units beside their variants: how much slower or faster a variant is, with an interval.

Pure: the same session gives the same figures. Samples are all of them where they were kept, else those of the last
minute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hettop.events import NO_LOAD, Column, row_name, split_row
from hettop.format import percent
from hettop.session.condition import LONGEST_WINDOW_NS, Condition
from hettop.session.tokens import PREFILL, tokens_per_call
from hettop.stats.quantiles import CONFIDENCE, quantile
from hettop.stats.resampling import LEAST_RESAMPLES, MIN_SAMPLES, SEED, block_length, resampled_levels, resamples_for

if TYPE_CHECKING:
    from hettop.session.session import Session

LEVELS = {"p50": 0.5, "p90": 0.9}
SHOWN = ("p50",)
MOST_SAMPLES = 600
"""Of a side, on a screen: with the median alone a few ms of work, every two seconds."""

EVERY_NS = 2 * 10**9
"""A screen's figures are those of a moment that is a multiple of this, so that it shows the same at each redraw ..."""

LATE_NS = 2 * 10**9
"""... and so long ago that all samples have come which had ended by then, live and from a file."""


@dataclass(frozen=True, slots=True)
class Change:
    """A variant's quantile against the unit's: `share` is (variant - unit) / unit, with its 95% interval."""

    share: float
    low: float
    high: float

    @property
    def proven(self) -> bool:
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class VariantComparison:
    """A variant of a unit against that unit, under one load. `changes` by level, empty while there are too few samples.

    `n` are the samples of the unit and of the variant that were compared.
    """

    unit: str
    variant: str
    load: str
    thermal: str | None
    n: tuple[int, int]
    changes: dict[str, Change]


class RecentComparisons:
    """Comparisons over the last minute, computed once for all redraws of two seconds. Nothing of it is folded."""

    def __init__(self) -> None:
        self._moment = -1
        self._found: tuple[VariantComparison, ...] = ()

    def at(self, session: Session, now_ns: int) -> tuple[VariantComparison, ...]:
        """The comparisons at `now_ns`: those of a moment shortly before."""
        moment = (now_ns - LATE_NS) // EVERY_NS * EVERY_NS
        if moment != self._moment:
            self._moment = moment
            self._found = tuple(each for each in beside(session, moment) if each.changes)
        return self._found


def beside(session: Session, now_ns: int | None = None) -> tuple[VariantComparison, ...]:
    """Every variant that has samples under a condition of its unit. `now_ns`: the medians of the minute before.

    Prefill is not held against decode: it is other work.
    """
    levels = tuple(LEVELS) if now_ns is None else SHOWN
    other_work = PREFILL if tokens_per_call(session) is not None else None
    found = []
    for key, condition in session.conditions.items():
        unit, variant = split_row(key.unit)
        other = None if variant is None else session.conditions.get(key._replace(unit=unit))
        if variant not in (None, other_work) and other is not None:
            pair = _samples(other, now_ns), _samples(condition, now_ns)
            found.append(
                VariantComparison(
                    unit, variant, key.load, key.thermal, (len(pair[0]), len(pair[1])), _changes(*pair, levels)
                )
            )
    return tuple(found)


def _samples(condition: Condition, now_ns: int | None) -> Column:
    """All of them where they are kept, else evenly spaced ones of the last minute, so that each block has its share."""
    raw = condition.wall.raw() if now_ns is None else None
    if raw is not None:
        return raw
    end = (condition.trailing.last_end_ns or 0) if now_ns is None else now_ns
    _, latencies = condition.trailing.between(end - LONGEST_WINDOW_NS, end)
    return latencies[:: max(1, -(-len(latencies) // MOST_SAMPLES))]


def _changes(a: Column, b: Column, levels: Sequence[str]) -> dict[str, Change]:
    if min(len(a), len(b)) < MIN_SAMPLES:
        return {}
    rng = np.random.default_rng(SEED)
    sides = [np.maximum(each, 1).astype(np.float64) for each in (a, b)]
    resamples = resamples_for(len(a), len(b)) if len(levels) > 1 else LEAST_RESAMPLES
    ratios = [LEVELS[level] for level in levels]
    before, after = (resampled_levels(side, ratios, block_length(side), resamples, rng) for side in sides)
    error = (1 - CONFIDENCE) / 2
    found = {}
    for place, level in enumerate(levels):
        low, high = np.quantile(after[:, place] / before[:, place] - 1, (error, 1 - error)).tolist()
        q = LEVELS[level]
        found[level] = Change(quantile(sides[1], q) / quantile(sides[0], q) - 1, low, high)
    return found


def sentence(each: VariantComparison) -> str:
    """`CPU_ONLY~b against CPU_ONLY: 12% faster [8.0%, 15%] at P50`, and so on; not cleaned."""
    load = "" if each.load == NO_LOAD else f" under {each.load}"
    pair = f"{row_name(each.unit, each.variant)} against {each.unit}{load}"
    if not each.changes:
        return f"{pair}: insufficient data"
    return f"{pair}: " + ", ".join(f"{_words(change)} at {level.upper()}" for level, change in each.changes.items())


def _words(change: Change) -> str:
    """The ends of the interval are turned round for what is faster, so that they are those of the number before."""
    if not change.proven:
        return f"undecided [{percent(change.low, signed=True)}, {percent(change.high, signed=True)}]"
    if change.share < 0:
        return f"{percent(-change.share)} faster [{percent(-change.high)}, {percent(-change.low)}]"
    return f"{percent(change.share)} slower [{percent(change.low)}, {percent(change.high)}]"
