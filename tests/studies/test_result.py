"""Results as lines of a recording, in this version's form and as version [1, 0] wrote them."""

from __future__ import annotations

import json

import msgspec
import pytest

from hettop.studies.layers.result import LayersResult
from hettop.studies.registry import STUDIES
from hettop.studies.result import StudyResult
from hettop.studies.sweep.result import SweepPoint, SweepResult
from tests.studies.test_pages import FOUND


@pytest.mark.parametrize(("name", "result"), FOUND)
def test_a_line_read_again_makes_the_same_line(name: str, result: StudyResult) -> None:
    line = json.loads(msgspec.json.encode(result.line()))
    read = STUDIES[name].result(line)
    assert read is not None
    assert json.loads(msgspec.json.encode(read.line())) == line


def test_bare_rows_of_the_first_version_are_read_by_their_order() -> None:
    old = {"of": "sweep", "points": [["CPU_ONLY", 4, None, None, 100, 50.5, 79.2, 90.0, None, None, 78.0]]}
    point = SweepPoint("CPU_ONLY", 4, None, None, 100, 50.5, 79.2, 90.0, p50_ms=78.0)
    assert STUDIES["sweep"].result(old) == SweepResult(points=[point])
    row = ["conv", "Conv", 1.5, 0.5, 1000, 2000, "compute"]
    layers = STUDIES["layers"].result(
        {"of": "layers", "unit": "A", "total_ms": 3, "end_to_end_ms": 3, "layers": [row], "whole": row}
    )
    assert isinstance(layers, LayersResult)
    assert layers.whole == layers.layers[0]
    assert (layers.layers[0].macs, layers.layers[0].bound) == (1000, "compute")


@pytest.mark.parametrize(
    "found", [{"of": "layers", "unit": "A"}, {"of": "sweep", "points": 7}, {"of": "sweep", "points": [["A"]]}]
)
def test_what_is_no_result_of_the_study_is_none(found: dict[str, object]) -> None:
    assert STUDIES["sweep"].result(found) is None
