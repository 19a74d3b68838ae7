"""Power and host as the screen sees them, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hettop import events
from hettop.session.session import Session
from hettop.session.views.machine import MachineReading, host, power
from hettop.session.views.structs import ViewRequest
from tests.streams import MS, S, header, window

REQUEST = ViewRequest(now_ns=4 * S, window_ns=4 * S, power_slots=4)


def told(t: int, cpu: float | None, *, flags: list[str] | None = None, elapsed: int = S) -> events.Power:
    mw = {"cpu": cpu, "gpu": 500.0, "ane": None}
    return events.Power(t=t, source="s", elapsed_ns=elapsed, mw=mw, flags=flags or [], thermal="Nominal")


def session_of(*stream: events.AnyEvent) -> Session:
    session = Session()
    for event in (header(), *stream):
        session.fold(event)
    return session


def test_each_slot_has_the_power_of_its_middle_and_a_gap_where_nothing_was_measured() -> None:
    # Slots are (0,1], (1,2], (2,3], (3,4] s and one that has just begun; the second's sample was suspect.
    session = session_of(told(S, 1_000.0), told(2 * S, 0.0, flags=["suspect-zero"]), told(3 * S, 3_000.0))
    view = power(session, None, replace(REQUEST, now_ns=4 * S - 1))
    rows = {row.rail: row for row in view.rails}
    assert rows["cpu"].slots == (1.0, None, 3.0, None)
    assert rows["cpu"].now_w == 3.0
    assert rows["cpu"].peak_w == 3.0
    assert rows["cpu"].mean_w == pytest.approx(2.0)  # the suspect second is no measurement
    assert "ane" not in rows
    assert view.estimate is not None
    assert view.estimate.slots == (1.5, None, 3.5, None)
    assert view.top_w == 3.5
    assert view.thermal == "Nominal"


def test_an_old_sample_says_nothing_of_now() -> None:
    session = session_of(told(S, 1_000.0))
    assert power(session, None, replace(REQUEST, now_ns=5 * S)).rails[0].now_w == 1.0
    late = power(session, None, replace(REQUEST, now_ns=5 * S + 1))
    assert late.rails[0].now_w is None
    assert late.thermal is None
    assert late.rails[0].mean_w == 1.0


def test_without_power_there_is_the_sources_reason() -> None:
    status = events.PowerStatus(t=0, source="none", state="unavailable", reason="macOS only", fix="a Mac")
    view = power(session_of(status), None, REQUEST)
    assert (view.rails, view.estimate, view.top_w) == ((), None, None)
    assert (view.state, view.reason, view.fix) == ("unavailable", "macOS only", "a Mac")


def test_energy_is_the_viewed_units_and_net_only_above_a_baseline() -> None:
    steady = window([10 * MS] * 300, t0=0, gap=0, unit="A")
    session = session_of(steady, *(told(k * S, 3_500.0) for k in (1, 2, 3)))
    view = power(session, "A", REQUEST)
    assert view.energy_mj == pytest.approx(40.0)  # 4 W for 10 ms
    assert view.net_mj is None
    session.fold(events.Baseline(t=3 * S, source="s", elapsed_ns=S, mw={"cpu": 500.0, "gpu": 500.0}, n=6))
    view = power(session, "A", REQUEST)
    assert view.net_mj == pytest.approx(30.0)
    assert view.baseline_w == 1.0


def test_the_host_is_the_last_one_reported_and_the_canary_adds_up() -> None:
    assert host(session_of()) is None
    session = session_of(
        events.HostLoad(t=0, cpu_percent=[50.0, 100.0], memory_percent=61.0, swap_mb=2.0),
        events.Canary(t=S, due=60, missed=1, worst_ns=5),
        events.Canary(t=2 * S, due=60, missed=2, worst_ns=5),
    )
    view = host(session)
    assert view is not None
    assert (view.cores, view.memory) == ((0.5, 1.0), 0.61)
    assert (view.canary_missed, view.canary_due) == (3, 120)
    assert session.header is not None
    again = Session.restored(session.header, session.keyframe(3 * S, 0))
    assert host(again) == view


def test_the_hosts_figures_are_shares_and_its_past_has_each_reading() -> None:
    readings = [
        events.HostLoad(
            t=at * 5 * S,
            cpu_percent=[10.0 * at, 50.0],
            pressure_percent=2.5,
            mhz=2_800.0,
            temperature_c=47.0,
            own_cpu_percent=6.0,
            own_memory_mb=82.0,
            engine_cpu_percent=150.0,
            engine_memory_mb=310.0,
        )
        for at in (1, 2)
    ]
    session = session_of(*readings)
    view = host(session)
    assert view is not None
    assert (view.pressure, view.mhz, view.temperature_c) == (0.025, 2_800.0, 47.0)
    assert (view.own_cpu, view.own_memory_mb, view.engine_cpu, view.engine_memory_mb) == (0.06, 82.0, 1.5, 310.0)
    assert view.history == (
        MachineReading(5 * S, (0.1, 0.5), 0.06, 1.5),
        MachineReading(10 * S, (0.2, 0.5), 0.06, 1.5),
    )
    assert view.kinds == ()
    assert session.header is not None
    again = host(Session.restored(session.header, session.keyframe(11 * S, 0)))
    assert again is not None
    assert again.history == view.history[1:], "a keyframe has the last reading"


def test_of_a_long_session_the_last_twenty_minutes_are_kept() -> None:
    session = session_of(*(events.HostLoad(t=at * 5 * S, cpu_percent=[1.0]) for at in range(400)))
    view = host(session)
    assert view is not None
    assert (len(view.history), view.history[-1].t - view.history[0].t) == (240, 239 * 5 * S)


def test_clusters_and_the_gpu_have_their_course_in_the_window() -> None:
    def sample(t: int, busy: float) -> events.Power:
        clusters = [events.Cluster(name="E-Cluster", mhz=1_000.0, busy=busy), events.Cluster(name="P-Cluster")]
        gpu = events.Gpu(mhz=400.0, busy=busy / 2)
        return events.Power(t=t, source="s", elapsed_ns=S, mw={"cpu": 1.0}, clusters=clusters, gpu=gpu)

    view = power(session_of(sample(S, 0.2), sample(3 * S, 0.6)), None, replace(REQUEST, now_ns=4 * S - 1))
    efficient, fast, gpu = view.clusters
    assert (efficient.name, efficient.mhz, efficient.busy) == ("E-Cluster", 1_000.0, 0.6)
    assert efficient.busy_slots == (0.2, None, 0.6, None)
    assert efficient.mhz_slots == (1_000.0, None, 1_000.0, None)
    assert (fast.busy, fast.busy_slots) == (None, (None,) * 4)
    assert (gpu.name, gpu.busy, gpu.busy_slots) == ("GPU", 0.3, (0.1, None, 0.3, None))


def test_a_rail_has_the_energy_of_the_whole_session() -> None:
    # 1 W for a second and 3 W for another are 4 J, with the GPU's half watt 5 J.
    view = power(session_of(told(S, 1_000.0), told(2 * S, 3_000.0)), None, REQUEST)
    cpu = next(row for row in view.rails if row.rail == "cpu")
    assert cpu.energy_j == pytest.approx(4.0)
    assert cpu.covered_ns == 2 * S
    assert view.estimate is not None
    assert view.estimate.energy_j == pytest.approx(5.0)


def test_a_suspect_sample_is_newest_and_still_no_value() -> None:
    session = session_of(told(S, 1_000.0), told(2 * S, 0.0, flags=["suspect-zero"]))
    view = power(session, None, REQUEST)
    assert [row.now_w for row in view.rails] == [None, None]
    assert view.estimate is not None
    assert view.estimate.now_w is None
    assert view.flags == ("suspect-zero",)
    assert view.top_w == 1.5  # of the sound sample: 1 W and 0.5 W


def test_zero_watts_that_were_measured_are_zero_and_not_a_gap() -> None:
    view = power(session_of(told(S, 0.0)), None, replace(REQUEST, now_ns=2 * S - 1, window_ns=2 * S, power_slots=2))
    cpu = next(row for row in view.rails if row.rail == "cpu")
    assert (cpu.now_w, cpu.mean_w, cpu.peak_w, cpu.slots) == (0.0, 0.0, 0.0, (0.0, None))


def test_a_baseline_under_another_load_makes_no_net_energy() -> None:
    steady = window([10 * MS] * 300, t0=0, gap=0, unit="A")
    session = session_of(steady, *(told(k * S, 3_500.0) for k in (1, 2, 3)))
    session.fold(events.Baseline(t=3 * S, source="s", elapsed_ns=S, mw={"cpu": 1.0, "gpu": 1.0}, n=6, load="cpu:2"))
    view = power(session, "A", REQUEST)
    assert view.energy_mj == pytest.approx(40.0)
    assert (view.net_mj, view.baseline_w) == (None, None)
    unknown = power(session, "B", REQUEST)
    assert (unknown.energy_mj, unknown.net_mj) == (None, None)


def test_after_seeking_to_a_keyframe_the_source_its_figures_and_baselines_are_still_known() -> None:
    status = events.PowerStatus(t=S, source="s", state="failed", reason="it stood still", fix="p", interval_ns=S)
    steady = window([10 * MS] * 300, t0=0, gap=0, unit="A")
    session = session_of(steady, *(told(k * S, 3_500.0) for k in (1, 2, 3)), status)
    session.fold(events.Baseline(t=3 * S, source="s", elapsed_ns=S, mw={"cpu": 500.0, "gpu": 500.0}, n=6))
    assert session.header is not None
    again = Session.restored(session.header, session.keyframe(3 * S, 0))
    before, after = power(session, "A", REQUEST), power(again, "A", REQUEST)
    assert (after.source, after.state, after.reason, after.interval_ns) == ("s", "failed", "it stood still", S)
    assert after.net_mj == pytest.approx(30.0)
    assert [(row.now_w, row.mean_w, row.peak_w) for row in after.rails] == [
        (row.now_w, row.mean_w, row.peak_w) for row in before.rails
    ]
    # The curve is no part of a keyframe: a reader folds the window before it again.
    assert all(slot is None for row in after.rails for slot in row.slots)


def test_a_machine_that_never_had_a_canary_has_no_count_after_a_keyframe_either() -> None:
    session = session_of(events.HostLoad(t=0, cpu_percent=[1.0]))
    assert session.header is not None
    again = host(Session.restored(session.header, session.keyframe(S, 0)))
    assert again is not None
    assert (again.canary_due, again.canary_missed) == (None, None)
