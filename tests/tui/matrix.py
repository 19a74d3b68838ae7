"""Every screen that hettop can show, by name: of which feed, after which keys, for snapshots to go through."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from textual.pilot import Pilot

from hettop.app.replay import ReplayFeed
from hettop.app.verdict_cache import VerdictCache
from hettop.errors import HettopError
from hettop.resources import recordings_folder
from hettop.session.views.session_view import view
from hettop.tui.app import HettopApp
from hettop.tui.constants import PANELS
from hettop.tui.preferences import Preferences
from tests.tui.fakes import DOUBTFUL, EMPTY, FAILED, HEADER, LIVE, PAUSED, POWERED, RECORDING, REPLAY, FakeFeed
from tests.tui.screens import app_on, settled
from tests.tui.test_load_screen import ROWS

Size = tuple[int, int]
SIZES: tuple[Size, ...] = ((40, 8), (80, 24), (120, 40), (200, 60))
BETWEEN = ((20, 5), (60, 16), (160, 50))
FEWER_SIZES = SIZES[:3]
"""For what differs from another screen in its words: the largest size would show the same once more."""
FPS = 4.0  # stands in the header
LOADED = replace(LIVE, conditions=ROWS, header=replace(HEADER, load="cpu:4", advised="CPU_AND_NE"))
SESSION_NS = 13_500_000_000
"""A moment of the sample session at which all units have run and spikes have come."""


def sample_session() -> ReplayFeed:
    """The simulated sample session, standing still."""
    feed = ReplayFeed(recordings_folder() / "simulated-m2.jsonl", verdicts=VerdictCache(lambda work: work()))
    feed.look_at_all()
    feed.seek(SESSION_NS)
    feed.toggle_play()
    return feed


@dataclass(frozen=True, slots=True)
class Shown:
    """A screen: made by `feed`, or of the sample session where there is none, after `keys`.

    by_size: the keys do another thing where only one panel has room.
    """

    feed: Callable[[], FakeFeed] | None
    keys: Sequence[str] = ()
    preferences: Preferences | None = None
    sizes: tuple[Size, ...] = SIZES
    by_size: bool = False


def fewer(shown: Shown) -> Shown:
    return replace(shown, sizes=FEWER_SIZES)


def live(*keys: str) -> Shown:
    return Shown(lambda: FakeFeed(LIVE, recording=RECORDING), keys)


def replayed(*keys: str) -> Shown:
    return Shown(lambda: FakeFeed(LIVE, replay=REPLAY), keys)


def zoomed(name: str) -> Shown:
    return Shown(lambda: FakeFeed(POWERED), (), Preferences(zoomed=name))


def first_look(feed: Callable[[], FakeFeed]) -> Shown:
    return Shown(feed, (), Preferences(introduce=lambda: True))


def disk_full() -> FakeFeed:
    fault = HettopError("io", "cannot record to run.jsonl: no space left", "choose another folder, or make room")
    return FakeFeed(LIVE, fault=fault)


SCREENS: dict[str, Shown] = {
    "live": live(),
    "live-empty": fewer(Shown(lambda: FakeFeed(EMPTY))),
    "live-paused": fewer(Shown(lambda: FakeFeed(PAUSED))),
    "live-frozen": fewer(live("f")),
    "live-failed": fewer(Shown(lambda: FakeFeed(replace(FAILED, header=replace(HEADER, load="cpu:2+memory:1"))))),
    "live-power": Shown(lambda: FakeFeed(POWERED)),
    "live-doubtful": fewer(Shown(lambda: FakeFeed(DOUBTFUL))),
    "live-refused": fewer(Shown(disk_full, ("r",))),
    "replay": replayed(),
    "replay-frozen": fewer(replayed("f")),
    "session": Shown(None, sizes=(*SIZES, *BETWEEN)),
    **{f"zoom-{name}": fewer(zoomed(name)) for name in PANELS.values()},
    "details": fewer(Shown(lambda: FakeFeed(DOUBTFUL), ("3", "enter"), by_size=True)),
    "screen-load": Shown(lambda: FakeFeed(LOADED), ("l",)),
    "screen-verdict": Shown(lambda: FakeFeed(LOADED), ("v",)),
    "screen-studies-empty": replayed("y"),
    "session-load": Shown(None, ("l",)),
    "session-verdict": Shown(None, ("v",)),
    "session-spikes": Shown(None, ("s",)),
    "help": live("question_mark"),
    "help-replay": fewer(replace(replayed("4", "question_mark"), by_size=True)),
    "help-screen": Shown(None, ("s", "question_mark")),
    "palette": live("ctrl+p"),
    "themes": live("T"),
    "panels": live("H"),
    "mark": fewer(live("m", "f", "a", "n")),
    "moment": fewer(replayed("g")),
    "introduction": first_look(lambda: FakeFeed(LIVE)),
    "introduction-replay": fewer(first_look(lambda: FakeFeed(LIVE, replay=REPLAY))),
}


@asynccontextmanager
async def showing(
    shown: Shown,
    size: Size,
    *,
    ascii: bool = False,  # noqa: A002 - the option's name
    theme: str | None = None,
) -> AsyncIterator[tuple[HettopApp, Pilot[None]]]:
    """The app with this screen on it; crashes are reported as such."""
    session = sample_session() if shown.feed is None else None
    options = {"fps": FPS, "ascii": ascii, "theme": theme, "preferences": shown.preferences}
    if shown.feed is not None:
        app = app_on(shown.feed(), **options)
    else:
        assert session is not None
        app = HettopApp(lambda: session, replaying=True, look=view, **options)  # type: ignore[arg-type]
        app.animation_level = "none"
    try:
        async with app.run_test(size=size, notifications=True) as pilot:
            await settled(pilot)
            for key in shown.keys:
                await pilot.press(key)
                await settled(pilot)
            app.frame()
            await settled(pilot)
            yield app, pilot
            assert app._exception is None
            assert not app.return_code
    finally:
        if session is not None:
            session.close()
