"""What a comparison of granularities found: latency and rate of each way to run in parallel."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from hettop.events.base import Count, Ratio, Text
from hettop.studies.result import ROWS, Notes, StudyResult


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
    error: Text | None = None
    speedup_range: tuple[Ratio, Ratio] | None = None


class GranularitiesResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """Parallel within operators, between them, by slices and by inputs, on the threads of one processor.

    A load under which nothing was measured is a row without a name, with its error. `stages` is the number of layers in
    each stage of the pipeline of slices. `interrupted`: the user ended it before its time.
    """

    OF: ClassVar[str] = "granularities"

    threads: Count
    rows: Annotated[list[GranularityRow], ROWS] = []
    notes: Notes = []
    stages: Annotated[list[Count], ROWS] = []
    interrupted: bool = False


RESULT = GranularitiesResult
