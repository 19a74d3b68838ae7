"""10^8 samples folded one after another, with a view of everything now and then: whether memory stays flat."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

from benchmarks.plan import ROOT, Plan, child
from benchmarks.record import MILLIONS
from benchmarks.rows import MB, Row, at_most, for_comparison

FOLDED = 100_000_000
GROWTH_LIMIT = 5e6


def measure(plan: Plan) -> Iterator[Row]:
    """Rows for the growth, its slope, and the rate, views included."""
    folded = plan.either(FOLDED, FOLDED // 20)
    run = subprocess.run(child("flat_memory", str(folded)), cwd=ROOT, capture_output=True, check=True, text=True)
    found = json.loads(run.stdout)
    what = f"soak: growth of memory from 10^6 to {folded:,} samples"
    yield at_most(what, GROWTH_LIMIT, [float(found["bytes"])], MB)
    yield at_most("soak: slope of memory, per 10^8 samples", GROWTH_LIMIT, [found["bytes_a_sample"] * 1e8], MB)
    yield for_comparison("soak: resident memory, largest", [float(found["resident"])], MB)
    rate = found["samples"] / found["seconds"]
    yield for_comparison("soak: folded, with a view each 50,000 samples", [rate], MILLIONS)
