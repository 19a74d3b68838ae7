"""What `hettop coexec --granularities` found, as one line of the stream tells it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hettop.studies.granularities.result import GranularitiesResult
from hettop.studies.result import ROWS_LIMIT
from hettop.studies.texts import notes, number, short

LONGEST_NAME = 40


def found(document: Mapping[str, Any]) -> GranularitiesResult:
    """A row for each way under each load, as many as a line has room for. Raises ValueError and such."""
    loads = document["loads"]
    rows = [row for load in loads for row in _rows(load)]
    stages: list[int] = next((load["stages"] for load in loads if load.get("stages")), [])
    told = [note for load in loads for note in load.get("notes", ())]
    beyond = [f"and {len(rows) - ROWS_LIMIT} rows more"] if len(rows) > ROWS_LIMIT else []
    raw = {
        "of": "granularities",
        "threads": document["threads"],
        "rows": rows[:ROWS_LIMIT],
        "notes": notes([*dict.fromkeys(told), *beyond]),
        "stages": stages[:ROWS_LIMIT],
        "interrupted": document["interrupted"],
    }
    return GranularitiesResult.from_line(raw)


def _rows(load: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if load["error"] is not None:
        yield {"load": short(load["load"]), "name": "", "error": short(load["error"])}
    for row in load["granularities"]:
        spread = row["speedup_by_round"]
        yield {
            "load": short(load["load"]),
            "name": short(row["name"], LONGEST_NAME),
            "per_s": number(row["per_s"]),
            "p50_ms": number(row["p50_ms"]),
            "p90_ms": number(row["p90_ms"]),
            "speedup": number(row["speedup"]),
            "calls": row["calls"],
            "lowest_latency": row["name"] == load["lowest_latency"],
            "highest_rate": row["name"] == load["highest_rate"],
            "speedup_range": [number(min(spread)), number(max(spread))] if len(spread) > 1 else None,
        }
