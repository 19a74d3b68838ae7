"""Comparisons: no false alarms, no missed slowdowns, and what makes them unfair."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from hettop import events
from hettop.analysis.comparison import Comparison, compare
from hettop.analysis.runs import Run, condition_of, run_of
from hettop.analysis.unit_samples import in_order_of
from hettop.session.session import Session
from tests.analysis.material import Samples, latencies, session_of, stream_of
from tests.report.sessions import failure
from tests.streams import header, window


def side(session: Session, on_battery: frozenset[bool] = frozenset()) -> Run:
    return run_of(session, in_order_of(session), on_battery)


def compared(a: Session, b: Session, tolerance: float = 0.05, seed: int = 0) -> Comparison:
    return compare([side(a)], [side(b)], np.random.default_rng(seed), tolerance=tolerance)


def measured(samples: object, **more: object) -> Session:
    return session_of(stream_of({"CPU_ONLY": samples}), **more)  # type: ignore[dict-item, arg-type]


def test_a_session_has_not_regressed_against_itself() -> None:
    session = measured(latencies(np.random.default_rng(1), 800, 0.6))
    result = compared(session, session)
    assert result.regressions == 0
    (condition,) = result.conditions
    assert set(condition.quantiles) == {"p50", "p90", "p99"}
    for quantile in condition.quantiles.values():
        assert quantile.diff_ms == 0
        assert quantile.ci_ms[0] <= 0 <= quantile.ci_ms[1]


def test_half_as_slow_again_is_a_regression_of_every_quantile() -> None:
    samples = latencies(np.random.default_rng(2), 800, 0.3)
    (condition,) = compared(measured(samples), measured(1.5 * samples)).conditions
    assert condition.regression
    assert all(quantile.regressed for quantile in condition.quantiles.values())
    p50 = condition.quantiles["p50"]
    assert p50.b_ms / p50.a_ms == pytest.approx(1.5, rel=1e-6)
    assert compared(measured(1.5 * samples), measured(samples)).regressions == 0, "faster is no regression"


def test_same_and_correlated_seldom_looks_regressed_even_without_tolerance() -> None:
    """50 pairs of the same distribution at autocorrelation .6: at most 8% may look slower (2.5% are aimed at).

    Were it 15%, 89 of 100 such sets would show it.
    """
    rng = np.random.default_rng(3)
    pairs = [(measured(latencies(rng, 700, 0.6)), measured(latencies(rng, 700, 0.6))) for _ in range(50)]
    assert sum(compared(a, b, 0.0, seed).regressions for seed, (a, b) in enumerate(pairs)) <= 4
    assert sum(compared(a, b, 0.05, seed).regressions for seed, (a, b) in enumerate(pairs[:25])) == 0


def test_intervals_hold_the_true_difference() -> None:
    rng = np.random.default_rng(4)
    held = 0
    for seed in range(50):
        a, b = measured(latencies(rng, 700, 0.6)), measured(latencies(rng, 700, 0.6, 2.75))
        (condition,) = compared(a, b, seed=seed).conditions
        low, high = condition.quantiles["p50"].ci_ms
        held += low <= 0.25 <= high
    assert held >= 44


@pytest.mark.parametrize("seed", range(5))
def test_five_per_cent_slower_is_found_in_two_thousand_correlated_samples(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    a, b = measured(latencies(rng, 2000, 0.6)), measured(1.05 * latencies(rng, 2000, 0.6))
    assert compared(a, b, 0.02, seed).regressions == 1
    strict = compared(a, b, 0.05, seed)
    assert strict.conditions[0].quantiles["p50"].slower, "it is slower, and so it is said,"
    assert strict.regressions == 0, "though nothing proves that it is beyond a tolerance just as large"


def test_few_samples_are_not_compared_and_say_so() -> None:
    (condition,) = compared(measured([1.0] * 9), measured([2.0] * 9)).conditions
    assert (condition.quantiles, condition.regression) == ({}, False)
    assert "9 samples" in condition.why
    waves = np.repeat([1.0, 2.0, 3.0], 40)
    (condition,) = compared(measured(waves), measured(waves)).conditions
    assert "effective sample size" in condition.why


def test_percentiles_are_compared_from_the_samples_they_need_on() -> None:
    rng = np.random.default_rng(5)
    for n, wanted in ((63, {"p50"}), (64, {"p50", "p90"}), (661, {"p50", "p90"}), (662, {"p50", "p90", "p99"})):
        session = measured(rng.normal(2, 0.1, n))
        assert set(compared(session, session).conditions[0].quantiles) == wanted


def test_a_unit_that_fails_now_has_regressed() -> None:
    before = measured([1.0] * 20)
    now = session_of([failure("CPU_ONLY", "killed by SIGSEGV")])
    (condition,) = compared(before, now).conditions
    assert condition.regression
    assert "SIGSEGV" in condition.why
    assert compared(before, now).regressions == 1


def test_what_only_one_side_has_is_named_and_not_judged() -> None:
    a = session_of(stream_of({"CPU_ONLY": [1.0] * 20, "ALL": [1.0] * 20}))
    b = session_of(stream_of({"CPU_ONLY": [1.0] * 20}), stream_of({"CPU_ONLY": [2.0] * 20}, load="cpu:1", t0=10**9))
    result = compared(a, b)
    assert result.only_a == (("ALL", "none"),)
    assert result.only_b == (("CPU_ONLY", "cpu:1"),)
    assert [(condition.unit, condition.load) for condition in result.conditions] == [("CPU_ONLY", "none")]


def test_whatever_else_differs_is_said() -> None:
    here = header()
    there = msgspec.structs.replace(
        here,
        simulated=True,
        host=events.Host(chip="Other chip", os="macOS 27", power_mode="low", frameworks={"coremltools": "9.1"}),
        model=events.ModelInfo(name="Test model", backend="coreml", sha256="ab" * 32),
    )
    result = compared(measured([1.0] * 20, opening=here), measured([1.0] * 20, opening=there))
    told = {difference.what: (difference.a, difference.b) for difference in result.differences}
    assert told == {
        "simulated": ("no", "yes"),
        "chip": ("Test chip", "Other chip"),
        "OS": (None, "macOS 27"),
        "power mode": (None, "low"),
        "coremltools": (None, "9.1"),
        "backend": ("onnxruntime", "coreml"),
        "model's sha256": (None, "ab" * 32),
    }
    assert not result.fair


def test_heat_and_power_supply_make_it_unfair() -> None:
    cool = session_of([window([10**6] * 20, thermal="Nominal")])
    hot = session_of([window([10**6] * 20, thermal="Serious")])
    result = compare([side(cool, frozenset({False}))], [side(hot, frozenset({True}))], np.random.default_rng(0))
    (condition,) = result.conditions
    assert condition.thermal is not None
    assert (condition.thermal.a, condition.thermal.b) == ("Nominal", "Serious")
    assert [(d.what, d.a, d.b) for d in result.differences] == [("power supply", "mains", "battery")]
    assert not result.fair


def test_answers_that_have_become_wrong_are_a_regression_however_fast() -> None:
    difference = events.OutputDifference(name="logits", values=10, not_finite=2)
    outputs = events.Outputs(t=0, unit="CPU_ONLY", reference="ALL", inputs=8, outputs=[difference])
    samples = stream_of({"CPU_ONLY": latencies(np.random.default_rng(1), 800, 0.6)})
    good = session_of([events.Engine(t=0, unit="CPU_ONLY", state="running")], samples)
    bad = session_of([events.Engine(t=0, unit="CPU_ONLY", state="running"), outputs], samples)
    (condition,) = compared(good, bad).conditions
    assert condition.regression
    assert "wrong" in condition.why
    assert compared(bad, good).regressions == 0
    assert compared(bad, bad).regressions == 0


def runs(*samples: object, keep_samples: bool = False) -> list[Run]:
    """Several recordings of one unit."""
    sessions = [measured(each) for each in samples]
    return [run_of(session, in_order_of(session), keep_samples=keep_samples) for session in sessions]


def scaled(base: Samples, *factors: float) -> list[Run]:
    return runs(*(factor * base for factor in factors))


SOME = np.linspace(9.0, 11.0, 21)
"""Samples that suffice for P50 only: 10 ms."""


def between(a: list[Run], b: list[Run], tolerance: float = 0.05) -> Comparison:
    return compare(a, b, np.random.default_rng(0), tolerance=tolerance)


def test_between_runs_the_interval_is_that_of_the_logs_of_their_quantiles() -> None:
    """Logs are -d, 0, d on both sides, B's 0.1 higher: 0.1 +- t(4) d sqrt(2/3), and t(4) = 2.776."""
    d = 0.02
    factors = np.exp([-d, 0.0, d])
    (condition,) = between(scaled(SOME, *factors), scaled(SOME, *(factors * np.exp(0.1)))).conditions
    p50 = condition.quantiles["p50"]
    reach = 2.77645 * d * np.sqrt(2 / 3)
    assert p50.change_ci == pytest.approx((np.expm1(0.1 - reach), np.expm1(0.1 + reach)), rel=1e-3)
    assert (p50.a_ms, p50.b_ms) == pytest.approx((10.0, 10 * np.exp(0.1)), rel=1e-6)
    assert p50.ci_ms == pytest.approx((10 * p50.change_ci[0], 10 * p50.change_ci[1]), rel=1e-6)
    assert (condition.n, condition.runs) == ((63, 63), (3, 3))
    assert (p50.regressed, p50.proven, p50.equivalent, condition.proven) == (True, True, False, True)


