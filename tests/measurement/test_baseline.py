from __future__ import annotations

import pytest

from hettop.events import Baseline, Power
from hettop.measurement.power import ENOUGH, PATIENCE_NS, SETTLE_NS, BaselineRun

HALF_SECOND = 500_000_000


def power(end_ns: int, cpu: float | None, *, elapsed_ns: int = HALF_SECOND, flags: list[str] | None = None) -> Power:
    return Power(t=end_ns, source="s", elapsed_ns=elapsed_ns, mw={"cpu": cpu, "ane": None}, flags=flags or [])


def fed(run: BaselineRun, samples: list[Power]) -> list[Baseline | None]:
    return [run.take(sample, sample.t) for sample in samples]


def test_the_baseline_is_the_mean_over_time_of_six_samples() -> None:
    run = BaselineRun(0, "none")
    start = SETTLE_NS
    ends = [start + HALF_SECOND * (i + 1) for i in range(5)]
    found = fed(run, [power(end, 100.0) for end in ends])
    assert found == [None] * 5
    assert run.progress == (5, ENOUGH)
    # Five halves of a second at 100 mW and one whole second at 800 mW: (250 + 800) / 3.5.
    last = run.take(power(ends[-1] + 10**9, 800.0, elapsed_ns=10**9), 9)
    assert last is not None
    assert last.mw == {"cpu": 300.0, "ane": None}
    assert (last.n, last.elapsed_ns, last.load, last.t) == (6, 3_500_000_000, "none", 9)


def test_a_sample_that_reaches_back_to_before_the_rest_does_not_count() -> None:
    run = BaselineRun(10**9, "none")
    run.take(power(10**9 + SETTLE_NS + HALF_SECOND - 1, 5_000.0), 0)
    assert run.progress == (0, ENOUGH)
    run.take(power(10**9 + SETTLE_NS + HALF_SECOND, 5_000.0), 0)
    assert run.progress == (1, ENOUGH)


@pytest.mark.parametrize("flag", ["suspect-zero", "stale", "partial", "inconsistent"])
def test_a_sample_that_is_to_be_doubted_does_not_count(flag: str) -> None:
    run = BaselineRun(0, "none")
    run.take(power(10 * 10**9, 0.0, flags=[flag]), 0)
    assert run.progress == (0, ENOUGH)


def test_a_rail_that_one_sample_lacks_is_unknown() -> None:
    run = BaselineRun(0, "none")
    samples = [power(10**10 + i * HALF_SECOND, None if i == 3 else 100.0) for i in range(6)]
    last = fed(run, samples)[-1]
    assert last is not None
    assert last.mw["cpu"] is None


def test_a_rest_that_is_disturbed_begins_again_and_may_take_as_long_again() -> None:
    run = BaselineRun(0, "none")
    for i in range(5):
        run.take(power(SETTLE_NS + (i + 1) * HALF_SECOND, 100.0), 0)
    run.disturbed(20 * 10**9, "cpu:1")
    assert run.progress == (0, ENOUGH)
    run.take(power(20 * 10**9 + SETTLE_NS + HALF_SECOND - 1, 9_000.0), 0)
    assert run.progress == (0, ENOUGH)
    assert not run.expired(20 * 10**9 + PATIENCE_NS)
    found = fed(run, [power(30 * 10**9 + i * HALF_SECOND, 100.0) for i in range(6)])[-1]
    assert found is not None
    assert found.load == "cpu:1"


def test_it_does_not_wait_for_ever() -> None:
    run = BaselineRun(7, "none")
    assert not run.expired(7 + PATIENCE_NS)
    assert run.expired(8 + PATIENCE_NS)
