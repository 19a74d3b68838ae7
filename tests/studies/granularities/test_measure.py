"""A comparison's result: made of what was measured, as `--json` prints it, as a line, and as the command's page."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from hettop.errors import HettopError
from hettop.events import Study
from hettop.report.document import to_json
from hettop.report.terminal.blocks import block_text
from hettop.studies.granularities.measure import UnderLoad, busiest, fastest, granularities_result
from hettop.studies.granularities.page import blocks
from hettop.studies.granularities.result import GranularitiesResult, GranularityRow
from hettop.studies.plan.cutting.result import Compared
from hettop.studies.registry import read_document
from tests.processes.waiting import REPOSITORY
from tests.studies.granularities.measured import COMPARED, FOUND, ROWS
from tests.studies.sweep.test_measure import missing_or_changed

FEW = replace(COMPARED, rows=tuple(replace(row, by_round=row.by_round[:2]) for row in ROWS))
NEAR = replace(COMPARED, rows=(*ROWS[:2], replace(ROWS[2], by_round=(139.5, 187.0, 180.0))))
"""Task at 1.55 times in its worst round, intra-operator at 1.6 in its best; latencies stay far apart."""


def page(*found: UnderLoad, width: int = 130, interrupted: bool = False) -> str:
    text = block_text(list(blocks(granularities_result(2, found or FOUND, interrupted=interrupted))), width)
    return " ".join(text.split())


def document(result: GranularitiesResult) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(to_json(result.document()))
    return told


def kept(*found: UnderLoad) -> GranularitiesResult:
    """As a recording has it."""
    line = granularities_result(2, found or FOUND).line()
    return GranularitiesResult.from_line(json.loads(msgspec.json.encode(line)))


def test_the_document_has_every_field_that_the_first_version_had() -> None:
    before = json.loads((REPOSITORY / "tests/golden/studies/granularities.json").read_text())
    after = document(granularities_result(2, FOUND, interrupted=True))
    known = {name: value for name, value in before.items() if name not in ("hettop", "model")}
    assert missing_or_changed(known, after) == []


def test_the_document_has_speedups_in_all_and_by_round() -> None:
    none, loaded = document(granularities_result(2, FOUND))["loads"]
    assert [row["speedup"] for row in none["granularities"]] == pytest.approx([1, 1.5, 1.8])
    assert none["granularities"][1]["speedup_by_round"] == pytest.approx([1.5, 1.6, 1.5])
    assert (none["lowest_latency"], none["highest_rate"], none["stages"]) == ("intra-operator", "task", [26, 29])
    assert (loaded["granularities"], loaded["error"]) == ([], "1 load worker ended unasked")


def test_a_line_has_speedups_their_range_and_what_is_best() -> None:
    """135 / 90 and 176 / 110 in the two rounds."""
    found = kept()
    assert (found.threads, found.stages, found.notes, found.loads) == (2, [26, 29], ["a note"], [])
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
    assert found.rows[3] == GranularityRow(load="cpu:1", name="", error="1 load worker ended unasked")


def test_more_rows_than_a_line_holds_are_counted() -> None:
    """30 loads with three ways each."""
    loads = [UnderLoad(f"cpu:{n}", COMPARED) for n in range(30)]
    found = kept(*loads)
    assert (len(found.rows), found.rest_n) == (64, 26)
    assert "26 more rows are only in --json" in block_text(list(blocks(found)), 100)
    assert "in the document alone" not in page(*loads)
    study = Study(t=1, name="granularities", state="running", elapsed_ns=1, found=found.line())
    assert len(msgspec.json.encode(study)) < 20_000


def test_the_page_has_a_table_for_each_load_and_what_is_best() -> None:
    text = page()
    assert (
        "Without load: best latency: intra-operator (6.50 ms); best throughput: task (180 "
        "inferences/s, 1.80x one thread" in text
    )
    assert "each result takes 69% longer" in text
    assert "task 11.0 14.0 180 1.80x" in text
    assert "1.70–2.00 500 rate" in text
    assert "task: 2 inputs in parallel, one thread each" in text
    assert "Load cpu:1: not measured: 1 load worker ended unasked" in text
    assert "not proven" not in text


def test_an_interrupt_is_said() -> None:
    assert "Ended early" in page(*FOUND[:1], interrupted=True)
    assert document(granularities_result(2, FOUND, interrupted=True))["interrupted"] is True


def test_where_one_thread_is_best_nothing_is_praised() -> None:
    rows = (ROWS[0], replace(ROWS[1], per_s=50.0, p50_ms=20.0, by_round=(45.0, 55.0, 50.0)))
    text = page(UnderLoad("none", replace(COMPARED, rows=rows)))
    assert "Without load: one thread alone has the best latency and throughput: 10.0 ms and 100 inferences/s." in text


def test_of_fewer_than_three_rounds_no_winner_is_named() -> None:
    found = granularities_result(2, [UnderLoad("none", FEW), UnderLoad("cpu:1", FEW)])
    why = "insufficient data: a proof of the best way needs 3 rounds; measure longer"
    assert found.notes == [why, "a note"], "once for all loads"
    text = page(UnderLoad("none", FEW))
    assert "Without load: the best way is not proven: measure longer." in text
    assert why in text
    load = document(found)["loads"][0]
    assert (load["lowest_latency"], load["highest_rate"], load["notes"]) == (None, None, ["a note"])


def test_where_the_best_two_overlap_by_round_only_what_is_distinguished_is_named() -> None:
    found = granularities_result(2, [UnderLoad("none", COMPARED), UnderLoad("cpu:1", NEAR)])
    assert found.notes == [
        "load cpu:1: task and intra-operator overlap between rounds: highest rate not proven",
        "a note",
    ]
    assert "best latency: intra-operator (6.50 ms); best throughput: not proven" in page(UnderLoad("none", NEAR))
    assert busiest(COMPARED) is ROWS[2]


def test_latencies_are_distinguished_by_round_too() -> None:
    """Intra-operator in its worst round is slower than one thread, though its median is lower."""
    rows = (ROWS[0], replace(ROWS[1], p50_ms=9.8, per_s=102.0, by_round=(85.0, 118.0, 103.0)))
    assert fastest(replace(COMPARED, rows=rows)) is None
    assert fastest(COMPARED) is ROWS[1]
    notes = granularities_result(2, [UnderLoad("none", replace(COMPARED, rows=rows))]).notes
    assert notes[0] == "without load: intra-operator and single overlap between rounds: lowest latency not proven"


@pytest.mark.parametrize("rows", [ROWS[:1], ()])
def test_one_way_alone_is_best_of_nothing(rows: Any) -> None:
    """Nor is there a second one to be distinguished from."""
    found: Compared = replace(COMPARED, rows=rows)
    assert fastest(found) is None
    assert not any("overlap" in note for note in granularities_result(2, [UnderLoad("none", found)]).notes)


@pytest.mark.parametrize("width", [60, 80])
def test_the_page_fits_its_width(width: int) -> None:
    text = block_text(list(blocks(granularities_result(2, FOUND))), width)
    assert max(map(len, text.splitlines())) <= width


def test_the_document_is_read_as_the_result() -> None:
    found = granularities_result(2, FOUND)
    assert read_document("granularities", document(found)) == found


@pytest.mark.parametrize("broken", [{}, {"loads": 5}, {"threads": -1}])
def test_what_is_no_such_document_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(HettopError) as refused:
        read_document("granularities", broken and {**document(granularities_result(2, FOUND)), **broken})
    assert refused.value.kind == "study"
