"""What a sweep means, in sentences and rows: best batch, cost of a call, knee; and what each load slows down.

Pure: what was found in, figures and words out, for the screen and for reports alike. Names in them are as recorded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hettop.events import NO_LOAD
from hettop.format import UNKNOWN, count, milliseconds, percent, significant, unit_name
from hettop.studies.sweep.result import BATCH, SIZE

if TYPE_CHECKING:  # the screen is painted before the codec is imported
    from hettop.studies.sweep.result import SweepPoint

if TYPE_CHECKING:  # the screen is painted before the codec is imported
    from hettop.studies.sweep.result import SweepCurve, SweepPoint, SweepResult

    Groups = dict[tuple[str, str], list[tuple[float, SweepPoint]]]


AXES = (BATCH, SIZE)
MAIN, MORE, GOOD, FAILED = "main", "more", "good", "failed"
"""Kinds of sentences: what matters most, what else there is, what is best, what went wrong."""

CURVE_HEADING = ("unit", "along", "t, ms", "R²", "half at", "knee", "most items/s", "lowest time", "in budget")
CURVE_LEFT = ("unit", "along")
POINT_HEADING = (
    *("unit", "size", "batch", "n", "mean ms", "P50 ms", "P90 ms", "P99 ms", "items/s", "ms/item", "budget", ""),
)
POINT_LEFT = ("unit", "size", "budget", "")
POINT_DROP = ("P99 ms", "n", "P50 ms", "ms/item", "size")
CURVE_DROP = ("half at", "R²", "lowest time")
KNEE = "knee"

PIXELS = 1e6
LONGEST_NAME = 30
LONGEST = 200
LEAST_RISE = 1.05
"""A rate that rises by less is flat, as `analysis.curves` has it for the knee."""

SURE = 0.95
MOST_OTHERS = 3
MOST_SERIES = 6
"""Of a plot; of more, those at both ends of what stays the same are drawn."""


@dataclass(frozen=True, slots=True)
class Along:
    """The points of one unit along one axis, by x: batches, or pixels a side. `name` reports it from the others."""

    name: str
    points: list[tuple[float, SweepPoint]]
    curve: SweepCurve | None


def under_loads(found: SweepResult) -> bool:
    """Whether it was a sweep over competing loads."""
    return any(point.load is not None for point in found.points)


def along(found: SweepResult, axis: str, *, short: bool = False) -> list[Along]:
    """What is to be drawn along an axis: a unit's points, for each of what stays the same, at both ends if it is many.

    None where the axis has one place only. x of a size is the side of a square with as many pixels, in whole ones.
    """
    groups = _groups(found, axis)
    several = len({same for _, same in groups}) > 1
    curves = {(curve.unit, curve.along): curve for curve in found.curves if curve.axis == axis}
    return [
        Along(
            name=_unit(unit, short) + (f" {same}" if several else ""),
            points=sorted(points, key=lambda pair: pair[0]),
            curve=curves.get((unit, same)),
        )
        for (unit, same), points in _at_the_ends(groups).items()
    ]


def sweep_headline(found: SweepResult, *, short: bool = False) -> Iterator[tuple[str, str]]:
    """Sentences and what kind each is, the one that matters most first."""
    batched = [curve for curve in found.curves if curve.axis == BATCH and curve.x]
    if batched:
        best = max(batched, key=lambda curve: max(curve.items_per_s))
        yield _most(best, short), MAIN
        others = [curve for curve in batched if curve.along == best.along and curve is not best]
        if others:
            tops = (f"{_unit(each.unit, short)} {_top(each)}" for each in others[:MOST_OTHERS])
            yield f"The others, not compared: {', '.join(tops)}.", MORE
        yield f"{_line(best)} {_knee_in_words(best)}".strip(), MORE
    sized = next((curve for curve in found.curves if curve.axis != BATCH and len(curve.x) > 1), None)
    if sized is not None:
        yield _growth(found, sized, short), MORE if batched else MAIN
        if not batched:
            yield _line(sized), MORE
    failed = [point for point in found.points if point.error is not None]
    if failed:
        more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
        where = f"{point_name(failed[0])} on {_unit(failed[0].unit, short)}{more}"
        yield f"{where[:1].upper()}{where[1:]} failed: {cut(failed[0].error or '')}.", FAILED


def curve_rows(found: SweepResult, *, short: bool = False) -> list[tuple[str, ...]]:
    """As `CURVE_HEADING` names them."""
    return [
        (
            _unit(curve.unit, short),
            cut(curve.axis, 10) + (f", {cut(curve.along, 20)}" if curve.along else ""),
            _formula(curve),
            "" if curve.r2 is None else f"{curve.r2:.4f}",
            "" if curve.axis != BATCH or not curve.b_ms or (curve.a_ms or 0) <= 0 else significant(_half(curve)),
            _knee(curve),
            _best(found, curve, "throughput") + _doubt(curve.best_sure),
            _best(found, curve, "latency"),
            _best(found, curve, "within_budget"),
        )
        for curve in found.curves
    ]


def point_rows(found: SweepResult, *, short: bool = False) -> list[tuple[str, ...]]:
    """As `POINT_HEADING` names them; in the last column `KNEE`, or why it failed."""
    knees = {(curve.unit, curve.along, curve.knee) for curve in found.curves if curve.axis == BATCH}
    return [
        (
            _unit(point.unit, short),
            size_of(point),
            count(point.batch),
            count(point.n),
            milliseconds(point.mean_ms),
            _known_ms(point.p50_ms),
            milliseconds(point.p90_ms),
            _known_ms(point.p99_ms),
            significant(point.items_per_s),
            "" if point.ms_per_item is None else significant(point.ms_per_item),
            _of_budget(found, point),
            cut(point.error)
            if point.error is not None
            else KNEE * ((point.unit, size_of(point), float(point.batch)) in knees),
        )
        for point in found.points
    ]


def further_notes(found: SweepResult) -> Iterator[str]:
    """Why curves have no knee, and what to do about points that failed."""
    for curve in found.curves:
        if curve.no_knee:
            yield f"{_unit(curve.unit, False)}{f', {curve.along}' if curve.along else ''}: {curve.no_knee}"
    for point in found.points:
        error = None if point.statistics is None else point.statistics.error
        if error is not None and error.hint:
            yield f"{_unit(point.unit, False)} {point_name(point)}: {error.message} ({error.hint})"


def _known_ms(value: float | None) -> str:
    return "" if value is None else milliseconds(value)


def _of_budget(found: SweepResult, point: SweepPoint) -> str:
    if found.budget is None or not point.n:
        return ""
    return {True: "met", False: "missed", None: "unproven"}[point.within_budget]


def left_out(found: SweepResult) -> list[str]:
    """What is not drawn, or not reported, in words."""
    many = any(len(_groups(found, axis)) > MOST_SERIES for axis in AXES)
    undrawn = "plots show the first and last groups; the tables have all"
    rest = f"{count(found.rest_n)} more points are only in --json"
    return [*([undrawn] if many else []), *([rest] if found.rest_n else [])]


def cut(text: str, longest: int = LONGEST) -> str:
    """At most so many characters; what is too long says so."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def size_of(point: SweepPoint) -> str:
    return "" if point.height is None else f"{point.height}x{point.width}"


