"""Draws points on two axes, each logarithmic where its values span a decade or so: curves, and trade-offs.

Knows how wide it may be and no terminal; what the points mean is for the caller to say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hettop.format import significant

ROWS = 12
WIDEST, NARROWEST = 64, 24
MARGIN = 9
"""Cells at the left for labels of the upright axis."""

MARKS = "●○■□▲△◆◇"
LOGARITHMIC_FROM = 8.0
"""Values that span as much or more are drawn on a logarithmic axis."""

ROOM = 0.04
"""Of an axis, on both sides of the outermost points."""


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together; `mark` is drawn for each of them."""

    name: str
    points: Sequence[tuple[float, float]]
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis of so many cells, linear or logarithmic."""

    low: float
    high: float
    cells: int
    logarithmic: bool

    def at(self, value: float) -> int:
        """The cell it falls into, within the axis."""
        share = (self._moved(value) - self._moved(self.low)) / (self._moved(self.high) - self._moved(self.low))
        return min(max(math.floor(share * self.cells), 0), self.cells - 1)

    def _moved(self, value: float) -> float:
        return math.log(value) if self.logarithmic else value


def scale_for(values: Sequence[float], cells: int, *, from_zero: bool = False) -> Scale:
    """Wide enough for all values. `from_zero`: where it is linear and all are above 0 it begins there."""
    low, high = min(values), max(values)
    if low > 0 and high / low >= LOGARITHMIC_FROM:
        room = (high / low) ** ROOM
        return Scale(low / room, high * room, cells, True)
    if from_zero and low >= 0 and high > 0:
        return Scale(0.0, high * (1 + ROOM), cells, False)
    room = ROOM * (high - low) or 0.5 * (abs(low) or 1.0)
    return Scale(low - room, high + room, cells, False)


def points_plot(
    series: Sequence[Series], across: str, upright: str, width: int, *, from_zero: bool = False
) -> list[str]:
    """Lines of the plot with its axes named and a legend; none without points. Later series are drawn over earlier.

    from_zero: the upright axis begins at 0 where it is linear, so that a flat curve looks flat.
    """
    marked = [
        Series(each.name, each.points, each.mark or MARKS[index % len(MARKS)])
        for index, each in enumerate(series)
        if each.points
    ]
    points = [point for each in marked for point in each.points]
    if not points:
        return []
    columns = max(NARROWEST, min(WIDEST, width - MARGIN - 1))
    x_scale = scale_for([point[0] for point in points], columns)
    y_scale = scale_for([point[1] for point in points], ROWS, from_zero=from_zero)
    cells: dict[tuple[int, int], str] = {}
    for each in marked:
        for x, y in each.points:
            cells[ROWS - 1 - y_scale.at(y), x_scale.at(x)] = each.mark
    lines = [f"{upright:>{MARGIN - 2}}"]
    labels = _row_labels([point[1] for point in points], y_scale)
    for row in range(ROWS):
        body = "".join(cells.get((row, column), " ") for column in range(columns))
        lines.append(f"{labels.get(row, ''):>{MARGIN - 2}} {'┤' if row in labels else '│'}{body}".rstrip())
    ruler, names = _ruler(sorted({point[0] for point in points}), x_scale, columns)
    lines += [f"{'':>{MARGIN - 1}}└{ruler}", f"{'':>{MARGIN}}{names}".rstrip(), f"{'':>{MARGIN}}{across}"]
    legend = "  ".join(f"{each.mark} {each.name}" for each in marked if each.name)
    return [*lines, f"{'':>{MARGIN}}{legend}"] if legend else lines


def _row_labels(values: Sequence[float], scale: Scale) -> dict[int, str]:
    """The lowest and the highest value, and one in the middle."""
    low, high = min(values), max(values)
    middle = math.sqrt(low * high) if scale.logarithmic else (low + high) / 2
    return {ROWS - 1 - scale.at(value): significant(value) for value in (middle, low, high)}


def _ruler(values: Sequence[float], scale: Scale, columns: int) -> tuple[str, str]:
    """Ticks at values of x, and their names as far as there is room for them."""
    ruler, names = ["─"] * columns, [" "] * (columns + 4)
    end = -2
    for value in values:
        place, name = scale.at(value), significant(value).removesuffix(".00").removesuffix(".0")
        start = max(0, min(place - len(name) // 2, columns + 4 - len(name)))
        if start <= end + 1:
            continue
        ruler[place] = "┴"
        names[start : start + len(name)] = name
        end = start + len(name) - 1
    return "".join(ruler), "".join(names)
