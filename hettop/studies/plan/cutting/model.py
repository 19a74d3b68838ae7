"""ONNX models as the cutting sees them: their flow, and models made of some of their steps."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.models.inspection.onnx_file import open_onnx
from hettop.processes.framework_errors import reason
from hettop.studies.layers.graph import has_external_weights
from hettop.studies.plan.cutting.graph import Flow, Part, Step, ends, useful
from hettop.text import clean

RANDOM = frozenset(
    {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli"}
)
"""Not constant, whatever they read; and cut models with them would not answer as the whole one does."""

LARGEST_INLINE = 1 << 30
"""Weights of more bytes lie in a file of their own: protobuf holds 2 GiB."""


class Model:
    """An opened model. `flow` is how it runs; `names` maps names of operations inside of others to theirs."""

    def __init__(self, path: Path) -> None:
        """Raises HettopError: `format`, `io`."""
        self.proto = open_onnx(path)
        if has_external_weights(self.proto):
            from onnx.checker import ValidationError
            from onnx.external_data_helper import load_external_data_for_model

            try:
                load_external_data_for_model(self.proto, str(path.parent))
            except (OSError, ValueError, ValidationError) as error:
                message = f"cannot read the weights of {clean(path.name)}: {reason(error)}"
                raise HettopError("io", message, "keep them beside it") from error
        graph = self.proto.graph
        weights = [*graph.initializer, *(each.values for each in graph.sparse_initializer)]
        self._weights = {each.name for each in weights}
        _sort(graph, path)
        self._fixed_makers: dict[str, int] = {}
        self.names: dict[str, str] = {}
        self.flow = useful(self._flow(graph))

    def extract(self, part: Part, types: Mapping[str, tuple[int, tuple[int, ...]]]) -> Any:
        """The model of these steps alone. types: element type and shape of each value that it takes in."""
        import onnx

        taken, given = ends(self.flow, part)
        graph, source = onnx.GraphProto(name=f"steps {part.first} to {part.last}"), self.proto.graph
        nodes = {step.node for step in self.flow.steps[part.first : part.last + 1]}
        nodes |= self._fixed_below(nodes)
        graph.node.extend(source.node[index] for index in sorted(nodes))
        read = {name for index in nodes for name in _reads(source.node[index])} | set(given)
        graph.initializer.extend(each for each in source.initializer if each.name in read)
        graph.sparse_initializer.extend(each for each in source.sparse_initializer if each.values.name in read)
        for name in taken:
            graph.input.append(onnx.helper.make_tensor_value_info(name, *types[name]))
        own = {value.name: value for value in source.output}
        graph.output.extend(own.get(name, onnx.ValueInfoProto(name=name)) for name in given)
        return self._with(graph)

    def with_outputs(self, values: tuple[str, ...]) -> Any:
        """The whole model, with these values as outputs beside its own."""
        import onnx

        graph = onnx.GraphProto()
        graph.CopyFrom(self.proto.graph)
        known = {value.name for value in graph.output}
        graph.output.extend(onnx.ValueInfoProto(name=name) for name in values if name not in known)
        return self._with(graph)

    def weight_bytes(self, part: Part) -> int:
        """Bytes of the weights that these steps read, those of several steps counted once."""
        source = self.proto.graph
        nodes = {step.node for step in self.flow.steps[part.first : part.last + 1]}
        nodes |= self._fixed_below(nodes)
        read = {name for index in nodes for name in _reads(source.node[index])}
        return sum(each.ByteSize() for each in source.initializer if each.name in read)

    def _with(self, graph: Any) -> Any:
        import onnx

        return onnx.ModelProto(
            ir_version=self.proto.ir_version, opset_import=self.proto.opset_import, graph=graph, producer_name="hettop"
        )

    def _flow(self, graph: Any) -> Flow:
        fixed = set(self._weights)
        steps = []
        for index, node in enumerate(graph.node):
            name = clean(node.name or next(filter(None, node.output), node.op_type))
            reads = tuple(dict.fromkeys(each for each in _reads(node) if each not in fixed))
            writes = tuple(filter(None, node.output))
            self.names.update((inner, name) for inner in _inner_names(node))
            if not reads and node.op_type not in RANDOM:
                fixed.update(writes)
                self._fixed_makers.update(dict.fromkeys(writes, index))
            else:
                steps.append(Step(name, clean(node.op_type), index, reads, writes))
        inputs = tuple(value.name for value in graph.input if value.name not in self._weights)
        return Flow(tuple(steps), inputs, tuple(value.name for value in graph.output))

    def _fixed_below(self, nodes: set[int]) -> set[int]:
        """The nodes that make the constants these nodes read, and those that they are made of."""
        found: set[int] = set()
        waiting = list(nodes)
        while waiting:
            for name in _reads(self.proto.graph.node[waiting.pop()]):
                maker = self._fixed_makers.get(name)
                if maker is not None and maker not in found:
                    found.add(maker)
                    waiting.append(maker)
        return found


def _sort(graph: Any, path: Path) -> None:
    """Puts each node behind those whose values it reads, and otherwise leaves the order as it is.

    The format asks for that, but some converters append what they insert, and runtimes sort for themselves. Raises
    HettopError: `format`, if nodes wait for each other.
    """
    nodes = list(graph.node)
    makers = {value: index for index, node in enumerate(nodes) for value in node.output if value}
    needs = [{makers[value] for value in _reads(node) if value in makers} for node in nodes]
    readers: list[list[int]] = [[] for _ in nodes]
    for index, needed in enumerate(needs):
        for maker in needed:
            readers[maker].append(index)
    missing = [len(needed) for needed in needs]
    free = [index for index, count in enumerate(missing) if count == 0]
    heapq.heapify(free)
    order = []
    while free:
        order.append(heapq.heappop(free))
        for reader in readers[order[-1]]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(free, reader)
    if len(order) < len(nodes):
        raise HettopError("format", f"{clean(path.name)}: its graph has a cycle", "export it again")
    if order != sorted(order):
        del graph.node[:]
        graph.node.extend(nodes[index] for index in order)


def write(model: Any, path: Path) -> Path:
    """Writes it for a runtime to load."""
    import onnx

    onnx.save_model(model, path, save_as_external_data=model.ByteSize() > LARGEST_INLINE, location=f"{path.name}.data")
    return path


def _reads(node: Any) -> Iterator[str]:
    """Values that it reads, those included that graphs inside of it take from around them."""
    yield from filter(None, node.input)
    for inner in _graphs(node):
        yield from _captured(inner)


def _captured(graph: Any) -> Iterator[str]:
    own = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    own |= {tensor.values.name for tensor in graph.sparse_initializer}
    for node in graph.node:
        yield from (name for name in _reads(node) if name not in own)
        own.update(node.output)
    yield from (value.name for value in graph.output if value.name not in own)


def _inner_names(node: Any) -> Iterator[str]:
    for graph in _graphs(node):
        for inner in graph.node:
            yield clean(inner.name or next(filter(None, inner.output), inner.op_type))
            yield from _inner_names(inner)


def _graphs(node: Any) -> list[Any]:
    return [graph for attribute in node.attribute for graph in (attribute.g, *attribute.graphs) if graph.node]
