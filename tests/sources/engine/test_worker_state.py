from __future__ import annotations

import threading

from hettop.sources.engine.job import Limits, Pause, Run, RunMode, SetLoad, Slots, Stop, WorkerState


def state() -> WorkerState:
    return WorkerState(RunMode.PAUSE, Limits(), "none")


def test_a_command_is_in_force_at_once_and_shows_that_something_changed() -> None:
    mail = state()
    mail.obey(Run())
    assert (mail.doing, mail.changed) == (RunMode.RUN, True)
    mail.acknowledge()
    assert not mail.changed


def test_only_a_command_counts_as_told_to_pause() -> None:
    mail = state()
    mail.obey(SetLoad(condition="cpu:1"))
    assert not mail.told_to_pause
    mail.obey(Pause())
    assert mail.told_to_pause
    mail.obey(Run())
    assert not mail.told_to_pause


def test_slots_are_handed_out_in_order_without_those_that_are_over() -> None:
    mail = state()
    mail.obey(Slots(slots=[(0, 10), (20, 30), (40, 50)]))
    assert mail.next_slot(now=15) == (20, 30)
    assert mail.next_slot(now=30) == (40, 50)
    assert mail.next_slot(now=50) is None


def test_a_slot_that_was_begun_is_not_handed_out_again_though_it_is_sent_again() -> None:
    mail = state()
    mail.obey(Slots(slots=[(0, 10), (20, 30)]))
    mail.begin_slot((0, 10))
    assert mail.next_slot(now=5) == (20, 30)
    mail.obey(Slots(slots=[(0, 10), (15, 25)]))
    assert mail.next_slot(now=5) == (15, 25)


def test_whoever_waits_is_woken_by_a_command_from_another_thread() -> None:
    mail = state()
    threading.Timer(0.01, lambda: mail.obey(Stop())).start()
    mail.wait(None)  # for ever, but for the command
    assert mail.doing is RunMode.STOP
