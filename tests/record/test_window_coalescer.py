"""Gathering makes fewer lines and changes nothing that is said."""

from __future__ import annotations

from itertools import groupby

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hettop import events
from hettop.events import AnyEvent, Samples
from hettop.record.window_coalescer import GATHER_NS, WindowCoalescer, coalesce, later, merge, since, split
from hettop.session.session import Session
from tests.record.stories import MS, SECOND, flushes, samples_of, story, window


def recorded(stream: list[AnyEvent]) -> list[AnyEvent]:
    """Feed events one by one, as a recording does."""
    gatherer = WindowCoalescer()
    found: list[AnyEvent] = []
    now = 0
    for event in stream:
        for now in range(now, event.t, 250 * MS):  # noqa: B020 - it is looked at four times a second meanwhile
            found += gatherer.due(now)
        found += gatherer.add(event)
        now = event.t
    return found + gatherer.flush(max(event.t for event in stream))


def test_two_flushes_become_one_window_whose_inner_gap_is_exact() -> None:
    first = window(1_000, [100, 200], gaps=[7, 10])  # starts 1000, 1110; ends at 1310
    second = window(1_350, [300], gaps=[999])  # its own gap is informative and wrong; it started 40 after the end
    [merged] = merge([first, second], t=5_000)
    assert merged.gap_ns.tolist() == [7, 10, 40]
    assert merged.lat_ns.tolist() == [100, 200, 300]
    assert (merged.t0, merged.n, merged.t) == (1_000, 3, 5_000)
    assert merged.starts_ns().tolist() == [1_000, 1_110, 1_350]


columns = st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**8)), min_size=1, max_size=20)


@given(st.lists(st.tuples(columns, st.integers(0, 10**9)), min_size=1, max_size=8))
def test_starts_and_latencies_after_merging_are_exactly_those_before(
    parts: list[tuple[list[tuple[int, int]], int]],
) -> None:
    windows = []
    clock = 0
    for pairs, pause in parts:
        made = window(clock + pause, [lat for _, lat in pairs], gaps=[gap for gap, _ in pairs])
        windows.append(made)
        clock = made.t
    assert samples_of(merge(windows, clock)) == samples_of(windows)


@given(columns.filter(lambda pairs: len(pairs) > 1), st.integers(0, 10**9))
def test_the_halves_of_a_window_hold_its_samples(pairs: list[tuple[int, int]], t0: int) -> None:
    whole = window(t0, [lat for _, lat in pairs], gaps=[gap for gap, _ in pairs])
    assert samples_of([*split(whole)]) == samples_of([whole])


def test_windows_whose_clocks_run_backwards_stay_apart() -> None:
    late, early = window(5_000, [10, 10]), window(1_000, [10, 10])
    assert samples_of(merge([late, early], 9_000)) == samples_of([late, early])


@given(st.integers(0, 5_000))
def test_cutting_at_an_origin_keeps_the_samples_that_started_after_it(origin: int) -> None:
    whole = window(1_000, [500, 600, 700], gaps=[0, 50, 60], native=[1, 2, 3])  # starts 1000, 1550, 2210
    kept = since(whole, origin)
    starts = [start for start in (1_000, 1_550, 2_210) if start >= origin]
    assert (kept.starts_ns().tolist() if kept else []) == starts
    if kept is not None and kept.native_ns is not None:
        assert kept.native_ns.tolist() == [1, 2, 3][3 - len(starts) :]


def test_a_window_spans_at_most_a_second_of_flushes() -> None:
    lines = recorded([*flushes(1, 10.0)])
    assert 10 <= len(lines) <= 15
    for line in lines:
        assert isinstance(line, Samples)
        assert line.t - line.t0 <= SECOND


def test_no_sample_waits_longer_than_the_limit_once_time_is_known() -> None:
    gatherer = WindowCoalescer()
    assert gatherer.add(window(0, [5 * MS])) == []
    assert gatherer.due(GATHER_NS - 1) == []
    assert [event.t for event in gatherer.due(GATHER_NS)] == [GATHER_NS]


