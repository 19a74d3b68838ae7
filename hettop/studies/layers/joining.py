"""Joins what ran to what the model says: rows with time, work and bytes for each node of the runtime's graph.

Pure; knows layers as the inspection counts them, and the profile's nodes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from hettop.models.inspection.graph import Layer, total_macs
from hettop.studies.layers.lineage import INSERTED, Node, lead_back
from hettop.studies.layers.profile import RanNode
from hettop.studies.layers.result import LayerRow, total
from hettop.text import clean

REARRANGING = INSERTED | {"Identity", "Reshape", "Squeeze", "Unsqueeze"}
"""They multiply nothing; what else a runtime adds that the model does not name, nobody knows."""


def join(
    layers: Sequence[Layer],
    outputs: Collection[str],
    ran: Sequence[RanNode],
    wiring: Mapping[str, Node],
) -> tuple[tuple[LayerRow, ...], int]:
    """Rows in the order in which they ran, and how many operations of the model did not run.

    outputs: the values that the model gives out. wiring: of the runtime's nodes by name, as far as it is known.
    """
    nodes = [Node(each.name, each.op, *_ends(wiring.get(each.name))) for each in ran]
    claims, unused = lead_back(layers, nodes)
    readers = _readers(layers)
    whole = math.fsum(each.ms for each in ran)
    rows = []
    for index, each in enumerate(ran):
        share = each.ms / whole if whole > 0 else 0.0
        parts = [layers[claim] for claim in claims[index]]
        if not parts:
            macs = 0 if each.op in REARRANGING else None
            rows.append(
                LayerRow(clean(each.name), clean(each.op), each.ms, share, macs, each.nbytes, ran_as=clean(each.name))
            )
            continue
        heart, op = _heart(parts, each.op)
        # What the inspection takes for computed at load moves nothing, yet here it ran: the runtime's bytes are known.
        moved = each.nbytes if (counted := _moved(parts, outputs, readers)) == 0 else counted
        others = tuple(part.name for part in parts if part is not heart)
        macs, ran_as = total_macs(parts), clean(each.name)
        rows.append(LayerRow(heart.name, op, each.ms, share, macs, moved, fused=others, ran_as=ran_as))
    return tuple(rows), unused


def _heart(parts: Sequence[Layer], ran_op: str) -> tuple[Layer, str]:
    """The operation that a row is called after, and its type: the one with the most MACs, or of the type that ran.

    Of operations that became one of another type (a layer normalisation of nine) the last one and that type.
    """
    working = [part for part in parts if part.macs != 0]
    if working:
        heart = max(working, key=lambda part: (part.macs is None, part.macs or 0))
        return heart, heart.op
    same = next((part for part in parts if part.op == ran_op), None)
    return (same, same.op) if same is not None else (parts[-1], clean(ran_op))


def _ends(node: Node | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return ((), ()) if node is None else (node.reads, node.writes)


def _readers(layers: Sequence[Layer]) -> dict[str, set[int]]:
    """Who reads each value, by the identity of the layer."""
    found: dict[str, set[int]] = {}
    for layer in layers:
        for value, _ in layer.reads:
            found.setdefault(value, set()).add(id(layer))
    return found


def _moved(parts: Sequence[Layer], outputs: Collection[str], readers: Mapping[str, set[int]]) -> int | None:
    """Bytes of weights, of values that come from outside and of values that somebody outside reads, each once."""
    inside = {id(part) for part in parts}
    written = {value: nbytes for part in parts for value, nbytes in part.writes}
    read = {value: nbytes for part in parts for value, nbytes in part.reads if value not in written}
    leaving = [
        nbytes
        for value, nbytes in written.items()
        if value in outputs or not readers.get(value) or readers[value] - inside
    ]
    return total([*read.values(), *leaving, *(part.weight_bytes for part in parts)])
