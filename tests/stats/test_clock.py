from __future__ import annotations

import numpy as np
import pytest

from hettop.stats.clock import REPORTS, clock_loss, has_lost


def test_work_that_takes_a_quarter_longer_means_a_clock_a_fifth_slower() -> None:
    assert clock_loss([320_000] * REPORTS, [400_000] * REPORTS) == pytest.approx(0.2)


def test_a_faster_clock_is_a_negative_loss_and_no_warning() -> None:
    loss = clock_loss([400_000] * REPORTS, [320_000] * REPORTS)
    assert loss == pytest.approx(-0.25)
    assert not has_lost(loss)


def test_too_few_reports_report_nothing() -> None:
    assert clock_loss([1] * (REPORTS - 1), [1] * REPORTS) is None
    assert clock_loss([1] * REPORTS, [1] * (REPORTS - 1)) is None
    assert not has_lost(None)


def test_eight_disturbed_seconds_of_twelve_move_nothing() -> None:
    assert clock_loss([320] * 12, [320] * 4 + [900] * 8) == 0.0


def a_session(seed: int, seconds: int) -> list[int]:
    """A report a second, as on a machine whose cores are busy: 2% of spread, and one in ten disturbed."""
    rng = np.random.default_rng(seed)
    times = 320_000 * (1 + 0.02 * rng.standard_normal(seconds)) * np.where(rng.random(seconds) < 0.1, 1.3, 1.0)
    return [round(value) for value in times.tolist()]


def warned_at(times: list[int]) -> int | None:
    """The report with which the warning first appears."""
    ends = range(2 * REPORTS, len(times) + 1)
    return next((end for end in ends if has_lost(clock_loss(times[:REPORTS], times[end - REPORTS : end]))), None)


def test_no_false_warning_over_200_sessions_and_a_loss_of_a_tenth_found_in_a_dozen_seconds() -> None:
    assert [seed for seed in range(200) if warned_at(a_session(seed, 120)) is not None] == []
    after = []
    for seed in range(60):
        times = a_session(seed, 80)
        found = warned_at([*times[:40], *(round(value / 0.9) for value in times[40:])])
        assert found is not None
        after.append(found - 40)
    assert min(after) > 0
    assert np.median(after) <= REPORTS
