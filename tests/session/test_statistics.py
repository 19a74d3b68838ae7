"""The statistics object: worked values, and null wherever nothing was measured."""

from __future__ import annotations

import numpy as np
import pytest

from hettop import events
from hettop.session.session import Session
from hettop.session.statistics import statistics
from hettop.stats.quantiles import quantile_interval
from tests.streams import MS, S, header, window


def measured(latencies: list[int], **more: object) -> Session:
    session = Session(**more)  # type: ignore[arg-type]
    session.fold(header())
    session.fold(window(latencies))
    return session


def test_ten_samples_by_hand() -> None:
    # 1..10 ms: mean 5.5, population std sqrt(8.25), type 7 P90 at position 8.1 = 9.1 ms.
    (row,) = statistics(measured([k * MS for k in range(1, 11)]))
    assert row.n == 10
    assert row.exact is True
    assert row.mean_ms == pytest.approx(5.5)
    assert row.std_ms == pytest.approx(8.25**0.5)
    assert row.p50_ms == pytest.approx(5.5)
    assert row.p90_ms == pytest.approx(9.1)
    assert (row.min_ms, row.max_ms) == (1.0, 10.0)
    assert row.throughput_per_s == pytest.approx(10 / 0.055)
    assert row.p90_needs == 64
    assert row.p99_ms is None


@pytest.mark.parametrize(("n", "shown"), [(661, False), (662, True)])
def test_p99_is_shown_from_662_samples_on(n: int, shown: bool) -> None:
    (row,) = statistics(measured([MS] * n))
    assert (row.p99_ms is not None) is shown
    assert (row.p99_needs is None) is shown


def test_the_interval_of_p90_at_a_hundred_samples_is_ranks_84_and_96() -> None:
    (row,) = statistics(measured([37 * k % 101 * MS for k in range(1, 101)]))
    assert (row.p90_ci_ms, row.p90_effective_n) == ((84.0, 96.0), 100)


@pytest.mark.parametrize("raw_limit", [100_000, 0])
def test_the_interval_of_p90_is_of_as_many_samples_as_dependent_ones_are_worth(raw_limit: int) -> None:
    """Each of 4,000 values comes ten times in a row: 40,000 samples are worth 4,000."""
    values = np.random.default_rng(4).permutation(4000) + 1
    (row,) = statistics(measured((np.repeat(values, 10) * MS // 10).tolist(), raw_limit=raw_limit))
    assert row.p90_effective_n == pytest.approx(4000, rel=0.5)
    ranks = quantile_interval(4000, 0.9)
    assert row.p90_ci_ms == pytest.approx([(rank or 0) / 10 for rank in ranks], rel=0.01)
    (alone,) = statistics(measured((np.random.default_rng(4).permutation(40_000) * MS // 100).tolist()))
    assert alone.p90_effective_n is not None
    assert alone.p90_effective_n > 30_000


def test_early_stopping_counts_dependent_samples_as_what_they_are_worth() -> None:
    """100 values, ten times each: the 98th of them (see LoadGen's rank for 100 samples), not a rank for 1,000."""
    values = np.repeat([37 * k % 101 for k in range(1, 101)], 10)
    (row,) = statistics(measured((values * MS).tolist()))
    assert row.p90_early_stopping_ms is not None
    assert 97 <= row.p90_early_stopping_ms <= 99


def test_beyond_the_raw_limit_quantiles_come_from_the_histogram_and_say_so() -> None:
    rng = np.random.default_rng(5)
    latencies = (MS * np.exp(rng.normal(0, 0.2, 5000))).astype(int).tolist()
    (exact,) = statistics(measured(latencies))
    (binned,) = statistics(measured(latencies, raw_limit=1000))
    assert exact.exact is True
    assert binned.exact is False
    for name in ("p50_ms", "p90_ms", "p99_ms"):
        assert getattr(binned, name) == pytest.approx(getattr(exact, name), rel=0.005)
    assert binned.mean_ms == exact.mean_ms
    assert binned.std_ms == exact.std_ms


def test_a_unit_that_failed_keeps_its_row_with_the_reason() -> None:
    session = Session()
    failure = events.Failure(kind="crashed", message="killed by SIGSEGV", hint="see the log")
    session.fold(events.Engine(t=0, unit="CPU_AND_NE", state="failed", error=failure))
    (row,) = statistics(session)
    assert (row.n, row.mean_ms, row.p90_ms) == (0, None, None)
    assert row.error is not None
    assert row.error.message == "killed by SIGSEGV"


def test_two_modes_and_a_spike() -> None:
    rng = np.random.default_rng(1)
    latencies = np.concatenate([rng.normal(1.70, 0.02, 600), rng.normal(1.90, 0.02, 400), [9.0]]) * MS
    rng.shuffle(latencies)
    (row,) = statistics(measured(latencies.astype(int).tolist()))
    assert row.spikes is not None
    assert row.spikes.n == 1
    assert row.modes is not None
    assert [mode.center_ms for mode in row.modes] == pytest.approx([1.70, 1.90], rel=0.02)
    assert [mode.share for mode in row.modes] == pytest.approx([0.6, 0.4], abs=0.03)
    assert row.modes_tentative is False


def test_native_times_are_shown_beside_the_wall_times() -> None:
    session = Session()
    session.fold(window([2 * MS] * 4, native=[MS] * 4))
    (row,) = statistics(session)
    assert row.native_mean_ms == 1.0
    assert row.mean_ms == 2.0


def test_conditions_that_differ_in_load_or_heat_have_rows_of_their_own() -> None:
    session = Session()
    session.fold(window([MS]))
    session.fold(window([MS], load="cpu:2", t0=S))
    session.fold(window([MS], thermal="Heavy", t0=2 * S))
    assert [(row.load, row.thermal) for row in statistics(session)] == [
        ("none", None),
        ("cpu:2", None),
        ("none", "Heavy"),
    ]
