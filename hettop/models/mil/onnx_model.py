"""A graph as an ONNX model, checked: well formed, and every type and shape as the program declares it.

The one module here that imports onnx; it knows nothing of MIL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

from hettop.errors import HettopError
from hettop.models.mil.blob import Array
from hettop.models.mil.graph import DType, Graph, Node, Subgraph, Tensor
from hettop.models.mil.values import Shape

# 18 brings reductions, Pad and Resize with axes; ONNX Runtime has had all of it since 1.14. Version 9 of the file
# format is read by every ONNX Runtime since 1.17.
OPSET = 18
IR_VERSION = 9
# Constants above this are not needed to infer shapes; they stay out of the copy that is checked.
_LARGE = 1024


def build_model(
    graph: Graph,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    declared: Mapping[str, tuple[DType, Shape]],
    name: str,
) -> Any:
    """The model of `graph`. declared: types and shapes that inner values must turn out to have.

    Raises HettopError("unsupported-op") if the graph does not pass ONNX's checker and strict shape inference.
    """
    used = _used(graph.nodes) | {tensor.name for tensor in outputs}
    constants = {key: value for key, value in graph.constants.items() if key in used}
    small = {key: value for key, value in constants.items() if value.size <= _LARGE}
    large = [Tensor(key, value.dtype, value.shape) for key, value in constants.items() if key not in small]
    nodes = [_node(node) for node in graph.nodes]
    starts, ends = [_value_info(tensor) for tensor in inputs], [_value_info(tensor) for tensor in outputs]
    inner = [_value_info(Tensor(key, dtype, shape)) for key, (dtype, shape) in declared.items()]
    # the weights are inputs of the copy that is checked: checking must not copy them
    bare = [*starts, *(_value_info(tensor) for tensor in large)]
    _check(_model(helper.make_graph(nodes, name, bare, ends, _initializers(small), value_info=inner)), name)
    return _model(helper.make_graph(nodes, name, starts, ends, _initializers(constants)))


def _initializers(constants: Mapping[str, Array]) -> list[Any]:
    return [numpy_helper.from_array(_plain(value), key) for key, value in constants.items()]


def _model(graph: Any) -> Any:
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="hettop.models.mil")
    model.ir_version = IR_VERSION
    return model


def _check(model: Any, name: str) -> None:
    try:
        onnx.checker.check_model(model)
        shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except (onnx.checker.ValidationError, shape_inference.InferenceError) as error:
        detail = " ".join(str(error).split())[:400]
        raise HettopError(
            "unsupported-op",
            f"{name}: its translation is not valid ONNX: {detail}",
            "please report it with the model; a Mac runs it",
        ) from error


def _node(node: Node) -> Any:
    attributes = {key: _attribute(value) for key, value in node.attributes.items()}
    return helper.make_node(node.operator, node.inputs, node.outputs, name=node.outputs[0], **attributes)


def _attribute(value: Any) -> Any:
    if isinstance(value, Subgraph):
        body = [_node(node) for node in value.nodes]
        return helper.make_graph(
            body, "body", [_value_info(item) for item in value.inputs], [_value_info(item) for item in value.outputs]
        )
    if isinstance(value, np.dtype):
        return _code(value)
    if isinstance(value, np.ndarray):
        return numpy_helper.from_array(value)
    return value


def _used(nodes: Sequence[Node]) -> set[str]:
    names: set[str] = set()
    for node in nodes:
        names.update(node.inputs)
        for value in node.attributes.values():
            if isinstance(value, Subgraph):
                names |= _used(value.nodes)
    return names


def _value_info(tensor: Tensor) -> Any:
    return helper.make_tensor_value_info(tensor.name, _code(tensor.dtype), _sizes(tensor.name, tensor.shape))


def _sizes(name: str, shape: Shape | None) -> list[int | str] | None:
    """Sizes, with a name for each that is free."""
    if shape is None:
        return None
    return [size if size is not None else f"{name}_{axis}" for axis, size in enumerate(shape)]


def _plain(value: Array) -> Array:
    return np.ascontiguousarray(value) if value.ndim else value


def _code(dtype: DType) -> int:
    if dtype == np.dtype(object):
        return int(TensorProto.STRING)
    return int(helper.np_dtype_to_tensor_dtype(dtype))
