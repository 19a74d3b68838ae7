"""Layers over channels, height and width: convolution, pooling, normalisation, resizing, borders."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from hettop.models.mil.graph import Tensor
from hettop.models.mil.neuralnetwork.layer import Layer, Message
from hettop.models.mil.neuralnetwork.shapes import LAST_PIXEL, convolution_weight, pair
from hettop.models.mil.values import Shape

_POOLS = ("max", "avg", "l2")
_GLOBAL_POOLS = ("reduce_max", "reduce_mean", "reduce_l2_norm")
_HEAVY = ("same", "same_lower")
"""By SamePadding's asymmetryMode."""

_UPSAMPLING = ("DEFAULT", "ALIGN_CORNERS", "UNALIGN_CORNERS")
_SAMPLING = ("STRICT_ALIGN_CORNERS", "ALIGN_CORNERS", "DEFAULT", "OFFSET_CORNERS")
_BORDERS = {"constant": "constant", "reflection": "reflect", "replication": "replicate"}
_SPACE_TO_DEPTH, _DEPTH_TO_SPACE, _PIXEL_SHUFFLE = range(3)
ACROSS, WITHIN = [-3, -2, -1], [-2, -1]


def convolution(layer: Layer) -> Tensor:
    given = layer.parameters
    back = bool(given.isDeconvolution)
    if len(layer.inputs) > 1:
        weight: object = layer.inputs[1]
    else:
        sizes = [size or 0 for size in convolution_weight(given)]
        weight = layer.weights(given.weights, *sizes, axis=1 if back else 0)
    options = {
        "weight": weight,
        "bias": layer.weights(given.bias, int(given.outputChannels)) if given.hasBias else None,
        "strides": pair(given.stride, 1),
        "groups": max(int(given.nGroups), 1),
        **_padding(layer, given.WhichOneof("ConvolutionPaddingType")),
    }
    if not back:
        options["dilations"] = pair(given.dilationFactor, 1)
        return layer.as_images(lambda x, shape: layer.mil("conv", shape, x=x, **options))
    if given.same.asymmetryMode and any(
        (size - step) % 2 for size, step in zip(pair(given.kernelSize, 3), pair(given.stride, 1), strict=True)
    ):
        raise layer.call.unsupported("crops an odd border, more of it at the top and left")
    if given.outputShape:
        options |= {"pad_type": "valid", "pad": None, "output_shape": [1, 1, *given.outputShape]}
        _check_exact(layer)
    return layer.as_images(lambda x, shape: layer.mil("conv_transpose", shape, x=x, **options))


def _check_exact(layer: Layer) -> None:
    """The format does not define what is cropped for an output shape that is not that without a border."""
    given = layer.parameters
    kernel, strides = pair(given.kernelSize, 3), pair(given.stride, 1)
    for size, wanted, length, step in zip(layer.x.sizes[-2:], given.outputShape, kernel, strides, strict=True):
        if size is None or (size - 1) * step + length != wanted:
            raise layer.call.unsupported("has an output shape that needs an unspecified border")


def _padding(layer: Layer, how: str | None) -> dict[str, object]:
    if how == "same":
        return {"pad_type": np.asarray(_HEAVY[layer.parameters.same.asymmetryMode])}
    return {"pad_type": np.asarray("custom"), "pad": _borders(layer.parameters.valid.paddingAmounts)}


def _borders(amounts: Message) -> list[int]:
    """Start and end of height, then of width."""
    edges = [int(size) for each in amounts.borderAmounts for size in (each.startEdgeSize, each.endEdgeSize)]
    return edges if len(edges) == 4 else [0] * 4


def pooling(layer: Layer) -> Tensor:
    given = layer.parameters
    if given.globalPooling:
        return layer.mil(_GLOBAL_POOLS[given.type], layer.shape, x=layer.x, axes=WITHIN, keep_dims=True)
    how = given.WhichOneof("PoolingPaddingType")
    options = _whole_windows(layer) if how == LAST_PIXEL else _padding(layer, how)
    kernel, strides = pair(given.kernelSize, 3), pair(given.stride, 1)
    if _POOLS[given.type] == "avg":
        options["exclude_padding_from_average"] = bool(given.avgPoolExcludePadding)
    return layer.as_images(
        lambda x, shape: layer.mil(
            f"{_POOLS[given.type]}_pool", shape, x=x, kernel_sizes=kernel, strides=strides, **options
        )
    )


def _whole_windows(layer: Layer) -> dict[str, object]:
    """The border with which a pool includes the last pixel: as given at the start, as needed at the end."""
    given = layer.parameters
    amounts = pair(given.includeLastPixel.paddingAmounts, 0)
    kernel, strides = pair(given.kernelSize, 3), pair(given.stride, 1)
    pads: list[int] = []
    for axis in range(2):
        size, places = layer.x.sizes[-2 + axis], layer.shape[-2 + axis]
        if size is None or places is None:
            raise layer.call.unsupported("includes the last pixel of an image whose size is known at run time only")
        end = max((places - 1) * strides[axis] + kernel[axis] - size - amounts[axis], 0)
        if end > amounts[axis] and _POOLS[given.type] == "avg" and not given.avgPoolExcludePadding:
            raise layer.call.unsupported("averages beyond its border, which the format does not define")
        pads += [amounts[axis], end]
    return {"pad_type": np.asarray("custom"), "pad": pads}


