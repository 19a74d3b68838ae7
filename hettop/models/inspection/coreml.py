"""What a Core ML file holds and costs: ML Programs in full, NeuralNetwork models by their layers, pipelines by stages.

Knows how the kinds differ; how each is read is its reader's affair.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hettop.errors import HettopError
from hettop.models.inspection.graph import Tensor
from hettop.models.inspection.inspection import Inspection, MissingOp, Totals, add_up
from hettop.models.inspection.mil_graph import has_open_shapes, read_program
from hettop.models.mil.package import Package, open_package
from hettop.models.mil.table import missing_ops
from hettop.models.package_ports import package_port
from hettop.models.shapes import check_names, choose_shapes
from hettop.text import clean

Shapes = Mapping[str, tuple[int, ...]]

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
        return add_up(graph), graph.ops, ()
    if package.kind != "mlprogram":
        notes.append(f"{package.kind} models are described, not counted")
        return None, {}, ()
    missing = tuple(
        MissingOp(clean(each.op), clean(f"{each.output!r} of function {each.function!r}"))
        for each in missing_ops(package)
    )
    graph = read_program(package, function, _typed(shapes))
    if has_open_shapes(graph):
        known = _inferred(package, function, shapes, notes)
        graph = read_program(package, function, known)
    return add_up(graph), graph.ops, missing


def _typed(shapes: Shapes) -> dict[str, Tensor]:
    return {name: Tensor("", shape) for name, shape in shapes.items()}


def _inferred(package: Package, function: str | None, shapes: Shapes, notes: list[str]) -> dict[str, Tensor]:
    """Types of the program's values for these input shapes, as ONNX infers them from the translation.

    A program declares free axes without names, so that its own types do not tell which of them go together.
    """
    from hettop.models.inspection.onnx_graph import value_types
    from hettop.models.mil.translate import translate

    try:
        translation = translate(package, function)
    except HettopError as error:
        notes.append(f"shapes cannot be inferred: {error.message}")
        return _typed(shapes)
    return value_types(translation.model, shapes) | _typed(shapes)
