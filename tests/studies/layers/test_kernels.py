"""Micro-benchmarks: how much they do, how large they are, and that they take turns."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
import pytest

from hettop.sources.engine.backend import RealClock
from hettop.studies.layers import worker
from hettop.studies.layers.worker import array_bytes, compute_specs, in_turns, streaming_specs

MIB = 1 << 20


class StepClock:
    """Advances when asked to."""

    def __init__(self) -> None:
        self.moment = 0

    def now(self) -> int:
        return self.moment

    def sleep_until(self, moment: int) -> None:
        self.moment = max(self.moment, moment)


@pytest.mark.parametrize(
    ("cache", "free", "expected"),
    [
        (32 * MIB, 64 << 30, 128 * MIB),  # four times the cache
        (None, 64 << 30, 128 * MIB),
        (1 << 30, 64 << 30, 512 * MIB),  # no more than that
        (32 * MIB, 1200 * MIB, 100 * MIB),  # a twelfth of what is free
        (32 * MIB, 0, 16 * MIB),
    ],
)
def test_arrays_are_beyond_the_cache_as_far_as_the_memory_allows(cache: int | None, free: int, expected: int) -> None:
    assert array_bytes(cache, free) == expected


def test_kernels_count_two_flop_for_each_mac() -> None:
    """A product of 512³ is 2 x 134,217,728; a 3x3 convolution of 64 channels at 56x56 is 2 x 115,605,504."""
    amounts = {spec.name: spec.amount for spec in compute_specs()}
    assert amounts["GEMM 512x512x512"] == 268_435_456
    assert amounts["convolution 56x56, 64 channels, 3x3"] == 231_211_008


def test_streams_count_every_array_once() -> None:
    assert {spec.name: spec.amount // MIB for spec in streaming_specs(16 * MIB)} == {
        "read": 16, "copy": 32, "add": 48, "matrix by vector": 16,
    }  # fmt: skip


def test_calls_take_turns_and_the_first_round_does_not_count() -> None:
    clock, order = StepClock(), []

    def takes(name: str, ns: int) -> Callable[[], None]:
        def call() -> None:
            order.append(name)
            clock.moment += ns

        return call

    times = in_turns([takes("a", 10**9), takes("b", 2 * 10**8)], clock)
    assert times == [[10**9] * worker.FEWEST, [2 * 10**8] * worker.FEWEST]
    assert order == ["a", "b"] * (worker.FEWEST + 1)


def test_calls_that_take_no_time_come_to_an_end() -> None:
    assert [len(each) for each in in_turns([lambda: None], StepClock())] == [worker.MOST]


def test_the_arrays_of_a_kernel_live_as_long_as_its_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runtime reads them where they are; whether it also owns them depends on its version."""
    bound: list[weakref.ref[Any]] = []
    bind = onnxruntime.OrtValue.ortvalue_from_numpy

    def watched(array: Any) -> Any:
        bound.append(weakref.ref(array))
        return bind(array.copy())  # so that no version keeps this one alive

    monkeypatch.setattr(onnxruntime.OrtValue, "ortvalue_from_numpy", staticmethod(watched))
    calls = [worker._prepared(spec, 1) for spec in streaming_specs(MIB)]
    gc.collect()
    assert len(bound) == 5, "one array each, two to add"
    assert all(array() is not None for array in bound)
    del calls


def test_every_kernel_really_runs_and_the_roofs_are_the_best_of_them() -> None:
    """With no time but for the fewest rounds, and the smallest arrays."""
    roofs = worker.measure_roofs(1, 32 * MIB, RealClock(), free_bytes=0, budget_ns=0)
    assert (roofs.threads, roofs.repeats, roofs.cache_bytes) == (1, worker.FEWEST, 32 * MIB)
    assert len(roofs.compute) == 6
    assert len(roofs.streaming) == 4
    for kernel in (*roofs.compute, *roofs.streaming):
        assert 0 < kernel.median <= kernel.best
        assert np.isfinite(kernel.best)
