"""What a run of EmBench found: a row for each network, batch and unit, and what follows from them."""

from __future__ import annotations

from typing import ClassVar, Self

import msgspec

from hettop.events.base import Count, Ratio, Share, Text
from hettop.studies.result import ROWS_LIMIT, StudyResult

MOST_OPS = 8
"""Types of operation of a network in a line of a recording."""


class NetRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One network with one batch on one unit.

    min_ms: the shortest call, EmBench's figure. items_per_s: batch over `min_ms`. energy_mj: of an inference. macs: of
    one image. residual: measured time over that of the fitted line; None for other batches than 1.
    error: why it was not measured; tried: whether it was tried at all.
    """

    network: Text
    batch: Count
    unit: Text
    macs: Count = 0
    parameters: Count = 0
    n: Count = 0
    min_ms: Ratio | None = None
    mean_ms: Ratio | None = None
    p50_ms: Ratio | None = None
    p90_ms: Ratio | None = None
    items_per_s: Ratio | None = None
    energy_mj: Ratio | None = None
    top1_percent: Ratio | None = None
    residual: Ratio | None = None
    error: Text | None = None
    tried: bool = True


class TimeFit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """t = factor_ms * (MACs / 10^9) ^ exponent, by least squares of the logarithms over the networks at batch 1.

    r2: of the logarithms. worst: the network that is farthest off, by the factor `worst_factor` or its reciprocal.
    """

    unit: Text
    networks: Count
    exponent: float
    factor_ms: Ratio
    r2: Share
    worst: Text
    worst_factor: Ratio


class OpShares(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of the time of a call by type of operation, the largest first."""

    network: Text
    unit: Text
    by_op: dict[Text, Share]


class EmBenchResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """The paper's figures 1 to 4 here. front: by unit, the networks on the Pareto front of accuracy and rate."""

    OF: ClassVar[str] = "embench"

    rows: list[NetRow] = []
    fits: list[TimeFit] = []
    front: dict[Text, list[Text]] = {}
    shares: list[OpShares] = []
    rest_n: Count = 0
    notes: list[str] = []

    def summary(self) -> Self:
        shares = [
            msgspec.structs.replace(each, by_op=dict(list(each.by_op.items())[:MOST_OPS]))
            for each in self.shares[:ROWS_LIMIT]
        ]
        rest = self.rest_n + max(0, len(self.rows) - ROWS_LIMIT)
        return msgspec.structs.replace(self, rows=self.rows[:ROWS_LIMIT], shares=shares, rest_n=rest)

    def failures(self) -> dict[str, str]:
        return {f"{row.network} b{row.batch} {row.unit}": row.error for row in self.rows if row.error and row.tried}


RESULT = EmBenchResult
