"""The rows on a terminal: columns as rails appear, sums without samples."""

from __future__ import annotations

from hettop.sources.power.page import Stream
from hettop.sources.power.sample import make_sample

SECOND = 10**9


def test_mean_weighs_by_time_and_peak_is_the_highest() -> None:
    stream = Stream()
    stream.row(make_sample("rapl", SECOND, {"package": 10_000.0}))
    stream.row(make_sample("rapl", 3 * SECOND, {"package": 2_000.0}))
    assert [line.split() for line in stream.end().splitlines()] == [["mean", "4.00"], ["peak", "10.0"]]


def test_a_rail_that_appears_later_gets_its_column_and_what_is_absent_is_not_0() -> None:
    stream = Stream()
    first = stream.row(make_sample("x", SECOND, {"gpu": 500.0}))
    second = stream.row(make_sample("x", SECOND, {"cpu": 2.0}, flags=("partial",)))
    assert [line.split() for line in (first + second).splitlines()] == [
        ["s", "gpu", "W"],
        ["1.0", "0.500"],
        ["s", "cpu", "W", "gpu", "W"],
        ["2.0", "0.00200", "n/a", "partial"],
    ]
    assert [line.split() for line in stream.end().splitlines()] == [
        ["mean", "0.00200", "0.500"],
        ["peak", "0.00200", "0.500"],
    ]


def test_a_zero_that_was_not_measured_is_printed_and_enters_no_mean() -> None:
    stream = Stream()
    rows = [stream.row(make_sample("x", SECOND, {"cpu": mw, "gpu": 0.0})) for mw in (0.0, 3_000.0)]
    assert [rows[0].split()[-4:], rows[1].split()] == [["1.0", "0", "0", "suspect-zero"], ["2.0", "3.00", "0"]]
    assert [line.split() for line in stream.end().splitlines()] == [["mean", "3.00", "0"], ["peak", "3.00", "0"]]


def test_nothing_came_so_nothing_is_summed() -> None:
    assert Stream().end() == ""
