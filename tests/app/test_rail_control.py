"""What the positive control concludes from what each rail read, and what it keeps of that."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hettop import events
from hettop.app.rail_control import Checked, check_rails, keep, prepare_control
from hettop.compute_units import OWN_UNIT
from hettop.errors import HettopError
from hettop.events import AnyEvent
from hettop.measurement.validated_rails import ValidatedRails
from hettop.session.session import Session
from tests.sources.power.machines import mac, pc
from tests.streams import MS, S, header, window

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
ALL_UNITS = (*OWN_UNIT.values(), "CPU_ONLY")


def plan(unit: str, fallback: float | None = 0.02, error: str = "") -> events.Plan:
    failure = events.Failure(kind="plan", message=error) if error else None
    return events.Plan(t=0, unit=unit, accelerator="Neural Engine", ops=10, fallback_ratio_cost=fallback, error=failure)


def controlled(drew: Mapping[str, Mapping[str, float | None]], *more: AnyEvent, flags: tuple[str, ...] = ()) -> Session:
    """A control of which each unit ran for three seconds, in the middle of which `drew` says what the rails read."""
    session = Session()
    session.fold(header())
    for n, (unit, mw) in enumerate(drew.items()):
        start = 10 * n * S
        session.fold(events.Engine(t=start, unit=unit, state="running"))
        session.fold(window([10 * MS] * 300, t0=start, unit=unit, gap=0))
        power = events.Power(t=start + 2 * S, source="macmon", elapsed_ns=S, mw=dict(mw), flags=list(flags))
        session.fold(power)
    for event in more:
        session.fold(event)
    return session


def ane(on: float | None, off: float | None) -> dict[str, dict[str, float | None]]:
    return {"CPU_AND_NE": {"cpu": 900.0, "ane": on}, "CPU_ONLY": {"cpu": 4000.0, "ane": off}}


def of_ane(session: Session, absent: Mapping[str, str] | None = None) -> Checked:
    return next(each for each in check_rails(session, absent or {}) if each.rail == "ane")


@pytest.mark.parametrize(
    ("on", "off", "validated", "words"),
    [
        (640.0, 0.0, True, "validated: 640 mW on CPU_AND_NE, 0 mW on CPU_ONLY"),
        (
            0.0,
            0.0,
            False,
            "reads 0 mW under load: not validated (Core ML planned 98% of the model for it)",
        ),
        (
            300.0,
            295.0,
            False,
            "does not follow the load (300 mW on CPU_AND_NE, 295 mW on CPU_ONLY): close other programs that use it and "
            "run this again",
        ),
        (
            0.0,
            295.0,
            False,
            "does not follow the load (0 mW on CPU_AND_NE, 295 mW on CPU_ONLY): close other programs that use it and "
            "run this again",
        ),
        (None, 0.0, None, "not tested: no power sample of it while CPU_AND_NE ran"),
        (640.0, None, None, "not tested: no power sample of it while CPU_ONLY ran"),
    ],
)
def test_a_rail_is_validated_where_it_rises_with_its_unit(
    on: float | None, off: float | None, validated: bool | None, words: str
) -> None:
    found = of_ane(controlled(ane(on, off), plan("CPU_AND_NE")))
    assert (found.validated, found.words) == (validated, words)
    assert (found.mw, found.without_mw) == (on, off)


def test_each_rail_has_a_unit_of_its_own() -> None:
    drew: dict[str, dict[str, float | None]] = {
        "CPU_AND_NE": {"ane": 640.0, "gpu": 30.0},
        "CPU_AND_GPU": {"ane": 0.0, "gpu": 4100.0},
        "CPU_ONLY": {"ane": 0.0, "gpu": 25.0},
    }
    assert {each.rail: (each.validated, each.mw, each.without_mw) for each in check_rails(controlled(drew), {})} == {
        "ane": (True, 640.0, 0.0),
        "gpu": (True, 4100.0, 25.0),
    }


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ([], "reads 0 mW under load: not validated (no plan by Core ML)"),
        (
            [plan("CPU_AND_NE", error="macOS 14.4 is needed")],
            "reads 0 mW under load: not validated (no plan by Core ML)",
        ),
    ],
)
def test_without_a_plan_a_zero_says_that_there_was_none(more: list[AnyEvent], words: str) -> None:
    assert of_ane(controlled(ane(0.0, 0.0), *more)).words == words


def test_a_model_that_the_plan_keeps_off_the_unit_tries_nothing() -> None:
    found = of_ane(controlled(ane(0.0, 0.0), plan("CPU_AND_NE", fallback=1.0)))
    assert (found.validated, found.words) == (
        None,
        "not tested: Core ML planned nothing of the model for the Neural Engine",
    )
    assert of_ane(controlled(ane(640.0, 0.0), plan("CPU_AND_NE", fallback=1.0))).validated, "a plan is but a claim"


@pytest.mark.parametrize("unit", ["CPU_AND_NE", "CPU_ONLY"])
def test_a_unit_that_failed_is_named_with_its_reason(unit: str) -> None:
    failed = events.Engine(
        t=30 * S, unit=unit, state="failed", error=events.Failure(kind="crashed", message="it was killed")
    )
    found = of_ane(controlled(ane(640.0, 0.0), failed))
    assert (found.validated, found.words) == (None, f"not tested: {unit} failed: it was killed")


def test_a_unit_that_this_machine_lacks_is_not_tried() -> None:
    session = controlled({"CPU_ONLY": {"ane": 0.0}})
    found = of_ane(session, {"CPU_AND_NE": "an Intel Mac has no Neural Engine"})
    assert (found.validated, found.words) == (None, "not tested: an Intel Mac has no Neural Engine")


def test_readings_of_a_source_that_shows_a_working_cpu_at_zero_are_none() -> None:
    found = of_ane(controlled(ane(0.0, 0.0), flags=("suspect-zero",)))
    assert (found.validated, found.words) == (
        None,
        "not tested: no power sample of it while CPU_AND_NE ran: the source reads 0 W for a busy CPU or GPU",
    )


@pytest.fixture
def rails(tmp_path: Path) -> ValidatedRails:
    return ValidatedRails(tmp_path / "rails.json", "Mac14,2", "24A335")


def test_what_rises_is_remembered_what_does_not_is_forgotten_and_what_was_not_tried_stays(
    rails: ValidatedRails,
) -> None:
    half = controlled(ane(640.0, None))  # whether the rail falls without its unit is not known
    keep(check_rails(half, {}), half, rails, NOW)
    assert rails.all() == ()
    good = controlled(ane(640.0, 0.0))
    keep(check_rails(good, {}), good, rails, NOW)
    assert [(each.rail, each.source, each.unit, each.mw) for each in rails.all()] == [
        ("ane", "macmon", "CPU_AND_NE", 640.0)
    ]
    untried = controlled(ane(None, 0.0))
    keep(check_rails(untried, {}), untried, rails, NOW)
    assert len(rails.all()) == 1
    zero = controlled(ane(0.0, 0.0))
    keep(check_rails(zero, {}), zero, rails, NOW)
    assert rails.all() == ()


def test_a_rail_that_reads_the_same_without_its_unit_is_not_remembered(rails: ValidatedRails) -> None:
    same = controlled(ane(300.0, 295.0))
    keep(check_rails(same, {}), same, rails, NOW)
    assert rails.all() == ()


class Backend:
    """A backend of which only the units are asked."""

    def __init__(self, units: Mapping[str, str | None]) -> None:
        self._units, self.simulated = dict(units), False

    def units(self) -> dict[str, str | None]:
        return self._units


def having(**absent: str) -> Any:
    units = {unit: absent.get(unit) for unit in ("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL")}
    return lambda name, clock: Backend(units)


def test_it_runs_on_each_accelerators_unit_and_then_on_the_cpu() -> None:
    assert prepare_control(mac().machine, make=having()).units == ("CPU_AND_NE", "CPU_AND_GPU", "CPU_ONLY")
    without = prepare_control(mac().machine, make=having(CPU_AND_NE="an Intel Mac has no Neural Engine"))
    assert without.units == ("CPU_AND_GPU", "CPU_ONLY")
    assert without.absent == {"CPU_AND_NE": "an Intel Mac has no Neural Engine"}


def test_off_a_mac_it_says_why_it_cannot_run() -> None:
    needs = dict.fromkeys(("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"), "Core ML needs macOS")
    with pytest.raises(HettopError, match="requires Core ML: Core ML needs macOS") as caught:
        prepare_control(pc(Path("/nowhere")).machine, make=having(**needs))
    assert caught.value.kind == "unsupported-unit"


def test_without_a_source_of_power_it_says_why_and_what_to_do() -> None:
    bench = mac(sudo="password")
    bench.missing.add("macmon")
    with pytest.raises(HettopError, match=r"requires power readings: .*powermetrics") as caught:
        prepare_control(bench.machine, make=having())
    assert caught.value.kind == "usage"
    assert caught.value.hint


@pytest.mark.parametrize("seen", [640.0, 0.0])
def test_what_two_sources_read_is_not_compared(seen: float) -> None:
    other = events.Power(t=15 * S, source="powermetrics", elapsed_ns=S, mw={"cpu": 900.0, "ane": 0.0})
    found = of_ane(controlled(ane(seen, 0.0), other))
    assert (found.validated, found.words) == (None, "not tested: the power source changed meanwhile")
