"""Whether a gain measured in rounds can be relied on."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hettop.studies.coexec.rates import Standing, standing


def of(gains: Sequence[float], of_ideal: float = 0.8) -> Standing:
    """Rounds in which the best alone does 100 a second, and the sum of each is 150."""
    n = len(gains)
    return standing([100 * (1 + gain) for gain in gains], [100.0] * n, [150.0] * n, of_ideal)


@pytest.mark.parametrize("gains", [[], [0.3], [0.3, 0.2]])
def test_of_fewer_than_three_rounds_nothing_follows(gains: list[float]) -> None:
    told = of(gains)
    assert (told.rounds, told.least, told.most, told.proven, told.concludes) == (len(gains), None, None, None, False)


def test_six_rounds_of_one_sign_prove_it_and_fewer_or_of_both_do_not() -> None:
    assert of([0.1, 0.3, 0.2] * 2).proven
    assert of([-0.1, -0.3, -0.2] * 2).proven
    assert of([0.1, 0.3, 0.2, 0.1, 0.2]).proven is False, "five of one sign come by chance in one of sixteen runs"
    spread = of([-0.34, 0.7, 0.2])
    assert spread.proven is False
    assert spread.least == pytest.approx(-0.34)
    assert spread.most == pytest.approx(0.7)


def test_of_many_rounds_a_few_of_the_other_sign_do_not_count() -> None:
    """The 95% interval of the median of 20 values is from the 6th to the 15th."""
    assert of([-0.1] * 5 + [0.2] * 15).proven
    assert of([-0.1] * 6 + [0.2] * 14).proven is False


def test_more_than_the_sum_of_each_alone_is_untrue() -> None:
    assert of([0.1, 0.3, 0.2], of_ideal=1.06).untrue
    assert of([0.1, 0.3, 0.2], of_ideal=1.06).proven is None
    assert not of([0.1, 0.3, 0.2], of_ideal=1.04).untrue


def test_rounds_after_a_death_do_not_count() -> None:
    ideal = [150.0] * 6 + [None]
    found = standing([120.0, 130.0, 125.0] * 2 + [100.0], [100.0] * 7, ideal, 0.8)
    assert found.least == pytest.approx(0.2)
    assert (found.rounds, found.proven) == (6, True)


def test_of_a_unit_that_never_began_the_others_rounds_count() -> None:
    assert standing([120.0] * 3, [100.0] * 3, [None] * 3, None).rounds == 3
