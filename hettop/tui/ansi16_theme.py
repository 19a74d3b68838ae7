"""What a theme becomes on a terminal that has 16 colours: each role one of them by name, chosen and not calculated.

The nearest of 16 to a soft colour is most often a grey, or, on paper white, nothing that can be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from textual.theme import Theme

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
"""In the order of their numbers, as Rich's `STANDARD_PALETTE` has them: what goes out is that very number, and what it
looks like is the terminal's own choice."""

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
    # Of the 16 only these few are dark enough for paper white on every terminal; `!` and words tell warnings apart.
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
    """The theme in colours of the 16: those that it names itself by role, and the usual ones for the others."""
    usual = DARK if theme.dark else LIGHT
    colors: dict[str, Any] = {role: NAMES[named.get(role, name)] for role, name in usual.items()}
    return replace(theme, **colors)