def test_a_window_never_exceeds_the_limit_of_samples() -> None:
    big = [window(index * 10**8, [5_000] * 9_000, gaps=[0] * 9_000) for index in range(3)]
    assert [event.n for event in recorded([*big]) if isinstance(event, Samples)] == [18_000, 9_000]


def test_units_that_alternate_are_coalesce_each_for_itself() -> None:
    stream = [window(index * 10 * MS, [5 * MS], unit="AB"[index % 2]) for index in range(10)]
    found = recorded([*stream])
    assert [(event.unit, event.n) for event in found if isinstance(event, Samples)] == [("A", 5), ("B", 5)]


def test_a_change_of_phase_or_condition_begins_a_new_window() -> None:
    stream = [
        window(0, [5], phase="first"),
        window(10, [5], phase="steady"),
        window(20, [5], phase="steady"),
        window(30, [5], condition="cpu:1"),
        window(40, [5], condition="cpu:1", thermal="fair"),
        window(50, [5], condition="cpu:1", thermal="fair", native=[4]),
    ]
    assert [event.n for event in recorded([*stream]) if isinstance(event, Samples)] == [1, 2, 1, 1, 1]


def test_what_changes_the_state_ends_all_windows_before_it_and_readings_do_not() -> None:
    stream: list[AnyEvent] = [
        window(0, [5], unit="A"),
        window(10, [5], unit="B"),
        events.Power(t=20, source="s", elapsed_ns=1),
        events.Control(t=30, action="pause"),
    ]
    found = recorded(stream)
    assert [type(event).__name__ for event in found] == ["Power", "Samples", "Samples", "Control"]
    assert [event.t for event in found] == [20, 30, 30, 30]


def test_usage_is_summed_per_unit_and_frames_together() -> None:
    stream: list[AnyEvent] = [
        events.Usage(t=1, unit="A", minor_faults=3, voluntary_switches=1),
        events.Usage(t=2, unit="B", major_faults=1),
        events.Usage(t=3, unit="A", minor_faults=4, collections=2),
        events.Frame(t=4, redraws=1, total_ns=100, worst_ns=100),
        events.Frame(t=5, redraws=2, total_ns=300, worst_ns=250),
    ]
    first, second, frame = recorded(stream)
    assert msgspec.to_builtins(first) == {
        "k": "usage", "t": 5, "unit": "A", "minor_faults": 7, "voluntary_switches": 1, "collections": 2
    }  # fmt: skip
    assert isinstance(second, events.Usage)
    assert second.major_faults == 1
    assert isinstance(frame, events.Frame)
    assert (frame.redraws, frame.total_ns, frame.worst_ns) == (3, 400, 250)


