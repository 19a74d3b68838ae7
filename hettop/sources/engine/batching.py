"""Shapes for a batch or an image size other than the usual one, or why a model cannot have it.

Knows ports, as a file describes them; neither files nor frameworks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hettop.errors import HettopError
from hettop.models.ports import Port
from hettop.models.shapes import Shape, accepts, choose_shapes
from hettop.text import clean

CHANNELS = (1, 3, 4)
"""Of images; an axis of another length is not a channel."""

EXPORT_BATCH = "export the model with a dynamic first axis"
EXPORT_SIZE = "export the model with dynamic height and width"


@dataclass(frozen=True, slots=True)
class Scale:
    """What is asked for: `batch` items per call, images of `height` by `width`; None: as the model has it."""

    batch: int | None = None
    height: int | None = None
    width: int | None = None


def scaled(ports: Sequence[Port], shapes: Mapping[str, Shape], scale: Scale) -> dict[str, Shape]:
    """The shapes of the inputs that `scale` concerns, besides those of `shapes`, which are the user's.

    Raises HettopError (`input`): why the model cannot be had so, naming the input.
    """
    ports = [port for port in ports if port.kind != "state"]
    chosen = choose_shapes(ports, shapes, {})
    changed = dict(shapes)
    if scale.height is not None and scale.width is not None:
        for port in _images(ports, chosen):
            chosen[port.name] = changed[port.name] = _sized(port, chosen[port.name], scale.height, scale.width)
    if scale.batch is not None:
        for port in _batched(ports):
            changed[port.name] = (scale.batch, *chosen[port.name][1:])
    for port in ports:
        if port.name in changed and not accepts(port, changed[port.name]):
            raise _refusal(port, changed[port.name], EXPORT_SIZE if scale.batch in (None, 1) else EXPORT_BATCH)
    return changed


def usual_batch(ports: Sequence[Port]) -> int | None:
    """The batch of a model whose first axes are fixed, all alike; None where they are free or differ."""
    firsts = {port.shape[0] for port in _batched([port for port in ports if port.kind != "state"])}
    only = next(iter(firsts)) if len(firsts) == 1 else None
    return only if isinstance(only, int) else None


def _batched(ports: Sequence[Port]) -> list[Port]:
    """Inputs that have a batch as their first axis: all of two axes or more, and vectors that share its name."""
    wide = [port for port in ports if len(port.shape) >= 2]
    if not wide:
        raise HettopError("input", "no batch axis: no input has two axes or more", EXPORT_BATCH)
    names = {port.shape[0] for port in wide if isinstance(port.shape[0], str)}
    return wide + [port for port in ports if len(port.shape) == 1 and port.shape[0] in names]


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
