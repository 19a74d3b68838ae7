"""What was around a spike: worked out by hand from a few windows of samples."""

from __future__ import annotations

import pytest

from hettop import events
from hettop.session.session import Session
from hettop.session.views.session_view import view
from hettop.session.views.spikes import Surroundings
from hettop.session.views.structs import ViewRequest
from tests.streams import MS, S, header, window


def spiking() -> Session:
    """100 calls of 10 ms each, from 0 s on; at 3 s 40 calls of 20 ms, with one of 90 ms as the 21st; 20 of 10 ms."""
    session = Session()
    session.fold(header())
    session.fold(events.Control(t=0, action="start", units=["CPU_ONLY"]))
    session.fold(window([10 * MS] * 100, t0=0, gap=0))
    session.fold(window([20 * MS - 6 * MS] * 20 + [90 * MS] + [10 * MS] * 40, t0=3 * S, gap=0))
    return session


def around(session: Session, **more: object) -> Surroundings:
    request = ViewRequest(now_ns=session.t, window_ns=10 * S, spikes=True, spike_slots=20, **more)  # type: ignore[arg-type]
    shown = view(session, request).spikes
    assert shown is not None
    assert shown.around is not None
    return shown.around


def test_the_calls_of_a_second_before_and_after_are_in_slots() -> None:
    """The spike ends at 3 s + 20 x 14 ms + 90 ms = 3.37 s, so slots of 100 ms begin at 2.37 s."""
    found = around(spiking())
    assert found.row.end_ns == 3_370 * MS
    assert found.row.latency_ms == pytest.approx(90.0)
    # 20 calls before it and 40 after; calls of the first second ended by 1 s.
    assert found.calls == 61
    assert [found.before_ms, found.after_ms] == pytest.approx([14.0, 10.0])
    assert found.slots[:6] == (None,) * 6
    assert list(found.slots[6:10]) == pytest.approx([14.0] * 4)  # they ended at 2.98 to 3.28 s, then the spike runs
    assert list(found.slots[10:15]) == pytest.approx([90.0, 10.0, 10.0, 10.0, 10.0])  # until 3.77 s
    assert found.slots[15:] == (None,) * 5


def test_what_happened_within_a_second_and_nothing_else() -> None:
    session = spiking()
    session.fold(events.Load(t=4_000 * MS, what="cpu", state="confirmed", condition="cpu:2"))
    session.fold(events.Mark(t=4_400 * MS, text="too late"))
    found = around(session, spike=(3_370 * MS, "CPU_ONLY"))
    assert found.happened == ((630 * MS, "load now cpu:2"),)


def test_the_power_sample_that_covers_it() -> None:
    session = spiking()
    for end_ms, milliwatts in ((3_300, 1_000.0), (3_800, 2_500.0), (4_300, 9_000.0)):
        session.fold(
            events.Power(t=end_ms * MS, source="made up", elapsed_ns=500 * MS, mw={"cpu": milliwatts, "ane": None})
        )
    assert around(session).power == (("cpu", 2.5),)


def test_calls_that_are_not_known_any_more_have_a_reason() -> None:
    session = spiking()
    session.fold(window([10 * MS] * 10, t0=120 * S, gap=0))
    opening = session.header
    assert opening is not None
    again = Session.restored(opening, session.keyframe(session.t, 0))
    found = around(again)
    assert (found.calls, found.before_ms) == (0, None)
    assert found.reason == "calls are known for the last minute only"
