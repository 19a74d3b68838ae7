"""The sampling loop: times one inference after another and publishes what it measured, disturbing as little as it can.

Runs in the worker thread of an engine process. The plan of arrivals and the budget of samples are arithmetic beside it.
"""

from __future__ import annotations

import gc
import math
import sys
from collections.abc import Callable
from itertools import pairwise, repeat

from hettop.events import WINDOW_LIMIT
from hettop.models.ports import Feed
from hettop.processes.interruptions import Interruption
from hettop.sources.engine.backend import Backend
from hettop.sources.engine.frames import InterruptedReport, RetireReport, StateReport, UsageReport
from hettop.sources.engine.job import Limits, RunMode, WorkerState
from hettop.sources.engine.publisher import NOT_REPORTED, REFUSED, Out, Publisher, Window
from hettop.units import NS_PER_S

FLUSH_NS = 50_000_000
"""Fine enough for any screen, coarse enough that flushes are a fraction of a per cent (docs/method/performance.md)."""

LONG_REST_NS = 20_000_000
"""A longer rest listens for commands; a shorter one sleeps on the samples' clock, which is more punctual."""

SIGNAL_NS = 5_000_000
"""How long an unusually long call is held back: until a signal that a stop ended with has certainly been noted."""

SHORT_REST_NS = 5_000_000
"""The end of a long rest is slept on the samples' clock, too."""


CLOCKS_DIFFER_NS = 1_000
"""The framework reads another clock than we do: a coarse one counts microseconds, and rounds the last of them up."""


