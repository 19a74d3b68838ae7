"""ONNX Runtime with a Core ML provider that is none: real sessions on this CPU, and claims about who ran what.

The provider's place in a session is taken by another real one that takes no node (`AzureExecutionProvider`), so that
what ONNX Runtime does with a provider of no use is real as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnxruntime

CORE_ML = "CoreMLExecutionProvider"
IDLE = "AzureExecutionProvider"
CPU = "CPUExecutionProvider"


@dataclass
class Part:
    """As `OrtEpAssignedSubgraph`."""

    ep_name: str
    nodes: list[Any]

    def get_nodes(self) -> list[Any]:
        return self.nodes


@dataclass
class ClaimingRuntime:
    """In place of the module `onnxruntime`.

    takes: how many nodes, or kernels in a profile, are said to be the provider's; 0: as it really is.
    available: whether it is said to be there; leaves_out: whether a session is made without it after all.
    old: as versions that cannot tell which node went where. refuses: what making a session with it raises.
    ignores_options: as versions before 1.21, whose Core ML provider accepts any option and uses none.
    """

    takes: int = 0
    available: bool = True
    leaves_out: bool = False
    old: bool = not hasattr(onnxruntime.InferenceSession, "get_provider_graph_assignment_info")
    ignores_options: bool = False
    refuses: Exception | None = None
    requests: list[Any] = field(default_factory=list)
    profiles: list[Path] = field(default_factory=list)

    __version__ = "1.0 stand-in"
    SessionOptions = onnxruntime.SessionOptions
    set_default_logger_severity = staticmethod(onnxruntime.set_default_logger_severity)

    def get_available_providers(self) -> list[str]:
        return [*([CORE_ML] if self.available else []), CPU]

    @property
    def InferenceSession(self) -> Callable[..., Any]:
        runtime = self

        class Session(_OldSession):
            def __init__(self, file: Path | bytes, options: Any, **rest: Any) -> None:
                super().__init__(runtime, file, options, **rest)

            def get_provider_graph_assignment_info(self) -> list[Part]:
                nodes = [
                    node for part in self._session.get_provider_graph_assignment_info() for node in part.get_nodes()
                ]
                return [Part(CORE_ML, nodes[: runtime.takes]), Part(CPU, nodes[runtime.takes :])]

        class Old(_OldSession):
            def __init__(self, file: Path | bytes, options: Any, **rest: Any) -> None:
                super().__init__(runtime, file, options, **rest)

        return Old if self.old else Session


class _OldSession:
    def __init__(
        self,
        runtime: ClaimingRuntime,
        file: Path | bytes,
        options: Any,
        *,
        providers: Sequence[Any],
        enable_fallback: int,
    ) -> None:
        assert enable_fallback == 0, "a fallback would be silent"
        if not runtime.ignores_options:
            _check_options(providers)
        runtime.requests.append(providers)
        if runtime.refuses is not None and providers != [CPU]:
            raise runtime.refuses
        real = [CPU] if runtime.leaves_out or providers == [CPU] else [IDLE, CPU]
        self._runtime = runtime
        self._session = onnxruntime.InferenceSession(file, options, providers=real)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def get_providers(self) -> list[str]:
        return [CORE_ML if name == IDLE else name for name in self._session.get_providers()]

    def end_profiling(self) -> str:
        path = Path(self._session.end_profiling())
        self._runtime.profiles.append(path)
        events = json.loads(path.read_text())
        kernels = [event for event in events if event.get("name", "").endswith("_kernel_time")]
        for event in kernels[: self._runtime.takes]:
            event["args"]["provider"] = CORE_ML
        path.write_text(json.dumps(events))
        return str(path)


def _check_options(providers: Sequence[Any]) -> None:
    """Raises as ONNX Runtime does from 1.21 on for a value that the Core ML provider's option does not have."""
    for name, options in (each for each in providers if isinstance(each, tuple)):
        unit = options.get("MLComputeUnits", "ALL")
        if name == CORE_ML and unit not in ("CPUOnly", "CPUAndGPU", "CPUAndNeuralEngine", "ALL"):
            raise RuntimeError(f"coreml_options.cc:92 Invalid value for option `MLComputeUnits`: {unit}")
