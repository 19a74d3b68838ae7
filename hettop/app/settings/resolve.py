"""The effective settings and the source of each value: default, file, screen, environment, option, in this order.

Invalid values are reported and ignored, so that an error in a file never stops a measurement. Commands without a screen
do not read settings: their results must not depend on a file in the home folder.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hettop.app.settings.schema import BEST, BY_NAME, KEYS_TABLE, SETTINGS, Setting
from hettop.errors import HettopError
from hettop.measurement.user_files import CONFIG_VARIABLE, Places, user_places, write_atomically
from hettop.text import clean, nearest
from hettop.toml import TomlFile, read_toml

if TYPE_CHECKING:
    from hettop.tui.keymap import Keymap
    from hettop.tui.preferences import Preferences

DEFAULT, FILE, SCREEN, ENVIRONMENT, OPTION = "default", "file", "screen", "environment", "option"


@dataclass(frozen=True, slots=True)
class Value:
    """An effective value: `source` is one of the five above, `where` the exact place (`config.toml, line 3`)."""

    value: Any
    source: str = DEFAULT
    where: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """The effective settings. `keys` as written, by id; `faults`: the errors as text.

    by_file: the values without choices made on the screen. A choice is stored together with the value it replaces.
    """

    values: Mapping[str, Value]
    keys: Mapping[str, Value] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    by_file: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.values[name].value


def resolve_settings(
    file: TomlFile | None,
    environment: Mapping[str, str],
    ui_state: UiState | None = None,
    options: Mapping[str, Any] | None = None,
) -> Settings:
    """Merge all sources. `options`: values of the command line by setting, None where it has none."""
    faults: list[str] = []
    values = {setting.name: Value(setting.default) for setting in SETTINGS}
    keys: dict[str, Value] = {}
    if file is not None:
        values |= _from_file(file, faults)
        keys = _keys_of(file, faults)
    by_file = {name: value.value for name, value in values.items()}
    if ui_state is not None and values["layout.keep"].value:
        chosen = {name: ui_state.choice(name, value) for name, value in by_file.items()}
        values |= {
            name: Value(value, SCREEN, "chosen on the screen") for name, value in chosen.items() if value is not None
        }
    values |= _from_environment(environment, faults)
    for name, value in (options or {}).items():
        if value is not None:
            values[name] = Value(value, OPTION, BY_NAME[name].option)
    return Settings(values, keys, tuple(faults), by_file)


def _from_file(file: TomlFile, faults: list[str]) -> dict[str, Value]:
    found = {}
    for keys, value in _leaves({name: value for name, value in file.values.items() if name != KEYS_TABLE}):
        name = ".".join(keys)
        setting = BY_NAME.get(name)
        if setting is None:
            faults.append(f"{file.place(*keys)}: unknown setting {clean(name)!r}{_nearest(name)}")
        elif (checked := _checked(setting, value, f"{file.place(*keys)}: {name}", faults)) is not None:
            found[name] = Value(checked, FILE, file.place(*keys))
    return found


def _from_environment(environment: Mapping[str, str], faults: list[str]) -> dict[str, Value]:
    found = {}
    for setting in SETTINGS:
        text = environment.get(setting.variable)
        if not text:
            continue
        checked = _checked(setting, setting.from_text(text), setting.variable, faults)
        if checked is not None:
            found[setting.name] = Value(checked, ENVIRONMENT, setting.variable)
    return found


def _checked(setting: Setting, value: Any, what: str, faults: list[str]) -> Any:
    try:
        return setting.check(value)
    except (ValueError, TypeError):
        faults.append(f"{what} must be {setting.takes}, not {shown(value)}")
        return None


def _keys_of(file: TomlFile, faults: list[str]) -> dict[str, Value]:
    """The table of keys, where `unit.next = "u"` means the same as `"unit.next" = "u"`."""
    table = file.values.get(KEYS_TABLE, {})
    if not isinstance(table, dict):
        faults.append(f"{file.place(KEYS_TABLE)}: keys must be a table, as in [keys]")
        return {}
    found = {}
    for keys, value in _leaves(table):
        place = file.place(KEYS_TABLE, *keys)
        name = ".".join(keys)
        if isinstance(value, str):
            found[name] = Value(value, FILE, place)
        else:
            faults.append(f'{place}: the key of {clean(name)!r} must be a text such as "u", not {shown(value)}')
    return found


def _leaves(table: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value that is not a table, with its keys; an unknown empty table counts as a value."""
    for key, value in table.items():
        keys = (*above, key)
        known_table = any(name.startswith(f"{'.'.join(keys)}.") for name in BY_NAME)
        if isinstance(value, dict) and (value or known_table):
            yield from _leaves(value, keys)
        else:
            yield keys, value


