"""What a study of precision variants found: speed, size and output difference of each."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from hettop.events.base import Count, Ratio, Share, Text
from hettop.studies.result import ROWS, Notes, Signed, StudyResult


class VariantRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One precision on one unit. `speed` is times as fast as the reference, with its interval.

    `front`: no other row is at least as good in latency, energy and output difference and better in one of them.
    """

    precision: Text
    unit: Text
    reference: bool = False
    size_bytes: Count | None = None
    n: Count = 0
    p50_ms: Ratio | None = None
    p90_ms: Ratio | None = None
    mean_ms: Ratio | None = None
    energy_mj: Ratio | None = None
    speed: Ratio | None = None
    speed_ci: tuple[Ratio, Ratio] | None = None
    max_abs: Ratio | None = None
    cosine: Signed | None = None
    top1: Share | None = None
    front: bool = False
    error: Text | None = None
    note: Text | None = None


class VariantsResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """Precision variants of the model: speed, size and output difference."""

    OF: ClassVar[str] = "variants"

    variants: Annotated[list[VariantRow], ROWS] = []
    rest_n: Count = 0
    notes: Notes = []


RESULT = VariantsResult
