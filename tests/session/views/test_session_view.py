"""Views: the numbers the panels draw, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop import events
from hettop.session.session import Session
from hettop.session.views.latency import axis
from hettop.session.views.session_view import view
from hettop.session.views.structs import Scale, ViewRequest
from tests.streams import MS, S, header, window


def request(now_ns: int, window_ns: int = 10 * S, **more: int) -> ViewRequest:
    return ViewRequest(now_ns=now_ns, window_ns=window_ns, **more)  # type: ignore[arg-type]


def running(*windows: events.Samples, units: tuple[str, ...] = ("CPU_ONLY",), mode: str = "single") -> Session:
    session = Session(raw_limit=0)
    session.fold(header(absent={"CPU_AND_NE": "needs a Mac"}))
    session.fold(events.Control(t=0, action="start", units=list(units), mode=mode))
    for each in windows:
        session.fold(each)
    return session


def test_the_histogram_holds_every_sample_of_the_trailing_window_once() -> None:
    session = running(window([MS] * 5 + [2 * MS] * 5, gap=0), window([4 * MS] * 3, t0=20 * S, gap=0))
    recent = view(session, request(21 * S)).latency
    assert (recent.n, sum(recent.counts) + recent.above) == (3, 3)
    everything = view(session, request(21 * S, window_ns=60 * S)).latency
    assert everything.n == 13
    assert everything.p50_ms == pytest.approx(2.0, rel=1 / 128)
    assert everything.max_ms == pytest.approx(4.0)
    assert everything.low_ms <= 1.0
    assert everything.high_ms > 4.0


@given(st.lists(st.integers(MS, 3 * MS), min_size=1, max_size=80), st.integers(1, 40))
def test_the_columns_are_those_of_numpy(latencies: list[int], columns: int) -> None:
    asked = replace(request(S, histogram_columns=columns), scale=Scale.LINEAR)
    found = view(running(window(latencies, gap=0)), asked).latency
    edges = np.linspace(found.low_ms * MS, found.high_ms * MS, len(found.counts) + 1)[1:]
    # A latency at an edge, but for rounding, may be on either side of it.
    below, upto = (np.searchsorted(np.sort(latencies), edges * factor) for factor in (1 - 1e-12, 1 + 1e-12))
    so_far = found.below + np.cumsum(found.counts)
    assert (below <= so_far).all()
    assert (so_far <= upto).all()


def test_a_p99_without_enough_samples_says_how_many_it_needs() -> None:
    latency = view(running(window([MS] * 100)), request(S)).latency
    assert latency.p99_ms is None
    assert latency.p99_needs == 562  # of 662


def test_the_axis_ends_on_round_numbers_and_leaves_the_far_tail_out() -> None:
    low, high = axis(1.0 * MS, 1.01 * MS, 1.21 * MS, 40.0 * MS)
    assert low == pytest.approx(1.0 * MS, rel=0.1)
    assert 1.21 * MS < high < 2 * MS
    assert (high / 50_000) == pytest.approx(round(high / 50_000))


def test_an_axis_of_samples_that_are_all_zero_rises_from_zero() -> None:
    low, high = axis(0.0, 0.5, 0.5, 0.0)  # the middle of the lowest bucket is 0.5 ns
    assert low == 0.0
    assert 0.0 < high < 1.0


def test_an_empty_session_has_views_too() -> None:
    empty = view(Session(), request(0))
    assert empty.latency.n == 0
    assert empty.latency.p50_ms is None
    assert empty.units.rows == ()
    assert empty.timeline.lanes == ()


def test_rows_compare_units_with_the_fastest() -> None:
    session = running(window([2 * MS] * 4, unit="A"), window([3 * MS] * 4, unit="B", t0=S))
    fast, slow = view(session, request(2 * S)).units.rows
    assert fast.difference == pytest.approx(0.0)
    assert slow.difference == pytest.approx(0.5)
    assert fast.throughput_per_s == pytest.approx(500.0)
    assert max(slow.violin) == 1.0
    assert view(session, request(2 * S)).units.absent == (("CPU_AND_NE", "needs a Mac"),)


def test_first_tokens_are_not_compared_with_later_ones() -> None:
    """Of one unit's two rows neither has another of its kind; of two units each kind has a best of its own."""
    own = (window([2 * MS] * 4, unit="A"), window([90 * MS] * 4, unit="A~prefill", t0=S))
    assert [row.difference for row in view(running(*own), request(3 * S)).units.rows] == [None, None]
    other = (window([3 * MS] * 4, unit="B", t0=2 * S), window([45 * MS] * 4, unit="B~prefill", t0=3 * S))
    rows = {row.unit: row.difference for row in view(running(*own, *other), request(4 * S)).units.rows}
    assert rows == {
        "A": pytest.approx(0.0),
        "A~prefill": pytest.approx(1.0),
        "B": pytest.approx(0.5),
        "B~prefill": pytest.approx(0.0),
    }


