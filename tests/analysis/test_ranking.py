"""Ranks, advice and few-sample warnings on the M2 report's Table 4, and where they end."""

from __future__ import annotations

import numpy as np
import pytest

from hettop.analysis.ranking import advise, difference, neighbours, rank
from hettop.analysis.verdict import decided_by_few, flips
from tests.analysis.material import latencies, unit_of
from tests.analysis.table_4 import TABLE_4

UNITS = [unit_of(values, unit=unit, turn=10) for unit, values in TABLE_4.items()]
NO_ENERGY: dict[str, float | None] = {}


def test_table_4_is_ranked_as_the_report_has_it() -> None:
    ranks = rank(UNITS, NO_ENERGY)
    assert ranks.latency == ("CPU_AND_NE", "ALL", "CPU_ONLY", "CPU_AND_GPU")  # .64, .87, 2.54, 3.13 ms
    assert ranks.stability == ("CPU_ONLY", "CPU_AND_NE", "ALL", "CPU_AND_GPU")  # 1.60, 3.11, 48.1, 84.2
    assert ranks.consistency == ("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL")  # 1.09, 1.18, 1.22, 1.26
    assert ranks.efficiency == ("ALL", "CPU_AND_NE", "CPU_AND_GPU", "CPU_ONLY")  # .54, .55, 1.64, 2.43 ms
    assert ranks.efficiency_by == "1/min"


def test_the_advice_is_the_reports() -> None:
    given = advise(UNITS, rank(UNITS, NO_ENERGY))
    assert (given.real_time, given.predictable, given.batch) == ("CPU_AND_NE", "CPU_ONLY", "ALL")
    assert given.avoid == ("CPU_AND_GPU",)


def test_one_stall_does_not_make_a_unit_unpredictable() -> None:
    rng = np.random.default_rng(3)
    narrow, wide = 2 * np.exp(rng.normal(0, 0.02, 2_000)), 2 * np.exp(rng.normal(0, 0.1, 2_000))
    narrow[1_000] = 100.0
    units = [unit_of(narrow, unit="narrow"), unit_of(wide, unit="wide")]
    ranks = rank(units, NO_ENERGY)
    assert ranks.stability == ("wide", "narrow")  # max/min
    first, second = ranks.tails
    assert (first.unit, first.level, second.unit) == ("narrow", 0.99, "wide")
    # exp(2.326 x .02) = 1.048 and exp(2.326 x .1) = 1.262
    assert first.ratio == pytest.approx(1.048, abs=0.01)
    assert second.ratio == pytest.approx(1.262, abs=0.04)
    assert first.low is not None
    assert first.high is not None
    assert first.low < 1.048 < first.high
    given = advise(units, ranks)
    assert (given.predictable, given.predictable_ties) == ("narrow", ())


def test_units_that_are_alike_are_not_told_apart() -> None:
    rng = np.random.default_rng(4)
    units = [unit_of(2 * np.exp(rng.normal(0, 0.1, 400)), unit=name) for name in "AB"]
    given = advise(units, rank(units, NO_ENERGY))
    assert given.predictable_ties == tuple({"A", "B"} - {given.predictable})


def test_too_few_samples_for_a_p99_are_judged_by_p90_and_few_of_all_by_nothing() -> None:
    rng = np.random.default_rng(5)
    many, hundred, ten = (unit_of(2 * np.exp(rng.normal(0, 0.1, n)), unit=str(n)) for n in (2_000, 100, 10))
    assert {each.level for each in rank([many, many], NO_ENERGY).tails} == {0.99}
    assert {each.level for each in rank([many, hundred], NO_ENERGY).tails} == {0.9}
    (found,) = rank([ten], NO_ENERGY).tails
    assert found.high is None


def test_one_sample_decides_both_pairs_that_the_report_builds_on() -> None:
    found = {(pair.better, pair.worse): pair for pair in decided_by_few(UNITS)}
    assert set(found) == {("CPU_AND_NE", "ALL"), ("CPU_ONLY", "CPU_AND_GPU")}
    assert {pair.samples for pair in found.values()} == {1}
    # (87.0 - 25.95) / 99 and (313 - 138.1) / 99, from the printed means
    assert found["CPU_AND_NE", "ALL"].without_ms == pytest.approx(0.617, abs=0.003)
    assert found["CPU_ONLY", "CPU_AND_GPU"].without_ms == pytest.approx(1.767, abs=0.006)


def test_the_lead_that_one_sample_decides_is_not_proven() -> None:
    eight_times = [unit_of(np.tile(TABLE_4[unit.unit], 8), unit=unit.unit, turn=10) for unit in UNITS]
    first, second, third = neighbours(eight_times)
    assert (first.better, first.worse, first.proven) == ("CPU_AND_NE", "ALL", False)
    assert (second.worse, second.proven) == ("CPU_ONLY", True)
    assert (third.worse, third.proven) == ("CPU_AND_GPU", False)


