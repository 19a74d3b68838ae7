"""Measures the points of a sweep and makes its result of them, or of a session under loads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hettop.analysis.budget import Budget
from hettop.compute_units import is_provider_unit
from hettop.errors import HettopError
from hettop.events import Failure
from hettop.format import milliseconds, percent
from hettop.measurement.options import ModelOptions
from hettop.measurement.rounds import Candidate
from hettop.measurement.setup import DEFAULT_BACKEND, Make, Setup, prepare
from hettop.models.networks.catalogue import Variant, is_built_in, parse_variant
from hettop.models.ports import Port
from hettop.models.resolve import COMPILED_SUFFIX, is_core_ml, resolve
from hettop.models.shapes import Shape, choose_shapes
from hettop.session.session import Session
from hettop.session.statistics import Statistics
from hettop.sources.engine.backend import split_unit
from hettop.sources.engine.backends import create
from hettop.sources.engine.backends.onnxruntime import UNIT as CPU_UNIT
from hettop.sources.engine.batching import Scale, check_batch_axes, scaled, usual_batch
from hettop.stats.resampling import SEED
from hettop.studies.sweep.curves import Curve, PointResult, curves
from hettop.studies.sweep.result import BATCH, Fit, Sensitivity, SweepBudget, SweepCurve, SweepPoint, SweepResult, Usage
from hettop.text import clean

WORST = 0.1
"""A line that is off by more than this share of a call's time reports little of it, whatever its R²."""


def points_result(
    points: Sequence[PointResult], budget: Budget | None, notes: Sequence[str] = (), *, certain: bool = True
) -> SweepResult:
    """Points over batches and sizes.

    certain: whether to report how certain knees, lines and best points are, which takes long to work out.
    """
    found = curves(points, np.random.default_rng(SEED) if certain else None)
    return SweepResult(
        points=[_point(point) for point in points],
        curves=[_curve(curve) for curve in found],
        notes=[*notes, *_findings(found), *_of_budget(points, budget)],
        budget=None if budget is None else SweepBudget(limit_ms=budget.limit_ms, quantile=budget.quantile),
    )


def loads_result(
    rows: Iterable[Statistics],
    failed_loads: Mapping[str, str],
    sensitivity: Sequence[Sensitivity] = (),
    usage: Sequence[Usage] = (),
) -> SweepResult:
    """Units under loads: a point for each unit and load, of thermal states that with most samples.

    A call is an item here. `failed_loads`: why a load could not be had.
    """
    best: dict[tuple[str, str], Statistics] = {}
    for row in rows:
        before = best.get(key := (row.unit, row.load))
        if before is None or row.n > before.n:
            best[key] = row
    points = [
        SweepPoint(row.unit, 1, load=row.load, items_per_s=row.throughput_per_s, **_times(row))  # type: ignore[arg-type]
        for row in best.values()
    ]
    return SweepResult(
        points=points,
        sensitivity=list(sensitivity),
        usage=list(usage),
        notes=[f"load {load}: {why}" for load, why in failed_loads.items()],
    )


def usage_of(session: Session, units: Sequence[str], load: str, cpu_share: float | None) -> Usage:
    """With the canary's frames while these units ran under the load; it counts them for each unit alike."""
    frames = [each for key, each in session.canary.conditions.items() if (key.unit, key.load) == (units[0], load)]
    due, missed = sum(each.due for each in frames), sum(each.missed for each in frames)
    return Usage(
        units=list(units),
        load=load,
        cpu_share=cpu_share,
        frames_due=due or None,
        frames_missed=missed if due else None,
        missed_share=missed / due if due else None,
    )


def _times(row: Statistics) -> dict[str, object]:
    return {
        "n": row.n,
        "mean_ms": row.mean_ms,
        "p50_ms": row.p50_ms,
        "p90_ms": row.p90_ms,
        "p99_ms": row.p99_ms,
        "error": None if row.error is None else row.error.message,
    }


def _point(point: PointResult) -> SweepPoint:
    return SweepPoint(
        point.unit,
        point.batch,
        point.height,
        point.width,
        items_per_s=point.items_per_s,
        ms_per_item=point.ms_per_item,
        within_budget=None if point.judgement is None else point.judgement.met,
        name=point.name,
        statistics=point.statistics,
        **_times(point.statistics),  # type: ignore[arg-type]
    )


def _curve(curve: Curve) -> SweepCurve:
    fit, knee, certainty = curve.fit, curve.at_knee, curve.certainty
    knee_sure = None if certainty is None or curve.knee is None else certainty.knee
    best_sure = None if certainty is None else certainty.fastest
    return SweepCurve(
        unit=curve.unit,
        axis=curve.axis,
        along=curve.along,
        x=[_x(curve, point) for point in curve.points],
        items_per_s=[point.items_per_s or 0.0 for point in curve.points],
        mean_ms=[point.statistics.mean_ms or 0.0 for point in curve.points],
        a_ms=None if fit is None else fit.intercept,
        b_ms=None if fit is None else fit.slope,
        r2=None if fit is None else fit.r2,
        knee=None if knee is None else _x(curve, knee),
        no_knee=curve.knee.why or None if curve.knee is not None else None,
        best={
            "throughput": _x(curve, curve.fastest),
            "latency": _x(curve, curve.quickest),
            "within_budget": None if curve.within is None else _x(curve, curve.within),
        },
        knee_sure=knee_sure,
        best_sure=best_sure,
        saturated_at=None if curve.saturated is None else _x(curve, curve.saturated),
        fit=_fit(curve),
        knee_certainty=knee_sure,
        throughput_certainty=best_sure,
    )


