"""Time by layer, for a report: where it goes by type of operation and by layer, and what limits each."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hettop.format import UNKNOWN, milliseconds, percent, short_count, significant, size
from hettop.report.page import Block, Column, Columns, Items, Paragraph, Stack, Table, Tone
from hettop.studies.layers.findings import COMPUTE, MEMORY, RIDGE, largest, layer_count, layers_headline
from hettop.studies.layers.result import LayerRow, LayersResult

HEADING = ("layer", "op", "ms", "share", "MACs", "bytes", "MACs/B", "bound", "cache", "device", "fallback", "largest")
LEFT = ("layer", "op", "bound", "cache", "device", "fallback", "largest")
MOST_OPS = 6
"""Types of operation with a colour of their own; the figures have one more for the rest."""


def blocks(found: LayersResult) -> Iterator[Block]:
    """Sentences, the stacked bar by type of operation, a column and a row for each layer, and notes."""
    if found.estimated:
        yield Paragraph("ESTIMATED: a plan says what operations cost; no layer was timed.", tone="warning")
    first, *rest = layers_headline(found)
    yield Paragraph(first, "strong")
    if rest:
        yield Paragraph(" ".join(rest))
    where = f"on {found.unit}" + (f" with {found.threads} threads" if found.threads else "")
    estimated = "ESTIMATED: " if found.estimated else ""
    if found.by_op:
        caption = f"{estimated}Share of the time of all layers by type of operation, {where}."
        yield Stack(_parts(found), caption)
        yield Table(("op", "share"), [(op, percent(share)) for op, share in _parts(found)], left=("op",))
    if any(layer.ms > 0 for layer in found.layers):
        cut = f" The {found.rest_n} smallest are not drawn." if found.rest_n else ""
        yield _profile(found, f"{estimated}Time of each layer in the order in which they run, {where}.{cut}")
    if found.layers:
        yield _table(found)
    notes = [*bound_notes(found), *found.notes]
    if notes:
        yield Items(notes)


def bound_notes(found: LayersResult) -> Iterator[str]:
    """What `bound` and `cache` rest on."""
    roofs = found.roofs
    if roofs is None:
        return
    kind = "measured here" if roofs.measured else f"as published ({roofs.source or 'no source is told'})"
    yield (
        f"bound by the ridge of roofs {kind}: {significant(roofs.gflops)} GFLOP/s and "
        f"{significant(roofs.gbytes_per_s)} GB/s meet at {significant(roofs.ridge)} MACs/B"
    )
    if any(layer.bound == RIDGE for layer in found.layers):
        yield f"{RIDGE}: too near it to say which of the two limits, for the roofs are no more certain"
    cached = sum(bool(layer.cache_resident) for layer in found.layers)
    if cached:
        all_of = "all" if cached == len(found.layers) else f"{cached} of {len(found.layers)}"
        yield f"{all_of} layers fit in the last-level cache with all that they move: memory need not limit them"


BOUNDS: tuple[tuple[str | None, str, Tone], ...] = (
    (COMPUTE, "bound by compute", "low"),
    (MEMORY, "bound by memory", "mid"),
    (RIDGE, "near the ridge", "accent"),
    (None, "not known", "muted"),
)
"""What limits a layer, in words and by tone."""


def bound_index(bound: str | None) -> int:
    """Its place in `BOUNDS`."""
    return next((i for i, (name, _, _) in enumerate(BOUNDS) if name == bound), len(BOUNDS) - 1)


def _profile(found: LayersResult, caption: str) -> Columns:
    """A column for each layer in the order in which they run, coloured by what limits it."""
    columns = [Column(layer.ms, bound_index(layer.bound), name=layer.name) for layer in found.layers]
    return Columns(columns, [(words, tone) for _, words, tone in BOUNDS], "ms by layer", caption)


def _parts(found: LayersResult) -> list[tuple[str, float]]:
    """The largest types, and all others together."""
    shares = sorted(found.by_op.items(), key=lambda item: -item[1])
    others = shares[MOST_OPS:]
    named = shares[:MOST_OPS]
    if not others:
        return named
    rest = max(0.0, 1.0 - math.fsum(share for _, share in named))
    return [*named, (f"{len(others)} others", rest)]


def _table(found: LayersResult) -> Table:
    marked = {id(layer) for layer in largest(found)}
    rows = [_row(layer, "yes" if id(layer) in marked else "") for layer in found.layers]
    blank = [""] * (len(HEADING) - 4)
    if found.rest_n:
        share = percent(found.rest_ms / found.total_ms if found.total_ms > 0 else None)
        rows.append([f"{found.rest_n} smaller layers", "", milliseconds(found.rest_ms), share, *blank])
    rows.append([f"all {layer_count(found)} layers", "", milliseconds(found.total_ms), percent(1.0), *blank])
    if not found.estimated:
        share = percent(found.end_to_end_ms / found.total_ms if found.total_ms > 0 else None)
        rows.append(["a call end to end", "", milliseconds(found.end_to_end_ms), share, *blank])
    return Table(HEADING, rows, LEFT)


def _row(layer: LayerRow, marked: str) -> list[str]:
    return [
        layer.name,
        layer.op,
        milliseconds(layer.ms),
        percent(layer.share),
        short_count(layer.macs) if layer.macs is not None else UNKNOWN,
        size(layer.nbytes),
        "" if layer.oi is None else significant(layer.oi),
        layer.bound or "",
        "fits" if layer.cache_resident else "",
        layer.device or "",
        "fallback" if layer.fallback else "",
        marked,
    ]
