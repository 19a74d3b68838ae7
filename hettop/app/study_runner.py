"""Runs studies from the live view, one at a time in a process of its own, and turns what it tells into events.

It is told by the lines of `--stream`; inference is paused meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from hettop import events
from hettop.app.pause_controller import PauseController
from hettop.console.progress import StreamLine
from hettop.errors import HettopError
from hettop.events import TEXT_LIMIT, Failure, Power, PowerStatus, Study
from hettop.measurement.arguments import model_arguments
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import ModelOptions
from hettop.processes.child_process import ChildExit, ChildProcess, ProcessGuard, environment_for_child, module_command
from hettop.processes.pipe_reader import LineReader
from hettop.studies.coexec.measure import TogetherPower, with_energy
from hettop.studies.coexec.result import CoexecResult
from hettop.studies.kinds import COEXEC, Kind, Together, coexecution, kinds
from hettop.studies.registry import read_document, result_of
from hettop.studies.result import StudyResult
from hettop.text import clean
from hettop.tui.feed import Notice, StudyOffer

TOLD_EVERY_NS = 10**9
"""How often what a study has found so far goes into the stream: it is a few thousand bytes each time."""

MOST_BYTES = 64 << 20
"""Of one line, and of what is taken in at one look; a study that tells more is broken."""
LOG_LINES = 6
LOOK_S = 0.05
END_S = 2.0
"""How long a study that was told to end may take to say its last words and to end its own children."""


class StudyRunner:
    """Starts a study of the model, and tells by events how far it is and what came of it."""

    def __init__(
        self,
        model: ModelOptions,
        guard: ProcessGuard,
        environment: Mapping[str, str],
        command: Sequence[str] = module_command("hettop"),
    ) -> None:
        self._model = model
        self._guard = guard
        self._environment = environment
        self._command = tuple(command)
        self._running: _Running | None = None
        self._latest: _Running | None = None

    @property
    def running(self) -> bool:
        return self._running is not None

    @property
    def document(self) -> Mapping[str, Any] | None:
        """All that the latest study has told by now, as its command prints it."""
        return None if self._latest is None else self._latest.document

    def start(self, kind: Kind, t: int) -> Study:
        """Begin it at `t` of the session; nothing else may run."""
        command = [*self._command, *kind.arguments, *model_arguments(self._model), "--stream"]
        self._running = self._latest = _Running(kind, command, self._environment, t, self._guard)
        return self._running.event(t, "running")

    def poll(self, t: int) -> Study | None:
        """What is new since the last look, at most each second until it ends."""
        running = self._running
        if running is None:
            return None
        if running.ended:
            self._running = None
            return running.result(t)
        try:
            return running.progress(t)
        except HettopError as error:
            self._running = None
            running.stop()
            return running.event(t, "failed", _told_failure(error))

    def stop(self, t: int) -> Study | None:
        """End the one that runs; what was found so far stays."""
        running, self._running = self._running, None
        if running is None:
            return None
        running.stop()
        return running.event(t, "ended")


class _Running:
    """One study's process. It tells by a pipe: however long it goes on, there is no file that grows."""

    def __init__(
        self, kind: Kind, command: list[str], environment: Mapping[str, str], t: int, guard: ProcessGuard
    ) -> None:
        self._kind, self._since_ns = kind, t
        self._told_at = t
        self._told = StreamLine()
        self._untold = False
        self._found: StudyResult | None = None
        self.document: Mapping[str, Any] | None = None
        self._lines = LineReader()
        self._process = ChildProcess(command, environment, guard, stdin=False)

    @property
    def ended(self) -> bool:
        return self._process.ended()

    def event(self, t: int, state: str, error: Failure | None = None) -> Study:
        doing, share = (self._told.doing, self._told.share) if state == "running" else (None, None)
        return Study(
            t=t,
            name=self._kind.name,
            state=state,
            elapsed_ns=max(0, t - self._since_ns),
            arguments=[clean(word, TEXT_LIMIT) for word in self._kind.arguments],
            doing=None if doing is None else clean(doing)[:TEXT_LIMIT],
            share=None if share is None else min(1.0, max(0.0, share)),
            found=None if self._found is None else self._found.line(),
            failures={} if self._found is None else self._found.failures(),
            error=error,
        )

    def progress(self, t: int) -> Study | None:
        # Read at once, however seldom it is told of: a document may be longer than the pipe, and its writer would wait.
        self._untold = self._receive() or self._untold
        if t - self._told_at < TOLD_EVERY_NS or not self._untold:
            return None
        self._told_at, self._untold = t, False
        return self.event(t, "running")

    def result(self, t: int) -> Study:
        ended = self._process.end()
        try:
            self._receive()
            failed = self._told.failed or _failure(ended, self._process.log.lines())
            error = None if ended.code == 0 else failed
        except HettopError as fault:
            error = _told_failure(fault)
        finally:
            self._process.close()
        if error is None and self._found is None:
            error = Failure(kind="study", message="it ended without an answer")
        return self.event(t, "done" if error is None else "failed", error)

    def stop(self) -> None:
        """Ends it; its last words count."""
        self._process.signal(signal.SIGTERM)  # it ends its own children; its reaper does if it cannot
        deadline = time.monotonic() + END_S
        with contextlib.suppress(HettopError):  # what it said before stays, whatever its last words are
            while not self.ended and (left := deadline - time.monotonic()) > 0:
                self._process.wait(min(left, LOOK_S))
                self._receive()
        self._process.end()
        with contextlib.suppress(HettopError):
            self._receive()
        self._process.close()

    def _receive(self) -> bool:
        """Reads what was told since; whether a line was among it. Raises HettopError (`study`)."""
        self._process.read_log()
        lines = self._lines.feed(self._process.read())
        if self._lines.unfinished > MOST_BYTES:
            raise HettopError("study", "it told more than can be taken in")
        for text in lines:
            try:
                self._told = msgspec.json.decode(text, type=StreamLine)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                raise HettopError("study", f"it returned an invalid result: {clean(str(error))}") from None
            if self._told.document is not None:
                self._found = read_document(self._kind.name, self._told.document)
                self.document = self._told.document
        return bool(lines)


