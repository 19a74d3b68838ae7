"""ONNX Runtime with providers that are none: a list of devices, real sessions on this CPU, claims about who ran."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnxruntime

from tests.sources.engine.backends.core_ml_provider import CPU, Part

OPENVINO, CUDA, QNN = "OpenVINOExecutionProvider", "CUDAExecutionProvider", "QNNExecutionProvider"


@dataclass(frozen=True)
class Hardware:
    """As `OrtHardwareDevice`."""

    type: str
    vendor: str = "Acme"
    metadata: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class EpDevice:
    """As `OrtEpDevice`."""

    ep_name: str
    device: Hardware
    ep_metadata: dict[str, str] = field(default_factory=dict)


def device(ep: str, kind: str, **metadata: str) -> EpDevice:
    return EpDevice(ep, Hardware(f"OrtHardwareDeviceType.{kind}"), metadata)


LISTED = (
    device(CPU, "CPU"),
    device(OPENVINO, "CPU", FULL_DEVICE_NAME="Acme One", version="1.8"),
    device(OPENVINO, "GPU"),
    device(OPENVINO, "GPU"),
    device(f"{OPENVINO}.AUTO", "CPU"),
    device(CUDA, "GPU"),
    device(CUDA, "GPU"),
    device(QNN, "CPU"),  # as its wheel for x86-64 does, which cannot run anything there
)


@dataclass
class ListingRuntime:
    """In place of the module `onnxruntime`. takes: how many nodes, from the first on, are said to be the provider's.

    groups: in how many groups. refuses: what making a session with a device raises.
    """

    listed: Sequence[EpDevice] = LISTED
    takes: int = 1
    groups: int = 1
    refuses: Exception | None = None
    asked: list[EpDevice] = field(default_factory=list)
    registered: list[str] = field(default_factory=list)

    __version__ = "1.0 stand-in"
    set_default_logger_severity = staticmethod(onnxruntime.set_default_logger_severity)

    def register_execution_provider_library(self, name: str, _path: str) -> None:
        if name in self.registered:
            raise RuntimeError(f"library {name} is already registered")
        self.registered.append(name)

    def get_ep_devices(self) -> Sequence[EpDevice]:
        return self.listed

    @property
    def SessionOptions(self) -> Callable[[], Any]:
        runtime = self

        class Options(onnxruntime.SessionOptions):  # type: ignore[misc]
            def add_provider_for_devices(self, devices: list[EpDevice], options: dict[str, str]) -> None:
                assert not options
                runtime.asked += devices

        return Options

    @property
    def InferenceSession(self) -> Callable[..., Any]:
        runtime = self

        class Session:
            def __init__(self, file: Path, options: Any, *, providers: Any, enable_fallback: int) -> None:
                assert enable_fallback == 0, "a fallback would be silent"
                assert (providers is None) == bool(runtime.asked)
                if runtime.refuses is not None and providers is None:
                    raise runtime.refuses
                self._session = onnxruntime.InferenceSession(file, options, providers=[CPU])

            def __getattr__(self, name: str) -> Any:
                return getattr(self._session, name)

            def get_provider_graph_assignment_info(self) -> list[Part]:
                parts = self._session.get_provider_graph_assignment_info()
                nodes = [node for part in parts for node in part.get_nodes()]
                taken, left = nodes[: runtime.takes], nodes[runtime.takes :]
                ep = runtime.asked[-1].ep_name
                edge = len(taken) - runtime.groups + 1
                groups = [taken[:edge], *([node] for node in taken[edge:])] if taken else []
                return [*(Part(ep, group) for group in groups), *(Part(CPU, [node]) for node in left)]

        return Session
