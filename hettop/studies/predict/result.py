"""What a test of latency predictors found: estimates and measurements of each network, idle and under load."""

from __future__ import annotations

from typing import ClassVar, Self

import msgspec

from hettop.events.base import Count, Ratio, Share, Text
from hettop.studies.result import StudyResult

MACS, LAYERS, OFFLINE = "MACs", "layers", "offline"
"""The predictors: a line by the MACs of the network, the sum of lines by its layers, and what was measured idle."""


class EstimateRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One network under one load: the mean time of a call, and what predictors fitted to the others say.

    estimates_ms, errors: by the predictor's name; error = |estimate - actual| / actual. Of `offline` there is none
    without load: it is that measurement. unseen: share of the layers whose type no other network has. layers_ms: sum of
    the profiled layers, whose time `layers` predicts. error: why it was not measured.
    """

    network: Text
    load: Text
    macs: Count = 0
    actual_ms: Ratio | None = None
    layers_ms: Ratio | None = None
    estimates_ms: dict[Text, Ratio] = {}
    errors: dict[Text, Ratio] = {}
    unseen: Share | None = None
    error: Text | None = None


class Accuracy(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The errors of a predictor under a load over all networks; `worst` is the network with the largest."""

    predictor: Text
    load: Text
    networks: Count
    median_error: Ratio
    worst_error: Ratio
    worst: Text


class OpFit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """t = a + b MACs + c bytes of the layers of a type, by least squares with no coefficient below 0.

    Over all networks without load; an empty `op` is the fit over all types, for those that a fit has not seen.
    """

    op: Text
    layers: Count
    a_ms: Ratio
    b_ms_per_gmac: Ratio
    c_ms_per_gbyte: Ratio


class PredictResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """Offline predictors against measurement. runs: calls of each network under each load."""

    OF: ClassVar[str] = "predict"

    unit: Text
    runs: Count = 0
    rows: list[EstimateRow] = []
    accuracy: list[Accuracy] = []
    fits: list[OpFit] = []
    rest_n: Count = 0
    notes: list[str] = []

    def summary(self) -> Self:
        rest = self.rest_n + max(0, len(self.rows) - MOST_ROWS)
        return msgspec.structs.replace(
            self,
            rows=self.rows[:MOST_ROWS],
            accuracy=self.accuracy[:MOST_ROWS],
            fits=self.fits[:MOST_ROWS],
            rest_n=rest,
        )

    def failures(self) -> dict[str, str]:
        return {f"{row.network} {row.load}": row.error for row in self.rows if row.error}


MOST_ROWS, MOST_OTHERS = 20, 10
"""Estimates, and rows of the other tables, in a line of a recording, which stays below ten thousand bytes."""

RESULT = PredictResult
