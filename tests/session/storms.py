"""A minute and a half of a busy machine, made up: all that may disturb happens, and spikes come when a test says.

Redraws come by their clock, the rest at random; what is told of it comes as late as it does in life.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hettop import events
from hettop.events import AnyEvent
from hettop.session import causes
from hettop.session.session import Session
from tests.streams import MS, S, window

SECONDS = 90
LATENCY_NS = 20 * MS
FLUSH_MS = 50
Times = list[int]
"""Milliseconds."""


class Storm:
    """When everything happened, drawn by lot. `at` maps a cause to the moments in ms at which it was present."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        end = SECONDS * 1000
        self.rng = rng
        self.at: dict[int, Times] = {
            causes.REDRAW: [int(t + rng.integers(0, 40)) for t in range(int(rng.integers(0, 250)), end, 250)],
            causes.POWER: [t + int(rng.integers(0, 10)) for t in range(int(rng.integers(500, 1000)), end, 500)],
            causes.LOAD: self._some(12, end),
            causes.CLOCK: self._some(12, end),
            causes.CANARY: self._some(12, end),
            causes.COLLECTION: self._some(12, end),
            causes.MAJOR: self._some(10, end),
            causes.MINOR: self._some(300, end),
            causes.SWITCH: self._some(120, end),
        }

    def _some(self, n: int, end: int) -> Times:
        return sorted(self.rng.integers(2_000, end, n).tolist())

    def random_spikes(self, n: int) -> Times:
        return self._some(n, SECONDS * 1000)

    def spikes_of(self, cause: int, share: float, most: int = 40) -> Times:
        """At so many of the moments of a cause, a little later than it began."""
        moments = [t for t in self.at[cause] if self.rng.random() < share]
        kept = self.rng.permutation(moments)[:most].tolist()
        return sorted(int(t + self.rng.integers(1, 15)) for t in kept)

    def events(self, spikes: Times, slow_ns: tuple[int, int] = (35 * MS, 45 * MS)) -> Iterator[AnyEvent]:
        """All of it, in the order of reports; the samples under way at `spikes` took between `slow_ns`."""
        told: list[AnyEvent] = [*self._samples(spikes, slow_ns), *self._machine(), *self._usage()]
        yield from sorted(told, key=lambda event: event.t)

    def _samples(self, spikes: Times, slow_ns: tuple[int, int]) -> Iterator[AnyEvent]:
        calm = (LATENCY_NS * np.exp(self.rng.normal(0, 0.03, SECONDS * S // LATENCY_NS))).astype(int).tolist()
        due = [2 * SECONDS * S, *(t * MS for t in reversed(spikes))]
        t = t0 = 0
        latencies: list[int] = []
        for usual in calm:
            taken = usual
            if due[-1] < t + usual:
                taken = int(self.rng.integers(*slow_ns))
                while due[-1] < t + taken:
                    due.pop()
            latencies.append(taken)
            t += taken + 1_000
            if t > t0 + 840 * MS:
                yield window(latencies, t0=t0, t=t + 100 * MS)
                t0, latencies = t, []
            if t >= SECONDS * S:
                break

    def _machine(self) -> Iterator[AnyEvent]:
        for begin in range(0, SECONDS * 1000, 2_000):
            drawn = [(t, t + 25) for t in self.at[causes.REDRAW] if begin <= t < begin + 2_000]
            t = (begin + 3_000) * MS
            yield events.Frame(t=t, redraws=len(drawn), total_ns=len(drawn) * 25 * MS, worst_ns=25 * MS, spans=drawn)
        mhz = 3000.0
        for before, t in zip(self.at[causes.POWER], self.at[causes.POWER][1:], strict=False):
            if any(before <= changed < t for changed in self.at[causes.CLOCK]):
                mhz = 5000.0 - mhz
            clusters = [events.Cluster(name="P", mhz=mhz)]
            yield events.Power(t=t * MS, source="made up", elapsed_ns=(t - before) * MS, clusters=clusters)
        for t in self.at[causes.LOAD]:
            yield events.Load(t=t * MS, what="cpu", state="changed", condition="none")
        for begin in range(0, SECONDS * 1000, 1_000):
            missed = sum(begin <= t < begin + 1_000 for t in self.at[causes.CANARY])
            yield events.Canary(t=(begin + 1_000) * MS, due=60, missed=missed, worst_ns=MS)

    def _usage(self) -> Iterator[AnyEvent]:
        charged: dict[int, int] = {}
        for cause, bit in causes.OF_ENGINE.items():
            for t in self.at[cause]:
                charged[t // FLUSH_MS] = charged.get(t // FLUSH_MS, 0) | bit
        for begin in range(0, SECONDS * 1000, 17 * FLUSH_MS):
            flushes = [flush for flush in range(begin // FLUSH_MS, begin // FLUSH_MS + 17) if flush in charged]
            spans = [(flush * FLUSH_MS, (flush + 1) * FLUSH_MS, charged[flush]) for flush in flushes]
            yield events.Usage(t=(begin + 17 * FLUSH_MS + 100) * MS, unit="CPU_ONLY", minor_faults=1, spans=spans)


def folded(told: Iterator[AnyEvent]) -> Session:
    session = Session()
    for event in told:
        session.fold(event)
    return session
