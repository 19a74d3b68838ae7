"""Rounds of blocks: whole ones, as many as fit, long enough for the slowest unit."""

from __future__ import annotations

from itertools import islice

from hettop.studies.coexec.blocks import Block, plan_rounds

MS = 1_000_000


def test_six_seconds_of_two_fast_units_are_six_rounds_of_three_blocks() -> None:
    """Blocks of 250 ms and rests of 50: 900 ms a round, six of them in 6 s, stretched to fill it."""
    rounds = plan_rounds(("A", "B"), {"A": MS, "B": 2 * MS}, 6_000 * MS)
    assert (rounds.count, rounds.length_ns) == (6, 6_000 * MS // 18 - 50 * MS)


def test_the_order_turns_around_each_round() -> None:
    first, second, *_ = plan_rounds(("A", "B"), {"A": MS, "B": MS}, 6_000 * MS)
    assert [block.units for block in first] == [("A",), ("B",), ("A", "B")]
    assert second == first[::-1]
    assert isinstance(first[0], Block)


def test_a_slow_unit_makes_blocks_long_enough_for_twenty_of_its_samples() -> None:
    rounds = plan_rounds(("A", "B"), {"A": MS, "B": 100 * MS}, 20_000 * MS)
    assert rounds.count == 3
    assert rounds.length_ns >= 21 * 100 * MS


def test_a_round_is_run_even_where_time_is_too_short_for_it() -> None:
    """Six samples of a second in each of three blocks, whatever was asked for."""
    rounds = plan_rounds(("A", "B"), {"A": MS, "B": 1_000 * MS}, 2_000 * MS)
    assert (rounds.count, rounds.length_ns) == (1, 6_000 * MS)


def test_without_a_duration_there_are_rounds_without_end() -> None:
    rounds = plan_rounds(("A", "B"), {"A": MS, "B": 100 * MS}, None)
    assert (rounds.count, rounds.blocks, rounds.length_ns) == (None, None, 2_100 * MS)
    assert [blocks[0].units for blocks in islice(rounds, 3)] == [("A",), ("A", "B"), ("A",)]
    assert plan_rounds(("A", "B"), {"A": MS, "B": MS}, 6_000 * MS).blocks == 18
