"""What a study of start-up found: the distribution of each part by unit, and break-even numbers of calls."""

from __future__ import annotations

from typing import ClassVar, Self

import msgspec

from hettop.events import Failure
from hettop.events.base import Count, Ratio, Share, Text
from hettop.studies.result import StudyResult

MOST_ROWS = 8
MOST_PAIRS = 12
MOST_STARTS = 24
"""Of each row; with as many in all rows, a line stays below 16 KiB."""


class Spread(msgspec.Struct, frozen=True):
    """Median, lowest and highest of the starts."""

    median: Ratio
    lowest: Ratio
    highest: Ratio


class ColdRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Starts of one unit; those that used an earlier compilation (`cached`) are a row of their own.

    cached: None where the backend does not report it. n: complete starts; the spreads are None without any.
    ready_ms: from the start of the process to the first answer: `start_ms`, until its engine begins to load;
    `compile_ms` and `load_ms`, as the backend reports them; `first_ms`, the first call; `other_ms`, the rest.
    steady_ms: `ready_ms` and the calls of the warm-up, of which there were `warmups`; None where one never was steady.
    call_ms: of each start, the median of its steady calls. ready_each_ms, call_each_ms: start by start.
    error: why the last start failed; the unit was not started again.
    """

    unit: Text
    cached: bool | None = None
    n: Count = 0
    start_ms: Spread | None = None
    compile_ms: Spread | None = None
    load_ms: Spread | None = None
    first_ms: Spread | None = None
    other_ms: Spread | None = None
    ready_ms: Spread | None = None
    steady_ms: Spread | None = None
    warmups: Spread | None = None
    call_ms: Spread | None = None
    ready_each_ms: list[Ratio] = []
    call_each_ms: list[Ratio] = []
    error: Failure | None = None


class BreakEven(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """From how many `calls` on `slower_start` has the lower total time, with the interval `low` to `high`.

    calls: None where `faster_in_both` starts and calls faster, and where the starts do not prove it (`why`).
    agree: share of resamples that have the same unit ahead in start-up and the same unit ahead in calls.
    """

    faster_start: Text
    slower_start: Text
    cached: bool | None = None
    calls: Count | None = None
    low: Count | None = None
    high: Count | None = None
    faster_in_both: Text | None = None
    agree: Share | None = None
    why: Text | None = None


class ColdResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """Start-up by unit, the fastest to the first answer first."""

    OF: ClassVar[str] = "cold"
    DETAILS: ClassVar[frozenset[str]] = frozenset({"log"})

    rows: list[ColdRow] = []
    break_even: list[BreakEven] = []
    repeat: Count = 0
    simulated: bool = False
    rest_n: Count = 0
    notes: list[str] = []

    def summary(self) -> Self:
        rows = [
            msgspec.structs.replace(
                row, ready_each_ms=row.ready_each_ms[:MOST_STARTS], call_each_ms=row.call_each_ms[:MOST_STARTS]
            )
            for row in self.rows[:MOST_ROWS]
        ]
        rest = self.rest_n + max(0, len(self.rows) - MOST_ROWS)
        return msgspec.structs.replace(self, rows=rows, break_even=self.break_even[:MOST_PAIRS], rest_n=rest)

    def failures(self) -> dict[str, str]:
        return {row.unit: row.error.message for row in self.rows if row.error is not None}


RESULT = ColdResult