def _fit(curve: Curve) -> Fit | None:
    fit = curve.fit
    if fit is None:
        return None
    # Items per second that ever larger batches tend to; none along sizes, where items grow.
    limit = 1e3 * fit.limit_rate if curve.axis == BATCH and fit.limit_rate is not None else None
    return Fit(
        a_ms=fit.intercept,
        b_ms=fit.slope,
        b_ci_ms=None if curve.certainty is None else list(curve.certainty.slope),
        r2=fit.r2,
        worst=fit.worst,
        points=fit.n,
        half_rate_at=fit.half_rate_x,
        limit_items_per_s=limit,
    )


def _x(curve: Curve, point: PointResult) -> float:
    return point.batch if curve.axis == BATCH else point.megapixels or 0.0


def _findings(found: Iterable[Curve]) -> Iterator[str]:
    """What must be known of these curves beside their figures."""
    for curve in found:
        called = curve.unit + (f", {curve.along}" if curve.along else "")
        if curve.saturated is not None:
            yield f"{called}: saturated: the rate falls from {_label(curve, curve.saturated)} on"
        if curve.fit is not None and curve.fit.worst > WORST:
            yield f"{called}: the fitted line is off by up to {percent(curve.fit.worst)} of the time per call"


def _label(curve: Curve, point: PointResult) -> str:
    return f"batch {point.batch}" if curve.axis == BATCH else f"{point.height}x{point.width}"


def _of_budget(points: Sequence[PointResult], budget: Budget | None) -> Iterator[str]:
    if budget is None:
        return
    level = f"P{budget.quantile * 100:g}"
    yield f"budget: {level} at most {milliseconds(budget.limit_ms)} ms, proven by its 95% interval"
    unproven = [point.judgement.why for point in points if point.judgement and point.judgement.met is None]
    if unproven:
        yield f"{len(unproven)} of {len(points)} points not proven (such as: {unproven[0]}); use more --runs"


@dataclass(frozen=True, slots=True)
class Point:
    """`batch` items per call; `height` and `width` of an image, None where nothing is known of one."""

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
    axes: Mapping[str, int] | None = None,
    make: Make = create,
) -> tuple[Setup, list[Point]]:
    """What all points have in common, and the points by size and then by batch; an empty list is the model's own.

    axes: which axis of an input is the batch, where the user says so.

    Raises HettopError: as `prepare` does; `usage` for a simulated machine; and the first point's reason if no point
    can be had.
    """
    setup = prepare(options, units, cores, make)
    if setup.simulated:
        hint = "use --loads with a simulated machine"
        raise HettopError("usage", "the simulated machine has only one batch and one size", hint)
    scales = _scales(batches, sizes)
    if is_built_in(options.model):
        points = [_built(setup, parse_variant(options.model), scale) for scale in scales]
    else:
        ports = input_ports(Path(options.model), setup.function)
        check_batch_axes(ports, axes or {})
        points = [_reshaped(setup, ports, scale, axes or {}) for scale in scales]
    if all(point.candidate.setup is None for point in points):
        error = points[0].candidate.error or Failure(kind="input", message="no point can be measured")
        raise HettopError(error.kind, error.message, error.hint)
    return setup, points


def core_ml_compilations(setup: Setup, points: Sequence[Point]) -> int:
    """How many times Core ML will compile something: each point for each unit that is not ONNX Runtime's own."""
    others = [unit for unit in setup.units if not is_provider_unit(unit)]
    units = [unit for unit in others if setup.backend != DEFAULT_BACKEND or split_unit(unit)[0] != CPU_UNIT]
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
        raise HettopError(
            "input", f"{clean(path.name)} does not describe its inputs", "pass the .mlpackage it was compiled from"
        )
    if is_core_ml(path):
        from hettop.models.mil.package import open_package
        from hettop.models.package_ports import package_port

        return tuple(map(package_port, open_package(path).function(function).inputs))
    from hettop.models.inspection.onnx_file import onnx_ports, open_onnx

    return onnx_ports(open_onnx(path))[0]


def _built(setup: Setup, usual: Variant, scale: Scale) -> Point:
    """A network that hettop knows is built for each point."""
    wanted = replace(
        usual,
        height=scale.height or usual.height,
        width=scale.width or usual.width,
        batch=scale.batch or usual.batch,
    )
    variant = parse_variant(wanted.name)  # refuses what is out of range
    model = resolve(variant.name)
    candidate = Candidate(_name(scale), replace(setup, model=model), work=float(model.macs or 0))
    return Point(variant.batch, variant.height, variant.width, candidate)


def _reshaped(setup: Setup, ports: Sequence[Port], scale: Scale, axes: Mapping[str, int]) -> Point:
    """A file keeps its weights; its inputs get other shapes."""
    batch = scale.batch or 1
    try:
        shapes = scaled(ports, setup.inputs.shapes, scale, axes)
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
