"""Reads theme files (TOML) as Textual themes, with the file, line and key of an error; 16-colour terminals by name.

A theme file has `name`, `dark`, a table `[colors]` with `primary` and optionally the other colours of Textual's
themes, and a table `[sixteen]` with names of colours for terminals with 16 colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import Theme

from hettop.errors import HettopError
from hettop.text import clean
from hettop.toml import TomlFile, read_toml

DEFAULT = "hettop-dark"
WITHOUT_COLOR = "hettop-mono"
"""The default where NO_COLOR is set: its bands differ in brightness."""

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
_TOP = {"name": str, "dark": bool, "colors": dict, "sixteen": dict}
_KINDS = {str: "text", bool: "true or false", dict: "a table, as in [colors] or [sixteen]"}


def load_themes(folders: Iterable[Path], *, sixteen: bool = False) -> tuple[list[Theme], list[HettopError]]:
    """The themes of all `*.toml` in the folders, in the order of file names, and the errors of invalid files.

    Of two with one name the later folder's is used: the user's own have precedence over hettop's.
    sixteen: for a terminal with 16 colours.
    """
    themes: dict[str, Theme] = {}
    faults: list[HettopError] = []
    for path in (path for folder in folders for path in sorted(folder.glob("*.toml"))):
        try:
            theme = read_theme(path, sixteen=sixteen)
        except HettopError as fault:
            faults.append(fault)
        else:
            themes[theme.name] = theme
    return list(themes.values()), faults


def read_theme(path: Path, *, sixteen: bool = False) -> Theme:
    """The theme in one file. Raises HettopError (`io`, `format`, `missing`) that names file, line and key."""
    try:
        file = read_toml(path)
    except HettopError as error:
        raise HettopError(error.kind, f"theme {error.message}") from None
    _check(file)
    colors: dict[str, Any] = {key: _color(value, key, file) for key, value in file.values["colors"].items()}
    theme = Theme(name=file.values["name"], primary=colors.pop("primary"), dark=file.values.get("dark", True))
    named = {key: _named(value, key, file) for key, value in file.values.get("sixteen", {}).items()}
    theme = replace(theme, **colors)
    return in_sixteen(theme, named) if sixteen else theme


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
    _check_role(key, place, file)
    if not isinstance(value, str):
        raise _fault(file, f"key 'colors.{key}' must be a text such as \"#1b2b34\"", *place)
    try:
        Color.parse(value)
    except ColorParseError:
        raise _fault(file, f"key 'colors.{key}': invalid colour {clean(value, 40)!r}", *place) from None
    return value


def _named(value: object, key: str, file: TomlFile) -> str:
    place = ("sixteen", key)
    _check_role(key, place, file)
    if not isinstance(value, str) or value not in NAMES:
        hint = f"known: {', '.join(NAMES)}"
        raise _fault(
            file, f"key 'sixteen.{key}': invalid colour {clean(str(value), 40)!r}: not one of the 16", *place, hint=hint
        )
    return value


def _check_role(key: str, place: tuple[str, str], file: TomlFile) -> None:
    if key not in COLORS:
        raise _fault(file, f"unknown key '{place[0]}.{clean(key)}'", *place, hint=f"known: {', '.join(COLORS)}")


NAMES: Mapping[str, str] = {
    "black": "#000000",
    "red": "#aa0000",
    "green": "#00aa00",
    "yellow": "#aa5500",
    "blue": "#0000aa",
    "magenta": "#aa00aa",
    "cyan": "#00aaaa",
    "white": "#aaaaaa",
    "bright black": "#555555",
    "bright red": "#ff5555",
    "bright green": "#55ff55",
    "bright yellow": "#ffff55",
    "bright blue": "#5555ff",
    "bright magenta": "#ff55ff",
    "bright cyan": "#55ffff",
    "bright white": "#ffffff",
}
"""In the order of their numbers, as in Rich's `STANDARD_PALETTE`: terminals choose the colour of each number."""

DARK: Mapping[str, str] = {
    "primary": "bright cyan",
    "secondary": "cyan",
    "accent": "bright magenta",
    "warning": "bright yellow",
    "error": "bright red",
    "success": "bright green",
    "foreground": "bright white",
    "background": "black",
    "surface": "black",
    "panel": "black",
}
LIGHT: Mapping[str, str] = {
    # Only these of the 16 are dark enough for a white background; `!` and text distinguish warnings.
    "primary": "blue",
    "secondary": "blue",
    "accent": "magenta",
    "warning": "magenta",
    "error": "red",
    "success": "blue",
    "foreground": "black",
    "background": "bright white",
    "surface": "bright white",
    "panel": "bright white",
}


def in_sixteen(theme: Theme, named: Mapping[str, str]) -> Theme:
    """The theme in the 16 colours: those that it names by role, and defaults for the other roles."""
    usual = DARK if theme.dark else LIGHT
    colors: dict[str, Any] = {role: NAMES[named.get(role, name)] for role, name in usual.items()}
    return replace(theme, **colors)
