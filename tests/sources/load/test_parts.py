"""The load string: what it means, and that it is spelled in one way only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.errors import HettopError
from hettop.sources.load.parts import HIGHEST_LEVEL, KINDS_OF_LOAD, LoadPart, condition_of, parse_load

loads = st.lists(
    st.builds(LoadPart, st.sampled_from(KINDS_OF_LOAD), st.integers(1, HIGHEST_LEVEL), st.integers(1, 100)),
    unique_by=lambda part: part.what,
).map(tuple)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("none", ()),
        ("cpu:2", (LoadPart("cpu", 2),)),
        ("memory:1@50%+cpu:2", (LoadPart("cpu", 2), LoadPart("memory", 1, 50))),
        ("cpu:1@100%", (LoadPart("cpu", 1),)),
        ("gpu:1+ane:1", (LoadPart("ane", 1), LoadPart("gpu", 1))),
        ("cpu:256@1%", (LoadPart("cpu", 256, 1),)),
    ],
)
def test_a_load_string_has_sorted_parts(text: str, parts: tuple[LoadPart, ...]) -> None:
    assert parse_load(text) == parts


@pytest.mark.parametrize(
    ("parts", "condition"),
    [
        ((), "none"),
        ((LoadPart("memory", 2, 50), LoadPart("cpu", 1)), "cpu:1+memory:2@50%"),
        ((LoadPart("cpu", 1, 100),), "cpu:1"),
    ],
)
def test_conditions_spell_it_sorted_and_without_a_full_duty(parts: tuple[LoadPart, ...], condition: str) -> None:
    assert condition_of(parts) == condition


@given(loads)
def test_every_load_survives_being_written_down(parts: tuple[LoadPart, ...]) -> None:
    assert parse_load(condition_of(parts)) == tuple(sorted(parts))


@given(loads)
def test_a_condition_is_the_same_however_its_parts_were_ordered(parts: tuple[LoadPart, ...]) -> None:
    assert condition_of(parts[::-1]) == condition_of(parts)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cpu",
        "cpu:",
        "cpu:0",
        "cpu:-1",
        "cpu:257",
        "cpu:99999",
        "cpu:1.5",
        "cpu:1@0%",
        "cpu:1@101%",
        "cpu:1@50",
        "cpu:1+",
        "+cpu:1",
        "cpu:1+cpu:2",
        "cpu:1+none",
        "None",
        "frobnicate:1",
        "cpu:1 ",
        "cpu:1\n",
        "CPU:1",
        "\x1b[31m:1",
    ],
)
def test_anything_else_is_wrong_use_in_clean_words(text: str) -> None:
    with pytest.raises(HettopError) as caught:
        parse_load(text)
    assert caught.value.kind == "usage"
    assert "cpu:2" in caught.value.hint
    assert "\x1b" not in caught.value.message


def test_duty_is_a_share() -> None:
    assert LoadPart("cpu", 1, 50).duty == 0.5
    assert LoadPart("cpu", 1).duty == 1.0
