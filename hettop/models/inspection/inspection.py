"""What `hettop inspect` reports of a model: parameters, MACs, bytes, intensity and precision, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hettop.compute_units import CORE_ML_UNITS
from hettop.models.inspection.graph import UNKNOWN, Graph, Layer, total_macs
from hettop.models.ports import Port
from hettop.text import clean


@dataclass(frozen=True, slots=True)
class MissingOp:
    """An operation that cannot be translated, and where in the program it stands."""

    op: str
    place: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """A model reported from its file.

    format: `onnx`, `mlprogram`, `neuralnetwork`, `pipeline`, or the specification's word for another kind.
    shapes: of the inputs that the totals hold for. ops: how often each type of operation occurs in the file.
    functions: of a multifunction ML Program, the default one first; `function` is the one that is described.
    requires: what it takes to run it, by name: sets of operators, specification, deployment target.
    stages: of a pipeline, (name, kind) of its models. missing_ops: what keeps a Core ML model from being
    translated.
    totals: None where nothing can be counted; `precision` is then what the format itself reports of it.
    """

    name: str
    format: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    totals: Totals | None
    ops: Mapping[str, int] = field(default_factory=dict)
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    states: tuple[Port, ...] = ()
    functions: tuple[str, ...] = ()
    function: str | None = None
    requires: Mapping[str, str | int] = field(default_factory=dict)
    stages: tuple[tuple[str, str], ...] = ()
    missing_ops: tuple[MissingOp, ...] = ()
    notes: tuple[str, ...] = ()
    precision: str | None = None


PLACEMENT_NOTE = "placement needs Core ML on a Mac"
CORE_AI_NOTE = "placement is not reported by Core AI"


def placement_note(inspection: Inspection) -> str:
    """Why there is no placement."""
    return CORE_AI_NOTE if inspection.format == "coreai" else PLACEMENT_NOTE


def document(inspection: Inspection) -> dict[str, Any]:
    """The JSON document; unknown is null."""
    totals = inspection.totals
    return {
        "name": clean(inspection.name),
        "format": inspection.format,
        "inputs": [port_document(port, inspection.shapes) for port in inspection.inputs],
        "outputs": [port_document(port) for port in inspection.outputs],
        "state": [port_document(port) for port in inspection.states],
        "ops": dict(sorted(inspection.ops.items(), key=lambda item: (-item[1], item[0]))),
        "parameters": totals.parameters if totals else None,
        "macs": totals.macs if totals else None,
        "weight_bytes": totals.weight_bytes if totals else None,
        "activation_bytes": totals.activation_bytes if totals else None,
        "operational_intensity": totals.intensity if totals else None,
        "precision": totals.precision if totals else inspection.precision,
        "macs_by_op": dict(totals.macs_by_op) if totals else {},
        "functions": [clean(name) for name in inspection.functions],
        "function": None if inspection.function is None else clean(inspection.function),
        "requires": dict(inspection.requires),
        "stages": [{"name": clean(name), "kind": kind} for name, kind in inspection.stages],
        "missing_ops": [{"op": each.op, "place": each.place} for each in inspection.missing_ops],
        "placement": dict.fromkeys(CORE_ML_UNITS),
        "note": "; ".join((*notes_of(inspection), placement_note(inspection))),
    }


def notes_of(inspection: Inspection) -> tuple[str, ...]:
    """What there is to say beside the numbers."""
    return (*inspection.notes, *(inspection.totals.notes if inspection.totals else ()))


def port_document(port: Port, shapes: Mapping[str, tuple[int, ...]] | None = None) -> dict[str, Any]:
    """A port with null for each dynamic axis; `counted_shape` is the one that the totals hold for."""
    found: dict[str, Any] = {
        "name": clean(port.name),
        "kind": port.kind,
        "dtype": port.dtype,
        "shape": _axes(port),
    }
    if shapes is not None and port.name in shapes:
        found["counted_shape"] = list(shapes[port.name])
    if port.optional:
        found["optional"] = True
    if port.color is not None:
        found["color"] = port.color
    if port.choices:
        found["choices"] = [list(choice) for choice in port.choices]
    if port.ranges:
        found["ranges"] = [list(limits) for limits in port.ranges]
    return found


def _axes(port: Port) -> list[int | None] | None:
    """An array without axes would be a scalar: its shape is not reported."""
    if port.kind == "array" and not port.shape:
        return None
    return [axis if isinstance(axis, int) else None for axis in port.shape]


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
    return [f"MACs are unknown: cannot count {named}{more} with these input shapes"]
