"""Power that was played from a capture is shown, and used for nothing: it is of another machine, or of another time."""

from __future__ import annotations

from hettop import events
from hettop.session.power_summary import power_summary
from hettop.session.session import Session
from hettop.session.statistics import Statistics, statistics
from hettop.session.views.machine import power as power_view
from hettop.session.views.structs import ViewRequest
from tests.streams import MS, S, header, window

PLAN = events.Plan(
    t=0,
    unit="CPU_ONLY",
    accelerator="Neural Engine",
    ops=10,
    devices=[events.PlannedDevice(device="Neural Engine", ops=10, cost=1.0)],
)


def power(t: int, source: str) -> events.Power:
    return events.Power(
        t=t,
        source=source,
        elapsed_ns=S,
        mw={"cpu": 1000.0, "gpu": 10.0, "ane": 0.0},
        clusters=[events.Cluster(name="E", mhz=1000.0 + t / S, busy=0.5)],
        thermal="Heavy",
    )


def session_of(source: str) -> Session:
    """Three seconds of one unit, with power all the time, a baseline, and a plan."""
    session = Session()
    for event in (
        header(),
        events.Engine(t=0, unit="CPU_ONLY", state="running"),
        PLAN,
        events.PowerStatus(t=0, source=source, state="running", resolution_mj=1.0),
        events.Baseline(t=0, source=source, elapsed_ns=S, mw={"cpu": 100.0, "gpu": 10.0, "ane": 0.0}, n=2),
        window([10 * MS] * 299, gap=1000),
        power(S, source),
        power(2 * S, source),
    ):
        session.fold(event)
    return session


def only(session: Session) -> Statistics:
    (found,) = statistics(session)
    return found


def test_the_same_power_of_this_machine_is_energy_and_evidence() -> None:
    session = session_of("powermetrics")
    row = only(session)
    assert row.energy_mj_per_inference is not None
    assert row.energy_net_mj_per_inference is not None
    assert row.evidence == ("plan: 100% Neural Engine; ANE power reading not validated on this machine, so no evidence")
    assert session.thermal == "Heavy"
    assert (power_summary(session).capture, power_summary(session).line) == (False, None)


def test_a_capture_gives_no_energy_no_evidence_and_no_thermal_state() -> None:
    session = session_of("file")
    row = only(session)
    assert {name: getattr(row, name) for name in row.__struct_fields__ if "energy" in name} == {
        name: None for name in row.__struct_fields__ if "energy" in name
    }
    assert row.power_mean_mw is None
    assert row.evidence == "plan: 100% Neural Engine; ANE power n/a"
    assert session.thermal is None
    assert session.baselines == {}
    assert session.energy.resolution_mj is None
    assert session.energy.total["gpu"].energy_mj == 20.0
    assert session.energy.validated == frozenset(), "what counted was another machine's rail, or another time's"


def test_a_change_of_clock_in_a_capture_is_no_cause_of_spikes() -> None:
    assert session_of("powermetrics").causes.state() != session_of("file").causes.state()
    without = session_of("file").causes.state()
    assert without.machine == Session().causes.state().machine


def test_it_is_shown_with_its_mark_and_says_what_it_is() -> None:
    session = session_of("file")
    view = power_view(session, "CPU_ONLY", ViewRequest(now_ns=2 * S, window_ns=10 * S))
    assert view.capture
    assert [(row.rail, row.now_w) for row in view.rails] == [("cpu", 1.0), ("gpu", 0.01), ("ane", 0.0)]
    assert view.energy_mj is None
    assert not power_view(session_of("powermetrics"), None, ViewRequest(now_ns=2 * S, window_ns=S)).capture
    line = power_summary(session).line
    assert line is not None
    assert line.startswith("CAPTURE: power is from a capture, not from this run")


def test_what_a_keyframe_holds_of_a_capture_is_restored_for_the_screen() -> None:
    session = session_of("file")
    again = Session.restored(header(), session.keyframe(3 * S, 0))
    assert again.energy.total["cpu"].mean_mw == session.energy.total["cpu"].mean_mw == 1000.0
    assert not again.energy.seen