class Sampler:
    """Runs `backend.predict(feed)` as ordered, from the first call to the last.

    `read_usage` and `interruption` are asked once per flush, `peak_memory_mb` when the unit pauses or stops. After
    `recycle_after` predictions (None: never) it retires. `before_each` is called before each of them, outside of its
    time. All times are of `backend.clock`. What either raises goes through to the caller.
    """

    def __init__(
        self,
        backend: Backend,
        feed: Feed,
        out: Out,
        state: WorkerState,
        *,
        warmup: int,
        rate_hz: float | None,
        rest_ns: int = 0,
        read_usage: Callable[[], UsageReport | None] = lambda: None,
        interruption: Callable[[], Interruption | None] = lambda: None,
        peak_memory_mb: Callable[[], float | None] = lambda: None,
        recycle_after: int | None = None,
        before_each: Callable[[], None] | None = None,
    ) -> None:
        self._backend = backend
        self._clock = backend.clock
        self._feed = feed
        self._publisher = Publisher(out, read_usage)
        self._state = state
        self._budget = SampleBudget(warmup, recycle_after)
        self._pace = Pace(rate_hz) if rate_hz is not None else None
        self._interruption = interruption
        self._peak_memory_mb = peak_memory_mb
        self._rest_ns = rest_ns
        self._before_each = before_each
        self._last_start = 0
        self._last_end = 0

        self._flush_at = 0
        self._held = False
        self._reported = ""
        self._told_done = False
        self._slot: tuple[int, int] | None = None
        self._condition: str | None = None

    def first_call(self) -> int:
        """Makes the first call after the load and returns its latency in ns. Call it once, before `run`."""
        self._apply_commands()
        self._say("warming")
        window = self._publisher.begin("first")
        self._last_end = self._back_to_back(window, FOREVER, 1)
        self._last_start = window.start[-1]
        self._budget.account("first", 1, self._last_end)
        latency = window.latency[0]
        self.flush()
        return latency

    def predicted_apart(self, n: int) -> None:
        """The model was run `n` times more, outside of the samples."""
        self._budget.predictions += n

    def run(self) -> None:
        """Warms up, then samples, pauses and keeps to its slots as ordered, until it is asked to stop, or retires."""
        state = self._state
        self._budget.begin(self._clock.now())
        while self._budget.warmups_left and not state.told_to_pause and state.doing is not RunMode.STOP:
            self._apply_commands()
            if self._budget.warmups_left:
                self._stretch(FOREVER)
        while True:
            self._apply_commands()
            if state.doing is RunMode.STOP:
                break
            if state.told_to_retire:
                self._retire()
                return
            if state.doing is RunMode.PAUSE or self._budget.reached(state.limits):
                self._stay_paused()
            elif self._budget.worn:
                self._retire()
                return
            elif state.doing is RunMode.SLOTS:
                self._keep_to_slots()
            else:
                self._slot = None
                self._say("running")
                self._stretch(FOREVER)
        self._take_break()
        self._say("stopped", peak_memory_mb=self._peak_memory_mb())

    # -- one stretch of samples ---------------------------------------------------------------------------------

    def _stretch(self, until: int) -> None:
        """Samples of one phase until one ends at or after `until`, something must be flushed, or a command comes."""
        phase, count = self._budget.next_phase(self._state.limits)
        window = self._publisher.begin(phase)
        count = min(count, WINDOW_LIMIT - len(window))
        if phase == "steady":
            until = min(until, self._budget.steady_until(self._state.limits))
        before = len(window)
        if self._pace is not None and phase == "steady":
            end = self._paced(window, self._pace, until)
        elif self._pace is None and self._rest_ns and phase != "warmup":
            end = self._rested(window, until)
        else:
            end = self._back_to_back(window, min(until, self._flush_at), count)
        if len(window) > before:
            self._last_start, self._last_end = window.start[-1], end
        self._budget.account(phase, len(window) - before, end)
        if end >= self._flush_at or len(window) >= WINDOW_LIMIT:
            unusual = len(window) > before and window.latency[-1] > self._publisher.usual_ns + FLUSH_NS
            if unusual and not self._held and len(window) < WINDOW_LIMIT:
                self._held, self._flush_at = True, end + SIGNAL_NS
            else:
                self.flush()

    def _back_to_back(self, window: Window, until: int, count: int) -> int:
        """Up to `count` samples without a break; returns the last one's end. The loop that must cost nothing."""
        predict, feed, now, state = self._backend.predict, self._feed, self._clock.now, self._state
        add_start, add_latency, add_native = window.start.append, window.latency.append, self._add_native(window)
        before_each, end = self._before_each, 0
        for _ in repeat(None, count):
            if before_each is not None:
                before_each()
            start = now()
            predict(feed)
            end = now()
            add_start(start)
            add_latency(end - start)
            if add_native is not None:
                add_native()
            if end >= until or state.changed:
                break
        return end

    def _paced(self, window: Window, pace: Pace, until: int) -> int:
        """Waits for the next planned start and takes one sample; returns its end, or when the wait was broken off.

        Open loop: a sample that is late starts at once, and the plan stays as it was.
        """
        now = self._clock.now
        planned = pace.next_start(now(), self._last_start)
        flush_at = self._flush_at if self._publisher.holds_anything else FOREVER
        self._rest_until(min(planned, until, flush_at))
        start = now()
        if start < planned or planned >= until:
            return start  # commands that came during a short rest wait for this sample: it is due
        if self._before_each is not None:
            self._before_each()
        start = now()
        self._backend.predict(self._feed)
        end = now()
        window.start.append(start)
        window.latency.append(end - start)
        window.late.append(start - planned)
        if (add_native := self._add_native(window)) is not None:
            add_native()
        pace.started()
        return end

    def _rested(self, window: Window, until: int) -> int:
        """Rests after the sample before and takes one; returns its end, or when the rest was broken off."""
        now = self._clock.now
        rested = self._last_end + self._rest_ns
        self._rest_until(min(rested, until, self._flush_at if self._publisher.holds_anything else FOREVER))
        moment = now()
        return moment if moment < rested else self._back_to_back(window, FOREVER, 1)

    def _add_native(self, window: Window) -> Callable[[], None] | None:
        if not self._backend.has_native:
            return None
        native_ns, add, latency = self._backend.native_ns, window.native.append, window.latency

        def add_native() -> None:
            native = native_ns()
            if native is None:
                add(NOT_REPORTED)
            # What is part of the call cannot have taken longer than all of it.
            elif isinstance(native, int) and 0 <= native <= latency[-1] + CLOCKS_DIFFER_NS:
                add(native)
            else:
                add(REFUSED)

        return add_native

    # -- doing as ordered ---------------------------------------------------------------------------------------

    def _apply_commands(self) -> None:
        if self._state.changed or self._condition is None:
            self._state.acknowledge()
            if self._state.told_warm:
                self._budget.warmups_left = 0
            if self._state.condition != self._condition:
                self._condition = self._state.condition
                self._backend.told_load(self._condition)

    def _keep_to_slots(self) -> None:
        self._say("running")
        now = self._clock.now()
        if self._slot is None:
            self._await_slot(now)
            return
        last_start = self._slot[1] - self._publisher.usual_ns
        # A block's first sample runs even in a slot that seems too short: else a unit turned slow never learns.
        after_break = self._budget.after_break
        if now >= last_start and not after_break:
            self._leave_slot()
        else:
            self._stretch(FOREVER if after_break else last_start)

    def _await_slot(self, now: int) -> None:
        slot = self._state.next_slot(now)
        if slot is None:
            self._wait_for_news()
        elif slot[0] > now:
            self._rest_until(slot[0])
        else:
            self._state.begin_slot(slot)
            # Too late for it, unless no slot would be long enough.
            if now <= max(slot[0] + LONG_REST_NS, slot[1] - self._publisher.usual_ns):
                self._take_break()
                self._slot = slot

    def _leave_slot(self) -> None:
        self._slot = None
        self._take_break()
        self.flush()
        gc.collect()  # beside the next unit's first sample, which is a `resume`

    def _stay_paused(self) -> None:
        done = self._budget.reached(self._state.limits)
        if self._reported != "paused" or done != self._told_done:
            self._take_break()
            self._told_done = done
            self._say("paused", again=True, done=done, peak_memory_mb=self._peak_memory_mb())
            gc.collect()
        self._wait_for_news()

    def _take_break(self) -> None:
        if self._pace is not None:
            self._pace.interrupt(self._last_end)
        self._slot = None
        self._budget.after_break = True

    def _wait_for_news(self) -> None:
        """Waits until a command comes, writing meanwhile what the reader did not take earlier."""
        behind = self._publisher.catch_up()
        self._state.wait(FLUSH_NS / NS_PER_S if behind else None)

    def _rest_until(self, moment: int) -> None:
        """Sleeps until `moment`; a long rest ends early when a command comes."""
        left = moment - self._clock.now()
        if left > LONG_REST_NS:
            self._state.wait((left - SHORT_REST_NS) / NS_PER_S)
        if not self._state.changed:
            self._clock.sleep_until(moment)

    def _note_interruption(self) -> None:
        """Sets apart what was measured around a stop of the process or a sleep of the machine, and reports it.

        That is all since the last flush: some 50 ms of samples, or the one that was interrupted.
        """
        found = self._interruption()
        if found is None:
            return
        ns = found.slept_ns or self._stopped_ns()
        stopped_ns = 0 if found.slept_ns else ns  # the samples' clock stands still while the machine sleeps
        self._budget.set_apart(self._publisher.set_apart("transition"), stopped_ns)
        self._publisher.report(InterruptedReport(why=found.why, ns=ns))
        if self._pace is not None:
            self._pace.interrupt(self._clock.now() - stopped_ns)
        self._budget.after_break = self._budget.after_break or self._reported != "warming"

    def _stopped_ns(self) -> int:
        """How long it may have been stopped: the longest time between starts and ends since the last flush.

        0 where that is unknown: before the first call, and while it pauses or waits for its turn.
        """
        idle = self._reported not in ("warming", "running") or (self._state.doing is RunMode.SLOTS and not self._slot)
        window = self._publisher.window
        ends = map(sum, zip(window.start, window.latency, strict=True))
        moments = sorted((*window.start, *ends, self._last_start, self._last_end, self._clock.now()))
        return 0 if idle or not self._last_end else max(later - moment for moment, later in pairwise(moments))

    # -- publishing ---------------------------------------------------------------------------------------------

    def _say(self, state: str, *, again: bool = False, done: bool = False, peak_memory_mb: float | None = None) -> None:
        if state == self._reported and not again:
            return
        self._reported = state
        unfinished = self._unfinished() if state in {"paused", "stopped"} else None
        self._publisher.report(
            StateReport(state=state, done=done, unfinished=unfinished, peak_memory_mb=peak_memory_mb)
        )

    def _retire(self) -> None:
        self._take_break()
        self._publisher.report(
            RetireReport(
                predictions=self._budget.predictions,
                steady_ns=self._budget.steady_ns,
                unfinished=self._unfinished(),
                peak_memory_mb=self._peak_memory_mb(),
            )
        )

    def _unfinished(self) -> int | None:
        return None if self._pace is None else self._pace.unfinished

    def flush(self) -> None:
        """Publishes what was measured so far."""
        self._note_interruption()
        self._publisher.flush()
        self._held = False
        self._flush_at = self._clock.now() + FLUSH_NS


