"""The settings of the user who runs this process: reads the files, and joins them with what the screen has and asks.

Measurements without a screen do not come here: what a script measures must not hang on a file in somebody's home.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hettop.app.settings.resolve import ENVIRONMENT, Force, Value, in_force
from hettop.app.settings.schema import BEST, BY_NAME
from hettop.app.settings.ui_state import Kept, read_kept
from hettop.errors import HettopError
from hettop.measurement.user_files import CONFIG_VARIABLE, Places, my_places
from hettop.toml import TomlFile, read_toml

if TYPE_CHECKING:
    from hettop.tui.keymap import Keymap
    from hettop.tui.preferences import Preferences

USUAL_THEME = Value(BY_NAME["theme"].default)
NO_COLOUR = "NO_COLOR"


@dataclass(frozen=True, slots=True)
class Mine:
    """`kept` is None where nothing can be kept, for want of a home."""

    places: Places
    kept: Kept | None
    force: Force

    @property
    def power(self) -> str | None:
        """The source of power; None for the best there is."""
        return None if self.force["power"] == BEST else str(self.force["power"])

    def keep(self, name: str, value: object) -> None:
        """Remember a choice made on the screen. Where it cannot be written, it holds until the screen is left."""
        if self.kept is not None and self.force["layout.keep"]:
            self.kept.keep(name, value, self.force.by_file[name])

    def introduce(self) -> bool:
        """Whether the screen is to be explained: once, and never where it cannot be remembered that it was."""
        return self.kept is not None and not self.kept.introduced and self.kept.introduce()


def my_settings(
    options: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] = os.environ,
    places: Places | None = None,
) -> Mine:
    """What is in force. Raises nothing: what is wrong stands in `force.faults`."""
    places = places or my_places()
    kept = None if places.state is None else read_kept(places.state)
    file, fault = _config(places.config, named=CONFIG_VARIABLE in environment)
    force = in_force(file, environment, kept, options)
    return Mine(places, kept, replace(force, faults=(*fault, *force.faults)))


def _config(path: Path | None, *, named: bool) -> tuple[TomlFile | None, tuple[str, ...]]:
    """The file, and what was wrong with it; that there is none is wrong only if the user named it."""
    if path is None:
        return None, ()
    try:
        return read_toml(path), ()
    except HettopError as error:
        return None, () if error.kind == "missing" and not named else (error.message,)


def preferences(mine: Mine) -> Preferences:
    """All that the screen is told beside theme, redraws and characters; reads which keys there are."""
    from hettop.tui.preferences import Preferences

    force = mine.force
    keymap = screen_keymap(force.keys)
    wrong_keys = [f"{force.keys[name].where}: {name}: {why}" for name, why in keymap.faults.items()]
    return Preferences(
        window_s=force["window"],
        hidden=force["layout.hidden"],
        zoomed=force["layout.zoomed"],
        keymap=keymap.keys,
        theme_folder=mine.places.themes,
        introduce=mine.introduce,
        animated=force["animation"],
        notices=(*force.faults, *wrong_keys),
        keep=mine.keep,
    )


def screen_keymap(keys: Mapping[str, Value]) -> Keymap:
    """The user's keys that can be in force, and why others cannot."""
    from hettop.tui.keymap import make_keymap
    from hettop.tui.scopes import scopes

    return make_keymap({name: value.value for name, value in keys.items()}, scopes())


def with_theme(
    mine: Mine, has_theme: Callable[[str], bool], environment: Mapping[str, str] = os.environ
) -> tuple[Mine, tuple[str, ...]]:
    """The same with the theme that the screen takes, and what is to be said where there is none of the wanted name.

    Where nobody has named one, it is the usual one, or under NO_COLOR the one without hues.
    """
    value = mine.force.values["theme"]
    faults: tuple[str, ...] = ()
    if not has_theme(value.value):
        faults = (f"{value.where}: no theme is called {value.value!r}; the usual one is in force",)
        value = USUAL_THEME
    if value == USUAL_THEME and environment.get(NO_COLOUR):
        from hettop.tui.themes import WITHOUT_COLOR

        value = Value(WITHOUT_COLOR, ENVIRONMENT, NO_COLOUR)
    return replace(mine, force=replace(mine.force, values={**mine.force.values, "theme": value})), faults
