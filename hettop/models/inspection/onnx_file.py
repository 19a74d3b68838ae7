"""Opens ONNX files for inspection, and reports their ports; weights that lie in files beside them are not read."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.models.inspection.graph import UNKNOWN, Tensor
from hettop.models.ports import Port
from hettop.text import clean

LARGEST_FILE = (1 << 31) - 1
"""Protobuf cannot read a larger message; larger models keep their weights in files of their own."""

MOST_NODES = 1_000_000  # more than any real graph has, few enough to be read
_COPY_AGAIN = "copy or export it again"


def open_onnx(path: Path) -> Any:
    """The `onnx.ModelProto` in the file, with local functions inlined; weights in files beside it are not read.

    Raises HettopError: `format`, `io`.
    """
    import onnx
    from onnx import inliner

    # named at run time because protobuf ships without type information
    decode_error = importlib.import_module("google.protobuf.message").DecodeError
    name = clean(path.name)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise HettopError("format", f"file too large for an ONNX model: {name}", _COPY_AGAIN)
        model = onnx.load_model(path, load_external_data=False)
    except OSError as error:
        raise HettopError("io", f"cannot read {name}: {error.strerror}", "check its permissions") from error
    except (decode_error, ValueError) as error:
        raise HettopError(
            "format", f"not a valid ONNX model, or incomplete: {name}: {clean(str(error))}", _COPY_AGAIN
        ) from error
    if not model.ir_version or not (model.graph.node or model.graph.output):
        raise HettopError("format", f"not a valid ONNX model, or incomplete: {name}: no graph", _COPY_AGAIN)
    if not model.functions:
        return model
    if not expands_within(model, MOST_NODES):
        raise HettopError("format", f"{name}: its functions are recursive", _COPY_AGAIN)
    return inliner.inline_local_functions(model)


def expands_within(model: Any, most: int) -> bool:
    """Whether the graph has at most `most` nodes once every local function stands where it is called.

    Thirty functions that call the one before twice each are a billion nodes; one that calls itself is endless.
    """
    bodies = {(function.domain, function.name): function.node for function in model.functions}
    sizes: dict[tuple[str, str], int] = {}

    def size_of(nodes: Any, inside: frozenset[tuple[str, str]]) -> int:
        total = 0
        for node in nodes:
            key = (node.domain, node.op_type)
            if key in inside:
                return most + 1
            if key in bodies and key not in sizes:
                sizes[key] = size_of(bodies[key], inside | {key})
            total += sizes.get(key, 1)
            for attribute in node.attribute:
                total += sum(size_of(graph.node, inside) for graph in (*attribute.graphs, attribute.g))
            if total > most:
                return most + 1
        return total

    try:
        return size_of(model.graph.node, frozenset()) <= most
    except RecursionError:
        return False


def onnx_ports(model: Any) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """Inputs and outputs; an input that has an initializer is a weight that could be replaced, and no input."""
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = tuple(_port(value) for value in model.graph.input if value.name not in constants)
    return inputs, tuple(_port(value) for value in model.graph.output)


def opsets(model: Any) -> dict[str, int]:
    """The version of each set of operators: `opset` is that of ONNX itself, others have their domain in their name."""
    own = ("", "ai.onnx")
    return {
        "opset" if entry.domain in own else f"opset {clean(entry.domain)}": int(entry.version)
        for entry in sorted(model.opset_import, key=lambda entry: (entry.domain not in own, entry.domain))
    }


def value_type(kind: Any) -> Tensor:
    which = kind.WhichOneof("value")
    if which not in ("tensor_type", "sparse_tensor_type"):
        return Tensor(str(which or UNKNOWN.dtype).removesuffix("_type"), None)
    tensor = getattr(kind, which)
    if not tensor.HasField("shape"):
        return Tensor(type_name(tensor.elem_type), None)
    axes = tensor.shape.dim
    return Tensor(
        type_name(tensor.elem_type),
        # A window larger than its input leaves a length below 0: a shape that cannot be.
        tuple(axis.dim_value if axis.HasField("dim_value") and axis.dim_value >= 0 else None for axis in axes),
    )


def type_name(number: int) -> str:
    from onnx import TensorProto

    try:
        name = str(TensorProto.DataType.Name(number)).lower()
    except ValueError:
        return UNKNOWN.dtype
    return {"float": "float32", "double": "float64", "undefined": UNKNOWN.dtype}.get(name, name)


def _port(value: Any) -> Port:
    """An axis of unknown length keeps its name: axes of the same name have the same length."""
    typed, kind = value_type(value.type), value.type.WhichOneof("value")
    if kind != "tensor_type" or typed.shape is None:
        return Port(value.name, typed.dtype, (), kind="array" if kind == "tensor_type" else typed.dtype)
    axes = value.type.tensor_type.shape.dim
    # Some exporters write -1 for an axis of any length.
    lengths = zip(typed.shape, axes, strict=True)
    shape = tuple(axis.dim_param or None if length is None else length for length, axis in lengths)
    return Port(value.name, typed.dtype, shape, kind="array" if shape else "scalar")
