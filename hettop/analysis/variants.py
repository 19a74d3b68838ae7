"""Variants of one model against its reference: how much faster, how much smaller, how far off.

Pure; variants are known by their precision, whoever wrote and measured them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hettop.analysis.unit_samples import Measured
from hettop.events import OutputDifference, Outputs
from hettop.session.statistics import Statistics
from hettop.stats.compare import BLOCK, MIN_SAMPLES, RESAMPLES, resampled_quantiles
from hettop.stats.quantiles import CONFIDENCE

MEDIAN = 0.5


@dataclass(frozen=True, slots=True)
class Speed:
    """The reference's median by the variant's: above 1 the variant is faster. With its 95 % interval, if asked for."""

    ratio: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class VariantResult:
    """One variant on one unit. `reference`: it is what the others are held against, on that unit.

    size_bytes: of its file or package; None if there is none. outputs: how far off it is; None where nothing was
        compared, as for the reference itself on the unit that is compared with.
    """

    precision: str
    statistics: Statistics
    reference: bool = False
    size_bytes: int | None = None
    note: str = ""
    outputs: Outputs | None = None
    measured: Measured | None = None

    @property
    def unit(self) -> str:
        return self.statistics.unit

    @property
    def differences(self) -> list[OutputDifference]:
        return [] if self.outputs is None else list(self.outputs.outputs)

    @property
    def max_abs(self) -> float | None:
        """The largest absolute difference of any output."""
        return max((each.max_abs for each in self.differences if each.max_abs is not None), default=None)

    @property
    def cosine(self) -> float | None:
        """The least similarity of any output."""
        return min((each.cosine for each in self.differences if each.cosine is not None), default=None)

    @property
    def top1(self) -> float | None:
        """The least share of rows with the same largest entry, of outputs that look like scores."""
        return min((each.top1 for each in self.differences if each.top1 is not None), default=None)

    @property
    def not_finite(self) -> int | None:
        """Values that are no numbers here alone."""
        return sum(each.not_finite for each in self.differences) if self.differences else None


def reference_of(results: Sequence[VariantResult], unit: str) -> VariantResult | None:
    """What the others on that unit are held against; None where it was not measured."""
    return next((each for each in results if each.unit == unit and each.reference and each.statistics.n), None)


def speed(reference: VariantResult, variant: VariantResult, rng: np.random.Generator | None) -> Speed | None:
    """How much faster the variant is, by medians; None with too few samples to tell.

    `rng` draws the resamples of the interval; None: that is not asked, and costs nothing.
    """
    a, b = reference.measured, variant.measured
    if a is None or b is None or min(a.samples_ms.size, b.samples_ms.size) < MIN_SAMPLES:
        return None
    ratio = a.p50_ms / b.p50_ms
    if rng is None:
        return Speed(ratio, None)
    drawn = [resampled_quantiles(each.samples_ms, MEDIAN, BLOCK, RESAMPLES, rng) for each in (a, b)]
    low, high = np.quantile(drawn[0] / drawn[1], ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    return Speed(ratio, (float(low), float(high)))
