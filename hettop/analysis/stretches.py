"""Steady samples of a recording in order of arrival, in bounded memory however long it is.

Knows events and nothing of files; statistics of all samples are the session's, these are for what needs their order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hettop.events import AnyEvent, Column, Control, Samples
from hettop.session.condition import ConditionKey
from hettop.session.session import MOST_CONDITIONS

MOST_SAMPLES = 100_000
"""Of a condition; 2.4 MB with all three series."""

STRETCH = 500
"""Consecutive samples that are kept or left out together: far longer than latencies stay correlated."""


@dataclass(slots=True)
class SampleReservoir:
    """One condition's samples, in ns: all of them, or evenly spaced stretches. `seen` counts those there were.

    `native` and `response` are None unless every stretch has them.
    """

    seen: int = 0
    _every: int = 1
    _held: int = 0
    _arrived: int = 0
    _stretches: list[tuple[Column, Column | None, Column | None]] = field(default_factory=list)

    def add(self, window: Samples) -> None:
        response = None if window.late_ns is None else window.lat_ns + np.maximum(window.late_ns, 0)
        self.seen += window.n
        for begin in range(0, window.n, STRETCH):
            part = slice(begin, begin + STRETCH)
            if self._arrived % self._every == 0:
                native = None if window.native_ns is None else window.native_ns[part]
                self._held += len(window.lat_ns[part])
                self._stretches.append((window.lat_ns[part], native, None if response is None else response[part]))
            self._arrived += 1
        while self._held > MOST_SAMPLES:
            self._stretches = self._stretches[::2]
            self._held = sum(len(wall) for wall, _, _ in self._stretches)
            self._every *= 2

    def column(self, name: str) -> Column | None:
        """`wall`, `native` or `response` in order of arrival."""
        index = ("wall", "native", "response").index(name)
        columns = [stretch[index] for stretch in self._stretches]
        present = [column for column in columns if column is not None]
        return np.concatenate(present) if present and len(present) == len(columns) else None


class Stretches:
    """Gathers the steady samples of every condition while a recording is folded."""

    def __init__(self) -> None:
        self._kept: dict[ConditionKey, SampleReservoir] = {}

    def add(self, event: AnyEvent) -> None:
        match event:
            case Control(action="reset"):
                self._kept.clear()
            case Samples(phase="steady"):
                key = ConditionKey(event.unit, event.condition, event.thermal)
                if key in self._kept or len(self._kept) < MOST_CONDITIONS:
                    self._kept.setdefault(key, SampleReservoir()).add(event)

    def column(self, key: ConditionKey, name: str) -> Column | None:
        """One series of a condition; None when there is none. See `SampleReservoir.column`."""
        kept = self._kept.get(key)
        return None if kept is None else kept.column(name)
