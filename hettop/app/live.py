"""The live feed: a measurement that a screen can watch and steer.

What is measured, and how sources meet the stream, is known by `measurement`; this is what each control does to it.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from hettop import events
from hettop.analysis.advice import Adviser
from hettop.app.pause_controller import PauseController
from hettop.app.study_runner import StudyControl
from hettop.app.verdict_cache import VerdictCache
from hettop.errors import HettopError
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import ModelOptions, metrics_address
from hettop.models.cache import find_home
from hettop.record.writer import Closed
from hettop.report.page import Block
from hettop.session.session import Session
from hettop.sources.load.parts import LoadPart
from hettop.sources.load.source import unavailable
from hettop.sources.power.powermetrics import access_command, explanation, root_warning
from hettop.studies.kinds import USUAL, Together
from hettop.studies.registry import StudyPages
from hettop.tui.feed import AccessRequest, LoadDial, Notice, RecordingStatus, ReplayStatus, StudyOffer, VerdictPage

# Twice as many workers as cores slow everything down; more of them say nothing new.
WORKERS_A_CORE = 2
ADVISED_EVERY_NS = 2 * 10**9
MOST_MODELS = 4  # each takes hundreds of MB


# What the fold imports at its first use: on this thread that would hold up frames and recording.
NEEDED_BY_THE_FOLD = "numpy.ma"
DIALS = ("cpu", "memory", "gpu", "ane")


class LiveFeed:
    """What the screen shows of `measurement`, and what it can be told.

    model: how the user named it, for studies of it; None: there are none. together: how units are to co-execute.
    """

    def __init__(self, measurement: Measurement, model: ModelOptions | None = None, together: Together = USUAL) -> None:
        self.measurement = measurement
        setup, options = measurement.setup, measurement.options
        self._notices: list[Notice] = []
        self._pauses = PauseController(measurement, self._notices.append)
        self._studies = StudyControl(measurement, self._pauses, self._notices.append, model, together)
        self._verdicts = VerdictCache()
        self._adviser = Adviser()
        self._advised_next_at = ADVISED_EVERY_NS
        # Where loads can run does not change while this runs, and finding out costs too much for every frame.
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
        self._advise(self.now_ns)

    def drew_frame(self, duration_ns: int) -> None:
        self.measurement.drew_frame(duration_ns)

    def close(self, why: str = "closed") -> Closed | None:
        """End everything; returns what became of the recording. May be called twice."""
        self._studies.stop()
        return self.measurement.close(why)

    def _advise(self, t: int) -> None:
        """Looks whether another unit does better now, and puts what it finds into the stream."""
        if t < self._advised_next_at:
            return
        self._advised_next_at = t + ADVISED_EVERY_NS
        if len({key.unit for key in self.session.conditions}) < 2:  # nothing to compare yet
            return
        if (found := self._adviser.poll(self.session, t)) is not None:
            self.measurement.commit(found)

    def recording_status(self) -> RecordingStatus | None:
        writer = self.measurement.recorder.writer
        return None if writer is None else RecordingStatus(writer.path, writer.size_bytes, writer.fault)

    def replay_status(self) -> ReplayStatus | None:
        return None

    def verdict(self) -> VerdictPage | None:
        return self._verdicts.page(self.session, self.now_ns, still=False)

    def warn(self, text: str) -> None:
        """Have this told on the screen, once."""
        self._notices.append(Notice(text, "warning"))

    def study_page(self, study: events.Study) -> list[Block]:
        return self._pages.of(study)

    def notices(self) -> list[Notice]:
        found, self._notices = self._notices, []
        return found

    # --- the controls ---------------------------------------------------------------------------------------------

    def switch(self, unit: str) -> None:
        self._studies.make_way()
        self.measurement.switch(unit)

    def interleave(self, units: Sequence[str] | None = None) -> None:
        """Run these units (default: all that this session measures) in blocks, in turn."""
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
        self._studies.study(name)

    def end_study(self) -> None:
        self._studies.end_study()

    def power_access(self) -> AccessRequest:
        """The command that gives access to powermetrics.

        Raises HettopError (`usage`) where it would change nothing, and without a terminal.
        """
        if not self.measurement.power.could_ask:
            status = self.measurement.power.status
            raise HettopError("usage", "asking for access would change nothing here", status.reason if status else "")
        on_terminal = sys.stdin is not None and sys.stdin.isatty()
        return AccessRequest(tuple(access_command(on_terminal=on_terminal)), explanation())

    def retry_power(self) -> None:
        """Look for a source again, now that access was given."""
        self.measurement.power.retry()

    def reset(self) -> None:
        self.pump()
        self.measurement.run_control("reset")

    def mark(self, text: str) -> None:
        self.measurement.commit(events.Mark(t=self.now_ns, text=text[: events.TEXT_LIMIT]))

    def restart(self, unit: str) -> None:
        self.measurement.engine.restart(unit)

    def loads(self) -> tuple[LoadDial, ...]:
        """A dial for each kind of load, with the reason where this machine has none of it."""
        there = {part.what: part for part in self.measurement.load.parts}
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
        others = tuple(part for part in self.measurement.load.parts if part.what != what)
        wanted = (LoadPart(what, level, duty_percent),) if level else ()
        self.set_load(tuple(sorted(others + wanted)))

    def end_load(self) -> None:
        self.set_load(())

    def set_load(self, parts: tuple[LoadPart, ...]) -> None:
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
        for folder in places_to_record():
            path = unused(folder / name)
            try:
                self.measurement.recorder.start(path, self.now_ns)
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


def import_beside(*names: str) -> threading.Thread:
    """Start importing these modules, one after another, on a thread of their own; a missing one is somebody else's.

    An import on the screen's thread would hold up frames, and a recording, which a crash would then cost more of.
    """

    def work() -> None:
        for name in names:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)

    thread = threading.Thread(target=work, name="hettop-imports", daemon=True)
    thread.start()
    return thread


def unused(path: Path) -> Path:
    """`path`, with a number if there is such a file already: two recordings may begin in one second."""
    names = (path, *(path.with_stem(f"{path.stem}-{number}") for number in range(2, 100)))
    return next((name for name in names if not name.exists()), path)


def places_to_record() -> list[Path]:
    """Here, at home, or where temporary files go: the first that can be written."""
    places = [Path(), Path(tempfile.gettempdir())]
    with contextlib.suppress(RuntimeError):  # a user without a home, as in a container
        places.insert(1, find_home())
    return places