@settings(deadline=None, max_examples=20)  # the first example imports what the others have
@given(st.integers(0, 50))
def test_folding_what_was_coalesce_gives_the_same_state(seed: int) -> None:
    stream = list(story(seed, 20.0))
    looks = [list(group) for _, group in groupby(stream, key=lambda event: event.t // (250 * MS))]
    drained = [event for look in looks for event in coalesce(look)]
    assert len(drained) < len(stream)
    one_by_one, *others = (keyframe_of(each) for each in (stream, recorded(stream), drained))
    assert others == [one_by_one, one_by_one]


def keyframe_of(stream: list[AnyEvent]) -> bytes:
    session = Session(raw_limit=0)
    for event in stream:
        session.fold(event)
    return events.encode(session.keyframe(stream[-1].t, 0))


def test_what_is_drained_at_once_has_one_window_for_each_unit() -> None:
    drained: list[AnyEvent] = [
        window(1_000, [100, 200], gaps=[7, 10]),
        events.Usage(t=0, unit="CPU_ONLY", minor_faults=1),
        window(1_320, [300], gaps=[10]),
        events.Usage(t=0, unit="CPU_ONLY", minor_faults=2),
    ]
    samples, first, second = coalesce([msgspec.structs.replace(event, t=5_000) for event in drained])
    assert isinstance(samples, Samples)
    assert (samples.n, samples.t, samples.starts_ns().tolist()) == (3, 5_000, [1_000, 1_110, 1_320])
    assert [each.minor_faults for each in (first, second) if isinstance(each, events.Usage)] == [1, 2]
    assert coalesce([]) == []


def turns_of_both_units() -> list[AnyEvent]:
    """Two units in turns of 250 ms: each begins with a `resume` and has flushes of 50 ms, the last of which is late."""
    stream: list[Samples] = []
    for turn in range(12):
        begin, unit = turn * 251 * MS, "AB"[turn % 2]
        stream.append(window(begin, [5 * MS], unit=unit, phase="resume", gaps=[251 * MS]))
        stream += [window(begin + (5 + 50 * flush) * MS, [10 * MS] * 4, unit=unit) for flush in range(4)]
        if turn:  # the last flush of the turn before arrives after the first two of this one
            stream[-6:-3] = [*stream[-5:-3], stream[-6]]
    return [msgspec.structs.replace(each, t=60 * MS + place * 50 * MS) for place, each in enumerate(stream)]


@pytest.mark.parametrize("look_ns", [50 * MS, 250 * MS, 700 * MS])
def test_turns_stay_turns_however_windows_are_coalesced(look_ns: int) -> None:
    stream = turns_of_both_units()
    looks = [list(group) for _, group in groupby(stream, key=lambda event: event.t // look_ns)]
    for each in (stream, recorded(stream), [event for look in looks for event in coalesce(look)]):
        session = Session(raw_limit=0)
        for event in each:
            session.fold(event)
        for condition in session.conditions.values():
            of_each = condition.turns.of_first(condition.wall.n)
            assert of_each is not None
            assert np.unique(of_each, return_counts=True)[1].tolist() == [16] * 6, condition.key


def test_times_of_commit_never_decrease() -> None:
    found = recorded(list(story(3, 30.0)))
    assert np.all(np.diff([event.t for event in found]) >= 0)


def test_stretches_that_an_engine_was_charged_in_are_joined_where_they_are_alike() -> None:
    stream = [
        events.Usage(t=100 * MS, unit="A", minor_faults=1, spans=[(0, 50, events.FAULTED_MINOR)]),
        events.Usage(t=150 * MS, unit="A", minor_faults=2, spans=[(50, 100, events.FAULTED_MINOR)]),
        events.Usage(t=200 * MS, unit="A", involuntary_switches=1, spans=[(100, 150, events.SWITCHED)]),
        events.Usage(t=300 * MS, unit="A", involuntary_switches=1, spans=[(200, 250, events.SWITCHED)]),
    ]
    (line,) = recorded([*stream])
    assert isinstance(line, events.Usage)
    assert line.spans == [(0, 100, events.FAULTED_MINOR), (100, 150, events.SWITCHED), (200, 250, events.SWITCHED)]


def test_a_recording_begun_in_mid_session_counts_stretches_from_its_own_origin() -> None:
    usage = events.Usage(t=3 * SECOND, unit="A", spans=[(100, 150, 1), (950, 1_050, 4), (2_000, 2_050, 8)])
    shifted = later(usage, SECOND)
    assert isinstance(shifted, events.Usage)
    assert shifted.spans == [(0, 50, 4), (1_000, 1_050, 8)]
    frame = events.Frame(t=3 * SECOND, redraws=1, total_ns=1, worst_ns=1, spans=[(1_500, 1_520)])
    moved = later(frame, SECOND)
    assert isinstance(moved, events.Frame)
    assert moved.spans == [(500, 520)]
    assert later(usage, 0) is usage


def test_windows_of_other_answers_or_positions_stay_apart() -> None:
    """Tokens of one answer that follow each other are one line; after a chunk that is no sample comes another."""
    pieces = [(1, 1), (1, 3), (1, 6), (2, 8)]
    windows = [
        msgspec.structs.replace(window(at * SECOND, [5 * MS, 6 * MS]), answer=answer, position=position)
        for at, (answer, position) in enumerate(pieces)
    ]
    coalescer = WindowCoalescer()
    written = [event for each in windows for event in coalescer.add(each)] + coalescer.flush(9 * SECOND)
    found = [(each.answer, each.position, each.n) for each in written if isinstance(each, events.Samples)]
    assert found == [(1, 1, 4), (1, 6, 2), (2, 8, 2)]
    first, second = split(windows[1])
    assert [(each.answer, each.position, each.n) for each in (first, second)] == [(1, 3, 1), (1, 4, 1)]
