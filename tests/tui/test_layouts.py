"""Layouts: screens beside or below the panels, presets of panels, and the bottom line of a zoomed panel."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hettop.report.terminal.lines import text_of
from hettop.tui.panels.figures import figures_lines, large_row
from hettop.tui.panels.panel import framed
from hettop.tui.preferences import Preferences
from hettop.tui.screens import SCREENS
from tests.tui.fakes import EMPTY, LIVE, REPLAY, SECOND, FakeFeed, frame_state, row
from tests.tui.screens import running, screen_text, settled
from tests.tui.test_arranging import Keeping, titles
from tests.tui.test_load_screen import ROWS

LOADED = replace(LIVE, conditions=ROWS)


@pytest.mark.parametrize(
    ("name", "size", "place"),
    [
        ("load", (120, 40), (62, 0)),  # the least it needs
        ("load", (160, 50), (72, 0)),  # 45%
        ("load", (240, 60), (96, 0)),  # the most it takes
        ("load", (80, 24), (0, 13)),  # 58% of 22 lines
        ("load", (80, 23), (0, 0)),
        ("load", (120, 17), (0, 0)),
        ("verdict", (179, 60), (0, 0)),
        ("verdict", (200, 60), (90, 0)),
        ("spikes", (200, 60), (90, 0)),
        ("studies", (200, 60), (0, 0)),
    ],
)
def test_a_screen_leaves_the_panels_what_the_terminal_has_room_for(
    name: str, size: tuple[int, int], place: tuple[int, int]
) -> None:
    found = SCREENS[name].place_in(*size)
    assert (found.beside, found.below) == place
    assert found.covers == (place == (0, 0))


async def test_load_stands_beside_the_charts_and_gives_their_place_back() -> None:
    async with running(FakeFeed(LOADED), size=(120, 40)) as (app, pilot):
        await pilot.press("l")
        await settled(pilot)
        text = screen_text(app)
        assert titles(text) == ["latency", "timeline", "units"]
        assert "competing load" in text
        row = next(row for row in text.splitlines() if "competing load" in row)
        assert row.index("1 latency") < 58 == row.index("╭─ competing load")
        await pilot.press("escape")
        await settled(pilot)
        assert titles(screen_text(app)) == ["latency", "timeline", "units", "events", "power", "machine"]
        assert {len(row) for row in screen_text(app).splitlines()[1:30]} == {120}


async def test_the_charts_beside_the_load_go_on() -> None:
    feed = FakeFeed(LOADED)
    async with running(feed, size=(120, 40)) as (app, pilot):
        await pilot.press("l")
        await settled(pilot)
        feed.shown = replace(LOADED, latency=replace(LIVE.latency, p50_ms=3.33))
        app.frame()
        await settled(pilot)
        assert "P50 3.33" in screen_text(app)


async def test_on_a_narrow_terminal_load_stands_below_the_first_panel() -> None:
    async with running(FakeFeed(LOADED), size=(80, 24)) as (app, pilot):
        await pilot.press("l")
        await settled(pilot)
        rows = screen_text(app).splitlines()
        assert titles(screen_text(app)) == ["latency"]
        assert next(y for y, row in enumerate(rows) if "competing load" in row) == 10
        await pilot.press("l")
        await settled(pilot)
        assert titles(screen_text(app)) == ["latency", "timeline", "units"]


async def test_a_terminal_that_becomes_small_is_given_to_the_load_alone() -> None:
    async with running(FakeFeed(LOADED), size=(120, 40)) as (app, pilot):
        await pilot.press("l")
        await settled(pilot)
        await pilot.resize_terminal(60, 16)
        await settled(pilot)
        app.frame()
        await settled(pilot)
        assert titles(screen_text(app)) == []
        assert "competing load" in screen_text(app)


async def test_a_large_terminal_shows_all_panels_beside_the_verdict() -> None:
    async with running(FakeFeed(LOADED), size=(200, 60)) as (app, pilot):
        await pilot.press("v")
        await settled(pilot)
        assert titles(screen_text(app)) == ["latency", "timeline", "units", "events", "power", "machine"]
        assert "verdict · at 01:20.0" in screen_text(app)


PRESETS = {
    "overview": ["latency", "timeline", "units", "events", "power", "machine"],
    "compare": ["latency", "timeline", "units"],
    "power": ["latency", "units", "events", "power", "machine"],
    "presentation": ["latency"],
}


async def test_w_steps_through_the_layouts_and_keeps_them() -> None:
    keeping = Keeping()
    async with running(FakeFeed(), preferences=Preferences(keep=keeping.keep)) as (app, pilot):
        for name in ("compare", "power", "presentation", "overview"):
            await pilot.press("w")
            await settled(pilot)
            assert titles(screen_text(app)) == PRESETS[name]
            assert f"layout: {name}" in screen_text(app)
    assert keeping.kept == [("layout.preset", name) for name in ("compare", "power", "presentation", "overview")]


@pytest.mark.parametrize(
    ("preset", "panels"),
    [
        ("compare", ["latency", "timeline", "units"]),
        ("power", ["units", "power"]),
        ("presentation", ["latency"]),
    ],
)
async def test_a_narrow_screen_has_the_layouts_too(preset: str, panels: list[str]) -> None:
    async with running(FakeFeed(), size=(80, 24), preferences=Preferences(preset=preset)) as (app, _):
        assert titles(screen_text(app)) == panels


async def test_a_low_screen_has_one_layout() -> None:
    async with running(FakeFeed(), size=(80, 16), preferences=Preferences(preset="presentation")) as (app, _):
        assert "figures" not in screen_text(app)
        assert "3 units" in screen_text(app)


async def test_hidden_panels_stay_hidden_in_every_layout() -> None:
    async with running(FakeFeed(), preferences=Preferences(hidden=("power",), preset="power")) as (app, _):
        assert titles(screen_text(app)) == ["latency", "units", "events", "machine"]


async def test_a_zoomed_panel_is_restored_by_the_next_layout() -> None:
    async with running(FakeFeed(), preferences=Preferences(zoomed="units")) as (app, pilot):
        assert titles(screen_text(app)) == ["units"]
        await pilot.press("w")
        await settled(pilot)
        assert titles(screen_text(app)) == PRESETS["compare"]


async def test_any_panel_can_be_zoomed_in_any_layout() -> None:
    for preset, panels in PRESETS.items():
        async with running(FakeFeed(), preferences=Preferences(preset=preset)) as (app, pilot):
            for number, name in ((2, "timeline"), (5, "power")):
                await pilot.press(str(number))
                if not app.zoomed:  # a panel that is not in the layout is zoomed by its number
                    await pilot.press("z")
                await settled(pilot)
                assert titles(screen_text(app)) == [name]
                await pilot.press("z")
                await settled(pilot)
                assert titles(screen_text(app)) == panels


def test_large_digits_are_drawn_in_five_lines() -> None:
    assert [large_row("1.7", at) for at in range(5)] == [
        " █    ███",
        "██      █",
        " █      █",
        " █      █",
        "███ █   █",
    ]


def test_every_unit_is_large_where_there_is_room_else_the_viewed_one() -> None:
    state = frame_state()
    tall = [text_of(line) for line in figures_lines(state, 116, 23)]
    assert len(tall) == 4 * 5 + 3  # a blank line between two
    assert [row.split()[0] for row in tall[2::6]] == ["▶", "GPU", "CPU", "ALL"]
    low = [text_of(line).rstrip() for line in figures_lines(state, 116, 22)]
    assert low[6:] == [
        "  GPU       P50 ms 3.13  P90 ms 3.35  inf/s 316",
        "  CPU       P50 ms 4.93  P90 ms 5.28  inf/s 201",
        "  ALL       P50 ms n/a  P90 ms n/a  inf/s n/a",
    ]


def test_large_digits_leave_a_gap_and_use_the_width() -> None:
    """`0.943` has 17 cells, 34 where the width allows it; in 76 cells two figures are large, the rate is small."""
    shown = LIVE.units.rows[0]
    view = replace(LIVE, units=replace(LIVE.units, rows=(replace(shown, p50_ms=0.943, p90_ms=0.951),)))
    middle, wide = (text_of(figures_lines(frame_state(view), width, 5)[2]) for width in (96, 196))
    digits = large_row("0.943", 2)
    assert len(digits) == 17
    assert f"P50 ms {digits}  " in middle
    assert f"P50 ms {large_row('0.943', 2, 2)}  " in wide
    assert wide.index("inf/s") > 130
    narrow = [text_of(each).rstrip() for each in figures_lines(frame_state(view), 76, 5)]
    assert narrow[2].endswith(f"P90 ms {large_row('0.951', 2).rstrip()}")
    assert narrow[3].startswith("  inf/s 455 ")


async def test_every_unit_of_a_replay_is_large_on_a_usual_screen() -> None:
    """The scrub bar takes four lines of forty."""
    feed = FakeFeed(replay=REPLAY)
    async with running(feed, size=(120, 40), preferences=Preferences(preset="presentation")) as (app, _):
        text = screen_text(app)
        assert sum("P50 ms" in each and "█" in each for each in text.splitlines()) == 3  # ALL has no samples
        assert "latency" in text


async def test_the_bottom_line_of_a_zoomed_panel_has_its_keys_first() -> None:
    async with running(FakeFeed(), size=(120, 40)) as (app, pilot):
        before = screen_text(app).splitlines()[-1]
        await pilot.press("3", "z")
        await settled(pilot)
        last = screen_text(app).splitlines()[-1]
        assert last.startswith(" z restore │ ↑ k up │ ↓ j down │ Enter details │ S sort │ / filter │ Y copy │ q quit │")
        await pilot.press("z")
        await settled(pilot)
        assert screen_text(app).splitlines()[-1] == before


async def test_the_bottom_line_of_a_zoomed_panel_offers_only_what_a_replay_has() -> None:
    async with running(FakeFeed(replay=REPLAY), size=(120, 40)) as (app, pilot):
        await pilot.press("2", "z")
        await settled(pilot)
        last = screen_text(app).splitlines()[-1]
        assert "Shift+→ spike after" in last
        assert "mark" not in last.partition("quit")[0]


async def test_before_the_first_samples_no_axis_is_drawn() -> None:
    units = replace(LIVE.units, rows=tuple(replace(row, n=0, mean_ms=None, violin=()) for row in LIVE.units.rows))
    async with running(FakeFeed(replace(LIVE, units=replace(units, violin_low_ms=0.0, violin_high_ms=1.0)))) as (
        app,
        _,
    ):
        assert "1.00 ms" not in screen_text(app)


async def test_while_the_first_unit_loads_the_charts_say_so() -> None:
    rows = (row("CPU_AND_NE", state="loading 0:03", active=True, waiting=True), row("CPU_ONLY", state="not loaded"))
    empty = replace(EMPTY, header=LIVE.header, units=replace(LIVE.units, rows=rows))
    async with running(FakeFeed(replace(empty, latency=replace(EMPTY.latency, unit="CPU_AND_NE")))) as (app, _):
        assert screen_text(app).count("no samples yet: CPU_AND_NE is loading 0:03") == 2  # latency and timeline


async def test_a_unit_that_has_samples_is_not_said_to_wait_for_another_one() -> None:
    rows = (row("CPU_AND_NE", 2.2, active=True), row("CPU_ONLY", state="loading", waiting=True))
    shown = replace(EMPTY, units=replace(LIVE.units, rows=rows), latency=replace(EMPTY.latency, unit="CPU_AND_NE"))
    async with running(FakeFeed(shown)) as (app, _):
        assert "is loading" not in screen_text(app)
        assert "no samples in this window" in screen_text(app)


async def test_loads_are_compared_once_a_second() -> None:
    feed = FakeFeed(LOADED)
    async with running(feed, size=(120, 40)) as (app, pilot):
        await pilot.press("l")
        await settled(pilot)
        del feed.requests[:]
        for tenths in (10, 15, 19, 20, 25):
            feed.shown = replace(LOADED, header=replace(LIVE.header, elapsed_ns=tenths * SECOND // 10))
            app.frame()
        assert [request.contrast_columns > 0 for request in feed.requests] == [True, False, False, True, False]


def test_a_heading_that_is_cut_before_a_word_leaves_no_gap_in_the_edge() -> None:
    """Of 26 cells of room, `latency and percentiles over` is cut before `over`: the rule goes on after the ellipsis."""
    heading = (("latency and percentiles over time", "title"),)
    top = text_of(framed(heading, [], (), frame_state(), (32, 4), focus=False)[0])
    assert top == "╭─latency and percentiles… ────╮"


async def test_a_title_without_room_leaves_out_a_part_and_cuts_no_word() -> None:
    for width, shown in ((120, "▲ 2 spikes · slots of "), (56, "▲ 2 spikes ─")):
        async with running(FakeFeed(LIVE), size=(width, 40)) as (app, _):
            (title,) = [each for each in screen_text(app).splitlines() if "timeline ms" in each]
            assert shown in title
            assert "…" not in title
