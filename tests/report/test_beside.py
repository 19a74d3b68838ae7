"""What is said of rows beside each other, and of latency against idle time."""

from __future__ import annotations

from typing import Any

import msgspec

from hettop.report.document import session_document
from hettop.report.notes import beside_document, beside_notes, gap_blocks, gap_words
from hettop.report.page import Table
from hettop.session.beside import Change, VariantComparison, sentence
from hettop.session.session import Session
from hettop.session.statistics import IdleGap, statistics
from tests.report.sessions import session_table
from tests.session.test_beside import latencies, session_of
from tests.streams import MS, S, header, window


def pair(**changes: Change) -> VariantComparison:
    return VariantComparison("CPU_ONLY", "b", "none", None, (100, 100), changes)


def test_faster_and_slower_are_words_with_an_interval() -> None:
    faster = sentence(pair(p50=Change(-0.12, -0.15, -0.08), p90=Change(0.3, 0.2, 0.41)))
    assert faster == "CPU_ONLY~b against CPU_ONLY: 12% faster [8.0%, 15%] at P50, 30% slower [20%, 41%] at P90"


def test_what_may_be_chance_is_no_difference() -> None:
    assert "undecided [-3.0%, +1.0%] at P50" in sentence(pair(p50=Change(-0.02, -0.03, 0.01)))


def test_too_few_samples_are_said_to_be_few() -> None:
    assert sentence(pair()).endswith("insufficient data")


def with_variants() -> Session:
    session = Session()
    settings = {"variants": {"b": {"words": "the other \x1b[2Jmodel", "model": "b.onnx"}}}
    session.fold(msgspec.structs.replace(header(), settings=settings))
    session.fold(window(latencies(2.0, 1)))
    session.fold(window(latencies(1.0, 2), unit="CPU_ONLY~b", t0=S))
    return session


def test_the_table_has_both_rows_what_they_are_and_the_difference() -> None:
    table = " ".join(session_table(with_variants(), 200).split())
    assert "CPU_ONLY~b 200" in table
    assert "~b: the other" in table
    assert "CPU_ONLY~b against CPU_ONLY: 50% faster" in table
    assert "\x1b" not in table


def test_json_names_variant_and_model_and_has_the_change() -> None:
    document = session_document(with_variants())
    assert [(row["unit"], row["variant"], row["model"]) for row in document["conditions"]] == [
        ("CPU_ONLY", None, None),
        ("CPU_ONLY~b", "b", "b.onnx"),
    ]
    (found,) = document["beside"]
    assert (found["unit"], found["variant"], found["n"]) == ("CPU_ONLY", "b", [200, 200])
    low, high = found["change"]["p50"]["ci"]
    assert low < found["change"]["p50"]["share"] < high < -0.45


def test_without_variants_nothing_is_said() -> None:
    plain = session_of(window(latencies(2.0, 1)))
    assert (beside_notes(plain), beside_document(plain)) == ([], [])
    assert "beside" not in session_document(plain)


def test_header_settings_that_are_no_variants_do_no_harm() -> None:
    odds: list[Any] = [3, [], {"b": 4}, {"b": {"words": 5, "model": []}}]
    for odd in odds:
        session = Session()
        session.fold(msgspec.structs.replace(header(), settings={"variants": odd}))
        session.fold(window([MS] * 3, unit="CPU_ONLY~b"))
        beside_notes(session)
        assert statistics(session)[0].model is None


def test_idle_bins_have_words() -> None:
    bins = [(0.0, 0.1), (10.0, 30.0), (3000.0, None)]
    assert [gap_words(IdleGap(low, high, 9, 1, 2)) for low, high in bins] == ["below 0.1", "10 to 30", "3000 and more"]


def test_the_idle_curve_is_shown_where_calls_came_at_a_rate_and_not_for_bins_of_a_few() -> None:
    paced = session_of(
        window([2 * MS] * 20, gap=30 * MS, late=[0] * 20), window([7 * MS] * 3, gap=200 * MS, late=[0] * 3, t0=S)
    )
    (table,) = [block for block in gap_blocks(statistics(paced)) if isinstance(block, Table)]
    assert table.rows == [("CPU_ONLY", "none", "30 to 100", "19", "2.00", "2.00")]
    assert gap_blocks(statistics(session_of(window([2 * MS] * 20, gap=30 * MS)))) == []
