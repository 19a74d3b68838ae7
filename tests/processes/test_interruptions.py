"""A process knows that it was stopped, and for how long; what it measured meanwhile is measured again."""

from __future__ import annotations

import os
import signal

from hettop.processes.interruptions import (
    ASLEEP,
    STOPPED,
    TICK_S,
    ContinueListener,
    Interruption,
    Interruptions,
    InterruptionTotals,
    add_interruptions,
    interruptions_watched,
    slept_ns,
    uninterrupted,
)
from hettop.units import NS_PER_S
from tests.processes.waiting import wait_for

TICK_NS = int(TICK_S * NS_PER_S)


def test_the_signal_that_a_stop_ends_with_is_noticed_once_and_while_the_main_thread_is_busy() -> None:
    before = signal.getsignal(signal.SIGCONT)
    listener = ContinueListener()
    try:
        interruptions = Interruptions(listener, lambda: 0)
        assert interruptions.poll() is None
        os.kill(os.getpid(), signal.SIGCONT)
        assert interruptions.poll() == Interruption(STOPPED)
        assert interruptions.poll() is None
    finally:
        listener.close()
    assert signal.getsignal(signal.SIGCONT) is before


def test_clocks_that_are_read_one_after_the_other_differ_by_no_sleep() -> None:
    assert Interruptions(lambda: False, slept_ns).poll() is None


def test_what_was_measured_during_an_interruption_is_measured_again() -> None:
    """The first interruption came before; two of three measurements are interrupted."""
    found = iter([Interruption(STOPPED), Interruption(STOPPED), Interruption(ASLEEP, 5), None])
    measured = iter([900, 700, 2])
    assert uninterrupted(lambda: next(measured), lambda: next(found)) == 2


def totals_of(waits_ns: list[int], polls: list[Interruption | None]) -> InterruptionTotals:
    """After waits that took so long, with what was noticed after each."""
    totals, moment, left, found = InterruptionTotals(), 0, iter(waits_ns), iter(polls)

    def wait(_seconds: float) -> bool:
        nonlocal moment
        lasted = next(left, None)
        moment += lasted or 0
        return lasted is None

    add_interruptions(totals, lambda: next(found), wait, lambda: moment)
    return totals


def test_a_stop_lasted_as_long_as_the_wait_was_late() -> None:
    stop = 5 * NS_PER_S
    assert totals_of([TICK_NS, TICK_NS + stop, TICK_NS], [None, Interruption(STOPPED), None]) == InterruptionTotals(
        stops=1, stopped_ns=stop
    )


def test_a_stop_is_as_long_where_its_signal_is_noted_after_the_wait() -> None:
    stop = 5 * NS_PER_S
    assert totals_of([TICK_NS + stop, TICK_NS], [None, Interruption(STOPPED)]).stopped_ns == stop


def test_a_late_wait_without_a_signal_is_no_stop() -> None:
    assert totals_of([9 * NS_PER_S, TICK_NS], [None, None]) == InterruptionTotals()


def test_sleep_lasts_as_long_as_the_clocks_differ() -> None:
    assert totals_of([TICK_NS], [Interruption(ASLEEP, 8)]) == InterruptionTotals(sleeps=1, slept_ns=8)


def test_a_watched_process_counts_its_stops() -> None:
    with interruptions_watched() as totals:
        os.kill(os.getpid(), signal.SIGCONT)
        wait_for(lambda: totals.stops == 1, "the stop")
