"""A sweep without anybody watching: each load in turn, units interleaved under it or alone, a rest before the next.

Joins nothing itself; it controls a measurement, looks at what the session has, and reports it in the end as a study.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from hettop.errors import HettopError
from hettop.events import Study
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import MeasureOptions
from hettop.measurement.setup import Setup
from hettop.record.writer import Closed
from hettop.session.session import Session
from hettop.session.statistics import statistics
from hettop.sources.load.parts import LoadPart, condition_of
from hettop.studies.output import study_event
from hettop.studies.sweep.measure import loads_result, usage_of
from hettop.studies.sweep.result import SweepResult
from hettop.studies.sweep.sensitivity import sensitivities


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """`runs` steady samples, or `duration_ns` of steady running, of each unit under each load; `rest_ns` between.

    alone: units run one after another instead of in turns, so that CPU use and missed frames are each one's own.
    """

    loads: tuple[tuple[LoadPart, ...], ...]
    runs: int | None = None
    duration_ns: int | None = None
    rest_ns: int = 0
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A load, and the units that run under it in turns."""

    parts: tuple[LoadPart, ...]
    units: tuple[str, ...]

    @property
    def load(self) -> str:
        return condition_of(self.parts)


class Stage(Enum):
    """What a sweep is doing."""

    MEASURING = auto()
    RESTING = auto()
    FINISHED = auto()


class Sweep:
    """Pump it until it is `finished`, then close it. `failed_loads` maps loads that could not be had to the reason."""

    def __init__(
        self,
        setup: Setup,
        measure: MeasureOptions,
        sweep: SweepOptions,
        arguments: Sequence[str] = (),
        *,
        raw_limit: int,
        cpu_seconds: Callable[[], tuple[float, float]] | None = None,
    ) -> None:
        """`arguments`: how it was asked for. cpu_seconds: as of `sources.host`; None: CPU use is not known.

        Raises HettopError as `Measurement` does.
        """
        self._measurement = Measurement(setup, measure, rows=setup.units, raw_limit=raw_limit)
        self._options, self._arguments = sweep, arguments
        groups = [(unit,) for unit in setup.units] if sweep.alone else [tuple(setup.units)]
        self._steps = [Step(parts, units) for parts in sweep.loads for units in groups]
        self._index = 0
        self._cpu_seconds = cpu_seconds
        self._cpu_from: tuple[float, float] | None = None
        self._ended: list[tuple[Step, float | None]] = []
        self._stage = Stage.MEASURING
        self._rest_until = 0
        self.failed_loads: dict[str, str] = {}
        self._begin_load()

    @property
    def session(self) -> Session:
        return self._measurement.session

    @property
    def finished(self) -> bool:
        return self._stage is Stage.FINISHED

    @property
    def resting(self) -> bool:
        """Whether nothing runs because one load is over and the next has not begun."""
        return self._stage is Stage.RESTING

    @property
    def load(self) -> str:
        """The load that is measured under, or was last."""
        return self._step.load

    @property
    def _step(self) -> Step:
        return self._steps[min(self._index, len(self._steps) - 1)]

    @property
    def share_done(self) -> float:
        """Share of all samples, or of all steady time, that was asked for, 0..1."""
        if self.finished:
            return 1.0
        begun = 0.0 if self._stage is Stage.RESTING else self._share_of_load()
        return (self._index + begun) / len(self._steps)

    def pump(self) -> None:
        self._measurement.pump()
        if self._stage is Stage.RESTING and self._measurement.now_ns >= self._rest_until:
            self._stage = Stage.MEASURING
            self._begin_load()
        elif self._stage is Stage.MEASURING:
            failure = self._measurement.load_failure
            if failure is not None:
                self._measurement.load_failure = None
                self._give_up_load(failure.message)
            elif (share := self._share_of_load()) >= 1:
                self._end_load()
            elif share > 0 and self._cpu_from is None and self._cpu_seconds is not None:
                self._cpu_from = self._cpu_seconds()

    def discard_recording(self) -> None:
        self._measurement.discard_recording()

    def close(self, why: str) -> Closed | None:
        """End it, with what was found, all samples in, as the last word of its stream."""
        return self._measurement.close(why, lambda: self._study("done" if self.finished else "ended"))

    def result(self, *, certain: bool = True) -> SweepResult:
        """What was found by now. certain: with the intervals of ratios, which take long to work out."""
        sensitivity = sensitivities(self.session, certain=certain)
        usage = [usage_of(self.session, step.units, step.load, cpu) for step, cpu in self._ended]
        return loads_result(statistics(self.session), self.failed_loads, sensitivity, usage)

    def _study(self, state: str) -> Study:
        t = self._measurement.now_ns
        return study_event("sweep", self.result(), ("sweep", *self._arguments), state=state, t=t, elapsed_ns=t)

    def _begin_load(self) -> None:
        if self._step.parts:
            self._set_load(self._step.parts)
        self._measurement.interleave(self._step.units)

    def _set_load(self, parts: tuple[LoadPart, ...]) -> None:
        with contextlib.suppress(HettopError):  # one that cannot be started is in the stream, too
            self._measurement.load.set(parts)

    def _give_up_load(self, why: str) -> None:
        self.failed_loads[self.load] = why
        self._end_load()

    def _end_load(self) -> None:
        ended = self._step
        if ended.load not in self.failed_loads:
            self._ended.append((ended, self._cpu_share()))
        self._cpu_from = None
        self._index += 1
        while self._index < len(self._steps) and self._step.load in self.failed_loads:
            self._index += 1
        if self._index == len(self._steps):
            self._stage = Stage.FINISHED
            return
        if ended.parts:
            self._set_load(())  # a rest is for the whole machine
        self._measurement.pause()
        self._rest_until = self._measurement.now_ns + self._options.rest_ns
        self._stage = Stage.RESTING

    def _cpu_share(self) -> float | None:
        """Of all cores since the first steady sample of this step; None where it is not known."""
        if self._cpu_from is None or self._cpu_seconds is None:
            return None
        busy, total = (now - then for now, then in zip(self._cpu_seconds(), self._cpu_from, strict=True))
        return min(1.0, max(0.0, busy / total)) if total > 0 else None

    def _share_of_load(self) -> float:
        return _mean([self._share_of(unit, self.load) for unit in self._step.units])

    def _share_of(self, unit: str, load: str) -> float:
        if unit in self._measurement.engine.failures:
            return 1.0
        there = [c for key, c in self.session.conditions.items() if (key.unit, key.load) == (unit, load)]
        if self._options.runs is not None:
            return min(1.0, sum(condition.wall.n for condition in there) / self._options.runs)
        wanted = self._options.duration_ns or 1
        return min(1.0, sum(condition.active_ns for condition in there) / wanted)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 1.0
