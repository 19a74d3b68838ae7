"""Time by layer as bars, and the share of each type of operation: where the milliseconds of a model go."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from hettop.format import UNKNOWN, milliseconds, percent, short_count, significant
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, line, runs, width_of
from hettop.session.layer_findings import COMPUTE, MEMORY, RIDGE, largest, layer_count, layers_headline
from hettop.text import clean
from hettop.report.terminal.tables import bar
from hettop.report.terminal.rows import notes, padded, segments, sentences

if TYPE_CHECKING:
    from hettop.events import FoundLayer, FoundLayers

PARTS = (
    (glyphs.FULL, "low"),
    (glyphs.SHADE, "mid"),
    (glyphs.DENSE, "accent"),
    (glyphs.SPARSE, "good"),
)
"""How types of operation are told apart, each by a glyph of its own, in ASCII too; all further ones are one part."""

OTHERS = (glyphs.DOT, "muted")
BOUNDS = {COMPUTE: (glyphs.COMPUTE, "low"), MEMORY: (glyphs.MEMORY, "mid"), RIDGE: (glyphs.RISING, "accent")}
"""What limits a layer, by glyph and by colour; the roofline has the same colours. Near the ridge either may."""

NEAR = f"{glyphs.RISING} near the ridge: either may limit, for the roofs are no more certain"

_OP = 24  # cells of a type's name in the legend
_NARROWEST_NAME, _WIDEST_NAME = 16, 44
_NARROWEST_BAR = 6
_SUMS = 18  # cells of the names of rows that are no layer
_PROFILE_HEIGHT = 4
_TALL = 22  # lines, from which on there is room for the profile
_LEVELS = len(glyphs.EIGHTHS) - 1


def drawn(found: FoundLayers, width: int, height: int) -> list[Line]:
    """The headline, shares by type of operation, time over the layers as they run, the table, notes."""
    parts = [_headline(found, width), _by_op(found, width)]
    if height >= _TALL:
        parts.append(_profile(found, width))
    parts += [_table(found, width), notes(_explained(found), width)]
    return [row for i, part in enumerate(filter(None, parts)) for row in ([(), *part] if i else part)]


def bound_span(bound: str | None) -> Span:
    glyph, ink = BOUNDS.get(bound or "", ("", "muted"))
    return (f"{glyph} {bound}", ink) if glyph else (UNKNOWN, "muted")


def _headline(found: FoundLayers, width: int) -> list[Line]:
    first, *rest = layers_headline(found)
    head = sentences([first], width, "strong")
    if found.estimated:
        head = [line((" ESTIMATED ", "banner"), (" by a plan: no layer was timed", "warning")), *head]
    return [*head, *sentences(rest, width)]


def _by_op(found: FoundLayers, width: int) -> list[Line]:
    """One bar of all the time, and what its parts are."""
    shares = sorted(found.by_op.items(), key=lambda item: -item[1])
    named, others = shares[: len(PARTS)], shares[len(PARTS) :]
    parts = [(op, share, *look) for (op, share), look in zip(named, PARTS, strict=False)]
    rest = 1.0 - math.fsum(share for _, share in named)
    if others:
        words = others[0][0] if len(others) == 1 else f"{len(others)} others"
        parts.append((words, max(0.0, rest), *OTHERS))
    if not parts or width < 1:
        return []
    cells = segments([share for _, share, _, _ in parts], width)
    stack = [(glyph * n, ink) for n, (_, _, glyph, ink) in zip(cells, parts, strict=True)]
    return [line(*stack), *_legend(parts, width)]


def _legend(parts: Sequence[tuple[str, float, str, str]], width: int) -> list[Line]:
    rows: list[Line] = []
    row: Line = ()
    for op, share, glyph, ink in parts:
        entry = line((glyph, ink), (f" {clean(op, _OP)} ", "text"), (percent(share), "strong"))
        if row and width_of(row) + 3 + width_of(entry) > width:
            rows.append(row)
            row = ()
        row = line(*row, ("   " if row else "", "text"), *entry)
    return [*rows, row]


def _profile(found: FoundLayers, width: int) -> list[Line]:
    """A column for each layer in the order in which they run: where in the model the time goes."""
    layers = found.layers
    each = min(3, width // len(layers)) if layers else 0
    longest = max((layer.ms for layer in layers), default=0.0)
    if not each or longest <= 0:
        return []
    words = "each layer as it runs, from first to last"
    if found.rest_n:
        words = f"each of the {len(layers)} largest layers as it runs, from first to last"
    looks = [BOUNDS.get(layer.bound or "", ("", "muted")) for layer in layers]
    legend = [span for bound in BOUNDS if BOUNDS[bound] in looks for span in ((" ", "text"), bound_span(bound))]
    rows = [line((f"ms of {words}; the highest is {milliseconds(longest)} ms ", "muted"), *legend)]
    levels = [math.ceil(layer.ms / longest * _PROFILE_HEIGHT * _LEVELS) for layer in layers for _ in range(each)]
    inks = [ink for _, ink in looks for _ in range(each)]
    if each > 1:  # a gap between columns, so that equal neighbours are two
        levels = [0 if i % each == each - 1 else level for i, level in enumerate(levels)]
    bases = range((_PROFILE_HEIGHT - 1) * _LEVELS, -1, -_LEVELS)
    columns = [[glyphs.EIGHTHS[min(max(level - base, 0), _LEVELS)] for level in levels] for base in bases]
    return [*rows, *(runs(column, inks) for column in columns)]


@dataclass(frozen=True, slots=True)
class _Columns:
    """Cells of each column; 0 leaves it out."""

    name: int
    bar: int
    op: int = 0
    macs: int = 0
    bound: int = 0
    cache: int = 0
    device: int = 0
    fallback: int = 0

    @classmethod
    def within(cls, found: FoundLayers, width: int) -> _Columns:
        """The name as long as it needs if the bar keeps a fair size; what nothing is known of is left out."""
        layers = found.layers
        longest = max((_SUMS, *(cell_len(clean(layer.name)) for layer in layers)))
        ops = min(_OP, max((cell_len(clean(layer.op)) for layer in layers), default=0))
        cached = {layer.cache_resident for layer in layers}
        device = max((cell_len(clean(layer.device or "", 16)) for layer in layers), default=0)
        told = {
            "macs": 7 if any(layer.macs for layer in layers) else 0,
            "bound": 10 if any(layer.bound for layer in layers) else 0,
            "device": device + 1 if device else 0,
            "fallback": 11 if any(layer.fallback for layer in layers) else 0,
            "cache": 6 if cached == {True, False} else 0,
            "op": ops + 1 if len(found.by_op) > 1 else 0,
        }
        free = width - 2 - 9 - 7  # the mark, ms and share
        wanted = min(longest, _WIDEST_NAME, max(_NARROWEST_NAME, free // 2))
        kept: dict[str, int] = {}
        for column, cells in told.items():
            if free - cells - sum(kept.values()) >= wanted + 1 + _NARROWEST_BAR:
                kept[column] = cells
        free -= sum(kept.values())
        name = max(0, min(longest, _WIDEST_NAME, free - 1 - _NARROWEST_BAR))
        return cls(name=name, bar=max(0, free - name - 1), **kept)


def _table(found: FoundLayers, width: int) -> list[Line]:
    if not found.layers:
        return []
    columns = _Columns.within(found, width)
    marked = {id(layer) for layer in largest(found)}
    longest = max(layer.ms for layer in found.layers)
    rows = [_heading(columns)]
    rows += [_row(layer, longest, columns, marked=id(layer) in marked) for layer in found.layers]
    if found.rest_n:
        rest = f"{found.rest_n} smaller layer{'' if found.rest_n == 1 else 's'}"
        rows.append(_sum(rest, found.rest_ms, _ratio(found.rest_ms, found.total_ms), columns, "muted"))
    rows.append(_sum(f"all {layer_count(found)} layers", found.total_ms, 1.0, columns, "strong"))
    if not found.estimated:
        whole = _ratio(found.end_to_end_ms, found.total_ms)
        rows.append(_sum("a call end to end", found.end_to_end_ms, whole, columns, "text"))
    return rows


def _heading(columns: _Columns) -> Line:
    words = f"  {'layer':<{columns.name}}{'ms':>9}{'share':>7} {'':<{columns.bar}}"
    words += f"{'MACs':>{columns.macs}}" if columns.macs else ""
    for name, cells in (("bound", columns.bound), ("cache", columns.cache), ("op", columns.op)):
        words += f" {name:<{cells - 1}}" if cells else ""
    words += f" {'device':<{columns.device - 1}}" if columns.device else ""
    return line((words.rstrip(), "muted"))


def _row(layer: FoundLayer, longest: float, columns: _Columns, *, marked: bool) -> Line:
    ink = BOUNDS[layer.bound][1] if layer.bound in BOUNDS else "low"
    stripe, _ = bar(layer.ms / longest if longest > 0 else 0.0, columns.bar)
    spans: list[Span] = [
        (f"{glyphs.OF} " if marked else "  ", "accent"),
        (padded(layer.name, columns.name), "strong" if marked else "text"),
        (f"{milliseconds(layer.ms):>9}", "strong"),
        (f"{percent(layer.share):>7} ", "text"),
        (f"{stripe:<{columns.bar}}", ink),
    ]
    if columns.macs:
        spans.append((f"{short_count(layer.macs):>{columns.macs}}", "muted"))
    if columns.bound:
        bound, bound_ink = bound_span(layer.bound)
        spans.append((f" {bound:<{columns.bound - 1}}", bound_ink))
    if columns.cache:
        spans.append((f" {'fits' if layer.cache_resident else '':<{columns.cache - 1}}", "good"))
    if columns.op:
        spans.append((f" {padded(layer.op, columns.op - 1)}", "muted"))
    if columns.device:
        spans.append((f" {padded(layer.device or UNKNOWN, columns.device - 1)}", "muted"))
    if columns.fallback and layer.fallback:
        spans.append((f" {glyphs.FAILED} fallback", "warning"))
    return line(*spans)


def _sum(name: str, ms: float, share: float | None, columns: _Columns, ink: str) -> Line:
    return line(
        (f"  {padded(name, columns.name)}", ink), (f"{milliseconds(ms):>9}", ink), (f"{percent(share):>7}", ink)
    )


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None


def _explained(found: FoundLayers) -> Iterator[str]:
    """What marks and words mean, and what the study itself notes."""
    if len(found.layers) > 1:
        yield f"{glyphs.OF} the largest; layers stand in the order in which they run"
    roofs = found.roofs
    if roofs is not None:
        yield (
            f"bound by the roofs measured here: {significant(roofs.gflops)} GFLOP/s and "
            f"{significant(roofs.gbytes_per_s)} GB/s meet at {significant(roofs.ridge)} MACs/B"
        )
        cached = {layer.cache_resident for layer in found.layers}
        if cached == {True}:
            yield "what each of these layers moves fits in the last-level cache, so that memory need not limit it"
        elif True in cached:
            yield "cache: what the layer moves fits in the last-level cache, so that memory need not limit it"
    yield from found.notes
