"""Settings written to the config file: only their lines change, and what cannot be edited is refused."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hettop.app.settings.resolve import load_settings, preferences
from hettop.app.settings.save import save_picture, save_settings, setting_choices, with_value
from hettop.app.settings.schema import SETTINGS
from hettop.errors import HettopError
from hettop.measurement.user_files import Places
from hettop.toml import TomlFile

OWN = """\
# mine
theme = "hettop-light"  # bright # room
fps = 2

[layout]
hidden = [
  "power",  # not here
]
# the end
"""


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "config" / "config.toml", tmp_path / "state" / "state.json")


def edited(text: str, name: str, value: Any) -> str:
    return with_value(TomlFile(Path("config.toml"), text, tomllib.loads(text)), name, value)


def test_a_value_is_replaced_and_its_comment_stays() -> None:
    assert edited(OWN, "theme", "nord") == OWN.replace('"hettop-light"', '"nord"')


def test_a_value_of_several_lines_is_replaced() -> None:
    before, _, _ = OWN.partition("hidden")
    assert edited(OWN, "layout.hidden", ("units", "events")) == f'{before}hidden = ["units", "events"]\n# the end\n'


def test_a_new_value_comes_before_the_first_table_or_into_its_own() -> None:
    assert edited(OWN, "ascii", True).splitlines()[2:6] == ["fps = 2", "ascii = true", "", "[layout]"]
    assert edited(OWN, "layout.zoomed", "units") == OWN + 'zoomed = "units"\n'


@pytest.mark.parametrize("text", ["", "fps = 2", "[keys]\nfreeze = 'F'\n"])
def test_every_setting_can_be_added_to_any_file(text: str) -> None:
    before = tomllib.loads(text)
    for setting in SETTINGS:
        new = tomllib.loads(edited(text, setting.name, setting.default))
        table, _, key = setting.name.rpartition(".")
        assert setting.check((new[table] if table else new)[key]) == setting.default
        assert all(new[name] == value for name, value in before.items() if name != setting.name)


def test_a_value_with_a_dotted_name_is_replaced() -> None:
    assert edited("layout.zoomed = 'units'\n", "layout.zoomed", "power") == 'layout.zoomed = "power"\n'


def test_a_value_in_an_inline_table_is_replaced() -> None:
    inline = "layout = { keep = true, zoomed = 'units' }\n"
    assert edited(inline, "layout.zoomed", "power") == 'layout = { keep = true, zoomed = "power" }\n'


def test_a_table_that_is_another_value_cannot_be_edited() -> None:
    with pytest.raises(HettopError, match=r"cannot edit layout.zoomed in config.toml"):
        edited("layout = 3\n", "layout.zoomed", "power")


def test_what_was_saved_is_there_at_the_next_start_over_an_earlier_choice(places: Places) -> None:
    user = load_settings(environment={}, places=places)
    user.keep("theme", "hettop-light")
    again = load_settings(environment={}, places=places)
    assert again.settings["theme"] == "hettop-light"
    assert save_settings(again, {"theme": "hettop-dark", "window": 60}) == places.config
    later = load_settings(environment={}, places=places)
    assert (later.settings["theme"], later.settings["window"], later.settings.faults) == ("hettop-dark", 60, ())
    assert later.settings.values["theme"].where.startswith("config.toml"), "the file, no choice on the screen"


def test_a_choice_after_saving_is_kept(places: Places) -> None:
    user = load_settings(environment={}, places=places)
    save_settings(user, {"theme": "hettop-light"})
    preferences(user).keep("theme", "hettop-dark")
    assert load_settings(environment={}, places=places).settings["theme"] == "hettop-dark"


def test_a_link_stays_a_link_and_the_file_keeps_its_mode(places: Places, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text(OWN)
    real.chmod(0o644)
    assert places.config is not None
    places.config.parent.mkdir()
    places.config.symlink_to(real)
    save_settings(load_settings(environment={}, places=places), {"fps": 8.0})
    assert places.config.is_symlink()
    assert "fps = 8\n" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o644


def test_an_invalid_file_is_not_touched(places: Places) -> None:
    assert places.config is not None
    places.config.parent.mkdir()
    places.config.write_text("fps = \n")
    with pytest.raises(HettopError, match="not TOML"):
        save_settings(load_settings(environment={}, places=places), {"fps": 8.0})
    assert places.config.read_text() == "fps = \n"


def test_the_dialog_offers_every_setting_with_its_value_among_the_choices(places: Places) -> None:
    offered = setting_choices(load_settings({"fps": 5.0}, environment={}, places=places), ("hettop-dark", "mine"))
    assert [each.name for each in offered] == [setting.name for setting in SETTINGS]
    assert all(each.value in each.choices for each in offered)
    assert {each.name: each.overridden for each in offered}["fps"] == "--fps"
    assert setting_choices(load_settings(environment={}, places=Places(None, None)), ()) == ()


def test_two_screenshots_of_one_second_are_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    paths = {save_picture(f"<svg>{number}</svg>") for number in range(3)}
    assert len(paths) == 3
    assert all(path.parent == tmp_path and path.name.startswith("hettop-") for path in paths)
