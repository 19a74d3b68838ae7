"""Choices kept from the screen: written in one step, read whatever the file holds, and never in the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hettop.app.settings.resolve import load_settings, preferences, read_ui_state
from hettop.measurement.user_files import Places
from hettop.tui.preferences import Preferences


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "config" / "config.toml", tmp_path / "state" / "deep" / "state.json")


def screen(places: Places) -> Preferences:
    return preferences(load_settings(environment={}, places=places))


def test_a_choice_is_there_again(places: Places) -> None:
    first = screen(places)
    assert (first.hidden, first.zoomed) == ((), "")
    first.keep("layout.hidden", ("power", "events"))
    first.keep("layout.zoomed", "units")
    first.keep("theme", "hettop-light")
    user = load_settings(environment={}, places=places)
    again = preferences(user)
    assert (again.hidden, again.zoomed) == (("events", "power"), "units")
    assert user.settings["theme"] == "hettop-light"
    assert user.settings.values["theme"].source == "screen"


def test_two_screens_do_not_undo_each_others_choices(places: Places) -> None:
    one, other = screen(places), screen(places)
    one.keep("theme", "hettop-light")
    other.keep("layout.zoomed", "units")
    settings = load_settings(environment={}, places=places).settings
    assert (settings["theme"], settings["layout.zoomed"]) == ("hettop-light", "units")


def test_the_screen_is_explained_once(places: Places) -> None:
    first = screen(places)
    assert first.introduce()
    assert not first.introduce()
    assert not screen(places).introduce()


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"theme": 3, "introduced": "yes"}', '{"theme": {"chosen": []}}', "[" * 9999]
)
def test_a_damaged_file_is_as_none(places: Places, content: str) -> None:
    assert places.state is not None
    places.state.parent.mkdir(parents=True)
    places.state.write_text(content)
    user = load_settings(environment={}, places=places)
    assert user.settings["theme"] == "hettop-dark"
    assert user.settings.faults == ()
    preferences(user).keep("theme", "hettop-light")
    assert load_settings(environment={}, places=places).settings["theme"] == "hettop-light"


def test_what_is_no_value_any_more_is_left_out(places: Places) -> None:
    ui_state = read_ui_state(places.state or Path())
    assert ui_state.keep("layout.hidden", ["gone"], ())
    assert ui_state.choice("layout.hidden", ()) is None


def test_where_nothing_can_be_written_nothing_is_explained_and_nothing_raised() -> None:
    nowhere = Places(None, Path(os.devnull) / "hettop" / "state.json")
    told = screen(nowhere)
    assert not told.introduce(), "it would come every time"
    told.keep("theme", "hettop-light")
    assert not screen(Places(None, None)).introduce()


def test_choices_are_not_written_where_none_are_to_be_kept(places: Places) -> None:
    assert places.config is not None
    assert places.state is not None
    places.config.parent.mkdir(parents=True)
    places.config.write_text("[layout]\nkeep = false\n")
    screen(places).keep("theme", "hettop-light")
    assert not places.state.exists()


def test_faults_of_file_and_keys_reach_the_screen(places: Places) -> None:
    assert places.config is not None
    places.config.parent.mkdir(parents=True)
    places.config.write_text('fps = "x"\n[keys]\nfreeze = "i"\n"unit.next" = "u"\n')
    told = screen(places)
    assert dict(told.keymap) == {"unit.next": "u"}
    assert [notice.partition(": ")[0] for notice in told.notices] == ["config.toml, line 1", "config.toml, line 3"]
    assert "i is already the key of interleave" in told.notices[1]
