"""Choices that were made on the screen and are to be there again: theme, hidden and zoomed panels; and the first run.

A choice holds for as long as the config file says what it said when it was made: whoever edits the file is obeyed.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hettop.app.settings.schema import BY_NAME
from hettop.measurement.user_files import write_atomically

REMEMBERED = ("theme", "layout.hidden", "layout.zoomed")
_INTRODUCED = "introduced"
_LARGEST_BYTES = 20_000


@dataclass(slots=True)
class UiState:
    """The file at `path`, as it was read; damaged or absent it is as if nothing had been chosen."""

    path: Path
    content: dict[str, Any] = field(default_factory=dict)

    @property
    def introduced(self) -> bool:
        """Whether the screen was explained already."""
        return self.content.get(_INTRODUCED) is True

    def choice(self, name: str, by_file: Any) -> Any:
        """What was chosen on the screen over what the file says; None without one, or if the file was edited since."""
        found = self.content.get(name)
        if name not in REMEMBERED or not isinstance(found, dict) or found.get("over") != _plain(by_file):
            return None
        try:
            return BY_NAME[name].check(found.get("chosen"))
        except (ValueError, TypeError):
            return None

    def keep(self, name: str, value: Any, by_file: Any) -> bool:
        """Remember this choice; whether it could be written."""
        if name not in REMEMBERED:
            return False
        return self._with(name, {"chosen": _plain(value), "over": _plain(by_file)})

    def introduce(self) -> bool:
        """Remember that the screen is being explained; whether it could be written."""
        return self._with(_INTRODUCED, True)

    def forget(self) -> None:
        """Remove the file: every choice is as in the config file again, and the screen is explained once more."""
        self.content = {}
        self.path.unlink(missing_ok=True)

    def _with(self, name: str, value: Any) -> bool:
        # Another hettop may have written meanwhile: only what is chosen here is changed.
        self.content = {**read_ui_state(self.path).content, name: value}
        with contextlib.suppress(OSError):
            write_atomically(self.path, json.dumps(self.content, indent=1) + "\n")
            return True
        return False


def read_ui_state(path: Path) -> UiState:
    """What is kept at `path`."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        if not path.is_file():  # opening a pipe would wait for whoever may write to it
            return UiState(path)
        with path.open("rb") as file:
            content = json.loads(file.read(_LARGEST_BYTES))
        if isinstance(content, dict):
            return UiState(path, content)
    return UiState(path)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
