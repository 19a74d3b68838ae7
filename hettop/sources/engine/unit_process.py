"""One unit of an engine: its process, what the process said, and what that means in events.

Never waits for anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from signal import SIGKILL

import msgspec

from hettop import events
from hettop.processes.child_log import sentences
from hettop.processes.child_process import ChildExit
from hettop.sources.engine.child import Child
from hettop.sources.engine.frames import (
    AnswerReport,
    AnyFrame,
    BrokenStreamError,
    DoubtReport,
    ErrorReport,
    InterruptedReport,
    LostReport,
    OutputsFrame,
    ReadyReport,
    RetireReport,
    SampleFrame,
    StateReport,
    UsageReport,
)
from hettop.sources.engine.handover import TOO_MANY, MemoryWatch, WorkerHandover
from hettop.sources.engine.job import AnyCommand, Limits, Retire, SetLimits, Stop
from hettop.sources.engine.outputs import Comparisons
from hettop.sources.engine.schedule import BLOCK_SAMPLES
from hettop.sources.engine.unit_events import (
    Doubts,
    LoadHistory,
    SampleEvents,
    answer_event,
    ready_event,
    state_event,
    usage_events,
)
from hettop.sources.engine.watchdog import Timeouts, Watchdog
from hettop.text import clean
from hettop.units import NS_PER_S

EngineEvent = (
    events.Answer
    | events.Engine
    | events.Samples
    | events.Dropped
    | events.Interrupted
    | events.Usage
    | events.Plan
    | events.Outputs
)

ANSWERS_PER_BLOCK = 5
"""In turns: the first one settles the unit, as a single call does for others."""

LOST = "the reader of the samples was too slow"

Spawn = Callable[[str, Limits, bool], Child]
"""Starts a process for a unit that works until the limits; with the last argument true, in place of one that retired.

