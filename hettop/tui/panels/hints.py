"""The line at the bottom: the keys that do something now, as many as fit; a click on one presses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.events import Click
from textual.message import Message

from hettop.report.terminal.lines import Line, Span, fit
from hettop.tui.chart import Chart
from hettop.tui.keys import Key


class Hints(Chart):
    """Key hints."""

    ALLOW_SELECT = False

    @dataclass
    class Pressed(Message):
        """The user clicked a hint."""

        action: str

    def __init__(self, keys: Sequence[Key], *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(id="hints", ascii=ascii)
        self._keys = keys

    def lines(self, width: int, height: int) -> list[Line]:
        if not height:
            return []
        spans: list[Span] = []
        for _, _, shown in self._placed(width):
            spans += [(" ", "text"), (shown.display, "active"), (f" {shown.hint} ", "muted")]
        return [fit(tuple(spans), width)]

    def _placed(self, width: int) -> list[tuple[int, int, Key]]:
        """First cell, end and key of each hint that fits, in the order of their importance."""
        placed = []
        x = 0
        for key in self._keys:
            end = x + len(key.display) + len(key.hint) + 3
            if end > width:
                break
            placed.append((x, end, key))
            x = end
        return placed

    def on_click(self, event: Click) -> None:
        for start, end, key in self._placed(self.size.width):
            if start <= event.x < end:
                self.post_message(self.Pressed(key.action))
