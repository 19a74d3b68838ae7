"""The curves of a sweep over batches and sizes: rate and time along one axis, the knee, the fit, and the best points.

Pure; one unit's curve is one list of points, whoever measured them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hettop.analysis.budget import Budget, Judgement, judge
from hettop.analysis.unit_samples import Measured
from hettop.session.statistics import Statistics
from hettop.stats.quantiles import CONFIDENCE
from hettop.stats.resampling import MIN_SAMPLES, block_length, resampled_means
from hettop.studies.sweep.result import BATCH, SIZE

PIXELS = 1e6
"""Sizes are fitted by millions of pixels."""

RESAMPLES = 400
"""A share of resamples is then known to 5% or better."""


@dataclass(frozen=True, slots=True)
class PointResult:
    """One point on one unit. `measured` are its samples; None where there are none.

    name: as it is called. height, width: None where no image is known of. model: what was run.
    """

    name: str
    batch: int
    height: int | None
    width: int | None
    statistics: Statistics
    measured: Measured | None = None
    judgement: Judgement | None = None

    @property
    def unit(self) -> str:
        return self.statistics.unit

    @property
    def items_per_s(self) -> float | None:
        """Items per second: the batch times the calls."""
        rate = self.statistics.throughput_per_s
        return None if rate is None else self.batch * rate

    @property
    def ms_per_item(self) -> float | None:
        mean = self.statistics.mean_ms
        return None if mean is None else mean / self.batch

    @property
    def megapixels(self) -> float | None:
        return None if self.height is None or self.width is None else self.height * self.width / PIXELS


@dataclass(frozen=True, slots=True)
class Certainty:
    """Of resamples in blocks: the share with the same knee (or none, too), and with the same fastest point.

    slope: of the line, its 95% interval.
    """

    knee: float
    fastest: float
    slope: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Curve:
    """The points of one unit along one axis, ascending, that were measured; `along` says what stays the same.

    fit: mean time of a call in ms by batch, or by megapixels, up to `saturated`: the first point after the highest rate
        that is clearly below it, None if there is none; from there on time grows faster than the line.
    knee: of the rate in items per second, along batches only: with the size an item grows, and a rate of items has no
        knee to describe.
    fastest: most items per second. quickest: least mean time of a call. within: most items/s of those proven
        to meet the budget, None without one.
    certainty: None with too few samples to report.
    """

    unit: str
    axis: str
    along: str
    points: tuple[PointResult, ...]
    fit: Line | None
    saturated: PointResult | None
    knee: Knee | None
    fastest: PointResult
    quickest: PointResult
    within: PointResult | None
    certainty: Certainty | None = None

    @property
    def at_knee(self) -> PointResult | None:
        return None if self.knee is None or self.knee.index is None else self.points[self.knee.index]


def judged(point: PointResult, budget: Budget | None) -> Judgement | None:
    """Whether the point is proven to meet the budget; None without budget or samples."""
    if budget is None or point.measured is None:
        return None
    return judge(point.measured, budget, paced_at=None)


def curves(points: Sequence[PointResult], rng: np.random.Generator | None) -> list[Curve]:
    """Unit by unit: along the batches of each size, and along the sizes of each batch, where there are two or more.

    `rng` draws the resamples that report how certain each curve is; None: that is not asked, and costs nothing.
    """
    found = []
    for unit in dict.fromkeys(point.unit for point in points):
        there = [point for point in points if point.unit == unit and point.statistics.n and point.items_per_s]
        for group in _groups(there, lambda point: (point.height, point.width)):
            height, width = group[0].height, group[0].width
            along = "" if height is None else f"{height}x{width}"
            found += _curve(unit, BATCH, along, sorted(group, key=lambda point: point.batch), rng)
        sized = [point for point in there if point.megapixels is not None]
        for group in _groups(sized, lambda point: point.batch):
            along = f"batch {group[0].batch}"
            found += _curve(unit, SIZE, along, sorted(group, key=lambda point: point.megapixels or 0.0), rng)
    return found


def _groups(points: Sequence[PointResult], key: Callable[[PointResult], object]) -> list[list[PointResult]]:
    groups: dict[object, list[PointResult]] = {}
    for point in points:
        groups.setdefault(key(point), []).append(point)
    return list(groups.values())


def _curve(
    unit: str, axis: str, along: str, points: Sequence[PointResult], rng: np.random.Generator | None
) -> list[Curve]:
    """One curve; none of fewer than two points."""
    if len(points) < 2:
        return []
    x = [float(point.batch) if axis == BATCH else point.megapixels or 0.0 for point in points]
    rates = [_rate(point) for point in points]
    within = [point for point in points if point.judgement is not None and point.judgement.met]
    end = _saturation(rates) if axis == BATCH else None
    fitted = len(points) if end is None or end < LEAST_POINTS else end
    knee = find_knee(x, rates) if axis == BATCH else None
    fastest = max(points, key=_rate)
    return [
        Curve(
            unit=unit,
            axis=axis,
            along=along,
            points=tuple(points),
            fit=fit_line(x[:fitted], [point.statistics.mean_ms or 0.0 for point in points[:fitted]]),
            saturated=None if end is None else points[end],
            knee=knee,
            fastest=fastest,
            quickest=min(points, key=lambda point: point.statistics.mean_ms or 0.0),
            within=max(within, key=_rate, default=None),
            certainty=_certainty(x, points, fitted=fitted, knee=knee, fastest=points.index(fastest), rng=rng),
        )
    ]


def _certainty(
    x: Sequence[float],
    points: Sequence[PointResult],
    *,
    fitted: int,
    knee: Knee | None,
    fastest: int,
    rng: np.random.Generator | None,
) -> Certainty | None:
    if rng is None:
        return None
    samples = [point.measured.samples_ms for point in points if point.measured is not None]
    if len(samples) < len(points) or min(each.size for each in samples) < MIN_SAMPLES:
        return None
    means = np.stack([resampled_means(each, block_length(each), RESAMPLES, rng) for each in samples], axis=1)
    rates = np.array([point.batch for point in points]) * 1e3 / means
    slopes = [line.slope for row in means if (line := fit_line(x[:fitted], row[:fitted])) is not None]
    if not slopes:
        return None
    same_knee = [knee is not None and find_knee(x, row).index == knee.index for row in rates]
    low, high = np.quantile(slopes, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    return Certainty(
        knee=float(np.mean(same_knee)),
        fastest=float(np.mean(rates.argmax(axis=1) == fastest)),
        slope=(float(low), float(high)),
    )


def _saturation(rates: Sequence[float]) -> int | None:
    """The first place after the highest rate at which it is lower by more than what makes a curve flat."""
    top = rates.index(max(rates))
    return next((place for place in range(top + 1, len(rates)) if rates[place] < (1 - LEAST_RISE) * rates[top]), None)


def _rate(point: PointResult) -> float:
    return point.items_per_s or 0.0


SENSITIVITY = 1.0
"""Kneedle's S: the authors' choice for data that are all there; larger is more cautious."""

LEAST_RISE = 0.05
"""A curve that rises less than this is flat: its shape is what the measurement leaves open, and has no knee."""

LEAST_POINTS = 3

Values = Sequence[float] | npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Line:
    """y = intercept + slope x, by least squares over `n` points.

    r2: the share of the variance of y that the line explains; None for two points, which any line meets. worst: the
    largest |fitted - y| / y.
    """

    intercept: float
    slope: float
    r2: float | None
    worst: float
    n: int

    @property
    def half_rate_x(self) -> float | None:
        """Where x/y reaches half of what it tends to: intercept / slope, Hockney's n_1/2. None if it tends to nothing.

        Source: Hockney and Jesshope, "Parallel Computers 2", 1988: r = r_inf / (1 + n_1/2 / n).
        """
        return self.intercept / self.slope if self.slope > 0 and self.intercept >= 0 else None

    @property
    def limit_rate(self) -> float | None:
        """What x/y tends to: 1 / slope, Hockney's r_inf. None if it grows without end."""
        return 1 / self.slope if self.slope > 0 else None


