"""Makes events of the samples and reports of an engine process; `t` is still 0.

Samples are checked and texts of frameworks are cleaned here, and not again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hettop import events
from hettop.events import NO_LOAD, WINDOW_LIMIT, Samples
from hettop.sources.engine.frames import (
    AnswerReport,
    BrokenStreamError,
    Column,
    ReadyReport,
    SampleFrame,
    StateReport,
    UsageReport,
)
from hettop.sources.engine.handover import WorkerHandover
from hettop.text import clean
from hettop.units import NS_PER_MS


class Doubts:
    """Native times of one unit that were not believed: said at the first of them, with their number at each rest."""

    def __init__(self) -> None:
        self._n = 0
        self._told = 0

    def add(self, n: int) -> bool:
        """Takes in `n` more; returns whether they are the first, which is to be reported at once."""
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
        provider_nodes=report.provider_nodes,
        note=doubts.note(report.note, counted=False),
        pid=report.pid,
        inputs=[clean(text) for text in report.inputs],
        peak_memory_mb=handover.peak_memory_mb(report.peak_memory_mb),
    )


def state_event(unit: str, report: StateReport, handover: WorkerHandover, origin_ns: int) -> events.Engine:
    peak_mb, unfinished = report.peak_memory_mb, report.unfinished
    return events.Engine(
        t=0,
        unit=unit,
        state=report.state,
        entered_ns=None if report.at_ns is None else max(0, report.at_ns - origin_ns),
        unfinished=None if unfinished is None else handover.unfinished(unfinished),
        peak_memory_mb=None if peak_mb is None else handover.peak_memory_mb(peak_mb),
    )


def usage_events(unit: str, report: UsageReport, origin_ns: int) -> list[events.Usage]:
    """None for a report of memory only."""
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


MOST_AHEAD_NS = 10**9
"""No sample ends after it arrived; a simulated clock may run a little ahead of the machine's."""

RECENT = 64
"""Latest latencies, from which the usual latency is derived; the same number as in the sampling loop."""


