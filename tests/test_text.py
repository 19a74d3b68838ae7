"""Cleaning text that came from outside, before a terminal sees it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.text import REPLACEMENT, UNSAFE_CATEGORIES, clean, safe


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("\x1b[31mred", "�[31mred"),
        ("\x9b31mred", "�31mred"),
        ("two\nlines\r", "two�lines�"),
        ("tab\there", "tab�here"),
        ("abc\u202edcba", "abc�dcba"),
        ("zero\u200bwidth", "zero�width"),
        ("line\u2028separator", "line�separator"),
        ("lone \ud800 half", "lone � half"),
        ("private \ue000 use", "private � use"),
        ("nul\x00", "nul�"),
    ],
)
def test_characters_that_steer_a_terminal_or_lie_about_order_are_replaced(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@pytest.mark.parametrize("text", ["", "MobileNetV2", "größer als 30 µs", "モデル", "[bold]not markup[/bold]", "🦔"])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


def test_long_text_is_cut_and_says_so() -> None:
    assert clean("a" * 201) == "a" * 199 + "…"
    assert clean("a" * 200) == "a" * 200
    assert clean("abcdef", 4) == "abc…"


def test_a_sentence_of_ours_is_cleaned_and_not_cut() -> None:
    assert safe("a\x1b" + "b" * 999) == "a\ufffd" + "b" * 999


@given(st.text(st.characters(codec=None)), st.integers(1, 300))
def test_whatever_comes_in_what_comes_out_is_safe_and_short(text: str, limit: int) -> None:
    cleaned = clean(text, limit)
    assert len(cleaned) <= limit
    assert not any(unicodedata.category(character) in UNSAFE_CATEGORIES for character in cleaned)
    assert clean(cleaned, limit) == cleaned
    assert [a for a, b in zip(cleaned, text, strict=False) if a not in (b, REPLACEMENT, "…")] == []
