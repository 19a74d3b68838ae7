"""The user's own keys: every name that is one, every clash in words, and what the screen shows of them."""

from __future__ import annotations

import pytest
from textual.binding import Binding

from hettop.tui.dialogs import AskingScreen, ConfirmScreen, HelpScreen, MomentScreen
from hettop.tui.keymap import Scope, make_keymap, shown_key, textual_keys, with_keymap
from hettop.tui.keys import KEYS
from hettop.tui.pickers import PanelScreen, ThemeScreen
from hettop.tui.preferences import Preferences
from hettop.tui.scopes import scopes
from hettop.tui.screens import SCREENS
from hettop.tui.screens.page_screen import PageScreen
from hettop.tui.settings import SettingsScreen
from tests.tui.fakes import FakeFeed
from tests.tui.screens import running, screen_text, settled

PANELS = Scope("panels", (Binding("c", "x", "next unit", id="unit.next"), Binding("i", "x", "take turns", id="turns")))
SCREEN = Scope("screen", (Binding("d", "x", "duty", id="load.duty"),))


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("u", ["u"]),
        ("U", ["U"]),
        ("[", ["left_square_bracket"]),
        ("+", ["plus"]),
        (",", ["comma"]),
        (" u , f5", ["u", "f5"]),
        ("space", ["space"]),
        ("Space", ["space"]),
        ("left_square_bracket", ["left_square_bracket"]),
        ("ctrl+x", ["ctrl+x"]),
        ("Ctrl+x", ["ctrl+x"]),
        ("ctrl++", ["ctrl+plus"]),
        ("shift+left", ["shift+left"]),
        ("é", ["é"]),
    ],
)
def test_names_of_keys(text: str, keys: list[str]) -> None:
    assert textual_keys(text) == keys


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a key is missing"),
        ("u,,v", "a key is missing"),
        ("spcae", "invalid key 'spcae'"),
        ("hyperctrl+x", "invalid key"),
        ("ctrl+", "invalid key"),
        ("\x1b", "invalid key"),
        ("ctrl+c", "ctrl+c is reserved: it interrupts"),
        ("ctrl+i", "terminals send the same for ctrl+i as for tab"),
        ("u,u", "u is listed twice"),
    ],
)
def test_an_invalid_key_is_refused_with_a_message(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("+", r"\+")):
        textual_keys(text)


def test_a_key_that_has_a_meaning_is_refused_and_the_other_stays() -> None:
    made = make_keymap({"unit.next": "i"}, [PANELS, SCREEN])
    assert dict(made.keys) == {}
    assert dict(made.faults) == {"unit.next": "i is already the key of turns: take turns"}


def test_two_keys_can_be_exchanged() -> None:
    made = make_keymap({"unit.next": "i", "turns": "c"}, [PANELS])
    assert (dict(made.keys), dict(made.faults)) == ({"unit.next": "i", "turns": "c"}, {})


def test_of_two_wishes_for_one_key_the_first_is_granted() -> None:
    made = make_keymap({"unit.next": "u", "turns": "u,t"}, [PANELS])
    assert dict(made.keys) == {"unit.next": "u"}
    assert "u is already the key of unit.next" in made.faults["turns"]


def test_a_refusal_can_make_another_wish_clash() -> None:
    made = make_keymap({"turns": "c", "unit.next": "spcae"}, [PANELS])
    assert dict(made.keys) == {}
    assert set(made.faults) == {"turns", "unit.next"}


def test_a_screen_may_have_a_key_that_the_panels_have_too() -> None:
    assert dict(make_keymap({"load.duty": "c"}, [PANELS, SCREEN]).keys) == {"load.duty": "c"}


def test_an_unknown_id_gets_the_nearest_as_a_hint() -> None:
    assert (
        make_keymap({"unit.nxt": "u"}, [PANELS]).faults["unit.nxt"] == "no key has this id; did you mean 'unit.next'?"
    )


def test_a_multiplexers_own_key_is_taken_and_said() -> None:
    made = make_keymap({"unit.next": "ctrl+b"}, [PANELS])
    assert dict(made.keys) == {"unit.next": "ctrl+b"}
    assert "tmux" in made.notes[0]


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("left_square_bracket", "["),
        ("ctrl+x", "Ctrl+X"),
        ("shift+left", "Shift+←"),
        ("U", "U"),
        ("space", "space"),
        ("f1", "F1"),
        ("f", "f"),
    ],
)
def test_keys_are_shown_as_users_read_them(key: str, shown: str) -> None:
    assert shown_key(key) == shown


def test_no_key_of_hettops_own_clashes_with_another_or_with_tmux_screen_and_voiceover() -> None:
    for scope in scopes():
        pressed = [key for binding in scope.bindings for key in binding.key.split(",")]
        assert len(set(pressed)) == len(pressed), scope.name
        assert not {"ctrl+a", "ctrl+b"} & set(pressed), scope.name
        assert not [key for key in pressed if "ctrl+alt" in key or "alt+ctrl" in key], scope.name


def test_every_binding_of_every_screen_has_an_id() -> None:
    bound = [
        each.BINDINGS
        for each in (
            PageScreen,
            HelpScreen,
            AskingScreen,
            MomentScreen,
            ConfirmScreen,
            ThemeScreen,
            PanelScreen,
            SettingsScreen,
        )
    ]
    for bindings in (*bound, *(screen.BINDINGS for screen in SCREENS.values())):
        assert all(isinstance(each, Binding) and each.id for each in bindings), bindings


def test_every_key_of_the_panels_can_be_another() -> None:
    letters = [
        f"{modifier}+{letter}" for modifier in ("alt", "super", "hyper") for letter in "abcdefghijklmnopqrstuvwxyz"
    ]
    wanted = {key.id: letter for key, letter in zip(KEYS, letters, strict=False)}
    assert len(wanted) == len(KEYS)
    assert make_keymap(wanted, scopes()).faults == {}


async def test_other_keys_do_what_the_old_ones_did_and_stand_in_hints_and_help() -> None:
    feed = FakeFeed()
    wanted = {"unit.next": "u", "interleave": "c", "help": "e", "panel.next": "ctrl+n"}
    made = make_keymap(wanted, scopes())
    assert made.faults == {}
    async with running(feed, size=(120, 90), preferences=Preferences(keymap=made.keys)) as (app, pilot):
        assert " u unit " in screen_text(app)
        await pilot.press("u", "c", "i", "ctrl+n")
        await settled(pilot)
        assert app.focused is not None
        assert app.focused.id == "panel-2"
        await pilot.press("e")
        await settled(pilot)
        assert len(app.screen_stack) == 2
        assert "u          switch to the next compute unit" in screen_text(app)
        assert any(key.display == "Ctrl+N" for key in app.keys)
        await pilot.press("e")
        await settled(pilot)
        assert len(app.screen_stack) == 1
    assert feed.told.calls == [("switch", "CPU_AND_GPU"), ("interleave",)]


async def test_keys_of_a_screen_can_be_others_too() -> None:
    async with running(FakeFeed(), preferences=Preferences(keymap={"screen.leave": "b"})) as (app, pilot):
        await pilot.press("l")
        await settled(pilot)
        assert app.page_screen is not None
        await pilot.press("b")
        await settled(pilot)
        assert app.page_screen is None


def test_what_is_shown_of_other_keys() -> None:
    (key,) = with_keymap([key for key in KEYS if key.id == "unit.next"], {"unit.next": "u,right_square_bracket"})
    assert (key.keys, key.display) == ("u,right_square_bracket", "u")
