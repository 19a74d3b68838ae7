"""What a comparison of granularities found: latency and rate of each way to run in parallel."""

from __future__ import annotations

from typing import ClassVar, Self

import msgspec

from hettop.events.base import Count, Ratio, Text
from hettop.studies.result import ROWS_LIMIT, StudyResult


class GranularityRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One way to run one model in parallel, under one load; `speedup` is of throughput over one thread alone.

    `speedup_range` is the least and the most of it in any round of blocks.
    """

    load: Text
    name: Text
    per_s: Ratio | None = None
    p50_ms: Ratio | None = None
    p90_ms: Ratio | None = None
    speedup: Ratio | None = None
    calls: Count = 0
    lowest_latency: bool = False
    highest_rate: bool = False
    error: str | None = None
    speedup_range: tuple[Ratio, Ratio] | None = None
    speedup_by_round: list[Ratio] = []


class ComparedWays(msgspec.Struct, frozen=True, kw_only=True):
    """All ways under one load, measured in turns in blocks of `block_ms`, or the `error` for which nothing was.

    `lowest_latency` and `highest_rate` name the way that is proven to have them.
    """

    load: Text
    granularities: list[GranularityRow] = []
    stages: list[Count] = []
    block_ms: float | None = None
    lowest_latency: Text | None = None
    highest_rate: Text | None = None
    notes: list[str] = []
    error: str | None = None


class GranularitiesResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """Parallel within operators, between them, by slices and by inputs, on the threads of one processor.

    A load under which nothing was measured is a row without a name, with its error. `stages` is the number of layers in
    each stage of the pipeline of slices. `interrupted`: the user ended it before its time. `loads` has the same rows by
    load, as `--json` had them first.
    """

    OF: ClassVar[str] = "granularities"
    DETAILS: ClassVar[frozenset[str]] = frozenset({"loads", "speedup_by_round"})

    threads: Count
    rows: list[GranularityRow] = []
    notes: list[str] = []
    stages: list[Count] = []
    interrupted: bool = False
    rest_n: Count = 0
    loads: list[ComparedWays] = []

    def summary(self) -> Self:
        return msgspec.structs.replace(
            self,
            rows=self.rows[:ROWS_LIMIT],
            stages=self.stages[:ROWS_LIMIT],
            rest_n=self.rest_n + max(0, len(self.rows) - ROWS_LIMIT),
        )


RESULT = GranularitiesResult
