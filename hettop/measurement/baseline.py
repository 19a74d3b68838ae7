"""Takes an idle baseline: the mean power of the rails while no inference runs, which net energy is counted above.

Sees power samples and the time; pausing inference and going on is the caller's.
"""

from __future__ import annotations

import math

from hettop.events import Baseline, Power
from hettop.session.rails import NOT_MEASURED

SETTLE_NS = 10**9
"""The last inference's power decays within tens of milliseconds; the rest is for the clock of the power windows."""

ENOUGH = 6
"""Power samples: at 500 ms each, three seconds of rest, in which a passing background task does not decide alone."""

PATIENCE_NS = 30 * 10**9
"""A source that gives no usable sample for this long gives none."""


class BaselineRun:
    """One taking of a baseline, begun at `started_ns` of the session, when inference was told to pause."""

    def __init__(self, started_ns: int, load: str) -> None:
        self._from_ns = started_ns + SETTLE_NS
        self._until_ns = started_ns + PATIENCE_NS
        self._load = load
        self._samples: list[Power] = []

    @property
    def progress(self) -> tuple[int, int]:
        """How many samples there are, of how many."""
        return len(self._samples), ENOUGH

    def expired(self, now_ns: int) -> bool:
        """Whether it has waited in vain."""
        return now_ns > self._until_ns

    def disturbed(self, t: int, load: str) -> None:
        """The machine is not at rest at `t`, or rests under another load: begin again."""
        self._from_ns = t + SETTLE_NS
        self._until_ns = t + PATIENCE_NS
        self._load = load
        self._samples.clear()

    @property
    def load(self) -> str:
        """The competing load under which it is taken."""
        return self._load

    def take(self, sample: Power, now_ns: int) -> Baseline | None:
        """Takes in a power sample; the baseline once there are enough that lie wholly in the rest."""
        if sample.t - sample.elapsed_ns < self._from_ns or NOT_MEASURED & set(sample.flags) or not sample.elapsed_ns:
            return None
        self._samples.append(sample)
        if len(self._samples) < ENOUGH:
            return None
        return Baseline(
            t=now_ns,
            source=sample.source,
            elapsed_ns=sum(each.elapsed_ns for each in self._samples),
            mw={rail: self._mean(rail) for rail in sample.mw},
            n=len(self._samples),
            load=self._load,
        )

    def _mean(self, rail: str) -> float | None:
        """Over time, in mW; None for a rail that was not told in every sample."""
        known = [(each.mw.get(rail), each.elapsed_ns) for each in self._samples]
        if any(value is None for value, _ in known):
            return None
        return math.fsum((value or 0.0) * weight for value, weight in known) / sum(weight for _, weight in known)
