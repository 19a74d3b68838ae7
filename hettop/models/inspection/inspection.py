"""What `hettop inspect` tells of a model, as data and as the JSON document that programs read.

Knows no format: `reading` fills it in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hettop.compute_units import CORE_ML_UNITS
from hettop.models.inspection.summary import Totals
from hettop.models.ports import Port
from hettop.text import clean


@dataclass(frozen=True, slots=True)
class MissingOp:
    """An operation that cannot be translated, and where in the program it stands."""

    op: str
    place: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """A model told from its file.

    format: `onnx`, `mlprogram`, `neuralnetwork`, `pipeline`, or the specification's word for another kind.
    shapes: of the inputs that the totals hold for. ops: how often each type of operation occurs in the file.
    functions: of a multifunction ML Program, the default one first; `function` is the one that is described.
    requires: what it takes to run it, by name: sets of operators, specification, deployment target.
    stages: of a pipeline, (name, kind) of its models. missing_ops: what keeps an ML Program from being translated.
    totals: None where nothing can be counted.
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


PLACEMENT_NOTE = "placement needs Core ML on a Mac"


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
        "precision": totals.precision if totals else None,
        "macs_by_op": dict(totals.macs_by_op) if totals else {},
        "functions": [clean(name) for name in inspection.functions],
        "function": None if inspection.function is None else clean(inspection.function),
        "requires": dict(inspection.requires),
        "stages": [{"name": clean(name), "kind": kind} for name, kind in inspection.stages],
        "missing_ops": [{"op": each.op, "place": each.place} for each in inspection.missing_ops],
        "placement": dict.fromkeys(CORE_ML_UNITS),
        "note": "; ".join((*notes_of(inspection), PLACEMENT_NOTE)),
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
    """An array without axes would be a scalar: its shape is not told."""
    if port.kind == "array" and not port.shape:
        return None
    return [axis if isinstance(axis, int) else None for axis in port.shape]