class Pace:
    """Planned starts, one every 1 / `rate_hz` s: those of an endless run from which the unit's pauses are cut out.

    A pause lasts from the end of a call to that of the `resume` after it, which serves no arrival. What had arrived
    before and was not started is late by the same time afterwards, and what had not comes after the same wait. So turns
    show the response times of a unit that runs alone.
    """

    def __init__(self, rate_hz: float) -> None:
        self._period = NS_PER_S / rate_hz
        self._origin: int | None = None
        self._started = 0
        self._paused_at: int | None = None

    def next_start(self, now: int, last_start: int) -> int:
        """The planned start of the next sample; of the first one, a period after the call before, or now."""
        if self._origin is None:
            self._origin = max(now, last_start + int(self._period))
        elif self._paused_at is not None:
            self._origin += now - self._paused_at
        self._paused_at = None
        return self._origin + int(self._started * self._period)

    def started(self) -> None:
        """That sample was started: the one after it is next."""
        self._started += 1

    def interrupt(self, now: int) -> None:
        """The unit has paused since `now`, if not before. Nothing arrives until the next start is asked for."""
        if self._origin is not None and self._paused_at is None:
            self._paused_at = now

    @property
    def unfinished(self) -> int:
        """Arrivals that were due before the pause and have not been started."""
        if self._origin is None or self._paused_at is None:
            return 0
        return max(0, math.ceil((self._paused_at - self._origin) / self._period) - self._started)