def test_a_row_shows_the_load_active() -> None:
    session = running(window([2 * MS] * 4))
    session.fold(events.Load(t=S, what="cpu", state="confirmed", condition="cpu:1", level=1))
    assert view(session, request(S)).units.rows[0].n == 0
    session.fold(window([5 * MS] * 2, t0=2 * S, load="cpu:1"))
    assert view(session, request(3 * S)).units.rows[0].mean_ms == pytest.approx(5.0)


def test_the_log_shows_spikes_in_their_places() -> None:
    session = running(window([MS] * 64, gap=0))
    session.fold(window([30 * MS], t0=S))
    session.fold(events.Mark(t=2 * S, text="after"))
    texts = [entry.text for entry in view(session, request(3 * S)).log]
    assert texts == ["measuring CPU_ONLY", "spike CPU_ONLY, 30.0 ms", "mark: after"]


def test_the_rate_is_of_the_last_seconds_and_unknown_while_paused() -> None:
    session = running(window([10 * MS] * 100, gap=0))
    assert view(session, request(S)).header.rate_per_s == pytest.approx(100.0)
    session.fold(events.Control(t=S, action="pause", units=["CPU_ONLY"], paused=True))
    assert view(session, request(S)).header.rate_per_s is None


def test_synthetic_weights_are_reported_in_the_header_and_the_log() -> None:
    session = Session()
    opening = header()
    session.fold(
        msgspec.structs.replace(opening, model=msgspec.structs.replace(opening.model, note="synthetic weights"))
    )
    shown = view(session, request(0))
    assert shown.header.model_note == "synthetic weights"
    assert [entry.text for entry in shown.log] == ["Test model: synthetic weights"]


def test_simulated_data_says_so_in_its_header() -> None:
    session = Session()
    session.fold(header(simulated=True))
    assert view(session, request(0)).header.simulated


def test_a_window_that_claims_an_earlier_time_breaks_no_view() -> None:
    session = running(window([MS] * 3, t0=5 * S), window([2 * MS] * 3, t0=S), window([3 * MS] * 3, t0=6 * S))
    assert view(session, request(7 * S, window_ns=60 * S)).latency.n == 9
    assert view(session, request(7 * S, window_ns=S + 500 * MS)).latency.max_ms == pytest.approx(3.0)


def test_many_spikes_between_two_events_are_one_line() -> None:
    session = running(window([MS] * 64, gap=0))
    for second in (1, 2, 3):
        session.fold(window([10 * second * MS], t0=second * S))
    session.fold(events.Mark(t=4 * S, text="a mark"))
    session.fold(window([50 * MS], t0=5 * S))
    texts = [entry.text for entry in view(session, request(6 * S)).log]
    assert texts == [
        "measuring CPU_ONLY",
        "×3 spikes CPU_ONLY, max 30.0 ms, to 00:03.03",
        "mark: a mark",
        "spike CPU_ONLY, 50.0 ms",
    ]


def test_a_unit_that_never_ran_has_not_stopped() -> None:
    session = running()
    session.fold(events.Engine(t=0, unit="CPU_ONLY", state="stopped"))
    assert view(session, request(S)).units.rows[0].state == "not loaded"
    session.fold(events.Engine(t=0, unit="CPU_ONLY", state="running", load_ns=5))
    session.fold(events.Engine(t=0, unit="CPU_ONLY", state="stopped"))
    assert view(session, request(S)).units.rows[0].state == "stopped"


def test_the_histogram_is_of_the_load_active_alone() -> None:
    session = running(window([MS] * 50))
    session.fold(events.Load(t=S, what="cpu", state="confirmed", condition="cpu:2"))
    session.fold(window([4 * MS] * 13, t0=S, load="cpu:2"))
    shown = view(session, request(2 * S)).latency
    assert shown.n == 13
    assert shown.p50_ms == pytest.approx(4.0)


