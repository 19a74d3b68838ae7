"""What a sweep found: points over batches, sizes or loads, and curves along them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import msgspec

from hettop.events.base import Count, Ratio, Share, Text
from hettop.session.statistics import Statistics
from hettop.studies.result import Signed, StudyResult

MOST_POINTS = 48
MOST_CURVES = 12
MOST_ROWS = 8
"""With as many points each, a line stays below ten thousand bytes."""

BATCH, SIZE = "batch", "size"


class SweepPoint(msgspec.Struct, frozen=True, omit_defaults=True):
    """One point of a sweep. The rates and times are None where it failed, and `error` says why.

    Under a `load` a call is an item, whatever the model's batch. `statistics` has all that is known of it.
    """

    unit: Text
    batch: Count
    height: Count | None = None
    width: Count | None = None
    n: Count = 0
    items_per_s: Ratio | None = None
    mean_ms: Ratio | None = None
    p90_ms: Ratio | None = None
    error: Text | None = None
    load: Text | None = None
    p50_ms: Ratio | None = None
    p99_ms: Ratio | None = None
    ms_per_item: Ratio | None = None
    within_budget: bool | None = None
    name: str = ""
    statistics: Statistics | None = None


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """t = a + b x by least squares over the first `points` of a curve; worst: the largest |fitted - t| / t."""

    a_ms: float
    b_ms: float
    b_ci_ms: list[float] | None
    r2: float | None
    worst: float
    points: int
    half_rate_at: float | None
    limit_items_per_s: float | None


class SweepCurve(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A unit's points along one axis (`batch` or `size`), and t = a + b x fitted to their means.

    `knee` is an x, or None, for which `no_knee` says why; `best` maps objectives to an x. `knee_sure` and `best_sure`:
    the shares of resamples that have the same knee (or none, too), and the same x of most items per second. From the x
    `saturated_at` on the rate falls. `fit` and the two `_certainty` are the names that `--json` had first.
    """

    unit: Text
    axis: Text
    along: Text = ""
    x: list[Ratio] = []
    items_per_s: list[Ratio] = []
    mean_ms: list[Ratio] = []
    a_ms: Signed | None = None
    b_ms: Signed | None = None
    r2: Signed | None = None
    knee: Ratio | None = None
    no_knee: Text | None = None
    best: dict[Text, Ratio | None] = {}
    knee_sure: Share | None = None
    best_sure: Share | None = None
    saturated_at: Ratio | None = None
    fit: Fit | None = None
    knee_certainty: float | None = None
    throughput_certainty: float | None = None


class Sensitivity(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many times as long a unit takes under a load as without: the ratios of P50 and of P90.

    The intervals of all rows of a sweep hold at once with 95%; None: the samples do not suffice.
    """

    unit: Text
    load: Text
    n: Count
    idle_n: Count
    p50_ratio: Ratio
    p50_ci: tuple[Ratio, Ratio] | None = None
    p90_ratio: Ratio | None = None
    p90_ci: tuple[Ratio, Ratio] | None = None


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How busy the machine was, and how many frames of a 60 Hz screen were missed, while these units ran under a load.

    units: one, or those that took turns, which share the figures. cpu_share: of all cores, by every process
    (units, load, canary and whatever else ran). None: not measured.
    """

    units: list[Text]
    load: Text
    cpu_share: Share | None = None
    frames_due: Count | None = None
    frames_missed: Count | None = None
    missed_share: Share | None = None


class SweepBudget(msgspec.Struct, frozen=True, kw_only=True):
    """The budget that points were judged by."""

    limit_ms: float
    quantile: float


class SweepResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """Latency and rate over batch and input size, or under loads.

    sensitivity: of each unit to each load, the most sensitive first. usage: of the CPU, with missed frames.
    """

    OF: ClassVar[str] = "sweep"
    ROW_TYPES: ClassVar[Mapping[str, type[msgspec.Struct]]] = {"points": SweepPoint}
    DETAILS: ClassVar[frozenset[str]] = frozenset(
        {"name", "statistics", "ms_per_item", "p99_ms", "fit", "knee_certainty", "throughput_certainty"}
    )

    points: list[SweepPoint] = []
    curves: list[SweepCurve] = []
    rest_n: Count = 0
    notes: list[str] = []
    budget: SweepBudget | None = None
    sensitivity: list[Sensitivity] = []
    usage: list[Usage] = []

    def summary(self) -> Self:
        """Along batches first: those have knees."""
        curves = sorted(self.curves, key=lambda curve: curve.axis != BATCH)
        return msgspec.structs.replace(
            self,
            points=self.points[:MOST_POINTS],
            curves=curves[:MOST_CURVES],
            sensitivity=self.sensitivity[:MOST_ROWS],
            usage=self.usage[:MOST_ROWS],
            rest_n=self.rest_n + max(0, len(self.points) - MOST_POINTS),
        )


RESULT = SweepResult
