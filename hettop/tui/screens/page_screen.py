"""A screen over the panels, opened by a key and left by the same, `q` or Escape.

Its content is a list of lines made of a frame state, as in panels; measuring and recording go on behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Click, MouseScrollDown, MouseScrollUp, ScreenResume
from textual.message import Message
from textual.screen import Screen

from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, fit, line, text_of
from hettop.tui.chart import Chart
from hettop.tui.feed import LiveControls
from hettop.tui.frame_state import FrameState
from hettop.tui.panels.header import Header
from hettop.tui.panels.panel import framed, inner_size

_WHEEL_LINES = 3
BEFORE_HEADING = 2  # cells of the frame
_ARROWS = "↑↓"
_PAIRS = {_ARROWS: ("up", "down"), "←→": ("left", "right")}
_CLICKED = {"Esc": "escape", "Enter": "enter"}
CHOSEN_TAB = ("[", "]")
"""What stands around the tab that is shown, where the others have blanks: it must not hang on colour alone."""

RunControl = Callable[[Callable[[LiveControls], None]], None]


class PageScreen(Screen[None]):
    """Give it a frame state by `show`; it draws `heading`, `rows` and `hints` of it, scrolled where they do not fit.

    steer: uses a control of the measurement and has what came of it drawn; does nothing in a replay.

    Rooms with things to choose from say by `chosen_row` which of `rows` the cursor is on: it is kept in sight.
    """

    NAME: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "app.leave", "Back", id="screen.leave"),
        Binding("pageup", "page(-1)", "Page up", id="screen.page_up"),
        Binding("pagedown", "page(1)", "Page down", id="screen.page_down"),
        Binding("home", "edge(-1)", "To the top", id="screen.top"),
        Binding("end", "edge(1)", "To the bottom", id="screen.bottom"),
    ]
    DEFAULT_CSS = """
    PageScreen { layout: vertical; background: $background; overflow: hidden; }
    PageScreen Header, PageScreen ScreenHints { height: 1; width: 100%; background: $surface; }
    PageScreen ScreenPage { height: 1fr; width: 100%; }
    """

    class Entered(Message):
        """The room is on the screen and wants a picture."""

    def __init__(self, run_control: RunControl, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__()
        self.run_control = run_control
        self.frame_state: FrameState | None = None
        self._header = Header(ascii=ascii)
        self._page = ScreenPage(self, ascii=ascii)
        self._hints = ScreenHints(self, ascii=ascii)

    def compose(self) -> ComposeResult:
        yield self._header
        yield self._page
        yield self._hints

    @property
    def columns(self) -> int:
        """Cells a line of the content has."""
        return inner_size(self._page.size.width, self._page.size.height)[0]

    def show(self, frame_state: FrameState) -> None:
        """Draw this picture from now on."""
        self.frame_state = frame_state
        self._header.show(frame_state)
        self._page.redraw()
        self._hints.redraw()

    def heading(self, frame_state: FrameState) -> Line:
        """What stands in the upper edge."""
        raise NotImplementedError

    def foot(self, frame_state: FrameState) -> Line:  # noqa: ARG002 - for rooms that have something to say there
        """What stands in the lower edge."""
        return ()

    def rows(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        """The whole content in lines of `width` cells; more than `height` of them are scrolled."""
        raise NotImplementedError

    def hints(self, frame_state: FrameState) -> list[tuple[str, str]]:  # noqa: ARG002 - for rooms with keys of their own
        """Keys of the room beside those that all have, and what they do in a word."""
        return []

    @property
    def told_keys(self) -> list[tuple[str, str]]:
        """The keys that do something in the room now, and what they do in a word."""
        if self.frame_state is None:
            return []
        own = self.hints(self.frame_state)
        moves = any(key == _ARROWS for key, _ in own)
        return [("Esc", "back"), *own, *([] if moves else [(_ARROWS, "scroll")])]

    @property
    def chosen_row(self) -> int | None:
        """The line of `rows` under the cursor; None in a room where nothing is chosen."""
        return None

    @property
    def is_scrolled(self) -> bool:
        """Whether lines above those in sight are out of it."""
        return self._page.top > 0

    def scroll(self, direction: int) -> None:
        """One line up (-1) or down (1); rooms with a cursor move it instead."""
        self._page.scroll_lines(direction)

    def point(self, row: int) -> None:
        """A line of `rows` was clicked; rooms with a cursor move it there."""

    def point_heading(self, column: int) -> None:
        """The cell of `heading` in this column was clicked; rooms with tabs turn to one."""

    def to_top(self) -> None:
        """Show other content from its beginning."""
        self._page.to_top()
        self._hints.redraw()

    def choose(self) -> None:
        """Enter was pressed."""

    def redraw(self) -> None:
        """Draw anew what the room itself has changed, such as its cursor."""
        self._page.redraw()
        self._hints.redraw()

    def action_page(self, direction: int) -> None:
        self._page.scroll_lines(direction * max(1, self._page.size.height - 3))

    def action_edge(self, direction: int) -> None:
        """To the first line (-1) or the last (1); rooms with a cursor move it there, too."""
        if direction < 0:
            self._page.to_top()
        else:
            self._page.to_bottom()

    def on_screen_resume(self, _: ScreenResume) -> None:
        self.post_message(self.Entered())


class ScreenPage(Chart):
    """The frame of a room and the part of its content that is in sight."""

    def __init__(self, owner: PageScreen, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(id="page", ascii=ascii)
        self._owner = owner
        self._top = 0
        self._lowest = 0  # what `_top` may be at most, of the content that was drawn last

    @property
    def top(self) -> int:
        """Lines of the content above those in sight."""
        return self._top

    def scroll_lines(self, by: int) -> None:
        """Move the part in sight; `lines` keeps it within the content."""
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
        """A room that begins with words has a space before them, as a panel has; tabs bring their own."""
        words = self._owner.heading(frame_state)
        return words if text_of(words).startswith((" ", CHOSEN_TAB[0])) else line((" ", "text"), *words)

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
            self._owner.point(self._top + event.y - edge)

    def on_resize(self) -> None:
        self._owner.post_message(PageScreen.Entered())


class ScreenHints(Chart):
    """The bottom line of a room: its keys; a click on one presses it."""

    ALLOW_SELECT = False

    def __init__(self, owner: PageScreen, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(id="page-hints", ascii=ascii)
        self._owner = owner

    def lines(self, width: int, height: int) -> list[Line]:
        if not height:
            return []
        spans = [span for key, word in self._owner.told_keys for span in ((f" {key}", "active"), (f" {word} ", "muted"))]
        return [fit(tuple(spans), width)]

    def on_click(self, event: Click) -> None:
        x = 0
        for key, word in self._owner.told_keys:
            end = x + len(key) + len(word) + 3
            if x <= event.x < end:
                # Of a pair of arrows the one that was hit; the word is as good as the second.
                named = _CLICKED.get(key, key) if key not in _PAIRS else _PAIRS[key][event.x > x + 1]
                self.app.simulate_key(named)
                return
            x = end
