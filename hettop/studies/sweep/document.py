"""What `hettop sweep` found, as one line of the stream tells it: points and curves, or units under loads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hettop.studies.sweep.result import SweepResult
from hettop.studies.texts import notes, number, short

MOST_POINTS = 48
MOST_CURVES = 12
"""With as many points each, a line stays below eight thousand bytes."""

LONGEST_NAME = 60
LONGEST_WHY = 120
BATCH = "batch"

Row = Mapping[str, Any]


def found(document: Mapping[str, Any]) -> SweepResult:
    """Of points and curves, or of conditions. Raises ValueError and such."""
    points = (
        list(map(_point, document["points"])) if "points" in document else list(_under_loads(document["conditions"]))
    )
    # Along batches first: those have knees.
    curves = sorted(document.get("curves", ()), key=lambda curve: curve["axis"] != BATCH)
    raw = {
        "of": "sweep",
        "points": points[:MOST_POINTS],
        "curves": list(map(_curve, curves[:MOST_CURVES])),
        "rest_n": max(0, len(points) - MOST_POINTS),
        "notes": notes([*document.get("notes", ()), *_not_had(document.get("failed_loads", {}))]),
    }
    return SweepResult.from_line(raw)


def _point(point: Row) -> list[Any]:
    row = point["statistics"]
    return [
        short(point["unit"], LONGEST_NAME),
        point["batch"],
        point["height"],
        point["width"],
        row["n"],
        number(point["items_per_s"]),
        *_times(row),
        None,
        number(row["p50_ms"]),
    ]


def _times(row: Row) -> list[Any]:
    error = row["error"]
    why = None if error is None else short(error["message"], LONGEST_WHY)
    return [number(row["mean_ms"]), number(row["p90_ms"]), why]


def _under_loads(conditions: Iterable[Row]) -> Iterable[list[Any]]:
    """One for each unit and load: of thermal states that with most samples. A call is an item here."""
    best: dict[tuple[str, str], Row] = {}
    for row in conditions:
        before = best.get(key := (row["unit"], row["load"]))
        if before is None or row["n"] > before["n"]:
            best[key] = row
    for (unit, load), row in best.items():
        rate, name = number(row["throughput_per_s"]), short(load, LONGEST_NAME)
        yield [short(unit, LONGEST_NAME), 1, None, None, row["n"], rate, *_times(row), name, number(row["p50_ms"])]


def _curve(curve: Row) -> dict[str, Any]:
    fit = curve["fit"] or {}
    return {
        "unit": short(curve["unit"], LONGEST_NAME),
        "axis": curve["axis"],
        "along": short(curve["along"], LONGEST_NAME),
        "x": list(map(number, curve["x"][:MOST_POINTS])),
        "items_per_s": list(map(number, curve["items_per_s"][:MOST_POINTS])),
        "mean_ms": list(map(number, curve["mean_ms"][:MOST_POINTS])),
        "a_ms": number(fit.get("a_ms")),
        "b_ms": number(fit.get("b_ms")),
        "r2": number(fit.get("r2")),
        "knee": number(curve["knee"]),
        "no_knee": short(curve["no_knee"], LONGEST_NAME),
        "knee_sure": number(curve["knee_certainty"]),
        "best_sure": number(curve["throughput_certainty"]),
        "best": {str(short(name, LONGEST_NAME)): number(x) for name, x in curve["best"].items()},
    }


def _not_had(failed: Mapping[str, str]) -> list[str]:
    return [f"load {load}: {why}" for load, why in failed.items()]
