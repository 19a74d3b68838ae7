"""Which keys are active together: those of the panels, live or in a replay, and those of each screen and dialog."""

from __future__ import annotations

from typing import Any

from textual.binding import Binding, BindingsMap
from textual.screen import Screen

from hettop.tui.dialogs import AskingScreen, ConfirmScreen, HelpScreen, MomentScreen
from hettop.tui.keymap import Scope
from hettop.tui.keys import Key, applicable
from hettop.tui.pickers import PanelScreen, ThemeScreen
from hettop.tui.screens import SCREENS
from hettop.tui.screens.page_screen import PageScreen
from hettop.tui.settings import SettingsScreen

_DIALOGS: tuple[type[Screen[Any]], ...] = (
    HelpScreen,
    AskingScreen,
    ConfirmScreen,
    ThemeScreen,
    PanelScreen,
    SettingsScreen,
)


def scopes() -> list[Scope]:
    """The panels' keys first. A screen's key has precedence over the same key of the panels while it is open."""
    return [
        Scope("live", _bindings(applicable(live=True, replay=False))),
        Scope("replay", _bindings(applicable(live=False, replay=True))),
        *(Scope(f"screen {name}", (*_own(PageScreen), *_own(screen))) for name, screen in SCREENS.items()),
        *(Scope(dialog.__name__, _own(dialog)) for dialog in _DIALOGS),
        Scope(MomentScreen.__name__, (*_own(AskingScreen), *_own(MomentScreen))),
    ]


def _bindings(keys: list[Key]) -> tuple[Binding, ...]:
    return tuple(Binding(key.keys, key.action, key.words, id=key.id) for key in keys)


def _own(screen: type[Screen[Any]]) -> tuple[Binding, ...]:
    """The bindings of a class without those it inherits; alternatives of one binding together."""
    made = BindingsMap(screen.__dict__.get("BINDINGS", ()))
    keys: dict[str, list[Binding]] = {}
    for binding in (each for group in made.key_to_bindings.values() for each in group if each.id):
        keys.setdefault(binding.id or "", []).append(binding)
    return tuple(group[0].with_key(",".join(each.key for each in group), None) for group in keys.values())
