"""Each network predicted from the others, by hand."""

from __future__ import annotations

import msgspec
import pytest

from hettop.studies.predict.findings import accuracy
from hettop.studies.predict.page import blocks
from hettop.studies.predict.result import LAYERS, MACS, OFFLINE, EstimateRow, PredictResult
from tests.studies.predict.found import FAILED, FEW, FOUND, NOTHING


def rows(found: PredictResult, load: str) -> dict[str, EstimateRow]:
    return {row.network: row for row in found.rows if row.load == load}


def test_layers_on_a_line_by_type_are_predicted_exactly_and_macs_alone_are_not() -> None:
    """By MACs network d comes from 12, 30 and 33 ms at 1, 2 and 3 GMACs: slope 10.5, intercept 4, so 46 ms."""
    idle = rows(FOUND, "none")
    assert [row.errors[LAYERS] for row in idle.values()] == pytest.approx([0, 0, 0, 0], abs=1e-9)
    assert idle["d"].estimates_ms[MACS] == pytest.approx(46)
    assert idle["d"].errors[MACS] == pytest.approx(14 / 60)
    assert idle["d"].layers_ms == pytest.approx(60)
    assert OFFLINE not in idle["d"].errors


def test_under_load_even_a_perfect_offline_estimate_is_wrong_by_what_the_load_costs() -> None:
    """2, 2, 3 and 1 times as long: off by 1/2, 1/2, 2/3 and 0; half of that at the median."""
    busy = rows(FOUND, "cpu:2")
    wanted = [1 / 2, 1 / 2, 2 / 3, 0]
    assert [row.errors[OFFLINE] for row in busy.values()] == pytest.approx(wanted)
    assert [row.errors[LAYERS] for row in busy.values()] == pytest.approx(wanted, abs=1e-9)
    each = accuracy(FOUND.rows, OFFLINE, "cpu:2")
    assert each is not None
    assert [each.median_error, each.worst_error] == pytest.approx([1 / 2, 2 / 3])
    assert each.worst == "c"
    assert [(found.load, found.predictor) for found in FOUND.accuracy] == [
        ("none", MACS),
        ("none", LAYERS),
        ("cpu:2", MACS),
        ("cpu:2", LAYERS),
        ("cpu:2", OFFLINE),
    ]


def test_the_network_itself_is_not_fitted_to() -> None:
    """Of b, c and d, 30, 33 and 60 ms at 2, 3 and 4 GMACs, the intercept would be -4 ms: so 399 / 29 through 0."""
    assert rows(FOUND, "none")["a"].estimates_ms[MACS] == pytest.approx(399 / 29)
    assert {row.unseen for row in FOUND.rows} == {0.0}


def test_the_lines_shown_are_over_all_networks() -> None:
    fits = {fit.op: fit for fit in FOUND.fits}
    assert [fits["Conv"].layers, fits["Conv"].b_ms_per_gmac] == pytest.approx([5, 10])
    assert [fits["Add"].layers, fits["Add"].c_ms_per_gbyte] == pytest.approx([4, 1])


def test_what_failed_is_a_row_with_its_reason_and_no_error() -> None:
    row = rows(FAILED, "cpu:2")["a"]
    assert (row.actual_ms, row.error, row.errors) == (None, "the load did not start", {})
    assert FAILED.failures() == {"a cpu:2": "the load did not start"}
    each = accuracy(FAILED.rows, LAYERS, "cpu:2")
    assert each is not None
    assert each.networks == 3


def test_of_few_networks_nothing_is_predicted() -> None:
    assert [each.predictor for each in FEW.accuracy] == [OFFLINE], "which is fitted to nothing"
    assert "needs 4 networks" in FEW.notes[0]
    assert "Insufficient data" in str(next(iter(blocks(NOTHING))))


def test_the_page_begins_with_the_errors_idle_and_then_under_load() -> None:
    first, second, *_ = blocks(FOUND)
    assert "Without load estimates are off by (median of 4 networks): line by MACs" in str(first)
    assert "lines by type of layer 0.0%" in str(first)
    assert "Under cpu:2" in str(second)
    assert "measured without load 50%" in str(second)


def test_a_result_survives_a_recording_and_a_document() -> None:
    assert PredictResult.from_document(FOUND.document()) == FOUND
    line = PredictResult.from_line(FOUND.line())
    assert [row.network for row in line.rows] == [row.network for row in FOUND.rows]


def test_a_line_of_many_networks_stays_short_and_says_what_is_left_out() -> None:
    long = dict.fromkeys((MACS, LAYERS, OFFLINE), 12.345678)
    row = EstimateRow(network="densenet121", load="cpu:2+memory:1", macs=10**9, actual_ms=9.87654, estimates_ms=long)
    rows = [msgspec.structs.replace(row, errors=long, unseen=0.123456)] * 64
    found = msgspec.structs.replace(FOUND, rows=rows, accuracy=FOUND.accuracy * 8, fits=FOUND.fits * 8)
    assert len(msgspec.json.encode(found.line())) < 10_000
    kept = PredictResult.from_line(found.line())
    assert (len(kept.rows), kept.rest_n) == (20, 44)
