"""Each unit's samples under one load, in order of arrival and in bounded memory: what a verdict is made of.

Pure; takes them from a folded session and from whatever kept the samples in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from hettop.events import NO_LOAD, AnyEvent, Column, Control, Samples, split_row
from hettop.session.answers import answers_of, gives_answers
from hettop.session.condition import Condition, ConditionKey, DurationSeries, TurnNumbers
from hettop.session.session import MOST_CONDITIONS, Session
from hettop.stats.histogram import Histogram
from hettop.stats.moments import Moments
from hettop.stats.quantiles import quantile
from hettop.units import NS_PER_MS

Float64Array = npt.NDArray[np.float64]
InOrder = Callable[[ConditionKey, str], Column | None]
"""Gives a condition's `wall`, `native` or `response` samples (ns) in order of arrival, or their `turn`s, or None."""

WALL, NATIVE, RESPONSE, TURN = "wall", "native", "response", "turn"


@dataclass(frozen=True, slots=True)
class Measured:
    """One unit under one load. Times in ms; `samples_ms` in order of arrival, all `n` of them or evenly spaced ones.

    `series` is what the times are of: `wall`, `native` or `response`. `thermal` are the thermal states, None unknown.
    `turns` has the turn of each sample, None where that is not known: see `session.condition.Turns`.
    `answers` is how many the tokens are of, where a sample is one: these are then the unit of evidence. They
    took `calls` in all.
    `unserved` are arrivals at a rate that have no response time, as they were not served by the end.
    """

    unit: str
    load: str
    series: str
    n: int
    samples_ms: Float64Array
    mean_ms: float
    min_ms: float
    max_ms: float
    p50_ms: float
    p90_ms: float
    thermal: tuple[str | None, ...] = ()
    turns: Column | None = None
    unserved: int = 0
    answers: int | None = None
    calls: int = 0

    @property
    def complete(self) -> bool:
        """Whether `samples_ms` are all samples."""
        return self.samples_ms.size == self.n


def in_order_of(session: Session) -> InOrder:
    """The samples a session itself still has; None beyond its limit of raw values."""

    def column(key: ConditionKey, name: str) -> Column | None:
        condition = session.conditions[key]
        if name == TURN:
            return condition.turns.of_first(condition.wall.n)
        series = _series(condition, name)
        return None if series is None else series.raw()

    return column


def loads_of(session: Session) -> list[str]:
    """The loads under which steady samples were taken, in order of first appearance."""
    return list(dict.fromkeys(key.load for key, condition in session.conditions.items() if condition.wall.n))


def main_load(session: Session) -> str:
    """The load a verdict is about unless another one is asked for: none, or the first there was."""
    loads = loads_of(session)
    return loads[0] if loads and NO_LOAD not in loads else NO_LOAD


def measured(
    session: Session, load: str, in_order: InOrder, series: str = WALL, *, variants: bool = False
) -> list[Measured]:
    """The units that have such samples under this load, in order of first appearance; with `variants`, these too.

    The clocks of a pooled condition are one after another, thermal state by thermal state.
    """
    found = []
    for unit in session.units:
        if split_row(unit)[1] is not None and not variants:
            continue
        pooled = [c for key, c in session.conditions.items() if (key.unit, key.load) == (unit, load) and c.wall.n]
        if pooled and all(_series(condition, series) is not None for condition in pooled):
            unserved = (session.units[unit].unfinished or 0) if series == RESPONSE else 0
            answers = answers_of(session, unit, load) if gives_answers(session) else None
            pool = _pooled(unit, load, series, pooled, in_order)
            found.append(
                replace(
                    pool,
                    unserved=unserved,
                    answers=None if answers is None else answers.n,
                    calls=0 if answers is None else answers.chunks,
                )
            )
    return found


def _series(condition: Condition, name: str) -> DurationSeries | None:
    series: DurationSeries | None = getattr(condition, name)
    return series


