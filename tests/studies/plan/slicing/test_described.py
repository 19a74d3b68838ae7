"""Devices that are described, not measured: their costs follow from one that was, and bad descriptions are refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from hettop.errors import HettopError
from hettop.studies.plan.slicing.described import Described, extend, load_described, read_described
from tests.studies.plan.slicing.tables import fields, table_of

TABLE = table_of(fields(3, "A", e=[[10], [20], [30]], cin=[[0], [2], [4]], cout=[[2], [4], [0]], P=[3.0]))
OPS = (("Conv", "Relu"), ("Softmax",), ("Gemm",))
CUT_MB = (1.0, 2.0, 0.0)


def one(**changed: Any) -> Described:
    (found,) = read_described(json.dumps([{"name": "N", "like": "A", **changed}]))
    return found


def column(described: Described) -> dict[str, list[float]]:
    table = extend(TABLE, [described], OPS, CUT_MB)
    assert table.devices == ("A", "N")
    assert table.execution[:, 0].tolist() == [10, 20, 30]
    return {"e": table.execution[:, 1].tolist(), "in": table.entry[:, 1].tolist(), "out": table.exit[:, 1].tolist()}


def test_a_device_takes_so_many_times_as_long() -> None:
    found = column(one(times=0.5, watts=1))
    assert found == {"e": [5, 10, 15], "in": [0, 2, 4], "out": [2, 4, 0]}


def test_a_device_has_cuts_of_its_own_and_operations_that_it_cannot_run() -> None:
    """3 ms per MB and 1 ms: 4 and 7 ms at both sides together."""
    found = column(one(cut=[3, 1], unsupported=["Softmax"], watts=1))
    assert found == {"e": [10, math.inf, 30], "in": [0, 2, 3.5], "out": [2, 3.5, 0]}


def test_a_frequency_between_two_has_the_papers_time() -> None:
    """60 ms at 104 MHz and 10 at 767 are 16.652 at 415."""
    assert one(mhz=415, lowest=[104, 60], highest=[767, 10]).times == pytest.approx(1.6652492)


def test_a_frequency_has_the_papers_power() -> None:
    """.3463 of 2 W at .8 V and 415 MHz, and .3 W of static power."""
    found = one(mhz=415, lowest=[104, 60], highest=[767, 10], watts=2, static_watts=0.3, volts=0.8, top_volts=1)
    assert found.watts == pytest.approx(2 * 0.34628 + 0.3, abs=1e-4)
    assert one(watts=2).watts == 2
    assert one().watts is None


def test_a_limit_and_watts_go_into_the_table() -> None:
    table = extend(TABLE, [one(limit=100, watts=2)], OPS, CUT_MB)
    assert table.limits.tolist() == [math.inf, 100]
    assert table.watts is not None
    assert table.watts[:, 1].tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"like": "Z"}, "which is not one of A"),
        ({"name": "A"}, "name of two devices"),
        ({}, "power is unknown"),
    ],
)
def test_what_does_not_fit_the_table_is_refused(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(HettopError, match=words):
        extend(TABLE, [one(**changed)], OPS, CUT_MB)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not valid JSON"),
        ("[]", "not a list"),
        ("{}", "not a list"),
        ("[3]", "device 1 is not a JSON object"),
        ('[{"name": "N"}]', "like must be a name"),
        ('[{"name": "", "like": "A"}]', "name must be a name"),
        ('[{"name": "N", "like": "A", "times": 0}]', "more than 0"),
        ('[{"name": "N", "like": "A", "times": -1}]', "of 0 or more"),
        ('[{"name": "N", "like": "A", "times": NaN}]', "not valid JSON"),
        ('[{"name": "N", "like": "A", "times": true}]', "of 0 or more"),
        ('[{"name": "N", "like": "A", "speed": 2}]', "unknown field 'speed'"),
        ('[{"name": "N", "like": "A", "cut": [1]}]', "cut must be two numbers"),
        ('[{"name": "N", "like": "A", "unsupported": "Conv"}]', "must list types"),
        ('[{"name": "N", "like": "A", "mhz": 50, "lowest": [104, 60], "highest": [767, 10]}]', "do not lie between"),
        (
            '[{"name": "N", "like": "A", "mhz": 104, "lowest": [104, 60], "highest": [104, 10]}]',
            "two frequencies are needed",
        ),
        ('[{"name": "N", "like": "A", "mhz": 415, "times": 2}]', "exclude each other"),
        ('[{"name": "N", "like": "A", "mhz": 415, "highest": [767, 0], "lowest": [104, 60]}]', "must be above 0"),
    ],
)
def test_bad_descriptions_are_refused_with_the_place(text: str, words: str) -> None:
    with pytest.raises(HettopError, match=words) as refused:
        read_described(text)
    assert refused.value.kind == "input"


def test_a_file_is_named_where_it_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(HettopError, match=r"file not found: .*nowhere"):
        load_described(tmp_path / "nowhere.json")
    (tmp_path / "d.json").write_text("[]")
    with pytest.raises(HettopError, match=r"d\.json: not a list"):
        load_described(tmp_path / "d.json")
