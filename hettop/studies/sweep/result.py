"""What a sweep found: points over batches, sizes or loads, and curves along them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec

from hettop.events.base import Count, Ratio, Share, Text
from hettop.studies.result import ROWS, Notes, Signed, StudyResult


class SweepPoint(msgspec.Struct, frozen=True, omit_defaults=True):
    """One point of a sweep. The rates and times are None where it failed, and `error` says why.

    Under a `load` a call is an item, whatever the model's batch.
    """

    unit: Text
    batch: Count
    height: Count | None
    width: Count | None
    n: Count
    items_per_s: Ratio | None
    mean_ms: Ratio | None
    p90_ms: Ratio | None
    error: Text | None = None
    load: Text | None = None
    p50_ms: Ratio | None = None


class SweepCurve(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A unit's points along one axis (`batch` or `size`), and t = a + b x fitted to their means.

    `knee` is an x, or None, for which `no_knee` says why; `best` maps objectives to an x. `knee_sure` and `best_sure`:
    the shares of resamples that have the same knee (or none, too), and the same x of most items a second.
    """

    unit: Text
    axis: Text
    along: Text = ""
    x: Annotated[list[Ratio], ROWS] = []
    items_per_s: Annotated[list[Ratio], ROWS] = []
    mean_ms: Annotated[list[Ratio], ROWS] = []
    a_ms: Signed | None = None
    b_ms: Signed | None = None
    r2: Signed | None = None
    knee: Ratio | None = None
    no_knee: Text | None = None
    best: dict[Text, Ratio | None] = {}
    knee_sure: Share | None = None
    best_sure: Share | None = None


class SweepResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """Latency and rate over batch and input size."""

    OF: ClassVar[str] = "sweep"
    ROW_TYPES: ClassVar[Mapping[str, type[msgspec.Struct]]] = {"points": SweepPoint}

    points: Annotated[list[SweepPoint], ROWS] = []
    curves: Annotated[list[SweepCurve], ROWS] = []
    rest_n: Count = 0
    notes: Notes = []


RESULT = SweepResult
