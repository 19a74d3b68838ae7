"""A canvas of dots for charts: several dots a cell, drawn in braille (2x4 a cell) or in eighth blocks (1x8).

Dots are counted from the left and from the bottom. What lies outside of the canvas is not drawn.
"""

from __future__ import annotations

from hettop.report.terminal import glyphs

# Unicode numbers the dots of a braille cell down the left column, down the right one, then the lowest two.
_BITS = (0x40, 0x04, 0x02, 0x01, 0x80, 0x20, 0x10, 0x08)
_CELLS = " " + "".join(
    glyphs.BRAILLE[sum(bit for at, bit in enumerate(_BITS) if dots >> at & 1)] for dots in range(1, 256)
)
"""The character of each pattern: four bits of the left column from the bottom up, then four of the right one."""

_EIGHTHS = len(glyphs.EIGHTHS) - 1
# Every second dot of a column, other ones in its neighbours; for canvases of up to 1,024 dots.
_SPARSE = (int("01" * 512, 2), int("10" * 512, 2))


class Canvas:
    """Dots in `columns` x `rows` cells; `wide` x `high` dots."""

    def __init__(self, columns: int, rows: int, *, braille: bool = True) -> None:
        self.columns, self.rows = max(columns, 0), max(rows, 0)
        self.dots_x, self.dots_y = (2, 4) if braille else (1, _EIGHTHS)
        self.wide, self.high = self.columns * self.dots_x, self.rows * self.dots_y
        # One integer for each column of dots: bit y is the dot at height y.
        self._dots = [0] * self.wide

    def dot(self, x: int, y: int) -> None:
        """Set one dot."""
        self.column(x, y + 1, y)

    def column(self, x: int, top: int, bottom: int = 0) -> None:
        """Set the dots from `bottom` up to, not including, `top`."""
        bottom, top = max(bottom, 0), min(top, self.high)
        if 0 <= x < self.wide and bottom < top:
            self._dots[x] |= (1 << top) - (1 << bottom)

    def sparse_column(self, x: int, top: int) -> None:
        """Set every second dot below `top`, in a pattern like a chess board's."""
        if 0 <= x < self.wide:
            self._dots[x] |= _SPARSE[x % 2] & ((1 << min(max(top, 0), self.high)) - 1)

    def line(self, x0: int, y0: int, x1: int, y1: int) -> None:
        """Set the dots of a line without gaps between two dots."""
        if x0 > x1:
            x0, y0, x1, y1 = x1, y1, x0, y0
        before = y0
        for x in range(max(x0, 0), min(x1, self.wide - 1) + 1):
            y = y1 if x1 == x0 else y0 + round((y1 - y0) * (x - x0) / (x1 - x0))
            # A steep line, and one into another row of cells, begins at the height of the column before it: dots that
            # touch at a corner look like a gap.
            step = abs(y - before) > 1 or y // self.dots_y != before // self.dots_y
            start = before if step else y
            self.column(x, max(start, y) + 1, min(start, y))
            before = y
        if x0 == x1:
            self.column(x0, max(y0, y1) + 1, min(y0, y1))

    def lines(self) -> list[list[str]]:
        """The characters of each row of cells, uppermost first; a blank where no dot is set."""
        return [self._row(row * self.dots_y) for row in reversed(range(self.rows))]

    def _row(self, base: int) -> list[str]:
        if self.dots_x == 1:
            return [self._block(dots >> base & 0xFF) for dots in self._dots]
        lefts, rights = self._dots[::2], self._dots[1::2]
        return [
            _CELLS[left >> base & 0xF | (right >> base & 0xF) << 4] for left, right in zip(lefts, rights, strict=True)
        ]

    @staticmethod
    def _block(dots: int) -> str:
        """Dots from the bottom up as a block; others, such as those of a line, as a stroke at about their height."""
        if not dots:
            return " "
        if not dots & (dots + 1) or dots.bit_count() > _EIGHTHS // 2:
            return glyphs.EIGHTHS[dots.bit_count()]
        middle = (dots.bit_length() - 1 + (dots & -dots).bit_length() - 1) / 2
        if middle < 2:
            return glyphs.LOW_STROKE
        return glyphs.HIGH_STROKE if middle > 5 else glyphs.EDGE
