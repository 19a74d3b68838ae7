"""Inspects a model file: picks the reader by the kind of file and adds up what it finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hettop.errors import HettopError
from hettop.models.core_ai import is_core_ai
from hettop.models.decoding import find_pairs
from hettop.models.inspection.graph import Tensor
from hettop.models.inspection.inspection import Inspection, MissingOp, Totals, add_up
from hettop.models.inspection.mil_graph import has_open_shapes, read_program
from hettop.models.mil.neuralnetwork.translate import missing_parts
from hettop.models.mil.package import Package, open_package
from hettop.models.mil.table import missing_ops
from hettop.models.package_ports import package_port
from hettop.models.ports import Port
from hettop.models.shapes import check_names, choose_shapes
from hettop.text import clean

CORE_ML_SUFFIXES = (".mlpackage", ".mlmodel")

CONTRADICTIONS = (LookupError, ArithmeticError, TypeError, ValueError, RecursionError)
"""What reading a graph raises that leaves out, or writes in another type, what its operators must have."""

Shapes = Mapping[str, tuple[int, ...]]


def inspect(
    path: Path, *, shapes: Shapes, function: str | None = None, values: Mapping[str, str] | None = None
) -> Inspection:
    """What the model file or package at `path` holds and costs, for inputs of these shapes.

    Inputs that `shapes` does not name have the shape in which they would be run; `values` are numbers for inputs of an
    ONNX model, which may decide which branch runs. Raises HettopError: `missing`,
    `format`, `io` for a file that cannot be read, `input` for a shape or function that the model does not have.
    """
    if is_core_ai(path):
        if shapes or values:
            raise HettopError("input", "--shape and --input have no effect on a Core AI asset", "leave them out")
        from hettop.models.inspection.core_ai import inspect_asset

        return inspect_asset(path, function)
    if path.suffix.lower() in CORE_ML_SUFFIXES:
        if values:
            raise HettopError("input", "--input applies to ONNX models", "leave it out")
        return inspect_package(path, shapes=shapes, function=function)
    return inspect_onnx(path, shapes=shapes, function=function, values=values or {})


def inspect_onnx(path: Path, *, shapes: Shapes, function: str | None, values: Mapping[str, str]) -> Inspection:
    """As `inspect`, for an ONNX file."""
    from hettop.models.inputs import filled
    from hettop.models.inspection.onnx_file import onnx_ports, open_onnx, opsets
    from hettop.models.inspection.onnx_graph import read_graph

    if function is not None:
        raise HettopError("input", f"{clean(path.name)} has no functions: it is an ONNX model", "leave out --function")
    model = open_onnx(path)
    inputs, outputs = onnx_ports(model)
    check_names(inputs, shapes, "--shape")
    check_names(inputs, values, "--input")
    chosen = choose_shapes(inputs, shapes, {})
    known = {port.name: filled(port, chosen[port.name], values[port.name]) for port in inputs if port.name in values}
    try:
        graph = read_graph(model, chosen, known)
        totals = add_up(graph)
    except CONTRADICTIONS as error:
        raise HettopError(
            "format", f"{clean(path.name)}: its graph is inconsistent ({type(error).__name__})", "export it again"
        ) from error
    return Inspection(
        name=path.name,
        format="onnx",
        inputs=tuple(replace(port, name=clean(port.name)) for port in inputs),
        outputs=outputs,
        totals=totals,
        ops=graph.ops,
        shapes={clean(name): shape for name, shape in chosen.items()},
        requires=opsets(model),
        notes=_carried(inputs, outputs),
    )


def _carried(inputs: Sequence[Port], outputs: Sequence[Port]) -> tuple[str, ...]:
    """The state that a call hands to the next one, as far as names and shapes show it."""
    pairs = find_pairs(inputs, outputs)
    return () if not pairs else (f"carried from call to call: {', '.join(clean(pair.describe()) for pair in pairs)}",)


UPDATABLE_NOTE = "updatable: it can be trained on a device, which needs Core ML"


def inspect_package(path: Path, *, shapes: Shapes, function: str | None) -> Inspection:
    """As `inspect`, for a Core ML file."""
    package = open_package(path)
    ports = package.function(function)
    inputs = tuple(package_port(port) for port in ports.inputs)
    check_names(inputs, shapes, "--shape")
    chosen = choose_shapes(inputs, shapes, {}) if package.kind == "mlprogram" or shapes else {}
    notes = [UPDATABLE_NOTE] if package.updatable else []
    totals, ops, missing = _contents(package, function, chosen, notes)
    return Inspection(
        name=package.name,
        format=package.kind,
        inputs=inputs,
        outputs=tuple(package_port(port) for port in ports.outputs),
        totals=totals,
        ops=ops,
        shapes=chosen,
        states=tuple(package_port(port) for port in ports.states),
        functions=tuple(each.name for each in package.functions) if package.kind == "mlprogram" else (),
        function=ports.name if package.kind == "mlprogram" else None,
        requires={"specification": package.specification, "deployment target": package.deployment_target},
        stages=package.stages,
        missing_ops=missing,
        notes=tuple(notes),
    )


def _contents(
    package: Package, function: str | None, shapes: Shapes, notes: list[str]
) -> tuple[Totals | None, Mapping[str, int], tuple[MissingOp, ...]]:
    if package.kind == "neuralnetwork":
        from hettop.models.inspection.neuralnetwork import read_network

        graph = read_network(package, shapes)
        return add_up(graph), graph.ops, _missing(package)
    if package.kind != "mlprogram":
        notes.append(f"{package.kind} models are described, not counted")
        return None, {}, _missing(package)
    missing = tuple(
        MissingOp(clean(each.op), clean(f"{each.output!r} of function {each.function!r}"))
        for each in missing_ops(package)
    )
    graph = read_program(package, function, _typed(shapes))
    if has_open_shapes(graph):
        known = _inferred(package, function, shapes, notes)
        graph = read_program(package, function, known)
    return add_up(graph), graph.ops, missing


def _missing(package: Package) -> tuple[MissingOp, ...]:
    return tuple(MissingOp(clean(kind), clean(place)) for kind, place in missing_parts(package.spec))


def _typed(shapes: Shapes) -> dict[str, Tensor]:
    return {name: Tensor("", shape) for name, shape in shapes.items()}


def _inferred(package: Package, function: str | None, shapes: Shapes, notes: list[str]) -> dict[str, Tensor]:
    """Types of the program's values for these input shapes, as ONNX infers them from the translation.

    A program declares free axes without names, so its types do not show which of them are equal.
    """
    from hettop.models.inspection.onnx_graph import value_types
    from hettop.models.mil.translate import translate

    try:
        translation = translate(package, function)
    except HettopError as error:
        notes.append(f"cannot infer shapes: {error.message}")
        return _typed(shapes)
    return value_types(translation.model, shapes) | _typed(shapes)
