"""Two dialogs with a list: themes, each previewed under the cursor, and panels to hide or show.

Neither stores anything: the choice is returned to the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.message import Message
from textual.theme import Theme

from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, fit, line
from hettop.tui.chart import Chart
from hettop.tui.constants import PANELS
from hettop.tui.guarded import Dialog

FRAME = 2  # lines
_SWATCH = 2  # cells of a colour


class ListBox(Chart):
    """Rows in a frame; the row under the cursor is marked and kept visible."""

    class Clicked(Message):
        """The user clicked a row."""

        def __init__(self, row: int) -> None:
            super().__init__()
            self.row = row

    def __init__(self, title: str, foot: str, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(id="choice", ascii=ascii)
        self._title = title
        self._foot = foot
        self._rows: Sequence[Line] = ()
        self._at = 0

    def show(self, rows: Sequence[Line], at: int) -> None:
        """Draw these rows with the cursor on row `at`."""
        self._rows, self._at = rows, at
        self.redraw()

    def _top(self, height: int) -> int:
        return max(0, min(self._at - height // 2, len(self._rows) - height))

    def lines(self, width: int, height: int) -> list[Line]:
        inside = max(1, height - FRAME)
        top = self._top(inside)
        drawn = [_edge(glyphs.TOP_LEFT, self._title, glyphs.TOP_RIGHT, width)]
        for number, row in list(enumerate(self._rows))[top : top + inside]:
            cursor = (f"{glyphs.ACTIVE} ", "active") if number == self._at else ("  ", "text")
            side = (glyphs.SIDE, "edge-focus")
            drawn.append((side, *fit((cursor, *row), width - 2), side))
        return [*drawn, _edge(glyphs.BOTTOM_LEFT, self._foot, glyphs.BOTTOM_RIGHT, width)][:height]

    def _style(self, ink: str) -> Style:
        """Accepts colours, `#rrggbb on #rrggbb`, beside inks: for the swatches of a theme that is not active."""
        return Style.parse(ink) if ink.startswith("#") else super()._style(ink)

    def on_click(self, event: Click) -> None:
        event.stop()
        inside = max(1, self.size.height - FRAME)
        row = self._top(inside) + event.y - 1
        if 1 <= event.y <= inside and row < len(self._rows):
            self.post_message(self.Clicked(row))


def _edge(left: str, words: str, right: str, width: int) -> Line:
    shown = f" {words} "[: max(0, width - 3)]
    rule = glyphs.EDGE * (width - 3 - len(shown))
    return line((left + glyphs.EDGE, "edge-focus"), (shown, "title"), (rule + right, "edge-focus"))


class ThemeScreen(Dialog[str | None]):
    """Moving the cursor previews a theme, Enter keeps it, Escape restores the previous one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Previous theme", id="themes.previous"),
        Binding("down,j,t", "move(1)", "Next theme", id="themes.next"),
        Binding("enter", "keep", "Keep this theme", id="themes.keep"),
        Binding("escape,q,T", "restore", "Restore the previous theme", id="themes.restore"),
    ]

    def __init__(self, themes: Sequence[Theme], *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__()
        self._themes = themes
        self._ascii = ascii
        self._at = 0
        self._before = ""

    def compose(self) -> ComposeResult:
        box = ListBox("theme", "Enter keeps, Esc restores", ascii=self._ascii)
        box.styles.height = len(self._themes) + FRAME
        yield box

    def on_mount(self) -> None:
        self._before = self.app.theme
        names = [theme.name for theme in self._themes]
        self._at = names.index(self._before) if self._before in names else 0
        self._show()

    def _show(self) -> None:
        rows = [_theme_row(theme, chosen=theme.name == self._before) for theme in self._themes]
        self.query_one(ListBox).show(rows, self._at)

    def _go(self, to: int) -> None:
        self._at = to % len(self._themes)
        self.app.theme = self._themes[self._at].name
        self._show()

    def action_move(self, direction: int) -> None:
        self._go(self._at + direction)

    def action_keep(self) -> None:
        self.dismiss(self.app.theme)

    def action_restore(self) -> None:
        self.app.theme = self._before
        self.dismiss(None)

    def on_list_box_clicked(self, message: ListBox.Clicked) -> None:
        if message.row == self._at:
            self.action_keep()
        else:
            self._go(message.row)


def _theme_row(theme: Theme, *, chosen: bool) -> Line:
    ground = theme.background or "#000000"
    inks = (theme.primary, theme.warning, theme.error, theme.accent, theme.foreground)
    swatches = [(glyphs.FULL * _SWATCH, f"{ink or theme.primary} on {ground}") for ink in inks]
    mark, ink = (glyphs.DONE, "strong") if chosen else (" ", "text")
    return line((f"{mark} {theme.name:<20} ", ink), *swatches)


class PanelScreen(Dialog[None]):
    """Digits, or Enter and space at the cursor, hide or show a panel; the last panel cannot be hidden."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Previous panel", id="panels.previous"),
        Binding("down,j", "move(1)", "Next panel", id="panels.next"),
        Binding("enter,space", "turn", "Hide or show the panel", id="panels.toggle"),
        *(
            Binding(str(number), f"turn({number})", f"Hide or show {name}", id=f"panels.{number}")
            for number, name in PANELS.items()
        ),
        Binding("escape,q,H", "dismiss", "Close the list", id="panels.close"),
    ]

    def __init__(
        self,
        hidden: Sequence[str],
        change: Callable[[tuple[str, ...]], None],
        *,
        ascii: bool = False,  # noqa: A002 - the option's name
    ) -> None:
        super().__init__()
        self._hidden = set(hidden)
        self._change = change
        self._ascii = ascii
        self._at = 1

    def compose(self) -> ComposeResult:
        box = ListBox("panels", "1-6 hide or show, Esc closes", ascii=self._ascii)
        box.styles.height = len(PANELS) + FRAME
        yield box

    def on_mount(self) -> None:
        self._show()

    def _show(self) -> None:
        self.query_one(ListBox).show([self._row(number, name) for number, name in PANELS.items()], self._at - 1)

    def _row(self, number: int, name: str) -> Line:
        if name in self._hidden:
            return line((f"[ ] {number} {name:<10}", "muted"), ("hidden", "muted"))
        return line((f"[x] {number} {name}", "text"))

    def action_move(self, direction: int) -> None:
        self._at = (self._at - 1 + direction) % len(PANELS) + 1
        self._show()

    def action_turn(self, number: int | None = None) -> None:
        self._at = number or self._at
        wanted = self._hidden ^ {PANELS[self._at]}
        if len(wanted) == len(PANELS):
            self.app.notify("the last panel cannot be hidden", markup=False)
            return
        self._hidden = wanted
        self._change(tuple(name for name in PANELS.values() if name in wanted))
        self._show()

    def on_list_box_clicked(self, message: ListBox.Clicked) -> None:
        self.action_turn(message.row + 1)
