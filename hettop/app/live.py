"""The live feed: a measurement that a screen can watch and steer.

What is measured, and how sources meet the stream, is known by `measurement`; this is what each control does to it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from threading import Thread

from hettop import events
from hettop.analysis.advice import Adviser
from hettop.app.pause_controller import Resting
from hettop.app.recording_path import places_to_record, unused
from hettop.app.verdict_cache import Judge
from hettop.errors import HettopError
from hettop.measurement.imports import import_beside
from hettop.measurement.measurement import wall_clock
from hettop.measurement.options import MeasureOptions, ModelOptions, metrics_address
from hettop.measurement.power import PowerHere
from hettop.measurement.setup import Setup
from hettop.record.writer import Closed
from hettop.sources.engine.backend import Clock
from hettop.sources.engine.watchdog import Timeouts
from hettop.sources.load.parts import LoadPart
from hettop.sources.load.source import unavailable
from hettop.sources.power.access import access_command, explanation, root_warning
from hettop.tui.feed import AccessRequest, LoadDial, Notice, RecordingStatus, ReplayStatus, VerdictPage

# Twice as many workers as cores slow everything down; more of them say nothing new.
WORKERS_A_CORE = 2
ADVISED_EVERY_NS = 2 * 10**9
MOST_MODELS = 4  # each takes hundreds of MB


# What the fold, and the adviser once there are units to compare, import at their first use: on this thread that would
# hold up frames and recording.
NEEDED_BY_THE_FOLD, NEEDED_BY_THE_ADVISER = "numpy.ma", "scipy.special"
DIALS = ("cpu", "memory", "gpu", "ane")


class LiveFeed(Resting):
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
        model: ModelOptions | None = None,
        here: PowerHere | None = None,
    ) -> None:
        """`model`: how the user named it, for studies of it; None: there are none."""
        self._judge = Judge()
        self._adviser = Adviser()
        self._advised_next_at = ADVISED_EVERY_NS
        # Where loads can run does not change while this runs, and finding out costs too much for every frame.
        self._kinds_of_load = {what: None if setup.simulated else unavailable((LoadPart(what, 1),)) for what in DIALS}
        super().__init__(
            setup,
            options,
            rows=rows,
            raw_limit=raw_limit,
            clock=clock,
            wall=wall,
            timeouts=timeouts,
            model=model,
            here=here,
        )
        import_beside(NEEDED_BY_THE_FOLD)
        self._importing: Thread | None = None
        if (warning := root_warning(os.geteuid(), sys.platform)) is not None and not setup.simulated:
            self._notices.append(Notice(warning, "warning"))
        if options.prometheus is not None:
            self._notices.append(Notice(f"metrics at {metrics_address(options.prometheus)}"))
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
        t = self.now_ns
        self._advise(t)

    def _advise(self, t: int) -> None:
        """Looks whether another unit does better now, and puts what it finds into the stream."""
        if t < self._advised_next_at:
            return
        self._advised_next_at = t + ADVISED_EVERY_NS
        if self._importing is None:
            if len({key.unit for key in self._session.conditions}) < 2:  # nothing to compare yet
                return
            self._importing = import_beside(NEEDED_BY_THE_ADVISER)
        if self._importing.is_alive():
            return
        if (found := self._adviser.look(self._session, t)) is not None:
            self._commit(found)

    def recording_status(self) -> RecordingStatus | None:
        writer = self._recorder.writer
        return None if writer is None else RecordingStatus(writer.path, writer.size_bytes, writer.fault)

    def replay_status(self) -> ReplayStatus | None:
        return None

    def verdict(self, width: int) -> VerdictPage:
        return self._judge.page(self._session, self.now_ns, width, still=False)

    def warn(self, text: str) -> None:
        """Have this told on the screen, once."""
        self._notices.append(Notice(text, "warning"))

    def notices(self) -> list[Notice]:
        found, self._notices = self._notices, []
        return found

    # --- the controls ---------------------------------------------------------------------------------------------

    def switch(self, unit: str) -> None:
        self._end_study_for("inference")
        self._forget_baseline()
        self._engine.switch(unit)
        self._steer("switch", units=[unit], mode="paced" if self._options.rate_hz else "single", paused=False)

    def begin_inference(self) -> None:
        self.switch(self._setup.units[0])

    def interleave(self, units: Sequence[str] | None = None) -> None:
        """Run these units (default: all that this session measures) in blocks, in turn."""
        self._end_study_for("inference")
        self._forget_baseline()
        chosen = list(units or self._setup.units)
        self._engine.interleave(chosen)
        self._steer("interleave", units=chosen, mode="interleave", paused=False)

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
        self._end_study_for("competing load")
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


def recording_notice(closed: Closed) -> Notice:
    """What became of a recording, as a message."""
    text = f"recorded {closed.samples:,} samples to {closed.path}"
    missing = closed.dropped + closed.undeclared
    if missing:
        text += f"; {missing:,} samples are missing from it"
    if closed.undeclared:
        text += f", and no line in it tells of {closed.undeclared:,} of them"
    if closed.fault:
        return Notice(f"{text}: {closed.fault}", "error")
    return Notice(text, "warning" if missing else "information")
