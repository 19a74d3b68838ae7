"""The timeline view: lanes, loads and long windows against the samples that they are of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hettop import events
from hettop.session.session import Session
from hettop.session.views.session_view import view
from hettop.session.views.structs import TimelineLane, TimelineLoad, TimelineMark, TimelineView, ViewRequest
from tests.streams import MS, S, header, window


def folded(*stream: events.AnyEvent) -> Session:
    session = Session(raw_limit=0)
    for event in (header(), *stream):
        session.fold(event)
    return session


def timeline(session: Session, now_ns: int, window_ns: int = 10 * S, **more: object) -> TimelineView:
    return view(session, ViewRequest(now_ns=now_ns, window_ns=window_ns, **more)).timeline  # type: ignore[arg-type]


def there(lane: TimelineLane) -> list[int]:
    return [at for at, slot in enumerate(lane.slots) if slot is not None]


def test_slots_hold_what_ended_in_them() -> None:
    # Slots of 1 s, the last one holding now = 9.5 s: samples ending at 8.2 s and 9.1 s stand in the last two.
    session = folded(window([100 * MS], t0=8 * S + 100 * MS), window([100 * MS, 300 * MS], t0=9 * S, gap=0))
    found = timeline(session, 9 * S + 500 * MS, timeline_slots=10)
    (lane,) = found.lanes
    assert found.slot_ns == S
    assert there(lane) == [8, 9]
    before, last = lane.slots[-2:]
    assert before is not None
    assert last is not None
    assert before.max_ms == pytest.approx(100.0)
    # linear between 100 and 300
    assert (last.p50_ms, last.p90_ms, last.max_ms) == pytest.approx((200.0, 280.0, 300.0))


TURNS = (window([MS], t0=S, unit="A"), window([9 * MS, 9 * MS], t0=2 * S, unit="B"), window([MS], t0=3 * S, unit="A"))


def test_every_unit_with_samples_has_a_lane_of_its_own() -> None:
    found = timeline(folded(*TURNS), 9 * S, timeline_slots=10)
    assert [(lane.unit, there(lane)) for lane in found.lanes] == [("A", [1, 3]), ("B", [2])]
    assert [lane.p90_ms for lane in found.lanes] == pytest.approx([1.0, 9.0])
    # Only A has samples in the last seven seconds.
    assert [lane.unit for lane in timeline(folded(*TURNS), 9 * S, 7 * S, timeline_slots=7).lanes] == ["A"]


def test_the_viewed_unit_is_alone_on_request() -> None:
    found = timeline(folded(*TURNS), 9 * S, timeline_slots=10, all_units=False, unit="B")
    assert [(lane.unit, there(lane)) for lane in found.lanes] == [("B", [2])]


def test_samples_of_two_loads_share_a_slot() -> None:
    session = folded(window([MS], t0=S), window([3 * MS], t0=S + 100 * MS, load="cpu:1"))
    (lane,) = timeline(session, 9 * S, timeline_slots=10).lanes
    assert lane.slots[1] is not None
    assert (lane.slots[1].p50_ms, lane.slots[1].max_ms) == pytest.approx((2.0, 3.0))


def load(second: int, condition: str) -> events.Load:
    return events.Load(t=second * S, what="cpu", state="confirmed", condition=condition)


def test_loads_are_spans_with_names() -> None:
    session = folded(load(2, "cpu:1"), load(4, "cpu:2"), load(6, "none"), load(15, "cpu:3"))
    assert timeline(session, 19 * S, 20 * S, timeline_slots=20).loads == (
        TimelineLoad(2, 4, "cpu:1", begins=True, ends=True),
        TimelineLoad(4, 6, "cpu:2", begins=True, ends=True),
        TimelineLoad(15, 19, "cpu:3", begins=True, ends=False),
    )
    # From 5 s on.
    assert timeline(session, 14 * S, 10 * S, timeline_slots=10).loads == (
        TimelineLoad(0, 1, "cpu:2", begins=False, ends=True),
    )


def test_marks_have_the_name_of_what_happened() -> None:
    session = folded(
        events.Control(t=2 * S, action="switch", units=["CPU_ONLY"], mode="single"),
        events.Mark(t=3 * S, text="fan on"),
        events.Control(t=4 * S, action="pause", units=["CPU_ONLY"], mode="single", paused=True),
    )
    assert timeline(session, 9 * S, timeline_slots=10).marks == (
        TimelineMark(2, "control", "CPU_ONLY"),
        TimelineMark(3, "mark", "fan on"),
        TimelineMark(4, "control"),
    )


def long_session(seconds: int) -> tuple[Session, np.ndarray, np.ndarray]:
    """A session of a call each half second, its ends and latencies."""
    n = 2 * seconds
    rng = np.random.default_rng(5)
    latencies = np.round(20 * MS * np.exp(rng.normal(0, 0.2, n))).astype(np.int64)
    starts = np.arange(n, dtype=np.int64) * (S // 2)
    session = folded()
    for begin in range(0, n, 20):
        part = latencies[begin : begin + 20]
        gaps = np.diff(starts[begin : begin + 20]) - part[:-1]
        session.fold(
            events.Samples(
                t=int(starts[begin + 19] + part[19]),
                unit="CPU_ONLY",
                condition="none",
                phase="steady",
                t0=int(starts[begin]),
                n=20,
                gap_ns=np.concatenate(([0], gaps)),
                lat_ns=part,
            )
        )
    return session, starts + latencies, latencies


@pytest.mark.parametrize(("window_s", "cell_s"), [(120, 2), (300, 4), (900, 16)])
def test_a_long_window_shows_the_cell_at_the_middle_of_each_slot(window_s: int, cell_s: int) -> None:
    session, ends, latencies = long_session(1_000)
    found = timeline(session, 1_000 * S - 1, window_s * S, timeline_slots=75)
    (lane,) = found.lanes
    assert found.cells_ns == (cell_s * S, cell_s * S)
    assert not found.whole
    shown = set()
    for at, slot in enumerate(lane.slots):
        middle = ((1_000 * S - 1) // found.slot_ns - 74 + at) * found.slot_ns + found.slot_ns // 2
        cell = middle // (cell_s * S)
        inside = latencies[ends // (cell_s * S) == cell]
        shown.add(cell)
        assert slot is not None
        assert slot.max_ms * MS == pytest.approx(inside.max())
        for value, q in ((slot.p50_ms, 0.5), (slot.p90_ms, 0.9)):
            assert value * MS == pytest.approx(np.quantile(inside, q, method="inverted_cdf"), rel=0.0079)
    assert len(shown) == max(shown) - min(shown) + 1  # none was left out


def test_a_window_longer_than_the_session_is_all_of_it() -> None:
    session, _, latencies = long_session(1_000)
    found = timeline(session, 1_000 * S, 10**8 * S, timeline_slots=100)
    assert found.whole
    assert found.window_ns == 1_000 * S
    # The newest 15 minutes in cells of 16 s, what was before them in cells of 64 s.
    assert found.cells_ns == (16 * S, 64 * S)
    assert max(slot.max_ms for slot in found.lanes[0].slots if slot is not None) * MS == pytest.approx(latencies.max())
    (condition,) = session.conditions.values()
    assert found.spikes == condition.spikes


def test_a_keyframe_is_enough_for_a_long_window() -> None:
    session, *_ = long_session(600)
    keyframe = events.decode(events.encode(session.keyframe(600 * S, 0)))
    assert isinstance(keyframe, events.Keyframe)
    restored = Session.restored(header(), keyframe)
    for window_s in (120, 300, 10**8):
        (before,) = timeline(session, 600 * S, window_s * S).lanes
        (after,) = timeline(restored, 600 * S, window_s * S).lanes
        assert after.slots == before.slots
        assert len(there(after)) >= 55


def test_the_latency_panel_and_power_keep_to_a_minute() -> None:
    session, *_ = long_session(200)
    found = view(session, ViewRequest(now_ns=200 * S, window_ns=3_600 * S))
    assert found.latency.window_ns == 60 * S
    assert found.latency.n == 120
    assert found.latency.p90_ms == found.timeline.lanes[0].p90_ms


def test_slots_without_new_samples_are_taken_from_an_earlier_timeline_of_this_scale() -> None:
    session, slots, now = folded(*TURNS), 10, 9 * S
    marked = timeline(session, now, timeline_slots=slots)
    a, b = marked.lanes
    (*_, kept) = [slot for slot in a.slots if slot is not None]
    strange = replace(marked, lanes=(replace(a, slots=(*a.slots[:3], replace(kept, max_ms=77.0), *a.slots[4:])), b))

    def third(found: TimelineView, at: int) -> float | None:
        slot = found.lanes[0].slots[at]
        return None if slot is None else slot.max_ms

    assert third(timeline(session, now, timeline_slots=slots, earlier_timeline=strange), 3) == 77.0
    assert (
        third(timeline(session, now + S, timeline_slots=slots, earlier_timeline=strange), 2) == 77.0
    )  # moved on by one
    assert (
        third(timeline(session, now, timeline_slots=20, earlier_timeline=strange), 7) == 1.0
    )  # from half a second before 0 on
    session.fold(window([4 * MS], t0=3 * S + 100 * MS, unit="A"))
    assert third(timeline(session, now, timeline_slots=slots, earlier_timeline=strange), 3) == 4.0


def test_a_timeline_made_from_frame_to_frame_is_the_one_made_at_once() -> None:
    """Of two units in turns, with spikes, under two loads, with frames at odd moments."""
    draw = np.random.default_rng(5)
    session, before = folded(), None
    spikes = 0
    for turn in range(60):
        latencies = [int(each) for each in draw.lognormal(0, 0.4, 30) * MS]
        latencies[turn % 30] = 50 * MS
        load = "none" if turn < 30 else "cpu:1"
        session.fold(window(latencies, t0=(1 + turn) * S // 2, unit="AB"[turn % 2], load=load))
        now = (1 + turn) * S // 2 + int(draw.integers(100, 900)) * MS
        before = timeline(session, now, timeline_slots=37, earlier_timeline=before)
        assert before == timeline(session, now, timeline_slots=37)
        spikes += before.spikes or 0
    assert spikes > 0


@pytest.mark.parametrize(
    ("now_s", "window_s", "shown_s"),
    [(0.1, 30, 5), (5, 30, 5), (5.1, 30, 10), (13.5, 30, 15), (13.5, 10, 10), (40, 3600, 60)],
)
def test_a_young_session_fills_its_charts(now_s: float, window_s: int, shown_s: int) -> None:
    found = view(folded(*TURNS), ViewRequest(now_ns=int(now_s * S), window_ns=window_s * S, timeline_slots=50))
    assert (found.timeline.window_ns, found.power.span_ns) == (shown_s * S, shown_s * S)