def _told_failure(error: HettopError) -> Failure:
    return Failure(kind=error.kind, message=error.message[:TEXT_LIMIT], hint=error.hint[:TEXT_LIMIT])


def _failure(ended: ChildExit, log: list[str]) -> Failure:
    """Why it failed, where it did not say so itself."""
    texts = [text for line in log if (text := clean(line, TEXT_LIMIT).strip())]
    return Failure(kind="study", message=f"it {ended.words} without a word", log=texts[-LOG_LINES:])


INFERENCE = "inference"


class StudyControl:
    """Runs studies of what `measurement` measures, which pauses meanwhile and goes on when they end if it ran before.

    notify: takes what the user is to be told. model: as the user named it, for studies of it; without, there are none.
    together: how units are to co-execute.
    """

    def __init__(
        self,
        measurement: Measurement,
        pauses: PauseController,
        notify: Callable[[Notice], None],
        model: ModelOptions | None,
        together: Together,
    ) -> None:
        self._measurement = measurement
        self._pauses = pauses
        self._notify = notify
        self._goes_on = False
        self._before: events.Control | None = None
        self._spent: StudyPower | None = None
        self._together = together
        self._backend = None if model is None else model.backend
        environment = environment_for_child(os.environ)
        self._runner = None if model is None else StudyRunner(model, measurement.reaper, environment)

    def tick(self) -> None:
        """Look at the study; to be called after each pump of the measurement."""
        if self._runner is not None and (news := self._runner.poll(self._measurement.now_ns)) is not None:
            self._commit_study(news)
            if not self._runner.running:
                self._after_study()

    def stop(self) -> None:
        """End a study that runs; to be called before the measurement is closed."""
        if self._runner is not None and (ended := self._runner.stop(self._measurement.now_ns)) is not None:
            self._commit_study(ended)

    def make_way(self, what: str = INFERENCE) -> None:
        """End what cannot go on beside `what`: a study, which would be measured with it, and a baseline."""
        if self._runner is not None and self._runner.running:
            self.stop()
            self._goes_on = False
            self._notify(Notice(f"the study was ended: {what} would be measured with it", "warning"))
            if what != INFERENCE:
                self._leave_mode()
            self._before = None
        if what == INFERENCE:
            self._pauses.forget_baseline()

    def studies(self) -> tuple[StudyOffer, ...]:
        """Those that can be run now."""
        return () if self._runner is None else tuple(StudyOffer(kind.name, kind.words) for kind in self._kinds())

    def study(self, name: str) -> None:
        """Run a study of the model; inference rests meanwhile, and goes on when it ends if it ran before."""
        kind = next((kind for kind in self._kinds() if kind.name == name), None)
        if self._runner is None or kind is None:
            raise HettopError("usage", f"there is no study called {name} here")
        if self._measurement.load.parts:
            raise HettopError("usage", "a study is measured without competing load", "l, then 0 ends the load")
        self._goes_on = self._goes_on or not self._pauses.paused
        self.stop()
        if kind.together:
            self._co_execute(kind)
        elif not self._pauses.paused:
            self._pauses.pause()
        else:
            self._leave_mode()
        self._measurement.commit(self._runner.start(kind, self._measurement.now_ns))

    def end_study(self) -> None:
        """End the study that runs; what was found so far stays."""
        self.stop()
        self._after_study()

    def _co_execute(self, kind: Kind) -> None:
        """A mode of its own: other processes run these units now, while the session's own rest."""
        measurement = self._measurement
        self._pauses.forget_baseline()
        measurement.engine.pause()
        self._before = measurement.control
        if not measurement.setup.simulated:
            self._spent = StudyPower(measurement.power.status, measurement.origin_ns)
            measurement.power_listener = self._spent.take
        measurement.run_control(COEXEC, units=list(kind.together), mode=COEXEC, paused=True)

    def _commit_study(self, news: events.Study) -> None:
        """With the energy that this session measured meanwhile; an end puts the mode back that was before."""
        document = None if self._runner is None else self._runner.document
        self._measurement.commit(news if self._spent is None else self._spent.completed(news, document))
        if news.state != "running" and self._before is not None:
            measurement, before = self._measurement, self._before
            measurement.control = msgspec.structs.replace(measurement.control, units=before.units, mode=before.mode)
            self._spent = measurement.power_listener = None

    def _after_study(self) -> None:
        if self._goes_on and self._pauses.paused:
            self._before = None
            self._pauses.resume()
        self._leave_mode()
        self._goes_on = False

    def _leave_mode(self) -> None:
        """Tell that units do not co-execute any more, where nothing else that is told now says so."""
        if self._before is not None:
            self._before = None
            self._measurement.run_control("pause")

    def _kinds(self) -> tuple[Kind, ...]:
        setup = self._measurement.setup
        if setup.simulated:  # there is no model to look into, but units that run
            return coexecution(setup.available, self._together)
        how = replace(self._together, block_ns=self._measurement.power.shortest_block_ns)
        row = next(iter(self._measurement.control.units), setup.units[0])
        unit, _variant = events.split_row(row)  # a study is of the model as it was named, not of its variants
        return kinds(unit, setup.available, how, self._backend)


class StudyPower:
    """Completes what a co-execution tells by the power of the blocks in which all worked.

    status: what the source said of itself before. origin_ns: of the session, on the machine's monotonic clock.
    """

    def __init__(self, status: PowerStatus | None, origin_ns: int) -> None:
        self._spent = TogetherPower()
        self._origin_ns = origin_ns
        if status is not None:
            self.take(status)

    def take(self, event: Power | PowerStatus) -> None:
        self._spent.take(event, self._origin_ns)

    def completed(self, told: Study, document: Mapping[str, Any] | None) -> Study:
        """The same with its energy, or with the reason why there is none."""
        result = result_of(told)
        if not isinstance(result, CoexecResult) or document is None:
            return told
        self._spent.block([(int(since), int(until)) for since, until in document["together_ns"]])
        energy = self._spent.energy(result.together_per_s)
        return msgspec.structs.replace(told, found=with_energy(result, energy).line())
