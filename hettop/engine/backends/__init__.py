"""The registry of backends, by name; a backend's module is imported when it is asked for.

Knows no framework and no backend's options: a backend is made from a clock and nothing else.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import cast

from hettop.engine.backend import Backend, Clock
from hettop.errors import HettopError
from hettop.text import clean

BACKENDS = {
    "onnxruntime": "hettop.engine.backends.onnxruntime:OnnxRuntimeBackend",
    "simulated": "hettop.engine.backends.simulated:SimulatedBackend",
}


def create(name: str, clock: Clock) -> Backend:
    """The backend of that name, or of the class named as `package.module:Class`, which is called with the clock.

    Raises HettopError: `usage` for a name that is unknown or leads to no class.
    """
    module_name, colon, class_name = BACKENDS.get(name, name).partition(":")
    if not colon:
        raise HettopError("usage", f"unknown backend {clean(name)!r}", f"known backends: {', '.join(BACKENDS)}")
    try:
        make = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise HettopError(
            "usage",
            f"backend {clean(name)!r} cannot be imported: {clean(str(error))}",
            f"known backends: {', '.join(BACKENDS)}; another is named as package.module:Class",
        ) from error
    return cast(Callable[[Clock], Backend], make)(clock)
