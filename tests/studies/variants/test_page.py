"""Precision variants in a report."""

from __future__ import annotations

from hettop.report.html_page import html_page
from hettop.report.page import Block, Items, Page, Paragraph, Plot, Section, Table
from hettop.report.terminal.blocks import block_text
from hettop.studies.variants import page
from hettop.studies.variants.measure import variants_result
from hettop.studies.variants.result import VariantsResult
from tests.studies.swept import HOSTILE_VARIANTS, NO_VARIANTS, UNCOMPARED, VARIANTS
from tests.studies.variants.measured import RESULTS, TWO_UNITS


def blocks(found: VariantsResult) -> list[Block]:
    return list(page.blocks(found))


def plot(found: VariantsResult) -> Plot:
    return next(block for block in blocks(found) if isinstance(block, Plot))


def test_headline_figure_table_and_notes() -> None:
    told = blocks(VARIANTS)
    assert isinstance(told[0], Paragraph)
    assert told[0].text.startswith("int8 is 2.00 times")
    assert Paragraph("int4 on CPU_ONLY failed: no tool writes it.", tone="error") in told
    (table,) = [block for block in told if isinstance(block, Table)]
    marks = [(row[0], row[1]) for row in table.rows]
    assert marks == [("●", "fp32"), ("", "fp16"), ("●", "int8"), ("", "int4")]
    half = dict(zip(table.heading, table.rows[1], strict=True))
    assert (half["speed"], half["95% of speed"], half["size"]) == ("0.800x", "0.700–0.900", "7.0 MB")
    assert (half["max diff"], half["cosine"], half["top-1"]) == ("0.250", "0.999000", "100%")
    assert told[-1] == Items(["differences to fp32 on CPU_ONLY over 8 sets", "fp32: the model as it is"])


def test_the_front_is_filled_and_joined_and_the_rest_is_hollow() -> None:
    front, beaten = plot(VARIANTS).series
    assert [spot.label for spot in front.spots] == ["fp32", "int8"]
    assert [spot.label for spot in beaten.spots] == ["fp16"]
    assert (front.joined, beaten.joined) == (True, False)
    assert [spot.hollow for spot in (*front.spots, *beaten.spots)] == [False, False, True]


def test_what_was_measured_just_now_is_reported_with_hints_and_what_differences_are_of() -> None:
    text = block_text(blocks(variants_result(RESULTS)), 140)
    assert "0.500 of 4.00" in text
    assert "CPU_ONLY int8: no tool (get one)" in text
    assert "method: docs/method/variants.md" in text
    assert "0 B" not in text
    assert [spot.x for spot in plot(variants_result(RESULTS)).series[0].spots] == [0.0, 0.5], "fp32 is 0 from itself"


def test_what_was_not_compared_is_not_called_beaten() -> None:
    assert "dominated: fp32 on ALL." in block_text(blocks(variants_result(TWO_UNITS)), 140)


def test_a_narrow_terminal_keeps_why_a_variant_failed() -> None:
    text = block_text(blocks(variants_result(RESULTS)), 80)
    assert any("int8" in line and line.endswith("no tool") for line in text.splitlines())
    assert "95% of speed" not in text


def test_without_differences_the_size_is_drawn() -> None:
    assert plot(UNCOMPARED).across.name == "size, MB"
    assert plot(UNCOMPARED).caption.startswith("Latency against size")


def test_nothing_says_nothing_and_nothing_hostile_reaches_the_page() -> None:
    assert blocks(NO_VARIANTS) == []
    text = html_page(Page("t", False, [Section("Variants", blocks(HOSTILE_VARIANTS))]))
    assert not any(character in text for character in "\x1b\u202e")
