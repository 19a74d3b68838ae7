"""Layers as a page: where the time goes by type and by layer, and what limits each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hettop.format import milliseconds, percent, short_count, significant, size
from hettop.report.page import Bar, Block, Cell, Column, Columns, Items, Paragraph, Stack, Table, Tone, Toned
from hettop.report.terminal.glyphs import CONTROL
from hettop.studies.layers.notes import MOST_ROWS, bound_notes
from hettop.studies.layers.result import COMPUTE, FLOPS_PER_MAC, MEMORY, RIDGE, LayerRow, LayersResult, Roofs

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
        yield Paragraph("ESTIMATED from the plan's cost estimates; no layer was timed.", tone="warning")
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
        cut = f" The {found.rest_n} smallest are not shown." if found.rest_n else ""
        yield _profile(found, f"{estimated}Time of each layer in execution order, {where}.{cut}")
    if found.layers:
        yield _table(found)
    notes = [*bound_notes(found), *found.notes]
    if notes:
        yield Items(notes)


BOUNDS: tuple[tuple[str | None, str, Tone], ...] = (
    (COMPUTE, "bound by compute", "low"),
    (MEMORY, "bound by memory", "mid"),
    (RIDGE, "near the ridge", "accent"),
    (None, "unknown", "muted"),
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


NAMED_LAYERS = 3
"""Layers that are named as the largest."""

MOST_OF_IT = 0.9
"""Types of operation are named until they take as much of the time, three at most."""

LEAST_OF_CALL, MOST_OF_CALL = 0.75, 1.33
"""Of a call, what its layers add up to: 88 to 114% of MobileNetV2 on a quiet machine (docs/method/layers.md)."""

CLOSE = 0.1
"""A layer within a tenth of its roof counts as being at it: two moments of a machine differ by as much."""


_LEAST, _MOST = 1e-12, 1e15  # a damaged recording can say anything


@dataclass(frozen=True, slots=True)
class UnderRoof:
    """A layer and what the roofs allow it: GFLOP/s, and the ms that it would take at that rate."""

    layer: LayerRow
    oi: float
    gflops: float
    attainable: float
    least_ms: float

    @property
    def lost_ms(self) -> float:
        """Beyond what the roof allows; negative for what runs above it, from a cache."""
        return self.layer.ms - self.least_ms

    @property
    def of_roof(self) -> float:
        return self.gflops / self.attainable if self.attainable else 0.0


def under_roofs(found: LayersResult) -> list[UnderRoof]:
    """All kept layers that have MACs, bytes and a time, in their order; none without roofs."""
    if found.roofs is None:
        return []
    return [placed for layer in found.layers if (placed := under_roof(found.roofs, layer)) is not None]


def whole_under_roof(found: LayersResult) -> UnderRoof | None:
    """The model as one layer; None where `under_roof` has none."""
    return None if found.roofs is None or found.whole is None else under_roof(found.roofs, found.whole)


def under_roof(roofs: Roofs, layer: LayerRow) -> UnderRoof | None:
    """None where it has no MACs, where bytes, time or roofs are not known, or beyond what any machine does."""
    oi, gflops = layer.oi, layer.gflops
    if oi is None or gflops is None or layer.macs is None:
        return None
    attainable = roofs.attainable(oi)
    if not all(_LEAST <= each <= _MOST for each in (oi, gflops, attainable, roofs.gflops, roofs.ridge_oi)):
        return None
    return UnderRoof(layer, oi, gflops, attainable, FLOPS_PER_MAC * layer.macs / attainable / 1e6)


def furthest(found: LayersResult) -> list[UnderRoof]:
    """Layers below their roofs by more than `CLOSE`, those that lose most time first."""
    below = [each for each in under_roofs(found) if each.of_roof < 1 - CLOSE]
    return sorted(below, key=lambda each: -each.lost_ms)


def layer_count(found: LayersResult) -> int:
    return len(found.layers) + found.rest_n


def largest(found: LayersResult, n: int = NAMED_LAYERS) -> list[LayerRow]:
    """The layers that take longest, the longest first; one alone is not called the largest."""
    return sorted(found.layers, key=lambda layer: -layer.ms)[:n] if len(found.layers) > 1 else []


def layers_headline(found: LayersResult) -> list[str]:
    """Sentences, the one that matters most first."""
    if not found.layers:
        return ["No layer takes measurable time."]
    return [*_by_op(found), *_largest(found), *_bounds(found), *_fallback(found), *_unlike(found)]


def roofline_headline(found: LayersResult) -> list[str]:
    """Sentences, the one that matters most first; without roofs: why there are none."""
    roofs = found.roofs
    if roofs is None:
        return [_no_roofs(found)]
    return [*_whole(found, roofs), *_lost(found), *_above(found), *_unlike(found)]


def _by_op(found: LayersResult) -> Iterator[str]:
    named: list[tuple[str, float]] = []
    for op, share in sorted(found.by_op.items(), key=lambda item: -item[1]):
        if len(named) == NAMED_LAYERS or math.fsum(share for _, share in named) >= MOST_OF_IT:
            break
        named.append((op, share))
    if not named:
        return
    verb = "takes" if len(named) == 1 else "take"
    verb = f"is estimated to {verb.removesuffix('s')}" if found.estimated and len(named) == 1 else verb
    verb = "are estimated to take" if found.estimated and len(named) > 1 else verb
    total = percent(min(1.0, math.fsum(share for _, share in named)))
    each = f" ({_listed([percent(share) for _, share in named])})" if len(named) > 1 else ""
    yield f"{_listed([op for op, _ in named])} {verb} {total} of the time{each}."


def _largest(found: LayersResult) -> Iterator[str]:
    named = largest(found)
    if not named:
        return
    shares = ", ".join(f"{layer.name} ({percent(layer.share)})" for layer in named)
    total = percent(min(1.0, math.fsum(layer.share for layer in named)))
    if len(named) == layer_count(found):
        yield f"By layer: {shares}."
    else:
        yield f"{len(named)} of {layer_count(found)} layers take {total}: {shares}."


def _bounds(found: LayersResult) -> Iterator[str]:
    bounds = [
        (sum(layer.limit == bound for layer in found.layers), _share(found.layers, bound), words)
        for bound, words in ((COMPUTE, "bound by compute"), (MEMORY, "bound by memory"), (RIDGE, "near the ridge"))
    ]
    bounds = [each for each in bounds if each[0]]
    if not bounds:
        return
    of = f" of the {len(found.layers)} largest" if found.rest_n else ""
    (n, share, words), *rest = bounds
    more = "".join(f", {other} {why.removeprefix('bound ')}, {percent(part)}" for other, part, why in rest)
    yield f"{_layers(n)}{of} {'is' if n == 1 else 'are'} {words}, {percent(share)} of the time{more}."


def _fallback(found: LayersResult) -> Iterator[str]:
    fallen = [layer for layer in found.layers if layer.fallback]
    if fallen:
        share = percent(min(1.0, math.fsum(layer.share for layer in fallen)))
        falls = "falls" if len(fallen) == 1 else "fall"
        yield f"{_layers(len(fallen))} {falls} back from the device that {found.unit} is chosen for: {share}."


def _whole(found: LayersResult, roofs: Roofs) -> Iterator[str]:
    whole = whole_under_roof(found)
    peak = f"{significant(roofs.gflops)} GFLOP/s"
    if whole is None:
        kind = "measured here" if roofs.measured else "as published"
        yield f"The roofs are {peak} and {significant(roofs.gbytes_per_s)} GB/s, {kind}."
        return
    of = percent(whole.of_roof)
    if whole.attainable < roofs.gflops:
        reach = f"{significant(whole.attainable)} GFLOP/s attainable with its memory traffic ({of}); the peak is {peak}"
    else:
        reach = f"{peak} ({of})"
    yield f"The whole model reaches {significant(whole.gflops)} of {reach}."


def _lost(found: LayersResult) -> Iterator[str]:
    placed = under_roofs(found)
    if not placed:
        yield "No layer has both MACs and a time, so no layer can be placed on the roofline."
        return
    below = furthest(found)
    if not below:
        yield f"No layer is further than {percent(CLOSE)} below its roof."
        return
    lost = math.fsum(each.lost_ms for each in below)
    first = below[0]
    yield (
        f"{_layers(len(below))} would save {milliseconds(lost)} ms of {milliseconds(found.total_ms)} "
        f"ms at their roofs; most is lost in {first.layer.name} ({milliseconds(first.lost_ms)} ms)."
    )


def _above(found: LayersResult) -> Iterator[str]:
    above = [each for each in under_roofs(found) if each.of_roof > 1 + CLOSE]
    cached = sum(bool(each.layer.cache_resident) for each in above)
    if above:
        why = "its data fits in the cache" if cached == len(above) else f"{cached} of them fit in the cache"
        why = why if cached else "no cache explains it"
        yield f"{_layers(len(above))} {'is' if len(above) == 1 else 'are'} above the roof: {why}."


def _unlike(found: LayersResult) -> Iterator[str]:
    """That the layers do not add up to a call. The profiler makes small layers longer, and cannot make one shorter."""
    if found.estimated or not found.end_to_end_ms:
        return
    share = found.total_ms / found.end_to_end_ms
    total = f"The layers add up to {percent(share)} of a call's {milliseconds(found.end_to_end_ms)} ms"
    if share < LEAST_OF_CALL:
        yield f"{total}: background activity interfered; measure again."
    elif share > MOST_OF_CALL:
        yield (
            f"{total}: they include the profiler's own time (some microseconds per layer), or background "
            "activity interfered."
        )


def _no_roofs(found: LayersResult) -> str:
    if found.estimated:
        return "No roofs: these layers are estimated by a plan, and nothing was measured on its devices."
    return "No roofs: the peak rates of the machine were not measured."


def _share(layers: Sequence[LayerRow], bound: str) -> float:
    return min(1.0, math.fsum(layer.share for layer in layers if layer.limit == bound))


def _layers(n: int) -> str:
    return "1 layer" if n == 1 else f"{n} layers"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
