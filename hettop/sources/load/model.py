"""Competing load on GPU or Neural Engine: a second Core ML model that is run over and over.

Knows of Core ML only which permission stands for which device; what it is given, the framework runs where it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hettop.compute_units import OWN_UNIT
from hettop.sources.engine.clock import RealClock

UNITS: Mapping[str, str] = {str(kind): unit for kind, unit in OWN_UNIT.items()}
"""The permission with which the competing model is loaded, by kind of load."""

MODEL = "mobilenetv2"


def core_ml_here() -> Mapping[str, str | None]:
    """Core ML's units on this machine, with None if one may run here, else why not; imports no framework."""
    from hettop.sources.engine.coreml.availability import core_ml_units, find_native, this_host

    return core_ml_units(this_host(), find_native)


def why_no_model(what: str, units: Mapping[str, str | None]) -> str | None:
    """What this kind of load is, that cannot run where Core ML has these units; None if it can, or needs no model."""
    unit = UNITS.get(what)
    reason = units.get(unit, "Core ML lacks the unit") if unit is not None else None
    return None if reason is None else f"a second Core ML model, and {reason}"


def model_work(what: str) -> Callable[[], None]:
    """Loads the competing model; each call of what is returned runs it once. Raises HettopError as the backend does."""
    from hettop.models.ports import InputOptions
    from hettop.sources.engine.backend import LoadOptions
    from hettop.sources.engine.backends import create

    backend = create("coreml", RealClock())
    loaded = backend.load(MODEL, UNITS[what], LoadOptions())
    feed = backend.make_inputs(loaded.inputs, InputOptions())
    return lambda: backend.predict(feed)
