"""The widget under every panel: shows lines of spans and repaints only cells that changed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual.dom import DOMNode
from textual.events import Enter, Leave
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from hettop.report.terminal.glyphs import GLYPHS, to_ascii
from hettop.report.terminal.lines import Line, Span, fit, text_of


class Chart(Widget):
    """Draws on `redraw` and when its size or style changed; `render_lines` only returns the lines.

    Repainting only the changed cells of changed lines takes half of the CPU time and a third of the bytes of a frame,
    compared with repainting whole widgets.
    """

    # No COMPONENT_CLASSES: Textual computes all of their styles, used or not, whenever a widget is restyled, which took
    # two fifths of the CPU time until the first frame.
    DEFAULT_CSS = """
    Chart { width: 1fr; height: 1fr; background: $background; color: $foreground; }
    Chart > .chart--text { color: $foreground; }
    Chart > .chart--muted { color: $foreground 62%; }
    Chart > .chart--strong { color: $foreground; text-style: bold; }
    Chart > .chart--edge { color: $foreground 28%; }
    Chart > .chart--edge-focus { color: $primary; }
    Chart > .chart--edge-alarm { color: $warning; text-style: bold; }
    Chart > .chart--title { color: $foreground 85%; text-style: bold; }
    Chart > .chart--low { color: $primary; }
    Chart > .chart--mid { color: $warning; }
    Chart > .chart--high { color: $error; }
    Chart > .chart--accent { color: $accent; }
    Chart > .chart--good { color: $success; }
    Chart > .chart--warning { color: $warning; }
    Chart > .chart--error { color: $error; }
    Chart > .chart--active { color: $primary; text-style: bold; }
    Chart > .chart--banner { color: $background; background: $warning; text-style: bold; }
    Chart > .chart--badge { color: $background; background: $primary; text-style: bold; }
    Chart > .chart--simulated { color: $background; background: $accent; text-style: bold; }
    """

    def __init__(self, *, id: str | None = None, ascii: bool = False) -> None:  # noqa: A002 - Textual's and our option
        super().__init__(id=id)
        self._ascii = ascii
        self._lines: list[Line] = []
        self._strips: list[Strip] = []
        self._drawn_at: tuple[int, int] | None = None
        self._styles: dict[str, Style] = {}
        # Text can be selected while the mouse is over it: the offsets that takes cost a fifth of a frame.
        self._selectable = False
        self._selection: Selection | None = None

    def lines(self, width: int, height: int) -> list[Line]:
        """The content: `height` lines of `width` cells."""
        raise NotImplementedError

    def redraw(self) -> None:
        """Draw the lines again and repaint those that changed."""
        size = (self.size.width, self.size.height)
        if not all(size):
            return
        if self._drawn_at != size:
            self._drawn_at = None
            self.refresh()
            return
        drawn = self.lines(*size)
        changed = [y for y, (old, new) in enumerate(zip(self._lines, drawn, strict=False)) if old != new]
        regions = []
        for y in changed:
            start, end = changed_cells(self._lines[y], drawn[y], size[0])
            regions.append(Region(start, y, end - start, 1))
            self._lines[y] = drawn[y]
            self._strips[y] = self._strip(drawn[y], size[0])
        if regions:
            self.refresh(*regions)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a part; without Textual's work for borders, tints and opacity, none of which a chart has.

        That work took a tenth of the screen's CPU time.
        """
        width = self._drawn_width()
        strips = [self._line(y, width) for y in crop.line_range]
        if crop.column_span == (0, width):
            return strips
        return [strip.crop(*crop.column_span) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """One line; Textual asks for it where text is selected."""
        return self._line(y, self._drawn_width())

    def _drawn_width(self) -> int:
        """The width of its lines, once they are drawn for the present size."""
        size = (self.size.width, self.size.height)
        if self._drawn_at != size:
            blank: list[Line] = [()] * size[1]
            self._lines = [*self.lines(*size), *blank][: size[1]]
            self._strips = [self._strip(spans, size[0]) for spans in self._lines]
            self._drawn_at = size
        return size[0]

    def _line(self, y: int, width: int) -> Strip:
        if y >= len(self._strips):
            return Strip.blank(width, self._style("text"))
        strip = self._strips[y]
        if not self._selectable:
            return strip
        strip = strip.apply_offsets(0, y)
        return strip if self._selection is None else _selected(strip, self._selection.get_span(y))

    def _strip(self, spans: Line, width: int) -> Strip:
        if self._ascii:
            spans = fit(tuple((to_ascii(text), ink) for text, ink in spans), width)
        return Strip([Segment(text, self._style(ink)) for text, ink in spans], width)

    def _style(self, ink: str) -> Style:
        style = self._styles.get(ink)
        if style is None:
            part = DOMNode(classes=f"chart--{ink}")
            part._attach(self)
            self.app.stylesheet.apply(part)
            style = self._styles[ink] = self._filtered(part.rich_style)
        return style

    def _filtered(self, style: Style) -> Style:
        """The style as the terminal can show it: in its own colors, in fewer, or in none."""
        segments = [Segment(" ", style)]
        for each in self.get_line_filters():
            segments = each.apply(segments, self.background_colors[1])
        return segments[0].style or style

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles.clear()
        self._drawn_at = None

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join(text_of(spans) for spans in self._lines)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self._selection = selection
        self.refresh()

    def on_enter(self, _: Enter) -> None:
        self._selectable = True
        self.refresh()

    def on_leave(self, _: Leave) -> None:
        self._selectable = self._selection is not None
        self.refresh()


def _selected(strip: Strip, span: tuple[int, int] | None) -> Strip:
    """The strip with the part that the mouse has selected in reverse."""
    if span is None:
        return strip
    start, end = span[0], strip.cell_length if span[1] == -1 else span[1]
    before, chosen, after = strip.crop(0, start), strip.crop(start, end), strip.crop(end)
    return Strip.join([before, chosen.apply_style(Style(reverse=True)), after])


# Characters of exactly one cell; others may take two or none, and must not be cut in the middle.
_NARROW = re.compile(f"[ -~\u00b0-\u00ff{re.escape(GLYPHS)}]*").fullmatch


def changed_cells(old: Line, new: Line, width: int) -> tuple[int, int]:
    """The first cell that differs and the one after the last, of two lines of `width` cells that are not the same.

    All cells where it is uncertain.
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
