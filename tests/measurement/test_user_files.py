"""Where settings lie: the platform's folders, XDG's where they are set, one named file."""

from __future__ import annotations

from pathlib import Path

from hettop.measurement.user_files import Places, find_places

HOME = Path("/home/ada")


def test_the_folders_of_linux_and_of_a_mac() -> None:
    assert find_places({}, HOME, mac=False) == Places(
        HOME / ".config/hettop/config.toml", HOME / ".local/state/hettop/state.json"
    )
    library = HOME / "Library/Application Support/hettop"
    assert find_places({}, HOME, mac=True) == Places(library / "config.toml", library / "state.json")
    assert find_places({}, HOME, mac=True).themes == library / "themes"
    assert find_places({}, HOME, mac=True).rails == library / "validated-rails.json"


def test_xdg_goes_first_and_only_if_it_is_absolute() -> None:
    found = find_places({"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "state"}, HOME, mac=True)
    assert found.config == Path("/c/hettop/config.toml")
    assert found.state == HOME / "Library/Application Support/hettop/state.json"


def test_a_named_file_has_its_themes_beside_it() -> None:
    found = find_places({"HETTOP_CONFIG": "/elsewhere/bench.toml"}, HOME, mac=False)
    assert (found.config, found.themes) == (Path("/elsewhere/bench.toml"), Path("/elsewhere/themes"))


def test_a_user_without_a_home_has_no_place() -> None:
    found = find_places({}, None, mac=False)
    assert (found.config, found.state, found.themes, found.rails) == (None, None, None, None)
