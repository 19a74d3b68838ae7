"""Time by layer on the screen: the sentence, the stacked bar, the table, on narrow and on wide terminals."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.events import FoundLayer, FoundLayers, Study
from hettop.report.terminal import glyphs
from hettop.report.terminal.glyphs import to_ascii
from hettop.report.terminal.lines import INKS, text_of, width_of
from hettop.tui.studies import answer
from tests.session.inside import EMPTY, ESTIMATED, EXPAND, LAYERS

HOSTILE = FoundLayers(
    unit="CPU_ONLY\x1b[2J",
    total_ms=1.0,
    end_to_end_ms=1.0,
    by_op={"\x1b]0;op": 0.6, "漢字" * 30: 0.4},
    layers=[
        FoundLayer("\x1b[31m\u202eevil" + "x" * 150, "\x1b]0;op", 0.6, 0.6, bound="\x9b", device="\u200bNE"),
        FoundLayer("漢字" * 60, "漢字" * 30, 0.4, 0.4, 2**52, 2**52, bound="memory"),
    ],
    rest_n=3,
    notes=["\x1b[31mred", "a note " * 25],
)


def shown(found: FoundLayers, width: int, height: int) -> list[str]:
    study = Study(t=1, name="layers", state="done", elapsed_ns=1, found=found)
    return [text_of(each).rstrip() for each in answer(study, width, height)]


def row(texts: list[str], name: str) -> str:
    return next(text for text in texts if text[2:].startswith(name))


@pytest.mark.parametrize(("width", "height"), [(76, 18), (116, 34), (196, 54), (20, 5), (1, 1)])
@pytest.mark.parametrize("found", [LAYERS, ESTIMATED, EMPTY, HOSTILE])
def test_every_line_fits_and_no_text_reaches_the_terminal_raw(found: FoundLayers, width: int, height: int) -> None:
    study = Study(t=1, name="layers", state="done", elapsed_ns=1, found=found)
    lines = answer(study, width, height)
    assert {width_of(each) for each in lines} <= {width}
    assert {ink for each in lines for _, ink in each} <= set(INKS)
    assert not any(character in text_of(each) for each in lines for character in "\x1b\x9b\u202e\u200b")


def test_the_sentence_comes_first_then_the_shares_then_the_table() -> None:
    texts = shown(LAYERS, 76, 18)
    assert texts[0] == "Conv and Gemm take 96% of the time (80% and 16%)."
    stack = next(i for i, text in enumerate(texts) if text.startswith(glyphs.FULL))
    # 76 cells: .8, .16 and .04 of them.
    assert [texts[stack].count(glyph) for glyph in (glyphs.FULL, glyphs.SHADE, glyphs.DENSE)] == [61, 12, 3]
    assert texts[stack + 1] == "█ Conv 80%   ▒ Gemm 16%   ▓ Pool 4.0%"
    assert "layer" in texts[stack + 3]


def test_a_row_tells_time_share_work_and_bound_and_the_largest_are_marked() -> None:
    texts = shown(LAYERS, 76, 18)
    words = row(texts, "expand").split()
    assert words[:4] == ["▸", "expand", "0.500", "40%"]
    assert words[-4:] == ["10.0M", "■", "compute", "Conv"]
    longest, shorter = words[4].count(glyphs.FULL), row(texts, "logits").count(glyphs.FULL)
    assert longest > shorter == int(0.4 * longest), ".2 ms are two fifths of .5"
    assert not row(texts, "pool").startswith("▸")
    assert [text.split()[:2] for text in texts if text.startswith("  all")] == [["all", "4"]]
    assert row(texts, "a call end").split()[-2:] == ["1.00", "80%"], "of the layers' sum"


def test_the_profile_is_drawn_where_there_is_room() -> None:
    low, tall = shown(LAYERS, 116, 18), shown(LAYERS, 116, 34)
    assert not any("as it runs, from" in text for text in low)
    at = next(i for i, text in enumerate(tall) if "as it runs, from" in text)
    assert "the highest is 0.500 ms" in tall[at]
    # Four lines of eighths, two cells a layer and a gap: .5 ms is full, .2 ms 12.8 -> 13 eighths, .05 3.2 -> 4.
    assert tall[at + 1] == "██ ██"
    assert tall[at + 3] == "██ ██ ▅▅"
    assert tall[at + 4] == "██ ██ ██ ▄▄"


def test_an_estimate_is_said_to_be_one_and_what_falls_back_is_marked() -> None:
    texts = shown(ESTIMATED, 76, 18)
    assert texts[0].startswith(" ESTIMATED ")
    assert row(texts, "odd").split()[-3:] == ["CPU", "✗", "fallback"]
    assert "fallback" not in row(texts, "stem")
    assert not any("a call end to end" in text for text in texts), "the layers' times are parts of it"


def test_what_is_left_out_is_counted() -> None:
    texts = shown(msgspec.structs.replace(LAYERS, rest_n=12, rest_ms=0.125), 76, 18)
    assert row(texts, "12 smaller layers").split()[-2:] == ["0.125", "10%"]
    assert row(texts, "all 16 layers").split()[-2:] == ["1.25", "100%"]


def test_many_types_of_operation_end_in_one_part() -> None:
    found = msgspec.structs.replace(LAYERS, by_op={f"Op{i}": 0.125 for i in range(8)})
    texts = shown(found, 116, 18)
    assert any("· 4 others 50%" in text for text in texts)


def test_every_type_that_is_named_has_a_glyph_of_its_own_in_ascii_too() -> None:
    found = msgspec.structs.replace(LAYERS, by_op={"Conv": 0.6, "Gemm": 0.2, "Add": 0.1, "Pool": 0.06, "Flatten": 0.04})
    legend = next(text for text in shown(found, 116, 18) if "Flatten" in text and "Gemm" in text)
    for words in (legend, to_ascii(legend)):
        marks = [entry.split()[0] for entry in words.split("   ")]
        assert len(set(marks)) == 5, words
    assert "· Flatten 4.0%" in legend, "one type more than there are glyphs is named, not counted"


def test_one_layer_alone_is_drawn() -> None:
    found = FoundLayers(unit="CPU_ONLY", total_ms=0.5, end_to_end_ms=0.6, by_op={"Conv": 1.0}, layers=[EXPAND])
    texts = shown(found, 76, 18)
    assert texts[0] == "Conv takes 100% of the time."
    assert row(texts, "expand").startswith("  expand")


def test_layers_of_which_nothing_is_known_but_their_time_have_no_empty_columns() -> None:
    found = FoundLayers(
        unit="CPU_ONLY", total_ms=1.0, end_to_end_ms=1.0, by_op={"A": 1.0}, layers=[FoundLayer("a", "A", 1.0, 1.0)]
    )
    heading = next(text for text in shown(found, 76, 18) if text.startswith("  layer"))
    assert heading.split() == ["layer", "ms", "share"]


def test_the_cache_is_a_column_only_where_it_tells_layers_apart() -> None:
    def column(*resident: bool | None) -> bool:
        layers = [msgspec.structs.replace(EXPAND, cache_resident=each) for each in resident]
        texts = shown(msgspec.structs.replace(LAYERS, layers=layers), 116, 18)
        return any(text.startswith("  layer") and "cache" in text for text in texts)

    assert column(True, False)
    assert not column(True, True)
    assert not column(None, None)


def test_on_a_terminal_of_ascii_parts_and_bounds_are_told_apart() -> None:
    texts = [to_ascii(text) for text in shown(LAYERS, 76, 18)]
    assert "# Conv 80%   % Gemm 16%   @ Pool 4.0%" in texts
    assert row(texts, "expand").split()[-3:-1] == ["#", "compute"]
    assert row(texts, "depthwise").split()[-3:-1] == ["=", "memory"]


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=64), st.integers(1, 130), st.integers(1, 60))
def test_any_times_are_drawn(times: list[float], width: int, height: int) -> None:
    total = sum(times)
    layers = [FoundLayer(f"l{i}", "Op", ms, min(1.0, ms / total) if total else 0.0) for i, ms in enumerate(times)]
    found = FoundLayers(unit="U", total_ms=total, end_to_end_ms=total, by_op={"Op": 1.0}, layers=layers)
    study = Study(t=1, name="layers", state="done", elapsed_ns=1, found=found)
    assert {width_of(each) for each in answer(study, width, height)} == {width}
