"""Reads an ML Program for inspection: weights, layers, shapes, and multiply-accumulates by operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hettop.errors import HettopError
from hettop.models.inspection import macs
from hettop.models.inspection.graph import UNKNOWN, Graph, Layer, Shape, Tensor, Weight, costlier, repeated, total_bytes
from hettop.models.mil.dtypes import STRING
from hettop.models.mil.package import Package
from hettop.models.mil.values import tensor_type
from hettop.text import clean

Message = Any

CONSTEXPR = "constexpr_"
"""Operations that unpack a compressed weight; they run when a model is loaded, or inside the operation that uses it."""

# Parameters that accompany trained ones without having been trained.
_COMPANIONS = {"batch_norm": ("mean", "variance"), "quantize": ("scale",), "dequantize": ("scale",)}

# Parameters where a single number was trained, too; elsewhere a lone number is a factor of some formula.
_WEIGHTS = frozenset({"weight", "bias"})
_NORM_WEIGHTS = frozenset({"gamma", "beta"})  # only there: the beta of a clip is its upper bound
_REPEATED = "while_loop"


def read_program(package: Package, function: str | None, known: Mapping[str, Tensor]) -> Graph:
    """Weights and layers of a function. `known` has the types of values whose shape the program leaves open."""
    reader = _Reader(package, known)
    scope = _Scope()
    for value in package.program(function).inputs:
        scope.types[value.name] = reader.declared(value)
    layers = reader.read(package.block(function), scope)
    notes = (
        (f"the blocks of {_REPEATED} are not counted: the number of iterations is known at run time only",)
        if reader.endless
        else ()
    )
    return Graph(tuple(layers), tuple(reader.weights.values()), reader.ops, notes)


def has_open_shapes(graph: Graph) -> bool:
    """Whether some layer's costs are unknown because the program does not say all of its shapes."""
    return any(layer.macs is None or layer.moved_bytes is None for layer in graph.layers)


@dataclass(frozen=True, slots=True)
class _Constant:
    """A constant, or what constants alone make; `stored` are the bytes in the file that it comes from."""

    tensor: Tensor
    stored: int
    dtype: str
    word: str | bool | int | None = None
    compressed: bool = False


@dataclass(frozen=True, slots=True)
class _Scope:
    """What names mean in a block, those of the blocks around it included."""

    types: dict[str, Tensor] = field(default_factory=dict)
    constants: dict[str, _Constant] = field(default_factory=dict)

    def inner(self) -> _Scope:
        return _Scope(dict(self.types), dict(self.constants))


