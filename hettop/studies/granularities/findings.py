"""What ways to run a model in parallel come to: which is best for latency and for rate under each load, in sentences.

Pure: what was found in, sentences out, for the screen and for reports alike. Names in them are as recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hettop.events import NO_LOAD
from hettop.format import percent, significant

if TYPE_CHECKING:  # the screen is painted before numpy and msgspec are imported
    from hettop.studies.granularities.result import GranularitiesResult, GranularityRow

SINGLE = "single"
NOT_PROVEN = "not proven (measure longer)"
WHAT = {
    "single": "the whole model on one thread",
    "intra-operator": "each operator on {threads} threads",
    "inter-operator": "operators side by side on {threads} threads",
    "sub-graph": "slices of {stages} layers as a pipeline",
    "task": "{threads} inputs side by side, a thread each",
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
        return "which is best is not proven: measure longer."
    if busiest is None:
        return f"for latency {_quick(quickest)}, for rate {NOT_PROVEN}."
    rate = f"{significant(busiest.per_s)} inferences/s"
    if busiest.speedup is not None and busiest.name != SINGLE:
        rate += f", {significant(busiest.speedup)}x one thread"
    if quickest is None:
        return f"for latency {NOT_PROVEN}, for rate {_named(busiest)} ({rate})."
    if quickest is busiest:
        return f"{_named(quickest)} is best for both: {significant(quickest.p50_ms)} ms and {rate}."
    slower = (busiest.p50_ms or 0.0) / (quickest.p50_ms or 1.0) - 1
    return (
        f"for latency {_quick(quickest)}, for rate {_named(busiest)} "
        f"({rate}; each answer takes {percent(slower)} longer)."
    )


def _quick(row: GranularityRow | None) -> str:
    return "" if row is None else f"{_named(row)} ({significant(row.p50_ms)} ms)"


def _named(row: GranularityRow) -> str:
    return "one thread alone" if row.name == SINGLE else row.name
