"""Measures what this machine can do: matrix products, convolutions and streams through ONNX Runtime, in turns.

For the measuring process. Each kernel is a model of one operator; the roof is the best of all, for a roof is what
cannot be exceeded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hettop.sources.engine.backend import Clock
from hettop.studies.layers.result import FLOPS_PER_MAC, Kernel, Roofs
from hettop.studies.layers.running import session_options

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
