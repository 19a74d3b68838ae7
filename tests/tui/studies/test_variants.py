"""Precision variants on the screen: sentence, table, the front in a plot."""

from __future__ import annotations

import msgspec
import pytest

from hettop.events import FoundVariants, Study
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import INKS, Line, text_of, width_of
from hettop.tui.studies import answer
from tests.session.swept import HOSTILE_VARIANTS, NO_VARIANTS, UNCOMPARED, VARIANTS

BOTH = FoundVariants(variants=[*VARIANTS.variants, *UNCOMPARED.variants])


def lines_of(found: FoundVariants, width: int = 76, height: int = 18) -> list[Line]:
    return answer(Study(t=1, name="variants", state="done", elapsed_ns=1, found=found), width, height)


def shown(found: FoundVariants, width: int = 76, height: int = 18) -> list[str]:
    return [text_of(each).rstrip() for each in lines_of(found, width, height)]


def row(texts: list[str], name: str) -> str:
    return next(text for text in texts if text[3:].startswith(name))


@pytest.mark.parametrize(("width", "height"), [(76, 18), (116, 34), (196, 54), (20, 5), (1, 1)])
@pytest.mark.parametrize("found", [VARIANTS, UNCOMPARED, BOTH, NO_VARIANTS, HOSTILE_VARIANTS])
def test_every_line_fits_and_no_text_reaches_the_terminal_raw(found: FoundVariants, width: int, height: int) -> None:
    lines = lines_of(found, width, height)
    assert {width_of(each) for each in lines} <= {width}
    assert {ink for each in lines for _, ink in each} <= set(INKS)
    assert not any(character in text_of(each) for each in lines for character in "\x1b\u202e")


def test_the_sentence_comes_first_and_the_table_is_in_sight() -> None:
    texts = shown(VARIANTS)[:18]
    assert texts[0].startswith("int8 is 2.00 times (not proven: 0.900 to 2.50) as fast as fp32")
    assert row(texts, "int8").split()[1:6] == ["int8", "CPU", "2.00", "2.00x", "3.5"]
    assert "int4 on CPU failed: no tool writes it." in texts


def test_marks_tell_the_front_from_what_is_beaten_and_what_failed() -> None:
    texts = shown(VARIANTS)
    assert [row(texts, name)[0] for name in ("fp32", "fp16", "int8", "int4")] == ["●", "·", "●", "✗"]


def test_a_size_is_a_bar_against_the_largest() -> None:
    texts = shown(VARIANTS)
    # Six cells are 14 MB: 3 for the half, 1.5 for the quarter.
    assert "██████" in row(texts, "fp32")
    assert "███ " in row(texts, "fp16")
    assert "█▌ " in row(texts, "int8")


def test_only_a_proven_speed_is_good_or_bad() -> None:
    lines = lines_of(VARIANTS)
    inks = {text: ink for each in lines for text, ink in each if text.endswith("x") and text[0].isdigit()}
    assert inks == {"0.800x": "warning", "2.00x": "text"}


def test_the_front_is_joined_and_every_point_is_named() -> None:
    lines = lines_of(VARIANTS, 116, 34)
    plot = [each for each in lines if text_of(each).lstrip("0123456789. ").startswith(("│", "┤"))]
    words = " ".join(text_of(each) for each in plot)
    assert all(name in words for name in ("fp32", "fp16", "int8"))
    assert [words.count(glyphs.RECORD), words.count(glyphs.DOT)] == [2, 1]
    strokes = {ink for each in plot for text, ink in each if set(text) <= set("▁─▔╱╲│") and ink != "muted"}
    assert strokes == {"good"}
    assert any("largest output difference" in text_of(each) for each in lines)


def test_without_differences_the_size_is_the_other_axis() -> None:
    assert any(text.endswith("MB") and text.split()[-2:-1] != ["="] for text in shown(UNCOMPARED))
    assert "Front of latency and size: fp32, int8; none is beaten." in shown(UNCOMPARED)


def test_of_several_units_the_glyph_is_the_units() -> None:
    ne = [msgspec.structs.replace(each, unit="CPU_AND_NE", p50_ms=each.p50_ms and 1.5) for each in VARIANTS.variants]
    lines = lines_of(FoundVariants(variants=[*VARIANTS.variants, *ne]), 116, 34)
    (legend,) = [text_of(each) for each in lines if text_of(each).startswith("P50 in ms")]
    assert legend.split()[3:] == ["●", "CPU_ONLY", "◆", "CPU_AND_NE", "─", "the", "front"]
    plot = "".join(text_of(each) for each in lines if "│" in text_of(each) or "┤" in text_of(each))
    assert (plot.count("●"), plot.count("◆")) == (3, 3)
