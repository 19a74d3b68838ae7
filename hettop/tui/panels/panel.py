"""A framed part of the screen: border, title and number drawn with its content, fixed or as high as its content.

Drawing the frame here and not by CSS keeps panels testable as text and costs nothing per frame.
"""

from __future__ import annotations

from textual.events import Blur, Focus
from textual.geometry import Size
from textual.message import Message

from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, text_of, width_of
from hettop.tui.chart import Chart
from hettop.tui.frame_state import FrameState

_SMALLEST_FRAMED = (24, 4)  # cells, lines: a smaller panel has no frame
_BESIDE_TITLE = 7  # cells of an edge: its corners, and the number


class Panel(Chart, can_focus=True):
    """A part of the screen with a number key. `show` gives it a frame state; it draws `title` and `body` of that.

    `LISTS` names what it lists, for panels whose rows can be filtered by the text `filter`.
    """

    NUMBER = 0
    LISTS = ""

    class Resized(Message):
        """The panel's size, and with it the number of its columns, has changed."""

    def __init__(self, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(id=f"panel-{self.NUMBER}", ascii=ascii)
        self.frame_state: FrameState | None = None
        self.filter = ""

    @property
    def zoomed(self) -> bool:
        """Whether it has the whole screen, and draws its large form."""
        return self.has_class("-zoomed")

    def show(self, frame_state: FrameState) -> None:
        """Draw this frame state from now on."""
        self.frame_state = frame_state
        self.redraw()

    def title_has_room(self, title: Line) -> bool:
        """Whether a title fits into the frame's edge, beside the number; in a frame of no known width it does."""
        return not self.size.width or width_of(title) <= self.size.width - _BESIDE_TITLE

    def title(self, frame_state: FrameState) -> Line:
        """The text in the upper edge, after the number."""
        raise NotImplementedError

    def foot(self, frame_state: FrameState) -> Line:  # noqa: ARG002 - for panels that have something to show there
        """The text in the lower edge."""
        return ()

    def scroll(self, direction: int) -> None:
        """Move up (-1) or down (1), for panels that list more than fits."""

    def to_edge(self, direction: int) -> None:
        """Move to the top (-1) or the bottom (1), for panels that list more than fits."""

    def set_filter(self, text: str) -> None:
        """Show only the rows that match, for panels that list something."""

    def sort(self) -> None:
        """Sort by the next column, for panels with a table."""

    def clipboard_text(self) -> tuple[str, str] | None:
        """What `Y` copies: its name and the text; by default all lines of the panel. None where there is nothing."""
        if self.frame_state is None:
            return None
        rows = self.body(self.frame_state, *inner_size(self.size.width, self.size.height))
        return f"panel {self.NUMBER}", "\n".join(text_of(row).rstrip() for row in rows).strip("\n")

    def toggle_details(self) -> None:
        """Open or close further details, for panels that have them."""

    def close_details(self) -> bool:
        """Close the details; returns whether any were open."""
        return False

    def body(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        """The content, `height` lines of `width` cells."""
        raise NotImplementedError

    def lines(self, width: int, height: int) -> list[Line]:
        frame_state = self.frame_state
        if frame_state is None:
            return []
        content = self.body(frame_state, *inner_size(width, height))
        heading, foot = self._heading(frame_state), self.foot(frame_state)
        return framed(heading, content, foot, frame_state, (width, height), focus=self.has_focus)

    def _heading(self, frame_state: FrameState) -> Line:
        halted: Span = (f" {frame_state.halted} ", "banner") if frame_state.halted else ("", "text")
        pointer, ink = (glyphs.OF, "accent") if self.has_focus else (" ", "muted")
        number = (f"{pointer}{self.NUMBER} ", ink)
        return line(halted, number, *self.title(frame_state))

    def on_resize(self) -> None:
        self.post_message(self.Resized())

    def on_focus(self, _: Focus) -> None:
        self.redraw()

    def on_blur(self, _: Blur) -> None:
        self.redraw()


def framed(
    heading: Line, content: list[Line], foot: Line, frame_state: FrameState, size: tuple[int, int], *, focus: bool
) -> list[Line]:
    """`content` in a frame of `size` cells and lines; without a frame where it does not fit."""
    width, height = size
    inside = inner_size(width, height)
    if inside == size:
        return content
    edge = "edge-alarm" if frame_state.halted else "edge-focus" if focus else "edge"
    side: Span = (glyphs.SIDE, edge)
    padded = [*content, *[()] * (inside[1] - len(content))][: inside[1]]
    return [
        _bar((glyphs.TOP_LEFT, glyphs.TOP_RIGHT), heading, edge, width),
        *((side, (" ", "text"), *fit(row, inside[0]), (" ", "text"), side) for row in padded),
        _bar((glyphs.BOTTOM_LEFT, glyphs.BOTTOM_RIGHT), foot, edge, width),
    ]


def inner_size(width: int, height: int) -> tuple[int, int]:
    """The cells and lines that a panel of this size has for its content: all where it is too small for a frame."""
    if width < _SMALLEST_FRAMED[0] or height < _SMALLEST_FRAMED[1]:
        return width, height
    return width - 4, height - 2


def _bar(corners: str | tuple[str, str], words: Line, edge: str, width: int) -> Line:
    """An edge of the frame with words set into it."""
    room = width - 4
    shown = fit(words, room) if width_of(words) > room else words
    if shown and not shown[-1][0].strip():  # a cut before a word leaves blanks
        shown = shown[:-1]
    rule = glyphs.EDGE * (width - 3 - width_of(shown) - bool(shown))
    gap: Span = (" ", "text") if shown else ("", "text")
    return line((corners[0] + glyphs.EDGE, edge), *shown, gap, (rule + corners[1], edge))


_FRAME = 2
_LEAST = 2  # rows; a smaller panel would have no frame


class AutoHeightPanel(Panel):
    """Asks for a new layout when the number of its rows changes."""

    def __init__(self, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(ascii=ascii)
        self._drawn: tuple[FrameState, tuple[int, bool, int], list[Line]] | None = None

    def rows(self, frame_state: FrameState, width: int) -> list[Line]:
        """All lines, most important first."""
        raise NotImplementedError

    @property
    def screen_height(self) -> int:
        """The lines of the screen; 0 for a panel that is on none."""
        return self.screen.size.height if self.is_attached else 0

    def _rows(self, frame_state: FrameState, width: int) -> list[Line]:
        """As `rows`, drawn once for all that ask for them in a frame."""
        shape = (width, self.zoomed, self.screen_height)
        if self._drawn is None or self._drawn[0] is not frame_state or self._drawn[1] != shape:
            self._drawn = frame_state, shape, self.rows(frame_state, width)
        return self._drawn[2]

    def body(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        found = self._rows(frame_state, width)
        return [*found, *[fit((), width)] * (height - len(found))][:height]

    def show(self, frame_state: FrameState) -> None:
        width, _ = inner_size(self.size.width, self.size.height)
        before = 0 if self.frame_state is None else len(self._rows(self.frame_state, width))
        super().show(frame_state)
        if len(self._rows(frame_state, width)) != before:
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        inside, _ = inner_size(width, viewport.height)
        return _FRAME + max(_LEAST, len(self._rows(self.frame_state, inside)) if self.frame_state is not None else 0)
