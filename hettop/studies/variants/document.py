"""What `hettop variants` found, as one line of the stream tells it, and which of it nothing else beats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hettop.analysis.pareto import DIFFERENCE, ENERGY, LATENCY, SIZE, Choice, standings
from hettop.studies.texts import notes, number, short
from hettop.studies.variants.result import VariantsResult

MOST_VARIANTS = 24
LONGEST_NAME = 40
LONGEST_WHY = 120

Row = Mapping[str, Any]


def found(document: Mapping[str, Any]) -> VariantsResult:
    """Of each precision on each unit. Raises ValueError and such."""
    rows = document["variants"]
    differences = [_difference(row, rows) for row in rows]
    front = _front(rows, differences)
    raw = {
        "of": "variants",
        "variants": [
            _variant(row, difference, on)
            for row, difference, on in zip(rows[:MOST_VARIANTS], differences, front, strict=False)
        ],
        "rest_n": max(0, len(rows) - MOST_VARIANTS),
        "notes": notes(document.get("notes", ())),
    }
    return VariantsResult.from_line(raw)


def _variant(row: Row, difference: float | None, front: bool) -> dict[str, Any]:
    statistics, interval = row["statistics"], row["speed_ci"]
    error = statistics["error"]
    return {
        "precision": short(row["precision"], LONGEST_NAME),
        "unit": short(row["unit"], LONGEST_NAME),
        "reference": row["reference"],
        "size_bytes": row["size_bytes"],
        "n": statistics["n"],
        "p50_ms": number(statistics["p50_ms"]),
        "p90_ms": number(statistics["p90_ms"]),
        "mean_ms": number(statistics["mean_ms"]),
        "energy_mj": number(statistics.get("energy_mj_per_inference")),
        "speed": number(row["speed"]),
        "speed_ci": None if interval is None else list(map(number, interval)),
        "max_abs": number(difference),
        "cosine": number(row["cosine"]),
        "top1": number(row["top1"]),
        "front": front,
        "error": None if error is None else short(error["message"], LONGEST_WHY),
        "note": short(row["note"], LONGEST_WHY),
    }


def _difference(row: Row, rows: Sequence[Row]) -> float | None:
    """The largest absolute one; 0 of the row that the others are compared with, which is itself."""
    itself = f"{row['precision']} on {row['unit']}" in {other["compared_with"] for other in rows}
    return 0.0 if itself else row["max_abs"]


def _front(rows: Sequence[Row], differences: Sequence[float | None]) -> list[bool]:
    """Of latency, energy where all have it, and output difference; of size where no difference is known at all."""
    choices = [
        Choice(row["precision"], row["unit"], "none", _values(row, difference))
        for row, difference in zip(rows, differences, strict=True)
    ]
    measured = [choice for choice in choices if LATENCY.name in choice.values]
    objectives = [LATENCY]
    if measured and all(ENERGY.name in choice.values for choice in measured):
        objectives.append(ENERGY)
    objectives.append(SIZE if all(difference is None for difference in differences) else DIFFERENCE)
    return [standing.on_front for standing in standings(choices, objectives)]


def _values(row: Row, difference: float | None) -> dict[str, float]:
    """What is known of a row; without a latency it is compared with nothing."""
    statistics = row["statistics"]
    known = {
        LATENCY.name: statistics["p50_ms"],
        ENERGY.name: statistics.get("energy_mj_per_inference"),
        DIFFERENCE.name: difference,
        SIZE.name: row["size_bytes"],
    }
    return {name: float(value) for name, value in known.items() if value is not None}
