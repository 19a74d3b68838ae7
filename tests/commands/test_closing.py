"""Signals while a session closes."""

from __future__ import annotations

import os
import signal

import pytest

from hettop.commands.closing import ENDING, undisturbed


@pytest.mark.parametrize("number", ENDING)
def test_an_impatient_signal_does_not_cut_the_closing_short(number: signal.Signals) -> None:
    with undisturbed():
        os.kill(os.getpid(), number)
    # Reached: with its usual handler the signal would have ended this process, or raised KeyboardInterrupt.


def test_afterwards_signals_do_what_they_did() -> None:
    before = [signal.getsignal(number) for number in ENDING]
    with pytest.raises(ZeroDivisionError), undisturbed():
        _ = 1 / 0
    assert [signal.getsignal(number) for number in ENDING] == before
