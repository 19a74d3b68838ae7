"""Translates a Core ML model to an ONNX model; an ML Program is checked against the types that it declares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

from hettop.errors import HettopError
from hettop.models.mil.blob import Array
from hettop.models.mil.call import DAMAGED, PARAMETER_ERRORS, Call, Output
from hettop.models.mil.dtypes import STRING
from hettop.models.mil.graph import DType, Graph, Node, Subgraph, Tensor
from hettop.models.mil.neuralnetwork.translate import translate_model
from hettop.models.mil.package import Package, walk
from hettop.models.mil.ports import Port
from hettop.models.mil.proto import Message
from hettop.models.mil.table import TABLE, op_name
from hettop.models.mil.values import MAX_TENSOR_BYTES, Shape, read_value, tensor_type

# An ONNX model in one piece is a protobuf message, which ends at 2 GiB.
MAX_WEIGHT_BYTES = (1 << 31) - (1 << 24)


@dataclass(frozen=True, slots=True)
class Feed:
    """One input of the translated model: a plain array under the input's own name.

    port: what the model's description says of it, with ranges, choices, default and color. dtype: numpy's name for
    what the graph takes. shape: its sizes; a name where the size is free. An image is (1, channels, height, width) of
    values 0 to 255 in the channel order of `port.color`; scale and bias are part of the graph.
    """

    name: str
    port: Port
    dtype: str
    shape: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class StateFeed:
    """A state: fed under `name` before each prediction, returned under `output` after it; zeros to begin with."""

    name: str
    output: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Translation:
    """The ONNX model (onnx.ModelProto) of one function, and how to feed it; notes: what is not as on a Mac."""

    model: Any
    function: str
    inputs: tuple[Feed, ...]
    outputs: tuple[Port, ...]
    states: tuple[StateFeed, ...]
    notes: tuple[str, ...]


def translate(package: Package, function: str | None = None) -> Translation:
    """Translate `function`, or the default one.

    Raises HettopError: `format` for a model that is updatable or damaged; `input` for an unknown function;
    `unsupported-op` naming the first operation, layer or stage without a translation and its place.
    """
    if package.updatable:
        raise HettopError(
            "format",
            f"{package.name} is updatable: it can be trained on a device, which needs Core ML",
            "export it without its training parameters",
        )
    return _Translator(package, function).run() if package.kind == "mlprogram" else _translate_other(package, function)


def _translate_other(package: Package, function: str | None) -> Translation:
    """A NeuralNetwork, a model of features, or a pipeline of these."""
    ports = package.function(function)
    found = translate_model(package)
    weights = sum(value.nbytes for value in found.graph.constants.values())
    if weights > MAX_WEIGHT_BYTES:
        raise _too_large(package.name, weights)
    by_name = {port.name: port for port in ports.inputs}
    feeds = tuple(
        Feed(tensor.name, by_name[tensor.name], tensor.dtype.name, tuple(_sizes(tensor.name, tensor.sizes) or ()))
        for tensor in found.inputs
    )
    model = build_model(found.graph, found.inputs, found.outputs, {}, package.name)
    return Translation(model, ports.name, feeds, found.ports, (), found.notes)


def _too_large(what: str, weights: int) -> HettopError:
    much = f"{weights / 1e9:.1f} GB, more than the 2 GB an ONNX model holds"
    return HettopError("unsupported-op", f"{what}: its uncompressed weights have {much}", "run it on a Mac")


class _Translator:
    """The state of one translation: what each name of the program stands for."""

    def __init__(self, package: Package, function: str | None) -> None:
        self.package = package
        self.ports = package.function(function)
        self.program = package.program(function)
        self.block = package.block(function)
        self.graph = Graph()
        self.tensors: dict[str, Tensor] = {}
        self.states: dict[str, Tensor] = {}
        self.declared: dict[str, tuple[DType, Shape]] = {}
        self.notes: list[str] = []
        self.depth = 0

    def run(self) -> Translation:
        _check_sizes(self.package, self.ports.name, self.block)
        feeds, state_inputs = self._inputs()
        self._operations(self.block, self.tensors)
        outputs = [self._output(name) for name in self.block.outputs]
        states = [self._state(name) for name in self.states]
        model = build_model(
            self.graph,
            inputs=[*(self.tensors[feed.name] for feed in feeds), *state_inputs],
            outputs=[*outputs, *(tensor for tensor, _ in states)],
            declared=self.declared,
            name=f"{self.package.name}: {self.ports.name}",
        )
        by_name = {port.name: port for port in self.ports.outputs}
        return Translation(
            model=model,
            function=self.ports.name,
            inputs=tuple(feeds),
            outputs=tuple(by_name.get(tensor.name, _undescribed(tensor)) for tensor in outputs),
            states=tuple(feed for _, feed in states),
            notes=tuple(self.notes),
        )

    def _inputs(self) -> tuple[list[Feed], list[Tensor]]:
        described = {port.name: port for port in self.ports.inputs}
        feeds: list[Feed] = []
        states: list[Tensor] = []
        for value in self.program.inputs:
            element, shape = tensor_type(value.type, f"{self.package.name}: the input {value.name!r}")
            tensor = Tensor(value.name, element.numpy, shape)
            self.tensors[value.name] = tensor
            if value.type.WhichOneof("type") == "stateType":
                self.states[value.name] = tensor
                states.append(tensor)
            else:
                names = tuple(size if size is not None else f"{value.name}_{axis}" for axis, size in enumerate(shape))
                feeds.append(Feed(value.name, described.get(value.name, _undescribed(tensor)), element.name, names))
        return feeds, states

    def _operations(self, block: Message, names: dict[str, Tensor]) -> list[Tensor]:
        """Translate the operations of `block`; `names` gets what it defines. Returns the block's outputs."""
        for operation in block.operations:
            self._operation(operation, names)
        return [self._named(names, name) for name in block.outputs]

    def _operation(self, operation: Message, names: dict[str, Tensor]) -> None:
        kind = op_name(operation)
        output = operation.outputs[0].name if operation.outputs else kind
        place = f"{self.package.name}: the {kind!r} operation {output!r} of function {self.ports.name!r}"
        if kind == "const":
            value = read_value(operation.attributes["val"], self.package.weights, f"{output!r} of {self.package.name}")
            # an output's name belongs to the node that makes it
            name = f"{output}/value" if output in self.block.outputs else output
            names[output] = Tensor(name, value.dtype, value.shape, value)
            return
        how = TABLE.get(kind)
        if how is None:
            raise HettopError(
                "unsupported-op", f"{place} has no translation", "use hettop inspect to list all missing operations"
            )
        self.graph.start(output)
        before = len(self.graph.nodes)
        outputs = [_declared(value, place) for value in operation.outputs]
        call = Call(
            self.graph,
            self._parameters(operation, names, place),
            outputs,
            place,
            lambda index, given: self._inline(operation.blocks[index], given, names),
            self.states if self.depth == 0 else {},
        )
        try:
            results = how(call)
        except PARAMETER_ERRORS as error:
            # parameters come from a file: whatever they break must still name the operation
            raise HettopError("format", f"{place} has invalid parameters: {error}", DAMAGED) from error
        results = results if isinstance(results, tuple) else (results,)
        if len(results) != len(outputs):
            raise HettopError("format", f"{place} has {len(outputs)} outputs instead of {len(results)}", DAMAGED)
        for result, declared in zip(results, outputs, strict=True):
            names[declared.name] = self._bound(result, declared, before, place)

    def _parameters(self, operation: Message, names: Mapping[str, Tensor], place: str) -> dict[str, list[Tensor]]:
        """Inputs bound to tensors; the attributes of a constexpr operation are parameters too."""
        found: dict[str, list[Tensor]] = {}
        for name, argument in operation.inputs.items():
            found[name] = [
                self._named(names, binding.name)
                if binding.WhichOneof("binding") == "name"
                else self._literal(binding.value, f"{name!r} of {place}")
                for binding in argument.arguments
            ]
        if op_name(operation).startswith("constexpr_"):
            for name, value in operation.attributes.items():
                found.setdefault(name, [self._literal(value, f"{name!r} of {place}")])
        return found

    def _literal(self, value: Message, place: str) -> Tensor:
        return self.graph.constant(read_value(value, self.package.weights, place))

    def _named(self, names: Mapping[str, Tensor], name: str) -> Tensor:
        if name not in names:
            raise HettopError("format", f"{self.package.name} uses {name!r} before its definition", DAMAGED)
        return names[name]

    def _inline(self, block: Message, given: Sequence[Tensor], outer: Mapping[str, Tensor]) -> list[Tensor]:
        names = dict(outer)
        names.update({value.name: tensor for value, tensor in zip(block.inputs, given, strict=True)})
        self.depth += 1
        try:
            return self._operations(block, names)
        finally:
            self.depth -= 1

    def _bound(self, result: Tensor, declared: Output, before: int, place: str) -> Tensor:
        """The result under its declared type, shape and, at the top level, its own name."""
        if declared.dtype is None or declared.shape is None:
            self.notes.append(f"{declared.name} is a dictionary with Core ML; here its values are an array")
            return result
        if declared.dtype == STRING.numpy:
            return result
        if result.shape is not None and len(result.shape) != len(declared.shape):
            raise HettopError(
                "format",
                f"{place}: its translation has rank {len(result.shape)}, declared is {len(declared.shape)}",
                DAMAGED,
            )
        shape = result.shape if declared.is_list and result.shape is not None else declared.shape
        typed = self.graph.cast(result, declared.dtype)
        if typed.value is not None:
            return Tensor(typed.name, typed.dtype, typed.shape, typed.value)
        name = typed.name
        if self.depth == 0 and self.graph.rename(typed, declared.name, before):
            name = declared.name
            self.declared[name] = (declared.dtype, shape)
        return Tensor(name, declared.dtype, shape)

    def _output(self, name: str) -> Tensor:
        """The output of the function under its own name, made by a node even if it is an input or a constant."""
        tensor = self._named(self.tensors, name)
        if tensor.name == name and tensor.value is None and name in self.declared:
            return tensor
        self.graph.start(name)
        self.graph.identity(tensor, name)
        return Tensor(name, tensor.dtype, tensor.shape)

    def _state(self, name: str) -> tuple[Tensor, StateFeed]:
        before, after = self.tensors[name], self.states[name]
        self.graph.identity(after, f"{name}/after")
        shape = tuple(size for size in before.sizes if size is not None)
        return Tensor(f"{name}/after", before.dtype, before.shape), StateFeed(
            name, f"{name}/after", before.dtype.name, shape
        )


