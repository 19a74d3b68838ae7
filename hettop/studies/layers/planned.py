"""Layers by the estimates of a compute plan: shares of a call that was measured as a whole.

Pure: facts or an event in, rows out, labelled estimated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hettop import events
from hettop.compute_units import wanted_device
from hettop.errors import HettopError
from hettop.models.inspection.graph import Layer
from hettop.sources.engine.backend import split_unit
from hettop.sources.engine.placement import OpFacts, is_constant
from hettop.studies.layers.result import LayerRow, LayersResult
from hettop.text import clean

OTHERS = "(others)"
"""The type of operations that a recording has as a group."""


def by_facts(
    unit: str, facts: Sequence[OpFacts], layers: Mapping[str, Layer], mean_ms: float, runs: int
) -> LayersResult:
    """A row for each operation that has an estimate, in order; `layers` have the work of those known by name.

    Raises HettopError: `plan`, if the plan estimates nothing.
    """
    ops = [fact for fact in facts if not is_constant(fact)]
    known = [fact for fact in ops if fact.cost is not None]
    whole = math.fsum(fact.cost or 0.0 for fact in known)
    if not whole > 0:
        raise HettopError("plan", f"the plan has no cost estimate for any of the {len(ops)} operations")
    wanted = wanted_device(split_unit(unit)[0])
    rows = []
    for fact in known:
        share, layer = (fact.cost or 0.0) / whole, layers.get(clean(fact.name))
        rows.append(
            LayerRow(
                name=clean(fact.name),
                op=clean(fact.op),
                ms=share * mean_ms,
                share=share,
                macs=None if layer is None else layer.macs,
                nbytes=None if layer is None else layer.moved_bytes,
                device=None if fact.preferred is None else clean(fact.preferred),
                fallback=_falls_back(fact.preferred, wanted),
            )
        )
    return _estimated(unit, rows, mean_ms, runs, _without_estimates(len(ops) - len(known)))


def by_event(plan: events.Plan, mean_ms: float, runs: int) -> LayersResult:
    """What a recording keeps of a plan: a row for each operation that falls back, and one for each device's others.

    Raises HettopError: `input`, if there is none, or none with costs.
    """
    if plan.error is not None:
        raise HettopError("input", f"{plan.unit}: {plan.error.message}", plan.error.hint)
    if not any(device.cost for device in plan.devices):
        hint = "record it on macOS 14.4 or later"
        raise HettopError("input", f"the plan of {plan.unit} has no estimated costs", hint)
    rows = [
        LayerRow(op.name, op.op, op.cost * mean_ms, op.cost, None, None, device=op.preferred, fallback=True)
        for op in plan.breaks
        if op.cost is not None
    ]
    for device in plan.devices:
        named = [row for row in rows if row.device == device.device]
        others = device.ops - sum(op.preferred == device.device for op in plan.breaks)
        share = max(0.0, (device.cost or 0.0) - math.fsum(row.share for row in named))
        if others > 0:
            name = f"{others} operation{'' if others == 1 else 's'} on {device.device}"
            falls_back = _falls_back(device.device, plan.accelerator)
            rows.append(
                LayerRow(name, OTHERS, share * mean_ms, share, None, None, device=device.device, fallback=falls_back)
            )
    notes = _without_estimates(plan.unplaced)
    together = ["a recording lists operations that fall back by name, and the others by device"]
    return _estimated(plan.unit, rows, mean_ms, runs, [*notes, *together])


def _falls_back(device: str | None, wanted: str | None) -> bool | None:
    return None if device is None or wanted is None else device != wanted


def _without_estimates(number: int) -> list[str]:
    return [f"{number} operations without an estimate are left out"] if number else []


def _estimated(unit: str, rows: Sequence[LayerRow], mean_ms: float, runs: int, notes: list[str]) -> LayersResult:
    return LayersResult.of_layers(rows, unit=unit, end_to_end_ms=mean_ms, runs=runs, notes=notes, estimated=True)
