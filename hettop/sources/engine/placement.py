"""Sums up where a framework would run each operation of a model: counts, shares of the estimated cost, fallbacks.

Facts in, one event out. What it says is a claim: nothing has run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hettop import events
from hettop.compute_units import wanted_device
from hettop.sources.engine.backend import split_unit
from hettop.text import clean

CPU, GPU, NEURAL_ENGINE = "CPU", "GPU", "Neural Engine"

MOST_SUPPORTED = 8
"""Devices named of one operation; there are three."""


@dataclass(frozen=True, slots=True)
class OpFacts:
    """One operation in order of the program. `cost`: its weight, of any scale; None where it is not reported.

    preferred: the device it would run on, None where the framework is not informative; supported: those that could run
    it.
    """

    name: str
    op: str
    preferred: str | None = None
    supported: tuple[str, ...] = ()
    cost: float | None = None


def make_plan(unit: str, facts: Sequence[OpFacts], here: Sequence[str] = ()) -> events.Plan:
    """The plan of `unit`; `t` is 0. Constants, which are not run, are not counted.

    here: the devices of this machine, empty where they are not known. Plans are compared with these devices only.
    """
    ops = [fact for fact in facts if not is_constant(fact)]
    placed = [fact for fact in ops if fact.preferred is not None]
    accelerator = _accelerator(split_unit(unit)[0], here)
    if not placed:
        return events.Plan(t=0, unit=unit, accelerator=accelerator, unplaced=len(ops), error=_nothing_told(len(ops)))
    elsewhere = [fact for fact in placed if fact.preferred != accelerator] if accelerator is not None else []
    cost = _cost(placed)
    return events.Plan(
        t=0,
        unit=unit,
        accelerator=accelerator,
        ops=len(placed),
        unplaced=len(ops) - len(placed),
        devices=_devices(placed, cost),
        fallback_ratio_count=len(elsewhere) / len(placed) if accelerator is not None else None,
        fallback_ratio_cost=_share(elsewhere, cost) if accelerator is not None else None,
        breaks=[_break(fact, accelerator or "", cost) for fact in elsewhere[: events.NAMED_LIMIT]],
    )


def _accelerator(unit: str, here: Sequence[str]) -> str | None:
    wanted = wanted_device(unit)
    if wanted is None or not here or wanted in here:
        return wanted
    return GPU if unit == "ALL" and GPU in here else None


def is_constant(fact: OpFacts) -> bool:
    """Whether it is a value of the program and no work; so is one to be unpacked (`constexpr_*`) that has no place."""
    return fact.op == "const" or (fact.op.startswith("constexpr_") and fact.preferred is None)


def _nothing_told(n: int) -> events.Failure:
    if not n:
        return events.Failure(kind="plan", message="the compiled model lists no operations")
    return events.Failure(
        kind="plan",
        message=f"the framework reports no device for any of the {n:,} operations",
        hint="convert the model with a newer minimum deployment target: older models are placed as a whole",
    )


def _devices(placed: Sequence[OpFacts], cost: float | None) -> list[events.PlannedDevice]:
    """Those with the most operations first."""
    by_device: dict[str, list[OpFacts]] = {}
    for fact in placed:
        by_device.setdefault(fact.preferred or "", []).append(fact)
    return [
        events.PlannedDevice(device=clean(device), ops=len(ops), cost=_share(ops, cost))
        for device, ops in sorted(by_device.items(), key=lambda item: -len(item[1]))
    ]


def _cost(placed: Sequence[OpFacts]) -> float | None:
    """Of all operations together; None where no shares can be made of it."""
    known = [fact.cost for fact in placed if fact.cost is not None]
    return sum(known) or None


def _share(ops: Sequence[OpFacts], cost: float | None) -> float | None:
    if cost is None:
        return None
    return min(1.0, sum(fact.cost or 0.0 for fact in ops) / cost)  # rounding may take it over 1


def _break(fact: OpFacts, accelerator: str, cost: float | None) -> events.PlannedOp:
    return events.PlannedOp(
        name=clean(fact.name),
        op=clean(fact.op),
        preferred=None if fact.preferred is None else clean(fact.preferred),
        supported=[clean(device) for device in fact.supported[:MOST_SUPPORTED]],
        cost=None if fact.cost is None else _share([fact], cost),
        why=_why(fact, accelerator),
    )


def _why(fact: OpFacts, accelerator: str) -> str | None:
    if not fact.supported:
        return None
    if accelerator in fact.supported:
        return clean(f"the {accelerator} supports it, but the {fact.preferred} is preferred")
    return f"not supported on the {accelerator}"
