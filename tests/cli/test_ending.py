"""How a command is told to end: by a signal, or by the end of a pipe that is its standard input."""

from __future__ import annotations

import io
import os
import select
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from hettop.cli.ending import ENDING, SAME_S, ending


class Moments:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in ENDING}
    yield
    assert {number: signal.getsignal(number) for number in ENDING} == before


def has_ended(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0]) and os.read(descriptor, 1) == b""


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_ends_the_descriptor_and_raises_nothing(number: signal.Signals) -> None:
    with ending() as (descriptor,):
        assert not has_ended(descriptor)
        os.kill(os.getpid(), number)
        assert has_ended(descriptor)


def test_signals_close_to_each_other_are_one_and_a_later_one_interrupts() -> None:
    clock = Moments()
    with ending(clock=clock) as (descriptor,):
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
        with ending() as (descriptor,):
            os.kill(os.getpid(), signal.SIGHUP)
            assert not has_ended(descriptor)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_standard_input_ends_it_only_where_it_is_a_pipe() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as piped, Path(os.devnull).open() as nothing:
        with ending(piped) as descriptors:
            assert descriptors[1:] == [reading]
            os.close(writing)
            assert has_ended(descriptors[1])
        for other in (nothing, io.StringIO(), None):
            with ending(other) as descriptors:
                assert len(descriptors) == 1
