"""The last minute of power samples: what is kept, and what lies in a stretch of time."""

from __future__ import annotations

from hettop.events import Power
from hettop.session.condition import MOST, PowerHistory
from tests.streams import MS, S


def told(t: int, elapsed_ns: int = S) -> Power:
    return Power(t=t, source="s", elapsed_ns=elapsed_ns, mw={"cpu": 1.0})


def ends(history: PowerHistory, start_ns: int, end_ns: int) -> list[int]:
    return [sample.t for sample in history.between(start_ns, end_ns)]


def history_of(*samples: Power) -> PowerHistory:
    history = PowerHistory()
    for sample in samples:
        history.add(sample)
    return history


def test_samples_that_only_touch_a_stretch_are_not_in_it() -> None:
    history = history_of(*(told(k * S) for k in (1, 2, 3, 4)))
    assert ends(history, 2 * S, 3 * S) == [3 * S]
    assert ends(history, 2 * S - 1, 3 * S + 1) == [2 * S, 3 * S, 4 * S]
    assert ends(PowerHistory(), 0, S) == []


def test_a_minute_is_kept_and_not_more_than_the_window_before_it() -> None:
    history = history_of(told(S), told(2 * S))
    history.add(told(62 * S))
    assert ends(history, 0, 100 * S) == [S, 2 * S, 62 * S]
    history.add(told(62 * S + 1))  # the first one ended more than a minute and its own second ago
    assert ends(history, 0, 100 * S) == [2 * S, 62 * S, 62 * S + 1]


def test_a_source_that_floods_fills_no_memory() -> None:
    history = history_of(*(told(k * MS, MS) for k in range(MOST + 10)))
    assert ends(history, 0, S * 60) == [k * MS for k in range(10, MOST + 10)]
