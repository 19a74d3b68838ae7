"""Who is given which number: the next one, what was lost first, and nothing beyond what the buffer has room for."""

from __future__ import annotations

import random

import hypothesis.strategies as st
from hypothesis import given

from hettop.studies.coexec.stealing import Delivered, Order, Stealing, ahead_of


def stealing(depth: int = 8, ahead: int = 2, workers: str = "AB") -> Stealing:
    made = Stealing(dict.fromkeys(workers, ahead), depth)
    made.active = tuple(workers)
    return made


def told(made: Stealing, now: int = 0, *, new: bool = True) -> list[Order]:
    return list(made.orders(now, new=new))


def test_numbers_go_around_until_each_has_two() -> None:
    made = stealing()
    assert told(made) == [Order("A", 0), Order("B", 1), Order("A", 2), Order("B", 3)]
    assert told(made) == []


def test_who_is_done_takes_the_next() -> None:
    made = stealing()
    told(made)
    assert made.finished("B", 1, 50) == []
    assert told(made) == [Order("B", 4)]


def test_results_leave_in_order_with_the_moment_they_were_handed_out() -> None:
    made = stealing(ahead=1)
    told(made, now=10)
    made.finished("B", 1, 30)
    assert made.finished("A", 0, 40) == [Delivered(0, 10, 40), Delivered(1, 10, 40)]


def test_a_worker_of_long_calls_has_one_number_alone() -> None:
    """10 ms and more: what waits behind such a call holds up the order."""
    assert [ahead_of(1_000_000), ahead_of(40_000_000)] == [2, 1]
    made = Stealing({"slow": 1, "fast": 2}, depth=8)
    made.active = ("slow", "fast")
    assert told(made) == [Order("slow", 0), Order("fast", 1), Order("fast", 2)]


def test_only_active_workers_are_given_work() -> None:
    made = stealing()
    made.active = ("B",)
    assert told(made) == [Order("B", 0), Order("B", 1)]


def test_an_idle_worker_asks_for_what_another_has_not_begun() -> None:
    """The buffer is full: A sleeps on 0, and 2 waits behind it while B has nothing to do."""
    made = stealing(depth=4)
    told(made)
    made.finished("B", 1, 1)
    made.finished("B", 3, 2)
    assert told(made) == [Order("A", 2, back=True)]
    assert told(made) == []  # it has been asked
    made.given_back("A", 2)
    assert told(made) == [Order("B", 2)]
    assert made.steals == 1


def test_a_number_that_was_begun_after_all_is_not_stolen() -> None:
    made = stealing(depth=4)
    told(made)
    made.finished("B", 1, 1)
    made.finished("B", 3, 2)
    told(made)
    made.finished("A", 0, 3)
    assert made.finished("A", 2, 4) == [Delivered(2, 0, 4), Delivered(3, 0, 4)]
    assert made.steals == 0


def test_what_a_dead_worker_had_is_done_first_by_the_others() -> None:
    made = stealing()
    told(made)
    made.finished("B", 1, 1)
    assert made.died("A") == 2
    assert told(made) == [Order("B", 0)]
    made.finished("B", 3, 2)
    assert told(made) == [Order("B", 2)]
    assert made.redone == 2


def test_work_that_was_done_before_the_death_was_heard_is_not_done_again() -> None:
    made = stealing(ahead=1)
    told(made)
    made.died("A")
    made.finished("A", 0, 5)  # its word was still on the way
    made.finished("B", 1, 6)
    assert told(made) == [Order("B", 2)]


def test_without_new_numbers_it_runs_dry() -> None:
    made = stealing(ahead=1)
    told(made)
    made.finished("A", 0, 1)
    assert told(made, new=False) == []
    assert not made.drained
    made.finished("B", 1, 2)
    assert made.drained


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 3))
def test_whatever_happens_each_number_leaves_once_and_in_order(seed: int, depth: int, ahead: int) -> None:
    """Workers finish, give back and die in any order; the last one lives."""
    rng = random.Random(seed)
    made = stealing(depth, ahead, "ABC")
    has: dict[str, list[int]] = {name: [] for name in "ABC"}
    asked: list[Order] = []
    left: list[int] = []
    for step in range(200):
        for order in made.orders(step, new=step < 150):
            if order.back:
                asked.append(order)
            else:
                assert order.number < made.buffer.next + depth
                has[order.worker].append(order.number)
        for order in asked:
            if order.number in has.get(order.worker, [])[1:] and rng.random() < 0.5:
                has[order.worker].remove(order.number)
                made.given_back(order.worker, order.number)
        asked.clear()
        if len(has) > 1 and rng.random() < 0.01:
            dead = rng.choice(sorted(has))
            del has[dead]
            made.died(dead)
        if busy := [name for name, numbers in has.items() if numbers]:
            name = rng.choice(busy)
            left += [each.number for each in made.finished(name, has[name].pop(0), step)]
    assert left == list(range(len(left)))
    assert made.drained
    assert made.buffer.most_held < depth
