"""Layers out of a recording: the plan that a unit had, and the mean of what was measured of it.

Joins the reader to the rows; measures nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hettop.analysis.unit_samples import WALL, in_order_of, main_load, measured
from hettop.errors import HettopError
from hettop.measurement.recorded import read_recording
from hettop.session.session import Session
from hettop.studies.layers.planned import by_event
from hettop.studies.layers.result import LayersResult
from hettop.text import clean


def layers_of_recording(path: Path, unit: str) -> tuple[str, dict[str, Any], LayersResult]:
    """The model's title, the model for a document, and the unit's layers by its plan.

    Raises HettopError: `recording` for what cannot be read, `input` for a unit that has no plan or no samples there.
    """
    session = read_recording(path).session
    plan = session.units[unit].plan if unit in session.units else None
    if plan is None:
        raise HettopError("input", f"{clean(path.name)} has no plan of {clean(unit)}", _hint(session))
    found = [each for each in measured(session, main_load(session), in_order_of(session), WALL) if each.unit == unit]
    if not found:
        raise HettopError("input", f"{clean(path.name)} has no samples of {clean(unit)} to share out", _hint(session))
    result = by_event(plan, found[0].mean_ms, found[0].n)
    model = session.header.model if session.header is not None else None
    name = model.name if model is not None and model.name else "model"
    title = f"{'SIMULATED · ' if session.simulated else ''}{clean(name)}"
    document = {
        "name": name,
        "sha256": None if model is None else model.sha256,
        "backend": None if model is None else model.backend,
        "note": None if model is None else model.note,
        "simulated": session.simulated,
    }
    return title, document, result


def _hint(session: Session) -> str:
    units = [name for name, unit in session.units.items() if unit.plan is not None and unit.plan.error is None]
    return f"plans are there of {', '.join(units)}" if units else "plans come from Core ML on macOS 14.4 or later"
