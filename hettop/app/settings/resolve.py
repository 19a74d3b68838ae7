"""What is in force, and where each value came from: default, file, the screen, environment, option, in this order.

Reads nothing by itself: file, environment and kept choices are passed in. What is wrong is told and left out, so that a
slip in a file never stops a measurement.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hettop.app.settings.schema import BY_NAME, KEYS_TABLE, SETTINGS, Setting
from hettop.app.settings.ui_state import UiState
from hettop.text import clean
from hettop.toml import TomlFile

DEFAULT, FILE, SCREEN, ENVIRONMENT, OPTION = "default", "file", "screen", "environment", "option"


@dataclass(frozen=True, slots=True)
class Value:
    """One value in force: `source` is one of the five above, `where` says it closer (`config.toml, line 3`)."""

    value: Any
    source: str = DEFAULT
    where: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """All that is in force. `keys` are as they were written, by id; `faults` are what was wrong, in words.

    by_file: what would be in force had nothing been chosen on the screen: what a choice is kept against.
    """

    values: Mapping[str, Value]
    keys: Mapping[str, Value] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    by_file: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.values[name].value


def resolve_settings(
    file: TomlFile | None,
    environment: Mapping[str, str],
    ui_state: UiState | None = None,
    options: Mapping[str, Any] | None = None,
) -> Settings:
    """Everything together. `options`: values of the command line by setting, None where it does not say."""
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
            faults.append(f"{file.place(*keys)}: there is no setting {clean(name)!r}{_nearest(name)}")
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
    """Every value that is no table, with the keys that lead to it; an empty table that has no meaning is one too."""
    for key, value in table.items():
        keys = (*above, key)
        known_table = any(name.startswith(f"{'.'.join(keys)}.") for name in BY_NAME)
        if isinstance(value, dict) and (value or known_table):
            yield from _leaves(value, keys)
        else:
            yield keys, value


def _nearest(name: str) -> str:
    near = difflib.get_close_matches(name, [*BY_NAME, KEYS_TABLE], 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def shown(value: Any) -> str:
    """A value as it would stand in the file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{clean(value, 60)}"'
    if isinstance(value, list | tuple):
        return "[" + ", ".join(shown(each) for each in value[:8]) + "]"
    if isinstance(value, float):
        return f"{value:g}"
    return clean(str(value), 60) if isinstance(value, int) else f"a {type(value).__name__}"
