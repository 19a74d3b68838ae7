"""The history of a session: its cells against all samples, looked at one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hettop import events
from hettop.events import HistoryState, Keyframe, UnitHistoryState
from hettop.session.history import CELL_NS, LEVELS, MOST_LOADS, Cell, History, UnitHistory
from hettop.session.session import FOLD, Session
from hettop.units import NS_PER_S
from tests.streams import MS, S, cut, header, window

Sample = tuple[int, int, bool]  # end, latency, whether it is a spike


def history_of(samples: Sequence[Sample], parts: int = 1) -> UnitHistory:
    history = UnitHistory()
    for part in np.array_split(np.array(samples, dtype=np.int64), parts):
        if len(part):
            flags = part[:, 2].astype(np.bool_)
            history.add(part[:, 0], part[:, 1], int(flags.sum()), giving(flags))
    return history


def giving(flags: npt.NDArray[np.bool_]) -> Callable[[], npt.NDArray[np.bool_]]:
    return lambda: flags


def nearest_rank(latencies: Sequence[int], percent: int) -> int:
    return sorted(latencies)[math.ceil(len(latencies) * percent / 100) - 1]


def check(history: UnitHistory, samples: Sequence[Sample]) -> int:
    """Compare every cell of every level with the samples in it; returns how many there were."""
    newest = samples[-1][0]
    compared = 0
    for (width_ns, first, cells), (_, kept) in zip(history.levels(), LEVELS, strict=True):
        assert first == newest // width_ns - kept + 1
        inside: dict[int, list[Sample]] = {}
        for sample in samples:
            inside.setdefault(sample[0] // width_ns, []).append(sample)
        assert [cell.number for cell in cells if cell.number >= first] == [each for each in inside if each >= first]
        for cell in cells:
            latencies = [latency for _, latency, _ in inside[cell.number]]
            assert cell.n == len(latencies)
            assert cell.max_ns == max(latencies)
            assert cell.spikes == sum(spike for _, _, spike in inside[cell.number])
            for found, percent in zip(cell.quantiles_ns(), (50, 90), strict=True):
                assert found == pytest.approx(nearest_rank(latencies, percent), rel=0.0079, abs=1)
            compared += 1
    return compared


def stream(seed: int, n: int, span_ns: int) -> list[Sample]:
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, span_ns, n))
    latencies = np.round(2 * MS * np.exp(rng.normal(0, 0.3, n))).astype(np.int64)
    return list(zip(ends.tolist(), latencies.tolist(), (rng.random(n) < 0.05).tolist(), strict=True))


def test_each_cell_holds_its_samples_at_every_level() -> None:
    samples = stream(1, 4_000, 3_000 * S)
    # 61 + 76 + 58 + 58 cells of four levels, the last of which is not full, and coarser ones.
    assert check(history_of(samples, 7), samples) > 250


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**16), st.integers(1, 60), st.integers(1, 100_000), st.integers(1, 9))
def test_cells_do_not_depend_on_the_windows(seed: int, n: int, seconds: int, parts: int) -> None:
    samples = stream(seed, n, seconds * S)
    history = history_of(samples, parts)
    check(history, samples)
    assert history.state() == history_of(samples).state()


def test_what_is_joined_is_as_if_it_had_been_one() -> None:
    """Two cells of 2 s make one of 4 s: P90 is that of all ten samples, not of P90s."""
    slow = [(NS_PER_S, 9 * MS, False)]
    fast = [(3 * NS_PER_S + i, MS, i == 0) for i in range(9)]
    (_, _, narrow), (_, _, wide), *_ = history_of([*slow, *fast]).levels()
    assert [(cell.n, cell.max_ns, cell.spikes) for cell in narrow] == [(1, 9 * MS, 0), (9, MS, 1)]
    assert [(cell.n, cell.max_ns, cell.spikes) for cell in wide] == [(10, 9 * MS, 1)]
    assert wide[0].quantiles_ns() == pytest.approx((MS, MS), rel=0.0079)


def test_a_cell_of_one_sample_is_that_sample() -> None:
    for latency in (0, 1, 7, 12_345, 3 * S):
        ((_, _, (cell,)), *_) = history_of([(5, latency, False)]).levels()
        assert cell.quantiles_ns()[1] <= cell.max_ns == latency


def test_a_clock_that_runs_backwards_stands_still() -> None:
    history = history_of([(9 * S, MS, False)])
    history.add(np.array([S]), np.array([2 * MS]), 0, lambda: np.array([False]))
    ((_, _, (cell,)), *_) = history.levels()
    assert (cell.number, cell.n) == (4, 2)
    back = np.array([9 * S, 5 * S, 7 * S, S, 11 * S])
    history.add(back, np.full(5, MS), 0, lambda: np.zeros(5, dtype=np.bool_))
    ((_, _, cells), *_) = history.levels()
    assert sum(cell.n for cell in cells) == 7
    assert [cell.number for cell in cells] == sorted({cell.number for cell in cells})


def session_of(*windows: events.Samples) -> Session:
    session = Session(raw_limit=0)
    session.fold(header())
    for each in windows:
        session.fold(each)
    return session


def long_window() -> events.Samples:
    rng = np.random.default_rng(2)
    latencies = np.round(20 * MS * np.exp(rng.normal(0, 0.1, 2_000))).astype(np.int64)
    latencies[rng.random(2_000) < 0.01] *= 5
    return window(latencies.tolist())


def test_spikes_of_cells_are_those_that_the_fold_counted() -> None:
    session = session_of(*cut(long_window(), [100, 150, 900]))
    (condition,) = session.conditions.values()
    ((_, _, cells), *_) = session.history.units["CPU_ONLY"].levels()
    assert sum(cell.n for cell in cells) == 2_000
    assert sum(cell.spikes for cell in cells) == condition.spikes > 5


def test_a_keyframe_holds_the_history_and_the_fold_goes_on_from_it() -> None:
    first, second, third = cut(long_window(), [700, 1_400])
    whole = session_of(first, second)
    restored = Session.restored(header(), decoded(session_of(first).keyframe(first.t, 0)))
    restored.fold(second)
    assert restored.history.state() == whole.history.state()
    twice = Session.restored(header(), decoded(restored.keyframe(second.t, 0)))
    for session in (whole, twice):
        session.fold(third)
    assert twice.history.state() == whole.history.state()


def decoded(keyframe: Keyframe) -> Keyframe:
    found = events.decode(events.encode(keyframe))
    assert isinstance(found, Keyframe)
    return found


def test_an_older_keyframe_has_no_history() -> None:
    old = msgspec.structs.replace(session_of(long_window()).keyframe(0, 0), history=None, fold=2)
    assert FOLD > 2
    assert Session.restored(header(), decoded(old)).history.units == {}


def test_a_reset_forgets_the_samples() -> None:
    session = session_of(long_window())
    session.fold(events.Control(t=S, action="reset", units=["CPU_ONLY"], mode="single"))
    assert session.history.units == {}
    assert [moment.kind for moment in session.history.moments] == ["control"]


def test_loads_are_kept_with_bounds() -> None:
    session = session_of()
    for second in range(2 * MOST_LOADS):
        for state in ("requested", "confirmed"):
            load = events.Load(t=second * S, what="cpu", state=state, condition=f"cpu:{second}", level=second)
            session.fold(load)
    loads = session.history.loads
    assert len(loads) == MOST_LOADS
    assert loads[-1] == ((2 * MOST_LOADS - 1) * S, f"cpu:{2 * MOST_LOADS - 1}")


def test_a_keyframe_of_four_units_after_eight_hours_is_below_64_kib() -> None:
    rng = np.random.default_rng(3)
    n = 8 * 3_600 * 5
    history = UnitHistory()
    latencies = np.round(2.5 * MS * np.exp(rng.normal(0, 0.25, n))).astype(np.int64)
    latencies[rng.random(n) < 0.01] *= 7
    ends = np.arange(n, dtype=np.int64) * (NS_PER_S // 5)
    flags = latencies > 9 * MS
    for begin in range(0, n, 5_000):
        part = slice(begin, begin + 5_000)
        history.add(ends[part], latencies[part], int(flags[part].sum()), giving(flags[part]))
    session = Session(raw_limit=0)
    session.fold(header())
    for unit in ("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"):
        for begin in range(0, 20_000, 5_000):
            session.fold(window(latencies[begin : begin + 5_000].tolist(), unit=unit, t0=begin * 3 * MS))
        session.history.units[unit] = history
    for moment in range(200):
        session.fold(events.Load(t=moment * S, what="cpu", state="confirmed", condition=f"cpu:{moment % 4}", level=1))
        session.history.mark(moment * S, "mark", "a note of the user that is longer than what is kept of it")
    cells = sum(len(cells) for _, _, cells in history.levels())
    assert cells == 61 + 76 + 58 + 58 + 86 + 29 + 8 + 2 + 1
    assert 40_000 < len(events.encode(session.keyframe(n, 0))) < 64 * 1024


def damaged(state: UnitHistoryState) -> list[UnitHistoryState]:
    """Ways in which a keyframe can contradict itself."""
    first, *others = state.levels
    changes = (
        {"n": first.n[:-1]},
        {"n": [0, *first.n[1:]]},
        {"runs": [1]},
        {"runs": [0, 2_000]},
        {"runs": [state.at, len(first.n)]},
        {"p50": [-1, *first.p50[1:]]},
        {"p90": [8_000, *first.p90[1:]]},
        {"spikes": [-9_000]},
        {"open": events.PartState(1, 0, [3_391, 1, 1])},
        {"open": events.PartState(1, 0, [5])},
        {"open": events.PartState(1, 0, [5, -3, 1])},
    )
    found = [msgspec.structs.replace(state, levels=[msgspec.structs.replace(first, **c), *others]) for c in changes]
    return [*found, msgspec.structs.replace(state, levels=[first] * 10)]


def test_a_history_that_contradicts_itself_is_refused() -> None:
    state = history_of(stream(4, 200, 60 * S)).state()
    assert UnitHistory.restored(state).state() == state
    for each in damaged(state):
        with pytest.raises(ValueError, match=r"keyframe's history|argument"):
            History.restored(HistoryState(units={"CPU_ONLY": each}))


def test_the_first_level_has_cells_of_two_seconds() -> None:
    assert CELL_NS == 2 * S
    ((width_ns, _, cells), *_) = history_of([(3 * S, MS, True)]).levels()
    assert (width_ns, [(cell.number, cell.n, cell.spikes) for cell in cells]) == (2 * S, [(1, 1, 1)])
    assert isinstance(cells[0], Cell)
