"""Panels drawn from fixed views, as plain text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hettop.events import Advice
from hettop.report.terminal.glyphs import to_ascii
from hettop.report.terminal.lines import Line, text_of, width_of
from hettop.session.views.structs import LogLine, SessionView, TimelineSlot
from hettop.tui.feed import RecordingStatus
from hettop.tui.frame_state import FrameState
from hettop.tui.panels.events import EventLine, EventsPanel, entry_lines
from hettop.tui.panels.header import header_line
from hettop.tui.panels.host import HostPanel
from hettop.tui.panels.latency import LatencyPanel
from hettop.tui.panels.panel import Panel
from hettop.tui.panels.power import PowerPanel
from hettop.tui.panels.scrub import moment_at, scrub_line
from hettop.tui.panels.timeline import TimelinePanel
from hettop.tui.panels.unit_table import Pointing, arrange, details_of, draw_units
from hettop.tui.panels.units import UnitsPanel
from tests.tui.fakes import (
    DOUBTFUL,
    EMPTY,
    FAILED,
    HEADER,
    LIVE,
    PAUSED,
    POWERED,
    RECORDING,
    REPLAY,
    SECOND,
    TIMELINE,
    UNITS,
    frame_state,
    hostile_view,
    row,
)

PANELS: tuple[type[Panel], ...] = (LatencyPanel, TimelinePanel, UnitsPanel, EventsPanel, PowerPanel, HostPanel)
ALL_VIEWS = (LIVE, EMPTY, PAUSED, FAILED, POWERED, DOUBTFUL, hostile_view())


def drawn(panel: type[Panel], shown: FrameState, width: int, height: int) -> list[str]:
    built = panel()
    built.frame_state = shown
    return [text_of(spans) for spans in built.lines(width, height)]


def units_text(session: SessionView, width: int, height: int) -> list[str]:
    return [text_of(spans).rstrip() for spans in draw_units(session.units, width, height)[0]]


def inks(spans: Line) -> set[str]:
    return {ink for _, ink in spans}


class TestHeader:
    def test_a_wide_header_says_everything(self) -> None:
        shown = replace(LIVE, header=replace(HEADER, load="cpu:2", dropped=12))
        text = text_of(header_line(frame_state(shown, recording=RECORDING), 160))
        assert text.split("  ") == text.strip("\n").split("  ")
        for part in (
            "hettop",
            " SIMULATED ",
            "▶ LIVE",
            "mobilenetv2",
            "▸ CPU_AND_NE",
            "01:23",
            "482/s",
            "calls 39,914",
            "dropped 12",
            "Apple M2 Pro",
            "load cpu:2",
            "● REC 1.2 MB",
            "4 fps",
        ):
            assert part in text

    def test_what_matters_least_goes_first(self) -> None:
        assert text_of(header_line(frame_state(), 80)).rstrip() == (
            "  SIMULATED   ▶ LIVE  mobilenetv2  ▸ CPU_AND_NE  01:23  482/s  calls 39,914"
        )
        assert (
            text_of(header_line(frame_state(), 60)).rstrip() == "  SIMULATED   ▶ LIVE  mobilenetv2  ▸ CPU_AND_NE  01:23"
        )
        assert text_of(header_line(frame_state(), 40)).rstrip() == "  SIMULATED   ▶ LIVE  ▸ CPU_AND_NE"

    def test_a_long_item_takes_no_room_from_shorter_ones(self) -> None:
        """A note of 40 cells does not fit beside the load: the rate and the number of samples do."""
        loaded = replace(LIVE, header=replace(HEADER, model_note="n" * 40, load="cpu:2"))
        text = text_of(header_line(frame_state(loaded), 100))
        assert "482/s  calls 39,914" in text
        assert "load cpu:2" in text
        assert "nnn" not in text

    @pytest.mark.parametrize("width", [20, 40, 80, 200])
    def test_simulated_data_is_marked_at_every_width(self, width: int) -> None:
        spans = header_line(frame_state(recording=RECORDING), width)
        assert (" SIMULATED ", "simulated") in spans
        assert width_of(spans) == width

    def test_measured_data_is_not_called_simulated(self) -> None:
        real = replace(LIVE, header=replace(HEADER, simulated=False))
        assert "SIMULATED" not in text_of(header_line(frame_state(real), 120))

    def test_paused_turns_the_whole_line_over(self) -> None:
        spans = header_line(frame_state(PAUSED), 80)
        assert "PAUSED" in text_of(spans)
        assert inks(spans) <= {"banner", "simulated"}
        assert "LIVE" not in text_of(spans)

    def test_frozen_outranks_paused(self) -> None:
        text = text_of(header_line(frame_state(PAUSED, frozen=True), 80))
        assert "FROZEN" in text
        assert "PAUSED" not in text

    def test_a_replay_says_so_and_where_it_stands(self) -> None:
        assert "▶ REPLAY" in text_of(header_line(frame_state(replay=REPLAY), 80))
        stopped = header_line(frame_state(replay=replace(REPLAY, playing=False)), 80)
        assert (" ❚❚ REPLAY ", "badge") in stopped
        assert "00:27.5/01:00.0" in text_of(stopped)

    def test_the_load_of_a_replay_of_four_units_fits_in_80_cells(self) -> None:
        units = ("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL")
        loaded = replace(LIVE, header=replace(HEADER, model="", units=units, load="cpu:4", mode="interleave"))
        text = text_of(header_line(frame_state(loaded, replay=replace(REPLAY, playing=False)), 80))
        assert "▸ CPU / GPU / NE / ALL  00:27.5/01:00.0  load cpu:4" in text

    def test_a_failing_disk_is_said_at_every_width(self) -> None:
        failing = RecordingStatus(path="x", size_bytes=10, fault="No space left on device")
        assert "REC FAILED: No space left on device" in text_of(header_line(frame_state(recording=failing), 100))
        assert "REC FAILED: No space" in text_of(header_line(frame_state(recording=failing), 50))

    def test_an_unknown_rate_is_not_shown_as_zero(self) -> None:
        assert "/s" not in text_of(header_line(frame_state(PAUSED), 120))

    def test_small_screens_have_the_watts_of_now_and_wide_ones_leave_them_to_the_panel(self) -> None:
        assert "CPU1.3 GPU6.2 ANE0.0 W" in text_of(header_line(frame_state(POWERED), 99))
        assert " W" not in text_of(header_line(frame_state(POWERED), 100))
        assert " W" not in text_of(header_line(frame_state(LIVE), 99)), "without power there is none to tell"

    def test_stale_watts_are_n_a_in_the_header_too(self) -> None:
        stale = replace(POWERED.power, rails=tuple(replace(rail, now_w=None) for rail in POWERED.power.rails))
        assert "CPUn/a GPUn/a ANEn/a W" in text_of(header_line(frame_state(replace(POWERED, power=stale)), 99))


class TestFrame:
    def test_title_number_and_edges(self) -> None:
        rows = drawn(LatencyPanel, frame_state(), 60, 10)
        assert rows[0].startswith("╭─ 1 latency ms · last 30 s · CPU_AND_NE ──")
        assert rows[0].endswith("─╮")
        assert rows[-1] == "╰" + "─" * 58 + "╯"

    @pytest.mark.parametrize(("shown", "word"), [(frame_state(PAUSED), "PAUSED"), (frame_state(frozen=True), "FROZEN")])
    @pytest.mark.parametrize("panel", PANELS)
    def test_standing_still_shows_on_every_panel(self, panel: type[Panel], shown: FrameState, word: str) -> None:
        built = panel()
        built.frame_state = shown
        top = built.lines(60, 10)[0]
        assert (f" {word} ", "banner") in top
        assert "edge-alarm" in inks(top)

    @pytest.mark.parametrize("panel", PANELS)
    @settings(max_examples=30)
    @given(width=st.integers(min_value=1, max_value=140), height=st.integers(min_value=1, max_value=40))
    def test_any_view_at_any_size_fills_its_panel_exactly(self, panel: type[Panel], width: int, height: int) -> None:
        for session in ALL_VIEWS:
            built = panel()
            built.frame_state = frame_state(session)
            rows = built.lines(width, height)
            assert all(width_of(spans) == width for spans in rows)
            assert len(rows) <= height


class TestTimeline:
    def test_the_title_reports_window_spikes_and_glyphs(self) -> None:
        rows = drawn(TimelinePanel, frame_state(), 90, 8)
        assert "timeline ms · last 30 s · ▲ 2 spikes · slots of 0.5 s" in rows[0]
        assert "⢕ P50 ⣿ P90 ⠁ max · ┄ spike threshold 4.00 ms ─" in rows[-1]

    def test_in_blocks_there_is_no_p50(self) -> None:
        blocks = replace(frame_state(), braille=False)
        assert "─█ P90 ▔ max · ┄ spike threshold" in drawn(TimelinePanel, blocks, 90, 8)[-1]

    def test_a_window_of_the_history_names_its_cells(self) -> None:
        long = replace(
            TIMELINE, window_ns=40 * 60 * SECOND, cells_ns=(16 * SECOND, 64 * SECOND), whole=True, budget_ms=5.0
        )
        rows = drawn(TimelinePanel, frame_state(replace(LIVE, timeline=long)), 120, 8)
        assert "whole session, 40 min · ▲ 2 spikes · slots of 16 s to 64 s" in rows[0]
        assert "┄ spike threshold 4.00 ms · ━ budget 5.00 ms" in rows[-1]

    def test_only_what_is_drawn_is_named(self) -> None:
        # In a lane of one line, samples hide the threshold and there are no marks.
        low = drawn(TimelinePanel, frame_state(POWERED), 90, 4)
        assert "threshold" not in low[-1]
        assert not {"┄", "⇡"} & set("".join(low))
        (lane,) = TIMELINE.lanes
        above = replace(TIMELINE, lanes=(replace(lane, slots=(*lane.slots[:-1], TimelineSlot(2.0, 2.2, 50.0))),))
        high = drawn(TimelinePanel, frame_state(replace(LIVE, timeline=above)), 90, 8)
        assert "⇡" in "".join(high[1:-1])
        assert "⇡ off scale" in high[-1]

    def test_one_spike_is_not_two(self) -> None:
        one = replace(LIVE, timeline=replace(LIVE.timeline, spikes=1))
        assert "· ▲ 1 spike ·" in drawn(TimelinePanel, frame_state(one), 90, 8)[0]


class TestUnits:
    def test_the_title_names_the_load_of_the_samples_or_that_there_is_none(self) -> None:
        assert "units · since the start · without load ─" in drawn(UnitsPanel, frame_state(), 90, 8)[0]
        loaded = replace(LIVE, header=replace(HEADER, load="cpu:2"))
        assert "units · since the start · under cpu:2 ─" in drawn(UnitsPanel, frame_state(loaded), 90, 8)[0]

    def test_a_row_per_unit_with_its_numbers(self) -> None:
        text = units_text(LIVE, 120, 5)
        titles = ["unit", "n", "mean", "P50", "P90", "P99", "min", "max", "std", "inf/s", "Δ", "mean", "spikes"]
        assert text[0].split()[:13] == titles
        assert "4,210" in text[1]
        # mean 2.2: P50 2.2 x .99, P90 x 1.06, P99 x 1.3, minimum x .95, maximum x 2.7, 1000 / 2.2 a second
        figures = ["2.20", "2.18", "2.33", "2.86", "2.09", "5.94", "0.190", "455", "best", "3"]
        assert text[1].split()[3:13] == figures
        assert "+44%" in text[2]
        assert "+126%" in text[3]
        assert text[4].split() == ["ALL", "loading"]

    def test_two_lines_a_row_where_there_is_room(self) -> None:
        text = units_text(LIVE, 76, 12)
        assert text[2].startswith("  running on NE")
        assert "┃" in text[2]
        assert text[9].strip() == "1.90 " + "─" * 28 + " 6.10 ms"

    def test_a_violin_stands_where_its_latencies_lie_on_the_common_axis(self) -> None:
        text = units_text(LIVE, 76, 12)
        assert text[2].index("┃") < text[4].index("┃") < text[6].index("┃")

    def test_a_failed_unit_keeps_its_row_and_says_why(self) -> None:
        text = units_text(FAILED, 76, 5)
        assert text[4].startswith("✗ ALL           failed: the plan could not be compiled · try CPU_ONLY")

    def test_a_unit_that_failed_after_measuring_keeps_its_numbers(self) -> None:
        failure = FAILED.units.rows[3].error
        rows = (row("CPU_ONLY", 4.98, state="failed", error=failure),)
        text = units_text(replace(LIVE, units=replace(UNITS, rows=rows)), 76, 6)
        assert "4.98" in text[1]
        assert text[2].strip().startswith("failed: the plan could not be compiled")

    def test_unmeasured_is_a_dash_never_zero(self) -> None:
        rows = draw_units(UNITS, 76, 12)[0]
        assert text_of(rows[7]).split() == ["ALL", *["–"] * 9]

    def test_units_that_cannot_run_here_are_named_with_the_reason(self) -> None:
        here = "ONNX Runtime runs on the CPU here"
        absent = (("CPU_AND_GPU", here), ("CPU_AND_NE", here), ("ALL", "needs Core ML"))
        session = replace(LIVE, units=replace(UNITS, absent=absent))
        roomy = "\n".join(units_text(session, 76, 14))
        assert f"CPU_AND_GPU, CPU_AND_NE: {here}" in roomy
        assert "ALL: needs Core ML" in roomy
        assert "CPU_AND_GPU, CPU_AND_NE, ALL: not available here" in units_text(session, 76, 6)[-1]

    def test_the_active_row_is_in_sight_on_the_smallest_panel(self) -> None:
        rows = tuple(row(f"CPU_ONLY@{n}", 5.0 + n, active=n == 7) for n in range(8))
        session = replace(LIVE, units=replace(UNITS, rows=rows))
        assert "CPU_ONLY@7" in "\n".join(units_text(session, 76, 4))

    def test_narrow_screens_shorten_names_and_keep_the_important_columns(self) -> None:
        assert units_text(LIVE, 40, 5)[:2] == [
            "  unit       n   P50   P90   P99  Δ mean",
            "▶ NE     4,210  2.18  2.33  2.86    best",
        ]

    def test_energy_has_columns_once_there_is_any(self) -> None:
        heading, ne, gpu, *_, last = units_text(POWERED, 140, 5)
        assert heading.split()[10:14] == ["mJ/inf", "inf/J", "Δ", "mean"]
        assert ne.split()[11:13] == ["5.50", "182"]  # 1000 / 5.5
        assert gpu.split()[10:12] == ["17.8", "56.2"]
        assert last.split() == ["ALL", "loading"]
        assert "mJ" not in units_text(LIVE, 140, 5)[0]

    def test_energy_of_a_unit_that_was_not_covered_is_n_a(self) -> None:
        rows = (POWERED.units.rows[0], replace(POWERED.units.rows[1], energy_mj=None))
        text = units_text(replace(POWERED, units=replace(UNITS, rows=rows)), 140, 5)
        assert text[2].split()[10:12] == ["n/a", "n/a"]

    def test_a_unit_whose_answers_differ_is_marked_at_every_width_and_never_the_best(self) -> None:
        for width in (24, 40, 76, 140):
            text = units_text(DOUBTFUL, width, 5)
            assert text[1].startswith("▶!"), text[1]
            assert text[2].startswith("  "), "the others are not"
        assert "differs" in units_text(DOUBTFUL, 40, 5)[1]
        assert "best" not in units_text(DOUBTFUL, 140, 5)[1]

    def test_it_says_so_in_words_where_it_has_a_second_line(self) -> None:
        rows = draw_units(DOUBTFUL.units, 76, 12).lines
        assert ("top 1 differs", "warning") in rows[2]

    def test_all_that_is_known_of_a_unit_stands_below_it_where_there_is_room(self) -> None:
        rows = draw_units(DOUBTFUL.units, 120, 20).lines
        text = [text_of(spans).strip() for spans in rows]
        known = list(DOUBTFUL.units.rows[0].details)
        at = text.index(known[0])
        assert text[at : at + 3] == known
        assert text[at + 3].startswith("CPU_AND_GPU") or "CPU_AND_GPU" in text[at + 4]
        assert "warning" in inks(rows[at + 2])
        assert "warning" not in inks(rows[at])
        assert known[0] not in "\n".join(units_text(DOUBTFUL, 120, 6)), "the small table keeps to its rows"

    def test_details_that_were_opened_stand_there_without_room_to_spare(self) -> None:
        opened = draw_units(DOUBTFUL.units, 120, 8, Pointing(opened="CPU_AND_NE")).lines
        assert [text_of(each).strip() for each in opened[2:4]] == ["running on NE", DOUBTFUL.units.rows[0].details[0]]

    def test_opened_details_say_in_words_what_the_figures_leave_open(self) -> None:
        slow = row("CPU_ONLY", 8.8, p99_ms=None, p99_needs=1_042, missed=0.125)
        text = [text for text, _ in details_of(slow, 76, opened=True)]
        assert text == [
            "paused",
            "mean 8.80 ms, 4.00 times the best",
            "P99 n/a: needs 1,042 more samples",
            "12% of the paced calls missed the budget",
        ]
        assert not details_of(slow, 76), "only where they were opened"

    def test_the_violin_takes_what_the_columns_leave(self) -> None:
        # The marker, the name and the columns: eight figures of 6, inf/s 7, the difference 8, spikes 7.
        assert arrange(120, 5, UNITS.rows).violin == 120 - 2 - 12 - 8 * 6 - 7 - 8 - 7 - 2
        # Here n, P50, P90, P99 and the maximum, inf/s and the difference; mean, std and spikes give way to the violin.
        assert arrange(76, 5, UNITS.rows).violin == 76 - 2 - 12 - 5 * 6 - 7 - 8 - 2
        assert arrange(76, 12, UNITS.rows).own_line
        assert not arrange(76, 12, UNITS.rows, details=3).own_line, "opened details take the lines"
        assert arrange(40, 5, UNITS.rows).violin == 0

    def test_a_row_with_all_its_figures_fits_the_main_column_of_120_cells(self) -> None:
        paced = tuple(replace(each, missed=0.0 if each.n else None) for each in POWERED.units.rows)
        text = units_text(replace(POWERED, units=replace(UNITS, rows=paced)), 75, 5)
        titles = ["unit", "n", "P50", "P90", "P99", "max", "inf/s", "mJ/inf", "Δ", "mean", "missed"]
        assert text[0].split() == titles
        assert text[3].split() == [*["CPU_ONLY", "4,210", "4.93", "5.28", "6.47", "13.4", "201", "31.0", "+126%", "0%"]]

    def test_a_share_of_missed_calls_is_in_the_ink_of_what_is_slow(self) -> None:
        rows = (row("CPU_ONLY", 5.0, missed=0.25), row("ALL", 4.0, missed=0.0))
        first, second = draw_units(replace(UNITS, rows=rows), 120, 3).lines[1:]
        assert ("    25%", "high") in first
        assert ("     0%", "text") in second

    def test_a_column_grows_with_its_longest_figure(self) -> None:
        small = row("ALL", 0.0805)
        heading, figures = units_text(replace(LIVE, units=replace(UNITS, rows=(small,))), 76, 2)
        assert figures.split()[1:4] == ["4,210", "0.0797", "0.0853"]
        assert heading.index("P50") + 3 == figures.index("0.0797") + 6, "the title ends where the figure does"

    def test_what_is_proven_so_far_is_a_line_beneath(self) -> None:
        advice = Advice(t=0, load="none", unit="CPU_AND_NE", over="CPU_ONLY", p90_ns=674_000, over_p90_ns=2_630_000)
        view = replace(LIVE, units=replace(UNITS, advice=advice))
        words = "proven so far: CPU_AND_NE is faster than CPU_ONLY, P90 0.674 and 2.63 ms (95%)"
        assert units_text(view, 100, 6)[5] == words
        assert words not in units_text(view, 100, 5), "rows come first"
        withdrawn = replace(LIVE, units=replace(UNITS, advice=Advice(t=0, load="none")))
        assert "proven" not in "\n".join(units_text(withdrawn, 100, 8))


class TestEvents:
    def test_entries_with_time_gravity_and_words(self) -> None:
        text = [text_of(spans).rstrip() for spans in EventsPanel().body(frame_state(), 40, 12)]
        assert text[0] == "00:00.00   measuring CPU_AND_NE"
        assert text[3] == "00:31.12 ! spike 6.50 ms CPU_AND_NE"
        assert text[5:] == [
            "00:52.77 ✗ ALL failed: the plan could",
            "           not be compiled for this",
            "           device",
        ]

    def test_the_newest_are_kept_when_room_is_short(self) -> None:
        text = [text_of(spans).rstrip() for spans in EventsPanel().body(frame_state(), 80, 2)]
        assert [line[:8] for line in text] == ["00:40.01", "00:52.77"]

    def test_only_errors_colour_their_words(self) -> None:
        (warning,) = entry_lines(LogLine(t=0, level="warning", words="spike"), 40)
        (error,) = entry_lines(LogLine(t=0, level="error", words="failed"), 40)
        assert ("spike", "text") in warning
        assert ("failed", "error") in error

    def test_small_screens_have_the_newest_in_a_line_with_the_load(self) -> None:
        line = EventLine()
        line.frame_state = frame_state()
        assert text_of(line.lines(80, 1)[0]).startswith(" load none  00:52.77 ✗ ALL failed: the plan could not")


class TestScrubBar:
    def test_position_marks_and_speed(self) -> None:
        text = text_of(scrub_line(REPLAY, 60))
        assert text.startswith(" ▶  00:27.5 ━━━")
        assert text.rstrip().endswith("01:00.0  1x")
        assert text.count("◆") == 2

    def test_a_quarter_of_the_way_is_drawn_a_quarter_along(self) -> None:
        # The track is 31 cells: its 30 steps are two seconds each.
        status = replace(REPLAY, position_ns=30 * SECOND, marks_ns=(0, 60 * SECOND))
        track = text_of(scrub_line(status, 31 + 12 + 13))[12:43]
        assert track == "◆" + "━" * 14 + "╸" + "─" * 14 + "◆"

    def test_where_one_clicks_is_where_one_goes(self) -> None:
        width = 31 + 12 + 13
        assert moment_at(REPLAY, 12, width) == 0
        assert moment_at(REPLAY, 12 + 15, width) == 30 * SECOND
        assert moment_at(REPLAY, 12 + 30, width) == 60 * SECOND
        assert moment_at(REPLAY, 0, width) == 0
        assert moment_at(REPLAY, width - 1, width) == 60 * SECOND

    @given(st.integers(min_value=1, max_value=200))
    def test_any_width_is_filled(self, width: int) -> None:
        assert width_of(scrub_line(REPLAY, width)) == width
        assert width_of(scrub_line(replace(REPLAY, duration_ns=0, position_ns=0), width)) == width


def everything(session: SessionView) -> str:
    shown = frame_state(session, recording=RecordingStatus(path="x", size_bytes=1, fault=session.header.model))
    parts = [text_of(header_line(shown, width)) for width in (60, 120, 400)]
    for panel in PANELS:
        for width, height in ((30, 6), (78, 14), (200, 40)):
            parts += drawn(panel, shown, width, height)
    return "\n".join(parts)


def test_a_variant_is_distinguished_from_its_unit_and_compared_with_it_below_the_rows() -> None:
    rows = tuple(replace(UNITS.rows[0], unit=unit) for unit in ("CPU_AND_GPU", "CPU_AND_GPU~b"))
    sentence = "CPU_AND_GPU~b against CPU_AND_GPU: 12% faster [8.0%, 15%] at P50"
    view = replace(LIVE, units=replace(UNITS, rows=rows, beside=(sentence,)))
    for width, height in ((76, 6), (110, 9)):
        lines = units_text(view, width, height)
        assert any("GPU~b" in line for line in lines[1:]), "the mark of a variant is never cut off"
        assert sum(sentence in line for line in lines) == 1
    assert not any(sentence in line for line in units_text(view, 76, 3)), "rows come first"


def test_hostile_text_is_shown_harmlessly() -> None:
    text = everything(hostile_view())
    assert "[/bold][red]x" in text, "markup is shown as the text it is"
    unsafe = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") and c != "\n"}
    assert not unsafe


@pytest.mark.parametrize("session", ALL_VIEWS)
def test_every_glyph_has_an_ascii_form(session: SessionView) -> None:
    own = {c for c in everything(session) if not c.isascii()} - {"\ufffd"}
    assert all(to_ascii(c) != "?" for c in own), [c for c in own if to_ascii(c) == "?"]


class Told(tuple[str, ...]):
    """What is known of a unit, that counts how often it is read."""

    read = 0

    def __iter__(self) -> Iterator[str]:
        Told.read += 1
        return super().__iter__()


@pytest.mark.parametrize("at", [0, 1, 250, 511])
def test_of_very_many_units_those_in_sight_are_drawn_and_the_rest_are_counted(at: int) -> None:
    rows = tuple(replace(UNITS.rows[0], unit=f"CPU@{i}", active=False, details=Told(("a plan",))) for i in range(512))
    Told.read = 0
    lines, units, hidden = draw_units(replace(UNITS, rows=rows, beside=()), 100, 12, Pointing(cursor=f"CPU@{at}"))
    assert len(lines) == 12
    assert f"CPU@{at}" in units
    assert hidden == 512 + 1 - 12
    assert Told.read <= 2 * 512, "whether all of it fits is asked once, not for every row"