class _Reader:
    """Walks blocks, gathering weights and counting operations."""

    def __init__(self, package: Package, known: Mapping[str, Tensor]) -> None:
        self.package = package
        self.known = known
        self.ops: Counter[str] = Counter()
        self.weights: dict[str, Weight] = {}
        self.endless = False

    def read(self, block: Message, scope: _Scope) -> list[Layer]:
        """The layers that one run of the block runs; `scope` gains the block's own names."""
        for value in block.inputs:
            scope.types[value.name] = self.declared(value)
        layers: list[Layer] = []
        for operation in block.operations:
            op = clean(str(operation.type).rpartition(".")[2])
            if op == "const":
                scope.constants[operation.outputs[0].name] = self._constant(operation.attributes["val"])
                continue
            self.ops[op] += 1
            branches = [self.read(inner, scope.inner()) for inner in operation.blocks]
            if op == _REPEATED:
                times = _iterations(operation, scope)
                self.endless |= times is None
                condition, body = branches
                layers += repeated(condition, None if times is None else times + 1) + repeated(body, times)
            else:
                layers += costlier(branches)
            layers.append(self._layer(operation, op, scope))
        return layers

    def declared(self, value: Message) -> Tensor:
        """The type a value is declared with; what it leaves open is filled in from what is known by that name."""
        try:
            element, shape = tensor_type(value.type, value.name)
        except HettopError:
            return UNKNOWN  # a list or a dictionary: it has no size
        if None in shape and value.name in self.known:
            shape = self.known[value.name].shape or shape
        return Tensor(element.name, shape)

    def _layer(self, operation: Message, op: str, scope: _Scope) -> Layer:
        name = clean(operation.outputs[0].name if operation.outputs else op)
        outputs = tuple(self.declared(value) for value in operation.outputs)
        scope.types.update((value.name, tensor) for value, tensor in zip(operation.outputs, outputs, strict=True))
        dtype = outputs[0].dtype if outputs else UNKNOWN.dtype
        constants = dict(self._constants(operation, scope))
        taken = {
            binding.name
            for argument in operation.inputs.values()
            for binding in argument.arguments
            if binding.WhichOneof("binding") == "name"
        }
        computed = [each for each in sorted(taken) if each not in scope.constants]
        if constants and not computed and not operation.blocks:
            made = _combined(op, list(constants.values()), outputs)
            scope.constants.update((value.name, each) for value, each in zip(operation.outputs, made, strict=True))
            return Layer(name, op, 0, 0, 0, 0, dtype)
        weights = list(self._weights(op, name, constants))
        return Layer(
            name=name,
            op=op,
            macs=count(self._bound(operation, op, outputs, scope, constants)),
            input_bytes=total_bytes(scope.types.get(each, UNKNOWN) for each in computed),
            weight_bytes=sum(weight.stored for weight in weights),
            output_bytes=total_bytes(outputs),
            dtype=dtype,
        )

    def _constants(self, operation: Message, scope: _Scope) -> Iterator[tuple[tuple[str, str], _Constant]]:
        """What is constant among the parameters, by (parameter, name of the constant); literals have no name."""
        for parameter, argument in operation.inputs.items():
            for index, binding in enumerate(argument.arguments):
                if binding.WhichOneof("binding") == "value":
                    yield (parameter, f"{index}"), self._constant(binding.value)
                elif binding.name in scope.constants:
                    yield (parameter, binding.name), scope.constants[binding.name]
        for parameter, value in operation.attributes.items():
            if parameter != "name":
                yield (parameter, ""), self._constant(value)

    def _constant(self, value: Message) -> _Constant:
        try:
            element, shape = tensor_type(value.type, "")
        except HettopError:
            return _Constant(UNKNOWN, 0, UNKNOWN.dtype)
        tensor = Tensor(element.name, shape)
        word: str | bool | int | None = None
        literal = value.immediateValue.tensor
        if element is STRING and len(literal.strings.values) == 1:
            word = str(literal.strings.values[0])
        elif element.name == "bool" and len(literal.bools.values) == 1:
            word = bool(literal.bools.values[0])
        elif element.name == "int32" and len(literal.ints.values) == 1:
            word = int(literal.ints.values[0])
        return _Constant(tensor, tensor.nbytes or 0, element.name, word)

    def _weights(self, op: str, name: str, constants: Mapping[tuple[str, str], _Constant]) -> Iterator[Weight]:
        """The constants that were trained; each counts once, however many operations read it."""
        for (parameter, source), constant in constants.items():
            elements = constant.tensor.elements or 0
            if parameter in _COMPANIONS.get(op, ()):
                weight = Weight(name, constant.dtype, 0, constant.stored)
            elif not _is_trained(op, parameter, constant, elements):
                continue
            else:
                weight = Weight(name, constant.dtype, elements, constant.stored)
            # Literals belong to one operation alone, named constants may be shared.
            key = f"{name}\0{parameter}\0{source}" if not source or source.isdecimal() else source
            if key not in self.weights or self.weights[key].elements < weight.elements:
                self.weights[key] = weight
            yield weight

    def _bound(
        self,
        operation: Message,
        op: str,
        outputs: tuple[Tensor, ...],
        scope: _Scope,
        constants: Mapping[tuple[str, str], _Constant],
    ) -> Bound:
        parameters: dict[str, list[Tensor]] = {}
        for parameter, argument in operation.inputs.items():
            for index, binding in enumerate(argument.arguments):
                literal = binding.WhichOneof("binding") == "value"
                constant = constants.get((parameter, f"{index}" if literal else binding.name))
                tensor = constant.tensor if constant is not None else scope.types.get(binding.name, UNKNOWN)
                parameters.setdefault(parameter, []).append(tensor)
        words = {
            parameter: each.word for (parameter, _), each in constants.items() if isinstance(each.word, str | bool)
        }
        return Bound(op, parameters, outputs, words)


