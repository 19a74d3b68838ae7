"""Maps each operation of a program to the function that translates it.

A table only: it imports no onnx, so that a program's missing operations can be listed without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType, ModuleType

from hettop.models.mil.call import Call
from hettop.models.mil.graph import Tensor
from hettop.models.mil.ops import (
    constexpr,
    conv,
    elementwise,
    linear,
    lists,
    normalization,
    recurrent,
    resizing,
    shaping,
    slicing,
)
from hettop.models.mil.package import Package, walk
from hettop.models.mil.proto import Message

Translate = Callable[[Call], Tensor | tuple[Tensor, ...]]

FAMILIES: tuple[ModuleType, ...] = (
    elementwise,
    conv,
    linear,
    normalization,
    shaping,
    slicing,
    resizing,
    recurrent,
    lists,
    constexpr,
)

TABLE: Mapping[str, Translate] = MappingProxyType(
    {name: how for family in FAMILIES for name, how in family.OPS.items()}
)


@dataclass(frozen=True, slots=True)
class MissingOp:
    """An operation without a translation, and where it stands: its function and its first output."""

    op: str
    function: str
    output: str


def op_name(operation: Message) -> str:
    """The operation's name without the opset some writers put before it (`ios17.conv`)."""
    return str(operation.type).rpartition(".")[2]


def missing_ops(package: Package) -> tuple[MissingOp, ...]:
    """Every operation of every function that cannot be translated, in program order.

    Raises HettopError("format") for a model that is not an ML Program.
    """
    return tuple(
        MissingOp(op_name(operation), ports.name, operation.outputs[0].name if operation.outputs else "")
        for ports in package.functions
        for operation in walk(package.block(ports.name))
        if op_name(operation) not in TABLE and op_name(operation) != "const"
    )
