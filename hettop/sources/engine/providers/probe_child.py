"""A short-lived process that loads one execution provider and lists its devices.

Apart from everything else because a provider's library can crash or hang while it is loaded.
"""

from __future__ import annotations

import importlib

from hettop.errors import HettopError
from hettop.processes.serve import Caller, serve
from hettop.sources.engine.providers.devices import listed_devices, register
from hettop.sources.engine.providers.known import provider_of
from hettop.sources.engine.providers.probe import Device, ProbeJob
from hettop.text import clean

NAMES = ("FULL_DEVICE_NAME", "Description", "DEVICE_NAME")
"""Where providers name the device, if they do."""


def probe(job: ProbeJob, _caller: Caller) -> tuple[Device, ...]:
    """The devices. Raises HettopError: `load`, `unsupported-unit`, `missing`."""
    provider = provider_of(f"{job.prefix}:")
    if provider is None:
        raise HettopError("missing", f"unknown provider: {clean(job.prefix)}")
    runtime = importlib.import_module("onnxruntime")
    register(runtime, provider)
    return tuple(
        Device(
            unit=unit,
            name=clean(_name(device), 100),
            version=clean(str(device.ep_metadata.get("version", "")), 40),
        )
        for unit, device in listed_devices(runtime, provider).items()
    )


def _name(device: object) -> str:
    """The device's own name, else its vendor and kind."""
    known = {**getattr(device, "ep_metadata", {}), **getattr(device.device, "metadata", {})}  # type: ignore[attr-defined]
    named = next((str(known[name]) for name in NAMES if known.get(name)), "")
    return named or f"{device.device.vendor} {str(device.device.type).rpartition('.')[2]}"  # type: ignore[attr-defined]


if __name__ == "__main__":
    serve(probe, ProbeJob, unexpected="load")
