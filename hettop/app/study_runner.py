"""Runs studies from the live view, one at a time in a process of its own, and turns its output into events.

The output are the lines of `--stream`; inference is paused meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
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
from hettop.measurement.setup import DEFAULT_BACKEND
from hettop.processes.child_process import ChildExit, ChildProcess, ProcessGuard, environment_for_child, module_command
from hettop.processes.pipe_reader import LineReader
from hettop.sources.engine.names import SERVER
from hettop.studies.coexec.measure import TogetherPower, with_energy
from hettop.studies.coexec.options import FEWEST_UNITS
from hettop.studies.coexec.result import CoexecResult
from hettop.studies.kinds import COEXEC, Kind, Together, coexecution, kinds
from hettop.studies.output import NO_INTERRUPTIONS, interruptions_of
from hettop.studies.registry import STUDIES, StudyKind, read_document, result_of
from hettop.studies.result import StudyResult
from hettop.text import clean
from hettop.tui.feed import Notice, StudyOffer

COMMIT_EVERY_NS = 10**9
"""How often a study's partial result is written to the stream: it has a few thousand bytes each time."""

MOST_BYTES = 64 << 20
"""Of one line, and of one read; a study that prints more is broken."""
LOG_LINES = 6
LOOK_S = 0.05
END_S = 2.0
"""How long a study may take to end after the signal: it prints its result and ends its children."""


class StudyRunner:
    """Starts a study of the model, and reports its progress and result as events."""

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
        """The latest study's document so far, as its command prints it."""
        return None if self._latest is None else self._latest.document

    def start(self, kind: Kind, t: int) -> Study:
        """Start it at `t` of the session; no other study may run."""
        model = self._model if kind.name == COEXEC else replace(self._model, strict=False)  # others run on the CPU
        command = [*self._command, *kind.arguments, *model_arguments(model), "--stream"]
        self._running = self._latest = _Running(kind, command, self._environment, t, self._guard)
        return self._running.event(t, "running")

    def poll(self, t: int) -> Study | None:
        """The study's news since the last call, at most once per second until it ends."""
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
            return running.event(t, "failed", _failure_of(error))

    def stop(self, t: int) -> Study | None:
        """End the running study; its result so far is kept."""
        running, self._running = self._running, None
        if running is None:
            return None
        running.stop()
        return running.event(t, "ended")


class _Running:
    """One study's process, whose output is read from a pipe."""

    def __init__(
        self, kind: Kind, command: list[str], environment: Mapping[str, str], t: int, guard: ProcessGuard
    ) -> None:
        self._kind, self._since_ns = kind, t
        self._committed_at = t
        self._line = StreamLine()
        self._uncommitted = False
        self._found: StudyResult | None = None
        self._interruptions = NO_INTERRUPTIONS
        self.document: Mapping[str, Any] | None = None
        self._lines = LineReader()
        self._process = ChildProcess(command, environment, guard, stdin=False)

    @property
    def ended(self) -> bool:
        return self._process.ended()

    def event(self, t: int, state: str, error: Failure | None = None) -> Study:
        doing, share = (self._line.doing, self._line.share) if state == "running" else (None, None)
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
            **asdict(self._interruptions),
        )

    def progress(self, t: int) -> Study | None:
        # Read always, even if it is not committed now: a document may be larger than the pipe, and block its writer.
        self._uncommitted = self._receive() or self._uncommitted
        if t - self._committed_at < COMMIT_EVERY_NS or not self._uncommitted:
            return None
        self._committed_at, self._uncommitted = t, False
        return self.event(t, "running")

    def result(self, t: int) -> Study:
        ended = self._process.end()
        try:
            self._receive()
            failed = self._line.failed or _failure(ended, self._process.log.lines())
            error = None if ended.code == 0 else failed
        except HettopError as fault:
            error = _failure_of(fault)
        finally:
            self._process.close()
        if error is None and self._found is None:
            error = Failure(kind="study", message="the study ended without a result")
        return self.event(t, "done" if error is None else "failed", error)

    def stop(self) -> None:
        """End it; what it prints until then counts."""
        self._process.signal(signal.SIGTERM)  # it ends its own children; its reaper does if it cannot
        deadline = time.monotonic() + END_S
        with contextlib.suppress(HettopError):  # the result so far is kept
            while not self.ended and (left := deadline - time.monotonic()) > 0:
                self._process.wait(min(left, LOOK_S))
                self._receive()
        self._process.end()
        with contextlib.suppress(HettopError):
            self._receive()
        self._process.close()

    def _receive(self) -> bool:
        """Read its output; returns whether there was a complete line. Raises HettopError (`study`)."""
        self._process.read_log()
        lines = self._lines.feed(self._process.read())
        if self._lines.unfinished > MOST_BYTES:
            raise HettopError("study", "the study printed too much output")
        for text in lines:
            try:
                self._line = msgspec.json.decode(text, type=StreamLine)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                raise HettopError("study", f"invalid output of the study: {clean(str(error))}") from None
            if self._line.document is not None:
                self._found = read_document(self._kind.name, self._line.document)
                self._interruptions = interruptions_of(self._line.document)
                self.document = self._line.document
        return bool(lines)


