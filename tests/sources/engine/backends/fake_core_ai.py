"""A stand-in for coreai-core: doubles its input; records how it was specialised, and where it kept its copy."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from hettop.sources.engine.backends.coreai import CoreAi


@dataclass
class Descriptor:
    shape: list[int | None] | None
    dtype: str | None = "float32"


class Array:
    def __init__(self, data: Any) -> None:
        self.data = data

    def numpy(self) -> Any:
        return self.data


@dataclass
class FakeCoreAi:
    """`system`: whether the system's Core AI is there; `inputs`, `states`: of the function, by name.

    specialise, open: called where the real one works, as to let time pass or to fail.
    operations: what each call reports to a profiler: (event, phase, number, ns).
    wrong: what is added to each result on every unit but cpu_only, as half precision was seen to go wrong.
    """

    system: bool = False
    inputs: dict[str, Descriptor] = field(default_factory=lambda: {"x": Descriptor([1, None])})
    states: dict[str, Descriptor] = field(default_factory=dict)
    functions: tuple[str, ...] = ("main",)
    specialise: Callable[[], None] = lambda: None
    open: Callable[[], None] = lambda: None
    operations: tuple[tuple[str, str, int, int], ...] = ()
    wrong: float = 0.0
    asked: list[Any] = field(default_factory=list)
    copies: list[Path] = field(default_factory=list)
    calls: int = 0

    def modules(self) -> CoreAi:
        options = SimpleNamespace(
            is_supported=lambda: self.system,
            default=lambda: "default",
            cpu_only=lambda: "cpu_only",
            from_preferred_compute_unit_kind=lambda kind: f"prefers {kind}",
        )
        kinds = SimpleNamespace(gpu=lambda: "gpu", neural_engine=lambda: "neural_engine")
        runtime = SimpleNamespace(
            SpecializationOptions=options, ComputeUnitKind=kinds, NDArray=Array, Profiler=SimpleNamespace
        )
        return CoreAi(runtime, SimpleNamespace(AIModelAsset=SimpleNamespace(load=lambda path: _Asset(self))))


class _Asset:
    def __init__(self, fake: FakeCoreAi) -> None:
        self.fake = fake

    def _write_odix(self, folder: Path) -> None:
        self.fake.specialise()
        (folder / "main.odix").write_text("compiled")

    @asynccontextmanager
    async def executable(self, options: Any = None) -> AsyncIterator[_Model]:
        self.fake.asked.append(options)
        if self.fake.system:
            self.fake.open()
            yield _Model(self.fake, options)
            return
        with tempfile.TemporaryDirectory(suffix=".aimodelx") as folder:
            self.fake.copies.append(Path(folder))
            self._write_odix(Path(folder))
            self.fake.open()
            yield _Model(self.fake, options)


class _Model:
    def __init__(self, fake: FakeCoreAi, options: Any) -> None:
        self.fake, self.options, self.function_names = fake, options, list(fake.functions)

    def load_function(self, name: str, profiler: Any = None) -> _Function:
        return _Function(self.fake, self.options, profiler)


class _Function:
    def __init__(self, fake: FakeCoreAi, options: Any, profiler: Any) -> None:
        self.fake, self.options, self.profiler = fake, options, profiler
        self.desc = SimpleNamespace(
            name=fake.functions[0],
            input_names=list(fake.inputs),
            output_names=["y"],
            state_names=list(fake.states),
            input_descriptor=fake.inputs.__getitem__,
            output_descriptor=lambda name: Descriptor([1, None]),
            state_descriptor=fake.states.__getitem__,
        )

    def _report(self, event: str, phase: str, number: int, ns: int) -> None:
        ids = SimpleNamespace(id=number)
        begun = SimpleNamespace(event_id=event, phase=phase, compile_ids=ids, timestamp=1000)
        ended = SimpleNamespace(event_id=event, phase=phase, compile_ids=ids, timestamp=1000 + ns)
        self.profiler.on_log_event_end(ended, self.profiler.on_log_event_begin(begun))

    async def __call__(self, inputs: dict[str, Array], state: dict[str, Array] | None = None) -> dict[str, Array]:
        self.fake.calls += 1
        state = state or {}
        for operation in self.fake.operations if self.profiler else ():
            self._report(*operation)
        for array in state.values():
            array.data += 1
        total = sum((array.data.sum() for array in state.values()), np.float32(0))
        wrong = 0.0 if self.options == "cpu_only" else self.fake.wrong
        return {"y": Array(2 * inputs["x"].data + np.float32(wrong) + total)}
