"""Draws the whole of a recording in three lines: the highest latency, P90 and P50 of each stretch of it.

Pure: bands and widths in, lines out. Each line has a scale of its own, from 0 to the number at its end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from hettop.format import milliseconds
from hettop.session.replay_views import Band
from hettop.tui.charts import glyphs
from hettop.tui.charts.lines import Line, fit, line, runs

_LEVELS = len(glyphs.EIGHTHS) - 1
# One spike of 100 times the usual would flatten all others to the ground: higher ones are cut, and shown to be.
_CLIP = 6.0


def draw_bands(bands: Sequence[Band | None], head: int, track: int, tail: int) -> list[Line]:
    """Three lines of `head` + `track` + `tail` cells; a stretch of which nothing is known stays empty."""
    shown = [*bands, *[None] * track][:track]
    return [
        _row("max", [None if band is None else band.max_ms for band in shown], "high", head, tail),
        _row("P90", [None if band is None else band.p90_ms for band in shown], "mid", head, tail),
        _row("P50", [None if band is None else band.p50_ms for band in shown], "low", head, tail),
    ]


def _row(name: str, values: Sequence[float | None], ink: str, head: int, tail: int) -> Line:
    known = [value for value in values if value is not None]
    top = min(max(known), _CLIP * median(known)) if known else 0.0
    characters = [" " if value is None else _glyph(value, top) for value in values]
    label = line((f"{name} ".rjust(head), ink))
    scale = line((f" {glyphs.UP}{milliseconds(top)} ms" if known else "", "muted"))
    return (*fit(label, head), *runs(characters, [ink] * len(characters)), *fit(scale, tail))


def _glyph(value: float, top: float) -> str:
    if value > top:
        return glyphs.CLIPPED
    return glyphs.EIGHTHS[max(1, min(_LEVELS, math.ceil(value / top * _LEVELS)))] if top > 0 else glyphs.EIGHTHS[1]
