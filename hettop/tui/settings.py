"""The dialog of settings: change them with the arrow keys, then save them to the config file or discard them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from hettop.report.terminal.lines import Line, line, wrapped
from hettop.text import clean
from hettop.tui.guarded import Dialog
from hettop.tui.pickers import FRAME, ListBox, PanelScreen

_WIDTH = 76
_NAME, _VALUE = 16, 26
_WORDS = 3
"""Lines below the list: a blank one, and the description of the setting under the cursor."""
_EMPTY = {"unit": "first available"}
HIDDEN_PANELS = "layout.hidden"
"""The setting whose values are chosen in the dialog of panels."""


@dataclass(frozen=True, slots=True)
class SettingChoice:
    """A setting as the dialog offers it.

    words: its description. choices: the values to step through; `value` is one of them.
    overridden: the environment variable or option that has precedence over the file, empty where there is none.
    restart: whether a change takes effect at the next start only.
    """

    name: str
    words: str
    value: Any
    choices: tuple[Any, ...] = ()
    overridden: str = ""
    restart: bool = False


class SettingsScreen(Dialog[Mapping[str, Any] | None]):
    """Dismissed with the settings that were changed, or with None where they are to be as before.

    apply: shows the effect of a change at once.
    """

    COVERS: ClassVar[bool] = True

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Previous setting", id="settings.previous"),
        Binding("down,j", "move(1)", "Next setting", id="settings.next"),
        Binding("left", "change(-1)", "Previous value", id="settings.less"),
        Binding("right,space", "change(1)", "Next value", id="settings.more"),
        Binding("enter", "save", "Save to the config file", id="settings.save"),
        Binding("escape,q,f2", "discard", "Discard changes", id="settings.discard"),
    ]

    def __init__(
        self,
        settings: Sequence[SettingChoice],
        apply: Callable[[str, Any], None],
        *,
        ascii: bool = False,  # noqa: A002 - the option's name
    ) -> None:
        super().__init__()
        self._settings = settings
        self._apply = apply
        self._ascii = ascii
        self._values = {setting.name: setting.value for setting in settings}
        self._at = 0

    @property
    def changed(self) -> dict[str, Any]:
        """The settings that differ from what they were."""
        return {each.name: self._values[each.name] for each in self._settings if self._values[each.name] != each.value}

    def compose(self) -> ComposeResult:
        box = ListBox("settings", "←→ change, Enter saves, Esc discards", ascii=self._ascii)
        box.styles.width = _WIDTH
        box.styles.height = len(self._settings) + _WORDS + FRAME
        yield box

    def on_mount(self) -> None:
        self._show()

    def _show(self) -> None:
        rows = [self._row(setting) for setting in self._settings]
        words = wrapped(self._settings[self._at].words, _WIDTH - FRAME - 4)[: _WORDS - 1]
        self.query_one(ListBox).show([*rows, (), *(line((row, "muted")) for row in words)], self._at)

    def _row(self, setting: SettingChoice) -> Line:
        value = self._values[setting.name]
        mark, ink = ("*", "accent") if value != setting.value else (" ", "text")
        note = f"overridden by {setting.overridden}" if setting.overridden else "at the next start"
        return line(
            (f"{mark} {setting.name:<{_NAME}}", "strong"),
            (f"{clean(value_text(value, _EMPTY.get(setting.name, 'none')), _VALUE - 2):<{_VALUE}}", ink),
            (note if setting.overridden or setting.restart else "", "muted"),
        )

    def action_move(self, direction: int) -> None:
        self._at = (self._at + direction) % len(self._settings)
        self._show()

    def action_change(self, direction: int) -> None:
        """The next or previous value; hidden panels are chosen in a dialog of their own."""
        setting = self._settings[self._at]
        if setting.name == HIDDEN_PANELS:
            self.app.push_screen(PanelScreen(self._values[HIDDEN_PANELS], self._hide, ascii=self._ascii))
            return
        at = setting.choices.index(self._values[setting.name])
        self._set(setting.name, setting.choices[(at + direction) % len(setting.choices)])

    def _hide(self, hidden: tuple[str, ...]) -> None:
        self._set(HIDDEN_PANELS, hidden)

    def _set(self, name: str, value: Any) -> None:
        self._values[name] = value
        self._apply(name, value)
        self._show()

    def action_save(self) -> None:
        self.dismiss(self.changed)

    def action_discard(self) -> None:
        for setting in self._settings:
            if setting.name in self.changed:
                self._apply(setting.name, setting.value)
        self.dismiss(None)

    def on_list_box_clicked(self, message: ListBox.Clicked) -> None:
        """A click selects a setting, a second one changes it."""
        if message.row >= len(self._settings):
            return
        if message.row == self._at:
            self.action_change(1)
        else:
            self._at = message.row
            self._show()


def value_text(value: Any, empty: str = "none") -> str:
    """A value as the dialog shows it; `empty` stands for an empty text."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value) or empty
