"""The history of a session: exact maxima, honest gaps, and bounded however long the session is."""

from __future__ import annotations

import numpy as np
import pytest

from hettop import events
from hettop.report.session_history import HAPPENINGS_KEPT, KEPT, SLOTS, UNITS_DRAWN, SessionHistory, Slot
from tests.streams import MS, S, window


def history_of(*stream: events.AnyEvent) -> SessionHistory:
    history = SessionHistory()
    for event in stream:
        history.add(event)
    return history


def test_samples_stand_in_the_slot_in_which_they_ended() -> None:
    history = history_of(window([60 * MS, 60 * MS, 10 * MS], gap=0))
    assert history.slot_ns == 100 * MS
    # They end at 60, 120 and 130 ms.
    assert {place: (slot.n, slot.max_ns) for place, slot in history.units["CPU_ONLY"].items()} == {
        0: (1, 60 * MS),
        1: (2, 60 * MS),
    }


def test_only_steady_samples_count() -> None:
    assert history_of(window([MS], phase="warmup")).units == {}


def test_a_session_that_outgrows_its_slots_keeps_every_sample_and_every_maximum() -> None:
    history = history_of(*(window([second * MS, MS], t0=second * S) for second in range(1, 1_000)))
    slots = history.units["CPU_ONLY"]
    assert max(slots) < SLOTS
    assert sum(slot.n for slot in slots.values()) == 2 * 999
    for place, slot in slots.items():
        first, last = place * history.slot_ns // S, ((place + 1) * history.slot_ns - 1) // S
        assert slot.max_ns <= last * MS
        assert slot.max_ns >= (first - 1) * MS


def test_quantiles_of_a_crowded_slot_are_near_those_of_all() -> None:
    latencies = np.random.default_rng(4).lognormal(14, 0.2, 100_000).astype(np.int64)
    slot = Slot()
    for part in np.split(latencies, 100):
        slot.add(part)
    assert slot.n == 100_000
    assert slot.max_ns == latencies.max()
    for found, q in zip(slot.quantiles(), (0.5, 0.9), strict=True):
        assert found == pytest.approx(np.quantile(latencies, q), rel=0.05)
    assert len(slot._kept) <= KEPT


def test_joined_slots_weigh_their_samples_alike() -> None:
    crowded, sparse = Slot(), Slot()
    crowded.add(np.full(8 * KEPT, MS, dtype=np.int64))
    sparse.add(np.full(KEPT, 9 * MS, dtype=np.int64))
    crowded.join(sparse)
    assert crowded.n == 9 * KEPT
    # A ninth of the samples is slow: the median is fast, and so is everything up to P88.
    assert crowded.quantiles()[0] == MS
    assert crowded.quantiles()[1] == 9 * MS


def test_power_covers_the_time_it_was_measured_over() -> None:
    history = history_of(events.Power(t=300 * MS, source="x", elapsed_ns=150 * MS, mw={"cpu": 1000.0, "ane": None}))
    assert {place: mean.value for place, mean in history.rails["cpu"].items()} == {1: 1000.0, 2: 1000.0}
    assert "ane" not in history.rails


def test_power_is_averaged_by_time() -> None:
    history = history_of(
        events.Power(t=75 * MS, source="x", elapsed_ns=75 * MS, mw={"cpu": 1000.0}),
        events.Power(t=100 * MS, source="x", elapsed_ns=25 * MS, mw={"cpu": 3000.0}),
    )
    assert history.rails["cpu"][0].value == 1500.0


def test_of_what_happens_endlessly_the_first_is_kept_and_the_rest_counted() -> None:
    history = history_of(*(events.Mark(t=t, text="x") for t in range(1_000)))
    assert len(history.happenings) == HAPPENINGS_KEPT
    assert history.more_happened == 1_000 - HAPPENINGS_KEPT


def test_units_beyond_what_can_be_distinguished_are_named_as_not_drawn() -> None:
    history = history_of(*(window([MS], unit=f"U{number}") for number in range(40)))
    assert len(history.units) == UNITS_DRAWN
    assert len(history.not_drawn) == 40 - UNITS_DRAWN


def test_a_time_months_ahead_costs_no_memory() -> None:
    history = history_of(window([MS]), events.Power(t=10**16, source="x", elapsed_ns=10**16, mw={"cpu": 1.0}))
    assert len(history.rails["cpu"]) <= SLOTS
    assert sum(slot.n for slot in history.units["CPU_ONLY"].values()) == 1
