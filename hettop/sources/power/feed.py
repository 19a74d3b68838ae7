"""Feeds power samples to the stream: a thread chooses and reads a source; `drain` returns new events without waiting.

Windows are placed on the clock by their lengths. Whatever goes wrong with a source becomes a status in words.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace

import msgspec

from hettop.errors import HettopError
from hettop.events import Power, PowerStatus
from hettop.processes.framework_errors import named_reason
from hettop.sources.power.choice import Choice, Chooser
from hettop.sources.power.sample import ESTIMATED, FLAGS, PowerSample, as_event
from hettop.sources.power.source import ENDED, EXPIRED, FAILED, UNAVAILABLE, Availability, PowerLostError, PowerSource
from hettop.text import clean
from hettop.units import NS_PER_S

INTERVAL_NS = 500 * 10**6
BUFFER = 1000  # samples: eight minutes of them, should nobody drain
# A hettop that was stopped itself heard nothing because it did not listen.
LONGEST_STEP_NS = NS_PER_S


@dataclass(frozen=True, slots=True)
class PowerWatchdog:
    """How long to wait for what. A source is stuck without a sample for `stuck_ns` or `stuck_intervals`; the first one
    may take `first_ns`. It is tried again after `again_s`, twice as long each time up to `longest_s`; one that was
    chosen among others and gave nothing `tries` times gives way to the next.
    """

    stuck_ns: int = 5 * NS_PER_S
    stuck_intervals: int = 5
    first_ns: int = 20 * NS_PER_S
    again_s: float = 0.5
    longest_s: float = 30.0
    tries: int = 3
    close_s: float = 3.0  # two intervals for the source to notice, and then to be ended


class PowerFeed:
    """Samples of the best source as events; reports in PowerStatus which one it is, and why there is none."""

    def __init__(
        self,
        choose: Chooser,
        *,
        interval_ns: int = INTERVAL_NS,
        now: Callable[[], int] = time.monotonic_ns,
        origin_ns: int = 0,
        patience: PowerWatchdog | None = None,
        buffer: int = BUFFER,
    ) -> None:
        """Starts at once. `now` is a monotonic clock in ns, on which the session began at `origin_ns`."""
        self._choose, self._asked_ns, self._now = choose, interval_ns, now
        self._patience = patience or PowerWatchdog()
        self._outbox = Outbox(origin_ns, buffer)
        self._wake = threading.Event()
        self._closing = self._again = self._is_stuck = False
        self._source: PowerSource | None = None
        self._interval_ns = interval_ns
        self._window_clock = WindowClock()
        self._heard = self._reading = False
        self._keeps_time = True
        self._signs = 0
        self._signs_seen = -1
        self._silent_ns = 0
        self._drained_at = 0
        self._thread = threading.Thread(target=self._run, name="power", daemon=True)
        self._thread.start()

    # --- for the thread that drains -------------------------------------------------------------------------------

    @property
    def interval_ns(self) -> int:
        """The interval of the source that runs, or the one that was asked for."""
        return self._interval_ns

    @property
    def dropped(self) -> int:
        """Samples that nobody drained in time, in all."""
        return self._outbox.dropped

    def drain(self, t: int) -> list[Power | PowerStatus]:
        """What came since the last call, in order; `t` is the session's time now, in ns. Never waits.

        An event's `t` is the end of its window, but never later than now, nor before the last call: the stream's time
        does not run backwards, and whoever recorded it would have to move it.
        """
        earliest = self._drained_at
        self._look_for_silence(t)
        if self._again:  # in case the source had not begun when it was asked to end
            self._end_reading()
        return self._outbox.take(earliest, t)

    def retry(self) -> None:
        """Choose a source again, for instance after the user has granted access."""
        self._again = True
        self._end_reading()

    def close(self) -> None:
        """End the source and the thread; may be called twice. What came before can still be drained."""
        self._closing = True
        deadline = time.monotonic() + self._patience.close_s
        while self._thread.is_alive() and time.monotonic() < deadline:
            self._end_reading()
            self._thread.join(0.02)

    def _end_reading(self) -> None:
        self._wake.set()
        source = self._source
        if source is not None:
            source.stop()

    def _look_for_silence(self, t: int) -> None:
        """Report a source as stuck that printed nothing although it was read all the time."""
        step, self._drained_at = min(max(0, t - self._drained_at), LONGEST_STEP_NS), t
        if self._signs != self._signs_seen or not self._reading or not self._keeps_time:
            self._signs_seen, self._silent_ns = self._signs, 0
            return
        self._silent_ns += step
        limit = max(self._patience.stuck_ns, self._patience.stuck_intervals * self._interval_ns)
        if not self._heard:
            limit = max(limit, self._patience.first_ns)
        if self._silent_ns > limit and not self._is_stuck:
            self._is_stuck = True
            self._say(self._source, FAILED, f"no sample for {limit // NS_PER_S} s: restarting it")
            self._end_reading()

    # --- the thread that reads ------------------------------------------------------------------------------------

    def _run(self) -> None:
        known: dict[str, Availability] = {}
        while not self._closing:
            self._wake.clear()
            if self._again:
                self._again = False
                known.clear()
            choice = self._chosen(known)
            if choice.source is None:
                self._tell_none(choice)
                self._wait(None)
            else:
                self._play(choice.source, choice, known)
        self._say(self._source, "stopped", "")

    def _chosen(self, known: dict[str, Availability]) -> Choice:
        try:
            return self._choose(dict(known))
        except Exception as error:  # noqa: BLE001 - it must become a word on the screen, whatever it is
            reasons = {name: there.reason for name, there in known.items()}
            return Choice(None, reasons, reason=clean(f"cannot choose a source: {error}"))

    def _play(self, source: PowerSource, choice: Choice, known: dict[str, Availability]) -> None:
        """Read the source, restarting it as needed, until another one is to be chosen."""
        self._source = source
        in_vain, ever_heard = 0, False
        while not (self._closing or self._again):
            granted_ns = source.granted_ns(self._asked_ns)
            self._keeps_time, self._interval_ns = granted_ns is not None, granted_ns or self._asked_ns
            self._say(source, "starting", "", choice=choice)
            lost = self._read(source, choice)
            if self._closing or self._again:
                return
            in_vain, ever_heard = 0 if self._heard else in_vain + 1, ever_heard or self._heard
            if lost is not None and self._gives_way(lost, in_vain, ever_heard):
                known[source.name] = Availability(False, lost.message, needs_access=lost.state == EXPIRED)
                if self._has_others(known):
                    return
            if lost is None:
                self._say(source, "stopped", "played to its end")
                self._wait(None)
            elif lost.state in (FAILED, ENDED):
                wait_s = min(self._patience.again_s * 2 ** min(in_vain, 16), self._patience.longest_s)
                if lost.state == FAILED and not self._is_stuck:  # which has been said
                    self._say(source, FAILED, lost.message, lost.hint, choice=choice)
                self._wait(wait_s)
            else:
                self._say(source, lost.state, lost.message, lost.hint, choice=choice)
                self._wait(None)

    def _gives_way(self, lost: PowerLostError, in_vain: int, ever_heard: bool) -> bool:
        """Whether to try the next best source. Where access has expired the user decides: figures would not compare."""
        if lost.state == EXPIRED:
            return not ever_heard
        return lost.state == UNAVAILABLE or in_vain >= self._patience.tries

    def _has_others(self, known: dict[str, Availability]) -> bool:
        """Whether another source would be chosen than those that have failed."""
        return self._chosen(known).source is not None

    def _read(self, source: PowerSource, choice: Choice) -> PowerLostError | None:
        """Read the source to its end; returns why it ended, or None if it is complete."""
        self._window_clock.forget()
        self._heard, self._is_stuck = False, False
        started = self._now()
        self._signs += 1
        self._reading = True
        try:
            with closing(source.samples(self._asked_ns)) as samples:
                for sample in samples:
                    heard = self._now()
                    if self._closing or self._again or self._is_stuck:
                        break
                    if not self._heard:
                        self._heard = True
                        self._say_running(source, choice)
                    self._take(sample, heard, started)
        except PowerLostError as lost:
            return lost
        except HettopError as error:
            return PowerLostError(error.message, error.hint, state=UNAVAILABLE)
        except Exception as error:  # noqa: BLE001 - a fault of a parser must not take the thread along unsaid
            return PowerLostError(clean(named_reason(error)))
        finally:
            self._reading = False
        return PowerLostError("it stalled") if self._is_stuck else None

    def _take(self, sample: PowerSample, heard: int, started: int) -> None:
        longest = min(self._interval_ns, heard - started)
        end, elapsed_ns = self._window_clock.place(heard, sample.elapsed_ns, longest)
        if sample.elapsed_ns is None:  # its length is a guess
            sample = replace(sample, flags=tuple(flag for flag in FLAGS if flag in (*sample.flags, ESTIMATED)))
        source = self._source
        if source is not None and sample.source != source.name:  # a capture, which must not pass for live
            sample = replace(sample, source=source.name)
        self._signs += 1
        self._outbox.put(Window(end, elapsed_ns, sample))

    def _wait(self, seconds: float | None) -> None:
        """Wait until a source is to be chosen again, the feed ends, or the time is over."""
        if not (self._closing or self._again):
            self._wake.wait(seconds)
        self._wake.clear()

    def _say_running(self, source: PowerSource, choice: Choice) -> None:
        notes = [choice.reason, source.note]
        if self._interval_ns != self._asked_ns:
            notes.append(
                f"a sample every {self._interval_ns / 1e6:g} ms, not the requested {self._asked_ns / 1e6:g} ms"
            )
        self._say(source, "running", "; ".join(filter(None, notes)), choice.fix, choice=choice)

    def _tell_none(self, choice: Choice) -> None:
        self._source = None
        self._interval_ns = self._asked_ns
        status = PowerStatus(
            t=0,
            source=choice.name,
            state=choice.state,
            reason=clean(choice.reason),
            fix=clean(choice.fix),
            refused=dict(choice.refused),
            needs_access=choice.needs_access,
        )
        self._outbox.put(Status(self._now(), status))

    def _say(
        self,
        source: PowerSource | None,
        state: str,
        reason: str,
        fix: str = "",
        *,
        choice: Choice | None = None,
    ) -> None:
        if source is None:
            return
        status = PowerStatus(
            t=0,
            source=source.name,
            state=state,
            reason=clean(reason),
            fix=clean(fix),
            interval_ns=source.granted_ns(self._asked_ns),
            resolution_mj=source.resolution_mj,
            refused=dict(choice.refused) if choice is not None else {},
            needs_access=state == EXPIRED or (choice is not None and choice.needs_access),
        )
        self._outbox.put(Status(self._now(), status))


@dataclass(frozen=True, slots=True)
class Window:
    """A sample whose window ended at `moment` of the clock."""

    moment: int
    elapsed_ns: int
    sample: PowerSample


@dataclass(frozen=True, slots=True)
class Status:
    """A change of the source's state at `moment` of the clock; the time in the event is ignored."""

    moment: int
    event: PowerStatus


