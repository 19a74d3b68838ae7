"""Five lines that explain the screen to whoever sees it for the first time; any key closes them.

Keeps nothing: whether it was shown before is known elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.content import Content
from textual.events import Click, Key, Resize
from textual.screen import ModalScreen
from textual.widgets import Static

from hettop.report.terminal import glyphs
from hettop.report.terminal.glyphs import to_ascii
from hettop.tui.keys import Key as BoundKey

SMALLEST = (60, 20)
"""Columns and lines below which it would hide what it explains."""

CLOSING = frozenset({"escape", "enter", "space", "q"})
"""Keys by which people close things: they do that alone. Every other key closes it and does what it always does."""


def lines(keys: Sequence[BoundKey], *, replaying: bool) -> tuple[str, ...]:
    """The five lines, with the keys as they are bound."""
    shown = {key.id: key.display for key in keys}
    next_unit = f"{shown['unit.next']} goes to the next"
    turns = "" if replaying else f", {shown['interleave']} takes them in turns"
    run_control = (
        f"{shown['pause']} plays and pauses, {shown['seek.back']} {shown['seek.forward']} seek, "
        f"{shown['mark.next']} goes to the next mark."
        if replaying
        else f"{shown['room.load']} sets competing load, {shown['record']} records, "
        f"{shown['room.verdict']} tells which unit to use."
    )
    return (
        f"Panel 1: each latency of the last seconds; {glyphs.MARK} marks P50, P90, P99.",
        f"Panel 2: when the slow ones came. A call above {glyphs.FENCE} is a spike.",
        f"Panel 3: the compute units; {next_unit}{turns}.",
        run_control,
        f"n/a was not measured. {shown['help']} explains panel and keys, {shown['quit']} quits.",
    )


class IntroductionScreen(ModalScreen[None]):
    """The lines in a box over the charts."""

    def __init__(self, keys: Sequence[BoundKey], *, replaying: bool, ascii: bool = False) -> None:  # noqa: A002
        super().__init__()
        self._text = lines(keys, replaying=replaying)
        self._ascii = ascii
        self._replaying = replaying

    def compose(self) -> ComposeResult:
        replay = ": a replay of a recording" if self._replaying else ""
        parts = [(f"Your first look at hettop{replay}\n\n", "bold $primary")]
        parts += [(f"{line}\n", "") for line in self._text]
        parts.append(("\nAny key closes this; it comes once.", "$foreground 62%"))
        if self._ascii:
            parts = [(to_ascii(text), style) for text, style in parts]
        yield Static(Content.assemble(*parts), id="introduction", markup=False)

    def on_key(self, event: Key) -> None:
        event.stop()
        self._close()
        if event.key not in CLOSING:
            self.app.call_later(self.app.simulate_key, event.key)

    def on_click(self, _: Click) -> None:
        self._close()

    def on_resize(self, event: Resize) -> None:
        if event.size.width < SMALLEST[0] or event.size.height < SMALLEST[1]:
            self._close()

    def _close(self) -> None:
        if self.is_current:  # keys that come faster than it closes
            self.dismiss()
