"""What a replay shows of the whole recording beside the moment it stands at: bands over time, a selection, spikes.

Pure data, which the screen imports before anything heavy is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Band:
    """The steady samples of a stretch of time, of the unit that has most of them there; `n` of them."""

    unit: str
    n: int
    p50_ms: float
    p90_ms: float
    max_ms: float


@dataclass(frozen=True, slots=True)
class SpikeMoment:
    """A moment at which spikes were committed: the slowest of them, and of which unit."""

    t: int
    unit: str
    latency_ms: float


@dataclass(frozen=True, slots=True)
class SelectedUnit:
    """One unit's steady samples that ended within a selection, whatever the load.

    `exact`: the quantiles are numpy's linear on raw samples, else within the histogram's 0.4 %. `spikes` is None
    where there was no fence yet.
    """

    unit: str
    n: int
    p50_ms: float
    p90_ms: float
    max_ms: float
    spikes: int | None
    exact: bool


@dataclass(frozen=True, slots=True)
class Selection:
    """A part of a recording between two moments (ns); one that is not set yet is None.

    looping: whether the replay goes round in it. `share` of it has been read, 0..1: until then there are no `units`.
    """

    start_ns: int | None
    end_ns: int | None
    looping: bool = False
    share: float = 0.0
    units: tuple[SelectedUnit, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether both ends are set."""
        return self.start_ns is not None and self.end_ns is not None
