"""The loop of answers: runs one after another, or several at once, and publishes each token's time as it comes.

Runs in the worker thread of an engine process. Answers from elsewhere are read on a thread each, which only takes
times; this thread publishes them.
"""

from __future__ import annotations

import threading
from array import array
from collections import deque
from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import dataclass, field

import msgspec

from hettop.errors import HettopError
from hettop.events import WINDOW_LIMIT
from hettop.processes.interruptions import Interruption
from hettop.sources.engine.backend import Answer, Answering, Clock
from hettop.sources.engine.frames import (
    AnswerReport,
    InterruptedReport,
    RetireReport,
    StateReport,
    UsageReport,
    encode_report,
    encode_samples,
    encode_tokens,
)
from hettop.sources.engine.job import RunMode, WorkerState
from hettop.sources.engine.loop import FLUSH_NS, FOREVER, SIGNAL_NS, Pace, SampleBudget
from hettop.sources.engine.publisher import Out
from hettop.units import NS_PER_S

FAILURES_IN_A_ROW = 5
"""So many answers without a first token end the unit: what answers does not come back by asking more often."""

END_MARK = 1
"""A token that ends an answer has no text. With more tokens than chunks beyond it, chunks hold several tokens without
looking it: of no gap after that is it known that it is one token's."""

BEATS_NS = NS_PER_S
"""While answers are waited for, hettop hears from this process so often."""

FAILED, CUT = "failed", "cut"


@dataclass(slots=True)
class Tokens:
    """Times of tokens that follow each other, not published yet."""

    first_token: bool
    position: int
    start: array[int] = field(default_factory=lambda: array("q"))
    latency: array[int] = field(default_factory=lambda: array("q"))
    late: array[int] = field(default_factory=lambda: array("q"))


class AnswerUnderWay:
    """What is known of one answer; `arrived` is called for each chunk, `take` by whoever publishes."""

    def __init__(self, number: int, phase: str, start: int, planned: int | None, *, count_gaps: bool) -> None:
        self.number = number
        self.phase = phase
        self.start = start
        self.late = None if planned is None else start - planned
        self.first: int | None = None
        self.last = start
        self.chunks = 0
        self.several = 0
        self.longest = 0
        self.count_gaps = count_gaps
        self._windows: list[Tokens] = []

    def arrived(self, begun: int, moment: int, single: bool) -> None:
        """A chunk came at `moment`; it was worked on, or waited for, since `begun`."""
        if self.first is None:
            self.first = moment
            self.several += not single
            window = Tokens(True, 0)
            self._add(window, self.start, moment)
            if self.late is not None:
                window.late.append(self.late)
            self._windows.append(window)
        else:
            self.longest = max(self.longest, moment - begun)
            if not single:
                self.several += 1
            elif self.count_gaps:
                self._add(self._window(), begun, moment)
        self.last = moment
        self.chunks += 1

    def _window(self) -> Tokens:
        """The last window, if the next token follows in it."""
        window = self._windows[-1] if self._windows else None
        if (
            window is None
            or window.first_token
            or window.position + len(window.start) != self.chunks
            or len(window.start) >= WINDOW_LIMIT
        ):
            window = Tokens(False, self.chunks)
            self._windows.append(window)
        return window

    @staticmethod
    def _add(window: Tokens, start: int, moment: int) -> None:
        window.start.append(start)
        window.latency.append(moment - start)

    def take(self) -> list[tuple[bytes, int]]:
        """Frames of what came since, with how many samples there are in each."""
        windows, self._windows = self._windows, []
        return [(self._frame(window), len(window.start)) for window in windows if len(window.start)]

    def _frame(self, window: Tokens) -> bytes:
        # What comes before the steady state of an answer is none of it: of the very first one only its first token is.
        phase = "warmup" if self.phase == "first" and not window.first_token else self.phase
        samples = encode_samples(phase, window.start, window.latency, None, window.late or None)
        return encode_tokens(samples, first_token=window.first_token, answer=self.number, position=window.position)

    def report(self, answer: Answer | None, finish: str, error: str = "") -> AnswerReport:
        counted = None if answer is None or finish in (CUT, FAILED) else answer.tokens
        contradicted = answer is not None and answer.contradicted
        unknown = bool(self.several) or not self.count_gaps or contradicted
        return AnswerReport(
            answer=self.number,
            phase=self.phase,
            start_ns=self.start,
            end_ns=self.last,
            chunks=self.chunks,
            several=self.several,
            tokens=counted if counted is not None or unknown else self.chunks,
            gaps_counted=self.count_gaps,
            prompt_tokens=None if answer is None else answer.prompt_tokens,
            cached_tokens=None if answer is None else answer.cached_tokens,
            first_ns=None if self.first is None else self.first - self.start,
            late_ns=self.late,
            longest_ns=self.longest if self.chunks > 1 else None,
            finish=finish,
            error=error,
        )


