"""The zoomed table of units, as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hettop.events import Failure
from hettop.report.terminal.lines import text_of, width_of
from hettop.session.views.structs import Percentile, UnitsView
from hettop.tui.panels.unit_blocks import large_units
from hettop.tui.panels.unit_table import Pointing
from tests.tui.fakes import DOUBTFUL, LIVE, UNITS, FakeFeed, row
from tests.tui.screens import running, screen_text, settled

FURTHER = (
    Percentile(0.5, 2.18),
    Percentile(0.75, 2.25),
    Percentile(0.9, 2.33),
    Percentile(0.95, 2.40),
    Percentile(0.99, 2.86),
    Percentile(0.999, None, 2_426),
)


def shown(view: UnitsView, width: int = 116, height: int = 36, pointing: Pointing | None = None) -> list[str]:
    pointing = pointing or Pointing()
    return [text_of(each).rstrip() for each in large_units(view, width, height, pointing, braille=True).lines]


def test_a_block_has_all_percentiles_and_says_how_many_samples_are_missing() -> None:
    known = row("CPU_AND_NE", 2.2, state="running", placed="NE", further=FURTHER, energy_mj=5.5, net_mj=4.2)
    one = replace(known, active=True, runs_now=True)
    text = shown(replace(UNITS, rows=(one,)))
    assert text[0] == "▶ CPU_AND_NE        running on NE  4,210 samples, 455 inferences/s, best mean"
    assert text[1] == (
        "  P50 2.18  P75 2.25  P90 2.33  P95 2.40  P99 2.86  P99.9 n/a (2,426 more samples)  max 5.94 ms"
    )
    assert text[2] == "  mean 2.20  min 2.09  std 0.190 ms  spikes 3  energy 5.50 mJ  net 4.20 mJ"


def test_the_distance_to_the_best_is_in_words() -> None:
    text = shown(replace(UNITS, rows=(row("CPU_ONLY", 8.8),)))
    assert text[0].endswith("mean 4.00 times the best")  # 8.8 / 2.2


def test_energy_that_is_not_known_has_its_reason_and_missed_budget_its_share() -> None:
    one = row("CPU_ONLY", 2.2, energy_lacking="power samples cover 12% of it", missed=0.031, violin=(1.0,))
    rows = (row("ALL", 2.2, details=("loaded",) * 9), one)
    text = [line.strip() for line in shown(replace(UNITS, rows=rows), 116, 18, Pointing(cursor="ALL"))]
    assert "energy n/a: power samples cover 12% of it" in text
    assert any("3.1% of the paced calls missed the budget  energy n/a" in line for line in text)


def test_violins_stand_on_one_axis_with_median_and_percentiles_marked() -> None:
    # From 1.9 to 6.1 ms over 114 cells: a median of 4.0 ms is in the middle, cell 57, a P90 of 5.05 ms in cell 85.
    one = row("CPU_ONLY", 4.0, p50_ms=4.0, p90_ms=5.05, p99_ms=None, violin=(1.0,) * 228)
    text = shown(replace(UNITS, rows=(one,)), 116, 12)
    violin = [line for line in text if "⣿" in line]
    assert len(violin) == 5, "no taller than this"
    assert {line.index("┃") for line in violin} == {2 + 57}
    assert {line.index("┊") for line in violin} == {2 + 85}
    assert text[8].strip() == "1.90 " + "─" * 101 + " 6.10 ms"


def test_a_violin_is_mirrored_and_as_high_as_its_density() -> None:
    one = row("CPU_ONLY", 4.0, p50_ms=None, p90_ms=None, p99_ms=None, violin=(0.5,) * 228)
    violin = [line for line in shown(replace(UNITS, rows=(one,)), 116, 7) if set(line.strip()) & set("⣀⣿⠉")]
    # Three lines are twelve dots; half of them, from the fourth to the ninth, are one of each outer line.
    assert [line.strip()[0] for line in violin] == ["⣀", "⣿", "⠉"]


def test_a_unit_that_failed_has_its_whole_error_and_log() -> None:
    error = Failure(kind="load", message="the plan could not be compiled " * 6, hint="try CPU_ONLY", log=["last words"])
    text = shown(replace(UNITS, rows=(row("ALL", state="failed", error=error),)))
    assert text[0].startswith("✗ ALL")
    joined = " ".join(line.strip() for line in text)
    assert joined.count("the plan could not be compiled") == 6
    assert "try CPU_ONLY" in joined
    assert "last words" in joined


def test_reasons_of_absent_units_are_not_cut() -> None:
    why = "needs an accelerator that this machine does not have, " * 4
    text = shown(replace(UNITS, absent=(("ALL", why),)), 60, 40)
    assert " ".join(line.strip() for line in text).count("does not have") == 4


def test_where_the_height_is_short_only_the_unit_under_the_cursor_has_its_details() -> None:
    detail = DOUBTFUL.units.rows[0].details[0]
    rows = tuple(replace(each, details=(detail,) * 5) for each in UNITS.rows[:3])
    view = replace(UNITS, rows=rows)
    roomy, short = "\n".join(shown(view, 116, 50)), "\n".join(shown(view, 116, 24, Pointing(cursor="CPU_ONLY")))
    assert roomy.count(detail) == 15
    assert short.count(detail) == 5
    assert short.index("CPU_ONLY") < short.index(detail)


def test_the_block_of_the_cursor_is_in_sight() -> None:
    rows = tuple(row(f"CPU_ONLY@{n}", 2.0 + n) for n in range(12))
    for at in (0, 6, 11):
        drawn = large_units(replace(UNITS, rows=rows), 100, 12, Pointing(cursor=f"CPU_ONLY@{at}"), braille=True)
        assert f"CPU_ONLY@{at}" in "\n".join(text_of(each) for each in drawn.lines)
        assert f"CPU_ONLY@{at}" in drawn.units
        assert drawn.hidden


@pytest.mark.parametrize("size", [(1, 1), (20, 4), (76, 20), (196, 56)])
def test_it_is_exactly_as_large_as_it_is_to_be(size: tuple[int, int]) -> None:
    for view in (LIVE.units, DOUBTFUL.units, UnitsView((), 0.0, 1.0, ())):
        rows = large_units(view, *size, Pointing(cursor="CPU_AND_NE"), braille=False).lines
        assert len(rows) == size[1]
        assert all(width_of(each) <= size[0] for each in rows)


async def test_a_zoomed_table_asks_for_percentiles_and_dots_of_violins() -> None:
    feed = FakeFeed()
    async with running(feed) as (app, pilot):
        assert not feed.requests[-1].percentiles
        await pilot.press("3", "z")
        await settled(pilot)
        assert feed.requests[-1].percentiles
        assert feed.requests[-1].violin_columns == 2 * (120 - 4 - 2)
        assert "times the best" in screen_text(app)
