"""Adds a graph up: parameters, multiply-accumulates, bytes, intensity and precision of one call.

Knows no format; a total of which a part is unknown is unknown, never a smaller number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hettop.models.inspection.graph import UNKNOWN, Graph, Layer, total_macs

MINOR_SHARE = 0.01
"""A type that holds less of the parameters than this is not named: a few biases do not make a model float32."""

_NAMED = 3
"""Operations named in a note; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What one call costs, and what the file holds.

    parameters: trained values, each counted once; no running statistics, shapes, or factors of quantisation.
    macs: multiply-accumulates of convolutions, matrix products and recurrent cells.
    weight_bytes: of the parameters as stored, with the scales, tables and statistics that belong to them.
    activation_bytes: of what all layers write, each output once and none shared.
    intensity: MACs per byte over the layers that have any: their inputs, weights and outputs, each moved once
        (the operational intensity of the roofline model, Williams et al. 2009).
    macs_by_op: `macs` by type of operation, only what is known.
    precision: the type computed in and, where they are stored in another, that of the weights.
    """

    parameters: int
    macs: int | None
    weight_bytes: int
    activation_bytes: int | None
    intensity: float | None
    precision: str | None
    macs_by_op: Mapping[str, int]
    notes: tuple[str, ...]


def add_up(graph: Graph) -> Totals:
    macs = total_macs(graph.layers)
    written = [layer.output_bytes for layer in graph.layers]
    known = [nbytes for nbytes in written if nbytes is not None]
    return Totals(
        parameters=sum(weight.elements for weight in graph.weights),
        macs=macs,
        weight_bytes=sum(weight.stored for weight in graph.weights),
        activation_bytes=sum(known) if len(known) == len(written) else None,
        intensity=_intensity(graph.layers),
        precision=_precision(graph),
        macs_by_op=_by_op(graph.layers),
        notes=(*graph.notes, *_gaps(graph.layers)),
    )


def _by_op(layers: Iterable[Layer]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for layer in layers:
        if layer.macs:
            found[layer.op] += layer.macs
    return dict(found)


def _intensity(layers: Iterable[Layer]) -> float | None:
    macs = moved = 0
    for layer in layers:
        if layer.macs == 0:
            continue
        if layer.macs is None or layer.moved_bytes is None:
            return None
        macs += layer.macs
        moved += layer.moved_bytes
    return macs / moved if moved else None


def _precision(graph: Graph) -> str | None:
    heavy = [layer for layer in graph.layers if layer.macs != 0] or graph.layers
    computed = Counter(layer.dtype for layer in heavy if layer.dtype != UNKNOWN.dtype)
    stored: Counter[str] = Counter()
    for weight in graph.weights:
        stored[weight.dtype] += weight.elements
    kept = [dtype for dtype, share in stored.most_common() if share > MINOR_SHARE * stored.total()]
    compute = [dtype for dtype, _ in computed.most_common()]
    if not compute or not kept or kept == compute:
        return " and ".join(compute or kept) or None
    return f"{' and '.join(compute)}, weights {' and '.join(kept)}"


def _gaps(layers: Iterable[Layer]) -> list[str]:
    """Why the count of MACs is unknown, if it is: the first operations in the way."""
    unknown = [layer for layer in layers if layer.macs is None]
    if not unknown:
        return []
    named = ", ".join(f"{layer.op} {layer.name}" for layer in unknown[:_NAMED])
    more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
    return [f"MACs are unknown: {named}{more} cannot be counted with these input shapes"]
