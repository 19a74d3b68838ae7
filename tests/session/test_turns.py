"""Turns: which samples of a condition were taken between which runs of the other units."""

from __future__ import annotations

import numpy as np

from hettop.analysis.unit_samples import TURN, Stretches, in_order_of
from hettop.session.condition import MOST_TURNS, ConditionKey, Turns
from hettop.session.session import Session
from tests.streams import MS, window

A, B = ConditionKey("A", "none", None), ConditionKey("B", "none", None)


def test_a_turn_ends_when_another_unit_runs() -> None:
    session, stretches = Session(), Stretches()
    for start, unit in enumerate("AABABB"):
        event = window([MS, MS], unit=unit, t0=start * 10 * MS)
        session.fold(event)
        stretches.add(event)
    for in_order in (in_order_of(session), stretches.column):
        assert (turns := in_order(A, TURN)) is not None
        assert turns.tolist() == [1, 1, 1, 1, 3, 3]
        assert (turns := in_order(B, TURN)) is not None
        assert turns.tolist() == [2, 2, 4, 4, 4, 4]


def test_the_turn_of_a_sample_is_found_by_its_end() -> None:
    turns = Turns()
    turns.begin(1, 0, 100)
    turns.begin(4, 2, 500)
    assert (found := turns.of_ends(np.array([150, 499, 501]))) is not None
    assert found.tolist() == [1, 1, 4]
    assert turns.of_ends(np.array([99])) is None, "before the first that is known"


def test_many_turns_are_forgotten_from_the_first_on() -> None:
    turns = Turns()
    for turn in range(MOST_TURNS + 1):
        turns.begin(turn, turn, turn * 10)
    assert turns.of_first(MOST_TURNS) is None
    assert (found := turns.of_ends(np.array([MOST_TURNS * 10 + 5]))) is not None
    assert found.tolist() == [MOST_TURNS]
