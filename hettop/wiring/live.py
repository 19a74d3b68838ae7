"""A live measurement: joins the engine, the competing load and the host to one session and its recording.

The only place where sources meet the stream. Everything happens on the caller's thread, when it pumps.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from hettop import events
from hettop.engine.backend import Clock
from hettop.engine.child import environment_for_child
from hettop.engine.clock import RealClock
from hettop.engine.member import Timeouts
from hettop.engine.reaper import Reaper
from hettop.engine.supervisor import Engine
from hettop.errors import HettopError
from hettop.events import AnyEvent
from hettop.host import HostSource
from hettop.load.canary_source import CanarySource
from hettop.load.parts import LoadPart, parse_load
from hettop.load.source import CompetingLoad, ProcessLoad, SimulatedLoad, unavailable
from hettop.record.writer import Closed
from hettop.session.session import Session
from hettop.tui.feed import Notice, RecordingStatus, ReplayStatus
from hettop.wiring.frames import FrameTimes
from hettop.wiring.heading import make_header
from hettop.wiring.options import MeasureOptions
from hettop.wiring.places import places_to_record, unused
from hettop.wiring.recorder import Recorder
from hettop.wiring.setup import Setup

# What `l` steps through on this machine: from an idle machine to one whose cores are all busy.
LOADS_CYCLED = ("none", "cpu:1", "cpu:{cores}", "memory:1")


class Source(Protocol):
    """What brings events to the stream; `drain` has those since its last call, stamped with `t`, and never waits."""

    def drain(self, t: int) -> Sequence[AnyEvent]: ...


def wall_clock() -> datetime:
    return datetime.now(UTC)


class LiveFeed:
    """Runs units and folds what they publish. Offers the screen `live` controls, and headless commands `finished`.

    rows: the units that have a row from the start; the others appear when they are first run.
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
    ) -> None:
        """Raises HettopError before any process starts if the load or the recording cannot be had."""
        parts = parse_load(options.load)
        why = unavailable(parts) if not setup.simulated else None
        if why is not None:
            raise HettopError("load-unavailable", why, "cpu and memory loads work everywhere")
        self._setup, self._options, self._wall = setup, options, wall
        self._clock = clock or RealClock()
        self._origin = self._clock.now()
        self._session = Session(raw_limit)
        self._recorder = Recorder(self._session, wall)
        self._frames = FrameTimes()
        self._notices: list[Notice] = []
        self.load_failure: events.Failure | None = None
        self._host = HostSource()
        self._session.fold(make_header(setup, options, wall()))
        if options.record is not None:
            self._recorder.start(Path(options.record), 0, force=options.force)
        self._reaper = Reaper()
        self._engine = self._make_engine(timeouts)
        self._load: CompetingLoad = (
            SimulatedLoad(self._engine.set_load)
            if setup.simulated
            else ProcessLoad(self._reaper, self._engine.set_load, environment_for_child(os.environ))
        )
        # A simulated machine has no screen that could stutter.
        wanted = options.canary and not setup.simulated
        self._canary = CanarySource(self._reaper, environment_for_child(os.environ)) if wanted else None
        for unit in rows:
            self._commit(events.Engine(t=0, unit=unit, state="stopped", backend=setup.backend))
        self._control = events.Control(t=0, action="start", rate_hz=options.rate_hz)
        if parts:
            self._begin_load(parts)

    def _begin_load(self, parts: tuple[LoadPart, ...]) -> None:
        try:
            self._load.set(parts)
        except HettopError:
            self.close("no load")
            raise

    def _make_engine(self, timeouts: Timeouts | None) -> Engine:
        setup, options = self._setup, self._options
        return Engine(
            model=setup.model.name if setup.model.path is None else str(setup.model.path),
            backend=setup.backend,
            units=setup.units,
            clock=self._clock,
            origin_ns=self._origin,
            inputs=setup.inputs,
            function=setup.function,
            warmup=options.warmup,
            runs=options.runs,
            duration_ns=options.duration_ns,
            rate_hz=options.rate_hz,
            timeouts=timeouts or Timeouts(),
            reaper=self._reaper,
        )

    # --- the feed -------------------------------------------------------------------------------------------------

    @property
    def live(self) -> LiveFeed:
        return self

    @property
    def replay(self) -> None:
        return None

    @property
    def session(self) -> Session:
        return self._session

    @property
    def engine(self) -> Engine:
        return self._engine

    @property
    def now_ns(self) -> int:
        return self._clock.now() - self._origin

    def pump(self) -> None:
        t = self.now_ns
        sources: list[Source] = [self._load, self._engine, self._host, self._frames]
        if self._canary is not None:
            sources.append(self._canary)
        for source in sources:
            for event in source.drain(t):
                self._commit(event)
                if isinstance(event, events.Load) and event.state == "failed":
                    self.load_failure = event.error
        self._recorder.tick(t)

    def _commit(self, event: AnyEvent) -> None:
        self._session.fold(event)
        self._recorder.write(event)

    def recording_status(self) -> RecordingStatus | None:
        writer = self._recorder.writer
        return None if writer is None else RecordingStatus(writer.path, writer.size_bytes, writer.fault)

    def replay_status(self) -> ReplayStatus | None:
        return None

    def notices(self) -> list[Notice]:
        found, self._notices = self._notices, []
        return found

    def drew_frame(self, duration_ns: int) -> None:
        self._frames.add(duration_ns)

    def close(self, why: str = "closed") -> Closed | None:
        """End load, engine and recording; returns what became of the recording. May be called twice."""
        # The load outlasts the inference, whose last samples are labelled with it.
        self._engine.close()
        self.pump()
        self._load.close()
        if self._canary is not None:
            self._canary.close()
        closed = self._recorder.stop(why, self.now_ns)
        self._reaper.close()
        return closed

    def discard_recording(self) -> None:
        """End the recording without a trace; an earlier one that it was to replace stays."""
        self._recorder.discard()

    # --- the controls ---------------------------------------------------------------------------------------------

    def switch(self, unit: str) -> None:
        self._engine.switch(unit)
        self._steer("switch", units=[unit], mode="paced" if self._options.rate_hz else "single", paused=False)

    def interleave(self, units: Sequence[str] | None = None) -> None:
        """Run these units (default: all that this session measures) in blocks, in turn."""
        chosen = list(units or self._setup.units)
        self._engine.interleave(chosen)
        self._steer("interleave", units=chosen, mode="interleave", paused=False)

    def toggle_pause(self) -> None:
        if self._control.paused:
            self._engine.resume()
        else:
            self._engine.pause()
        self._steer("resume" if self._control.paused else "pause", paused=not self._control.paused)

    def reset(self) -> None:
        self.pump()
        self._steer("reset")

    def mark(self, text: str) -> None:
        self._commit(events.Mark(t=self.now_ns, text=text[: events.TEXT_LIMIT]))

    def restart(self, unit: str) -> None:
        self._engine.restart(unit)

    def cycle_load(self) -> None:
        """The next of the loads this machine can run; an own load given at the start is left behind."""
        cores = max(2, os.cpu_count() or 2)
        loads = [parse_load(text.format(cores=cores)) for text in LOADS_CYCLED]
        current = self._load.parts
        following = loads[(loads.index(current) + 1) % len(loads)] if current in loads else loads[0]
        self.set_load(following)

    def set_load(self, parts: tuple[LoadPart, ...]) -> None:
        try:
            self._load.set(parts)
        except HettopError as error:
            self._notices.append(Notice(f"{error.message}. {error.hint}", "error"))

    def toggle_recording(self) -> None:
        if self._recorder.writer is None:
            self._start_recording()
            return
        closed = self._recorder.stop("stopped by the user", self.now_ns)
        if closed is not None:
            self._notices.append(recording_notice(closed))

    def _start_recording(self) -> None:
        name = f"hettop-{self._wall().astimezone():%Y%m%d-%H%M%S}.jsonl"
        refusals = []
        for folder in places_to_record():
            path = unused(folder / name)
            try:
                self._recorder.start(path, self.now_ns)
            except HettopError as error:
                refusals.append(error.message)
                continue
            self._notices.append(Notice(f"recording to {path}"))
            return
        self._notices.append(Notice(f"cannot record: {refusals[0]}", "error"))

    def _steer(self, action: str, **change: object) -> None:
        fields = {name: getattr(self._control, name) for name in ("units", "mode", "paused", "rate_hz", "limit_ns")}
        self._control = events.Control(t=self.now_ns, action=action, **{**fields, **change})
        self._commit(self._control)


def recording_notice(closed: Closed) -> Notice:
    """What became of a recording, as a message."""
    text = f"recorded {closed.samples:,} samples to {closed.path}"
    if closed.undeclared:
        text += f"; {closed.undeclared:,} samples are missing and the file does not say so"
    if closed.fault:
        return Notice(f"{text}: {closed.fault}", "error")
    return Notice(text, "warning" if closed.undeclared else "information")
