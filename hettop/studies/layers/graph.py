"""The model's own graph and the one its runtime made of it, and which operations a node of the runtime stands for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.models.inspection.graph import Layer
from hettop.models.inspection.reading import CONTRADICTIONS
from hettop.text import clean


def read_layers(
    path: Path, shapes: Mapping[str, tuple[int, ...]], values: Mapping[str, Any] | None = None
) -> tuple[tuple[Layer, ...], frozenset[str]]:
    """Layers for inputs of these shapes and values, and the names of the model's outputs.

    Raises HettopError: `format`, `io`.
    """
    from hettop.models.inspection.onnx_file import open_onnx
    from hettop.models.inspection.onnx_graph import read_graph

    model = open_onnx(path)
    outputs = frozenset(value.name for value in model.graph.output)
    try:
        return read_graph(model, shapes, values).layers, outputs
    except CONTRADICTIONS as error:
        raise HettopError(
            "format", f"{clean(path.name)}: its graph is inconsistent ({type(error).__name__})", "export it again"
        ) from error


def named_copy(path: Path, folder: Path) -> Path:
    """The model with a name for each node, in `folder`; the model itself if it has them, or cannot be copied.

    A node without a name, or with one that another has, is called after its first output: in a profile it could not
    be distinguished from others. Weights in files of their own are too large to be copied, and are not found from
    elsewhere. Raises HettopError: `format`, `io`.
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


INSERTED = frozenset({"ReorderInput", "ReorderOutput", "Cast", "Transpose"})
"""What ONNX Runtime puts between the model's operations, under names and around values that are the model's."""

_ADDED = (
    r"_nchwc$", r"^InsertedPrecisionFreeCast_", r"/MatMulAddFusion$", r"^fused ", r"_token_\d+$", r"_quant$",
    r"(/?FusedMatMulAndScale|MatMul_With_Transpose)$",
)  # fmt: skip
"""What it adds to the name of a node, or of the value that the node makes."""

_KIN = (("FusedConv", "Conv"), ("FusedGemm", "Gemm"), ("FusedMatMul", "MatMul"), ("QLinear", ""))
_LIKE = {"Gemm": {"Gemm", "MatMul"}, "FusedMatMul": {"MatMul"}}


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the runtime's graph; values have the model's names where they still are the model's."""

    name: str
    op: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


def lead_back(layers: Sequence[Layer], nodes: Sequence[Node]) -> tuple[dict[int, list[int]], int]:
    """Indices of the layers that each node was made of, in order, and how many layers no node was made of.

    `layers` in the model's order, `nodes` in the order in which they run. A node whose name or output is the model's
    has that layer; then what lies before it that it must have been made of; what is then left was fused into what made
    its input.
    """
    search = _Search(layers, nodes)
    search.by_name()
    search.by_output()
    search.backwards()
    search.forwards()
    claims: dict[int, list[int]] = {index: [] for index in range(len(nodes))}
    for layer, node in sorted(search.owner.items()):
        claims[node].append(layer)
    return claims, len(layers) - len(search.owner)


class _Search:
    """`owner`: node by layer, as far as known."""

    def __init__(self, layers: Sequence[Layer], nodes: Sequence[Node]) -> None:
        self._layers, self._nodes = layers, nodes
        self._maker = {value: index for index, layer in enumerate(layers) for value, _ in layer.writes}
        self._named: dict[str, int] = {}
        for index, layer in enumerate(layers):
            self._named.setdefault(layer.name, index)
        self.owner: dict[int, int] = {}

    def by_name(self) -> None:
        for index, node in enumerate(self._nodes):
            for name in _origins(node.name):
                found = self._named.get(name, self._maker.get(name))
                if found is not None and self._may_hold(node, found):
                    self.owner.setdefault(found, index)
                    break

    def by_output(self) -> None:
        for index, node in enumerate(self._nodes):
            for value in node.writes:
                found = self._maker.get(value)
                if found is not None and self._may_hold(node, found):
                    self.owner.setdefault(found, index)

    def _may_hold(self, node: Node, layer: int) -> bool:
        """A node that was put in holds no operation, unless it does the work of a transposition on its way."""
        return node.op not in INSERTED or self._layers[layer].op in (node.op, "Transpose")

    def backwards(self) -> None:
        """First the nodes that lack an operation of their own kind: the path to it. Then those that have none like it.

        In that order, because of a convolution with what follows it only the end may have been found by name.
        """
        held = self._held()
        rest = []
        for index, node in enumerate(self._nodes):
            if index not in held or node.op in INSERTED:
                continue
            if any(_is_kin(node.op, self._layers[layer].op) for layer in held[index]):
                continue
            path = self._path(held[index], node.op)
            self.owner.update((layer, index) for layer in path)
            if not path:
                rest.append(index)
        for index in rest:
            stop = set(self._nodes[index].reads)
            self.owner.update((layer, index) for layer in self._behind(held[index], stop))

    def forwards(self) -> None:
        """What was fused into the node that made its input: of several, into the one that ran last."""
        for index, layer in enumerate(self._layers):
            if index not in self.owner:
                makers = [self._maker[value] for value, _ in layer.reads if value in self._maker]
                owners = [self.owner[maker] for maker in makers if maker in self.owner]
                if owners:
                    self.owner[index] = max(owners)

    def _held(self) -> Mapping[int, list[int]]:
        found: dict[int, list[int]] = {}
        for layer, node in self.owner.items():
            found.setdefault(node, []).append(layer)
        return found

    def _path(self, held: Sequence[int], op: str) -> list[int]:
        """Free layers from those held back to the nearest one of this kind, by first inputs; empty if there is none."""
        path: list[int] = []
        layer = min(held)
        while True:
            before = next((b for b in self._before(layer) if b not in self.owner and b not in path), None)
            if before is None:
                return []
            path.append(before)
            if _is_kin(op, self._layers[before].op):
                return path
            layer = before

    def _behind(self, held: Sequence[int], stop: set[str]) -> set[int]:
        """All free layers that lead to those held, not beyond the values in `stop`."""
        found: set[int] = set()
        waiting = list(held)
        while waiting:
            for before in self._before(waiting.pop(), stop):
                if before not in self.owner and before not in found:
                    found.add(before)
                    waiting.append(before)
        return found

    def _before(self, layer: int, stop: set[str] | None = None) -> Iterator[int]:
        for value, _ in self._layers[layer].reads:
            if value in self._maker and (stop is None or value not in stop):
                yield self._maker[value]


def _origins(name: str) -> Iterator[str]:
    """The name, and what it was before the runtime added to it."""
    yield name
    for pattern in _ADDED:
        shorter = re.sub(pattern, "", name)
        if shorter != name:
            yield shorter
            name = shorter


def _is_kin(ran: str, op: str) -> bool:
    """Whether a node of type `ran` can be the heart of an operation of type `op`."""
    plain = op.rpartition(":")[2]
    kin = ran
    for prefix, meant in _KIN:
        kin = kin.replace(prefix, meant)
    return plain in (ran, kin) or plain in _LIKE.get(ran, ())
