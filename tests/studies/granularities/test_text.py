"""Granularities as a page and as a document."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hettop.studies.granularities.text import busiest, fastest, granularities_document, granularities_text
from hettop.studies.plan.cutting.result import Compared, Granularity

ROWS = (
    Granularity("single", 100.0, 10.0, 12.0, 300, (90.0, 110.0, 100.0)),
    Granularity("intra-operator", 150.0, 6.5, 8.0, 400, (135.0, 176.0, 150.0)),
    Granularity("task", 180.0, 11.0, 14.0, 500, (180.0, 187.0, 180.0)),
)
COMPARED = Compared(ROWS, (26, 29), 250.0, ("a note",))
FOUND = [("none", COMPARED, ""), ("cpu:1", None, "1 load worker ended unasked")]


def page(width: int = 120) -> str:
    return " ".join(granularities_text("m", 2, FOUND, width).split())


def test_the_page_has_a_table_for_each_load_and_what_is_best() -> None:
    text = page()
    assert "m · ONNX Runtime, CPU · 2 threads load none" in text
    assert "task 11.0 14.0 180/s 1.80x 1.70–2.00 2 inputs side by side" in text
    assert "lowest latency: intra-operator; highest rate: task" in text
    assert "task does more a second, and each answer takes +10% longer" in text
    assert "load cpu:1 not measured: 1 load worker ended unasked" in text


def test_the_document_has_speedups_in_all_and_by_round() -> None:
    document = granularities_document({"name": "m"}, 2, FOUND)
    none, loaded = document["loads"]
    assert [row["speedup"] for row in none["granularities"]] == pytest.approx([1, 1.5, 1.8])
    assert none["granularities"][1]["speedup_by_round"] == pytest.approx([1.5, 1.6, 1.5])
    assert (none["lowest_latency"], none["highest_rate"], none["stages"]) == ("intra-operator", "task", [26, 29])
    assert (loaded["granularities"], loaded["error"]) == ([], "1 load worker ended unasked")


def test_an_interrupt_is_said() -> None:
    assert "interrupted" in granularities_text("m", 2, FOUND[:1], 80, interrupted=True)
    assert granularities_document({}, 2, FOUND, interrupted=True)["interrupted"] is True


def test_where_one_thread_is_best_nothing_is_praised() -> None:
    rows = (ROWS[0], replace(ROWS[1], per_s=50.0, p50_ms=20.0, by_round=(45.0, 55.0, 50.0)))
    text = granularities_text("m", 2, [("none", replace(COMPARED, rows=rows), "")], 120)
    assert "lowest latency: single; highest rate: single" in text
    assert "does more a second" not in text


def test_of_fewer_than_three_rounds_no_winner_is_named() -> None:
    few = replace(COMPARED, rows=tuple(replace(row, by_round=row.by_round[:2]) for row in ROWS))
    text = " ".join(granularities_text("m", 2, [("none", few, "")], 120).split())
    assert "lowest latency: not proven (measure longer); highest rate: not proven (measure longer)" in text
    assert "fewer than 3 rounds" in text
    assert "does more a second" not in text
    (load,) = granularities_document({}, 2, [("none", few, "")])["loads"]
    assert (load["lowest_latency"], load["highest_rate"]) == (None, None)


def test_where_the_best_two_overlap_by_round_only_what_is_told_apart_is_named() -> None:
    """Task at 1.55 times in its worst round, intra-operator at 1.6 in its best; latencies stay far apart."""
    near = replace(ROWS[2], by_round=(139.5, 187.0, 180.0))
    text = granularities_text("m", 2, [("none", replace(COMPARED, rows=(*ROWS[:2], near)), "")], 120)
    assert "lowest latency: intra-operator; highest rate: not proven (measure longer)" in text
    assert busiest(COMPARED) is ROWS[2]


def test_latencies_are_told_apart_by_round_too() -> None:
    """Intra-operator in its worst round is slower than one thread, though its median is lower."""
    rows = (ROWS[0], replace(ROWS[1], p50_ms=9.8, per_s=102.0, by_round=(85.0, 118.0, 103.0)))
    assert fastest(replace(COMPARED, rows=rows)) is None
    assert fastest(COMPARED) is ROWS[1]


def test_one_way_alone_is_best_of_nothing() -> None:
    assert fastest(replace(COMPARED, rows=ROWS[:1])) is None


def test_a_note_tells_of_rounds_only_where_their_column_is() -> None:
    assert "by round: least and most" in page(120)
    narrow = page(60)
    assert "by round" not in narrow
    assert "rates are of blocks in turns" in narrow


@pytest.mark.parametrize("width", [60, 80])
def test_the_page_fits_its_width(width: int) -> None:
    assert max(map(len, granularities_text("m", 2, FOUND, width).splitlines())) <= width
