"""What a study of precision variants found: speed, size and output difference of each."""

from __future__ import annotations

from typing import ClassVar, Self

import msgspec

from hettop.events import OutputDifference
from hettop.events.base import Count, Ratio, Share, Text
from hettop.session.statistics import Statistics
from hettop.studies.result import Signed, StudyResult

MOST_VARIANTS = 24


class VariantRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One precision on one unit. `speed` is times as fast as the reference, with its interval.

    `front`: no other row is at least as good in latency, energy and output difference and better in one of them.
    `max_abs`, `cosine`, `top1` and `top5` are the worst of all `outputs`, over `inputs_compared` inputs; `largest` is
    the largest value that any of them has in `compared_with`; `not_finite` counts values that are no numbers here
    alone. `statistics` has all that is known of its latency.
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
    error: str | None = None
    note: str | None = None
    largest: Ratio | None = None
    not_finite: Count | None = None
    compared_with: str | None = None
    inputs_compared: Count | None = None
    outputs: list[OutputDifference] = []
    outputs_error: str | None = None
    statistics: Statistics | None = None
    top5: Share | None = None


class VariantsResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """Precision variants of the model: speed, size and output difference."""

    OF: ClassVar[str] = "variants"
    DETAILS: ClassVar[frozenset[str]] = frozenset(
        {"not_finite", "compared_with", "inputs_compared", "outputs", "outputs_error", "statistics"}
    )

    variants: list[VariantRow] = []
    rest_n: Count = 0
    notes: list[str] = []

    def with_reference(self) -> Self:
        """What the others are compared with differs from itself by nothing, which `--json` does not report."""
        names = {each.compared_with for each in self.variants}
        rows = [
            msgspec.structs.replace(each, max_abs=0.0) if f"{each.precision} on {each.unit}" in names else each
            for each in self.variants
        ]
        return msgspec.structs.replace(self, variants=rows)

    def summary(self) -> Self:
        return msgspec.structs.replace(
            self,
            variants=self.with_reference().variants[:MOST_VARIANTS],
            rest_n=self.rest_n + max(0, len(self.variants) - MOST_VARIANTS),
        )


RESULT = VariantsResult
