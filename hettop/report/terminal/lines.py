"""Lines of text made of spans, which charts and panels produce: texts with a role.

A span is a piece of text with an ink (`low`, `muted`, `error` …) that a widget resolves to a style. Nothing here knows
of colours or of Textual.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.cells import cell_len, set_cell_size

Span = tuple[str, str]
Line = tuple[Span, ...]

INKS = (
    "text",
    "muted",
    "strong",
    "edge",
    "edge-focus",
    "edge-alarm",
    "title",
    "low",
    "mid",
    "high",
    "accent",
    "good",
    "warning",
    "error",
    "active",
    "banner",
    "badge",
    "simulated",
)
"""Every ink a span may carry."""


_LONGEST_WORD = 16
"""Characters of a word that is left out as a whole where it does not fit."""


def line(*spans: Span) -> Line:
    """A line of the spans that have text."""
    return tuple(span for span in spans if span[0])


def text_of(spans: Line) -> str:
    """The text alone."""
    return "".join(text for text, _ in spans)


def width_of(spans: Line) -> int:
    """Terminal cells the line takes."""
    return sum(cell_len(text) for text, _ in spans)


def fit(spans: Line, width: int, fill: str = "text") -> Line:
    """The line cut or padded to exactly `width` cells; a cut is before a word where possible, and has an ellipsis."""
    room = width - width_of(spans)
    if room >= 0:
        return (*spans, (" " * room, fill)) if room else spans
    kept: list[Span] = []
    left = width - 1
    for text, ink in spans:
        cells = cell_len(text)
        if cells > left:
            head = _whole_words(text, max(0, left))
            kept += [(head + "…", ink), *([(" " * (left - cell_len(head)), fill)] if cell_len(head) < left else [])]
            break
        kept.append((text, ink))
        left -= cells
    return tuple(kept) if width > 0 else ()


def _whole_words(text: str, width: int) -> str:
    """At most `width` cells of `text`, without the last word if that would be cut and is not too long."""
    head = set_cell_size(text, width)
    if not text[len(head) : len(head) + 1].isalnum() or not head[-1:].isalnum():
        return head
    start = head.rfind(" ") + 1
    return head[:start].rstrip() if start and len(head) - start <= _LONGEST_WORD and head[:start].strip() else head


def runs(characters: Sequence[str], inks: Sequence[str]) -> Line:
    """One character and one ink per cell, joined to a span per run of equal inks."""
    spans = []
    start = 0
    for ink, group in groupby(inks):
        end = start + sum(1 for _ in group)
        spans.append(("".join(characters[start:end]), ink))
        start = end
    return tuple(spans)


def wrapped(text: str, width: int) -> list[str]:
    """`text` in lines of at most `width` cells, broken at blanks where there are any."""
    if width < 1:
        return []
    lines: list[str] = []
    current = ""
    for word in text.split(" "):
        joined = f"{current} {word}" if current else word
        if cell_len(joined) <= width:
            current = joined
            continue
        if current:
            lines.append(current)
        rest = word
        while cell_len(rest) > width:
            head = _head(rest, width)
            lines.append(head)
            rest = rest[len(head) :]
        current = rest
    return [*lines, current] if current else lines


def _head(text: str, width: int) -> str:
    """As many whole characters of `text` as fit, at least one so that callers come to an end."""
    taken = len(text)
    while taken > 1 and cell_len(text[:taken]) > width:
        taken -= 1
    return text[:taken]
