"""Lines of spans keep their width, whatever text they hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hettop.report.terminal.glyphs import to_ascii
from hettop.report.terminal.lines import fit, line, runs, text_of, width_of, wrapped

TEXT = st.text(alphabet="ab 漢字éü✗▶", max_size=30)


@given(st.lists(TEXT, max_size=4), st.integers(min_value=0, max_value=40))
def test_a_fitted_line_takes_exactly_its_width(texts: list[str], width: int) -> None:
    assert width_of(fit(tuple((text, "text") for text in texts), width)) == width


def test_a_cut_is_shown() -> None:
    assert text_of(fit((("measuring", "text"), (" CPU_ONLY", "strong")), 12)) == "measuring C…"


def test_a_wide_character_is_not_cut_in_half() -> None:
    assert text_of(fit((("漢字漢", "text"),), 4)) == "漢 …"


def test_runs_join_equal_neighbours() -> None:
    assert runs("abcd", ["low", "low", "high", "low"]) == (("ab", "low"), ("c", "high"), ("d", "low"))


def test_empty_spans_are_left_out() -> None:
    assert line(("", "text"), ("x", "low"), ("", "low")) == (("x", "low"),)


def test_words_wrap_at_blanks_and_long_words_are_broken() -> None:
    assert wrapped("the plan could not be compiled", 10) == ["the plan", "could not", "be", "compiled"]
    assert wrapped("abcdefghij kl", 4) == ["abcd", "efgh", "ij", "kl"]
    assert wrapped("", 10) == []


@given(TEXT, st.integers(min_value=2, max_value=12))
def test_wrapped_lines_fit_and_keep_every_character(text: str, width: int) -> None:
    rows = wrapped(text, width)
    assert all(cell_len(row) <= width for row in rows)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


@given(st.text(max_size=40))
def test_ascii_lines_hold_ascii_only(text: str) -> None:
    assert to_ascii(text).isascii()


def test_bars_keep_their_order_of_height_in_ascii() -> None:
    assert to_ascii("▁▃▅█▒") == "_;=#%"