def test_each_sample_is_judged_by_the_threshold_of_its_own_condition() -> None:
    # A is steady at 1 ms, B at 5 ms: B's samples are far over A's spike threshold, and no spikes.
    session = running(window([MS] * 64, gap=0, unit="A"), window([5 * MS] * 64, gap=0, unit="B", t0=S), units=("A",))
    timeline = view(session, request(2 * S)).timeline
    assert timeline.spikes == 0
    assert [lane.threshold_ms for lane in timeline.lanes] == pytest.approx([1.5, 7.5], rel=0.004)


def test_without_a_threshold_nobody_knows_the_spikes() -> None:
    assert view(running(window([MS] * 10)), request(S)).timeline.spikes is None


def state_of(*stream: events.AnyEvent, now_ns: int) -> str:
    session = Session()
    for event in (header(), *stream):
        session.fold(event)
    return view(session, ViewRequest(now_ns=now_ns, window_ns=S)).units.rows[0].state


def test_a_call_that_does_not_come_back_says_for_how_long() -> None:
    running = events.Engine(t=0, unit="CPU_ONLY", state="running", load_ns=1)
    alone = events.Control(t=0, action="switch", units=["CPU_ONLY"])
    samples = window([10 * MS] * 100, t0=0, gap=0)  # until 1 s
    assert state_of(running, alone, samples, now_ns=6 * S) == "running"
    assert state_of(running, alone, samples, now_ns=13 * S) == "no answer for 0:12"
    in_turns = events.Control(t=0, action="interleave", units=["CPU_ONLY", "ALL"], mode="interleave")
    assert state_of(running, in_turns, samples, now_ns=13 * S) == "running"
    slow = window([2 * S], t0=0, gap=0)
    assert state_of(running, alone, slow, now_ns=13 * S) == "running", "20 times its longest is 40 s"


def test_of_interleaved_units_the_one_whose_turn_it_is_runs_now() -> None:
    session = running(window([1 * MS] * 20, unit="ALL"), window([2 * MS] * 20, t0=S))
    session.fold(events.Control(t=S, action="interleave", units=["CPU_ONLY", "ALL"], mode="interleave"))
    assert runs_now(session) == {"ALL": (True, False), "CPU_ONLY": (True, True)}
    session.fold(window([1 * MS] * 20, unit="ALL", t0=2 * S))
    assert runs_now(session) == {"ALL": (True, True), "CPU_ONLY": (True, False)}
    session.fold(events.Control(t=3 * S, action="switch", units=["CPU_ONLY"]))
    assert runs_now(session) == {"ALL": (False, False), "CPU_ONLY": (True, True)}


def runs_now(session: Session) -> dict[str, tuple[bool, bool]]:
    return {row.unit: (row.active, row.runs_now) for row in view(session, request(3 * S)).units.rows}


def test_differences_are_to_the_best_unit_that_one_could_ship() -> None:
    session = running(
        window([1 * MS] * 70, unit="ALL"), window([2 * MS] * 70, unit="CPU_AND_NE"), window([3 * MS] * 70)
    )
    off = events.OutputDifference(name="logits", values=10, max_abs=9.0, largest=1.0)
    session.fold(events.Outputs(t=S, unit="ALL", reference="CPU_ONLY", inputs=8, outputs=[off]))
    rows = {row.unit: row.difference for row in view(session, request(S)).units.rows}
    assert rows == {"ALL": None, "CPU_AND_NE": pytest.approx(0.0), "CPU_ONLY": pytest.approx(0.5)}
    failure = events.Failure(kind="crashed", message="killed by SIGSEGV")
    session.fold(events.Engine(t=2 * S, unit="CPU_AND_NE", state="failed", error=failure))
    rows = {row.unit: row.difference for row in view(session, request(2 * S)).units.rows}
    assert rows == {"ALL": None, "CPU_AND_NE": None, "CPU_ONLY": pytest.approx(0.0)}


def test_the_header_says_whether_the_model_answers_token_by_token() -> None:
    session = Session(raw_limit=0)
    session.fold(header(answers={"max_tokens": 64}))
    assert view(session, request(S)).header.answering
    assert not view(running(), request(S)).header.answering
