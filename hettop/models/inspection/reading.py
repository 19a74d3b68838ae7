"""From a file to what is told of it: picks the reader by the kind of file and adds up what it finds.

Knows neither the command line nor a screen; heavy libraries are imported by the reader that needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hettop.errors import HettopError
from hettop.models.inspection.inspection import Inspection, add_up
from hettop.models.shapes import check_names, choose_shapes
from hettop.text import clean

CORE_ML_SUFFIXES = (".mlpackage", ".mlmodel")

CONTRADICTIONS = (LookupError, ArithmeticError, TypeError, ValueError, RecursionError)
"""What reading a graph raises that leaves out, or writes in another type, what its operators must have."""

Shapes = Mapping[str, tuple[int, ...]]


def inspect(path: Path, *, shapes: Shapes, function: str | None = None) -> Inspection:
    """What the model file or package at `path` holds and costs, for inputs of these shapes.

    Inputs that `shapes` does not name have the shape in which they would be run. Raises HettopError: `missing`,
    `format`, `io` for a file that cannot be read, `input` for a shape or function that the model does not have.
    """
    if path.suffix.lower() in CORE_ML_SUFFIXES:
        from hettop.models.inspection.coreml import inspect_package

        return inspect_package(path, shapes=shapes, function=function)
    return inspect_onnx(path, shapes=shapes, function=function)


def inspect_onnx(path: Path, *, shapes: Shapes, function: str | None = None) -> Inspection:
    """As `inspect`, for an ONNX file."""
    from hettop.models.inspection.onnx_file import onnx_ports, open_onnx, opsets
    from hettop.models.inspection.onnx_graph import read_graph

    if function is not None:
        raise HettopError("input", f"{clean(path.name)} has no functions: it is an ONNX model", "leave out --function")
    model = open_onnx(path)
    inputs, outputs = onnx_ports(model)
    check_names(inputs, shapes, "--shape")
    chosen = choose_shapes(inputs, shapes, {})
    try:
        graph = read_graph(model, chosen)
        totals = add_up(graph)
    except CONTRADICTIONS as error:
        raise HettopError(
            "format", f"{clean(path.name)}: its graph contradicts itself ({type(error).__name__})", "export it again"
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
    )