@pytest.mark.parametrize(
    ("factor", "spread", "regression", "equivalent", "proven"),
    [
        (1.00, 0.004, False, True, True),
        (1.03, 0.004, False, True, True),
        (1.05, 0.004, False, False, False),
        (1.20, 0.004, True, False, True),
        (0.80, 0.004, False, False, True),
        (1.20, 0.100, False, False, False),
    ],
)
def test_what_is_proven_between_runs(
    factor: float, spread: float, regression: bool, equivalent: bool, proven: bool
) -> None:
    factors = np.exp(spread * np.array([-1.0, 0.0, 1.0]))
    result = between(scaled(SOME, *factors), scaled(SOME, *(factor * factors)))
    assert (bool(result.regressions), result.equivalent, result.proven) == (regression, equivalent, proven)


def test_one_run_a_side_proves_nothing() -> None:
    samples = latencies(np.random.default_rng(2), 800, 0.3)
    for factor in (1.0, 0.5, 1.5):
        result = compared(measured(samples), measured(factor * samples), 0.9)
        assert (result.proven, result.equivalent) == (False, False)
    assert not compared(measured(samples), measured(1.5 * samples)).proven


def test_runs_that_differ_by_themselves_are_seldom_taken_for_a_change() -> None:
    """Each run has an offset of its own, 5% (sd): within single runs, every pair of them would differ."""
    rng, proven = np.random.default_rng(6), 0
    for _ in range(400):
        a, b = (
            [Run({("U", "none"): condition_of(SOME * np.exp(0.05 * rng.normal()), 21)}) for _ in range(3)] for _ in "ab"
        )
        (condition,) = between(a, b).conditions
        p50 = condition.quantiles["p50"]
        proven += p50.slower or p50.faster
    assert proven <= 28, "5% are 20"


