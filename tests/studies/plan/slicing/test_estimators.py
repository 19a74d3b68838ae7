"""The paper's estimators on worked values. Source of voltages and frequencies: MOSAIC, table II."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from hettop.errors import HettopError
from hettop.studies.plan.slicing.estimators import (
    Level,
    dynamic_power,
    energy_mj,
    fit_communication,
    fit_time,
)

GPU = [(0.6, 104), (0.7, 151), (0.7, 237), (0.7, 332), (0.8, 415), (0.8, 550), (0.9, 667), (1.0, 767)]
GPU_TOP = Level(1.0, 767)


def test_communication_is_the_line_through_its_measurements() -> None:
    fit = fit_communication([1e5, 4e5, 1.6e6, 3.2e6], [1.3, 1.6, 2.8, 4.4])
    assert [fit.slope, fit.offset, fit.n] == pytest.approx([1e-6, 1.2, 4])
    assert fit.r_squared == pytest.approx(1.0)
    assert fit.at(2e6) == pytest.approx(3.2)


def test_r_squared_is_the_share_of_the_variance_that_the_line_explains() -> None:
    """By hand: slope 1/2, offset 2/3, residuals 1/6, -1/3, 1/6: 1 - (1/6) / (2/3)."""
    fit = fit_communication([1, 2, 3], [1 + 1 / 3, 1 + 1 / 3, 2 + 1 / 3])
    assert [fit.slope, fit.offset] == pytest.approx([0.5, 2 / 3])
    assert fit.r_squared == pytest.approx(0.75)


def test_costs_that_are_all_the_same_leave_nothing_to_explain() -> None:
    fit = fit_communication([1, 2], [5, 5])
    assert (fit.slope, fit.offset, fit.r_squared) == (0, 5, None)


@pytest.mark.parametrize(
    ("sizes", "costs"), [([], []), ([1], [1]), ([2, 2], [1, 3]), ([1, 2], [1]), ([1, 2], [1, float("nan")])]
)
def test_no_line_is_drawn_through_what_gives_none(sizes: list[float], costs: list[float]) -> None:
    with pytest.raises(HettopError):
        fit_communication(sizes, costs)


def test_time_at_a_frequency_between_the_two_that_were_measured() -> None:
    fit = fit_time((104, 60), (767, 10))
    assert fit.scaling == pytest.approx(6015.686, abs=5e-4)
    assert fit.fixed == pytest.approx(2.157, abs=5e-4)
    times = [fit.at(mhz) for _, mhz in GPU]
    assert times == pytest.approx([60, 41.9958, 27.5395, 20.2764, 16.6525, 13.0945, 11.1759, 10], abs=5e-5)


@given(st.floats(1, 1000), st.floats(1.1, 10), st.floats(0, 1e4), st.floats(0, 100))
def test_a_time_of_that_form_is_found_again(low: float, ratio: float, scaling: float, fixed: float) -> None:
    high = low * ratio
    fit = fit_time((low, scaling / low + fixed), (high, scaling / high + fixed))
    assert [fit.scaling, fit.fixed] == pytest.approx([scaling, fixed], abs=1e-3)


@pytest.mark.parametrize(("low", "high"), [(767, 104), (100, 100), (0, 100), (-1, 100), (1, float("inf"))])
def test_two_frequencies_the_lower_first_are_needed(low: float, high: float) -> None:
    with pytest.raises(HettopError):
        fit_time((low, 1), (high, 1))


def test_dynamic_power_goes_with_voltage_squared_times_frequency() -> None:
    shares = [dynamic_power(Level(volts, mhz), GPU_TOP, 1.0) for volts, mhz in GPU]
    assert shares == pytest.approx([0.0488, 0.0965, 0.1514, 0.2121, 0.3463, 0.4589, 0.7044, 1], abs=5e-5)
    big = dynamic_power(Level(0.7, 682), Level(1.1, 2362), 1.0)
    little = dynamic_power(Level(0.9, 1402), Level(1.1, 1844), 1.0)
    assert [big, little] == pytest.approx([0.11693, 0.50896], abs=5e-6)


def test_neither_the_fastest_nor_the_slowest_frequency_need_cost_the_least_energy() -> None:
    """2 W dynamic at the top, .3 W static: 332 MHz is best."""
    fit = fit_time((104, 60), (767, 10))
    energies = [energy_mj(fit.at(mhz), dynamic_power(Level(volts, mhz), GPU_TOP, 2.0), 0.3) for volts, mhz in GPU]
    assert energies == pytest.approx([23.858, 20.701, 16.601, 14.684, 16.529, 15.947, 19.097, 23], abs=5e-4)
    assert GPU[energies.index(min(energies))][1] == 332
