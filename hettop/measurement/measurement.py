"""A measurement: joins engine, power, competing load, canary and host to one session and its recording.

The only place where sources meet the stream. Everything happens on the caller's thread, when it pumps.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from hettop import events
from hettop.errors import HettopError
from hettop.events import AnyEvent
from hettop.measurement.options import MeasureOptions
from hettop.measurement.power import LivePower, PowerHere, power_here
from hettop.measurement.recorder import Recorder
from hettop.measurement.setup import Setup, make_header
from hettop.measurement.validated_rails import remember_session
from hettop.processes.child_process import environment_for_child
from hettop.processes.reaper import Reaper
from hettop.record.window_coalescer import coalesce
from hettop.record.writer import Closed
from hettop.session.session import Session
from hettop.session.unit import Unit
from hettop.sources.engine.backend import Clock, RealClock
from hettop.sources.engine.job import EngineJob, Limits
from hettop.sources.engine.supervisor import Engine
from hettop.sources.engine.watchdog import Timeouts
from hettop.sources.host import HostSource
from hettop.sources.load.canary_source import CanarySource
from hettop.sources.load.parts import parse_load
from hettop.sources.load.source import CompetingLoad, ProcessLoad, SimulatedLoad, unavailable
from hettop.sources.macos import SleepInhibitor
from hettop.sources.power.choice import NOT_ASKED_FOR
from hettop.stats.steady import STEP, steady_at
from hettop.units import NS_PER_MS

if TYPE_CHECKING:
    from hettop.measurement.metrics import Metrics


class Source(Protocol):
    """What brings events to the stream; `drain` has those since its last call, stamped with `t`, and never waits."""

    def drain(self, t: int) -> Sequence[AnyEvent]: ...


def wall_clock() -> datetime:
    return datetime.now(UTC)


def _serving(port: int) -> Metrics:
    from hettop.measurement.metrics import Metrics

    return Metrics(port)


class Measurement:
    """Runs units, folds what all sources publish, and records it.

    rows: the units that have a row from the start; the others appear when they are first run.
    here: the machine whose power is measured; None is this one.
    control: what runs now, as the stream last had it.
    load_failure: why the load that was asked for is not there.
    power_listener: called with each event of the power source before it is folded.
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
        reaper: Reaper | None = None,
    ) -> None:
        """`reaper`: one that several measurements share and whoever made it closes; None: one of its own.

        Raises HettopError, or OSError where no process can be started, and leaves nothing behind then.
        """
        parts = parse_load(options.load)
        why = unavailable(parts) if not setup.simulated else None
        if why is not None:
            raise HettopError("load-unavailable", why, "cpu and memory loads work everywhere")
        self.setup, self.options, self.wall = setup, options, wall
        self._clock = clock or RealClock()
        self.origin_ns = self._clock.now()
        self.session = Session(raw_limit)
        self.recorder = Recorder(self.session, wall)
        self.control = events.Control(t=0, action="start", rate_hz=options.rate_hz)
        self.load_failure: events.Failure | None = None
        self.power_listener: Callable[[events.Power | events.PowerStatus], None] | None = None
        header = make_header(setup, options, wall())
        self.session.fold(header)
        here = here or power_here(header.host.chip)
        self._rails = here.rails
        with ExitStack() as started:
            self._start_power(here, started)
            self._start_outputs(started)
            self.reaper = reaper or Reaper()
            self._own_reaper = None if reaper else self.reaper
            if self._own_reaper is not None:
                started.callback(self._own_reaper.close)
            self._start_processes(timeouts or Timeouts(), started)
            for unit in rows:
                self.commit(events.Engine(t=0, unit=unit, state="stopped", backend=setup.backend))
            if parts:
                self.load.set(parts)
            started.pop_all()  # from here on `close` ends them, in an order of its own

    def _start_power(self, here: PowerHere, started: ExitStack) -> None:
        self._pids: Callable[[], Sequence[int]] = tuple  # power is read before there are engines
        self.power = LivePower(
            self.options.power,
            simulated=self.setup.simulated,
            here=replace(here, machine=replace(here.machine, engine_pids=self._engine_pids)),
            now=self._clock.now,
            origin_ns=self.origin_ns,
            why_none=self.options.why_no_power or NOT_ASKED_FOR,
        )
        started.callback(self.power.close)

    def _engine_pids(self) -> Sequence[int]:
        return self._pids()

    def _start_outputs(self, started: ExitStack) -> None:
        """The recording, and the metrics for whoever asks for them."""
        self._metrics: Metrics | None = None
        if self.options.prometheus is not None:
            self._metrics = _serving(self.options.prometheus)
            started.callback(self._metrics.close)
        if self.options.record is not None:
            self.recorder.start(Path(self.options.record), 0, force=self.options.force)
            started.callback(self.recorder.discard)

    def _start_processes(self, timeouts: Timeouts, started: ExitStack) -> None:
        simulated, environment = self.setup.simulated, environment_for_child(os.environ)
        self._awake = SleepInhibitor()
        started.callback(self._awake.close)
        self.engine = self._make_engine(timeouts)
        started.callback(self.engine.close)
        self._pids = lambda: self.engine.pids
        self._warmups = WarmUps(self.engine.end_warmup) if self.options.until_steady else None
        self.load: CompetingLoad = (
            SimulatedLoad(self.engine.set_load)
            if simulated
            else ProcessLoad(self.reaper, self.engine.set_load, environment)
        )
        started.callback(self.load.close)
        # A simulated machine has no screen that could stutter.
        wanted = self.options.canary and not simulated
        self._canary = CanarySource(self.reaper, environment) if wanted else None
        self._frames = FrameTimes()
        self._sources: list[Source] = [
            self.power,
            self.load,
            self.engine,
            HostSource(lambda: self.engine.pids),
            self._frames,
        ]
        if self._canary is not None:
            started.callback(self._canary.close)
            self._sources.append(self._canary)

    def _make_engine(self, timeouts: Timeouts) -> Engine:
        setup, options = self.setup, self.options
        job = EngineJob(
            backend=setup.backend,
            model=setup.model.source,
            sha256=setup.model.file_sha256,
            function=setup.function,
            seed=setup.inputs.seed,
            shapes=dict(setup.inputs.shapes),
            values=dict(setup.inputs.values),
            hints=dict(setup.hints),
            strict=setup.strict,
            custom_ops=setup.custom_ops,
            warmup=options.warmup,
            limits=Limits(runs=options.runs, duration_ns=options.duration_ns, least_runs=options.least_runs),
            rate_hz=options.rate_hz,
            rest_ns=options.rest_ns,
            answers=setup.answers_at(options.rate_hz),
        )
        return Engine(
            job,
            setup.units,
            guard=self.reaper,
            origin_ns=self.origin_ns,
            variants={name: variant.job_of for name, variant in setup.variants.items()},
            clock=self._clock,
            timeouts=timeouts,
        )

    @property
    def now_ns(self) -> int:
        return self._clock.now() - self.origin_ns

    def pump(self) -> None:
        """Fold and record what all sources have."""
        t = self.now_ns
        for source in self._sources:
            for event in coalesce(source.drain(t)):
                self._receive(event)
        if self._warmups is not None:
            self._warmups.watch(self.session, t)
        self.recorder.tick(t)
        if self._metrics is not None:
            self._metrics.answer(self.session)

    def drew_frame(self, duration_ns: int) -> None:
        self._frames.add(duration_ns, self.now_ns)

    def close(self, why: str = "closed", last_word: Callable[[], AnyEvent] | None = None) -> Closed | None:
        """End inference, load, power and recording; returns what became of the recording. May be called twice.

        `last_word` is called just before the recording ends: it is asked for when the last samples are folded and
        nothing runs any more, so that computing it disturbs no measurement.
        """
        # The load outlasts the inference, whose last samples are labelled with it.
        self.engine.close()
        self.power.close()
        self.pump()
        remember_session(self.session, self._rails, self.wall())
        self._awake.close()
        self.load.close()
        if self._canary is not None:
            self._canary.close()
        try:
            if last_word is not None:
                self.commit(last_word())
        finally:
            closed = self.recorder.stop(why, self.now_ns)
            if self._own_reaper is not None:
                self._own_reaper.close()
            if self._metrics is not None:
                self._metrics.close()
        return closed

    # -- what to run ---------------------------------------------------------------------------------------------

    def switch(self, unit: str) -> None:
        """Run this unit alone."""
        unit = self._with_process(unit)
        self.engine.switch(unit)
        self.run_control("switch", units=[unit], mode="paced" if self.options.rate_hz else "single", paused=False)

    def interleave(self, units: Sequence[str] | None = None) -> None:
        """Run these units (default: all that this session measures) in blocks, in turn."""
        chosen = list(dict.fromkeys(map(self._with_process, units or self.setup.units)))
        self.engine.interleave(chosen)
        self.run_control("interleave", units=chosen, mode="interleave", paused=False)

    def _with_process(self, row: str) -> str:
        """The row whose process gives this row's samples: first tokens come from that of all tokens."""
        return row if self.setup.answers is None else row.removesuffix(events.row_name("", events.FIRST_TOKENS))

    def restart(self, unit: str) -> None:
        """A new process for this unit."""
        self.engine.restart(self._with_process(unit))

    def pause(self, action: str = "pause") -> None:
        self.engine.pause()
        self.run_control(action, paused=True)

    def resume(self) -> None:
        self.engine.resume()
        self.run_control("resume", paused=False)

    def run_control(self, action: str, **change: object) -> None:
        """Tell the stream what runs from now on: `change` has the fields of `Control` that differ."""
        fields = {name: getattr(self.control, name) for name in ("units", "mode", "paused", "rate_hz", "limit_ns")}
        self.control = events.Control(t=self.now_ns, action=action, **{**fields, **change})
        self.commit(self.control)
        if self.control.paused:
            self.power.on_rest(self.session.load)

    def discard_recording(self) -> None:
        """End the recording without a trace; an earlier one that it was to replace stays."""
        self.recorder.discard()

    def _receive(self, event: AnyEvent) -> None:
        match event:
            case events.Samples():
                if not self.control.paused:  # the last samples before a pause arrive after it
                    self.power.on_samples(event)
                if self.session.thermal is not None:
                    event = msgspec.structs.replace(event, thermal=self.session.thermal)
            case events.Load(state="failed"):
                self.load_failure = event.error
            case events.PowerStatus():
                self.engine.set_shortest_block(self.power.shortest_block_ns)
        if self.power_listener is not None and isinstance(event, events.Power | events.PowerStatus):
            self.power_listener(event)
        self.commit(event)

    def commit(self, event: AnyEvent) -> None:
        """Fold and record an event."""
        self.session.fold(event)
        self.recorder.write(event)


