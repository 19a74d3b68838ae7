"""Competing load as a source: real workers, and the simulated machine's."""

from __future__ import annotations

import errno
import os
import signal
from collections import UserDict
from collections.abc import ItemsView, Iterator
from pathlib import Path

import pytest

from hettop import events
from hettop.errors import HettopError
from hettop.sources.load.parts import parse_load
from hettop.sources.load.source import ProcessLoad, SimulatedLoad, unavailable
from tests.processes.waiting import environment, gone, wait_for
from tests.sources.load.fakes import ListedChanges, ListedGuard


@pytest.fixture
def guard() -> ListedGuard:
    return ListedGuard()


@pytest.fixture
def changes() -> ListedChanges:
    return ListedChanges()


@pytest.fixture
def load(guard: ListedGuard, changes: ListedChanges) -> Iterator[ProcessLoad]:
    load = ProcessLoad(guard, changes, environment())
    yield load
    load.close()


def drained_until(load: ProcessLoad, state: str) -> list[events.Load]:
    """All events up to one of this state."""
    found: list[events.Load] = []

    def reached() -> bool:
        found.extend(load.drain(7))
        return any(event.state == state for event in found)

    wait_for(reached, f"the load is {state}")
    return found


def test_a_load_is_started_then_confirmed_and_then_samples_carry_its_name(
    load: ProcessLoad, guard: ListedGuard, changes: ListedChanges
) -> None:
    load.set(parse_load("cpu:2"))
    assert changes.seen == [("cpu:2", False)]
    found = drained_until(load, "confirmed")
    assert [(event.state, event.what, event.level, event.condition, event.t) for event in found] == [
        ("started", "cpu", 2, "cpu:2", 7),
        ("confirmed", "all", None, "cpu:2", 7),
    ]
    assert changes.seen == [("cpu:2", False), ("cpu:2", True)]
    assert len(guard.pids) == 2
    assert not gone(guard.pids[:1])
    assert not gone(guard.pids[1:])
    assert load.drain(8) == []


def test_changing_the_load_ends_the_old_workers_and_waits_for_the_new(
    load: ProcessLoad, guard: ListedGuard, changes: ListedChanges
) -> None:
    load.set(parse_load("cpu:1"))
    drained_until(load, "confirmed")
    (old,) = guard.pids
    load.set(parse_load("cpu:1@50%+memory:1"))
    assert gone([old])
    found = drained_until(load, "confirmed")
    assert [(event.what, event.duty) for event in found] == [("cpu", 0.5), ("memory", 1.0), ("all", None)]
    assert changes.seen[2:] == [("cpu:1@50%+memory:1", False), ("cpu:1@50%+memory:1", True)]
    assert load.parts == parse_load("cpu:1@50%+memory:1")


def test_no_load_ends_all_workers(load: ProcessLoad, guard: ListedGuard, changes: ListedChanges) -> None:
    load.set(parse_load("cpu:1"))
    drained_until(load, "confirmed")
    load.set(())
    assert gone(guard.ever)
    assert guard.pids == []
    assert [event.state for event in drained_until(load, "confirmed")] == ["stopped", "confirmed"]
    assert changes.seen[-1] == ("none", True)


def test_closing_ends_the_workers(load: ProcessLoad, guard: ListedGuard) -> None:
    load.set(parse_load("cpu:2"))
    load.close()
    assert gone(guard.ever)
    assert guard.pids == []


def test_a_load_that_lost_a_worker_is_no_load_any_more(
    load: ProcessLoad, guard: ListedGuard, changes: ListedChanges
) -> None:
    load.set(parse_load("cpu:2"))
    drained_until(load, "confirmed")
    os.kill(guard.pids[0], signal.SIGKILL)
    failed = drained_until(load, "failed")[-1]
    assert failed.condition == "none"
    assert failed.error is not None
    assert failed.error.message == "1 load worker ended unexpectedly"
    assert changes.seen[-1] == ("none", True)
    assert load.parts == ()
    assert gone(guard.ever), "the other worker must not go on unseen"
    load.set(parse_load("cpu:1"))
    drained_until(load, "confirmed")


def test_a_worker_that_cannot_start_is_reported_as_a_failure(changes: ListedChanges) -> None:
    guard = ListedGuard()
    load = ProcessLoad(guard, changes, {**environment(), "PYTHONPATH": "", "PYTHONHOME": "/nonexistent"})
    load.set(parse_load("cpu:1"))
    assert drained_until(load, "failed")[-1].condition == "none"
    assert "confirmed" not in [event.state for event in load.drain(9)]
    load.close()


def test_a_process_that_the_system_refuses_leaves_no_half_load(changes: ListedChanges) -> None:
    class OneProcess(UserDict[str, str]):
        """The environment of a system that has room for one process more."""

        asked = 0

        def items(self) -> ItemsView[str, str]:
            self.asked += 1
            if self.asked > 1:
                raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            return super().items()

    guard = ListedGuard()
    load = ProcessLoad(guard, changes, OneProcess(environment()))
    with pytest.raises(HettopError, match="cannot start load cpu:2: Resource temporarily unavailable") as caught:
        load.set(parse_load("cpu:2"))
    assert caught.value.kind == "crashed"
    assert load.parts == ()
    assert changes.seen[-1] == ("none", True)
    assert [event.state for event in load.drain(1)] == ["failed"]
    assert len(guard.ever) == 1
    assert gone(guard.ever)


@pytest.mark.parametrize("text", ["gpu:1", "ane:2", "cpu:1+gpu:1"])
def test_what_this_machine_cannot_run_is_refused_and_changes_nothing(
    load: ProcessLoad, changes: ListedChanges, text: str
) -> None:
    with pytest.raises(HettopError) as caught:
        load.set(parse_load(text))
    assert caught.value.kind == "load-unavailable"
    assert "Core ML" in caught.value.message
    assert changes.seen == []
    assert load.drain(0) == []


def test_cpu_and_memory_loads_run_everywhere() -> None:
    assert unavailable(parse_load("cpu:4+memory:2")) is None


def test_a_simulated_load_moves_no_core_and_says_so(changes: ListedChanges) -> None:
    load = SimulatedLoad(changes)
    load.set(parse_load("gpu:1+cpu:2"))
    (event,) = load.drain(5)
    assert (event.t, event.state, event.condition, event.simulated) == (5, "confirmed", "cpu:2+gpu:1", True)
    assert changes.seen == [("cpu:2+gpu:1", True)]
    assert load.parts == parse_load("cpu:2+gpu:1")
    assert load.drain(6) == []
    load.close()


def test_workers_do_not_pick_up_modules_from_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "threading.py").write_text("raise SystemExit(3)")
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        load = ProcessLoad(ListedGuard(), ListedChanges(), environment())
        load.set(parse_load("cpu:1"))
        drained_until(load, "confirmed")
        load.close()
    finally:
        os.chdir(here)


@pytest.mark.parametrize("stopped_at", ["started", "confirmed"])
def test_a_load_that_stands_still_is_no_load(load: ProcessLoad, guard: ListedGuard, stopped_at: str) -> None:
    load.set(parse_load("cpu:1"))
    (pid,) = guard.pids
    if stopped_at == "confirmed":
        drained_until(load, "confirmed")
    os.kill(pid, signal.SIGSTOP)
    # Session time is passed in; what the worker wrote before it was stopped arrives in the first steps.
    told = [event for second in range(40) for event in load.drain(second * 10**9)]
    assert told[-1].state == "failed"
    assert told[-1].condition == events.NO_LOAD
    assert told[-1].error is not None
    assert "stalled" in told[-1].error.message
