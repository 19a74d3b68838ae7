"""The simulated M2 behaves like the published measurements, and answers load and heat."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from hettop.compute_units import CORE_ML_UNITS
from hettop.models.ports import InputOptions
from hettop.sources.engine.backend import Backend, LoadOptions
from hettop.sources.engine.backends.simulated import M2, LoadResponse, M2Latencies, SimulatedBackend, slowdown
from hettop.stats.modes import find_modes
from tests.clocks import FakeClock
from tests.sources.engine.backends.contract import BackendContract

MS = 1_000_000
S = 1_000_000_000


class TestSimulatedContract(BackendContract):
    def new_backend(self) -> Backend:
        return SimulatedBackend(FakeClock())

    def model(self) -> str:
        return "mobilenetv2"


def measured_ms(
    unit: str, calls: int, *, seed: int = 0, load: str = "none", warmup: int = 20
) -> npt.NDArray[np.float64]:
    """Latencies as a worker loop would measure them, on a clock that only sleeping moves."""
    backend = SimulatedBackend(FakeClock(overshoot=60_000))
    loaded = backend.load("mobilenetv2", unit, LoadOptions())
    feed = backend.make_inputs(loaded.inputs, InputOptions(seed=seed))
    backend.told_load(load)
    latencies = []
    for _ in range(calls + warmup):
        start = backend.clock.now()
        backend.predict(feed)
        latencies.append(backend.clock.now() - start)
    return np.array(latencies[warmup:]) / MS


@pytest.mark.parametrize(
    ("unit", "p50", "p90", "least"),
    # The report's P90 and minimum of 100 calls; P50 from its histograms.
    [
        ("CPU_ONLY", 2.50, 2.66, 2.43),
        ("CPU_AND_GPU", 1.74, 1.94, 1.64),
        ("CPU_AND_NE", 0.63, 0.67, 0.55),
        ("ALL", 0.617, 0.68, 0.54),
    ],
)
def test_quantiles_are_those_of_the_report_within_4_percent(unit: str, p50: float, p90: float, least: float) -> None:
    found = np.quantile(measured_ms(unit, 5_000), [0.01, 0.5, 0.9])
    assert found == pytest.approx([least, p50, p90], rel=0.04)


@pytest.mark.parametrize(
    ("unit", "slowest"), [("CPU_ONLY", 3.9), ("CPU_AND_GPU", 138.1), ("CPU_AND_NE", 1.71), ("ALL", 25.95)]
)
def test_the_first_call_is_the_slowest_that_the_report_saw(unit: str, slowest: float) -> None:
    assert measured_ms(unit, 1, warmup=0)[0] == pytest.approx(slowest, rel=0.04)


@pytest.mark.parametrize("seed", range(8))
def test_a_thousand_calls_rank_the_units_and_show_their_modes(seed: int) -> None:
    samples = {unit: measured_ms(unit, 1_000, seed=seed) for unit in CORE_ML_UNITS}
    medians = {unit: float(np.median(latencies)) for unit, latencies in samples.items()}
    assert medians["CPU_AND_NE"] < medians["CPU_AND_GPU"] < medians["CPU_ONLY"]
    modes = {unit: find_modes(latencies * MS).modes for unit, latencies in samples.items()}
    assert [len(modes[unit]) for unit in ("CPU_ONLY", "CPU_AND_NE", "ALL")] == [1, 1, 1]
    assert [mode.center_ns / MS for mode in modes["CPU_AND_GPU"][:2]] == pytest.approx([1.70, 1.89], rel=0.02)


def test_modes_have_the_reports_shares_in_the_long_run() -> None:
    latencies = measured_ms("CPU_AND_GPU", 20_000)
    assert np.mean(latencies < 1.80) == pytest.approx(0.59, abs=0.03)
    assert np.mean((latencies >= 1.80) & (latencies < 2.10)) == pytest.approx(0.40, abs=0.03)
    assert np.mean((latencies >= 2.10) & (latencies < 3.00)) == pytest.approx(0.01, abs=0.004)


def test_modes_come_in_blocks() -> None:
    slow = measured_ms("CPU_AND_GPU", 5_000) > 1.80
    changes = np.mean(slow[1:] != slow[:-1])
    # Calls that took turns at random would change mode in 2 x .59 x .41 = 48 % of all cases.
    assert 0.02 < changes < 0.24


@pytest.mark.parametrize("unit", CORE_ML_UNITS)
def test_the_rate_over_six_seconds_varies_by_less_than_a_fifth(unit: str) -> None:
    rates = []
    for seed in range(6):
        ends = np.cumsum(measured_ms(unit, 11_000, seed=seed))
        rates.append(int(np.searchsorted(ends, 6_000)))
    assert max(rates) / min(rates) < 1.2


@pytest.mark.parametrize(("unit", "low", "high"), [("CPU_AND_GPU", 2.9, 14.5), ("ALL", 1.2, 9.5)])
def test_spikes_are_rare_but_there(unit: str, low: float, high: float) -> None:
    latencies = measured_ms(unit, 20_000)
    spikes = latencies[latencies > low]
    assert 5 <= spikes.size <= 60
    assert spikes.max() < high


def test_the_same_seed_gives_the_same_latencies_and_another_seed_others() -> None:
    first, again, other = (measured_ms("ALL", 50, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_units_do_not_share_their_random_numbers() -> None:
    cpu, ne = measured_ms("CPU_ONLY", 200), measured_ms("CPU_AND_NE", 200)
    assert abs(np.corrcoef(cpu, ne)[0, 1]) < 0.2


@pytest.mark.parametrize(
    ("load", "hit", "spared"),
    [
        ("cpu:4", "CPU_ONLY", "CPU_AND_NE"),
        ("gpu:1", "CPU_AND_GPU", "CPU_ONLY"),
        ("gpu:1", "ALL", "CPU_AND_NE"),
        ("ane:1", "CPU_AND_NE", "CPU_AND_GPU"),
        ("ane:1", "ALL", "CPU_ONLY"),
    ],
)
def test_load_slows_the_units_that_need_what_it_takes(load: str, hit: str, spared: str) -> None:
    def slower(unit: str) -> float:
        return float(np.median(measured_ms(unit, 500, load=load)) / np.median(measured_ms(unit, 500)))

    assert slower(hit) > 1.25
    assert slower(spared) < 1.15


def test_memory_load_slows_every_unit() -> None:
    assert all(slowdown(profile.load, "memory:2") > 1.05 for profile in M2.values())


def test_slowdown_follows_the_load_string() -> None:
    response = LoadResponse(cpu=1.0, memory=0.0, gpu=0.5, ane=0.0)
    assert slowdown(response, "none") == 1
    assert slowdown(response, "cpu:2") == 1.25  # 2 of 8 cores
    assert slowdown(response, "cpu:2@50%") == 1.125
    assert slowdown(response, "cpu:2+gpu:1") == 1.75
    assert slowdown(response, "moon:3+cpu:x") == 1


def test_load_adds_a_tail() -> None:
    idle, loaded = measured_ms("CPU_ONLY", 5_000), measured_ms("CPU_ONLY", 5_000, load="cpu:8")
    assert np.quantile(loaded, 0.995) / np.median(loaded) > 1.5
    assert np.quantile(idle, 0.995) / np.median(idle) < 1.2


def test_a_load_that_was_told_before_the_model_was_loaded_counts() -> None:
    backend = SimulatedBackend(FakeClock())
    backend.told_load("cpu:8")
    loaded = backend.load("mobilenetv2", "CPU_ONLY", LoadOptions())
    feed = backend.make_inputs(loaded.inputs, InputOptions())
    start = backend.clock.now()
    backend.predict(feed)
    assert (backend.clock.now() - start) / MS == pytest.approx(3.9 * 2, rel=0.04)


def test_minutes_of_use_heat_it_up_and_rest_cools_it_down() -> None:
    latencies = M2Latencies(M2["CPU_AND_GPU"], np.random.default_rng(0))
    now = 0
    for _ in range(300_000):  # about nine minutes
        now += latencies.draw(now)
    hot = np.quantile([latencies.draw(now) for _ in range(2_000)], 0.25)
    cool = np.quantile([latencies.draw(now + 3_600 * S) for _ in range(2_000)], 0.25)
    assert hot / cool == pytest.approx(1.04, abs=0.01)


def test_it_sleeps_as_long_as_it_says_it_worked() -> None:
    clock = FakeClock()
    backend = SimulatedBackend(clock)
    loaded = backend.load("mobilenetv2", "CPU_ONLY", LoadOptions())
    assert 200 * MS <= (loaded.load_ns or 0) <= 260 * MS
    feed = backend.make_inputs(loaded.inputs, InputOptions())
    before, told = clock.moment, 0
    for _ in range(100):
        start = backend.clock.now()
        backend.predict(feed)
        told += backend.clock.now() - start
    assert clock.moment - before == told


def test_the_first_calls_after_the_first_are_a_little_slow() -> None:
    latencies = measured_ms("CPU_AND_NE", 40, warmup=0)
    assert np.mean(latencies[1:4]) > np.mean(latencies[20:])


def test_thread_counts_are_refused() -> None:
    with pytest.raises(Exception, match="CPU_ONLY: the simulated M2 has no thread counts"):
        SimulatedBackend(FakeClock()).load("mobilenetv2", "CPU_ONLY", LoadOptions(threads=2))
