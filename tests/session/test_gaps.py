"""Latency against the pause before it: which sample stands in which bin."""

from __future__ import annotations

import numpy as np
import pytest

from hettop import events
from hettop.session.session import Session
from hettop.session.statistics import IdleGap, statistics
from tests.streams import MS, S, cut, header, window

Bins = dict[float, tuple[int, float]]


def session_of(*told: events.AnyEvent) -> Session:
    session = Session()
    for event in (header(), *told):
        session.fold(event)
    return session


def bins(session: Session, unit: str = "CPU_ONLY") -> Bins:
    """From where a pause of the bin begins, in ms, to the number of samples and their median."""
    (row,) = [row for row in statistics(session) if row.unit == unit]
    return {gap.from_ms: (gap.n, round(gap.p50_ms, 1)) for gap in row.idle_gap or ()}


def test_calls_that_follow_each_other_closely_need_no_curve() -> None:
    assert bins(session_of(window([2 * MS] * 50, gap=3_000))) == {}


def test_each_sample_stands_in_the_bin_of_the_pause_before_it() -> None:
    warm = window([2 * MS] * 3, phase="warmup")
    end = warm.t0 + int(warm.lat_ns.sum()) + 2_000
    # The first one 5 ms after the warm-up; then 20 ms, 40 us and 4 s of pause.
    latencies, pauses = [3 * MS, 4 * MS, 2 * MS, 6 * MS], [0, 20 * MS, 40_000, 4 * S]
    paced = events.Samples(
        t=9 * S,
        unit="CPU_ONLY",
        condition="none",
        phase="steady",
        t0=end + 5 * MS,
        n=4,
        gap_ns=np.array(pauses),
        lat_ns=np.array(latencies),
    )
    assert bins(session_of(warm, paced)) == {0.0: (1, 2.0), 3.0: (1, 3.0), 10.0: (1, 4.0), 3000.0: (1, 6.0)}


def test_the_longest_pauses_have_no_upper_end() -> None:
    session = session_of(window([MS] * 3), window([5 * MS], t0=9 * S))
    (row,) = statistics(session)
    assert row.idle_gap is not None
    last = row.idle_gap[-1]
    assert (last.from_ms, last.to_ms, last.n) == (3000.0, None, 1)
    assert last.p50_ms == pytest.approx(5.0, rel=0.004)


def test_the_first_sample_after_a_break_is_in_the_curve_and_not_in_the_distribution() -> None:
    resumed = window([9 * MS], t0=5 * S, phase="resume")
    session = session_of(window([2 * MS] * 10), resumed)
    assert bins(session) == {0.0: (9, 2.0), 3000.0: (1, 9.0)}
    (row,) = statistics(session)
    assert row.n == 10


def test_after_lost_samples_nobody_knows_the_pause() -> None:
    lost = events.Dropped(t=S, n=5, why="test")
    session = session_of(window([2 * MS] * 10, gap=30 * MS), lost, window([7 * MS] * 2, t0=2 * S, gap=30 * MS))
    assert sum(n for n, _ in bins(session).values()) == 9 + 1


def test_loads_have_curves_of_their_own() -> None:
    session = session_of(
        window([2 * MS] * 5, gap=30 * MS), window([4 * MS] * 5, gap=30 * MS, t0=S, load="cpu:1", phase="steady")
    )
    curves = {row.load: [gap.n for gap in row.idle_gap or () if gap.from_ms == 30] for row in statistics(session)}
    assert curves == {"none": [4], "cpu:1": [4]}


@pytest.mark.parametrize("points", [[1], [3, 7, 8], list(range(20))])
def test_the_curve_does_not_depend_on_how_samples_were_windowed(points: list[int]) -> None:
    rng = np.random.default_rng(7)
    whole = window((rng.integers(1, 9, 20) * MS).tolist(), gap=25 * MS)
    assert bins(session_of(*cut(whole, points))) == bins(session_of(whole))


def test_a_keyframe_carries_the_curve() -> None:
    told = (window([2 * MS] * 10, gap=30 * MS), window([9 * MS], t0=5 * S, phase="resume"))
    session = session_of(*told)
    assert session.header is not None
    frame = events.decode(events.encode(session.keyframe(9 * S, 0)))
    assert isinstance(frame, events.Keyframe)
    assert bins(Session.restored(session.header, frame)) == bins(session)


@pytest.mark.parametrize("state", [events.GapState(60, [1], []), events.GapState(2, [-1, -1, 1], [])])
def test_a_keyframe_with_a_curve_that_cannot_be_is_refused(state: events.GapState) -> None:
    from hettop.session.gaps import Gaps

    with pytest.raises(ValueError, match=r"bin of pauses|skips"):
        Gaps.restored([state])


def test_json_names_the_bounds() -> None:
    assert IdleGap.__struct_fields__ == ("from_ms", "to_ms", "n", "p50_ms", "p90_ms")