def _pooled(unit: str, load: str, name: str, conditions: list[Condition], in_order: InOrder) -> Measured:
    parts = [series for condition in conditions if (series := _series(condition, name)) is not None]
    moments = Moments()
    for part in parts:
        moments.merge(part.moments)
    columns = [column for condition in conditions if (column := in_order(condition.key, name)) is not None]
    samples = np.concatenate(columns) if columns else np.empty(0, dtype=np.int64)
    turns = [turn for condition in conditions if (turn := in_order(condition.key, TURN)) is not None]
    known = len(turns) == len(columns) and sum(turn.size for turn in turns) == samples.size > 0
    complete = samples.size == moments.n
    p50, p90 = (quantile(samples, q) if complete else _binned(parts, moments, q) for q in (0.5, 0.9))
    return Measured(
        unit=unit,
        load=load,
        series=name,
        n=moments.n,
        samples_ms=samples / NS_PER_MS,
        mean_ms=(moments.mean_ns or 0.0) / NS_PER_MS,
        min_ms=(moments.min_ns or 0) / NS_PER_MS,
        max_ms=(moments.max_ns or 0) / NS_PER_MS,
        p50_ms=p50 / NS_PER_MS,
        p90_ms=p90 / NS_PER_MS,
        thermal=tuple(dict.fromkeys(condition.key.thermal for condition in conditions)),
        turns=np.concatenate(turns) if known else None,
    )


def _binned(parts: Iterable[DurationSeries], moments: Moments, q: float) -> float:
    """The quantile of all samples, from their histogram."""
    histogram = Histogram()
    for part in parts:
        histogram.merge(part.histogram)
    found = histogram.quantile(q) or 0.0
    return min(max(found, moments.min_ns or 0), moments.max_ns or 0)


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
    _stretches: list[tuple[Column, Column | None, Column | None, Column]] = field(default_factory=list)

    def add(self, window: Samples, turn: int) -> None:
        response = None if window.late_ns is None else window.lat_ns + np.maximum(window.late_ns, 0)
        self.seen += window.n
        for begin in range(0, window.n, STRETCH):
            part = slice(begin, begin + STRETCH)
            if self._arrived % self._every == 0:
                native = None if window.native_ns is None else window.native_ns[part]
                self._held += len(window.lat_ns[part])
                wall = window.lat_ns[part]
                late = None if response is None else response[part]
                self._stretches.append((wall, native, late, np.full(len(wall), turn)))
            self._arrived += 1
        while self._held > MOST_SAMPLES:
            self._stretches = self._stretches[::2]
            self._held = sum(len(stretch[0]) for stretch in self._stretches)
            self._every *= 2

    def column(self, name: str) -> Column | None:
        """`wall`, `native`, `response` or `turn` in order of arrival."""
        index = (WALL, NATIVE, RESPONSE, TURN).index(name)
        columns = [stretch[index] for stretch in self._stretches]
        present = [column for column in columns if column is not None]
        return np.concatenate(present) if present and len(present) == len(columns) else None


class Stretches:
    """Gathers the steady samples of every condition while a recording is folded."""

    def __init__(self) -> None:
        self._kept: dict[ConditionKey, SampleReservoir] = {}
        self._turns = TurnNumbers()

    def add(self, event: AnyEvent) -> None:
        match event:
            case Control(action="reset"):
                self._kept.clear()
            case Samples(phase="resume"):
                self._turns.resumed(event)
            case Samples(phase="steady"):
                turn = self._turns.of(event, int(event.starts_ns()[-1] + event.lat_ns[-1]))
                key = ConditionKey(event.unit, event.condition, event.thermal)
                if key in self._kept or len(self._kept) < MOST_CONDITIONS:
                    self._kept.setdefault(key, SampleReservoir()).add(
                        event, turn if event.answer is None else event.answer
                    )

    def column(self, key: ConditionKey, name: str) -> Column | None:
        """One series of a condition; None when there is none. See `SampleReservoir.column`."""
        kept = self._kept.get(key)
        return None if kept is None else kept.column(name)
