"""Stand-ins with which the sampling loop runs in a test's own thread, on a clock that only moves when told to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hettop.models.ports import Feed, InputOptions, Port
from hettop.sources.engine.backend import Clock, Loaded, LoadOptions
from hettop.sources.engine.frames import AnyFrame, AnyReport, FrameReader, SampleFrame
from hettop.sources.engine.job import AnyCommand, Limits, RunMode, Stop, WorkerState

MS = 1_000_000


class FakeClock:
    """Stands still between `advance`s; carries out what was scheduled when its time has come."""

    def __init__(self) -> None:
        self.moment = 0
        self._schedule: list[tuple[int, Callable[[], None]]] = []

    def now(self) -> int:
        return self.moment

    def sleep_until(self, moment: int) -> None:
        self.advance(max(0, moment - self.moment))

    def advance(self, duration: int) -> None:
        self.moment += duration
        while self._schedule and self._schedule[0][0] <= self.moment:
            self._schedule.pop(0)[1]()

    def at(self, moment: int, do: Callable[[], None]) -> None:
        self._schedule.append((moment, do))
        self._schedule.sort(key=lambda entry: entry[0])

    def next_scheduled(self) -> int | None:
        return self._schedule[0][0] if self._schedule else None


class ScriptedState(WorkerState):
    """WorkerState that come at given moments (ns). Whoever waits when none are left is told to stop."""

    def __init__(
        self,
        clock: FakeClock,
        script: Iterable[tuple[int, AnyCommand]] = (),
        *,
        doing: RunMode = RunMode.RUN,
        limits: Limits = Limits(),  # noqa: B008
    ) -> None:
        super().__init__(doing, limits, "none")
        self._clock = clock
        for moment, command in script:
            clock.at(moment, lambda command=command: self.obey(command))  # type: ignore[misc]

    def wait(self, seconds: float | None) -> None:
        if self.changed:
            return
        upcoming = self._clock.next_scheduled()
        until = self._clock.moment + round(seconds * 1e9) if seconds is not None else upcoming
        if until is None:
            self.obey(Stop())
        else:
            self._clock.sleep_until(until if upcoming is None else min(until, upcoming))


class FakeBackend:
    """Calls take the given latencies (ns) in turn, then the last one over and over."""

    name = "fake"
    simulated = True

    def __init__(self, clock: FakeClock, latencies: Sequence[int], natives: Sequence[int | None] = ()) -> None:
        self.clock: Clock = clock
        self._clock = clock
        self.has_native = bool(natives)
        self.told: list[str] = []
        self.calls = 0
        self._latencies = latencies
        self._natives = natives

    def units(self) -> dict[str, str | None]:
        return {"CPU_ONLY": None}

    def load(self, model: str, unit: str, options: LoadOptions) -> Loaded:
        return Loaded(unit, None, 0, (), ())

    def make_inputs(self, ports: Sequence[Port], options: InputOptions) -> Feed:
        return {}

    def predict(self, feed: Feed) -> None:
        self.calls += 1
        self._clock.advance(self._latencies[min(self.calls, len(self._latencies)) - 1])

    def outputs(self) -> dict[str, Any]:
        return {}

    def native_ns(self) -> int | None:
        return self._natives[min(self.calls, len(self._natives)) - 1]

    def told_load(self, condition: str) -> None:
        self.told.append(condition)


class ListedOut:
    """Keeps frames, decoded, in order."""

    def __init__(self) -> None:
        self.frames: list[AnyFrame] = []
        self.pending = False
        self.flushes = 0
        self._reader = FrameReader()

    def post_samples(self, frame: bytes, n: int) -> None:
        self.post(frame)

    def post(self, frame: bytes) -> None:
        self.frames += self._reader.feed(frame)

    def flush(self) -> None:
        self.flushes += 1

    @property
    def samples(self) -> list[SampleFrame]:
        return [frame for frame in self.frames if isinstance(frame, SampleFrame)]

    def of_phase(self, phase: str) -> list[tuple[int, int]]:
        """(start, latency) of all samples of one phase."""
        return [
            pair
            for frame in self.samples
            if frame.phase == phase
            for pair in zip(frame.start.tolist(), frame.latency.tolist(), strict=True)
        ]

    def lateness(self) -> list[int]:
        return [late for frame in self.samples if frame.late is not None for late in frame.late.tolist()]

    def reports(self, kind: type) -> list[AnyReport]:
        return [frame for frame in self.frames if isinstance(frame, AnyReport) and isinstance(frame, kind)]
