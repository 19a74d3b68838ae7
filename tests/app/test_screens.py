"""The sample sessions, replayed into the real screen: what they are and what they hold is on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.app.replay import ReplayFeed
from hettop.events import split_row
from hettop.format import milliseconds
from hettop.record.is_study_only import is_study_only
from hettop.resources import recordings_folder
from hettop.session.views.session_view import view
from hettop.session.views.structs import ViewRequest
from hettop.tui.app import HettopApp
from tests.tui.screens import screen_text, settled

RECORDINGS = sorted(path for path in recordings_folder().glob("*.jsonl") if not is_study_only(path))


def opened_simulated(path: Path) -> bool:
    feed = ReplayFeed(path)
    try:
        return feed.session.simulated
    finally:
        feed.close()


def test_there_are_real_sessions_and_simulated_ones() -> None:
    simulated = [opened_simulated(path) for path in RECORDINGS]
    assert sorted(simulated) == [False, False, False, True, True, True]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
async def test_a_sample_session_in_the_middle(path: Path, size: tuple[int, int]) -> None:
    feed = ReplayFeed(path, at_ns=12 * 10**9)
    feed.toggle_play()
    app = HettopApp(lambda: feed, replaying=True, fps=0.001)
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        app.frame()
        await settled(pilot)
        text = screen_text(app)
    assert ("SIMULATED" in text) is feed.session.simulated
    assert "REPLAY" in text
    assert all(split_row(unit)[0] in text for unit in feed.session.units)
    shown = view(feed.session, ViewRequest(now_ns=feed.now_ns, window_ns=30 * 10**9)).latency
    assert shown.p90_ms is not None
    assert f" {milliseconds(shown.p90_ms)} " in text
    feed.close()
