"""Reads theme files (TOML) and makes Textual themes of them; says which file and key is wrong when one is.

A theme file has `name`, `dark` and a table `[colors]` with `primary` and, if wanted, the others of Textual's themes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import Theme

from hettop.errors import HettopError
from hettop.text import clean

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


def load_themes(folders: Iterable[Path]) -> tuple[list[Theme], list[HettopError]]:
    """The themes of all `*.toml` in the folders, in the order of file names, and what was wrong with the others."""
    themes: list[Theme] = []
    faults: list[HettopError] = []
    for path in (path for folder in folders for path in sorted(folder.glob("*.toml"))):
        try:
            themes.append(read_theme(path))
        except HettopError as fault:
            faults.append(fault)
    return themes, faults


def read_theme(path: Path) -> Theme:
    """The theme in one file. Raises HettopError (`io`, `format`) that names the file and the key."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HettopError("io", f"theme {path.name} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HettopError("format", f"theme {path.name} is not TOML: {clean(str(error))}") from None
    _check(document, path.name)
    colors: dict[str, Any] = {key: _color(value, key, path.name) for key, value in document["colors"].items()}
    theme = Theme(name=document["name"], primary=colors.pop("primary"), dark=document.get("dark", True))
    return replace(theme, **colors)


def _check(document: dict[str, Any], file: str) -> None:
    for key, value in document.items():
        wanted = _TOP.get(key)
        if wanted is None:
            raise HettopError("format", f"theme {file}: unknown key {clean(key)!r}", f"known: {', '.join(_TOP)}")
        if not isinstance(value, wanted):
            raise HettopError("format", f"theme {file}: key {key!r} must be a {wanted.__name__}")
    for key in ("name", "colors"):
        if not document.get(key):
            raise HettopError("format", f"theme {file}: key {key!r} is missing")
    if "primary" not in document["colors"]:
        raise HettopError("format", f"theme {file}: key 'colors.primary' is missing")


def _color(value: object, key: str, file: str) -> str:
    if key not in COLORS:
        raise HettopError("format", f"theme {file}: unknown key 'colors.{clean(key)}'", f"known: {', '.join(COLORS)}")
    if not isinstance(value, str):
        raise HettopError("format", f"theme {file}: key 'colors.{key}' must be a text such as \"#1b2b34\"")
    try:
        Color.parse(value)
    except ColorParseError:
        raise HettopError("format", f"theme {file}: key 'colors.{key}': {clean(value, 40)!r} is no colour") from None
    return value