def batch_norm(layer: Layer) -> Tensor:
    given, channels = layer.parameters, int(layer.parameters.channels)
    scales = {
        name: layer.weights(values, channels) if given.HasField(name) else None
        for name, values in (("gamma", given.gamma), ("beta", given.beta))
    }
    epsilon = given.epsilon or 1e-5
    if not given.computeMeanVar:
        for name in ("mean", "variance"):
            scales[name] = layer.weights(getattr(given, name), channels)
        return layer.as_images(lambda x, shape: layer.mil("batch_norm", shape, x=x, epsilon=epsilon, **scales))
    if not given.instanceNormalization and any(size != 1 for size in layer.x.sizes[:-3]):
        raise layer.call.unsupported("normalises over a batch")
    return layer.as_images(lambda x, shape: layer.mil("instance_norm", shape, x=x, epsilon=epsilon, **scales))


def mean_variance(layer: Layer) -> Tensor:
    """Less the mean, divided by the deviation unless `normalizeVariance` is off."""
    given, x = layer.parameters, layer.x
    axes = ACROSS if given.acrossChannels else WITHIN
    epsilon = given.epsilon or 1e-6
    if given.normalizeVariance:
        return layer.mil("layer_norm", x.sizes, x=x, axes=axes, epsilon=epsilon)
    mean = layer.mil("reduce_mean", x.sizes, x=x, axes=axes, keep_dims=True)
    return layer.mil("sub", x.sizes, x=x, y=mean)


def l2_normalize(layer: Layer) -> Tensor:
    return layer.mil("l2_norm", layer.shape, x=layer.x, epsilon=layer.parameters.epsilon or 1e-6)


def local_response(layer: Layer) -> Tensor:
    given = layer.parameters
    options = {"size": int(given.localSize), "alpha": given.alpha, "beta": given.beta, "k": given.k or 1.0}
    return layer.as_images(lambda x, shape: layer.mil("local_response_norm", shape, x=x, **options))


def crop(layer: Layer) -> Tensor:
    """By amounts, or to the height and width of a second input, from an offset."""
    if len(layer.inputs) == 1:
        edges = _borders(layer.parameters.cropAmounts)
        return layer.mil("crop", layer.shape, x=layer.x, crop_height=edges[:2], crop_width=edges[2:])
    tops = pair(layer.parameters.offset, 0)
    sizes = layer.shape[-2:]
    if None in sizes:
        raise layer.call.unsupported("crops to a size known at run time only")
    ends = [start + (size or 0) for start, size in zip(tops, sizes, strict=True)]
    call = layer.call
    return call.emit("Slice", layer.x, call.ints(tops), call.ints(ends), call.ints(WITHIN), shape=layer.shape)


def padding(layer: Layer) -> Tensor:
    given = layer.parameters
    how = given.WhichOneof("PaddingType") or "constant"
    edges = _borders(given.paddingAmounts)
    mode = np.asarray(_BORDERS[how])
    return layer.mil("pad", layer.shape, x=layer.x, pad=edges, mode=mode, constant_val=given.constant.value)


def upsample(layer: Layer) -> Tensor:
    given = layer.parameters
    if given.fractionalScalingFactor:
        raise layer.call.unsupported("scales by a factor that is not whole")
    rows, columns = pair(given.scalingFactor, 1)
    if not given.mode:
        return layer.mil(
            "upsample_nearest_neighbor", layer.shape, x=layer.x, scale_factor_height=rows, scale_factor_width=columns
        )
    return _bilinear(layer, _UPSAMPLING[given.linearUpsampleMode], layer.shape[-2:])


def resize_bilinear(layer: Layer) -> Tensor:
    return _bilinear(layer, _SAMPLING[layer.parameters.mode.samplingMethod], layer.shape[-2:])


def _bilinear(layer: Layer, mode: str, sides: Shape) -> Tensor:
    if None in sides:
        raise layer.call.unsupported("scales to a size known at run time only")
    height, width = (int(side or 0) for side in sides)
    sampling = np.asarray(mode)
    return layer.mil(
        "resize_bilinear",
        layer.shape,
        x=layer.x,
        target_size_height=height,
        target_size_width=width,
        sampling_mode=sampling,
    )


def reorganize(layer: Layer) -> Tensor:
    """Blocks of pixels to channels and back. Channels are (block row, block column, channel) but for a shuffle."""
    given, block = layer.parameters, int(layer.parameters.blockSize)
    if given.mode == _SPACE_TO_DEPTH:
        return layer.as_images(lambda x, shape: layer.mil("space_to_depth", shape, x=x, block_size=block))
    if given.mode == _PIXEL_SHUFFLE:
        return layer.as_images(lambda x, shape: layer.mil("pixel_shuffle", shape, x=x, upscale_factor=block))
    return layer.as_images(lambda x, shape: layer.mil("depth_to_space", shape, x=x, block_size=block))


LAYERS: Mapping[str, Callable[[Layer], Tensor]] = {
    "convolution": convolution,
    "pooling": pooling,
    "batchnorm": batch_norm,
    "mvn": mean_variance,
    "l2normalize": l2_normalize,
    "lrn": local_response,
    "crop": crop,
    "padding": padding,
    "upsample": upsample,
    "resizeBilinear": resize_bilinear,
    "reorganizeData": reorganize,
}
