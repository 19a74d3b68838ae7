"""How long a series stays in each of its states: a mode that comes in blocks is another thing than one that alternates.

It must not know where the states come from.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def mean_stays(values: npt.ArrayLike, edges: Sequence[float]) -> list[float | None]:
    """Mean number of consecutive values (shape (n,), in order) in each state; None for one that never occurs.

    State i lies from `edges[i - 1]` (inclusive) to `edges[i]` (exclusive), `edges` ascending. The first and the last
    stay are cut off by the ends of the series and count as they are.
    """
    states = np.searchsorted(np.asarray(edges, dtype=np.float64), np.asarray(values), side="right")
    samples = np.bincount(states, minlength=len(edges) + 1)
    begins = np.concatenate(([True], states[1:] != states[:-1])) if states.size else np.empty(0, dtype=np.bool_)
    stays = np.bincount(states[begins], minlength=len(edges) + 1)
    return [n / runs if runs else None for n, runs in zip(samples.tolist(), stays.tolist(), strict=True)]