def fit_line(x: Values, y: Values) -> Line | None:
    """The line of least squares; None with fewer than two different x. y must be above 0."""
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(np.unique(xs)) < 2:
        return None
    centred = xs - xs.mean()
    slope = float(centred @ (ys - ys.mean()) / (centred @ centred))
    intercept = float(ys.mean() - slope * xs.mean())
    residuals = intercept + slope * xs - ys
    spread = float(((ys - ys.mean()) ** 2).sum())
    # Of equal times the line explains everything there is.
    r2 = 1.0 - float((residuals**2).sum()) / spread if spread > 0 else 1.0
    return Line(intercept, slope, r2 if len(xs) > 2 else None, float(np.max(np.abs(residuals) / ys)), len(xs))


@dataclass(frozen=True, slots=True)
class Knee:
    """`index` of the point where the curve's rise is spent; None for the reason in `why`."""

    index: int | None
    why: str = ""


def find_knee(x: Values, y: Values, sensitivity: float = SENSITIVITY) -> Knee:
    """The knee of a rate `y` that rises less and less with `x` (ascending): Kneedle, without its smoothing.

    Both are scaled to 0..1 up to the highest y (beyond it a rate falls); the knee is the first local maximum of
    y - x from which the difference falls by more than `sensitivity` times the mean step of x.
    Source: Satopää, Albrecht, Irwin, Raghavan, "Finding a 'Kneedle' in a Haystack", ICDCS Workshops 2011.
    """
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(xs) < LEAST_POINTS:
        return Knee(None, f"fewer than {LEAST_POINTS} points")
    top = int(ys.argmax())
    if ys[top] < (1 + LEAST_RISE) * ys[0]:
        return Knee(None, f"flat: it rises by less than {LEAST_RISE:.0%}")
    if top + 1 < LEAST_POINTS:
        return Knee(top, "it falls after the second point")
    xs, ys = xs[: top + 1], ys[: top + 1]
    difference = (ys - ys.min()) / (ys.max() - ys.min()) - (xs - xs[0]) / (xs[-1] - xs[0])
    drop = sensitivity / (len(xs) - 1)  # the mean step of x, which goes from 0 to 1
    candidate: int | None = None
    for place in range(1, len(xs)):
        rises_from, falls_to = difference[place - 1], difference[place + 1] if place + 1 < len(xs) else -np.inf
        if candidate is not None and difference[place] < difference[candidate] - drop:
            return Knee(candidate)
        if place + 1 < len(xs) and difference[place] >= rises_from and difference[place] > falls_to:
            candidate = place
    return Knee(None, "it rises too evenly over these points")
