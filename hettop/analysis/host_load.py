"""What the machine was like while each unit ran under each load: gathered while a recording is folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hettop.events import AnyEvent, Control, HostLoad, Samples

LONGEST_REPORT_NS = 10 * 10**9
"""Longest time between two reports (one every five seconds) that is not a gap."""

LEAST_NS = 10**9
"""Share of a unit's running time that reports must cover."""

JOINED_NS = 10**9
"""Windows this near to each other are one stretch."""

SATURATED = 0.9

MOST_REPORTS = 100_000
MOST_STRETCHES = 100_000
"""Of a session: days of them. More are in no recording that hettop made."""


@dataclass(frozen=True, slots=True)
class Meanwhile:
    """Means over the time that a unit ran: cores that were busy, by whatever, of how many; memory in use, 0..100."""

    busy_cores: float
    cores: int
    memory_percent: float | None

    @property
    def saturated(self) -> bool:
        """Whether no core was idle, so that the demand beyond is unknown."""
        return self.busy_cores >= SATURATED * self.cores


@dataclass(frozen=True, slots=True)
class _Report:
    begin: int
    end: int
    busy_cores: float
    cores: int
    memory_percent: float | None


class Surroundings:
    """Gathers the reports of the host, and when which unit ran under which load."""

    def __init__(self) -> None:
        self._reports: list[_Report] = []
        self._last_t: int | None = None
        self._ran: dict[tuple[str, str], list[list[int]]] = {}
        self._stretches = 0

    def add(self, event: AnyEvent) -> None:
        match event:
            case HostLoad():
                self._report(event)
            case Control(action="reset"):
                self._ran.clear()
                self._stretches = 0
            case Samples(phase="steady"):
                self._add_window(event)

    def _report(self, event: HostLoad) -> None:
        since, self._last_t = self._last_t, event.t
        if not event.cpu_percent or len(self._reports) >= MOST_REPORTS:
            return
        begin = max(0, event.t - LONGEST_REPORT_NS) if since is None else max(since, event.t - LONGEST_REPORT_NS)
        busy = sum(event.cpu_percent) / 100
        self._reports.append(_Report(begin, event.t, busy, len(event.cpu_percent), event.memory_percent))

    def _add_window(self, window: Samples) -> None:
        begin, end = window.t0, int(window.starts_ns()[-1] + window.lat_ns[-1])
        stretches = self._ran.setdefault((window.unit, window.condition), [])
        if stretches and 0 <= begin - stretches[-1][1] <= JOINED_NS:
            stretches[-1][1] = end
        elif self._stretches < MOST_STRETCHES:
            stretches.append([begin, end])
            self._stretches += 1

    def of(self, unit: str, load: str) -> Meanwhile | None:
        """What the machine was like while this unit ran under this load; None where too little was reported."""
        stretches = sorted(self._ran.get((unit, load), ()))
        weighed = [(report, weight) for report, weight in self._overlaps(stretches) if weight]
        total = sum(weight for _, weight in weighed)
        if total < LEAST_NS:
            return None
        memory = [(report.memory_percent, w) for report, w in weighed if report.memory_percent is not None]
        return Meanwhile(
            busy_cores=_mean([(report.busy_cores, weight) for report, weight in weighed]),
            cores=max(report.cores for report, _ in weighed),
            memory_percent=_mean(memory) if memory else None,
        )

    def _overlaps(self, stretches: Sequence[Sequence[int]]) -> list[tuple[_Report, int]]:
        """Each report, with how much of its time lies within the stretches; both are in order."""
        found, first = [], 0
        for report in self._reports:
            while first < len(stretches) and stretches[first][1] <= report.begin:
                first += 1
            covered, index = 0, first
            while index < len(stretches) and stretches[index][0] < report.end:
                begin, end = stretches[index]
                covered += max(0, min(end, report.end) - max(begin, report.begin))
                index += 1
            found.append((report, covered))
        return found


def _mean(weighed: Sequence[tuple[float, int]]) -> float:
    return sum(value * weight for value, weight in weighed) / sum(weight for _, weight in weighed)
