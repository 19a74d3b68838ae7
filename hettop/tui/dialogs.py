"""What comes over the screen for a moment: the help, and the line that asks for a mark's text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
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
