"""A source that does as it is asked, for the tests of what reads it."""

from __future__ import annotations

import queue
from collections.abc import Callable, Generator, Mapping

from hettop.sources.power.choice import Choice
from hettop.sources.power.sample import PowerSample, make_sample
from hettop.sources.power.source import Availability, PowerSource

STOP = object()


def sample(elapsed_ns: int | None = 500_000_000, cpu: float = 1000.0) -> PowerSample:
    return make_sample("scripted", elapsed_ns, {"cpu": cpu})


class ScriptedSource:
    """Gives what is put into it: samples, exceptions to raise, None for the end; functions are called in between.

    `runs` counts its starts.
    """

    def __init__(self, name: str = "scripted", granted_ns: int | None = 500_000_000) -> None:
        self.name = name
        self.note = ""
        self.resolution_mj: float | None = 1.0
        self.runs = 0
        self.stops = 0
        self.available = Availability(True)
        self._granted_ns = granted_ns
        self._script: queue.Queue[object] = queue.Queue()

    def will(self, *steps: PowerSample | Exception | Callable[[], object] | None) -> None:
        for step in steps:
            self._script.put(step)

    def granted_ns(self, asked_ns: int) -> int | None:
        return self._granted_ns

    def probe(self) -> Availability:
        return self.available

    def samples(self, interval_ns: int) -> Generator[PowerSample, None, None]:
        self.runs += 1
        while (step := self._script.get()) not in (None, STOP):
            if isinstance(step, Exception):
                raise step
            if callable(step):
                step()
                continue
            assert isinstance(step, PowerSample)
            yield step

    def stop(self) -> None:
        self.stops += 1
        self._script.put(STOP)


class Chooses:
    """Chooses the first of these sources that is not known to fail, and counts how often it was asked."""

    def __init__(self, *sources: PowerSource) -> None:
        self.sources = sources
        self.asked = 0

    def __call__(self, known: Mapping[str, Availability]) -> Choice:
        self.asked += 1
        refused = {name: there.reason for name, there in known.items()}
        for source in self.sources:
            if source.name in known:
                continue
            found = source.probe()
            if found.ok:
                return Choice(source, refused, source.name)
            refused[source.name] = found.reason
        return Choice(None, refused, reason="nothing works here", fix="buy a Mac")
