"""How long a series stays in each of its states: a mode that comes in blocks is another thing than one that alternates.

It must not know where the states come from.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

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