Raises OSError.
"""


class UnitProcess:
    """A unit's standing. `outbox` gathers its events, with `t` still 0."""

    def __init__(
        self,
        unit: str,
        *,
        origin_ns: int,
        limits: Limits,
        timeouts: Timeouts,
        loads: LoadHistory,
        comparisons: Comparisons,
        now: Callable[[], int],
        first_tokens: str | None = None,
    ) -> None:
        """`first_tokens`: the row of the first tokens of its answers, where it gives any; limits are then of these."""
        self.unit = unit
        self.outbox: list[EngineEvent] = []
        self.state: str | None = None
        self.failure: events.Failure | None = None
        self.done = False
        self.ready: ReadyReport | None = None
        self.child: Child | None = None
        self._limits = limits
        self._comparisons = comparisons
        self._watchdog = Watchdog(timeouts)
        self._origin_ns = origin_ns
        self._loads = loads
        self._samples = SampleEvents(unit, origin_ns=origin_ns, loads=loads, now=now)
        self._first_tokens = first_tokens
        self._counted = (
            self._samples
            if first_tokens is None
            else SampleEvents(first_tokens, origin_ns=origin_ns, loads=loads, now=now)
        )
        """The samples that the limits are of: all, or the first tokens of answers."""
        self._handover = WorkerHandover()
        self._memory = MemoryWatch()
        self._answer_ns = 0
        self._doubts = Doubts()
        self._warnings: dict[str, str] = {}
        self._dying: list[Child] = []
        self._reported: ErrorReport | None = None
        self._runs_asked = limits.runs or 0

    @property
    def loading(self) -> bool:
        """Whether it is on the way to being ready, its warm-up included."""
        return self.child is not None and self.state in {"spawning", "loading", "compiling", "warming"}

    @property
    def may_run(self) -> bool:
        return self.child is not None and self.ready is not None and not self.done and not self._handover.vacant

    @property
    def vacant(self) -> bool:
        """Whether its process retired and is gone, and a new one is to go on where it was."""
        return self.child is None and self.failure is None and self._handover.vacant

    @property
    def being_replaced(self) -> bool:
        """Whether its process retired, and the next one is not ready to go on."""
        return self.failure is None and (self._handover.vacant or (self._handover.recycled and self.loading))

    @property
    def active(self) -> bool:
        """Whether it may be running a sample now, as far as it has said."""
        return self.state in {"warming", "running"}

    @property
    def gone(self) -> bool:
        """Whether it has no process that could still say anything."""
        return self.child is None or self.child.frames_ended

    @property
    def settled(self) -> bool:
        return self.done or self.failure is not None

    @property
    def resident_mb(self) -> float:
        """The memory of its process, as that last reported it; 0 without one."""
        return self._memory.last_mb if self.child is not None else 0.0

    def usual_ns(self) -> int | None:
        """P90 of the latest latencies, None when there are none yet; of answers, so much that a block holds several."""
        if self._first_tokens is not None:
            return self._answer_ns * ANSWERS_PER_BLOCK // BLOCK_SAMPLES or None
        return self._samples.usual_ns()

    def start(self, spawn: Spawn) -> None:
        """Starts a process of its own, a new one if there was one; what it still lacks is its limit."""
        self.abandon()
        if not self._handover.vacant:
            self._handover = WorkerHandover()
        self._handover.begin()
        self._memory = MemoryWatch()
        self.failure, self.ready, self._reported = None, None, None
        self.done = False
        self._watchdog.silent_ns = 0
        self._samples.interrupted()
        self._counted.interrupted()
        limits = self._handover.limits(self._limits, self._counted.steady)
        self._runs_asked = limits.runs or 0
        try:
            self.child = spawn(self.unit, limits, self._handover.recycled)
        except OSError as error:
            self._fail("crashed", f"cannot start an engine process: {error}", "", [])
        else:
            note, peak_mb = self._handover.note, self._handover.peak_memory_mb(None)
            self._enter(
                events.Engine(
                    t=0, unit=self.unit, state="spawning", pid=self.child.pid, note=note, peak_memory_mb=peak_mb
                )
            )

    def rest(self) -> None:
        """Its process retired, and it is not to run now: a new one can wait until it is."""
        if self.state != "stopped":
            peak_mb = self._handover.peak_memory_mb(None)
            self._enter(
                events.Engine(t=0, unit=self.unit, state="stopped", note=self._handover.note, peak_memory_mb=peak_mb)
            )

    def send(self, command: AnyCommand) -> None:
        if self.child is not None:
            self.child.send(command)

    def release(self) -> None:
        """Have its process retire, if it has one that could run: it is loaded anew when it is next to run."""
        if self.may_run and self._handover.asked is None:
            self._handover.asked = TOO_MANY
            self.send(Retire())

    def stop(self) -> None:
        """Asks it to say goodbye; one that is still loading could not hear that, and is hung up on."""
        if self.child is not None:
            if self.ready is None:
                self.child.hang_up()
            else:
                self.child.send(Stop())

    def abandon(self) -> None:
        """Kills the process, if any; it is collected later."""
        if self.child is not None:
            self.child.kill()
            self._dying.append(self.child)
            self.child = None

    def discard(self) -> None:
        """Forgets the process, what it left to another one, and that it failed."""
        self.abandon()
        self.failure = None
        self._handover = WorkerHandover()
        self._warnings = {}

    def receive(self, child: Child, data: bytes) -> None:
        """Takes in bytes of frames from `child`, which need not be the present one. No bytes: its frames have ended."""
        if child is self.child and not data:
            self._watchdog.silent_ns = 0
        try:
            for frame in child.receive_frames(data):
                if child is self.child:
                    self._watchdog.silent_ns = 0
                    self._receive_frame(frame)
        except BrokenStreamError as error:
            if child is self.child:
                self._fail("crashed", f"the engine process sent an invalid message: {error}", "", child.log())
                self.abandon()

    def receive_log(self, child: Child, data: bytes) -> None:
        """Take what `child` printed, which need not be the present one. No bytes: its log has ended.

        The log is a pipe of its own: what was printed before the child was ready may come after.
        """
        if child.receive_log(data) and child is self.child:
            self._warnings = {**child.warnings, **self._warnings}
            self._tell_note(counted=False)

    def check(self, elapsed_ns: int, allowance_ns: int) -> None:
        """Notices an end or a hang. `elapsed_ns` since the last check; `allowance_ns` that a running unit may idle."""
        self._watchdog.silent_ns += elapsed_ns
        self._dying = [child for child in self._dying if child.collect(0) is None]
        if self.child is None:
            return
        self.child.retry()
        if self.child.frames_ended:
            self._bury(self.child)
            return
        ready, largest_ns = self.ready is not None, self._samples.largest_ns
        doing = self._watchdog.exhausted(self.state, ready=ready, largest_ns=largest_ns, allowance_ns=allowance_ns)
        if doing is not None:
            self._time_out(self.child, doing)

    def end(self, patience_s: float) -> None:
        """Kills what still runs and collects everything, waiting up to `patience_s` for each process."""
        if self.state not in {None, "stopped", "failed"}:
            peak_mb = self._handover.peak_memory_mb(None)
            self._enter(events.Engine(t=0, unit=self.unit, state="stopped", peak_memory_mb=peak_mb))
        self.abandon()
        self._dying = [child for child in self._dying if child.collect(patience_s) is None]

    # -- what the process says ----------------------------------------------------------------------------------

    def _receive_frame(self, frame: AnyFrame) -> None:  # noqa: PLR0912 - a case for each kind of frame
        match frame:
            case SampleFrame(first_token=True):
                self.outbox += self._counted.take(frame)
            case SampleFrame():
                self.outbox += self._samples.take(frame)
            case AnswerReport():
                self.outbox.append(answer_event(self.unit, frame, origin_ns=self._origin_ns, loads=self._loads))
                self._answer_ns = max(frame.end_ns - frame.start_ns, self._answer_ns // 2)
            case OutputsFrame():
                self.outbox += self._comparisons.add(self.unit, frame)
            case StateReport():
                self._take_state(frame)
            case ReadyReport():
                self._take_ready(frame)
            case ErrorReport():
                self._reported = frame  # reported once its log is complete
            case LostReport(n=n):
                self._samples.interrupted()
                self._counted.interrupted()
                self.outbox.append(events.Dropped(t=0, n=n, why=LOST, unit=self.unit))
            case DoubtReport(n=n):
                if self._doubts.add(n):
                    self._tell_note(counted=False)
            case InterruptedReport(why=why, ns=ns):
                self._samples.interrupted()
                self._counted.interrupted()
                self.outbox.append(events.Interrupted(t=0, unit=self.unit, why=why, ns=min(ns, events.LARGEST_EXACT)))
            case RetireReport():
                self._handover.retired(frame)
            case UsageReport():
                self._take_usage(frame)

    def _take_ready(self, report: ReadyReport) -> None:
        self.ready = report
        self._enter(ready_event(self.unit, report, self._handover, self._doubts))
        if self._warnings:
            self._tell_note(counted=False)

    def _take_usage(self, report: UsageReport) -> None:
        self.outbox += usage_events(self.unit, report, self._origin_ns)
        if report.resident_mb is not None and self._handover.asked is None:
            self._handover.asked = self._memory.add(report.resident_mb)
            if self._handover.asked is not None:
                self.send(Retire())

    def _take_state(self, report: StateReport) -> None:
        if report.done and self._lacks_samples():
            return
        self.done = report.done or (self.done and report.state == "stopped")
        self._enter(state_event(self.unit, report, self._handover, self._origin_ns))
        if report.state in {"paused", "stopped"} and self._doubts.news:
            self._tell_note(counted=True)

    def _tell_note(self, *, counted: bool) -> None:
        """The unit's note anew, once it is ready. `counted`: with the number of native times not believed."""
        if self.state not in {None, "failed"} and self.ready is not None:
            note = self._doubts.note(self.ready.note, counted=counted, warnings=sentences(self._warnings))
            self._enter(events.Engine(t=0, unit=self.unit, state=str(self.state), note=note))

    def _lacks_samples(self) -> bool:
        """Asks for more when some samples that the process counted were not steady (the load changed) or got lost."""
        lacking = self._handover.lacking(self._counted.steady)
        if not lacking:
            return False
        self._runs_asked += lacking
        self.send(SetLimits(limits=Limits(runs=self._runs_asked)))
        return True

    def _enter(self, event: events.Engine) -> None:
        self.state = event.state
        self.outbox.append(event)
        if self._first_tokens is not None:  # the row shares the process
            self.outbox.append(
                msgspec.structs.replace(
                    event, unit=self._first_tokens, load_ns=None, first_ns=None, note=None, pid=None, inputs=[]
                )
            )

    # -- its end ------------------------------------------------------------------------------------------------

    def _bury(self, child: Child) -> None:
        retired = self._handover.vacant  # its log is not needed
        if not (child.log_ended or retired or self._watchdog.log_is_over):
            return
        ended = child.collect(0)
        if ended is None:
            return
        self.child = None
        if self.state == "stopped" or retired:
            return
        if self._reported is not None:
            self._fail(self._reported.kind, self._reported.message, self._reported.hint, child.log())
        else:
            kind, hint = _end_of(ended, sentences(child.warnings))
            self._fail(kind, f"engine process {ended.words} while {self.state}", hint, child.log())

    def _time_out(self, child: Child, doing: str) -> None:
        self._fail(
            "timeout",
            f"engine process hung {doing}: nothing for {self._watchdog.silent_ns / NS_PER_S:.1f} s, killed by SIGKILL",
            "restart the unit to try again",
            child.log(),
        )
        self.abandon()

    def _fail(self, kind: str, message: str, hint: str, log: list[str]) -> None:
        self.failure = events.Failure(kind=clean(kind), message=clean(message), hint=clean(hint), log=log)
        self._enter(events.Engine(t=0, unit=self.unit, state="failed", error=self.failure))


def _end_of(ended: ChildExit, warnings: Sequence[str]) -> tuple[str, str]:
    """The kind of failure, and the hint, of a process that ended in this way and had these warnings in its log."""
    if ended.timed_out:
        return "timeout", "use CPU_ONLY or CPU_AND_GPU: without a Neural Engine, loading for one can hang for minutes"
    killed = ended.signal == SIGKILL  # by another: a process that is killed here is abandoned first
    hint = "the system kills processes when memory runs out" if killed else ""
    # A model that the Neural Engine's compiler refused was seen to load, and its process to be killed at a first call.
    return "killed" if killed else "crashed", warnings[0] if warnings else hint
