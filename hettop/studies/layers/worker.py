"""The process that measures layers and roofs: `python -m hettop.studies.layers.worker`, a job in, an answer out."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
from msgspec.structs import replace

from hettop.errors import HettopError
from hettop.format import milliseconds
from hettop.models.cache import default_cache
from hettop.processes.call import ChildLostError
from hettop.processes.serve import Caller, serve
from hettop.sources.engine.backend import Backend, Clock, LoadOptions, RealClock, split_unit
from hettop.sources.engine.names import CORE_AI
from hettop.sources.macos import SYSCTL, sysctl
from hettop.studies.layers.job import PROFILED, LayersJob
from hettop.studies.layers.planned import by_facts
from hettop.studies.layers.profile import mean_of_the_middle
from hettop.studies.layers.result import FLOPS_PER_MAC, Kernel, LayersResult, Roofs
from hettop.studies.layers.running import session_options
from hettop.text import clean
from hettop.units import NS_PER_MS

if TYPE_CHECKING:
    from hettop.models.cache import ModelCache
    from hettop.models.inspection.graph import Layer
    from hettop.sources.engine.backends import PlanReader
    from hettop.studies.layers.job import LayersJob
    from hettop.studies.layers.result import LayersResult


def measured(job: LayersJob, caller: Caller) -> LayersResult:
    if job.backend == CORE_AI:
        from hettop.sources.engine.backends.coreai import CoreAiBackend
        from hettop.studies.layers.core_ai import measure_core_ai

        return measure_core_ai(job, CoreAiBackend(RealClock()), RealClock())
    if job.backend != PROFILED:
        from hettop.sources.engine.backends import create
        from hettop.sources.engine.planning import separate_reader

        return estimate(job, create(job.backend, RealClock()), separate_reader(job.backend), default_cache())
    from hettop.studies.layers.running import measure

    return measure(job, caller.scratch, default_cache(), RealClock(), _roofs)


def _roofs(threads: int) -> Roofs:

    free = psutil.virtual_memory().available
    return measure_roofs(threads, last_level_cache_bytes(), RealClock(), free_bytes=free)


SYSFS = Path("/sys/devices/system/cpu/cpu0/cache")
SYSCTL_NAMES = ("hw.l3cachesize", "hw.perflevel0.l2cachesize", "hw.l2cachesize")
"""Apple does not report the size of its system-level cache: the L2 of the fast cores is the last one known."""

_SUFFIXES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def last_level_cache_bytes(platform: str = sys.platform, sysfs: Path = SYSFS, command: str = SYSCTL) -> int | None:
    """Bytes of the last-level cache that the first core sees, None if the system does not report."""
    return _from_sysctl(command) if platform == "darwin" else _from_sysfs(sysfs)


def _from_sysfs(folder: Path) -> int | None:
    found: dict[int, int] = {}
    for index in sorted(folder.glob("index*")):
        with contextlib.suppress(OSError, ValueError):
            size = re.fullmatch(r"(\d+)([KMG]?)", (index / "size").read_text().strip())
            if size and (index / "type").read_text().strip() != "Instruction":
                found[int((index / "level").read_text())] = int(size[1]) * _SUFFIXES[size[2]]
    return found[max(found)] if found else None


def _from_sysctl(command: str) -> int | None:
    for name in SYSCTL_NAMES:
        with contextlib.suppress(ValueError):
            if (size := int(sysctl(name, command))) > 0:
                return size
    return None


def estimate(job: LayersJob, backend: Backend, read_plan: PlanReader, cache: ModelCache) -> LayersResult:
    """The job's layers by the plan of its unit. Raises HettopError: as the backend does; `plan`."""
    name, threads = split_unit(job.unit)
    loaded = backend.load(job.model, name, LoadOptions(threads, job.function, hints=job.hints))
    if loaded.compiled is None:
        raise HettopError("plan", f"{job.unit}: the framework has no plan for this model", "see hettop doctor")
    feed = backend.make_inputs(loaded.inputs, job.inputs())
    times = []
    for _ in range(job.warmup + job.runs):
        begin = backend.clock.now()
        backend.predict(feed)
        times.append(backend.clock.now() - begin)
    mean_ms = mean_of_the_middle(times[job.warmup :]) / NS_PER_MS
    try:
        facts = read_plan(loaded.compiled, job.unit, job.function)
    except ChildLostError as error:
        message = (
            f"{job.unit} ran the model in {milliseconds(mean_ms)} ms, but there is no plan to distribute "
            "the time over layers"
        )
        raise HettopError("plan", f"{message}: {error.message}", error.hint) from error
    measured = by_facts(job.unit, facts, _work(job, cache), mean_ms, job.runs)
    shapes = [
        f"{clean(port)} {'x'.join(map(str, array.shape))}" for port, array in feed.items() if hasattr(array, "shape")
    ]
    notes = [*measured.notes, clean(loaded.note)] if loaded.note else measured.notes
    return replace(measured, shapes=shapes, notes=notes)


