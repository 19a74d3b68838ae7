"""The settings of the user who runs this process: reads the files, and joins them with what the screen has and asks.

Measurements without a screen do not come here: what a script measures must not hang on a file in somebody's home.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hettop.app.settings.resolve import ENVIRONMENT, Settings, Value, resolve_settings
from hettop.app.settings.schema import BEST, BY_NAME
from hettop.app.settings.ui_state import UiState, read_ui_state
from hettop.errors import HettopError
from hettop.measurement.user_files import CONFIG_VARIABLE, Places, user_places
from hettop.toml import TomlFile, read_toml

if TYPE_CHECKING:
    from hettop.tui.keymap import Keymap
    from hettop.tui.preferences import Preferences

USUAL_THEME = Value(BY_NAME["theme"].default)
NO_COLOUR = "NO_COLOR"


@dataclass(frozen=True, slots=True)
class UserSettings:
    """`ui_state` is None where nothing can be kept, for want of a home."""

    places: Places
    ui_state: UiState | None
    settings: Settings

    @property
    def power(self) -> str | None:
        """The source of power; None for the best there is."""
        return None if self.settings["power"] == BEST else str(self.settings["power"])

    def keep(self, name: str, value: object) -> None:
        """Remember a choice made on the screen. Where it cannot be written, it holds until the screen is left."""
        if self.ui_state is not None and self.settings["layout.keep"]:
            self.ui_state.keep(name, value, self.settings.by_file[name])

    def introduce(self) -> bool:
        """Whether the screen is to be explained: once, and never where it cannot be remembered that it was."""
        return self.ui_state is not None and not self.ui_state.introduced and self.ui_state.introduce()


def load_settings(
    options: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] = os.environ,
    places: Places | None = None,
) -> UserSettings:
    """What is in force. Raises nothing: what is wrong stands in `settings.faults`."""
    places = places or user_places()
    ui_state = None if places.state is None else read_ui_state(places.state)
    file, fault = _config(places.config, named=CONFIG_VARIABLE in environment)
    settings = resolve_settings(file, environment, ui_state, options)
    return UserSettings(places, ui_state, replace(settings, faults=(*fault, *settings.faults)))


def _config(path: Path | None, *, named: bool) -> tuple[TomlFile | None, tuple[str, ...]]:
    """The file, and what was wrong with it; that there is none is wrong only if the user named it."""
    if path is None:
        return None, ()
    try:
        return read_toml(path), ()
    except HettopError as error:
        return None, () if error.kind == "missing" and not named else (error.message,)


def preferences(user: UserSettings) -> Preferences:
    """All that the screen is told beside theme, redraws and characters; reads which keys there are."""
    from hettop.tui.preferences import Preferences

    settings = user.settings
    keymap = screen_keymap(settings.keys)
    wrong_keys = [f"{settings.keys[name].where}: {name}: {why}" for name, why in keymap.faults.items()]
    return Preferences(
        window_s=settings["window"],
        hidden=settings["layout.hidden"],
        zoomed=settings["layout.zoomed"],
        keymap=keymap.keys,
        theme_folder=user.places.themes,
        introduce=user.introduce,
        animated=settings["animation"],
        notices=(*settings.faults, *wrong_keys),
        keep=user.keep,
    )


def screen_keymap(keys: Mapping[str, Value]) -> Keymap:
    """The user's keys that can be in force, and why others cannot."""
    from hettop.tui.keymap import make_keymap
    from hettop.tui.scopes import scopes

    return make_keymap({name: value.value for name, value in keys.items()}, scopes())


def with_theme(
    user: UserSettings, has_theme: Callable[[str], bool], environment: Mapping[str, str] = os.environ
) -> tuple[UserSettings, tuple[str, ...]]:
    """The same with the theme that the screen takes, and what is to be said where there is none of the wanted name.

    Where nobody has named one, it is the usual one, or under NO_COLOR the one without hues.
    """
    value = user.settings.values["theme"]
    faults: tuple[str, ...] = ()
    if not has_theme(value.value):
        faults = (f"{value.where}: no theme is called {value.value!r}; the usual one is in force",)
        value = USUAL_THEME
    if value == USUAL_THEME and environment.get(NO_COLOUR):
        from hettop.tui.themes import WITHOUT_COLOR

        value = Value(WITHOUT_COLOR, ENVIRONMENT, NO_COLOUR)
    return replace(user, settings=replace(user.settings, values={**user.settings.values, "theme": value})), faults
