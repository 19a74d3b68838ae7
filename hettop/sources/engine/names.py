"""The backends by name, with what can be known of each without importing it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BackendEntry:
    """`place`: module and class, which is made from a clock. `words`: what it is for, where that is worth a word.

    plans: the function that reads where its framework would run what; devices: the one that lists its devices. None
        where the framework does not report. framework: the module that it takes for granted until it loads a model.
    extra: the optional part of hettop that installs the framework.
    """

    place: str
    words: str = ""
    plans: str | None = None
    devices: str | None = None
    framework: str | None = None
    simulated: bool = False
    extra: str | None = None


CORE_AI = "coreai"
CORE_ML = "coreml"
SERVER = "server"
BACKENDS = {
    CORE_ML: BackendEntry(
        "hettop.sources.engine.backends.coreml:CoreMLBackend",
        "on a Mac",
        plans="hettop.sources.engine.coreml.framework:read_plan",
        devices="hettop.sources.engine.coreml.framework:devices_here",
    ),
    CORE_AI: BackendEntry(
        "hettop.sources.engine.backends.coreai:CoreAiBackend", "for .aimodel files", framework="coreai", extra="coreai"
    ),
    "onnxruntime": BackendEntry(
        "hettop.sources.engine.backends.onnxruntime:OnnxRuntimeBackend", framework="onnxruntime"
    ),
    "simulated": BackendEntry(
        "hettop.sources.engine.backends.simulated:SimulatedBackend", "an Apple M2, marked SIMULATED", simulated=True
    ),
    SERVER: BackendEntry(
        "hettop.sources.engine.backends.server:ServerBackend",
        "OpenAI-compatible, by its URL",
        framework="httpx",
        extra="http",
    ),
}
