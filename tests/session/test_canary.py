"""Which condition a canary's report counts for, and when the clock is said to be slower."""

from __future__ import annotations

from typing import Any

import pytest

from hettop import events
from hettop.session.canary import Situation
from hettop.session.condition import ConditionKey
from hettop.session.session import Session
from hettop.session.statistics import statistics
from hettop.stats.clock import REPORTS
from tests.streams import MS, S, header, window

KERNEL = 320_000


def running(unit: str, t: int) -> events.Engine:
    return events.Engine(t=t, unit=unit, state="running")


def control(t: int, *units: str, **more: Any) -> events.Control:
    return events.Control(t=t, action="switch", units=list(units), **more)


def load(t: int, condition: str, state: str = "confirmed") -> events.Load:
    return events.Load(t=t, what="all", state=state, condition=condition)


def report(t: int, missed: int = 0, kernel_ns: int | None = None) -> events.Canary:
    return events.Canary(t=t, due=60, missed=missed, worst_ns=5 * MS, kernel_ns=kernel_ns)


def session_of(*told: events.AnyEvent) -> Session:
    session = Session()
    for event in (header(), *told):
        session.fold(event)
    return session


def counted(session: Session) -> dict[tuple[str, str], tuple[int, int]]:
    return {(key.unit, key.load): (each.missed, each.due) for key, each in session.canary.conditions.items()}


def test_a_report_counts_for_the_unit_that_ran_all_the_while() -> None:
    session = session_of(control(0, "A"), running("A", 0), report(2 * S, 3), report(3 * S, 1))
    assert counted(session) == {("A", "none"): (4, 120)}
    assert (session.canary.missed, session.canary.due) == (4, 120)


def test_units_in_turns_share_the_machine_and_so_the_frames() -> None:
    session = session_of(control(0, "A", "B"), running("A", 0), running("B", 0), report(2 * S, 3))
    assert counted(session) == {("A", "none"): (3, 60), ("B", "none"): (3, 60)}


@pytest.mark.parametrize(
    "change",
    [control(5 * S, "A"), load(5 * S, "cpu:2"), events.Engine(t=5 * S, unit="B", state="paused")],
)
def test_a_report_over_a_change_counts_for_the_session_alone(change: events.AnyEvent) -> None:
    before = (control(0, "A"), running("A", 0))
    # It covers a second, and waited .3 s at most: from 4.7 s on at 6 s, from 5.1 s on at 6.4 s.
    session = session_of(*before, change, report(6 * S, 9))
    assert counted(session) == {}
    assert session.canary.missed == 9
    session.fold(report(6_400 * MS, 1))
    assert [missed for missed, _ in counted(session).values()] == [1]


@pytest.mark.parametrize("state", ["spawning", "loading", "compiling", "warming"])
def test_frames_missed_while_a_model_is_loaded_are_no_conditions(state: str) -> None:
    session = session_of(control(0, "A"), running("A", 0), events.Engine(t=0, unit="B", state=state), report(9 * S, 40))
    assert counted(session) == {}


def test_a_load_that_is_not_there_yet_is_no_condition() -> None:
    begun = (control(0, "A"), running("A", 0), load(S, "cpu:2", "started"))
    session = session_of(*begun, report(9 * S, 5))
    assert counted(session) == {}
    for event in (load(10 * S, "cpu:2"), report(12 * S, 7)):
        session.fold(event)
    assert counted(session) == {("A", "cpu:2"): (7, 60)}


def test_while_paused_nothing_is_measured() -> None:
    session = session_of(running("A", 0), control(0, "A", paused=True), report(9 * S, 5))
    assert counted(session) == {}
    assert session.canary.situation == Situation((), "none")


def test_a_unit_that_has_enough_is_counted_no_more() -> None:
    done = events.Engine(t=3 * S, unit="A", state="paused")
    session = session_of(
        control(0, "A", "B"), running("A", 0), running("B", 0), report(2 * S, 1), done, report(6 * S, 2)
    )
    assert counted(session) == {("A", "none"): (1, 60), ("B", "none"): (3, 120)}


def test_the_statistics_have_them_and_null_without_a_canary() -> None:
    samples = window([MS] * 5, unit="A", t0=S)
    begun = (control(0, "A"), running("A", 0), samples)
    (row,) = statistics(session_of(*begun, report(2 * S, 3)))
    assert (row.canary_missed, row.canary_due) == (3, 60)
    (row,) = statistics(session_of(*begun))
    assert (row.canary_missed, row.canary_due) == (None, None)


def test_a_reset_forgets_the_conditions_frames_and_not_the_sessions() -> None:
    session = session_of(control(0, "A"), running("A", 0), report(2 * S, 3))
    session.fold(events.Control(t=3 * S, action="reset", units=["A"]))
    assert (counted(session), session.canary.missed) == ({}, 3)


def test_frames_go_by_the_thermal_state_too() -> None:
    hot = events.Power(t=3 * S, source="s", elapsed_ns=S, mw={}, thermal="Heavy")
    session = session_of(control(0, "A"), running("A", 0), report(2 * S, 1), hot, report(4 * S, 2))
    keys = list(session.canary.conditions)
    assert keys == [ConditionKey("A", "none", None), ConditionKey("A", "none", "Heavy")]


def reports(start: int, kernel_ns: int, n: int = REPORTS) -> list[events.Canary]:
    return [report(start + i * S, kernel_ns=kernel_ns) for i in range(n)]


def test_the_clock_is_compared_with_the_first_reports_of_the_same_units_and_load() -> None:
    session = session_of(control(0, "A"), running("A", 0), *reports(2 * S, KERNEL))
    assert session.canary.loss is None, "there is no later report yet"
    for event in reports(20 * S, KERNEL * 5 // 4):
        session.fold(event)
    assert session.canary.loss == pytest.approx(0.2)
    # Under load a core shares its work with others: another situation, with a beginning of its own.
    session.fold(load(40 * S, "cpu:2"))
    for event in reports(42 * S, KERNEL * 2):
        session.fold(event)
    assert session.canary.loss is None
    worst = session.canary.worst
    assert worst is not None
    assert worst[0] == Situation(("A",), "none")
    assert worst[1] == pytest.approx(0.2)


def test_a_keyframe_goes_on_where_the_fold_was() -> None:
    told: list[events.AnyEvent] = [control(0, "A", "B"), running("A", 0), running("B", 0)]
    told += reports(2 * S, KERNEL, REPORTS + 3)
    told += [load(30 * S, "cpu:2", "started"), load(34 * S, "cpu:2"), report(35 * S, 1)]
    told += reports(40 * S, KERNEL, 3)
    whole = session_of(*told)
    for cut in range(len(told)):
        first = session_of(*told[:cut])
        assert first.header is not None
        frame = events.decode(events.encode(first.keyframe(first.t, 0)))
        assert isinstance(frame, events.Keyframe)
        resumed = Session.restored(first.header, frame)
        for event in told[cut:]:
            resumed.fold(event)
        assert events.encode(resumed.keyframe(0, 0)) == events.encode(whole.keyframe(0, 0)), cut
