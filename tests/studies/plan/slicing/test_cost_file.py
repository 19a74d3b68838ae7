"""A cost file is read as it is meant, or refused in words that say where it is wrong."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from hettop.errors import HettopError
from hettop.studies.plan.slicing.cost_file import load_costs, read_costs, written_costs
from hettop.studies.plan.slicing.costs import CostTable, for_objective
from tests.studies.plan.slicing.tables import Fields, fields, random_fields, table_of


def refusal(text: str | bytes) -> str:
    with pytest.raises(HettopError) as refused:
        read_costs(text)
    assert refused.value.kind == "input"
    return refused.value.message


def test_null_is_infinite_and_a_device_without_a_limit_has_none() -> None:
    table = table_of(fields(2, "AB", e=[[1, None], [2, 3]], size=[4, 5], limit={"B": 100}))
    assert table.execution.tolist() == [[1, math.inf], [2, 3]]
    assert (table.devices, table.layers) == (("A", "B"), 2)
    assert (table.sizes.tolist(), table.limits.tolist()) == ([4, 5], [math.inf, 100])
    assert (table.watts, table.unit) == (None, None)


def test_sizes_and_limits_may_be_left_out_together() -> None:
    plain = fields(1, "A")
    del plain["size"], plain["limit"]
    assert table_of(plain).limits.tolist() == [math.inf]
    assert refusal(json.dumps({**plain, "limit": {"A": 1}})) == (
        "size is missing: the MB of each layer, required by limit"
    )


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"L": 0}, "L, the number of layers, must be a whole number of 1 to 5,000"),
        ({"L": True}, "L, the number"),
        ({"L": 2.0}, "L, the number"),
        ({"L": 3}, "e has 2 entries for 3 layers"),
        ({"D": []}, "D must list 1 to 500 devices"),
        ({"D": "AB"}, "D must list"),
        ({"D": ["A", "A"]}, "D lists a device twice"),
        ({"D": ["A", ""]}, "D: a device's name"),
        ({"D": ["A", 7]}, "D: a device's name"),
        ({"D": ["A", "\ud800"]}, "D: "),
        ({"D": ["A", "\x1b[31mB"]}, "D: "),
        ({"D": ["A", "B, A_2"]}, "D: 'B, A_2' has characters that are not valid in a device name (such as commas)"),
        ({"D": ["A", "B", "C"]}, "e, layer 1: 2 numbers for 3 devices"),
        ({"e": None}, "e is missing"),
        ({"e": {}}, "e must be a list"),
        ({"e": []}, "e has 0 entries for 2 layers"),
        ({"e": [[1, 2], [3]]}, "e, layer 2: 1 numbers for 2 devices"),
        ({"e": [[1, 2], 3]}, "e, layer 2: not a list"),
        ({"e": [[1, 2], [3, -4]]}, "e, layer 2, B: -4 is negative"),
        ({"e": [[1, 2], [3, "x"]]}, "e, layer 2, B: not a number"),
        ({"e": [[1, 2], [3, True]]}, "e, layer 2, B: not a number"),
        ({"cin": [[1, 2], [3, 1e16]]}, "cin, layer 2, B: larger than 1e+15"),
        ({"cout": [[1, 2], [3, 10**400]]}, "cout, layer 2, B: larger"),
        ({"cout": [[1, 2], [3, -(10**400)]]}, "cout, layer 2, B: negative"),
        ({"size": [1]}, "size has 1 entries for 2 layers"),
        ({"size": [1, None]}, "size of layer 2: null"),
        ({"limit": {"C": 1}}, "limit: unknown device 'C' (D has A, B)"),
        ({"limit": {"A": -1}}, "limit of A: -1 is negative"),
        ({"limit": [1]}, "limit must map"),
        ({"P": [1]}, "P, layer 1: 1 numbers for 2 devices"),
        ({"P": []}, "P must list"),
        ({"P": [1, None]}, "P: a power must be a number"),
        ({"unit": "s"}, "unit must be ms or mJ"),
    ],
)
def test_a_wrong_table_is_refused_with_the_place(changed: dict[str, Any], words: str) -> None:
    assert refusal(json.dumps({**fields(2, "AB"), **changed})).startswith(words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not valid JSON"),
        ("[1]", "not a JSON object"),
        ('{"L": 1,', "not valid JSON"),
        (b"\xff\xfe\x00", "not "),
        ('{"L": NaN}', "NaN is not valid JSON"),
        ('{"L": 1, "D": ["A"], "e": [[-Infinity]]}', "-Infinity is not valid JSON"),
        ('{"L": 1, "D": ["A"], "e": [[1e999]]}', "e, layer 1, A: larger"),
        ("[" * 100_000, "not valid JSON"),
        ('{"L": ' + "1" * 5000 + "}", "not valid JSON"),
        ('{"cases": [{}]}', "it contains several cases"),
    ],
)
def test_what_is_no_table_at_all_is_refused(text: str | bytes, words: str) -> None:
    assert refusal(text).startswith(words)


def test_files_that_are_not_there_or_are_no_files_are_distinguished(tmp_path: Path) -> None:
    for path, kind in ((tmp_path / "none.json", "missing"), (tmp_path, "input"), (tmp_path / "a\0b", "missing")):
        with pytest.raises(HettopError) as refused:
            load_costs(path)
        assert refused.value.kind == kind


def test_a_fault_in_a_file_is_reported_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "costs.json"
    path.write_text("{}")
    with pytest.raises(HettopError, match=r"costs\.json: L, the number of layers"):
        load_costs(path)


def test_watts_by_device_or_by_layer_turn_ms_into_mj() -> None:
    by_device = for_objective(table_of(fields(2, "AB", cin=[[1, 2]] * 2, P=[2, 0.5])), "energy")
    assert (by_device.execution.tolist(), by_device.entry.tolist()) == ([[20, 5], [20, 5]], [[2, 1], [2, 1]])
    by_layer = for_objective(table_of(fields(2, "AB", e=[[10, None], [10, 10]], P=[[1, 2], [3, 4]])), "energy")
    assert by_layer.execution.tolist() == [[10, math.inf], [30, 40]]
    assert by_layer.unit == "mJ"


def test_a_device_that_takes_no_power_still_cannot_run_what_it_cannot_run() -> None:
    table = for_objective(table_of(fields(1, "AB", e=[[None, 1]], P=[0, 1])), "energy")
    assert np.isinf(table.execution[0, 0])


def test_costs_in_the_other_unit_are_refused_unless_there_are_watts() -> None:
    def with_unit(unit: str, **more: Any) -> CostTable:
        return table_of(fields(1, "A", unit=unit, **more))

    with pytest.raises(HettopError, match="in ms cannot be used for the objective energy"):
        for_objective(with_unit("ms"), "energy")
    with pytest.raises(HettopError, match="in mJ cannot be used for the objective latency"):
        for_objective(with_unit("mJ"), "latency")
    assert for_objective(with_unit("ms", P=[3]), "energy").execution.tolist() == [[30]]
    assert for_objective(with_unit("mJ", P=[3]), "energy").execution.tolist() == [[10]]


def test_a_file_without_a_unit_is_in_the_unit_of_the_objective() -> None:
    assert for_objective(table_of(fields(1, "A")), "energy").unit == "mJ"
    assert for_objective(table_of(fields(1, "A")), "latency").unit == "ms"


@given(random_fields())
def test_a_table_that_is_written_reads_as_itself(given_fields: Fields) -> None:
    table = table_of({**given_fields, "unit": "ms", "P": [1.5] * len(given_fields["D"])})
    again = read_costs(written_costs(table))
    assert (again.devices, again.unit) == (table.devices, "ms")
    for name in ("execution", "entry", "exit", "sizes", "limits", "watts"):
        assert getattr(again, name).tolist() == getattr(table, name).tolist()
