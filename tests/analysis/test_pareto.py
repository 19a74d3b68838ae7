"""The Pareto front against brute force, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.analysis.pareto import ACCURACY, ENERGY, LATENCY, Choice, pareto_front, standings, usual_objectives

Rows = list[tuple[float, ...]]


def brute_force(rows: Rows) -> list[bool]:
    def dominates(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
        return all(x <= y for x, y in zip(a, b, strict=True)) and any(x < y for x, y in zip(a, b, strict=True))

    return [not any(dominates(other, row) for other in rows) for row in rows]


def rows_of(axes: int, values: st.SearchStrategy[float]) -> st.SearchStrategy[Rows]:
    return st.lists(st.tuples(*[values] * axes), max_size=40)


# Few different values give ties in one axis, and duplicates; wide floats give neither.
few = st.integers(0, 4).map(float)
wide = st.floats(-1e9, 1e9)


@given(st.one_of(*[rows_of(axes, values) for axes in (1, 2, 3, 4) for values in (few, wide)]))
def test_it_equals_brute_force_with_ties_and_duplicates(rows: Rows) -> None:
    if not rows:
        assert pareto_front(np.empty((0, 2))).tolist() == []
        return
    assert pareto_front(rows).tolist() == brute_force(rows)


@given(rows_of(3, few).filter(bool), st.randoms())
def test_the_order_of_rows_does_not_matter(rows: Rows, random: object) -> None:
    shuffled = list(enumerate(rows))
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    mask = pareto_front([row for _, row in shuffled])
    back = [bool(mask[place]) for place in sorted(range(len(rows)), key=lambda place: shuffled[place][0])]
    assert back == pareto_front(rows).tolist()


def test_duplicates_are_both_on_the_front() -> None:
    assert pareto_front([(1, 2), (1, 2), (2, 1), (2, 2)]).tolist() == [True, True, True, False]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        pareto_front([(1.0, value)])


def choice(label: str, **values: float) -> Choice:
    return Choice(label, "CPU_ONLY", "none", values)


def test_each_dominated_choice_names_one_that_beats_it() -> None:
    """a is quickest, c thriftiest, b in between; d is slower than b at more energy, e lacks its energy."""
    choices = [
        choice("a", latency=1, energy=9),
        choice("b", latency=2, energy=5),
        choice("c", latency=5, energy=1),
        choice("d", latency=3, energy=6),
        choice("e", latency=0.5),
    ]
    found = standings(choices, [LATENCY, ENERGY])
    assert [each.on_front for each in found] == [True, True, True, False, False]
    assert found[3].dominated_by is choices[1]
    assert (found[4].lacks, found[4].dominated_by) == (("energy",), None)


def test_accuracy_is_to_be_high() -> None:
    found = standings([choice("a", latency=1, accuracy=0.7), choice("b", latency=1, accuracy=0.6)], [LATENCY, ACCURACY])
    assert [each.on_front for each in found] == [True, False]


def test_objectives_are_those_that_are_known_of_two_or_more() -> None:
    both = [choice("a", latency=1, energy=1, difference=0), choice("b", latency=1, energy=1, difference=1)]
    assert [each.name for each in usual_objectives(both)] == ["latency", "energy", "difference"]
    accurate = [choice("a", latency=1, accuracy=0.7, difference=0), choice("b", latency=2, accuracy=0.6, difference=1)]
    assert [each.name for each in usual_objectives(accurate)] == ["latency", "accuracy"]
    assert [each.name for each in usual_objectives([choice("a", latency=1)])] == ["latency"]


def test_an_objective_that_would_leave_nothing_to_compare_is_left_out() -> None:
    """Energy is known of two choices, the difference of three others: no choice has both."""
    choices = [choice(f"e{n}", latency=n, energy=1) for n in (1, 2)]
    choices += [choice(f"d{n}", latency=n, difference=1) for n in (1, 2, 3)]
    assert [each.name for each in usual_objectives(choices)] == ["latency", "difference"]


def test_nothing_to_choose_from_has_no_standings() -> None:
    assert standings([], [LATENCY]) == []


def test_the_front_of_embenchs_table_by_operations_and_accuracy() -> None:
    """Twelve of table 1, top-1 against FLOPs: on the front is what is more accurate than all that cost less."""
    nets = {
        "AlexNet": (955.21, 56.52),
        "VGG 16": (16063.36, 71.59),
        "ResNet 50": (4154.96, 76.13),
        "ResNet 152": (11636.60, 78.31),
        "SqueezeNet-v1.1": (377.80, 58.18),
        "MobileNetV2": (336.43, 71.81),
        "ShuffleNet-v2.1": (160.09, 69.36),
        "ShuffleNet-v2.05": (52.32, 60.55),
        "NasNet": (24882.21, 82.51),
        "PNASNet": (25945.87, 82.74),
        "Inception-v4": (12561.10, 80.08),
        "NasNet mobile": (667.75, 74.08),
    }
    mask = pareto_front([(flops, -accuracy) for flops, accuracy in nets.values()])
    behind = {name for name, on_front in zip(nets, mask, strict=True) if not on_front}
    assert behind == {"AlexNet", "VGG 16", "SqueezeNet-v1.1"}
