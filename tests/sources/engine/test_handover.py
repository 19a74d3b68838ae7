"""When a process had better be replaced, and what it leaves to the next one."""

from __future__ import annotations

import pytest

from hettop.sources.engine.frames import RetireReport
from hettop.sources.engine.handover import MemoryWatch, WorkerHandover
from hettop.sources.engine.job import Limits


def looks(*resident_mb: float) -> list[str | None]:
    watch = MemoryWatch()
    return [watch.add(value) for value in resident_mb]


def test_a_steady_slope_is_a_leak_once_it_is_steep_and_long_enough() -> None:
    found = looks(*range(300, 1200, 100))
    # 900 MB are the sixth rise, and 600 MB more than at first.
    assert found[:6] == [None] * 6
    assert found[6] == "its memory grew from 300 to 900 MB"


def test_a_fast_leak_is_not_waited_for() -> None:
    # Three rises, and a gigabyte more than at first.
    assert looks(300, 800, 1300, 1800)[3] == "its memory grew from 300 to 1,800 MB"
    assert looks(300, 640, 980, 1320) == [None] * 4  # not yet a gigabyte
    assert looks(2000, 2500, 3000, 3900) == [None] * 4  # not yet doubled


def test_a_few_large_steps_are_no_slope() -> None:
    assert looks(300, 1300, 2300, 2300, 2300, 2300, 2300, 2300) == [None] * 8


def test_less_than_512_mb_is_no_leak_yet() -> None:
    assert looks(*range(100, 612, 64), 612) == [None] * 9


def test_a_large_process_may_grow_by_half() -> None:
    slope = [4000, 4600, 4900, 5200, 5500, 5800, 6000, 6001]
    assert [found is not None for found in looks(*slope)] == [*[False] * 7, True]


def test_memory_that_falls_in_between_counts_from_there() -> None:
    assert looks(300, 500, 700, 900, 600, 700, 800, 900, 1000, 1100) == [None] * 10


def retired(handover: WorkerHandover, **report: int | float | None) -> None:
    handover.retired(RetireReport(**{"predictions": 900, "steady_ns": 0, **report}))  # type: ignore[arg-type]
    handover.begin()


def test_what_is_left_to_do_is_what_the_unit_lacks() -> None:
    handover = WorkerHandover()
    handover.begin()
    assert handover.limits(Limits(runs=100, duration_ns=1000), 0) == Limits(runs=100, duration_ns=1000)
    retired(handover, steady_ns=300)
    assert handover.limits(Limits(runs=100, duration_ns=1000), 30) == Limits(runs=70, duration_ns=700)
    retired(handover, steady_ns=300)
    assert handover.limits(Limits(runs=100, duration_ns=1000), 60) == Limits(runs=40, duration_ns=400)


def test_a_unit_that_had_enough_and_begins_anew_has_a_new_goal_for_all_its_processes() -> None:
    handover = WorkerHandover()
    handover.begin()
    assert handover.limits(Limits(runs=70), 70).runs == 70
    retired(handover)
    assert handover.limits(Limits(runs=70), 120).runs == 20


def test_no_limit_stays_none() -> None:
    handover = WorkerHandover()
    handover.begin()
    assert handover.limits(Limits(), 10) == Limits()
    assert handover.lacking(10) == 0


def test_peak_memory_is_the_largest_and_unfinished_arrivals_add_up() -> None:
    handover = WorkerHandover()
    assert (handover.peak_memory_mb(None), handover.unfinished(None)) == (None, None)
    retired(handover, peak_memory_mb=800.0, unfinished=3)
    assert (handover.peak_memory_mb(200.0), handover.unfinished(2)) == (800.0, 5)
    retired(handover, peak_memory_mb=900.0, unfinished=2)
    assert (handover.peak_memory_mb(None), handover.unfinished(0)) == (900.0, 5)


@pytest.mark.parametrize(
    ("asked", "note"),
    [
        (None, "recycled after 900 predictions: to limit known memory leaks of its framework"),
        (
            "its memory grew from 300 to 900 MB",
            "recycled after 900 predictions: its memory grew from 300 to 900 MB",
        ),
    ],
)
def test_the_note_says_why(asked: str | None, note: str) -> None:
    handover = WorkerHandover()
    handover.asked = asked
    retired(handover)
    assert handover.note == note
    assert (handover.recycled, handover.vacant, handover.asked) == (True, False, None)
