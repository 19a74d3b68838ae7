"""How the user wants the screen: what was set in files, and what was chosen on the screen and is to be kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hettop.tui.constants import DEFAULT_WINDOW_S


def _kept_nowhere(name: str, value: object) -> None:
    """A screen without a place to keep choices in, as in tests and pictures."""


def _known_well() -> bool:
    """A screen that needs no explanation."""
    return False


@dataclass(frozen=True, slots=True)
class Preferences:
    """All of it. The defaults are those of a screen that nobody has set up.

    window_s: seconds to look back, one of `choices.WINDOWS_S`.
    hidden, zoomed: names of panels, as in `choices.PANELS`; no panel is zoomed where it is empty.
    keymap: ids of keys, each with Textual's names of those that are to do it instead (comma between alternatives).
    theme_folder: where the user's own theme files lie.
    introduce: asked once there is room for it, whether to explain the screen; the answer is remembered, if it is yes.
    animated: whether anything may glide.
    notices: what is to be said once the screen stands.
    screen: the name of the screen over the panels at the start; empty for none.
    keep: called with the name and value of a choice made on the screen: `theme`, `layout.hidden`, `layout.zoomed`.
    """

    window_s: int = DEFAULT_WINDOW_S
    hidden: tuple[str, ...] = ()
    zoomed: str = ""
    keymap: Mapping[str, str] = field(default_factory=dict)
    theme_folder: Path | None = None
    introduce: Callable[[], bool] = _known_well
    animated: bool = True
    notices: tuple[str, ...] = ()
    screen: str = ""
    keep: Callable[[str, object], None] = _kept_nowhere
