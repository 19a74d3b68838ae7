"""How thoroughly to measure, and where scratch files go: what every benchmark is given.

Knows no benchmark.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Plan:
    """`folder` is for scratch files and is removed in the end. `quick` is to see that everything runs."""

    folder: Path
    quick: bool
    say: Callable[[str], None]

    def either(self, full: int, quick: int) -> int:
        """How often, or how long in seconds."""
        return quick if self.quick else full


def environment(folder: Path) -> dict[str, str]:
    """The environment of what is measured: modules are compiled once, as where hettop is installed, and it is the usual
    hettop, without this user's settings and past its first time."""
    unwanted = ("PYTHONDONTWRITEBYTECODE", "NO_COLOR", "COLUMNS", "LINES")
    inherited = {name: value for name, value in os.environ.items() if name not in unwanted}
    state = folder / "state"
    (state / "hettop").mkdir(parents=True, exist_ok=True)
    (state / "hettop" / "state.json").write_text('{"introduced": true}')
    own = {"XDG_STATE_HOME": state, "XDG_CONFIG_HOME": folder / "config", "PYTHONPYCACHEPREFIX": folder / "pycache"}
    return {**inherited, **{name: str(place) for name, place in own.items()}, "PYTHONPATH": str(ROOT)}


def child(name: str, *arguments: str) -> list[str]:
    """The command that runs a program of `benchmarks.children`."""
    return [sys.executable, "-m", f"benchmarks.children.{name}", *arguments]


def hettop(*arguments: str) -> list[str]:
    """The command that runs this very hettop."""
    return [sys.executable, "-m", "hettop", *arguments]
