"""Where a model can be cut, and what crosses each cut."""

from __future__ import annotations

from hettop.studies.plan.cutting.graph import Part, crossings, ends, gather, layers, step_of, useful
from tests.studies.plan.cutting.flows import CHAIN, RESIDUAL, flow


def test_a_chain_is_cut_between_all_steps_and_one_value_crosses() -> None:
    assert layers(CHAIN, []) == (Part(0, 0), Part(1, 1), Part(2, 2))
    assert crossings(CHAIN) == (("p",), ("q",))


def test_all_values_that_are_read_behind_a_cut_cross_it() -> None:
    assert crossings(RESIDUAL) == (("p",), ("p", "q"), ("p", "r"))


def test_what_runs_as_one_is_not_cut() -> None:
    assert layers(RESIDUAL, [[2, 3]]) == (Part(0, 0), Part(1, 1), Part(2, 3))
    assert layers(RESIDUAL, [[1, 3]]) == (Part(0, 0), Part(1, 3))
    assert layers(RESIDUAL, [[], [1]]) == layers(RESIDUAL, [])


def test_a_slice_takes_what_it_lacks_and_gives_what_others_need() -> None:
    assert ends(RESIDUAL, Part(0, 0)) == (("x",), ("p",))
    assert ends(RESIDUAL, Part(1, 2)) == (("p",), ("r",))
    assert ends(RESIDUAL, Part(3, 3)) == (("r", "p"), ("y",))


def test_an_output_of_the_model_is_given_by_the_slice_that_makes_it() -> None:
    both = flow("a: x -> p; b: p -> y", outputs="y p")
    assert ends(both, Part(0, 0)) == (("x",), ("p",))
    early = flow("a: x -> z; b: x -> y", outputs="y z")
    assert crossings(early) == ((),)
    assert layers(early, []) == (Part(0, 1),)  # nothing crosses: nothing to wait for


def test_steps_that_nobody_reads_are_left_out() -> None:
    assert [step.name for step in useful(flow("a: x -> p; lost: p -> q; b: p -> y; c: q -> r")).steps] == ["a", "b"]


def test_steps_are_known_by_their_own_names_by_their_values_and_by_what_is_inside_of_them() -> None:
    known = step_of(RESIDUAL, {"inner": "c", "stray": "nobody"})
    assert (known["b"], known["q"], known["inner"]) == (1, 1, 2)
    assert "stray" not in known
    assert list(gather([("b", "c"), ("unknown",), ("inner", "r")], known)) == [[1, 2], [], [2]]