class Outbox:
    """Queue between the reading thread and the session, which began at `origin_ns` of the clock."""

    def __init__(self, origin_ns: int, most: int) -> None:
        self._origin, self._most = origin_ns, most
        self._lock = threading.Lock()
        self._news: deque[Window | Status] = deque()
        self.dropped = 0

    def put(self, news: Window | Status) -> None:
        """Append it. When full, drop the oldest sample; drop a status only if there are no samples."""
        with self._lock:
            self._news.append(news)
            if len(self._news) <= self._most:
                return
            oldest = next((at for at, each in enumerate(self._news) if isinstance(each, Window)), None)
            if oldest is None:
                self._news.popleft()
            else:
                del self._news[oldest]
                self.dropped += 1

    def take(self, earliest: int, latest: int) -> list[Power | PowerStatus]:
        """All of it as events, in order, with times from `earliest` to `latest` (ns of the session)."""
        with self._lock:
            news, self._news = self._news, deque()
        events: list[Power | PowerStatus] = []
        t = earliest
        for each in news:
            t = max(t, min(each.moment - self._origin, latest))
            if isinstance(each, Status):
                events.append(msgspec.structs.replace(each.event, t=t))
            else:
                events.append(as_event(each.sample, t, min(each.elapsed_ns, t)))
        return events


MOST_BEHIND_NS = 10**9


class WindowClock:
    """Ends of consecutive windows.

    The first ends when it is heard of, each later one its length after the one before: their lengths are exact, while
    the moment one is heard of varies with the pipe and the scheduler. No window ends after it was heard of; one that
    would end more than a second before is placed anew, for then windows are missing or the machine has slept.
    """

    def __init__(self) -> None:
        self._end: int | None = None

    def place(self, heard_ns: int, elapsed_ns: int | None, longest_ns: int) -> tuple[int, int]:
        """End and length. A source that reports no length: since the end before, but no more than `longest_ns`."""
        before = self._end
        if elapsed_ns is None:
            end = heard_ns
            elapsed_ns = longest_ns if before is None else max(0, min(heard_ns - before, longest_ns))
        elif before is None or heard_ns - (before + elapsed_ns) > MOST_BEHIND_NS:
            end = heard_ns
        else:
            end = min(before + elapsed_ns, heard_ns)
        self._end = end
        return end, elapsed_ns

    def forget(self) -> None:
        """Forget the last window, because the source was restarted."""
        self._end = None