def point_name(point: SweepPoint) -> str:
    return " ".join(filter(None, (f"batch {point.batch}", size_of(point))))


def _unit(unit: str, short: bool) -> str:
    return unit_name(cut(unit, LONGEST_NAME), short=short)


def _groups(found: SweepResult, axis: str) -> Groups:
    """The points by unit and what stays the same along the axis, as far as there are two places or more."""
    groups: Groups = {}
    for point in found.points:
        x = float(point.batch) if axis == BATCH else _side(point)
        if x is not None:
            groups.setdefault((point.unit, _same(point, axis)), []).append((x, point))
    return {key: points for key, points in groups.items() if len({x for x, _ in points}) > 1}


def _at_the_ends(groups: Groups) -> Groups:
    if len(groups) <= MOST_SERIES:
        return groups
    by_unit: dict[str, list[str]] = {}
    for unit, same in groups:
        by_unit.setdefault(unit, []).append(same)
    kept = [(unit, same) for unit, all_same in by_unit.items() for same in dict.fromkeys((all_same[0], all_same[-1]))]
    return {key: groups[key] for key in kept[:MOST_SERIES]}


def _side(point: SweepPoint) -> float | None:
    """Of a square with as many pixels."""
    return None if point.height is None or point.width is None else float(round(math.sqrt(point.height * point.width)))


def _megapixels(point: SweepPoint) -> float | None:
    return None if point.height is None or point.width is None else point.height * point.width / PIXELS


def _same(point: SweepPoint, axis: str) -> str:
    return size_of(point) if axis == BATCH else f"batch {point.batch}"


def _most(curve: SweepCurve, short: bool) -> str:
    """Which batch serves most, and what batching gains."""
    top, first = max(curve.items_per_s), curve.items_per_s[0]
    at, unit = curve.x[curve.items_per_s.index(top)], _unit(curve.unit, short)
    least = f"batch {curve.x[0]:g}"
    if first and top < LEAST_RISE * first:
        best = "" if at == curve.x[0] else f", {significant(top)} at most (batch {at:g})"
        return f"Batching does not help on {unit}: {significant(first)} items/s at {least}{best}."
    gain = f", {significant(top / first)}x {least}" if first and at != curve.x[0] else ""
    if curve.best_sure is not None and curve.best_sure >= SURE:
        return f"Batch {at:g} has the highest throughput on {unit}: {significant(top)} items/s{gain}."
    agree = "" if curve.best_sure is None else f": batch {at:g} is highest in {percent(curve.best_sure)} of resamples"
    return f"{_top(curve)} measured on {unit}{gain} (highest, not proven{agree})."


def _top(curve: SweepCurve) -> str:
    top = max(curve.items_per_s)
    return f"{significant(top)} items/s at batch {curve.x[curve.items_per_s.index(top)]:g}"


