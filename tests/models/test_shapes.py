"""Each input gets a shape that its model takes, and what a model does not take is refused with what it does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.errors import HettopError
from hettop.models.ports import Port
from hettop.models.shapes import accepts, choose_shapes

RANGED = Port("x", "float32", (None, 4, None), usual=(3, 4, 1), ranges=((2, 8), (4, 4), (1, None)))
LISTED = Port("x", "float32", (1, None), usual=(1, 16), choices=((1, 8), (1, 16)))
RANKS = Port("x", "float32", (None,), usual=(8,), choices=((8,), (2, 8)))


def test_without_a_wish_the_models_own_proposal_holds() -> None:
    assert choose_shapes([RANGED], {}, {}) == {"x": (3, 4, 1)}
    assert choose_shapes([LISTED], {}, {}) == {"x": (1, 16)}
    assert choose_shapes([Port("x", "float32", ("n", 4))], {}, {}) == {"x": (1, 4)}


def test_a_wish_comes_before_a_file_and_both_before_the_proposal() -> None:
    assert choose_shapes([RANGED], {}, {"x": (4, 4, 2)}) == {"x": (4, 4, 2)}
    assert choose_shapes([RANGED], {"x": (5, 4, 2)}, {"x": (4, 4, 2)}) == {"x": (5, 4, 2)}


@pytest.mark.parametrize(
    ("port", "shape", "taken"),
    [
        (RANGED, (2, 4, 1), True),
        (RANGED, (8, 4, 10_000), True),
        (RANGED, (1, 4, 1), False),
        (RANGED, (9, 4, 1), False),
        (RANGED, (3, 5, 1), False),
        (RANGED, (3, 4), False),
        (LISTED, (1, 8), True),
        (LISTED, (1, 12), False),
        (RANKS, (2, 8), True),
        (RANKS, (8,), True),
        (RANKS, (4, 4), False),
    ],
)
def test_a_shape_is_taken_within_the_ranges_or_from_the_list(port: Port, shape: tuple[int, ...], taken: bool) -> None:
    assert accepts(port, shape) == taken
    if taken:
        assert choose_shapes([port], {"x": shape}, {}) == {"x": shape}
    else:
        with pytest.raises(HettopError, match=r"x: --shape has the shape"):
            choose_shapes([port], {"x": shape}, {})


@given(st.integers(1, 12), st.integers(1, 12))
def test_ranges_are_inclusive_at_both_ends(first: int, last: int) -> None:
    assert accepts(RANGED, (first, 4, last)) == (2 <= first <= 8)


def test_the_hint_reports_ranges_without_and_with_end() -> None:
    with pytest.raises(HettopError) as caught:
        choose_shapes([RANGED], {"x": (1, 1, 1)}, {})
    assert caught.value.hint == "the model expects x float32[?,4,?], axis 0 2 to 8, axis 2 at least 1"


def test_the_hint_lists_the_shapes_there_are() -> None:
    with pytest.raises(HettopError) as caught:
        choose_shapes([LISTED], {"x": (1, 1)}, {})
    assert caught.value.hint == "the model expects x float32[1,?], one of [1,8] [1,16]"
