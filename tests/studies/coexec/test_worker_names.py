"""Several workers of one unit: their names, and how they are measured."""

from __future__ import annotations

import pytest

from hettop.studies.coexec.blocks import copy_of, first_of_each, plan_rounds, unit_of, workers_of
from tests.studies.coexec.crews import MS
from tests.studies.coexec.test_coexec_run import SECOND, run


def test_the_first_worker_of_a_unit_has_its_name_and_the_others_a_number() -> None:
    workers = workers_of(("NE", "CPU@2", "NE", "NE"))
    assert workers == ("NE", "CPU@2", "NE#2", "NE#3")
    assert [unit_of(worker) for worker in workers] == ["NE", "CPU@2", "NE", "NE"]
    assert [copy_of(worker) for worker in workers] == [1, 1, 2, 3]


def test_one_worker_of_each_unit_stands_for_all_of_them_even_if_the_first_is_gone() -> None:
    assert first_of_each(("NE", "CPU@2", "NE#2")) == ("NE", "CPU@2")
    assert first_of_each(("CPU@2", "NE#2", "NE#3")) == ("CPU@2", "NE#2")


def test_a_unit_runs_alone_once_a_round_however_many_workers_it_has() -> None:
    rounds = plan_rounds(("NE", "NE#2"), {"NE": MS, "NE#2": MS}, 6 * SECOND)
    assert [block.units for block in next(iter(rounds))] == [("NE",), ("NE", "NE#2")]
    assert rounds.count == 10, "two blocks of 250 ms and their rests fit ten times, and not three blocks six times"


def test_two_calls_in_flight_that_do_not_wait_for_each_other_do_twice_as_much() -> None:
    result = run({"NE": 2 * MS, "NE#2": 2 * MS})
    assert [unit.unit for unit in result.units] == ["NE", "NE#2"]
    assert [unit.alone_per_s for unit in result.units] == pytest.approx([500, 500], rel=0.01)
    assert result.units[0].alone_calls == result.units[1].alone_calls > 0
    assert [unit.share for unit in result.units] == pytest.approx([0.5, 0.5], abs=0.01)
    assert result.gain == pytest.approx(1, abs=0.03)
    assert result.of_ideal == pytest.approx(1, abs=0.02)
    assert result.gain_by_round[0] == pytest.approx(1, abs=0.05)
    assert all(set(each.alone_per_s) == {"NE"} for each in result.rounds)
    assert result.in_order


def test_beside_another_unit_the_ideal_counts_each_worker() -> None:
    """500 and 500 of the unit that is there twice, and 250 of the other."""
    result = run({"NE": 2 * MS, "CPU": 4 * MS, "NE#2": 2 * MS})
    assert result.ideal_per_s == pytest.approx(1250, rel=0.01)
    assert [unit.share for unit in result.units] == pytest.approx([0.4, 0.2, 0.4], abs=0.01)