class SampleEvents:
    """The samples of one unit. steady: how many of them were. largest_ns: the longest one, first calls apart."""

    def __init__(self, unit: str, *, origin_ns: int, loads: LoadHistory, now: Callable[[], int]) -> None:
        """`now` is the clock that samples are taken with."""
        self.steady = 0
        self.largest_ns = 0
        self._unit = unit
        self._origin_ns = origin_ns
        self._loads = loads
        self._now = now
        self._recent: deque[int] = deque(maxlen=RECENT)
        self._previous_end: int | None = None

    def usual_ns(self) -> int | None:
        """P90 of the latest latencies, None when there are none yet."""
        ranked = sorted(self._recent)
        return ranked[len(ranked) * 9 // 10] if ranked else None

    def interrupted(self) -> None:
        """The next sample does not follow the last one that is known."""
        self._previous_end = None

    def take(self, frame: SampleFrame) -> list[events.Samples]:
        """The events of a frame, with `t` still 0. Raises BrokenStreamError for numbers that cannot be right.

        No sample is checked again: what passes here is folded, recorded and read back.
        """
        _check("latency", frame.latency, 0, events.LATENCY_LIMIT_NS)
        _check("native time", frame.native, 0, events.LATENCY_LIMIT_NS)
        _check("lateness", frame.late, 0, events.LATENESS_LIMIT_NS)
        _check("start", frame.start, self._origin_ns, self._origin_ns + events.LARGEST_EXACT - events.LATENCY_LIMIT_NS)
        if (frame.start[1:] < frame.start[:-1]).any():
            raise BrokenStreamError("a sample that starts before the previous one")
        if int(frame.start[-1] + frame.latency[-1]) > self._now() + MOST_AHEAD_NS:
            raise BrokenStreamError("a sample that ends after its arrival")
        windows = list(
            to_events(
                frame,
                t=0,
                unit=self._unit,
                origin_ns=self._origin_ns,
                previous_end=self._previous_end,
                loads=self._loads,
            )
        )
        self.steady += sum(window.n for window in windows if window.phase == "steady")
        self._previous_end = int(frame.start[-1] + frame.latency[-1])
        if frame.phase != "first":  # which gives no information about what is usual
            self._recent.extend(frame.latency[-RECENT:].tolist())
            self.largest_ns = max(self.largest_ns, int(frame.latency.max()))
        return windows


def _check(name: str, column: Column | None, lowest: int, highest: int) -> None:
    if column is None:
        return
    least, most = int(column.min()), int(column.max())
    if least < lowest or most > highest:
        raise BrokenStreamError(f"a {name} of {least if least < lowest else most} ns")


REMEMBERED = 1000
"""Changes of load are made by hand or by a schedule of seconds, and frames arrive within seconds."""


@dataclass(frozen=True, slots=True)
class _Change:
    since: int
    condition: str
    confirmed: bool


class LoadHistory:
    """The competing load over time, in nanoseconds of the samples' clock. Changes are reported in order."""

    def __init__(self) -> None:
        self._changes: deque[_Change] = deque([_Change(0, NO_LOAD, True)], maxlen=REMEMBERED)

    @property
    def condition(self) -> str:
        """The active load."""
        return self._changes[-1].condition

    def change(self, now: int, condition: str, confirmed: bool) -> None:
        self._changes.append(_Change(now, condition, confirmed))

    def split(self, starts: Column) -> Iterator[tuple[slice, str, bool]]:
        """Cuts ascending `starts` where the load changed; yields where, the condition, and whether it was confirmed."""
        bounds = np.searchsorted(starts, [change.since for change in self._changes])
        bounds[0] = 0  # what began before all that is remembered was under the oldest of it
        ends = [*bounds[1:].tolist(), len(starts)]
        for change, begin, end in zip(self._changes, bounds.tolist(), ends, strict=True):
            if begin < end:
                yield slice(begin, end), change.condition, change.confirmed


def to_events(
    frame: SampleFrame, *, t: int, unit: str, origin_ns: int, previous_end: int | None, loads: LoadHistory
) -> Iterator[Samples]:
    """The events of one frame, committed at `t`. `previous_end` is where this unit's last sample ended, if known."""
    gaps = np.empty_like(frame.start)
    gaps[0] = 0 if previous_end is None else frame.start[0] - previous_end
    gaps[1:] = frame.start[1:] - (frame.start[:-1] + frame.latency[:-1])
    for part, condition, confirmed in loads.split(frame.start):
        for begin in range(part.start, part.stop, WINDOW_LIMIT):
            piece = slice(begin, min(begin + WINDOW_LIMIT, part.stop))
            yield Samples(
                t=t,
                unit=unit,
                condition=condition,
                phase="transition" if frame.phase == "steady" and not confirmed else frame.phase,
                t0=max(0, int(frame.start[begin]) - origin_ns),
                n=piece.stop - piece.start,
                gap_ns=gaps[piece],
                lat_ns=frame.latency[piece],
                native_ns=None if frame.native is None else frame.native[piece],
                late_ns=None if frame.late is None else frame.late[piece],
                answer=frame.answer,
                position=None if frame.position is None else frame.position + begin,
            )


def answer_event(unit: str, report: AnswerReport, *, origin_ns: int, loads: LoadHistory) -> events.Answer:
    """The event of an answer, with `t` still 0. Raises BrokenStreamError for times that cannot be right."""
    start, end = report.start_ns - origin_ns, report.end_ns - origin_ns
    if not 0 <= start <= end <= events.LARGEST_EXACT or not 0 <= (report.first_ns or 0) <= end - start:
        raise BrokenStreamError(f"an answer from {start} to {end} ns")
    ((_, condition, confirmed),) = loads.split(np.array([report.start_ns]))
    return events.Answer(
        t=0,
        unit=unit,
        condition=condition,
        phase="transition" if report.phase == "steady" and not confirmed else report.phase,
        answer=report.answer,
        t0=start,
        end_ns=end,
        chunks=report.chunks,
        several=report.several,
        gaps_counted=report.gaps_counted,
        tokens=report.tokens,
        prompt_tokens=report.prompt_tokens,
        cached_tokens=report.cached_tokens,
        first_ns=report.first_ns,
        late_ns=report.late_ns,
        longest_ns=report.longest_ns,
        finish=clean(report.finish),
        error=clean(report.error, events.TEXT_LIMIT) or None,
    )
