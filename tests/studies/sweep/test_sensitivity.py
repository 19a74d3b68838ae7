"""How many times as long a unit takes under a load, on series whose ratio is known."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from hettop.studies.sweep.result import Sensitivity, SweepPoint, SweepResult, Usage
from hettop.studies.sweep.sensitivity import sensitivities
from tests.analysis.material import latencies, session_of, stream_of


def test_the_ratio_of_each_unit_to_itself_without_load_the_most_sensitive_first() -> None:
    """CPU_ONLY goes from 2 to 20.4 ms and ALL from 1 to 1.8: the 10.2 and 1.8 times of the paper's CPU and DSP."""
    session = session_of(
        stream_of({"ALL": [1.0] * 70, "CPU_ONLY": [2.0] * 70}),
        stream_of({"ALL": [1.8] * 70, "CPU_ONLY": [20.4] * 70}, load="cpu:3", t0=10**10),
    )
    found = sensitivities(session)
    assert [(each.unit, each.load) for each in found] == [("CPU_ONLY", "cpu:3"), ("ALL", "cpu:3")]
    assert [each.p50_ratio for each in found] == pytest.approx([10.2, 1.8])
    assert [each.p90_ratio for each in found] == pytest.approx([10.2, 1.8])
    assert found[0].p50_ci == pytest.approx((10.2, 10.2))


def test_intervals_cover_the_true_ratio_and_exclude_none() -> None:
    """Log-normal latencies of 2.5 and 5 ms, whose true ratio is 2 at every quantile, in sixty simulations."""
    covered = {"p50": 0, "p90": 0}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        session = session_of(
            stream_of({"A": latencies(rng, 200, 0.3)}),
            stream_of({"A": latencies(rng, 200, 0.3, median_ms=5.0)}, load="cpu:1", t0=10**10),
        )
        (each,) = sensitivities(session)
        for name, ends in (("p50", each.p50_ci), ("p90", each.p90_ci)):
            assert ends is not None
            assert 1.5 < ends[0] < ends[1] < 2.6
            covered[name] += ends[0] <= 2 <= ends[1]
    assert min(covered.values()) >= 54


def test_too_few_samples_have_no_interval_and_still_fewer_no_ratio() -> None:
    def of(n: int) -> list[tuple[bool, bool, bool]]:
        rng = np.random.default_rng(1)
        session = session_of(
            stream_of({"A": latencies(rng, 100, 0)}),
            stream_of({"A": latencies(rng, n, 0)}, load="cpu:1", t0=10**10),
        )
        found = sensitivities(session)
        return [(each.p50_ci is not None, each.p90_ratio is not None, each.p90_ci is not None) for each in found]

    assert (of(9), of(20), of(40), of(80)) == (
        [],
        [(False, False, False)],
        [(True, False, False)],
        [(True, True, True)],
    )


def test_without_a_measurement_on_the_idle_machine_there_is_no_ratio() -> None:
    assert sensitivities(session_of(stream_of({"A": [1.0] * 70}, load="cpu:1"))) == []


def test_while_it_is_measured_there_are_ratios_without_intervals() -> None:
    session = session_of(stream_of({"A": [1.0] * 70}), stream_of({"A": [3.0] * 70}, load="cpu:1", t0=10**10))
    (each,) = sensitivities(session, certain=False)
    assert each.p50_ratio == pytest.approx(3)
    assert (each.p50_ci, each.p90_ci) == (None, None)


def test_a_line_of_many_units_and_loads_stays_short() -> None:
    unit, load = "CPU_AND_GPU", "cpu:2+memory:1"
    point = SweepPoint(unit, 1, n=1000, items_per_s=123.456, mean_ms=12.3456, p90_ms=12.3456, load=load, p50_ms=12.3456)
    ends = (1.23456, 2.34567)
    ratio = Sensitivity(
        unit=unit, load=load, n=1000, idle_n=1000, p50_ratio=1.23456, p50_ci=ends, p90_ratio=1.23456, p90_ci=ends
    )
    usage = Usage(
        units=[unit], load=load, cpu_share=0.123456, frames_due=1234, frames_missed=12, missed_share=0.0123456
    )
    found = SweepResult(points=[point] * 64, sensitivity=[ratio] * 64, usage=[usage] * 64)
    assert len(msgspec.json.encode(found.line())) < 10_000
