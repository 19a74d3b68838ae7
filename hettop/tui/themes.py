"""Reads theme files (TOML) and makes Textual themes of them; says which file, line and key is wrong when one is.

A theme file has `name`, `dark` and a table `[colors]` with `primary` and, if wanted, the others of Textual's themes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import Theme

from hettop.errors import HettopError
from hettop.text import clean
from hettop.toml import TomlFile, read_toml

DEFAULT = "hettop-dark"
COLORS = (
    "primary",
    "secondary",
    "accent",
    "warning",
    "error",
    "success",
    "foreground",
    "background",
    "surface",
    "panel",
)
_TOP = {"name": str, "dark": bool, "colors": dict}
_KINDS = {str: "text", bool: "true or false", dict: "a table, as in [colors]"}


def load_themes(folders: Iterable[Path]) -> tuple[list[Theme], list[HettopError]]:
    """The themes of all `*.toml` in the folders, in the order of file names, and what was wrong with the others.

    Where two have one name, the later folder's is taken: the user's own after those that come with hettop.
    """
    themes: dict[str, Theme] = {}
    faults: list[HettopError] = []
    for path in (path for folder in folders for path in sorted(folder.glob("*.toml"))):
        try:
            theme = read_theme(path)
        except HettopError as fault:
            faults.append(fault)
        else:
            themes[theme.name] = theme
    return list(themes.values()), faults


def read_theme(path: Path) -> Theme:
    """The theme in one file. Raises HettopError (`io`, `format`, `missing`) that names file, line and key."""
    try:
        file = read_toml(path)
    except HettopError as error:
        raise HettopError(error.kind, f"theme {error.message}") from None
    _check(file)
    colors: dict[str, Any] = {key: _color(value, key, file) for key, value in file.values["colors"].items()}
    theme = Theme(name=file.values["name"], primary=colors.pop("primary"), dark=file.values.get("dark", True))
    return replace(theme, **colors)


def _fault(file: TomlFile, words: str, *keys: str, hint: str = "") -> HettopError:
    return HettopError("format", f"theme {file.place(*keys)}: {words}", hint)


def _check(file: TomlFile) -> None:
    for key, value in file.values.items():
        wanted = _TOP.get(key)
        if wanted is None:
            raise _fault(file, f"unknown key {clean(key)!r}", key, hint=f"known: {', '.join(_TOP)}")
        if not isinstance(value, wanted):
            raise _fault(file, f"key {key!r} must be {_KINDS[wanted]}", key)
    for key in ("name", "colors"):
        if not file.values.get(key):
            raise _fault(file, f"key {key!r} is missing", key)
    if clean(file.values["name"]) != file.values["name"]:
        raise _fault(file, "key 'name' must be plain text of at most 200 characters", "name")
    if "primary" not in file.values["colors"]:
        raise _fault(file, "key 'colors.primary' is missing", "colors")


def _color(value: object, key: str, file: TomlFile) -> str:
    place = ("colors", key)
    if key not in COLORS:
        raise _fault(file, f"unknown key 'colors.{clean(key)}'", *place, hint=f"known: {', '.join(COLORS)}")
    if not isinstance(value, str):
        raise _fault(file, f"key 'colors.{key}' must be a text such as \"#1b2b34\"", *place)
    try:
        Color.parse(value)
    except ColorParseError:
        raise _fault(file, f"key 'colors.{key}': {clean(value, 40)!r} is no colour", *place) from None
    return value
