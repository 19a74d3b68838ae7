"""A sweep in sentences and rows: what matters most first."""

from __future__ import annotations

import msgspec

from hettop.studies.sweep.findings import (
    AXES,
    MOST_SERIES,
    along,
    curve_rows,
    left_out,
    point_rows,
    sweep_headline,
)
from hettop.studies.sweep.result import SweepResult
from tests.studies.swept import FLAT, NOTHING, ONE_POINT, PLANTED, SIZES, TWO_UNITS, point


def told(found: SweepResult, *, short: bool = False) -> list[str]:
    return [text for text, _ in sweep_headline(found, short=short)]


def doubted(knee: float, best: float) -> SweepResult:
    """The planted line, of which resamples say otherwise that often."""
    curve = msgspec.structs.replace(PLANTED.curves[0], knee_sure=knee, best_sure=best)
    return msgspec.structs.replace(PLANTED, curves=[curve])


def test_a_planted_line_is_reported_with_its_gain_its_meaning_and_its_knee() -> None:
    assert list(sweep_headline(PLANTED)) == [
        ("Batch 32 has the highest throughput on CPU_ONLY: 800 items/s, 7.20x batch 1.", "main"),
        (
            "A call takes 8.00 + 1.00 B ms (R² 1.000): 8.00 ms fixed and 1.00 ms per item. The knee is at batch 8.",
            "more",
        ),
        ("Batch 64 224x224 on CPU_ONLY failed: bad allocation.", "failed"),
    ]


def test_where_batching_gains_nothing_that_is_what_is_said() -> None:
    assert told(FLAT, short=True) == [
        "Batching does not help on ALL: 100 items/s at batch 1.",
        "A call takes 0 + 10.0 B ms (R² 1.000). No knee: flat: it rises by less than 5%.",
    ]


def test_what_resamples_often_say_otherwise_is_doubted() -> None:
    assert told(doubted(1.0, 0.5))[0] == (
        "800 items/s at batch 32 measured on CPU_ONLY, 7.20x batch 1 "
        "(highest, not proven: batch 32 is highest in 50% of resamples)."
    )
    assert "The knee is at batch 8 (uncertain: in 40% of resamples)." in told(doubted(0.4, 1.0))[1]
    assert [row[5] for row in curve_rows(doubted(0.4, 1.0))] == ["8?"]
    assert [row[5] for row in curve_rows(doubted(0.95, 1.0))] == ["8"]


def test_the_best_unit_leads_and_the_others_follow() -> None:
    assert told(TWO_UNITS)[1] == "The others, not compared: ALL 100 items/s at batch 1."


def test_sizes_are_reported_by_time_and_pixels() -> None:
    assert told(SIZES) == [
        "From 200x200 to 400x400 a call on CPU_ONLY takes 3.40 times as long, for 4.00 times the pixels.",
        "A call takes 1.00 + 100 Mpx ms: 1.00 ms fixed and 100 ms per million pixels.",
    ]


def test_of_one_point_or_none_nothing_can_be_said() -> None:
    assert told(ONE_POINT) == told(NOTHING) == []
    assert [along(ONE_POINT, axis) for axis in AXES] == [[], []]


def test_rows_report_the_fit_and_mark_the_knee_and_what_failed() -> None:
    (row,) = curve_rows(PLANTED, short=True)
    assert row == ("CPU", "batch, 224x224", "8.00 + 1.00 B", "1.0000", "8.00", "8", "batch 32", "batch 1", "")
    assert [(row[2], row[-1]) for row in point_rows(PLANTED) if row[-1]] == [("8", "knee"), ("64", "bad allocation")]
    (sized,) = curve_rows(SIZES)
    assert sized[2:] == ("1.00 + 100 Mpx", "", "", "", "200x200", "200x200", "")


def test_failed_points_stay_on_the_axis_and_units_are_series() -> None:
    cpu, every = along(TWO_UNITS, "batch")
    assert (cpu.name, every.name, len(cpu.points)) == ("CPU_ONLY", "ALL", 6)
    (planted,) = along(PLANTED, "batch")
    assert [x for x, _ in planted.points] == [1, 2, 4, 8, 16, 32, 64]
    assert planted.curve is PLANTED.curves[0]
    (sized,) = along(SIZES, "size")
    assert [x for x, _ in sized.points] == [200, 400]


def test_of_many_series_both_ends_are_drawn_and_it_is_said() -> None:
    grid = SweepResult(points=[point(batch, 1.0, size=size) for size in (64, 96) for batch in range(1, 9)])
    assert [each.name for each in along(grid, "size")] == ["CPU_ONLY batch 1", "CPU_ONLY batch 8"]
    assert left_out(grid) == ["plots show the first and last groups; the tables have all"]
    few = SweepResult(points=grid.points[: MOST_SERIES * 2], rest_n=4)
    assert left_out(few) == ["4 more points are only in --json"]
