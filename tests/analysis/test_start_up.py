"""Start-up within a limit is proven by the starts, and the least total time is that of a start and its calls."""

from __future__ import annotations

import numpy as np
import pytest

from hettop.analysis.start_up import StartUp, Totals, judge_ready, totals
from hettop.analysis.unit_samples import in_order_of
from hettop.analysis.verdict import Question, Verdict, verdict
from hettop.session.session import Session
from tests.analysis.material import session_of, stream_of
from tests.analysis.table_4 import TABLE_4

SIX = StartUp("A", (400, 420, 410, 500, 430, 405), (2,) * 6)


def constant(unit: str, ready_ms: float, call_ms: float, n: int = 6, error: str | None = None) -> StartUp:
    return StartUp(unit, (ready_ms,) * n, (call_ms,) * n, error=error)


def of(*starts: StartUp, calls: int) -> Totals:
    return totals(starts, calls, np.random.default_rng(1))


@pytest.mark.parametrize(("limit_ms", "met"), [(500, True), (499, None), (400, None), (399, False)])
def test_six_starts_prove_a_limit_that_they_are_all_within_or_beyond(limit_ms: float, met: bool | None) -> None:
    judged = judge_ready(SIX, limit_ms)
    assert judged.met is met
    assert (judged.n, judged.median_ms, judged.low_ms, judged.high_ms) == (6, 415, 400, 500)
    assert judged.why == ("" if met is not None else "the limit lies within the interval")


def test_one_of_seven_starts_may_be_beyond_the_limit_only_where_an_eighth_proves_the_others() -> None:
    """Of 9 starts the second and the eighth bound the median: one that was slow changes nothing."""
    nine = StartUp("A", (1, 2, 3, 4, 5, 6, 7, 8, 99), (1,) * 9)
    assert judge_ready(nine, 8).met is True
    assert judge_ready(nine, 7.5).met is None


def test_fewer_starts_prove_nothing_and_say_how_many_would() -> None:
    judged = judge_ready(constant("A", 1, 1, 3), 1_000)
    assert (judged.met, judged.why, judged.n) == (None, "a median needs 6 starts", 3)
    assert judge_ready(StartUp("A", (), ()), 1).why == "its start-up was not measured"


def test_a_unit_of_which_a_start_failed_is_not_proven_to_be_ready_in_time() -> None:
    judged = judge_ready(constant("A", 1, 1, error="killed"), 1_000)
    assert (judged.met, judged.why) == (None, "a start failed: killed")


def test_the_best_unit_for_so_many_calls_changes_at_break_even() -> None:
    """4 s and 20 ms against 12 s and 10 ms: after 801 calls both have taken 20 s (docs/method/cold.md)."""
    cpu, ne = constant("CPU", 4_000, 20), constant("NE", 12_000, 10)
    assert [(each.unit, each.ms) for each in of(cpu, ne, calls=800).units] == [("CPU", 19_980), ("NE", 19_990)]
    assert [(each.unit, each.ms) for each in of(cpu, ne, calls=802).units] == [("NE", 20_010), ("CPU", 20_020)]
    assert of(cpu, ne, calls=1).units[0].ms == 4_000, "one call is the start"
    found = of(cpu, ne, calls=802)
    assert (found.lead_ms, found.lead_interval_ms, found.proven) == (10, (10, 10), True)
    assert (found.units[0].low_ms, found.units[0].high_ms) == (20_010, 20_010)


def test_a_lead_whose_interval_holds_0_is_not_proven() -> None:
    found = of(StartUp("A", (90, 100, 110) * 2, (1,) * 6), StartUp("B", (91, 101, 111) * 2, (1,) * 6), calls=1)
    assert found.lead_ms == 1
    assert found.lead_interval_ms is not None
    assert found.lead_interval_ms[0] < 0
    assert not found.proven


def test_of_fewer_than_six_starts_there_is_no_interval() -> None:
    found = of(constant("A", 1, 1, 2), constant("B", 2, 1), calls=5)
    assert (found.units[0].low_ms, found.lead_ms, found.lead_interval_ms, found.proven) == (None, 1, None, False)


def test_units_of_which_a_start_failed_have_no_total() -> None:
    assert [each.unit for each in of(constant("A", 1, 1, error="x"), constant("B", 2, 1), calls=5).units] == ["B"]
    assert of(calls=5) == Totals(5, ())


# -- in a verdict ---------------------------------------------------------------------------------------------------

TABLE = session_of(stream_of(TABLE_4))


def judged_with(question: Question, *starts: StartUp, session: Session = TABLE) -> Verdict:
    return verdict(session, question, in_order_of(session), np.random.default_rng(0), starts=starts)


def test_start_up_is_one_more_budget_that_a_unit_must_meet() -> None:
    starts = constant("CPU_AND_NE", 3_000, 1), constant("CPU_ONLY", 1_000, 3)
    assert judged_with(Question(cold_ms=2_000), *starts).meeting == ("CPU_ONLY",)
    assert judged_with(Question(cold_ms=4_000), *starts).meeting == ("CPU_AND_NE", "CPU_ONLY"), "best mean first"
    assert judged_with(Question(cold_ms=500), *starts).meeting == ()
    assert judged_with(Question(), *starts).ready is None
    assert not judged_with(Question(calls=5), *starts).asked_for_proof


def test_without_samples_the_starts_alone_answer_the_first_ready_first() -> None:
    empty = Session()
    found = judged_with(Question(cold_ms=2_000), constant("B", 900, 1), constant("A", 500, 1), session=empty)
    assert found.meeting == ("A", "B")


def test_a_unit_whose_answers_are_wrong_has_no_total() -> None:
    from dataclasses import replace
    from unittest import mock

    import hettop.analysis.verdict as module

    told = module._facts

    def wrong(session: Session, unit: str, load: str, rows: object) -> module.Facts:
        facts = told(session, unit, load, rows)  # type: ignore[arg-type]
        return replace(facts, wrong=unit == "ALL")

    starts = constant("ALL", 1, 1), constant("CPU_ONLY", 2, 1)
    with mock.patch.object(module, "_facts", wrong):
        found = judged_with(Question(calls=5, cold_ms=10), *starts)
    assert found.totals is not None
    assert [each.unit for each in found.totals.units] == ["CPU_ONLY"]
    assert found.meeting == ("CPU_ONLY",)
