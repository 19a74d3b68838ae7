"""The positive control of power rails: whether each accelerator's rail rises while its unit works.

A reading of zero is evidence only from a rail that does. The control runs one model on each unit, the CPU last, and
compares the readings; the result is stored for this machine, system and source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from hettop.compute_units import DEVICES, OWN_UNIT, Accelerator
from hettop.errors import HettopError
from hettop.events import Plan
from hettop.format import percent
from hettop.measurement.options import DEFAULT_MODEL, MeasureOptions, ModelOptions
from hettop.measurement.setup import Make, Setup, prepare
from hettop.measurement.validated_rails import ValidatedRails, sightings
from hettop.processes.cpus import usable_threads
from hettop.session.placement import NOTHING_MW
from hettop.session.rails import RailSum
from hettop.session.session import Session
from hettop.sources.engine.backend import RealClock
from hettop.sources.engine.backends import create
from hettop.sources.power.choice import chooser
from hettop.sources.power.source import Machine

MODEL = DEFAULT_MODEL
"""Mostly convolutions (52), which every Neural Engine and GPU supports. Its weights are seeded."""

WITHOUT = "CPU_ONLY"
"""The unit whose work must not raise the rail."""

DURATION_NS = 5 * 10**9  # ten power samples, of which eight or nine lie wholly within a unit's running
COMMAND = "hettop doctor --control"


@dataclass(frozen=True, slots=True)
class Checked:
    """The result for one rail: mean mW while its unit ran and while CPU_ONLY did, None where not measured.

    validated: None where it could not be tested. `words`: the reason.
    """

    rail: Accelerator
    unit: str
    validated: bool | None
    mw: float | None
    without_mw: float | None
    words: str


def prepare_control(machine: Machine, model: str = MODEL, make: Make = create) -> Setup:
    """What to measure. Raises HettopError (`unsupported-unit`, `usage`) where the control cannot run."""
    known = make("coreml", RealClock()).units()
    here = [unit for unit in OWN_UNIT.values() if known[unit] is None]
    if known[WITHOUT] is not None or not here:
        why = known[WITHOUT] or "; ".join(filter(None, known.values()))
        raise HettopError(
            "unsupported-unit", f"the control of power rails requires Core ML: {why}", "run: hettop doctor"
        )
    choice = chooser(None, machine)({})
    if choice.source is None:
        raise HettopError("usage", f"the control of power rails requires power readings: {choice.reason}", choice.fix)
    return prepare(ModelOptions(model=model, backend="coreml"), (*here, WITHOUT), usable_threads(), make)


def control_options(duration_ns: int = DURATION_NS) -> MeasureOptions:
    """The options: each unit in turn, for this duration."""
    return MeasureOptions(duration_ns=duration_ns)


def check_rails(session: Session, absent: Mapping[str, str]) -> tuple[Checked, ...]:
    """The results of a measured control. `absent` maps units that this machine lacks to the reason."""
    return tuple(_checked(session, rail, unit, absent.get(unit)) for rail, unit in OWN_UNIT.items())


def keep(checked: tuple[Checked, ...], session: Session, rails: ValidatedRails, now: datetime) -> None:
    """Store the rails that follow the load, and remove those that do not."""
    by_answer = {answer: {each.rail for each in checked if each.validated is answer} for answer in (True, False)}
    rails.remember(each for each in sightings(session, rails, now) if each.rail in by_answer[True])
    if session.energy.source is not None:
        rails.forget(session.energy.source, by_answer[False])


def _checked(session: Session, rail: Accelerator, unit: str, absent: str | None) -> Checked:
    with_it, without = _sum(session, unit, rail), _sum(session, WITHOUT, rail)
    mw, without_mw = with_it.mean_mw, without.mean_mw
    validated, words = None, _untried(session, rail, unit, absent, (mw, without_mw))
    if mw is not None and without_mw is not None and not words:
        readings = f"{mw:,.0f} mW on {unit}, {without_mw:,.0f} mW on {WITHOUT}"
        step_mj = session.energy.step_mj
        if mw - without_mw > NOTHING_MW and with_it.energy_mj > step_mj:
            validated, words = True, f"validated: {readings}"
        elif max(with_it.energy_mj, without.energy_mj) <= step_mj:
            validated, words = False, f"reads 0 mW under load: not validated ({_planned(session, unit)})"
        else:
            validated, words = (
                False,
                f"does not follow the load ({readings}): close other programs that use it and run this again",
            )
    return Checked(rail, unit, validated, mw, without_mw, words)


def _untried(
    session: Session, rail: Accelerator, unit: str, absent: str | None, readings: tuple[float | None, float | None]
) -> str:
    """Why the rail could not be tested; empty where it was."""
    if absent is not None:
        return f"not tested: {absent}"
    for name, mw in zip((unit, WITHOUT), readings, strict=True):
        known = session.units.get(name)
        if known is not None and known.error is not None:
            return f"not tested: {name} failed: {known.error.message}"
        if mw is None:
            return f"not tested: no power sample of it while {name} ran{_why_not(session)}"
    if not session.energy.is_of_one_source(rail):
        return "not tested: the power source changed meanwhile"
    share = _share(session, unit)
    if share == 0 and max(filter(None, readings), default=0.0) <= NOTHING_MW:
        return f"not tested: Core ML planned nothing of the model for the {DEVICES[rail]}"
    return ""


def _why_not(session: Session) -> str:
    if session.power is not None and "suspect-zero" in session.power.flags:
        return ": the source reads 0 W for a busy CPU or GPU"
    return ""


def _sum(session: Session, unit: str, rail: Accelerator) -> RailSum:
    """All power of the rail while the unit ran alone, in any thermal state."""
    whole = RailSum()
    for key, condition in session.conditions.items():
        if key.unit == unit:
            part = session.energy.of(condition)[rail]
            whole.covered_ns += part.covered_ns
            whole.energy_pj += part.energy_pj
    return whole


def _share(session: Session, unit: str) -> float | None:
    """The share of the model that the plan assigns to the accelerator, by estimated cost, else by operations."""
    plan: Plan | None = session.units[unit].plan if unit in session.units else None
    if plan is None or plan.error is not None:
        return None
    fallback = plan.fallback_ratio_count if plan.fallback_ratio_cost is None else plan.fallback_ratio_cost
    return None if fallback is None else 1.0 - fallback


def _planned(session: Session, unit: str) -> str:
    share = _share(session, unit)
    return "no plan by Core ML" if share is None else f"Core ML planned {percent(share)} of the model for it"
