"""Notes on what was found of layers: how they were measured, and what `bound` and `cache` rest on."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from hettop.format import percent, significant, size
from hettop.studies.layers.result import FLOPS_PER_MAC, RIDGE, LayersResult, Roofs, best

MOST_ROWS = 200
"""A page is for reading; JSON has all."""

DISTURBED = 0.5
"""A kernel whose usual call does less than this share of its best one was not alone on the machine."""


def noted(found: LayersResult) -> LayersResult:
    """With notes on how it was measured around those that the measuring itself made."""
    before = [*_times(found), *_disturbed(found.roofs), *_operations(found)]
    return replace(found, notes=[*before, *found.notes, *_cut(found)])


def _times(found: LayersResult) -> Iterator[str]:
    """How the sum of the layers compares with a whole call, and what the times are."""
    whole = found.end_to_end_ms
    if found.estimated:
        yield (
            "estimated: shares come from the plan's cost estimates, ms are these shares of the mean "
            f"call of {significant(whole)} ms ({found.runs} calls); no layer was measured"
        )
        return
    ratio = f", {percent(found.total_ms / whole)} of it" if whole > 0 else ""
    yield (
        f"layers sum to {significant(found.total_ms)} ms; a call without the profiler takes "
        f"{significant(whole)} ms end to end{ratio}"
    )
    yield (
        f"times are measured: mean of the middle half of {found.runs} calls, calls with and without "
        "the profiler interleaved"
    )


def _disturbed(roofs: Roofs | None) -> Iterator[str]:
    """Kernels at a roof whose median is far below their best."""
    if roofs is None:
        return
    for what, unit, kernels in (("compute", "GFLOP/s", roofs.compute), ("memory", "GB/s", roofs.streaming)):
        first = best(kernels)
        if first.median < DISTURBED * first.best:
            yield (
                f"roof of {what}: the best call of {first.name} did {significant(first.best)} {unit}, half of its "
                f"calls less than {significant(first.median)}: background activity interfered; "
                "measure again on a quiet machine"
            )


def _operations(found: LayersResult) -> Iterator[str]:
    fused = sum(len(layer.fused) for layer in found.layers)
    if fused:
        yield f"{fused} operations of the model are fused into others"
    if found.unused:
        yield f"{found.unused} operations of the model do not run: the runtime folds or removes them at load"


def _cut(found: LayersResult) -> Iterator[str]:
    if len(found.layers) > MOST_ROWS:
        yield f"the table ends after {MOST_ROWS} of {len(found.layers)} layers; --json has all"


def bound_notes(found: LayersResult) -> Iterator[str]:
    """What `bound` and `cache` rest on."""
    roofs = found.roofs
    if roofs is None:
        return
    kind = "measured here" if roofs.measured else f"as published ({roofs.source or 'no source given'})"
    threads = " with as many threads" if roofs.measured and roofs.threads == found.threads else ""
    yield (
        f"bound: by the ridge of roofs {kind}{threads}: {significant(roofs.gflops)} GFLOP/s and "
        f"{significant(roofs.gbytes_per_s)} GB/s meet at {significant(roofs.ridge_oi)} MACs/B"
    )
    near = sum(layer.limit == RIDGE for layer in found.layers)
    if near:
        low, high = (significant(each / FLOPS_PER_MAC) for each in roofs.near)
        between = f" (from {low} to {high} MACs/B)" if roofs.compute else ""
        layers = "1 layer" if near == 1 else f"{near} layers"
        yield (f"{RIDGE}: {layers} too close to it{between} for either limit to be certain")
    yield from _cache(found, roofs)


def _cache(found: LayersResult, roofs: Roofs) -> Iterator[str]:
    cached = sum(bool(layer.cache_resident) for layer in found.layers)
    if cached:
        all_of = "all" if cached == len(found.layers) else f"{cached} of {len(found.layers)}"
        cache = f" ({size(roofs.cache_bytes)})" if roofs.cache_bytes is not None else ""
        yield f"{all_of} layers fit in the last-level cache{cache} with all their data: memory may not limit them"
    elif roofs.compute and roofs.cache_bytes is None:
        yield "cache: sizes are not reported by the system"