FOREVER = sys.maxsize


class SampleBudget:
    """Counts what was sampled. `after_break`: another unit ran, or a pause, so the next sample is a `resume`.

    `recycle_after` predictions wear the process out (None: none do). At most half of them go into the warm-up, and it
    is not worn before it has taken a steady sample: else one process after another would start and measure nothing.
    """

    def __init__(self, warmup: int, recycle_after: int | None) -> None:
        self.warmups_left = warmup if recycle_after is None else min(warmup, recycle_after // 2)
        self.after_break = False
        self.predictions = 0
        self.steady_ns = 0
        self._recycle_after = recycle_after
        self._steady = 0
        self._counted_to = 0  # steady running time is summed up to this moment

    @property
    def worn(self) -> bool:
        return self._recycle_after is not None and self.predictions >= self._recycle_after and self._steady > 0

    def begin(self, now: int) -> None:
        """Sampling begins: what was done before does not count as running time."""
        self._counted_to = now

    def next_phase(self, limits: Limits) -> tuple[str, int]:
        """The phase of the next samples, and how many of them may follow each other."""
        phase, count = self._due(limits)
        return phase, min(count, self._predictions_left())

    def account(self, phase: str, n: int, end: int) -> None:
        """`n` samples of a phase were taken, or the wait for one broken off, by the moment `end`."""
        self.predictions += n
        if phase == "steady":
            self._steady += n
            self.steady_ns += end - self._counted_to
        elif phase == "warmup":
            self.warmups_left -= n
        elif n:
            self.after_break = False
        self._counted_to = end

    def set_apart(self, n: int, ns: int) -> None:
        """`n` samples that were counted as steady are none, and for `ns` of the running time nothing ran."""
        self._steady -= n
        self.steady_ns = max(0, self.steady_ns - ns)

    def steady_until(self, limits: Limits) -> int:
        """The moment by which steady running time is used up."""
        return self._counted_to + self._steady_ns_left(limits)

    def reached(self, limits: Limits) -> bool:
        return (limits.runs is not None and self._steady >= limits.runs) or self._steady_ns_left(limits) <= 0

    def _due(self, limits: Limits) -> tuple[str, int]:
        if self.after_break:
            return "resume", 1
        if self.warmups_left:
            return "warmup", self.warmups_left
        return "steady", FOREVER if limits.runs is None else limits.runs - self._steady

    def _predictions_left(self) -> int:
        return FOREVER if self._recycle_after is None else max(1, self._recycle_after - self.predictions)

    def _steady_ns_left(self, limits: Limits) -> int:
        if limits.duration_ns is None:
            return FOREVER
        left = limits.duration_ns - self.steady_ns
        return max(left, 1) if self._steady < limits.least_runs else left