def _work(job: LayersJob, cache: ModelCache) -> Mapping[str, Layer]:
    """The program's layers by name, as far as known; without them the rows have no MACs."""
    from hettop.models.inspection.mil_graph import read_program
    from hettop.models.mil.package import open_package
    from hettop.models.resolve import core_ml_file

    try:
        package = open_package(core_ml_file(job.model, cache))
        layers = read_program(package, job.function, {}).layers if package.kind == "mlprogram" else ()
    except HettopError:
        return {}
    return {layer.name: layer for layer in layers}


OPSET, IR_VERSION = 17, 8
FLOAT_BYTES = 4
BUDGET_NS = 3 * 10**9
FEWEST, MOST = 5, 200
"""Repeats of each kernel, as many as the time allows."""

STREAM_CACHES = 4
"""An array this many times as large as the last-level cache does not profit from it (the rule of STREAM)."""

UNKNOWN_CACHE = 32 << 20
LARGEST_ARRAY, SMALLEST_ARRAY = 512 << 20, 16 << 20
MEMORY_SHARE = 12
"""An array takes at most this part of the memory that is free; three of them are alive at once."""

PRODUCTS = (512, 1024)  # square matrices
CONVOLUTIONS = ((64, 56, 3), (128, 28, 3), (256, 28, 1), (512, 14, 1))  # channels, height and width, kernel
"""Shapes that ResNet has most of: whichever suits this machine best is the roof."""


@dataclass(frozen=True, slots=True)
class Spec:
    """A kernel before it is measured. `amount`: FLOP or bytes of a call; arrays are made from their shapes."""

    name: str
    node: Any
    inputs: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    amount: float
    constants: tuple[tuple[int, ...], ...] = ()
    indices: tuple[int, ...] | None = None


def measure_roofs(
    threads: int, cache_bytes: int | None, clock: Clock, *, free_bytes: int, budget_ns: int = BUDGET_NS
) -> Roofs:
    """Roofs for `threads` threads. All kernels are called in turns, so that no disturbance hits one alone.

    free_bytes: of memory, of which the arrays take a part.
    """
    compute = compute_specs()
    streaming = streaming_specs(array_bytes(cache_bytes, free_bytes))
    calls = [_prepared(spec, threads) for spec in (*compute, *streaming)]
    times = in_turns(calls, clock, budget_ns)
    kernels = [_kernel(spec, each) for spec, each in zip((*compute, *streaming), times, strict=True)]
    return Roofs.of_kernels(
        kernels[: len(compute)],
        kernels[len(compute) :],
        threads=threads,
        repeats=len(times[0]),
        cache_bytes=cache_bytes,
    )


