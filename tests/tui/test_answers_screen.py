"""The screen of a token stream."""

from __future__ import annotations

from dataclasses import replace

from hettop.report.terminal.lines import text_of
from hettop.session.answers import Octave
from hettop.session.views.answers import AnswersView, Distribution
from hettop.session.views.spikes import SpikeRow
from hettop.tui.screens.answers import position_lines, rate_lines, stall_lines, time_lines
from tests.tui.fakes import HOSTILE, LIVE, SECOND, FakeFeed
from tests.tui.screens import running, screen_text, settled

ANSWERS = AnswersView(
    unit="CPU_ONLY",
    load="cpu:2",
    n=30,
    failed=2,
    last_error="HTTP 429: busy",
    chunks=1920,
    several=7,
    without_gaps=1,
    first=Distribution(30, 120.0, None, None, 180.0, 100.0, 180.0, (1, 20, 9)),
    later=Distribution(1883, 20.5, 22.0, 31.0, 900.0, 18.0, 900.0, (900, 980, 0, 3)),
    by_position=(Octave(1, 1, 30, 20.0, 21.0), Octave(2, 3, 60, 40.0, 41.0)),
    now_per_s=48.5,
    answer_per_s=41.2,
    mj_per_token=None,
    why_no_energy="",
    canary=(3, 600),
    stalls=(SpikeRow(72 * SECOND, 900.0, 44.0, "CPU_ONLY", "cpu:2", None, ("load change", "page fault"), 1),),
)
VIEW = replace(LIVE, answers=ANSWERS)


async def test_a_opens_the_screen_and_asks_for_the_view() -> None:
    feed = FakeFeed(VIEW)
    async with running(feed, size=(120, 40)) as (app, pilot):
        assert not feed.requests[-1].answers
        await pilot.press("A")
        await settled(pilot)
        assert feed.requests[-1].answers
        text = screen_text(app)
    assert "30 answers of CPU_ONLY under cpu:2 · 2 failed" in text
    for words in ("time to first token", "inter-token latency", "tokens/s now 48.5", "last failure: HTTP 429: busy"):
        assert words in text
    assert "01:12.00" in text


async def test_without_a_token_stream_the_screen_says_how_to_get_one() -> None:
    async with running(FakeFeed(LIVE), size=(100, 30)) as (app, pilot):
        await pilot.press("A")
        await settled(pilot)
        assert "no token stream in this session" in screen_text(app)


async def test_before_the_end_of_the_first_answer_the_screen_says_so() -> None:
    shown = replace(LIVE, header=replace(LIVE.header, answering=True))
    async with running(FakeFeed(shown), size=(100, 30)) as (app, pilot):
        await pilot.press("A")
        await settled(pilot)
        assert "no answer has ended yet" in screen_text(app)
        assert "no token stream" not in screen_text(app)


def test_what_is_unknown_is_not_a_number() -> None:
    first, later = (text_of(each) for each in time_lines(ANSWERS, 120)[1:])
    assert first.split()[:9] == ["time", "to", "first", "token", "30", "120", "n/a", "n/a", "180"]
    assert later.split()[:7] == ["inter-token", "latency", "1,883", "20.5", "22.0", "31.0", "900"]
    rates = "\n".join(text_of(each) for each in rate_lines(ANSWERS, 120))
    assert "energy n/a · missed frames (60 Hz canary) 3 of 600" in rates
    assert "7 of 1,920 chunks held several tokens" in rates
    assert "inter-token latency n/a of 1 answers" in rates


def test_bars_of_positions_are_in_proportion() -> None:
    bars = [text_of(each).rstrip() for each in position_lines(ANSWERS, 120)[1:]]
    lengths = [len(bar.split()[-1]) for bar in bars]
    assert lengths == [15, 30]


def test_at_80_columns_nothing_is_cut() -> None:
    wide = replace(ANSWERS.first, counts=(1,) * 32)
    lines = [
        text_of(each)
        for each in (
            *time_lines(replace(ANSWERS, first=wide), 76),
            *rate_lines(ANSWERS, 76),
            *position_lines(ANSWERS, 76),
        )
    ]
    assert not any("…" in each for each in lines)
    assert "distribution" not in lines[0]
    assert "over the answer (P50) 41.2 · energy n/a" in "\n".join(lines)


def test_stalls_have_their_events() -> None:
    (stall,) = (text_of(each) for each in stall_lines(ANSWERS, 120)[1:])
    assert stall.split()[:3] == ["01:12.00", "900", "44.0x"]
    assert "load change, page fault" in stall
    none = text_of(stall_lines(replace(ANSWERS, stalls=()), 120)[1])
    assert "no stall in the last minute" in none


def test_lines_fit_any_width_and_show_no_escape() -> None:
    hostile = replace(ANSWERS, unit=HOSTILE, last_error=HOSTILE)
    for width in (20, 60, 200):
        for each in (*time_lines(hostile, width), *rate_lines(hostile, width), *stall_lines(hostile, width)):
            assert len(text_of(each)) == width
            assert "\x1b" not in text_of(each)
