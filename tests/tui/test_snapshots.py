"""Whole screens from fixed views: as plain text, which is reviewed, and as SVG, which has the colours.

`HETTOP_UPDATE_GOLDENS=1 pytest tests/tui/test_snapshots.py --snapshot-update` writes both anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from hettop.tui.app import HettopApp
from hettop.tui.preferences import Preferences
from tests.tui.fakes import DOUBTFUL, FAILED, LIVE, PAUSED, POWERED, RECORDING, REPLAY, FakeFeed
from tests.tui.screens import app_on, screen_text, settled
from tests.tui.test_load_room import ROWS

GOLDENS = Path(__file__).parent / "goldens"
SIZES = ((120, 40), (80, 24))
FEEDS: dict[str, Callable[[], FakeFeed]] = {
    "live": lambda: FakeFeed(LIVE, recording=RECORDING),
    "paused": lambda: FakeFeed(PAUSED),
    "failed": lambda: FakeFeed(replace(FAILED, header=replace(FAILED.header, load="cpu:2+memory:1"))),
    "replay": lambda: FakeFeed(LIVE, replay=REPLAY),
    "power": lambda: FakeFeed(POWERED),
    "doubtful": lambda: FakeFeed(DOUBTFUL),
}
THEMES = (
    "hettop-okabe-ito",
    "hettop-light",
    "hettop-high-contrast",
    "hettop-mono",
    "hettop-phosphor",
    "hettop-aurora",
)
CASES = [(name, size) for name in FEEDS for size in SIZES]


@pytest.mark.parametrize(("name", "size"), CASES, ids=lambda value: str(value).replace(" ", ""))
def test_the_screen(name: str, size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    text, same = shot(snap_compare, app_on(FEEDS[name](), fps=4.0), size)
    assert text == golden(name, size, text)
    assert same


@pytest.mark.parametrize(("room", "key"), [("room-load", "l"), ("room-verdict", "v")])
@pytest.mark.parametrize("size", SIZES)
def test_the_rooms(room: str, key: str, size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    shown = replace(LIVE, conditions=ROWS, header=replace(LIVE.header, load="cpu:4", advised="CPU_AND_NE"))
    text, same = shot(snap_compare, app_on(FakeFeed(shown), fps=4.0), size, key)
    assert text == golden(room, size, text)
    assert same


@pytest.mark.parametrize("size", [(40, 8), (60, 16), (160, 50), (200, 60)])
async def test_other_sizes(size: tuple[int, int]) -> None:
    app = app_on(FEEDS["live"](), fps=4.0)
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        text = screen_text(app) + "\n"
    assert text == golden("live", size, text)


@pytest.mark.parametrize("theme", THEMES)
def test_the_other_themes(theme: str, snap_compare: Callable[..., bool]) -> None:
    assert shot(snap_compare, app_on(FEEDS["live"](), fps=4.0, theme=theme), (80, 24))[1]


def test_no_color(snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert shot(snap_compare, app_on(FEEDS["paused"](), fps=4.0), (80, 24))[1]


def test_the_help(snap_compare: Callable[..., bool]) -> None:
    assert shot(snap_compare, app_on(FEEDS["live"](), fps=4.0), (120, 40), "question_mark")[1]


@pytest.mark.parametrize("size", SIZES)
async def test_the_first_look(size: tuple[int, int]) -> None:
    app = app_on(FEEDS["live"](), fps=4.0, preferences=Preferences(introduce=lambda: True))
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        text = screen_text(app) + "\n"
    assert text == golden("first-look", size, text)


@pytest.mark.parametrize(("name", "keys"), [("themes", "T"), ("panels", "H")])
async def test_lists(name: str, keys: str) -> None:
    app = app_on(FEEDS["live"](), fps=4.0)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press(keys)
        await settled(pilot)
        text = screen_text(app) + "\n"
    assert text == golden(name, (120, 40), text)


def golden(name: str, size: tuple[int, int], text: str) -> str:
    """The text as it should be; with HETTOP_UPDATE_GOLDENS it is from now on what it is."""
    path = GOLDENS / f"{name}-{size[0]}x{size[1]}.txt"
    if os.environ.get("HETTOP_UPDATE_GOLDENS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8")


def shot(snap_compare: Callable[..., bool], app: HettopApp, size: tuple[int, int], *keys: str) -> tuple[str, bool]:
    """The screen's text, and whether its picture is as it was."""
    texts: list[str] = []

    async def first_frame(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press(*keys)
        await settled(pilot)
        texts.append(screen_text(app) + "\n")

    same = snap_compare(app, terminal_size=size, run_before=first_frame)
    # A crashed app has a picture too, of its traceback.
    assert app._exception is None
    assert not app.return_code
    return texts[0], same