def array_bytes(cache_bytes: int | None, free_bytes: int) -> int:
    """How large an array to stream: beyond the cache as far as the memory allows, in whole MiB."""
    wanted = min(STREAM_CACHES * (cache_bytes or UNKNOWN_CACHE), LARGEST_ARRAY, free_bytes // MEMORY_SHARE)
    return max(wanted, SMALLEST_ARRAY) >> 20 << 20


def in_turns(calls: Sequence[Callable[[], None]], clock: Clock, budget_ns: int = BUDGET_NS) -> list[list[int]]:
    """Times in ns of each call, all called one after another until the time is up; one round before does not count."""
    times: list[list[int]] = [[] for _ in calls]
    for call in calls:
        call()
    began = clock.now()
    while len(times[0]) < FEWEST or (clock.now() - began < budget_ns and len(times[0]) < MOST):
        for call, found in zip(calls, times, strict=True):
            begin = clock.now()
            call()
            found.append(clock.now() - begin)
    return times


def compute_specs() -> tuple[Spec, ...]:
    """Matrix products and convolutions, batch 1, float32, with constant weights as a model has them."""
    from onnx import helper

    products = [
        Spec(
            f"GEMM {n}x{n}x{n}",
            helper.make_node("MatMul", ["a", "w0"], ["y"]),
            ((n, n),),
            (n, n),
            FLOPS_PER_MAC * n**3,
            ((n, n),),
        )
        for n in PRODUCTS
    ]
    convolutions = [
        Spec(
            f"convolution {size}x{size}, {channels} channels, {kernel}x{kernel}",
            helper.make_node("Conv", ["a", "w0"], ["y"], kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4),
            ((1, channels, size, size),),
            (1, channels, size, size),
            FLOPS_PER_MAC * (channels * size * kernel) ** 2,
            ((channels, channels, kernel, kernel),),
        )
        for channels, size, kernel in CONVOLUTIONS
    ]
    return (*products, *convolutions)


def streaming_specs(array: int) -> tuple[Spec, ...]:
    """Operators that move whole arrays of so many bytes: reading one, copying, adding two, a matrix by a vector."""
    from onnx import helper

    shape = (array // FLOAT_BYTES // 1024, 1024)
    rows = (shape[0], 1)
    return (
        Spec("read", helper.make_node("ReduceMax", ["a"], ["y"], axes=[1]), (shape,), rows, array),
        Spec("copy", helper.make_node("Neg", ["a"], ["y"]), (shape,), shape, 2 * array),
        Spec("add", helper.make_node("Add", ["a", "b"], ["y"]), (shape, shape), shape, 3 * array),
        Spec("matrix by vector", helper.make_node("MatMul", ["a", "w0"], ["y"]), (shape,), rows, array, ((1024, 1),)),
    )


def _prepared(spec: Spec, threads: int) -> Callable[[], None]:
    """A call of the kernel with its arrays in place: nothing is allocated while it is timed."""
    import onnxruntime

    session = onnxruntime.InferenceSession(_model(spec), session_options(threads), providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    rng = np.random.default_rng(0)
    arrays = [rng.random(shape, dtype=np.float32) for shape in spec.inputs]
    for name, array in zip("ab", arrays, strict=False):
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    binding.bind_ortvalue_output("y", onnxruntime.OrtValue.ortvalue_from_shape_and_type(spec.output, np.float32))
    return partial(_run, session, binding, arrays)


def _run(session: Any, binding: Any, _arrays: Sequence[Any]) -> None:
    """One call. Older versions of ONNX Runtime read the bound arrays without owning them, so the caller holds them."""
    session.run_with_iobinding(binding)


def _model(spec: Spec) -> bytes:
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(1)
    graph = helper.make_graph(
        [spec.node],
        "kernel",
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in zip("ab", spec.inputs, strict=False)
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, spec.output)],
        [
            numpy_helper.from_array(rng.random(shape, dtype=np.float32), f"w{index}")
            for index, shape in enumerate(spec.constants)
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    found: bytes = model.SerializeToString()
    return found


def _kernel(spec: Spec, times_ns: Sequence[int]) -> Kernel:
    """FLOP or bytes by ns: 10^9 a second."""
    return Kernel(spec.name, spec.amount / min(times_ns), spec.amount / float(np.median(times_ns)))


if __name__ == "__main__":
    serve(measured, LayersJob, timed=True)