def test_energy_ranks_efficiency_only_when_it_is_known_of_all() -> None:
    known: dict[str, float | None] = {"CPU_AND_NE": 2.0, "ALL": 1.5, "CPU_ONLY": 9.0, "CPU_AND_GPU": 4.0}
    assert rank(UNITS, known).efficiency == ("ALL", "CPU_AND_NE", "CPU_AND_GPU", "CPU_ONLY")
    assert rank(UNITS, known).efficiency_by == "inferences per joule"
    assert rank(UNITS, {**known, "ALL": None}).efficiency_by == "1/min"


def test_who_is_slow_but_steady_is_not_to_be_avoided() -> None:
    units = [unit_of([1.0, 1.0, 9.0], unit="A"), unit_of([5.0, 5.0, 5.0], unit="B")]
    assert advise(units, rank(units, NO_ENERGY)).avoid == ()


def test_a_single_unit_is_advised_and_not_warned_of() -> None:
    given = advise(UNITS[:1], rank(UNITS[:1], NO_ENERGY))
    assert (given.real_time, given.avoid) == ("CPU_AND_NE", ())
    assert advise([], rank([], NO_ENERGY)).real_time is None


def test_at_most_one_per_cent_may_be_taken_away() -> None:
    # 300 samples: three may go. Four stalls are a habit, three are few.
    better = unit_of(np.full(300, 2.0), unit="A")
    three = np.concatenate([np.full(3, 100.0), np.full(297, 1.9)])
    four = np.concatenate([np.full(4, 100.0), np.full(296, 1.9)])
    (pair,) = decided_by_few([better, unit_of(three, unit="B")])
    assert pair.samples == 3
    assert decided_by_few([better, unit_of(four, unit="B")]) == ()


def test_a_latency_of_nothing_breaks_no_ratio() -> None:
    units = [unit_of([0.0, 1.0], unit="A"), unit_of([1.0, 2.0], unit="B")]
    assert rank(units, NO_ENERGY).stability == ("B", "A")


def test_order_that_is_the_other_way_round_under_load_is_a_flip() -> None:
    rng = np.random.default_rng(4)
    idle = [
        unit_of(latencies(rng, 700, 0.3, 1.0), unit="NE", turn=70),
        unit_of(latencies(rng, 700, 0.3, 2.0), unit="CPU", turn=70),
    ]
    busy = [
        unit_of(latencies(rng, 700, 0.3, 3.0), unit="NE", turn=70),
        unit_of(latencies(rng, 700, 0.3, 2.5), unit="CPU", turn=70),
    ]
    (flip,) = flips(idle, {"ane:1": busy, "cpu:1": idle})
    assert (flip.load, flip.faster, flip.slower, flip.proven) == ("ane:1", "CPU", "NE", True)
    assert flip.difference_ms == pytest.approx(0.5, abs=0.1)
    (doubtful,) = flips(idle, {"ane:1": [unit_of([1.0, 2.0], unit="CPU"), unit_of([1.5, 2.0], unit="NE")]})
    assert doubtful.proven is False, "two samples prove nothing"


def test_a_lead_is_judged_by_turns_and_not_by_samples() -> None:
    # Turn means 1, 2, 1, 2, 1, 2 behind 0: mean 1.5, deviation .5477, standard error .2236, t of 5 degrees 2.5706.
    behind = unit_of(np.repeat([11.0, 12.0] * 3, 110), unit="B", turn=110)
    ahead = unit_of(np.full(660, 10.0), unit="A", turn=110)
    found = difference(ahead, behind)
    assert found.difference_ms == pytest.approx(1.5)
    assert found.interval_ms == pytest.approx((0.9252, 2.0748), abs=0.0005)
    assert found.proven


@pytest.mark.parametrize(
    ("turns", "calls", "known"), [(5, 200, False), (6, 110, True), (6, 109, False), (20, 20, False)]
)
def test_fewer_than_six_turns_or_110_calls_for_each_prove_no_order(turns: int, calls: int, known: bool) -> None:
    near, far = (
        unit_of((np.arange(calls * turns) % 7 + level).tolist(), unit=str(level), turn=calls) for level in (1.0, 100.0)
    )
    assert (difference(near, far).interval_ms is not None) is known


def test_samples_whose_turns_are_not_known_prove_no_order() -> None:
    assert difference(unit_of([1.0] * 500, unit="A"), unit_of([9.0] * 500, unit="B")).interval_ms is None
