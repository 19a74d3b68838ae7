"""A sweep over batches and sizes as a page for a terminal and as a JSON document.

Pure text and plain data; numbers come from `analysis.sweeps`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np

from hettop.analysis.budget import Budget
from hettop.analysis.sweeps import BATCH, Curve, PointResult, curves
from hettop.format import UNKNOWN, count, milliseconds, percent, significant, unit_name
from hettop.report.conditions import conditions_document
from hettop.report.document import session_document
from hettop.report.grid import columns_shown, grid, wrapped
from hettop.report.points_plot import Series, points_plot
from hettop.session.session import Session
from hettop.stats.resampling import SEED
from hettop.text import clean

HEADING = ("unit", "size", "batch", "n", "mean", "P50", "P90", "P99", "items/s", "ms/item", "", "budget", "why not")
LEFT = ("unit", "size", "", "budget", "why not")
DISPENSABLE = ("P99", "n", "P50", "ms/item", "")
CURVE_HEADING = ("unit", "along", "t = a + b x", "R²", "half at", "knee", "most items/s", "least time", "in budget")
CURVE_LEFT = ("unit", "along", "t = a + b x", "most items/s", "least time", "in budget")
CURVE_DISPENSABLE = ("half at", "R²", "least time")
LONGEST_WHY = 60
SURE = 0.95
DOUBT = "?"
"""A knee or a best point that fewer resamples share is said to be uncertain."""

WORST = 0.1
"""A line that is off by more than this share of a call's time tells little of it, whatever its R²."""


