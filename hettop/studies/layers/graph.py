"""Reads the two graphs that a profile is joined with: the model's own, and the one that the runtime made of it.

Knows ONNX files; onnx is imported when there is something to read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.models.inspection.graph import Layer
from hettop.models.inspection.reading import CONTRADICTIONS
from hettop.studies.layers.lineage import Node
from hettop.text import clean


def read_layers(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> tuple[tuple[Layer, ...], frozenset[str]]:
    """Layers for inputs of these shapes, and the names of the model's outputs. Raises HettopError: `format`, `io`."""
    from hettop.models.inspection.onnx_file import open_onnx
    from hettop.models.inspection.onnx_graph import read_graph

    model = open_onnx(path)
    outputs = frozenset(value.name for value in model.graph.output)
    try:
        return read_graph(model, shapes).layers, outputs
    except CONTRADICTIONS as error:
        raise HettopError(
            "format", f"{clean(path.name)}: its graph contradicts itself ({type(error).__name__})", "export it again"
        ) from error


def named_copy(path: Path, folder: Path) -> Path:
    """The model with a name for each node, in `folder`; the model itself if it has them, or cannot be copied.

    A node without a name, or with one that another has, is called after its first output: in a profile it could not
    be told from others. Weights in files of their own are too large to be copied, and are not found from elsewhere.
    Raises HettopError: `format`, `io`.
    """
    from hettop.models.inspection.onnx_file import open_onnx

    model = open_onnx(path)
    nodes = [node for node in _all_nodes(model.graph) if node.output]
    taken = Counter(node.name for node in nodes)
    if all(node.name and taken[node.name] == 1 for node in nodes) or has_external_weights(model):
        return path
    for node in nodes:
        if not node.name or taken[node.name] > 1:
            node.name = next(filter(None, node.output), node.op_type)
    copy = folder / "named.onnx"
    copy.write_bytes(model.SerializeToString())
    return copy


def has_external_weights(model: Any) -> bool:
    from onnx import TensorProto

    return any(tensor.data_location == TensorProto.EXTERNAL for tensor in model.graph.initializer)


def read_wiring(path: Path) -> dict[str, Node]:
    """Nodes of an optimised model by name, those inside others included; empty if there is no file that can be read."""
    import onnx

    if not path.is_file():
        return {}
    model = onnx.load_model(path, load_external_data=False)
    return {
        node.name: Node(node.name, node.op_type, tuple(filter(None, node.input)), tuple(filter(None, node.output)))
        for node in _all_nodes(model.graph)
    }


def _all_nodes(graph: Any) -> Iterator[Any]:
    """Nodes of a graph and of the graphs inside it."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from _all_nodes(inner)
