"""When the engine is reported that a warm-up is over."""

from __future__ import annotations

from hettop import events
from hettop.measurement.measurement import LONGEST_NS, WarmUps
from hettop.measurement.options import LONGEST_WARMUP, MeasureOptions, ModelOptions
from hettop.measurement.setup import prepare
from hettop.session.session import Session
from tests.measurement.test_headless import measured, rows_of
from tests.streams import MS, S, header, window


def warming(session: Session, calls: int, latency_ns: int = 2 * MS) -> None:
    session.fold(events.Engine(t=0, unit="A", state="warming"))
    session.fold(window([latency_ns] * calls, unit="A", phase="warmup"))


def test_a_steady_unit_is_reported_once() -> None:
    told: list[str] = []
    session, warmups = Session(), WarmUps(told.append)
    warming(session, 49)
    warmups.watch(session, S)
    assert told == []
    warming(session, 1)
    for _ in range(3):
        warmups.watch(session, S)
        warming(session, 20)
    assert told == ["A"]


def test_a_warm_up_that_shows_no_end_is_ended_in_time() -> None:
    told: list[str] = []
    session, warmups = Session(), WarmUps(told.append)
    warming(session, 3)
    warmups.watch(session, 5 * S)
    warmups.watch(session, 5 * S + LONGEST_NS - 1)
    assert told == []
    warmups.watch(session, 5 * S + LONGEST_NS)
    assert told == ["A"]


def test_units_that_do_not_warm_up_are_left_alone() -> None:
    told: list[str] = []
    session, warmups = Session(), WarmUps(told.append)
    warming(session, 200)
    session.fold(events.Engine(t=1, unit="A", state="running"))
    warmups.watch(session, 90 * S)
    assert told == []


def test_a_real_measurement_warms_up_until_steady_and_says_so() -> None:
    setup = prepare(ModelOptions(backend="simulated"), ("CPU_ONLY",), 2)
    options = MeasureOptions(warmup=LONGEST_WARMUP, until_steady=True, runs=30)
    session = measured(setup, options)
    row = rows_of(session)["CPU_ONLY"]
    assert row.n == 30
    assert row.warmup_steady is True
    assert 50 <= len(row.warmup_ms) < LONGEST_WARMUP
    assert session.header is not None
    assert session.header.settings["warmup"] == "auto"


def test_a_warm_up_of_a_number_of_calls_is_no_statement_on_steadiness() -> None:
    session = Session()
    session.fold(header())
    warming(session, 100)
    (row,) = rows_of(session).values()
    assert row.warmup_steady is None
