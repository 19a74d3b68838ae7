"""Which keys are in force together: those of the panels, and those of each room and list by itself.

Needs every part of the screen that has keys; nothing is drawn.
"""

from __future__ import annotations

from textual.binding import Binding, BindingsMap
from textual.screen import Screen

from hettop.tui.dialogs import AskingScreen, HelpScreen
from hettop.tui.keymap import Scope
from hettop.tui.keys import KEYS
from hettop.tui.pickers import PanelScreen, ThemeScreen
from hettop.tui.screens import SCREENS
from hettop.tui.screens.page_screen import PageScreen

_OVER: tuple[type[Screen[object]], ...] = (HelpScreen, AskingScreen, ThemeScreen, PanelScreen)  # type: ignore[assignment]


def scopes() -> list[Scope]:
    """The panels' keys first. A room's key goes before the panels' one of the same name while the room is there."""
    panels = Scope("panels", tuple(Binding(key.keys, key.action, key.words, id=key.id) for key in KEYS))
    rooms = [Scope(f"screen {name}", (*_own(PageScreen), *_own(room))) for name, room in SCREENS.items()]
    return [panels, *rooms, *(Scope(screen.__name__, _own(screen)) for screen in _OVER)]


def _own(screen: type[Screen[object]] | type[Screen[None]]) -> tuple[Binding, ...]:
    """What a class itself binds, without what it inherits; alternatives of one binding together."""
    made = BindingsMap(screen.__dict__.get("BINDINGS", ()))
    keys: dict[str, list[Binding]] = {}
    for binding in (each for group in made.key_to_bindings.values() for each in group if each.id):
        keys.setdefault(binding.id or "", []).append(binding)
    return tuple(group[0].with_key(",".join(each.key for each in group), None) for group in keys.values())