def _line(curve: SweepCurve) -> str:
    """The fit, and what it means."""
    if curve.a_ms is None or curve.b_ms is None:
        return ""
    each = "item" if curve.axis == BATCH else "million pixels"
    r2 = "" if curve.r2 is None else f" (R² {curve.r2:.3f})"
    line = f"A call takes {_formula(curve)} ms{r2}"
    if curve.a_ms <= 0 or curve.b_ms <= 0:
        return f"{line}."
    return f"{line}: {significant(curve.a_ms)} ms fixed and {significant(curve.b_ms)} ms per {each}."


def _knee_in_words(curve: SweepCurve) -> str:
    sure = curve.knee_sure
    doubt = "" if sure is None or sure >= SURE else f" (uncertain: in {percent(sure)} of resamples)"
    if curve.knee is not None:
        return f"The knee is at batch {curve.knee:g}{doubt}."
    return f"No knee{doubt}: {cut(curve.no_knee, 80)}." if curve.no_knee else ""


def _growth(found: SweepResult, curve: SweepCurve, short: bool) -> str:
    longer, larger = curve.mean_ms[-1] / (curve.mean_ms[0] or 1.0), curve.x[-1] / (curve.x[0] or 1.0)
    return (
        f"From {_size_at(found, curve.x[0])} to {_size_at(found, curve.x[-1])} a call on {_unit(curve.unit, short)} "
        f"takes {significant(longer)} times as long, for {significant(larger)} times the pixels."
    )


def _size_at(found: SweepResult, x: float) -> str:
    """The size that has so many millions of pixels."""
    same = (point for point in found.points if abs((_megapixels(point) or 0.0) - x) < 1 / PIXELS)
    return next((size_of(point) for point in same), f"{significant(x)} Mpx")


def _knee(curve: SweepCurve) -> str:
    """With a question mark where resamples often say otherwise."""
    if curve.axis != BATCH:
        return ""
    return ("none" if curve.knee is None else f"{curve.knee:g}") + _doubt(curve.knee_sure)


def _doubt(sure: float | None) -> str:
    """A mark where resamples of the same samples often say otherwise."""
    return "" if sure is None or sure >= SURE else "?"


def _formula(curve: SweepCurve) -> str:
    if curve.a_ms is None or curve.b_ms is None:
        return UNKNOWN
    of = "B" if curve.axis == BATCH else "Mpx"
    return f"{significant(curve.a_ms)} {'-' if curve.b_ms < 0 else '+'} {significant(abs(curve.b_ms))} {of}"


def _half(curve: SweepCurve) -> float | None:
    """Hockney's n½ = a / b: the batch that reaches half of the rate that ever larger ones tend to."""
    return curve.a_ms / curve.b_ms if curve.a_ms and curve.b_ms else None


def _best(found: SweepResult, curve: SweepCurve, objective: str) -> str:
    x = curve.best.get(objective)
    if x is None:
        return ""
    return f"batch {x:g}" if curve.axis == BATCH else _size_at(found, x)


def loads_headline(points: Sequence[SweepPoint], *, short: bool = False) -> Iterator[tuple[str, str]]:
    """Which load raises the P90 of which unit most, and which changes it least; each with its kind.

    They are the extremes of what was measured: whether they differ from the others is not tested.
    """
    known = [(change, place) for place, point in enumerate(points) if (change := change_of(points, point)) is not None]
    if not known:
        yield "Insufficient data: a change needs the same unit with and without load.", MORE
        return
    most = max(known)
    yield _in_words(points, points[most[1]], f"P90 {percent(most[0], signed=True)}", "largest", short), MAIN
    if len(known) > 1:
        least = min(known, key=lambda each: (abs(each[0]), each[1]))
        yield _in_words(points, points[least[1]], f"P90 |Δ| {percent(abs(least[0]))}", "smallest", short), MORE


def change_of(points: Sequence[SweepPoint], point: SweepPoint) -> float | None:
    """Of P90, against the same unit without load: 0.1 = a tenth longer; None for that itself, and where it is not."""
    without = _alone(points, point)
    if without is None or without is point or point.p90_ms is None or not without.p90_ms:
        return None
    return point.p90_ms / without.p90_ms - 1


def _in_words(points: Sequence[SweepPoint], point: SweepPoint, change: str, extreme: str, short: bool) -> str:
    without = _alone(points, point)
    unit = unit_name(cut(point.unit, LONGEST_NAME), short=short)
    before = milliseconds(None if without is None else without.p90_ms)
    load = cut(point.load or "", LONGEST_NAME)
    now = f"{milliseconds(point.p90_ms)} ms instead of {before}"
    return f"{unit} under {load}: {change}, {now} (the {extreme} measured, not tested)."


def _alone(points: Sequence[SweepPoint], point: SweepPoint) -> SweepPoint | None:
    return next((each for each in points if each.unit == point.unit and each.load == NO_LOAD and each.p90_ms), None)
