"""Saves what the screen changed: settings to the config file, pictures to a folder.

Comments and order of a config file stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hettop.app.settings.resolve import ENVIRONMENT, OPTION
from hettop.app.settings.schema import SETTINGS
from hettop.errors import HettopError
from hettop.measurement.user_files import output_folders, unused_path, write_atomically
from hettop.text import clean
from hettop.toml import TomlFile, read_toml
from hettop.tui.settings import SettingChoice

if TYPE_CHECKING:
    from hettop.app.settings.resolve import UserSettings

AT_NEXT_START = frozenset({"fps", "ascii", "charts", "power", "unit", "layout.keep"})


def setting_choices(user: UserSettings, themes: tuple[str, ...]) -> tuple[SettingChoice, ...]:
    """What the dialog of settings offers; nothing for a user without a config file."""
    if user.places.config is None:
        return ()
    offered = []
    for setting in SETTINGS:
        value = user.settings.values[setting.name]
        choices = themes if setting.name == "theme" else setting.choices
        offered.append(
            SettingChoice(
                setting.name,
                setting.words,
                value.value,
                choices if value.value in choices else (value.value, *choices),
                value.where if value.source in (ENVIRONMENT, OPTION) else "",
                setting.name in AT_NEXT_START,
            )
        )
    return tuple(offered)


def save_settings(user: UserSettings, changed: Mapping[str, Any]) -> Path:
    """Write these settings to the config file; returns its path. Raises HettopError where it cannot."""
    path = user.places.config
    if path is None:
        raise HettopError("io", "no home folder for a config file", "set HETTOP_CONFIG to the path of a config file")
    try:
        file = read_toml(path)
    except HettopError as error:
        if error.kind != "missing":
            raise
        file = TomlFile(path)
    for name, value in changed.items():
        file = replace(file, text=with_value(file, name, value))
    _write(path, file.text)
    for name, value in changed.items():
        # From now on the file has the value: an earlier choice on the screen must not override it.
        user.settings.by_file[name] = value
        user.drop(name)
    return path


def _write(path: Path, text: str) -> None:
    target = path.resolve()  # a config file is often a link into a repository
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else None
        write_atomically(target, text)
        if mode is not None:
            target.chmod(mode)
    except OSError as error:
        raise HettopError("io", f"cannot write {clean(str(path))}: {error.strerror}") from None


def with_value(file: TomlFile, name: str, value: Any) -> str:
    """The text of the file with this setting; all other lines stay. Raises HettopError where it cannot be set."""
    import tomlkit  # only to save: the screen starts without it

    *tables, key = name.split(".")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        document = tomlkit.parse(file.text)
        table: Any = document
        for each in tables:
            table = table.setdefault(each, tomlkit.table())
        table[key] = value
        return tomlkit.dumps(document)
    except (tomlkit.exceptions.TOMLKitError, AttributeError, TypeError):  # the table may be another value
        raise HettopError("usage", f"cannot edit {name} in {clean(file.path.name)}", "edit it by hand") from None


def save_picture(svg: str) -> Path:
    """Write a screenshot to the first folder that is writable; returns its absolute path. Raises HettopError (`io`)."""
    name = f"hettop-{datetime.now().astimezone():%Y%m%d-%H%M%S}.svg"
    reason = ""
    for folder in output_folders():
        path = unused_path(folder / name).absolute()
        try:
            path.write_text(svg, encoding="utf-8")
        except OSError as error:
            reason = reason or f"{clean(str(path))}: {error.strerror}"
            continue
        return path
    raise HettopError("io", f"cannot save a screenshot: {reason}")
