"""Shapes for a batch or an image size other than the usual one, or why a model cannot have it.

Knows ports, as a file describes them; neither files nor frameworks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hettop.errors import HettopError
from hettop.models.ports import Port
from hettop.models.shapes import Shape, accepts, check_names, choose_shapes
from hettop.text import clean

CHANNELS = (1, 3, 4)
"""Of images; an axis of another length is not a channel."""

EXPORT_BATCH = "export the model with a dynamic first axis"
EXPORT_BATCH_AXIS = "export the model with a dynamic batch axis"
BATCH_NAME = re.compile(r"batch|^(n|b|bs)$", re.IGNORECASE)
"""What exporters call the axis of the batch."""
EXPORT_SIZE = "export the model with dynamic height and width"


@dataclass(frozen=True, slots=True)
class Scale:
    """What is asked for: `batch` items per call, images of `height` by `width`; None: as the model has it."""

    batch: int | None = None
    height: int | None = None
    width: int | None = None


def scaled(
    ports: Sequence[Port], shapes: Mapping[str, Shape], scale: Scale, axes: Mapping[str, int] | None = None
) -> dict[str, Shape]:
    """The shapes of the inputs that `scale` concerns, besides those of `shapes`, which are the user's.

    axes: which axis of an input is the batch, where the user says so. Raises HettopError (`input`): why the model
    cannot be had so, naming the input.
    """
    ports = [port for port in ports if port.kind != "state"]
    chosen = choose_shapes(ports, shapes, {})
    changed = dict(shapes)
    if scale.height is not None and scale.width is not None:
        for port in _images(ports, chosen):
            chosen[port.name] = changed[port.name] = _sized(port, chosen[port.name], scale.height, scale.width)
    if scale.batch is not None:
        for name, axis in batch_axes(ports, axes or {}, as_it_is=scale.batch == 1).items():
            shape = chosen[name]
            changed[name] = (*shape[:axis], scale.batch, *shape[axis + 1 :])
    for port in ports:
        if port.name in changed and not accepts(port, changed[port.name]):
            first = isinstance(port.shape[0], int) and changed[port.name][0] != port.shape[0]
            raise _refusal(port, changed[port.name], EXPORT_BATCH if first else EXPORT_BATCH_AXIS)
    return changed


def usual_batch(ports: Sequence[Port]) -> int | None:
    """The batch of a model whose batch axes are fixed, all alike; None where they are free or differ."""
    by_name = {port.name: port for port in ports}
    axes = batch_axes([port for port in ports if port.kind != "state"], {}, as_it_is=True)
    lengths = {by_name[name].shape[axis] for name, axis in axes.items()}
    only = next(iter(lengths)) if len(lengths) == 1 else None
    return only if isinstance(only, int) else None


def batch_axes(ports: Sequence[Port], asked: Mapping[str, int], *, as_it_is: bool = False) -> dict[str, int]:
    """Which axis of which input is the batch.

    The one that was asked for; else the one that is named so, or whose name all inputs of two axes or more share; else
    the first one, where all of these are free or of one length. Raises HettopError (`input`) where that is open, unless
    the model is to run `as_it_is`: such inputs then stay as they are.
    """
    found = {port.name: _asked_axis(port, asked[port.name]) for port in ports if port.name in asked}
    wide = [port for port in ports if len(port.shape) >= 2]
    if not wide and not found:
        raise HettopError("input", "no batch axis: no input has two axes or more", EXPORT_BATCH)
    names = {axis for port in ports for axis in port.shape if isinstance(axis, str)}
    named = {name for name in names if BATCH_NAME.search(name)}
    named = named or {name for name in names if all(port.shape.count(name) == 1 for port in wide)}
    rest = [port for port in ports if port.name not in found]
    if len(named) == 1:
        (name,) = named
        return found | {port.name: port.shape.index(name) for port in rest if name in port.shape}
    firsts = {port.shape[0] if isinstance(port.shape[0], int) else None for port in wide if port.name not in found}
    if len(firsts) <= 1:
        labels = {port.shape[0] for port in wide if isinstance(port.shape[0], str)}
        return found | {p.name: 0 for p in rest if len(p.shape) >= 2 or (len(p.shape) == 1 and p.shape[0] in labels)}
    if as_it_is:
        return found
    port = next(port for port in wide if port.name not in found and isinstance(port.shape[0], int))
    raise HettopError(
        "input",
        f"cannot determine which axis is the batch: {clean(port.describe())}",
        f"name it for each input that has one: --batch-axis {clean(port.name)}=1",
    )


def check_batch_axes(ports: Sequence[Port], asked: Mapping[str, int]) -> None:
    """Raises HettopError (`input`) for an input or an axis that the model does not have."""
    check_names(ports, asked, "--batch-axis")
    for port in ports:
        if port.name in asked:
            _asked_axis(port, asked[port.name])


def _asked_axis(port: Port, axis: int) -> int:
    if axis >= len(port.shape):
        raise HettopError("input", f"--batch-axis: no axis {axis}: {clean(port.describe())}", "axes count from 0")
    return axis


def _images(ports: Sequence[Port], chosen: Mapping[str, Shape]) -> list[Port]:
    found = [port for port in ports if _channel_axis(port, chosen[port.name]) is not None]
    if not found:
        takes = clean(", ".join(port.describe() for port in ports))
        raise HettopError("input", f"no image input (four axes, one with 1, 3 or 4 channels): {takes}")
    return found


def _channel_axis(port: Port, shape: Shape) -> int | None:
    """1 for (n, channels, height, width), 3 for (n, height, width, channels); None for what is not an image.

    An axis that the model fixes reports more than a length that was put in for a free one.
    """
    if len(shape) != 4 or len(port.shape) != 4:
        return None
    candidates = [axis for axis in (1, 3) if shape[axis] in CHANNELS]
    fixed = [axis for axis in candidates if isinstance(port.shape[axis], int)]
    return next(iter(fixed or candidates), None)


def _sized(port: Port, shape: Shape, height: int, width: int) -> Shape:
    first, channels_first = shape[0], _channel_axis(port, shape) == 1
    there = (first, shape[1], height, width) if channels_first else (first, height, width, shape[3])
    if not accepts(port, there):
        raise _refusal(port, there, EXPORT_SIZE)
    return there


def _refusal(port: Port, shape: Shape, hint: str) -> HettopError:
    wanted = ",".join(map(str, shape))
    if port.kind == "image" and shape[0] != 1:
        message = f"{clean(port.name)} is an image, and Core ML images have no batch"
        return HettopError("input", message, "convert the model with an array input")
    return HettopError("input", f"{clean(port.describe())} cannot be [{wanted}]", hint)
