"""Reads the two graphs that a profile is joined with: the model's own, and the one that the runtime made of it.

Knows ONNX files; onnx is imported when there is something to read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.inspection.graph import Layer
from hettop.inspection.reading import CONTRADICTIONS
from hettop.layers.lineage import Node
from hettop.text import clean


def read_layers(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> tuple[tuple[Layer, ...], frozenset[str]]:
    """Layers for inputs of these shapes, and the names of the model's outputs. Raises HettopError: `format`, `io`."""
    from hettop.inspection.onnx_file import open_onnx
    from hettop.inspection.onnx_graph import read_graph

    model = open_onnx(path)
    outputs = frozenset(value.name for value in model.graph.output)
    try:
        return read_graph(model, shapes).layers, outputs
    except CONTRADICTIONS as error:
        raise HettopError(
            "format", f"{clean(path.name)}: its graph contradicts itself ({type(error).__name__})", "export it again"
        ) from error


def read_wiring(path: Path) -> dict[str, Node]:
    """Nodes of an optimised model by name, those inside others included; empty if there is no file that can be read."""
    import onnx

    if not path.is_file():
        return {}
    model = onnx.load_model(path, load_external_data=False)
    return {node.name: node for node in _nodes(model.graph)}


def _nodes(graph: Any) -> Iterator[Node]:
    for node in graph.node:
        yield Node(node.name, node.op_type, tuple(filter(None, node.input)), tuple(filter(None, node.output)))
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from _nodes(inner)
