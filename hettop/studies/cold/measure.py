"""Starts each unit again and again, every time in a new process, and reads from its recording what the start took.

Joins nothing itself: each start is a measurement of its own, and no two of them ever run at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from hettop.events import AnyEvent, Dropped, Engine, Failure, Samples
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import LONGEST_WARMUP, MeasureOptions
from hettop.measurement.setup import Setup
from hettop.processes.reaper import Reaper
from hettop.processes.scratch import scratch_folder
from hettop.record.defects import Report
from hettop.record.reader import open_recording, read_events
from hettop.session.session import RAW_LIMIT, Session
from hettop.sources.engine.watchdog import Timeouts
from hettop.stats.resampling import SEED
from hettop.stats.steady import steady_at
from hettop.studies.cold.break_even import Starts, break_evens
from hettop.studies.cold.result import ColdResult, ColdRow, Spread
from hettop.units import NS_PER_MS

SCRATCH = "hettop-cold-"
STEADY_NS = 500_000_000
LEAST_STEADY = 20
"""Calls once steady that are taken even if half a second is over."""


@dataclass(frozen=True, slots=True)
class Start:
    """One start. Times in ns; None where the backend does not report one, or where the start got no further."""

    unit: str
    cached: bool | None = None
    start_ns: int | None = None
    compile_ns: int | None = None
    load_ns: int | None = None
    first_ns: int | None = None
    ready_ns: int | None = None
    steady_ns: int | None = None
    warmups: int | None = None
    call_ns: float | None = None
    error: Failure | None = None

    @property
    def complete(self) -> bool:
        return self.error is None and self.ready_ns is not None and self.call_ns is not None

    @property
    def other_ns(self) -> int | None:
        """What no other part has of the time to the first answer: imports of the framework, making the inputs."""
        parts = (self.start_ns, self.load_ns, self.first_ns)
        if self.ready_ns is None or None in parts:
            return None
        rest = self.ready_ns - sum(filter(None, (*parts, self.compile_ns)))
        return rest if rest >= 0 else None


@dataclass(slots=True)
class _Seen:
    """The events of one start so far."""

    loading_at: int | None = None
    engine: dict[str, int | bool] = field(default_factory=dict)
    error: Failure | None = None
    first_end: int | None = None
    first_ns: int | None = None
    warmup_starts: list[int] = field(default_factory=list)
    warmup_ns: list[int] = field(default_factory=list)
    steady_ns: list[int] = field(default_factory=list)
    dropped: bool = False


REPORTED = ("load_ns", "compile_ns", "cached")


def start_of(unit: str, began_ns: int, events: Iterable[AnyEvent]) -> Start:
    """The start of a unit whose process was started at `began_ns` of the session that these events are of."""
    seen = _Seen()
    for event in events:
        match event:
            case Engine(state="spawning") if event.unit == unit and seen.first_end is not None:
                break  # another process goes on where the first one retired
            case Engine() if event.unit == unit:
                _see_engine(seen, event)
            case Samples() if event.unit == unit:
                _see_samples(seen, event)
            case Dropped():
                seen.dropped = True
    ready = None if seen.first_end is None else seen.first_end - began_ns
    warmups = None if seen.dropped else steady_at(seen.warmup_ns)
    return Start(
        unit,
        start_ns=None if seen.loading_at is None else seen.loading_at - began_ns,
        first_ns=seen.first_ns,
        ready_ns=ready,
        steady_ns=None if ready is None or warmups is None else ready + _until(seen, warmups),
        warmups=warmups,
        call_ns=float(np.median(seen.steady_ns)) if seen.steady_ns else None,
        error=seen.error,
        **seen.engine,  # type: ignore[arg-type]
    )


def _see_engine(seen: _Seen, event: Engine) -> None:
    if event.state in ("loading", "compiling") and seen.loading_at is None:
        seen.loading_at = event.t if event.entered_ns is None else event.entered_ns
    seen.engine |= {name: value for name in REPORTED if (value := getattr(event, name)) is not None}
    seen.error = event.error or seen.error


def _see_samples(seen: _Seen, event: Samples) -> None:
    if event.phase == "first":
        seen.first_ns = int(event.lat_ns[0])
        seen.first_end = event.t0 + seen.first_ns
    elif event.phase == "warmup":
        seen.warmup_starts += event.starts_ns().tolist()
        seen.warmup_ns += event.lat_ns.tolist()
    elif event.phase == "steady":
        seen.steady_ns += event.lat_ns.tolist()


def _until(seen: _Seen, warmups: int) -> int:
    """From the first warm-up call to the end of the last one; what hettop asks before, to compare answers, is out."""
    last = warmups - 1
    return seen.warmup_starts[last] + seen.warmup_ns[last] - seen.warmup_starts[0]


class ColdStarts:
    """Pump it until it is `finished`, then close it; `starts` has what each start gave, in the order of the starts.

    Units take turns. One that fails is not started again. `session`: the latest there was.
    """

    def __init__(self, setup: Setup, repeat: int, *, timeouts: Timeouts | None = None) -> None:
        self._setup, self._timeouts = setup, timeouts
        self._waiting = deque(unit for _ in range(repeat) for unit in setup.units)
        self._all = len(self._waiting)
        self._running: tuple[str, int, Measurement] | None = None
        self._held = ExitStack()
        self._reaper = Reaper()
        self._held.callback(self._reaper.close)
        self._file = Path(self._held.enter_context(scratch_folder(self._reaper, SCRATCH))) / "start.jsonl"
        self.starts: list[Start] = []
        self.session: Session | None = None

    @property
    def finished(self) -> bool:
        return self._running is None and not self._waiting

    @property
    def between_starts(self) -> bool:
        """Whether nothing runs: the moment for what would disturb a measurement."""
        return self._running is None

    @property
    def doing(self) -> str:
        """Which unit starts now, for which time."""
        if self._running is None:
            return ""
        unit = self._running[0]
        return f"{unit}, start {1 + sum(start.unit == unit for start in self.starts)}"

    @property
    def share_done(self) -> float:
        return 1 - (len(self._waiting) + (self._running is not None)) / self._all if self._all else 1.0

    def pump(self) -> None:
        if self._running is None:
            if self._waiting:
                self._begin(self._waiting.popleft())
            return
        unit, began_ns, measurement = self._running
        measurement.pump()
        if unit in measurement.engine.done or unit in measurement.engine.failures:
            self._end(unit, began_ns, measurement)

    def close(self, why: str) -> None:
        """End everything; may be called at any time, and twice. A start that is not complete does not count."""
        running, self._running = self._running, None
        self._waiting.clear()
        if running is not None:
            running[2].close(why)
        self._held.close()

    def _begin(self, unit: str) -> None:
        options = MeasureOptions(
            warmup=LONGEST_WARMUP,
            until_steady=True,
            duration_ns=STEADY_NS,
            least_runs=LEAST_STEADY,
            power="none",
            record=str(self._file),
            force=True,
        )
        setup = replace(self._setup, units=(unit,))
        measurement = Measurement(
            setup, options, rows=setup.units, raw_limit=RAW_LIMIT, timeouts=self._timeouts, reaper=self._reaper
        )
        self.session = measurement.session
        self._running = unit, measurement.now_ns, measurement
        measurement.switch(unit)

    def _end(self, unit: str, began_ns: int, measurement: Measurement) -> None:
        self._running = None
        measurement.close("the start is measured")
        seen = measurement.session.units.get(unit)
        if seen is not None and (seen.stops or seen.sleeps):
            self._waiting.appendleft(unit)  # its times are not those of a start: once more
            return
        start = start_of(unit, began_ns, _recorded(self._file))
        if not start.complete and start.error is None:
            start = replace(start, error=INCOMPLETE)
        self.starts.append(start)
        if start.error is not None:
            self._waiting = deque(other for other in self._waiting if other != unit)


INCOMPLETE = Failure(
    kind="io", message="the recording of the start is not complete", hint="free disk space in the temporary folder"
)


def _recorded(path: Path) -> Iterator[AnyEvent]:
    file, _ = open_recording(path)
    with file:
        yield from read_events(file, Report())


def cold_result(
    starts: Sequence[Start], *, repeat: int, backend: str, simulated: bool, notes: Sequence[str] = ()
) -> ColdResult:
    """Rows, break-even numbers, and what must be known of them. `backend`: what did not report what is missing."""
    rows = [_row(unit, cached, some) for (unit, cached), some in _by_cache(starts).items()]
    rows.sort(key=lambda row: (row.ready_ms is None, row.ready_ms.median if row.ready_ms else 0.0))
    rng = np.random.default_rng(SEED)
    pairs = [
        pair
        for cached in (None, True, False)
        for pair in break_evens(
            [Starts(row.unit, row.ready_each_ms, row.call_each_ms) for row in rows if row.cached is cached], rng, cached
        )
    ]
    return ColdResult(
        rows=rows,
        break_even=pairs,
        repeat=repeat,
        simulated=simulated,
        notes=[*notes, *_unreported(starts, backend)],
    )


def _by_cache(starts: Iterable[Start]) -> Mapping[tuple[str, bool | None], list[Start]]:
    """A start that failed joins what the unit had last: it may have ended before it could report a cache."""
    found: dict[tuple[str, bool | None], list[Start]] = {}
    latest: dict[str, bool | None] = {}
    for start in starts:
        cached = latest.get(start.unit) if start.error is not None else start.cached
        latest[start.unit] = cached
        found.setdefault((start.unit, cached), []).append(start)
    return found


def _row(unit: str, cached: bool | None, starts: Sequence[Start]) -> ColdRow:
    complete = [start for start in starts if start.complete]
    errors = [start.error for start in starts if start.error is not None]
    return ColdRow(
        unit=unit,
        cached=cached,
        n=len(complete),
        start_ms=_spread([start.start_ns for start in complete]),
        compile_ms=_spread([start.compile_ns for start in complete]),
        load_ms=_spread([start.load_ns for start in complete]),
        first_ms=_spread([start.first_ns for start in complete]),
        other_ms=_spread([start.other_ns for start in complete]),
        ready_ms=_spread([start.ready_ns for start in complete]),
        steady_ms=_spread([start.steady_ns for start in complete]),
        warmups=_spread([start.warmups for start in complete], 1),
        call_ms=_spread([start.call_ns for start in complete]),
        ready_each_ms=[(start.ready_ns or 0) / NS_PER_MS for start in complete],
        call_each_ms=[(start.call_ns or 0) / NS_PER_MS for start in complete],
        error=errors[-1] if errors else None,
    )


def _spread(values: Sequence[float | None], unit: int = NS_PER_MS) -> Spread | None:
    """None where one of the starts has no value: a median of those that have one would be of other starts."""
    known = [value / unit for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return Spread(median=float(np.median(known)), lowest=min(known), highest=max(known))


def _unreported(starts: Sequence[Start], backend: str) -> Iterator[str]:
    """Why there are no figures where there are none."""
    complete = [start for start in starts if start.complete]
    if complete and all(start.compile_ns is None and start.cached is None for start in complete):
        yield f"compile n/a: {backend} does not report compilation; it is part of the load or the first call"
        yield (
            f"caches: {backend} does not report whether one was used, so starts with and without a cache share one row"
        )
    unsteady = [start for start in complete if start.steady_ns is None]
    for unit in dict.fromkeys(start.unit for start in unsteady):
        n = sum(start.unit == unit for start in unsteady)
        yield f"steady n/a on {unit}: {n} starts did not become steady within {LONGEST_WARMUP} calls or 20 s"
