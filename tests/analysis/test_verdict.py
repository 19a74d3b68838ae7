"""The whole verdict on a folded session."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from hettop import events
from hettop.analysis.budget import Budget
from hettop.analysis.unit_samples import in_order_of
from hettop.analysis.verdict import Question, Verdict, verdict
from hettop.report.verdict_words import warnings
from hettop.session.session import Session
from tests.analysis.material import latencies, powered, session_of, stream_of
from tests.analysis.table_4 import TABLE_4
from tests.report.sessions import failure
from tests.streams import MS, window


def judged(session: Session, question: Question = Question()) -> Verdict:  # noqa: B008 (immutable)
    return verdict(session, question, in_order_of(session), np.random.default_rng(0))


def test_nothing_measured_gives_nothing() -> None:
    found = judged(session_of([]), Question(budget=Budget(1.0)))
    assert (found.units, found.advice.real_time, found.meeting, found.settled) == ((), None, (), False)


def test_table_4_within_a_millisecond_at_p90() -> None:
    found = judged(session_of(stream_of(TABLE_4, turns=10)), Question(budget=Budget(1.0, 0.9)))
    assert {unit: judgement.met for unit, judgement in found.judgements.items()} == {
        "CPU_AND_NE": True,
        "ALL": True,
        "CPU_ONLY": False,
        "CPU_AND_GPU": False,
    }
    assert found.meeting == ("CPU_AND_NE", "ALL")
    assert found.needs == {}
    assert found.settled


def test_thermal_states_are_pooled_and_known() -> None:
    session = session_of([window([1 * MS] * 5, thermal="Nominal"), window([3 * MS] * 5, thermal="Fair", t0=10**9)])
    (unit,) = judged(session).units
    assert (unit.n, unit.mean_ms, unit.thermal) == (10, 2.0, ("Nominal", "Fair"))


def test_failed_and_unmeasured_units_are_told_apart() -> None:
    session = session_of(
        [failure("CPU_AND_NE", "no such unit"), events.Engine(t=0, unit="ALL", state="stopped")],
        stream_of({"CPU_ONLY": [1.0] * 30}),
    )
    found = judged(session)
    assert {unit: reason.message for unit, reason in found.failed.items()} == {"CPU_AND_NE": "no such unit"}
    assert found.unmeasured == ("ALL",)


def test_the_load_without_load_is_judged_unless_another_is_asked_for() -> None:
    idle, busy = {"NE": [1.0] * 30, "CPU": [2.0] * 30}, {"NE": [4.0] * 30, "CPU": [3.0] * 30}
    session = session_of(stream_of(busy, load="ane:1"), stream_of(idle, t0=10**10))
    assert judged(session).ranks.latency == ("NE", "CPU")
    assert [(flip.load, flip.faster) for flip in judged(session).flips] == [("ane:1", "CPU")]
    assert judged(session, Question(load="ane:1")).ranks.latency == ("CPU", "NE")
    assert judged(session_of(stream_of(busy, load="ane:1"))).load == "ane:1", "it is all there is"


def test_native_times_are_judged_when_asked_for() -> None:
    session = session_of([window([2 * MS] * 30, native=[1 * MS] * 30), window([2 * MS] * 9, unit="ALL", t0=10**9)])
    found = judged(session, Question(by="native"))
    assert [(unit.unit, unit.mean_ms) for unit in found.units] == [("CPU_ONLY", 1.0)]
    assert found.unmeasured == ("ALL",)


def test_paced_samples_are_judged_by_their_response() -> None:
    control = events.Control(t=0, action="start", mode="paced", rate_hz=100.0)
    late = [9 * MS if i % 5 == 0 else 0 for i in range(800)]
    other = [window([MS], unit="ALL", t0=(2 * turn + 1) * 10**9) for turn in range(8)]
    mine = [window([2 * MS] * 100, late=late[:100], t0=2 * turn * 10**9) for turn in range(8)]
    session = session_of([control, *(each for pair in zip(mine, other, strict=True) for each in pair)])
    answers = [
        judged(session, Question(budget=Budget(limit, 0.9, 100.0))).judgements["CPU_ONLY"] for limit in (10.0, 12.0)
    ]
    assert [answer.series for answer in answers] == ["response", "response"]
    assert [answer.met for answer in answers] == [False, True], "one in five responses takes 11 ms"


def test_what_was_not_served_at_a_rate_counts_in_its_budget_alone() -> None:
    control = events.Control(t=0, action="start", mode="paced", rate_hz=100.0)
    stopped = events.Engine(t=10**10, unit="CPU_ONLY", state="stopped", unfinished=2000)
    session = session_of([control, window([2 * MS] * 8000, late=[0] * 8000), stopped])
    response = judged(session, Question(budget=Budget(5.0, 0.9, 100.0))).judgements["CPU_ONLY"]
    assert (response.met, response.why) == (None, "2,000 of 10,000 arrivals were not served")
    assert [unit.unserved for unit in judged(session).units] == [0], "of a call's own latency there is nothing missing"
    few = session_of(
        [control, window([2 * MS] * 8000, late=[0] * 8000), msgspec.structs.replace(stopped, unfinished=20)]
    )
    assert judged(few, Question(budget=Budget(5.0, 0.9, 100.0))).judgements["CPU_ONLY"].met is True


def test_more_samples_are_asked_for_while_p90_is_not_sure() -> None:
    found = judged(session_of(stream_of({"CPU_ONLY": np.random.default_rng(1).normal(2, 0.1, 40)})))
    assert found.needs["CPU_ONLY"] >= 24
    assert not found.settled


def test_a_proven_lead_settles_it() -> None:
    rng = np.random.default_rng(2)
    turns = [
        stream_of({"A": latencies(rng, 110, 0.2, 1.0), "B": latencies(rng, 110, 0.2, 2.0)}, t0=turn * 10**9)
        for turn in range(12)
    ]
    assert judged(session_of(*turns)).settled
    assert not judged(session_of(*turns[:5])).settled, "fewer than six turns"


def test_plans_and_outputs_stand_beside_the_times() -> None:
    plan = events.Plan(t=0, unit="CPU_ONLY", ops=10, fallback_ratio_count=0.3)
    difference = events.OutputDifference(name="logits", values=10, max_abs=0.5, largest=10.0, top1=0.9, not_finite=0)
    outputs = events.Outputs(t=0, unit="CPU_ONLY", reference="ALL", inputs=1, outputs=[difference])
    session = session_of(
        [events.Engine(t=0, unit="CPU_ONLY", state="running", load_ns=300 * MS, placed="CPU"), plan, outputs],
        stream_of({"CPU_ONLY": [1.0] * 10}),
    )
    facts = judged(session).facts["CPU_ONLY"]
    assert (facts.placed, facts.load_ms, facts.fallback) == ("CPU", 300.0, 0.3)
    assert (facts.reference, facts.difference, facts.top1) == ("ALL", 0.05, 0.9)
    assert facts.energy_mj is None


def wrong(unit: str, reference: str = "CPU_ONLY", **difference: float) -> events.Outputs:
    found = events.OutputDifference(name="logits", values=10, **difference)  # type: ignore[arg-type]
    return events.Outputs(t=0, unit=unit, reference=reference, inputs=8, outputs=[found])


def fast_and_slow(told: events.Outputs | events.Engine) -> Session:
    rng = np.random.default_rng(3)
    samples = {"CPU_ONLY": latencies(rng, 800, 0.2, 2.0), "CPU_AND_NE": latencies(rng, 800, 0.2, 1.0)}
    return session_of(
        [events.Engine(t=0, unit=unit, state="running") for unit in samples], [told], stream_of(samples, turns=10)
    )


def test_a_unit_with_wrong_answers_is_never_advised_and_meets_nothing() -> None:
    session = fast_and_slow(wrong("CPU_AND_NE", max_abs=14.0, largest=10.0, top1=0.0))
    found = judged(session, Question(budget=Budget(1.9, 0.9)))
    assert found.ranks.latency == ("CPU_ONLY",), "what nobody can ship has no rank"
    assert found.advice.avoid == ("CPU_AND_NE",)
    assert [unit.unit for unit in found.units] == ["CPU_ONLY", "CPU_AND_NE"], "and yet was measured"
    assert (found.advice.real_time, found.advice.predictable, found.advice.batch) == ("CPU_ONLY",) * 3
    assert found.judgements["CPU_AND_NE"].met is True
    assert found.meeting == ()


def test_a_unit_whose_engine_died_is_never_advised_however_fast_it_was() -> None:
    found = judged(fast_and_slow(failure("CPU_AND_NE", "SIGSEGV")), Question(budget=Budget(1.9, 0.9)))
    assert found.ranks.latency == ("CPU_ONLY",)
    assert found.advice.real_time == "CPU_ONLY"
    assert found.advice.avoid == ("CPU_AND_NE",)
    assert found.meeting == ()
    assert found.facts["CPU_AND_NE"].failed == "SIGSEGV"


def test_without_the_cpus_answers_nobody_knows_who_is_right_and_nobody_is_accused() -> None:
    unlike = wrong("CPU_AND_NE", reference="ALL", max_abs=14.0, largest=10.0, top1=0.0)
    found = judged(fast_and_slow(unlike))
    assert found.advice.real_time == "CPU_AND_NE"
    assert (found.facts["CPU_AND_NE"].wrong, found.facts["CPU_AND_NE"].unlike) == (False, True)
    assert any("measure CPU_ONLY too, to find which is right" in text for text in warnings(found))


def test_units_measured_one_after_another_are_warned_of_and_units_in_turns_are_not() -> None:
    means = {"ALL": 1.0, "CPU_ONLY": 4.0}
    session = session_of(stream_of({unit: [mean] * 100 for unit, mean in means.items()}))
    assert any("not interleaved" in text for text in warnings(judged(session)))
    for turn in range(3):
        for unit in means:
            session.fold(window([2 * MS], t0=(20 + turn) * 10**9, unit=unit, phase="resume"))
    assert not any("not interleaved" in text for text in warnings(judged(session)))


def test_samples_that_are_worth_a_handful_prove_nothing() -> None:
    """Two slow waves: 400 samples that tell of a few independent ones."""
    wave = np.repeat([1.0, 1.4, 0.9, 1.5], 100)
    rng = np.random.default_rng(5)
    samples = {"ALL": list(wave + rng.normal(0, 0.01, 400)), "CPU_ONLY": list(wave + 0.3 + rng.normal(0, 0.01, 400))}
    (pair,) = judged(session_of(stream_of(samples))).order
    assert pair.difference_ms > 0.2
    assert not pair.proven


def test_the_lead_is_over_the_next_unit_that_one_could_ship() -> None:
    """Means 1, 2 and 4 ms of which the first one's answers are wrong: the lead is 4 - 2 ms, not 2 - 1."""
    means = {"ALL": 1.0, "CPU_AND_GPU": 2.0, "CPU_ONLY": 4.0}
    session = session_of(stream_of({unit: [mean] * 100 for unit, mean in means.items()}))
    session.fold(wrong("ALL", max_abs=14.0, largest=10.0, top1=0.0))
    (pair,) = judged(session).order
    assert (pair.better, pair.worse, pair.difference_ms) == ("CPU_AND_GPU", "CPU_ONLY", 2.0)


