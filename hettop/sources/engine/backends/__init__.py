"""Makes backends by name; a backend's module is imported when it is asked for.

A backend is made from a clock and nothing else.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, cast

from hettop.errors import HettopError
from hettop.processes.framework_errors import reason
from hettop.sources.engine.backend import Backend, Clock
from hettop.sources.engine.names import BACKENDS
from hettop.sources.engine.placement import OpFacts
from hettop.text import clean

PARTS = ("name", "simulated", "has_native", "clock")
METHODS = ("units", "load", "make_inputs", "predict", "outputs", "native_ns", "told_load")
"""What an object needs for the engine to take it for a `Backend`."""

PlanReader = Callable[[str, str, str | None], Sequence[OpFacts]]
"""The operations of a compiled model, on a unit, of one of its functions. For a process that may be lost."""


def create(name: str, clock: Clock) -> Backend:
    """The backend of that name, or of the class named as `package.module:Class`, which is called with the clock.

    Raises HettopError: `usage` for a name that is unknown, leads to no class, or to one that makes no backend.
    """
    make = _found(name, BACKENDS[name].place if name in BACKENDS else name)
    try:
        made = make(clock)
    except HettopError:
        raise
    except Exception as error:
        raise HettopError(
            "usage",
            f"cannot create backend {clean(name)!r}: {reason(error)}",
            "it must be a class whose constructor takes a clock",
        ) from error
    lacking = [part for part in PARTS if not hasattr(made, part)]
    lacking += [part for part in METHODS if not callable(getattr(made, part, None))]
    if lacking:
        raise HettopError(
            "usage",
            f"invalid backend {clean(name)!r}: it lacks {', '.join(lacking)}",
            f"known backends: {', '.join(BACKENDS)}; a custom one implements hettop.sources.engine.backend.Backend",
        )
    return cast(Backend, made)


def has_plans(name: str) -> bool:
    """Whether the backend of that name has plans to read; a class of another package has, if it has a `read_plan`."""
    if name in BACKENDS:
        return BACKENDS[name].plans is not None
    try:
        return hasattr(_found(name, name), "read_plan")
    except HettopError:
        return False


def plan_reader(name: str) -> PlanReader:
    """What reads the plans of that backend. Raises HettopError: `usage`, if it has none."""
    if name not in BACKENDS:
        return cast(PlanReader, _found(name, name).read_plan)
    plans = BACKENDS[name].plans
    if plans is None:
        raise HettopError("usage", f"backend {name} has no plans")
    return cast(PlanReader, _found(name, plans))


def devices_here(name: str) -> tuple[str, ...]:
    """The devices that this machine has for it; empty where that is not known. For a process that may be lost."""
    devices = BACKENDS[name].devices if name in BACKENDS else None
    return () if devices is None else cast(tuple[str, ...], _found(name, devices)())


def _found(name: str, place: str) -> Any:
    """What is named as `module:name`; `name` is how the user knows the backend."""
    module_name, colon, attribute = place.partition(":")
    if not colon:
        raise HettopError("usage", f"unknown backend {clean(name)!r}", f"known backends: {', '.join(BACKENDS)}")
    try:
        return getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise HettopError(
            "usage",
            f"cannot import backend {clean(name)!r}: {reason(error)}",
            f"known backends: {', '.join(BACKENDS)}; a custom one is given as package.module:Class",
        ) from error
