"""A rail is validated once it was seen above 0 on this machine: in this session, or before it as the stream says."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hettop import events
from hettop.events import AnyEvent
from hettop.session.session import Session
from hettop.session.statistics import statistics
from hettop.session.views.structs import ViewRequest
from hettop.session.views.units import units
from tests.streams import MS, S, header, window

UNIT = "CPU_AND_NE"
NO_EVIDENCE = "plan: 100% Neural Engine; ANE power reading not validated on this machine, so no evidence"
ON_THE_CPU = "plan: 100% Neural Engine; ANE 0 mW while running: probably on the CPU"


def status(source: str = "powermetrics", step: float | None = 1.0, validated: tuple[str, ...] = ()) -> AnyEvent:
    return events.PowerStatus(t=0, source=source, state="running", resolution_mj=step, validated=list(validated))


def power(t: int, ane: float | None, *, source: str = "powermetrics", flags: tuple[str, ...] = ()) -> AnyEvent:
    """Half a second's sample that ends at `t`."""
    mw = {"cpu": 900.0, "gpu": None, "ane": ane}
    return events.Power(t=t, source=source, elapsed_ns=S // 2, mw=mw, flags=list(flags))


def opened(*first: AnyEvent) -> list[AnyEvent]:
    """A session of one unit, planned for the Neural Engine, whose samples fill the first three seconds."""
    devices = [events.PlannedDevice(device="Neural Engine", ops=10, cost=1.0)]
    plan = events.Plan(t=0, unit=UNIT, accelerator="Neural Engine", ops=10, devices=devices)
    engine = events.Engine(t=0, unit=UNIT, state="running")
    return [header(), engine, plan, *first, window([10 * MS] * 300, unit=UNIT, gap=0)]


ZEROS = [power(n * S // 2, 0.0) for n in range(1, 6)]
"""They cover the first two and a half seconds."""


def folded(*stream: AnyEvent) -> Session:
    session = Session()
    for event in stream:
        session.fold(event)
    return session


def evidence(session: Session) -> str | None:
    (row,) = statistics(session)
    return row.evidence


def test_a_rail_that_only_ever_read_0_is_not_validated() -> None:
    session = folded(*opened(status()), power(S, 0.0), power(2 * S, 0.0))
    assert session.energy.validated == {"cpu"}
    assert evidence(session) == NO_EVIDENCE
    request = ViewRequest(now_ns=3 * S, window_ns=S)
    assert NO_EVIDENCE in units(session, request).rows[0].details


def test_no_energy_is_given_of_a_unit_that_may_use_a_rail_that_is_not_validated() -> None:
    (row,) = statistics(folded(*opened(status()), *ZEROS))
    assert row.energy_mj_per_inference is None
    assert row.energy_by_rail_mj is not None
    assert row.energy_by_rail_mj["ane"] is None, "0 would be a number that was not measured"
    assert row.energy_reason == "the ANE power reading is not validated on this machine; hint: hettop doctor --control"
    # With a validated rail the zero counts: 900 mW of the CPU over 10 ms are 9 mJ.
    (row,) = statistics(folded(*opened(status(validated=("ane",))), *ZEROS))
    assert row.energy_mj_per_inference == pytest.approx(9.0)
    assert row.energy_reason is None


def test_a_unit_that_cannot_use_the_rail_has_its_energy_whatever_the_rail_reads() -> None:
    on_cpu = window([10 * MS] * 300, unit="CPU_ONLY", gap=0)
    (row,) = statistics(folded(header(), status(), on_cpu, *ZEROS))
    assert row.energy_mj_per_inference == pytest.approx(9.0)


def test_a_rail_that_was_above_0_in_this_session_is_so_whenever_that_was() -> None:
    # 20 mW for .5 s are 10 mJ, ten steps. They were drawn before the unit ran: of another one, or of another program.
    session = folded(*opened(status(), power(1, 20.0)), power(S, 0.0), power(2 * S, 0.0))
    assert session.energy.validated == {"ane", "cpu"}
    assert evidence(session) == ON_THE_CPU


@pytest.mark.parametrize(
    ("step", "mw", "samples", "validated"),
    [
        (1.0, 2.0, 1, False),  # 1 mJ: one step, which may be rounding
        (1.0, 2.0, 2, True),
        (1.0, 2.1, 1, True),
        (None, 2.0, 1, False),  # a source that does not report its step: the coarsest that is known
        (0.1, 2.0, 1, True),
    ],
)
def test_above_0_is_by_more_than_one_step_of_the_counter(
    step: float | None, mw: float, samples: int, validated: bool
) -> None:
    session = folded(*opened(status(step=step)), *(power((n + 1) * S, mw) for n in range(samples)))
    assert ("ane" in session.energy.validated) is validated


@pytest.mark.parametrize("flag", ["suspect-zero", "partial"])
def test_what_was_not_measured_validates_nothing(flag: str) -> None:
    assert folded(*opened(status()), power(S, 500.0, flags=(flag,))).energy.validated == frozenset()


def test_what_was_validated_before_the_session_is_in_the_stream() -> None:
    session = folded(*opened(status(validated=("ane", "sun"))), power(S, 0.0))
    assert session.energy.validated == {"ane", "cpu"}, "a rail that nobody knows is none"
    assert evidence(session) == ON_THE_CPU


def test_a_rail_stays_validated_when_its_source_ends() -> None:
    ended = events.PowerStatus(t=2 * S, source="powermetrics", state="stopped")
    assert evidence(folded(*opened(status(validated=("ane",))), power(S, 0.0), ended)) == ON_THE_CPU


def test_a_capture_validates_nothing() -> None:
    stream = opened(status("file", validated=("ane",)))
    assert folded(*stream, power(S, 500.0, source="file")).energy.validated == frozenset()


@pytest.mark.parametrize("first", [status(validated=("ane",)), power(1, 20.0)], ids=["before", "in this session"])
@pytest.mark.parametrize("at", range(5, 8))
def test_the_same_is_said_from_whichever_side_a_moment_is_reached(first: AnyEvent, at: int) -> None:
    stream = [*opened(status(), first), power(S, 0.0), power(2 * S, 0.0)]
    whole, before = folded(*stream), folded(*stream[:at])
    again = Session.restored(header(), _stored(before))
    for event in stream[at:]:
        again.fold(event)
    assert again.energy.validated == whole.energy.validated == {"ane", "cpu"}
    assert evidence(again) == evidence(whole) == ON_THE_CPU


RUNNING = status()
MACMON = status("macmon", validated=("ane",))
STOPPED = events.PowerStatus(t=2 * S, source="macmon", state="stopped")
FAILED = events.PowerStatus(t=2 * S, source="powermetrics", state="failed", resolution_mj=0.1)


@pytest.mark.parametrize(
    ("stream", "validated"),
    [
        ([MACMON, power(S, 0.0, source="macmon"), RUNNING, power(2 * S, 0.0)], {"cpu"}),
        ([status("macmon"), power(S, 500.0, source="macmon"), RUNNING, power(2 * S, 0.0)], {"cpu"}),
        ([power(S, 500.0, source="macmon"), power(2 * S, 0.0)], {"cpu"}),
        ([status("macmon"), power(S, 500.0, source="macmon"), RUNNING], set()),
        ([MACMON, power(S, 0.0, source="macmon"), STOPPED, FAILED], {"ane", "cpu"}),
        (
            [status("x", 0.1), power(S, 0.0, source="x"), status("macmon", None), power(2 * S, 1.0, source="macmon")],
            {"cpu"},
        ),
        ([power(S, 5000.0, source="file"), RUNNING, power(2 * S, 0.0)], {"cpu"}),
        ([RUNNING, power(S, 5000.0, source="file"), power(2 * S, 0.0)], {"cpu"}),
        ([RUNNING, power(S, 500.0), power(2 * S, 0.0, source="file")], {"ane", "cpu"}),
    ],
    ids=["before", "in this session", "untold", "no sample yet", "none other", "its step", "capture", "mixed", "after"],
)
def test_a_rail_is_validated_for_the_source_that_showed_it(stream: list[AnyEvent], validated: set[str]) -> None:
    stream = [*opened(), *stream]
    session = folded(*stream)
    assert session.energy.validated == validated
    for at in range(3, len(stream)):
        again = Session.restored(header(), _stored(folded(*stream[:at])))
        for event in stream[at:]:
            again.fold(event)
        assert again.energy.validated == validated, at
        assert again.energy.state() == session.energy.state(), at


def test_a_keyframe_of_an_earlier_version_counts_for_the_source_it_names() -> None:
    keyframe = _stored(folded(*opened(status()), power(S, 500.0)))
    assert keyframe.energy is not None
    earlier = replace(keyframe, energy=replace(keyframe.energy, source=None, readings={}))
    again = Session.restored(header(), earlier)
    again.fold(power(2 * S, 0.0))
    assert again.energy.validated == {"ane", "cpu"}
    again.fold(power(3 * S, 0.0, source="macmon"))
    assert again.energy.validated == {"cpu"}


def test_a_reset_of_the_statistics_does_not_unmake_a_counter_that_counts() -> None:
    session = folded(*opened(status()), power(S, 500.0), events.Control(t=2 * S, action="reset"))
    assert "ane" in session.energy.validated


def _stored(session: Session) -> events.Keyframe:
    """A keyframe as a recording holds it."""
    keyframe = events.decode(events.encode(session.keyframe(session.t, 0)))
    assert isinstance(keyframe, events.Keyframe)
    return keyframe
