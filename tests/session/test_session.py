"""The fold: what each kind of event does to a session."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop import events
from hettop.session.condition import ConditionKey, DurationSeries
from hettop.session.log import in_words
from hettop.session.session import MOST_CONDITIONS, Session
from tests.streams import MS, S, header, window


def engine(state: str, t: int = 0, unit: str = "CPU_ONLY", **more: object) -> events.Engine:
    return events.Engine(t=t, unit=unit, state=state, **more)  # type: ignore[arg-type]


def test_only_steady_samples_enter_the_distribution() -> None:
    session = Session()
    session.fold(window([50 * MS], phase="first"))
    session.fold(window([9 * MS, 8 * MS], phase="warmup", t0=S))
    session.fold(window([2 * MS, 4 * MS], t0=2 * S))
    session.fold(window([7 * MS], phase="resume", t0=3 * S))
    session.fold(window([6 * MS, 6 * MS], phase="transition", t0=4 * S))
    (condition,) = session.conditions.values()
    unit = session.units["CPU_ONLY"]
    assert condition.wall.moments.mean_ns == 3 * MS
    assert unit.first_ns == 50 * MS
    assert unit.warmup_ns == [9 * MS, 8 * MS]
    assert unit.apart == {"first": 1, "warmup": 2, "resume": 1, "transition": 2}
    assert session.samples == 8


def test_units_loads_and_thermal_states_are_kept_apart() -> None:
    session = Session()
    for unit, load, thermal in (("A", "none", None), ("B", "none", None), ("A", "cpu:1", None), ("A", "none", "Heavy")):
        session.fold(window([MS], unit=unit, load=load, thermal=thermal))
    assert list(session.conditions) == [
        ConditionKey("A", "none", None),
        ConditionKey("B", "none", None),
        ConditionKey("A", "cpu:1", None),
        ConditionKey("A", "none", "Heavy"),
    ]


def test_a_reset_forgets_distributions_and_keeps_what_loading_reported() -> None:
    session = Session()
    session.fold(engine("running", load_ns=45 * MS, first_ns=20 * MS, placed="CPU"))
    session.fold(window([MS] * 10))
    session.fold(events.Control(t=S, action="reset", units=["CPU_ONLY"]))
    assert not session.conditions
    assert session.units["CPU_ONLY"].load_ns == 45 * MS


def test_a_failure_stands_until_the_unit_starts_again() -> None:
    session = Session()
    session.fold(engine("failed", error=events.Failure(kind="crashed", message="killed by SIGKILL")))
    assert session.units["CPU_ONLY"].error is not None
    assert "killed by SIGKILL" in in_words(session.log[-1]).text
    session.fold(engine("spawning"))
    assert session.units["CPU_ONLY"].error is None


def test_the_limit_is_the_budget_else_the_period() -> None:
    session = Session()
    assert session.limit_ns is None
    session.fold(events.Control(t=0, action="start", rate_hz=50.0))
    assert session.limit_ns == 20 * MS
    session.fold(events.Control(t=0, action="budget", rate_hz=50.0, limit_ns=16 * MS))
    assert session.limit_ns == 16 * MS


def test_what_was_dropped_is_counted_and_said() -> None:
    session = Session()
    session.fold(events.Dropped(t=0, n=7, why="the reader stalled"))
    assert session.dropped == 7
    assert in_words(session.log[-1]).level == "warning"


def test_keyframes_in_the_stream_do_not_count_twice() -> None:
    session = Session()
    session.fold(window([MS] * 4))
    session.fold(session.keyframe(S, 0))
    assert session.samples == 4


steps = st.lists(
    st.tuples(
        st.sampled_from(["steady", "steady", "steady", "warmup", "resume", "load", "mark", "engine"]),
        st.sampled_from(["A", "B"]),
        st.lists(st.integers(100_000, 5 * MS), min_size=1, max_size=90),
    ),
    min_size=1,
    max_size=25,
)


@given(steps, st.integers(0, 24))
def test_going_on_from_a_keyframe_equals_never_having_stopped(
    steps: list[tuple[str, str, list[int]]], stop: int
) -> None:
    stream: list[events.AnyEvent] = [header()]
    now, load = S, "none"
    for what, unit, latencies in steps:
        match what:
            case "load":
                load = "cpu:1" if load == "none" else "none"
                stream.append(events.Load(t=now, what="cpu", state="confirmed", condition=load))
            case "mark":
                stream.append(events.Mark(t=now, text="here"))
            case "engine":
                stream.append(engine("running", t=now, unit=unit, load_ns=latencies[0]))
            case phase:
                stream.append(window(latencies, unit=unit, phase=phase, load=load, t0=now))
        now = stream[-1].t + 1000
    whole = Session()
    for event in stream:
        whole.fold(event)
    first = Session()
    cut_at = min(stop, len(stream) - 1) + 1
    for event in stream[:cut_at]:
        first.fold(event)
    assert first.header is not None
    line = events.encode(first.keyframe(first.t, 0))
    keyframe = events.decode(line)
    assert isinstance(keyframe, events.Keyframe)
    resumed = Session.restored(first.header, keyframe)
    for event in stream[cut_at:]:
        resumed.fold(event)
    assert events.encode(resumed.keyframe(0, 0)) == events.encode(whole.keyframe(0, 0))


@pytest.mark.parametrize("kind", ["power", "host", "usage", "frame", "canary"])
def test_kinds_that_only_inform_change_no_statistics(kind: str) -> None:
    informing: dict[str, events.AnyEvent] = {
        "power": events.Power(t=1, source="none", elapsed_ns=1, mw={"cpu": None}),
        "host": events.HostLoad(t=1, cpu_percent=[1.0]),
        "usage": events.Usage(t=1, unit="A"),
        "frame": events.Frame(t=1, redraws=4, total_ns=MS, worst_ns=MS),
        "canary": events.Canary(t=1, due=60, missed=0, worst_ns=1),
    }
    session = Session()
    session.fold(informing[kind])
    assert session.samples == 0
    assert not session.conditions


def test_a_recording_that_names_a_million_units_fills_no_memory() -> None:
    session = Session()
    for index in range(MOST_CONDITIONS + 30):
        session.fold(engine("running", unit=f"u{index}"))
        session.fold(window([MS] * 2, unit=f"u{index}", t0=index * S))
    assert len(session.units) == len(session.conditions) == MOST_CONDITIONS
    assert session.samples == 2 * MOST_CONDITIONS
    assert session.dropped == 2 * 30, "and none of the rest is lost silently"


@pytest.mark.parametrize("action", ["{0}", "{units.foo}", "{", "{units:>999999999}"])
def test_an_action_from_a_file_is_text_and_no_format(action: str) -> None:
    session = Session()
    session.fold(events.Control(t=0, action=action, units=["A"]))
    assert len(in_words(session.log[-1]).text) <= events.TEXT_LIMIT


def test_arrivals_that_waited_during_a_pause_are_not_unserved_once_the_unit_runs() -> None:
    session = Session()
    found = []
    for state, unfinished in (("paused", 4), ("running", None), ("stopped", 1)):
        session.fold(events.Engine(t=0, unit="CPU_ONLY", state=state, unfinished=unfinished))
        found.append(session.units["CPU_ONLY"].unfinished)
    assert found == [4, None, 1]


def test_a_rate_of_next_to_nothing_sets_no_limit() -> None:
    session = Session()
    session.fold(events.Control(t=0, action="start", rate_hz=1e-305))
    assert session.limit_ns is None
    session.fold(window([MS], late=[0]))


@pytest.mark.parametrize(
    ("total", "squares"), [("9", "99"), ("10", "1"), ("-9" + "0" * 198, "100"), ("9" + "0" * 198, "9")]
)
def test_a_keyframe_whose_sums_cannot_be_is_refused(total: str, squares: str) -> None:
    # Five values from 2 to 2: their sum is 10 and their squares sum to 20.
    state = events.SeriesState(n=5, sum=total, sum_sq=squares, min_ns=2, max_ns=2, runs=runs_of_twos())
    with pytest.raises(ValueError, match="contradict"):
        DurationSeries.restored(state)


def runs_of_twos() -> list[int]:
    series = DurationSeries(raw_limit=0)
    series.add(np.full(5, 2, dtype=np.int64))
    return series.state().runs
