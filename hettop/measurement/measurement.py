"""A measurement: joins engine, power, competing load, canary and host to one session and its recording.

The only place where sources meet the stream. Everything happens on the caller's thread, when it pumps.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from hettop import events
from hettop.errors import HettopError
from hettop.events import AnyEvent
from hettop.measurement.frames import FrameTimes
from hettop.measurement.options import MeasureOptions
from hettop.measurement.power import LivePower, PowerHere, power_here
from hettop.measurement.recorder import Recorder
from hettop.measurement.session_header import make_header
from hettop.measurement.setup import Setup
from hettop.measurement.validated_rails import remember_session
from hettop.measurement.warmup import WarmUps
from hettop.processes.child_process import environment_for_child
from hettop.processes.reaper import Reaper
from hettop.record.limits import form_fault
from hettop.record.writer import Closed
from hettop.session.session import Session
from hettop.sources.engine.backend import Clock
from hettop.sources.engine.clock import RealClock
from hettop.sources.engine.job import EngineJob, Limits
from hettop.sources.engine.sleep_inhibitor import SleepInhibitor
from hettop.sources.engine.supervisor import Engine
from hettop.sources.engine.watchdog import Timeouts
from hettop.sources.host import HostSource
from hettop.sources.load.canary_source import CanarySource
from hettop.sources.load.parts import LoadPart, parse_load
from hettop.sources.load.source import CompetingLoad, ProcessLoad, SimulatedLoad, unavailable
from hettop.sources.power.choice import NOT_ASKED_FOR
from hettop.text import clean

if TYPE_CHECKING:
    from hettop.measurement.metrics import Metrics


FromEngine = events.Engine | events.Samples | events.Usage | events.Plan | events.Outputs
FROM_ENGINES = (events.Engine, events.Samples, events.Usage, events.Plan, events.Outputs)


class Source(Protocol):
    """What brings events to the stream; `drain` has those since its last call, stamped with `t`, and never waits."""

    def drain(self, t: int) -> Sequence[AnyEvent]: ...


def wall_clock() -> datetime:
    return datetime.now(UTC)


def _serving(port: int) -> Metrics:
    from hettop.measurement.metrics import Metrics

    return Metrics(port)


class Measurement:
    """Runs units and folds what all sources publish.

    rows: the units that have a row from the start; the others appear when they are first run.
    here: the machine whose power is measured; None is this one.
    load_failure: why the load that was asked for is not there.
    """

    def __init__(
        self,
        setup: Setup,
        options: MeasureOptions,
        *,
        rows: Sequence[str],
        raw_limit: int,
        clock: Clock | None = None,
        wall: Callable[[], datetime] = wall_clock,
        timeouts: Timeouts | None = None,
        here: PowerHere | None = None,
    ) -> None:
        """Raises HettopError, and leaves nothing behind, if load, power source or recording cannot be had."""
        parts = parse_load(options.load)
        why = unavailable(parts) if not setup.simulated else None
        if why is not None:
            raise HettopError("load-unavailable", why, "cpu and memory loads work everywhere")
        self._setup, self._options, self._wall = setup, options, wall
        self._clock = clock or RealClock()
        self._origin = self._clock.now()
        self._session = Session(raw_limit)
        self._recorder = Recorder(self._session, wall)
        self._control = events.Control(t=0, action="start", rate_hz=options.rate_hz)
        self.load_failure: events.Failure | None = None
        header = make_header(setup, options, wall())
        self._session.fold(header)
        here = here or power_here(header.host.chip)
        self._rails = here.rails
        self._power = LivePower(
            options.power,
            simulated=setup.simulated,
            here=here,
            now=self._clock.now,
            origin_ns=self._origin,
            why_none=options.why_no_power or NOT_ASKED_FOR,
        )
        self._metrics: Metrics | None = None
        self._begin_telling()
        self._start(timeouts)
        for unit in rows:
            self._commit(events.Engine(t=0, unit=unit, state="stopped", backend=setup.backend))
        if parts:
            self._begin_load(parts)

    def _begin_telling(self) -> None:
        """The recording, and the metrics for whoever asks for them."""
        try:
            if self._options.prometheus is not None:
                self._metrics = _serving(self._options.prometheus)
            if self._options.record is not None:
                self._recorder.start(Path(self._options.record), 0, force=self._options.force)
        except HettopError:
            self._power.close()
            if self._metrics is not None:
                self._metrics.close()
            raise

    def _start(self, timeouts: Timeouts | None) -> None:
        """The processes; from here on `close` ends them all."""
        simulated, environment = self._setup.simulated, environment_for_child(os.environ)
        self._reaper = Reaper()
        self._awake = SleepInhibitor()
        self._engine = self._make_engine(timeouts or Timeouts())
        self._warmups = WarmUps(self._engine.end_warmup) if self._options.until_steady else None
        self._load: CompetingLoad = (
            SimulatedLoad(self._engine.set_load)
            if simulated
            else ProcessLoad(self._reaper, self._engine.set_load, environment)
        )
        # A simulated machine has no screen that could stutter.
        wanted = self._options.canary and not simulated
        self._canary = CanarySource(self._reaper, environment) if wanted else None
        self._frames = FrameTimes()
        self._sources: list[Source] = [self._power, self._load, self._engine, HostSource(), self._frames]
        if self._canary is not None:
            self._sources.append(self._canary)

    def _begin_load(self, parts: tuple[LoadPart, ...]) -> None:
        try:
            self._load.set(parts)
        except HettopError:
            self.close("no load")
            raise

    def _make_engine(self, timeouts: Timeouts) -> Engine:
        setup, options = self._setup, self._options
        job = EngineJob(
            backend=setup.backend,
            model=setup.model.source,
            function=setup.function,
            seed=setup.inputs.seed,
            shapes=dict(setup.inputs.shapes),
            values=dict(setup.inputs.values),
            hints=dict(setup.hints),
            warmup=options.warmup,
            limits=Limits(runs=options.runs, duration_ns=options.duration_ns, least_runs=options.least_runs),
            rate_hz=options.rate_hz,
            rest_ns=options.rest_ns,
        )
        return Engine(
            job,
            setup.units,
            guard=self._reaper,
            origin_ns=self._origin,
            variants={name: variant.job for name, variant in setup.variants.items()},
            clock=self._clock,
            timeouts=timeouts,
        )

    @property
    def session(self) -> Session:
        return self._session

    @property
    def engine(self) -> Engine:
        return self._engine

    @property
    def power(self) -> LivePower:
        return self._power

    @property
    def now_ns(self) -> int:
        return self._clock.now() - self._origin

    def pump(self) -> None:
        """Take in what all sources have."""
        t = self.now_ns
        for source in self._sources:
            for event in source.drain(t):
                self._take_in(event)
        if self._warmups is not None:
            self._warmups.watch(self._session, t)
        self._recorder.tick(t)
        if self._metrics is not None:
            self._metrics.answer(self._session)

    def drew_frame(self, duration_ns: int) -> None:
        self._frames.add(duration_ns, self.now_ns)

    def close(self, why: str = "closed", last_word: Callable[[], AnyEvent] | None = None) -> Closed | None:
        """End inference, load, power and recording; returns what became of the recording. May be called twice.

        `last_word` is told just before the recording ends: it is asked for when the last samples are folded and nothing
        runs any more, which working it out could disturb.
        """
        # The load outlasts the inference, whose last samples are labelled with it.
        self._engine.close()
        self._power.close()
        self.pump()
        remember_session(self._session, self._rails, self._wall())
        self._awake.close()
        self._load.close()
        if self._canary is not None:
            self._canary.close()
        try:
            if last_word is not None:
                self._commit(last_word())
        finally:
            closed = self._recorder.stop(why, self.now_ns)
            self._reaper.close()
            if self._metrics is not None:
                self._metrics.close()
        return closed

    def discard_recording(self) -> None:
        """End the recording without a trace; an earlier one that it was to replace stays."""
        self._recorder.discard()

    def _take_in(self, event: AnyEvent) -> None:
        match event:
            case events.Samples():
                if not self._control.paused:  # the last samples before a pause arrive after it
                    self._power.told_samples(event)
                if self._session.thermal is not None:
                    event = msgspec.structs.replace(event, thermal=self._session.thermal)
            case events.Load(state="failed"):
                self.load_failure = event.error
            case events.PowerStatus():
                self._engine.set_shortest_block(self._power.shortest_block_ns)
        self._commit(event)

    def _commit(self, event: AnyEvent) -> None:
        # Looked at first: the fold is changed in place, and must not have taken in the half of a window.
        if isinstance(event, events.Samples) and (fault := form_fault(event)) is not None:
            event = _refused(event, fault)
        try:
            self._session.fold(event)
        except (ValueError, ArithmeticError, LookupError) as error:
            if not isinstance(event, FROM_ENGINES):
                raise  # made by ourselves: our own mistake
            event = _refused(event, str(error))
            self._session.fold(event)
        self._recorder.write(event)


def _refused(event: FromEngine, why: str) -> events.Dropped:
    """What an engine process told, or what a framework in it did, must not end the session with the other units."""
    n = event.n if isinstance(event, events.Samples) else 0
    words = clean(f"{type(event).__name__.lower()} that cannot be taken in: {why}")
    return events.Dropped(t=event.t, n=n, why=words[: events.TEXT_LIMIT], unit=event.unit)
