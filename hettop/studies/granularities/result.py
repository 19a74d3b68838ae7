"""The result of a comparison of granularities: latency and rate of each way to run in parallel, in words, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Self

import msgspec

from hettop.events import NO_LOAD
from hettop.events.base import Count, Ratio, Text
from hettop.format import percent, significant
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

SINGLE = "single"
NOT_PROVEN = "not proven (measure longer)"
WHAT = {
    "single": "the whole model on one thread",
    "intra-operator": "each operator on {threads} threads",
    "inter-operator": "operators in parallel on {threads} threads",
    "sub-graph": "slices of {stages} layers as a pipeline",
    "task": "{threads} inputs in parallel, one thread each",
}
"""What runs, by the way's name."""


def what_runs(name: str, threads: int, stages: Sequence[int]) -> str:
    """Empty for a name that is not known."""
    return WHAT.get(name, "").format(threads=threads, stages=" + ".join(map(str, stages)))


def by_load(found: GranularitiesResult) -> dict[str, list[GranularityRow]]:
    """The rows under each load, in their order."""
    loads: dict[str, list[GranularityRow]] = {}
    for row in found.rows:
        loads.setdefault(row.load, []).append(row)
    return loads


def granularity_sentences(found: GranularitiesResult) -> Iterator[str]:
    """What is best for latency and for rate under each load; the quiet machine first."""
    loads = by_load(found)
    for load, rows in loads.items():
        known = [row for row in rows if row.error is None and row.p50_ms is not None and row.per_s is not None]
        if not known:
            continue
        yield f"{'Without load' if load == NO_LOAD else f'Load {load}'}: {_best(known)}"


def _best(rows: list[GranularityRow]) -> str:
    """Only what was found to be best is named: the lowest figure may be so by chance."""
    quickest = next((row for row in rows if row.lowest_latency), None)
    busiest = next((row for row in rows if row.highest_rate), None)
    if quickest is None and busiest is None:
        return "the best way is not proven: measure longer."
    if busiest is None:
        return f"best latency: {_quick(quickest)}; best throughput: {NOT_PROVEN}."
    rate = f"{significant(busiest.per_s)} inferences/s"
    if busiest.speedup is not None and busiest.name != SINGLE:
        rate += f", {significant(busiest.speedup)}x one thread"
    if quickest is None:
        return f"best latency: {NOT_PROVEN}; best throughput: {_named(busiest)} ({rate})."
    if quickest is busiest:
        return f"{_named(quickest)} has the best latency and throughput: {significant(quickest.p50_ms)} ms and {rate}."
    slower = (busiest.p50_ms or 0.0) / (quickest.p50_ms or 1.0) - 1
    return (
        f"best latency: {_quick(quickest)}; best throughput: {_named(busiest)} ({rate}; each result "
        f"takes {percent(slower)} longer)."
    )


def _quick(row: GranularityRow | None) -> str:
    return "" if row is None else f"{_named(row)} ({significant(row.p50_ms)} ms)"


def _named(row: GranularityRow) -> str:
    return "one thread alone" if row.name == SINGLE else row.name
