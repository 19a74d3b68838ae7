"""What comes over the screen for a moment: the help, the first look, and the line that asks for a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Click, Resize
from textual.events import Key as Pressed
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from hettop.report.terminal import glyphs
from hettop.report.terminal.glyphs import to_ascii
from hettop.tui.keys import Key, grouped

_KEY_WIDTH = 11
LEGEND = (
    (glyphs.MARK + "50 90 99", "P50, P90 and P99 in the histogram; below, bars change colour there"),
    (f"{glyphs.GUIDE} {glyphs.ABOVE}", "where P90 and P99 stand; samples beyond the right end"),
    (f"{glyphs.SHADE} {glyphs.FULL} {glyphs.FENCE}", "P90 and maximum of a slot of time; the fence for spikes"),
    (glyphs.CLIPPED, "a maximum beyond the top of the scale"),
    (f"{glyphs.NOTE} {glyphs.LOAD} {glyphs.CONTROL}", "your mark, a change of load, a change of units"),
    (f"{glyphs.ACTIVE} {glyphs.VIEWED}", "the unit that runs; the one that is looked at"),
    (glyphs.MEDIAN, "the median in a unit's distribution"),
    (f"{glyphs.FAILED} !", "failed; doubtful, such as outputs that differ from the reference's"),
    ("n/a", "not measured: never 0"),
    ("sum", "CPU+GPU+ANE (estimate), never the whole machine"),
)
"""The glyphs of the panels, and what they say."""


class HelpScreen(ModalScreen[None]):
    """Every key and what it does; Escape, `q`, `?` or F1 closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "dismiss", "Close", id="help.close"),
    ]

    def __init__(
        self,
        keys: Sequence[Key],
        *,
        explained: tuple[str, str] | None = None,
        own: Sequence[tuple[str, str]] = (),
        ascii: bool = False,  # noqa: A002 - the option's name
    ) -> None:
        """`explained`: the name of what the user looks at, and a paragraph on it; `own`: its keys and their words."""
        super().__init__()
        self._keys = list(keys)
        self._explained = explained
        self._own = own
        self._ascii = ascii

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Static(self._text(), markup=False)

    def on_key(self, event: Pressed) -> None:
        """The key that opened the help closes it, whichever it is bound to."""
        opening = next((key.keys.split(",") for key in self._keys if key.id == "help"), [])
        if event.key in opening:
            event.stop()
            self.dismiss()

    def _text(self) -> Content:
        parts: list[tuple[str, str]] = []
        if self._explained is not None:
            name, paragraph = self._explained
            parts += [(f"{name}\n", "bold $primary"), (f"{paragraph}\n\n", "")]
        if self._own:
            parts.append(("Keys here\n", "bold $primary"))
        for shown, words in self._own:
            parts += [(f"  {shown:<{_KEY_WIDTH}}", "bold"), (f"{words}\n", "")]
        for name, keys in grouped(self._keys):
            parts.append((f"{name}\n", "bold $primary"))
            for key in keys:
                parts += [(f"  {key.display:<{_KEY_WIDTH}}", "bold"), (f"{key.words}\n", "")]
        parts.append(("On the screen\n", "bold $primary"))
        for shown, words in LEGEND:
            parts += [(f"  {shown:<{_KEY_WIDTH}}", "bold"), (f"{words}\n", "")]
        parts.append(
            (
                "\nClick a unit to choose it, twice for all that is known of it. ↑ ↓ scroll, Escape closes this help.",
                "$foreground 62%",
            )
        )
        if self._ascii:
            parts = [(to_ascii(text), style) for text, style in parts]
        return Content.assemble(*parts)


class AskingScreen(ModalScreen[str | None]):
    """One line at the bottom that asks for something: Enter gives what was typed, Escape nothing."""

    ID: ClassVar[str] = ""
    ASKED: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel", id="asking.cancel")]

    def compose(self) -> ComposeResult:
        entry = Input(placeholder=f"{self.ASKED}, Escape cancels", id=self.ID, classes="asking", compact=True)
        entry.cursor_blink = False
        entry.max_length = 200
        yield entry

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())


class MarkScreen(AskingScreen):
    """Asks for a note; stored by Enter."""

    ID = "mark"
    ASKED = "a note at this moment: Enter stores it"


class MomentScreen(AskingScreen):
    """Asks for a moment of a recording."""

    ID = "moment"
    ASKED = "go to 90s, 1:30, 1:02:03, 50% or +10s: Enter goes there"


SMALLEST = (60, 20)
"""Columns and lines below which it would hide what it explains."""

CLOSING = frozenset({"escape", "enter", "space", "q"})
"""Keys by which people close things: they do that alone. Every other key closes it and does what it always does."""


def lines(keys: Sequence[Key], *, replaying: bool) -> tuple[str, ...]:
    """The five lines, with the keys as they are bound."""
    shown = {key.id: key.display for key in keys}
    next_unit = f"{shown['unit.next']} goes to the next"
    turns = "" if replaying else f", {shown['interleave']} takes them in turns"
    run_control = (
        f"{shown['pause']} plays and pauses, {shown['seek.back']} {shown['seek.forward']} seek, "
        f"{shown['mark.next']} goes to the next mark."
        if replaying
        else f"{shown['screen.load']} sets competing load, {shown['record']} records, "
        f"{shown['screen.verdict']} tells which unit to use."
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

    def __init__(self, keys: Sequence[Key], *, replaying: bool, ascii: bool = False) -> None:  # noqa: A002
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

    def on_key(self, event: Pressed) -> None:
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
