"""Turns that go both ways."""

from __future__ import annotations

from functools import partial

from hettop.studies.plan.cutting.running import both_ways


def test_every_other_turn_goes_backwards_and_answers_stay_in_their_places() -> None:
    called: list[str] = []

    def call(name: str) -> str:
        called.append(name)
        return name.upper()

    calls = [partial(call, name) for name in ("a", "b", "c")]
    answers = [both_ways(turn, calls) for turn in range(3)]
    assert called == ["a", "b", "c", "c", "b", "a", "a", "b", "c"]
    assert answers == [["A", "B", "C"]] * 3
