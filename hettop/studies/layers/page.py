"""Time by layer, for a report: where it goes by type of operation and by layer, and what limits each."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hettop.format import milliseconds, percent, short_count, significant, size
from hettop.report.page import Bar, Block, Cell, Column, Columns, Items, Paragraph, Stack, Table, Tone, Toned
from hettop.report.terminal.glyphs import CONTROL
from hettop.studies.layers.findings import largest, layer_count, layers_headline
from hettop.studies.layers.notes import MOST_ROWS, bound_notes
from hettop.studies.layers.result import COMPUTE, MEMORY, RIDGE, LayerRow, LayersResult

HEADING = (
    *("", "layer", "ms", "share", "time", "bound", "op", "MACs", "bytes", "MACs/B", "cache"),
    *("device", "fallback", "fused"),
)
LEFT = ("", "layer", "bound", "op", "cache", "device", "fallback", "fused")
DROP = ("fused", "cache", "bytes", "MACs", "MACs/B", "op", "device", "fallback", "time", "bound")
LARGEST = Toned(CONTROL, "accent")
"""Before the layers that take longest."""

MOST_OPS = 6
"""Types of operation with a colour of their own; the figures have one more for the rest."""


def blocks(found: LayersResult) -> Iterator[Block]:
    """Sentences, the stacked bar by type of operation, a column and a row for each layer, and notes."""
    found = found.shortened(MOST_ROWS)
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


BOUNDS: tuple[tuple[str | None, str, Tone], ...] = (
    (COMPUTE, "bound by compute", "low"),
    (MEMORY, "bound by memory", "mid"),
    (RIDGE, "near the ridge", "accent"),
    (None, "not known", "muted"),
)
"""What limits a layer, in words and by tone."""

LETTERS = "CMR?"
"""The same below each column, so that it does not hang on colour."""


def bound_index(bound: str | None) -> int:
    """Its place in `BOUNDS`."""
    return next((i for i, (name, _, _) in enumerate(BOUNDS) if name == bound), len(BOUNDS) - 1)


def _profile(found: LayersResult, caption: str) -> Columns:
    """A column for each layer in the order in which they run, coloured by what limits it."""
    columns = [Column(layer.ms, bound_index(layer.limit), name=layer.name) for layer in found.layers]
    letters = LETTERS if len({column.group for column in columns}) > 1 else ""
    return Columns(columns, [(words, tone) for _, words, tone in BOUNDS], "ms by layer", caption, letters=letters)


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
    longest = max(layer.ms for layer in found.layers)
    rows = [_row(layer, longest, largest=id(layer) in marked) for layer in found.layers]
    if found.rest_n:
        rows.append(_sum(f"{found.rest_n} smaller layers", found.rest_ms, found.total_ms))
    rows.append(_sum(f"all {layer_count(found)} layers", found.total_ms, found.total_ms))
    if not found.estimated:
        rows.append(_sum("a call end to end", found.end_to_end_ms, found.total_ms))
    return Table(HEADING, rows, LEFT, DROP)


def _sum(name: str, ms: float, total_ms: float) -> list[Cell]:
    share = percent(ms / total_ms if total_ms > 0 else None)
    return ["", name, milliseconds(ms), share, *[""] * (len(HEADING) - 4)]


def _row(layer: LayerRow, longest_ms: float, *, largest: bool) -> list[Cell]:
    return [
        LARGEST if largest else "",
        layer.name,
        milliseconds(layer.ms),
        percent(layer.share),
        Bar(layer.ms / longest_ms if longest_ms > 0 else 0.0, BOUNDS[bound_index(layer.limit)][2]),
        layer.limit or "",
        layer.op,
        short_count(layer.macs),
        size(layer.nbytes),
        significant(layer.oi) if layer.oi else "",
        "fits" if layer.cache_resident else "",
        layer.device or "",
        "fallback" if layer.fallback else "",
        ", ".join(layer.fused),
    ]
