"""Layers element by element, reductions, and matrix products."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from hettop.models.mil.graph import BOOL, FLOAT32, Tensor
from hettop.models.mil.neuralnetwork.layer import Layer
from hettop.models.mil.neuralnetwork.shapes import LEGACY_AXES, LEGACY_REDUCTIONS

_PLAIN_ACTIVATIONS = {
    "ReLU": "relu",
    "tanh": "tanh",
    "sigmoid": "sigmoid",
    "softsign": "softsign",
    "softplus": "softplus",
}
_SCALED_ACTIVATIONS = {
    "linear": "linear_activation",
    "leakyReLU": "leaky_relu",
    "thresholdedReLU": "thresholded_relu",
    "scaledTanh": "scaled_tanh",
    "sigmoidHard": "sigmoid_hard",
    "ELU": "elu",
}


def activation(layer: Layer) -> Tensor:
    kind = str(layer.parameters.WhichOneof("NonlinearityType"))
    given, x = getattr(layer.parameters, kind), layer.x
    if kind in _PLAIN_ACTIVATIONS:
        return layer.mil(_PLAIN_ACTIVATIONS[kind], x.sizes, x=x)
    if kind in _SCALED_ACTIVATIONS:
        factors = {name: getattr(given, name) for name in ("alpha", "beta") if hasattr(given, name)}
        return layer.mil(_SCALED_ACTIVATIONS[kind], x.sizes, x=x, **factors)
    if kind == "PReLU":
        return layer.graph.emit("PRelu", x, _by_channel(layer, given.alpha), shape=x.shape)
    inner = layer.graph.emit("Mul", x, _by_channel(layer, given.beta), shape=x.shape)
    softened = layer.graph.emit("Softplus", inner, shape=x.shape)
    return layer.graph.emit("Mul", softened, _by_channel(layer, given.alpha), shape=x.shape)


def _by_channel(layer: Layer, values: object) -> Tensor:
    """One value for all channels, or one for each, along the third axis from the end."""
    lone = len(values.floatValue) == 1 or len(values.float16Value) == 2  # type: ignore[attr-defined]
    channels = 1 if lone else layer.x.sizes[-3]
    if channels is None:
        raise layer.call.unsupported("has a number of channels known at run time only")
    return layer.constant(layer.weights(values, channels, 1, 1))


_SQRT, _RSQRT, _INVERSE, _POWER, _EXP, _LOG, _ABS, _THRESHOLD = range(8)
_UNARY = {_SQRT: "sqrt", _EXP: "exp", _ABS: "abs"}


def unary(layer: Layer) -> Tensor:
    """A function of x, scaled and shifted before it."""
    given, x = layer.parameters, layer.x
    if given.scale not in (0, 1):
        x = layer.graph.emit("Mul", x, layer.constant(given.scale), shape=x.shape)
    if given.shift:
        x = layer.graph.emit("Add", x, layer.constant(given.shift), shape=x.shape)
    epsilon = given.epsilon or 1e-6
    if given.type in (_RSQRT, _INVERSE):
        return layer.mil("rsqrt" if given.type == _RSQRT else "inverse", x.sizes, x=x, epsilon=epsilon)
    if given.type == _POWER:
        return layer.graph.emit("Pow", x, layer.constant(given.alpha), shape=x.shape)
    if given.type == _LOG:
        return layer.graph.emit("Log", x, shape=x.shape)
    if given.type == _THRESHOLD:
        return layer.mil("threshold", x.sizes, x=x, alpha=np.float32(given.alpha))
    return layer.mil(_UNARY[given.type], x.sizes, x=x)


def _joined(operator: str) -> Callable[[Layer], Tensor]:
    """All inputs; of a single one and a number where the layer has one."""

    def translate(layer: Layer) -> Tensor:
        inputs = list(layer.inputs)
        if len(inputs) == 1 and operator in {"Add", "Mul"}:
            inputs.append(layer.constant(layer.parameters.alpha))
        if operator not in {"Add", "Mul"}:
            return layer.graph.emit(operator, *inputs, shape=layer.shape)
        result = inputs[0]
        for each in inputs[1:]:
            result = layer.graph.emit(operator, result, each, shape=layer.shape)
        return result

    return translate


def scale(layer: Layer) -> Tensor:
    given = layer.parameters
    factor = layer.constant(layer.weights(given.scale, *_channel_shape(given.shapeScale)))
    scaled = layer.graph.emit("Mul", layer.x, factor, shape=layer.shape)
    if not given.hasBias:
        return scaled
    offset = layer.constant(layer.weights(given.bias, *_channel_shape(given.shapeBias)))
    return layer.graph.emit("Add", scaled, offset, shape=layer.shape)


def bias(layer: Layer) -> Tensor:
    offset = layer.constant(layer.weights(layer.parameters.bias, *_channel_shape(layer.parameters.shape)))
    return layer.graph.emit("Add", layer.x, offset, shape=layer.shape)


def _channel_shape(shape: object) -> list[int]:
    """[1], [C], [1, H, W] or [C, H, W]; a lone C stands for channels."""
    lengths = [int(length) for length in shape]  # type: ignore[attr-defined]
    return [*lengths, 1, 1] if len(lengths) == 1 else lengths


def reduce(layer: Layer) -> Tensor:
    """Over named axes, which stay with length 1."""
    given, x = layer.parameters, layer.x
    op, axes = LEGACY_REDUCTIONS[given.mode], LEGACY_AXES[given.axis]
    if op == "argmax":
        found = layer.mil("reduce_argmax", layer.shape, x=x, axis=axes[0], keep_dims=True)
        return layer.graph.cast(found, FLOAT32)
    if op == "log_sum":
        shifted = layer.graph.emit("Add", x, layer.constant(given.epsilon or 1e-6), shape=x.shape)
        logarithms = layer.graph.emit("Log", shifted, shape=x.shape)
        return layer.mil("reduce_sum", layer.shape, x=logarithms, axes=axes, keep_dims=True)
    return layer.mil(f"reduce_{op}", layer.shape, x=x, axes=axes, keep_dims=True)


def _reduce(op: str) -> Callable[[Layer], Tensor]:
    def translate(layer: Layer) -> Tensor:
        given, x = layer.parameters, layer.x
        axes = list(range(x.rank)) if given.reduceAll else [int(axis) for axis in given.axes]
        reduced = layer.mil(f"reduce_{op}", layer.shape, x=x, axes=axes, keep_dims=bool(given.keepDims))
        return layer.call.reshape(reduced, [1]) if layer.shape == (1,) else reduced

    return translate


def _index_of(op: str) -> Callable[[Layer], Tensor]:
    def translate(layer: Layer) -> Tensor:
        given = layer.parameters
        kept = not given.removeDim
        found = layer.mil(f"reduce_{op}", layer.shape, x=layer.x, axis=int(given.axis), keep_dims=kept)
        return layer.graph.cast(found, FLOAT32)

    return translate


def inner_product(layer: Layer) -> Tensor:
    """Over the last axis; of four axes and more over the last three at once."""
    given, x, shape = layer.parameters, layer.x, layer.shape
    if given.int8DynamicQuantize:
        raise layer.call.unsupported("quantises its input at run time")
    outputs, inputs = int(given.outputChannels), int(given.inputChannels)
    options = {
        "weight": layer.weights(given.weights, outputs, inputs),
        "bias": layer.weights(given.bias, outputs) if given.hasBias else None,
    }
    if x.rank < 4:
        return layer.mil("linear", shape, x=x, **options)
    flat = layer.call.reshape(x, [-1, inputs], (None, inputs))
    made = layer.mil("linear", (None, outputs), x=flat, **options)
    return layer.call.reshape(made, [*(layer.call.size(x, axis) for axis in range(x.rank - 3)), outputs, 1, 1], shape)


def matmul(layer: Layer) -> Tensor:
    """Of two inputs, or of one and a constant matrix, which is stored column by column."""
    given = layer.parameters
    if given.int8DynamicQuantize:
        raise layer.call.unsupported("quantises its input at run time")
    if len(layer.inputs) > 1:
        return layer.mil(
            "matmul",
            layer.shape,
            x=layer.x,
            y=layer.inputs[1],
            transpose_x=bool(given.transposeA),
            transpose_y=bool(given.transposeB),
        )
    inputs, outputs = int(given.weightMatrixFirstDimension), int(given.weightMatrixSecondDimension)
    weight = layer.weights(given.weights, outputs, inputs)
    offset = layer.weights(given.bias, outputs) if given.hasBias else None
    return layer.mil("linear", layer.shape, x=layer.x, weight=weight, bias=offset)


def layer_norm(layer: Layer) -> Tensor:
    given = layer.parameters
    sizes = [int(size) for size in given.normalizedShape]
    return layer.mil(
        "layer_norm",
        layer.shape,
        x=layer.x,
        axes=list(range(-len(sizes), 0)),
        gamma=layer.weights(given.gamma, *sizes),
        beta=layer.weights(given.beta, *sizes),
        epsilon=given.eps,
    )


_GELU = ("EXACT", "TANH_APPROXIMATION", "SIGMOID_APPROXIMATION")


def gelu(layer: Layer) -> Tensor:
    return layer.mil("gelu", layer.shape, x=layer.x, mode=np.asarray(_GELU[layer.parameters.mode]))


def clip(layer: Layer) -> Tensor:
    return layer.mil("clip", layer.shape, x=layer.x, alpha=layer.parameters.minVal, beta=layer.parameters.maxVal)


def softmax(layer: Layer) -> Tensor:
    return layer.mil("softmax", layer.shape, x=layer.x, axis=-3)


def softmax_along(layer: Layer) -> Tensor:
    return layer.mil("softmax", layer.shape, x=layer.x, axis=int(layer.parameters.axis))


def _same(op: str) -> Callable[[Layer], Tensor]:
    return lambda layer: layer.mil(op, layer.shape, x=layer.x)


def _pair(op: str) -> Callable[[Layer], Tensor]:
    return lambda layer: layer.mil(op, layer.shape, x=layer.x, y=layer.inputs[1])


def _comparison(op: str) -> Callable[[Layer], Tensor]:
    """Of two inputs, or of one and a number; 1 where it holds and 0 elsewhere."""

    def translate(layer: Layer) -> Tensor:
        other = layer.inputs[1] if len(layer.inputs) > 1 else layer.constant(layer.parameters.alpha)
        return layer.graph.cast(layer.mil(op, layer.shape, x=layer.x, y=other), FLOAT32)

    return translate


def _logical(op: str) -> Callable[[Layer], Tensor]:
    def translate(layer: Layer) -> Tensor:
        named = dict(zip("xy", (layer.graph.cast(each, BOOL) for each in layer.inputs), strict=False))
        return layer.graph.cast(layer.mil(op, layer.shape, **named), FLOAT32)

    return translate


_COMPARISONS = {
    "equal": "equal",
    "notEqual": "not_equal",
    "lessThan": "less",
    "lessEqual": "less_equal",
    "greaterThan": "greater",
    "greaterEqual": "greater_equal",
}
_PAIRS = {
    "addBroadcastable": "add",
    "subtractBroadcastable": "sub",
    "multiplyBroadcastable": "mul",
    "divideBroadcastable": "real_div",
    "floorDivBroadcastable": "floor_div",
    "modBroadcastable": "mod",
    "powBroadcastable": "pow",
    "maxBroadcastable": "maximum",
    "minBroadcastable": "minimum",
}
_FUNCTIONS = ("ceil", "floor", "sign", "round", "exp2", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh")
_REDUCTIONS = {
    "reduceMax": "max",
    "reduceMin": "min",
    "reduceMean": "mean",
    "reduceSum": "sum",
    "reduceProd": "prod",
    "reduceL1": "l1_norm",
    "reduceL2": "l2_norm",
    "reduceSumSquare": "sum_square",
    "reduceLogSum": "log_sum",
    "reduceLogSumExp": "log_sum_exp",
}

LAYERS: Mapping[str, Callable[[Layer], Tensor]] = {
    "activation": activation,
    "unary": unary,
    **{
        name: _joined(operator)
        for name, operator in (
            ("add", "Add"),
            ("multiply", "Mul"),
            ("average", "Mean"),
            ("max", "Max"),
            ("min", "Min"),
        )
    },
    "scale": scale,
    "bias": bias,
    "reduce": reduce,
    "innerProduct": inner_product,
    "softmax": softmax,
    "batchedMatmul": matmul,
    "layerNormalization": layer_norm,
    "gelu": gelu,
    "clip": clip,
    "softmaxND": softmax_along,
    **{name: _same(name) for name in (*_FUNCTIONS, "tanh", "erf")},
    **{name: _pair(op) for name, op in _PAIRS.items()},
    **{name: _comparison(op) for name, op in _COMPARISONS.items()},
    **{f"logical{name}": _logical(f"logical_{name.lower()}") for name in ("And", "Or", "Xor", "Not")},
    **{name: _reduce(op) for name, op in _REDUCTIONS.items()},
    **{name: _index_of(name.lower()) for name in ("argMax", "argMin")},
}
