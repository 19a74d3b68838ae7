"""How the user wants the screen: settings, choices made on the screen, and where both are saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hettop.errors import HettopError
from hettop.tui.constants import DEFAULT_WINDOW_S, PRESETS

if TYPE_CHECKING:
    from hettop.tui.settings import SettingChoice


def _kept_nowhere(name: str, value: object) -> None:
    """Keeps no choice, as in tests and pictures."""


def _no_settings(themes: tuple[str, ...]) -> tuple[SettingChoice, ...]:  # noqa: ARG001 - the field's signature
    """Offers no settings, as in tests and pictures."""
    return ()


def _saved_nowhere(content: Any) -> Path:  # noqa: ARG001 - the field's signature
    """Saves nothing, as in tests and pictures."""
    raise HettopError("io", "nothing can be saved from this screen")


def _known_well() -> bool:
    """Shows no introduction."""
    return False


@dataclass(frozen=True, slots=True)
class Preferences:
    """The preferences; their defaults hold without any settings.

    window_s: the time window in seconds, one of `constants.WINDOWS_S`.
    hidden, zoomed: names of panels, as in `constants.PANELS`; no panel is zoomed where it is empty.
    preset: the layout, one of `constants.PRESETS`.
    keymap: Textual's names of the keys to use instead, by id (comma between alternatives).
    theme_folder: the folder of the user's own theme files.
    introduce: called once the screen is large enough; returns whether to show the introduction, once per user.
    animated: whether animations are allowed.
    braille: whether charts are drawn in braille instead of blocks, unless the screen is in ASCII.
    notices: messages to show at the start.
    screen: the name of the screen over the panels at the start; empty for none.
    keep: called with the name and value of a choice made on the screen: `theme`, `layout.hidden`, `layout.zoomed`,
        `layout.preset`.
    settings: called with the names of the themes; returns what the dialog of settings offers, nothing where no config
        file can be written.
    save_settings: writes settings to the config file. save_picture: writes an SVG. Both return the path, and raise
        HettopError where they cannot.
    """

    window_s: int = DEFAULT_WINDOW_S
    hidden: tuple[str, ...] = ()
    zoomed: str = ""
    preset: str = PRESETS[0]
    keymap: Mapping[str, str] = field(default_factory=dict)
    theme_folder: Path | None = None
    introduce: Callable[[], bool] = _known_well
    animated: bool = True
    braille: bool = True
    notices: tuple[str, ...] = ()
    screen: str = ""
    keep: Callable[[str, object], None] = _kept_nowhere
    settings: Callable[[tuple[str, ...]], tuple[SettingChoice, ...]] = _no_settings
    save_settings: Callable[[Mapping[str, Any]], Path] = _saved_nowhere
    save_picture: Callable[[str], Path] = _saved_nowhere
