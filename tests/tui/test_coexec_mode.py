"""Co-execution as a mode on the screen: what the header and the panels say, and the room that can stand open."""

from __future__ import annotations

from dataclasses import replace

from hettop.events import Study
from hettop.report.terminal.lines import text_of
from hettop.tui.frame_state import FrameState
from hettop.tui.panels.header import header_line
from hettop.tui.preferences import Preferences
from tests.studies.coexecuted import WELL
from tests.tui.fakes import HEADER, LIVE, SECOND, FakeFeed
from tests.tui.screens import running, screen_text, settled

TOGETHER = replace(HEADER, mode="coexec", units=("CPU_ONLY@1", "CPU_AND_NE"), paused=True, study="coexec")
RUNNING = Study(
    t=HEADER.elapsed_ns,
    name="coexec",
    state="running",
    elapsed_ns=9 * SECOND,
    doing="round 4: CPU_ONLY@1",
    found=WELL.line(),
)


def frame_state(header: object = TOGETHER, *, frozen: bool = False) -> FrameState:
    return FrameState(replace(LIVE, header=header), None, None, frozen, 4.0)  # type: ignore[arg-type]


def test_the_header_says_who_co_executes_and_once() -> None:
    text = text_of(header_line(frame_state(), 120))
    assert "▶ CO-EXECUTING CPU@1 + NE " in text
    assert text.count("CPU@1") == 1
    assert "coexec" not in text
    assert "STUDY" not in text


def test_a_narrow_header_still_says_it() -> None:
    assert "CO-EXECUTING CPU@1 + NE" in text_of(header_line(frame_state(), 60))


def test_a_frozen_display_says_that_it_is_frozen() -> None:
    assert "FROZEN" in text_of(header_line(frame_state(frozen=True), 120))


def test_another_study_is_no_mode() -> None:
    other = replace(HEADER, paused=True, study="sweep")
    assert "STUDY: sweep" in text_of(header_line(frame_state(other), 120))
    assert not frame_state(other).co_executing


async def test_the_room_can_stand_open_from_the_start_on_what_runs() -> None:
    feed = FakeFeed(replace(LIVE, header=TOGETHER, studies=(RUNNING,)))
    async with running(feed, size=(120, 40), preferences=Preferences(screen="studies")) as (app, pilot):
        await settled(pilot)
        text = screen_text(app)
        assert "CO-EXECUTING CPU@1 + NE" in text
        assert "round 4: CPU_ONLY@1 · 00:09" in text
        assert "Together 120/s: +20% over CPU_AND_NE alone" in text
        await pilot.press("enter")
        await settled(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert "CO-EXECUTING" in screen_text(app)
        assert "latency ms" in screen_text(app)
    assert feed.told.calls == [("end_study",)]