def _declared(value: Message, place: str) -> Output:
    if value.type.WhichOneof("type") == "dictionaryType":
        return Output(value.name, None, None)
    if value.type.WhichOneof("type") == "listType":
        element, shape = tensor_type(value.type.listType.type, f"an element of {value.name!r} of {place}")
        return Output(value.name, element.numpy, (None, *shape), is_list=True)
    element, shape = tensor_type(value.type, f"{value.name!r} of {place}")
    return Output(value.name, element.numpy, shape)


def _undescribed(tensor: Tensor) -> Port:
    return Port(tensor.name, "array", tensor.dtype.name, tensor.sizes)


def _check_sizes(package: Package, function: str, block: Message) -> None:
    """Reject impossible sizes of weights and shapes before anything is allocated."""
    weights = 0
    whole = f"{package.name}, function {function!r}"
    for operation in walk(block):
        kind = op_name(operation)
        for value in operation.outputs:
            if value.type.WhichOneof("type") != "tensorType":
                continue
            element, shape = tensor_type(value.type, f"{value.name!r} of {package.name}")
            size = math.prod(dim if dim is not None else 1 for dim in shape) * element.numpy.itemsize
            if size > MAX_TENSOR_BYTES:
                wrong = "the model is damaged, or was converted for impossible sizes"
                raise HettopError("format", f"{whole}: {value.name!r} {list(shape)} needs {size / 1e9:.0f} GB", wrong)
            weights += size if kind == "const" or kind.startswith("constexpr_") else 0
    if weights > MAX_WEIGHT_BYTES:
        raise _too_large(whole, weights)


