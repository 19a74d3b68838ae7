from __future__ import annotations

import itertools
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from hettop.sources.engine.schedule import AHEAD_NS, BLOCK_NS, GUARD_NS, Rotation, Slot, block_ns, plan_round

MS = 1_000_000

units = st.dictionaries(
    st.sampled_from(["CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"]),
    st.none() | st.integers(1, 2_000 * MS),
    max_size=4,
)


def test_a_fast_unit_gets_a_quarter_of_a_second() -> None:
    assert block_ns(2 * MS) == 250 * MS
    assert block_ns(None) == 250 * MS


def test_a_slow_unit_gets_20_samples_and_one_to_settle() -> None:
    assert block_ns(30 * MS) == 630 * MS


def test_while_power_is_measured_blocks_can_be_longer() -> None:
    assert block_ns(2 * MS, shortest_ns=4_000 * MS) == 4_000 * MS


def test_a_round_gives_each_unit_one_block_with_a_guard_between() -> None:
    assert plan_round({"CPU_ONLY": 30 * MS, "ALL": MS}, start=1_000 * MS) == [
        Slot("CPU_ONLY", 1_000 * MS, 1_630 * MS),
        Slot("ALL", 1_631 * MS, 1_881 * MS),
    ]


def test_two_units_are_told_at_once_for_more_than_a_round_ahead() -> None:
    told = Rotation().update(5_000 * MS, {"CPU_ONLY": MS, "ALL": MS})
    assert told["CPU_ONLY"][0] == (5_020 * MS, 5_270 * MS)
    assert told["ALL"][0] == (5_271 * MS, 5_521 * MS)
    assert told["ALL"][-1][1] >= 5_000 * MS + AHEAD_NS


def test_nothing_is_told_while_enough_is_planned() -> None:
    rotation = Rotation()
    rotation.update(0, {"CPU_ONLY": MS, "ALL": MS})
    assert rotation.update(100 * MS, {"CPU_ONLY": MS, "ALL": MS}) == {}


def test_the_last_unit_left_runs_without_a_break_and_is_told_so_once() -> None:
    rotation = Rotation()
    rotation.update(0, {"CPU_ONLY": MS, "ALL": MS})
    assert rotation.update(100 * MS, {"ALL": MS}) == {"ALL": []}
    assert rotation.update(200 * MS, {"ALL": MS}) == {}
    assert rotation.update(300 * MS, {}) == {}


def test_the_unit_after_the_present_one_is_next_when_another_joins() -> None:
    rotation = Rotation()
    rotation.update(0, {"CPU_ONLY": MS, "ALL": MS})
    # At 100 ms CPU_ONLY has its slot, which ends at 270.
    told = rotation.update(100 * MS, {"CPU_ONLY": MS, "CPU_AND_NE": MS, "ALL": MS})
    assert told["CPU_ONLY"][0] == (20 * MS, 270 * MS)
    assert told["CPU_AND_NE"][0][0] == 271 * MS


@given(st.lists(st.tuples(units, st.integers(0, 3_000 * MS)), min_size=1, max_size=12))
def test_slots_never_overlap_and_are_long_enough_whoever_comes_and_goes(
    steps: list[tuple[dict[str, int | None], int]],
) -> None:
    rotation, now = Rotation(), 0
    in_force: dict[str, list[tuple[int, int]]] = {}
    for running, wait in steps:
        told = rotation.update(now, running)
        in_force = {unit: slots for unit, slots in (in_force | told).items() if unit in running}
        for unit, slots in told.items():
            assert all(end - start >= BLOCK_NS for start, end in slots)
            # The last one was planned just now, with what is known of the unit now.
            assert all(end - start >= 20 * (running[unit] or 0) for start, end in slots[-1:])
        planned = sorted(span for slots in in_force.values() for span in slots if span[1] > now)
        assert all(end + GUARD_NS <= start for (_, end), (start, _) in itertools.pairwise(planned))
        now += wait


def test_every_unit_gets_its_turn_in_every_round() -> None:
    rotation, now = Rotation(), 0
    turns: dict[int, str] = {}
    running: dict[str, int | None] = {"CPU_ONLY": 15 * MS, "CPU_AND_NE": MS, "ALL": None}
    while now < 20_000 * MS:
        for unit, slots in rotation.update(now, running).items():
            turns |= {start: unit for start, _ in slots}
        now += 250 * MS
    order = [turns[start] for start in sorted(turns)]
    assert order[:6] == ["CPU_ONLY", "CPU_AND_NE", "ALL"] * 2
    assert len(set(Counter(order).values())) == 1


def test_blocks_that_are_planned_after_power_came_are_long_enough_for_it() -> None:
    rotation = Rotation()
    rotation.update(0, {"A": MS, "B": MS})
    rotation.shortest_ns = 2_000 * MS
    told = rotation.update(10_000 * MS, {"A": MS, "B": MS})
    assert {end - start for slots in told.values() for start, end in slots} == {2_000 * MS}