def _failure_of(error: HettopError) -> Failure:
    return Failure(kind=error.kind, message=error.message[:TEXT_LIMIT], hint=error.hint[:TEXT_LIMIT])


def _failure(ended: ChildExit, log: list[str]) -> Failure:
    """The failure of a study that did not report one itself."""
    texts = [text for line in log if (text := clean(line, TEXT_LIMIT).strip())]
    return Failure(kind="study", message=f"the study {ended.words} without a message", log=texts[-LOG_LINES:])


INFERENCE = "inference"


class StudyControl:
    """Runs studies of the model of `measurement`, which is paused meanwhile and resumes if it ran before.

    notify: receives the messages for the user. model: as the user named it; without one there are no studies.
    together: the options of co-execution.
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
        """Poll the study; to be called after each poll of the measurement."""
        if self._runner is not None and (news := self._runner.poll(self._measurement.now_ns)) is not None:
            self._commit_study(news)
            if not self._runner.running:
                self._after_study()

    def stop(self) -> None:
        """End a running study; to be called before the measurement is closed."""
        if self._runner is not None and (ended := self._runner.stop(self._measurement.now_ns)) is not None:
            self._commit_study(ended)

    def make_way(self, what: str = INFERENCE) -> None:
        """End what `what` would disturb: a running study and a baseline."""
        if self._runner is not None and self._runner.running:
            self.stop()
            self._goes_on = False
            self._notify(Notice(f"study ended: {what} would disturb it", "warning"))
            if what != INFERENCE:
                self._leave_mode()
            self._before = None
        if what == INFERENCE:
            self._pauses.forget_baseline()

    def studies(self) -> tuple[StudyOffer, ...]:
        """All studies of a model; those that cannot be run here with the reason."""
        if self._runner is None:
            return ()
        kinds = {kind.name: kind.words for kind in self._kinds()}
        return tuple(
            StudyOffer(name, kinds[name]) if name in kinds else StudyOffer(name, study.question, self._why_not(study))
            for name, study in STUDIES.items()
            if study.of_model
        )

    def study(self, name: str) -> None:
        """Run a study of the model; inference is paused meanwhile, and resumes after it if it ran before."""
        kind = next((kind for kind in self._kinds() if kind.name == name), None)
        if self._runner is None or kind is None:
            raise HettopError("usage", f"unknown study {name!r}")
        if self._measurement.load.parts:
            raise HettopError("usage", "studies are measured without competing load", "press l, then 0 to end the load")
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
        """End the running study; its result so far is kept."""
        self.stop()
        self._after_study()

    def _co_execute(self, kind: Kind) -> None:
        """A mode of its own: other processes run these units now, while the session's own are paused."""
        measurement = self._measurement
        self._pauses.forget_baseline()
        measurement.engine.pause()
        self._before = measurement.control
        if not measurement.setup.simulated:
            self._spent = StudyPower(measurement.power.status, measurement.origin_ns)
            measurement.power_listener = self._spent.take
        measurement.run_control(COEXEC, units=list(kind.together), mode=COEXEC, paused=True)

    def _commit_study(self, news: events.Study) -> None:
        """Commit with the energy that this session measured meanwhile; at its end restore the previous mode."""
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
        """Record the end of co-execution, where no other event does."""
        if self._before is not None:
            self._before = None
            self._measurement.run_control("pause")

    def _why_not(self, study: StudyKind) -> str:
        setup = self._measurement.setup
        if setup.backend == SERVER:
            return "needs a model file: a server's model cannot be opened from here"
        if len(setup.available) < (study.live.units if study.live is not None else FEWEST_UNITS):
            return "needs two units"
        return "needs a real model: hettop MODEL" if setup.simulated else f"needs --backend {DEFAULT_BACKEND}"

    def _kinds(self) -> tuple[Kind, ...]:
        setup = self._measurement.setup
        if setup.backend == SERVER:
            return ()
        if setup.simulated:  # no real model to study, but units that can co-execute
            return coexecution(setup.available, self._together)
        how = replace(self._together, block_ns=self._measurement.power.shortest_block_ns)
        row = next(iter(self._measurement.control.units), setup.units[0])
        unit, _variant = events.split_row(row)  # studies use the model as it was named, not its variants
        return kinds(unit, setup.available, how, self._backend)


class StudyPower:
    """Adds the energy of the blocks in which all units worked to the result of a co-execution.

    status: the last status of the power source. origin_ns: of the session, on the machine's monotonic clock.
    """

    def __init__(self, status: PowerStatus | None, origin_ns: int) -> None:
        self._spent = TogetherPower()
        self._origin_ns = origin_ns
        if status is not None:
            self.take(status)

    def take(self, event: Power | PowerStatus) -> None:
        self._spent.take(event, self._origin_ns)

    def completed(self, study: Study, document: Mapping[str, Any] | None) -> Study:
        """The study with its energy, or with the reason why there is none."""
        result = result_of(study)
        if not isinstance(result, CoexecResult) or document is None:
            return study
        self._spent.block([(int(since), int(until)) for since, until in document["together_ns"]])
        energy = self._spent.energy(result.together_per_s)
        return msgspec.structs.replace(study, found=with_energy(result, energy).line())
