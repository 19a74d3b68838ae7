"""A budget is met, or missed, when the samples prove it; else nobody knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hettop.analysis.budget import (
    Budget,
    MeasuredEnergy,
    judge,
    judge_energy,
    judge_paced,
    parse_budget,
    parse_energy,
    quantile_interval_of,
)
from hettop.analysis.unit_samples import RESPONSE, Measured
from hettop.errors import HettopError
from tests.analysis.material import correlated, latencies, unit_of
from tests.analysis.table_4 import TABLE_4

P90_OF_NORMAL = 1.2815515655446004


@pytest.mark.parametrize(
    ("text", "rate", "wanted"),
    [
        ("16ms@p99", None, Budget(16.0, 0.99)),
        ("16ms", None, Budget(16.0, 0.99)),
        ("16", None, Budget(16.0, 0.99)),
        ("16@p90", None, Budget(16.0, 0.9)),
        ("500us@p90", None, Budget(0.5, 0.9)),
        ("1.5s@p99.9", None, Budget(1500.0, 0.999)),
        ("2ms@p999", None, Budget(2.0, 0.999)),
        (None, 50.0, Budget(20.0, 0.99, 50.0)),
        ("10ms@p90", 50.0, Budget(10.0, 0.9, 50.0)),
        (None, None, None),
    ],
)
def test_budgets_are_read(text: str | None, rate: float | None, wanted: Budget | None) -> None:
    assert parse_budget(text, rate) == wanted


@pytest.mark.parametrize(
    "text", ["", "16ms@99", "16ms@p9999", "0ms", "5ms@p0", "5ms@p100", "-5ms", "fast", "5mJ", "1e9ms"]
)
def test_what_is_no_budget_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(HettopError) as caught:
        parse_budget(text, None)
    assert caught.value.kind == "usage"


def test_energy_is_read_in_millijoules() -> None:
    assert (parse_energy("5mJ"), parse_energy("5"), parse_energy("0.5J"), parse_energy("200uJ")) == (
        5.0,
        5.0,
        500.0,
        0.2,
    )
    with pytest.raises(HettopError):
        parse_energy("5ms")


def test_a_hundred_samples_prove_no_p99_and_say_how_many_are_missing() -> None:
    judged = judge(unit_of(TABLE_4["CPU_ONLY"]), Budget(16.0, 0.99), paced_at=None)
    assert judged.met is None
    assert judged.needs is not None
    assert judged.needs >= 662 - 100
    assert judged.quantile_ms is None, "a P99 of 100 samples is not shown"


def test_table_4_proves_a_p90() -> None:
    assert judge(unit_of(TABLE_4["CPU_AND_NE"], turn=10), Budget(1.0, 0.9), paced_at=None).met is True
    assert judge(unit_of(TABLE_4["CPU_ONLY"], turn=10), Budget(1.0, 0.9), paced_at=None).met is False


def test_calls_in_one_stretch_count_as_one_in_110() -> None:
    """Every call takes half of the limit; P90 needs 64 independent samples, which are 64 times 110 calls."""
    budget = Budget(2.0, 0.9)
    assert judge(unit_of([1.0] * 7039), budget, paced_at=None).met is None
    assert judge(unit_of([1.0] * 7040), budget, paced_at=None).met is True
    few = judge(unit_of([1.0] * 1040), budget, paced_at=None)
    assert (few.effective, few.needs) == (9, 6000)
    assert "in one stretch, 110 calls count as one sample" in few.why


def test_turns_count_as_a_hundred_samples_at_most_until_there_are_110_calls_for_each() -> None:
    samples = np.random.default_rng(3).uniform(1, 1.1, 22_000)
    budget = Budget(2.0, 0.9)
    assert [judge(unit_of(samples[:n], turn=n // 9), budget, paced_at=None).effective for n in (1000, 11_000)] == [
        100
    ] * 2
    assert judge(unit_of(samples, turn=2000), budget, paced_at=None).effective == 200
    assert judge(unit_of(samples[:1000], turn=200), Budget(2.0, 0.9), paced_at=None).effective == 9, "five turns"


def test_turns_with_levels_of_their_own_are_worth_as_many_samples_as_turns() -> None:
    """Ten turns at ten levels: nothing within a turn is news."""
    samples = np.repeat(np.random.default_rng(5).permutation(10) + 1.0, 20)
    assert judge(unit_of(samples, turn=20), Budget(20.0, 0.9), paced_at=None).effective <= 10


@pytest.mark.parametrize(("over", "answer"), [(79, None), (81, False)])
def test_forty_times_the_share_that_p99_leaves_is_beyond_whatever_the_dependence(
    over: int, answer: bool | None
) -> None:
    """1% may be beyond it; 40% of 200 calls are so by chance in at most 1 / 40 of sessions (Markov)."""
    samples = np.where(np.arange(200) < over, 3.0, 1.0)
    judged = judge(unit_of(samples), Budget(2.0, 0.99), paced_at=None)
    assert judged.met is answer
    if answer is False:
        assert judged.why == "40.5% of the samples are above the limit, 1% may be"


@pytest.mark.parametrize("n", [1, 2, 10, 40, 63])
def test_there_is_no_yes_below_the_samples_a_percentile_needs(n: int) -> None:
    samples = np.random.default_rng(n).uniform(1, 1.1, n)
    judged = judge(unit_of(samples), Budget(1000.0, 0.9), paced_at=None)
    assert judged.met is None
    assert judged.needs is not None
    assert judged.needs + n >= 64


@pytest.mark.parametrize("n", [1, 5, 19])
def test_there_is_no_hasty_no_either(n: int) -> None:
    samples = np.random.default_rng(n).uniform(1, 1.1, n)
    assert judge(unit_of(samples), Budget(0.1, 0.9), paced_at=None).met is None


def test_correlated_samples_seldom_give_a_false_yes_or_no_at_the_very_limit() -> None:
    """The limit is the true P90: every yes is false. The naive interval would say so in about 10% of the runs."""
    rng = np.random.default_rng(12)
    answers = [
        judge(unit_of(np.exp(correlated(rng, 800, 0.6))), Budget(np.exp(P90_OF_NORMAL), 0.9), paced_at=None).met
        for _ in range(200)
    ]
    assert answers.count(True) <= 6
    assert answers.count(False) <= 10


def test_the_samples_it_asks_for_are_about_enough() -> None:
    rng = np.random.default_rng(13)
    # 2.5% above the true P90 of a distribution 10% wide: 2.5 * exp(.1 * 1.28) = 2.84 ms
    few = judge(unit_of(latencies(rng, 7200, 0.3)), Budget(2.95, 0.9), paced_at=None)
    assert few.met is None
    assert few.needs is not None
    assert 5_000 <= few.needs <= 50_000
    more = latencies(rng, 60_000, 0.3)
    assert judge(unit_of(more), Budget(2.95, 0.9), paced_at=None).met is True


def test_a_rate_is_proven_by_samples_taken_at_that_rate_only() -> None:
    fast = np.random.default_rng(14).normal(2.0, 0.1, 2000)
    budget = Budget(20.0, 0.99, 50.0)
    back_to_back = judge(unit_of(fast), budget, paced_at=None)
    assert (back_to_back.met, back_to_back.needs) == (None, 110 * 662)
    assert "not measured at 50" in back_to_back.why
    long = np.tile(fast, 40)
    assert judge(unit_of(long, series=RESPONSE), budget, paced_at=60.0).met is None
    assert judge(unit_of(long, series=RESPONSE), budget, paced_at=50.0).met is True
    assert judge(unit_of(fast + 30), budget, paced_at=None).met is False, "a response takes as long as its service"


def test_a_backlog_is_missed_by_its_services_alone() -> None:
    services = np.random.default_rng(15).normal(2.5, 0.1, 2200)
    backlog = np.cumsum(services - 2.0) + 2.5
    budget = Budget(2.0, 0.9, 500.0)
    response = unit_of(backlog, series=RESPONSE)
    assert judge(response, budget, paced_at=500.0).met is None, "one long wave is worth few samples"
    assert judge_paced(response, unit_of(services), budget, paced_at=500.0).met is False


def served(n: int, unserved: int) -> Measured:
    """Independent responses near 20 ms at 30 Hz, and arrivals that have none."""
    responses = np.random.default_rng(16).normal(20.0, 1.0, n)
    return replace(unit_of(responses, series=RESPONSE), unserved=unserved)


def test_arrivals_that_were_not_served_refuse_a_yes_as_soon_as_they_may_be_too_many() -> None:
    budget = Budget(1000 / 30, 0.99, 30.0)
    kept = judge(served(80_000, 0), budget, paced_at=30.0)
    assert (kept.met, kept.unserved) == (True, 0)
    dropped = judge(served(80_000, 11_900), budget, paced_at=30.0)
    assert (dropped.met, dropped.unserved) == (None, 11_900)
    assert dropped.why == "11,900 of 91,900 arrivals were not served"
    assert (dropped.quantile_ms, dropped.high_ms) == (None, None), "it is among those that have no response time"
    assert judge(served(80_000, 30), budget, paced_at=30.0).met is True, "30 of 80,030 are far from one in a hundred"
    # The bound of P99 is the 97.5% quantile of a binomial: of 730 blocks of 110 arrivals, at most 2 may be over.
    assert judge(served(80_000, 1000), budget, paced_at=30.0).met is None


def test_no_number_of_unserved_arrivals_proves_a_no_or_takes_memory() -> None:
    """An arrival that waited for a moment when the run ended might have been served in time."""
    judged = judge(served(2200, 2**53), Budget(1000 / 30, 0.9, 30.0), paced_at=30.0)
    assert (judged.met, judged.high_ms) == (None, None)
    assert judge(served(2200, 2**53), Budget(10.0, 0.9, 30.0), paced_at=30.0).met is False, "by those that were served"


def test_a_judgement_says_which_stalls_the_run_cannot_have_shown() -> None:
    judged = judge(served(6027, 0), Budget(40.0, 0.99, 30.0), paced_at=30.0)
    # Of stalls in one of 2,009 calls, 6,027 calls have none with probability (1 - 1 / 2009)^6027 = 4.97%.
    assert judged.seen_one_in == 2009
    assert pow(1 - 1 / 2009, 6027) == pytest.approx(0.05, abs=5e-4)
    assert judged.longest_ms == pytest.approx(float(served(6027, 0).samples_ms.max()))
    assert judge(served(2, 0), Budget(40.0, 0.99, 30.0), paced_at=30.0).seen_one_in is None


@pytest.mark.parametrize(
    ("low", "high", "wanted", "why"),
    [
        (4.0, 4.7, True, ""),
        (5.3, 6.0, False, ""),
        (4.0, 4.8, None, "within 5% of the limit"),
        (5.2, 6.0, None, "within 5% of the limit"),
        (4.0, 5.1, None, "the limit lies within the interval"),
        (None, None, None, "8 power windows depend too much"),
    ],
)
def test_energy_is_judged_by_its_whole_interval_and_a_margin(
    low: float | None, high: float | None, wanted: bool | None, why: str
) -> None:
    judged = judge_energy(MeasuredEnergy("A", 4.5, low, high, windows=8, coverage=0.9), 5.0)
    assert judged.met is wanted
    assert why in judged.why


@pytest.mark.parametrize(
    ("energy", "why"),
    [
        (MeasuredEnergy("A", 2.0, 1.9, 2.1, windows=5, coverage=0.9), "too few power windows: 5 of 6"),
        (MeasuredEnergy("A", 2.0, 1.9, 2.1, windows=9, coverage=0.75), "power is known for 75% of the time"),
        (MeasuredEnergy("A", 2.0, 1.9, 2.1, windows=9), "its energy is unknown"),
        (MeasuredEnergy("A"), "its energy is unknown"),
    ],
)
def test_energy_is_not_judged_without_windows_or_coverage(energy: MeasuredEnergy, why: str) -> None:
    judged = judge_energy(energy, 5.0)
    assert judged.met is None
    assert why in judged.why


def test_an_interval_beyond_the_limit_of_too_few_samples_is_not_said_to_contain_it() -> None:
    """1,320 calls in one stretch are 12 independent samples: enough for a yes at P50 (11), too few for a no (20)."""
    judged = judge(unit_of([2.5] * 1_320), Budget(1.0, 0.5), paced_at=None)
    assert (judged.met, judged.low_ms, judged.effective) == (None, 2.5, 12)
    assert judged.why == "effective sample size 12, but proving it missed needs 20"


def test_a_quantile_and_its_interval_are_of_the_same_samples() -> None:
    """The last 1,100 of 2,200 calls took 100 to 101 ms, all before them 1 ms: P90 of all is another one."""
    last = np.linspace(100.0, 101.0, 1_100)
    unit = replace(unit_of(last), n=2_200, p90_ms=100.8)
    value, low, high = quantile_interval_of(unit, 0.9)
    assert value == pytest.approx(100.9, abs=0.01)
    assert low is not None
    assert value is not None
    assert 100.0 <= low <= value
    assert high is None or high >= value