# 18 brings reductions, Pad and Resize with axes; ONNX Runtime has had all of it since 1.14. Version 9 of the file
# format is read by every ONNX Runtime since 1.17.
OPSET = 18
IR_VERSION = 9
# Operators outside ONNX's own domain, and the version of theirs; 3 brings float64 to tree ensembles.
DOMAINS = {"TreeEnsembleRegressor": "ai.onnx.ml"}
OTHER_OPSETS = {"ai.onnx.ml": 3}
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
    try:
        nodes = [_node(node) for node in graph.nodes]
    except PARAMETER_ERRORS as error:
        raise HettopError("format", f"{name} has invalid parameters: {error}", DAMAGED) from error
    starts, ends = [_value_info(tensor) for tensor in inputs], [_value_info(tensor) for tensor in outputs]
    inner = [_value_info(Tensor(key, dtype, shape)) for key, (dtype, shape) in declared.items()]
    # the weights are inputs of the copy that is checked: checking must not copy them
    bare = [*starts, *(_value_info(tensor) for tensor in large)]
    _check(_model(helper.make_graph(nodes, name, bare, ends, _initializers(small), value_info=inner)), name)
    return _model(helper.make_graph(nodes, name, starts, ends, _initializers(constants)))


def _initializers(constants: Mapping[str, Array]) -> list[Any]:
    return [numpy_helper.from_array(_plain(value), key) for key, value in constants.items()]


def _model(graph: Any) -> Any:
    domains = sorted({node.domain for node in graph.node if node.domain})
    opsets = [helper.make_opsetid("", OPSET), *(helper.make_opsetid(each, OTHER_OPSETS[each]) for each in domains)]
    model = helper.make_model(graph, opset_imports=opsets, producer_name="hettop.models.mil")
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
    domain = DOMAINS.get(node.operator)
    return helper.make_node(node.operator, node.inputs, node.outputs, node.outputs[0], domain=domain, **attributes)


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
    """The sizes, with a name for each dynamic axis."""
    if shape is None:
        return None
    return [size if size is not None else f"{name}_{axis}" for axis, size in enumerate(shape)]


def _plain(value: Array) -> Array:
    return np.ascontiguousarray(value) if value.ndim else value


def _code(dtype: DType) -> int:
    if dtype == np.dtype(object):
        return int(TensorProto.STRING)
    return int(helper.np_dtype_to_tensor_dtype(dtype))
