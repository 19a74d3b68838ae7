"""Finds the files that come with hettop: themes and sample recordings.

In an installed package they lie in `hettop/shipped`, in a source tree at the repository's top level.
"""

from __future__ import annotations

from pathlib import Path

from hettop.errors import HettopError

_PACKAGE = Path(__file__).parent


def themes_folder(package: Path = _PACKAGE) -> Path:
    """Where the theme files lie."""
    return _shipped("themes", package)


def recordings_folder(package: Path = _PACKAGE) -> Path:
    """Where the sample recordings lie."""
    return _shipped("recordings", package)


def _shipped(name: str, package: Path) -> Path:
    """The folder `name` that came with `package`. Raises HettopError (`missing`) when the installation lacks it."""
    for folder in (package / "shipped" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise HettopError("missing", f"this installation of hettop lacks its {name}", "install hettop again")
