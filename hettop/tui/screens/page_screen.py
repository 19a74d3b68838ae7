"""A screen over the panels, opened by a key and closed by the same key, `q` or Escape.

Its content is a list of lines made from a frame state, as in panels; measuring and recording continue behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Click, MouseScrollDown, MouseScrollUp, ScreenResume
from textual.geometry import Region
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip

from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, line, text_of
from hettop.tui.chart import Chart
from hettop.tui.feed import LiveControls
from hettop.tui.frame_state import FrameState
from hettop.tui.guarded import Guarded
from hettop.tui.panels.header import Header
from hettop.tui.panels.hints import NoticeLine, hint_line, placed_hints
from hettop.tui.panels.panel import framed, inner_size

_WHEEL_LINES = 3
_LOWEST_BESIDE = 18  # lines of the terminal
BEFORE_HEADING = 2  # cells of the frame
_ARROWS = "↑↓"
_PAIRS = {_ARROWS: ("up", "down"), "←→": ("left", "right")}
_CLICKED = {"Esc": "escape", "Enter": "enter"}
CHOSEN_TAB = ("[", "]")
"""The brackets around the tab that is shown, which is not marked by colour alone."""

BESIDE_SHARE, WIDEST_BESIDE = 0.45, 96
"""Of the screen's width, and at most so many cells, for a screen beside the panels."""

BELOW_SHARE = 0.58
"""Of the height between header and hints, for a screen below the panels."""


@dataclass(frozen=True, slots=True)
class Place:
    """How many cells at the right or lines at the bottom a screen takes from the panels; 0 and 0: all."""

    beside: int = 0
    below: int = 0

    @property
    def covers(self) -> bool:
        return not (self.beside or self.below)


RunControl = Callable[[Callable[[LiveControls], None]], None]


