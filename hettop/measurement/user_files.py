"""Where the user's settings lie on this platform: the config file, the folder of themes, the files of what is kept.

Looks at no file; environment and home are passed in.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hettop.models.cache import find_home

CONFIG_VARIABLE = "HETTOP_CONFIG"
"""Names another config file; its themes are looked for beside it."""


@dataclass(frozen=True, slots=True)
class Places:
    """The file of settings, and that of choices kept from the screen; None for a user without a home."""

    config: Path | None
    state: Path | None

    @property
    def themes(self) -> Path | None:
        """The folder of the user's own themes, beside the config file."""
        return None if self.config is None else self.config.parent / "themes"

    @property
    def rails(self) -> Path | None:
        """The file of power rails that were seen above zero, beside that of kept choices."""
        return None if self.state is None else self.state.with_name("validated-rails.json")

    @property
    def internal_error(self) -> Path | None:
        """The file of the last internal error, for a bug report."""
        return None if self.state is None else self.state.with_name("internal-error.txt")


def find_places(environment: Mapping[str, str], home: Path | None, *, mac: bool) -> Places:
    """The XDG folders where they are set (also on a Mac), else the platform's."""
    library = home / "Library" / "Application Support" if home and mac else None
    config = _xdg(environment, "XDG_CONFIG_HOME") or library or (home and home / ".config")
    state = _xdg(environment, "XDG_STATE_HOME") or library or (home and home / ".local" / "state")
    named = environment.get(CONFIG_VARIABLE)
    return Places(
        config=Path(named) if named else config and config / "hettop" / "config.toml",
        state=state and state / "hettop" / "state.json",
    )


def _xdg(environment: Mapping[str, str], name: str) -> Path | None:
    """The folder, where the variable names an absolute one: others are to be ignored, the specification says."""
    value = environment.get(name, "")
    return Path(value) if value.startswith("/") else None


def user_places() -> Places:
    """Those of the user who runs this process."""
    home = None
    with contextlib.suppress(RuntimeError):  # a user without a home, as in a container
        home = find_home()
    return find_places(os.environ, home, mac=sys.platform == "darwin")


def output_folders() -> list[Path]:
    """Folders for recordings and pictures: the current one, else the home, else that of temporary files."""
    folders = [Path(), Path(tempfile.gettempdir())]
    with contextlib.suppress(RuntimeError):  # a user without a home, as in a container
        folders.insert(1, find_home())
    return folders


def unused_path(path: Path) -> Path:
    """`path`, with a number if that file exists already."""
    names = (path, *(path.with_stem(f"{path.stem}-{number}") for number in range(2, 100)))
    return next((name for name in names if not name.exists()), path)


def write_atomically(path: Path, text: str) -> None:
    """Write a file of the user's in one step, so that nobody ever reads half of it. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".state-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
