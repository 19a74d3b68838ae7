"""What comes over the screen for a moment: the help, and the line that asks for a mark's text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from hettop.tui.charts import glyphs
from hettop.tui.charts.glyphs import to_ascii
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

    def __init__(self, keys: Sequence[Key], *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__()
        self._keys = list(keys)
        self._ascii = ascii

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Static(self._text(), markup=False)

    def _text(self) -> Content:
        parts: list[tuple[str, str]] = []
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


class MarkScreen(ModalScreen[str | None]):
    """One line at the bottom that asks for a note: Enter stores it, Escape does not."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel", id="mark.cancel")]

    def compose(self) -> ComposeResult:
        entry = Input(placeholder="a note at this moment: Enter stores it, Escape cancels", id="mark", compact=True)
        entry.cursor_blink = False
        entry.max_length = 200
        yield entry

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())
