"""A plane with two axes, linear or logarithmic, on which points, lines and words are drawn by their values.

Pure: values in, lines of spans out. What a point means, and its glyph and ink, is for whoever draws it to say.

    plane = Plane(76, 14, Axis.around(batches, "batch"), Axis.around(rates, "items/s", from_zero=True))
    plane.line(list(zip(batches, rates)), ink="low")
    plane.point(8, 512.0, glyphs.RECORD, "good")
    plane.note(8, 512.0, "knee", "good")
    plane.legend(glyphs.RECORD, "CPU_ONLY", "low")
    shown = plane.lines()
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from rich.cells import cell_len

from hettop.format import short_count
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, fit, line, runs, width_of
from hettop.stats.axes import span_of, ticks

ROOM = 0.04
"""Of an axis, left free on both sides of the outermost values."""

_LOWEST_PLAIN, _HIGHEST_PLAIN = 1e-4, 1e4  # beyond, a label has an exponent or a letter
_STEPS = ((1,), (1, 3), (1, 2, 5))  # within a decade, as many as find room
_TICK_ROWS = 2
_GAP = 2  # blanks between two labels
_NARROWEST_GUTTER = 4
_NARROWEST_WITH_GUTTER = 24
_LOWEST_WITH_TITLE, _LOWEST_WITH_NAME = 5, 9  # lines
_MIDDLE = (0.28, 0.72)  # a stroke within a cell: below, amid or above, whichever glyph is nearest
_UPRIGHT = 2  # cells are twice as high as wide: a line that climbs more a column looks upright

Cell = tuple[int, int]
"""Row from above and column."""


@dataclass(frozen=True, slots=True)
class Axis:
    """`low` to `high` of what `label` says, with its unit. `marks`: values to label instead of round ones."""

    low: float
    high: float
    label: str = ""
    log: bool = False
    marks: tuple[float, ...] = ()

    @classmethod
    def around(
        cls,
        values: Iterable[float],
        label: str = "",
        *,
        log: bool | None = None,
        from_zero: bool = False,
        marks: Sequence[float] = (),
    ) -> Self:
        """Wide enough for all values, with some room: see `span_of`."""
        span = span_of(values, ROOM, log=log, from_zero=from_zero)
        return cls(span.low, span.high, label, span.log, tuple(marks))

    def share(self, value: float) -> float | None:
        """Where it lies between `low` (0) and `high` (1); None for what is not on the axis."""
        if not math.isfinite(value) or self.high <= self.low or (self.log and min(value, self.low) <= 0):
            return None
        low, high, at = (math.log(each) if self.log else each for each in (self.low, self.high, value))
        if high <= low:  # two neighbours have the same logarithm
            return None
        share = (at - low) / (high - low)
        return min(1.0, max(0.0, share)) if -1e-9 <= share <= 1 + 1e-9 else None

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """About so many values with their labels, ascending; where there are `marks`, these instead."""
        if self.marks:
            return [(value, plain(value)) for value in self.marks if self.share(value) is not None]
        if not self.log:
            return self._even(most)
        for steps in reversed(_STEPS):
            found = self._within_decades(steps)
            if 2 <= len(found) <= max(2, most):
                return [(value, plain(value)) for value in found]
        powers = self._within_decades((1,))
        if len(powers) > most:
            return [(value, plain(value)) for value in powers[:: math.ceil(len(powers) / max(1, most))]]
        return self._even(most)  # less than a decade

    def _even(self, most: int) -> list[tuple[float, str]]:
        found = ticks(self.low, self.high, most)
        return found if abs(self.high) < _HIGHEST_PLAIN else [(value, plain(value)) for value, _ in found]

    def _within_decades(self, steps: Sequence[int]) -> list[float]:
        if self.low <= 0 or self.high <= self.low:
            return []
        exponents = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        found = (step * 10.0**exponent for exponent in exponents for step in steps)
        return [value for value in found if self.share(value) is not None]


class Plane:
    """`width` x `height` cells, axes and labels included. What lies beyond the axes is not drawn."""

    def __init__(self, width: int, height: int, x: Axis, y: Axis) -> None:
        self._width, self._height = max(0, width), max(0, height)
        self._x, self._y = x, y
        self._title = self._height >= _LOWEST_WITH_TITLE
        foot = 0 if self._height < 4 else 2
        self.rows = max(0, self._height - self._title - foot)
        upright = y.ticks(max(1, self.rows // _TICK_ROWS))
        widest = max((len(label) for _, label in upright), default=0)
        self._gutter = max(_NARROWEST_GUTTER, widest) + 2 if self._width >= _NARROWEST_WITH_GUTTER else 0
        self.columns = max(0, self._width - self._gutter)
        self._named = self._foot_with_name(foot)
        self.rows -= self._named
        self._under: dict[Cell, tuple[str, str]] = {}
        self._over: dict[Cell, tuple[str, str]] = {}
        self._notes: list[tuple[float, float, str, str]] = []
        self._legend: list[tuple[str, str, str]] = []

    def point(self, x: float, y: float, glyph: str, ink: str) -> None:
        """Over all lines, and over earlier points."""
        cell = self._cell(x, y)
        if cell is not None:
            self._over[cell] = (glyph, ink)

    def line(self, points: Sequence[tuple[float, float]], glyph: str = "", ink: str = "edge") -> None:
        """Straight from point to point, on the axes as they are; without a glyph, strokes that lean as the line does.

        A line ends at a point that is not on the axes, and goes on from the next that is.
        """
        places = [self._place(*point) for point in points]
        for begin, end in pairwise(places):
            if begin is not None and end is not None and self.rows and self.columns:
                cells = self._stroke(begin, end, glyph)
                self._under.update((cell, (shown, ink)) for cell, shown in cells)

    def note(self, x: float, y: float, text: str, ink: str = "muted") -> None:
        """Words beside a place, where they cover no point; left out where there is no room."""
        self._notes.append((x, y, text, ink))

    def legend(self, glyph: str, text: str, ink: str) -> None:
        """What a glyph means, above the plane at the right; the last ones are left out where there is no room."""
        self._legend.append((glyph, text, ink))

    def lines(self) -> list[Line]:
        """Exactly `height` lines of `width` cells."""
        if not self._width or not self._height:
            return []
        drawn = [self._heading()] if self._title else []
        labels = self._upright_labels()
        cells = {**self._under, **self._over, **self._words()}
        drawn += [self._row(row, labels.get(row, ""), cells) for row in range(self.rows)]
        if self._height >= 4:
            drawn += self._foot()
        return [fit(each, self._width) for each in drawn[: self._height]]

    def _place(self, x: float, y: float) -> tuple[float, float] | None:
        """In cells from the left and from below, before they are cut to whole ones."""
        across, upright = self._x.share(x), self._y.share(y)
        return None if across is None or upright is None else (across * self.columns, upright * self.rows)

    def _cell(self, x: float, y: float) -> Cell | None:
        place = self._place(x, y)
        return None if place is None or not self.rows or not self.columns else self._whole(*place)

    def _whole(self, across: float, upright: float) -> Cell:
        return self.rows - 1 - min(math.floor(upright), self.rows - 1), min(math.floor(across), self.columns - 1)

    def _heading(self) -> Line:
        """The name of the upright axis, and the legend."""
        name = line((self._y.label, "muted"))
        shown: Line = ()
        for glyph, text, ink in self._legend:
            longer = line(*shown, ("  ", "text"), (glyph, ink), (f" {text}", "muted"))
            if width_of(name) + width_of(longer) > self._width:
                break
            shown = longer
        return line(*fit(name, self._width - width_of(shown)), *shown)

    def _upright_labels(self) -> dict[int, str]:
        labels: dict[int, str] = {}
        for value, label in self._y.ticks(max(1, self.rows // _TICK_ROWS)):
            share = self._y.share(value)
            if share is not None and self.rows:
                labels.setdefault(self._whole(0, share * self.rows)[0], label)
        return labels

    def _row(self, row: int, label: str, cells: dict[Cell, tuple[str, str]]) -> Line:
        shown = [cells.get((row, column), (" ", "text")) for column in range(self.columns)]
        joint = glyphs.AXIS_TICK if label else glyphs.AXIS_UP
        head = f"{label:>{self._gutter - 2}} {joint}" if self._gutter else ""
        return line((head, "muted"), *runs([glyph for glyph, _ in shown], [ink for _, ink in shown]))

    def _labelled(self, end: int) -> list[tuple[int, int, str]]:
        """Ticks across, as far as their labels find room before column `end`: column, begin of the label, label."""
        widest = max((len(label) for _, label in self._x.ticks(4)), default=1)
        found: list[tuple[int, int, str]] = []
        free = -self._gutter
        for value, label in self._x.ticks(max(2, self.columns // (widest + 2 * _GAP))):
            share = self._x.share(value)
            if share is None or not self.columns:
                continue
            column = min(math.floor(share * self.columns), self.columns - 1)
            begin = max(-self._gutter, min(column - len(label) // 2, end - len(label)))
            beside = abs(begin + len(label) // 2 - column) > len(label)  # of its tick, for it is pushed inside
            if free <= begin <= end - len(label) and not beside:
                found.append((column, begin, label))
                free = begin + len(label) + _GAP
        return found

    def _foot_with_name(self, foot: int) -> bool:
        """Whether the name of the axis across needs a line of its own: beside it a label would be lost."""
        end = self.columns - cell_len(self._x.label) - _GAP
        return (
            bool(foot and self._x.label)
            and self._height >= _LOWEST_WITH_NAME
            and len(self._labelled(end)) < len(self._labelled(self.columns))
        )

    def _foot(self) -> list[Line]:
        name = self._x.label
        beside = bool(name) and not self._named
        labelled = self._labelled(self.columns - cell_len(name) - _GAP if beside else self.columns)
        axis, room = [glyphs.AXIS] * self.columns, [" "] * self._width
        for column, begin, label in labelled:
            axis[column] = glyphs.AXIS_DOWN
            room[self._gutter + begin : self._gutter + begin + len(label)] = label
        head = f"{glyphs.AXIS_CORNER:>{self._gutter}}" if self._gutter else ""
        rows = [line((head + "".join(axis), "muted"))]
        last = max((begin + len(label) for _, begin, label in labelled), default=-self._gutter)
        blank = self._width - cell_len(name)
        if beside and blank >= self._gutter + last + 1:
            return [*rows, line(("".join(room[:blank]), "muted"), (name, "muted"))]
        rows.append(line(("".join(room[: self._width]), "muted")))
        return [*rows, line((" " * max(0, blank), "text"), (name, "muted"))] if self._named else rows

    def _words(self) -> dict[Cell, tuple[str, str]]:
        """The cells of all notes: at the right of its place, else left, above or below; rather over no line."""
        words: dict[Cell, tuple[str, str]] = {}
        for x, y, text, ink in self._notes:
            at, letters = self._cell(x, y), _in_cells(text)
            if at is None or not letters:
                continue
            clear = self._clear(at, len(letters), {*self._under, *self._over, *words})
            room = clear or self._clear(at, len(letters), {*self._over, *words})
            words.update(zip(room, ((letter, ink) for letter in letters), strict=False))
        return words

    def _clear(self, at: Cell, size: int, taken: set[Cell]) -> list[Cell]:
        """So many cells beside `at` that nothing has taken, nor the one before and after; else none."""
        row, column = at
        middle = min(max(0, column - size // 2), max(0, self.columns - size))
        for top, left in ((row, column + 2), (row, column - size - 1), (row - 1, middle), (row + 1, middle)):
            room = [(top, left + place) for place in range(size)]
            around = {(top, left - 1), *room, (top, left + size)} - {at}
            if 0 <= top < self.rows and left >= 0 and left + size <= self.columns and not around & taken:
                return room
        return []

    def _stroke(self, begin: tuple[float, float], end: tuple[float, float], glyph: str) -> Iterator[tuple[Cell, str]]:
        """The cells of a straight line between two places: one for each column, or for each row where it is steep."""
        (left, low), (right, high) = sorted((begin, end))
        across, up = right - left, high - low
        if abs(up) <= across or not up:
            for column in range(math.floor(left), max(math.ceil(right), math.floor(left) + 1)):
                upright = low + (up * (min(max(column + 0.5, left), right) - left) / across if across else 0.0)
                cell = self._whole(column, upright)
                yield cell, glyph or _leaning(upright - (self.rows - 1 - cell[0]))
            return
        leaning = glyphs.RISING if up > 0 else glyphs.FALLING
        shown = glyph or (glyphs.AXIS_UP if _UPRIGHT * across < abs(up) else leaning)
        bottom, top = min(low, high), max(low, high)
        for row in range(math.floor(bottom), math.ceil(top)):
            yield self._whole(left + across * (min(max(row + 0.5, bottom), top) - low) / up, row), shown


def plain(value: float) -> str:
    """A label without noise: `0.01`, `2.5`, `1000`, `20k`."""
    size = abs(value)
    if size >= _HIGHEST_PLAIN:
        return short_count(round(value)).replace(".0", "")
    return f"{value:.6g}" if not size or size >= _LOWEST_PLAIN else f"{value:.0e}"


def _in_cells(text: str) -> list[str]:
    """One entry a cell: a wide character takes two, of which the second is empty."""
    found: list[str] = []
    for letter in text:
        size = cell_len(letter)
        if not size and found:
            found[-1] += letter
        elif size:
            found += [letter, *[""] * (size - 1)]
    return found


def _leaning(height: float) -> str:
    """A flat stroke at this height of a cell, 0..1: a shallow line climbs in thirds of a line."""
    return glyphs.LOW_STROKE if height < _MIDDLE[0] else glyphs.AXIS if height < _MIDDLE[1] else glyphs.HIGH_STROKE
