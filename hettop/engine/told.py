"""Makes events of what an engine process reports of itself; `t` is still 0.

Knows reports and events, and nothing of processes. Text that came from a framework is cleaned here.
"""

from __future__ import annotations

from hettop import events
from hettop.engine.frames import ReadyReport, StateReport, UsageReport
from hettop.engine.recycling import Succession
from hettop.text import clean


def ready_event(unit: str, report: ReadyReport, succession: Succession) -> events.Engine:
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
        note=clean(report.note) or None,
        pid=report.pid,
        inputs=[clean(text) for text in report.inputs],
        peak_memory_mb=succession.peak_memory_mb(report.peak_memory_mb),
    )


def state_event(unit: str, report: StateReport, succession: Succession) -> events.Engine:
    peak_mb, unfinished = report.peak_memory_mb, report.unfinished
    return events.Engine(
        t=0,
        unit=unit,
        state=report.state,
        unfinished=None if unfinished is None else succession.unfinished(unfinished),
        peak_memory_mb=None if peak_mb is None else succession.peak_memory_mb(peak_mb),
    )


def usage_events(unit: str, report: UsageReport) -> list[events.Usage]:
    """None for a report that tells of memory alone."""
    event = events.Usage(
        t=0,
        unit=unit,
        minor_faults=report.minor_faults,
        major_faults=report.major_faults,
        voluntary_switches=report.voluntary_switches,
        involuntary_switches=report.involuntary_switches,
        collections=report.collections,
    )
    charged = event.minor_faults or event.major_faults or event.involuntary_switches or event.collections
    return [event] if charged else []