def test_a_near_tie_that_falls_differently_is_no_wrong_answer() -> None:
    found = judged(fast_and_slow(wrong("CPU_AND_NE", max_abs=0.01, largest=10.0, top1=0.9)))
    assert found.advice.real_time == "CPU_AND_NE"


SIX_MW = [9000, 11000, 10000, 11000, 9000, 10000]


def test_energy_is_judged_with_the_confidence_that_units_share() -> None:
    """100 mJ on average; t of 5 degrees of freedom: 2.571 for one unit (+- 9.39 mJ), 3.163 for two (+- 11.55 mJ)."""
    alone = judged(session_of(powered("A", SIX_MW)), Question(energy_mj=105.0)).energy
    both = session_of(powered("A", SIX_MW), powered("B", SIX_MW, t0=10**11))
    assert alone is not None
    assert alone["A"].energy.low_mj == pytest.approx(90.61, rel=1e-3)
    assert alone["A"].met is None
    for limit, wanted in ((116.0, None), (118.0, True), (85.0, None), (84.0, False)):
        shared = judged(both, Question(energy_mj=limit))
        assert shared.energy is not None
        assert shared.energy["B"].energy.high_mj == pytest.approx(111.55, rel=2e-3)
        assert [each.met for each in shared.energy.values()] == [wanted, wanted]
        assert shared.meeting == (("A", "B") if wanted else ())
        assert shared.missed_by_all is (wanted is False)


def test_energy_of_thermal_states_has_the_windows_of_the_one_with_the_fewest() -> None:
    warm = [msgspec.structs.replace(each, thermal="Fair") for each in powered("A", SIX_MW[:3], t0=10**11)]
    found = judged(session_of(powered("A", SIX_MW), warm), Question(energy_mj=500.0)).energy
    assert found is not None
    assert (found["A"].met, found["A"].energy.windows) == (None, 3)
    assert found["A"].why == "too few power windows: 3 of 6"
