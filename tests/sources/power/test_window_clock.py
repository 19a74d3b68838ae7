"""Where power windows are placed on the clock: by their lengths, held to the moment they are heard of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hettop.sources.power.feed import WindowClock

MS = 10**6
HALF_S = 500 * MS


def test_the_first_ends_when_it_is_heard_of_and_later_ones_by_their_lengths() -> None:
    placing = WindowClock()
    heard = [10_000, 10_540, 11_020, 11_530]  # of windows of 503 ms each, heard of now and then
    ends = [placing.place(moment * MS, 503 * MS, HALF_S)[0] // MS for moment in heard]
    assert ends == [10_000, 10_503, 11_006, 11_509]


def test_none_ends_after_it_was_heard_of() -> None:
    placing = WindowClock()
    placing.place(10_200 * MS, HALF_S, HALF_S)  # the first one came late
    assert placing.place(10_500 * MS, HALF_S, HALF_S)[0] == 10_500 * MS


def test_one_that_falls_a_second_behind_is_placed_anew() -> None:
    placing = WindowClock()
    placing.place(10_000 * MS, HALF_S, HALF_S)
    assert placing.place(11_500 * MS, HALF_S, HALF_S)[0] == 10_500 * MS
    assert placing.place(12_001 * MS, HALF_S, HALF_S)[0] == 12_001 * MS


def test_a_length_that_is_not_reported_is_the_time_since_the_one_before() -> None:
    placing = WindowClock()
    assert placing.place(10_000 * MS, None, 300 * MS) == (10_000 * MS, 300 * MS)
    assert placing.place(10_200 * MS, None, HALF_S) == (10_200 * MS, 200 * MS)
    assert placing.place(19_000 * MS, None, HALF_S) == (19_000 * MS, HALF_S)


def test_what_is_started_anew_is_placed_anew() -> None:
    placing = WindowClock()
    placing.place(10_000 * MS, HALF_S, HALF_S)
    placing.forget()
    assert placing.place(10_900 * MS, HALF_S, HALF_S)[0] == 10_900 * MS


@given(st.lists(st.tuples(st.integers(0, 2_000), st.integers(1, 1_500)), min_size=1))
def test_ends_never_run_backwards_nor_ahead_nor_far_behind(windows: list[tuple[int, int]]) -> None:
    placing, heard, before = WindowClock(), 0, 0
    for later, length in windows:
        heard += later * MS
        end, _ = placing.place(heard, length * MS, HALF_S)
        assert before <= end <= heard
        assert heard - end <= 1_000 * MS
        before = end
