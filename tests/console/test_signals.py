"""Signals while a session closes."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hettop.console.signals import SAME_S, STOP_SIGNALS, stop_descriptors, stop_signals_ignored
from tests.cli.running import plain_environment
from tests.processes.waiting import wait_for


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_an_impatient_signal_does_not_cut_the_closing_short(number: signal.Signals) -> None:
    with stop_signals_ignored():
        os.kill(os.getpid(), number)  # which would else end this process, or raise KeyboardInterrupt
        assert signal.getsignal(number) is signal.SIG_IGN


def test_afterwards_signals_do_what_they_did() -> None:
    before = [signal.getsignal(number) for number in STOP_SIGNALS]
    with pytest.raises(ZeroDivisionError), stop_signals_ignored():
        _ = 1 / 0
    assert [signal.getsignal(number) for number in STOP_SIGNALS] == before


def run_in_terminal(*signals: tuple[float, signal.Signals]) -> tuple[int, bytes, bool]:
    """Exit code, output, and whether the terminal is as it was, of a demo that gets these signals, each after a pause.

    The first pause is counted from the first output.
    """
    leader, follower = pty.openpty()
    before = termios.tcgetattr(follower)
    process = subprocess.Popen(
        [sys.executable, "-m", "hettop", "--demo"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**plain_environment(), "TERM": "xterm-256color"},
        start_new_session=True,
    )
    output = bytearray()

    def drain() -> None:
        while True:
            try:
                output.extend(os.read(leader, 1 << 16))
            except OSError:
                return

    reader = threading.Thread(target=drain, daemon=True)
    reader.start()
    try:
        wait_for(lambda: bool(output), "the screen begins")
        for pause, number in signals:
            time.sleep(pause)
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(number)
        code = process.wait(60)
        restored = termios.tcgetattr(follower) == before
    finally:
        process.kill()
        os.close(follower)
    reader.join(10)
    os.close(leader)
    return code, bytes(output), restored


@pytest.mark.parametrize(
    ("signals", "code"),
    [
        ([(0.0, signal.SIGINT)], 130),
        ([(1.5, signal.SIGINT), (0.005, signal.SIGINT)], 130),
        ([(1.5, signal.SIGINT), (0.05, signal.SIGINT), (0.1, signal.SIGTERM)], 130),
        ([(0.3, signal.SIGTERM), (0.02, signal.SIGHUP)], 143),
        ([(1.5, signal.SIGQUIT)], 131),
    ],
    ids=["at once", "twice", "three times", "term and hangup", "quit"],
)
def test_impatient_signals_leave_the_terminal_as_it_was(signals: list[tuple[float, signal.Signals]], code: int) -> None:
    ended, output, restored = run_in_terminal(*signals)
    assert ended == code
    assert restored
    assert b"Traceback" not in output
    assert output.count(b"\x1b[?1049l") >= output.count(b"\x1b[?1049h"), "the alternate screen was left"


def test_a_terminal_that_vanishes_without_a_word_ends_hettop() -> None:
    leader, follower = pty.openpty()
    # No controlling terminal: closing it sends no SIGHUP.
    process = subprocess.Popen(
        [sys.executable, "-m", "hettop", "--demo"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**plain_environment(), "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(follower)
    try:
        assert os.read(leader, 1 << 16)
        os.close(leader)
        assert process.wait(60) == 128 + signal.SIGHUP
    finally:
        process.kill()


class Moments:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    yield
    assert {number: signal.getsignal(number) for number in STOP_SIGNALS} == before


def has_ended(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0]) and os.read(descriptor, 1) == b""


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_a_signal_ends_the_descriptor_and_raises_nothing(number: signal.Signals) -> None:
    with stop_descriptors() as (descriptor,):
        assert not has_ended(descriptor)
        os.kill(os.getpid(), number)
        assert has_ended(descriptor)


def test_signals_close_to_each_other_are_one_and_a_later_one_interrupts() -> None:
    clock = Moments()
    with stop_descriptors(clock=clock) as (descriptor,):
        os.kill(os.getpid(), signal.SIGTERM)
        clock.now += SAME_S / 2
        os.kill(os.getpid(), signal.SIGTERM)
        assert has_ended(descriptor)
        clock.now += SAME_S
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stop_descriptors() as (descriptor,):
            os.kill(os.getpid(), signal.SIGHUP)
            assert not has_ended(descriptor)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_standard_input_ends_it_only_where_it_is_a_pipe() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as piped, Path(os.devnull).open() as nothing:
        with stop_descriptors(piped) as descriptors:
            assert descriptors[1:] == [reading]
            os.close(writing)
            assert has_ended(descriptors[1])
        for other in (nothing, io.StringIO(), None):
            with stop_descriptors(other) as descriptors:
                assert len(descriptors) == 1
