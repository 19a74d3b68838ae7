"""The live feed: a measurement that a screen can watch and steer.

What is measured, and how sources meet the stream, is known by `measurement`; this is what each control does to it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from enum import Enum, auto

from hettop import events
from hettop.engine.backend import Clock
from hettop.engine.patience import Timeouts
from hettop.errors import HettopError
from hettop.load.parts import LoadPart
from hettop.load.source import unavailable
from hettop.power.access import access_command, explanation, root_warning
from hettop.record.writer import Closed
from hettop.tui.feed import AccessRequest, LoadDial, Notice, RecordingStatus, ReplayStatus
from hettop.wiring.measurement import Measurement, wall_clock
from hettop.wiring.options import MeasureOptions
from hettop.wiring.places import places_to_record, unused
from hettop.wiring.setup import Setup

# Twice as many workers as cores slow everything down; more of them say nothing new.
WORKERS_A_CORE = 2
MOST_MODELS = 4  # each takes hundreds of MB


DIALS = ("cpu", "memory", "gpu", "ane")


class Rest(Enum):
    """What becomes of inference after the rest that an idle baseline needs: it stays paused, or goes on."""

    STAYS = auto()
    GOES_ON = auto()


class LiveFeed(Measurement):
    """Offers the screen `live` controls; its parameters are those of a measurement."""

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
        self._notices: list[Notice] = []
        self._rest: Rest | None = None
        # Where loads can run does not change while this runs, and finding out costs too much for every frame.
        self._kinds_of_load = {what: None if setup.simulated else unavailable((LoadPart(what, 1),)) for what in DIALS}
        super().__init__(setup, options, rows=rows, raw_limit=raw_limit, clock=clock, wall=wall, timeouts=timeouts)
        if (warning := root_warning(os.geteuid(), sys.platform)) is not None and not setup.simulated:
            self._notices.append(Notice(warning, "warning"))
        header = self._session.header
        self._notices += [Notice(text, "warning") for text in (header.host.warnings if header else [])]

    @property
    def live(self) -> LiveFeed:
        return self

    @property
    def replay(self) -> None:
        return None

    def pump(self) -> None:
        super().pump()
        self._mind_baseline(self.now_ns)

    def recording_status(self) -> RecordingStatus | None:
        writer = self._recorder.writer
        return None if writer is None else RecordingStatus(writer.path, writer.size_bytes, writer.fault)

    def replay_status(self) -> ReplayStatus | None:
        return None

    def notices(self) -> list[Notice]:
        found, self._notices = self._notices, []
        return found

    def _mind_baseline(self, t: int) -> None:
        """Goes on with inference once the baseline is taken, or waited for in vain."""
        if self._rest is None or (self._power.baseline is not None and not self._power.baseline.expired(t)):
            return
        taken, goes_on = self._power.baseline is None, self._rest is Rest.GOES_ON
        self._forget_baseline()
        words = "idle baseline taken" if taken else "no idle baseline: the power source gave no usable sample"
        self._notices.append(Notice(words, "information" if taken else "error"))
        if goes_on:
            self.toggle_pause()

    def _forget_baseline(self) -> None:
        self._power.baseline = self._rest = None

    # --- the controls ---------------------------------------------------------------------------------------------

    def switch(self, unit: str) -> None:
        self._forget_baseline()
        self._engine.switch(unit)
        self._steer("switch", units=[unit], mode="paced" if self._options.rate_hz else "single", paused=False)

    def interleave(self, units: Sequence[str] | None = None) -> None:
        """Run these units (default: all that this session measures) in blocks, in turn."""
        self._forget_baseline()
        chosen = list(units or self._setup.units)
        self._engine.interleave(chosen)
        self._steer("interleave", units=chosen, mode="interleave", paused=False)

    def toggle_pause(self) -> None:
        self._forget_baseline()
        if self._control.paused:
            self._engine.resume()
        else:
            self._engine.pause()
        self._steer("resume" if self._control.paused else "pause", paused=not self._control.paused)

    def take_baseline(self) -> None:
        """Pause inference for some seconds to measure what an idle machine draws; asked again, break that off."""
        if self._rest is not None:
            self._notices.append(Notice("idle baseline broken off"))
            self.toggle_pause()
            return
        if not self._power.running:
            status = self._power.status
            why = f": {status.reason}" if status is not None and status.reason else ""
            self._notices.append(Notice(f"no baseline without power{why}", "warning"))
            return
        rest = Rest.STAYS if self._control.paused else Rest.GOES_ON
        self._engine.pause()
        self._steer("baseline", paused=True)
        self._power.begin_baseline(self.now_ns, self._session.load)
        self._rest = rest

    def power_access(self) -> AccessRequest:
        """The command that gives access to powermetrics.

        Raises HettopError (`usage`) where it would change nothing, and without a terminal.
        """
        if not self._power.could_ask:
            status = self._power.status
            raise HettopError("usage", "asking for access would change nothing here", status.reason if status else "")
        on_terminal = sys.stdin is not None and sys.stdin.isatty()
        return AccessRequest(tuple(access_command(on_terminal=on_terminal)), explanation())

    def retry_power(self) -> None:
        """Look for a source again, now that access was given."""
        self._power.retry()

    def reset(self) -> None:
        self.pump()
        self._steer("reset")

    def mark(self, text: str) -> None:
        self._commit(events.Mark(t=self.now_ns, text=text[: events.TEXT_LIMIT]))

    def restart(self, unit: str) -> None:
        self._engine.restart(unit)

    def loads(self) -> tuple[LoadDial, ...]:
        """A dial for each kind of load, with the reason where this machine has none of it."""
        there = {part.what: part for part in self._load.parts}
        return tuple(
            LoadDial(
                what=what,
                level=there[what].level if what in there else 0,
                duty_percent=there[what].duty_percent if what in there else 100,
                highest=MOST_MODELS if what in ("gpu", "ane") else WORKERS_A_CORE * (os.cpu_count() or 1),
                reason=reason,
            )
            for what, reason in self._kinds_of_load.items()
        )

    def change_load(self, what: str, level: int, duty_percent: int) -> None:
        """Have `level` workers of one kind, 0 for none; the other kinds stay."""
        others = tuple(part for part in self._load.parts if part.what != what)
        wanted = (LoadPart(what, level, duty_percent),) if level else ()
        self.set_load(tuple(sorted(others + wanted)))

    def end_load(self) -> None:
        self.set_load(())

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
        if self._control.paused:
            self._power.told_rest(self._session.load)


def recording_notice(closed: Closed) -> Notice:
    """What became of a recording, as a message."""
    text = f"recorded {closed.samples:,} samples to {closed.path}"
    if closed.undeclared:
        text += f"; {closed.undeclared:,} samples are missing and the file does not say so"
    if closed.fault:
        return Notice(f"{text}: {closed.fault}", "error")
    return Notice(text, "warning" if closed.undeclared else "information")
