"""The document of a comparison of granularities becomes a line of the stream."""

from __future__ import annotations

from typing import Any

import pytest

from hettop.errors import HettopError
from hettop.studies.granularities.result import GranularitiesResult, GranularityRow
from hettop.studies.granularities.text import granularities_document
from hettop.studies.reading import found_of
from tests.studies.granularities.test_text import COMPARED, FOUND

DOCUMENT = granularities_document({"name": "m"}, 2, FOUND)


def read(document: dict[str, Any]) -> GranularitiesResult:
    found = found_of("granularities", document)
    assert isinstance(found, GranularitiesResult)
    return found


def test_rows_have_speedups_and_their_range_and_what_is_best() -> None:
    """135 / 90 and 176 / 110 in the two rounds."""
    found = read(DOCUMENT)
    assert (found.threads, found.stages, found.notes) == (2, [26, 29], ["a note"])
    assert found.rows[1] == GranularityRow(
        load="none",
        name="intra-operator",
        per_s=150,
        p50_ms=6.5,
        p90_ms=8,
        speedup=1.5,
        calls=400,
        lowest_latency=True,
        speedup_range=(1.5, 1.6),
    )
    assert [row.highest_rate for row in found.rows] == [False, False, True, False]


def test_a_load_that_failed_is_a_row_with_its_reason() -> None:
    assert read(DOCUMENT).rows[3] == GranularityRow(load="cpu:1", name="", error="1 load worker ended unasked")


def test_more_loads_than_a_line_holds_are_counted() -> None:
    found = read(granularities_document({}, 2, [(f"cpu:{n}", COMPARED, "") for n in range(30)], interrupted=True))
    assert len(found.rows) == 64
    assert found.notes[-1] == "and 26 rows more"
    assert found.interrupted


@pytest.mark.parametrize("broken", [{}, {"loads": 5}, {**DOCUMENT, "threads": -1}])
def test_what_is_no_such_document_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(HettopError) as refused:
        found_of("granularities", broken)
    assert refused.value.kind == "study"
