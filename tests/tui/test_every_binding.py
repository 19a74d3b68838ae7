"""Every key of every screen does something that can be seen, under its own name and under another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from textual.binding import BindingsMap
from textual.dom import DOMNode
from textual.pilot import Pilot

from hettop.report.terminal.glyphs import to_ascii
from hettop.tui.app import HettopApp
from hettop.tui.keys import applicable
from hettop.tui.preferences import Preferences
from hettop.tui.scopes import scopes
from hettop.tui.settings import SettingChoice
from tests.tui.fakes import FAILED, RECORDING, REPLAY, FakeFeed
from tests.tui.screens import painted, running, screen_text, settled

pytestmark = pytest.mark.slow

SIZE = (80, 24)
UNUSED = "f9"
LETTERS = "abdefghijklmnopqrstuvwxyz"  # super+c copies, by Textual
OTHER_KEYS = [f"{modifier}+{letter}" for modifier in ("alt", "super", "hyper") for letter in LETTERS]


def live() -> FakeFeed:
    return FakeFeed()


def failed() -> FakeFeed:
    return FakeFeed(FAILED)


def replay() -> FakeFeed:
    return FakeFeed(replay=REPLAY)


def recorded() -> FakeFeed:
    return FakeFeed(recording=RECORDING)


PREFERENCES = Preferences(settings=lambda _: (SettingChoice("window", "seconds", 30, (10, 30, 60)),) * 2)
"""Two settings, so that the cursor can move."""


@dataclass(frozen=True, slots=True)
class Before:
    """Where a key is pressed: on which feed, and after which other keys."""

    feed: Callable[[], FakeFeed] = live
    keys: Sequence[str] = ()


IN_SCOPE = {
    "live": Before(),
    "replay": Before(replay),
    "screen load": Before(keys=("l",)),
    "screen verdict": Before(keys=("v",)),
    "screen spikes": Before(keys=("s",)),
    "screen studies": Before(keys=("y",)),
    "screen tokens": Before(keys=("A",)),
    "HelpScreen": Before(keys=("question_mark",)),
    "AskingScreen": Before(keys=("m",)),
    "ThemeScreen": Before(keys=("T",)),
    "PanelScreen": Before(keys=("H",)),
    "SettingsScreen": Before(keys=("f2",)),
    "ConfirmScreen": Before(recorded, ("x",)),
    "MomentScreen": Before(replay, ("g",)),
}
"""How to get to each place that has keys of its own; one that is new has to be added."""

FIRST = {
    "restart": Before(failed),
    "panel.1": Before(keys=("2",)),
    "panel.next": Before(keys=("1",)),
    "panel.previous": Before(keys=("2",)),
    "scroll.up": Before(keys=("3", "down")),
    "scroll.down": Before(keys=("3",)),
    "details": Before(keys=("3",)),
    "leave": Before(keys=("z",)),
    "window.longer": Before(keys=("minus",)),
    "list.top": Before(keys=("3", "down")),
    "list.bottom": Before(keys=("3",)),
}
"""Keys that do something only after others."""

PAGED = {"screen.page_up": ["pagedown"], "screen.page_down": [], "screen.top": ["pagedown"], "screen.bottom": []}
"""Keys that move the whole content of a room, and those before them."""


@dataclass(frozen=True, slots=True)
class Case:
    """A key of a binding in a scope."""

    scope: str
    id: str
    key: str

    @property
    def before(self) -> Before:
        if self.id in PAGED:
            # Rooms have more or less to show; what pages does in the one that has more than any screen.
            return Before(keys=("v", *PAGED[self.id]))
        there = IN_SCOPE[self.scope]
        first = FIRST.get(self.id) if self.scope in ("live", "replay") else None
        return there if first is None else Before(first.feed if self.scope == "live" else replay, first.keys)


def cases() -> Iterator[Case]:
    for scope in scopes():
        for binding in scope.bindings:
            for key in binding.key.split(","):
                yield Case(scope.name, binding.id or "", key)


CASES = list(dict.fromkeys(case for case in cases() if case.id not in PAGED or case.scope == "screen verdict"))


def seen(app: HettopApp, feed: FakeFeed) -> tuple[object, ...]:
    """What a user sees or what is asked to the measurement: all that a key may change."""
    request = feed.requests[-1] if feed.requests else None
    return (
        drawn(app) if app.is_running else None,
        app.theme,
        app.return_code,
        app.focused and app.focused.id,
        [type(screen) for screen in app.screen_stack] if app.is_running else [],
        list(feed.told.calls),
        request and (request.window_ns, request.unit),
        app.notices.added,
    )


def drawn(app: HettopApp) -> list[tuple[str, str]]:
    """All that stands on the screen, with its colours: a cursor may be a line in reverse."""
    return [(segment.text, str(segment.style)) for strip in painted(app) for segment in strip]


async def pressed(case: Case, key: str) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """What was seen before and after the key."""
    feed = case.before.feed()
    async with running(feed, size=SIZE, preferences=PREFERENCES) as (app, pilot):
        await after(pilot, *case.before.keys)
        before = seen(app, feed)
        await after(pilot, key)
        return before, seen(app, feed)


async def after(pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.scope}-{case.id}-{case.key}".replace(" ", "-"))
async def test_a_key_does_something(case: Case) -> None:
    before, then = await pressed(case, case.key)
    assert then != before


@pytest.mark.parametrize(
    ("scope", "feed"),
    [
        (scope, feed)
        for scope, before in IN_SCOPE.items()
        for feed in ([live, replay] if before.feed is live and scope not in ("live", "replay") else [before.feed])
    ],
)
async def test_every_key_of_a_place_can_be_another_there(scope: str, feed: Callable[[], FakeFeed]) -> None:
    ids = list(dict.fromkeys(case.id for case in cases() if case.scope == scope))
    others = dict(zip(ids, OTHER_KEYS, strict=False))
    assert len(others) == len(ids)
    before = ("g",) if (scope, feed) == ("AskingScreen", replay) else IN_SCOPE[scope].keys
    preferences = replace(PREFERENCES, keymap=others)
    async with running(feed(), size=SIZE, preferences=preferences) as (app, pilot):
        await after(pilot, *before)
        bound = {key: active.binding.id for key, active in app.screen.active_bindings.items()}
    assert {other: bound.get(other) for other in others.values()} == {other: name for name, other in others.items()}


@pytest.mark.parametrize("scope", IN_SCOPE)
async def test_a_key_that_nothing_is_bound_to_does_nothing(scope: str) -> None:
    """What proves that the tests above can fail."""
    before, then = await pressed(Case(scope, "", ""), UNUSED)
    assert then == before


@pytest.mark.parametrize("feed", [live, replay])
async def test_every_key_is_in_the_help_by_its_words_also_in_ascii(feed: Callable[[], FakeFeed]) -> None:
    keys = applicable(live=feed is live, replay=feed is replay)
    async with running(feed(), size=(120, 110), ascii=True) as (app, pilot):
        await after(pilot, "question_mark")
        text = screen_text(app)
    assert text.isascii()
    assert [key.id for key in keys if to_ascii(f"{key.display:<11}{key.words}") not in text] == []


@pytest.mark.parametrize("key", ["j", "k", "G", "slash", "S", "Y", "P", "f2", "x", "s", "H", "T"])
async def test_in_ascii_every_new_key_draws_plain_characters(key: str) -> None:
    async with running(recorded(), size=SIZE, ascii=True, preferences=PREFERENCES) as (app, pilot):
        await after(pilot, "3", key)
        assert screen_text(app).isascii()


def test_every_class_with_keys_is_in_a_scope() -> None:
    known = {binding.id for scope in scopes() for binding in scope.bindings}
    each: type[Any]
    for each in subclasses(DOMNode):
        if each.__module__.startswith("hettop.") and "BINDINGS" in each.__dict__:
            bound = BindingsMap(each.__dict__["BINDINGS"]).key_to_bindings.values()
            assert {binding.id for group in bound for binding in group} <= known, each.__name__


def subclasses(of: type[Any]) -> Iterator[type[Any]]:
    for each in of.__subclasses__():
        yield each
        yield from subclasses(each)
