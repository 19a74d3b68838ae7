"""The live feed: a measurement that the screen shows and controls."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hettop import events
from hettop.analysis.advice import Adviser
from hettop.app.pause_controller import PauseController
from hettop.app.study_runner import StudyControl
from hettop.app.verdict_cache import VerdictCache, budget_of
from hettop.app.without_load import WithoutLoad
from hettop.errors import HettopError
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import ModelOptions, metrics_address
from hettop.measurement.user_files import output_folders, unused_path
from hettop.processes.cpus import usable_threads
from hettop.record.writer import Closed
from hettop.report.page import Block
from hettop.session.session import Session
from hettop.sources.load.parts import LoadPart
from hettop.sources.load.source import unavailable
from hettop.sources.power.names import SIMULATED
from hettop.sources.power.powermetrics import access_command, explanation, root_warning
from hettop.studies.kinds import USUAL, Together
from hettop.studies.registry import StudyPages
from hettop.tui.feed import AccessRequest, LoadDial, Notice, RecordingStatus, ReplayStatus, StudyOffer, VerdictPage

if TYPE_CHECKING:
    from hettop.analysis.budget import Budget

# More workers than twice the cores do not change the result.
WORKERS_A_CORE = 2
ADVISED_EVERY_NS = 2 * 10**9
MOST_MODELS = 4  # each takes hundreds of MB


# The session imports this at its first use: on this thread that would delay frames and recording.
NEEDED_BY_THE_FOLD = "numpy.ma"
DIALS = ("cpu", "memory", "gpu", "ane")


class LiveFeed:
    """The feed of a measurement, with its controls.

    model: as the user named it, for studies of it; None: there are none. together: the options of co-execution.
    follow_advice: whether to switch to a unit that is advised.
    """

    def __init__(
        self,
        measurement: Measurement,
        model: ModelOptions | None = None,
        together: Together = USUAL,
        *,
        follow_advice: bool = False,
    ) -> None:
        self.measurement = measurement
        self._follow_advice = follow_advice
        setup, options = measurement.setup, measurement.options
        self._notices: list[Notice] = []
        self._pauses = PauseController(measurement, self._notices.append)
        self._studies = StudyControl(measurement, self._pauses, self._notices.append, model, together)
        self._without_load = WithoutLoad(measurement, self._set_load, self._notices.append)
        self._verdicts = VerdictCache()
        self._adviser = Adviser()
        self._advised_next_at = ADVISED_EVERY_NS
        # Which loads can run does not change while this runs, and takes too long to find out for every frame.
        self._kinds_of_load = {what: None if setup.simulated else unavailable((LoadPart(what, 1),)) for what in DIALS}
        self._pages = StudyPages()
        import_beside(NEEDED_BY_THE_FOLD)
        if (warning := root_warning(os.geteuid(), sys.platform)) is not None and not setup.simulated:
            self.warn(warning)
        if options.prometheus is not None:
            self._notices.append(Notice(f"metrics at {metrics_address(options.prometheus)}"))
        header = self.session.header
        for text in header.host.warnings if header else []:
            self.warn(text)

    @property
    def session(self) -> Session:
        return self.measurement.session

    @property
    def now_ns(self) -> int:
        return self.measurement.now_ns

    @property
    def live(self) -> LiveFeed:
        return self

    @property
    def replay(self) -> None:
        return None

    def pump(self) -> None:
        self.measurement.pump()
        self._pauses.tick()
        self._studies.tick()
        self._without_load.tick()
        self._advise(self.now_ns)

    def drew_frame(self, duration_ns: int) -> None:
        self.measurement.drew_frame(duration_ns)

    def close(self, why: str = "closed") -> Closed | None:
        """End everything; returns the state of the closed recording. May be called twice."""
        self._studies.stop()
        return self.measurement.close(why)

    def _advise(self, t: int) -> None:
        """Check whether another unit is better now, and write the advice to the stream."""
        if t < self._advised_next_at:
            return
        self._advised_next_at = t + ADVISED_EVERY_NS
        if len({key.unit for key in self.session.conditions}) < 2:  # nothing to compare yet
            return
        if (found := self._adviser.poll(self.session, t)) is None:
            return
        self.measurement.commit(found)
        if self._follow_advice and found.unit is not None and self.session.studies.running is None:
            self.measurement.switch(found.unit)

    def recording_status(self) -> RecordingStatus | None:
        writer = self.measurement.recorder.writer
        return None if writer is None else RecordingStatus(writer.path, writer.size_bytes, writer.fault)

    def replay_status(self) -> ReplayStatus | None:
        return None

    def verdict(self) -> VerdictPage | None:
        return self._verdicts.page(self.session, self.now_ns, still=False)

    def budget(self) -> Budget | None:
        return budget_of(self.session)

    def warn(self, text: str) -> None:
        """Show a warning on the screen, once."""
        self._notices.append(Notice(text, "warning"))

    def study_page(self, study: events.Study) -> list[Block]:
        return self._pages.of(study)

    def notices(self) -> list[Notice]:
        found = list(self._notices)
        self._notices.clear()  # the controllers append to this list
        return found

    # --- the controls ---------------------------------------------------------------------------------------------

    def switch(self, unit: str) -> None:
        self._studies.make_way()
        self.measurement.switch(unit)

    def interleave(self, units: Sequence[str] | None = None) -> None:
        """Interleave these units in short blocks (default: all that this session measures)."""
        self._studies.make_way()
        self.measurement.interleave(units)

    def toggle_pause(self) -> None:
        if not self._pauses.paused:
            self._pauses.pause()
            return
        self._studies.make_way()
        self._pauses.resume()

    def take_baseline(self) -> None:
        self._pauses.take_baseline()

    def studies(self) -> tuple[StudyOffer, ...]:
        return self._studies.studies()

    def study(self, name: str) -> None:
        self._without_load.forget()
        self._studies.study(name)

    def end_study(self) -> None:
        self._studies.end_study()

    def power_access(self) -> AccessRequest:
        """The command that grants access to powermetrics.

        Raises HettopError (`usage`) where it would change nothing, and without a terminal.
        """
        if not self.measurement.power.could_ask:
            raise _no_access_needed(self.measurement.power.status)
        on_terminal = sys.stdin is not None and sys.stdin.isatty()
        return AccessRequest(tuple(access_command(on_terminal=on_terminal)), explanation())

    def retry_power(self) -> None:
        """Retry the power source after access was granted."""
        self.measurement.power.retry()

    def reset(self) -> None:
        self.pump()
        self.measurement.run_control("reset")

    def mark(self, text: str) -> None:
        self.measurement.commit(events.Mark(t=self.now_ns, text=text[: events.TEXT_LIMIT]))

    def restart(self, unit: str) -> None:
        self.measurement.restart(unit)

    def loads(self) -> tuple[LoadDial, ...]:
        """A dial for each kind of load, with the reason where this machine cannot run it."""
        there = {part.what: part for part in self.measurement.load.parts}
        return tuple(
            LoadDial(
                what=what,
                level=there[what].level if what in there else 0,
                duty_percent=there[what].duty_percent if what in there else 100,
                highest=MOST_MODELS if what in ("gpu", "ane") else WORKERS_A_CORE * usable_threads(),
                reason=reason,
            )
            for what, reason in self._kinds_of_load.items()
        )

    def change_load(self, what: str, level: int, duty_percent: int) -> None:
        """Set the number of workers of one kind, 0 for none; the other kinds stay."""
        others = tuple(part for part in self.measurement.load.parts if part.what != what)
        wanted = (LoadPart(what, level, duty_percent),) if level else ()
        self.set_load(tuple(sorted(others + wanted)))

    def end_load(self) -> None:
        self.set_load(())

    def measure_without_load(self) -> None:
        self._without_load.toggle()

    def without_load_left_ns(self) -> int | None:
        return self._without_load.left_ns

    def set_load(self, parts: tuple[LoadPart, ...]) -> None:
        self._without_load.forget()
        self._set_load(parts)

    def _set_load(self, parts: tuple[LoadPart, ...]) -> None:
        self._studies.make_way("competing load")
        try:
            self.measurement.load.set(parts)
        except HettopError as error:
            self._notices.append(Notice(f"{error.message}. {error.hint}", "error"))

    def toggle_recording(self) -> None:
        if self.measurement.recorder.writer is None:
            self._start_recording()
            return
        closed = self.measurement.recorder.stop("stopped by the user", self.now_ns)
        if closed is not None:
            self._notices.append(recording_notice(closed))

    def _start_recording(self) -> None:
        name = f"hettop-{self.measurement.wall().astimezone():%Y%m%d-%H%M%S}.jsonl"
        refusals = []
        for folder in output_folders():
            path = unused_path(folder / name)
            try:
                self.measurement.recorder.start(path, self.now_ns)
            except HettopError as error:
                refusals.append(error.message)
                continue
            self._notices.append(Notice(f"recording to {path}"))
            return
        self._notices.append(Notice(f"cannot record: {refusals[0]}", "error"))


def recording_notice(closed: Closed) -> Notice:
    """The state of a closed recording, as a message."""
    text = f"recorded {closed.samples:,} samples to {closed.path}"
    missing = closed.dropped + closed.undeclared
    if missing:
        text += f"; {missing:,} samples are missing"
    if closed.undeclared:
        text += f", {closed.undeclared:,} of them without a line that reports it"
    if closed.fault:
        return Notice(f"{text}: {closed.fault}", "error")
    return Notice(text, "warning" if missing else "information")


def import_beside(*names: str) -> threading.Thread:
    """Import these modules on a thread of its own; missing ones are ignored here.

    An import on the screen's thread would delay frames and the recording.
    """

    def work() -> None:
        for name in names:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)

    thread = threading.Thread(target=work, name="hettop-imports", daemon=True)
    thread.start()
    return thread


def _no_access_needed(status: events.PowerStatus | None) -> HettopError:
    if status is not None and status.source == SIMULATED:
        return HettopError("usage", "power is simulated: no access needed")
    return HettopError("usage", "access to power readings cannot be granted here", status.reason if status else "")
