"""The roofline on the screen: points where their intensity and rate say, under the roofs, and the layers that lose."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.events import FoundLayer, FoundLayers, FoundRoofs, Study
from hettop.report.terminal import glyphs
from hettop.report.terminal.glyphs import to_ascii
from hettop.report.terminal.lines import INKS, Line, text_of, width_of
from hettop.tui.studies import answer
from tests.session.inside import EMPTY, ESTIMATED, LAYERS, POOL, ROOFLINE, ROOFS

HOSTILE = FoundLayers(
    unit="CPU_ONLY",
    total_ms=1.0,
    end_to_end_ms=1.0,
    layers=[
        FoundLayer("\x1b[31m\u202eevil" + "x" * 150, "op", 0.6, 0.6, 10**6, 10**6, bound="\x9b[2J"),
        FoundLayer("漢字" * 60, "op", 0.4, 0.4, 2**52, 2**52, bound="memory"),
    ],
    roofs=FoundRoofs(gflops=1e12, gbytes_per_s=1e-12, measured=False, source="\x1b]0;a paper"),
    rest_n=3,
    notes=["\x1b[31mred"],
)


def drawn(found: FoundLayers, width: int, height: int) -> list[Line]:
    return answer(Study(t=1, name="roofline", state="done", elapsed_ns=1, found=found), width, height)


def shown(found: FoundLayers, width: int, height: int) -> list[str]:
    return [text_of(each).rstrip() for each in drawn(found, width, height)]


def place_of(glyph: str, lines: list[Line]) -> tuple[int, int]:
    """Row from above and column of the plane's point that is this glyph and nothing else."""
    for row, spans in enumerate(lines):
        column = 0
        for text, ink in spans:
            if text.strip() == glyph and spans[0][0][-1:] in "│┤" and ink in {"low", "mid", "strong"}:
                return row, column
            column += len(text)
    raise AssertionError(f"no {glyph} in the plane")


@pytest.mark.parametrize(("width", "height"), [(76, 18), (116, 34), (196, 54), (20, 5), (1, 1)])
@pytest.mark.parametrize("found", [ROOFLINE, LAYERS, ESTIMATED, EMPTY, HOSTILE])
def test_every_line_fits_and_no_text_reaches_the_terminal_raw(found: FoundLayers, width: int, height: int) -> None:
    lines = drawn(found, width, height)
    assert {width_of(each) for each in lines} <= {width}
    assert {ink for each in lines for _, ink in each} <= set(INKS)
    assert not any(character in text_of(each) for each in lines for character in "\x1b\x9b\u202e\u200b")


def test_the_sentence_comes_first_and_the_plane_is_in_sight() -> None:
    texts = shown(ROOFLINE, 76, 18)
    assert texts[0] == "The whole model reaches 24.0 of 100 GFLOP/s (24%)."
    at = next(i for i, text in enumerate(texts) if text.startswith("GFLOP/s"))
    assert texts[at].endswith("◆ model  1-2 lose most  ● 5% of the time or more")
    foot = next(i for i, text in enumerate(texts) if "MACs/B" in text and "ridge" not in text)
    assert foot < 18
    assert any("100 GFLOP/s" in text for text in texts[at : foot + 1])
    assert any("10.0 GB/s" in text for text in texts[at : foot + 1])
    assert any("ridge 5.00 MACs/B" in text for text in texts[at : foot + 1])


def test_points_stand_by_their_intensity_and_rate() -> None:
    lines = drawn(ROOFLINE, 116, 34)
    # depthwise (1): 1 MAC/B and 4 GFLOP/s; expand (2): 10 and 40; the model: 10 and 24; logits: .25 and 10.
    depthwise, expand, model, logits = (place_of(glyph, lines) for glyph in ("1", "2", "◆", "●"))
    assert logits[1] < depthwise[1] < expand[1] == model[1]
    assert expand[0] < model[0] < logits[0] < depthwise[0]
    # The axis is logarithmic: from .25 to 1 MACs/B is 3/5 as far as from 1 to 10 (log 4 / log 10 = .602).
    assert (depthwise[1] - logits[1]) / (expand[1] - depthwise[1]) == pytest.approx(0.602, abs=0.04)


def test_layers_have_the_colour_of_the_roof_that_limits_them() -> None:
    lines = drawn(ROOFLINE, 116, 34)
    inks = {text: ink for each in lines for text, ink in each if text in {"1", "2", "●", "◆"}}
    assert (inks["1"], inks["2"]) == ("mid", "low")
    roofs = {ink for each in lines for text, ink in each if "─" in text and ink in {"low", "mid"}}
    assert roofs == {"low", "mid"}


