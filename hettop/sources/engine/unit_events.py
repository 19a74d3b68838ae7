"""Makes events of what an engine process reports of itself; `t` is still 0.

Knows reports and events, and nothing of processes. Text that came from a framework is cleaned here.
"""

from __future__ import annotations

from collections.abc import Sequence

from hettop import events
from hettop.sources.engine.frames import ReadyReport, StateReport, UsageReport
from hettop.sources.engine.watchdog import WorkerHandover
from hettop.text import clean
from hettop.units import NS_PER_MS


class Doubts:
    """Native times of one unit that were not believed: said at the first of them, with their number at each rest."""

    def __init__(self) -> None:
        self._n = 0
        self._told = 0

    def add(self, n: int) -> bool:
        """Takes in `n` more; returns whether they are the first, which is to be told at once."""
        self._n += n
        return self._n == n

    @property
    def news(self) -> bool:
        """Whether there were more since `note` was asked last."""
        return self._n > self._told

    def note(self, other: str, *, counted: bool, warnings: Sequence[str] = ()) -> str | None:
        """The unit's note, with what else there is to say of it; the first of many are not counted yet.

        warnings: of its log; they come first, as the note is cut where an event ends.
        """
        said = _counted(self._n) if counted else "native times longer than the call, or negative, are not used"
        said = said if self._n else ""
        self._told = self._n
        return " · ".join(part for part in (*warnings, said, clean(other)) if part)[: events.TEXT_LIMIT] or None


def _counted(n: int) -> str:
    times = "1 native time was" if n == 1 else f"{n:,} native times were"
    return f"{times} longer than the call, or negative: not used"


def ready_event(unit: str, report: ReadyReport, handover: WorkerHandover, doubts: Doubts) -> events.Engine:
    return events.Engine(
        t=0,
        unit=unit,
        state="warming",
        backend=clean(report.backend),
        load_ns=report.load_ns,
        first_ns=report.first_ns,
        compile_ns=report.compile_ns,
        cached=report.cached,
        qos=report.qos,
        placed=None if report.placed is None else clean(report.placed),
        note=doubts.note(report.note, counted=False),
        pid=report.pid,
        inputs=[clean(text) for text in report.inputs],
        peak_memory_mb=handover.peak_memory_mb(report.peak_memory_mb),
    )


def state_event(unit: str, report: StateReport, handover: WorkerHandover) -> events.Engine:
    peak_mb, unfinished = report.peak_memory_mb, report.unfinished
    return events.Engine(
        t=0,
        unit=unit,
        state=report.state,
        unfinished=None if unfinished is None else handover.unfinished(unfinished),
        peak_memory_mb=None if peak_mb is None else handover.peak_memory_mb(peak_mb),
    )


def usage_events(unit: str, report: UsageReport, origin_ns: int) -> list[events.Usage]:
    """None for a report that tells of memory alone."""
    event = events.Usage(
        t=0,
        unit=unit,
        minor_faults=report.minor_faults,
        major_faults=report.major_faults,
        voluntary_switches=report.voluntary_switches,
        involuntary_switches=report.involuntary_switches,
        collections=report.collections,
        spans=_spans(report, origin_ns),
    )
    return [event] if _charges(report) else []


def _charges(report: UsageReport) -> int:
    """What disturbs, as bits."""
    return (
        (events.COLLECTED if report.collections else 0)
        + (events.FAULTED_MAJOR if report.major_faults else 0)
        + (events.FAULTED_MINOR if report.minor_faults else 0)
        + (events.SWITCHED if report.involuntary_switches else 0)
    )


def _spans(report: UsageReport, origin_ns: int) -> list[tuple[int, int, int]]:
    if report.since_ns is None or report.until_ns is None or not (charged := _charges(report)):
        return []
    start, end = (max(0, moment - origin_ns) // NS_PER_MS for moment in (report.since_ns, report.until_ns))
    return [(start, end, charged)]
