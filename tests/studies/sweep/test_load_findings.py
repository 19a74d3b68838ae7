"""A sweep over loads in sentences."""

from __future__ import annotations

import pytest

from hettop.studies.sweep.findings import change_of, loads_headline
from tests.studies.swept import LOADS, under


def test_the_load_that_slows_a_unit_most_comes_first() -> None:
    assert list(loads_headline(LOADS.points)) == [
        ("ALL under memory:1: P90 +150%, 5.00 ms instead of 2.00 (the largest measured, not tested).", "main"),
        ("ALL under cpu:1: P90 |Δ| 5.0%, 2.10 ms instead of 2.00 (the smallest measured, not tested).", "more"),
    ]


def test_a_change_is_against_the_same_unit_alone() -> None:
    changes = [change_of(LOADS.points, point) for point in LOADS.points]
    assert changes == [None, pytest.approx(0.05), pytest.approx(1.5), None, pytest.approx(0.25), None]


def test_without_an_idle_figure_no_change_is_reported() -> None:
    (sentence,) = loads_headline([under("cpu:1", 2.0)])
    assert sentence == ("Insufficient data: a change needs the same unit with and without load.", "more")
