"""The simulated machine's power follows what it is reported runs, on a clock that only the test moves."""

from __future__ import annotations

import pytest

from hettop.sources.power.sample import PowerSample
from hettop.sources.power.simulated import IDLE, UNITS, SimulatedSource, draw_of
from tests.clocks import FakeClock

HALF_S = 500_000_000


class Simulation:
    """Waiting for a sample makes half a second pass, in the midst of which something may be reported."""

    def __init__(self, seed: int = 0) -> None:
        self.clock = FakeClock()
        self.source = SimulatedSource(self.clock.now, seed, self._wait)
        self.midway: str | None = None

    def _wait(self, seconds: float) -> None:
        self.clock.pass_time(round(seconds * 5e8))
        if self.midway is not None:
            self.source.told_running(self.midway)
        self.clock.pass_time(round(seconds * 5e8))

    def sample(self) -> PowerSample:
        samples = self.source.samples(HALF_S)
        try:
            return next(samples)
        finally:
            samples.close()


def mw(sample: PowerSample, rail: str) -> float:
    value = sample.mw[rail]
    assert value is not None
    return value


@pytest.mark.parametrize(
    ("unit", "rail"), [("CPU_ONLY", "cpu"), ("CPU_AND_GPU", "gpu"), ("CPU_AND_NE", "ane"), ("ALL", "ane")]
)
def test_the_unit_that_runs_draws_most(unit: str, rail: str) -> None:
    simulation = Simulation()
    simulation.source.told_running(unit)
    sample = simulation.sample()
    assert max(("cpu", "gpu", "ane"), key=lambda each: mw(sample, each)) == rail
    assert mw(sample, "combined") == sum(mw(sample, each) for each in ("cpu", "gpu", "ane"))
    assert sample.elapsed_ns == HALF_S


def test_nothing_running_draws_what_idle_draws() -> None:
    simulation = Simulation()
    simulation.source.told_running("CPU_ONLY")
    simulation.source.told_running(None)
    assert mw(simulation.sample(), "cpu") == pytest.approx(IDLE.cpu, rel=0.05)


def test_a_switch_in_mid_window_counts_from_its_moment() -> None:
    simulation = Simulation()
    simulation.midway = "CPU_ONLY"
    assert mw(simulation.sample(), "cpu") == pytest.approx(IDLE.cpu + UNITS["CPU_ONLY"].cpu / 2, rel=0.03)
    assert mw(simulation.sample(), "cpu") == pytest.approx(IDLE.cpu + UNITS["CPU_ONLY"].cpu, rel=0.03)


def test_power_comes_in_whole_millijoules() -> None:
    simulation = Simulation()
    simulation.source.told_running("ALL")
    for _ in range(5):
        assert mw(simulation.sample(), "ane") % 2 == 0  # 1 mJ in half a second


def test_the_same_seed_gives_the_same_samples() -> None:
    def drawn(seed: int) -> list[PowerSample]:
        simulation = Simulation(seed)
        simulation.source.told_running("CPU_ONLY")
        return [simulation.sample() for _ in range(3)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_load_adds_to_it_and_a_machine_draws_only_so_much() -> None:
    alone, beside = draw_of("CPU_AND_NE", "none"), draw_of("CPU_AND_NE", "cpu:2@50%+memory:1")
    assert beside.cpu == alone.cpu + 1150 + 950
    assert draw_of("CPU_ONLY", "cpu:999").cpu == 11_000
    assert draw_of(None, "nonsense:x+cpu") == draw_of(None, "none")


def test_a_paced_unit_draws_for_the_time_it_runs() -> None:
    assert draw_of("CPU_ONLY", "none", busy=0.25).cpu == IDLE.cpu + UNITS["CPU_ONLY"].cpu / 4