class PageScreen(Guarded, Screen[None]):
    """`show` gives it a frame state; it draws `heading`, `rows` and `hints` of that, scrolled where they do not fit.

    run_control: uses a control of the measurement and draws the result; does nothing in a replay.

    Screens with a cursor return its row by `chosen_row`: it is kept visible. `LISTS` names what a screen lists, if its
    rows can be filtered by the text `filter`.
    """

    NAME: ClassVar[str] = ""
    LISTS: ClassVar[str] = ""
    BESIDE_FROM: ClassVar[int] = 180
    """Cells of the terminal, from which on the panels stay in sight beside it; 0: never."""
    LEAST_BESIDE: ClassVar[int] = 0
    """Cells that it needs there."""
    BELOW_FROM: ClassVar[tuple[int, int] | None] = None
    """Cells and lines of the terminal, from which on the first panel stays in sight above it."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "app.leave", "Close the screen", id="screen.leave"),
        Binding("pageup", "page(-1)", "Page up", id="screen.page_up"),
        Binding("pagedown", "page(1)", "Page down", id="screen.page_down"),
        Binding("home", "edge(-1)", "To the top", id="screen.top"),
        Binding("end", "edge(1)", "To the bottom", id="screen.bottom"),
    ]
    DEFAULT_CSS = """
    PageScreen { layout: vertical; background: $background; overflow: hidden; }
    PageScreen Header, PageScreen ScreenHints { height: 1; width: 100%; background: $surface; }
    PageScreen ScreenPage { height: 1fr; width: 1fr; }
    """

    class Entered(Message):
        """The screen was opened and needs a frame state."""

    def __init__(self, run_control: RunControl, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__()
        self.run_control = run_control
        self.frame_state: FrameState | None = None
        self.filter = ""
        self._header = Header(ascii=ascii)
        self._page = ScreenPage(self, ascii=ascii)
        self._hints = ScreenHints(self, ascii=ascii)

    def compose(self) -> ComposeResult:
        yield self._header
        yield self._page
        yield self._hints

    def render_lines(self, crop: Region) -> list[Strip]:
        """Beside or below panels, their lines as they are.

        Textual would render all of them anew through the console, which took a third of the CPU time of a frame.
        """
        if not (self.has_class("-beside") or self.has_class("-below")):
            return super().render_lines(crop)
        stack = self.app.screen_stack
        behind = stack[max(0, stack.index(self) - 1)]._compositor.render_strips() if self in stack else []
        # While the terminal is resized, what lies behind may still have its old size.
        shown = [
            strip.crop(crop.x, crop.right).adjust_cell_length(crop.width) for strip in behind[crop.y : crop.bottom]
        ]
        return [*shown, *[Strip.blank(crop.width)] * (crop.height - len(shown))]

    @classmethod
    def place_in(cls, width: int, height: int) -> Place:
        """Where it is shown on a terminal of this size."""
        if cls.BESIDE_FROM and width >= cls.BESIDE_FROM and height >= _LOWEST_BESIDE:
            return Place(beside=max(cls.LEAST_BESIDE, min(WIDEST_BESIDE, round(BESIDE_SHARE * width))))
        if cls.BELOW_FROM is not None and width >= cls.BELOW_FROM[0] and height >= cls.BELOW_FROM[1]:
            return Place(below=round(BELOW_SHARE * (height - 2)))
        return Place()

    def move_to(self, place: Place, height: int) -> None:
        """Leave the rest of a terminal of this height to the panels."""
        self.set_class(bool(place.beside), "-beside")
        self.set_class(bool(place.below), "-below")
        left = max(0, self.app.size.width - place.beside) if place.beside else 0
        top = max(0, height - 2 - place.below) if place.below else 0
        self._page.styles.margin = (top, 0, 0, left)

    @property
    def columns(self) -> int:
        """The cells of a line of the content."""
        return inner_size(self._page.size.width, self._page.size.height)[0]

    def show(self, frame_state: FrameState) -> None:
        """Draw this frame state from now on."""
        self.frame_state = frame_state
        self._header.show(frame_state)
        self._page.redraw()
        self._hints.redraw()

    def heading(self, frame_state: FrameState) -> Line:
        """The text in the upper edge."""
        raise NotImplementedError

    def foot(self, frame_state: FrameState) -> Line:  # noqa: ARG002 - for screens that have something to show there
        """The text in the lower edge."""
        return ()

    def rows(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        """The whole content in lines of `width` cells; more than `height` of them are scrolled."""
        raise NotImplementedError

    def hints(self, frame_state: FrameState) -> list[tuple[str, str]]:  # noqa: ARG002 - for screens with keys of their own
        """The screen's own keys and what they do in a word."""
        return []

    @property
    def active_keys(self) -> list[tuple[str, str]]:
        """The keys that do something on this screen now, and what they do in a word."""
        if self.frame_state is None:
            return []
        own = self.hints(self.frame_state)
        moves = any(key == _ARROWS for key, _ in own)
        return [("Esc", "back"), *own, *([] if moves else [(_ARROWS, "scroll")])]

    @property
    def chosen_row(self) -> int | None:
        """The line of `rows` under the cursor; None in a screen without one."""
        return None

    @property
    def is_scrolled(self) -> bool:
        """Whether the content is scrolled down."""
        return self._page.top > 0

    def scroll(self, direction: int) -> None:
        """One line up (-1) or down (1); screens with a cursor move that instead."""
        self._page.scroll_lines(direction)

    def point(self, row: int, column: int) -> None:
        """A line of `rows` was clicked, at cell `column`; screens with a cursor move it there."""

    def point_heading(self, column: int) -> None:
        """The cell of `heading` in this column was clicked; screens with tabs turn to one."""

    def to_top(self) -> None:
        """Show other content from its top."""
        self._page.to_top()
        self._hints.redraw()

    def choose(self) -> None:
        """Enter was pressed."""

    def set_filter(self, text: str) -> None:
        """Show only the rows that match, for screens that list something."""

    def sort(self) -> bool:
        """Sort by the next column; returns whether this screen can be sorted."""
        return False

    def clipboard_text(self) -> tuple[str, str] | None:
        """What `Y` copies: its name and the text; by default all lines. None where there is nothing."""
        if self.frame_state is None:
            return None
        rows = self.rows(self.frame_state, *inner_size(self._page.size.width, self._page.size.height))
        return "this screen", "\n".join(text_of(row).rstrip() for row in rows).strip("\n")

    def redraw(self) -> None:
        """Redraw after a change of the screen itself, such as of its cursor."""
        self._page.redraw()
        self._hints.redraw()

    def action_page(self, direction: int) -> None:
        self._page.scroll_lines(direction * max(1, self._page.size.height - 3))

    def action_edge(self, direction: int) -> None:
        """To the first line (-1) or the last (1); screens with a cursor move it there, too."""
        if direction < 0:
            self._page.to_top()
        else:
            self._page.to_bottom()

    def show_notices(self) -> None:
        """Draw the messages that there are now."""
        if self._hints.is_mounted:
            self._hints.show_notices()

    def on_screen_resume(self, _: ScreenResume) -> None:
        self.show_notices()
        self.post_message(self.Entered())


