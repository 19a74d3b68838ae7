"""What `hettop plan MODEL` found, as one line of the stream tells it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hettop.studies.plan.result import PlanResult
from hettop.studies.texts import notes, number, short
from hettop.units import BYTES_PER_MB

MOST_SLICES, MOST_BASELINES, MOST_DEVICES, MOST_MOVING = 16, 8, 8, 4
MOST_CELLS = 256
"""Entries of the strip: of a model with more layers each is of several."""

LONGEST_NAME = 30
LONGEST_LAYER = 24
CELL_DIGITS = 3


def found(document: Mapping[str, Any]) -> PlanResult:
    """Slices from the first on, and the cheapest of what the plan is compared with. Raises ValueError and such."""
    slices, layers, run = document["slices"], document["layers"], document["run"]
    devices = [str(each["device"]) for each in slices]
    order = list(dict.fromkeys([*devices, *document["devices"]]))[:MOST_DEVICES]
    raw = {
        "of": "plan",
        "objective": short(document["objective"]),
        "cost_unit": short(document["unit"]),
        "cost": number(document["cost"]),
        "plan": short(document["plan"]),
        "devices": [_name(device) for device in order],
        "slices": [_slice(document, index) for index in range(min(MOST_SLICES, len(slices)))],
        "slices_n": len(slices),
        "baselines": _cheapest(document["baselines"]),
        "singles": {_name(device): number(cost) for device, cost in document["singles"].items() if device in order},
        "planner_ms": number(document["planner_ms"]),
        "strip": _strip(slices, order, len(layers)),
        "layer_cost": [_short_number(math.fsum(costs)) for costs in _parts(document["layer_costs"])],
        "layers": len(layers),
        "moving": [_moving(line) for line in document["communication"][:MOST_MOVING]],
        "given": document["given"],
        "described": [_name(device) for device in document["described"][:MOST_DEVICES]],
        "run": None if run is None else _run(run),
        "contradiction": short(document["contradiction"]),
        "notes": notes(note for note in document["notes"] if note != document["contradiction"]),
    }
    return PlanResult.from_line(raw)


def _name(device: object) -> str:
    return str(short(device, LONGEST_NAME))


def _slice(document: Mapping[str, Any], index: int) -> list[Any]:
    told = document["slices"][index]
    ran = document["run"]["slices"][index] if document["run"] is not None else {}
    return [
        told["first"],
        told["last"],
        _name(told["device"]),
        number(told["cost"]),
        number(ran.get("measured_ms")),
        number(ran.get("error")),
        number(ran.get("predicted_ms")),
        number(ran.get("adjusted_error")),
        short(document["layers"][told["first"] - 1]["name"], LONGEST_LAYER),
    ]


def _cheapest(baselines: Mapping[str, float | None]) -> dict[str, float | None]:
    """Those that cannot run come last."""
    ranked = sorted(baselines.items(), key=lambda item: (item[1] is None, item[1] or 0.0))
    return {str(short(name, LONGEST_NAME + 12)): number(cost) for name, cost in ranked[:MOST_BASELINES]}


def _strip(slices: Sequence[Mapping[str, Any]], order: Sequence[str], layers: int) -> list[int]:
    """The device of each entry, where a slice begins in it that of the slice; empty if one of them is not told."""
    if any(each["device"] not in order for each in slices):
        return []
    devices = [order.index(each["device"]) for each in slices for _ in range(each["first"], each["last"] + 1)]
    begins = {each["first"] - 1 for each in slices}
    return [
        devices[next((layer for layer in part if layer in begins), part[0])] for part in _parts(range(layers)) if part
    ]


def _parts(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The values, as many at a time as make no more parts than the strip has room for."""
    parts = min(len(values), MOST_CELLS)
    for part in range(parts):
        yield values[part * len(values) // parts : (part + 1) * len(values) // parts]


def _moving(line: Mapping[str, Any]) -> list[Any]:
    slope = number(line["ms_per_byte"] * BYTES_PER_MB)
    tried = [[_short_number(each["bytes"] / BYTES_PER_MB), _short_number(each["ms"])] for each in line["tried"]]
    return [_name(line["device"]), slope, number(line["offset_ms"]), number(line["r_squared"]), tried]


def _run(run: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "predicted_ms": number(run["predicted_ms"]),
        "measured_ms": number(run["measured_ms"]),
        "error": number(run["error"]),
        "adjusted_error": number(run["adjusted_error"]),
        "alone_ms": {_name(device): number(ms) for device, ms in list(run["alone_ms"].items())[:MOST_DEVICES]},
        "best_single": _name(run["best_single"]),
        "gain": number(run["gain"]),
        "gain_ci": [number(end) for end in run["gain_ci"]],
        "output_difference": number(run["output_difference"]),
        "outputs_equal": run["outputs_equal"],
        "tolerance": number(run["tolerance"]),
        "runs": run["runs"],
    }


def _short_number(value: float) -> float:
    return float(f"{value:.{CELL_DIGITS}g}")