def _nearest(name: str) -> str:
    near = nearest(name, [*BY_NAME, KEYS_TABLE])
    return f"; {near}" if near else ""


def shown(value: Any) -> str:
    """A value as written in the file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{clean(value, 60)}"'
    if isinstance(value, list | tuple):
        return "[" + ", ".join(shown(each) for each in value[:8]) + "]"
    if isinstance(value, float):
        return f"{value:g}"
    return clean(str(value), 60) if isinstance(value, int) else f"a {type(value).__name__}"


REMEMBERED = ("theme", "layout.hidden", "layout.zoomed", "layout.preset")
_INTRODUCED = "introduced"
_LARGEST_BYTES = 20_000


@dataclass(slots=True)
class UiState:
    """The choices made on the screen, as read from `path`; none where the file is missing or damaged."""

    path: Path
    content: dict[str, Any] = field(default_factory=dict)

    @property
    def introduced(self) -> bool:
        """Whether the introduction has been shown."""
        return self.content.get(_INTRODUCED) is True

    def choice(self, name: str, by_file: Any) -> Any:
        """The choice made on the screen; None without one, or if the value in the config file changed since."""
        found = self.content.get(name)
        if name not in REMEMBERED or not isinstance(found, dict) or found.get("over") != _plain(by_file):
            return None
        try:
            return BY_NAME[name].check(found.get("chosen"))
        except (ValueError, TypeError):
            return None

    def keep(self, name: str, value: Any, by_file: Any) -> bool:
        """Store a choice; returns whether it could be written."""
        if name not in REMEMBERED:
            return False
        return self._with(name, {"chosen": _plain(value), "over": _plain(by_file)})

    def drop(self, name: str) -> None:
        """Forget this choice."""
        if name in self.content:
            self._with(name, None)

    def introduce(self) -> bool:
        """Store that the introduction is being shown; returns whether it could be written."""
        return self._with(_INTRODUCED, True)

    def forget(self) -> None:
        """Remove the file: the values of the config file apply again, and the introduction is shown again."""
        self.content = {}
        self.path.unlink(missing_ok=True)

    def _with(self, name: str, value: Any) -> bool:
        # Another hettop may have written meanwhile: change only this value.
        self.content = {**read_ui_state(self.path).content, name: value}
        with contextlib.suppress(OSError):
            write_atomically(self.path, json.dumps(self.content, indent=1) + "\n")
            return True
        return False


def read_ui_state(path: Path) -> UiState:
    """Read the choices at `path`."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        if not path.is_file():  # opening a pipe would block
            return UiState(path)
        with path.open("rb") as file:
            content = json.loads(file.read(_LARGEST_BYTES))
        if isinstance(content, dict):
            return UiState(path, content)
    return UiState(path)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


USUAL_THEME = Value(BY_NAME["theme"].default)
NO_COLOUR = "NO_COLOR"


