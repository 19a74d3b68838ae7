"""Plans for slices of a Core ML model on the units of a Mac: which units, which costs, and which limits.

Imports no framework; wrong use ends here, with a hint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from hettop.compute_units import CORE_ML_UNITS
from hettop.errors import HettopError
from hettop.measurement.options import ModelOptions
from hettop.measurement.setup import Setup, prepare, usual_backend
from hettop.sources.engine.backend import split_unit
from hettop.sources.engine.backends import create
from hettop.studies.plan.cutting.costs import Costs
from hettop.studies.plan.cutting.result import Survey

COREML = "coreml"
USUAL = ("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE")
"""Units to plan for where none are named: `ALL` chooses for itself, for each operation."""


def wanted(options: ModelOptions, devices: tuple[str, ...] | None) -> bool:
    """Whether it is Core ML's units that are to be planned for: by name of the backend, or by names of units of a Mac
    that are not also numbers of threads."""
    if options.backend is not None:
        return options.backend == COREML
    named = {split_unit(device)[0] for device in devices or ()} & {*CORE_ML_UNITS} - {"CPU_ONLY"}
    return bool(named) and usual_backend(options.model, devices, create) == COREML


def prepare_units(options: ModelOptions, devices: tuple[str, ...] | None, cores: int) -> Setup:
    """The model and the units to plan for. Raises HettopError: as `prepare`."""
    if options.shapes:
        hint = "leave out --shape: only models with fixed shapes can be cut, which have no other"
        raise HettopError("usage", "slices of a Core ML model take the shapes it was converted with", hint)
    setup = prepare(replace(options, backend=COREML), devices or ("all",), cores)
    if devices is None:
        usual = tuple(unit for unit in setup.units if unit in USUAL)
        return replace(setup, units=usual or setup.units)
    return setup


def tightened(limits: Mapping[str, float], observed: Mapping[str, float]) -> dict[str, float]:
    """The user's limits, and those that were observed, whichever is less."""
    return {device: min(limits.get(device, np.inf), observed.get(device, np.inf)) for device in {**limits, **observed}}


def without_untried_cuts(costs: Costs, survey: Survey) -> Costs:
    """No cut where none was tried on a device: what it costs there is not known."""
    table = costs.table
    entry, leaving = table.entry.copy(), table.exit.copy()
    known = {each.device for each in survey.moved}
    for device in range(len(table.devices)):
        if device not in known:
            entry[1:, device] = np.inf
            leaving[:-1, device] = np.inf
    return replace(costs, table=replace(table, entry=entry, exit=leaving))
