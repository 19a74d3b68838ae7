"""The list of spikes and the table of what goes with them, as the screen gets them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hettop import events
from hettop.session import causes
from hettop.session.session import Session
from hettop.session.views.session_view import view
from hettop.session.views.spikes import SpikesView
from hettop.session.views.structs import ViewRequest
from tests.session.storms import SECONDS, Storm, folded
from tests.streams import MS, S, cut, header, window


def seen(session: Session, now_ns: int, unit: str | None = "CPU_ONLY") -> SpikesView:
    found = view(session, ViewRequest(now_ns=now_ns, window_ns=30 * S, unit=unit, spikes=True)).spikes
    assert found is not None
    return found


def test_nobody_who_does_not_ask_pays_for_it() -> None:
    assert view(Session(), ViewRequest(now_ns=0, window_ns=30 * S)).spikes is None


def test_a_spike_says_when_how_much_and_where() -> None:
    session = Session()
    session.fold(window([2 * MS] * 100, load="cpu:1"))
    session.fold(window([9 * MS], t0=S, load="cpu:1"))
    session.fold(window([12 * MS], t0=2 * S, load="cpu:1"))
    session.fold(events.Load(t=3 * S, what="cpu", state="confirmed", condition="cpu:1", level=1))
    found = seen(session, 4 * S)
    assert [(row.end_ns, row.latency_ms, row.unit, row.load) for row in found.rows] == [
        (2 * S + 12 * MS, 12.0, "CPU_ONLY", "cpu:1"),
        (S + 9 * MS, 9.0, "CPU_ONLY", "cpu:1"),
    ]
    times = [row.times_median or 0.0 for row in found.rows]
    assert [round(value, 1) for value in times] == [6.0, 4.5]
    assert (found.n, found.evidence, found.load) == (2, 2, "cpu:1")


def test_what_goes_with_spikes_comes_first_in_the_table_and_in_the_list() -> None:
    storm = Storm(3)
    session = folded(storm.events(sorted(storm.spikes_of(causes.SWITCH, 0.9))))
    found = seen(session, SECONDS * S)
    first = found.causes[0]
    assert (first.name, first.verdict, first.more) == ("involuntary_switch", "significant", True)
    with_switch = [row for row in found.rows if "involuntary context switch" in row.causes]
    assert len(with_switch) > 20
    assert all(row.causes[0] == "involuntary context switch" and row.likely == 1 for row in with_switch)


def test_of_older_spikes_the_last_few_stay() -> None:
    session = Session()
    session.fold(window([2 * MS] * 100))
    for i in range(20):
        session.fold(window([9 * MS], t0=(1 + i) * S))
    assert len(seen(session, 21 * S).rows) == 20
    session.fold(events.Mark(t=200 * S))
    assert [row.end_ns // S for row in seen(session, 200 * S).rows] == [20, 19, 18, 17, 16, 15, 14, 13]


def test_the_list_is_the_same_from_a_keyframe_on() -> None:
    storm = Storm(5)
    told = list(storm.events(storm.spikes_of(causes.SWITCH, 0.9)))
    whole = folded(iter([header(), *told]))
    early = [event for event in told if event.t < 20 * S]
    before = folded(iter([header(), *early]))
    again = Session.restored(header(), before.keyframe(before.t, 0))
    for event in told[len(early) :]:
        again.fold(event)
    assert seen(again, SECONDS * S) == seen(whole, SECONDS * S)


def test_what_nothing_is_reported_of_is_not_called_innocent() -> None:
    session = Session()
    session.fold(window([2 * MS] * 100))
    found = seen(session, S)
    assert [row.name for row in found.causes] == ["load_change", "after_idle"]
    assert "screen redraw" in found.unwatched
    assert "involuntary context switch" in found.unwatched


def test_a_moment_that_is_pointed_at_has_its_slot_on_the_timeline() -> None:
    session = Session()
    session.fold(window([2 * MS] * 100))
    request = ViewRequest(now_ns=30 * S, window_ns=30 * S, timeline_slots=30, pointed_ns=20 * S + 1)
    assert view(session, request).timeline.pointed == 19  # slots end with the one that holds now
    old = ViewRequest(now_ns=90 * S, window_ns=30 * S, timeline_slots=30, pointed_ns=20 * S)
    assert view(session, old).timeline.pointed is None


def test_the_timeline_counts_those_spikes_that_were_spikes_when_they_came() -> None:
    """The threshold of the first 64 samples is far above 5 ms, that of all of them below: it was renewed."""
    session = Session()
    session.fold(header())
    wild = [round(MS * 4 ** (i / 63)) for i in range(64)]  # MAD of the logarithms .35: the threshold is 33 medians high
    calm = [2 * MS] * 960
    session.fold(window([*wild, 5 * MS, *calm, 5 * MS, 2 * MS]))
    (condition,) = session.conditions.values()
    now = session.t
    shown = view(session, ViewRequest(now_ns=now, window_ns=30 * S, timeline_slots=30, spikes=True))
    assert shown.spikes is not None
    assert condition.fence_ns is not None
    assert condition.fence_ns < 5 * MS, "so both of the slow calls lie above it now"
    assert condition.spikes == 1
    assert shown.timeline.spikes == shown.units.rows[0].spikes == shown.spikes.n == len(shown.spikes.rows) == 1


@given(st.lists(st.sampled_from([1, 2, 3, 6, 12, 40]), min_size=70, max_size=1500), st.integers(0, 1500))
def test_over_the_whole_of_a_short_session_timeline_panel_room_and_keyframe_count_the_same(
    lengths: list[int], at: int
) -> None:
    whole = window([each * MS // 10 for each in lengths])
    session = Session()
    session.fold(header())
    for part in cut(whole, [at]):
        session.fold(part)
    shown = view(session, ViewRequest(now_ns=session.t, window_ns=60 * S, spikes=True))
    assert shown.spikes is not None
    counted = {shown.units.rows[0].spikes, shown.spikes.n, session.keyframe(0, 0).conditions[0].spikes}
    assert counted == {shown.timeline.spikes or 0}
    (lane,) = shown.timeline.lanes
    assert sum(slot is not None and slot.spike for slot in lane.slots) <= (shown.timeline.spikes or 0)
