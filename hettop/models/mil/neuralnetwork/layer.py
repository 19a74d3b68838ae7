"""One layer of a NeuralNetwork, as the function that translates it sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hettop.models.mil.blob import Array
from hettop.models.mil.call import Call, Output
from hettop.models.mil.graph import FLOAT32, Graph, Tensor
from hettop.models.mil.neuralnetwork.weights import read_weights
from hettop.models.mil.table import TABLE
from hettop.models.mil.values import Shape

Message = Any


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer with its inputs bound.

    parameters: the message of its kind. shapes: of each output, None where they are not known in advance. folded:
    whether tensors have the older axes (sequence, batch, channel, height, width), of which the batch is left out.
    """

    graph: Graph
    parameters: Message
    inputs: Sequence[Tensor]
    shapes: Sequence[Shape | None]
    folded: bool
    place: str

    @property
    def x(self) -> Tensor:
        if not self.inputs:
            raise ValueError("it has no input")
        return self.inputs[0]

    @property
    def shape(self) -> Shape:
        """Of the first output. Raises HettopError("unsupported-op") if it is not known in advance."""
        if not self.shapes or self.shapes[0] is None:
            raise self.call.unsupported("has an output whose shape is not known in advance")
        return self.shapes[0]

    @property
    def call(self) -> Call:
        """What ML Programs' operations make their nodes with."""
        return self._bound({}, [()])

    def mil(self, op: str, shape: Shape, **given: Any) -> Tensor:
        """The result of an ML Program's operation; what is given is a tensor, tensors, a constant, or None."""
        return self.mil_outputs(op, [shape], **given)[0]

    def mil_outputs(self, op: str, shapes: Sequence[Shape], **given: Any) -> tuple[Tensor, ...]:
        found = TABLE[op](self._bound({name: value for name, value in given.items() if value is not None}, shapes))
        return found if isinstance(found, tuple) else (found,)

    def weights(self, values: Message, *shape: int, axis: int = 0) -> Array:
        return read_weights(values, shape, self.place, axis=axis)

    def constant(self, value: Array | float) -> Tensor:
        return self.graph.constant(np.asarray(value, np.float32))

    def as_images(self, work: Callable[[Tensor, Shape], Tensor]) -> Tensor:
        """What `work` makes of x with four axes; it gets the shape of its result, too."""
        x, shape = self.x, self.shape
        if x.rank == 4:
            return work(x, shape)
        if x.rank == 3:
            return self.call.squeeze(work(self.call.unsqueeze(x, [0]), (1, *shape)), [0])
        lead = _product(x.sizes[:-3])
        parts = [lead if lead is not None else -1, *(self.call.size(x, axis) for axis in range(x.rank - 3, x.rank))]
        flat = self.graph.emit("Reshape", x, self.call.vector(parts), shape=(lead, *x.sizes[-3:]))
        made = work(flat, (lead, *shape[-3:]))
        sizes = [*(self.call.size(x, axis) for axis in range(x.rank - 3))]
        return self.call.reshape(made, [*sizes, *(-1 if size is None else size for size in shape[-3:])], shape)

    def _bound(self, given: dict[str, Any], shapes: Sequence[Shape]) -> Call:
        parameters = {name: self._tensors(value) for name, value in given.items()}
        outputs = [Output("", FLOAT32, shape) for shape in shapes]
        return Call(self.graph, parameters, outputs, self.place, lambda _index, _given: [], {})

    def _tensors(self, value: Any) -> list[Tensor]:
        if isinstance(value, Tensor):
            return [value]
        if isinstance(value, list) and value and isinstance(value[0], Tensor):
            return value
        return [self.graph.constant(value)]


def _product(lengths: Shape) -> int | None:
    total = 1
    for length in lengths:
        if length is None:
            return None
        total *= length
    return total
