"""How far a unit's answers are from another's, worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hettop import events
from hettop.sources.engine.frames import OutputsFrame
from hettop.sources.engine.outputs import LARGEST_TOLD, Comparisons, compare, cosine
from hettop.sources.engine.published import thin


def frame(*sets: dict[str, Any]) -> OutputsFrame:
    return OutputsFrame(tuple(thin({name: np.array(value) for name, value in each.items()}, 1000) for each in sets))


def only(compared: events.Outputs) -> events.OutputDifference:
    (difference,) = compared.outputs
    return difference


def test_a_difference_is_the_largest_over_all_sets_of_inputs() -> None:
    compared = compare(
        "ALL", "CPU_ONLY", frame({"y": [1.0, 2.0]}, {"y": [3.0, 4.5]}), frame({"y": [1.0, 2.25]}, {"y": [3.0, -4.0]})
    )
    difference = only(compared)
    assert (compared.unit, compared.reference, compared.inputs, compared.sampled) == ("ALL", "CPU_ONLY", 2, False)
    assert (difference.values, difference.max_abs, difference.largest) == (4, 8.5, 4.0)
    # a·b = 1 + 4.5 + 9 - 18 = -3.5; |a|² = 34.25, |b|² = 31.0625.
    assert difference.cosine == pytest.approx(-3.5 / (34.25 * 31.0625) ** 0.5)


def test_only_sets_that_both_answered_are_compared() -> None:
    compared = compare("ALL", "CPU_ONLY", frame({"y": [1.0]}), frame({"y": [1.0]}, {"y": [9.0]}))
    assert (compared.inputs, only(compared).values) == (1, 1)


def test_top_1_is_the_share_of_rows_that_decide_alike() -> None:
    mine = frame({"y": [[0.1, 0.9], [0.8, 0.2]]}, {"y": [[0.4, 0.6], [0.7, 0.3]]})
    theirs = frame({"y": [[0.2, 0.8], [0.3, 0.7]]}, {"y": [[0.4, 0.6], [0.6, 0.4]]})
    assert only(compare("ALL", "CPU_ONLY", mine, theirs)).top1 == 0.75


def test_top_5_is_the_share_of_rows_whose_reference_is_among_the_five_largest() -> None:
    theirs = frame({"y": [[9.0, 1, 2, 3, 4, 5, 6], [1.0, 2, 3, 4, 5, 6, 7]]})
    # In the first row the reference's place 0 is the sixth here; in the second place 6 is the fifth.
    mine = frame({"y": [[1.0, 0, 2, 3, 4, 5, 6], [7.0, 6, 5, 4, 1, 2, 3]]})
    difference = only(compare("ALL", "CPU_ONLY", mine, theirs))
    assert (difference.top1, difference.top5) == (0.0, 0.5)
    few = frame({"y": [[0.1, 0.2, 0.3, 0.4, 0.5]]})
    assert only(compare("ALL", "CPU_ONLY", few, few)).top5 is None


@pytest.mark.parametrize("broken", [np.nan, np.inf, 0.0])
def test_rows_that_decide_nothing_are_no_agreement(broken: float) -> None:
    alike = frame({"y": [[broken, broken, broken]]})
    assert only(compare("ALL", "CPU_ONLY", alike, alike)).top1 is None
    theirs = frame({"y": [[0.1, 0.7, 0.2]]})
    assert only(compare("ALL", "CPU_ONLY", alike, theirs)).top1 == 0.0


def test_values_that_are_no_numbers_here_only_are_counted_and_kept_out_of_the_rest() -> None:
    mine = frame({"y": [[1.0, np.nan, np.inf, np.nan]]})
    theirs = frame({"y": [[1.5, 2.0, 3.0, np.nan]]})
    difference = only(compare("ALL", "CPU_ONLY", mine, theirs))
    assert (difference.not_finite, difference.max_abs, difference.largest) == (2, 0.5, 1.5)


def test_nothing_but_broken_numbers_has_no_difference() -> None:
    difference = only(compare("ALL", "CPU_ONLY", frame({"y": [np.nan]}), frame({"y": [1.0]})))
    assert (difference.not_finite, difference.max_abs, difference.largest, difference.cosine) == (1, None, None, None)


def test_whole_numbers_and_truth_values_are_compared_too() -> None:
    compared = compare("ALL", "CPU_ONLY", frame({"a": [1, 7], "b": [True]}), frame({"a": [1, 4], "b": [False]}))
    assert {each.name: each.max_abs for each in compared.outputs} == {"a": 3.0, "b": 1.0}


def test_the_worst_output_for_its_size_comes_first_and_broken_ones_before_all() -> None:
    mine = frame({"big": [1001.0], "small": [0.2], "broken": [np.nan], "alike": [5.0]})
    theirs = frame({"big": [1000.0], "small": [0.1], "broken": [1.0], "alike": [5.0]})
    assert [each.name for each in compare("ALL", "CPU_ONLY", mine, theirs).outputs] == [
        "broken",
        "small",
        "big",
        "alike",
    ]


def test_at_most_eight_outputs_are_named() -> None:
    many = frame({f"y{number}": [float(number)] for number in range(20)})
    assert len(compare("ALL", "CPU_ONLY", many, many).outputs) == events.NAMED_LIMIT


def test_differences_beyond_all_bounds_can_still_be_recorded() -> None:
    compared = compare("ALL", "CPU_ONLY", frame({"y": [1e308]}), frame({"y": [-1e308]}))
    difference = only(compared)
    assert (difference.max_abs, difference.largest, difference.cosine) == (LARGEST_TOLD, LARGEST_TOLD, -1.0)
    assert events.decode(events.encode(compared)) is not None


def test_an_output_of_another_shape_is_told_and_the_rest_compared() -> None:
    compared = compare("ALL", "CPU_ONLY", frame({"n": [1, 2], "y": [1.0]}), frame({"n": [1], "y": [1.0]}))
    assert compared.error is not None
    assert compared.error.message == "output n has shape [2] here and [1] on CPU_ONLY"
    assert only(compared).name == "y"


@pytest.mark.parametrize(("mine", "where"), [({"y": [1.0], "z": [1.0]}, "here"), ({}, "on CPU_ONLY")])
def test_an_output_that_only_one_unit_has_is_told(mine: dict[str, Any], where: str) -> None:
    compared = compare("ALL", "CPU_ONLY", frame({"x": [1.0], **mine}), frame({"x": [1.0], "y": [1.0]}))
    assert compared.error is not None
    assert compared.error.message == f"output {'z' if where == 'here' else 'y'} is only {where}"


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1.0, 0.0], [0.0, 1.0], 0.0),
        ([3.0, 4.0], [6.0, 8.0], 1.0),
        ([1e200, 1e200], [1e200, 1e200], 1.0),
        ([1e-300], [-1e-300], -1.0),
        ([0.0], [1.0], None),
        ([], [], None),
    ],
)
def test_cosine(a: list[float], b: list[float], expected: float | None) -> None:
    found = cosine(np.array(a), np.array(b))
    assert found == (None if expected is None else pytest.approx(expected))


def test_the_first_unit_is_the_reference_until_cpu_only_answers() -> None:
    comparisons, answers = Comparisons(), frame({"y": [1.0]})
    assert comparisons.add("ALL", answers) == []
    assert [(e.unit, e.reference) for e in comparisons.add("CPU_ONLY@2", answers)] == [("CPU_ONLY@2", "ALL")]
    assert [(e.unit, e.reference) for e in comparisons.add("CPU_ONLY", answers)] == [
        ("ALL", "CPU_ONLY"),
        ("CPU_ONLY@2", "CPU_ONLY"),
    ]
    assert [(e.unit, e.reference) for e in comparisons.add("ALL", answers)] == [("ALL", "CPU_ONLY")]


def test_core_ai_is_held_against_its_own_cpu_whenever_that_answers() -> None:
    comparisons = Comparisons()
    assert comparisons.add("COREAI:default", frame({"y": [2.5]})) == []
    compared = comparisons.add("COREAI:cpu_only", frame({"y": [2.0]}))
    assert [(each.unit, each.reference, only(each).max_abs) for each in compared] == [
        ("COREAI:default", "COREAI:cpu_only", 0.5)
    ]
    (row,) = comparisons.add("COREAI:default~b", frame({"y": [2.25]}))
    assert (row.unit, row.reference, only(row).max_abs) == ("COREAI:default~b", "COREAI:cpu_only", 0.25)


def test_outputs_that_share_no_name_are_compared_by_position() -> None:
    compared = compare("U", "R", frame({"var_7": [1.0], "var_9": [5.0]}), frame({"y": [1.5], "z": [5.0]}))
    assert compared.error is None
    assert {each.name: each.max_abs for each in compared.outputs} == {"y": 0.5, "z": 0.0}
    partly = compare("U", "R", frame({"y": [1.0], "var_9": [5.0]}), frame({"y": [1.5], "z": [5.0]}))
    assert partly.error is not None, "a shared name makes the others different outputs"
