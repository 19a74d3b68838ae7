"""Saves what the screen changed: settings to the config file, pictures to a folder.

Only the lines of changed settings are edited, so that comments and order of a config file stay.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
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

AT_NEXT_START = frozenset({"fps", "ascii", "power", "unit", "layout.keep"})
_TABLE = re.compile(r"^\s*\[")


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
        file = with_value(file, tuple(name.split(".")), value)
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


def with_value(file: TomlFile, keys: tuple[str, ...], value: Any) -> TomlFile:
    """The file with this value; all other lines stay. Raises HettopError where that takes more than one line's edit."""
    begin = file.line_of(*keys)
    lines = file.text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    if begin is not None:
        end = _last_line(lines, begin, keys)
        head = lines[begin - 1].split("=", 1)[0].rstrip()
        lines[begin - 1 : end] = [f"{head} = {_toml(value)}{_comment(lines[end - 1])}\n"]
    elif len(keys) == 1:
        first = next((number for number, row in enumerate(lines) if _TABLE.match(row)), len(lines))
        lines[first:first] = [f"{keys[0]} = {_toml(value)}\n", *(["\n"] if first < len(lines) else [])]
    else:
        header = f"[{'.'.join(keys[:-1])}]"
        at = next((number for number, row in enumerate(lines) if row.split("#")[0].strip() == header), None)
        if at is None:
            lines += ["\n"] if lines else []
            lines.append(f"{header}\n")
            at = len(lines) - 1
        lines.insert(at + 1, f"{keys[-1]} = {_toml(value)}\n")
    return _verified(file, "".join(lines), keys, value)


def _verified(file: TomlFile, text: str, keys: tuple[str, ...], value: Any) -> TomlFile:
    """The edited file, if it holds this value and is otherwise the same."""
    wanted = json.loads(json.dumps(file.values, default=str))
    table = wanted
    for key in keys[:-1]:
        table = table.setdefault(key, {})
    table[keys[-1]] = list(value) if isinstance(value, tuple) else value
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        values = {}
    if json.loads(json.dumps(values, default=str)) != wanted:
        name = ".".join(keys)
        raise HettopError(
            "usage", f"cannot edit {name} in {clean(file.path.name)}", f"edit it by hand: {name} = {_toml(value)}"
        )
    return TomlFile(file.path, text, values)


def _last_line(lines: list[str], begin: int, keys: tuple[str, ...]) -> int:
    """The line that a value ends on: the first up to which the file is valid and has it."""
    for number in range(begin, len(lines) + 1):
        try:
            known: Any = tomllib.loads("".join(lines[:number]))
        except tomllib.TOMLDecodeError:
            continue
        for key in keys:
            known = known.get(key) if isinstance(known, dict) else None
        if known is not None:
            return number
    return begin


def _comment(row: str) -> str:
    """The comment behind a value: what follows the first `#` outside of quotes."""
    quote = ""
    for place, character in enumerate(row):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "#":
            return f"  {row[place:].rstrip()}"
    return ""


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(each) for each in value)}]"
    return f"{value:g}"


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
