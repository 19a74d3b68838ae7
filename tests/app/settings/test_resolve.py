"""What is active: the nearest to the user wins, and a slip is named and left out."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from hettop.app.settings.resolve import UiState, resolve_settings, shown
from hettop.app.settings.schema import SETTINGS
from hettop.cli.config import example
from hettop.toml import TomlFile


def file(text: str) -> TomlFile:
    return TomlFile(Path("config.toml"), text, tomllib.loads(text))


def ui_state(**choices: Any) -> UiState:
    return UiState(Path("state.json"), choices)


def test_without_anything_all_is_as_hettop_has_it() -> None:
    settings = resolve_settings(None, {})
    assert {name: value.value for name, value in settings.values.items()} == {s.name: s.default for s in SETTINGS}
    assert {value.source for value in settings.values.values()} == {"default"}
    assert settings.faults == ()


def test_option_before_environment_before_screen_before_file() -> None:
    written = file('theme = "a"\n')
    chosen = ui_state(theme={"chosen": "b", "over": "a"})
    environment = {"HETTOP_THEME": "c"}
    options = {"theme": "d", "fps": None}
    found = [
        resolve_settings(written, {}).values["theme"],
        resolve_settings(written, {}, chosen).values["theme"],
        resolve_settings(written, environment, chosen).values["theme"],
        resolve_settings(written, environment, chosen, options).values["theme"],
    ]
    assert [(value.value, value.source) for value in found] == [
        ("a", "file"),
        ("b", "screen"),
        ("c", "environment"),
        ("d", "option"),
    ]
    assert [value.where for value in found] == [
        "config.toml, line 1",
        "chosen on the screen",
        "HETTOP_THEME",
        "--theme",
    ]


def test_a_choice_from_the_screen_gives_way_to_a_file_that_was_edited_since() -> None:
    chosen = ui_state(theme={"chosen": "b", "over": "hettop-dark"})
    assert resolve_settings(None, {}, chosen)["theme"] == "b"
    assert resolve_settings(file('theme = "a"'), {}, chosen)["theme"] == "a"


def test_choices_are_not_taken_where_none_are_to_be_kept() -> None:
    chosen = ui_state(theme={"chosen": "b", "over": "hettop-dark"})
    assert resolve_settings(file("[layout]\nkeep = false"), {}, chosen)["theme"] == "hettop-dark"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("fps = 'fast'", 'line 1: fps must be a number from 0.5 to 30, not "fast"'),
        ("fps = true", "line 1: fps must be a number"),
        ("fps = 31", "line 1: fps must be a number from 0.5 to 30, not 31"),
        ("\nwindow = 7", "line 2: window must be one of 5, 10, 30, 60, not 7"),
        ("window = true", "line 1: window must be"),
        ("ascii = 1", "line 1: ascii must be true or false, not 1"),
        ("charts = 'dots'", 'line 1: charts must be one of auto, braille, blocks, not "dots"'),
        ("charts = ['blocks']", "line 1: charts must be one of"),
        ("widnow = 5", "line 1: unknown setting 'widnow'; did you mean 'window'?"),
        ("[layout]\nhiden = []", "line 2: unknown setting 'layout.hiden'; did you mean 'layout.hidden'?"),
        ("[layout]\nhidden = ['sound']", "line 2: layout.hidden must be a list of some of latency, timeline"),
        ("[layout]\nhidden = 'power'", "line 2: layout.hidden must be a list"),
        (
            "[layout]\nhidden = ['latency', 'timeline', 'units', 'events', 'power', 'machine']",
            "line 2: layout.hidden must be a list of some of latency, timeline, units, events, power, machine, not all",
        ),
        ("[layout]\nzoomed = 3", "line 2: layout.zoomed must be one of latency"),
        ("unit = 'NOPE'", "line 1: unit must be a unit such as CPU_AND_NE, or empty"),
        ("unit = 'CPU_ONLY@-1'", "line 1: unit must be a unit"),
        ("power = 'mains'", "line 1: power must be one of powermetrics"),
        ("theme = ''", "line 1: theme must be a theme's name"),
        ("theme = 1979-05-27", "line 1: theme must be a theme's name, not a date"),
        ("[sound]\nvolume = 3", "line 2: unknown setting 'sound.volume'"),
        ("[sound]\n", "line 1: unknown setting 'sound'"),
        ("layout = 3", "line 1: unknown setting 'layout'"),
        ("[[layout]]\nhidden = []", "line 1: unknown setting 'layout'"),
        ("keys = 3", "line 1: keys must be a table"),
        ("[keys]\nzoom = 3", "line 2: the key of 'zoom' must be a text such as \"u\", not 3"),
    ],
)
def test_a_slip_is_named_with_its_line_and_left_out(text: str, fault: str) -> None:
    settings = resolve_settings(file(text), {})
    assert len(settings.faults) == 1
    assert settings.faults[0].startswith(f"config.toml, {fault}")
    assert {value.source for value in settings.values.values()} == {"default"}
    assert settings.keys == {}


def test_what_is_right_beside_a_slip_is_active() -> None:
    settings = resolve_settings(file("fps = 'fast'\nascii = true\n[layout]\nhidden = ['machine', 'power']"), {})
    assert settings["ascii"] is True
    assert settings["layout.hidden"] == ("power", "machine")
    assert settings["fps"] == 4.0


def test_the_environment_is_read_as_the_file_would_be() -> None:
    environment = {
        "HETTOP_FPS": "10",
        "HETTOP_ASCII": "yes",
        "HETTOP_WINDOW": "60",
        "HETTOP_LAYOUT_HIDDEN": "power, machine",
        "HETTOP_POWER": "file:x.plist",
    }
    settings = resolve_settings(None, environment)
    names = ("fps", "ascii", "window", "layout.hidden", "power")
    assert [settings[name] for name in names] == [10.0, True, 60, ("power", "machine"), "file:x.plist"]
    assert {settings.values[name].where for name in names} == set(environment)


@pytest.mark.parametrize("name", ["HETTOP_FPS", "HETTOP_ASCII", "HETTOP_WINDOW", "HETTOP_LAYOUT_HIDDEN"])
def test_a_slip_in_the_environment_names_the_variable(name: str) -> None:
    settings = resolve_settings(None, {name: "maybe"})
    assert len(settings.faults) == 1
    assert settings.faults[0].startswith(f"{name} must be ")


def test_keys_may_be_written_with_and_without_quotes() -> None:
    settings = resolve_settings(file('[keys]\nunit.next = "u"\n"screen.load" = "L"'), {})
    assert {name: value.value for name, value in settings.keys.items()} == {"unit.next": "u", "screen.load": "L"}
    assert settings.keys["screen.load"].where == "config.toml, line 3"


def test_a_hostile_value_is_shown_clean() -> None:
    settings = resolve_settings(file('"\\u001b[31m" = 1\ntheme = ["\\u202e"]'), {})
    assert not any(c in "".join(settings.faults) for c in "\x1b\u202e")


def test_the_example_sets_nothing_and_says_what_is_so() -> None:
    text = example([("unit.next", "c", "next unit")])
    assert tomllib.loads(text) == {}
    active = "\n".join(
        line.removeprefix("# ") for line in text.splitlines() if line.startswith(("# [", '# "')) or " = " in line
    )
    settings = resolve_settings(file(active), {})
    assert settings.faults == ()
    assert {name: value.value for name, value in settings.values.items()} == {s.name: s.default for s in SETTINGS}
    assert {value.source for value in settings.values.values()} == {"file"}
    assert settings.keys["unit.next"].value == "c"


@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), (4.0, "4"), ("a", '"a"'), (("a", "b"), '["a", "b"]'), (None, "a NoneType")]
)
def test_values_are_shown_as_they_are_written(value: object, text: str) -> None:
    assert shown(value) == text
