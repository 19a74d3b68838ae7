"""The event log only grows: what was on the screen stays there, and counts what it counted or more."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from hettop import events
from hettop.session.event_log import KEPT, TAIL, TAIL_BYTES, EventLog, Logged, kind_of
from hettop.session.log import in_words
from hettop.session.log import log as view_of
from hettop.session.session import Session
from hettop.session.views.structs import ViewRequest
from hettop.units import NS_PER_MS, NS_PER_S

S, MS = NS_PER_S, NS_PER_MS
HEADER = events.Header(t=0, format="hettop", version=(1, 1))


def mark(t: int, text: str = "here") -> events.Mark:
    return events.Mark(t=t, text=text)


def shown(log: EventLog) -> list[tuple[int, str, int, int]]:
    """When first, the words, how often, when last."""
    return [(line.t, in_words(line.entry).text, line.n, line.last_ns) for line in log.held]


def test_spikes_of_a_unit_are_one_line_until_something_else_happens() -> None:
    log = EventLog()
    log.spike("A", 1 * S, 5 * MS)
    log.spike("B", 2 * S, 7 * MS)
    log.spike("A", 3 * S, 70_900_000)
    log.add(mark(4 * S))
    log.spike("A", 5 * S, 6 * MS)
    assert shown(log) == [
        (1 * S, "spikes A, max 70.9 ms", 2, 3 * S),
        (2 * S, "spike B, 7.00 ms", 1, 2 * S),
        (4 * S, "mark: here", 1, 4 * S),
        (5 * S, "spike A, 6.00 ms", 1, 5 * S),
    ]
    assert log.counts == {"spike": 4, "mark": 1}
    assert (log.lines, log.earlier) == (4, 0)


def test_a_spike_that_is_known_late_is_where_it_happened() -> None:
    """Samples come in windows of up to a second: the mark is folded before the spike that was before it."""
    log = EventLog()
    log.spike("A", 1 * S, 5 * MS)
    log.add(mark(4 * S))
    log.spike("A", 3 * S, 6 * MS)
    log.spike("B", 3 * S, 6 * MS)
    log.spike("A", 4 * S, 9 * MS)
    assert shown(log) == [
        (1 * S, "spikes A, max 6.00 ms", 2, 3 * S),
        (3 * S, "spike B, 6.00 ms", 1, 3 * S),
        (4 * S, "mark: here", 1, 4 * S),
        (4 * S, "spike A, 9.00 ms", 1, 4 * S),
    ]


def test_a_spike_out_of_order_joins_no_run_of_a_later_time() -> None:
    log = EventLog()
    log.add(mark(4 * S))
    log.spike("A", 5 * S, 7 * MS)
    log.spike("A", 3 * S, 6 * MS)
    assert [(t // S, n, last // S) for t, _, n, last in shown(log)] == [(3, 1, 3), (4, 1, 4), (5, 1, 5)]


def test_a_drift_does_not_end_a_run_of_spikes() -> None:
    log = EventLog()
    log.spike("A", 1 * S, 5 * MS)
    log.add(events.LevelDrift(t=2 * S, unit="A", since_ns=0, before_ns=1e6, after_ns=2e6))
    log.spike("A", 3 * S, 5 * MS)
    assert [(t, n) for t, _, n, _ in shown(log)] == [(1 * S, 2), (2 * S, 1)]


def test_what_is_said_again_is_counted_and_marks_have_a_line_each() -> None:
    log = EventLog()
    for t in (1, 2, 3):
        log.add(events.Dropped(t=t * S, n=7, why="queue full"))
    log.add(events.Dropped(t=4 * S, n=8, why="queue full"))
    log.add(mark(5 * S))
    log.add(mark(6 * S))
    assert [(t // S, n, last // S) for t, _, n, last in shown(log)] == [(1, 3, 3), (4, 1, 4), (5, 1, 5), (6, 1, 6)]
    assert log.counts == {"dropped": 4, "mark": 2}


def test_memory_holds_the_last_lines_and_counts_hold_all() -> None:
    log = EventLog()
    for t in range(KEPT + 1_234):
        log.add(mark(t))
    assert (len(log), log.lines, log.earlier) == (KEPT, KEPT + 1_234, 1_234)
    assert log.held[0].t == 1_234
    assert log.counts == {"mark": KEPT + 1_234}


def test_a_keyframe_holds_the_last_lines_as_they_are_and_all_counts() -> None:
    session = Session(0)
    session.fold(HEADER)
    for t in range(1, TAIL):
        session.log.add(mark(2 * t * S))
        session.log.spike("A", (2 * t + 1) * S, 5 * MS)
        session.log.spike("A", (2 * t + 1) * S + 1, 6 * MS)
    session.log.add(events.Dropped(t=1000 * S, n=1, why="full"))
    session.log.add(events.Dropped(t=1001 * S, n=1, why="full"))
    keyframe = events.decode(events.encode(session.keyframe(1002 * S, 0)))
    assert isinstance(keyframe, events.Keyframe)
    again = Session.restored(HEADER, keyframe).log
    assert shown(again) == shown(session.log)[-TAIL:]
    assert again.counts == session.log.counts == {"mark": TAIL - 1, "spike": 2 * (TAIL - 1), "dropped": 2}
    assert (again.lines, again.earlier) == (2 * TAIL - 1, TAIL - 1)
    again.spike("A", 1002 * S, 5 * MS)
    assert again.lines == 2 * TAIL


def test_a_run_that_a_keyframe_holds_goes_on() -> None:
    session = Session(0)
    session.log.spike("A", 1 * S, 5 * MS)
    again = Session.restored(HEADER, session.keyframe(2 * S, 0)).log
    again.spike("A", 3 * S, 9 * MS)
    assert shown(again) == [(1 * S, "spikes A, max 9.00 ms", 2, 3 * S)]


def test_long_texts_make_no_long_keyframe() -> None:
    session = Session(0)
    for t in range(100):
        session.log.add(mark(t, "m" * events.TEXT_LIMIT))
    kept = session.log.tail().events
    assert 0 < len(kept) <= TAIL_BYTES // events.TEXT_LIMIT


def test_a_keyframe_of_an_older_fold_has_lines_and_no_counts() -> None:
    old = events.Keyframe(t=5 * S, crc32=0, log_events=[mark(1 * S)], fold=2)
    log = Session.restored(HEADER, old).log
    assert (log.lines, log.earlier, len(log)) == (None, None, 1)
    assert log.tail().state is None


happenings = st.lists(
    st.one_of(
        st.tuples(st.just("spike"), st.sampled_from("AB"), st.integers(0, 3)),
        st.tuples(st.sampled_from(["mark", "dropped", "drift"]), st.just(""), st.just(0)),
    ),
    max_size=60,
)


@given(happenings)
def test_no_line_vanishes_or_counts_less(steps: list[tuple[str, str, int]]) -> None:
    """A spike ended up to 3 s before it is folded, in the order of its unit."""
    log, now, last = EventLog(), 10, {"A": 0, "B": 0}
    before: dict[tuple[str, int, str], Logged] = {}
    for kind, unit, age in steps:
        now += 1
        match kind:
            case "spike":
                last[unit] = max(last[unit], now - age)
                log.spike(unit, last[unit], now)
            case "mark":
                log.add(mark(now))
            case "dropped":
                log.add(events.Dropped(t=now, n=1, why="queue full"))
            case "drift":
                log.add(events.LevelDrift(t=now - 1, unit="A", since_ns=0, before_ns=1.0, after_ns=2.0))
        after = {(kind_of(line.entry), line.t, str(getattr(line.entry, "unit", ""))): line for line in log.held}
        for key, line in before.items():
            assert after[key].n >= line.n
            assert after[key].last_ns >= line.last_ns
        assert [line.t for line in log.held] == sorted(line.t for line in log.held)
        before = after
    assert sum(log.counts.values()) == len(steps) == sum(line.n for line in log.held)


@given(happenings)
def test_how_samples_are_cut_into_windows_changes_nothing(steps: list[tuple[str, str, int]]) -> None:
    """The same happenings with each spike folded at once, or after what came next."""
    timed = [(10 + i, kind, unit) for i, (kind, unit, _) in enumerate(steps)]
    logs = []
    for late in (0, 2):
        log = EventLog()
        order = sorted(timed, key=lambda step: step[0] + (late if step[1] == "spike" else 0))
        for t, kind, unit in order:
            if kind == "spike":
                log.spike(unit, t, t)
            else:
                log.add(mark(t))
        logs.append(shown(log))
    assert logs[0] == logs[1]


def test_the_view_of_an_unchanged_log_is_made_once() -> None:
    session = Session(0)
    session.fold(mark(1 * S))
    request = ViewRequest(now_ns=5 * S, window_ns=S)
    once = view_of(session, request)
    assert view_of(session, request) is once
    session.fold(mark(2 * S))
    assert [line.t for line in view_of(session, request)] == [1 * S, 2 * S]
    assert [line.t for line in view_of(session, replace(request, log_lines=1))] == [2 * S]
    assert [line.t for line in view_of(session, replace(request, now_ns=S))] == [1 * S]
