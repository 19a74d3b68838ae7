"""Where shipped files are found: in an installed package, and in a source tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.resources import recordings_folder, themes_folder


def test_a_source_tree_has_its_themes_at_the_top() -> None:
    assert (themes_folder() / "dark.toml").is_file()


def test_an_installed_package_has_them_inside(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "hettop"
    shipped = package / "shipped" / "recordings"
    shipped.mkdir(parents=True)
    (tmp_path / "site-packages" / "recordings").mkdir()  # somebody else's
    assert recordings_folder(package) == shipped


def test_a_broken_installation_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(HettopError) as caught:
        themes_folder(tmp_path / "hettop")
    assert caught.value.kind == "missing"
    assert "themes" in caught.value.message
