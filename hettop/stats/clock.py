"""Whether a machine's clock has become slower, by how long a fixed piece of work takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

REPORTS = 12
"""Times of which a level is made. In an hour of them, one in ten disturbed, eight warn falsely in 8% of sessions."""

LEVEL = 0.25
"""Other work only makes it longer, so a low quantile shows the clock where the median does not yet."""

LEAST_LOSS = 0.05
"""What the levels of undisturbed times differ by is 1%; a throttled clock loses more than this."""


def clock_loss(first: Sequence[int], recent: Sequence[int]) -> float | None:
    """By which share the clock is slower now: 1 - level(first) / level(recent), as time goes with 1 / frequency.

    A level is the lower quartile. `first` and `recent` are times of the same work, at least `REPORTS` each, that do not
    overlap. None while there are fewer. Negative where the clock is faster.
    """
    if len(first) < REPORTS or len(recent) < REPORTS:
        return None
    before, now = float(np.quantile(first, LEVEL)), float(np.quantile(recent, LEVEL))
    return 1.0 - before / now if now > 0 else None


def has_lost(loss: float | None) -> bool:
    """Whether a loss is worth a warning."""
    return loss is not None and loss >= LEAST_LOSS
