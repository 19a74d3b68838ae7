"""Tests which events are correlated with spikes: how often they occur at spikes and at other moments nearby."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

WIDTHS = (1, 2, 4, 8, 16, 32, 64)
"""Lengths of spikes in slots of time, rounded up to one of these; longer ones count as the last."""

LEVEL = 0.01
"""How often, among conditions whose spikes have nothing to do with anything watched, some cause may be named. Not the
usual .05: a live screen is looked at again and again."""

LEAST_SPIKES = 5
"""Fewer spikes are insufficient data."""

REGULAR_SHARE = 0.5
"""Of the intervals between spikes. Beyond it they come at a fixed interval, and all of them may meet another regular
event because of its phase alone: they are no more evidence than one spike is."""

REGULAR_WITHIN = 0.05
"""Of an interval, and one slot at least: intervals that differ by less are the same."""

_NEGLIGIBLE = 1e-12


class Verdict(Enum):
    """What the counts of one cause allow to say."""

    MORE = "significant"
    NO_MORE = "not significant"
    TOO_FEW = "insufficient data"


@dataclass(frozen=True, slots=True)
class Presence:
    """How many of the spikes had a cause present, and the probability that a moment taken at random would have.

    Where the probability depends on when the spike was, `chance` is its mean over the spikes: the tail of a binomial
    with the mean is an upper bound of the true one (Hoeffding 1956).
    """

    hits: int
    chance: float


@dataclass(frozen=True, slots=True)
class Judged:
    """Shares (0..1) of spikes and of other moments at which a cause was present; p is of so many spikes by chance."""

    inside: float | None
    outside: float
    p: float | None
    verdict: Verdict


def width_class(slots: int) -> int:
    """The place in `WIDTHS` of the shortest one that holds a spike of so many slots."""
    return min(max(slots - 1, 0).bit_length(), len(WIDTHS) - 1)


def chance_of(distances: Sequence[int], moments: int, widths: Sequence[int]) -> float:
    """Probability that a spike laid at a random moment has the cause in it, mean over the spikes.

    distances: moments by how long ago the cause was last present: `distances[i]` less than `WIDTHS[i]` slots ago, and
        not less than `WIDTHS[i - 1]`. moments: all there were. widths: spikes by `width_class`.

    Every moment is taken once, that of the spike itself too: these are all the shifts of the spikes in time against
    the cause, instead of some drawn by lot.
    """
    spikes = sum(widths)
    if not moments or not spikes:
        return 0.0
    within = found = 0
    for distance, width in zip(distances, widths, strict=True):
        within += distance
        found += within * width
    return found / (moments * spikes)


def are_regular(intervals: Sequence[int]) -> bool:
    """Whether spikes come at a fixed interval, by the intervals between them in slots."""
    ordered = sorted(intervals)
    return any(_alike(interval, ordered) > REGULAR_SHARE * len(ordered) for interval in ordered)


def _alike(interval: int, ordered: Sequence[int]) -> int:
    within = max(1, REGULAR_WITHIN * interval)
    return bisect_right(ordered, interval + within) - bisect_left(ordered, interval - within)


def judge(causes: Sequence[Presence], spikes: int, *, regular: bool = False) -> list[Judged]:
    """A verdict for each cause, such that a cause is named by mistake in at most `LEVEL` of conditions.

    regular: spikes come at a fixed interval, which proves nothing.

    A spike has the cause present by chance with probability `chance`; the p-value is the binomial's upper tail, which
    for spikes of unequal lengths is an upper bound (Hoeffding 1956). Over the causes, Holm's step-down rule (1979).
    """
    ps = [binomial_tail(cause.hits, spikes, cause.chance) for cause in causes]
    named = holm(ps, LEVEL)
    found = []
    for cause, p, more in zip(causes, ps, named, strict=True):
        # Where even all spikes together would prove nothing, their agreement with chance does not either.
        could_tell = spikes >= LEAST_SPIKES and cause.chance**spikes <= LEVEL / len(causes)
        as_expected = spikes >= LEAST_SPIKES and cause.hits <= spikes * cause.chance
        verdict = Verdict.NO_MORE if could_tell or as_expected else Verdict.TOO_FEW
        found.append(
            Judged(
                inside=cause.hits / spikes if spikes else None,
                outside=cause.chance,
                p=p if spikes else None,
                verdict=Verdict.TOO_FEW if regular else Verdict.MORE if more and spikes >= LEAST_SPIKES else verdict,
            )
        )
    return found


def holm(ps: Sequence[float], level: float) -> list[bool]:
    """Which of several p-values are significant so that any is by mistake in at most `level` of cases (Holm 1979)."""
    significant = [False] * len(ps)
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        if ps[place] > level / (len(ps) - rank):
            break
        significant[place] = True
    return significant


def binomial_tail(hits: int, n: int, chance: float) -> float:
    """P(X >= hits) of X ~ Binomial(n, chance)."""
    if hits <= 0:
        return 1.0
    if chance <= 0 or hits > n:
        return 0.0
    if chance >= 1:
        return 1.0
    if hits > n * chance:
        return min(1.0, _sum_from(hits, n, chance))
    return max(0.0, 1.0 - _sum_from(n - hits + 1, n, 1.0 - chance))  # the lower tail, counted in misses


def _sum_from(first: int, n: int, chance: float) -> float:
    """Sum of the binomial's terms from `first` on, which is not below the mean: they fall from there."""
    log_term = (
        math.lgamma(n + 1)
        - math.lgamma(first + 1)
        - math.lgamma(n - first + 1)
        + first * math.log(chance)
        + (n - first) * math.log1p(-chance)
    )
    term = total = math.exp(log_term)
    odds = chance / (1.0 - chance)
    for k in range(first, n):
        term *= odds * (n - k) / (k + 1)
        total += term
        if term <= total * _NEGLIGIBLE:
            break
    return total
