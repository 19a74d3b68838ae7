"""A stop of the process and a sleep of the machine are no latency: what was measured around them is set apart."""

from __future__ import annotations

import pytest

from hettop.processes.interruptions import (
    ASLEEP,
    STOPPED,
    Interruptions,
)
from hettop.sources.engine.frames import InterruptedReport
from hettop.sources.engine.job import Limits
from hettop.sources.engine.loop import Sampler
from tests.sources.engine.fakes import MS, FakeBackend, FakeClock, ListedOut, ScriptedState

STOP_MS = 5_000


def sampled(
    latencies_ms: list[int],
    *,
    stopped_until_ms: int | None = None,
    slept_at_ms: int | None = None,
    runs: int = 100,
    rate_hz: float | None = None,
) -> ListedOut:
    """Samples until the limit; a signal comes at the one moment, or a sleep of 8 s ends at the other."""
    clock, out, slept, signals = FakeClock(), ListedOut(), [3 * MS], [False]

    def continued() -> bool:
        found, signals[0] = signals[0], False
        return found

    state = ScriptedState(clock, limits=Limits(runs=runs))
    interruptions = Interruptions(continued, lambda: slept[0])
    if stopped_until_ms is not None:
        clock.at(stopped_until_ms * MS, lambda: signals.__setitem__(0, True))
    if slept_at_ms is not None:
        clock.at(slept_at_ms * MS, lambda: slept.__setitem__(0, 8_003 * MS))
    backend = FakeBackend(clock, [latency * MS for latency in latencies_ms])
    sampler = Sampler(backend, {}, out, state, warmup=0, rate_hz=rate_hz, interruption=interruptions.poll)
    sampler.first_call()
    sampler.run()
    return out


def interruptions_of(out: ListedOut) -> list[tuple[str, float]]:
    return [(each.why, each.ns / MS) for each in out.reports(InterruptedReport) if isinstance(each, InterruptedReport)]


def latencies_ms(out: ListedOut, phase: str) -> set[float]:
    return {latency / MS for _, latency in out.of_phase(phase)}


@pytest.mark.parametrize("signal_is_late_by_ms", [0, 1, 3])
def test_a_call_during_which_the_process_was_stopped_is_not_steady(signal_is_late_by_ms: int) -> None:
    """The stop begins in the 31st call of 2 ms; the signal is noted while it ends, or a little later."""
    out = sampled([2] * 30 + [2 + STOP_MS, 2], stopped_until_ms=62 + STOP_MS + signal_is_late_by_ms)
    assert latencies_ms(out, "steady") == {2}
    assert 2 + STOP_MS in latencies_ms(out, "transition")
    assert interruptions_of(out) == [(STOPPED, STOP_MS + 2)]
    assert len(out.of_phase("steady")) == 100, "those set apart do not count"
    assert len(out.of_phase("resume")) == 1
    assert len(out.of_phase("transition")) <= 28, "no more than 50 ms of calls, and those before the signal"


def test_calls_that_are_all_long_are_published_in_time() -> None:
    """One is held back for a moment in case a signal explains it, and no second one."""
    out = sampled([2, 200], runs=10)
    assert max(len(frame.start) for frame in out.samples) == 2


def test_a_long_call_without_a_signal_is_a_latency() -> None:
    out = sampled([2] * 30 + [2 + STOP_MS, 2])
    assert latencies_ms(out, "steady") == {2, 2 + STOP_MS}
    assert interruptions_of(out) == []


def test_a_stop_is_no_lateness_of_what_is_paced() -> None:
    """Arrivals every 10 ms: the stop falls into the rest before one."""
    out = sampled([2] * 30 + [2 + STOP_MS, 2], stopped_until_ms=300 + STOP_MS, rate_hz=100)
    late = [each for frame in out.samples if frame.phase == "steady" and frame.late is not None for each in frame.late]
    assert max(late) < 20 * MS
    assert len(interruptions_of(out)) == 1


def test_a_sleep_of_the_machine_is_known_by_two_clocks() -> None:
    """The samples' clock stands still meanwhile, so that no latency shows it."""
    out = sampled([2], slept_at_ms=71)
    assert interruptions_of(out) == [(ASLEEP, 8_000)]
    apart = out.of_phase("transition")
    assert apart[0][0] <= 71 * MS <= apart[-1][0] + apart[-1][1]
    assert len(out.of_phase("resume")) == 1
