"""Which cells of a line differ from what stands there: only they have to be sent.

Over a slow line the unchanged rest of a panel's line, with its colours, is most of what a frame would take.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hettop.tui.charts.glyphs import GLYPHS
from hettop.tui.charts.lines import Line, Span, text_of

# One cell each, surely: among other characters are such as take two, or none, and must not be cut in the middle.
_NARROW = re.compile(f"[ -~\u00b0-\u00ff{re.escape(GLYPHS)}]*").fullmatch


def changed_cells(old: Line, new: Line, width: int) -> tuple[int, int]:
    """The first cell that differs and the one after the last, of two lines of `width` cells that are not the same.

    All cells where it cannot be told for certain.
    """
    texts = text_of(old), text_of(new)
    if not all(len(text) == width and _NARROW(text) for text in texts):
        return 0, width
    return _alike(zip(old, new, strict=False)), width - _alike(zip(_mirrored(old), _mirrored(new), strict=False))


def _alike(pairs: Iterable[tuple[Span, Span]]) -> int:
    """How many cells are the same, up to the first that is not."""
    cells = 0
    for (text, ink), (other, other_ink) in pairs:
        if ink != other_ink:
            break
        if text != other:
            shorter = min(len(text), len(other))
            return cells + next((at for at in range(shorter) if text[at] != other[at]), shorter)
        cells += len(text)
    return cells


def _mirrored(spans: Line) -> Iterable[Span]:
    return ((text[::-1], ink) for text, ink in reversed(spans))
