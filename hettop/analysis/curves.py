"""What a curve over batches or sizes tells: a straight line, the knee of a rate, and what half of the rate costs.

Pure: arrays in, numbers out; knows no unit and nobody who measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