@dataclass(frozen=True, slots=True)
class UserSettings:
    """The settings with their files. `ui_state` is None for a user without a home."""

    places: Places
    ui_state: UiState | None
    settings: Settings

    @property
    def power(self) -> str | None:
        """The power source; None for the best available."""
        return None if self.settings["power"] == BEST else str(self.settings["power"])

    def keep(self, name: str, value: object) -> None:
        """Store a choice made on the screen; one that cannot be written holds until the screen is closed."""
        if self.ui_state is not None and self.settings["layout.keep"]:
            self.ui_state.keep(name, value, self.settings.by_file[name])

    def drop(self, name: str) -> None:
        """Forget a choice made on the screen."""
        if self.ui_state is not None:
            self.ui_state.drop(name)

    def introduce(self) -> bool:
        """Whether to show the introduction: once, and never where that cannot be stored."""
        return self.ui_state is not None and not self.ui_state.introduced and self.ui_state.introduce()


def load_settings(
    options: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] = os.environ,
    places: Places | None = None,
) -> UserSettings:
    """The effective settings. Raises nothing: errors are in `settings.faults`."""
    places = places or user_places()
    ui_state = None if places.state is None else read_ui_state(places.state)
    file, fault = _config(places.config, named=CONFIG_VARIABLE in environment)
    settings = resolve_settings(file, environment, ui_state, options)
    return UserSettings(places, ui_state, replace(settings, faults=(*fault, *settings.faults)))


def _config(path: Path | None, *, named: bool) -> tuple[TomlFile | None, tuple[str, ...]]:
    """The file and its errors; a missing file is an error only if the user named it."""
    if path is None:
        return None, ()
    try:
        return read_toml(path), ()
    except HettopError as error:
        return None, () if error.kind == "missing" and not named else (error.message,)


def preferences(user: UserSettings) -> Preferences:
    """The preferences of the screen, without theme, redraws and characters."""
    from hettop.app.settings.save import save_picture, save_settings, setting_choices
    from hettop.tui.constants import uses_braille
    from hettop.tui.preferences import Preferences

    settings = user.settings
    keymap = screen_keymap(settings.keys)
    wrong_keys = [f"{settings.keys[name].where}: {name}: {why}" for name, why in keymap.faults.items()]
    return Preferences(
        window_s=settings["window"],
        hidden=settings["layout.hidden"],
        zoomed=settings["layout.zoomed"],
        preset=settings["layout.preset"],
        keymap=keymap.keys,
        theme_folder=user.places.themes,
        introduce=user.introduce,
        animated=settings["animation"],
        braille=uses_braille(settings["charts"], os.environ.get("TERM", "")),
        notices=(*settings.faults, *wrong_keys),
        keep=user.keep,
        settings=partial(setting_choices, user),
        save_settings=partial(save_settings, user),
        save_picture=save_picture,
    )


def screen_keymap(keys: Mapping[str, Value]) -> Keymap:
    """The user's valid keys, and the errors of the others."""
    from hettop.tui.keymap import make_keymap
    from hettop.tui.scopes import scopes

    return make_keymap({name: value.value for name, value in keys.items()}, scopes())


def with_theme(
    user: UserSettings, has_theme: Callable[[str], bool], environment: Mapping[str, str] = os.environ
) -> tuple[UserSettings, tuple[str, ...]]:
    """The settings with the theme that the screen uses, and an error where the wanted one is unknown.

    Without a wanted theme it is the default one, or under NO_COLOR the one without hues.
    """
    value = user.settings.values["theme"]
    faults: tuple[str, ...] = ()
    if not has_theme(value.value):
        faults = (f"{value.where}: unknown theme {value.value!r}; using the default",)
        value = USUAL_THEME
    if value == USUAL_THEME and environment.get(NO_COLOUR):
        from hettop.tui.themes import WITHOUT_COLOR

        value = Value(WITHOUT_COLOR, ENVIRONMENT, NO_COLOUR)
    return replace(user, settings=replace(user.settings, values={**user.settings.values, "theme": value})), faults