class ScreenPage(Chart):
    """The frame of a screen and the visible part of its content."""

    def __init__(self, owner: PageScreen, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(id="page", ascii=ascii)
        self._owner = owner
        self._top = 0
        self._lowest = 0  # the highest valid `_top` of the content that was drawn last

    @property
    def top(self) -> int:
        """The number of lines above the visible ones."""
        return self._top

    def scroll_lines(self, by: int) -> None:
        """Scroll; `lines` keeps the position within the content."""
        self._top = max(0, self._top + by)
        self.redraw()

    def to_top(self) -> None:
        self._top = 0
        self.redraw()

    def to_bottom(self) -> None:
        self._top = self._lowest
        self.redraw()

    def lines(self, width: int, height: int) -> list[Line]:
        frame_state = self._owner.frame_state
        if frame_state is None:
            return []
        inside = inner_size(width, height)
        content = self._owner.rows(frame_state, *inside)
        self._lowest = max(0, len(content) - inside[1])
        self._top = self._in_sight(inside[1])
        shown = content[self._top : self._top + inside[1]]
        below = len(content) - self._top - len(shown)
        scrolled = f" {glyphs.UP_DOWN} {self._top} above, {below} below" if self._top or below else ""
        foot = line((scrolled, "muted"), *self._owner.foot(frame_state))
        return framed(self._heading(frame_state), shown, foot, frame_state, (width, height), focus=True)

    def _heading(self, frame_state: FrameState) -> Line:
        """A heading begins with a space, as in panels; tabs have their own."""
        heading = self._owner.heading(frame_state)
        return heading if text_of(heading).startswith((" ", CHOSEN_TAB[0])) else line((" ", "text"), *heading)

    def _in_sight(self, height: int) -> int:
        top = min(self._top, self._lowest)
        chosen = self._owner.chosen_row
        if chosen is None:
            return top
        return min(max(top, chosen - height + 1), chosen)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.scroll_lines(-_WHEEL_LINES)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.scroll_lines(_WHEEL_LINES)

    def on_click(self, event: Click) -> None:
        width, height = self.size
        edge = 0 if inner_size(width, height) == (width, height) else 1
        if edge and not event.y:
            self._owner.point_heading(event.x - BEFORE_HEADING)
        elif edge <= event.y < height - edge:
            self._owner.point(self._top + event.y - edge, event.x - BEFORE_HEADING * edge)

    def on_resize(self) -> None:
        self._owner.post_message(PageScreen.Entered())


class ScreenHints(NoticeLine):
    """The bottom line of a screen: its keys; a click on one presses it."""

    ALLOW_SELECT = False

    def __init__(self, owner: PageScreen, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(id="page-hints", ascii=ascii)
        self._owner = owner

    def hints(self, width: int) -> Line:
        return hint_line(self._owner.active_keys, width)

    def on_click(self, event: Click) -> None:
        if self.hide_notices():
            return
        for start, end, (key, _) in placed_hints(self._owner.active_keys, self.size.width):
            if start <= event.x < end:
                # Of a pair of arrows the one that was hit; the word counts as the second.
                named = _CLICKED.get(key, key) if key not in _PAIRS else _PAIRS[key][event.x > start + 1]
                self.app.simulate_key(named)
                return