def test_the_table_has_what_loses_most_first_with_what_it_reaches() -> None:
    texts = shown(ROOFLINE, 116, 34)
    at = next(i for i, text in enumerate(texts) if text.startswith("   layer"))
    assert texts[at].split() == ["layer", "ms", "lost", "ms", "GFLOP/s", "roof", "of", "it", "bound"]
    assert texts[at + 1].split()[:9] == ["1", "depthwise", "0.500", "0.400", "4.00", "20.0", "20%", "≡", "memory"]
    assert texts[at + 2].split()[:9] == ["2", "expand", "0.500", "0.300", "40.0", "100", "40%", "■", "compute"]
    # A fifth and two fifths of twelve cells.
    assert [texts[at + i].count(glyphs.FULL) for i in (1, 2)] == [2, 5]
    assert texts[at + 3] == "", "logits is above its roof and loses nothing"


def test_what_is_not_in_the_plot_is_counted() -> None:
    texts = "\n".join(shown(msgspec.structs.replace(ROOFLINE, rest_n=2, rest_ms=0.03), 116, 34))
    assert "1 layer without MACs, 0.0500 ms, not in the plot" in texts
    assert "2 smaller layers, 0.0300 ms, not in the plot" in texts
    assert "all layers fit in the last-level cache" in texts


def test_more_losers_than_rows_are_summed_up() -> None:
    slow = [FoundLayer(f"l{i}", "Conv", 1.0, 0.05, 10_000_000, 1_000_000) for i in range(20)]
    texts = shown(msgspec.structs.replace(ROOFLINE, layers=slow), 116, 34)
    # Each takes 1 ms where .2 would do; eight are not in the table.
    assert "   8 more lose 6.40 ms together" in texts


def test_without_roofs_it_says_why_and_draws_nothing() -> None:
    texts = shown(ESTIMATED, 76, 18)
    assert texts[0].startswith("There are no roofs: a plan estimated")
    assert not any("GFLOP/s" in text for text in texts)


def test_without_a_layer_that_works_there_is_no_plane() -> None:
    texts = shown(msgspec.structs.replace(ROOFLINE, layers=[POOL], whole=None), 76, 18)
    assert any("No layer has both MACs and a time" in text for text in texts)
    assert not any("│" in text for text in texts)


def test_published_roofs_are_said_to_be_published_with_their_source() -> None:
    published = FoundRoofs(gflops=100.0, gbytes_per_s=10.0, measured=False, source="a paper, table 2")
    texts = shown(msgspec.structs.replace(ROOFLINE, roofs=published), 76, 18)
    assert texts[0].startswith(" PUBLISHED ")
    assert any("as published: a paper, table 2" in text for text in texts)
    assert ROOFS.measured


def test_on_a_terminal_of_ascii_the_roofs_and_points_are_there() -> None:
    texts = [to_ascii(text) for text in shown(ROOFLINE, 76, 18)]
    assert any("*" in text and "model" in text for text in texts)
    assert any("..--'" in text or "--''" in text for text in texts)


@given(
    st.lists(st.tuples(st.floats(1e-9, 1e12), st.integers(0, 2**53), st.integers(0, 2**53)), min_size=1, max_size=20),
    st.floats(0, 1e12),
    st.floats(0, 1e12),
    st.integers(1, 130),
    st.integers(1, 60),
)
def test_any_layers_are_drawn(
    layers: list[tuple[float, int, int]], gflops: float, rate: float, width: int, height: int
) -> None:
    found = FoundLayers(
        unit="U",
        total_ms=1.0,
        end_to_end_ms=1.0,
        layers=[FoundLayer(f"l{i}", "Op", ms, 0.0, macs, size) for i, (ms, macs, size) in enumerate(layers)],
        roofs=FoundRoofs(gflops=gflops, gbytes_per_s=rate),
    )
    assert {width_of(each) for each in drawn(found, width, height)} == {width}


def test_near_the_ridge_is_told_by_a_glyph_and_explained() -> None:
    first, *rest = ROOFLINE.layers
    near = msgspec.structs.replace(ROOFLINE, layers=[msgspec.structs.replace(first, bound="ridge"), *rest])
    text = "\n".join(shown(near, 116, 34))
    assert f"{glyphs.RISING} ridge" in text
    assert f"{glyphs.RISING} near the ridge: either may limit" in text
    assert "near the ridge" not in "\n".join(shown(ROOFLINE, 116, 34))
