"""Draws a unit's latency density as one line of bars, with its median: the violin strip.

Pure: densities between 0 and 1 in, spans out; all strips of a table share one axis so that they can be compared.
"""

from __future__ import annotations

from hettop.format import milliseconds
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, fit, line, runs
from hettop.report.terminal.scale import resampled

_LEVELS = len(glyphs.EIGHTHS) - 1
_FAINTEST = 0.004  # of the fullest column: below it a bar would claim more than one sample in a few hundred


def violin_strip(density: tuple[float, ...], median: float | None, width: int, ink: str = "low") -> Line:
    """`width` cells of density; `median` is its place on the axis, 0..1. Empty without samples."""
    shown = resampled(density, width)
    if not shown:
        return fit((), width)
    characters = [
        glyphs.EIGHTHS[max(1, min(_LEVELS, round(share * _LEVELS)))] if share > _FAINTEST else " " for share in shown
    ]
    inks = [ink] * width
    if median is not None and 0 <= median <= 1:
        column = min(width - 1, int(median * width))
        characters[column], inks[column] = glyphs.MEDIAN, "strong"
    return runs(characters, inks)


def violin_axis(low_ms: float, high_ms: float, width: int) -> Line:
    """The ends of the strips' common axis: `2.0 ─────── 9.8 ms`."""
    left, right = milliseconds(low_ms), f"{milliseconds(high_ms)} ms"
    rule = width - len(left) - len(right) - 2
    if rule < 1:
        return fit(line((right, "muted")), width)
    return line((f"{left} {glyphs.AXIS * rule} {right}", "muted"))
