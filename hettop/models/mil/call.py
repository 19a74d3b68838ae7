"""One operation of a program, as the function that translates it sees it: its parameters, its outputs, the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hettop.errors import HettopError
from hettop.models.mil.blob import Array
from hettop.models.mil.graph import BOOL, INT64, DType, Graph, Tensor
from hettop.models.mil.values import Shape

DAMAGED = "the program is damaged: convert the model again"
# What numpy, protobuf and Python raise for parameters that do not fit each other, as in a damaged file.
PARAMETER_ERRORS = (
    *(ValueError, TypeError, LookupError, ArithmeticError, AttributeError),
    *(RuntimeError, StopIteration, MemoryError),
)
# The largest constant a translation makes up: a gigabyte of int64 or float64.
MAX_MADE = 1 << 27
# Core ML writes "to the end" as a mask; ONNX clamps a bound as large as this one to the size.
END = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Output:
    """An output as the program declares it; dtype and shape are None for a dictionary, the only one without.

    is_list: whether it is a list, whose first axis may grow beyond what is declared.
    """

    name: str
    dtype: DType | None
    shape: Shape | None
    is_list: bool = False


def _no_blocks(_index: int, _given: Sequence[Tensor]) -> list[Tensor]:
    raise LookupError("it has no nested blocks")


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """An operation with its parameters bound.

    parameters: by name, the tensors bound to it (one, or the members of a tuple). place: where it stands, for errors.
    inline: translates nested block number i in place, its inputs bound to the given tensors, and returns its outputs.
    states: by name, what each state holds at this point; an update replaces an entry.
    """

    graph: Graph
    parameters: Mapping[str, Sequence[Tensor]]
    outputs: Sequence[Output]
    place: str
    inline: Callable[[int, Sequence[Tensor]], list[Tensor]] = _no_blocks
    states: dict[str, Tensor] = field(default_factory=dict)

    # what the operation is given

    def has(self, name: str) -> bool:
        return bool(self.parameters.get(name))

    def tensor(self, name: str) -> Tensor:
        """The tensor bound to a parameter. Raises HettopError("format") if there is none."""
        bound = self.parameters.get(name)
        if not bound:
            raise HettopError("format", f"{self.place} lacks its parameter {name!r}", DAMAGED)
        return bound[0]

    def optional(self, name: str) -> Tensor | None:
        bound = self.parameters.get(name)
        return bound[0] if bound else None

    def tensors(self, name: str) -> list[Tensor]:
        """Every member of a parameter that is a tuple."""
        self.tensor(name)
        return list(self.parameters[name])

    def constant(self, name: str) -> Array:
        """The value of a parameter that must be known now. Raises HettopError("unsupported-op") if it is computed."""
        value = self.tensor(name).value
        if value is None:
            raise self.unsupported(f"needs a constant {name!r}")
        return value

    def known(self, name: str) -> Array | None:
        """The value of a parameter if it is there and constant."""
        tensor = self.optional(name)
        return tensor.value if tensor is not None else None

    def number(self, name: str, default: float | None = None) -> float:
        return float(self._item(name, default))

    def integer(self, name: str, default: int | None = None) -> int:
        return int(self._item(name, default))

    def flag(self, name: str, default: bool | None = None) -> bool:
        return bool(self._item(name, default))

    def text(self, name: str, default: str | None = None) -> str:
        return str(self._item(name, default))

    def integers(self, name: str, default: Sequence[int] | None = None) -> list[int]:
        if default is not None and not self.has(name):
            return list(default)
        return [int(item) for item in self.constant(name).reshape(-1)]

    def flags(self, name: str, count: int) -> list[bool]:
        """A mask parameter as `count` flags, all False if it is absent."""
        return [bool(item) for item in self.integers(name, [0] * count)]

    def axis(self, name: str, rank: int, default: int | None = None) -> int:
        """An axis, counted from the front."""
        axis = self.integer(name, default)
        if not -rank <= axis < max(rank, 1):
            raise HettopError("format", f"{self.place}: {name} {axis} of a tensor of rank {rank}", DAMAGED)
        return axis % rank if rank else 0

    def bounded(self, count: int) -> int:
        """`count`, the size of a constant to be made. Raises HettopError("unsupported-op") if it is beyond reason."""
        if count > MAX_MADE:
            raise self.unsupported(f"needs a table of {count:,} numbers")
        return count

    def unsupported(self, what: str) -> HettopError:
        """The error for a feature of this operation that cannot be translated, with its place in the program."""
        return HettopError(
            "unsupported-op",
            f"{self.place} {what}",
            "the model runs on a Mac; docs/reference/supported-ops.md lists what runs elsewhere",
        )

    # what it makes

    @property
    def shape(self) -> Shape:
        """The declared shape of the first output."""
        shape = self.outputs[0].shape
        if shape is None:
            raise HettopError("format", f"{self.place} does not declare a tensor as its output", DAMAGED)
        return shape

    @property
    def dtype(self) -> DType:
        """The declared type of the first output."""
        dtype = self.outputs[0].dtype
        if dtype is None:
            raise HettopError("format", f"{self.place} does not declare a tensor as its output", DAMAGED)
        return dtype

    def emit(self, operator: str, *inputs: Tensor | None, **attributes: Any) -> Tensor:
        """Add a node with one output to the graph, as `Graph.emit` does."""
        return self.graph.emit(operator, *inputs, **attributes)

    def cast(self, tensor: Tensor, dtype: DType) -> Tensor:
        return self.graph.cast(tensor, dtype)

    def index(self, tensor: Tensor) -> Tensor:
        """`tensor` as int64, the one integer type every ONNX operator takes for shapes and indices."""
        return self.graph.cast(tensor, INT64)

    def ints(self, values: Iterable[int]) -> Tensor:
        """A 1-D int64 constant."""
        return self.graph.constant(np.asarray(list(values), dtype=np.int64))

    def like(self, tensor: Tensor, value: float) -> Tensor:
        """A scalar constant of the type of `tensor`."""
        return self.graph.constant(value, tensor.dtype)

    def mask(self, values: Sequence[bool]) -> Tensor:
        return self.graph.constant(list(values), BOOL)

    # common shapes of expressions

    def size(self, tensor: Tensor, axis: int) -> int | Tensor:
        """The size of an axis: a number if it is known, else a 1-D tensor of one int64."""
        known = tensor.sizes[axis]
        if known is not None:
            return known
        shape = self.emit("Shape", tensor, dtype=INT64, shape=(tensor.rank,))
        return self.emit("Gather", shape, self.ints([axis]), axis=0, shape=(1,))

    def vector(self, parts: Sequence[int | Tensor]) -> Tensor:
        """A 1-D int64 tensor of sizes, some known and some computed (each of those a 1-D tensor)."""
        if all(isinstance(part, int) for part in parts):
            return self.ints([part for part in parts if isinstance(part, int)])
        tensors = [self.ints([part]) if isinstance(part, int) else part for part in parts]
        return self.emit("Concat", *tensors, axis=0, dtype=INT64, shape=(len(parts),))

    def reshape(self, tensor: Tensor, parts: Sequence[int | Tensor], shape: Shape | None = None) -> Tensor:
        """`tensor` in a new shape; one computed size is left to ONNX to find (-1), which is always exact."""
        computed = [index for index, part in enumerate(parts) if not isinstance(part, int)]
        known = tuple(part if isinstance(part, int) else None for part in parts)
        if len(computed) == 1 and all(part != 0 for part in parts if isinstance(part, int)):
            parts = [part if isinstance(part, int) else -1 for part in parts]
        return self.emit("Reshape", tensor, self.vector(parts), shape=shape or known)

    def transpose(self, tensor: Tensor, order: Sequence[int]) -> Tensor:
        """`tensor` with its axes in `order`; a constant is transposed at once."""
        if tensor.value is not None:
            return self.graph.constant(np.ascontiguousarray(tensor.value.transpose(order)))
        return self.emit("Transpose", tensor, perm=list(order), shape=tuple(tensor.sizes[axis] for axis in order))

    def unsqueeze(self, tensor: Tensor, axes: Sequence[int]) -> Tensor:
        shape: Shape | None = None
        if tensor.shape is not None:
            rank = tensor.rank + len(axes)
            places = {axis % rank for axis in axes}
            if len(places) != len(axes):
                raise ValueError(f"axes {list(axes)} name one place twice")
            sizes = iter(tensor.shape)
            shape = tuple(1 if place in places else next(sizes) for place in range(rank))
        return self.emit("Unsqueeze", tensor, self.ints(axes), shape=shape)

    def squeeze(self, tensor: Tensor, axes: Sequence[int]) -> Tensor:
        shape: Shape | None = None
        if tensor.shape is not None:
            dropped = {axis % tensor.rank for axis in axes}
            shape = tuple(size for axis, size in enumerate(tensor.shape) if axis not in dropped)
        return self.emit("Squeeze", tensor, self.ints(axes), shape=shape)

    def _item(self, name: str, default: Any) -> Any:
        if default is not None and not self.has(name):
            return default
        value = self.constant(name)
        if value.size != 1:
            raise HettopError("format", f"{self.place}: {name!r} has {value.size} values, not one", DAMAGED)
        return value.reshape(-1)[0]
