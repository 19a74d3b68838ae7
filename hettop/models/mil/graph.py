"""The ONNX graph while it is being written: tensors, nodes and constants, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hettop.models.mil.blob import Array
from hettop.models.mil.values import Shape

DType = np.dtype[Any]

FLOAT16, FLOAT32 = np.dtype(np.float16), np.dtype(np.float32)
INT32, INT64, BOOL = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.bool_)

_SMALL_INTEGERS = frozenset({"int8", "uint8", "int16", "uint16"})
_WORDS = frozenset({"int16", "uint16"})
_SCATTERS = ("ScatterElements", "ScatterND")
# ONNX operator (and reduction) -> element types that ONNX Runtime's CPU provider has no kernel for, though the standard
# or MIL allows them. Integers below 32 bits and booleans are then computed as int32, float16 as float32. Other float16
# kernels that are missing are widened by ONNX Runtime itself.
_NO_KERNEL: dict[str, frozenset[str]] = {
    **dict.fromkeys(("Max", "Min", "Clip", "ArgMax", "ArgMin", "ReduceMax", "ReduceMin"), _WORDS | {"bool"}),
    **dict.fromkeys(("ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2"), _SMALL_INTEGERS | {"bool"}),
    **dict.fromkeys(("ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"), _SMALL_INTEGERS | {"bool"}),
    **dict.fromkeys(("Trilu", "CumSum", "Pow", "MatMul", "Einsum"), _SMALL_INTEGERS),
    "NonZero": frozenset({"int8", "int16", "uint16"}),
    "Where": frozenset({"int16", "uint16", "bool"}),
    "Pad": _WORDS,
    "TopK": _SMALL_INTEGERS | {"bool"},
    "Neg": frozenset({"uint8", "uint16"}),
    "Range": frozenset({"float16"}),
    **{f"{operator}:{how}": frozenset({"float16"}) for operator in _SCATTERS for how in ("add", "mul", "max", "min")},
}


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """A value in the graph. value: if it is constant. shape: if known, with None for a size known at run time."""

    name: str
    dtype: DType
    shape: Shape | None = None
    value: Array | None = None

    @property
    def sizes(self) -> Shape:
        """The shape of a tensor of the program, or of anything emitted with a shape; ValueError for others."""
        if self.shape is None:
            raise ValueError(f"{self.name} was created without a shape")
        return self.shape

    @property
    def rank(self) -> int:
        """Number of dimensions, as `sizes`."""
        return len(self.sizes)


@dataclass(slots=True)
class Node:
    """One ONNX node; an attribute that is a Subgraph becomes a graph attribute."""

    operator: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]


@dataclass(slots=True)
class Subgraph:
    """The body of a loop or a branch; names of the graphs around it are visible in it."""

    inputs: list[Tensor]
    nodes: list[Node] = field(default_factory=list)
    outputs: list[Tensor] = field(default_factory=list)


class Graph:
    """Nodes in order, and the constants they use. Names made here contain `/`, which MIL names do not."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.constants: dict[str, Array] = {}
        self._prefix = ""
        self._counts: dict[str, int] = {}

    def start(self, prefix: str) -> None:
        """Names made from here on begin with `prefix`: the output of the operation being translated."""
        self._prefix = prefix

    def fresh(self) -> str:
        """An unused name."""
        count = self._counts[self._prefix] = self._counts.get(self._prefix, 0) + 1
        return f"{self._prefix}/{count}"

    def constant(self, value: Array | Sequence[Any] | float | bool, dtype: DType | None = None) -> Tensor:
        """A constant of `value`; it enters the model only if a node uses it."""
        array = np.asarray(value) if dtype is None else np.asarray(value).astype(dtype, copy=False)
        return Tensor(self.fresh(), array.dtype, array.shape, array)

    def emit(
        self,
        operator: str,
        *inputs: Tensor | None,
        dtype: DType | None = None,
        shape: Shape | None = None,
        **attributes: Any,
    ) -> Tensor:
        """Add a node with one output. dtype: of the output, that of the first input unless given."""
        (output,) = self.emit_many(operator, inputs, [dtype or _data_type(inputs)], shape=shape, **attributes)
        return output

    def emit_many(
        self,
        operator: str,
        inputs: Sequence[Tensor | None],
        dtypes: Sequence[DType],
        shape: Shape | None = None,
        **attributes: Any,
    ) -> list[Tensor]:
        """Add a node with an output per entry of `dtypes`."""
        data = _data_type(inputs[1:] if operator == "Where" else inputs)
        key = f"{operator}:{attributes['reduction']}" if "reduction" in attributes else operator
        if data.name not in _NO_KERNEL.get(key, frozenset()):
            return self._append(operator, inputs, dtypes, shape, attributes)
        work = FLOAT32 if data == FLOAT16 else INT32
        widened = [self.cast(item, work) if item is not None and item.dtype == data else item for item in inputs]
        # booleans that are conditions, not data, stay what they are
        if operator == "Where":
            widened[0] = inputs[0]
        results = self._append(
            operator, widened, [work if kind == data else kind for kind in dtypes], shape, attributes
        )
        return [self.cast(result, kind) for result, kind in zip(results, dtypes, strict=True)]

    def cast(self, tensor: Tensor, dtype: DType) -> Tensor:
        """`tensor` as `dtype`; constants are cast at once, and nothing is added when the type is right already."""
        if tensor.dtype == dtype:
            return tensor
        if tensor.value is not None and tensor.dtype != np.dtype(object):
            return self.constant(tensor.value, dtype)
        return self._append("Cast", [tensor], [dtype], tensor.shape, {"to": dtype})[0]

    def identity(self, tensor: Tensor, name: str) -> None:
        """Give the value of `tensor` a second name."""
        self.nodes.append(Node("Identity", [self.use(tensor)], [name], {}))

    def rename(self, tensor: Tensor, name: str, since: int) -> bool:
        """Rename the output of a node added after the first `since` nodes to `name`; False if none of them has it."""
        made = any(tensor.name in node.outputs for node in self.nodes[since:])
        if made:
            for node in self.nodes[since:]:
                node.inputs = [name if item == tensor.name else item for item in node.inputs]
                node.outputs = [name if item == tensor.name else item for item in node.outputs]
        return made

    def use(self, tensor: Tensor) -> str:
        """The name by which a node refers to `tensor`; a constant enters the model."""
        if tensor.value is not None:
            self.constants.setdefault(tensor.name, tensor.value)
        return tensor.name

    @contextmanager
    def inside(self, inputs: list[Tensor]) -> Iterator[Subgraph]:
        """Context in which added nodes go into the yielded subgraph."""
        outer, subgraph = self.nodes, Subgraph(inputs)
        self.nodes = subgraph.nodes
        try:
            yield subgraph
        finally:
            self.nodes = outer

    def _append(
        self,
        operator: str,
        inputs: Sequence[Tensor | None],
        dtypes: Sequence[DType],
        shape: Shape | None,
        attributes: dict[str, Any],
    ) -> list[Tensor]:
        results = [Tensor(self.fresh(), dtype, shape) for dtype in dtypes]
        names = [self.use(item) if item is not None else "" for item in inputs]
        kept = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(Node(operator, names, [result.name for result in results], kept))
        return results


def _data_type(inputs: Sequence[Tensor | None]) -> DType:
    return next(item.dtype for item in inputs if item is not None)