def sweep_text(
    title: str, points: Sequence[PointResult], budget: Budget | None, width: int, more: Sequence[str] = ()
) -> str:
    """The plots of rate and time, a row for each curve, a row for each point, and notes."""
    found = curves(points, np.random.default_rng(SEED))
    lines = [*wrapped(title, width), ""]
    for axis in dict.fromkeys(curve.axis for curve in found):
        lines += _plots([curve for curve in found if curve.axis == axis], width)
    rows = [_curve_row(curve) for curve in found]
    columns = columns_shown(CURVE_HEADING, rows, width=width, drop=CURVE_DISPENSABLE) if found else []
    if found:
        lines += [*grid(CURVE_HEADING, rows, left=CURVE_LEFT, width=width, drop=CURVE_DISPENSABLE), ""]
    lines += grid(HEADING, [_row(point, found) for point in points], left=LEFT, width=width, drop=DISPENSABLE)
    lines.append("")
    for note in (
        *_method(found, columns),
        *_without_knee(found),
        *_findings(found),
        *_of_budget(points, budget),
        *_failures(points),
        *more,
    ):
        lines += wrapped(note, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def sweep_document(
    points: Sequence[PointResult], budget: Budget | None, more: Sequence[str] = (), *, certain: bool = True
) -> dict[str, Any]:
    """`points` with the statistics object of each, `curves`, and `notes`; for a document that has host and model.

    certain: whether to tell how certain knees, lines and best points are, which takes long to work out.
    """
    found = curves(points, np.random.default_rng(SEED) if certain else None)
    return {
        "budget": None if budget is None else {"limit_ms": budget.limit_ms, "quantile": budget.quantile},
        "points": [point_document(point) for point in points],
        "curves": [_curve_document(curve) for curve in found],
        "notes": [*more, *_findings(found), *_of_budget(points, budget)],
    }


def loads_document(session: Session, failed_loads: Mapping[str, str], more: Sequence[str] = ()) -> dict[str, Any]:
    """What a sweep over loads prints: statistics, the matrix, how wrong estimates are, loads that could not be had."""
    return {
        **session_document(session),
        **conditions_document(session),
        "failed_loads": dict(failed_loads),
        "notes": list(more),
    }


def point_document(point: PointResult) -> dict[str, Any]:
    """A point; unknown is null."""
    return {
        "name": point.name,
        "unit": point.unit,
        "batch": point.batch,
        "height": point.height,
        "width": point.width,
        "items_per_s": point.items_per_s,
        "ms_per_item": point.ms_per_item,
        "within_budget": None if point.judgement is None else point.judgement.met,
        "statistics": msgspec.to_builtins(point.statistics),
    }


def _curve_document(curve: Curve) -> dict[str, Any]:
    fit, knee = curve.fit, curve.at_knee
    return {
        "unit": curve.unit,
        "axis": curve.axis,
        "along": curve.along,
        "x": [_x(curve, point) for point in curve.points],
        "items_per_s": [point.items_per_s for point in curve.points],
        "mean_ms": [point.statistics.mean_ms for point in curve.points],
        "fit": None
        if fit is None
        else {
            "a_ms": fit.intercept,
            "b_ms": fit.slope,
            "b_ci_ms": None if curve.certainty is None else list(curve.certainty.slope),
            "r2": fit.r2,
            "worst": fit.worst,
            "points": fit.n,
            "half_rate_at": fit.half_rate_x,
            "limit_items_per_s": _limit_rate(curve),
        },
        "saturated_at": None if curve.saturated is None else _x(curve, curve.saturated),
        "knee": None if knee is None else _x(curve, knee),
        "no_knee": curve.knee.why or None if curve.knee is not None else None,
        "knee_certainty": None if curve.certainty is None or curve.knee is None else curve.certainty.knee,
        "throughput_certainty": None if curve.certainty is None else curve.certainty.fastest,
        "best": {
            "throughput": _x(curve, curve.fastest),
            "latency": _x(curve, curve.quickest),
            "within_budget": None if curve.within is None else _x(curve, curve.within),
        },
    }


def _limit_rate(curve: Curve) -> float | None:
    """Items a second that ever larger batches tend to, by the fit; none along sizes, where items grow."""
    if curve.axis != BATCH or curve.fit is None or curve.fit.limit_rate is None:
        return None
    return 1e3 * curve.fit.limit_rate


def _x(curve: Curve, point: PointResult) -> float:
    return point.batch if curve.axis == BATCH else point.megapixels or 0.0


def _plots(found: Sequence[Curve], width: int) -> list[str]:
    """Rate and time of a call, a mark for each curve."""
    axis = "batch" if found[0].axis == BATCH else "megapixels"
    several = len({curve.along for curve in found}) > 1
    lines: list[str] = []
    for what in ("items/s", "ms"):
        series = [
            Series(
                " ".join([unit_name(curve.unit, short=True), *([curve.along] if several else [])]),
                [(_x(curve, point), _y(what, point)) for point in curve.points],
            )
            for curve in found
        ]
        lines += [*points_plot(series, axis, what, width, from_zero=True), ""]
    return lines


def _y(what: str, point: PointResult) -> float:
    return (point.items_per_s if what == "items/s" else point.statistics.mean_ms) or 0.0


def _curve_row(curve: Curve) -> tuple[str, ...]:
    fit, knee = curve.fit, curve.knee
    of = "B" if curve.axis == BATCH else "Mpx"
    slope = "" if fit is None else f" {'-' if fit.slope < 0 else '+'} {significant(abs(fit.slope))} {of}"
    return (
        clean(curve.unit, 30),
        f"{curve.axis}{f', {curve.along}' if curve.along else ''}",
        UNKNOWN if fit is None else f"{significant(fit.intercept)}{slope} ms",
        UNKNOWN if fit is None or fit.r2 is None else f"{fit.r2:.4f}",
        "" if curve.axis != BATCH or fit is None else significant(fit.half_rate_x),
        "" if knee is None else _knee(curve),
        f"{_label(curve, curve.fastest)}{_doubt(curve, 'fastest')} ({significant(curve.fastest.items_per_s)}/s)",
        f"{_label(curve, curve.quickest)} ({milliseconds(curve.quickest.statistics.mean_ms)} ms)",
        "" if curve.within is None else f"{_label(curve, curve.within)} ({significant(curve.within.items_per_s)}/s)",
    )


def _knee(curve: Curve) -> str:
    return (_label(curve, curve.at_knee) if curve.at_knee is not None else "none") + _doubt(curve, "knee")


def _doubt(curve: Curve, of: Literal["knee", "fastest"]) -> str:
    """A mark where resamples of the same samples often say otherwise."""
    certainty = curve.certainty
    if certainty is None:
        return ""
    return DOUBT if (certainty.knee if of == "knee" else certainty.fastest) < SURE else ""


def _label(curve: Curve, point: PointResult | None) -> str:
    if point is None:
        return ""
    return f"batch {point.batch}" if curve.axis == BATCH else f"{point.height}x{point.width}"


def _row(point: PointResult, found: Sequence[Curve]) -> tuple[str, ...]:
    row = point.statistics
    marks = []
    for curve in found:
        if curve.axis == BATCH:
            marks += ["knee"] if curve.at_knee is point else []
            marks += ["most items/s"] if curve.fastest is point else []
    met = None if point.judgement is None else point.judgement.met
    budget = "" if point.judgement is None else {True: "met", False: "missed", None: "unproven"}[met]
    return (
        clean(row.unit, 30),
        "" if point.height is None else f"{point.height}x{point.width}",
        str(point.batch),
        count(row.n),
        milliseconds(row.mean_ms),
        milliseconds(row.p50_ms),
        milliseconds(row.p90_ms),
        milliseconds(row.p99_ms),
        significant(point.items_per_s),
        significant(point.ms_per_item),
        ", ".join(marks),
        budget,
        clean(row.error.message, LONGEST_WHY) if row.error is not None else "",
    )


def _method(found: Sequence[Curve], columns: Sequence[str]) -> Iterator[str]:
    """What is meant by the words of the page, of `columns` by those that are shown."""
    yield "points took turns on each unit, one unit after another; items/s = batch x calls by the sum of their times"
    if any(curve.axis == BATCH for curve in found):
        half = "; half at a / b: the batch that reaches half of the rate that ever larger ones tend to (Hockney's n½)"
        yield (
            "t = a + b x: mean time of a call by least squares, up to where the rate falls if that leaves three points"
            f"{half if 'half at' in columns else ''}"
        )
    if "knee" in columns:
        yield "knee: Kneedle, S = 1 (Satopää et al., 2011), on items/s over the batches measured, up to the highest"
    if any(_doubt(curve, "knee") or _doubt(curve, "fastest") for curve in found):
        yield f"{DOUBT}: fewer than {percent(SURE)} of resamples say the same; more --runs may tell"


def _without_knee(found: Sequence[Curve]) -> Iterator[str]:
    for curve in found:
        if curve.knee is not None and curve.knee.why:
            yield f"{_called(curve)}: {curve.knee.why}"


def _findings(found: Sequence[Curve]) -> Iterator[str]:
    """What must be known of these curves beside their figures."""
    for curve in found:
        called = _called(curve)
        if curve.saturated is not None:
            yield f"{called}: saturated, from {_label(curve, curve.saturated)} on the rate falls"
        if curve.fit is not None and curve.fit.worst > WORST:
            yield f"{called}: the line is off by up to {percent(curve.fit.worst)} of a call's time"


def _called(curve: Curve) -> str:
    return clean(curve.unit, 30) + (f", {curve.along}" if curve.along else "")


def _of_budget(points: Sequence[PointResult], budget: Budget | None) -> Iterator[str]:
    if budget is None:
        return
    level = f"P{budget.quantile * 100:g}"
    yield f"budget: {level} at most {milliseconds(budget.limit_ms)} ms, proven by its 95 % interval"
    unproven = [point.judgement.why for point in points if point.judgement and point.judgement.met is None]
    if unproven:
        yield f"{len(unproven)} of {len(points)} points unproven (such as: {unproven[0]}); more --runs may tell"


def _failures(points: Sequence[PointResult]) -> Iterator[str]:
    for point in points:
        error = point.statistics.error
        if error is not None:
            hint = f" ({error.hint})" if error.hint else ""
            yield f"{clean(point.unit, 30)} {point.name}: {clean(error.message + hint, 400)}"
