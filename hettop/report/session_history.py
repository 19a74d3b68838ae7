"""The history of a whole session in a few hundred slots of time: latency of each unit, power, and what happened.

One pass, in bounded memory, however long the session is: when it outgrows its slots, they are joined in pairs and
last twice as long.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hettop.events import NO_LOAD, AnyEvent, Column, Control, Dropped, Engine, Load, Mark, Power, Samples

SLOTS = 240
FIRST_SLOT_NS = 10**8
KEPT = 512
"""Latencies kept of a slot, evenly spaced, for its P50 and P90; the maximum is of all."""

UNITS_DRAWN = 16
RAILS_DRAWN = 8
HAPPENINGS_KEPT = 200


@dataclass(slots=True)
class Slot:
    """The steady samples of one unit that ended in one stretch of time."""

    n: int = 0
    max_ns: int = 0
    _every: int = 1
    _kept: Column = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def add(self, latencies: Column) -> None:
        self._kept = np.concatenate((self._kept, latencies[-self.n % self._every :: self._every]))
        self.n += len(latencies)
        self.max_ns = max(self.max_ns, int(latencies.max()))
        self._thin(1)

    def join(self, later: Slot) -> None:
        """Take in the slot that follows."""
        self._thin(later._every)
        later._thin(self._every)
        self._kept = np.concatenate((self._kept, later._kept))
        self.n += later.n
        self.max_ns = max(self.max_ns, later.max_ns)
        self._thin(1)

    def quantiles(self) -> tuple[float, float]:
        """P50 and P90 in ns."""
        p50, p90 = np.quantile(self._kept, (0.5, 0.9)).tolist()
        return p50, p90

    def _thin(self, every: int) -> None:
        while self._every < every or len(self._kept) > KEPT:
            self._kept = self._kept[::2]
            self._every *= 2


@dataclass(slots=True)
class Mean:
    """A mean over time."""

    sum: float = 0.0
    weight: float = 0.0

    def add(self, value: float, weight: float) -> None:
        self.sum += value * weight
        self.weight += weight

    @property
    def value(self) -> float | None:
        return self.sum / self.weight if self.weight else None


@dataclass(frozen=True, slots=True)
class Happening:
    """Something worth a line below the picture: its moment, kind of event and text."""

    t: int
    kind: str
    text: str


class SessionHistory:
    """Grows event by event."""

    def __init__(self) -> None:
        self.slot_ns = FIRST_SLOT_NS
        self.units: dict[str, dict[int, Slot]] = {}
        self.rails: dict[str, dict[int, Mean]] = {}
        self.happenings: list[Happening] = []
        self.more_happened = 0
        self.not_drawn: set[str] = set()
        self.end_ns = 0
        self._load = NO_LOAD

    def add(self, event: AnyEvent) -> None:
        self.end_ns = max(self.end_ns, event.t)
        match event:
            case Samples(phase="steady"):
                self._add_samples(event)
            case Power():
                self._add_power(event)
            case Mark(text=text):
                self._happened(event.t, "mark", text or "mark")
            case Control():
                self._happened(event.t, "control", " ".join((event.action, *event.units)))
            case Load(condition=condition) if condition != self._load:
                self._load = condition
                simulated = " (simulated)" if event.simulated else ""
                self._happened(event.t, "load", f"load {condition}{simulated}")
            case Engine(error=error) if error is not None:
                self._happened(event.t, "failed", f"{event.unit} failed: {error.message}")
            case Dropped():
                self._happened(event.t, "dropped", f"{event.n} samples dropped: {event.why}")

    def _add_samples(self, window: Samples) -> None:
        if window.unit not in self.units:
            if len(self.units) >= UNITS_DRAWN:
                self.not_drawn.add(window.unit)
                return
            self.units[window.unit] = {}
        ends = window.starts_ns() + window.lat_ns
        self._make_room(int(ends[-1]))
        slots = self.units[window.unit]
        places = ends // self.slot_ns
        begins = np.flatnonzero(np.diff(places, prepend=places[0] - 1))
        for place, part in zip(places[begins].tolist(), np.split(window.lat_ns, begins[1:]), strict=True):
            slots.setdefault(place, Slot()).add(part)

    def _add_power(self, event: Power) -> None:
        self._make_room(event.t)
        start = max(0, event.t - event.elapsed_ns)
        for rail, mw in event.mw.items():
            if mw is None or (rail not in self.rails and len(self.rails) >= RAILS_DRAWN):
                continue
            means = self.rails.setdefault(rail, {})
            for place in range(start // self.slot_ns, -(-event.t // self.slot_ns)):
                begin = place * self.slot_ns
                overlap = min(begin + self.slot_ns, event.t) - max(begin, start)
                means.setdefault(place, Mean()).add(mw, overlap)

    def _happened(self, t: int, kind: str, text: str) -> None:
        if len(self.happenings) < HAPPENINGS_KEPT:
            self.happenings.append(Happening(t, kind, text))
        else:
            self.more_happened += 1

    def _make_room(self, t: int) -> None:
        while t // self.slot_ns >= SLOTS:
            self.slot_ns *= 2
            self.units = {unit: _joined(slots) for unit, slots in self.units.items()}
            self.rails = {rail: _averaged(means) for rail, means in self.rails.items()}


def _joined(slots: dict[int, Slot]) -> dict[int, Slot]:
    found: dict[int, Slot] = {}
    for place, slot in sorted(slots.items()):
        if place // 2 in found:
            found[place // 2].join(slot)
        else:
            found[place // 2] = slot
    return found


def _averaged(means: dict[int, Mean]) -> dict[int, Mean]:
    found: dict[int, Mean] = {}
    for place, mean in means.items():
        if mean.value is not None:
            found.setdefault(place // 2, Mean()).add(mean.value, mean.weight)
    return found
