"""Outputs are thinned to what can be compared, in the same way in every unit, and come back from their bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hettop.sources.engine.published import UNDECIDED, OutputSet, decode_outputs, encode_outputs, share_room, thin

numbers = st.sampled_from(["<f2", "<f4", "<f8", "<i4", "<i8", "|u1", "|b1"])
outputs = st.dictionaries(
    st.text(max_size=8),
    numbers.flatmap(lambda dtype: arrays.arrays(np.dtype(dtype), arrays.array_shapes(max_dims=3, max_side=5))),
    max_size=4,
)


def plain(sets: tuple[OutputSet, ...]) -> list[Any]:
    return [
        [(each.name, each.shape, each.values.dtype, each.values.tobytes(), each.top) for each in outputs]
        for outputs in sets
    ]


@given(st.lists(outputs, max_size=3))
def test_any_outputs_come_back_from_their_bytes(sets: list[dict[str, Any]]) -> None:
    published = tuple(thin(each, 1000) for each in sets)
    assert plain(decode_outputs(encode_outputs(published))) == plain(published)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x02\x00\x00\x00[]x",
        b"\x09\x00\x00\x00[[{}, {}]]",
        b'\x38\x00\x00\x00[[{"name":"y","dtype":"|O","n":1,"shape":[1]}]]'.ljust(60),
        b'\x30\x00\x00\x00[[{"name":"y","dtype":"<f4","n":9,"shape":[9]}]]',
        b'\x31\x00\x00\x00[[{"name":"y","dtype":"<f4","n":-1,"shape":[9]}]]',
    ],
)
def test_bytes_that_are_no_outputs_are_refused(body: bytes) -> None:
    with pytest.raises(ValueError):
        decode_outputs(body)


def test_small_outputs_stay_whole_and_large_ones_share_the_rest() -> None:
    assert share_room([10, 100_000, 50_000, 20], 1030) == [10, 500, 500, 20]
    assert share_room([10, 20], 1000) == [10, 20]
    assert share_room([], 1000) == []
    assert sum(share_room([400, 400, 400], 1000)) <= 1000


def test_outputs_that_fit_are_whole_and_others_are_seen_at_the_same_places_in_every_unit() -> None:
    large = np.arange(1_000_000, dtype=np.float32).reshape(1, 10, -1)
    (one,) = thin({"y": large}, 1000)
    (other,) = thin({"y": large + 0.5}, 1000)
    assert (len(one.values), one.sampled, one.shape) == (1000, True, (1, 10, 100_000))
    assert np.allclose(other.values - one.values, 0.5, atol=0.1)
    # One of each stretch of a thousand.
    assert (one.values // 1000).tolist() == list(range(1000))
    (whole,) = thin({"y": large}, 1_000_000)
    assert not whole.sampled
    assert np.array_equal(whole.values, np.arange(1_000_000))


def test_what_is_no_array_of_numbers_is_left_out() -> None:
    kept = thin({"b": np.array(["text"]), "c": {"cat": 0.5}, "a": np.array([True]), "d": np.array([1 + 2j])}, 100)
    assert [each.name for each in kept] == ["a"]


@pytest.mark.parametrize(
    ("array", "top"),
    [
        (np.array([0.1, 0.7, 0.2]), (1,)),
        (np.array([[0.1, 0.7], [0.9, 0.2]]), (1, 0)),
        (np.array([[np.nan, 0.7], [0.9, 0.2]]), (UNDECIDED, 0)),
        (np.array([[0.5, np.inf], [0.5, 0.5], [-np.inf, 0.5]]), (UNDECIDED, UNDECIDED, 1)),
        (np.zeros((2, 3)), (UNDECIDED, UNDECIDED)),
        (np.zeros((2, 1)), None),
        (np.zeros((1, 2, 3)), None),
        (np.array([3, 9, 1]), None),
        (np.float32(1.0), None),
    ],
)
def test_the_largest_entry_is_told_of_what_looks_like_scores(array: Any, top: tuple[int, ...] | None) -> None:
    (published,) = thin({"y": array}, 100)
    assert published.top == top


def test_scores_that_are_sampled_still_tell_their_largest_entry() -> None:
    scores = np.zeros((1, 50_257), np.float32)
    scores[0, 40_000] = 1
    (published,) = thin({"y": scores}, 100)
    assert (len(published.values), published.top) == (100, (40_000,))
