"""Moments as people type them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.errors import HettopError
from hettop.record.moments import moment_of

S = 10**9
HERE, LENGTH = 100 * S, 7_200 * S


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("90", 90),
        (" 1.5 ", 1.5),
        ("500ms", 0.5),
        ("2m", 120),
        ("2 min", 120),
        ("1h", 3600),
        ("1:30", 90),
        ("1:02:03.5", 3723.5),
        ("0:07", 7),
        ("50%", 3600),
        ("12.5 %", 900),
        ("+10s", 110),
        ("-10", 90),
        ("+ 1:00", 160),
        ("-50%", 0),
        ("-1h", 0),
        ("99h", 7200),
        ("900%", 7200),
    ],
)
def test_every_form_is_understood_and_ends_at_the_ends(text: str, seconds: float) -> None:
    assert moment_of(text, HERE, LENGTH) == seconds * S


@pytest.mark.parametrize("text", ["", "soon", "1:2:3:4", "--5", "5 x", "1e9", "nan", "١٢", "9" * 5_000, "\x1b[31m"])
def test_anything_else_is_answered_with_what_can_be_written(text: str) -> None:
    with pytest.raises(HettopError) as caught:
        moment_of(text, HERE, LENGTH)
    assert "1:30" in caught.value.hint
    assert "\x1b" not in caught.value.message


@given(st.text(max_size=30), st.integers(0, 2**53), st.integers(0, 2**53))
def test_whatever_is_typed_the_moment_is_one_of_the_recording(text: str, position: int, duration: int) -> None:
    try:
        moment = moment_of(text, min(position, duration), duration)
    except HettopError:
        return
    assert 0 <= moment <= duration
