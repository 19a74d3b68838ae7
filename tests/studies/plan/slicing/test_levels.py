"""A table with costs at two frequencies has those between: the paper's worked values, by layer."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from hettop.errors import HettopError
from hettop.studies.plan.slicing.costs import CostTable, for_objective
from hettop.studies.plan.slicing.planner import notation, plan
from tests.studies.plan.slicing.tables import fields, table_of

GPU = [[0.6, 104], [0.7, 151], [0.7, 237], [0.7, 332], [0.8, 415], [0.8, 550], [0.9, 667], [1.0, 767]]
"""Table II."""


def table(**changed: Any) -> CostTable:
    """The GPU: 60 and 10 ms, 2 W dynamic and .3 static at the highest; a second layer twice as dear; and an NPU."""
    given = {
        "D": ["G^104", "N", "G^767"],
        "e": [[60, 90, 10], [120, None, 20]],
        "cin": [[6, 0, 1]] * 2,
        "cout": [[0, 0, 0]] * 2,
        "unit": "ms",
        "P": [0.4, 9, 2.3],
        "levels": {"G": GPU},
        "static": {"G": 0.3},
        "limit": {"G^767": 50},
    }
    return table_of(fields(2, "", **{**given, **changed}))


def of(found: CostTable, device: str) -> int:
    return found.devices.index(device)


def test_times_between_are_by_equation_3_for_each_layer() -> None:
    found = table()
    assert found.devices == ("G^104", "N", "G^767", "G^151", "G^237", "G^332", "G^415", "G^550", "G^667")
    at = of(found, "G^415")
    assert found.execution[:, at] == pytest.approx([16.652, 33.304], abs=1e-3)
    assert found.entry[0, at] == pytest.approx(1.6652, abs=1e-4)
    assert found.limits[at] == 50


def test_power_between_is_by_equations_4_and_5() -> None:
    """.3463 of 2 W, and .3; what the file has of the lowest frequency stays."""
    found = table()
    assert found.watts is not None
    assert found.watts[0, of(found, "G^415")] == pytest.approx(0.3463 * 2 + 0.3, abs=1e-4)
    assert found.watts[0, of(found, "G^104")] == 0.4


def test_the_least_energy_is_at_the_frequency_that_the_worked_values_have() -> None:
    """14.684 mJ at 332 MHz for the first layer, where moving costs nothing."""
    free = table(cin=[[0] * 3] * 2, P=[9, 9, 2.3])
    best = plan(for_objective(free, "energy"))
    assert notation(free, best.slices) == "G_1^332"
    assert best.cost == pytest.approx(3 * 14.684, abs=2e-3)


def test_a_layer_that_runs_at_one_frequency_alone_runs_at_none_between() -> None:
    found = table(e=[[60, 90, 10], [None, 1, 20]])
    assert np.isinf(found.execution[1, of(found, "G^415")])


def test_without_power_no_voltage_is_needed() -> None:
    found = table(P=None, levels={"G": [[None, 104], [None, 415], [None, 767]]})
    assert found.devices[-1] == "G^415"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"levels": {"G": GPU[1:]}}, "D has no G^151"),
        ({"levels": {"X": GPU}, "static": {}}, "D has no X^104"),
        ({"levels": {"G": GPU[::-1]}}, "the lowest first"),
        ({"levels": {"G": GPU[:1]}}, "two or more"),
        ({"levels": {"G": [104, 767]}}, "not [volts, MHz]"),
        ({"levels": {"G": 3}}, "not a list"),
        ({"levels": []}, "must map devices"),
        ({"levels": {"G": [[0, 104], [0, 415], [0, 767]]}}, "without its voltage"),
        ({"static": {"N": 1}}, "has no levels"),
        ({"static": {"G": 2.4}}, "more than its power"),
        ({"unit": "mJ", "P": None}, "need costs in ms"),
        ({"levels": {"G": [[1, 104 + each] for each in range(663)] + [[1, 767]]}}, "more than 500"),
    ],
)
def test_what_is_wrong_is_refused(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(HettopError, match=re.escape(words)):
        table(**changed)
