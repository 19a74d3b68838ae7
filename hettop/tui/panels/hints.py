"""The bottom line: the keys that do something now, as many as fit; a click on one presses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.events import Click
from textual.message import Message

from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit
from hettop.tui.chart import Chart
from hettop.tui.keys import Key, hinted, hinted_zoomed
from hettop.tui.notices import Notices

STUDIES = "screen.studies"

Hint = tuple[str, str]
"""A key as it is shown, and what it does in a word."""


_SHARE = 3
"""Messages take at most this part of the screen's height, and at least a line."""


class NoticeLine(Chart):
    """The bottom of a screen: messages where there are any, else one line of hints. A click on messages hides them."""

    def __init__(self, *, id: str, ascii: bool = False) -> None:  # noqa: A002 - Textual's and our option
        super().__init__(id=id, ascii=ascii)
        self._notices = Notices()

    def on_mount(self) -> None:
        """The messages are the app's, which all screens show."""
        self._notices = getattr(self.app, "notices", self._notices)
        self.call_after_refresh(self.show_notices)

    def show_notices(self) -> None:
        """Draw the messages that there are now; the panels make room for what takes more than a line."""
        rows = len(self._messages(self.size.width, self.app.size.height)) if self._notices.shown else 1
        if self.styles.height is None or self.styles.height.value != max(1, rows):
            self.styles.height = max(1, rows)
        self.redraw()

    def _messages(self, width: int, height: int) -> list[Line]:
        return self._notices.lines(width, max(1, height // _SHARE))

    def lines(self, width: int, height: int) -> list[Line]:
        if not height:
            return []
        messages = self._messages(width, self.app.size.height) if self._notices.shown else []
        return messages[-height:] or [self.hints(width)]

    def hints(self, width: int) -> Line:
        """The keys."""
        raise NotImplementedError

    def hide_notices(self) -> bool:
        """Returns whether there were any."""
        if not self._notices.shown:
            return False
        self._notices.clear()
        self.show_notices()
        return True


class Hints(NoticeLine):
    """The hints of the panels."""

    ALLOW_SELECT = False

    @dataclass
    class Pressed(Message):
        """The user clicked a hint."""

        action: str

    def __init__(self, keys: Sequence[Key], *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        """keys: all that apply."""
        super().__init__(id="hints", ascii=ascii)
        self._all = list(keys)
        self._keys = hinted(self._all)
        self._zoomed = ""
        self._studying: str | None = None

    def announce(self, doing: str | None) -> None:
        """Show what a study does in the meantime, with the key of its screen; None: no study runs."""
        if doing != self._studying:
            self._studying = doing
            self.redraw()

    def hints(self, width: int) -> Line:
        return hint_line(self._hints, width)

    def zoom(self, panel: str) -> None:
        """Show the keys of this zoomed panel first; empty: no panel is zoomed."""
        if panel != self._zoomed:
            self._zoomed = panel
            self._keys = hinted_zoomed(self._all, panel) if panel else hinted(self._all)
            self.redraw()

    @property
    def _hints(self) -> list[Hint]:
        return [(key.display, key.hint if key.id != STUDIES else self._studying or key.hint) for key in self._shown]

    @property
    def _shown(self) -> list[Key]:
        """The keys in their order; while a study runs, that of its screen comes first."""
        return sorted(self._keys, key=lambda key: self._studying is None or key.id != STUDIES)

    def on_click(self, event: Click) -> None:
        if self.hide_notices():
            return
        for key, (start, end, _) in zip(self._shown, placed_hints(self._hints, self.size.width), strict=False):
            if start <= event.x < end:
                self.post_message(self.Pressed(key.action))


def hint_line(hints: Sequence[Hint], width: int) -> Line:
    """` q quit │ ? help │ space pause`: as many whole hints as fit."""
    spans: list[Span] = []
    for _, _, (key, word) in placed_hints(hints, width):
        spans += [(glyphs.SIDE, "edge")] if spans else []
        spans += [(" ", "text"), (key, "active"), (f" {word} ", "muted")]
    return fit(tuple(spans), width)


def placed_hints(hints: Sequence[Hint], width: int) -> list[tuple[int, int, Hint]]:
    """First cell, end and text of each hint that fits, in the order of their importance."""
    placed: list[tuple[int, int, Hint]] = []
    for key, word in hints:
        start = placed[-1][1] + 1 if placed else 0
        end = start + len(key) + len(word) + 3
        if end > width:
            break
        placed.append((start, end, (key, word)))
    return placed
