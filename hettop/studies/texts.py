"""Texts and numbers of a document, as a line of the stream may hold them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hettop.events import TEXT_LIMIT
from hettop.text import clean

MOST_NOTES = 16
DIGITS = 6
"""That a number is kept with: a keyframe repeats all of them every few seconds."""


def short(text: object, longest: int = TEXT_LIMIT) -> str | None:
    """Cleaned, and cut where it is too long; None stays None."""
    return None if text is None else clean(str(text), longest)


def notes(texts: Iterable[object]) -> list[str]:
    return [clean(str(text), TEXT_LIMIT) for text in list(texts)[:MOST_NOTES]]


def number(value: Any) -> float | None:
    """With six significant digits; None stays None."""
    return None if value is None else float(f"{value:.{DIGITS}g}")
