"""One unit of an engine: its process, what the process said, and what that means in events.

Knows nothing of the other units or of why this one runs; never waits for anything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from hettop import events
from hettop.engine.child import Child
from hettop.engine.conditions import LoadHistory, to_events
from hettop.engine.frames import (
    BrokenStreamError,
    ErrorReport,
    LostReport,
    ReadyReport,
    SampleFrame,
    StateReport,
    UsageReport,
)
from hettop.engine.job import AnyCommand, Limits, SetLimits, Stop
from hettop.text import clean

EngineEvent = events.Engine | events.Samples | events.Dropped | events.Usage

NS_PER_S = 10**9
RECENT = 64
"""Latest latencies that tell what is usual; the same number as in the sampling loop."""

PATIENT_FACTOR = 50
"""A sample that takes this many times the longest one so far is taken for a hang, if it also exceeds the time-out."""

LOG_GRACE_NS = 500_000_000
"""How long to wait for the last lines of a log that a grandchild may hold open."""

LOST = "the reader of the samples was too slow"


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a unit may say nothing while its process starts, its model loads (with the first call), and it runs."""

    spawn_s: float = 30.0
    load_s: float = 900.0
    predict_s: float = 30.0


class Member:
    """A unit's standing. `outbox` gathers its events, with `t` still 0."""

    def __init__(self, unit: str, *, origin_ns: int, limits: Limits, timeouts: Timeouts, loads: LoadHistory) -> None:
        self.unit = unit
        self.outbox: list[EngineEvent] = []
        self.state: str | None = None
        self.failure: events.Failure | None = None
        self.done = False
        self.ready: ReadyReport | None = None
        self.child: Child | None = None
        self._origin_ns = origin_ns
        self._limits = limits
        self._timeouts = timeouts
        self._loads = loads
        self._dying: list[Child] = []
        self._reported: ErrorReport | None = None
        self._silent_ns = 0
        self._largest_ns = 0
        self._recent: deque[int] = deque(maxlen=RECENT)
        self._previous_end: int | None = None
        self._steady = 0
        self._runs_asked = limits.runs or 0

    @property
    def loading(self) -> bool:
        """Whether it is on the way to being ready, its warm-up included."""
        return self.child is not None and self.state in {"spawning", "loading", "compiling", "warming"}

    @property
    def may_run(self) -> bool:
        return self.child is not None and self.ready is not None and not self.done

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

    def usual_ns(self) -> int | None:
        """P90 of the latest latencies, None when there are none yet."""
        ranked = sorted(self._recent)
        return ranked[len(ranked) * 9 // 10] if ranked else None

    def start(self, spawn: Callable[[Limits], Child]) -> None:
        """Starts a process of its own, a new one if there was one; what it still lacks of `runs` is its limit."""
        self.abandon()
        self.failure, self.ready, self._reported = None, None, None
        self.done = False
        self._previous_end, self._silent_ns = None, 0
        runs = self._limits.runs
        if runs is not None:
            runs = runs - self._steady if runs > self._steady else runs
            self._runs_asked = runs
        try:
            self.child = spawn(Limits(runs=runs, duration_ns=self._limits.duration_ns))
        except OSError as error:
            self._fail("crashed", f"no engine process could be started: {error}", "", [])
        else:
            self._enter(events.Engine(t=0, unit=self.unit, state="spawning", pid=self.child.pid))

    def tell(self, command: AnyCommand) -> None:
        if self.child is not None:
            self.child.tell(command)

    def stop(self) -> None:
        """Asks it to say goodbye; one that is still loading could not hear that, and is hung up on."""
        if self.child is not None:
            if self.ready is None:
                self.child.hang_up()
            else:
                self.child.tell(Stop())

    def abandon(self) -> None:
        """Kills the process, if any; it is collected later."""
        if self.child is not None:
            self.child.kill()
            self._dying.append(self.child)
            self.child = None

    def receive(self, child: Child, data: bytes) -> None:
        """Takes in bytes of frames from `child`, which need not be the present one. No bytes: its frames have ended."""
        if child is self.child and not data:
            self._silent_ns = 0
        try:
            for frame in child.receive_frames(data):
                if child is self.child:
                    self._silent_ns = 0
                    self._take_in(frame)
        except BrokenStreamError as error:
            if child is self.child:
                self._fail("crashed", f"the engine process sent what makes no sense: {error}", "", child.log())
                self.abandon()

    def check(self, elapsed_ns: int, allowance_ns: int) -> None:
        """Notices an end or a hang. `elapsed_ns` since the last check; `allowance_ns` that a running unit may idle."""
        self._silent_ns += elapsed_ns
        self._dying = [child for child in self._dying if child.collect(0) is None]
        if self.child is None:
            return
        self.child.retry()
        if self.child.frames_ended:
            self._bury(self.child)
        elif (limit := self._patience_ns(allowance_ns)) is not None and self._silent_ns > limit:
            self._time_out(self.child)

    def end(self, patience_s: float) -> None:
        """Kills what still runs and collects everything, waiting up to `patience_s` for each process."""
        if self.child is not None and self.state != "stopped":
            self._enter(events.Engine(t=0, unit=self.unit, state="stopped"))
        self.abandon()
        self._dying = [child for child in self._dying if child.collect(patience_s) is None]

    # -- what the process says ----------------------------------------------------------------------------------

    def _take_in(self, frame: SampleFrame | StateReport | ReadyReport | ErrorReport | LostReport | UsageReport) -> None:
        match frame:
            case SampleFrame():
                self._take_samples(frame)
            case StateReport():
                self._take_state(frame)
            case ReadyReport():
                self._take_ready(frame)
            case ErrorReport():
                self._reported = frame  # told once its log is complete
            case LostReport(n=n):
                self._previous_end = None
                self.outbox.append(events.Dropped(t=0, n=n, why=LOST, unit=self.unit))
            case UsageReport():
                self.outbox.append(
                    events.Usage(
                        t=0,
                        unit=self.unit,
                        minor_faults=frame.minor_faults,
                        major_faults=frame.major_faults,
                        voluntary_switches=frame.voluntary_switches,
                        involuntary_switches=frame.involuntary_switches,
                        collections=frame.collections,
                    )
                )

    def _take_ready(self, report: ReadyReport) -> None:
        self.ready = report
        self._enter(
            events.Engine(
                t=0,
                unit=self.unit,
                state="warming",
                backend=clean(report.backend),
                load_ns=report.load_ns,
                first_ns=report.first_ns,
                compile_ns=report.compile_ns,
                cached=report.cached,
                qos=report.qos,
                placed=None if report.placed is None else clean(report.placed),
                note=clean(report.note) or None,
                pid=report.pid,
                inputs=[clean(text) for text in report.inputs],
                peak_memory_mb=report.peak_memory_mb,
            )
        )

    def _take_samples(self, frame: SampleFrame) -> None:
        windows = to_events(
            frame,
            t=0,
            unit=self.unit,
            origin_ns=self._origin_ns,
            previous_end=self._previous_end,
            loads=self._loads,
        )
        for window in windows:
            self.outbox.append(window)
            self._steady += window.n if window.phase == "steady" else 0
        self._previous_end = int(frame.start[-1] + frame.latency[-1])
        if frame.phase != "first":  # which says nothing of what is usual
            self._recent.extend(frame.latency[-RECENT:].tolist())
            self._largest_ns = max(self._largest_ns, int(frame.latency.max()))

    def _take_state(self, report: StateReport) -> None:
        if report.done and self._lacks_samples():
            return
        self.done = report.done or (self.done and report.state == "stopped")
        self._enter(
            events.Engine(
                t=0,
                unit=self.unit,
                state=report.state,
                unfinished=report.unfinished,
                peak_memory_mb=report.peak_memory_mb,
            )
        )

    def _lacks_samples(self) -> bool:
        """Asks for more when some samples that the process counted were not steady (the load changed) or got lost."""
        lacking = (self._limits.runs or 0) - self._steady
        if lacking <= 0:
            return False
        self._runs_asked += lacking
        self.tell(SetLimits(limits=Limits(runs=self._runs_asked)))
        return True

    def _enter(self, event: events.Engine) -> None:
        self.state = event.state
        self.outbox.append(event)

    # -- its end ------------------------------------------------------------------------------------------------

    def _bury(self, child: Child) -> None:
        if not child.log_ended and self._silent_ns < LOG_GRACE_NS:
            return
        status = child.collect(0)
        if status is None:
            return
        self.child = None
        if self.state == "stopped":
            return
        if self._reported is not None:
            self._fail(self._reported.kind, self._reported.message, self._reported.hint, child.log())
        else:
            hint = "the system kills processes when memory runs out" if status.endswith("SIGKILL") else ""
            self._fail("crashed", f"engine process {status} while {self.state}", hint, child.log())

    def _patience_ns(self, allowance_ns: int) -> int | None:
        """How long it may be silent now; None: for ever."""
        if self.state == "spawning":
            return int(self._timeouts.spawn_s * NS_PER_S)
        if self.ready is None:
            return int(self._timeouts.load_s * NS_PER_S)
        if self.active:
            return max(int(self._timeouts.predict_s * NS_PER_S), PATIENT_FACTOR * self._largest_ns) + allowance_ns
        return None

    def _time_out(self, child: Child) -> None:
        doing = {"spawning": "starting", "warming": "in its first call"}.get(self.state or "", self.state)
        if self.state == "warming" and self.ready is not None:
            doing = "warming up"
        self._fail(
            "timeout",
            f"engine process hung {doing}: nothing for {self._silent_ns / NS_PER_S:.1f} s, killed by SIGKILL",
            "restart the unit to try again",
            child.log(),
        )
        self.abandon()

    def _fail(self, kind: str, message: str, hint: str, log: list[str]) -> None:
        self.failure = events.Failure(kind=clean(kind), message=clean(message), hint=clean(hint), log=log)
        self._enter(events.Engine(t=0, unit=self.unit, state="failed", error=self.failure))
