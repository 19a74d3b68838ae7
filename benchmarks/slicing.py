"""How long it takes to plan slices: 20 layers on 4 devices, and 53 on 25, with memory limits and unsupported layers."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.plan import Plan
from benchmarks.rows import Row, Unit, at_most
from hettop.studies.plan.slicing.costs import CostTable
from hettop.studies.plan.slicing.planner import plan as plan_slices

MS = Unit(" ms", 1e-6, 3)
CASES = ((20, 4, 0.5e6), (53, 25, 1.5e6))
"""Layers and devices of the paper's latency plan for Inception V4 and its energy plan for ResNet V2; figures in ns."""

REPEATS = 2_000
UNSUPPORTED = 0.02
LIMIT_MB = 100


def measure(plan: Plan) -> Iterator[Row]:
    """Rows for both sizes; each repeat is a table of its own."""
    rng = np.random.default_rng(1)
    for layers, devices, limit_ns in CASES:
        tables = [_table(layers, devices, rng) for _ in range(plan.either(REPEATS, 50))]
        plan_slices(tables[0])  # numpy's first call is not the planner's time
        times = [_ns(table) for table in tables]
        yield at_most(f"slicing: a plan for {layers} layers x {devices} devices", limit_ns, times, MS)


def _table(layers: int, devices: int, rng: np.random.Generator) -> CostTable:
    """The first device runs everything; the last has a memory limit, as the NPU of the paper."""
    execution = rng.uniform(0.1, 10.0, (layers, devices))
    execution[:, 1:][rng.random((layers, devices - 1)) < UNSUPPORTED] = np.inf
    return CostTable(
        devices=tuple(f"d{number}" for number in range(devices)),
        execution=execution,
        entry=rng.uniform(0.0, 2.0, (layers, devices)),
        exit=rng.uniform(0.0, 2.0, (layers, devices)),
        sizes=rng.uniform(1.0, 40.0, layers),
        limits=np.where(np.arange(devices) == devices - 1, LIMIT_MB, np.inf),
    )


def _ns(table: CostTable) -> float:
    begin = time.perf_counter_ns()
    plan_slices(table)
    return time.perf_counter_ns() - begin