FRAMES_TOLD_EVERY_NS = 2 * 10**9  # seldom, but well before what came at the same time is judged (`session.causes`)


class FrameTimes:
    """A source of at most one `frame` event per interval."""

    def __init__(self) -> None:
        self._redraws = 0
        self._total_ns = 0
        self._worst_ns = 0
        self._next_ns = FRAMES_TOLD_EVERY_NS
        self._spans: list[tuple[int, int]] = []
        self._began_ns: int | None = None

    def add(self, duration_ns: int, now_ns: int) -> None:
        """The redraw before the one that begins now took this long."""
        if self._began_ns is not None:
            self._spans.append((self._began_ns // NS_PER_MS, (self._began_ns + duration_ns) // NS_PER_MS))
        self._began_ns = now_ns
        self._redraws += 1
        self._total_ns += duration_ns
        self._worst_ns = max(self._worst_ns, duration_ns)

    def drain(self, t: int) -> list[events.Frame]:
        if t < self._next_ns:
            return []
        self._next_ns = t + FRAMES_TOLD_EVERY_NS
        if not self._redraws:
            return []
        event = events.Frame(
            t=t,
            redraws=self._redraws,
            total_ns=self._total_ns,
            worst_ns=self._worst_ns,
            spans=self._spans[-events.SPANS_LIMIT :],
        )
        self._redraws = self._total_ns = self._worst_ns = 0
        self._spans = []
        return [event]


LONGEST_NS = 20 * 10**9
"""From the first call of a warm-up on. What takes a second a call is not steady by then, and that is said."""


@dataclass(slots=True)
class _Watched:
    began_ns: int
    checked: int = 0
    ended: bool = False


class WarmUps:
    """`end` gets the name of each unit whose warm-up is over, once."""

    def __init__(self, end: Callable[[str], None]) -> None:
        self._end = end
        self._watched: dict[str, _Watched] = {}

    def watch(self, session: Session, now_ns: int) -> None:
        """Look at what the units have taken so far."""
        for unit in session.units.values():
            if unit.state != "warming" or not unit.warmup_ns:
                self._watched.pop(unit.name, None)
            else:
                self._look(unit, self._watched.setdefault(unit.name, _Watched(now_ns)), now_ns)

    def _look(self, unit: Unit, watched: _Watched, now_ns: int) -> None:
        if watched.ended:
            return
        steady = len(unit.warmup_ns) >= watched.checked + STEP and steady_at(unit.warmup_ns, watched.checked)
        watched.checked = len(unit.warmup_ns) - len(unit.warmup_ns) % STEP
        if steady or now_ns - watched.began_ns >= LONGEST_NS:
            watched.ended = True
            self._end(unit.name)
