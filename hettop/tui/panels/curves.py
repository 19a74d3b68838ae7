"""Curves over time for the panels of power and machine: a line of dots in braille, an area of blocks elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hettop.format import seconds
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, fit, line
from hettop.stats.axes import resampled
from hettop.tui.canvas import Canvas

_LEVELS = len(glyphs.EIGHTHS) - 1
_ABSENT = -1.0


def curve(slots: Sequence[float | None], top: float, columns: int, rows: int, *, braille: bool) -> list[str]:
    """`rows` texts of `columns` cells: the values from 0 to `top`, oldest first; a gap where nothing was measured.

    One row is drawn as bars, which have more levels than braille has dots in a row.
    """
    if columns < 1 or rows < 1:
        return [""] * max(rows, 0)
    if rows == 1:
        return [bars(slots, top, columns)]
    canvas = Canvas(columns, rows, braille=braille)
    values = _spread(slots, min(len(slots), canvas.wide))
    places = [(at * canvas.wide + canvas.wide // 2) // len(values) for at in range(len(values))]
    points = [
        None if value < 0 else (x, min(canvas.high - 1, round(value / top * (canvas.high - 1))))
        for x, value in zip(places, values, strict=True)
    ]
    if not braille:
        _fill(canvas, points)
    else:
        for x, y in filter(None, points):
            canvas.dot(x, y)
        for before, after in pairwise(points):
            if before is not None and after is not None:
                canvas.line(*before, *after)
    return ["".join(cells) for cells in canvas.lines()]


def bars(slots: Sequence[float | None], top: float, columns: int) -> str:
    """One cell per slot. At least the lowest bar: 0 is a bar, too, and not a gap."""
    values = _spread(slots, columns)
    return "".join(" " if value < 0 else glyphs.EIGHTHS[level(value / top)] for value in values).ljust(columns)


def level(share: float) -> int:
    """The eighths of a cell for a share of it, at least one."""
    return min(_LEVELS, max(1, round(share * _LEVELS)))


def time_axis(span_ns: int, columns: int) -> Line:
    """How long ago the left end is: `-30 s ─────── now`."""
    ago, now = f"-{seconds(span_ns)} ", " now"
    rule = columns - len(ago) - len(now)
    return fit(line((f"{ago}{glyphs.AXIS * rule}{now}" if rule > 0 else now, "muted")), columns)


def _spread(slots: Sequence[float | None], columns: int) -> tuple[float, ...]:
    return resampled(tuple(_ABSENT if value is None else value for value in slots), columns)


def _fill(canvas: Canvas, points: Sequence[tuple[int, int] | None]) -> None:
    """The area below the points, each as wide as its part of the canvas."""
    for at, point in enumerate(points):
        if point is not None:
            for x in range(at * canvas.wide // len(points), (at + 1) * canvas.wide // len(points)):
                canvas.column(x, point[1] + 1)
