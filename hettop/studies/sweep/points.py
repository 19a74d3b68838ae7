"""The points of a sweep over batches and sizes: each a candidate to measure, or the reason why it cannot be had.

Looks into the model's file for its inputs, and runs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hettop.errors import HettopError
from hettop.events import Failure
from hettop.measurement.options import ModelOptions
from hettop.measurement.rounds import Candidate
from hettop.measurement.setup import DEFAULT_BACKEND, Make, Setup, prepare
from hettop.models.mobilenetv2 import InputVariant, is_default_name, parse_variant
from hettop.models.ports import Port
from hettop.models.resolve import COMPILED_SUFFIX, is_core_ml, resolve
from hettop.models.shapes import Shape, choose_shapes
from hettop.sources.engine.backend import split_unit
from hettop.sources.engine.backends import create
from hettop.sources.engine.backends.onnxruntime import UNIT as CPU_UNIT
from hettop.sources.engine.batching import Scale, scaled, usual_batch
from hettop.text import clean


@dataclass(frozen=True, slots=True)
class Point:
    """`batch` items a call; `height` and `width` of an image, None where nothing is known of one."""

    batch: int
    height: int | None
    width: int | None
    candidate: Candidate


def make_points(
    options: ModelOptions,
    units: tuple[str, ...],
    cores: int,
    *,
    batches: Sequence[int],
    sizes: Sequence[tuple[int, int]],
    make: Make = create,
) -> tuple[Setup, list[Point]]:
    """What all points have in common, and the points by size and then by batch; an empty list is the model's own.

    Raises HettopError: as `prepare` does; `usage` for a simulated machine; and the first point's reason if no point
    can be had.
    """
    setup = prepare(options, units, cores, make)
    if setup.simulated:
        hint = "sweep a simulated machine over --loads"
        raise HettopError("usage", "the simulated machine has one batch and one size", hint)
    scales = _scales(batches, sizes)
    if is_default_name(options.model):
        points = [_built(setup, parse_variant(options.model), scale) for scale in scales]
    else:
        ports = input_ports(Path(options.model), setup.function)
        points = [_reshaped(setup, ports, scale) for scale in scales]
    if all(point.candidate.setup is None for point in points):
        error = points[0].candidate.error or Failure(kind="input", message="no point can be had")
        raise HettopError(error.kind, error.message, error.hint)
    return setup, points


def core_ml_compilations(setup: Setup, points: Sequence[Point]) -> int:
    """How many times Core ML will compile something: each point for each unit that is not ONNX Runtime's own."""
    units = [unit for unit in setup.units if setup.backend != DEFAULT_BACKEND or split_unit(unit)[0] != CPU_UNIT]
    return len(units) * sum(point.candidate.setup is not None for point in points)


def _scales(batches: Sequence[int], sizes: Sequence[tuple[int, int]]) -> list[Scale]:
    """Each once, the least work first."""
    some_batches: list[int | None] = [*sorted(set(batches))] or [None]
    some_sizes: list[tuple[int | None, int | None]] = [
        *sorted(set(sizes), key=lambda size: (size[0] * size[1], size))
    ] or [(None, None)]
    return [Scale(batch, height, width) for height, width in some_sizes for batch in some_batches]


def input_ports(path: Path, function: str | None) -> tuple[Port, ...]:
    """The inputs, as the model's file describes them. Raises HettopError: `format`, `io`, `input`."""
    if path.suffix.lower() == COMPILED_SUFFIX:
        raise HettopError("input", f"{clean(path.name)} does not tell its inputs", "name the .mlpackage it was made of")
    if is_core_ml(path):
        from hettop.models.mil.package import open_package
        from hettop.models.package_ports import package_port

        return tuple(map(package_port, open_package(path).function(function).inputs))
    from hettop.models.inspection.onnx_file import onnx_ports, open_onnx

    return onnx_ports(open_onnx(path))[0]


def _built(setup: Setup, usual: InputVariant, scale: Scale) -> Point:
    """The default model is built for each point."""
    wanted = InputVariant(scale.height or usual.height, scale.width or usual.width, scale.batch or usual.batch)
    variant = parse_variant(wanted.name)  # refuses what is out of range
    model = resolve(variant.name)
    candidate = Candidate(_name(scale), replace(setup, model=model), work=float(model.macs or 0))
    return Point(variant.batch, variant.height, variant.width, candidate)


def _reshaped(setup: Setup, ports: Sequence[Port], scale: Scale) -> Point:
    """A file keeps its weights; its inputs get other shapes."""
    batch = scale.batch or 1
    try:
        shapes = scaled(ports, setup.inputs.shapes, scale)
        all_shapes = choose_shapes(ports, shapes, {})
    except HettopError as error:
        why = Failure(kind=error.kind, message=clean(error.message), hint=clean(error.hint))
        return Point(batch, scale.height, scale.width, Candidate(_name(scale), None, why))
    inputs = replace(setup.inputs, shapes=shapes)
    work = float(sum(math.prod(shape) for shape in all_shapes.values()))
    batch = scale.batch or usual_batch(ports) or _first_axis(all_shapes)
    return Point(batch, scale.height, scale.width, Candidate(_name(scale), replace(setup, inputs=inputs), work=work))


def _first_axis(shapes: Mapping[str, Shape]) -> int:
    return next((shape[0] for shape in shapes.values() if len(shape) >= 2), 1)


def _name(scale: Scale) -> str:
    size = "" if scale.height is None else f"{scale.height}x{scale.width}"
    batch = "" if scale.batch is None else f"b{scale.batch}"
    return " ".join(filter(None, (size, batch)))