CHECK_MODEL = "check the model, --prompt-tokens, --max-tokens and --state"
"""The hint where the tokens come from a model here, not from a server."""


class AnswerLoop:
    """Asks `answering` for answers as ordered, from the first one to the last.

    The options are those of `loop.Sampler`, in answers. concurrency: how many may be under way at once, where tokens
    come from elsewhere.
    """

    def __init__(
        self,
        answering: Answering,
        clock: Clock,
        out: Out,
        state: WorkerState,
        *,
        warmup: int,
        rate_hz: float | None = None,
        concurrency: int = 1,
        threads: bool = False,
        read_usage: Callable[[], UsageReport | None] = lambda: None,
        interruption: Callable[[], Interruption | None] = lambda: None,
        peak_memory_mb: Callable[[], float | None] = lambda: None,
    ) -> None:
        self._answering, self._clock, self._out, self._state = answering, clock, out, state
        self._budget = SampleBudget(warmup, None)
        self._pace = Pace(rate_hz) if rate_hz is not None else None
        self._read_usage, self._peak_memory_mb = read_usage, peak_memory_mb
        self._interruption = interruption
        self._held = False
        self._free = max(1, concurrency)
        self._threads = threads
        self._lock: threading.Lock | nullcontext[None] = threading.Lock() if threads else nullcontext()
        self._under_way: list[AnswerUnderWay] = []
        self._ended: deque[tuple[AnswerUnderWay, AnswerReport]] = deque()
        self._number = 0
        self._failures, self._why = 0, ""
        self._count_gaps = True
        self._one_ended = threading.Event()
        self._durations: deque[int] = deque(maxlen=16)
        self._slot: tuple[int, int] | None = None
        self._broken_off = False
        self._flush_at = self._beat_at = 0
        self._last_start = self._last_end = 0
        self._reported, self._told_done = "", False

    def first_answer(self) -> int:
        """The first answer after the load; returns the time to its first token in ns. Call it once, before `run`."""
        self._say("warming")
        under_way = self._begin("first", None)
        while self._under_way:
            self._wait()
        self._settle()
        if under_way.first is None:
            hint = "check the model and its server" if self._answering.streamed else CHECK_MODEL
            raise HettopError("predict", self._why or "the first answer had no token", hint)
        return under_way.first - under_way.start

    def run(self) -> None:
        """Gives answers, pauses and keeps to its slots as ordered, until it is asked to stop."""
        state = self._state
        self._budget.begin(self._clock.now())
        while True:
            state.acknowledge()
            if state.told_warm:
                self._budget.warmups_left = 0
            if state.doing is RunMode.STOP or state.told_to_retire:
                break
            warm = not self._budget.warmups_left
            resting = state.doing is RunMode.PAUSE or self._budget.reached(state.limits)
            if state.told_to_pause or (warm and resting):
                self._stay_paused()
            elif warm and state.doing is RunMode.SLOTS:
                self._keep_to_slots()
            else:
                self._slot = None
                self._say("running" if warm else "warming")
                self._ask_or_wait(FOREVER)
        self._cut()
        if state.told_to_retire and state.doing is not RunMode.STOP:
            self._publish(RetireReport(predictions=self._budget.predictions, steady_ns=self._budget.steady_ns))
        else:
            self._say("stopped")

    # -- answers --------------------------------------------------------------------------------------------------

    def _ask_or_wait(self, until: int) -> None:
        """Begins the next answer if one may be under way and is due, else waits a little."""
        planned, phase = None, self._phase()
        if phase is None or len(self._under_way) >= self._free:
            self._wait()
            return
        if self._pace is not None and phase == "steady":
            planned = self._pace.next_start(self._clock.now(), self._last_start)
            if planned > self._clock.now():
                self._wait(min(planned, until))
                return
            self._pace.started()
        self._begin(phase, planned)

    def _phase(self) -> str | None:
        """The phase of the next answer; None while those under way are enough."""
        phase, count = self._budget.next_phase(self._state.limits)
        waiting = sum(each.phase == phase for each in self._under_way)
        others = len(self._under_way) - waiting
        return None if waiting >= count or (others and phase != "steady") else phase

    def _begin(self, phase: str, planned: int | None) -> AnswerUnderWay:
        start = self._clock.now()
        under_way = AnswerUnderWay(self._number, phase, start, planned, count_gaps=self._count_gaps)
        self._last_start = start
        self._number += 1
        self._under_way.append(under_way)
        if self._threads:
            threading.Thread(
                target=self._play, args=(under_way,), name=f"answer {under_way.number}", daemon=True
            ).start()
        else:
            self._play(under_way)
        return under_way

    def _play(self, under_way: AnswerUnderWay) -> None:
        """Takes the times of one answer, from its beginning to its end."""
        answer, finish, error = None, "", ""
        try:
            answer = self._answering.answer(under_way.number)
            finish = self._receive(answer, under_way) or answer.finish
        except HettopError as failure:
            finish, error = FAILED, f"{failure.message}: {failure.hint}" if failure.hint else failure.message
        except Exception as failure:  # noqa: BLE001 (a framework may raise anything; the user reads it)
            finish, error = FAILED, f"{type(failure).__name__}: {failure}"
        with self._lock:
            self._ended.append((under_way, under_way.report(answer, finish, error[:200])))
        self._one_ended.set()
        if not self._threads:
            self._settle()

    def _receive(self, answer: Answer, under_way: AnswerUnderWay) -> str:
        """Takes the times of all chunks; returns `CUT` where the answer was broken off."""
        streamed, now, state = self._answering.streamed, self._clock.now, self._state
        chunks = answer.chunks
        begun = under_way.start
        with closing(chunks) if hasattr(chunks, "close") else nullcontext():  # type: ignore[type-var]
            while (chunk := next(chunks, None)) is not None:
                moment, single = chunk
                with self._lock:
                    under_way.arrived(begun, moment, single)
                if not self._threads and moment >= self._flush_at:
                    self._flush_unless_late(moment)
                if self._broken_off or (not self._threads and state.changed and self._must_end()):
                    return CUT
                begun = moment if streamed else now()
        return ""

    def _must_end(self) -> bool:
        return self._state.doing is RunMode.STOP or self._state.told_to_pause

    def _settle(self) -> None:
        """Publishes the answers that have ended, and counts them."""
        with self._lock:
            ended, self._ended = list(self._ended), deque()
        if ended:
            self.flush()
        for under_way, report in ended:
            self._under_way.remove(under_way)
            self._out.post(encode_report(msgspec.structs.replace(report, phase=under_way.phase)))
            now = self._clock.now()
            self._last_end = now
            if report.finish == FAILED:
                self._fail(report.error)
            if report.finish in (FAILED, CUT):
                self._budget.account(under_way.phase, 0, now)
                continue
            self._failures = 0
            self._budget.account(under_way.phase, 1, now)
            self._durations.append(under_way.last - under_way.start)
            if not report.several and (report.tokens or 0) > report.chunks + END_MARK:
                self._count_gaps = False
        if ended:
            self._out.flush()

    def _fail(self, why: str) -> None:
        self._why = why
        self._failures += 1
        if self._failures >= FAILURES_IN_A_ROW:
            hint = "check the server, then restart" if self._answering.streamed else CHECK_MODEL
            raise HettopError("predict", f"{self._failures} answers in a row failed: {why}", hint)

    # -- doing as ordered -----------------------------------------------------------------------------------------

    def _keep_to_slots(self) -> None:
        self._say("running")
        now = self._clock.now()
        if self._slot is None:
            slot = self._state.next_slot(now)
            if slot is None:
                self._wait_for_news()
            elif slot[0] > now:
                self._wait(slot[0])
            else:
                self._state.begin_slot(slot)
                self._take_break()
                self._slot = slot
            return
        usual = max(self._durations, default=0)
        if now >= self._slot[1] - usual and not self._budget.after_break:
            if self._under_way:
                self._wait()
            else:
                self._slot = None
                self._take_break()
                self.flush()
            return
        self._ask_or_wait(self._slot[1])

    def _stay_paused(self) -> None:
        if self._state.told_to_pause:
            self._cut()
        elif self._under_way:
            self._wait()
            return
        done = self._budget.reached(self._state.limits)
        if self._reported != "paused" or done != self._told_done:
            self._take_break()
            self._told_done = done
            self._say("paused", again=True, done=done)
        self._wait_for_news()

    def _take_break(self) -> None:
        if self._pace is not None:
            self._pace.interrupt(self._last_end)
        self._slot = None
        # Only what computes here is slow after a pause; a server's answers are as good as any.
        self._budget.after_break = not self._answering.streamed

    def _cut(self) -> None:
        """Breaks off the answers under way."""
        self._broken_off = True
        while self._under_way:
            self._wait()
        self._broken_off = False

    def _wait(self, until: int = FOREVER) -> None:
        """Waits for news of the answers under way, for a command, or until then; publishes what came."""
        now = self._clock.now()
        moment = min(until, now + FLUSH_NS)
        if self._under_way:
            self._one_ended.wait(max(0, moment - now) / NS_PER_S)
            self._one_ended.clear()
        else:
            self._state.wait(max(0, moment - now) / NS_PER_S)
        self._settle()
        self.flush()

    def _wait_for_news(self) -> None:
        if self._out.pending:
            self._out.flush()
        self._state.wait(FLUSH_NS / NS_PER_S if self._out.pending else None)

    # -- publishing -----------------------------------------------------------------------------------------------

    def _flush_unless_late(self, moment: int) -> None:
        """A token that took unusually long is held back until a signal that a stop ended with has been noted."""
        if moment - self._flush_at > FLUSH_NS and not self._held:
            self._held, self._flush_at = True, moment + SIGNAL_NS
        else:
            self.flush()

    def _note_interruption(self) -> None:
        """Sets apart the answers under way when the process was stopped or the machine slept, and reports it."""
        found = self._interruption()
        if found is None:
            return
        now = self._clock.now()
        with self._lock:
            longest = max((max(each.longest, now - each.last) for each in self._under_way), default=0)
            for each in self._under_way:
                each.phase = "transition"
        self._out.post(encode_report(InterruptedReport(why=found.why, ns=found.slept_ns or longest)))
        if self._pace is not None:
            self._pace.interrupt(now if found.slept_ns else now - longest)

    def flush(self) -> None:
        """Publishes the tokens that came, and now and then that this process is alive."""
        self._note_interruption()
        self._held = False
        behind = self._out.pending
        with self._lock:
            frames = [frame for each in self._under_way for frame in each.take()]
        for frame, n in frames:
            self._out.post_samples(frame, n)
        now = self._clock.now()
        if not behind and (usage := self._read_usage()) is not None:
            self._out.post(encode_report(usage))
            self._beat_at = now + BEATS_NS
        elif now >= self._beat_at:
            self._out.post(encode_report(UsageReport()))
            self._beat_at = now + BEATS_NS
        self._out.flush()
        self._flush_at = now + FLUSH_NS

    def _say(self, state: str, *, again: bool = False, done: bool = False) -> None:
        if state == self._reported and not again:
            return
        self._reported = state
        resting = state in ("paused", "stopped")
        unfinished = self._pace.unfinished if resting and self._pace is not None else None
        peak = self._peak_memory_mb() if resting else None
        self._publish(StateReport(state=state, done=done, unfinished=unfinished, peak_memory_mb=peak))

    def _publish(self, report: StateReport | RetireReport) -> None:
        self.flush()
        self._out.post(encode_report(report))
        self._out.flush()
