"""Layers of a model as a page for a terminal and as a JSON document.

Pure; names come from a model's file and were cleaned when it was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hettop.format import UNKNOWN, percent, short_count, significant, size
from hettop.report.grid import grid, wrapped
from hettop.studies.layers.rows import FLOPS_PER_MAC, Kernel, LayerRow, Measured, Roofs
from hettop.version import __version__

HEADING = ("layer", "op", "ms", "share", "", "MACs", "bytes", "MAC/B", "bound", "cache", "with", "device", "fallback")
LEFT = ("layer", "op", "", "bound", "cache", "with", "device", "fallback")
# What a narrow terminal can do without, first to go first.
DISPENSABLE = ("with", "", "cache", "bytes", "MACs", "bound", "op", "MAC/B")
BAR, NAME, FUSED = 16, 44, 40
NEAR_RIDGE = "near the ridge"
DISTURBED = 0.5
"""A kernel whose usual call does less than this share of its best one was not alone on the machine."""

MOST_ROWS = 200
"""A page is for reading; JSON has all."""


def layers_text(model: str, measured: Measured, width: int) -> str:
    """Shares by type of operation, a row for each layer in the order in which they run, and notes."""
    lines = wrapped(title(model, measured), width)
    lines += ["", *_by_op(measured), ""]
    rows = [_row(row, measured) for row in measured.rows[:MOST_ROWS]]
    lines += grid(HEADING, rows, left=LEFT, width=width, drop=DISPENSABLE)
    lines.append("")
    for note in (*time_notes(measured), *roof_notes(measured), *other_notes(measured)):
        lines += wrapped(note, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def layers_document(model: dict[str, Any], measured: Measured) -> dict[str, Any]:
    """`layers --json`; unknown is null."""
    return {
        **_head(model, measured),
        "layers": [layer_document(row, measured.roofs) for row in measured.rows],
        "by_op": measured.by_op,
        "roofs": None if measured.roofs is None else roofs_document(measured.roofs),
        "notes": [*time_notes(measured), *other_notes(measured)],
    }


def roofline_document(model: dict[str, Any], measured: Measured, roofs: Roofs) -> dict[str, Any]:
    """`roofline --json`; `model` is the whole model as one layer, by its end-to-end time."""
    whole = measured.whole
    return {
        **_head(model, measured),
        "roofs": roofs_document(roofs),
        "layers": [_roofline_layer(row, roofs) for row in measured.rows],
        "model": {**model, **_roofline_layer(whole, roofs), "name": model["name"]},
        "notes": [*time_notes(measured), *other_notes(measured)],
    }


def layer_document(row: LayerRow, roofs: Roofs | None) -> dict[str, Any]:
    """A layer without its rates; `oi` in MACs per byte."""
    return {
        "name": row.name,
        "op": row.op,
        "ms": row.ms,
        "share": row.share,
        "macs": row.macs,
        "bytes": row.nbytes,
        "oi": row.oi,
        "bound": None if roofs is None else roofs.bound(row),
        "near_ridge": None if roofs is None else roofs.near_ridge(row),
        "cache_resident": None if roofs is None else roofs.cache_resident(row),
        "fused": list(row.fused),
        "ran_as": row.ran_as or None,
        "device": row.device,
        "fallback": row.fallback,
    }


def roofs_document(roofs: Roofs) -> dict[str, Any]:
    """GFLOP/s (two FLOP for each MAC) and GB/s, with the kernels they come from; `ridge` in FLOP per byte."""
    return {
        "gflops": roofs.gflops,
        "gbytes_per_s": roofs.gbytes_per_s,
        "threads": roofs.threads,
        "measured": True,
        "ridge": roofs.ridge,
        "cache_bytes": roofs.cache_bytes,
        "repeats": roofs.repeats,
        "compute": [_kernel(kernel) for kernel in roofs.compute],
        "streaming": [_kernel(kernel) for kernel in roofs.streaming],
    }


def title(model: str, measured: Measured) -> str:
    threads = [f"{measured.threads} thread{'' if measured.threads == 1 else 's'}"] if measured.threads else []
    estimated = ["ESTIMATED"] if measured.estimated else []
    return " · ".join([*estimated, model, measured.unit, *threads, *measured.shapes])


def time_notes(measured: Measured) -> Iterator[str]:
    """How the sum of the layers compares with a whole call, and what the times are."""
    if measured.estimated:
        yield (
            f"estimated: shares are what a plan says that operations cost, ms are these shares of {_call(measured)}; "
            "nothing measured any layer"
        )
        return
    whole = measured.end_to_end_ms
    ratio = f", {percent(measured.total_ms / whole)} of it" if whole > 0 else ""
    yield (
        f"layers sum to {significant(measured.total_ms)} ms; a call without the profiler takes {significant(whole)} ms "
        f"end to end{ratio}"
    )
    yield (
        f"times are measured: means of the middle half of {measured.runs} calls, calls with the profiler "
        "and without it taken in turns"
    )


def _call(measured: Measured) -> str:
    return f"a call's {significant(measured.end_to_end_ms)} ms, the mean of {measured.runs} calls"


def roof_notes(measured: Measured) -> Iterator[str]:
    """What `bound` and `cache` mean, with the figures behind them."""
    roofs = measured.roofs
    if roofs is None:
        return
    yield (
        f"bound by the ridge: {significant(roofs.gflops)} GFLOP/s and {significant(roofs.gbytes_per_s)} GB/s, measured "
        f"here with as many threads, meet at {significant(roofs.ridge / FLOPS_PER_MAC)} MAC/B"
    )
    near = sum(bool(roofs.near_ridge(row)) for row in measured.rows)
    if near:
        low, high = (significant(each / FLOPS_PER_MAC) for each in roofs.near)
        yield (
            f"{NEAR_RIDGE} ({near} layer{'' if near == 1 else 's'}): from {low} to {high} MAC/B either may limit, for "
            "the roofs are no more certain than that"
        )
    if roofs.cache_bytes is None:
        yield "cache: the system does not tell the size of its caches"
    else:
        yield (
            f"cache: all that the layer moves fits in the last-level cache ({size(roofs.cache_bytes)}), so that memory "
            "need not limit it"
        )


def _disturbed(roofs: Roofs) -> Iterator[str]:
    """Kernels at a roof whose median is far below their best."""
    for what, unit, kernels in (("compute", "GFLOP/s", roofs.compute), ("memory", "GB/s", roofs.streaming)):
        best = max(kernels, key=lambda kernel: kernel.best)
        if best.median < DISTURBED * best.best:
            yield (
                f"roof of {what}: the best call of {best.name} did {significant(best.best)} {unit}, half of its calls "
                f"less than {significant(best.median)}: something else ran meanwhile; measure again on a quiet "
                "machine"
            )


def other_notes(measured: Measured) -> Iterator[str]:
    if measured.roofs is not None:
        yield from _disturbed(measured.roofs)
    fused = sum(len(row.fused) for row in measured.rows)
    if fused:
        yield f"{fused} operations of the model run inside of others (fused)"
    if measured.unused:
        yield f"{measured.unused} operations of the model do not run: the runtime computes or removes them at load"
    yield from measured.notes
    if len(measured.rows) > MOST_ROWS:
        yield f"the table ends after {MOST_ROWS} of {len(measured.rows)} layers; --json has all"


def bound_word(row: LayerRow, roofs: Roofs | None) -> str:
    if roofs is None:
        return UNKNOWN
    return NEAR_RIDGE if roofs.near_ridge(row) else roofs.bound(row) or UNKNOWN


def cache_word(row: LayerRow, roofs: Roofs | None) -> str:
    return "fits" if roofs is not None and roofs.cache_resident(row) else ""


def shortened(text: str, longest: int = NAME) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _head(model: dict[str, Any], measured: Measured) -> dict[str, Any]:
    return {
        "hettop": __version__,
        "model": model,
        "unit": measured.unit,
        "threads": measured.threads or None,
        "estimated": measured.estimated,
        "runs": measured.runs,
        "total_ms": measured.total_ms,
        "end_to_end_ms": measured.end_to_end_ms,
    }


def _roofline_layer(row: LayerRow, roofs: Roofs) -> dict[str, Any]:
    return {
        **layer_document(row, roofs),
        "gflops": row.gflops,
        "gbytes_per_s": row.gbytes_per_s,
        "attainable_gflops": roofs.attainable(row),
        "exceeds_roof": roofs.exceeds(row),
    }


def _kernel(kernel: Kernel) -> dict[str, Any]:
    return {"name": kernel.name, "best": kernel.best, "median": kernel.median}


def _by_op(measured: Measured) -> Sequence[str]:
    shares = list(measured.by_op.items())
    names = max((len(shortened(op, 24)) for op, _ in shares), default=0)
    return [
        f"{shortened(op, 24):<{names}}  {percent(share):>5}  {'▇' * round(2 * BAR * share)}".rstrip()
        for op, share in shares[:MOST_ROWS]
    ]


def _row(row: LayerRow, measured: Measured) -> tuple[str, ...]:
    widest = max(each.share for each in measured.rows)
    bar = "▇" * round(BAR * row.share / widest) if widest > 0 else ""
    return (
        shortened(row.name),
        shortened(row.op, 24),
        significant(row.ms),
        percent(row.share),
        bar,
        short_count(row.macs),
        size(row.nbytes),
        significant(row.oi),
        "" if measured.estimated else bound_word(row, measured.roofs),
        cache_word(row, measured.roofs),
        shortened(", ".join(row.fused), FUSED),
        row.device or "",
        "fallback" if row.fallback else "",
    )