def test_all_units_and_quantiles_of_a_session_share_one_error() -> None:
    def session(factor: float, units: int) -> Run:
        return Run({(f"U{unit}", "none"): condition_of(factor * SOME, 21) for unit in range(units)})

    factors = np.exp([-0.02, -0.01, 0.01, 0.02])
    widths = []
    for units in (1, 4):
        a, b = ([session(factor, units) for factor in factors] for _ in "ab")
        low, high = between(a, b).conditions[0].quantiles["p50"].change_ci
        widths.append(np.log1p(high) - np.log1p(low))
    assert widths[1] / widths[0] == pytest.approx(3.5212 / 2.4469, rel=1e-3), "t(6) at 0.05/4 and at 0.05, two-sided"


def test_too_few_runs_prove_nothing_and_say_how_many_are_needed() -> None:
    two = scaled(SOME, 1.0, 1.01)
    (condition,) = between(two, scaled(SOME, 2.0, 2.01)).conditions
    assert (condition.quantiles, condition.regression, condition.proven) == ({}, False, False)
    assert condition.why == "insufficient data: A has 2 runs, 3 are needed"
    sessions = [
        session_of(stream_of({"CPU_ONLY": factor * SOME, "ALL": factor * SOME})) for factor in (1.0, 1.01, 1.02)
    ]
    three = [side(session) for session in sessions]
    assert {each.why for each in between(three, three).conditions} == {"insufficient data: A has 3 runs, 4 are needed"}


def test_a_unit_that_fails_in_some_runs_of_b_has_regressed_and_in_all_of_them_provably() -> None:
    good = scaled(SOME, 1.0, 1.01, 1.02)
    bad = side(session_of([failure("CPU_ONLY", "killed by SIGSEGV")]))
    (condition,) = between(good, [*good[:2], bad]).conditions
    assert (condition.regression, condition.proven) == (True, False)
    assert condition.why == "it failed in 1 of 3 runs of B: killed by SIGSEGV"
    (condition,) = between(good, [bad] * 3).conditions
    assert (condition.regression, condition.proven) == (True, True)
    (condition,) = between(good[:1], [bad]).conditions
    assert (condition.regression, condition.proven) == (True, False)


def test_differences_between_any_two_runs_are_said_once() -> None:
    here = header()
    there = msgspec.structs.replace(here, host=events.Host(chip="Other chip"))
    a = [side(measured(SOME, opening=each)) for each in (here, here, there)]
    b = [side(measured(SOME, opening=here)) for _ in range(3)]
    result = between(a, b)
    assert [(each.what, each.a, each.b) for each in result.differences] == [("chip", "Other chip", "Test chip")]
    assert not result.fair


def test_a_comparison_is_not_fair_where_nobody_knows_how_busy_the_machine_was() -> None:
    session = measured(SOME)
    assert (compared(session, session).untold, compared(session, session).fair) == (("a", "b"), False)
    simulated = measured(SOME, opening=header(simulated=True))
    assert (compared(simulated, simulated).untold, compared(simulated, simulated).fair) == ((), True)


def test_a_run_that_stays_long_in_one_state_is_not_compared_by_itself() -> None:
    """States that last 200 calls: 2,000 calls are worth about ten, and a pair of runs mostly looks different."""
    rng, found = np.random.default_rng(7), []
    for seed in range(20):
        slow = np.cumsum(rng.random((2, 2000)) < 1 / 200, axis=1) % 2
        a, b = (measured(latencies(rng, 2000, 0.0) * np.where(side, 1.5, 1.0)) for side in slow)
        found += [compared(a, b, 0.02, seed).conditions[0]]
    assert sum(bool(condition.quantiles) for condition in found) <= 5
    assert not any(condition.regression for condition in found)
