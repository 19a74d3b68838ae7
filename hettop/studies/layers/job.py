"""A model whose layers are measured by a process of its own, which a framework may take down.

Runs in hettop's own process, which imports no framework.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from hettop.models.ports import InputOptions
from hettop.processes.call import call
from hettop.processes.child_process import module_command
from hettop.studies.layers.result import LayersResult

WARMUP, RUNS = 10, 50
"""As EmBench measures (section 4): ten calls to warm up, fifty that count."""


PROFILED = "onnxruntime"

WORKER = module_command("hettop.studies.layers.worker")


class LayersJob(msgspec.Struct, frozen=True, kw_only=True):
    """A model to measure on one unit.

    roofs: whether to measure what the machine can do, too. backend: `onnxruntime` is profiled; of another one that has
    plans, the layers are estimated by its plan.
    """

    model: str
    unit: str
    function: str | None = None
    seed: int = 0
    shapes: dict[str, tuple[int, ...]] = {}
    values: dict[str, str] = {}
    warmup: int = WARMUP
    runs: int = RUNS
    roofs: bool = True
    backend: str = PROFILED
    hints: dict[str, str] = {}
    custom_ops: tuple[str, ...] = ()

    def inputs(self) -> InputOptions:
        return InputOptions(seed=self.seed, shapes=self.shapes, values=self.values)


def measure_in_child(
    job: LayersJob, *, argv: Sequence[str] = WORKER, environment: Mapping[str, str] | None = None
) -> LayersResult:
    """The layers, with what the child's log warns of. Raises HettopError: as the measuring does, and as `call`."""
    called = call(argv, job, LayersResult, environment=environment, scratch="layers")
    return msgspec.structs.replace(called.answer, notes=[*called.answer.notes, *called.warnings])
