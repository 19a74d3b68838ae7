"""Every key of every screen does something that can be seen, under its own name and under another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from textual.binding import BindingsMap
from textual.dom import DOMNode
from textual.pilot import Pilot

from hettop.tui.app import HettopApp
from hettop.tui.keys import KEYS
from hettop.tui.preferences import Preferences
from hettop.tui.scopes import scopes
from tests.tui.fakes import FAILED, REPLAY, FakeFeed
from tests.tui.screens import painted, running, settled

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


@dataclass(frozen=True, slots=True)
class Before:
    """Where a key is pressed: on which feed, and after which other keys."""

    feed: Callable[[], FakeFeed] = live
    keys: Sequence[str] = ()


IN_SCOPE = {
    "panels": Before(),
    "screen load": Before(keys=("l",)),
    "screen verdict": Before(keys=("v",)),
    "screen spikes": Before(keys=("s",)),
    "screen studies": Before(keys=("y",)),
    "HelpScreen": Before(keys=("question_mark",)),
    "AskingScreen": Before(keys=("m",)),
    "ThemeScreen": Before(keys=("T",)),
    "PanelScreen": Before(keys=("H",)),
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
        needs = {key.id: key.needs for key in KEYS}.get(self.id, "")
        there = Before(replay) if needs == "replay" else IN_SCOPE[self.scope]
        return FIRST.get(self.id, there) if self.scope == "panels" else there


def cases() -> Iterator[Case]:
    for scope in scopes():
        for binding in scope.bindings:
            for key in binding.key.split(","):
                yield Case(scope.name, binding.id or "", key)


CASES = list(dict.fromkeys(case for case in cases() if case.id not in PAGED or case.scope == "screen verdict"))


def seen(app: HettopApp, feed: FakeFeed) -> tuple[object, ...]:
    """What a user sees or what is told to the measurement: all that a key may change."""
    request = feed.requests[-1] if feed.requests else None
    return (
        drawn(app) if app.is_running else None,
        app.theme,
        app.return_code,
        app.focused and app.focused.id,
        [type(screen) for screen in app.screen_stack] if app.is_running else [],
        list(feed.told.calls),
        request and (request.window_ns, request.unit),
        len(app._notifications),
    )


def drawn(app: HettopApp) -> list[tuple[str, str]]:
    """All that stands on the screen, with its colours: a cursor may be a line in reverse."""
    return [(segment.text, str(segment.style)) for strip in painted(app) for segment in strip]


async def pressed(case: Case, key: str) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """What was seen before and after the key."""
    feed = case.before.feed()
    async with running(feed, size=SIZE) as (app, pilot):
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


@pytest.mark.parametrize("feed", [live, replay])
@pytest.mark.parametrize("scope", IN_SCOPE)
async def test_every_key_of_a_place_can_be_another_there(scope: str, feed: Callable[[], FakeFeed]) -> None:
    ids = list(dict.fromkeys(case.id for case in cases() if case.scope == scope))
    others = dict(zip(ids, OTHER_KEYS, strict=False))
    assert len(others) == len(ids)
    before = ("g",) if (scope, feed) == ("AskingScreen", replay) else IN_SCOPE[scope].keys
    async with running(feed(), size=SIZE, preferences=Preferences(keymap=others)) as (app, pilot):
        await after(pilot, *before)
        bound = {key: active.binding.id for key, active in app.screen.active_bindings.items()}
    hidden = {key.id for key in KEYS if key.needs and key.needs != feed.__name__}
    assert {other: bound.get(other) for name, other in others.items() if name not in hidden} == {
        other: name for name, other in others.items() if name not in hidden
    }


@pytest.mark.parametrize("scope", IN_SCOPE)
async def test_a_key_that_nothing_is_bound_to_does_nothing(scope: str) -> None:
    """What proves that the tests above can fail."""
    before, then = await pressed(Case(scope, "", ""), UNUSED)
    assert then == before


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
