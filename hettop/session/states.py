"""How one condition behaves over time: how long it stays in each of its modes, and whether it has drifted.

Pure, and cheap enough for every frame: states are those of the spike threshold, stays are of the last minute.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hettop.events import Column
from hettop.format import clock, count, milliseconds, percent, significant
from hettop.session.condition import Condition
from hettop.session.drift import Drifted
from hettop.stats.drift import FALSE_ALARM_EVERY
from hettop.stats.histogram import bucket_low
from hettop.stats.modes import Modes
from hettop.stats.quantiles import linear_quantiles
from hettop.stats.spikes import state_starts
from hettop.units import NS_PER_MS, NS_PER_S

FALSE_ALARMS = f"false alarm at most once in {count(FALSE_ALARM_EVERY)} samples on average"
"""Of drift."""

LOOKED_AT = 20_000
"""Of the last samples: enough for any mean, and half a millisecond of work."""


def stay_words(condition: Condition) -> str:
    """How many calls it stays in each of its modes on average, in the last minute; empty where there is one."""
    starts = state_starts(*condition.wall.histogram.nonzero())
    if not starts:
        return ""
    _, latencies = condition.trailing.all()
    latencies = latencies[-LOOKED_AT:]
    if condition.fence_ns is not None:
        latencies = latencies[latencies <= condition.fence_ns]
    edges = bucket_low(starts).tolist()
    stays = []
    states = states_of(latencies, edges)
    for place, stay in enumerate(mean_stays(latencies, edges)):
        if stay is not None:
            median = linear_quantiles(latencies[states == place], (0.5,))[0]
            stays.append(f"{milliseconds(median / NS_PER_MS)} ms for {significant(stay)} calls")
    return f"stays on average at {', at '.join(stays)}" if len(stays) > 1 else ""


def mode_stays(modes: Modes, latencies: Column | None) -> list[float | None]:
    """Mean number of consecutive samples in each mode, by the nearest centre; None where samples are no longer kept."""
    centers = [mode.center_ns for mode in modes.modes]
    if latencies is None or len(centers) < 2:
        return [None] * len(centers)
    return mean_stays(latencies, [math.sqrt(left * right) for left, right in pairwise(centers)])


def drift_fields(found: Drifted | None) -> dict[str, float] | None:
    """A drift as the statistics object reports it: times in ms, `from_s` in seconds of the session."""
    if found is None:
        return None
    return {
        "from_sample": found.from_sample,
        "from_s": found.from_ns / NS_PER_S,
        "before_ms": found.before_ns / NS_PER_MS,
        "after_ms": found.after_ns / NS_PER_MS,
        "now_ms": found.now_ns / NS_PER_MS,
    }


def drift_words(found: Drifted | None) -> str:
    """That the level moved: from where to where, since when, and where it is now."""
    if found is None:
        return ""
    before, after, now = (milliseconds(value / NS_PER_MS) for value in (found.before_ns, found.after_ns, found.now_ns))
    change = percent(found.after_ns / found.before_ns - 1, signed=True)
    return (
        f"drifted: median {before} → {after} ms ({change}) since {clock(found.from_ns)}, now {now} ms, {FALSE_ALARMS}"
    )


Int64Array = npt.NDArray[np.int64]


def states_of(values: npt.ArrayLike, edges: Sequence[float]) -> Int64Array:
    """The state of each value (shape (n,)): i lies from `edges[i - 1]` (inclusive) to `edges[i]` (exclusive).

    By comparison with each edge: there are few, and seeking each value among them takes several times as long.
    """
    array = np.asarray(values)
    states = np.zeros(array.shape, dtype=np.int64)
    for edge in edges:
        states += array >= edge
    return states


def mean_stays(values: npt.ArrayLike, edges: Sequence[float]) -> list[float | None]:
    """Mean number of consecutive values (shape (n,), in order) in each state; None for one that never occurs.

    States are those of `states_of`. The first and the last stay are cut off by the ends of the series and count as they
    are.
    """
    states, count = states_of(values, edges), len(edges) + 1
    samples = np.bincount(states, minlength=count)
    begins = np.concatenate(([True], states[1:] != states[:-1])) if states.size else np.empty(0, dtype=np.bool_)
    stays = np.bincount(states[begins], minlength=count)
    return [n / runs if runs else None for n, runs in zip(samples.tolist(), stays.tolist(), strict=True)]
