"""Precision variants in a report."""

from __future__ import annotations

from hettop.report.html_page import html_page
from hettop.report.page import Block, Items, Page, Paragraph, Plot, Section, Table
from hettop.studies.variants import page
from hettop.studies.variants.result import VariantsResult
from tests.studies.swept import HOSTILE_VARIANTS, NO_VARIANTS, UNCOMPARED, VARIANTS


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


def test_without_differences_the_size_is_drawn() -> None:
    assert plot(UNCOMPARED).across.name == "size, MB"
    assert plot(UNCOMPARED).caption.startswith("Latency against size")


def test_nothing_says_nothing_and_nothing_hostile_reaches_the_page() -> None:
    assert blocks(NO_VARIANTS) == []
    text = html_page(Page("t", False, [Section("Variants", blocks(HOSTILE_VARIANTS))]))
    assert not any(character in text for character in "\x1b\u202e")
