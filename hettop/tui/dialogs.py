"""Dialogs over the screen: the help, the introduction, and prompts at the bottom line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Click, Resize
from textual.events import Key as Pressed
from textual.widgets import Input, Static

from hettop.report.terminal import glyphs
from hettop.report.terminal.glyphs import to_ascii
from hettop.tui.guarded import Dialog
from hettop.tui.keys import Key, grouped

_KEY_WIDTH = 11
LEGEND = (
    (glyphs.MARK + "50 90 99", "P50, P90 and P99 in the histogram"),
    (f"{glyphs.MEDIAN} {glyphs.DASHED} {glyphs.GUIDE}", "lines at P50, P90 and P99 of each unit's distribution"),
    (f"{glyphs.BUDGET} {glyphs.BELOW} {glyphs.ABOVE}", "the latency budget; samples beyond the axis"),
    (f"{glyphs.SHADE} {glyphs.FULL} {glyphs.FENCE}", "P90 and maximum of a time slot; the spike threshold"),
    (f"{glyphs.SPIKE} {glyphs.OFF_SCALE}", "a spike; a maximum off the scale that is not a spike"),
    (f"{glyphs.NOTE} {glyphs.LOAD} {glyphs.CONTROL}", "a mark, a change of load, a change of units"),
    (f"{glyphs.ACTIVE} {glyphs.VIEWED}", "the running unit; the viewed unit"),
    (f"{glyphs.FAILED} !", "failed; warning, such as outputs that differ"),
    ("n/a", "not measured, which is not 0"),
    ("sum", "CPU+GPU+ANE (estimate), not the whole machine"),
)
"""The glyphs of the panels and their meaning."""


class HelpScreen(Dialog[None]):
    """All keys and what they do; Escape, `q`, `?` or F1 closes it."""

    COVERS: ClassVar[bool] = True
    """Nothing behind it is visible, nor has to be drawn."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "dismiss", "Close the help", id="help.close"),
    ]

    def __init__(
        self,
        keys: Sequence[Key],
        *,
        explained: tuple[str, str] | None = None,
        own: Sequence[tuple[str, str]] = (),
        ascii: bool = False,  # noqa: A002 - the option's name
    ) -> None:
        """`explained`: the name of the current screen or panel, and a paragraph on it; `own`: its own keys."""
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
                "\nClick a unit to select it, twice for its details; click a heading to sort. ↑ ↓ scroll, Esc closes.",
                "$foreground 62%",
            )
        )
        if self._ascii:
            parts = [(to_ascii(text), style) for text, style in parts]
        return Content.assemble(*parts)


class _Entry(Input):
    """A field that lets keys of its screen pass while it is empty."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return bool(self.value) and super().check_consume_key(key, character)


class AskingScreen(Dialog[str | None]):
    """A prompt at the bottom line: Enter returns the text, Escape cancels."""

    ID: ClassVar[str] = ""
    ASKED: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel the prompt", id="asking.cancel")
    ]

    def compose(self) -> ComposeResult:
        entry = _Entry(placeholder=f"{self.ASKED}, Escape cancels", id=self.ID, classes="asking", compact=True)
        entry.cursor_blink = False
        entry.max_length = 200
        yield entry

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())


class MarkScreen(AskingScreen):
    """Asks for the text of a mark."""

    ID = "mark"
    ASKED = "note at this moment: Enter saves it"


class MomentScreen(AskingScreen):
    """Asks for a moment of a recording; `g` in the empty field goes to the start."""

    ID = "moment"
    ASKED = "go to 90s, 1:30, 50% or +10s; g: start; Enter goes there"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("g", "start", "Go to the start, in the empty field", id="moment.start", priority=True),
    ]

    def action_start(self) -> None:
        self.dismiss("0s")


class FilterScreen(AskingScreen):
    """Asks for the text that rows must contain; `change` gets it while it is typed, and Escape removes the filter."""

    ID = "filter"

    def __init__(self, listed: str, text: str, change: Callable[[str], None]) -> None:
        super().__init__()
        self._listed = listed
        self._text = text
        self._change = change

    def on_mount(self) -> None:
        entry = self.query_one(Input)
        entry.placeholder = f"filter {self._listed}: Enter keeps it, Escape removes it"
        entry.value = self._text

    def on_input_changed(self, event: Input.Changed) -> None:
        self._change(event.value.strip())


class ConfirmScreen(Dialog[bool]):
    """Asks a question at the bottom line; only `y` or Enter confirms."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "dismiss(True)", "Confirm", id="confirm.yes"),
        Binding("escape,n,q", "dismiss(False)", "Cancel", id="confirm.no"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        yield Static(f"{self._question} y: yes, Esc: no", classes="asking", markup=False)


SMALLEST = (60, 20)
"""Columns and lines below which the introduction would hide what it explains."""


def lines(keys: Sequence[Key], *, replaying: bool) -> tuple[str, ...]:
    """The five lines of the introduction, with the keys as they are bound."""
    shown = {key.id: key.display for key in keys}
    next_unit = f"{shown['unit.next']} switches to the next"
    turns = "" if replaying else f", {shown['interleave']} interleaves or stops it"
    run_control = (
        f"{shown['pause']} plays and pauses, {shown['seek.back']} {shown['seek.forward']} seek, "
        f"{shown['mark.next']} goes to the next mark."
        if replaying
        else f"{shown['screen.load']} sets competing load, {shown['record']} records, "
        f"{shown['screen.verdict']} shows which unit to use."
    )
    return (
        f"Panel 1: latencies of the last seconds; lines: P50 {glyphs.MEDIAN}, P90 {glyphs.DASHED}, P99 {glyphs.GUIDE}.",
        f"Panel 2: latency over time. A call above the threshold {glyphs.FENCE} is a spike.",
        f"Panel 3: compute units; {next_unit}{turns}.",
        run_control,
        f"n/a means not measured. {shown['help']} explains panels and keys, {shown['quit']} quits.",
    )


class IntroductionScreen(Dialog[None]):
    """The introduction at the bottom of the screen, shown once."""

    def __init__(self, keys: Sequence[Key], *, replaying: bool, ascii: bool = False) -> None:  # noqa: A002
        super().__init__()
        self._text = lines(keys, replaying=replaying)
        self._ascii = ascii
        self._replaying = replaying

    def compose(self) -> ComposeResult:
        replay = ": a replay of a recording" if self._replaying else ""
        parts = [(f"Welcome to hettop{replay}\n\n", "bold $primary")]
        parts += [(f"{line}\n", "") for line in self._text]
        parts.append(("\nAny key closes this; it is shown once.", "$foreground 62%"))
        if self._ascii:
            parts = [(to_ascii(text), style) for text, style in parts]
        yield Static(Content.assemble(*parts), id="introduction", markup=False)

    def on_key(self, event: Pressed) -> None:
        """A key that is meant for the panels would change what is measured before it is seen."""
        event.stop()
        event.prevent_default()
        self.dismiss()

    def on_click(self, _: Click) -> None:
        self.dismiss()

    def on_resize(self, event: Resize) -> None:
        if event.size.width < SMALLEST[0] or event.size.height < SMALLEST[1]:
            self.dismiss()