def _iterations(loop: Message, scope: _Scope) -> int | None:
    """How often a loop runs that counts: a variable from a constant, by a constant step, while it is below another."""
    condition, body = loop.blocks
    by_name = {operation.outputs[0].name: operation for operation in condition.operations if operation.outputs}
    test = by_name.get(condition.outputs[0])
    if test is None or not str(test.type).endswith("less"):
        return None
    place = next((at for at, value in enumerate(condition.inputs) if value.name == _bound_name(test, "x")), None)
    if place is None:
        return None
    makers = {operation.outputs[0].name: operation for operation in body.operations if operation.outputs}
    sum_ = makers.get(body.outputs[place])
    if sum_ is None or not str(sum_.type).endswith("add") or _bound_name(sum_, "x") != body.inputs[place].name:
        return None
    end = _number(test.inputs["y"].arguments[0], condition, scope)
    step = _number(sum_.inputs["y"].arguments[0], body, scope)
    start = _number(loop.inputs["loop_vars"].arguments[place], None, scope)
    if end is None or start is None or not step or step < 0:
        return None
    return max(-(-(end - start) // step), 0)


def _bound_name(operation: Message, parameter: str) -> str:
    arguments = list(operation.inputs[parameter].arguments) if parameter in operation.inputs else []
    return str(arguments[0].name) if len(arguments) == 1 else ""


def _number(binding: Message, block: Message | None, scope: _Scope) -> int | None:
    """A constant whole number: a literal, one of the block itself, or of those around it."""
    if binding.WhichOneof("binding") == "value":
        return _lone_number(binding.value)
    for operation in block.operations if block is not None else ():
        if str(operation.type).endswith("const") and operation.outputs[0].name == binding.name:
            return _lone_number(operation.attributes["val"])
    word = scope.constants[binding.name].word if binding.name in scope.constants else None
    return word if isinstance(word, int) and not isinstance(word, bool) else None


def _lone_number(value: Message) -> int | None:
    numbers = value.immediateValue.tensor.ints.values
    return int(numbers[0]) if len(numbers) == 1 else None


def _combined(op: str, parts: list[_Constant], outputs: tuple[Tensor, ...]) -> list[_Constant]:
    """What an operation makes of constants alone; its type is that of the largest part, as stored."""
    stored = sum(each.stored for each in parts)
    largest = max(parts, key=lambda each: each.stored)
    compressed = op.startswith(CONSTEXPR) or largest.compressed
    made = []
    for tensor in outputs:
        dtype, elements = largest.dtype, tensor.elements
        # The older form of a palette packs its indices into bytes without saying so.
        if "lut" in op and dtype == "uint8" and elements and largest.stored < elements:
            dtype = f"uint{largest.stored * 8 // elements}"
        made.append(_Constant(tensor, stored, dtype, compressed=compressed))
    return made


def _is_trained(op: str, parameter: str, constant: _Constant, elements: int) -> bool:
    if constant.compressed:
        return True
    if not constant.tensor.dtype.startswith("float"):
        return False
    return elements > 1 or parameter in _WEIGHTS or (parameter in _NORM_WEIGHTS and op.endswith("_norm"))


@dataclass(frozen=True, slots=True)
class Bound:
    """An operation with the tensors bound to its parameters; `words` are those parameters that are text or a flag."""

    op: str
    parameters: Mapping[str, Sequence[Tensor]]
    outputs: tuple[Tensor, ...]
    words: Mapping[str, str | bool]

    def shape(self, name: str) -> Shape | None:
        bound = self.parameters.get(name)
        return bound[0].shape if bound else None

    def output(self) -> Shape | None:
        return (self.outputs[0] if self.outputs else UNKNOWN).shape


MacCounter = Callable[[Bound], int | None]


def count(bound: Bound) -> int | None:
    """Multiply-accumulates of one call; None if a length is unknown."""
    counter = _COUNTERS.get(bound.op)
    return 0 if counter is None else counter(bound)


def _product(bound: Bound) -> int | None:
    return macs.matrix_product(
        bound.output(), bound.shape("x"), transposed=bound.words.get("transpose_x", False) is True
    )


def _einsum(bound: Bound) -> int | None:
    operands = [tensor.shape for tensor in bound.parameters.get("values", ())]
    return macs.contraction(str(bound.words.get("equation", "")), operands)


def _recurrent(gates: int) -> MacCounter:
    """x is (steps, batch, inputs), the weights (gates * hidden, inputs) and (gates * hidden, hidden)."""

    def counted(bound: Bound) -> int | None:
        data, weight, again = bound.shape("x"), bound.shape("weight_ih"), bound.shape("weight_hh")
        if data is None or weight is None or again is None or len(data) != 3:
            return None
        inputs, hidden = weight[-1], again[-1]
        if inputs is None or hidden is None:
            return None
        directions = 2 if bound.parameters.get("weight_ih_back") else 1
        return macs.recurrent(data[0], data[1], inputs=inputs, hidden=hidden, gates=gates, directions=directions)

    return counted


_COUNTERS: dict[str, MacCounter] = {
    "conv": lambda bound: macs.convolution(bound.output(), bound.shape("weight")),
    "conv_transpose": lambda bound: macs.transposed_convolution(bound.shape("x"), bound.shape("weight")),
    "linear": _product,
    "matmul": _product,
    "einsum": _einsum,
    "lstm": _recurrent(macs.LSTM_GATES),
    "gru": _recurrent(macs.GRU_GATES),
    "rnn": _recurrent(macs.RNN_GATES),
    "scaled_dot_product_attention": lambda bound: macs.attention(
        bound.shape("query"), bound.shape("key"), bound.shape("value")
    ),
}
